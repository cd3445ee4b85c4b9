/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

/* The search of one group: its edges, and the verdict where there is one. */
#define MAX_EDGES     16u
#define MAX_WHERE     512
#define HOLDERS_BYTES 384u

static void where_text(const struct tree_view *tree, uint32_t row, char *out, size_t size)
{
	uint32_t chain[64], n = 0;
	size_t used = 0;

	for (; row != UINT32_MAX && n < 64; row = tree->rows[row].parent) {
		chain[n++] = row;
	}
	out[0] = '\0';
	while (n > 0 && used < size) {
		int length = snprintf(out + used, size - used, "%s%s", used ? " > " : "",
				tree->rows[chain[--n]].name);

		used += length > 0 ? (size_t)length : 0;
	}
}

static bool is_given_up(const struct finding *finding, uint32_t node)
{
	for (uint32_t i = 0; i < finding->n_given_up; i++) {
		if (finding->given_up[i] == node) {
			return true;
		}
	}
	return false;
}

/* Those that hold a share of the variance, the surest first; given-up ones last. */
static uint32_t find_edges(struct pythia *pythia, const struct finding *finding,
		const struct tree_view *tree, struct edge *edges)
{
	bool by_phi = pythia->planning.strategy->edges == EDGE_BY_PHI;
	uint32_t n = 0;

	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_row *row = &tree->rows[i];
		struct edge edge = {.row = i, .node = pythia->locating.nodes[i]};
		uint32_t at;

		if (row->phi_low <= ELIGIBLE_PHI) {
			continue;
		}
		edge.leaf = row->mark == TREE_NO_POINT || edge.node == SPACE_NONE;
		edge.weight = by_phi ? row->phi_low : row->segment_sd_ns;
		if (is_given_up(finding, edge.node)) {
			edge.weight *= 1e-6;
		}
		for (at = n < MAX_EDGES ? n : MAX_EDGES;
				at > 0 && edges[at - 1].weight < edge.weight; at--) {
			if (at < MAX_EDGES) {
				edges[at] = edges[at - 1];
			}
		}
		if (at < MAX_EDGES) {
			edges[at] = edge;
			n += n < MAX_EDGES;
		}
	}
	return n;
}

static void take_figures(struct finding *finding, const struct pythia_detail *detail, uint32_t row)
{
	const struct tree_row *edge = &detail->tree->rows[row];
	char where[MAX_WHERE];

	finding->phi = edge->phi;
	finding->phi_low = edge->phi_low;
	finding->phi_high = edge->phi_high;
	finding->requests = detail->tree->counted;
	where_text(detail->tree, row, where, sizeof(where));
	finding_set_text(&finding->where, where);
}

/* The row that holds most, for a verdict that names no place. */
static uint32_t largest_row(const struct tree_view *tree)
{
	uint32_t largest = 0;

	for (uint32_t i = 1; i < tree->n; i++) {
		largest = tree->rows[i].phi > tree->rows[largest].phi ? i : largest;
	}
	return largest;
}

static void stop(struct pythia *pythia, struct finding *finding, enum stop_rule rule)
{
	finding->rule = rule;
	finding->ended_ns = pythia->now_ns;
	finding_note(finding, "stopped: %s", finding->text);
}

/* In the time of the edge, in words; "": not known. */
static void who_was_waited_for(const struct pythia_round *round, const struct pythia_detail *detail,
		const struct edge *edge, char holders[HOLDERS_BYTES])
{
	holders[0] = '\0';
	if (round->waits) {
		round->waits(round->callback_context, detail->row->id,
				detail->tree->rows[edge->row].context, holders, HOLDERS_BYTES);
	}
}

static void verdict_code(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edge)
{
	const struct tree_row *row = &detail->tree->rows[edge->row];
	char deeper[128], holders[HOLDERS_BYTES];

	snprintf(deeper, sizeof(deeper), "%s",
			edge->itself ? "nothing deeper in it varied when all that could be was "
				       "recorded"
			: !pythia_can_act(pythia) ? "nothing deeper in it was recorded"
			: pythia->space.learned
					? "no point deeper in it is known to fire"
					: "no point deeper in it was seen to fire, of those "
					  "that were tried (where points stand was not "
					  "learned)");
	if (!edge->leaf && pythia->planning.n_excluded) {
		snprintf(deeper, sizeof(deeper),
				"deeper in it %u point%s left off: rejected, refused or undone",
				pythia->planning.n_excluded,
				pythia->planning.n_excluded == 1 ? " is" : "s are");
	}
	who_was_waited_for(round, detail, edge, holders);
	take_figures(finding, detail, edge->row);
	finding_say(finding,
			"%s: the time goes in %s (%.0f%% of the %s, %.0f to %.0f, n %llu); "
			"%s%s%s",
			detail->row->type, row->name, 100 * row->phi, finding_share_of(finding),
			100 * row->phi_low, 100 * row->phi_high,
			(unsigned long long)detail->tree->counted, deeper, holders[0] ? "; " : "",
			holders);
	if (edge->node != SPACE_NONE) {
		finding->edge = edge->node; /* the way there is kept */
		pythia->points.items[pythia->space.nodes[edge->node].point].explained++;
	}
	norms_drop(pythia, detail->row);
	stop(pythia, finding, STOP_CODE);
}

/* All that one process does is slow, whatever part of it is longest. */
static bool verdict_site(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edges, uint32_t n)
{
	char text[768];

	if (!site_verdict(pythia, finding, detail, round, text, sizeof(text))) {
		return false;
	}
	if (n > 0) {
		take_figures(finding, detail, edges[0].row);
	}
	finding_say(finding, "%s", text);
	finding->told_all = true;
	norms_drop(pythia, detail->row);
	stop(pythia, finding, STOP_DIFFUSE);
	return true;
}

/* The code that made the system call which a row is of; UINT32_MAX: it is of none, or nobody's. */
static uint32_t code_above(const struct tree_view *tree, uint32_t at)
{
	bool calls = false;

	while (at != UINT32_MAX &&
			(tree->rows[at].name[0] == '(' ||
					strncmp(tree->rows[at].name, "syscall_", 8) == 0)) {
		calls = calls || tree->rows[at].name[0] != '(';
		at = tree->rows[at].parent;
	}
	return calls ? at : UINT32_MAX;
}

/* No span works in it: what is waited for is a host, a resource, or whoever holds it. */
static void verdict_waiting(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edge)
{
	const struct tree_row *row = &detail->tree->rows[edge->row];
	const struct tree_row *within =
			row->parent == UINT32_MAX ? row : &detail->tree->rows[row->parent];
	uint32_t code = code_above(detail->tree, edge->row);
	char holders[HOLDERS_BYTES];

	who_was_waited_for(round, detail, edge, holders);
	take_figures(finding, detail, edge->row);
	finding_say(finding,
			"%s: the time goes by in %s of %s%s%s%s%s (%.0f%% of the %s, %.0f to %.0f, "
			"n %llu): %s",
			detail->row->type, row->name, within->name,
			code == UINT32_MAX ? "" : " in ",
			code == UINT32_MAX ? "" : detail->tree->rows[code].name,
			finding->site ? " of " : "", finding->site ? finding->site : "",
			100 * row->phi, finding_share_of(finding), 100 * row->phi_low,
			100 * row->phi_high, (unsigned long long)detail->tree->counted,
			holders[0] ? holders
				   : "no code works then, it is a host or a resource that is "
				     "waited for");
	norms_drop(pythia, detail->row);
	stop(pythia, finding, STOP_DIFFUSE);
}

static void verdict_diffuse(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edges, uint32_t n)
{
	const struct group_location *location = &detail->group->location;
	char places[256] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < n && i < 3 && used < sizeof(places); i++) {
		const struct tree_row *row = &detail->tree->rows[edges[i].row];
		int length = snprintf(places + used, sizeof(places) - used, "%s%s %.0f%%",
				used ? ", " : "", row->name, 100 * row->phi);

		used += length > 0 ? (size_t)length : 0;
	}
	if (n > 0 || detail->tree->n > 0) {
		take_figures(finding, detail, n > 0 ? edges[0].row : largest_row(detail->tree));
	}
	site_of_all(finding, detail, round);
	if (location->common_cause) {
		finding_say(finding,
				"%s: many places vary together (%.0f%% in one direction): a common "
				"cause, such as a host or a resource",
				detail->row->type, 100 * location->first_component);
	} else {
		finding_say(finding, "%s: no place surely holds half of the variance%s%s%s",
				detail->row->type, n ? ": " : "", places,
				kernel_is(pythia, true) ? ""
							: "; kernel events could say more, but no "
							  "host offers them");
	}
	stop(pythia, finding, STOP_DIFFUSE);
}

/* A place may hold half of the variance, or not: one odd request can make intervals that wide. */
static bool is_unsure(const struct tree_view *tree)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		if (tree->rows[i].phi_low < VERDICT_PHI && tree->rows[i].phi_high >= VERDICT_PHI) {
			return true;
		}
	}
	return false;
}

/* Since its epoch began, or since it is looked at anew. */
static bool is_patient(const struct finding *finding, const struct pythia_detail *detail,
		const struct pythia_round *round)
{
	return (!round->last && pythia_age_of_epoch(round, detail->row) < PATIENCE_NS) ||
	       (finding->anew_ns && round->now_ns < finding->anew_ns + PATIENCE_NS);
}

/* What the last split of the edge has shown. */
static void learn_from_split(struct finding *finding, const struct edge *edges, uint32_t n,
		const struct tree_view *tree)
{
	if (finding->edge == SPACE_NONE || finding->split_noted || n == 0) {
		return;
	}
	if (edges[0].node != finding->edge) {
		finding_note(finding, "then %s holds %.0f%%", tree->rows[edges[0].row].name,
				100 * tree->rows[edges[0].row].phi);
		finding->fruitless = 0;
		return;
	}
	finding->fruitless++;
	finding_note(finding, "%s keeps %.0f%%: the points enabled in it do not explain it",
			tree->rows[edges[0].row].name, 100 * tree->rows[edges[0].row].phi);
	if (finding->fruitless >= FRUITLESS_SPLITS && n > 1 &&
			finding->n_given_up < PYTHIA_MAX_HISTORY) {
		finding_note(finding, "backtrack: two splits of it were in vain");
		finding->given_up_phi[finding->n_given_up] = tree->rows[edges[0].row].phi;
		finding->given_up[finding->n_given_up++] = finding->edge;
		finding->fruitless = 0;
	}
}

/*
 * Points were chosen by name so often, more than are left, and none of them fired in it: there may
 * be none that does.
 */
static bool is_tried(const struct pythia *pythia, const struct tree_row *row, uint32_t node)
{
	uint32_t provider, tried = 0;

	if (!pythia->planning.n_candidates || pythia->planning.candidates[0].node != SPACE_NONE ||
			row->n_below > 0 || pythia->space.nodes[node].named < NAMED_STEPS) {
		return false;
	}
	provider = pythia->points.items[pythia->planning.candidates[0].point].provider;
	for (uint32_t i = 0; i < pythia->points.n; i++) {
		tried += pythia->points.items[i].provider == provider &&
			 pythia->points.items[i].ever;
	}
	return tried > pythia->planning.n_candidates;
}

/* With more requests of the same epoch again. */
static void wait_for_more(struct finding *finding)
{
	finding->judged_epoch = UINT32_MAX;
	finding->split_noted = true;
}

void finding_search(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round)
{
	struct edge edges[MAX_EDGES];
	uint32_t n = find_edges(pythia, finding, detail->tree, edges),
		 given_up = finding->n_given_up;
	bool over_budget = false, by_name;

	learn_from_split(finding, edges, n, detail->tree);
	if (verdict_site(pythia, finding, detail, round, edges, n)) {
		return;
	}
	if (finding->n_given_up > given_up) {
		n = find_edges(pythia, finding, detail->tree, edges);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct tree_row *row = &detail->tree->rows[edges[i].row];

		candidates_clear(&pythia->planning);
		if (!edges[i].leaf) {
			candidates_of_edge(pythia, finding, detail, round, &edges[i]);
		}
		if (is_tried(pythia, row, edges[i].node)) {
			candidates_clear(&pythia->planning);
		}
		if (pythia->planning.n_candidates == 0) {
			if (row->phi_low >= VERDICT_PHI &&
					!pythia_is_settled(pythia, round, detail)) {
				wait_for_more(finding);
				return;
			}
			if (row->phi_low >= VERDICT_PHI) {
				site_of_place(finding, detail, round, row);
				site_of_all(finding, detail, round);
			}
			if (row->phi_low >= VERDICT_PHI && row->mark == TREE_NO_POINT) {
				verdict_waiting(pythia, finding, detail, round, &edges[i]);
				return;
			}
			if (row->phi_low >= VERDICT_PHI) {
				verdict_code(pythia, finding, detail, round, &edges[i]);
				return;
			}
			continue;
		}
		by_name = pythia->planning.candidates[0].node == SPACE_NONE;
		if (split_propose(pythia, finding, detail, round, edges[i].row, false)) {
			pythia->space.nodes[edges[i].node].named += by_name;
			finding->edge = edges[i].node;
			finding->split_noted = false;
			finding->edge_phi = row->phi;
			take_figures(finding, detail, edges[i].row);
			finding_say(finding, "%s: %.0f%% of the %s is inside %s; looking deeper",
					detail->row->type, 100 * row->phi,
					finding_share_of(finding), row->name);
			return;
		}
		over_budget |= !split_any_fits(pythia);
	}
	if (over_budget) {
		finding_say(finding,
				"%s: the budget of %.0f events/s (or its bytes, or CPU) leaves no "
				"room for a further "
				"point",
				detail->row->type, cost_bound(pythia));
		stop(pythia, finding, STOP_SPENT);
		return;
	}
	candidates_of_kernel(pythia);
	if (pythia->planning.n_candidates &&
			split_propose(pythia, finding, detail, round, UINT32_MAX, true)) {
		return;
	}
	if (!pythia_is_settled(pythia, round, detail) ||
			(is_unsure(detail->tree) && is_patient(finding, detail, round))) {
		wait_for_more(finding);
		finding_say(finding, "%s: where its variance lies is not clear yet",
				detail->row->type);
		return;
	}
	verdict_diffuse(pythia, finding, detail, round, edges, n);
}
