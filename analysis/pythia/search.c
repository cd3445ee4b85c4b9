/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "pythia/state.h"

/* The search of one group: its edges, and the verdict where there is one. */
#define MAX_WHERE 512

static bool is_given_up(const struct finding *finding, uint32_t node)
{
	for (uint32_t i = 0; i < finding->n_given_up; i++) {
		if (finding->given_up[i] == node) {
			return true;
		}
	}
	return false;
}

/* Of the variance: by how long idle processors take to wake up. `most`: the row with most of it. */
static double waking_share(const struct tree_view *tree, uint32_t *most)
{
	double sum = 0, largest = 0;

	for (uint32_t i = 0; i < tree->n; i++) {
		double phi = pythia_waits_for_nobody(&tree->rows[i]) ? tree->rows[i].phi : 0;

		sum += phi;
		*most = phi > largest ? i : *most;
		largest = fmax(phi, largest);
	}
	return fmax(sum, 0);
}

/* It is set aside: nobody's doing, or what waits behind what is searched for. */
static bool is_aside(const struct pythia_detail *detail, uint32_t row)
{
	return pythia_waits_for_nobody(&detail->tree->rows[row]) ||
	       (detail->queued_share > 0 && load_lies_in_socket(detail->tree, row));
}

/* What is left: the search is for what varies besides, as if the one did not go with the other. */
static double rest_of(const struct pythia_detail *detail)
{
	uint32_t most = 0;

	return 1 - fmin(waking_share(detail->tree, &most), NOBODYS_SHARE) - detail->queued_share;
}

/* A lower bound is that of most of what is left. */
static bool holds_most(const struct pythia_detail *detail, double phi_low)
{
	return phi_low >= VERDICT_PHI * rest_of(detail);
}

/* Those that hold a share of the variance, the surest first; given-up ones last. */
static uint32_t find_edges(struct pythia *pythia, const struct finding *finding,
		const struct pythia_detail *detail, struct edge *edges)
{
	const struct tree_view *tree = detail->tree;
	bool by_phi = pythia->planning.strategy->edges == EDGE_BY_PHI;
	double rest = rest_of(detail);
	uint32_t n = 0;

	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_row *row = &tree->rows[i];
		struct edge edge = {.row = i, .node = pythia->locating.nodes[i], .within = i};
		uint32_t at;

		if (row->phi_low <= ELIGIBLE_PHI * rest || is_aside(detail, i)) {
			continue;
		}
		edge.leaf = row->mark == TREE_NO_POINT || edge.node == SPACE_NONE ||
			    tree_row_interrupts(row);
		edge.weight = by_phi ? row->phi_low : row->segment_sd_ns;
		if (tree_row_interrupts(row)) {
			edge.weight *= INTERRUPTS_COUNT;
		}
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

static void take_figures(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, uint32_t row)
{
	const struct tree_row *edge = &detail->tree->rows[row];
	char where[MAX_WHERE];

	finding->phi = edge->phi;
	finding->phi_low = edge->phi_low;
	finding->phi_high = edge->phi_high;
	finding->requests = detail->tree->counted;
	tree_where(detail->tree, row, where, sizeof(where));
	finding->where = pythia_keep(pythia, where);
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

/* On an edge: with its share. */
static struct steps_verdict verdict_of(enum verdict_reason reason, const struct finding *finding,
		const struct pythia_detail *detail, uint32_t at)
{
	const struct tree_row *row = &detail->tree->rows[at];
	uint32_t most = 0;
	double waking = waking_share(detail->tree, &most);

	return (struct steps_verdict){.reason = reason,
			.waking_share = waking > NOBODYS_SLIGHT ? waking : 0,
			.queued_share = detail->queued_share,
			.type = detail->row->type,
			.place = row->name,
			.share_of = finding_share_of(finding),
			.share = row->phi,
			.share_low = row->phi_low,
			.share_high = row->phi_high,
			.requests = detail->tree->counted};
}

static void take_places(struct steps_verdict *verdict, const struct pythia_detail *detail,
		const struct edge *edges, uint32_t n)
{
	for (uint32_t i = 0; i < n && i < VERDICT_PLACES; i++) {
		const struct tree_row *row = &detail->tree->rows[edges[i].row];

		verdict->places[i].name = row->name;
		verdict->places[i].share = row->phi;
		verdict->n_places = i + 1;
	}
}

void search_who_was_waited_for(const struct pythia_round *round, const struct pythia_detail *detail,
		uint32_t row, struct steps_verdict *verdict)
{
	const struct group_wait *wait = pythia_wait_of(round, detail, &detail->tree->rows[row]);

	if (wait) {
		verdict->evidence = wait->evidence;
		for (uint32_t i = 0; i < wait->n && i < VERDICT_HOLDERS; i++) {
			verdict->holders[verdict->n_holders++] = wait->holders[i];
		}
	}
}

/* Candidates that are left: the budget has room for none of them. */
static enum verdict_deeper why_no_deeper(struct pythia *pythia, const struct edge *edge)
{
	return pythia->planning.n_candidates                ? DEEPER_BUDGET
	       : !edge->leaf && pythia->planning.n_excluded ? DEEPER_LEFT_OFF
	       : edge->itself                               ? DEEPER_STEADY
	       : !pythia_can_act(pythia)                    ? DEEPER_NOT_RECORDED
	       : pythia->space.learned                      ? DEEPER_SILENT
							    : DEEPER_NOT_SEEN;
}

/* The first of n edges is the place, or all of them are. */
static void verdict_code(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edge, uint32_t n)
{
	struct steps_verdict verdict = verdict_of(REASON_CODE, finding, detail, edge->row);

	take_places(&verdict, detail, edge + 1, n - 1);
	verdict.deeper = why_no_deeper(pythia, edge);
	verdict.budget_per_s = verdict.deeper == DEEPER_BUDGET ? cost_bound(pythia) : 0;
	verdict.left_off = verdict.deeper == DEEPER_LEFT_OFF ? pythia->planning.n_excluded : 0;
	search_who_was_waited_for(round, detail, edge->row, &verdict);
	take_figures(pythia, finding, detail, edge->row);
	if (edge->node != SPACE_NONE) {
		finding->edge = edge->node; /* the way there is kept */
		pythia->points.items[pythia->space.nodes[edge->node].point].explained++;
	}
	norms_drop(pythia, detail->row);
	finding_stop(pythia, finding, STOP_CODE, &verdict);
}

/* All that one process does is slow, whatever part of it is longest. */
static bool verdict_site(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edges, uint32_t n)
{
	if (!site_verdict(pythia, finding, detail, round)) {
		return false;
	}
	if (n > 0) {
		take_figures(pythia, finding, detail, edges[0].row);
	}
	finding->told_all = true;
	norms_drop(pythia, detail->row);
	return true;
}

/* With more requests of the same epoch again. */
static void wait_for_more(struct finding *finding)
{
	finding->judged_epoch = UINT32_MAX;
	finding->split_noted = true;
}

/*
 * Waits for a processor that are nobody's doing: tracing has it, as it would not where nobody
 * watches, or nobody has it, and it takes its time to wake up. REASON_NONE: they are somebody's.
 */
static enum verdict_reason why_no_finding(const struct pythia_round *round,
		const struct pythia_detail *detail, const struct edge *edge)
{
	const struct group_wait *wait =
			pythia_wait_of(round, detail, &detail->tree->rows[edge->row]);
	double told = 0, tracing = 0, idle = 0;

	for (uint32_t i = 0; wait && wait->evidence == WAIT_RAN && i < wait->n; i++) {
		const struct group_holder *holder = &wait->holders[i];

		told += holder->of_variation;
		idle += holder->idle ? holder->of_variation : 0;
		tracing += holder_is_tracing(holder) ? holder->of_variation : 0;
	}
	if (told < NOBODYS_TOLD || idle + tracing <= NOBODYS_SHARE * told) {
		return REASON_NONE;
	}
	return idle > tracing ? REASON_IDLE : REASON_TRACING;
}

/* Those are said, while the search goes on. False: they are a finding. */
static bool tell_no_finding(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edge)
{
	enum verdict_reason why = why_no_finding(round, detail, edge);
	struct steps_verdict verdict;

	if (why == REASON_NONE) {
		return false;
	}
	verdict = verdict_of(why, finding, detail, edge->row);
	search_who_was_waited_for(round, detail, edge->row, &verdict);
	take_figures(pythia, finding, detail, edge->row);
	finding_tell(pythia, finding, &verdict);
	wait_for_more(finding);
	return true;
}

/*
 * No span works in it: what is waited for is a host, a resource, or whoever holds it. `all`: of
 * what it is a part of, with others in so many more contexts; NULL: it is told by itself.
 */
static void verdict_waiting(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edge, const struct load *all, uint32_t more)
{
	const struct tree_row *rows = detail->tree->rows;
	uint32_t parent = rows[edge->row].parent, code = tree_code_above(detail->tree, edge->row);
	struct steps_verdict verdict = verdict_of(REASON_WAIT, finding, detail, edge->row);

	verdict.within = rows[parent == UINT32_MAX ? edge->row : parent].name;
	verdict.n_more_places = more;
	verdict.code = code == UINT32_MAX ? "" : rows[code].name;
	verdict.site = finding->site;
	search_who_was_waited_for(round, detail, edge->row, &verdict);
	take_figures(pythia, finding, detail, edge->row);
	if (all) {
		verdict.share = finding->phi = all->phi;
		verdict.share_low = finding->phi_low = all->low;
		verdict.share_high = finding->phi_high = all->high;
	}
	norms_drop(pythia, detail->row);
	finding_stop(pythia, finding, STOP_DIFFUSE, &verdict);
}

/*
 * A function, with its waits for processors that its own program has, in all of its contexts: the
 * verdict, where these together surely hold half. False: they do not, or it is not settled.
 */
static bool verdict_load(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edge)
{
	struct steps_verdict verdict;
	struct load load;

	if (!load_of(pythia, detail, round, edge->within, &load) || !holds_most(detail, load.low) ||
			!pythia_is_settled(pythia, round, detail)) {
		return false;
	}
	verdict = verdict_of(REASON_LOAD, finding, detail, edge->within);
	verdict.share = load.phi;
	verdict.share_low = load.low;
	verdict.share_high = load.high;
	verdict.waiting_share = load.waiting;
	take_figures(pythia, finding, detail, edge->within);
	finding->phi = load.phi;
	finding->phi_low = load.low;
	finding->phi_high = load.high;
	search_who_was_waited_for(round, detail, edge->row, &verdict);
	norms_drop(pythia, detail->row);
	finding_stop(pythia, finding, STOP_CODE, &verdict);
	return true;
}

/* All that lies in the socket, whatever its thread waits for meanwhile, as one place. */
static bool verdict_queue(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round)
{
	struct load queue;
	struct edge edge = {.row = 0};

	if (detail->queued_share > 0 || !load_in_socket(detail->tree, &queue, &edge.row) ||
			!holds_most(detail, queue.low)) {
		return false;
	}
	verdict_waiting(pythia, finding, detail, round, &edge, &queue, 0);
	return true;
}

/* Waits for one holder that no context alone surely has most of. */
static bool verdict_one_holder(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edges, uint32_t n)
{
	struct waiting waiting;

	if (!waiting_of(detail, round, edges, n, &waiting) ||
			!holds_most(detail, waiting.load.low)) {
		return false;
	}
	if (!tell_no_finding(pythia, finding, detail, round, &edges[waiting.edge])) {
		verdict_waiting(pythia, finding, detail, round, &edges[waiting.edge], &waiting.load,
				waiting.places - 1);
	}
	return true;
}

/*
 * What the kernel does of its own accord while a request is worked on: the longer that takes, and
 * the more others do, the more of it. So no code of the request is named.
 */
static void verdict_interrupted(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct edge *edge)
{
	const struct tree_row *rows = detail->tree->rows;
	uint32_t parent = rows[edge->row].parent;
	struct steps_verdict verdict = verdict_of(REASON_INTERRUPTS, finding, detail, edge->row);

	verdict.within = parent == UINT32_MAX ? "" : rows[parent].name;
	verdict.site = finding->site;
	take_figures(pythia, finding, detail, edge->row);
	norms_drop(pythia, detail->row);
	finding_stop(pythia, finding, STOP_DIFFUSE, &verdict);
}

static void verdict_diffuse(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edges, uint32_t n)
{
	const struct group_location *location = &detail->group->location;
	struct steps_verdict verdict = {.reason = REASON_NO_PLACE, .type = detail->row->type};

	if (n > 0 || detail->tree->n > 0) {
		take_figures(pythia, finding, detail,
				n > 0 ? edges[0].row : largest_row(detail->tree));
	}
	site_of_all(pythia, finding, detail, round);
	if (location->common_cause) {
		verdict.reason = REASON_COMMON_CAUSE;
		verdict.share_of = "variance";
		verdict.share = location->first_component;
	} else {
		verdict.no_kernel_events = !kernel_is(pythia, true);
		take_places(&verdict, detail, edges, n);
	}
	finding_stop(pythia, finding, STOP_DIFFUSE, &verdict);
}

/* A place may hold half of the variance, or not: one odd request can make intervals that wide. */
static bool is_unsure(const struct pythia_detail *detail)
{
	const struct tree_view *tree = detail->tree;

	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_row *row = &tree->rows[i];

		if (!is_aside(detail, i) && !holds_most(detail, row->phi_low) &&
				holds_most(detail, row->phi_high)) {
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

/* The candidates of an edge, those of what waited in it likewise. */
static void find_candidates_of(struct pythia *pythia, const struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		struct edge *edge)
{
	struct edge within = {.row = edge->within, .node = edge->node, .within = edge->within};

	candidates_clear(&pythia->planning);
	if (edge->within != edge->row) {
		candidates_of_edge(pythia, finding, detail, round, &within);
	} else if (!edge->leaf) {
		candidates_of_edge(pythia, finding, detail, round, edge);
	}
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

/* The candidates of an edge that there is hope in. False: there are none. */
static bool find_untried_of(struct pythia *pythia, const struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		struct edge *edge)
{
	find_candidates_of(pythia, finding, detail, round, edge);
	if (is_tried(pythia, &detail->tree->rows[edge->row], edge->node)) {
		candidates_clear(&pythia->planning);
	}
	return pythia->planning.n_candidates > 0;
}

/* A step into an edge, by the candidates that were found. False: none fits. */
static bool propose_inside(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edge)
{
	bool by_name = pythia->planning.candidates[0].node == SPACE_NONE;
	struct steps_verdict verdict;

	if (!split_propose(pythia, finding, detail, round, &(struct split){.row = edge->within})) {
		return false;
	}
	pythia->space.nodes[edge->node].named += by_name;
	finding->edge = edge->node;
	finding->split_noted = false;
	finding->edge_phi = detail->tree->rows[edge->row].phi;
	take_figures(pythia, finding, detail, edge->row);
	verdict = verdict_of(REASON_INSIDE, finding, detail, edge->row);
	verdict.place = detail->tree->rows[edge->within].name;
	finding_tell(pythia, finding, &verdict);
	return true;
}

/* A step into what whoever is waited for does meanwhile. */
static bool propose_at_holder(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edge)
{
	struct steps_verdict verdict;

	if (!holding_propose(pythia, finding, detail, round, edge)) {
		return false;
	}
	take_figures(pythia, finding, detail, edge->row);
	verdict = verdict_of(REASON_HOLDER, finding, detail, edge->row);
	search_who_was_waited_for(round, detail, edge->row, &verdict);
	finding_tell(pythia, finding, &verdict);
	return true;
}

static bool propose_kernel(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round)
{
	candidates_of_kernel(pythia);
	return pythia->planning.n_candidates &&
	       split_propose(pythia, finding, detail, round,
			       &(struct split){.row = UINT32_MAX, .most = UINT32_MAX});
}

/*
 * Most of it is processors that sleep, on the run queues of which it was alone: while that is so,
 * steps are proposed all the same, so that what varies besides is in view once it is not, but
 * nothing is found. False: it is not so.
 */
static bool search_beside_waking(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		struct edge *edges, uint32_t n)
{
	uint32_t most = 0;
	struct steps_verdict verdict;

	if (waking_share(detail->tree, &most) < NOBODYS_SHARE) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (find_untried_of(pythia, finding, detail, round, &edges[i]) &&
				propose_inside(pythia, finding, detail, round, &edges[i])) {
			return true;
		}
	}
	if (propose_kernel(pythia, finding, detail, round)) {
		return true;
	}
	verdict = verdict_of(REASON_IDLE, finding, detail, most);
	verdict.waking_share = 0; /* it says that already */
	take_figures(pythia, finding, detail, most);
	finding_tell(pythia, finding, &verdict);
	wait_for_more(finding);
	return true;
}

/* No place holds most, and the deepest code that does with what it calls is known. */
static bool verdict_within(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, enum verdict_deeper deeper)
{
	struct steps_verdict verdict;
	struct within within;

	if (!within_of(detail->tree, VERDICT_PHI * rest_of(detail), &within)) {
		return false;
	}
	verdict = verdict_of(REASON_CODE, finding, detail, within.row);
	verdict.with_callees = true;
	verdict.share = within.phi;
	verdict.share_low = within.low;
	verdict.share_high = within.high;
	verdict.deeper = deeper;
	verdict.budget_per_s = deeper == DEEPER_BUDGET ? cost_bound(pythia) : 0;
	take_figures(pythia, finding, detail, within.row);
	finding->phi = within.phi;
	finding->phi_low = within.low;
	finding->phi_high = within.high;
	norms_drop(pythia, detail->row);
	finding_stop(pythia, finding, STOP_CODE, &verdict);
	return true;
}

/*
 * Of what lies deeper the budget has no room for anything: a function that was found on the way
 * there is the verdict, where it surely holds half, by itself or with what it calls. False: there
 * is none.
 */
static bool verdict_within_budget(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		struct edge *edges, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct tree_row *within = &detail->tree->rows[edges[i].within];

		find_candidates_of(pythia, finding, detail, round, &edges[i]);
		if (edges[i].node == SPACE_NONE ||
				!pythia->points.items[pythia->space.nodes[edges[i].node].point]
						 .ours) {
			continue;
		}
		if (verdict_load(pythia, finding, detail, round, &edges[i])) {
			return true;
		}
		if (edges[i].within == edges[i].row && holds_most(detail, within->phi_low)) {
			verdict_code(pythia, finding, detail, round, &edges[i], 1);
			return true;
		}
	}
	return verdict_within(pythia, finding, detail, DEEPER_BUDGET);
}

/*
 * Two or three places of code each surely hold a fair share, and half together, as two faults do.
 * False: there are not, or they vary together.
 */
static bool verdict_several(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edges, uint32_t n)
{
	struct edge shared[MAX_EDGES];
	uint32_t n_shared = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct tree_row *row = &detail->tree->rows[edges[i].row];

		if (row->phi_low >= SHARED_PHI * rest_of(detail)) {
			if (row->mark == TREE_NO_POINT || tree_row_interrupts(row)) {
				return false;
			}
			shared[n_shared++] = edges[i];
		}
	}
	if (n_shared < 2 || detail->group->location.common_cause) {
		return false;
	}
	find_candidates_of(pythia, finding, detail, round, &shared[0]);
	verdict_code(pythia, finding, detail, round, shared, n_shared);
	return true;
}

void finding_search(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *whole, const struct pythia_round *round)
{
	struct pythia_detail beside = *whole, *detail = &beside;
	struct edge edges[MAX_EDGES];
	struct steps_verdict verdict;
	uint32_t n, given_up = finding->n_given_up;
	bool over_budget = false;

	beside.queued_share = load_queued_share(whole, round);
	n = find_edges(pythia, finding, detail, edges);
	load_look_within(pythia, detail, round, edges, n);
	learn_from_split(finding, edges, n, detail->tree);
	if (search_beside_waking(pythia, finding, detail, round, edges, n)) {
		return;
	}
	if (verdict_site(pythia, finding, detail, round, edges, n)) {
		return;
	}
	if (finding->n_given_up > given_up) {
		n = find_edges(pythia, finding, detail, edges);
		load_look_within(pythia, detail, round, edges, n);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (is_given_up(finding, edges[i].node) &&
				verdict_load(pythia, finding, detail, round, &edges[i])) {
			return;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct tree_row *row = &detail->tree->rows[edges[i].row];

		if (!find_untried_of(pythia, finding, detail, round, &edges[i])) {
			bool most = holds_most(detail, row->phi_low);

			if (most && !pythia_is_settled(pythia, round, detail)) {
				wait_for_more(finding);
				return;
			}
			if (most && propose_at_holder(pythia, finding, detail, round, &edges[i])) {
				return;
			}
			if (most) {
				site_of_place(pythia, finding, detail, round, row);
				site_of_all(pythia, finding, detail, round);
			}
			if (verdict_load(pythia, finding, detail, round, &edges[i])) {
				return;
			}
			if (most && tree_row_interrupts(row)) {
				verdict_interrupted(pythia, finding, detail, &edges[i]);
				return;
			}
			if (most && row->mark == TREE_NO_POINT) {
				if (!tell_no_finding(pythia, finding, detail, round, &edges[i])) {
					verdict_waiting(pythia, finding, detail, round, &edges[i],
							NULL, 0);
				}
				return;
			}
			if (most) {
				verdict_code(pythia, finding, detail, round, &edges[i], 1);
				return;
			}
			continue;
		}
		if (propose_inside(pythia, finding, detail, round, &edges[i])) {
			return;
		}
		over_budget |= !split_any_fits(pythia, finding);
	}
	if (over_budget && !pythia_is_settled(pythia, round, detail)) {
		wait_for_more(finding);
		return;
	}
	if (over_budget && verdict_within_budget(pythia, finding, detail, round, edges, n)) {
		return;
	}
	if (over_budget) {
		verdict = (struct steps_verdict){.reason = REASON_BUDGET,
				.type = detail->row->type,
				.budget_per_s = cost_bound(pythia)};
		finding_stop(pythia, finding, STOP_SPENT, &verdict);
		return;
	}
	if (propose_kernel(pythia, finding, detail, round)) {
		return;
	}
	if (pythia_is_settled(pythia, round, detail) &&
			(verdict_queue(pythia, finding, detail, round) ||
					verdict_one_holder(pythia, finding, detail, round, edges,
							n))) {
		return;
	}
	if (pythia_is_settled(pythia, round, detail) &&
			verdict_several(pythia, finding, detail, round, edges, n)) {
		return;
	}
	/* What names no place is not said before what is rare has had its time to come. */
	if (!pythia_is_settled(pythia, round, detail) ||
			(is_patient(finding, detail, round) &&
					(is_unsure(detail) ||
							pythia_age_of_epoch(round, detail->row) <
									LONG_EPOCH_NS))) {
		wait_for_more(finding);
		verdict = (struct steps_verdict){
				.reason = REASON_UNCLEAR, .type = detail->row->type};
		finding_tell(pythia, finding, &verdict);
		return;
	}
	verdict_diffuse(pythia, finding, detail, round, edges, n);
}
