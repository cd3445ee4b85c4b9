/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/parts.h"

/* Snapshots. */

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

/* The share of the window that a host was not recorded in, on purpose. */
static double unrecorded(const struct engine *engine, uint32_t host, uint64_t at_ns)
{
	uint64_t begin_ns = engine_window_begin(engine, at_ns);
	uint64_t first_ns = engine->registry.hosts[host].first_ns;

	begin_ns = begin_ns > first_ns ? begin_ns : first_ns;
	return at_ns > begin_ns ? (double)pauses_within(&engine->pauses, REQUEST_HOST(host),
						  begin_ns, at_ns) /
						  (double)(at_ns - begin_ns)
				: 0;
}

/* What takes longer than it is recorded at a time is never seen whole: that must be known. */
static void warn_unrecorded(const struct engine *engine, uint32_t host, struct snapshot *snapshot)
{
	uint64_t span_ns = pauses_span_ns(&engine->pauses, host);
	char text[256], span[64] = "";

	if (span_ns) {
		snprintf(span, sizeof(span), ", %.1f s at a time",
				fmax(0.1, (double)span_ns / 1e9));
	}
	snprintf(text, sizeof(text),
			"%s was recorded %.0f %% of the time%s: more would cost what is watched "
			"more "
			"than it may (--cost); requests that take longer are not seen",
			engine->registry.hosts[host].name,
			fmax(1, 100 * (1 - snapshot->unrecorded)), span);
	snapshot_warn(snapshot, text);
}

/* Of the host that was recorded least: which one. */
static uint32_t fill_unrecorded(const struct engine *engine, struct snapshot *snapshot)
{
	uint32_t least = 0;

	for (uint32_t host = 0; host < engine->registry.n_hosts; host++) {
		double share = unrecorded(engine, host, snapshot->time_ns);

		if (share > snapshot->unrecorded) {
			snapshot->unrecorded = share;
			least = host;
		}
	}
	return least;
}

/* The instant that a focus looks at; its pin, if it has one, is there. */
static uint64_t instant_of(const struct engine *engine, const struct focus *focus)
{
	if (!engine->pinned) {
		return engine->now_ns;
	}
	if (focus->back_ns > engine->config.window_ns) {
		return engine_window_begin(engine, engine->pinned_ns);
	}
	return engine->pinned_ns - focus->back_ns;
}

/* A frozen focus pins the window at the moment it is first seen. */
uint64_t engine_follow_pin(struct engine *engine, const struct focus *focus)
{
	engine_tidy(engine);
	if (focus->frozen && !engine->pinned) {
		groups_pin(engine->groups, engine->now_ns);
		state_pin(engine->state, engine->now_ns);
		log_pin(engine->log, engine_window_begin(engine, engine->now_ns));
		engine->pinned_ns = engine->now_ns;
	} else if (!focus->frozen && engine->pinned) {
		groups_unpin(engine->groups);
		state_unpin(engine->state);
		log_unpin(engine->log);
	}
	engine->pinned = focus->frozen;
	return instant_of(engine, focus);
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
		row->from = snapshot_text(snapshot, row->from);
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
	changes->groups_gone = snapshot_text(snapshot, changes->groups_gone);
	changes->groups_new = snapshot_text(snapshot, changes->groups_new);
	changes->cut = snapshot_text(snapshot, changes->cut);
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

static enum status fill_waits(
		struct engine *engine, const struct focus *focus, struct snapshot *snapshot)
{
	return focus->parts & FOCUS_WAITS
			       ? waits_fill(engine->waits, engine->requests, engine->groups,
						 engine->names, engine->contexts, focus, snapshot)
			       : STATUS_OK;
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

/* What a person looks at is there for as long as they look. */
static void keep_shown(struct engine *engine, const struct focus *focus)
{
	bool request = focus->parts & (FOCUS_REQUEST | FOCUS_COMPARE);
	bool compared = focus->parts & FOCUS_COMPARE;

	groups_show(engine->groups, (uint64_t[GROUPS_MAX_SHOWN]){request ? focus->request_id : 0,
						    compared ? focus->compare_id : 0});
}

enum status engine_fill(struct engine *engine, const struct focus *focus, struct snapshot *snapshot)
{
	enum status status;
	struct request *request;
	uint32_t least;

	snapshot->focus = *focus;
	snapshot->time_ns = engine_follow_pin(engine, focus);
	keep_shown(engine, focus);
	if (!engine->started) {
		snapshot->time_ns = 0;
	}
	fill_accounting(engine, snapshot);
	fill_totals(engine, focus->horizon, snapshot);
	least = fill_unrecorded(engine, snapshot);
	if (snapshot->unrecorded > 0) {
		warn_unrecorded(engine, least, snapshot);
	}
	requests_fill_warnings(engine->requests, snapshot);
	status = groups_fill(engine->groups, focus, snapshot->time_ns, snapshot);
	if (status == STATUS_OK) {
		status = fill_waits(engine, focus, snapshot);
	}
	if (status == STATUS_OK && (focus->parts & FOCUS_SHAPES)) {
		status = behaving_fill(engine->behaving, focus, engine->pinned, snapshot);
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

bool engine_fill_as_of_now(void *context, const struct focus *focus, struct snapshot *snapshot)
{
	struct engine *engine = context;

	snapshot->focus = *focus;
	snapshot->time_ns = engine->now_ns;
	fill_unrecorded(engine, snapshot);
	return !engine->pinned &&
	       groups_fill(engine->groups, focus, engine->now_ns, snapshot) == STATUS_OK &&
	       (!(focus->parts & FOCUS_CHANGES) ||
			       fill_changes(engine, focus, snapshot) == STATUS_OK) &&
	       fill_waits(engine, focus, snapshot) == STATUS_OK;
}
