/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../trace_feed.h"
#include "config/schema_file.h"
#include "pythiatop/focus.h"

/*
 * What a live session of a recorded trace costs the analysis, without the noise of processes: the
 * trace goes round and round through an engine, its times moved on, as the replay without end does;
 * once in a second of event time a snapshot is made as the screen of the state asks for it.
 *
 *   bench_rounds [ROUNDS [TRACE [SCHEMA]]]
 *
 * Prints for each of ten parts ns an event, us a snapshot, and what the heap holds.
 */
#define NS_PER_S UINT64_C(1000000000)
#define GAP_NS   UINT64_C(1000000)

struct recording {
	struct engine *engine;
	struct event *events;
	uint32_t n, room;
};

static void record_event(void *context, const struct event *event)
{
	struct recording *recording = context;
	struct event *copy;
	uint64_t *slots = malloc(event->bytes + 8u);

	if (recording->n == recording->room) {
		recording->room = recording->room ? recording->room * 2 : 65536;
		recording->events = realloc(
				recording->events, recording->room * sizeof(*recording->events));
	}
	if (!slots || !recording->events) {
		abort();
	}
	copy = &recording->events[recording->n++];
	*copy = *event;
	copy->slots = memcpy(slots, event->slots, event->bytes);
}

static uint32_t record_type(void *context, const struct event_type *type)
{
	return engine_add_type(((struct recording *)context)->engine, type);
}

static uint32_t record_session(void *context, const struct session_desc *session)
{
	return engine_add_session(((struct recording *)context)->engine, session);
}

static uint32_t record_stream(void *context, const struct stream_desc *stream)
{
	return engine_add_stream(((struct recording *)context)->engine, stream);
}

static void record_no_end(void *context, uint32_t session)
{
	(void)context;
	(void)session;
}

static void record_no_loss(void *context, const struct loss *loss)
{
	(void)context;
	(void)loss;
}

static void record_not_late(void *context, uint32_t session, uint64_t count)
{
	(void)context;
	(void)session;
	(void)count;
}

static void record_no_time(void *context, uint64_t ts_ns)
{
	(void)context;
	(void)ts_ns;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

struct costs {
	uint64_t feed_ns, look_ns;
	uint64_t events, looks;
	uint32_t pending;
};

static void look(struct engine *engine, struct costs *costs)
{
	const struct focus focus = {.screen = SCREEN_STATE,
			.parts = FOCUS_STATE | FOCUS_BRIEF,
			.horizon = HORIZON_WINDOW};
	struct snapshot *snapshot = snapshot_create();
	uint64_t began_ns = cpu_ns();

	if (!snapshot || engine_fill(engine, &focus, snapshot) < 0) {
		abort();
	}
	costs->pending = (uint32_t)snapshot->accounting.pending;
	snapshot_destroy(snapshot);
	costs->look_ns += cpu_ns() - began_ns;
	costs->looks++;
}

static void play(const struct recording *recording, uint64_t shift_ns, struct costs *costs)
{
	uint64_t look_ns = recording->events[0].ts_ns + NS_PER_S, began_ns = cpu_ns();

	for (uint32_t i = 0; i < recording->n; i++) {
		struct event event = recording->events[i];

		if (event.ts_ns >= look_ns) {
			costs->feed_ns += cpu_ns() - began_ns;
			look_ns += NS_PER_S;
			look(recording->engine, costs);
			began_ns = cpu_ns();
		}
		event.ts_ns += shift_ns;
		engine_feed(recording->engine, &event);
	}
	costs->feed_ns += cpu_ns() - began_ns;
	costs->events += recording->n;
}

static void report(uint32_t round, const struct costs *costs)
{
	struct mallinfo2 heap = mallinfo2();

	printf("%6" PRIu32 " %10.0f %10.0f %12zu %10" PRIu32 "\n", round,
			(double)costs->feed_ns / (double)costs->events,
			(double)costs->look_ns / 1e3 / (double)costs->looks,
			(heap.uordblks + heap.hblkhd) >> 10, costs->pending);
}

static void add_schema(struct engine *engine, const char *path)
{
	char error[512];
	struct schema_file *file = schema_file_read(path, error, sizeof(error));

	if (!file || engine_add_schema(engine, schema_file_schema(file), error, sizeof(error)) !=
					STATUS_OK) {
		fprintf(stderr, "%s: %s\n", path, error);
		exit(EXIT_FAILURE);
	}
	schema_file_destroy(file);
}

int main(int argc, char **argv)
{
	uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10;
	const char *trace = argc > 2 ? argv[2] : PT_TRACES_DIR "/kernel-6.2-2cpu";
	const char *schema =
			argc > 3 ? argv[3] : PT_SOURCE_DIR "/analysis/schemas/lttng-kernel.yaml";
	struct recording recording = {.engine = engine_create(NULL)};
	struct costs costs = {0};
	struct stat there;
	uint64_t round_ns;

	if (stat(trace, &there) != 0) {
		printf("skipped: no recorded trace %s\n", trace);
		return 77;
	}
	add_schema(recording.engine, schema);
	trace_feed_into(&(struct intake_sink){.context = &recording,
					.add_type = record_type,
					.add_session = record_session,
					.add_stream = record_stream,
					.end_session = record_no_end,
					.feed = record_event,
					.lose = record_no_loss,
					.late = record_not_late,
					.advance = record_no_time},
			trace);
	round_ns = recording.events[recording.n - 1].ts_ns - recording.events[0].ts_ns + GAP_NS;
	printf("%6s %10s %10s %12s %10s\n", "round", "ns/event", "us/look", "heap KiB", "pending");
	for (uint32_t round = 0; round < rounds; round++) {
		play(&recording, round * round_ns, &costs);
		if (rounds < 10 || (round + 1) % (rounds / 10) == 0) {
			report(round + 1, &costs);
			costs = (struct costs){0};
		}
	}
	engine_destroy(recording.engine);
	for (uint32_t i = 0; i < recording.n; i++) {
		free((void *)(uintptr_t)recording.events[i].slots);
	}
	free(recording.events);
	return 0;
}
