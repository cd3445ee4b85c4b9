/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests that come as datagrams of UDP: by sockets that are bound to no address of their own, beside
 * streams with the same port numbers, asked of others in turn, answered late or never.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lab.h"

#define T0       UINT64_C(1700000000000000000)
#define MS       UINT64_C(1000000)
#define LOOPBACK UINT64_C(0xffff7f000001)
#define ANY      UINT64_C(0xffff00000000)
#define MOST     16u

enum { SERVER = 100, CLIENT = 200, UPSTREAM = 300 };
enum { PORT = 53, CLIENT_PORT = 40000, OWN_PORT = 20000, UPSTREAM_PORT = 5353 };
enum { STREAM = 1, DATAGRAM = 2 };

struct scene {
	struct lab lab;
	uint32_t stream, send, receive, listen;
	uint64_t now_ns;
	uint32_t n, n_cut;
	uint64_t start_ns[MOST], end_ns[MOST]; /* of complete requests */
	char types[MOST][32];
};

static void note(void *context, struct request *request)
{
	struct scene *scene = context;
	const char *type = names_text(scene->lab.names, request->type);

	if (request->state != REQUEST_COMPLETE) {
		scene->n_cut++;
	} else if (scene->n < MOST) {
		scene->start_ns[scene->n] = request->start_ns;
		scene->end_ns[scene->n] = request->end_ns;
		snprintf(scene->types[scene->n++], sizeof(scene->types[0]), "%s", type);
	}
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

/* What a thread does with a socket of that type; `own`: the address it is bound to. */
static uint64_t act(struct scene *scene, uint32_t event, uint32_t tid, uint32_t type, uint64_t own,
		uint32_t from, uint32_t to)
{
	const uint64_t slots[] = {2, 1, from, to, 0, own, 0, to ? LOOPBACK : ANY, 0, 0, type, 20};

	feed(scene, event, tid, slots, 12);
	return scene->now_ns;
}

static uint64_t sends(struct scene *scene, uint32_t tid, uint32_t from, uint32_t to)
{
	return act(scene, scene->send, tid, DATAGRAM, ANY, from, to);
}

static uint64_t receives(struct scene *scene, uint32_t tid, uint32_t at, uint32_t from)
{
	return act(scene, scene->receive, tid, DATAGRAM, ANY, at, from);
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
			"saddr_low", "daddr_high", "daddr_low", "named", "position", "type",
			"length"};
	static const char *const tids[] = {"prev_tid", "next_tid", "prev_state"};
	static const uint32_t threads[] = {SERVER, CLIENT, UPSTREAM};
	uint32_t switched;

	memset(scene, 0, sizeof(*scene));
	scene->now_ns = T0;
	lab_start(&scene->lab, note, scene);
	scene->stream = lab_add_stream(&scene->lab,
			&(struct stream_desc){
					.session = lab_add_session(&scene->lab,
							&(struct session_desc){.host = "alpha",
									.name = "test"}),
					.domain = DOMAIN_KERNEL});
	scene->send = add_type(scene, "socket_send", fields, 12);
	scene->receive = add_type(scene, "socket_recv", fields, 12);
	scene->listen = add_type(scene, "socket_listen", fields, 12);
	switched = add_type(scene, "sched_switch", tids, 3);
	act(scene, scene->listen, SERVER, DATAGRAM, ANY, PORT, 0);
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t runs[] = {0, threads[i], 0};

		feed(scene, switched, threads[i], runs, 3);
	}
}

static void stop(struct scene *scene)
{
	servers_finish(scene->lab.servers);
	requests_finish(scene->lab.requests);
}

/* Each datagram that is answered is a request, from the client's send to the server's. */
static void test_questions_and_answers(void **state)
{
	static struct scene scene;
	uint64_t sent[3], answered[3];

	(void)state;
	start(&scene);
	for (uint32_t i = 0; i < 3; i++) {
		sent[i] = sends(&scene, CLIENT, CLIENT_PORT, PORT);
		receives(&scene, SERVER, PORT, CLIENT_PORT);
		answered[i] = sends(&scene, SERVER, PORT, CLIENT_PORT);
		receives(&scene, CLIENT, CLIENT_PORT, PORT);
	}
	stop(&scene);
	assert_int_equal(scene.n, 3);
	assert_int_equal(scene.n_cut, 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(scene.start_ns[i], sent[i]);
		assert_int_equal(scene.end_ns[i], answered[i]);
		assert_non_null(strstr(scene.types[i], ":53"));
	}
	lab_stop(&scene.lab);
}

/* It asks another server by a port that it is bound to: no request of that port, but a call. */
static void test_asked_in_turn(void **state)
{
	static struct scene scene;
	uint64_t sent, answered;

	(void)state;
	start(&scene);
	act(&scene, scene.listen, UPSTREAM, DATAGRAM, ANY, UPSTREAM_PORT, 0);
	sent = sends(&scene, CLIENT, CLIENT_PORT, PORT);
	receives(&scene, SERVER, PORT, CLIENT_PORT);
	act(&scene, scene.listen, SERVER, DATAGRAM, ANY, OWN_PORT, 0);
	sends(&scene, SERVER, OWN_PORT, UPSTREAM_PORT);
	receives(&scene, UPSTREAM, UPSTREAM_PORT, OWN_PORT);
	sends(&scene, UPSTREAM, UPSTREAM_PORT, OWN_PORT);
	receives(&scene, SERVER, OWN_PORT, UPSTREAM_PORT);
	answered = sends(&scene, SERVER, PORT, CLIENT_PORT);
	stop(&scene);
	assert_int_equal(scene.n, 1);
	assert_int_equal(scene.start_ns[0], sent);
	assert_int_equal(scene.end_ns[0], answered);
	lab_stop(&scene.lab);
}

/* What is not answered within a second is cut off; what comes twice before the answer is one. */
static void test_unanswered(void **state)
{
	static struct scene scene;
	uint64_t sent, answered;

	(void)state;
	start(&scene);
	sends(&scene, CLIENT, CLIENT_PORT, PORT);
	receives(&scene, SERVER, PORT, CLIENT_PORT);
	scene.now_ns += 2000 * MS;
	sent = sends(&scene, CLIENT, CLIENT_PORT, PORT);
	receives(&scene, SERVER, PORT, CLIENT_PORT);
	sends(&scene, CLIENT, CLIENT_PORT, PORT);
	receives(&scene, SERVER, PORT, CLIENT_PORT);
	answered = sends(&scene, SERVER, PORT, CLIENT_PORT);
	stop(&scene);
	assert_int_equal(scene.n, 1);
	assert_int_equal(scene.n_cut, 1);
	assert_int_equal(scene.start_ns[0], sent);
	assert_int_equal(scene.end_ns[0], answered);
	lab_stop(&scene.lab);
}

/* A stream from a port that datagrams are received at is a client's still. */
static void test_streams_beside(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	act(&scene, scene.listen, SERVER, DATAGRAM, ANY, OWN_PORT, 0);
	act(&scene, scene.send, SERVER, STREAM, LOOPBACK, OWN_PORT, UPSTREAM_PORT);
	act(&scene, scene.receive, SERVER, STREAM, LOOPBACK, OWN_PORT, UPSTREAM_PORT);
	act(&scene, scene.send, SERVER, STREAM, LOOPBACK, OWN_PORT, UPSTREAM_PORT);
	stop(&scene);
	assert_int_equal(scene.n, 0);
	assert_int_equal(scene.n_cut, 0);
	lab_stop(&scene.lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_questions_and_answers),
			cmocka_unit_test(test_asked_in_turn),
			cmocka_unit_test(test_unanswered),
			cmocka_unit_test(test_streams_beside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
