/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Event loops: a thread that has several requests at once may receive a few of them, or of the answers
 * to its calls, before it goes on with any. What it asks then is nobody's; else it is joined.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab.h"

#define T0       UINT64_C(1700000000000000000)
#define MS       UINT64_C(1000000)
#define LOOPBACK UINT64_C(0xffff7f000001)

enum { SERVER = 100, CLIENT = 200, UPSTREAM = 300 };
enum { PORT = 80, UPSTREAM_PORT = 90, FIRST = 40000, SECOND, OWN_FIRST = 50000, OWN_SECOND };

struct scene {
	struct lab lab;
	uint32_t stream, send, receive, wait;
	uint64_t now_ns;
	uint32_t n_asked, n_alone; /* requests of PORT that are complete; of UPSTREAM_PORT, of nobody */
};

static void note(void *context, struct request *request)
{
	struct scene *scene = context;
	const char *type = names_text(scene->lab.names, request->type);

	scene->n_asked += request->state == REQUEST_COMPLETE && strstr(type, ":80") != NULL;
	scene->n_alone += request->state == REQUEST_COMPLETE && strstr(type, ":90") != NULL;
}

static void feed(
		struct scene *scene, uint32_t type, uint32_t tid, const uint64_t *slots, uint32_t n)
{
	scene->now_ns += MS;
	lab_feed(&scene->lab, &(struct event){.ts_ns = scene->now_ns,
					      .type = type,
					      .stream = scene->stream,
					      .cpu = tid,
					      .bytes = n * 8,
					      .slots = slots});
}

/* All that is sent at once lies in the first 10 bytes of each stream. */
static void act(struct scene *scene, uint32_t event, uint32_t tid, uint32_t from, uint32_t to)
{
	uint32_t position = event == scene->receive ? 10 : 0;
	const uint64_t slots[] = {2, 1, from, to, 0, LOOPBACK, 0, LOOPBACK, 0, position, 10};

	feed(scene, event, tid, slots, 11);
}

static void asks(struct scene *scene, uint32_t client)
{
	act(scene, scene->send, CLIENT, client, PORT);
	act(scene, scene->receive, SERVER, PORT, client);
}

/* The server asks for somebody, and the other one answers at once. */
static void asks_on(struct scene *scene, uint32_t by)
{
	act(scene, scene->send, SERVER, by, UPSTREAM_PORT);
	act(scene, scene->receive, UPSTREAM, UPSTREAM_PORT, by);
	act(scene, scene->send, UPSTREAM, UPSTREAM_PORT, by);
}

static void has_answer(struct scene *scene, uint32_t by)
{
	act(scene, scene->receive, SERVER, by, UPSTREAM_PORT);
}

static void answers(struct scene *scene, uint32_t client)
{
	act(scene, scene->send, SERVER, PORT, client);
}

static void waits(struct scene *scene)
{
	const uint64_t nothing[] = {0};

	feed(scene, scene->wait, SERVER, nothing, 1);
}

static uint32_t add_type(
		struct scene *scene, const char *name, const char *const *fields, uint32_t n)
{
	struct field list[12];
	struct event_type type = {.name = name, .n_fields = n, .fields = list};

	for (uint32_t i = 0; i < n; i++) {
		list[i] = (struct field){.name = fields[i], .kind = FIELD_UINT, .base = 10};
	}
	return lab_add_type(&scene->lab, &type);
}

static void start(struct scene *scene)
{
	static const char *const fields[] = {"family", "netns", "sport", "dport", "saddr_high",
			"saddr_low", "daddr_high", "daddr_low", "named", "position", "length"};
	static const char *const tids[] = {"prev_tid", "next_tid", "prev_state"};
	static const char *const of_wait[] = {"epfd"};
	static const uint32_t threads[] = {SERVER, CLIENT, UPSTREAM};
	uint32_t switched, listen;

	memset(scene, 0, sizeof(*scene));
	scene->now_ns = T0;
	lab_start(&scene->lab, note, scene);
	scene->stream = lab_add_stream(&scene->lab,
			&(struct stream_desc){
					.session = lab_add_session(&scene->lab,
							&(struct session_desc){.host = "alpha",
									.name = "test"}),
					.domain = DOMAIN_KERNEL});
	scene->send = add_type(scene, "socket_send", fields, 11);
	scene->receive = add_type(scene, "socket_recv", fields, 11);
	scene->wait = add_type(scene, "syscall_entry_epoll_wait", of_wait, 1);
	listen = add_type(scene, "socket_listen", fields, 11);
	switched = add_type(scene, "sched_switch", tids, 3);
	act(scene, listen, SERVER, PORT, 0);
	act(scene, listen, UPSTREAM, UPSTREAM_PORT, 0);
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t runs[] = {0, threads[i], 0};

		feed(scene, switched, threads[i], runs, 3);
	}
}

static void stop(struct scene *scene)
{
	servers_finish(scene->lab.servers);
	requests_finish(scene->lab.requests);
	lab_stop(&scene->lab);
}

/* Each is asked for as soon as it was received: who asked is known. */
static void test_one_by_one(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	asks(&scene, FIRST);
	asks_on(&scene, OWN_FIRST);
	asks(&scene, SECOND);
	asks_on(&scene, OWN_SECOND);
	waits(&scene);
	has_answer(&scene, OWN_FIRST);
	answers(&scene, FIRST);
	has_answer(&scene, OWN_SECOND);
	answers(&scene, SECOND);
	stop(&scene);
	assert_int_equal(scene.n_asked, 2);
	assert_int_equal(scene.n_alone, 0);
}

/* Both are received first. */
static void test_in_one_turn(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	asks(&scene, FIRST);
	asks(&scene, SECOND);
	asks_on(&scene, OWN_FIRST);
	asks_on(&scene, OWN_SECOND);
	waits(&scene);
	has_answer(&scene, OWN_FIRST);
	answers(&scene, FIRST);
	has_answer(&scene, OWN_SECOND);
	answers(&scene, SECOND);
	stop(&scene);
	assert_int_equal(scene.n_asked, 2);
	assert_int_equal(scene.n_alone, 2);
}

/* One waits since the turn before, while the other has its answer, or is answered. */
static void test_from_the_turn_before(void **state)
{
	(void)state;
	for (int answered = 0; answered < 2; answered++) {
		static struct scene scene;

		start(&scene);
		asks(&scene, FIRST);
		asks_on(&scene, OWN_FIRST);
		asks(&scene, SECOND);
		waits(&scene);
		has_answer(&scene, OWN_FIRST);
		if (answered) {
			answers(&scene, FIRST);
		}
		asks_on(&scene, OWN_SECOND);
		if (!answered) {
			answers(&scene, FIRST);
		}
		waits(&scene);
		has_answer(&scene, OWN_SECOND);
		answers(&scene, SECOND);
		stop(&scene);
		assert_int_equal(scene.n_asked, 2);
		assert_int_equal(scene.n_alone, 1);
	}
}

/* Who has one request at a time asks for it also after it began to answer. */
static void test_one_at_a_time(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	asks(&scene, FIRST);
	asks_on(&scene, OWN_FIRST);
	has_answer(&scene, OWN_FIRST);
	answers(&scene, FIRST);
	asks_on(&scene, OWN_SECOND);
	has_answer(&scene, OWN_SECOND);
	answers(&scene, FIRST);
	stop(&scene);
	assert_int_equal(scene.n_asked, 1);
	assert_int_equal(scene.n_alone, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_one_by_one),
			cmocka_unit_test(test_in_one_turn),
			cmocka_unit_test(test_from_the_turn_before),
			cmocka_unit_test(test_one_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
