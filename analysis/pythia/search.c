/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/internal.h"

/* An edge is worth splitting from here; the place is found where it holds half or more. */
#define ELIGIBLE_PHI     0.10
#define VERDICT_PHI      0.5
#define FRUITLESS_SPLITS 2u
#define MAX_EDGES        16u
#define MAX_WHERE        512

struct edge {
	uint32_t row, node;
	double weight;
	bool leaf;
};

void finding_release(struct finding *finding)
{
	free(finding->text);
	free(finding->where);
	free(finding->told_nothing);
	for (uint32_t i = 0; i < finding->n_history; i++) {
		free(finding->history[i]);
	}
	*finding = (struct finding){.edge = SPACE_NONE};
}

struct finding *finding_of(struct pythia *pythia, uint32_t group_id, bool make, uint32_t type)
{
	for (uint32_t i = 0; i < pythia->n_findings; i++) {
		if (pythia->findings[i].group_id == group_id) {
			return &pythia->findings[i];
		}
	}
	if (!make || pythia->n_findings == PYTHIA_MAX_FINDINGS) {
		return NULL;
	}
	pythia->findings[pythia->n_findings] = (struct finding){.group_id = group_id,
			.type = type,
			.edge = SPACE_NONE,
			.judged_epoch = UINT32_MAX,
			.started_ns = pythia->now_ns};
	return &pythia->findings[pythia->n_findings++];
}

void finding_rule_out(struct finding *finding, uint32_t point)
{
	if (point / 64 >= finding->told_words) {
		uint32_t words = point / 64 + 1;
		uint64_t *bits = realloc(finding->told_nothing, words * sizeof(*bits));

		if (!bits) {
			return;
		}
		memset(bits + finding->told_words, 0,
				(words - finding->told_words) * sizeof(*bits));
		finding->told_nothing = bits;
		finding->told_words = words;
	}
	finding->told_nothing[point / 64] |= UINT64_C(1) << point % 64;
}

bool finding_rules_out(const struct finding *finding, uint32_t point)
{
	return point / 64 < finding->told_words &&
	       (finding->told_nothing[point / 64] >> point % 64 & 1);
}

static void set_text(char **at, const char *text)
{
	char *copy = strdup(text);

	if (copy) {
		free(*at);
		*at = copy;
	}
}

__attribute__((format(printf, 2, 3))) static void finding_say(
		struct finding *finding, const char *format, ...)
{
	char text[768];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	set_text(&finding->text, text);
}

void finding_note(struct finding *finding, const char *format, ...)
{
	char text[512];
	char *copy;
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	copy = strdup(text);
	if (!copy) {
		return;
	}
	if (finding->n_history == PYTHIA_MAX_HISTORY) {
		free(finding->history[0]);
		memmove(&finding->history[0], &finding->history[1],
				(PYTHIA_MAX_HISTORY - 1) * sizeof(*finding->history));
		finding->n_history--;
	}
	finding->history[finding->n_history++] = copy;
}

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
	bool by_phi = pythia->strategy->edges == EDGE_BY_PHI;
	uint32_t n = 0;

	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_row *row = &tree->rows[i];
		struct edge edge = {.row = i, .node = pythia->nodes[i]};
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

static bool candidates_reserve(struct pythia *pythia, uint32_t n)
{
	uint32_t room = n * 2;
	void *candidates, *chosen, *doubles;

	if (n <= pythia->candidates_room) {
		return true;
	}
	candidates = realloc(pythia->candidates, room * sizeof(*pythia->candidates));
	pythia->candidates = candidates ? candidates : pythia->candidates;
	chosen = realloc(pythia->chosen, room * sizeof(*pythia->chosen));
	pythia->chosen = chosen ? chosen : pythia->chosen;
	doubles = realloc(pythia->doubles, 2 * room * sizeof(*pythia->doubles));
	pythia->doubles = doubles ? doubles : pythia->doubles;
	if (!candidates || !chosen || !doubles) {
		return false;
	}
	pythia->candidates_room = room;
	return true;
}

static bool can_enable(struct pythia *pythia, const struct point *point)
{
	/* A moment has no time of its own: it would split nothing. */
	bool can = point->entry && (point->exit || point->kernel) && point_off(point);

	pythia->n_barred += can && point->barred > pythia->epoch;
	return can && point->barred <= pythia->epoch;
}

/* Whether it stands in the tree now: what is in it is not the edge's own time. */
static bool is_visible(const struct point *point)
{
	return (point->recorded | point->ours) != 0;
}

static uint32_t container_of(const struct pythia *pythia, uint32_t node, uint32_t edge)
{
	for (node = pythia->space.nodes[node].parent; node != edge;
			node = pythia->space.nodes[node].parent) {
		for (uint32_t i = pythia->n_candidates; i > 0; i--) {
			if (pythia->candidates[i - 1].node == node) {
				return i - 1;
			}
		}
	}
	return CANDIDATE_NONE;
}

/* The time of an edge that nothing recorded below it takes, by the profile; 0: not known. */
static double own_time(const struct pythia *pythia, uint32_t edge)
{
	const struct space *space = &pythia->space;
	double ns = space->nodes[edge].total_ns;
	uint32_t at = space_next(space, edge, edge, false);

	while (at != SPACE_NONE) {
		bool visible = is_visible(&pythia->points.items[space->nodes[at].point]);

		ns -= visible ? space->nodes[at].total_ns : 0;
		at = space_next(space, edge, at, visible);
	}
	return ns > 0 ? ns : 0;
}

static void add_candidate(struct pythia *pythia, uint32_t node, uint32_t point, uint32_t above,
		double edge_ns)
{
	double rate = cost_of_point(pythia, point);
	struct candidate *candidate;
	bool known = node != SPACE_NONE && pythia->space.nodes[node].requests && edge_ns > 0;
	double share = known ? pythia->space.nodes[node].total_ns / edge_ns : -1;

	if (!candidates_reserve(pythia, pythia->n_candidates + 1)) {
		return;
	}
	candidate = &pythia->candidates[pythia->n_candidates++];
	*candidate = (struct candidate){.node = node,
			.point = point,
			.above = above,
			.depth = above == CANDIDATE_NONE ? 1 : pythia->candidates[above].depth + 1,
			.share = share > 1 ? 1 : share,
			.events_per_s = rate < 0 ? 0 : rate,
			.explained = pythia->points.items[point].explained,
			.kernel = pythia->points.items[point].kernel};
}

/* Where each lies in the edge's time, if siblings follow each other in the order they were found.
 */
static void set_positions(struct pythia *pythia)
{
	double *begin = pythia->doubles, *filled, edge_filled = 0;

	if (pythia->n_candidates == 0) {
		return; /* there may be no scratch yet */
	}
	filled = begin + pythia->candidates_room;

	for (uint32_t i = 0; i < pythia->n_candidates; i++) {
		struct candidate *candidate = &pythia->candidates[i];
		double share = candidate->share > 0 ? candidate->share : 0;
		double *used = candidate->above == CANDIDATE_NONE ? &edge_filled
								  : &filled[candidate->above];

		begin[i] = (candidate->above == CANDIDATE_NONE ? 0 : begin[candidate->above]) +
			   *used;
		*used += share;
		filled[i] = 0;
		candidate->position = begin[i] + share / 2;
	}
}

/* Points that nobody saw fire, of the provider whose time the edge is. */
static void add_never_seen(struct pythia *pythia, const struct finding *finding, uint32_t provider)
{
	for (uint32_t i = 0; i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];

		if (point->provider == provider && !point->placed && !point->ever &&
				!point->skeleton && !point->kernel &&
				!finding_rules_out(finding, i) && can_enable(pythia, point)) {
			add_candidate(pythia, SPACE_NONE, i, CANDIDATE_NONE, 0);
		}
	}
}

static void find_candidates(struct pythia *pythia, const struct finding *finding, uint32_t edge)
{
	const struct space *space = &pythia->space;
	double edge_ns = own_time(pythia, edge);
	uint32_t at = space_next(space, edge, edge, false);

	pythia->n_candidates = pythia->n_barred = 0;
	while (at != SPACE_NONE) {
		const struct point *point = &pythia->points.items[space->nodes[at].point];
		bool out = finding_rules_out(finding, space->nodes[at].point);
		bool skip = out || is_visible(point);

		if (!out && can_enable(pythia, point)) {
			add_candidate(pythia, at, space->nodes[at].point,
					container_of(pythia, at, edge), edge_ns);
		}
		at = space_next(space, edge, at, skip);
	}
	if (pythia->n_candidates == 0 && !space->learned) {
		add_never_seen(pythia, finding,
				pythia->points.items[space->nodes[edge].point].provider);
	}
	set_positions(pythia);
}

/* Kernel events, where the code itself has no more points and a host offers them. */
static void find_kernel(struct pythia *pythia)
{
	static const char *const events[] = {"sched_switch", "sched_waking", "sched_wakeup",
			"irq_handler_entry", "softirq_entry", "block_rq_issue",
			"block_rq_complete"};

	pythia->n_candidates = 0;
	for (size_t e = 0; e < sizeof(events) / sizeof(events[0]); e++) {
		uint32_t name = names_add(pythia->names, events[e], strlen(events[e]));
		uint32_t point = points_of_event(&pythia->points, name);

		if (point != POINT_NONE && can_enable(pythia, &pythia->points.items[point])) {
			add_candidate(pythia, SPACE_NONE, point, CANDIDATE_NONE, 0);
		}
	}
	set_positions(pythia);
}

/* What the budget leaves; negative: there is no bound. */
static double events_left(const struct pythia *pythia)
{
	double bound = cost_bound(pythia), left = bound - cost_spent(pythia).events_per_s;

	return bound < 0 ? -1 : left > 0 ? left : 0;
}

static bool any_fits(const struct pythia *pythia)
{
	double left = events_left(pythia);

	for (uint32_t i = 0; i < pythia->n_candidates && left >= 0; i++) {
		if (pythia->candidates[i].events_per_s <= left) {
			return true;
		}
	}
	return left < 0;
}

/* The step that the strategy makes of the candidates. False: none fits. */
static bool propose(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, uint32_t row, bool any_number)
{
	const struct tree_row *edge = row == UINT32_MAX ? NULL : &detail->tree->rows[row];
	struct choice choice = {.candidates = pythia->candidates,
			.n = pythia->n_candidates,
			.max = any_number ? pythia->n_candidates : pythia->budget.points,
			.events_left = events_left(pythia),
			.seed = ((uint64_t)pythia->epoch << 32) + finding->group_id,
			.chosen = pythia->chosen,
			.scratch = pythia->doubles};
	char title[256], why[512];
	struct step_part *parts;
	struct step *step;
	uint32_t n;

	n = choice.n ? pythia->strategy->choose(&choice) : 0;
	parts = n ? calloc(n + pythia->points.n, sizeof(*parts)) : NULL;
	if (!parts) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t point = pythia->candidates[choice.chosen[i]].point;

		parts[i] = (struct step_part){.point = point,
				.hosts = point_off(&pythia->points.items[point]),
				.enable = true};
	}
	snprintf(title, sizeof(title), "+%u %s%s", n, edge ? "inside " : "kernel events",
			edge ? edge->name : "");
	if (edge) {
		snprintf(why, sizeof(why),
				"%.0f%% (%.0f to %.0f) of the variance of %s lies in its own time",
				100 * edge->phi, 100 * edge->phi_low, 100 * edge->phi_high,
				detail->row->type);
	} else {
		snprintf(why, sizeof(why), "no point of the code holds the variance of %s",
				detail->row->type);
	}
	/* What bores goes along, so that it needs no epoch of its own. */
	step = pythia_add_step(pythia, STEP_ENABLE, parts,
			n + pythia_gather_boring(pythia, parts + n), finding->group_id, title, why);
	free(parts);
	if (step) {
		median_bounds(detail->group, &step->median_low_ns, &step->median_high_ns);
	}
	return step != NULL;
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
	set_text(&finding->where, where);
}

static void stop(struct pythia *pythia, struct finding *finding, enum stop_rule rule)
{
	finding->rule = rule;
	finding->ended_ns = pythia->now_ns;
	finding_note(finding, "stopped: %s", finding->text);
}

static void verdict_code(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct edge *edge)
{
	const struct tree_row *row = &detail->tree->rows[edge->row];
	char deeper[128] = "no point deeper in it is known to fire";

	if (!edge->leaf && pythia->n_barred) {
		snprintf(deeper, sizeof(deeper),
				"deeper in it %u point%s left off: rejected, refused or undone",
				pythia->n_barred, pythia->n_barred == 1 ? " is" : "s are");
	}
	take_figures(finding, detail, edge->row);
	finding_say(finding,
			"%s: the time goes in %s (%.0f%% of the variance, %.0f to %.0f, n %llu); "
			"%s",
			detail->row->type, row->name, 100 * row->phi, 100 * row->phi_low,
			100 * row->phi_high, (unsigned long long)detail->tree->counted, deeper);
	if (edge->node != SPACE_NONE) {
		pythia->points.items[pythia->space.nodes[edge->node].point].explained++;
	}
	norms_drop(pythia, detail->row);
	stop(pythia, finding, STOP_CODE);
}

static void verdict_diffuse(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct edge *edges, uint32_t n)
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
	if (n > 0) {
		take_figures(finding, detail, edges[0].row);
	}
	if (location->common_cause) {
		finding_say(finding,
				"%s: many places vary together (%.0f%% in one direction): a common "
				"cause, such as a host or a resource",
				detail->row->type, 100 * location->first_component);
	} else {
		finding_say(finding,
				"%s: no place surely holds half of the variance%s%s; kernel events "
				"could "
				"say more, but no host offers them",
				detail->row->type, n ? ": " : "", places);
	}
	stop(pythia, finding, STOP_DIFFUSE);
}

/* A place may hold half of the variance, or next to nothing: one odd request can do that. */
static bool is_unsure(const struct tree_view *tree)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		if (tree->rows[i].phi_low <= ELIGIBLE_PHI &&
				tree->rows[i].phi_high >= VERDICT_PHI) {
			return true;
		}
	}
	return false;
}

/* What the last split of the edge has shown. */
static void learn_from_split(struct finding *finding, const struct edge *edges, uint32_t n,
		const struct tree_view *tree)
{
	if (finding->edge == SPACE_NONE || n == 0) {
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
		finding->given_up[finding->n_given_up++] = finding->edge;
		finding->fruitless = 0;
	}
}

void finding_search(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_look *look)
{
	struct edge edges[MAX_EDGES];
	uint32_t n = find_edges(pythia, finding, detail->tree, edges),
		 given_up = finding->n_given_up;
	bool over_budget = false;

	learn_from_split(finding, edges, n, detail->tree);
	if (finding->n_given_up > given_up) {
		n = find_edges(pythia, finding, detail->tree, edges);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct tree_row *row = &detail->tree->rows[edges[i].row];

		pythia->n_candidates = 0;
		if (!edges[i].leaf) {
			find_candidates(pythia, finding, edges[i].node);
		}
		if (pythia->n_candidates == 0) {
			if (row->phi_low >= VERDICT_PHI) {
				verdict_code(pythia, finding, detail, &edges[i]);
				return;
			}
			continue;
		}
		if (propose(pythia, finding, detail, edges[i].row, false)) {
			finding->edge = edges[i].node;
			finding->edge_phi = row->phi;
			take_figures(finding, detail, edges[i].row);
			finding_say(finding,
					"%s: %.0f%% of the variance is inside %s; looking deeper",
					detail->row->type, 100 * row->phi, row->name);
			return;
		}
		over_budget |= !any_fits(pythia);
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
	find_kernel(pythia);
	if (pythia->n_candidates && propose(pythia, finding, detail, UINT32_MAX, true)) {
		return;
	}
	if (is_unsure(detail->tree) && look->now_ns < look->epoch_ns + PATIENCE_NS) {
		finding->judged_epoch = UINT32_MAX; /* with more requests again */
		finding->edge = SPACE_NONE;         /* what its split has shown is noted */
		finding_say(finding, "%s: where its variance lies is not clear yet",
				detail->row->type);
		return;
	}
	verdict_diffuse(pythia, finding, detail, edges, n);
}
