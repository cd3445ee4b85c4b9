/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

/*
 * One of several like servers is slower. Requests that ask another one are another group, as slow
 * as ever within itself: that one of them takes longer than the others is only told by comparing
 * them. It is said where
 *
 *   - two groups differ in nothing but which of several like servers they ask (groups/siblings.h),
 *     and what they were asked does not tell which: so each could have asked any of them;
 *   - the mean of one is surely longer than that of the others together: Welch's t (1947), where
 *     BURSTS requests count as one, for all comparisons of the round together (Bonferroni);
 *   - the difference is in the call, as the critical paths of both tell;
 *   - it was not so when the groups were learned, as far as they were;
 *   - and in two rounds, half a window apart.
 *
 * Else two groups that do other work for other requests would be an alarm for as long as they run.
 */
#define MOST_SIBLINGS 64u
#define CALLED_BYTES  64u

/* ---- which groups take longer ---- */

/* Requests of one group or of several: their mean, and the variance of it. */
struct side {
	double n, mean_ns, variance;
};

static bool is_eligible(const struct groups_row *row)
{
	return row && row->missing == 0 && !row->lossy && !row->idle_wait &&
	       row->count >= FEW_REQUESTS;
}

/* Their requests taken together. */
static struct side side_of(const struct groups_row *const *rows, uint32_t n_rows)
{
	struct side side = {.n = 0};
	double squares = 0;

	for (uint32_t i = 0; i < n_rows; i++) {
		side.n += (double)rows[i]->count;
		side.mean_ns += (double)rows[i]->count * rows[i]->mean_ns;
	}
	side.mean_ns /= side.n;
	for (uint32_t i = 0; i < n_rows; i++) {
		double beyond = rows[i]->mean_ns - side.mean_ns;

		squares += (double)rows[i]->count *
			   (rows[i]->sd_ns * rows[i]->sd_ns + beyond * beyond);
	}
	side.variance = squares / side.n / (side.n / BURSTS);
	return side;
}

/* Half of the interval of the difference: a one-sided p. */
static double half_interval(const struct side *a, const struct side *b, double p)
{
	double sum = a->variance + b->variance;
	double freedom = sum * sum /
			 (a->variance * a->variance / (a->n / BURSTS - 1) +
					 b->variance * b->variance / (b->n / BURSTS - 1));

	return sum > 0 ? gsl_cdf_tdist_Qinv(p, freedom) * sqrt(sum) : 0;
}

struct comparison {
	struct pythia_compared told;
	struct side slow, others;
	double costs; /* what the difference adds to all requests, ns/s */
};

/* False: it has no siblings to compare it with. */
static bool compare(const struct pythia_round *round, const struct groups_row *row,
		struct comparison *out)
{
	struct pythia_sibling siblings[MOST_SIBLINGS];
	const struct groups_row *others[MOST_SIBLINGS];
	uint32_t n = round->siblings(round->callback_context, row->id, siblings, MOST_SIBLINGS);
	uint64_t most = 0;

	*out = (struct comparison){.told = {.group_id = row->id}};
	for (uint32_t i = 0; i < n; i++) {
		const struct groups_row *other = row_of(round->recent, siblings[i].group_id);

		if (!is_eligible(other)) {
			continue;
		}
		others[out->told.n_siblings++] = other;
		if (other->count > most) {
			most = other->count;
			out->told.sibling = siblings[i];
		}
	}
	if (out->told.n_siblings == 0) {
		return false;
	}
	out->slow = side_of(&row, 1);
	out->others = side_of(others, out->told.n_siblings);
	out->told.others_ns = out->others.mean_ns;
	out->told.others_requests = (uint64_t)out->others.n;
	out->costs = row->rate_per_s * (out->slow.mean_ns - out->others.mean_ns);
	return true;
}

/* Surely, and by enough to matter to whoever waits for it. `n`: comparisons. */
static bool is_slower(struct comparison *comparison, uint32_t n)
{
	double difference = comparison->slow.mean_ns - comparison->others.mean_ns;
	double half = half_interval(&comparison->slow, &comparison->others, SIBLING_P / n);

	comparison->told.low_ns = difference - half;
	comparison->told.high_ns = difference + half;
	return comparison->told.low_ns >= SIBLING_LEAST_NS &&
	       comparison->told.low_ns >= (SIBLING_TIMES - 1) * comparison->others.mean_ns;
}

static bool costs_more(const struct comparison *comparison, const struct comparison *than)
{
	return comparison->costs > than->costs;
}

/* Requests/s x sd of all groups. */
static double all_variation(const struct groups_view *groups)
{
	double sum = 0;

	for (uint32_t i = 0; i < groups->n; i++) {
		const struct groups_row *row = &groups->rows[i];

		sum += row->count > 1 && !row->idle_wait ? row->rate_per_s * row->sd_ns : 0;
	}
	return sum;
}

/* Those that no round has shown for long are over. */
static void let_go(struct pythia *pythia)
{
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		struct finding *finding = &pythia->locating.findings[i];

		if (finding->rule == STOP_PEER && finding->alone++ >= SIBLING_GONE) {
			finding_note(finding, "its requests take no longer than those that ask %s",
					finding->kept.verdict.called_others);
			finding->rule = STOP_HEALTHY;
			finding->ended_ns = pythia->now_ns;
			finding->told_all = false;
		}
	}
}

uint32_t pythia_compare_siblings(struct pythia *pythia, const struct pythia_round *round,
		struct pythia_compared *out)
{
	uint64_t since_ns = pythia->locating.siblings_ns;
	struct comparison *list;
	uint32_t n = 0, n_out = 0;
	double all;

	if (!round->siblings ||
			(since_ns && round->now_ns < since_ns + SIBLING_ROUND_NS && !round->last)) {
		return 0;
	}
	pythia->now_ns = round->now_ns;
	pythia->locating.siblings_ns = round->now_ns;
	pythia->locating.siblings_before_ns = since_ns;
	let_go(pythia);
	list = calloc(round->recent->n + 1, sizeof(*list));
	for (uint32_t i = 0; i < round->recent->n && list; i++) {
		const struct groups_row *row = &round->recent->rows[i];

		n += is_eligible(row) && compare(round, row, &list[n]);
	}
	all = all_variation(round->recent);
	while (n_out < PYTHIA_COMPARED) {
		struct comparison *worst = NULL;

		for (uint32_t i = 0; i < n; i++) {
			if (list[i].costs >= SMALL_SHARE * all && is_slower(&list[i], n) &&
					(!worst || costs_more(&list[i], worst))) {
				worst = &list[i];
			}
		}
		if (!worst) {
			break;
		}
		out[n_out++] = worst->told;
		worst->costs = -1;
	}
	free(list);
	return n_out;
}

/* ---- where the difference is ---- */

/* Called alike, but for which of several servers it is: "python3:8001", "python3:8002". */
static bool are_called_alike(const char *a, const char *b)
{
	const char *ports[2] = {strrchr(a, ':'), strrchr(b, ':')};

	if (strcmp(a, b) == 0) {
		return true;
	}
	return ports[0] && ports[1] && ports[0] - a == ports[1] - b &&
	       strncmp(a, b, (size_t)(ports[0] - a)) == 0 &&
	       !ports[0][1 + strspn(ports[0] + 1, "0123456789")] &&
	       !ports[1][1 + strspn(ports[1] + 1, "0123456789")];
}

static uint32_t row_with(const struct tree_view *tree, uint32_t context)
{
	uint32_t i = 0;

	while (i < tree->n && tree->rows[i].context != context) {
		i++;
	}
	return i;
}

/* The row below `parent` that does what a row of the sibling's tree does; UINT32_MAX: none. */
static uint32_t twin_below(const struct tree_view *tree, uint32_t parent, const struct tree_row *of)
{
	for (uint32_t i = parent + 1;
			parent != UINT32_MAX && i <= parent + tree->rows[parent].n_below; i++) {
		if (tree->rows[i].parent == parent &&
				strcmp(tree->rows[i].provider, of->provider) == 0 &&
				are_called_alike(tree->rows[i].name, of->name)) {
			return i;
		}
	}
	return UINT32_MAX;
}

/* Parts of the critical path: their means summed up, and the variance of the mean. */
struct parts {
	double ns, variance;
};

/* Those of a row and what is below; UINT32_MAX: none. */
static struct parts parts_below(const struct tree_view *tree, uint32_t at)
{
	struct parts parts = {.ns = 0};
	uint32_t end = at == UINT32_MAX ? 0 : at + tree->rows[at].n_below + 1;

	for (uint32_t i = at == UINT32_MAX ? 0 : at; i < end; i++) {
		double sd = tree->rows[i].segment_sd_ns;

		parts.ns += tree->rows[i].segment_mean_ns;
		parts.variance += sd * sd * BURSTS / (double)tree->counted;
	}
	return parts;
}

static struct parts parts_of_all(const struct tree_view *tree)
{
	struct parts all = {.ns = 0};

	for (uint32_t i = 0; i < tree->n; i += tree->rows[i].n_below + 1) {
		struct parts parts = parts_below(tree, i);

		all.ns += parts.ns;
		all.variance += parts.variance;
	}
	return all;
}

/*
 * The share of the difference that is in a row and below it. It is as sure as it is that the other
 * rows do not differ.
 */
static void share_of(const struct tree_view *slow, uint32_t at, const struct tree_view *other,
		uint32_t its, struct steps_verdict *out)
{
	struct parts all[2] = {parts_of_all(slow), parts_of_all(other)};
	struct parts within[2] = {parts_below(slow, at), parts_below(other, its)};
	double difference = all[0].ns - all[1].ns, error = 0;

	for (uint32_t i = 0; i < 2; i++) {
		error += fmax(0, all[i].variance - within[i].variance);
	}
	error = Z90 * sqrt(error) / difference;
	out->share = difference > 0 ? (within[0].ns - within[1].ns) / difference : 0;
	out->share_low = difference > 0 ? out->share - error : 0;
	out->share_high = difference > 0 ? out->share + error : 0;
}

/* The deepest span that surely has most of the difference; UINT32_MAX: it is not in the call. */
static uint32_t find_place(const struct pythia_compared *told, const struct tree_view *slow,
		const struct tree_view *other, struct steps_verdict *out)
{
	uint32_t at = row_with(slow, told->sibling.own), its = row_with(other, told->sibling.its);
	struct steps_verdict deeper = *out;
	uint32_t end;

	if (!slow->located || !other->located || at == slow->n || its == other->n) {
		return UINT32_MAX;
	}
	share_of(slow, at, other, its, out);
	if (out->share_low < SIBLING_PHI) {
		return UINT32_MAX;
	}
	end = at + slow->rows[at].n_below;
	for (uint32_t i = at + 1; i <= end; i++) {
		uint32_t twin;

		if (slow->rows[i].parent != at || slow->rows[i].mark == TREE_NO_POINT ||
				tree_row_interrupts(&slow->rows[i])) {
			continue;
		}
		twin = twin_below(other, its, &slow->rows[i]);
		share_of(slow, i, other, twin, &deeper);
		if (deeper.share_low >= SIBLING_PHI) {
			*out = deeper;
			at = i;
			its = twin;
			end = at + slow->rows[at].n_below;
		}
	}
	return at;
}

/* ---- whether it is to be said ---- */

static const struct norm *known_norm(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm = norm_of(pythia, row);

	return norm && !norm->stands_in ? norm : NULL;
}

/* As it was when it was learned, or about as much slower than the others as then. */
static bool is_usual(const struct pythia *pythia, const struct groups_row *slow,
		const struct groups_row *other)
{
	const struct norm *norm = known_norm(pythia, slow), *its = known_norm(pythia, other);

	if (norm && norms_hold(pythia, slow)) {
		return true;
	}
	return norm && its &&
	       (double)slow->p50_ns * its->p50_ns <
			       SIBLING_TIMES * (double)other->p50_ns * norm->p50_ns;
}

/* In so many rounds in a row. */
static uint32_t count_rounds(struct pythia *pythia, const struct pythia_compared *told)
{
	struct locating *locating = &pythia->locating;
	uint32_t free_one = 0;

	for (uint32_t i = 0; i < PYTHIA_COMPARED; i++) {
		bool is = locating->beside[i].group_id == told->group_id &&
			  locating->beside[i].call == told->sibling.own;

		if (is && locating->beside[i].ns == locating->siblings_before_ns) {
			locating->beside[i].ns = pythia->now_ns;
			return ++locating->beside[i].rounds;
		}
		free_one = locating->beside[i].ns < locating->beside[free_one].ns ? i : free_one;
	}
	locating->beside[free_one].group_id = told->group_id;
	locating->beside[free_one].call = told->sibling.own;
	locating->beside[free_one].ns = pythia->now_ns;
	return locating->beside[free_one].rounds = 1;
}

/* A search of the group may say more than that its requests take longer, and where. */
static bool is_open_to(const struct pythia *pythia, const struct finding *finding,
		const struct pythia_compared *told, const struct groups_row *row, const char *where)
{
	switch (finding->rule) {
	case STOP_NONE:
		return !pythia_can_act(pythia) ||
		       (finding->n_steps == 0 &&
				       (told->low_ns > row->sd_ns ||
						       pythia->now_ns >=
								       finding->started_ns +
										       PATIENCE_NS));
	case STOP_CODE:
		return finding->where && strcmp(finding->where, where) == 0;
	case STOP_DIFFUSE:
		return !finding->at_site && !finding->told_all;
	case STOP_PEER:
	case STOP_HEALTHY:
	case STOP_SPENT:
		return true;
	default:
		return false;
	}
}

static void conclude(struct pythia *pythia, struct finding *finding,
		const struct pythia_round *round, const struct pythia_detail *slow,
		const struct steps_verdict *verdict, uint32_t place, const char *where)
{
	finding->where = pythia_keep(pythia, where);
	finding->told_all = true;
	finding->requests = 0; /* no shares of a variance */
	finding->edge = SPACE_NONE;
	finding->alone = 0;
	if (finding->rule == STOP_PEER) {
		finding_tell(pythia, finding, verdict);
		return;
	}
	finding->sd_ns = slow->row->sd_ns;
	site_of_place(pythia, finding, slow, round, &slow->tree->rows[place]);
	finding_stop(pythia, finding, STOP_PEER, verdict);
	norms_drop(pythia, slow->row);
}

void pythia_judge_siblings(struct pythia *pythia, const struct pythia_round *round,
		const struct pythia_compared *told, const struct pythia_detail *slow,
		const struct pythia_detail *other)
{
	struct steps_verdict verdict = {.reason = REASON_PEER,
			.type = slow->row->type,
			.share_of = "difference",
			.requests = slow->row->count,
			.mean_ns = slow->row->mean_ns,
			.n_siblings = told->n_siblings,
			.requests_others = told->others_requests,
			.mean_others_ns = told->others_ns,
			.longer_low_ns = told->low_ns,
			.longer_high_ns = told->high_ns};
	uint32_t other_id = told->sibling.group_id;
	uint32_t place = find_place(told, slow->tree, other->tree, &verdict);
	bool known = known_norm(pythia, slow->row) && known_norm(pythia, other->row);
	char where[512], called[CALLED_BYTES], others[CALLED_BYTES];
	struct finding *finding;

	if (place == UINT32_MAX || is_usual(pythia, slow->row, other->row) ||
			!round->ask_alike(round->callback_context, told->group_id, other_id) ||
			(count_rounds(pythia, told) < SIBLING_ROUNDS && !round->last)) {
		return;
	}
	tree_where(slow->tree, place, where, sizeof(where));
	finding = finding_of(pythia, told->group_id, true, pythia_intern(pythia, slow->row->type));
	if (!finding || !is_open_to(pythia, finding, told, slow->row, where)) {
		return;
	}
	if (finding->rule != STOP_PEER) {
		finding->no_normal = !known && !slow->row->objective_ns;
	}
	round->called(round->callback_context, told->group_id, told->sibling.own, called,
			sizeof(called));
	round->called(round->callback_context, other_id, told->sibling.its, others, sizeof(others));
	verdict.called = called;
	verdict.called_others = others;
	verdict.place = slow->tree->rows[place].name;
	verdict.within = slow->tree->rows[place].context == told->sibling.own ? "" : called;
	conclude(pythia, finding, round, slow, &verdict, place, where);
}
