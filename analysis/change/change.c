/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "change/change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "change/rows.h"
#include "change/since.h"

#define RATE_FACTOR 2.0  /* rates that differ by less are load as ever */
#define LIKELY      0.05 /* p of one difference alone */
#define MAX_LIKELY  3u
#define LEAST_SHARE 0.01 /* of the mean: smaller changes are not told, however sure */

struct found *row_add(struct work *work, enum change_kind kind)
{
	struct found *found;

	if (work->n == work->room) {
		return NULL;
	}
	found = &work->found[work->n++];
	*found = (struct found){.pair = NO_PAIR, .place = UINT32_MAX};
	found->row.kind = kind;
	found->row.service = found->row.provider = found->row.name = "";
	found->row.where = found->row.type = found->row.others = found->row.waits_for =
			found->row.from = "";
	return found;
}

double found_p(const struct work *work, const struct difference *d, enum family family)
{
	return difference_p(d) * 2 * work->tests[family];
}

void found_put_difference(struct work *work, struct change_row *row, const struct difference *d,
		enum family family)
{
	double half = difference_half(d->variance, d->freedom);
	double added = difference_half(d->added_variance, d->freedom);

	row->before = d->before;
	row->after = d->after;
	row->difference_low = d->value - half;
	row->difference_high = d->value + half;
	row->added_ns_per_s = d->added;
	row->added_low = d->added - added;
	row->added_high = d->added + added;
	row->requests_before = d->n[0];
	row->requests_after = d->n[1];
	row->p = found_p(work, d, family);
}

/* Too small a share to be told, however sure. */
static bool is_small(const struct difference *d)
{
	double scale = d->before > d->after ? d->before : d->after;

	return fabs(d->value) < LEAST_SHARE * scale;
}

bool found_is_sure(const struct work *work, const struct difference *d, enum family family)
{
	return found_p(work, d, family) < CHANGE_LEVEL && !is_small(d);
}

bool found_is_likely(const struct difference *d)
{
	return difference_p(d) < LIKELY && !is_small(d);
}

/* --- where ---------------------------------------------------------------------------------- */

static const char *chain_of(struct work *work, uint32_t pair)
{
	const char *chain = "";

	for (uint32_t at = work->matched.pairs[pair].parent; at != NO_PAIR && chain;
			at = work->matched.pairs[at].parent) {
		const char *name = pair_either(&work->matched.pairs[at])->name;

		chain = arena_printf(work->arena, "%s%s%s", name, chain[0] ? "\u203a" : "", chain);
	}
	return chain ? chain : "";
}

static const char *type_of(const struct work *work, uint32_t pair)
{
	const struct matched_type *type = &work->matched.types[work->matched.pairs[pair].type];

	return type->sides[1] ? type->sides[1]->type : type->sides[0]->type;
}

void found_tell_types(struct work *work, uint32_t place, struct change_row *row)
{
	uint32_t last = UINT32_MAX;
	uint64_t most = 0;

	for (uint32_t at = work->matched.places[place].first; at != NO_PAIR;
			at = work->matched.next[at]) {
		const struct pair *pair = &work->matched.pairs[at];

		row->types += pair->type != last; /* pairs of a type follow each other */
		last = pair->type;
		if (pair_either(pair)->requests >= most) {
			most = pair_either(pair)->requests;
			row->type = type_of(work, at);
		}
	}
}

/* The group that most requests of a type are of; 0: not known. */
static uint32_t group_of_type(const struct baseline_type *type)
{
	const struct baseline_node *most = NULL;

	for (uint32_t i = 0; type && i < type->n; i++) {
		if (type->nodes[i].parent == UINT32_MAX &&
				(!most || type->nodes[i].requests > most->requests)) {
			most = &type->nodes[i];
		}
	}
	return most ? most->group_id : 0;
}

uint32_t found_pair_of(const struct work *work, const struct found *found)
{
	uint32_t most = NO_PAIR;

	if (found->pair != NO_PAIR || found->place == UINT32_MAX) {
		return found->pair;
	}
	for (uint32_t at = work->matched.places[found->place].first; at != NO_PAIR;
			at = work->matched.next[at]) {
		const struct baseline_node *node = work->matched.pairs[at].sides[1];

		if (most == NO_PAIR ||
				(node && (!work->matched.pairs[most].sides[1] ||
							 node->requests >
									 work->matched.pairs[most]
											 .sides[1]
											 ->requests))) {
			most = at;
		}
	}
	return most;
}

/* The context to look at: its own, else the one of its place that most requests are in. */
static bool put_context(struct work *work, struct found *found)
{
	uint32_t pair = found_pair_of(work, found), depth = 0;
	struct change_step *steps;

	if (pair == NO_PAIR) {
		return true;
	}
	pair = work->matched.pairs[pair].lag ? work->matched.pairs[pair].parent : pair;
	for (uint32_t at = pair; at != NO_PAIR; at = work->matched.pairs[at].parent) {
		depth++;
	}
	steps = arena_alloc(work->arena, depth * sizeof(*steps));
	if (!steps) {
		return false;
	}
	found->row.steps = steps;
	found->row.n_steps = depth;
	for (uint32_t at = pair; at != NO_PAIR; at = work->matched.pairs[at].parent) {
		const struct baseline_node *node = pair_either(&work->matched.pairs[at]);

		steps[--depth] = (struct change_step){
				.provider = node->provider, .name = node->name};
	}
	if (work->matched.pairs[pair].sides[1]) {
		found->row.group_id = work->matched.pairs[pair].sides[1]->group_id;
	}
	return true;
}

/* --- own time ------------------------------------------------------------------------------- */

void found_put_place(struct work *work, struct found *found)
{
	const struct place *place = &work->matched.places[found->place];
	struct change_row *row = &found->row;

	row->service = place->service;
	row->provider = place->provider;
	row->name = place->name;
	if (found->pair != NO_PAIR) {
		row->where = chain_of(work, found->pair);
		row->type = type_of(work, found->pair);
		row->types = 1;
	} else {
		found_tell_types(work, found->place, row);
	}
}

/* What it adds to requests is what is on their path. */
static void put_added(struct work *work, struct found *found)
{
	struct change_row *row = &found->row;
	struct difference path;
	double half;
	bool any = found->pair != NO_PAIR
				   ? difference_of_pair(&work->matched, found->pair, ON_PATH, &path)
				   : difference_of_place(
						     &work->matched, found->place, ON_PATH, &path);

	row->path_unknown = !any;
	row->off_path = any && ((path.value > 0) != (row->kind == CHANGE_SLOWER) ||
					       difference_p(&path) > 0.05);
	row->added_ns_per_s = any ? path.added : 0;
	half = any ? difference_half(path.added_variance, path.freedom) : 0;
	row->added_low = row->added_ns_per_s - half;
	row->added_high = row->added_ns_per_s + half;
}

static void find_own(struct work *work, uint32_t place)
{
	const struct matched *matched = &work->matched;
	struct difference d, best = {.variance = 0};
	uint32_t first = matched->places[place].first, of = NO_PAIR;
	enum family family = OF_PLACES;
	bool any = false, single = first == NO_PAIR || matched->next[first] == NO_PAIR;
	struct found *found;

	if (matched->places[place].caller || first == NO_PAIR || matched->pairs[first].lag) {
		return;
	}
	if (difference_of_place(matched, place, OWN_TIME, &d)) {
		best = d;
		any = true;
	}
	for (uint32_t at = single ? NO_PAIR : first; at != NO_PAIR; at = matched->next[at]) {
		if (difference_of_pair(matched, at, OWN_TIME, &d) && !is_small(&d) &&
				(!any || is_small(&best) ||
						found_p(work, &d, OF_CONTEXTS) <
								found_p(work, &best, family))) {
			best = d;
			of = at;
			family = OF_CONTEXTS;
			any = true;
		}
	}
	if (any) {
		work->places[place] = best.value > 0 ? difference_z(&best) : -difference_z(&best);
	}
	found = any && found_is_likely(&best)
				? row_add(work, best.value > 0 ? CHANGE_SLOWER : CHANGE_FASTER)
				: NULL;
	if (!found) {
		return;
	}
	found->row.sure = found_is_sure(work, &best, family);
	found->place = place;
	found->pair = single ? first : of;
	found_put_place(work, found);
	found_put_difference(work, &found->row, &best, family);
	put_added(work, found);
	found->rank = found->row.off_path || found->row.path_unknown ? best.added / WAY_FACTOR / 2
								     : found->row.added_ns_per_s;
	if (found->row.kind == CHANGE_FASTER) {
		found->rank = -fabs(
				1 / (1 + fabs(best.added))); /* after all that costs something */
	}
}

/*
 * All that a service does takes a little longer, each place too little to be sure of: its places
 * together. (Stouffer 1949.)
 */
static void find_service(struct work *work, uint32_t first)
{
	const struct matched *matched = &work->matched;
	const char *service = matched->places[first].service;
	struct difference all = {.freedom = 1e6, .variance = 1};
	uint32_t n = 0;
	double z = 0, variance = 0, half;
	struct found *found;

	for (uint32_t i = 0; i < matched->n_places; i++) {
		if (!matched->places[i].caller &&
				strcmp(matched->places[i].service, service) == 0) {
			struct difference d;
			const struct pair *pair = &matched->pairs[matched->places[i].first];

			if (i < first) {
				return; /* it had its turn */
			}
			if (pair->part || pair->calls || isnan(work->places[i]) ||
					!difference_of_place(matched, i, OWN_TIME, &d)) {
				continue;
			}
			z += work->places[i];
			all.before += d.before;
			all.after += d.after;
			variance += d.variance;
			all.added += d.added;
			all.added_variance += d.added_variance;
			all.n[0] = d.n[0] > all.n[0] ? d.n[0] : all.n[0];
			all.n[1] = d.n[1] > all.n[1] ? d.n[1] : all.n[1];
			n++;
		}
	}
	for (uint32_t i = 0; i < work->n; i++) {
		n = work->found[i].row.sure && strcmp(work->found[i].row.service, service) == 0 ? 0
												: n;
	}
	all.value = n ? z / sqrt(n) : 0;
	if (n < 2 || !found_is_likely(&all) || (all.value > 0) != (all.after > all.before)) {
		return;
	}
	found = row_add(work, all.value > 0 ? CHANGE_SLOWER : CHANGE_FASTER);
	if (found) {
		found->row.sure = found_p(work, &all, OF_PLACES) < CHANGE_LEVEL;
		found_put_difference(work, &found->row, &all, OF_PLACES);
		found->row.service = service;
		found->row.name = "(all)";
		found->place = first;
		half = difference_half(variance, all.freedom);
		found->row.difference_low = all.after - all.before - half;
		found->row.difference_high = all.after - all.before + half;
		found->rank = all.value > 0 ? all.added : -1;
	}
}

/* --- rows ----------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->follows != y->follows) {
		return x->follows ? 1 : -1;
	}
	if (x->row.sure != y->row.sure) {
		return x->row.sure ? -1 : 1;
	}
	if (!x->row.sure) {
		bool faster[2] = {x->row.kind == CHANGE_FASTER, y->row.kind == CHANGE_FASTER};

		if (faster[0] != faster[1]) {
			return faster[0] ? 1 : -1;
		}
		return (x->row.p > y->row.p) - (x->row.p < y->row.p);
	}
	return (x->rank < y->rank) - (x->rank > y->rank);
}

static void count_tests(struct work *work)
{
	const struct matched *matched = &work->matched;

	work->tests[OF_PLACES] = matched->n_types;
	for (uint32_t i = 0; i < matched->n_places; i++) { /* its time, and that of its service */
		uint32_t of_place = 0;

		for (uint32_t at = matched->places[i].first; at != NO_PAIR;
				at = matched->next[at]) {
			of_place += matched->pairs[at].sides[0] && matched->pairs[at].sides[1];
		}
		work->tests[OF_PLACES] += of_place > 0;
		work->tests[OF_CONTEXTS] +=
				of_place > 1 && !matched->places[i].caller ? of_place : 0;
		for (uint32_t k = 0; k <= i; k++) {
			if (strcmp(matched->places[k].service, matched->places[i].service) == 0) {
				work->tests[OF_PLACES] += k == i;
				break;
			}
		}
	}
	for (uint32_t i = 0, n; i < work->n_calls; i += n) {
		for (n = 1; i + n < work->n_calls &&
				work->calls[i + n].above == work->calls[i].above &&
				work->calls[i + n].place == work->calls[i].place;) {
			n++;
		}
		work->tests[OF_PLACES]++;
		work->tests[OF_CONTEXTS] += n > 1 ? n : 0;
	}
}

static void count_unmatched(struct work *work, struct changes_view *out)
{
	const struct matched *matched = &work->matched;
	uint32_t told[2] = {0, 0};
	const char *names[2] = {"", ""};

	for (uint32_t i = 0; i < matched->n_types; i++) {
		for (uint32_t side = 0; side < 2; side++) {
			const char *name;

			if (matched->types[i].sides[1 - side]) {
				continue;
			}
			name = matched->types[i].sides[side]->type;
			if (told[side]++ < NAMES_TOLD) {
				names[side] = arena_printf(work->arena, "%s%s%s",
						names[side] ? names[side] : "",
						told[side] > 1 ? ", " : "", name);
			}
		}
	}
	for (uint32_t i = 0; i < matched->n; i++) {
		if (matched->pairs[i].lag) {
			continue; /* no context of the tree's */
		}
		out->n_contexts += matched->pairs[i].sides[0] && matched->pairs[i].sides[1];
		out->n_contexts_gone += !matched->pairs[i].sides[1];
		out->n_contexts_new += !matched->pairs[i].sides[0];
	}
	out->n_cut = matched->n_cut;
	out->cut_requests = matched->cut_requests;
	out->cut = matched->cut;
	out->n_types = matched->n_types - told[0] - told[1];
	out->n_types_gone = told[0];
	out->n_types_new = told[1];
	out->types_gone = names[0] ? names[0] : "";
	out->types_new = names[1] ? names[1] : "";
}

/* --- rates ---------------------------------------------------------------------------------- */

/*
 * Requests of a type that appear, vanish or multiply. Counts are taken to vary as those of requests
 * that come by themselves (Poisson), or as much more as their durations do in batches.
 */
static void find_rate(struct work *work, uint32_t at)
{
	const struct matched_type *type = &work->matched.types[at];
	double freedom = 1e6, seconds[2], rate[2], count[2], inflation = 1, factor;
	struct difference d = {.freedom = freedom};
	struct found *found;

	for (uint32_t i = 0; i < 2; i++) {
		const struct baseline_type *side = type->sides[i];

		count[i] = side ? (double)side->all : 0;
		seconds[i] = matched_seconds(&work->matched, at, i);
		rate[i] = count[i] / seconds[i];
		inflation = inflation_of_side(type, i) > inflation ? inflation_of_side(type, i)
								   : inflation;
		d.n[i] = side ? side->all : 0;
	}
	for (uint32_t i = 0; i < 2; i++) {
		d.variance += inflation * (count[i] + 0.5) / (seconds[i] * seconds[i]);
	}
	factor = rate[0] < rate[1] ? rate[1] / rate[0] : rate[0] / rate[1];
	d.before = rate[0];
	d.after = rate[1];
	d.value = rate[1] - rate[0];
	if (factor < RATE_FACTOR || !found_is_sure(work, &d, OF_PLACES)) {
		return;
	}
	found = row_add(work, CHANGE_RATE);
	if (found) {
		found_put_difference(work, &found->row, &d, OF_PLACES);
		found->row.sure = true;
		found->row.added_ns_per_s = found->row.added_low = found->row.added_high = 0;
		found->row.type = (type->sides[1] ? type->sides[1] : type->sides[0])->type;
		found->row.types = 1;
		found->type = at;
		found->row.group_id = group_of_type(type->sides[1]);
		found->rank = -1; /* load: what is slow for it is told before */
	}
}

static int by_added(const void *a, const void *b)
{
	double added[2] = {0, 0};

	for (uint32_t i = 0; i < 2; i++) {
		const struct change_type *type = i ? b : a;

		added[i] = (type->mean_ns[1] - type->mean_ns[0]) * type->rate_per_s[1];
	}
	return (added[0] < added[1]) - (added[0] > added[1]);
}

static bool put_types(struct work *work, struct changes_view *out)
{
	const struct matched *matched = &work->matched;
	struct change_type *types =
			arena_alloc(work->arena, (matched->n_types + 1u) * sizeof(*types));

	for (uint32_t i = 0; types && i < matched->n_types; i++) {
		types[i] = (struct change_type){.type = ""};
		for (uint32_t side = 0; side < 2; side++) {
			const struct baseline_type *it = matched->types[i].sides[side];

			if (it) {
				types[i].type = it->type;
				types[i].requests[side] = it->all;
				types[i].rate_per_s[side] =
						(double)it->all / matched_seconds(matched, i, side);
				types[i].mean_ns[side] = it->mean_ns;
				types[i].group_id = side ? group_of_type(it) : 0;
			}
		}
	}
	if (types) {
		qsort(types, matched->n_types, sizeof(*types), by_added);
		out->all_types = types;
		out->n_all_types = matched->n_types;
	}
	return types != NULL;
}

bool changes_find(const struct baseline *before, const struct baseline *after, struct arena *arena,
		struct changes_view *out)
{
	struct work work = {.arena = arena};
	struct change_row *rows;

	*out = (struct changes_view){.baseline = before->origin,
			.before_ns = before->time_ns,
			.after_ns = after->time_ns,
			.before_length_ns = before->length_ns,
			.after_length_ns = after->length_ns,
			.types_gone = "",
			.types_new = "",
			.groups_gone = "",
			.groups_new = "",
			.cut = ""};
	if (!before->n_types || !after->n_types) {
		return true;
	}
	if (!match_baselines(&work.matched, before, after, arena)) {
		return false;
	}
	out->compared = true;
	count_unmatched(&work, out);
	if (!calls_list(&work)) {
		return false;
	}
	count_tests(&work);
	out->tests = work.tests[OF_PLACES] + work.tests[OF_CONTEXTS];
	work.room = 3 * work.matched.n_places + work.matched.n + 2 * work.matched.n_types + 1;
	work.found = arena_alloc(arena, work.room * sizeof(*work.found));
	work.places = arena_alloc(arena, (work.matched.n_places + 1u) * sizeof(*work.places));
	if (!work.found || !work.places) {
		return false;
	}
	for (uint32_t i = 0; i < work.matched.n_places; i++) {
		work.places[i] = NAN;
		find_own(&work, i);
	}
	for (uint32_t i = 0; i < work.matched.n_places; i++) {
		find_service(&work, i);
	}
	if (!ways_find(&work)) {
		return false;
	}
	calls_find(&work);
	calls_follow(&work);
	calls_follow_messages(&work);
	for (uint32_t i = 0; i < work.matched.n_types; i++) {
		find_rate(&work, i);
	}
	if (!split_find(&work, before, after, out)) {
		return false;
	}
	qsort(work.found, work.n, sizeof(*work.found), by_rank);
	rows = arena_alloc(arena, (work.n + 1u) * sizeof(*rows)); /* zeros */
	if (!rows) {
		return false;
	}
	for (uint32_t i = 0; i < work.n && !work.found[i].follows && out->n < CHANGE_MAX_ROWS;
			i++) {
		const struct change_row *row = &work.found[i].row;

		/* What is not sure is told where nothing is. */
		if (row->sure || (!rows[0].sure && out->n < MAX_LIKELY)) {
			if (!put_context(&work, &work.found[i])) {
				return false;
			}
			since_tell(&work, after, &work.found[i]);
			rows[out->n] = *row;
			rows[out->n].p = row->p < 1 ? row->p : 1;
			out->n++;
		}
	}
	out->rows = rows;
	return put_types(&work, out);
}
