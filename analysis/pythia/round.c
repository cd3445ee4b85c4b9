/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

bool pythia_wants_epoch(
		const struct pythia *pythia, const struct pythia_round *round, uint32_t group_id)
{
	const struct groups_row *epoch = row_of(round->groups, group_id),
				*window = row_of(round->recent, group_id);
	const struct finding *finding = finding_searched(pythia, group_id);
	bool fresh;

	if (!epoch || !window) {
		return true;
	}
	/* One odd request makes intervals wide for as long as it is in the epoch. */
	fresh = finding && finding->n_steps > 0 && pythia_age_of_epoch(round, epoch) < 2 * EPOCH_NS;
	return fresh || epoch->since_ns >= window->since_ns || window->missing > 0;
}

static bool has_large_excess(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	return norm && excess_is_large(norm);
}

static bool is_wanted(const struct pythia *pythia, const struct groups_row *row)
{
	return row && row->missing == 0 && !row->idle_wait &&
	       (row->detection || finding_searched(pythia, row->id) || norms_slowed(pythia, row) ||
			       has_large_excess(pythia, row)) &&
	       !norms_excuse(pythia, row);
}

/* Of its epoch, or of the window where that is newer. */
static const struct groups_row *wanted_row(const struct pythia *pythia,
		const struct pythia_round *round, const struct groups_row *epoch)
{
	const struct groups_row *window = row_of(round->recent, epoch->id);

	if (!pythia_wants_epoch(pythia, round, epoch->id) && is_wanted(pythia, window)) {
		return window;
	}
	return is_wanted(pythia, epoch) ? epoch : NULL;
}

/* A search that has made steps is gone on with; what has a verdict comes last. */
enum wish_rank { WISH_GOING, WISH_OPEN, WISH_ENDED };

struct wish {
	uint32_t id;
	enum wish_rank rank;
	double excess;
};

static enum wish_rank rank_of(const struct pythia *pythia, uint32_t group_id)
{
	const struct finding *finding = finding_find(pythia, group_id);

	return !finding || finding->rule == STOP_HEALTHY ? WISH_OPEN
	       : finding->rule != STOP_NONE              ? WISH_ENDED
	       : finding->n_steps > 0                    ? WISH_GOING
							 : WISH_OPEN;
}

static bool comes_before(const struct wish *a, const struct wish *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->excess > b->excess;
}

/* The first PYTHIA_DETAILS; of equal ones those that come first by the metric. */
static void add_wish(struct wish *wishes, uint32_t *n, const struct wish *wish)
{
	uint32_t at = *n;

	for (; at > 0 && comes_before(wish, &wishes[at - 1]); at--) {
		if (at < PYTHIA_DETAILS) {
			wishes[at] = wishes[at - 1];
		}
	}
	if (at < PYTHIA_DETAILS) {
		wishes[at] = *wish;
		*n += *n < PYTHIA_DETAILS;
	}
}

/* The largest excess of what is not searched yet, but may be soon. */
static double largest_to_come(const struct pythia *pythia, const struct pythia_round *round)
{
	double largest = 0;

	for (uint32_t i = 0; i < round->recent->n; i++) {
		const struct groups_row *row = &round->recent->rows[i];
		double excess = excess_may_grow_large(pythia, row) ? excess_of(pythia, row) : 0;

		if (excess > largest && rank_of(pythia, row->id) == WISH_OPEN) {
			largest = excess;
		}
	}
	return largest;
}

uint32_t pythia_wants(const struct pythia *pythia, const struct pythia_round *round, uint32_t *ids)
{
	struct wish wishes[PYTHIA_DETAILS];
	double to_come = largest_to_come(pythia, round);
	uint32_t n = 0;

	for (uint32_t i = 0; i < round->groups->n; i++) {
		const struct groups_row *row = wanted_row(pythia, round, &round->groups->rows[i]);
		struct wish wish;

		if (!row) {
			continue;
		}
		wish = (struct wish){row->id, rank_of(pythia, row->id), excess_of(pythia, row)};
		if (wish.rank != WISH_OPEN || OUTWEIGHS * wish.excess >= to_come) {
			add_wish(wishes, &n, &wish);
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		ids[i] = wishes[i].id;
	}
	return n;
}

/* On the way to the edge that is searched, or that was the answer. */
static bool is_on_path(const struct pythia *pythia, uint32_t point)
{
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		uint32_t at = pythia->locating.findings[i].edge;

		for (; at != SPACE_NONE; at = pythia->space.nodes[at].parent) {
			if (pythia->space.nodes[at].point == point) {
				return true;
			}
		}
	}
	return false;
}

/* A row tells nothing: neither it nor what merging it into its parent would hide. */
static bool row_is_uninformative(const struct tree_view *tree, const struct tree_row *row)
{
	const struct tree_row *parent = row->parent == UINT32_MAX ? NULL : &tree->rows[row->parent];

	if (row->phi_high >= UNINFORMATIVE_PHI) {
		return false;
	}
	return !parent || row->phi > -UNINFORMATIVE_PHI || row->phi * parent->phi >= 0 ||
	       (row->phi > -UNINFORMATIVE_HIDES && parent->phi < UNINFORMATIVE_HIDES);
}

/* What tells nothing itself may lead to what does. */
static bool leads_somewhere(const struct tree_view *tree, uint32_t at)
{
	for (uint32_t i = at + 1; i <= at + tree->rows[at].n_below; i++) {
		if (tree->rows[i].phi_high >= UNINFORMATIVE_PHI) {
			return true;
		}
	}
	return false;
}

static void judge_uninformative(struct pythia *pythia, const struct pythia_round *round)
{
	for (uint32_t d = 0; d < round->n_details; d++) {
		const struct groups_row *group = round->details[d].row;
		const struct tree_view *tree = round->details[d].tree;
		struct finding *finding = finding_of(pythia, group->id, false, 0);

		if (!finding || finding->slow || finding->uninformative_epoch == group->epoch + 1 ||
				!pythia_is_ready(pythia, round, &round->details[d])) {
			continue;
		}
		finding->uninformative_epoch = group->epoch + 1; /* 0 is none */
		for (uint32_t i = 0; i < tree->n && tree->located; i++) {
			const struct tree_row *row = &tree->rows[i];
			uint32_t at = points_find(&pythia->points,
					pythia_intern(pythia, row->provider),
					pythia_intern(pythia, row->name));

			if (at == POINT_NONE || !pythia->points.items[at].ours) {
				continue;
			}
			if (row_is_uninformative(tree, row) && !leads_somewhere(tree, i) &&
					!is_on_path(pythia, at) &&
					!point_is_held(&pythia->points.items[at], round->now_ns)) {
				struct point *point = &pythia->points.items[at];

				point->uninformative +=
						point->uninformative_epoch != round->epoch + 1 &&
						point->informative_epoch != round->epoch + 1;
				point->uninformative_epoch = round->epoch + 1;
				finding_rule_out(finding, at, row->phi);
			} else {
				pythia->points.items[at].uninformative = 0;
				pythia->points.items[at].informative_epoch = round->epoch + 1;
			}
		}
	}
}

/*
 * What a verdict was about has eased. To be within the norm is not enough: one that was learned on
 * a busy machine is wide enough for the fault itself.
 */
static bool has_eased(const struct finding *finding, const struct groups_row *row)
{
	return finding->rule == STOP_NONE || finding->slow || !row->detection ||
	       row->sd_ns < EASED * finding->sd_ns;
}

/* Groups that calmed down: their search is over, and what it enabled goes. */
static void judge_calm(struct pythia *pythia, const struct pythia_round *round)
{
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		struct finding *finding = &pythia->locating.findings[i];
		const struct groups_row *row = row_of(round->recent, finding->group_id);

		if (finding->rule == STOP_HEALTHY || finding->rule == STOP_CHANGED ||
				finding->rule == STOP_PEER || !row || row->missing || row->lossy ||
				pythia->now_ns < finding->calm_ns + EPOCH_NS) {
			continue;
		}
		finding->calm_ns = pythia->now_ns;
		finding->calm = norms_calm(pythia, row) && has_eased(finding, row)
						? finding->calm + 1
						: 0;
		if (finding->calm < CALM_ROUNDS + (finding->rule == STOP_NONE)) {
			continue;
		}
		finding_note(finding, "it varies no more than usual");
		finding->rule = STOP_HEALTHY;
		finding->ended_ns = pythia->now_ns;
		finding->edge = SPACE_NONE;
	}
}

static bool is_searching(const struct pythia *pythia)
{
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		if (pythia->locating.findings[i].rule == STOP_NONE) {
			return true;
		}
	}
	return false;
}

static bool all_calm(const struct pythia *pythia)
{
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		if (pythia->locating.findings[i].rule != STOP_HEALTHY) {
			return false;
		}
	}
	return pythia->locating.n_findings > 0;
}

/* A group that varies again is searched again. */
static void reopen(struct pythia *pythia, struct finding *finding)
{
	if (finding->rule == STOP_HEALTHY) {
		finding_note(finding, "it varies again");
		finding->rule = STOP_NONE;
		finding->told_all = finding->at_site = false;
		finding->calm = finding->fruitless = finding->n_given_up = 0;
		finding->dearer = 0;
		finding->holder_steps = 0;
		finding->judged_epoch = UINT32_MAX;
		finding->started_ns = pythia->now_ns;
		finding->told_words = 0; /* what told nothing then may tell now */
	}
}

/* The search of one group, whose nodes are known. */
static void search_group(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round)
{
	struct pythia_detail slow = *detail;
	struct tree_view tree = *detail->tree;
	struct tree_row *rows = slow_is(pythia, detail) ? slow_rows(pythia, &tree) : NULL;

	if (finding->sd_ns <= 0) { /* before a verdict takes the norm away */
		finding->no_normal = !norm_of(pythia, detail->row) && !detail->row->objective_ns &&
				     !(round->changes && round->changes->compared);
	}
	finding->slow = rows != NULL;
	finding->excess = excess_of(pythia, detail->row);
	finding->sd_ns = detail->row->sd_ns;
	if (rows) {
		tree.rows = rows;
		slow.tree = &tree;
	}
	finding_search(pythia, finding, &slow, round);
	free(rows);
}

/* What is slower than it was learned is compared with that, and must not take its place. */
static void place_in_space(struct pythia *pythia, uint32_t type, const struct pythia_detail *detail)
{
	if (slow_is(pythia, detail)) {
		space_place(&pythia->space, &pythia->points, type, detail->tree,
				pythia->locating.nodes);
	} else {
		space_observe(&pythia->space, &pythia->points, type, detail->tree, NULL, false,
				pythia->locating.nodes);
	}
}

static void search_groups(struct pythia *pythia, const struct pythia_round *round)
{
	for (uint32_t d = 0; d < round->n_details; d++) {
		const struct pythia_detail *detail = &round->details[d];
		uint32_t type = pythia_intern(pythia, detail->row->type);
		struct finding *finding;

		finding = finding_of(pythia, detail->row->id, false, type);
		if (finding && finding->rule != STOP_NONE && finding->rule != STOP_HEALTHY) {
			continue;
		}
		if (!pythia_is_ready(pythia, round, detail)) {
			if (!round->last && pythia_age_of_epoch(round, detail->row) < PATIENCE_NS) {
				return; /* the worst first: a step for another would begin anew */
			}
			continue;
		}
		finding = finding_of(pythia, detail->row->id, true, type);
		if (!finding) {
			continue;
		}
		reopen(pythia, finding);
		if (finding->rule != STOP_NONE || finding->judged_epoch == detail->row->epoch ||
				!locating_reserve(&pythia->locating, detail->tree->n)) {
			continue;
		}
		place_in_space(pythia, type, detail);
		finding->judged_epoch = detail->row->epoch;
		if (!pythia_can_act(pythia) && finding->n_steps == 0) {
			finding->started_ns = detail->row->since_ns; /* what it was found in */
		}
		search_group(pythia, finding, detail, round);
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
	if (step->by != STEP_BY_PERSON && pythia->now_ns > step->proposed_ns + STALE_NS) {
		struct finding *finding = finding_of(pythia, step->group_id, false, 0);

		step->state = STEP_REJECTED;
		step->ended_ns = pythia->now_ns;
		step_say(step, "withdrawn: nobody decided for a minute; looked at anew");
		/* The search goes on without them, as well as it can. */
		planning_postpone(&pythia->planning, step->kind, pythia->now_ns);
		if (finding) {
			finding->judged_epoch = UINT32_MAX;
			finding->anew_ns = pythia->now_ns;
		}
		return true;
	}
	return false;
}

/* What others no longer record is off again. */
static void forget_silent(struct pythia *pythia)
{
	for (uint32_t i = 0; i < pythia->points.n; i++) {
		struct point *point = &pythia->points.items[i];

		if (point->recorded && pythia->now_ns > point->seen_ns + POINTS_SEEN_NS) {
			point->recorded = 0;
		}
	}
}

/* Requests seem to lack what steps enabled where its events are only late. */
static bool is_delayed(const struct pythia *pythia)
{
	return pythia->silent && pythia->now_ns < pythia->silent_ns + GONE_NS;
}

/*
 * What cannot be enabled just now is not beyond reach: a search that went on would end in the wrong
 * place. Without the host, if it does not come back.
 */
static bool waits_for_host(const struct pythia *pythia)
{
	return (pythia->gone && pythia->now_ns < pythia->gone_ns + GONE_NS) || is_delayed(pythia);
}

/* Likewise what is not known yet. */
static bool waits_for_offers(const struct pythia *pythia)
{
	return pythia->awaited && pythia->now_ns < pythia->awaited_ns + AWAITED_NS;
}

static void say_lacks(struct pythia *pythia, bool live)
{
	uint32_t offered = 0;

	pythia->lacks[0] = '\0';
	for (uint32_t i = 0; i < pythia->points.n; i++) {
		offered += pythia->points.items[i].offered != 0;
	}
	if (is_delayed(pythia)) {
		snprintf(pythia->lacks, sizeof(pythia->lacks),
				"the events that steps enabled do not come from a host: the search "
				"waits for them, at most a minute");
	} else if (waits_for_host(pythia)) {
		snprintf(pythia->lacks, sizeof(pythia->lacks),
				"control of a host is lost: the search waits for it, at most a "
				"minute");
	} else if (waits_for_offers(pythia)) {
		snprintf(pythia->lacks, sizeof(pythia->lacks),
				"a host has not told so far what can be enabled: the search waits "
				"for that, at most half a minute");
	} else if (!offered && !live) {
		snprintf(pythia->lacks, sizeof(pythia->lacks),
				"a recording offers no tracepoints: nothing can be enabled in it");
	} else if (!offered) {
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

/* It is searched, or, for a while, may be soon. */
static bool is_open(const struct pythia *pythia, const struct groups_row *row, bool soon)
{
	return finding_searched(pythia, row->id) ||
	       (soon && rank_of(pythia, row->id) == WISH_OPEN &&
			       (is_wanted(pythia, row) || excess_may_grow_large(pythia, row)));
}

/*
 * A search that ended without a name for anything is no answer as long as one goes on, or is about
 * to begin, for what costs much more.
 */
static void judge_outweighed(struct pythia *pythia, const struct pythia_round *round)
{
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		struct finding *finding = &pythia->locating.findings[i];
		bool soon = pythia->now_ns < finding->ended_ns + PATIENCE_NS;

		finding->outweighed = false;
		if (finding->told_all || finding->at_site ||
				(finding->rule != STOP_DIFFUSE && finding->rule != STOP_SPENT)) {
			continue;
		}
		for (uint32_t k = 0; k < round->recent->n && !finding->outweighed; k++) {
			const struct groups_row *row = &round->recent->rows[k];

			finding->outweighed =
					row->id != finding->group_id &&
					excess_of(pythia, row) > OUTWEIGHS * finding->excess &&
					is_open(pythia, row, soon);
		}
	}
}

static void examine_groups(struct pythia *pythia, const struct pythia_round *round)
{
	pythia->first_ns = pythia->first_ns ? pythia->first_ns : round->now_ns;
	pythia->now_ns = round->now_ns;
	pythia->epoch = round->epoch;
	pythia->awaited_ns = pythia->awaited_ns ? pythia->awaited_ns : round->now_ns;
	pythia->n_flagged = 0;
	for (uint32_t i = 0; i < round->groups->n; i++) {
		pythia->n_flagged += round->groups->rows[i].detection != 0;
	}
	forget_silent(pythia);
	say_lacks(pythia, round->live);
	cost_refresh(pythia, round->recent);
	cost_guard(pythia);
	profile_meet(pythia, round->groups);
	norms_judge(pythia, round->recent);
	excess_judge(pythia, round->recent);
	site_watch(pythia, round);
	judge_calm(pythia, round);
	judge_uninformative(pythia, round);
	if (waits_for_host(pythia) || waits_for_offers(pythia)) {
		return;
	}
	if (!is_decided_on(pythia) || pythia_propose_skeleton(pythia) ||
			pythia_propose_learning(pythia, round)) {
		return;
	}
	search_groups(pythia, round);
	if (steps_proposed(&pythia->steps) || steps_busy(&pythia->steps)) {
		return;
	}
	if (all_calm(pythia)) {
		pythia_propose_disabling(pythia, true, 0, "nothing varies more than usual");
	} else if (!is_searching(pythia)) {
		pythia_propose_disabling(pythia, false, 0,
				"they hold less than 2% of the variance, or are never seen");
	}
}

void pythia_round(struct pythia *pythia, const struct pythia_round *round)
{
	examine_groups(pythia, round);
	changed_judge(pythia, round);
	judge_outweighed(pythia, round);
}

static bool learns(const struct pythia *pythia, uint32_t step, enum step_state state)
{
	for (uint32_t i = 0; i < pythia->steps.n; i++) {
		if (pythia->steps.items[i].id == step) {
			return pythia->steps.items[i].kind == STEP_LEARN &&
			       pythia->steps.items[i].state == state;
		}
	}
	return false;
}

bool pythia_will_learn(const struct pythia *pythia, uint32_t step)
{
	return learns(pythia, step, STEP_APPROVED);
}

bool pythia_is_learning(const struct pythia *pythia, uint32_t step)
{
	return learns(pythia, step, STEP_WATCHED);
}

void pythia_before_learning(struct pythia *pythia, const struct groups_view *groups)
{
	for (uint32_t i = 0; i < groups->n; i++) {
		norms_learn(pythia, &groups->rows[i], false);
	}
	failures_learn(pythia, groups);
}

void pythia_learned(struct pythia *pythia, const struct pythia_round *round)
{
	for (uint32_t d = 0; d < round->n_details; d++) {
		const struct pythia_detail *detail = &round->details[d];

		if (locating_reserve(&pythia->locating, detail->tree->n)) {
			space_observe(&pythia->space, &pythia->points,
					pythia_intern(pythia, detail->row->type), detail->tree,
					detail->offset_ns, true, pythia->locating.nodes);
		}
	}
	for (uint32_t i = 0; i < round->groups->n; i++) {
		norms_learn(pythia, &round->groups->rows[i], true);
	}
	failures_learn(pythia, round->groups);
	pythia->space.learned = true;
}
