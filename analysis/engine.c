/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "groups/groups.h"
#include "names.h"
#include "pythiatop/engine.h"
#include "registry.h"
#include "requests/contexts.h"
#include "requests/fill.h"
#include "requests/model.h"
#include "requests/requests.h"

#define NS_PER_S     UINT64_C(1000000000)
#define MAX_NAMES    (1u << 20)
#define MAX_CONTEXTS (1u << 20)
#define MAX_NOTES    400

#define RATE_SECONDS 64 /* of history, hence the longest window with a rate */

struct engine {
	struct engine_config config;
	struct registry registry;
	struct names *names;
	struct contexts *contexts;
	struct request_pool pool;
	struct model *model;
	struct requests *requests;
	struct groups *groups;

	uint64_t in, late, dropped, discarded; /* dropped: copies and damaged events */
	uint64_t first_ns, now_ns;
	bool started;
	bool pinned;
	uint64_t pinned_ns;
	struct arena notes;             /* of engine_schema() */
	uint32_t seconds[RATE_SECONDS]; /* events of each of the last seconds of event time */
	uint64_t second;                /* the latest */
};

static void or_default(uint64_t *value, uint64_t otherwise)
{
	*value = *value ? *value : otherwise;
}

static void or_default_u32(uint32_t *value, uint32_t otherwise)
{
	*value = *value ? *value : otherwise;
}

static void emit(void *context, struct request *request)
{
	struct engine *engine = context;

	groups_add(engine->groups, request);
}

struct engine *engine_create(const struct engine_config *config)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	struct engine_config *c;

	if (!engine) {
		return NULL;
	}
	c = &engine->config;
	if (config) {
		*c = *config;
	}
	or_default(&c->window_ns, UINT64_C(10000000000));
	or_default_u32(&c->max_groups, 10000);
	or_default_u32(&c->max_open_requests, 200000);
	or_default_u32(&c->max_request_events, 10000);
	or_default(&c->max_request_bytes, UINT64_C(4) << 20);
	or_default(&c->max_kept_bytes, UINT64_C(256) << 20);
	or_default(&c->max_pin_bytes, UINT64_C(256) << 20);
	registry_init(&engine->registry);
	pool_init(&engine->pool.pool);
	engine->names = names_create(MAX_NAMES);
	engine->contexts = contexts_create(MAX_CONTEXTS);
	engine->model = engine->names ? model_create(engine->names) : NULL;
	if (engine->names && engine->contexts && engine->model) {
		engine->requests = requests_create(
		                &(struct requests_config){.max_open = c->max_open_requests,
		                                .max_events = c->max_request_events,
		                                .max_bytes = c->max_request_bytes},
		                &engine->registry, engine->model, engine->names, engine->contexts,
		                &engine->pool, emit, engine);
		engine->groups = groups_create(&(struct groups_config){.window_ns = c->window_ns,
		                                               .max_groups = c->max_groups,
		                                               .max_kept_bytes = c->max_kept_bytes,
		                                               .max_pin_bytes = c->max_pin_bytes},
		                engine->names, engine->contexts, &engine->pool);
	}
	if (!engine->requests || !engine->groups) {
		engine_destroy(engine);
		return NULL;
	}
	return engine;
}

void engine_destroy(struct engine *engine)
{
	if (!engine) {
		return;
	}
	groups_destroy(engine->groups);
	requests_destroy(engine->requests);
	model_destroy(engine->model);
	contexts_destroy(engine->contexts);
	names_destroy(engine->names);
	registry_release(&engine->registry);
	arena_release(&engine->notes);
	pool_release(&engine->pool.pool);
	free(engine);
}

enum status engine_add_schema(
                struct engine *engine, const struct schema *schema, char *error, size_t size)
{
	return model_add_schema(engine->model, schema, error, size);
}

const struct schema *engine_schema(struct engine *engine)
{
	const char **notes;
	uint32_t n;

	arena_release(&engine->notes);
	notes = arena_alloc(&engine->notes, MAX_NOTES * sizeof(*notes));
	n = notes ? requests_notes(engine->requests, &engine->notes, notes, MAX_NOTES) : 0;
	return model_schema(engine->model, notes, n);
}

uint32_t engine_add_type(struct engine *engine, const struct event_type *type)
{
	bool fresh;
	uint32_t id = registry_add_type(&engine->registry, type, &fresh);

	if (!fresh) {
		return id;
	}
	if (!model_add_type(engine->model, &engine->registry.types[id]) ||
	                !requests_add_type(engine->requests)) {
		return ID_NONE;
	}
	return id;
}

uint32_t engine_add_session(struct engine *engine, const struct session_desc *session)
{
	return registry_add_session(&engine->registry, session);
}

uint32_t engine_add_stream(struct engine *engine, const struct stream_desc *stream)
{
	return registry_add_stream(&engine->registry, stream);
}

void engine_end_session(struct engine *engine, uint32_t session)
{
	registry_end_session(&engine->registry, session);
}

void engine_name_process(struct engine *engine, uint32_t session, int64_t pid, const char *name)
{
	if (session < engine->registry.n_sessions) {
		requests_name_process(engine->requests, engine->registry.sessions[session].host,
		                pid, name);
	}
}

/* Seconds of event time that have passed without an event had none. */
static void turn_seconds(struct engine *engine, uint64_t second)
{
	uint64_t i, gone = second - engine->second;

	for (i = 1; i <= gone && i <= RATE_SECONDS; i++) {
		engine->seconds[(engine->second + i) % RATE_SECONDS] = 0;
	}
	engine->second = second;
}

/* Can the event be read at all? A damaged one must not reach further. */
static bool is_sound(const struct engine *engine, const struct event *event)
{
	return event->type < engine->registry.n_types &&
	       event->stream < engine->registry.n_streams &&
	       event->bytes >= engine->registry.types[event->type].n_fields * 8 &&
	       event->bytes <= EVENT_MAX_BYTES;
}

void engine_feed(struct engine *engine, const struct event *event)
{
	struct registry *registry = &engine->registry;
	struct session *session;

	if (!is_sound(engine, event)) {
		engine->in++;
		engine->dropped++;
		return;
	}
	session = &registry->sessions[registry->streams[event->stream].desc.session];
	if (event->ts_ns < engine->now_ns) {
		engine_late(engine, registry->streams[event->stream].desc.session, 1);
		return;
	}
	engine->in++;
	session->counts.events++;
	if (!session->attached) {
		registry_attach_session(registry, registry->streams[event->stream].desc.session);
	}
	if (!engine->started) {
		engine->started = true;
		engine->first_ns = event->ts_ns;
	}
	engine_advance(engine, event->ts_ns);
	engine->seconds[engine->second % RATE_SECONDS]++;
	if (registry->hosts[session->host].n_attached > 1 && registry_is_copy(registry, event)) {
		engine->dropped++;
		session->counts.duplicates++;
		return;
	}
	requests_feed(engine->requests, event);
}

void engine_lose(struct engine *engine, const struct loss *loss)
{
	struct session *session;

	if (loss->stream >= engine->registry.n_streams) {
		return;
	}
	session = &engine->registry.sessions[engine->registry.streams[loss->stream].desc.session];
	if (loss->packets) {
		session->counts.discarded_packets += loss->count;
	} else {
		session->counts.discarded += loss->count;
		engine->discarded += loss->count;
	}
	requests_lose(engine->requests, loss);
}

void engine_late(struct engine *engine, uint32_t session, uint64_t count)
{
	engine->in += count;
	engine->late += count;
	if (session < engine->registry.n_sessions) {
		engine->registry.sessions[session].counts.late += count;
		engine->registry.sessions[session].counts.events += count;
	}
}

void engine_advance(struct engine *engine, uint64_t ts_ns)
{
	if (ts_ns < engine->now_ns) {
		return;
	}
	engine->now_ns = ts_ns;
	if (ts_ns / NS_PER_S != engine->second) {
		turn_seconds(engine, ts_ns / NS_PER_S);
	}
	requests_expire(engine->requests, ts_ns);
	groups_advance(engine->groups, ts_ns);
}

void engine_finish(struct engine *engine)
{
	requests_finish(engine->requests);
}

void engine_begin_epoch(struct engine *engine)
{
	groups_begin_epoch(engine->groups, engine->now_ns);
}

static void fill_accounting(const struct engine *engine, struct snapshot *snapshot)
{
	const struct requests_counts *counts = requests_counts(engine->requests);

	snapshot->accounting = (struct accounting){
	                .in = engine->in,
	                .pending = counts->pending,
	                .in_request = counts->in_request,
	                .state_only = counts->state_only,
	                .unmatched = counts->unmatched,
	                .late = engine->late,
	                .dropped = counts->dropped + engine->dropped,
	};
}

/* Over the window, in whole seconds; over everything where that is asked for, or all there is. */
static double events_per_s(const struct engine *engine, enum horizon horizon)
{
	uint64_t span_ns = engine->now_ns - engine->first_ns;
	uint64_t n = engine->config.window_ns / NS_PER_S, i, sum = 0;

	n = n == 0 ? 1 : n > RATE_SECONDS - 1 ? RATE_SECONDS - 1 : n;
	if (horizon == HORIZON_ALL || span_ns < (n + 1) * NS_PER_S) {
		return span_ns ? (double)engine->in * 1e9 / (double)span_ns : 0;
	}
	for (i = 1; i <= n; i++) {
		sum += engine->seconds[(engine->second - i) % RATE_SECONDS];
	}
	return (double)sum / (double)n;
}

static void fill_totals(
                const struct engine *engine, enum horizon horizon, struct snapshot *snapshot)
{
	uint32_t i;

	snapshot->first_ns = engine->first_ns;
	snapshot->events_per_s = events_per_s(engine, horizon);
	snapshot->hosts = engine->registry.n_hosts;
	for (i = 0; i < engine->registry.n_sessions; i++) {
		snapshot->sessions += engine->registry.sessions[i].attached;
	}
	snapshot->discarded = engine->discarded;
	snapshot->late = engine->late;
}

/* A frozen focus pins the window at the moment it is first seen. */
static uint64_t follow_pin(struct engine *engine, const struct focus *focus)
{
	if (focus->frozen && !engine->pinned) {
		groups_pin(engine->groups, engine->now_ns);
		engine->pinned_ns = engine->now_ns;
	} else if (!focus->frozen && engine->pinned) {
		groups_unpin(engine->groups);
	}
	engine->pinned = focus->frozen;
	if (!engine->pinned) {
		return engine->now_ns;
	}
	if (focus->back_ns > engine->config.window_ns) {
		return engine->pinned_ns - engine->config.window_ns;
	}
	return engine->pinned_ns - focus->back_ns;
}

enum status engine_fill(struct engine *engine, const struct focus *focus, struct snapshot *snapshot)
{
	enum status status;
	struct request *request;

	snapshot->focus = *focus;
	snapshot->time_ns = follow_pin(engine, focus);
	if (!engine->started) {
		snapshot->time_ns = 0;
	}
	fill_accounting(engine, snapshot);
	fill_totals(engine, focus->horizon, snapshot);
	status = groups_fill(engine->groups, focus, snapshot->time_ns, snapshot);
	if (status == STATUS_OK && (focus->parts & FOCUS_UNMATCHED)) {
		status = requests_fill_unmatched(engine->requests, engine->now_ns,
		                engine->config.window_ns, snapshot);
	}
	request = status == STATUS_OK && (focus->parts & FOCUS_REQUEST)
	                          ? groups_find_request(engine->groups, snapshot->focus.request_id)
	                          : NULL;
	if (request) {
		status = requests_fill_request(engine->requests, request, snapshot);
		snapshot->request.path = snapshot_text(
		                snapshot, groups_path(engine->groups, request->group_id));
	}
	return status;
}

void engine_session_counts(
                const struct engine *engine, uint32_t session, struct session_counts *counts)
{
	*counts = session < engine->registry.n_sessions ? engine->registry.sessions[session].counts
	                                                : (struct session_counts){.events = 0};
}
