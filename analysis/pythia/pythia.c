/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/internal.h"

#define EPOCH_NS       (10 * NS_PER_S) /* and that many requests: enough to decide on */
#define EPOCH_REQUESTS 200u
#define LONG_EPOCH_NS  (30 * NS_PER_S) /* or that long with fewer */
#define FEW_REQUESTS   50u
#define CALM_LOOKS     2u   /* healthy: nothing varies in so many windows */
#define BORING_PHI     0.02 /* upper bound of what a boring point's time holds */
#define BORING_HIDES   0.1  /* shares of opposite sign that merging would hide */
#define BORING_LOOKS   3u
#define UNSEEN_NS      (360 * NS_PER_S)
#define BAR_EPOCHS     5u
#define STALE_NS       (60 * NS_PER_S) /* a proposal nobody decided on */
#define MEDIAN_MOVES   0.02
#define MEDIAN_ERRORS  2.6
#define BURSTS         4.0 /* requests that follow each other are alike: so many count as one */
#define CLEAR_PHI      0.3 /* a lower bound that needs no more requests */
#define SILENCE_NS     (5 * NS_PER_S) /* without a skeleton, before one is proposed */
#define OVERSHOOT      2.0
#define TITLE_BYTES    256

struct pythia *pythia_create(struct names *names)
{
	struct pythia *pythia = calloc(1, sizeof(*pythia));
	uint32_t n;

	if (!pythia) {
		return NULL;
	}
	pythia->names = names;
	points_init(&pythia->points, names);
	space_init(&pythia->space);
	pythia->budget = STEP_USUAL_BUDGET;
	pythia->strategy = strategies(&n);
	return pythia;
}

void pythia_destroy(struct pythia *pythia)
{
	if (!pythia) {
		return;
	}
	for (uint32_t i = 0; i < pythia->n_findings; i++) {
		finding_release(&pythia->findings[i]);
	}
	points_release(&pythia->points);
	space_release(&pythia->space);
	steps_release(&pythia->steps);
	free(pythia->norms);
	free(pythia->rates);
	free(pythia->candidates);
	free(pythia->chosen);
	free(pythia->nodes);
	free(pythia->doubles);
	free(pythia);
}

void pythia_set_mode(struct pythia *pythia, enum step_mode mode, uint64_t now_ns)
{
	struct step *step = steps_proposed(&pythia->steps);
	char error[128];

	pythia->mode = mode;
	if (mode == MODE_AUTOPILOT && step) {
		step_decide(step, STEP_APPROVE, STEP_BY_AUTOPILOT, now_ns, error, sizeof(error));
	}
}

enum step_mode pythia_mode(const struct pythia *pythia)
{
	return pythia->mode;
}

const struct step_budget *pythia_budget(const struct pythia *pythia)
{
	return &pythia->budget;
}

void pythia_set_budget(struct pythia *pythia, const struct step_budget *budget)
{
	pythia->budget = *budget;
	if (pythia->budget.points == 0) {
		pythia->budget.points = STEP_USUAL_BUDGET.points;
	}
}

enum status pythia_set_strategy(struct pythia *pythia, const char *name)
{
	const struct strategy *strategy = strategy_find(name);

	if (!strategy) {
		return STATUS_NOT_FOUND;
	}
	pythia->strategy = strategy;
	return STATUS_OK;
}

/* --- what is offered, and recorded ----------------------------------------------------------- */

static uint32_t intern(struct pythia *pythia, const char *text)
{
	return names_add(pythia->names, text, strlen(text));
}

/* The point of an event; POINT_NONE: a bound, or out of memory. */
static uint32_t point_of(struct pythia *pythia, const struct pythia_offer *event)
{
	struct points *points = &pythia->points;
	uint32_t at = points_add(points, intern(pythia, event->provider),
			intern(pythia, event->span), event->kernel);

	if (at != POINT_NONE) {
		points_set_event(points, at, intern(pythia, event->event),
				event->role == OFFER_EXIT);
		points->items[at].skeleton |= event->skeleton;
	}
	return at;
}

void pythia_know(struct pythia *pythia, const struct pythia_offer *event)
{
	point_of(pythia, event);
}

enum status pythia_offer(struct pythia *pythia, const char *host, const struct pythia_offer *offers,
		uint32_t n)
{
	struct points *points = &pythia->points;
	uint64_t bit = points_host(points, host);

	if (!bit) {
		return STATUS_NOT_FOUND;
	}
	pythia->offers += n > 0;
	for (uint32_t i = 0; i < points->n; i++) {
		points->items[i].offered &= ~bit;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = point_of(pythia, &offers[i]);

		if (at == POINT_NONE) {
			return STATUS_NO_MEMORY;
		}
		if (offers[i].role != OFFER_EXIT) {
			points->items[at].offered |= bit;
		}
	}
	return STATUS_OK;
}

void pythia_recorded(struct pythia *pythia, const char *event, const char *const *hosts, uint32_t n)
{
	uint32_t at = points_of_event(&pythia->points, intern(pythia, event));

	if (at == POINT_NONE) {
		return;
	}
	pythia->points.items[at].seen_ns = pythia->now_ns;
	for (uint32_t i = 0; i < n; i++) {
		pythia->points.items[at].recorded |= points_host(&pythia->points, hosts[i]);
	}
}

/* --- steps ----------------------------------------------------------------------------------- */

struct step *pythia_add_step(struct pythia *pythia, enum step_kind kind,
		const struct step_part *parts, uint32_t n, uint32_t group_id, const char *title,
		const char *why)
{
	struct step *step = steps_add(&pythia->steps, kind, parts, n, title, why, pythia->now_ns);
	char error[128];

	if (!step) {
		return NULL;
	}
	step->group_id = group_id;
	step->predicted = cost_of_parts(pythia, parts, n);
	if (pythia->mode == MODE_AUTOPILOT) {
		step_decide(step, STEP_APPROVE, STEP_BY_AUTOPILOT, pythia->now_ns, error,
				sizeof(error));
	}
	return step;
}

/* All points that pass, as parts of a step. NULL: none, or out of memory. */
static struct step_part *gather(const struct pythia *pythia,
		bool (*pass)(const struct pythia *pythia, const struct point *point), bool enable,
		uint32_t *n)
{
	struct step_part *parts = calloc(pythia->points.n + 1, sizeof(*parts));

	*n = 0;
	for (uint32_t i = 0; parts && i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];

		if (pass(pythia, point)) {
			parts[(*n)++] = (struct step_part){.point = i,
					.hosts = enable ? point_off(point) : point->ours,
					.enable = enable};
		}
	}
	if (*n == 0) {
		free(parts);
		parts = NULL;
	}
	return parts;
}

static bool is_skeleton_off(const struct pythia *pythia, const struct point *point)
{
	(void)pythia;
	return point->skeleton && point->entry && point_off(point);
}

static bool is_off(const struct pythia *pythia, const struct point *point)
{
	(void)pythia;
	return point->entry && !point->kernel && point_off(point);
}

static bool is_boring(const struct pythia *pythia, const struct point *point)
{
	if (!point->ours || point->skeleton || point->pinned) {
		return false;
	}
	return point->boring >= BORING_LOOKS ||
	       (pythia->now_ns > UNSEEN_NS + point->enabled_ns &&
			       pythia->now_ns > UNSEEN_NS + point->seen_ns);
}

uint32_t pythia_gather_boring(const struct pythia *pythia, struct step_part *parts)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];

		if (is_boring(pythia, point)) {
			parts[n++] = (struct step_part){
					.point = i, .hosts = point->ours, .enable = false};
		}
	}
	return n;
}

static bool is_ours(const struct pythia *pythia, const struct point *point)
{
	(void)pythia;
	return point->ours && !point->skeleton && !point->pinned;
}

static uint32_t count_skeleton_on(const struct pythia *pythia)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];

		n += point->skeleton && (point->recorded | point->ours);
	}
	return n;
}

/* Nothing that requests are known by is recorded: that comes first. */
static bool propose_skeleton(struct pythia *pythia)
{
	struct step_part *parts;
	char title[TITLE_BYTES];
	struct step *step;
	uint32_t n;

	if (count_skeleton_on(pythia) || pythia->now_ns < pythia->first_ns + SILENCE_NS) {
		return false;
	}
	parts = gather(pythia, is_skeleton_off, true, &n);
	if (!parts) {
		return false;
	}
	snprintf(title, sizeof(title), "skeleton: %u points, %u hosts", n, pythia->points.n_hosts);
	step = pythia_add_step(pythia, STEP_SKELETON, parts, n, 0, title, "start");
	free(parts);
	return step != NULL;
}

/* By how often the points that are recorded fire, since nothing else is known yet. */
static double predict_learning(
		const struct pythia *pythia, const struct groups_view *groups, uint32_t n)
{
	double spans = 0;

	for (uint32_t i = 0; i < groups->n; i++) {
		spans += groups->rows[i].rate_per_s;
	}
	(void)pythia;
	return groups->n ? 2 * n * spans / groups->n : -1;
}

/* Where points stand is learned once, by having all of them on for a short while. */
static bool propose_learning(struct pythia *pythia, const struct groups_view *groups)
{
	char title[TITLE_BYTES];
	struct step_part *parts;
	struct step *step;
	double rate;
	uint32_t n, enough = 0;

	for (uint32_t i = 0; i < groups->n; i++) {
		enough += groups->rows[i].count >= FEW_REQUESTS;
	}
	if (pythia->space.learned || pythia->learn_tried || !enough) {
		return false;
	}
	parts = gather(pythia, is_off, true, &n);
	if (!parts) {
		return false;
	}
	rate = predict_learning(pythia, groups, n);
	if (pythia->budget.learn_events_per_s > 0 && rate > pythia->budget.learn_events_per_s) {
		snprintf(pythia->lacks, sizeof(pythia->lacks),
				"not learned: about %.0f events/s, more than :budget learn allows; "
				"give --learn FILE",
				rate);
		free(parts);
		return false;
	}
	snprintf(title, sizeof(title), "learn: %u points for 10 s", n);
	step = pythia_add_step(pythia, STEP_LEARN, parts, n, 0, title,
			"where points stand in requests, and what they cost, is not known");
	free(parts);
	if (step && rate >= 0) {
		step->predicted.events_per_s = rate;
	}
	return step != NULL;
}

/* Everything added goes once nothing is searched, or points have told nothing for long. */
static bool propose_disabling(struct pythia *pythia, bool all, uint32_t group_id, const char *why)
{
	char title[TITLE_BYTES];
	struct step_part *parts;
	struct step *step;
	uint32_t n;

	parts = gather(pythia, all ? is_ours : is_boring, false, &n);
	if (!parts) {
		return false;
	}
	snprintf(title, sizeof(title), "-%u points", n);
	step = pythia_add_step(pythia, STEP_DISABLE, parts, n, group_id, title, why);
	free(parts);
	return step != NULL;
}

bool pythia_can_act(const struct pythia *pythia)
{
	return pythia->offers > 0;
}

/* --- looking --------------------------------------------------------------------------------- */

static bool reserve_nodes(struct pythia *pythia, uint32_t n)
{
	uint32_t *nodes;

	if (n <= pythia->nodes_room) {
		return true;
	}
	nodes = realloc(pythia->nodes, n * sizeof(*nodes));
	if (!nodes) {
		return false;
	}
	pythia->nodes = nodes;
	pythia->nodes_room = n;
	return true;
}

static const struct groups_row *row_of(const struct groups_view *groups, uint32_t group_id)
{
	for (uint32_t i = 0; i < groups->n; i++) {
		if (groups->rows[i].id == group_id) {
			return &groups->rows[i];
		}
	}
	return NULL;
}

uint32_t pythia_wants(const struct pythia *pythia, const struct groups_view *groups, uint32_t *ids)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < groups->n && n < PYTHIA_DETAILS; i++) {
		const struct groups_row *row = &groups->rows[i];

		if (row->detection && row->missing == 0 && !norms_hold(pythia, row)) {
			ids[n++] = row->id;
		}
	}
	return n;
}

static uint64_t age_of_epoch(const struct pythia_look *look)
{
	return look->now_ns > look->epoch_ns ? look->now_ns - look->epoch_ns : 0;
}

/* One place surely holds a good part: more requests would tell no other story. */
static bool is_clear(const struct tree_view *tree)
{
	for (uint32_t i = 0; i < tree->n && tree->located; i++) {
		if (tree->rows[i].phi_low >= CLEAR_PHI) {
			return true;
		}
	}
	return false;
}

/* Enough of a group was seen since the last step to decide. */
static bool is_ripe(const struct pythia_look *look, const struct pythia_detail *detail)
{
	uint64_t age_ns = age_of_epoch(look), count = detail->row->count;

	return detail->tree->located && age_ns >= EPOCH_NS && count >= FEW_REQUESTS &&
	       (count >= EPOCH_REQUESTS || age_ns >= LONG_EPOCH_NS || is_clear(detail->tree));
}

/* On the way to the edge that is searched, or that was the answer. */
static bool is_on_path(const struct pythia *pythia, uint32_t point)
{
	for (uint32_t i = 0; i < pythia->n_findings; i++) {
		uint32_t at = pythia->findings[i].edge;

		for (; at != SPACE_NONE; at = pythia->space.nodes[at].parent) {
			if (pythia->space.nodes[at].point == point) {
				return true;
			}
		}
	}
	return false;
}

/* A row tells nothing: neither it nor what merging it into its parent would hide. */
static bool row_is_boring(const struct tree_view *tree, const struct tree_row *row)
{
	const struct tree_row *parent = row->parent == UINT32_MAX ? NULL : &tree->rows[row->parent];

	if (row->phi_high >= BORING_PHI) {
		return false;
	}
	return !parent || row->phi * parent->phi >= 0 ||
	       (row->phi > -BORING_HIDES && parent->phi < BORING_HIDES);
}

static void judge_boring(struct pythia *pythia, const struct pythia_look *look)
{
	if (look->n_details == 0 || pythia->boring_epoch == look->epoch + 1 ||
			!is_ripe(look, &look->details[0])) {
		return;
	}
	pythia->boring_epoch = look->epoch + 1; /* 0 is none */
	for (uint32_t d = 0; d < look->n_details; d++) {
		const struct tree_view *tree = look->details[d].tree;
		struct finding *finding = finding_of(pythia, look->details[d].row->id, false, 0);

		for (uint32_t i = 0; i < tree->n && tree->located; i++) {
			const struct tree_row *row = &tree->rows[i];
			uint32_t at = points_find(&pythia->points, intern(pythia, row->provider),
					intern(pythia, row->name));

			if (at == POINT_NONE || !pythia->points.items[at].ours) {
				continue;
			}
			if (row_is_boring(tree, row) && !is_on_path(pythia, at)) {
				pythia->points.items[at].boring++;
				if (finding) {
					finding_rule_out(finding, at);
				}
			} else {
				pythia->points.items[at].boring = 0;
			}
		}
	}
}

/* Groups that calmed down: their search is over, and what it enabled goes. */
static void judge_calm(struct pythia *pythia, const struct pythia_look *look)
{
	for (uint32_t i = 0; i < pythia->n_findings; i++) {
		struct finding *finding = &pythia->findings[i];
		const struct groups_row *row = row_of(look->recent, finding->group_id);

		if (finding->rule == STOP_HEALTHY || !row || row->missing || row->lossy ||
				pythia->now_ns < finding->calm_ns + EPOCH_NS) {
			continue;
		}
		finding->calm_ns = pythia->now_ns;
		finding->calm = row->detection && !norms_hold(pythia, row) ? 0 : finding->calm + 1;
		if (finding->calm < CALM_LOOKS) {
			continue;
		}
		finding_note(finding, "nothing varies any more");
		finding->rule = STOP_HEALTHY;
		finding->ended_ns = pythia->now_ns;
		finding->edge = SPACE_NONE;
	}
}

static bool is_searching(const struct pythia *pythia)
{
	for (uint32_t i = 0; i < pythia->n_findings; i++) {
		if (pythia->findings[i].rule == STOP_NONE) {
			return true;
		}
	}
	return false;
}

static bool all_calm(const struct pythia *pythia)
{
	for (uint32_t i = 0; i < pythia->n_findings; i++) {
		if (pythia->findings[i].rule != STOP_HEALTHY) {
			return false;
		}
	}
	return pythia->n_findings > 0;
}

/* A group that varies again is searched again. */
static void reopen(struct pythia *pythia, struct finding *finding)
{
	if (finding->rule == STOP_HEALTHY) {
		finding_note(finding, "it varies again");
		finding->rule = STOP_NONE;
		finding->calm = finding->fruitless = finding->n_given_up = 0;
		finding->judged_epoch = UINT32_MAX;
		finding->started_ns = pythia->now_ns;
		finding->told_words = 0; /* what told nothing then may tell now */
	}
}

static void search_groups(struct pythia *pythia, const struct pythia_look *look)
{
	for (uint32_t d = 0; d < look->n_details; d++) {
		const struct pythia_detail *detail = &look->details[d];
		uint32_t type = intern(pythia, detail->row->type);
		struct finding *finding;

		finding = finding_of(pythia, detail->row->id, false, type);
		if (finding && finding->rule != STOP_NONE && finding->rule != STOP_HEALTHY) {
			continue;
		}
		if (!is_ripe(look, detail)) {
			if (age_of_epoch(look) < PATIENCE_NS) {
				return; /* the worst first: a step for another would begin anew */
			}
			continue;
		}
		finding = finding_of(pythia, detail->row->id, true, type);
		if (!finding) {
			continue;
		}
		reopen(pythia, finding);
		if (finding->rule != STOP_NONE || finding->judged_epoch == look->epoch ||
				!reserve_nodes(pythia, detail->tree->n)) {
			continue;
		}
		space_observe(&pythia->space, &pythia->points, type, detail->tree, false,
				pythia->nodes);
		finding->judged_epoch = look->epoch;
		finding_search(pythia, finding, detail, look);
		if (steps_proposed(&pythia->steps) || steps_busy(&pythia->steps)) {
			return; /* one step at a time */
		}
		if (finding->judged_epoch == UINT32_MAX) {
			return; /* the worst first, here too */
		}
	}
}

static bool is_decided_on(struct pythia *pythia)
{
	struct step *step = steps_proposed(&pythia->steps);

	if (!step) {
		return !steps_busy(&pythia->steps);
	}
	if (step->by != STEP_BY_PERSON && pythia->now_ns > step->proposed_ns + STALE_NS &&
			step->kind != STEP_LEARN && step->kind != STEP_SKELETON) {
		struct finding *finding = finding_of(pythia, step->group_id, false, 0);

		step->state = STEP_REJECTED;
		step->ended_ns = pythia->now_ns;
		step_say(step, "withdrawn: nobody decided for a minute; looked at anew");
		if (finding) {
			finding->judged_epoch = UINT32_MAX;
		}
		return true;
	}
	return false;
}

static void say_lacks(struct pythia *pythia)
{
	uint32_t offered = 0;

	pythia->lacks[0] = '\0';
	for (uint32_t i = 0; i < pythia->points.n; i++) {
		offered += pythia->points.items[i].offered != 0;
	}
	if (!offered) {
		snprintf(pythia->lacks, sizeof(pythia->lacks),
				"no host offers tracepoints: is control on, and are applications "
				"running?");
	} else if (!pythia->space.learned) {
		snprintf(pythia->lacks, sizeof(pythia->lacks),
				"where points stand is not known: it goes by names until they are "
				"learned");
	} else if (pythia->points.left_out) {
		snprintf(pythia->lacks, sizeof(pythia->lacks),
				"only %u hosts and %u points are taken up", POINTS_MAX_HOSTS,
				POINTS_MAX);
	}
}

void pythia_look(struct pythia *pythia, const struct pythia_look *look)
{
	pythia->first_ns = pythia->first_ns ? pythia->first_ns : look->now_ns;
	pythia->now_ns = look->now_ns;
	pythia->epoch = look->epoch;
	say_lacks(pythia);
	cost_refresh(pythia, look->groups);
	judge_calm(pythia, look);
	judge_boring(pythia, look);
	if (!is_decided_on(pythia) || propose_skeleton(pythia) ||
			propose_learning(pythia, look->groups)) {
		return;
	}
	search_groups(pythia, look);
	if (steps_proposed(&pythia->steps) || steps_busy(&pythia->steps)) {
		return;
	}
	if (all_calm(pythia)) {
		propose_disabling(pythia, true, 0, "nothing varies any more");
	} else if (!is_searching(pythia)) {
		propose_disabling(pythia, false, 0,
				"they hold less than 2% of the variance, or are never seen");
	}
}

/* --- learning -------------------------------------------------------------------------------- */

bool pythia_is_learning(const struct pythia *pythia, uint32_t step)
{
	for (uint32_t i = 0; i < pythia->steps.n; i++) {
		if (pythia->steps.items[i].id == step) {
			return pythia->steps.items[i].kind == STEP_LEARN &&
			       pythia->steps.items[i].state == STEP_WATCHED;
		}
	}
	return false;
}

void pythia_learned(struct pythia *pythia, const struct pythia_look *look)
{
	for (uint32_t d = 0; d < look->n_details; d++) {
		const struct pythia_detail *detail = &look->details[d];

		if (reserve_nodes(pythia, detail->tree->n)) {
			space_observe(&pythia->space, &pythia->points,
					intern(pythia, detail->row->type), detail->tree, true,
					pythia->nodes);
		}
	}
	for (uint32_t i = 0; i < look->groups->n; i++) {
		norms_learn(pythia, &look->groups->rows[i]);
	}
	pythia->space.learned = true;
}

/* --- decisions and outcomes ------------------------------------------------------------------ */

/* What a person rejected, or what failed, is left alone for a while. */
static void bar_points(struct pythia *pythia, const struct step *step)
{
	for (uint32_t i = 0; i < step->n_parts; i++) {
		pythia->points.items[step->parts[i].point].barred = pythia->epoch + BAR_EPOCHS;
	}
}

enum status pythia_decide(struct pythia *pythia, uint32_t id, enum step_decision decision,
		enum step_by by, uint64_t now_ns, char *error, size_t size)
{
	struct step *step = steps_find(&pythia->steps, id);
	struct finding *finding;
	enum status status;

	if (!step) {
		snprintf(error, size, "there is no step %u (any more)", id);
		return STATUS_NOT_FOUND;
	}
	if (decision == STEP_APPROVE && pythia->mode == MODE_OBSERVE) {
		snprintf(error, size,
				"the mode is observe: nothing is changed; key m changes the mode");
		return STATUS_INVALID;
	}
	status = step_decide(step, decision, by, now_ns, error, size);
	if (status == STATUS_OK && decision == STEP_REJECT) {
		bar_points(pythia, step);
		pythia->learn_tried |= step->kind == STEP_LEARN;
		finding = finding_of(pythia, step->group_id, false, 0);
		if (finding) {
			finding_note(finding, "rejected: %s", step->title);
			finding->judged_epoch = UINT32_MAX;
		}
	}
	return status;
}

enum status pythia_propose_point(struct pythia *pythia, uint32_t at, bool enable, uint64_t now_ns,
		char *error, size_t size)
{
	struct point *point = at < pythia->points.n ? &pythia->points.items[at] : NULL;
	struct step_part part = {.point = at, .enable = enable};
	struct step *step = steps_proposed(&pythia->steps);
	const char *name = point ? names_text(pythia->names, point->name) : "this";
	char title[TITLE_BYTES];

	part.hosts = !point ? 0 : enable ? point_off(point) : point->ours;
	if (!part.hosts || !point->entry) {
		snprintf(error, size,
				enable ? "%s: no host offers it, or it is recorded everywhere"
				       : "%s: no step records it; only what steps enabled is "
					 "disabled",
				name);
		return STATUS_INVALID;
	}
	if (step) {
		step->state = STEP_REJECTED;
		step->ended_ns = now_ns;
		step_say(step, "withdrawn: another was asked for by hand");
	}
	pythia->now_ns = now_ns;
	snprintf(title, sizeof(title), "%s %s", enable ? "+" : "-", name);
	step = steps_add(&pythia->steps, enable ? STEP_ENABLE : STEP_DISABLE, &part, 1, title,
			"by hand", now_ns);
	if (!step) {
		snprintf(error, size, "out of memory");
		return STATUS_NO_MEMORY;
	}
	step->by = STEP_BY_PERSON;
	step->predicted = cost_of_parts(pythia, &part, 1);
	point->pinned = enable;
	return STATUS_OK;
}

enum status pythia_propose(struct pythia *pythia, const char *provider, const char *name,
		bool enable, uint64_t now_ns, char *error, size_t size)
{
	return pythia_propose_point(pythia,
			points_find(&pythia->points, intern(pythia, provider),
					intern(pythia, name)),
			enable, now_ns, error, size);
}

void pythia_undo_all(struct pythia *pythia, enum step_by by, uint64_t now_ns)
{
	for (uint32_t i = 0; i < pythia->steps.n; i++) {
		struct step *step = &pythia->steps.items[i];

		/* To undo a disabling would be to enable. */
		if (step->kind != STEP_DISABLE || step->state == STEP_PROPOSED ||
				step->state == STEP_APPROVED) {
			step_undo(step, by, now_ns);
		}
	}
	pythia->mode = MODE_OBSERVE;
}

const struct step_order *pythia_next_order(struct pythia *pythia)
{
	return steps_next_order(&pythia->steps, &pythia->points);
}

bool pythia_order_done(struct pythia *pythia, const struct step_outcome *outcome, uint64_t now_ns)
{
	struct step *step = steps_order_done(&pythia->steps, &pythia->points, outcome, now_ns);
	struct finding *finding;

	if (!step) {
		return false;
	}
	finding = finding_of(pythia, step->group_id, false, 0);
	if (finding && outcome->undo) {
		finding_note(finding, "step %u undone: %s", step->id, step->effect);
	} else if (finding) {
		finding_note(finding, "step %u: %s", step->id, step->title);
	}
	if (!outcome->ok) {
		bar_points(pythia, step);
	}
	return true;
}

uint32_t pythia_group_of_step(struct pythia *pythia, uint32_t id)
{
	const struct step *step = steps_find(&pythia->steps, id);

	return step ? step->group_id : 0;
}

/* The smallest latency that a share of the histogram does not exceed; bins are 16 to the octave. */
static double quantile(const struct group_view *group, double share)
{
	uint64_t count = 0, seen = 0;
	uint32_t bin = 0;

	for (uint32_t i = 0; i < group->histogram_bins; i++) {
		count += group->histogram[i];
	}
	for (; bin + 1 < group->histogram_bins; bin++) {
		seen += group->histogram[bin];
		if ((double)seen >= share * (double)count) {
			break;
		}
	}
	return exp2(((double)group->histogram_low + bin + 0.5) / 16);
}

void median_bounds(const struct group_view *group, double *low_ns, double *high_ns)
{
	double n = (double)group->row.count / BURSTS;
	double error = n > 0 ? MEDIAN_ERRORS * 0.5 / sqrt(n) : 1;

	*low_ns = *high_ns = 0;
	if (group->row.count >= FEW_REQUESTS && group->histogram_bins && error < 0.5) {
		*low_ns = quantile(group, 0.5 - error);
		*high_ns = quantile(group, 0.5 + error);
	}
}

/* The median has surely risen: tracing itself slows the requests. */
static bool median_rose(const struct step *step, const struct group_view *group, double *by)
{
	double low_ns, high_ns;

	if (!group || step->median_high_ns <= 0) {
		return false;
	}
	median_bounds(group, &low_ns, &high_ns);
	*by = low_ns / step->median_high_ns - 1;
	return *by > MEDIAN_MOVES;
}

static void keep_or_undo(struct pythia *pythia, struct step *step, const struct step_watch *watch,
		const struct group_view *group, uint64_t now_ns)
{
	double limit = step->predicted.events_per_s * OVERSHOOT + cost_spent(pythia).events_per_s;
	double moved = 0;

	if (watch->discarded) {
		step_say(step, "undone by itself: the tracer lost %llu events",
				(unsigned long long)watch->discarded);
	} else if (step->predicted.events_per_s >= 0 && step->kind == STEP_ENABLE &&
			watch->actual.events_per_s > limit && limit > 0) {
		step_say(step,
				"undone by itself: %.0f events/s, more than twice the %.0f "
				"predicted",
				watch->actual.events_per_s, step->predicted.events_per_s);
	} else if (pythia->budget.events_per_s > 0 && step->kind == STEP_ENABLE &&
			watch->actual.events_per_s > pythia->budget.events_per_s) {
		step_say(step, "undone by itself: %.0f events/s are over the budget of %.0f",
				watch->actual.events_per_s, pythia->budget.events_per_s);
	} else if (step->kind == STEP_ENABLE && median_rose(step, group, &moved)) {
		step_say(step, "undone by itself: the median rose by at least %.0f%%", 100 * moved);
	} else {
		step->state = STEP_KEPT;
		step_say(step, "%.0f events/s", watch->actual.events_per_s);
		return;
	}
	bar_points(pythia, step);
	step_undo(step, STEP_BY_WATCH, now_ns);
}

void pythia_watch_over(struct pythia *pythia, const struct step_watch *watch,
		const struct group_view *group, uint64_t now_ns)
{
	struct step *step = steps_find(&pythia->steps, watch->step);

	if (!step || step->state != STEP_WATCHED) {
		return;
	}
	step->actual = watch->actual;
	if (step->kind == STEP_LEARN) {
		pythia->learn_tried = true;
		step_say(step, "%u places of %u points learned", pythia->space.n, pythia->points.n);
		step_undo(step, step->by, now_ns);
	} else {
		keep_or_undo(pythia, step, watch, group, now_ns);
	}
}
