/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run's decision log, read back, leads another engine to the same steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "feed.h"
#include "run/decisions.h"
#include "run/replay.h"

#define T0        UINT64_C(1700000000030000000) /* nothing happens as seconds turn */
#define MS        UINT64_C(1000000)
#define MAX_SEEN  100000u
#define SECONDS   90u
#define PER_S     50u /* 19 ms apart: so nothing is under way then */
#define SILENT_S  64u /* nor in the three seconds from here */
#define TEXT_SIZE 65536u

#define V(...) ((union feed_value[]){__VA_ARGS__})

enum { SERVE_IN, SERVE_OUT, WORK_IN, WORK_OUT, N_TYPES };

static char path[64];
static const uint8_t clock_uuid[16] = {0xf1, 0x44, 0x23, 0xa7, 0x7e, 0x8d, 0x47, 0x0b, 0xb2, 0xe0,
		0xd1, 0xbd, 0x12, 0xbe, 0x9e, 0x0f};

static int make_file(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/pt-test-replay.XXXXXX");
	fd = mkstemp(path);
	if (fd >= 0) {
		close(fd);
	}
	return fd < 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

/* --- events, as a recording has them --- */

struct recording {
	uint32_t n;
	struct {
		uint64_t ts_ns, request;
		uint32_t type;
	} events[MAX_SEEN];
};

static void start(struct feed *feed, uint32_t types[N_TYPES])
{
	static const char *const names[N_TYPES] = {
			"app:serve_entry", "app:serve_exit", "app:work_entry", "app:work_exit"};

	feed_start(feed, NULL);
	for (uint32_t i = 0; i < N_TYPES; i++) {
		types[i] = feed_type(feed, names[i], "request_id:u vtid:c vpid:c");
	}
}

static void feed_one(struct feed *feed, const uint32_t *types, const struct recording *recording,
		uint32_t at)
{
	feed_raw(feed, feed->stream, types[recording->events[at].type], recording->events[at].ts_ns,
			0, V({.u = recording->events[at].request}, {.u = 100}, {.u = 100}));
}

/* Everything about steps and findings, in words. */
static char *describe(struct engine *engine)
{
	const struct focus focus = {.parts = FOCUS_STEPS | FOCUS_GROUPS | FOCUS_STATE,
			.horizon = HORIZON_EPOCH};
	struct snapshot *snapshot = snapshot_create();
	char *text = calloc(1, TEXT_SIZE);
	FILE *out;

	assert_non_null(snapshot);
	assert_non_null(text);
	assert_int_equal(engine_fill(engine, &focus, snapshot), STATUS_OK);
	out = fmemopen(text, TEXT_SIZE, "w");
	assert_non_null(out);
	for (uint32_t i = 0; i < snapshot->steps.n; i++) {
		const struct step_row *row = &snapshot->steps.rows[i];

		fprintf(out,
				"%u kind %d state %d by %d: %s; %s; %s; %lu %lu %lu %lu; %.17g "
				"%.17g\n",
				row->id, (int)row->kind, (int)row->state, (int)row->by, row->title,
				row->why, row->effect, row->proposed_ns, row->decided_ns,
				row->done_ns, row->ended_ns, row->predicted.events_per_s,
				row->actual.events_per_s);
	}
	for (uint32_t i = 0; i < snapshot->steps.n_findings; i++) {
		const struct steps_finding *finding = &snapshot->steps.findings[i];

		fprintf(out, "finding of %u: rule %d, explained: %d at %lu; %s; next: %s\n",
				finding->group_id, (int)finding->rule,
				finding->explanation ? (int)finding->explanation->state : -1,
				finding->explanation ? finding->explanation->made_ns : 0,
				finding->text, finding->next);
	}
	for (uint32_t i = 0; i < snapshot->state.n_threads; i++) {
		fprintf(out, "thread %ld: %s\n", (long)snapshot->state.threads[i].tid,
				snapshot->state.threads[i].name);
	}
	fclose(out);
	snapshot_destroy(snapshot);
	return text;
}

/* --- the live run --- */

struct live {
	struct feed feed;
	uint32_t types[N_TYPES];
	struct decisions *log;
	struct recording *recording;
	bool work_on; /* what steps did */
	struct step_order order;
	uint32_t order_due, watch_due, watch_step; /* seconds; 0: none */
};

static void record(struct live *live, uint32_t type, uint64_t ts_ns, uint64_t request)
{
	struct recording *recording = live->recording;

	assert_true(recording->n < MAX_SEEN);
	recording->events[recording->n].ts_ns = ts_ns;
	recording->events[recording->n].type = type;
	recording->events[recording->n].request = request;
	feed_one(&live->feed, live->types, recording, recording->n++);
}

/*
 * Requests of 2 ms, every third of 12, which the work inside takes. What the viewer knows of the
 * time before them is not in the recording.
 */
static void serve_second(struct live *live, uint32_t second)
{
	engine_advance(live->feed.engine, T0 + second * 1000 * MS - 29 * MS + second % 3 * 10 * MS);
	if (second >= SILENT_S && second < SILENT_S + 3) {
		return;
	}
	for (uint32_t i = 0; i < PER_S; i++) {
		uint64_t request = second * PER_S + i + 1;
		uint64_t ns = T0 + second * 1000 * MS + i * 19 * MS;
		uint64_t took = (request % 3 ? 2 : 12) * MS + request * 997 % 100000;

		record(live, SERVE_IN, ns, request);
		if (live->work_on) {
			record(live, WORK_IN, ns + MS / 2, request);
			record(live, WORK_OUT, ns + took - MS / 2, request);
		}
		record(live, SERVE_OUT, ns + took, request);
	}
}

/* As the conductor does: the engine is told, and the log of what it took. */
static enum status tell(const struct live *live, struct engine_input input)
{
	char error[256];
	enum status status = engine_input(live->feed.engine, &input, error, sizeof(error));

	if (status == STATUS_OK) {
		decisions_put(live->log, &input);
	}
	return status;
}
#define TELL(live, what, ...) tell((live), (struct engine_input){.kind = (what), __VA_ARGS__})

/* What the conductor does, and a person that approves each step. */
static void conduct(struct live *live, uint32_t second)
{
	struct engine *engine = live->feed.engine;
	const struct step_order *order;

	decisions_at(live->log, engine_time(engine));
	for (uint32_t step = 1; step < 20; step++) {
		TELL(live, INPUT_DECIDE, .decide = {step, STEP_APPROVE, STEP_BY_PERSON});
	}
	if (live->order_due && second >= live->order_due) {
		const struct step_outcome outcome = {.step = live->order.step,
				.undo = live->order.undo,
				.ok = true,
				.error = "",
				.answered_ns = engine_time(engine) + 300000000};

		live->order_due = 0;
		TELL(live, INPUT_OUTCOME, .outcome = outcome);
		live->watch_due = outcome.undo ? 0 : second + live->order.watch_s;
		live->watch_step = outcome.step;
	}
	if (live->watch_due && second >= live->watch_due) {
		const struct step_watch watch = {.step = live->watch_step,
				.actual = {.events_per_s = 100.0 / 3,
						.bytes_per_s = 1000.0 / 7,
						.cpu_share = -1}};

		live->watch_due = 0;
		TELL(live, INPUT_WATCH, .watch = watch);
	}
	order = live->order_due ? NULL : engine_next_order(engine);
	if (order) {
		decisions_put(live->log,
				&(struct engine_input){.kind = INPUT_ORDER, .order = *order});
		live->order = *order;
		live->order_due = second + 1;
		live->work_on = order->n && order->events[0].enable;
	}
}

static void offer(struct live *live)
{
	static const char *const fields[] = {"request_id"};
	static const struct step_offer offers[] = {{.host = "alpha",
								   .name = "app:work_entry",
								   .n_fields = 1,
								   .fields = fields},
			{.host = "alpha", .name = "app:work_exit", .n_fields = 1, .fields = fields},
			{.host = "alpha",
					.name = "app:serve_entry",
					.n_fields = 1,
					.fields = fields},
			{.host = "alpha",
					.name = "app:serve_exit",
					.n_fields = 1,
					.fields = fields}};
	static const struct step_process processes[] = {{100, "service"}, {7, "another"}},
					 later[] = {{100, "renamed"}};

	assert_int_equal(TELL(live, INPUT_OFFER, .offer = {"alpha", 4, offers}), STATUS_OK);
	TELL(live, INPUT_PROCESSES, .processes = {"nowhere", 2, processes});
	TELL(live, INPUT_PROCESSES, .processes = {"alpha", 2, processes});
	/* It has a name, and need not be called anything else. */
	TELL(live, INPUT_PROCESSES, .processes = {"alpha", 1, later});
}

/* Requests of all groups since the epoch began. */
static uint64_t count_in_epoch(struct engine *engine)
{
	const struct focus focus = {.parts = FOCUS_GROUPS, .horizon = HORIZON_EPOCH};
	struct snapshot *snapshot = snapshot_create();
	uint64_t n = 0;

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(engine, &focus, snapshot), STATUS_OK);
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		n += snapshot->groups.rows[i].count;
	}
	snapshot_destroy(snapshot);
	return n;
}

/* Requests from now on count once the events of our session are seen again. */
static void miss_events(struct live *live)
{
	struct engine *engine = live->feed.engine;

	assert_true(live->work_on);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(count_in_epoch(engine) > 0);
		TELL(live, INPUT_SILENT, .silent = {"alpha", i == 0});
	}
	assert_int_equal(count_in_epoch(engine), 0);
}

/* What a step enabled goes off with the host: what is recorded changes, and an epoch begins. */
static void lose_host(struct live *live)
{
	struct engine *engine = live->feed.engine;

	assert_true(live->work_on);
	assert_true(count_in_epoch(engine) > 0);
	for (uint32_t i = 0; i < 2; i++) {
		TELL(live, INPUT_HOST_GONE, .text = i ? "alpha" : "nowhere");
		/* On the other one nothing was enabled. */
		assert_int_equal(count_in_epoch(engine) > 0, i == 0);
	}
	live->work_on = false;
}

/*
 * The same strategy twice, an epoch by hand, a mode: whatever a person may say. At its end a group
 * is being explained; `finished`: and the sources end before the run does.
 */
static void live_run(struct recording *recording, bool finished, char **steps)
{
	struct live live = {.recording = recording};
	struct engine_input clock = {.kind = INPUT_CLOCK};
	char error[256];

	recording->n = 0;
	start(&live.feed, live.types);
	live.log = decisions_open(path, error, sizeof(error));
	assert_non_null(live.log);
	TELL(&live, INPUT_CALIBRATE, .calibrate = {"alpha", 123.456});
	TELL(&live, INPUT_STRATEGY, .text = "flat");
	TELL(&live, INPUT_BUDGET,
			.budget = {.events_per_s = 1000.0 / 3, .learn_events_per_s = 7777, .points = 2});
	TELL(&live, INPUT_MODE, .mode = MODE_APPROVE);
	clock.clock.offset_ns = INT64_C(1795288836488340273);
	memcpy(clock.clock.uuid, clock_uuid, sizeof(clock_uuid));
	decisions_put(live.log, &clock);
	decisions_put(live.log, &(struct engine_input){.kind = INPUT_CLOCK,
						.clock = {.uuid = {1}, .offset_ns = -5}});
	decisions_at(live.log, T0 - 29 * MS);
	decisions_put(live.log, &(struct engine_input){.kind = INPUT_FIRST});
	decisions_at(live.log, 0);
	for (uint32_t second = 0; second < SECONDS; second++) {
		serve_second(&live, second);
		conduct(&live, second);
		if (second == 1) {
			offer(&live);
		} else if (second == 60) {
			assert_int_equal(TELL(&live, INPUT_EXPLAIN, .number = 1), STATUS_OK);
			assert_int_equal(TELL(&live, INPUT_EXPLAIN, .number = 99), STATUS_NOT_FOUND);
		} else if (second == 70) {
			TELL(&live, INPUT_EPOCH, .text = NULL);
		} else if (second == 74) {
			miss_events(&live);
		} else if (second == 76) {
			lose_host(&live);
		} else if (second == 77) {
			offer(&live);
		} else if (second == 80) {
			TELL(&live, INPUT_UNDO_ALL, .text = NULL);
		} else if (second == SECONDS - 1) {
			assert_int_equal(TELL(&live, INPUT_EXPLAIN, .number = 1), STATUS_OK);
		}
	}
	decisions_at(live.log, engine_time(live.feed.engine));
	assert_int_equal(TELL(&live, INPUT_ENDED, .ended = {"alpha", "empty"}), STATUS_NOT_FOUND);
	/* Whose name is in the log, and not in the recording. */
	decisions_put(live.log,
			&(struct engine_input){.kind = INPUT_ENDED, .ended = {"alpha", "empty"}});
	if (finished) {
		TELL(&live, INPUT_ENDED, .ended = {"alpha", "test"});
		decisions_put(live.log, &(struct engine_input){.kind = INPUT_FINISH});
		engine_finish(live.feed.engine);
	}
	decisions_close(live.log);
	*steps = describe(live.feed.engine);
	/* The recording goes on, and so would the engine. */
	for (uint32_t second = SECONDS; second < SECONDS + 20; second++) {
		serve_second(&live, second);
	}
	feed_stop(&live.feed);
}

/* Those of the last run alone. */
static void check_clocks(const struct replay *replay)
{
	uint8_t uuid[16];
	int64_t offset_ns;

	assert_true(replay_clock(replay, 0, uuid, &offset_ns));
	assert_memory_equal(uuid, clock_uuid, sizeof(uuid));
	assert_int_equal(offset_ns, INT64_C(1795288836488340273));
	assert_true(replay_clock(replay, 1, uuid, &offset_ns));
	assert_int_equal(uuid[0], 1);
	assert_int_equal(offset_ns, -5);
	assert_false(replay_clock(replay, 2, uuid, &offset_ns));
}

/* What the engine comes to; the departure is copied. `had_ended`: its session, or NULL. */
static char *replayed(
		const struct recording *recording, bool *had_ended, char *departure, size_t size)
{
	struct feed feed;
	uint32_t types[N_TYPES];
	char error[512] = "";
	struct replay *replay = replay_read(path, error, sizeof(error));
	char *steps;

	assert_string_equal(error, "");
	assert_non_null(replay);
	check_clocks(replay);
	start(&feed, types);
	for (uint32_t i = 0; i < recording->n; i++) {
		if (replay_see(replay, feed.engine, recording->events[i].ts_ns)) {
			feed_one(&feed, types, recording, i);
		}
	}
	replay_finish(replay, feed.engine);
	assert_true(replay_is_over(replay));
	snprintf(departure, size, "%s", replay_departure(replay) ? replay_departure(replay) : "");
	steps = describe(feed.engine);
	if (had_ended) {
		*had_ended = engine_end_session(feed.engine, feed.session) == SESSION_HAD_ENDED;
	}
	replay_destroy(replay);
	feed_stop(&feed);
	return steps;
}

static void the_same_steps_are_taken_again(void **state)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	char *steps, *again, departure[1024];

	(void)state;
	assert_non_null(recording);
	/* Two runs in one file: the last one counts. */
	live_run(recording, false, &steps);
	free(steps);
	live_run(recording, false, &steps);
	/* Something was learned, enabled and undone. */
	assert_non_null(strstr(steps, "kind 1 state 5"));
	assert_non_null(strstr(steps, "kind 2 "));
	assert_non_null(strstr(steps, "thread 100: service"));
	assert_null(strstr(steps, "explained: -1")); /* EXPLANATION_DONE or EXPLANATION_FEW */
	for (uint32_t i = 0; i < 2; i++) {
		again = replayed(recording, NULL, departure, sizeof(departure));
		assert_string_equal(departure, "");
		assert_string_equal(again, steps);
		free(again);
	}
	free(steps);
	free(recording);
}

/*
 * What is at work when the live run ends stays so, although the recording has no more either; it is
 * done at once where its sources had ended.
 */
static void it_is_finished_as_then(void **state)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	char *steps[2], *again, departure[1024];
	bool had_ended;

	(void)state;
	assert_non_null(recording);
	for (uint32_t finished = 0; finished < 2; finished++) {
		live_run(recording, finished, &steps[finished]);
		recording->n -= 20 * 2 * PER_S; /* of what came after the run */
		again = replayed(recording, &had_ended, departure, sizeof(departure));
		assert_string_equal(departure, "");
		assert_string_equal(again, steps[finished]);
		assert_int_equal(had_ended, finished);
		free(again);
	}
	assert_string_not_equal(steps[0], steps[1]);
	free(steps[0]);
	free(steps[1]);
	free(recording);
}

/* Other events: that it went another way is told, with the line. */
static void another_way_is_told(void **state)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	char *steps, departure[1024];

	(void)state;
	assert_non_null(recording);
	live_run(recording, false, &steps);
	free(steps);
	for (uint32_t i = 0; i < recording->n; i++) {
		recording->events[i].ts_ns += 3600 * 1000 * MS;
	}
	free(replayed(recording, NULL, departure, sizeof(departure)));
	assert_non_null(strstr(departure, "not as then"));
	recording->n = 30; /* and one that ends before there was anything to say */
	for (uint32_t i = 0; i < recording->n; i++) {
		recording->events[i].ts_ns -= 3600 * 1000 * MS;
	}
	free(replayed(recording, NULL, departure, sizeof(departure)));
	assert_non_null(strstr(departure, "not as then"));
	assert_non_null(strstr(departure, path));
	free(recording);
}

static void wrong_logs_are_told(void **state)
{
#define LINE(rest) "{\"log\":\"pythiatop-decisions/1\",\"at\":1.5,\"event_ns\":" rest "}\n"
#define BEGIN      LINE("0,\"do\":\"begin\"")
	static const struct {
		const char *text, *says;
	} cases[] = {
			{"", "empty"},
			{"x\n", "line 1"},
			{"[]\n", "line 1"},
			{"{}\n", "line 1: no line of a decision log"},
			{"{\"log\":\"other/1\",\"at\":1,\"event_ns\":0,\"do\":\"begin\"}\n",
					"another kind"},
			{LINE("0,\"do\":\"undo_all\""), "line 1: no run begins"},
			{LINE("-1,\"do\":\"begin\""), "negative time"},
			{BEGIN LINE("0,\"do\":\"dance\""), "line 2: \"dance\""},
			{BEGIN LINE("0,\"do\":\"undo_all\",\"more\":1"), "line 2: "},
			{BEGIN LINE("0,\"do\":\"mode\""), "mode"},
			{BEGIN LINE("0,\"do\":\"mode\",\"mode\":\"fast\""), "\"fast\""},
			{BEGIN LINE("0,\"do\":\"strategy\",\"strategy\":\"guess\""), "\"guess\""},
			{BEGIN LINE("0,\"do\":\"offer\",\"host\":\"h\",\"events\":{}"), "array"},
			{BEGIN LINE("0,\"do\":\"offer\",\"host\":\"h\",\"events\":[1]"), "event 0"},
			{BEGIN LINE("0,\"do\":\"offer\",\"host\":\"h\",\"events\":[{\"name\":\"x\","
				    "\"kernel\":false,\"fields\":[1]}]"),
					"event 0: fields: expected an array of names"},
			{BEGIN LINE("0,\"do\":\"decide\",\"step\":-1,\"decision\":\"undo\",\"by\":"
				    "\"person\""),
					"step: expected a whole number from 0 to 4294967295"},
			{BEGIN LINE("0,\"do\":\"decide\",\"step\":1,\"decision\":\"eat\",\"by\":"
				    "\"person\""),
					"\"eat\""},
			{BEGIN LINE("0,\"do\":\"watch\",\"step\":1,\"discarded\":-1,\"events_per_"
				    "s\":"
				    "0"),
					"discarded: expected a whole number from 0"},
			{BEGIN LINE("0,\"do\":\"order\",\"step\":1,\"undo\":false,\"events\":[{}]"),
					"event 0"},
			{BEGIN LINE("0,\"do\":\"clock\",\"uuid\":"
				    "\"0123456789abcdef0123456789abcdef\""),
					"offset_ns: missing"},
			{BEGIN LINE("0,\"do\":\"clock\",\"uuid\":\"12\",\"offset_ns\":1"),
					"32 hex"},
			{BEGIN LINE("0,\"do\":\"clock\",\"uuid\":"
				    "\"0123456789abcdef0123456789abcdef0\",\"offset_ns\":1"),
					"32 hex"},
			{BEGIN LINE("9,\"do\":\"epoch\"") LINE("8,\"do\":\"epoch\""),
					"line 3: earlier"},
	};
	char error[512] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		FILE *out = fopen(path, "w");

		assert_non_null(out);
		fputs(cases[i].text, out);
		fclose(out);
		error[0] = '\0';
		assert_null(replay_read(path, error, sizeof(error)));
		if (!strstr(error, cases[i].says) || !strstr(error, path)) {
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, error, cases[i].says);
		}
	}
	assert_null(replay_read("/nowhere/at/all", error, sizeof(error)));
	assert_non_null(strstr(error, "/nowhere/at/all"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_setup_teardown(
					the_same_steps_are_taken_again, make_file, remove_file),
			cmocka_unit_test_setup_teardown(
					it_is_finished_as_then, make_file, remove_file),
			cmocka_unit_test_setup_teardown(
					another_way_is_told, make_file, remove_file),
			cmocka_unit_test_setup_teardown(
					wrong_logs_are_told, make_file, remove_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
