/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Event loops: a thread that has several requests at once may receive a few of them, or of the
 * answers to its calls, before it goes on with any. What it asks then is nobody's; else it is
 * joined.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "socket_scene.h"

enum { SERVER = 100, CLIENT = 200, UPSTREAM = 300 };
enum { PORT = 80, UPSTREAM_PORT = 90, FIRST = 40000, SECOND, OWN_FIRST = 50000, OWN_SECOND };

struct scene {
	struct socket_scene sockets;
	uint32_t wait;
	uint32_t n_asked, n_alone; /* requests of PORT that are complete; of UPSTREAM_PORT, of
				      nobody */
};

static void note(void *context, struct request *request)
{
	struct scene *scene = context;
	const char *type = names_text(scene->sockets.lab.names, request->type);

	scene->n_asked += request->state == REQUEST_COMPLETE && strstr(type, ":80") != NULL;
	scene->n_alone += request->state == REQUEST_COMPLETE && strstr(type, ":90") != NULL;
}

/* All that is sent at once lies in the first 10 bytes of each stream. */
static void act(struct scene *scene, uint32_t event, uint32_t thread, uint32_t from, uint32_t to)
{
	scene_act(&scene->sockets,
			&(struct socket_act){.event = event,
					.thread = thread,
					.from = from,
					.to = to,
					.position = event == scene->sockets.receive ? 10 : 0,
					.length = 10});
}

static void asks(struct scene *scene, uint32_t client)
{
	act(scene, scene->sockets.send, CLIENT, client, PORT);
	act(scene, scene->sockets.receive, SERVER, PORT, client);
}

/* The server asks for somebody, and the other one answers at once. */
static void asks_on(struct scene *scene, uint32_t by)
{
	act(scene, scene->sockets.send, SERVER, by, UPSTREAM_PORT);
	act(scene, scene->sockets.receive, UPSTREAM, UPSTREAM_PORT, by);
	act(scene, scene->sockets.send, UPSTREAM, UPSTREAM_PORT, by);
}

static void has_answer(struct scene *scene, uint32_t by)
{
	act(scene, scene->sockets.receive, SERVER, by, UPSTREAM_PORT);
}

static void answers(struct scene *scene, uint32_t client)
{
	act(scene, scene->sockets.send, SERVER, PORT, client);
}

static void waits(struct scene *scene)
{
	const uint64_t nothing[] = {0};

	scene_feed(&scene->sockets, scene->wait, SERVER, nothing, 1);
}

static void start(struct scene *scene)
{
	static const char *const of_wait[] = {"epfd"};
	static const uint32_t threads[] = {SERVER, CLIENT, UPSTREAM};

	memset(scene, 0, sizeof(*scene));
	scene_start(&scene->sockets, note, scene, threads, 3);
	scene->wait = scene_add_type(&scene->sockets, "syscall_entry_epoll_wait", of_wait, 1);
	act(scene, scene->sockets.listen, SERVER, PORT, 0);
	act(scene, scene->sockets.listen, UPSTREAM, UPSTREAM_PORT, 0);
}

/* So many requests were complete, and so many calls of the server nobody's. */
static void stop(struct scene *scene, uint32_t n_asked, uint32_t n_alone)
{
	scene_finish(&scene->sockets);
	lab_stop(&scene->sockets.lab);
	assert_int_equal(scene->n_asked, n_asked);
	assert_int_equal(scene->n_alone, n_alone);
}

/* Both answers to the server come at once, and go on. */
static void answers_both(struct scene *scene)
{
	waits(scene);
	has_answer(scene, OWN_FIRST);
	answers(scene, FIRST);
	has_answer(scene, OWN_SECOND);
	answers(scene, SECOND);
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
	answers_both(&scene);
	stop(&scene, 2, 0);
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
	answers_both(&scene);
	stop(&scene, 2, 2);
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
		stop(&scene, 2, 1);
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
	stop(&scene, 1, 0);
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
