/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_LAB_H
#define TESTS_LAB_H

#include <stdlib.h>
#include <string.h>

#include "pythiatop/engine.h"
#include "registry.h"
#include "requests/activations.h"
#include "requests/model.h"
#include "requests/requests.h"
#include "requests/servers.h"
#include "state/log.h"
#include "state/state.h"

/*
 * The analysis without its groups, for tests that look at each request as it is finished: events go
 * the way that engine.c sends them.
 */
#define LAB_WINDOW_NS UINT64_C(10000000000)

struct lab {
	struct registry registry;
	struct names *names;
	struct contexts *contexts;
	struct model *model;
	struct threads *threads;
	struct event_log *log;
	struct state *state;
	struct request_pool pool;
	struct requests *requests;
	struct servers *servers;
	struct activations *activations;
	uint64_t now_ns, tidy_ns;
	void (*advanced)(void *context, uint64_t now_ns); /* NULL: nobody is told */
	void *context;
};

static inline bool lab_release_thread(void *context, struct thread *thread, bool force)
{
	struct lab *lab = context;

	return requests_release_thread(lab->requests, thread, force) &&
	       state_release_thread(lab->state, thread, force);
}

static inline uint32_t lab_add_type(void *context, const struct event_type *type);

static inline void lab_start(struct lab *lab, requests_emit_fn *emit, void *context)
{
	memset(lab, 0, sizeof(*lab));
	registry_init(&lab->registry);
	pool_init(&lab->pool.pool);
	lab->context = context;
	lab->names = names_create(1u << 20);
	lab->contexts = contexts_create(1u << 20);
	lab->model = model_create(lab->names);
	lab->threads = threads_create(65536, lab_release_thread, lab);
	lab->log = log_create(&(struct event_log_config){
			.max_bytes = 64u << 20, .max_held_bytes = 64u << 20});
	lab->state = state_create(&(struct state_config){.window_ns = LAB_WINDOW_NS,
						  .max_bytes = 256u << 20,
						  .max_pin_bytes = 64u << 20,
						  .innermost = requests_innermost},
			&lab->registry, lab->names, lab->threads, lab->log);
	lab->requests = requests_create(&(struct requests_config){.max_open = 200000,
							.max_events = 10000,
							.max_bytes = 4u << 20,
							.state = lab->state},
			&lab->registry, lab->model, lab->names, lab->contexts, lab->threads,
			&lab->pool, emit, context);
	if (!lab->requests) {
		abort();
	}
	lab->servers = servers_create(&(struct servers_config){.registry = &lab->registry,
			.names = lab->names,
			.threads = lab->threads,
			.model = lab->model,
			.requests = lab->requests,
			.state = lab->state,
			.add_type = lab_add_type,
			.context = lab});
	lab->activations =
			activations_create(&(struct activations_config){.registry = &lab->registry,
					.names = lab->names,
					.threads = lab->threads,
					.model = lab->model,
					.requests = lab->requests,
					.add_type = lab_add_type,
					.context = lab});
	if (!lab->servers || !lab->activations) {
		abort();
	}
}

static inline void lab_stop(struct lab *lab)
{
	threads_destroy(lab->threads);
	state_destroy(lab->state);
	log_destroy(lab->log);
	servers_destroy(lab->servers);
	activations_destroy(lab->activations);
	requests_destroy(lab->requests);
	model_destroy(lab->model);
	contexts_destroy(lab->contexts);
	names_destroy(lab->names);
	registry_release(&lab->registry);
	pool_release(&lab->pool.pool);
}

static inline uint32_t lab_add_type(void *context, const struct event_type *type)
{
	struct lab *lab = context;
	bool fresh;
	uint32_t id = registry_add_type(&lab->registry, type, &fresh);

	if (fresh && (!model_add_type(lab->model, &lab->registry.types[id]) ||
				     !requests_add_type(lab->requests) ||
				     !servers_add_type(lab->servers) ||
				     !activations_add_type(lab->activations) ||
				     !state_add_type(lab->state))) {
		abort();
	}
	return id;
}

static inline uint32_t lab_add_session(void *context, const struct session_desc *session)
{
	return registry_add_session(&((struct lab *)context)->registry, session);
}

static inline uint32_t lab_add_stream(void *context, const struct stream_desc *stream)
{
	return registry_add_stream(&((struct lab *)context)->registry, stream);
}

static inline void lab_end_session(void *context, uint32_t session)
{
	registry_end_session(&((struct lab *)context)->registry, session);
}

static inline void lab_advance(void *context, uint64_t ts_ns)
{
	struct lab *lab = context;

	if (ts_ns < lab->now_ns) {
		return;
	}
	lab->now_ns = ts_ns;
	requests_expire(lab->requests, ts_ns);
	if (lab->advanced) {
		lab->advanced(lab->context, ts_ns);
	}
	if (ts_ns >= lab->tidy_ns) {
		state_advance(lab->state, ts_ns);
		log_expire(lab->log, ts_ns > LAB_WINDOW_NS ? ts_ns - LAB_WINDOW_NS : 0);
		lab->tidy_ns = ts_ns + state_tick_ns(LAB_WINDOW_NS);
	}
}

static inline void lab_feed(void *context, const struct event *event)
{
	struct lab *lab = context;
	const struct socket_calls *calls = NULL;
	bool used;

	if (event->ts_ns < lab->now_ns) {
		return;
	}
	lab_advance(lab, event->ts_ns);
	used = state_uses(lab->state, event->type);
	if (used) {
		calls = state_socket_calls(lab->state);
		used = state_feed(lab->state, event, log_add(lab->log, event));
	}
	servers_before(lab->servers, event, calls);
	activations_before(lab->activations);
	requests_feed(lab->requests, event, used);
	servers_after(lab->servers, event, calls);
	activations_after(lab->activations, event);
}

static inline void lab_lose(void *context, const struct loss *loss)
{
	struct lab *lab = context;

	requests_lose(lab->requests, loss);
	servers_lose(lab->servers, loss->stream, lab->now_ns);
	activations_lose(lab->activations, loss->stream, lab->now_ns);
	state_lose(lab->state, loss);
}

static inline void lab_late(void *context, uint32_t session, uint64_t count)
{
	(void)context;
	(void)session;
	(void)count;
}

/* Of a source (intake/intake.h), which its includer knows. */
#define LAB_SINK(lab)                                                                              \
	((struct intake_sink){.context = (lab),                                                    \
			.add_type = lab_add_type,                                                  \
			.add_session = lab_add_session,                                            \
			.add_stream = lab_add_stream,                                              \
			.end_session = lab_end_session,                                            \
			.feed = lab_feed,                                                          \
			.lose = lab_lose,                                                          \
			.late = lab_late,                                                          \
			.advance = lab_advance})

#endif
