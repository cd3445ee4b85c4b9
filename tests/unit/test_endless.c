/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outermost functions that never end: requests are what they call again and again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "feed.h"
#include "lab.h"

#define MS UINT64_C(1000000)
#define T0 UINT64_C(1700000000000000000)

enum { MAIN, LOOP, SERVE, PARSE, IDLE, N_FUNCTIONS };
static const char *const functions[N_FUNCTIONS] = {"main", "loop", "serve", "parse", "idle"};

struct bench {
	struct lab lab;
	uint32_t stream, entry[N_FUNCTIONS], leave[N_FUNCTIONS];
	uint32_t complete[N_FUNCTIONS], truncated[N_FUNCTIONS];
	uint64_t longest_ns[N_FUNCTIONS];
	uint64_t now_ns;
};

static void count(void *context, struct request *request)
{
	struct bench *bench = context;
	const char *type = names_text(bench->lab.names, request->type);

	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		uint64_t ns = request->end_ns - request->start_ns;

		if (strcmp(type, functions[i]) != 0) {
			continue;
		}
		bench->complete[i] += request->state == REQUEST_COMPLETE;
		bench->truncated[i] += request->state == REQUEST_TRUNCATED;
		bench->longest_ns[i] = ns > bench->longest_ns[i] ? ns : bench->longest_ns[i];
	}
}

static uint32_t add_type(struct bench *bench, const char *function, const char *suffix)
{
	struct field fields[2];
	char name[64], text[] = "vtid:c vpid:c";
	struct event_type type = {.name = name, .fields = fields};

	snprintf(name, sizeof(name), "app:%s_%s", function, suffix);
	type.n_fields = feed_fields(text, fields);
	return lab_add_type(&bench->lab, &type);
}

static void start(struct bench *bench)
{
	uint32_t session;

	*bench = (struct bench){.now_ns = T0};
	lab_start(&bench->lab, count, bench);
	session = lab_add_session(
			&bench->lab, &(struct session_desc){.host = "alpha", .name = "test"});
	bench->stream = lab_add_stream(&bench->lab,
			&(struct stream_desc){.session = session, .domain = DOMAIN_UST});
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		bench->entry[i] = add_type(bench, functions[i], "entry");
		bench->leave[i] = add_type(bench, functions[i], "exit");
	}
}

static void feed(struct bench *bench, uint32_t type, uint64_t tid)
{
	const uint64_t slots[] = {tid, 100};

	lab_feed(&bench->lab, &(struct event){.ts_ns = bench->now_ns,
					      .type = type,
					      .stream = bench->stream,
					      .cpu = 0,
					      .bytes = sizeof(slots),
					      .slots = slots});
}

static void enter(struct bench *bench, uint32_t function, uint64_t tid)
{
	feed(bench, bench->entry[function], tid);
}

static void leave(struct bench *bench, uint32_t function, uint64_t tid, uint64_t after_ns)
{
	bench->now_ns += after_ns;
	feed(bench, bench->leave[function], tid);
}

/* A request of some length, which parses three times; then the loop is idle for a while. */
static void serve(struct bench *bench, uint64_t tid, uint64_t ns)
{
	enter(bench, SERVE, tid);
	for (uint32_t i = 0; i < 3; i++) {
		enter(bench, PARSE, tid);
		leave(bench, PARSE, tid, ns / 4);
	}
	leave(bench, SERVE, tid, ns / 4);
	enter(bench, IDLE, tid);
	leave(bench, IDLE, tid, 10 * MS);
}

static void stop(struct bench *bench)
{
	requests_finish(bench->lab.requests);
	lab_stop(&bench->lab);
}

static void the_root_moves_down(void **state)
{
	struct bench bench;

	(void)state;
	start(&bench);
	enter(&bench, MAIN, 7);
	enter(&bench, LOOP, 7);
	for (uint32_t i = 0; i < 200; i++) {
		serve(&bench, 7, 40 * MS);
	}
	/* Within a second it is known; nothing of a request is one by itself. */
	assert_in_range(bench.complete[SERVE], 170, 185);
	assert_int_equal(bench.complete[PARSE], 0);
	assert_int_equal(bench.longest_ns[SERVE], 40 * MS);
	assert_int_equal(bench.truncated[MAIN], 1);
	assert_int_equal(bench.complete[MAIN] + bench.complete[LOOP], 0);
	/* It ends after all: in order, with nothing left over. */
	leave(&bench, LOOP, 7, MS);
	leave(&bench, MAIN, 7, MS);
	assert_int_equal(bench.complete[MAIN] + bench.truncated[LOOP], 0);
	stop(&bench);
}

/* What ends is the request, however long it takes and whatever it calls: at the latest the second.
 */
static void long_requests_are_whole(void **state)
{
	struct bench bench;

	(void)state;
	start(&bench);
	serve(&bench, 7, 100 * MS);
	for (uint32_t i = 0; i < 5; i++) {
		enter(&bench, SERVE, 7);
		for (uint32_t k = 0; k < 50; k++) {
			enter(&bench, PARSE, 7);
			leave(&bench, PARSE, 7, 100 * MS);
		}
		leave(&bench, SERVE, 7, MS);
	}
	assert_int_equal(bench.complete[SERVE], 6);
	assert_int_equal(bench.complete[PARSE] + bench.truncated[SERVE], 0);
	stop(&bench);

	start(&bench); /* the first one is such: taken for endless until it ends */
	for (uint32_t i = 0; i < 3; i++) {
		enter(&bench, SERVE, 7);
		for (uint32_t k = 0; k < 50; k++) {
			enter(&bench, PARSE, 7);
			leave(&bench, PARSE, 7, 100 * MS);
		}
		leave(&bench, SERVE, 7, MS);
	}
	assert_int_equal(bench.truncated[SERVE], 1);
	assert_int_equal(bench.complete[SERVE], 2);
	assert_in_range(bench.complete[PARSE], 30, 40);
	stop(&bench);
}

/* Each thread by itself: one serves, one waits, one has been attached to in the middle. */
static void threads_move_by_themselves(void **state)
{
	struct bench bench;

	(void)state;
	start(&bench);
	enter(&bench, MAIN, 7);
	enter(&bench, LOOP, 8);
	leave(&bench, PARSE, 9, MS);
	leave(&bench, SERVE, 9, MS);
	for (uint32_t i = 0; i < 100; i++) {
		serve(&bench, 8, 40 * MS);
		serve(&bench, 9, 20 * MS);
	}
	assert_in_range(bench.complete[SERVE], 185, 195);
	assert_int_equal(bench.complete[PARSE], 0);
	assert_int_equal(bench.truncated[LOOP], 1);
	assert_int_equal(bench.truncated[MAIN] + bench.complete[MAIN], 0); /* it calls nothing */
	stop(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_root_moves_down),
			cmocka_unit_test(long_requests_are_whole),
			cmocka_unit_test(threads_move_by_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
