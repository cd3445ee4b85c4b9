/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "engine/parts.h"

#define MAX_NAMES    (1u << 20)
#define MAX_CONTEXTS (1u << 20)
#define MAX_NOTES    400
#define MAX_LAG_NS   UINT64_C(10000000000) /* of events behind the clock, where clocks agree */
#define MAX_THREADS  65536u
#define MAX_HELD     (UINT64_C(64) << 20) /* bytes of events that are older than the window */

#define LEAST_SAMPLES 50u /* of a group, a second */

#define MOST_TURNS 60u /* of seconds without an event that are looked at, the newest of them */

static void or_default(uint64_t *value, uint64_t otherwise)
{
	*value = *value ? *value : otherwise;
}

/* Where the window that ends at this time begins. */
uint64_t engine_window_begin(const struct engine *engine, uint64_t ts_ns)
{
	return ts_ns > engine->config.window_ns ? ts_ns - engine->config.window_ns : 0;
}

static void or_default_u32(uint32_t *value, uint32_t otherwise)
{
	*value = *value ? *value : otherwise;
}

/* As many as fill a group's ring of samples in the time that buckets last; not too few to speak of.
 */
static uint32_t samples_per_s(uint64_t window_ns)
{
	uint64_t n = (GROUPS_MAX_SAMPLES / 2) * NS_PER_S / window_ns;

	return n < LEAST_SAMPLES ? LEAST_SAMPLES : n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static bool release_thread(void *context, struct thread *thread, bool force)
{
	struct engine *engine = context;

	return requests_release_thread(engine->requests, thread, force) &&
	       state_release_thread(engine->state, thread, force);
}

static void emit(void *context, struct request *request)
{
	struct engine *engine = context;

	groups_add(engine->groups, request);
	loop_request(&engine->loop);
	behaving_request(engine->behaving, request);
}

/*
 * Requests count that started after the last host had answered, by the clock of this machine. Where
 * that is far from event time clocks differ, and event time has to do.
 */
static void begin_epoch(void *context, uint64_t answered_ns,
		bool (*touches)(void *context, uint32_t type, uint64_t hosts), void *touched)
{
	struct engine *engine = context;
	uint64_t now_ns = engine->now_ns;
	bool follows = answered_ns > now_ns && answered_ns - now_ns < MAX_LAG_NS;
	uint64_t from_ns = follows ? answered_ns : now_ns;

	groups_begin_epoch(engine->groups, from_ns, touches, touched);
	behaving_begin_epoch(engine->behaving, from_ns, touches, touched);
	loop_epoch(&engine->loop);
	for (uint32_t i = 0; i < engine->registry.n_hosts; i++) {
		if (state_record(engine->state, i,
				    pythia_records_switches(engine->loop.pythia,
						    engine->registry.hosts[i].name),
				    from_ns)) {
			engine->forget_ns = from_ns;
		}
	}
}

static bool measure(void *context, const struct request *request, struct measured *out)
{
	struct engine *engine = context;

	return requests_measure(engine->requests, request, out);
}

static bool read_keys(void *context, const struct request *request, struct request_keys *out)
{
	struct engine *engine = context;

	return requests_read_keys(engine->requests, request, out);
}

static uint32_t add_type(void *context, const struct event_type *type)
{
	return engine_add_type(context, type);
}

static bool walk(void *context, const struct request *request, struct walked *out)
{
	struct engine *engine = context;

	return requests_walk(engine->requests, request, out);
}

static bool serves(void *context, uint32_t name)
{
	struct engine *engine = context;

	return servers_serve(engine->servers, name);
}

static bool asked(void *context, const struct request *request, uint64_t *bytes)
{
	struct engine *engine = context;

	return requests_read_asked(engine->requests, request, bytes);
}

static uint64_t paused(void *context, uint64_t hosts, uint64_t begin_ns, uint64_t end_ns)
{
	const struct engine *engine = context;

	return pauses_within(&engine->pauses, hosts, begin_ns, end_ns);
}

static uint32_t server_kind(void *context, uint32_t name)
{
	struct engine *engine = context;

	return servers_kind(engine->servers, name);
}

static uint32_t told(void *context, uint32_t span, struct request_key *out, uint32_t max)
{
	struct engine *engine = context;

	return requests_told(engine->requests, span, out, max);
}

struct engine *engine_create(const struct engine_config *config)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	struct engine_config *c;
	uint32_t samples;

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
	or_default(&c->max_kept_bytes, UINT64_C(32) << 20);
	or_default(&c->max_pin_bytes, UINT64_C(256) << 20);
	or_default(&c->max_state_bytes, UINT64_C(256) << 20);
	or_default(&c->max_log_bytes, UINT64_C(512) << 20);
	registry_init(&engine->registry);
	engine->duplicates.registry = &engine->registry;
	pool_init(&engine->pool.pool);
	engine->names = names_create(MAX_NAMES);
	engine->contexts = contexts_create(MAX_CONTEXTS);
	engine->model = engine->names ? model_create(engine->names) : NULL;
	engine->extractor = extractor_create();
	engine->log = log_create(&(struct event_log_config){.max_bytes = c->max_log_bytes,
			.max_held_bytes = MAX_HELD,
			.window = c->keep_events});
	engine->threads = threads_create(MAX_THREADS, release_thread, engine);
	samples = samples_per_s(c->window_ns);
	if (engine->names && engine->contexts && engine->model && engine->extractor &&
			engine->threads && engine->log) {
		engine->state = state_create(&(struct state_config){.window_ns = c->window_ns,
							     .max_bytes = c->max_state_bytes,
							     .max_pin_bytes = c->max_pin_bytes,
							     .innermost = requests_innermost},
				&engine->registry, engine->names, engine->threads, engine->log);
		engine->requests = requests_create(
				&(struct requests_config){.max_open = c->max_open_requests,
						.max_events = c->max_request_events,
						.max_bytes = c->max_request_bytes,
						.state = engine->state},
				&engine->registry, engine->model, engine->names, engine->contexts,
				engine->threads, &engine->pool, emit, engine);
		engine->groups = groups_create(&(struct groups_config){.window_ns = c->window_ns,
							       .max_groups = c->max_groups,
							       .max_kept_bytes = c->max_kept_bytes,
							       .max_pin_bytes = c->max_pin_bytes,
							       .cov_limit = c->cov_limit,
							       .samples_per_s = samples,
							       .measure = measure,
							       .read_keys = read_keys,
							       .asked = asked,
							       .walk = walk,
							       .told = told,
							       .serves = serves,
							       .server_kind = server_kind,
							       .paused = paused,
							       .measurer = engine},
				engine->names, engine->contexts, &engine->pool);
	}
	if (engine->requests) {
		engine->servers = servers_create(
				&(struct servers_config){.registry = &engine->registry,
						.names = engine->names,
						.threads = engine->threads,
						.model = engine->model,
						.requests = engine->requests,
						.state = engine->state,
						.add_type = add_type,
						.context = engine});
		engine->activations = activations_create(
				&(struct activations_config){.registry = &engine->registry,
						.names = engine->names,
						.threads = engine->threads,
						.model = engine->model,
						.requests = engine->requests,
						.add_type = add_type,
						.context = engine});
	}
	engine->waits = waits_create();
	engine->behaving = engine->requests && engine->groups
					   ? behaving_create(engine->requests, engine->groups,
							     engine->names, c->window_ns)
					   : NULL;
	if (!engine->servers || !engine->activations || !engine->groups || !engine->state ||
			!engine->waits || !engine->behaving ||
			!loop_init(&engine->loop,
					&(struct loop_host){.names = engine->names,
							.contexts = engine->contexts,
							.registry = &engine->registry,
							.model = engine->model,
							.groups = engine->groups,
							.fill = engine_fill_as_of_now,
							.begin_epoch = begin_epoch,
							.context = engine},
					engine->names)) {
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
	/* First: letting go of a thread closes its spans and ends its state. */
	threads_destroy(engine->threads);
	loop_release(&engine->loop);
	state_destroy(engine->state);
	log_destroy(engine->log);
	behaving_destroy(engine->behaving);
	groups_destroy(engine->groups);
	waits_destroy(engine->waits);
	servers_destroy(engine->servers);
	activations_destroy(engine->activations);
	requests_destroy(engine->requests);
	model_destroy(engine->model);
	extractor_destroy(engine->extractor);
	contexts_destroy(engine->contexts);
	names_destroy(engine->names);
	duplicates_release(&engine->duplicates);
	pauses_release(&engine->pauses);
	registry_release(&engine->registry);
	arena_release(&engine->notes);
	free(engine->losses);
	pool_release(&engine->pool.pool);
	free(engine);
}

enum status engine_set_request(struct engine *engine, const char *program, const char *function)
{
	return requests_set_request(engine->requests, program, function) ? STATUS_OK
									 : STATUS_NO_MEMORY;
}

enum status engine_add_schema(
		struct engine *engine, const struct schema *schema, char *error, size_t size)
{
	enum status status = model_add_schema(engine->model, schema, error, size);

	for (uint32_t i = 0; status == STATUS_OK && i < schema->n_expect; i++) {
		if (schema->expect[i].p50_ns) {
			status = groups_expect(engine->groups, schema->expect[i].type,
					schema->expect[i].p50_ns);
		}
	}
	return status;
}

enum status engine_offer_schema(
		struct engine *engine, const struct schema *schema, char *error, size_t size)
{
	return model_offer_schema(engine->model, schema, error, size);
}

static bool occurred(const void *context, uint32_t type)
{
	return requests_seen(((const struct engine *)context)->requests, type) > 0;
}

const struct schema *engine_schema(struct engine *engine, bool all)
{
	struct model_shown which = {.occurred = all ? NULL : occurred, .context = engine};
	const char **notes;

	arena_release(&engine->notes);
	notes = arena_alloc(&engine->notes, MAX_NOTES * sizeof(*notes));
	if (notes) {
		which.notes = notes;
		which.n_notes = servers_notes(engine->servers, &engine->notes, notes, MAX_NOTES);
		which.n_notes += requests_notes(engine->requests, &engine->notes,
				notes + which.n_notes, MAX_NOTES - which.n_notes);
	}
	return model_schema(engine->model, &which);
}

/* Tells everybody of the type that was added last; `event`: the alternative that it is. */
static bool type_added(struct engine *engine, uint32_t id, const struct schema_event *event)
{
	return model_add_extracted(engine->model, &engine->registry.types[id], event) &&
	       requests_add_type(engine->requests) && servers_add_type(engine->servers) &&
	       activations_add_type(engine->activations) && state_add_type(engine->state) &&
	       loop_add_type(&engine->loop) &&
	       pauses_add_type(&engine->pauses, engine->registry.types[id].name);
}

/* What the schemas extract from events of a type. */
static bool add_alternatives(struct engine *engine, uint32_t id)
{
	const struct schema_event *events[EXTRACT_MAX_RULES];
	struct registry *registry = &engine->registry;
	uint32_t n = model_extracting(
			engine->model, registry->types[id].name, events, EXTRACT_MAX_RULES);
	struct field fields[EVENT_MAX_FIELDS];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t n_fields = extract_fields(&registry->types[id], events[i], fields, NULL);
		uint32_t as = n_fields ? registry_add_alternative(registry, id, fields, n_fields)
				       : ID_NONE;

		if (n_fields == 0) {
			continue;
		}
		if (as == ID_NONE || !type_added(engine, as, events[i]) ||
				!extractor_add(engine->extractor, id, as, &registry->types[id],
						events[i])) {
			return false;
		}
	}
	return true;
}

uint32_t engine_add_type(struct engine *engine, const struct event_type *type)
{
	bool fresh;
	uint32_t id = registry_add_type(&engine->registry, type, &fresh);

	if (!fresh) {
		return id;
	}
	return type_added(engine, id, NULL) && add_alternatives(engine, id) ? id : ID_NONE;
}

uint32_t engine_add_session(struct engine *engine, const struct session_desc *session)
{
	return registry_add_session(&engine->registry, session);
}

uint32_t engine_add_stream(struct engine *engine, const struct stream_desc *stream)
{
	return registry_add_stream(&engine->registry, stream);
}

enum session_end engine_end_session(struct engine *engine, uint32_t session)
{
	uint32_t i;

	if (!registry_end_session(&engine->registry, session)) {
		return SESSION_HAD_ENDED;
	}
	state_forget(engine->state, engine->now_ns);
	for (i = 0; i < engine->registry.n_sessions; i++) {
		if (engine->registry.sessions[i].attached) {
			return SESSION_ENDED;
		}
	}
	return SESSION_ENDED_LAST;
}

bool engine_next_symbol(struct engine *engine, struct symbol_query *query)
{
	return requests_next_symbol(engine->requests, query);
}

void engine_name_symbol(struct engine *engine, uint32_t id, const char *name)
{
	names_show(engine->names, id, name);
	groups_renamed(engine->groups);
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

static void host_seen(struct host *host, uint64_t ts_ns)
{
	host->first_ns = host->first_ns ? host->first_ns : ts_ns;
	host->last_ns = ts_ns;
}

/* What went on there meanwhile is not known. */
static void be_uncertain(struct engine *engine, const struct loss *loss)
{
	engine_tidy(engine);
	requests_lose(engine->requests, loss);
	servers_lose(engine->servers, loss->stream, engine->now_ns);
	activations_lose(engine->activations, loss->stream, engine->now_ns);
	state_lose(engine->state, loss);
}

/* What was under way when the host was recorded no more is as uncertain as after a loss. */
static void see_pause(struct engine *engine, const struct event *event)
{
	const struct stream *stream = &engine->registry.streams[event->stream];
	struct loss loss = {.stream = event->stream, .cpu = CPU_NONE, .end_ns = event->ts_ns};

	if (pauses_see(&engine->pauses, event, stream, &loss.begin_ns)) {
		be_uncertain(engine, &loss);
	}
}

void engine_feed(struct engine *engine, const struct event *event)
{
	struct registry *registry = &engine->registry;
	struct session *session;
	const struct socket_calls *calls = NULL;
	uint64_t number = 0;
	bool used;

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
	engine->finished = false;
	session->counts.events++;
	if (!session->attached) {
		registry_attach_session(registry, registry->streams[event->stream].desc.session);
	}
	if (!engine->started) {
		engine->started = true;
		engine->first_ns = event->ts_ns;
	}
	engine_advance(engine, event->ts_ns);
	host_seen(&registry->hosts[session->host], event->ts_ns);
	session->counts.bytes += loop_see(&engine->loop, event, session->host);
	engine->seconds[engine->second % RATE_SECONDS]++;
	if (registry_is_shared(registry, event->stream) &&
			duplicates_find(&engine->duplicates, event,
					&session->counts.duplicates_of)) {
		engine->dropped++;
		session->counts.duplicates++;
		return;
	}
	used = state_uses(engine->state, event->type);
	if (used || engine->config.keep_events) {
		number = log_add(engine->log, event);
	}
	if (used) {
		calls = state_socket_calls(engine->state);
		used = state_feed(engine->state, event, number);
	}
	servers_before(engine->servers, event, calls);
	activations_before(engine->activations);
	requests_feed(engine->requests, extractor_feed(engine->extractor, event), used);
	servers_after(engine->servers, event, calls);
	activations_after(engine->activations, event);
	see_pause(engine, event);
	if (requests_renamed(engine->requests)) {
		groups_renamed(engine->groups);
	}
}

/* State and log let go of what has left the window: now and then, and before anybody looks. */
void engine_tidy(struct engine *engine)
{
	uint64_t tick_ns = state_tick_ns(engine->config.window_ns);

	state_advance(engine->state, engine->now_ns);
	log_expire(engine->log, engine_window_begin(engine, engine->now_ns));
	engine->next_tidy_ns = (engine->now_ns / tick_ns + 1) * tick_ns;
}

/* For dumps; without memory it is not in them. */
static void keep_loss(struct engine *engine, const struct loss *loss)
{
	uint32_t at = (uint32_t)(engine->n_losses % ENGINE_LOSSES);

	if (array_reserve(&engine->losses, &engine->losses_room, at + 1)) {
		engine->losses[at] = *loss;
		engine->n_losses++;
	}
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
	keep_loss(engine, loss);
	be_uncertain(engine, loss);
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

void engine_misdated(struct engine *engine, uint32_t session)
{
	engine->in++;
	engine->dropped++;
	if (session < engine->registry.n_sessions) {
		engine->registry.sessions[session].counts.events++;
	}
}

/* Event time, no further than the next whole second, is ts_ns. */
static void advance_to(struct engine *engine, uint64_t ts_ns)
{
	bool turned = ts_ns / NS_PER_S != engine->second;

	engine->now_ns = ts_ns;
	if (turned) {
		turn_seconds(engine, ts_ns / NS_PER_S);
	}
	requests_expire(engine->requests, ts_ns);
	groups_advance(engine->groups, ts_ns);
	behaving_advance(engine->behaving, ts_ns);
	if (turned && !engine->pinned) {
		loop_round(&engine->loop, ts_ns);
	} else if (turned && engine->loop.slice_ns != UINT64_MAX) {
		loop_explain_round(&engine->loop, ts_ns);
	}
	if (ts_ns >= engine->loop.slice_ns) {
		loop_slice(&engine->loop, ts_ns);
	}
	if (ts_ns >= engine->next_tidy_ns) {
		engine_tidy(engine);
	}
}

/*
 * What the loop sees at the turn of a second is all that was before, whether an event after it or
 * the viewer has told that it turned: so a recording, which has no viewer, tells the same.
 */
static void turn_to(struct engine *engine, uint64_t ts_ns)
{
	uint64_t second = ts_ns / NS_PER_S;

	if (engine->second && second > engine->second) {
		if (second - engine->second > MOST_TURNS) {
			advance_to(engine, (second - MOST_TURNS) * NS_PER_S);
		}
		while (engine->second < second) {
			advance_to(engine, (engine->second + 1) * NS_PER_S);
		}
	}
	advance_to(engine, ts_ns);
}

void engine_advance(struct engine *engine, uint64_t ts_ns)
{
	uint64_t forget_ns = engine->forget_ns;

	if (ts_ns < engine->now_ns) {
		return;
	}
	/* Not with the next event, which a viewer may precede. */
	if (forget_ns && ts_ns >= forget_ns) {
		engine->forget_ns = 0;
		turn_to(engine, forget_ns > engine->now_ns ? forget_ns : engine->now_ns);
		state_forget(engine->state, engine->now_ns);
	}
	turn_to(engine, ts_ns);
}

/*
 * Nobody is left who could end what is open, or go on with what was begun: event time itself stands
 * still. Once: the end of the last session is the end of a recording, too.
 */
void engine_finish(struct engine *engine)
{
	if (engine->finished) {
		return;
	}
	servers_finish(engine->servers);
	requests_finish(engine->requests);
	loop_finish(&engine->loop, engine->now_ns);
	engine->finished = true;
}

uint64_t engine_time(const struct engine *engine)
{
	return engine->now_ns;
}

enum status engine_set_baseline(struct engine *engine, const struct baseline *baseline)
{
	return groups_set_baseline(engine->groups, baseline);
}

const struct baseline *engine_baseline(struct engine *engine, enum horizon horizon)
{
	return groups_baseline(engine->groups, horizon, engine->now_ns);
}

const struct event_type *engine_type(const struct engine *engine, uint32_t type)
{
	return type < engine->registry.n_types ? &engine->registry.types[type] : NULL;
}

const struct stream_desc *engine_stream(const struct engine *engine, uint32_t stream)
{
	return stream < engine->registry.n_streams ? &engine->registry.streams[stream].desc : NULL;
}

const struct session_desc *engine_session(const struct engine *engine, uint32_t session)
{
	return session < engine->registry.n_sessions ? &engine->registry.sessions[session].desc
						     : NULL;
}

void engine_session_counts(
		const struct engine *engine, uint32_t session, struct session_counts *counts)
{
	*counts = session < engine->registry.n_sessions ? engine->registry.sessions[session].counts
							: (struct session_counts){.events = 0};
}
