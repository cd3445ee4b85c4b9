/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests that come as datagrams of UDP: by sockets that are bound to no address of their own,
 * beside streams with the same port numbers, asked of others in turn, answered late or never.
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

enum { SERVER = 100, CLIENT = 200, UPSTREAM = 300 };
enum { PORT = 53, CLIENT_PORT = 40000, OWN_PORT = 20000, UPSTREAM_PORT = 5353 };

struct scene {
	struct socket_scene sockets;
	uint32_t n, n_cut;
	uint64_t start_ns[MOST], end_ns[MOST]; /* of complete requests */
	char types[MOST][32];
};

static void note(void *context, struct request *request)
{
	struct scene *scene = context;
	const char *type = names_text(scene->sockets.lab.names, request->type);

	if (request->state != REQUEST_COMPLETE) {
		scene->n_cut++;
	} else if (scene->n < MOST) {
		scene->start_ns[scene->n] = request->start_ns;
		scene->end_ns[scene->n] = request->end_ns;
		snprintf(scene->types[scene->n++], sizeof(scene->types[0]), "%s", type);
	}
}

/* With a socket that is bound to no address. */
static uint64_t act(
		struct scene *scene, uint32_t event, uint32_t thread, uint32_t from, uint32_t to)
{
	return scene_act(&scene->sockets, &(struct socket_act){.event = event,
							  .thread = thread,
							  .from = from,
							  .to = to,
							  .type = SCENE_DATAGRAM,
							  .own = SCENE_ANY,
							  .length = 20});
}

static uint64_t sends(struct scene *scene, uint32_t thread, uint32_t from, uint32_t to)
{
	return act(scene, scene->sockets.send, thread, from, to);
}

static uint64_t receives(struct scene *scene, uint32_t thread, uint32_t at, uint32_t from)
{
	return act(scene, scene->sockets.receive, thread, at, from);
}

static void binds(struct scene *scene, uint32_t thread, uint32_t port)
{
	act(scene, scene->sockets.listen, thread, port, 0);
}

static void start(struct scene *scene)
{
	static const uint32_t threads[] = {SERVER, CLIENT, UPSTREAM};

	memset(scene, 0, sizeof(*scene));
	scene_start(&scene->sockets, note, scene, threads, 3);
	binds(scene, SERVER, PORT);
}

static void stop(struct scene *scene)
{
	scene_finish(&scene->sockets);
	lab_stop(&scene->sockets.lab);
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
}

/* It asks another server by a port that it is bound to: no request of that port, but a call. */
static void test_asked_in_turn(void **state)
{
	static struct scene scene;
	uint64_t sent, answered;

	(void)state;
	start(&scene);
	binds(&scene, UPSTREAM, UPSTREAM_PORT);
	sent = sends(&scene, CLIENT, CLIENT_PORT, PORT);
	receives(&scene, SERVER, PORT, CLIENT_PORT);
	binds(&scene, SERVER, OWN_PORT);
	sends(&scene, SERVER, OWN_PORT, UPSTREAM_PORT);
	receives(&scene, UPSTREAM, UPSTREAM_PORT, OWN_PORT);
	sends(&scene, UPSTREAM, UPSTREAM_PORT, OWN_PORT);
	receives(&scene, SERVER, OWN_PORT, UPSTREAM_PORT);
	answered = sends(&scene, SERVER, PORT, CLIENT_PORT);
	stop(&scene);
	assert_int_equal(scene.n, 1);
	assert_int_equal(scene.start_ns[0], sent);
	assert_int_equal(scene.end_ns[0], answered);
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
	scene.sockets.now_ns += 2000 * SCENE_MS;
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
}

/* A stream from a port that datagrams are received at is a client's still. */
static void test_streams_beside(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	binds(&scene, SERVER, OWN_PORT);
	scene_act(&scene.sockets, &(struct socket_act){.event = scene.sockets.send,
						  .thread = SERVER,
						  .from = OWN_PORT,
						  .to = UPSTREAM_PORT,
						  .length = 20});
	scene_act(&scene.sockets, &(struct socket_act){.event = scene.sockets.receive,
						  .thread = SERVER,
						  .from = OWN_PORT,
						  .to = UPSTREAM_PORT,
						  .position = 20,
						  .length = 20});
	scene_act(&scene.sockets, &(struct socket_act){.event = scene.sockets.send,
						  .thread = SERVER,
						  .from = OWN_PORT,
						  .to = UPSTREAM_PORT,
						  .position = 20,
						  .length = 20});
	stop(&scene);
	assert_int_equal(scene.n, 0);
	assert_int_equal(scene.n_cut, 0);
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
