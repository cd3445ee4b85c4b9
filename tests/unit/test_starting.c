/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that are started for a request by another one that was asked to, as a database's
 * parallel workers: what they do is the request's whose thread asked, and was told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lab.h"
#include "requests/walked.h"

#define T0   UINT64_C(1700000000000000000)
#define MS   UINT64_C(1000000)
#define MOST 8u

/* Threads, each on a CPU of its own; two servers of one program, with a client each. */
enum { STARTER = 10, FIRST = 20, SECOND = 30, WORKER = 40, OTHER = 50, PORT = 5432 };

struct scene {
	struct lab lab;
	uint32_t stream, types[9];
	uint64_t now_ns;
	uint32_t n, by[MOST]; /* complete requests: who received them, */
	uint32_t done[MOST];  /* and how many system calls of workers are in them */
};

enum { SEND = 0, RECEIVE, LISTEN, SWITCH, KILL, FORK, EXIT, ENTER, LEAVE };

static void note(void *context, struct request *request)
{
	struct scene *scene = context;
	struct walked walked;

	if (request->state != REQUEST_COMPLETE || scene->n == MOST) {
		return;
	}
	assert_true(requests_walk(scene->lab.requests, request, &walked));
	for (uint32_t i = 0; i < walked.n_spans; i++) {
		const struct walked_span *span = &walked.spans[i];
		const struct context *at = contexts_get(scene->lab.contexts, span->context);
		bool call = strcmp(names_text(scene->lab.names, at->name), "syscall_lseek") == 0;

		scene->done[scene->n] += call && (span->tid == WORKER || span->tid == OTHER);
		scene->by[scene->n] = span->tid == FIRST || span->tid == SECOND
						      ? (uint32_t)span->tid
						      : scene->by[scene->n];
	}
	scene->n++;
}

static void feed(
		struct scene *scene, uint32_t type, uint32_t cpu, const uint64_t *slots, uint32_t n)
{
	scene->now_ns += MS;
	lab_feed(&scene->lab, &(struct event){.ts_ns = scene->now_ns,
					      .type = scene->types[type],
					      .stream = scene->stream,
					      .cpu = cpu,
					      .bytes = n * 8,
					      .slots = slots});
}
#define FEED(scene, type, cpu, ...)                                                                \
	feed(scene, type, cpu, (const uint64_t[]){__VA_ARGS__},                                    \
			sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

static void message(struct scene *scene, uint32_t server, bool send, uint32_t position)
{
	FEED(scene, send ? SEND : RECEIVE, server, 2, 1, PORT, 40000 + server, 0, 0xffff7f000001, 0,
			0xffff7f000001, 0, position, 10);
}

static void do_something(struct scene *scene, uint32_t thread)
{
	FEED(scene, ENTER, thread, 3);
	FEED(scene, LEAVE, thread, 0);
}

#define SOCKET                                                                                     \
	"family", "netns", "sport", "dport", "saddr_high", "saddr_low", "daddr_high", "daddr_low", \
			"named", "position", "length"

static void start(struct scene *scene)
{
	static const struct {
		const char *name, *fields[11];
	} types[] = {{"socket_send", {SOCKET}}, {"socket_recv", {SOCKET}},
			{"socket_listen", {SOCKET}},
			{"sched_switch", {"prev_tid", "next_tid", "prev_state"}},
			{"syscall_entry_kill", {"pid", "sig"}},
			{"sched_process_fork", {"parent_tid", "child_tid"}},
			{"sched_process_exit", {"tid"}}, {"syscall_entry_lseek", {"fd"}},
			{"syscall_exit_lseek", {"ret"}}};

	memset(scene, 0, sizeof(*scene));
	scene->now_ns = T0;
	lab_start(&scene->lab, note, scene);
	scene->stream = lab_add_stream(&scene->lab,
			&(struct stream_desc){
					.session = lab_add_session(&scene->lab,
							&(struct session_desc){.host = "alpha",
									.name = "test"}),
					.domain = DOMAIN_KERNEL});
	for (uint32_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct field fields[11];
		struct event_type type = {.name = types[i].name, .fields = fields};

		while (type.n_fields < 11 && types[i].fields[type.n_fields]) {
			fields[type.n_fields] =
					(struct field){.name = types[i].fields[type.n_fields],
							.kind = FIELD_UINT,
							.base = 10};
			type.n_fields++;
		}
		scene->types[i] = lab_add_type(&scene->lab, &type);
	}
	FEED(scene, LISTEN, FIRST, 2, 1, PORT, 0, 0, 0, 0, 0, 0, 0, 0);
	for (uint32_t tid = STARTER; tid <= OTHER; tid += 10) {
		FEED(scene, SWITCH, tid, 0, tid, 0);
	}
}

/* So many of the workers' system calls are in the request that the server received. */
static void assert_done(const struct scene *scene, uint32_t server, uint32_t done)
{
	for (uint32_t i = 0; i < scene->n; i++) {
		if (scene->by[i] == server) {
			assert_int_equal(scene->done[i], done);
			return;
		}
	}
	fail_msg("no request of %u", server);
}

static void finish(struct scene *scene, uint32_t n)
{
	servers_finish(scene->lab.servers);
	requests_finish(scene->lab.requests);
	assert_int_equal(scene->n, n);
}

/* Who asks and is told, until the worker ends; what it does later, or another one, is nobody's. */
static void test_who_is_told_is_served(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	message(&scene, FIRST, false, 10);
	FEED(&scene, KILL, FIRST, STARTER, 10);
	FEED(&scene, FORK, STARTER, STARTER, WORKER);
	FEED(&scene, KILL, STARTER, FIRST, 10);
	FEED(&scene, FORK, STARTER, STARTER, OTHER); /* for nobody who is told */
	do_something(&scene, WORKER);
	do_something(&scene, OTHER);
	do_something(&scene, WORKER);
	FEED(&scene, EXIT, WORKER, WORKER);
	do_something(&scene, WORKER);
	message(&scene, FIRST, true, 0);
	finish(&scene, 1);
	assert_done(&scene, FIRST, 2);
	lab_stop(&scene.lab);
}

/* Two that ask at the same time: each has the one that it was told of. */
static void test_two_at_once(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	message(&scene, FIRST, false, 10);
	message(&scene, SECOND, false, 10);
	FEED(&scene, KILL, FIRST, STARTER, 10);
	FEED(&scene, KILL, SECOND, STARTER, 10);
	FEED(&scene, FORK, STARTER, STARTER, WORKER);
	FEED(&scene, KILL, STARTER, SECOND, 10);
	FEED(&scene, FORK, STARTER, STARTER, OTHER);
	FEED(&scene, KILL, STARTER, FIRST, 10);
	do_something(&scene, WORKER);
	do_something(&scene, WORKER);
	do_something(&scene, OTHER);
	message(&scene, FIRST, true, 0);
	message(&scene, SECOND, true, 0);
	finish(&scene, 2);
	assert_done(&scene, FIRST, 1);
	assert_done(&scene, SECOND, 2);
	lab_stop(&scene.lab);
}

/* Whoever did not ask, or has answered, is served by nobody. */
static void test_who_did_not_ask_is_not(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	message(&scene, FIRST, false, 10);
	message(&scene, SECOND, false, 10);
	FEED(&scene, KILL, FIRST, STARTER, 10);
	FEED(&scene, FORK, STARTER, STARTER, WORKER);
	FEED(&scene, KILL, STARTER, SECOND, 10);
	FEED(&scene, KILL, STARTER, FIRST, 10); /* of something else, as it seems */
	do_something(&scene, WORKER);
	message(&scene, FIRST, true, 0);
	FEED(&scene, FORK, STARTER, STARTER, OTHER);
	FEED(&scene, KILL, STARTER, FIRST, 10);
	do_something(&scene, OTHER);
	message(&scene, SECOND, true, 0);
	finish(&scene, 2);
	assert_done(&scene, FIRST, 0);
	assert_done(&scene, SECOND, 0);
	lab_stop(&scene.lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_who_is_told_is_served),
			cmocka_unit_test(test_two_at_once),
			cmocka_unit_test(test_who_did_not_ask_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
