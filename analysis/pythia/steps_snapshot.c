/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

#define LISTED_EVENTS 256u  /* of a step that was decided; a proposed one shows all */
#define NAMED_HOSTS   2u    /* of a point that can be left out; further ones are counted */
#define MAX_OFF_ROWS  4096u /* of one tree; further points that are off are not shown */

/* "compute-1, compute-2 and 3 more" */
static const char *name_hosts(
		const struct points *points, uint64_t hosts, struct snapshot *snapshot)
{
	const char *text = "";
	uint32_t n = 0;

	for (uint32_t host = 0; host < points->n_hosts; host++) {
		if ((hosts >> host & 1) && n++ < NAMED_HOSTS) {
			text = snapshot_printf(snapshot, "%s%s%s", text, n > 1 ? ", " : "",
					names_text(points->names, points->hosts[host]));
		}
	}
	return n > NAMED_HOSTS ? snapshot_printf(snapshot, "%s and %u more", text, n - NAMED_HOSTS)
			       : text;
}

/* What can be chosen from, while there is something to choose. */
static enum status fill_parts(struct pythia *pythia, const struct step *step,
		struct snapshot *snapshot, struct step_row *row)
{
	const struct points *points = &pythia->points;
	struct step_point *parts;

	if (step->state != STEP_PROPOSED || step->kind == STEP_LEARN) {
		return STATUS_OK;
	}
	parts = snapshot_alloc(snapshot, (step->n_parts + 1) * sizeof(*parts));
	if (!parts) {
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < step->n_parts; i++) {
		const struct step_part *part = &step->parts[i];
		const struct point *point = &points->items[part->point];
		const char *provider = names_text(points->names, point->provider);
		uint32_t hosts = (uint32_t)__builtin_popcountll(part->hosts);

		parts[i] = (struct step_point){
				.name = snapshot_printf(snapshot, "%s%s%s", provider,
						provider[0] ? ":" : "",
						names_text(points->names, point->name)),
				.hosts = name_hosts(points, part->hosts, snapshot),
				.n_events = hosts * (point->exit ? 2 : 1),
				.kept = !part->left_out,
				.enable = part->enable};
	}
	row->n_parts = step->n_parts;
	row->parts = parts;
	return STATUS_OK;
}

static enum status fill_step(struct pythia *pythia, const struct step *step,
		struct snapshot *snapshot, struct step_row *row)
{
	bool undo = step->state == STEP_UNDOING || step->state == STEP_UNDONE;
	uint32_t n = step_events(&pythia->points, step, undo, NULL);
	bool listed = n <= LISTED_EVENTS || step->state == STEP_PROPOSED;
	struct step_event *events =
			snapshot_alloc(snapshot, ((listed ? n : 0) + 1) * sizeof(*events));
	double budget = pythia->planning.budget.events_per_s;

	if (!events) {
		return STATUS_NO_MEMORY;
	}
	if (listed) {
		step_events(&pythia->points, step, undo, events);
	}
	for (uint32_t i = 0; i < n && listed; i++) {
		events[i].host = snapshot_text(snapshot, events[i].host);
		events[i].name = snapshot_text(snapshot, events[i].name);
		events[i].filter =
				events[i].filter ? snapshot_text(snapshot, events[i].filter) : NULL;
	}
	*row = (struct step_row){.id = step->id,
			.kind = step->kind,
			.state = step->state,
			.by = step->state == STEP_UNDOING || step->state == STEP_UNDONE
					      ? step->undone_by
					      : step->by,
			.group_id = step->group_id,
			.title = snapshot_text(snapshot, step->title),
			.why = snapshot_text(snapshot, step->why),
			.effect = snapshot_text(snapshot, step->effect),
			.learn_s = step->learn_s,
			.proposed_ns = step->proposed_ns,
			.decided_ns = step->decided_ns,
			.done_ns = step->done_ns,
			.ended_ns = step->ended_ns,
			.predicted = step->predicted,
			.actual = step->actual,
			.share_of_budget = -1,
			.n_points = step_count_kept(step),
			.n_events = listed ? n : 0,
			.events = events};
	if (budget > 0 && step->predicted.events_per_s >= 0) {
		row->share_of_budget =
				(cost_spent(pythia).events_per_s +
						(step->state == STEP_PROPOSED ? step->predicted.events_per_s
									      : 0)) /
				budget;
	}
	return fill_parts(pythia, step, snapshot, row);
}

static enum status fill_steps(struct pythia *pythia, struct snapshot *snapshot)
{
	struct steps_view *view = &snapshot->steps;
	struct step_row *rows = snapshot_alloc(snapshot, (pythia->steps.n + 1) * sizeof(*rows));
	enum status status = rows ? STATUS_OK : STATUS_NO_MEMORY;

	view->next = UINT32_MAX;
	for (uint32_t i = pythia->steps.n; i > 0 && status == STATUS_OK; i--) {
		const struct step *step = &pythia->steps.items[i - 1];

		if (step->state == STEP_PROPOSED && view->next == UINT32_MAX) {
			view->next = view->n;
		}
		status = fill_step(pythia, step, snapshot, &rows[view->n++]);
	}
	view->rows = rows;
	return status;
}

/* What is recorded because of steps. */
static enum status fill_rules(struct pythia *pythia, struct snapshot *snapshot)
{
	struct steps_view *view = &snapshot->steps;
	struct step_part *parts = calloc(pythia->points.n + 1, sizeof(*parts));
	struct step all = {.parts = parts};
	struct step_event *rules;
	uint32_t n;

	for (uint32_t i = 0; parts && i < pythia->points.n; i++) {
		if (pythia->points.items[i].ours) {
			parts[all.n_parts++] = (struct step_part){.point = i,
					.hosts = pythia->points.items[i].ours,
					.enable = true};
		}
	}
	n = step_events(&pythia->points, &all, false, NULL);
	rules = parts ? snapshot_alloc(snapshot, (n + 1) * sizeof(*rules)) : NULL;
	if (!rules) {
		free(parts);
		return STATUS_NO_MEMORY;
	}
	step_events(&pythia->points, &all, false, rules);
	free(parts);
	for (uint32_t i = 0; i < n; i++) {
		rules[i].host = snapshot_text(snapshot, rules[i].host);
		rules[i].name = snapshot_text(snapshot, rules[i].name);
	}
	view->rules = rules;
	view->n_rules = n;
	return STATUS_OK;
}

static enum status fill_finding(struct pythia *pythia, const struct finding *finding,
		struct snapshot *snapshot, struct steps_finding *out)
{
	const char **history =
			snapshot_alloc(snapshot, (finding->n_history + 1) * sizeof(*history));
	uint64_t end_ns = finding->rule == STOP_NONE ? pythia->now_ns : finding->ended_ns;

	if (!history) {
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < finding->n_history; i++) {
		history[i] = snapshot_text(snapshot, finding->history[i]);
	}
	*out = (struct steps_finding){.group_id = finding->group_id,
			.type = snapshot_text(snapshot, names_text(pythia->names, finding->type)),
			.path = path_of(&snapshot->groups, finding->group_id),
			.rule = finding->rule,
			.change = finding->change,
			.no_normal = finding->no_normal,
			.outweighed = finding->outweighed,
			.where = snapshot_text(snapshot, finding->where ? finding->where : ""),
			.host = snapshot_text(snapshot, finding->host ? finding->host : ""),
			.process = snapshot_text(
					snapshot, finding->process ? finding->process : ""),
			.phi = finding->phi,
			.phi_low = finding->phi_low,
			.phi_high = finding->phi_high,
			.requests = finding->requests,
			.n_steps = finding->n_steps,
			.seconds = (double)(end_ns - finding->started_ns) * 1e-9,
			.n_history = finding->n_history,
			.history = history};
	return finding_fill_evidence(pythia, finding, snapshot, out);
}

/* The finding at a place among what has changed; NULL: none. */
static const struct finding *changed_at(const struct pythia *pythia, uint32_t place)
{
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		if (pythia->locating.findings[i].change == place) {
			return &pythia->locating.findings[i];
		}
	}
	return NULL;
}

/* Requests that began to fail, what has changed since the baseline, then verdicts, then what is
 * searched, then what names nothing beside it, then what is healthy; each in the order of finding.
 * What was asked for comes last. */
#define RANKS         4u
#define CHANGE_PLACES 64u /* of changes: CHANGE_MAX_ROWS */
static uint32_t rank_of(const struct finding *finding)
{
	return finding->rule == STOP_HEALTHY ? 3
	       : finding->outweighed         ? 2
	       : finding->rule == STOP_NONE  ? 1
					     : 0;
}

static enum status fill_findings(struct pythia *pythia, struct snapshot *snapshot)
{
	struct steps_view *view = &snapshot->steps;
	struct steps_finding *out = snapshot_alloc(snapshot,
			(pythia->locating.n_findings + pythia->failing.n + EXPLAINING_MAX + 1) *
					sizeof(*out));
	enum status failed = STATUS_OK;

	if (!out) {
		return STATUS_NO_MEMORY;
	}
	failed = failures_fill(pythia, false, STOP_FAILS, snapshot, out, &view->n_findings);
	if (failed != STATUS_OK) {
		return failed;
	}
	for (uint32_t place = 1; place <= CHANGE_PLACES; place++) {
		const struct finding *finding = changed_at(pythia, place);
		enum status status = finding ? fill_finding(pythia, finding, snapshot,
							       &out[view->n_findings++])
					     : STATUS_OK;

		if (status != STATUS_OK) {
			return status;
		}
	}
	for (uint32_t rank = 0; rank < RANKS && failed == STATUS_OK; rank++) {
		if (rank == 1) { /* no verdict on a request */
			failed = failures_fill(
					pythia, true, STOP_FAILS, snapshot, out, &view->n_findings);
		}
		for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
			enum status status;

			if (rank_of(&pythia->locating.findings[i]) != rank ||
					pythia->locating.findings[i].change) {
				continue;
			}
			status = fill_finding(pythia, &pythia->locating.findings[i], snapshot,
					&out[view->n_findings++]);
			if (status != STATUS_OK) {
				return status;
			}
		}
	}
	for (int call = 0; call < 2 && failed == STATUS_OK; call++) {
		failed = failures_fill(
				pythia, call, STOP_HEALTHY, snapshot, out, &view->n_findings);
	}
	view->findings = out;
	if (failed != STATUS_OK) {
		return failed;
	}
	return evidence_fill_asked(pythia, snapshot, out, &view->n_findings);
}

enum status pythia_fill(struct pythia *pythia, struct snapshot *snapshot)
{
	struct steps_view *view = &snapshot->steps;
	enum status status;

	view->mode = pythia->mode;
	view->strategy = pythia->planning.strategy->name;
	view->budget = pythia->planning.budget;
	view->spent = cost_spent(pythia);
	view->n_flagged = pythia->n_flagged;
	view->lacks = snapshot_text(snapshot, pythia->lacks);
	for (uint32_t i = 0; i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];

		/* What a trace declares, but neither fires nor is offered, is no point to speak of.
		 */
		if (!point->offered && !point->seen_ns) {
			continue;
		}
		view->known++;
		view->skeleton += point->skeleton;
		view->enabled += point->ours && !point->skeleton;
		view->ever_enabled += point->ever;
	}
	status = fill_steps(pythia, snapshot);
	status = status == STATUS_OK ? fill_rules(pythia, snapshot) : status;
	return status == STATUS_OK ? fill_findings(pythia, snapshot) : status;
}

/* --- marks of the tree ----------------------------------------------------------------------- */

static bool is_proposed(struct pythia *pythia, uint32_t point)
{
	const struct step *step = steps_proposed(&pythia->steps);

	for (uint32_t i = 0; step && i < step->n_parts; i++) {
		if (step->parts[i].point == point && step->parts[i].enable &&
				!step->parts[i].left_out) {
			return true;
		}
	}
	return false;
}

struct marking {
	struct pythia *pythia;
	struct snapshot *snapshot;
	const struct tree_view *tree;
	struct tree_row *rows;
	uint32_t n, room;
};

/* Where a row stands in the space, below the node of the row above. */
static uint32_t node_of(const struct pythia *pythia, const struct tree_row *row, uint32_t above)
{
	uint32_t point;

	if (above == SPACE_NONE || row->mark == TREE_NO_POINT) {
		return SPACE_NONE;
	}
	point = points_find(&pythia->points,
			names_add(pythia->names, row->provider, strlen(row->provider)),
			names_add(pythia->names, row->name, strlen(row->name)));
	return point == POINT_NONE ? SPACE_NONE : space_find(&pythia->space, above, point);
}

/* The points directly below a node that nobody records. */
static void put_off(struct marking *marking, uint32_t above, uint32_t parent, uint32_t depth)
{
	struct pythia *pythia = marking->pythia;
	uint32_t node = above == SPACE_NONE ? SPACE_NONE : pythia->space.nodes[above].first;

	for (; node != SPACE_NONE && marking->n < marking->room;
			node = pythia->space.nodes[node].next) {
		const struct space_node *at = &pythia->space.nodes[node];
		const struct point *point = &pythia->points.items[at->point];

		if (!point_off(point) || (point->recorded | point->ours)) {
			continue;
		}
		marking->rows[marking->n++] = (struct tree_row){
				.context = TREE_OFF_CONTEXT | at->point,
				.parent = parent,
				.depth = depth,
				.name = snapshot_text(marking->snapshot,
						names_text(pythia->names, point->name)),
				.provider = snapshot_text(marking->snapshot,
						names_text(pythia->names, point->provider)),
				.mark = is_proposed(pythia, at->point) ? TREE_PROPOSED
					: at->requests                 ? TREE_OFF
								       : TREE_NEVER_SEEN,
		};
	}
}

/* A row with all that is below it. The tree's depth is bounded, hence the recursion. */
static void put_row(struct marking *marking, uint32_t from, uint32_t parent, uint32_t above)
{
	const struct tree_row *row = &marking->tree->rows[from];
	uint32_t at = marking->n++, node = node_of(marking->pythia, row, above);

	marking->rows[at] = *row;
	marking->rows[at].parent = parent;
	for (uint32_t i = from + 1; i <= from + row->n_below;
			i += marking->tree->rows[i].n_below + 1) {
		put_row(marking, i, at, node);
	}
	put_off(marking, node, at, row->depth + 1);
	marking->rows[at].n_below = marking->n - at - 1;
}

enum status pythia_mark_tree(struct pythia *pythia, struct snapshot *snapshot)
{
	struct tree_view *tree = &snapshot->tree;
	struct marking marking = {.pythia = pythia,
			.snapshot = snapshot,
			.tree = tree,
			.room = tree->n + MAX_OFF_ROWS};
	uint32_t root;

	if (tree->all || tree->n == 0) {
		return STATUS_OK;
	}
	root = space_type(&pythia->space, names_add(pythia->names, tree->type, strlen(tree->type)));
	if (root == NUMBER_NONE) {
		return STATUS_OK;
	}
	marking.rows = snapshot_alloc(snapshot, (marking.room + tree->n) * sizeof(*marking.rows));
	if (!marking.rows) {
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < tree->n; i += tree->rows[i].n_below + 1) {
		put_row(&marking, i, UINT32_MAX, root);
	}
	tree->rows = marking.rows;
	tree->n = marking.n;
	return STATUS_OK;
}
