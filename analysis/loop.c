/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "groups/collect.h"
#include "groups/failing.h"
#include "loop.h"
#include "loop_questions.h"
#include "pythia/explaining.h"
#include "requests/meaning.h"
#include "requests/request.h"

#define NS_PER_S      UINT64_C(1000000000)
#define IDLE_ROUND_NS UINT64_C(10000000000)
#define IDLE_MOST_NS  UINT64_C(30000000000)
#define IDLE_SHARE    4u    /* of the time for which nothing new was found, until the next round */
#define IDLE_REQUESTS 50u   /* less says nothing new of any group */
#define HEADER_BYTES  8u    /* of LTTng's records, in channels of more than 30 events */
#define MAX_TREES     1000u /* groups that places are learned from at a time */

bool loop_init(struct loop *loop, const struct loop_host *host, struct names *names)
{
	*loop = (struct loop){
			.host = *host, .pythia = pythia_create(names), .slice_ns = UINT64_MAX};
	return loop->pythia != NULL;
}

void loop_release(struct loop *loop)
{
	pythia_destroy(loop->pythia);
	free(loop->types);
	arena_release(&loop->profile);
	*loop = (struct loop){.pythia = NULL};
}

/* What the records of a type have in common: header, contexts, and fields that are numbers. */
static struct loop_type shape_of(const struct event_type *type)
{
	struct loop_type shape = {.fixed_bytes = HEADER_BYTES, .slots = type->n_fields * 8};

	for (uint32_t i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];

		if (field->kind == FIELD_STRING) {
			shape.n_texts++;
		} else if (field->kind != FIELD_TREE) {
			shape.fixed_bytes += field->width ? field->width : 8;
		}
	}
	return shape;
}

bool loop_add_type(struct loop *loop)
{
	uint32_t n = loop->host.registry->n_types;

	if (!array_reserve(&loop->types, &loop->types_room, n)) {
		return false;
	}
	for (; loop->n_types < n; loop->n_types++) {
		loop->types[loop->n_types] = shape_of(&loop->host.registry->types[loop->n_types]);
	}
	return true;
}

static struct pythia_offer offer_of(const struct loop *loop, const char *event, bool kernel,
		enum span_role role, bool skeleton, uint32_t provider, uint32_t span)
{
	return (struct pythia_offer){.event = event,
			.kernel = kernel,
			.skeleton = skeleton,
			.role = role == SPAN_ENTRY  ? OFFER_ENTRY
				: role == SPAN_EXIT ? OFFER_EXIT
						    : OFFER_POINT,
			.provider = names_text(loop->host.names, provider),
			.span = names_text(loop->host.names, span)};
}

/* A new type can change what the others mean: the exit that makes an entry of a point. */
static void tell_types(struct loop *loop)
{
	const struct registry *registry = loop->host.registry;
	const struct plan *plans = model_plans(loop->host.model);

	if (!plans || loop->n_told == registry->n_types) {
		return;
	}
	for (loop->n_told = 0; loop->n_told < registry->n_types; loop->n_told++) {
		const struct plan *plan = &plans[loop->n_told];
		const char *name = registry->types[loop->n_told].name;
		struct pythia_offer event =
				offer_of(loop, name, !strchr(name, ':'), (enum span_role)plan->role,
						plan->skeleton, plan->provider, plan->name.fixed);

		if (!plan->about_tracer && plan->name.fixed) {
			pythia_know(loop->pythia, &event);
		}
	}
}

/* What came in the time since it was last told. */
static void tell_recorded(struct loop *loop, uint64_t ns)
{
	const struct registry *registry = loop->host.registry;
	double seconds = (double)ns * 1e-9;
	const char *hosts[64];

	for (uint32_t type = 0; type < registry->n_types; type++) {
		uint32_t n = 0;

		for (uint32_t host = 0; host < registry->n_hosts && host < 64; host++) {
			if (loop->types[type].seen >> host & 1) {
				hosts[n++] = registry->hosts[host].name;
			}
		}
		if (n) {
			pythia_recorded(loop->pythia, registry->types[type].name, hosts, n,
					(double)loop->types[type].bytes /
							(double)loop->types[type].events,
					seconds > 0 ? (double)loop->types[type].events / seconds
						    : 0);
		}
		loop->types[type].seen = loop->types[type].events = loop->types[type].bytes = 0;
	}
}

static void begin_round(struct loop *loop, uint64_t now_ns)
{
	uint64_t before_ns = loop->now_ns;

	loop->now_ns = now_ns;
	tell_types(loop);
	tell_recorded(loop, before_ns ? now_ns - before_ns : 0);
}

/* Where the spans of each row begin; NULL: nobody knows. */
static const double *order_of(struct loop *loop, struct snapshot *snapshot)
{
	const struct tree_view *tree = &snapshot->tree;
	double *offsets = snapshot_alloc(snapshot, (tree->n + 1) * sizeof(*offsets));

	return offsets && groups_offsets(loop->host.groups, tree->group_id, HORIZON_EPOCH, tree,
					  offsets)
			       ? offsets
			       : NULL;
}

/* Shows a group closely. NULL: it cannot be shown. */
static struct snapshot *show_group(
		struct loop *loop, uint32_t id, enum horizon horizon, struct pythia_detail *out)
{
	struct snapshot *snapshot =
			loop_answer(loop, (struct focus){.horizon = horizon,
							  .parts = FOCUS_GROUP | FOCUS_TREE,
							  .group_id = id});

	if (snapshot) {
		*out = (struct pythia_detail){.row = &snapshot->group.row,
				.tree = &snapshot->tree,
				.group = &snapshot->group,
				.offset_ns = NULL};
	}
	return snapshot;
}

/* As Pythia wants to see it: of its epoch, or of the window where that is newer, and enough. */
static struct snapshot *show_wanted(struct loop *loop, const struct pythia_round *round,
		uint32_t id, struct pythia_detail *out)
{
	struct snapshot *snapshot = NULL;

	if (!pythia_wants_epoch(loop->pythia, round, id)) {
		snapshot = show_group(loop, id, HORIZON_WINDOW, out);
		if (snapshot && pythia_window_will_do(loop->pythia, round, out)) {
			return snapshot;
		}
		snapshot_destroy(snapshot);
	}
	return show_group(loop, id, HORIZON_EPOCH, out);
}

/* Shows the groups of these ids closely. Whatever cannot be shown is left out. */
static void examine_closely(struct loop *loop, struct pythia_round *round, const uint32_t *ids,
		uint32_t n, bool learned)
{
	struct pythia_detail *details = calloc(n + 1, sizeof(*details));
	struct snapshot **shown = calloc(n + 1, sizeof(*shown));

	for (uint32_t i = 0; i < n && details && shown; i++) {
		struct pythia_detail *detail = &details[round->n_details];
		struct snapshot *snapshot =
				learned ? show_group(loop, ids[i], HORIZON_EPOCH, detail)
					: show_wanted(loop, round, ids[i], detail);

		if (!snapshot) {
			continue;
		}
		if (learned) {
			detail->offset_ns = order_of(loop, snapshot);
		}
		shown[round->n_details++] = snapshot;
	}
	round->details = details;
	if (learned) {
		pythia_learned(loop->pythia, round);
	} else {
		pythia_round(loop->pythia, round);
	}
	for (uint32_t i = 0; i < round->n_details; i++) {
		snapshot_destroy(shown[i]);
	}
	free(shown);
	free(details);
}

/* Where groups take more than is normal, before it is decided which of them are searched. */
static void judge_places(struct loop *loop, const struct pythia_round *round)
{
	uint32_t ids[PYTHIA_SUSPECTS], n = pythia_suspects(loop->pythia, round, ids);

	for (uint32_t i = 0; i < n; i++) {
		struct pythia_detail detail;
		struct snapshot *snapshot = show_group(loop, ids[i], HORIZON_WINDOW, &detail);

		if (snapshot) {
			pythia_judge_place(loop->pythia, &detail);
		}
		snapshot_destroy(snapshot);
	}
}

/* Groups that take longer than those that do the same, but ask another server. */
static void judge_siblings(struct loop *loop, const struct pythia_round *round)
{
	struct pythia_compared compared[PYTHIA_COMPARED];
	uint32_t n = pythia_compare_siblings(loop->pythia, round, compared);

	for (uint32_t i = 0; i < n; i++) {
		struct pythia_detail slow, other;
		struct snapshot *shown[2] = {
				show_group(loop, compared[i].group_id, HORIZON_WINDOW, &slow),
				show_group(loop, compared[i].sibling.group_id, HORIZON_WINDOW,
						&other)};

		if (shown[0] && shown[1]) {
			pythia_judge_siblings(loop->pythia, round, &compared[i], &slow, &other);
		}
		snapshot_destroy(shown[0]);
		snapshot_destroy(shown[1]);
	}
}

static bool is_live(const struct loop *loop)
{
	const struct registry *registry = loop->host.registry;
	uint32_t i = 0;

	while (i < registry->n_sessions && !registry->sessions[i].desc.live) {
		i++;
	}
	return i < registry->n_sessions;
}

/* ---- failures ---- */

/* The places, and what texts of them last in. */
struct failures_round {
	struct loop *loop;
	struct failing_place *places;
	struct arena arena, common;
};

static const char *failing_what(enum request_why why)
{
	switch (why) {
	case REQUEST_CALL:
		return "have a system call that fails";
	case REQUEST_NO_END:
		return "have no end";
	case REQUEST_DIED:
		return "end with their thread";
	default:
		return "fail";
	}
}

/* "server_create > build > disk_format" */
static const char *chain_of(const struct loop *loop, uint32_t context, struct arena *arena)
{
	const char *chain = "";

	while (context && chain) {
		const struct context *at = contexts_get(loop->host.contexts, context);

		chain = arena_printf(arena, "%s%s%s", names_text(loop->host.names, at->name),
				chain[0] ? " > " : "", chain);
		context = at->parent;
	}
	return chain ? chain : "";
}

static bool find_common(void *context, uint32_t place, uint64_t since_ns, struct pythia_failed *out)
{
	struct failures_round *round = context;
	const struct registry *registry = round->loop->host.registry;
	const struct names *names = round->loop->host.names;
	struct failing_common common;

	arena_release(&round->common);
	if (!groups_failing_common(round->loop->host.groups, &round->places[place], since_ns,
			    &round->common, &common)) {
		return false;
	}
	*out = (struct pythia_failed){.requests = common.requests,
			.n_hosts = common.n_hosts,
			.host = common.n_hosts == 1 && common.host < registry->n_hosts
						? registry->hosts[common.host].name
						: "",
			.process = names_text(names, common.process),
			.told = names_text(names, common.told),
			.told_share = common.told_share,
			.key = common.key,
			.where = common.where,
			.value = common.value,
			.share = common.share,
			.others = common.others};
	return true;
}

/* Where requests failed in the seconds that are over. Cheap where none did. */
static void examine_failures(struct loop *loop, uint64_t now_ns, bool last)
{
	const struct failing *failing =
			loop->host.groups ? groups_failing(loop->host.groups) : NULL;
	uint32_t n = failing ? failing_places(failing) : 0;
	struct failures_round round = {.loop = loop};
	struct pythia_failing *shown;
	struct pythia_failures failures = {.now_ns = now_ns / NS_PER_S * NS_PER_S,
			.last = last,
			.common = find_common,
			.context = &round};

	if (n == 0 || now_ns < NS_PER_S) {
		return;
	}
	round.places = calloc(n, sizeof(*round.places));
	shown = calloc(n, sizeof(*shown));
	for (uint32_t i = 0; i < n && round.places && shown; i++) {
		struct failing_place *place = &round.places[failures.n];

		if (!failing_read(failing, i, now_ns / NS_PER_S - 1, place) &&
				place->failed_before == 0) {
			continue;
		}
		shown[failures.n++] = (struct pythia_failing){.key = i + 1,
				.type = place->type,
				.group_id = place->group_id,
				.call = place->why == REQUEST_CALL,
				.late = place->why == REQUEST_NO_END,
				.what = failing_what(place->why),
				.where = chain_of(loop, place->context, &round.arena),
				.n = FAILING_SECONDS,
				.failed = place->failed,
				.ended = place->ended,
				.first_ns = place->first_ns,
				.failed_before = place->failed_before,
				.ended_before = place->ended_before};
	}
	failures.places = shown;
	pythia_examine_failures(loop->pythia, &failures);
	arena_release(&round.arena);
	arena_release(&round.common);
	free(round.places);
	free(shown);
}

/* What a round is for. */
enum round_kind { ROUND_USUAL, ROUND_LEARNED, ROUND_LAST };

static void examine_groups(struct loop *loop, enum round_kind kind)
{
	bool learned = kind == ROUND_LEARNED;
	struct snapshot *recent = loop_answer(
			loop, (struct focus){.horizon = HORIZON_WINDOW, .parts = FOCUS_GROUPS});
	/* Last, as the groups looked at closely are of the epoch, too. */
	struct snapshot *epoch =
			loop_answer(loop, (struct focus){.horizon = HORIZON_EPOCH,
							  .parts = FOCUS_GROUPS | FOCUS_CHANGES});
	uint32_t *ids = epoch ? calloc(epoch->groups.n + PYTHIA_DETAILS, sizeof(*ids)) : NULL;
	uint32_t n = 0;

	loop->sites_group = 0;
	if (epoch && recent && ids) {
		struct pythia_round round = {.last = kind == ROUND_LAST,
				.live = is_live(loop),
				.now_ns = loop->now_ns,
				.epoch = loop->epoch,
				.groups = &epoch->groups,
				.recent = &recent->groups,
				.unrecorded = recent->unrecorded,
				.changes = &epoch->changes};

		loop_take_questions(loop, &round);
		if (learned) {
			while (n < epoch->groups.n && n < MAX_TREES) {
				ids[n] = epoch->groups.rows[n].id;
				n++;
			}
		} else {
			judge_places(loop, &round);
			judge_siblings(loop, &round);
			n = pythia_wants(loop->pythia, &round, ids);
		}
		examine_closely(loop, &round, ids, n, learned);
	}
	free(ids);
	snapshot_destroy(loop->waits);
	loop->waits = NULL;
	snapshot_destroy(epoch);
	snapshot_destroy(recent);
}

/* ---- explaining ---- */

static bool collect(void *context, uint32_t group_id, bool on)
{
	return groups_collect(context, group_id, on);
}

static const struct explain_table *table(
		void *context, uint32_t group_id, uint64_t since_ns, struct arena *arena)
{
	return groups_table(context, group_id, since_ns, arena);
}

static uint32_t rows(void *context, uint32_t group_id, uint64_t since_ns)
{
	return groups_table_rows(context, group_id, since_ns);
}

static struct pythia_keys keys_of(const struct loop *loop)
{
	return (struct pythia_keys){.collect = collect,
			.table = table,
			.rows = rows,
			.context = loop->host.groups};
}

/* The rows of the epoch, as far as explaining needs them. */
static struct snapshot *answer_unjudged(struct loop *loop)
{
	return loop_answer(loop, (struct focus){.horizon = HORIZON_EPOCH,
						 .parts = FOCUS_GROUPS | FOCUS_UNJUDGED});
}

void loop_explain_round(struct loop *loop, uint64_t now_ns)
{
	struct pythia_keys keys = keys_of(loop);
	struct snapshot *epoch = answer_unjudged(loop);

	pythia_explain_round(loop->pythia, &keys, epoch ? &epoch->groups : NULL, now_ns);
	snapshot_destroy(epoch);
	loop->slice_ns = pythia_explains(loop->pythia) ? now_ns + EXPLAINING_TICK_NS : UINT64_MAX;
}

void loop_slice(struct loop *loop, uint64_t now_ns)
{
	pythia_explain_work(loop->pythia, EXPLAINING_SLICE);
	loop->slice_ns = now_ns + EXPLAINING_TICK_NS;
}

static void note_news(struct loop *loop)
{
	uint64_t standing = pythia_standing(loop->pythia);

	if (standing != loop->standing || !loop->news_ns) {
		loop->standing = standing;
		loop->news_ns = loop->now_ns;
	}
}

void loop_finish(struct loop *loop, uint64_t now_ns)
{
	struct pythia_keys keys = keys_of(loop);
	struct snapshot *epoch;

	examine_failures(loop, now_ns + NS_PER_S, true); /* the last second, too */
	/* Of a short recording this is the only round; a live session may come back. */
	if (!pythia_can_act(loop->pythia) && !is_live(loop) &&
			loop->requests > loop->seen_requests) {
		loop->seen_requests = loop->requests;
		begin_round(loop, now_ns);
		examine_groups(loop, ROUND_LAST);
		note_news(loop);
		loop_explain_round(loop, now_ns);
	}
	epoch = answer_unjudged(loop);
	pythia_explain_finish(loop->pythia, &keys, epoch ? &epoch->groups : NULL, now_ns);
	loop->slice_ns = UINT64_MAX;
	snapshot_destroy(epoch);
}

enum status loop_explain(struct loop *loop, uint32_t group_id)
{
	struct pythia_keys keys = keys_of(loop);

	loop->slice_ns = 0; /* from the next event on, even if the picture is frozen */
	return pythia_explain(loop->pythia, &keys, group_id);
}

/* A round is costly, and where all is as it was the next one hardly tells more. */
static uint64_t idle_round_ns(const struct loop *loop)
{
	uint64_t pause_ns = (loop->now_ns - loop->news_ns) / IDLE_SHARE;

	return pause_ns < IDLE_ROUND_NS  ? IDLE_ROUND_NS
	       : pause_ns > IDLE_MOST_NS ? IDLE_MOST_NS
					 : pause_ns;
}

void loop_round(struct loop *loop, uint64_t now_ns)
{
	examine_failures(loop, now_ns, false);
	/* Where nothing can be enabled, it is enough to look when there may be something to say. */
	if (!pythia_can_act(loop->pythia) &&
			((loop->now_ns && now_ns < loop->now_ns + idle_round_ns(loop)) ||
					loop->requests < loop->seen_requests + IDLE_REQUESTS)) {
		if (pythia_explains(loop->pythia)) {
			loop_explain_round(loop, now_ns);
		}
		return;
	}
	loop->seen_requests = loop->requests;
	begin_round(loop, now_ns);
	examine_groups(loop, ROUND_USUAL);
	note_news(loop);
	if (pythia_explains(loop->pythia) || pythia_has_findings(loop->pythia)) {
		loop_explain_round(loop, now_ns);
	}
}

void loop_epoch(struct loop *loop)
{
	loop->epoch++;
}

enum status loop_offer(
		struct loop *loop, const char *host, const struct step_offer *offers, uint32_t n)
{
	struct arena arena = {.chunks = NULL};
	struct event_type *types = calloc(n + 1, sizeof(*types));
	struct meaning *meanings = calloc(n + 1, sizeof(*meanings));
	struct pythia_offer *known = calloc(n + 1, sizeof(*known));
	enum status status = types && meanings && known ? STATUS_OK : STATUS_NO_MEMORY;
	uint32_t n_known = 0;

	for (uint32_t i = 0; i < n && status == STATUS_OK; i++) {
		struct field *fields =
				arena_alloc(&arena, (offers[i].n_fields + 1) * sizeof(*fields));

		for (uint32_t f = 0; fields && f < offers[i].n_fields; f++) {
			fields[f] = (struct field){.name = offers[i].fields[f],
					.kind = FIELD_UINT,
					.base = 10};
		}
		types[i] = (struct event_type){.name = offers[i].name,
				.n_fields = fields ? offers[i].n_fields : 0,
				.fields = fields};
	}
	if (status == STATUS_OK && !model_meanings(loop->host.model, types, n, meanings)) {
		status = STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < n && status == STATUS_OK; i++) {
		if (meanings[i].about_tracer || !meanings[i].span) {
			continue;
		}
		known[n_known] = offer_of(loop, offers[i].name, offers[i].kernel, meanings[i].role,
				meanings[i].skeleton, meanings[i].provider, meanings[i].span);
		known[n_known++].bounded = offers[i].bounded;
	}
	if (status == STATUS_OK) {
		status = pythia_offer(loop->pythia, host, known, n_known);
	}
	free(types);
	free(meanings);
	free(known);
	arena_release(&arena);
	return status;
}

enum status loop_propose(struct loop *loop, uint32_t context, bool enable, char *error, size_t size)
{
	const struct context *at;

	if (context & TREE_OFF_CONTEXT) {
		return pythia_propose_point(loop->pythia, context & ~TREE_OFF_CONTEXT, enable,
				loop->now_ns, error, size);
	}
	at = contexts_get(loop->host.contexts, context);
	return pythia_propose(loop->pythia, names_text(loop->host.names, at->provider),
			names_text(loop->host.names, at->name), enable, loop->now_ns, error, size);
}

/* What an order changed is on those hosts (as requests name them), and by type as Pythia knows. */
struct touched {
	const struct pythia *pythia;
	uint64_t hosts;
};

static bool touches(void *context, uint32_t type, uint64_t hosts)
{
	const struct touched *touched = context;

	if (hosts && !(hosts & (touched->hosts | REQUEST_MANY_HOSTS))) {
		return false;
	}
	return pythia_touches_type(touched->pythia, type);
}

/* What is recorded has changed. */
static void begin_epoch(struct loop *loop, uint64_t answered_ns)
{
	const struct registry *registry = loop->host.registry;
	struct touched touched = {.pythia = loop->pythia};

	for (uint32_t i = 0; i < registry->n_hosts; i++) {
		bool is = pythia_touches_host(loop->pythia, registry->hosts[i].name);

		touched.hosts |= is ? REQUEST_HOST(i) : 0;
	}
	loop->host.begin_epoch(loop->host.context, answered_ns, touches, &touched);
}

void loop_host_gone(struct loop *loop, const char *host, uint64_t now_ns)
{
	if (pythia_host_gone(loop->pythia, host, now_ns)) {
		begin_epoch(loop, 0);
	}
}

void loop_silent(struct loop *loop, const char *host, bool is, uint64_t now_ns)
{
	if (pythia_silent(loop->pythia, host, is, now_ns)) {
		begin_epoch(loop, 0);
	}
}

void loop_order_done(struct loop *loop, const struct step_outcome *outcome)
{
	struct snapshot *before = NULL;

	if (pythia_will_learn(loop->pythia, outcome->step)) {
		before = loop_answer(loop, (struct focus){.horizon = HORIZON_EPOCH,
							   .parts = FOCUS_GROUPS | FOCUS_THOROUGH});
	}
	if (before) {
		pythia_before_learning(loop->pythia, &before->groups);
	}
	snapshot_destroy(before);
	if (pythia_order_done(loop->pythia, outcome, loop->now_ns)) {
		begin_epoch(loop, outcome->answered_ns);
	}
}

void loop_watch_over(struct loop *loop, const struct step_watch *watch)
{
	uint32_t group = pythia_group_of_step(loop->pythia, watch->step);
	struct snapshot *shown = NULL;

	if (pythia_is_learning(loop->pythia, watch->step)) {
		examine_groups(loop, ROUND_LEARNED);
	} else if (group) {
		shown = loop_answer(loop, (struct focus){.horizon = HORIZON_EPOCH,
							  .parts = FOCUS_GROUP,
							  .group_id = group});
	}
	pythia_watch_over(loop->pythia, watch, shown && shown->group.id ? &shown->group : NULL,
			loop->now_ns);
	snapshot_destroy(shown);
}

void loop_learn(struct loop *loop)
{
	tell_types(loop);
	examine_groups(loop, ROUND_LEARNED);
}

const struct profile *loop_profile(struct loop *loop)
{
	arena_release(&loop->profile);
	return pythia_profile(loop->pythia, &loop->profile);
}
