/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "change/change.h"
#include "duplicates.h"
#include "groups/groups.h"
#include "loop.h"
#include "base/array.h"
#include "base/names.h"
#include "pythiatop/engine.h"
#include "registry.h"
#include "requests/contexts.h"
#include "requests/extract.h"
#include "requests/request_snapshot.h"
#include "requests/model.h"
#include "requests/dump.h"
#include "requests/requests.h"
#include "requests/activations.h"
#include "requests/servers.h"
#include "state/log.h"
#include "state/state.h"
#include "waits.h"

#define NS_PER_S     UINT64_C(1000000000)
#define MAX_NAMES    (1u << 20)
#define MAX_CONTEXTS (1u << 20)
#define MAX_NOTES    400
#define MAX_LAG_NS   UINT64_C(10000000000) /* of events behind the clock, where clocks agree */
#define MAX_THREADS  65536u
#define MAX_HELD     (UINT64_C(64) << 20) /* bytes of events that are older than the window */

#define LEAST_SAMPLES 50u /* of a group, a second */

#define MOST_TURNS   60u /* of seconds without an event that are looked at, the newest of them */
#define RATE_SECONDS 64  /* of history, hence the longest window with a rate */

struct engine {
	struct engine_config config;
	struct registry registry;
	struct duplicates duplicates;
	struct names *names;
	struct contexts *contexts;
	struct request_pool pool;
	struct model *model;
	struct extractor *extractor;
	struct requests *requests;
	struct servers *servers;
	struct activations *activations;
	struct groups *groups;
	struct event_log *log;
	struct threads *threads;
	struct state *state;
	struct loop loop;
	struct waits_memory *waits;

	uint64_t in, late, dropped, discarded; /* dropped: copies, damaged and misdated events */
	uint64_t first_ns, now_ns;
	bool started, finished; /* finished: nothing has come since all ended, see finish() */
	bool pinned;
	uint64_t pinned_ns;
	uint64_t next_tidy_ns; /* see tidy() */
	struct arena notes;    /* of engine_schema() */
	struct loss *losses;   /* the last ENGINE_LOSSES, by number modulo that */
	uint32_t losses_room;
	uint64_t n_losses;              /* that were told */
	uint32_t seconds[RATE_SECONDS]; /* events of each of the last seconds of event time */
	uint64_t second;                /* the latest */
};

static void or_default(uint64_t *value, uint64_t otherwise)
{
	*value = *value ? *value : otherwise;
}

/* Where the window that ends at this time begins. */
static uint64_t window_begin(const struct engine *engine, uint64_t ts_ns)
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
}

/* Texts of the baseline go with it: the snapshot has its own. */
static void own_steps(struct snapshot *snapshot, struct change_row *row)
{
	struct change_step *steps = snapshot_alloc(snapshot, (row->n_steps + 1) * sizeof(*steps));

	row->n_steps = steps ? row->n_steps : 0;
	for (uint32_t i = 0; i < row->n_steps; i++) {
		steps[i] = (struct change_step){
				.provider = snapshot_text(snapshot, row->steps[i].provider),
				.name = snapshot_text(snapshot, row->steps[i].name)};
	}
	row->steps = steps;
}

static void own_texts(struct snapshot *snapshot, struct change_row *rows, struct change_type *types)
{
	struct changes_view *changes = &snapshot->changes;

	for (uint32_t i = 0; i < changes->n; i++) {
		struct change_row *row = &rows[i];

		row->service = snapshot_text(snapshot, row->service);
		row->provider = snapshot_text(snapshot, row->provider);
		row->name = snapshot_text(snapshot, row->name);
		row->type = snapshot_text(snapshot, row->type);
		row->where = snapshot_text(snapshot, row->where);
		row->others = snapshot_text(snapshot, row->others);
		row->waits_for = snapshot_text(snapshot, row->waits_for);
		own_steps(snapshot, row);
	}
	changes->rows = rows;
	for (uint32_t i = 0; i < changes->n_all_types; i++) {
		types[i].type = snapshot_text(snapshot, types[i].type);
	}
	changes->all_types = types;
	changes->baseline = snapshot_text(snapshot, changes->baseline);
	changes->types_gone = snapshot_text(snapshot, changes->types_gone);
	changes->types_new = snapshot_text(snapshot, changes->types_new);
}

static enum status fill_changes(
		struct engine *engine, const struct focus *focus, struct snapshot *snapshot)
{
	const struct baseline *before = groups_reference_baseline(engine->groups), *after;
	struct arena arena = {.chunks = NULL};
	enum status status = STATUS_NO_MEMORY;
	struct change_row *rows;
	struct change_type *types;

	if (!before || !before->n_types) {
		return STATUS_OK;
	}
	after = groups_baseline(engine->groups, focus->horizon, snapshot->time_ns);
	if (after && changes_find(before, after, &arena, &snapshot->changes)) {
		rows = snapshot_alloc(snapshot, (snapshot->changes.n + 1) * sizeof(*rows));
		types = snapshot_alloc(
				snapshot, (snapshot->changes.n_all_types + 1) * sizeof(*types));
		if (rows && types && snapshot->changes.compared) {
			memcpy(rows, snapshot->changes.rows, snapshot->changes.n * sizeof(*rows));
			memcpy(types, snapshot->changes.all_types,
					snapshot->changes.n_all_types * sizeof(*types));
			own_texts(snapshot, rows, types);
			status = STATUS_OK;
		} else if (rows && types) { /* no type on one of the sides */
			own_texts(snapshot, rows, types);
			status = STATUS_OK;
		}
	}
	arena_release(&arena);
	return status;
}

/* The loop looks as a screen would; not while a person has frozen the picture. */
static bool fill_as_of_now(void *context, const struct focus *focus, struct snapshot *snapshot)
{
	struct engine *engine = context;

	snapshot->focus = *focus;
	snapshot->time_ns = engine->now_ns;
	return !engine->pinned &&
	       groups_fill(engine->groups, focus, engine->now_ns, snapshot) == STATUS_OK &&
	       (!(focus->parts & FOCUS_CHANGES) ||
			       fill_changes(engine, focus, snapshot) == STATUS_OK);
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

	groups_begin_epoch(engine->groups, follows ? answered_ns : now_ns, touches, touched);
	loop_epoch(&engine->loop);
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
							       .walk = walk,
							       .told = told,
							       .serves = serves,
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
	if (!engine->servers || !engine->activations || !engine->groups || !engine->state ||
			!engine->waits ||
			!loop_init(&engine->loop,
					&(struct loop_host){.names = engine->names,
							.contexts = engine->contexts,
							.registry = &engine->registry,
							.model = engine->model,
							.groups = engine->groups,
							.fill = fill_as_of_now,
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
	       loop_add_type(&engine->loop);
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

/*
 * Nobody is left who could end what is open, or go on with what was begun: event time itself stands
 * still. Once: the end of the last session is the end of a recording, too.
 */
static void finish(struct engine *engine)
{
	if (engine->finished) {
		return;
	}
	servers_finish(engine->servers);
	requests_finish(engine->requests);
	loop_finish(&engine->loop, engine->now_ns);
	engine->finished = true;
}

void engine_end_session(struct engine *engine, uint32_t session)
{
	uint32_t i;

	registry_end_session(&engine->registry, session);
	state_end_session(engine->state);
	for (i = 0; i < engine->registry.n_sessions; i++) {
		if (engine->registry.sessions[i].attached) {
			return;
		}
	}
	finish(engine);
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

void engine_feed(struct engine *engine, const struct event *event)
{
	struct registry *registry = &engine->registry;
	struct session *session;
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
	used = used && state_feed(engine->state, event, number);
	servers_before(engine->servers, event);
	activations_before(engine->activations);
	requests_feed(engine->requests, extractor_feed(engine->extractor, event), used);
	servers_after(engine->servers, event);
	activations_after(engine->activations, event);
	if (requests_renamed(engine->requests)) {
		groups_renamed(engine->groups);
	}
}

/* State and log let go of what has left the window: now and then, and before anybody looks. */
static void tidy(struct engine *engine)
{
	uint64_t tick_ns = state_tick_ns(engine->config.window_ns);

	state_advance(engine->state, engine->now_ns);
	log_expire(engine->log, window_begin(engine, engine->now_ns));
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
	tidy(engine);
	requests_lose(engine->requests, loss);
	servers_lose(engine->servers, loss->stream, engine->now_ns);
	activations_lose(engine->activations, loss->stream, engine->now_ns);
	state_lose(engine->state, loss);
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
	if (turned && !engine->pinned) {
		loop_round(&engine->loop, ts_ns);
	} else if (turned && engine->loop.slice_ns != UINT64_MAX) {
		loop_explain_round(&engine->loop, ts_ns);
	}
	if (ts_ns >= engine->loop.slice_ns) {
		loop_slice(&engine->loop, ts_ns);
	}
	if (ts_ns >= engine->next_tidy_ns) {
		tidy(engine);
	}
}

/*
 * What the loop sees at the turn of a second is all that was before, whether an event after it or
 * the viewer has told that it turned: so a recording, which has no viewer, tells the same.
 */
void engine_advance(struct engine *engine, uint64_t ts_ns)
{
	uint64_t second = ts_ns / NS_PER_S;

	if (ts_ns < engine->now_ns) {
		return;
	}
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

void engine_finish(struct engine *engine)
{
	finish(engine);
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

static void fill_accounting(const struct engine *engine, struct snapshot *snapshot)
{
	const struct requests_counts *counts = requests_counts(engine->requests);

	snapshot->accounting = (struct accounting){
			.in = engine->in + counts->derived,
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

/* The instant that a focus looks at; its pin, if it has one, is there. */
static uint64_t instant_of(const struct engine *engine, const struct focus *focus)
{
	if (!engine->pinned) {
		return engine->now_ns;
	}
	if (focus->back_ns > engine->config.window_ns) {
		return window_begin(engine, engine->pinned_ns);
	}
	return engine->pinned_ns - focus->back_ns;
}

/* A frozen focus pins the window at the moment it is first seen. */
static uint64_t follow_pin(struct engine *engine, const struct focus *focus)
{
	tidy(engine);
	if (focus->frozen && !engine->pinned) {
		groups_pin(engine->groups, engine->now_ns);
		state_pin(engine->state, engine->now_ns);
		log_pin(engine->log, window_begin(engine, engine->now_ns));
		engine->pinned_ns = engine->now_ns;
	} else if (!focus->frozen && engine->pinned) {
		groups_unpin(engine->groups);
		state_unpin(engine->state);
		log_unpin(engine->log);
	}
	engine->pinned = focus->frozen;
	return instant_of(engine, focus);
}

/* The request in focus beside another one: the one asked for, else one like most of its group. */
static enum status fill_compare(
		struct engine *engine, const struct focus *focus, struct snapshot *snapshot)
{
	const struct request *a = groups_find_request(engine->groups, snapshot->focus.request_id);
	uint64_t other = focus->compare_id;
	enum status status;

	if (!other && a) {
		other = groups_median_request(
				engine->groups, focus, snapshot->time_ns, a->group_id);
	}
	status = requests_fill_compare(
			engine->requests, a, groups_find_request(engine->groups, other), snapshot);
	snapshot->compare.b_is_median = !focus->compare_id;
	return status;
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
	requests_fill_warnings(engine->requests, snapshot);
	status = groups_fill(engine->groups, focus, snapshot->time_ns, snapshot);
	if (status == STATUS_OK && (focus->parts & FOCUS_WAITS)) {
		status = waits_fill(engine->waits, engine->requests, engine->groups, engine->names,
				engine->contexts, focus, snapshot);
	}
	if (status == STATUS_OK && (focus->parts & FOCUS_UNMATCHED)) {
		status = requests_fill_unmatched(engine->requests, engine->now_ns,
				engine->config.window_ns, snapshot);
	}
	if (status == STATUS_OK && (focus->parts & FOCUS_TREE)) {
		status = pythia_mark_tree(engine->loop.pythia, snapshot);
	}
	if (status == STATUS_OK && (focus->parts & FOCUS_STEPS)) {
		status = pythia_fill(engine->loop.pythia, snapshot);
	}
	if (status == STATUS_OK && (focus->parts & FOCUS_STATE)) {
		status = state_fill(engine->state, focus, snapshot->time_ns, snapshot);
	}
	request = status == STATUS_OK && (focus->parts & FOCUS_REQUEST)
				  ? groups_find_request(engine->groups, snapshot->focus.request_id)
				  : NULL;
	if (request) {
		status = requests_fill_request(engine->requests, request, snapshot);
		snapshot->request.path = snapshot_text(
				snapshot, groups_path(engine->groups, request->group_id));
	}
	if (status == STATUS_OK && (focus->parts & FOCUS_COMPARE)) {
		status = fill_compare(engine, focus, snapshot);
	}
	if (status == STATUS_OK && (focus->parts & FOCUS_CHANGES)) {
		status = fill_changes(engine, focus, snapshot);
	}
	return status;
}

struct dump {
	bool (*take)(void *context, const struct event *event);
	void *context;
};

static bool dump_one(void *context, uint64_t number, const struct event *event, bool older)
{
	const struct dump *dump = context;

	(void)number;
	(void)older;
	return dump->take(dump->context, event);
}

enum status engine_dump(struct engine *engine, const struct focus *focus,
		bool (*take)(void *context, const struct event *event), void *context)
{
	struct dump dump = {.take = take, .context = context};
	uint64_t at_ns = follow_pin(engine, focus);

	if (!engine->config.keep_events) {
		return STATUS_NOT_FOUND;
	}
	at_ns = focus->state_at_ns ? focus->state_at_ns : at_ns;
	log_each(engine->log, window_begin(engine, at_ns), at_ns, dump_one, &dump);
	return STATUS_OK;
}

void engine_dump_losses(struct engine *engine, const struct focus *focus,
		bool (*take)(void *context, const struct loss *loss), void *context)
{
	uint64_t at_ns = focus->state_at_ns ? focus->state_at_ns : follow_pin(engine, focus);
	uint64_t from_ns = engine_dump_span(engine, focus).kept_from_ns, n = engine->n_losses;

	for (uint64_t i = n > ENGINE_LOSSES ? n - ENGINE_LOSSES : 0; i < n; i++) {
		const struct loss *loss = &engine->losses[i % ENGINE_LOSSES];

		if (loss->end_ns >= from_ns && loss->begin_ns <= at_ns && !take(context, loss)) {
			return;
		}
	}
}

struct original_dump {
	struct extractor *extractor;
	struct dump dump;
};

/* What was extracted is not in the trace. */
static bool dump_original(void *context, const struct event *event)
{
	const struct original_dump *to = context;

	return to->dump.take(to->dump.context, extractor_original(to->extractor, event));
}

enum status engine_dump_requests(struct engine *engine, const uint64_t *ids, uint32_t n,
		bool (*take)(void *context, const struct event *event), void *context)
{
	const struct request *requests[ENGINE_DUMP_REQUESTS];
	struct original_dump to = {
			.extractor = engine->extractor, .dump = {.take = take, .context = context}};
	uint32_t found = 0;

	for (uint32_t i = 0; i < n && found < ENGINE_DUMP_REQUESTS; i++) {
		requests[found] = groups_find_request(engine->groups, ids[i]);
		found += requests[found] != NULL;
	}
	return requests_dump(requests, found, dump_original, &to);
}

struct dump_span engine_dump_span(struct engine *engine, const struct focus *focus)
{
	uint64_t at_ns = follow_pin(engine, focus), begin_ns = log_begin(engine->log);
	struct dump_span span;

	at_ns = focus->state_at_ns ? focus->state_at_ns : at_ns;
	span = (struct dump_span){.window_from_ns = window_begin(engine, at_ns)};
	span.kept_from_ns = begin_ns > span.window_from_ns ? begin_ns : span.window_from_ns;
	span.trimmed = log_trimmed(engine->log) > span.window_from_ns;
	return span;
}

/* --- the loop -------------------------------------------------------------------------------- */

const struct step_budget *engine_budget(const struct engine *engine)
{
	return pythia_budget(engine->loop.pythia);
}

bool engine_is_skeleton(struct engine *engine, uint32_t type)
{
	const struct plan *plans = model_plans(engine->model);

	return plans && type < engine->registry.n_types &&
	       (plans[type].skeleton || plans[type].about_tracer);
}

enum status engine_learn(struct engine *engine, const struct profile *profile)
{
	return pythia_learn(engine->loop.pythia, profile);
}

void engine_learn_here(struct engine *engine)
{
	loop_learn(&engine->loop);
}

bool engine_has_learned(const struct engine *engine)
{
	return pythia_has_learned(engine->loop.pythia);
}

const struct profile *engine_profile(struct engine *engine)
{
	return loop_profile(&engine->loop);
}

const struct step_order *engine_next_order(struct engine *engine)
{
	return pythia_next_order(engine->loop.pythia);
}

static void name_processes(struct engine *engine, const char *host,
		const struct step_process *processes, uint32_t n)
{
	uint32_t at = registry_host(&engine->registry, host);

	for (uint32_t i = 0; i < n && at != ID_NONE; i++) {
		const char *name = processes[i].name;

		if (name[0] && !threads_process_name(engine->threads, at, processes[i].pid)) {
			threads_name_process(engine->threads, at, processes[i].pid,
					names_add(engine->names, name, (uint32_t)strlen(name)));
		}
	}
}

static enum status explain(struct engine *engine, uint32_t group_id)
{
	enum status status = loop_explain(&engine->loop, group_id);

	/* Event time stands still: there is no other moment to do it. */
	if (status == STATUS_OK && engine->finished) {
		loop_finish(&engine->loop, engine->now_ns);
	}
	return status;
}

/* An epoch is compared with the one before, unless a person gave something to compare with. */
static void compare_with_epoch(struct engine *engine)
{
	static const char origin[] = "the epoch before";
	const struct baseline *reference = groups_reference_baseline(engine->groups), *ended;
	struct baseline named;

	if (reference && strcmp(reference->origin, origin) != 0) {
		return;
	}
	ended = groups_baseline(engine->groups, HORIZON_EPOCH, engine->now_ns);
	if (ended && ended->n_types > 0) {
		named = *ended;
		named.origin = origin;
		/* Out of memory: what was compared with before stays. */
		(void)groups_set_baseline(engine->groups, &named);
	}
}

enum status engine_input(
		struct engine *engine, const struct engine_input *in, char *error, size_t size)
{
	struct loop *loop = &engine->loop;
	struct pythia *pythia = loop->pythia;
	uint64_t now_ns = engine->now_ns;

	switch (in->kind) {
	case INPUT_MODE:
		pythia_set_mode(pythia, in->mode, now_ns);
		return STATUS_OK;
	case INPUT_STRATEGY:
		return pythia_set_strategy(pythia, in->text);
	case INPUT_BUDGET:
		pythia_set_budget(pythia, &in->budget);
		return STATUS_OK;
	case INPUT_OFFER:
		return loop_offer(loop, in->offer.host, in->offer.events, in->offer.n);
	case INPUT_PROCESSES:
		name_processes(engine, in->processes.host, in->processes.list, in->processes.n);
		return STATUS_OK;
	case INPUT_DECIDE:
		return pythia_decide(pythia, in->decide.step, in->decide.decision, in->decide.by,
				now_ns, error, size);
	case INPUT_EDIT:
		return pythia_edit(
				pythia, in->edit.step, in->edit.part, in->edit.keep, error, size);
	case INPUT_PROPOSE:
		return loop_propose(loop, in->propose.context, in->propose.enable, error, size);
	case INPUT_EXPLAIN:
		return explain(engine, in->number);
	case INPUT_UNDO_ALL:
		pythia_undo_all(pythia, STEP_BY_PERSON, now_ns);
		return STATUS_OK;
	case INPUT_EPOCH:
		compare_with_epoch(engine);
		groups_begin_epoch(engine->groups, now_ns, NULL, NULL);
		loop_epoch(loop);
		return STATUS_OK;
	case INPUT_CALIBRATE:
		pythia_calibrate(pythia, in->calibrate.host, in->calibrate.cpu_ns);
		return STATUS_OK;
	case INPUT_HOST_GONE:
		loop_host_gone(loop, in->text, now_ns);
		return STATUS_OK;
	case INPUT_SILENT:
		loop_silent(loop, in->silent.host, in->silent.is, now_ns);
		return STATUS_OK;
	case INPUT_OUTCOME:
		loop_order_done(loop, &in->outcome);
		return STATUS_OK;
	case INPUT_WATCH:
		loop_watch_over(loop, &in->watch);
		return STATUS_OK;
	default:
		return STATUS_INVALID;
	}
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
