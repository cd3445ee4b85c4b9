/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "intake/intake.h"
#include "support_recorded.h"

#define SOURCE_PROGRAM PT_BUILD_DIR "/pythiatop-source"
#define DEADLINE_NS    UINT64_C(120000000000)

static uint32_t add_type(void *context, const struct event_type *type)
{
	return engine_add_type(context, type);
}

static uint32_t add_session(void *context, const struct session_desc *session)
{
	return engine_add_session(context, session);
}

static uint32_t add_stream(void *context, const struct stream_desc *stream)
{
	return engine_add_stream(context, stream);
}

static void end_session(void *context, uint32_t session)
{
	engine_end_session(context, session);
}

static void feed(void *context, const struct event *event)
{
	engine_feed(context, event);
}

static void lose(void *context, const struct loss *loss)
{
	engine_lose(context, loss);
}

static void late(void *context, uint32_t session, uint64_t count)
{
	engine_late(context, session, count);
}

static void advance(void *context, uint64_t ts_ns)
{
	engine_advance(context, ts_ns);
}

static uint64_t mono_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const char *traces(void)
{
	const char *path = getenv("PYTHIATOP_TRACES");

	return path ? path : PT_TRACES_DIR;
}

bool recorded_exists(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", traces(), name);
	return access(path, R_OK) == 0;
}

struct engine *recorded_read(const char *name, uint64_t window_ns)
{
	return recorded_read_of(name, window_ns, NULL);
}

struct engine *recorded_read_of(const char *name, uint64_t window_ns, const char *function)
{
	struct engine *engine = engine_create(&(struct engine_config){.window_ns = window_ns});
	const struct intake_sink sink = {.context = engine,
			.add_type = add_type,
			.add_session = add_session,
			.add_stream = add_stream,
			.end_session = end_session,
			.feed = feed,
			.lose = lose,
			.late = late,
			.advance = advance};
	struct intake *intake = intake_create(&sink, SOURCE_PROGRAM);
	uint64_t start_ns = mono_now_ns();
	char path[PATH_MAX], text[512];

	assert_non_null(engine);
	assert_non_null(intake);
	if (function) {
		assert_int_equal(engine_set_request(engine, "*", function), STATUS_OK);
	}
	snprintf(path, sizeof(path), "%s/%s", traces(), name);
	assert_int_equal(intake_attach(intake, path, text, sizeof(text)), STATUS_OK);
	while (!intake_ended(intake)) {
		assert_true(mono_now_ns() - start_ns < DEADLINE_NS);
		if (!intake_step(intake, 10000, mono_now_ns()) && intake_arm(intake)) {
			struct pollfd fd = {.fd = intake_fd(intake), .events = POLLIN};

			poll(&fd, 1, 20);
		}
	}
	intake_destroy(intake);
	return engine;
}

struct snapshot *recorded_state(struct engine *engine, uint64_t at_ns)
{
	const struct focus focus = {.parts = FOCUS_STATE, .state_at_ns = at_ns};
	struct snapshot *snapshot = snapshot_create();

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

json_t *reference_load(const char *trace, const char *analysis)
{
	const char *folder = getenv("PYTHIATOP_ORACLE");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s/%s.%s_mi.json", folder ? folder : traces(),
			folder ? "" : "/../oracle", trace, analysis);
	return json_load_file(path, 0, NULL);
}

json_t *reference_table(json_t *document, const char *wanted)
{
	json_t *results = json_object_get(document, "results"), *result;
	size_t i;

	json_array_foreach(results, i, result)
	{
		json_t *class = json_object_get(result, "class");
		const char *title = json_string_value(
				json_is_string(class) ? class : json_object_get(class, "title"));

		if (title && strstr(title, wanted)) {
			return json_object_get(result, "data");
		}
	}
	return NULL;
}

double reference_number(json_t *row, size_t column, const char *name)
{
	return json_number_value(json_object_get(json_array_get(row, column), name));
}
