/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_SOCKET_SCENE_H
#define TESTS_SOCKET_SCENE_H

#include <string.h>

#include "lab.h"

/*
 * One host, on which a few threads send and receive, each on a CPU of its own that is called as the
 * thread. Each event is a millisecond after the one before. All is on loopback.
 */
#define SCENE_T0       UINT64_C(1700000000000000000)
#define SCENE_MS       UINT64_C(1000000)
#define SCENE_LOOPBACK UINT64_C(0xffff7f000001)
#define SCENE_ANY      UINT64_C(0xffff00000000) /* bound to no address */

enum { SCENE_STREAM = 1, SCENE_DATAGRAM = 2 };

struct socket_scene {
	struct lab lab;
	uint32_t stream, send, receive, listen; /* types of events */
	uint64_t now_ns;
};

/* What a call does. `position`: of a send where it begins, of a receive where it ends. */
struct socket_act {
	uint32_t event, thread;
	uint32_t from, to; /* ports: the own one, and the other's */
	uint32_t type;     /* 0: a stream */
	uint64_t own;      /* address; 0: loopback */
	uint32_t position, length;
};

/* Returns when it was. */
static inline uint64_t scene_feed(struct socket_scene *scene, uint32_t type, uint32_t thread,
		const uint64_t *slots, uint32_t n)
{
	scene->now_ns += SCENE_MS;
	lab_feed(&scene->lab, &(struct event){.ts_ns = scene->now_ns,
					      .type = type,
					      .stream = scene->stream,
					      .cpu = thread,
					      .bytes = n * 8,
					      .slots = slots});
	return scene->now_ns;
}

static inline uint64_t scene_act(struct socket_scene *scene, const struct socket_act *act)
{
	const uint64_t slots[] = {2, 1, act->from, act->to, 0, act->own ? act->own : SCENE_LOOPBACK,
			0, SCENE_LOOPBACK, 0, act->position, act->type ? act->type : SCENE_STREAM,
			act->length};

	return scene_feed(scene, act->event, act->thread, slots, 12);
}

static inline uint32_t scene_add_type(
		struct socket_scene *scene, const char *name, const char *const *fields, uint32_t n)
{
	struct field list[12];
	struct event_type type = {.name = name, .n_fields = n, .fields = list};

	for (uint32_t i = 0; i < n; i++) {
		list[i] = (struct field){.name = fields[i], .kind = FIELD_UINT, .base = 10};
	}
	return lab_add_type(&scene->lab, &type);
}

static inline void scene_start(struct socket_scene *scene, requests_emit_fn *emit, void *context,
		const uint32_t *threads, uint32_t n)
{
	static const char *const fields[] = {"family", "netns", "sport", "dport", "saddr_high",
			"saddr_low", "daddr_high", "daddr_low", "named", "position", "type",
			"length"};
	static const char *const tids[] = {"prev_tid", "next_tid", "prev_state"};
	uint32_t switched;

	memset(scene, 0, sizeof(*scene));
	scene->now_ns = SCENE_T0;
	lab_start(&scene->lab, emit, context);
	scene->stream = lab_add_stream(&scene->lab,
			&(struct stream_desc){
					.session = lab_add_session(&scene->lab,
							&(struct session_desc){.host = "alpha",
									.name = "test"}),
					.domain = DOMAIN_KERNEL});
	scene->send = scene_add_type(scene, "socket_send", fields, 12);
	scene->receive = scene_add_type(scene, "socket_recv", fields, 12);
	scene->listen = scene_add_type(scene, "socket_listen", fields, 12);
	switched = scene_add_type(scene, "sched_switch", tids, 3);
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t runs[] = {0, threads[i], 0};

		scene_feed(scene, switched, threads[i], runs, 3);
	}
}

/* All requests end; lab_stop() is left. */
static inline void scene_finish(struct socket_scene *scene)
{
	servers_finish(scene->lab.servers);
	requests_finish(scene->lab.requests);
}

#endif
