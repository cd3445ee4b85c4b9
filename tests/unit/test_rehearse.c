/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording in which everything was on, played: what is seen of it is what was enabled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "feed.h"
#include "run/rehearse.h"

#define T0        UINT64_C(1700000000000000000)
#define MS        UINT64_C(1000000)
#define PER_S     50u
#define TEXT_SIZE 65536u

enum { SERVE_IN, SERVE_OUT, WORK_IN, WORK_OUT, IDLE_IN, IDLE_OUT, N_TYPES };

/* A service whose requests take 2 ms, every third 12, and what is inside of them. */
struct play {
	struct feed feed;
	uint32_t types[N_TYPES];
	struct rehearse *rehearse;
	uint64_t fed, inside; /* events of the recording, and of them those beyond the skeleton */
	double budget;
};

#define TELL(play, what, ...)                                                                      \
	assert_int_equal(engine_input((play)->feed.engine,                                         \
					 &(struct engine_input){.kind = (what), __VA_ARGS__},      \
					 NULL, 0),                                                 \
			STATUS_OK)

static void start(struct play *play, const struct rehearse_setup *setup, const char *inside)
{
	static const char *const names[N_TYPES] = {"app:serve_entry", "app:serve_exit",
			"app:work_entry", "app:work_exit", "app:idle_entry", "app:idle_exit"};
	double budget = play->budget;

	*play = (struct play){.budget = budget};
	feed_start(&play->feed, NULL);
	for (uint32_t i = 0; i < N_TYPES; i++) {
		play->types[i] = feed_type(&play->feed, names[i],
				i < WORK_IN ? "request_id:u vtid:c vpid:c" : inside);
	}
	TELL(play, INPUT_STRATEGY, .text = "all");
	TELL(play, INPUT_BUDGET,
			.budget = {.events_per_s = budget, .learn_events_per_s = 10000, .points = 3});
	TELL(play, INPUT_MODE, .mode = MODE_AUTOPILOT);
	play->rehearse = rehearse_create(play->feed.engine, setup);
	assert_non_null(play->rehearse);
}

static void stop(struct play *play)
{
	rehearse_destroy(play->rehearse);
	feed_stop(&play->feed);
}

static void one(struct play *play, uint32_t type, uint64_t ts_ns, uint64_t request)
{
	const uint64_t slots[3] = {request, 100, 100}; /* without an id, the last two */
	uint32_t n = play->feed.n_fields[play->types[type]];

	if (!rehearse_advance(play->rehearse, ts_ns)) {
		return;
	}
	play->fed++;
	play->inside += type >= WORK_IN;
	rehearse_feed(play->rehearse, &(struct event){.ts_ns = ts_ns,
						      .type = play->types[type],
						      .stream = play->feed.stream,
						      .bytes = n * (uint32_t)sizeof(slots[0]),
						      .slots = slots + 3 - n});
}

static void serve_second(struct play *play, uint32_t second)
{
	for (uint32_t i = 0; i < PER_S; i++) {
		uint64_t request = second * PER_S + i + 1;
		uint64_t ns = T0 + second * 1000 * MS + i * 20 * MS;
		uint64_t took = (request % 3 ? 2 : 12) * MS + request * 997 % 100000;

		one(play, SERVE_IN, ns, request);
		one(play, IDLE_IN, ns + MS / 8, request);
		one(play, IDLE_OUT, ns + MS / 4, request);
		one(play, WORK_IN, ns + MS / 2, request);
		one(play, WORK_OUT, ns + took - MS / 2, request);
		one(play, SERVE_OUT, ns + took, request);
	}
}

static struct snapshot *look(struct play *play)
{
	const struct focus focus = {.parts = FOCUS_STEPS | FOCUS_GROUPS, .horizon = HORIZON_EPOCH};
	struct snapshot *snapshot = snapshot_create();

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(play->feed.engine, &focus, snapshot), STATUS_OK);
	rehearse_fill(play->rehearse, &snapshot->steps);
	return snapshot;
}

/* Everything about steps and findings, in words; to be freed. */
static char *describe(struct play *play)
{
	struct snapshot *snapshot = look(play);
	char *text = calloc(1, TEXT_SIZE);
	FILE *out;

	assert_non_null(text);
	out = fmemopen(text, TEXT_SIZE, "w");
	assert_non_null(out);
	for (uint32_t i = 0; i < snapshot->steps.n; i++) {
		const struct step_row *row = &snapshot->steps.rows[i];

		fprintf(out, "%u kind %d state %d: %s; %s; %lu %lu %lu %lu; %.17g\n", row->id,
				(int)row->kind, (int)row->state, row->title, row->effect,
				row->proposed_ns, row->decided_ns, row->done_ns, row->ended_ns,
				row->actual.events_per_s);
	}
	for (uint32_t i = 0; i < snapshot->steps.n_findings; i++) {
		fprintf(out, "finding: rule %d in %s\n", (int)snapshot->steps.findings[i].rule,
				snapshot->steps.findings[i].where);
	}
	fclose(out);
	snapshot_destroy(snapshot);
	return text;
}

static const struct rehearse_setup never = {.until = {.kind = UNTIL_STOPPED}};

static void what_is_seen_is_what_was_enabled(void **state)
{
	struct play play = {.budget = 1000};
	struct snapshot *snapshot;
	struct accounting seen;
	uint64_t ours;

	(void)state;
	start(&play, &never, "vtid:c vpid:c");
	serve_second(&play, 0);
	/* Nothing but the skeleton, and nothing is lost by that. */
	snapshot = look(&play);
	assert_int_equal(snapshot->steps.rehearsal.masked, play.inside);
	assert_int_equal(snapshot->steps.rehearsal.let_through, play.fed - play.inside);
	assert_int_equal(snapshot->steps.rehearsal.ours, 0);
	assert_int_equal(snapshot->discarded, 0);
	snapshot_destroy(snapshot);
	for (uint32_t second = 1; second < 60; second++) {
		serve_second(&play, second);
	}
	/* It learned, and then enabled work and idle, all that the edge has. */
	snapshot = look(&play);
	assert_int_equal(snapshot->steps.n_rules, 4);
	assert_int_equal(snapshot->steps.ever_enabled, 2);
	assert_true(snapshot->steps.rehearsal.ours > 0);
	ours = snapshot->steps.rehearsal.ours;
	assert_int_equal(snapshot->steps.rehearsal.let_through + snapshot->steps.rehearsal.masked,
			play.fed);
	snapshot_destroy(snapshot);
	play.inside = 0;
	serve_second(&play, 60);
	snapshot = look(&play);
	assert_int_equal(snapshot->steps.rehearsal.ours - ours, play.inside);
	/* Each event that was let through has one fate. */
	play.feed.n_fed = snapshot->steps.rehearsal.let_through;
	seen = feed_accounting(&play.feed);
	assert_int_equal(seen.dropped, 0);
	snapshot_destroy(snapshot);
	assert_null(rehearse_failure(play.rehearse));
	stop(&play);
}

/* Learning is decided on at the turn of a second; its events come once the hosts have done it. */
static void orders_take_their_time(void **state)
{
	struct play play = {.budget = 1000};
	uint64_t begin_ns = 0, end_ns = 0, ours = 0;

	(void)state;
	start(&play, &never, "vtid:c vpid:c");
	for (uint32_t i = 0; i < 1500 && !end_ns; i++) {
		uint64_t ns = T0 + i * 10 * MS;
		struct snapshot *snapshot;

		one(&play, SERVE_IN, ns, i + 1);
		one(&play, WORK_IN, ns + MS, i + 1);
		one(&play, WORK_OUT, ns + 2 * MS, i + 1);
		one(&play, SERVE_OUT, ns + 3 * MS, i + 1);
		snapshot = look(&play);
		if (snapshot->steps.rehearsal.ours > ours && !begin_ns) {
			begin_ns = ns;
		} else if (snapshot->steps.rehearsal.ours == ours && begin_ns) {
			end_ns = ns;
		}
		ours = snapshot->steps.rehearsal.ours;
		snapshot_destroy(snapshot);
	}
	assert_true(begin_ns > T0);
	assert_int_equal(begin_ns % (1000 * MS) / (100 * MS), REHEARSE_ORDER_NS / (100 * MS));
	/* Ten seconds, and as long again until it is undone. */
	assert_in_range(end_ns - begin_ns, 10000 * MS + REHEARSE_ORDER_NS,
			10000 * MS + REHEARSE_ORDER_NS + 100 * MS);
	stop(&play);
}

static void the_same_steps_are_taken_again(void **state)
{
	char *first = NULL;

	(void)state;
	for (uint32_t run = 0; run < 2; run++) {
		struct play play = {.budget = 1000};
		char *steps;

		start(&play, &(struct rehearse_setup){.until = {.kind = UNTIL_VERDICT}},
				"vtid:c vpid:c");
		for (uint32_t second = 0; second < 300; second++) {
			serve_second(&play, second);
		}
		steps = describe(&play);
		/* It ended by itself, in the work. */
		assert_true(rehearse_is_over(play.rehearse));
		assert_true(play.fed < 200 * PER_S * N_TYPES);
		assert_non_null(strstr(steps, "finding: rule 1 in serve > work"));
		if (first) {
			assert_string_equal(steps, first);
			free(steps);
		} else {
			first = steps;
		}
		stop(&play);
	}
	free(first);
}

/* Over the budget: undone, and told for how long it was. */
static void breaches_are_counted(void **state)
{
	struct play play = {.budget = 0};
	struct snapshot *snapshot;

	(void)state;
	start(&play, &never, "vtid:c vpid:c");
	TELL(&play, INPUT_BUDGET, .budget = {.learn_events_per_s = 10000, .points = 3});
	for (uint32_t second = 0; second < 60; second++) {
		serve_second(&play, second);
	}
	TELL(&play, INPUT_BUDGET,
			.budget = {.events_per_s = 100, .learn_events_per_s = 10000, .points = 3});
	for (uint32_t second = 60; second < 70; second++) {
		serve_second(&play, second);
	}
	snapshot = look(&play);
	assert_int_equal(snapshot->steps.rehearsal.peak_per_s, 4 * PER_S);
	assert_true(snapshot->steps.rehearsal.over_s >= 2);
	snapshot_destroy(snapshot);
	stop(&play);
}

static void a_part_is_played(void **state)
{
	struct play play = {.budget = 1000};
	struct snapshot *snapshot;

	(void)state;
	start(&play, &(struct rehearse_setup){.from_ns = 5000 * MS, .for_ns = 3000 * MS},
			"vtid:c vpid:c");
	for (uint32_t second = 0; second < 20; second++) {
		serve_second(&play, second);
	}
	assert_true(rehearse_is_over(play.rehearse));
	assert_int_equal(play.fed, 3 * PER_S * N_TYPES);
	snapshot = look(&play);
	assert_int_equal(snapshot->first_ns, T0 + 5000 * MS);
	snapshot_destroy(snapshot);
	stop(&play);
}

static void a_gap_is_not_played_for_ever(void **state)
{
	struct play play = {.budget = 1000};

	(void)state;
	start(&play, &never, "vtid:c vpid:c");
	serve_second(&play, 0);
	serve_second(&play, 100000000); /* three years */
	assert_int_equal(play.fed, 2 * PER_S * N_TYPES);
	stop(&play);
}

/* Whatever has the id of its request is of the skeleton, unless a schema says otherwise. */
static void nothing_to_mask_is_told(void **state)
{
	struct play play = {.budget = 1000};

	(void)state;
	start(&play, &never, "request_id:u vtid:c vpid:c");
	serve_second(&play, 0);
	assert_non_null(strstr(rehearse_failure(play.rehearse), "skeleton"));
	stop(&play);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(what_is_seen_is_what_was_enabled),
			cmocka_unit_test(orders_take_their_time),
			cmocka_unit_test(the_same_steps_are_taken_again),
			cmocka_unit_test(breaches_are_counted),
			cmocka_unit_test(a_part_is_played),
			cmocka_unit_test(a_gap_is_not_played_for_ever),
			cmocka_unit_test(nothing_to_mask_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
