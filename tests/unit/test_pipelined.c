/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clients that send the next request before they have the answer: each request is from its own
 * send, as far as the server reads them one by one; and what it reads at once is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lab.h"

#define T0   UINT64_C(1700000000000000000)
#define MS   UINT64_C(1000000)
#define MOST 16u

enum { SERVER = 100, CLIENT = 200, PORT = 80, CLIENT_PORT = 40000 };

struct scene {
	struct lab lab;
	uint32_t stream, send, receive;
	uint64_t now_ns;
	uint32_t n;
	uint64_t start_ns[MOST], end_ns[MOST]; /* of complete requests */
};

static void note(void *context, struct request *request)
{
	struct scene *scene = context;

	if (request->state == REQUEST_COMPLETE && scene->n < MOST) {
		scene->start_ns[scene->n] = request->start_ns;
		scene->end_ns[scene->n++] = request->end_ns;
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

/* `position`: of a send where it begins, of a receive where it ends. Returns when it was. */
static uint64_t message(
		struct scene *scene, bool client, bool send, uint32_t position, uint32_t length)
{
	const uint64_t slots[] = {2, 1, client ? CLIENT_PORT : PORT, client ? PORT : CLIENT_PORT, 0,
			0xffff7f000001, 0, 0xffff7f000001, 0, position, length};

	feed(scene, send ? scene->send : scene->receive, client ? CLIENT : SERVER, slots, 11);
	return scene->now_ns;
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
	const uint64_t listens[] = {2, 1, PORT, 0, 0, 0, 0, 0, 0, 0, 0};
	const uint64_t runs[2][3] = {{0, SERVER, 0}, {0, CLIENT, 0}};
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
	scene->send = add_type(scene, "socket_send", fields, 11);
	scene->receive = add_type(scene, "socket_recv", fields, 11);
	switched = add_type(scene, "sched_switch", tids, 3);
	feed(scene, add_type(scene, "socket_listen", fields, 11), SERVER, listens, 11);
	feed(scene, switched, SERVER, runs[0], 3);
	feed(scene, switched, CLIENT, runs[1], 3);
}

static void stop(struct scene *scene)
{
	servers_finish(scene->lab.servers);
	requests_finish(scene->lab.requests);
}

static bool is_noted(struct scene *scene, const char *text)
{
	struct arena arena = {0};
	const char *notes[32];
	uint32_t n = servers_notes(scene->lab.servers, &arena, notes, 32);
	bool found = false;

	for (uint32_t i = 0; i < n; i++) {
		found |= strstr(notes[i], text) != NULL;
	}
	arena_release(&arena);
	return found;
}

/* Three are under way before the first is read, and a fourth comes after the first answer. */
static void test_one_by_one(void **state)
{
	static struct scene scene;
	uint64_t sent[4], answered[4];
	uint32_t base = UINT32_MAX - 15; /* numbers of the stream come round */

	(void)state;
	start(&scene);
	for (uint32_t i = 0; i < 3; i++) {
		sent[i] = message(&scene, true, true, base + 10 * i, 10);
	}
	for (uint32_t i = 0; i < 4; i++) {
		message(&scene, false, false, base + 10 * (i + 1), 10);
		answered[i] = message(&scene, false, true, 5 * i, 5);
		if (i == 0) {
			message(&scene, true, false, 5, 5);
			sent[3] = message(&scene, true, true, base + 30, 10);
		}
	}
	stop(&scene);
	assert_int_equal(scene.n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(scene.start_ns[i], sent[i]);
		assert_int_equal(scene.end_ns[i], answered[i]);
	}
	assert_true(is_noted(&scene, "3 requests were sent before the one before was answered"));
	assert_false(is_noted(&scene, "in several pieces"));
	lab_stop(&scene.lab);
}

/* Read at once, and one in two pieces: that these may be several is said. */
static void test_at_once(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	message(&scene, true, true, 0, 10);
	message(&scene, true, true, 10, 10);
	message(&scene, false, false, 20, 20);
	message(&scene, false, true, 0, 5);
	message(&scene, true, false, 5, 5);
	message(&scene, true, true, 20, 10);
	message(&scene, false, false, 30, 10);
	message(&scene, false, true, 5, 5);
	stop(&scene);
	assert_int_equal(scene.n, 2);
	assert_true(is_noted(&scene, "1 time a server received at once"));
	assert_false(is_noted(&scene, "before the one before"));
	lab_stop(&scene.lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_one_by_one),
			cmocka_unit_test(test_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
