/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_TRACE_FEED_H
#define TESTS_TRACE_FEED_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "intake/intake.h"
#include "pythiatop/engine.h"

/*
 * A recorded trace, through a real source process and the merge, into an engine of the test's own:
 * trace_feed(engine, directory) returns when all of it was read, and aborts if it cannot be.
 */
#define TRACE_FEED_LIMIT_NS UINT64_C(120000000000)

static inline uint32_t trace_feed_type(void *context, const struct event_type *type)
{
	return engine_add_type(context, type);
}

static inline uint32_t trace_feed_session(void *context, const struct session_desc *session)
{
	return engine_add_session(context, session);
}

static inline uint32_t trace_feed_stream(void *context, const struct stream_desc *stream)
{
	return engine_add_stream(context, stream);
}

static inline void trace_feed_end(void *context, uint32_t session)
{
	engine_end_session(context, session);
}

static inline void trace_feed_event(void *context, const struct event *event)
{
	engine_feed(context, event);
}

static inline void trace_feed_loss(void *context, const struct loss *loss)
{
	engine_lose(context, loss);
}

static inline void trace_feed_late(void *context, uint32_t session, uint64_t count)
{
	engine_late(context, session, count);
}

static inline void trace_feed_time(void *context, uint64_t ts_ns)
{
	engine_advance(context, ts_ns);
}

static inline uint64_t trace_feed_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Any source, into anything that takes events, until it ends or that long; false: it goes on. */
static inline bool trace_feed_for(
		const struct intake_sink *sink, const char *source, uint64_t duration_ns)
{
	struct intake *intake = intake_create(sink, PT_BUILD_DIR "/pythiatop-source");
	uint64_t start_ns = trace_feed_now_ns();
	char text[512] = "";
	bool ended;

	if (!intake || intake_attach(intake, source, text, sizeof(text)) != STATUS_OK) {
		fprintf(stderr, "%s: %s\n", source, text);
		abort();
	}
	while (!(ended = intake_ended(intake))) {
		uint64_t now_ns = trace_feed_now_ns();

		if (now_ns - start_ns > duration_ns) {
			break;
		}
		if (!intake_step(intake, 10000, now_ns) && intake_arm(intake)) {
			struct pollfd fd = {.fd = intake_fd(intake), .events = POLLIN};

			poll(&fd, 1, 20);
		}
	}
	if (intake_failed(intake, true, 0, text, sizeof(text))) {
		fprintf(stderr, "%s\n", text);
		abort();
	}
	intake_destroy(intake);
	return ended;
}

/* A recorded trace, to its end. */
static inline void trace_feed_into(const struct intake_sink *sink, const char *directory)
{
	if (!trace_feed_for(sink, directory, TRACE_FEED_LIMIT_NS)) {
		fprintf(stderr, "%s is not read to its end\n", directory);
		abort();
	}
}

static inline void trace_feed(struct engine *engine, const char *directory)
{
	trace_feed_into(&(struct intake_sink){.context = engine,
					.add_type = trace_feed_type,
					.add_session = trace_feed_session,
					.add_stream = trace_feed_stream,
					.end_session = trace_feed_end,
					.feed = trace_feed_event,
					.lose = trace_feed_loss,
					.late = trace_feed_late,
					.advance = trace_feed_time},
			directory);
}

#endif
