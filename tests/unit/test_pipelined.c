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

#include "socket_scene.h"

#define MOST 16u

enum { SERVER = 100, CLIENT = 200, PORT = 80, CLIENT_PORT = 40000 };

struct scene {
	struct socket_scene sockets;
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

/* Returns when it was. */
static uint64_t message(
		struct scene *scene, bool client, bool send, uint32_t position, uint32_t length)
{
	return scene_act(&scene->sockets,
			&(struct socket_act){.event = send ? scene->sockets.send
							   : scene->sockets.receive,
					.thread = client ? CLIENT : SERVER,
					.from = client ? CLIENT_PORT : PORT,
					.to = client ? PORT : CLIENT_PORT,
					.position = position,
					.length = length});
}

static void start(struct scene *scene)
{
	static const uint32_t threads[] = {SERVER, CLIENT};

	memset(scene, 0, sizeof(*scene));
	scene_start(&scene->sockets, note, scene, threads, 2);
	scene_act(&scene->sockets, &(struct socket_act){.event = scene->sockets.listen,
						   .thread = SERVER,
						   .from = PORT});
}

static void stop(struct scene *scene)
{
	scene_finish(&scene->sockets);
}

static bool is_noted(struct scene *scene, const char *text)
{
	struct arena arena = {0};
	const char *notes[32];
	uint32_t n = servers_notes(scene->sockets.lab.servers, &arena, notes, 32);
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
	lab_stop(&scene.sockets.lab);
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
	lab_stop(&scene.sockets.lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_one_by_one),
			cmocka_unit_test(test_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
