/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From events to verdicts by key-values: a service whose requests wait for as many others as are
 * queued before them; all its points are recorded, and nothing can be enabled.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "feed.h"
#include "pythia/explaining.h"
#include "stats/bootstrap.h"

#define T0    UINT64_C(1700000000000000000)
#define MS    UINT64_C(1000000)
#define PER_S 20u

#define V(...) ((union feed_value[]){__VA_ARGS__})

enum { SERVE_IN, SERVE_OUT, WAIT_IN, WAIT_OUT, N_TYPES };

/* What makes requests slow. */
enum cause {
	CAUSE_QUEUE,  /* its length */
	CAUSE_HIDDEN, /* something that no field tells */
	CAUSE_NONE,   /* they are not */
};

struct scene {
	struct feed feed;
	uint32_t types[N_TYPES];
	struct bootstrap_random random;
	enum cause cause;
	uint32_t second;
	bool often; /* time is told all the while, as a live run does */
};

static void scene_begin(struct scene *scene, enum cause cause)
{
	*scene = (struct scene){.cause = cause, .random = {.state = 11}};
	feed_start(&scene->feed, NULL);
	scene->types[SERVE_IN] =
			feed_type(&scene->feed, "app:serve_entry", "request_id:u vtid:c vpid:c");
	scene->types[SERVE_OUT] =
			feed_type(&scene->feed, "app:serve_exit", "request_id:u vtid:c vpid:c");
	scene->types[WAIT_IN] = feed_type(&scene->feed, "app:wait_entry",
			"request_id:u queue_len:u waited_ns:u vtid:c vpid:c");
	scene->types[WAIT_OUT] =
			feed_type(&scene->feed, "app:wait_exit", "request_id:u vtid:c vpid:c");
}

static void put(struct scene *scene, uint32_t type, uint64_t ts_ns, const union feed_value *values)
{
	if (scene->often) {
		uint64_t now_ns = engine_time(scene->feed.engine);

		for (uint64_t at = now_ns + 700000; now_ns && at < ts_ns; at += 700000) {
			engine_advance(scene->feed.engine, at);
		}
	}
	feed_raw(&scene->feed, scene->feed.stream, scene->types[type], ts_ns, 0, values);
}

static void serve(struct scene *scene, uint64_t request, uint64_t ns)
{
	uint64_t queue = bootstrap_below(&scene->random, 3);
	uint64_t others = scene->cause == CAUSE_QUEUE    ? queue
			  : scene->cause == CAUSE_HIDDEN ? bootstrap_below(&scene->random, 3)
							 : 0;
	uint64_t waited = others * 12 * MS + bootstrap_below(&scene->random, 1000000) + MS;

	put(scene, SERVE_IN, ns, V({.u = request}, {.u = 100}, {.u = 100}));
	put(scene, WAIT_IN, ns + MS,
			V({.u = request}, {.u = queue}, {.u = waited}, {.u = 100}, {.u = 100}));
	put(scene, WAIT_OUT, ns + MS + waited, V({.u = request}, {.u = 100}, {.u = 100}));
	put(scene, SERVE_OUT, ns + 2 * MS + waited, V({.u = request}, {.u = 100}, {.u = 100}));
}

static void serve_seconds(struct scene *scene, uint32_t seconds)
{
	for (uint32_t end = scene->second + seconds; scene->second < end; scene->second++) {
		for (uint32_t i = 0; i < PER_S; i++) {
			uint64_t request = scene->second * PER_S + i + 1;

			serve(scene, request, T0 + scene->second * 1000 * MS + i * 50 * MS);
		}
	}
}

static struct snapshot *seen(struct scene *scene)
{
	const struct focus focus = {.parts = FOCUS_STEPS | FOCUS_GROUPS, .horizon = HORIZON_ALL};
	struct snapshot *snapshot = snapshot_create();

	if (!snapshot) {
		abort();
	}
	assert_int_equal(engine_fill(scene->feed.engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

static const struct steps_finding *first(const struct snapshot *snapshot)
{
	assert_true(snapshot->steps.n_findings > 0);
	return &snapshot->steps.findings[0];
}

/* A verdict by rule 1 first, with what explains it; by rule 2 once there are enough requests. */
static void a_variable_is_the_verdict(void **state)
{
	bool explained = false, believed = false;
	struct scene scene;

	(void)state;
	scene_begin(&scene, CAUSE_QUEUE);
	while (scene.second < 70) {
		const struct steps_finding *finding;
		struct snapshot *snapshot;

		serve_seconds(&scene, 1);
		snapshot = seen(&scene);
		finding = snapshot->steps.n_findings ? first(snapshot) : NULL;
		if (finding && finding->rule == STOP_CODE && finding->explanation &&
				finding->explanation->state == EXPLANATION_DONE) {
			explained = true;
			assert_non_null(strstr(finding->text, "explained by"));
			assert_non_null(strstr(finding->text, "queue_len: 0 -> "));
			assert_non_null(strstr(finding->next, "queue_len"));
		}
		if (finding && finding->rule == STOP_VARIABLE) {
			const struct explanation *explanation = finding->explanation;

			believed = true;
			assert_true(finding->requests >= 500);
			assert_non_null(strstr(finding->text, "queue_len: 0 -> "));
			assert_non_null(strstr(finding->text, "the time goes in"));
			assert_non_null(explanation);
			assert_int_equal(explanation->state, EXPLANATION_DONE);
			assert_int_equal(explanation->n_values, 3);
			assert_string_equal(explanation->values[2].text, "2");
			assert_true(explanation->keys[0].confirmed);
			assert_true(explanation->made_ns > T0);
		} else {
			assert_false(believed);
		}
		snapshot_destroy(snapshot);
	}
	assert_true(explained && believed);
	feed_stop(&scene.feed);
}

/* Where nothing explains it, it stays a verdict on code, and the key is told to be ruled out. */
static void a_hidden_cause_stays_code(void **state)
{
	const struct steps_finding *finding;
	struct snapshot *snapshot;
	struct scene scene;
	bool out = false;

	(void)state;
	scene_begin(&scene, CAUSE_HIDDEN);
	serve_seconds(&scene, 70);
	snapshot = seen(&scene);
	finding = first(snapshot);
	assert_int_equal(finding->rule, STOP_CODE);
	assert_null(strstr(finding->text, "explained by"));
	assert_non_null(finding->explanation);
	assert_int_equal(finding->explanation->state, EXPLANATION_DONE);
	for (uint32_t i = 0; i < finding->n_ruled_out; i++) {
		out |= strstr(finding->ruled_out[i], "queue_len") != NULL;
	}
	assert_true(out);
	assert_non_null(strstr(finding->next, "code of wait"));
	snapshot_destroy(snapshot);
	feed_stop(&scene.feed);
}

/* However often time is told, and with it work done, verdicts are the same, second by second. */
static void slices_decide_nothing(void **state)
{
	struct scene calm, often;

	(void)state;
	scene_begin(&calm, CAUSE_QUEUE);
	scene_begin(&often, CAUSE_QUEUE);
	often.often = true;
	while (calm.second < 60) {
		struct snapshot *a, *b;

		serve_seconds(&calm, 1);
		serve_seconds(&often, 1);
		a = seen(&calm);
		b = seen(&often);
		assert_int_equal(a->steps.n_findings, b->steps.n_findings);
		if (a->steps.n_findings) {
			assert_int_equal(first(a)->rule, first(b)->rule);
			assert_string_equal(first(a)->text, first(b)->text);
		}
		snapshot_destroy(a);
		snapshot_destroy(b);
	}
	feed_stop(&calm.feed);
	feed_stop(&often.feed);
}

/* The end of a recording is the last moment: what is found then is explained at once. */
static void the_end_explains(void **state)
{
	struct snapshot *snapshot;
	struct scene scene;

	(void)state;
	scene_begin(&scene, CAUSE_QUEUE);
	do {
		serve_seconds(&scene, 1);
		snapshot = seen(&scene);
		if (snapshot->steps.n_findings == 0) {
			snapshot_destroy(snapshot);
			snapshot = NULL;
		}
	} while (!snapshot && scene.second < 60);
	if (!snapshot) {
		fail_msg("nothing is found");
		return;
	}
	assert_int_equal(first(snapshot)->rule, STOP_CODE);
	assert_non_null(first(snapshot)->explanation);
	assert_int_equal(first(snapshot)->explanation->state, EXPLANATION_RUNNING);
	snapshot_destroy(snapshot);
	engine_finish(scene.feed.engine);
	snapshot = seen(&scene);
	assert_int_equal(first(snapshot)->explanation->state, EXPLANATION_DONE);
	assert_non_null(strstr(first(snapshot)->text, "queue_len"));
	snapshot_destroy(snapshot);
	feed_stop(&scene.feed);
}

static enum status explain(const struct scene *scene, uint32_t group)
{
	return engine_input(scene->feed.engine,
			&(struct engine_input){.kind = INPUT_EXPLAIN, .number = group}, NULL, 0);
}

/* Groups that nobody searches are explained if a person asks: soon, or after the end at once. */
static void a_person_asks(void **state)
{
	const struct steps_finding *finding;
	struct snapshot *snapshot;
	struct scene scene;

	(void)state;
	scene_begin(&scene, CAUSE_NONE);
	assert_int_equal(explain(&scene, 1), STATUS_NOT_FOUND);
	serve_seconds(&scene, 20);
	assert_int_equal(explain(&scene, 0), STATUS_NOT_FOUND);
	assert_int_equal(explain(&scene, 2), STATUS_NOT_FOUND);
	assert_int_equal(explain(&scene, 1), STATUS_OK);
	snapshot = seen(&scene);
	finding = first(snapshot);
	assert_int_equal(finding->group_id, 1);
	assert_int_equal(finding->rule, STOP_NONE);
	assert_int_equal(finding->explanation->state, EXPLANATION_RUNNING);
	snapshot_destroy(snapshot);
	serve_seconds(&scene, 5);
	snapshot = seen(&scene);
	finding = first(snapshot);
	assert_int_equal(finding->explanation->state, EXPLANATION_DONE);
	assert_non_null(strstr(finding->text, "no key-value"));
	assert_true(finding->explanation->n_out > 0); /* waited_ns is a part of it */
	snapshot_destroy(snapshot);

	engine_finish(scene.feed.engine);
	assert_int_equal(explain(&scene, 1), STATUS_OK);
	snapshot = seen(&scene);
	assert_int_equal(first(snapshot)->explanation->state, EXPLANATION_DONE);
	/* Of the requests that were kept before, or came after the first wish. */
	assert_true(first(snapshot)->explanation->n + first(snapshot)->explanation->n_held >=
			10 * PER_S);
	snapshot_destroy(snapshot);
	feed_stop(&scene.feed);
}

/* ---- words ---- */

static void what_is_said(void **state)
{
	struct explained_key key = {.name = "host of build",
			.where = "create",
			.source = EXPLANATION_HOST,
			.omega2_held = 0.62,
			.p = 0.00123,
			.confirmed = true};
	const struct explained_value values[] = {{.text = "compute-1", .mean_ns = 48e6},
			{.text = "compute-3", .mean_ns = 49.5e6},
			{.text = "compute-2", .mean_ns = 1.3e9}};
	struct explanation explanation = {.state = EXPLANATION_DONE,
			.n = 300,
			.n_held = 301,
			.n_keys = 1,
			.keys = &key,
			.n_values = 3,
			.values = values};
	struct steps_verdict verdict = {.reason = REASON_VARIABLE, .type = "create", .place = ""};
	struct snapshot *snapshot = snapshot_create();
	char text[512];

	(void)state;
	assert_non_null(snapshot);
	verdict.key = explained_by(&explanation);
	verdict_text(text, sizeof(text), &verdict);
	assert_string_equal(text,
			"create: explained by host of build: compute-1 -> 48ms, compute-3 -> 49.5ms, "
			"compute-2 -> 1.3s (62% of the variance held out, n 300+301, p <= 0.002)");
	assert_true(verdict_names_key(&verdict));
	verdict_text_without_key(text, sizeof(text), &verdict);
	assert_string_equal(text, "");
	verdict.place = "build";
	verdict_text_without_key(text, sizeof(text), &verdict);
	assert_string_equal(text, "create: the time goes in build");
	verdict_text(text, sizeof(text), &verdict);
	assert_non_null(strstr(text, "p <= 0.002); the time goes in build"));
	verdict.place = "";
	assert_non_null(strstr(explained_next(&verdict.key, snapshot), "compute-2"));
	assert_true(explained_by_system(&verdict.key) && !verdict.key.partly);
	key.omega2_held = 0.49;
	verdict.key = explained_by(&explanation);
	assert_true(verdict.key.partly && !explained_by_system(&verdict.key));
	verdict_text(text, 20, &verdict); /* what has no room is cut */
	assert_string_equal(text, "create: partly expl");

	key.source = EXPLANATION_RESOURCE;
	key.name = "runqueue_ns";
	verdict.key = explained_by(&explanation);
	verdict_text(text, sizeof(text), &verdict);
	assert_non_null(strstr(text, "explained by waiting for a CPU: "));
	assert_false(verdict_names_key(&verdict));
	key.source = EXPLANATION_FIELD;
	verdict.key = explained_by(&explanation);
	assert_false(explained_by_system(&verdict.key));
	key.confirmed = false;
	assert_string_equal(explained_by(&explanation).name, "");
	snapshot_destroy(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_variable_is_the_verdict),
			cmocka_unit_test(a_hidden_cause_stays_code),
			cmocka_unit_test(slices_decide_nothing),
			cmocka_unit_test(the_end_explains),
			cmocka_unit_test(a_person_asks),
			cmocka_unit_test(what_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
