/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/rehearse.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pythiatop/snapshot/snapshot.h"
#include "run/watch.h"

#define TICK_NS     UINT64_C(100000000)
#define SECOND_NS   UINT64_C(1000000000)
#define GAP_TICKS   600u /* of a longer gap between events no more is played */
#define OWN_SESSION "pythiatop-rehearsal"

/* A tracepoint's name: types of one name differ in their fields. */
struct name {
	const char *text; /* of the engine's type */
	uint32_t id;
};

struct type {
	uint32_t name;
	bool skeleton;
};

/* A tracepoint of a host. */
enum { POINT_SEEN = 1, POINT_ON = 2 };

struct host {
	char *name;
	uint8_t *points; /* by name */
	uint32_t room;
	uint32_t session;     /* of ours */
	bool grown;           /* more was seen than was offered */
	uint32_t *first_type; /* by name: whose fields are offered */
};

struct stream {
	bool known;
	uint32_t host;
	uint32_t own; /* the stream of our session that stands for it */
};

/* The order that the hosts are at. */
struct playing {
	bool on;
	uint64_t due_ns;
	struct step_order order; /* its events are copies */
	struct step_event *events;
};

struct rehearse {
	struct engine *engine;
	struct rehearse_setup setup;
	void *by_name; /* tree of struct name */
	uint32_t n_names;
	struct type *types;
	uint32_t n_types;
	struct stream *streams;
	uint32_t n_streams;
	struct host *hosts;
	uint32_t n_hosts;
	struct playing playing;
	struct watch watch;
	bool watching;
	uint64_t first_ns;    /* from here on; 0: no event so far */
	uint64_t tick_ns;     /* the next tick; 0: it has not begun */
	uint64_t second_ours; /* events because of steps until the last second */
	uint32_t over_s;      /* so long are they over the budget by now */
	bool over, out_of_memory;
	struct steps_rehearsal counts;
};

struct rehearse *rehearse_create(struct engine *engine, const struct rehearse_setup *setup)
{
	struct rehearse *rehearse = calloc(1, sizeof(*rehearse));

	if (rehearse) {
		rehearse->engine = engine;
		rehearse->setup = *setup;
	}
	return rehearse;
}

static void forget_order(struct playing *playing)
{
	for (uint32_t i = 0; playing->events && i < playing->order.n; i++) {
		free((char *)(uintptr_t)playing->events[i].host);
		free((char *)(uintptr_t)playing->events[i].name);
	}
	free(playing->events);
	*playing = (struct playing){.on = false};
}

void rehearse_destroy(struct rehearse *rehearse)
{
	if (!rehearse) {
		return;
	}
	forget_order(&rehearse->playing);
	for (uint32_t i = 0; i < rehearse->n_hosts; i++) {
		free(rehearse->hosts[i].name);
		free(rehearse->hosts[i].points);
		free(rehearse->hosts[i].first_type);
	}
	free(rehearse->hosts);
	free(rehearse->streams);
	free(rehearse->types);
	tdestroy(rehearse->by_name, free);
	free(rehearse);
}

/* --- what events are of ---------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* The number of a name, a new one if need be; UINT32_MAX: out of memory. */
static uint32_t number_of(struct rehearse *rehearse, const char *text)
{
	struct name *name = malloc(sizeof(*name)), **found;

	if (!name) {
		return UINT32_MAX;
	}
	*name = (struct name){.text = text, .id = rehearse->n_names};
	found = tsearch(name, &rehearse->by_name, compare_names);
	if (!found || *found != name) {
		free(name);
		return found ? (*found)->id : UINT32_MAX;
	}
	return rehearse->n_names++;
}

/* Takes up the types that are new; what the skeleton is may change with them. */
static bool take_types(struct rehearse *rehearse)
{
	struct engine *engine = rehearse->engine;
	uint32_t n = rehearse->n_types;
	struct type *types;

	while (engine_type(engine, n)) {
		n++;
	}
	if (!array_resize(&rehearse->types, n + 1)) {
		return false;
	}
	types = rehearse->types;
	for (; rehearse->n_types < n; rehearse->n_types++) {
		types[rehearse->n_types].name =
				number_of(rehearse, engine_type(engine, rehearse->n_types)->name);
		if (types[rehearse->n_types].name == UINT32_MAX) {
			return false;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		types[i].skeleton = engine_is_skeleton(engine, i);
	}
	return true;
}

/* UINT32_MAX: out of memory. */
static uint32_t host_of(struct rehearse *rehearse, const char *name)
{
	const struct session_desc session = {.host = name, .name = OWN_SESSION, .ours = true};
	char *copy;

	for (uint32_t i = 0; i < rehearse->n_hosts; i++) {
		if (strcmp(rehearse->hosts[i].name, name) == 0) {
			return i;
		}
	}
	copy = strdup(name);
	if (!copy || !array_resize(&rehearse->hosts, rehearse->n_hosts + 1)) {
		free(copy);
		return UINT32_MAX;
	}
	rehearse->hosts[rehearse->n_hosts] = (struct host){
			.name = copy, .session = engine_add_session(rehearse->engine, &session)};
	return rehearse->n_hosts++;
}

static bool take_stream(struct rehearse *rehearse, uint32_t id)
{
	const struct stream_desc *desc = engine_stream(rehearse->engine, id);
	const struct session_desc *session =
			desc ? engine_session(rehearse->engine, desc->session) : NULL;
	struct stream_desc own;

	if (id >= rehearse->n_streams) {
		if (!array_extend(&rehearse->streams, &rehearse->n_streams, (id + 1) * 2)) {
			return false;
		}
	}
	if (!session) {
		return false;
	}
	own = *desc;
	rehearse->streams[id].host = host_of(rehearse, session->host);
	if (rehearse->streams[id].host == UINT32_MAX) {
		return false;
	}
	own.session = rehearse->hosts[rehearse->streams[id].host].session;
	rehearse->streams[id].own = engine_add_stream(rehearse->engine, &own);
	rehearse->streams[id].known = true;
	return rehearse->streams[id].own != ID_NONE;
}

static bool make_room(const struct rehearse *rehearse, struct host *host)
{
	uint32_t room = 2 * rehearse->n_names;

	if (rehearse->n_names <= host->room) {
		return true;
	}
	if (!array_resize(&host->first_type, room)) {
		return false;
	}
	return array_extend(&host->points, &host->room, room);
}

/* What the event is of is known; false: it is none, or out of memory. */
static bool prepare(struct rehearse *rehearse, const struct event *event)
{
	if (event->type >= rehearse->n_types || engine_type(rehearse->engine, rehearse->n_types)) {
		if (!take_types(rehearse)) {
			return false;
		}
	}
	if (event->stream >= rehearse->n_streams || !rehearse->streams[event->stream].known) {
		if (!take_stream(rehearse, event->stream)) {
			return false;
		}
	}
	return event->type < rehearse->n_types &&
	       make_room(rehearse, &rehearse->hosts[rehearse->streams[event->stream].host]);
}

void rehearse_feed(struct rehearse *rehearse, const struct event *event)
{
	const struct type *type;
	struct event copy = *event;
	struct host *host;

	if (!prepare(rehearse, event)) {
		rehearse->out_of_memory = true;
		rehearse->counts.masked++;
		return;
	}
	type = &rehearse->types[event->type];
	host = &rehearse->hosts[rehearse->streams[event->stream].host];
	if (!host->points[type->name]) {
		host->points[type->name] = POINT_SEEN;
		host->first_type[type->name] = event->type;
		host->grown = true;
	}
	if (type->skeleton) {
		rehearse->counts.let_through++;
		engine_feed(rehearse->engine, event);
	} else if (host->points[type->name] & POINT_ON) {
		copy.stream = rehearse->streams[event->stream].own;
		rehearse->counts.let_through++;
		rehearse->counts.ours++;
		engine_feed(rehearse->engine, &copy);
	} else {
		rehearse->counts.masked++;
	}
}

/* --- what hosts tell ------------------------------------------------------------------------- */

static bool fill_offer(const struct rehearse *rehearse, const struct host *host, uint32_t name,
		struct step_offer *offer)
{
	const struct event_type *type = engine_type(rehearse->engine, host->first_type[name]);
	const char **fields = calloc(type->n_fields + 1, sizeof(*fields));

	if (!fields) {
		return false;
	}
	*offer = (struct step_offer){.host = host->name,
			.name = type->name,
			.kernel = !strchr(type->name, ':'),
			.fields = fields};
	for (uint32_t i = 0; i < type->n_fields; i++) {
		if (type->fields[i].scope == SCOPE_PAYLOAD) {
			fields[offer->n_fields++] = type->fields[i].name;
		}
	}
	return true;
}

static void offer(struct rehearse *rehearse, struct host *host)
{
	struct step_offer *offers = calloc(rehearse->n_names + 1, sizeof(*offers));
	uint32_t n = 0;

	for (uint32_t i = 0; offers && i < rehearse->n_names && i < host->room; i++) {
		if (host->points[i] && fill_offer(rehearse, host, i, &offers[n])) {
			n++;
		}
	}
	if (offers && engine_input(rehearse->engine,
				      &(struct engine_input){.kind = INPUT_OFFER,
						      .offer = {host->name, n, offers}},
				      NULL, 0) == STATUS_OK) {
		host->grown = false;
	}
	for (uint32_t i = 0; offers && i < n; i++) {
		free((void *)(uintptr_t)offers[i].fields);
	}
	free(offers);
}

/* --- orders ---------------------------------------------------------------------------------- */

/* The order is the engine's until it is called again. */
static bool copy_order(struct playing *playing, const struct step_order *order)
{
	playing->order = *order;
	playing->events = calloc(order->n + 1, sizeof(*playing->events));
	if (!playing->events) {
		return false;
	}
	for (uint32_t i = 0; i < order->n; i++) {
		playing->events[i] = order->events[i];
		playing->events[i].host = strdup(order->events[i].host);
		playing->events[i].name = strdup(order->events[i].name);
		if (!playing->events[i].host || !playing->events[i].name) {
			return false;
		}
	}
	playing->order.events = playing->events;
	return true;
}

static void give_out(struct rehearse *rehearse)
{
	const struct step_order *order =
			rehearse->playing.on ? NULL : engine_next_order(rehearse->engine);

	if (!order) {
		return;
	}
	if (order->undo && rehearse->watching && rehearse->watch.step == order->step) {
		rehearse->watching = false;
	}
	rehearse->playing.on = true;
	rehearse->playing.due_ns = rehearse->tick_ns + REHEARSE_ORDER_NS;
	if (!copy_order(&rehearse->playing, order)) {
		rehearse->out_of_memory = true;
	}
}

static void turn(struct rehearse *rehearse, const struct step_event *event)
{
	const struct name wanted = {.text = event->name};
	struct name **found = tfind(&wanted, &rehearse->by_name, compare_names);

	for (uint32_t i = 0; found && i < rehearse->n_hosts; i++) {
		struct host *host = &rehearse->hosts[i];

		if ((*found)->id < host->room && strcmp(host->name, event->host) == 0) {
			uint8_t *point = &host->points[(*found)->id];

			*point = (uint8_t)(event->enable ? *point | POINT_ON : *point & ~POINT_ON);
		}
	}
}

static void carry_out(struct rehearse *rehearse)
{
	struct playing *playing = &rehearse->playing;
	const struct engine_input input = {.kind = INPUT_OUTCOME,
			.outcome = {.step = playing->order.step,
					.undo = playing->order.undo,
					.ok = true,
					.error = ""}};

	for (uint32_t i = 0; playing->events && i < playing->order.n; i++) {
		turn(rehearse, &playing->events[i]);
	}
	if (!playing->order.undo) {
		rehearse->watching = true;
		watch_begin(&rehearse->watch, playing->order.step,
				playing->order.kind == STEP_LEARN, playing->order.watch_s,
				rehearse->tick_ns, (struct watch_counts){rehearse->counts.ours, 0});
	}
	forget_order(playing);
	engine_input(rehearse->engine, &input, NULL, 0);
}

static void check_watch(struct rehearse *rehearse)
{
	uint64_t now_ns = rehearse->tick_ns;
	struct engine_input input = {.kind = INPUT_WATCH};

	if (!rehearse->watching || now_ns < watch_due_ns(&rehearse->watch)) {
		return;
	}
	watch_check(&rehearse->watch, now_ns, rehearse->counts.ours,
			engine_budget(rehearse->engine));
	if (now_ns >= rehearse->watch.end_ns) {
		input.watch = watch_end(&rehearse->watch, now_ns,
				(struct watch_counts){rehearse->counts.ours, 0}, 0);
		rehearse->watching = false;
		engine_input(rehearse->engine, &input, NULL, 0);
	}
}

/* --- time ------------------------------------------------------------------------------------ */

static bool has_come(const struct rehearse *rehearse)
{
	const struct batch_until *until = &rehearse->setup.until;
	uint64_t age_ns = rehearse->tick_ns - rehearse->first_ns;
	struct snapshot *snapshot;
	bool come;

	if ((rehearse->setup.for_ns && age_ns >= rehearse->setup.for_ns) ||
			(until->kind == UNTIL_TIME && age_ns >= until->ns)) {
		return true;
	}
	if (until->kind == UNTIL_STOPPED || until->kind == UNTIL_TIME) {
		return false;
	}
	snapshot = snapshot_create();
	come = snapshot && engine_fill(rehearse->engine, &until_focus, snapshot) == STATUS_OK &&
	       until_is_shown(until, snapshot);
	snapshot_destroy(snapshot);
	return come;
}

/* What steps cost in the last second, for the record: the engine knows of watches alone. */
static void count_second(struct rehearse *rehearse)
{
	struct steps_rehearsal *counts = &rehearse->counts;
	uint64_t events = counts->ours - rehearse->second_ours;
	double budget = engine_budget(rehearse->engine)->events_per_s;

	rehearse->second_ours = counts->ours;
	if (rehearse->watching && rehearse->watch.learning) {
		return;
	}
	rehearse->over_s = budget > 0 && (double)events > budget ? rehearse->over_s + 1 : 0;
	counts->over_s = rehearse->over_s > counts->over_s ? rehearse->over_s : counts->over_s;
	counts->peak_per_s = events > counts->peak_per_s ? events : counts->peak_per_s;
}

static void turn_second(struct rehearse *rehearse)
{
	count_second(rehearse);
	for (uint32_t i = 0; i < rehearse->n_hosts; i++) {
		if (rehearse->hosts[i].grown) {
			offer(rehearse, &rehearse->hosts[i]);
		}
	}
}

static void tick(struct rehearse *rehearse)
{
	bool second = rehearse->tick_ns % SECOND_NS == 0;

	engine_advance(rehearse->engine, rehearse->tick_ns);
	if (second) {
		turn_second(rehearse);
	}
	check_watch(rehearse);
	if (rehearse->playing.on && rehearse->tick_ns >= rehearse->playing.due_ns) {
		carry_out(rehearse);
	}
	give_out(rehearse);
	if (second) {
		rehearse->over = has_come(rehearse);
	}
}

static uint64_t tick_after(uint64_t ts_ns)
{
	return (ts_ns / TICK_NS + 1) * TICK_NS;
}

bool rehearse_advance(struct rehearse *rehearse, uint64_t ts_ns)
{
	if (!rehearse->first_ns) {
		rehearse->first_ns = ts_ns + rehearse->setup.from_ns;
	}
	if (ts_ns < rehearse->first_ns) {
		return false;
	}
	if (!rehearse->tick_ns) {
		rehearse->tick_ns = tick_after(ts_ns);
	}
	for (uint32_t n = 0; !rehearse->over && rehearse->tick_ns <= ts_ns; n++) {
		tick(rehearse);
		rehearse->tick_ns = n < GAP_TICKS ? rehearse->tick_ns + TICK_NS : tick_after(ts_ns);
	}
	return !rehearse->over;
}

bool rehearse_runs(const struct rehearse *rehearse)
{
	return rehearse->tick_ns && !rehearse->over;
}

bool rehearse_is_over(const struct rehearse *rehearse)
{
	return rehearse->over;
}

const char *rehearse_failure(const struct rehearse *rehearse)
{
	if (rehearse->out_of_memory) {
		return "out of memory";
	}
	if (rehearse->tick_ns && rehearse->counts.masked == 0) {
		return "the recording has nothing beyond the skeleton: record with all tracepoints "
		       "on, and say by --schema what the skeleton is";
	}
	return NULL;
}

void rehearse_fill(const struct rehearse *rehearse, struct steps_view *steps)
{
	steps->rehearsal = rehearse->counts;
	steps->rehearsal.on = true;
}
