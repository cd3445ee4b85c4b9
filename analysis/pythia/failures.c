/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text_add.h"
#include "pythia/state.h"
#include "stats/share.h"

/*
 * Requests that began to fail, or do so more often: by place, against all that was seen before, or
 * against what was learned of the type. A share that is as it always was is no finding, however
 * large.
 *
 * A place fails anew where in the last 5, 10, 30 or 60 seconds the share of its failures is surely
 * beyond one and a half times what it surely was before: four standard errors against three.
 * Failures come in bursts, which such intervals know nothing of: it must go beyond the worst ten
 * seconds of before, too, of what is over for long enough not to be a part of it.
 *
 * Since when is the second from which on the new share explains best what was seen: the largest
 * likelihood ratio against the old one. (Page, "Continuous inspection schemes", Biometrika 1954;
 * Hinkley 1970.)
 */
static const uint32_t windows[] = {5, 10, 30, 60};

struct counts {
	uint64_t failed, ended;
};

/* Of the seconds from `from` on, up to `to`. */
static struct counts sum(const struct pythia_failing *place, uint32_t from, uint32_t to)
{
	struct counts counts = {.failed = 0};

	for (uint32_t i = from; i < to; i++) {
		counts.failed += place->failed[i];
		counts.ended += place->ended[i];
	}
	return counts;
}

static double share_of(const struct counts *counts)
{
	return counts->ended ? (double)counts->failed / (double)counts->ended : 0;
}

static double surely_above(const struct counts *counts, double errors)
{
	double low, high;

	share_bounds(counts->failed, counts->ended, errors, &low, &high);
	return low;
}

static double surely_below(const struct counts *counts, double errors)
{
	double low, high;

	share_bounds(counts->failed, counts->ended, errors, &low, &high);
	return high;
}

const struct usual_failures *failures_usual_of(const struct pythia *pythia, uint32_t type)
{
	for (uint32_t i = 0; i < pythia->failing.n_usual; i++) {
		if (pythia->failing.usual[i].type == type) {
			return &pythia->failing.usual[i];
		}
	}
	return NULL;
}

void failures_usual(struct pythia *pythia, const struct usual_failures *usual)
{
	for (uint32_t i = 0; i < pythia->failing.n_usual; i++) {
		if (pythia->failing.usual[i].type == usual->type) {
			pythia->failing.usual[i] = *usual;
			return;
		}
	}
	if (array_reserve(&pythia->failing.usual, &pythia->failing.usual_room,
			    pythia->failing.n_usual + 1)) {
		pythia->failing.usual[pythia->failing.n_usual++] = *usual;
	}
}

void failures_learn(struct pythia *pythia, const struct groups_view *groups)
{
	uint32_t known = pythia->failing.n_usual;

	for (uint32_t i = 0; i < groups->n; i++) {
		const struct groups_row *row = &groups->rows[i];
		uint32_t type = pythia_intern(pythia, row->type), at = 0;

		while (at < pythia->failing.n_usual && pythia->failing.usual[at].type != type) {
			at++;
		}
		if (at < known) {
			continue;
		}
		if (at == pythia->failing.n_usual) {
			failures_usual(pythia, &(struct usual_failures){.type = type});
		}
		if (at < pythia->failing.n_usual) {
			pythia->failing.usual[at].failed += row->failed;
			pythia->failing.usual[at].ended += row->ended;
		}
	}
}

/* What was learned of the type before this run; 0 of 0: nothing. */
static struct counts norm_of_type(const struct pythia *pythia, uint32_t type)
{
	const struct usual_failures *usual = failures_usual_of(pythia, type);

	return usual && usual->applies ? (struct counts){usual->failed, usual->ended}
				       : (struct counts){.failed = 0};
}

/* Does it fail more often than before? *before is that. */
static bool is_new(const struct pythia *pythia, const struct failure *failure,
		const struct pythia_failing *place, struct counts *before, bool *by_norm)
{
	struct counts norm = norm_of_type(pythia, place->type);

	for (uint32_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
		uint32_t from = place->n > windows[w] ? place->n - windows[w] : 0;
		struct counts now = sum(place, from, place->n), past = sum(place, 0, from);
		double low = surely_above(&now, FAIL_ERRORS_NOW);

		past.failed += place->failed_before;
		past.ended += place->ended_before;
		if (now.failed < FAIL_FEW_FAILED) {
			continue;
		}
		if (past.ended >= FAIL_FEW_BEFORE && low > failure->worst &&
				low > FAIL_TIMES * surely_below(&past, FAIL_ERRORS_BEFORE)) {
			*before = past;
			*by_norm = false;
			return true;
		}
		if (norm.ended >= FAIL_FEW_BEFORE && !place->call &&
				low > FAIL_TIMES * surely_below(&norm, FAIL_ERRORS_BEFORE)) {
			*before = norm;
			*by_norm = true;
			return true;
		}
	}
	return false;
}

/* The second from which on it fails as it does now. */
static uint32_t begin_of(const struct pythia_failing *place, const struct counts *before)
{
	struct counts now = sum(place, 0, place->n);
	double old = ((double)before->failed + 0.5) / ((double)before->ended + 1);
	double ratio = 0, best = 0, share;
	uint32_t at = place->n - 1;

	/* Not the whole, which may have much of before in it. */
	for (uint32_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
		struct counts last = sum(
				place, place->n > windows[w] ? place->n - windows[w] : 0, place->n);

		now = share_of(&last) > share_of(&now) ? last : now;
	}
	share = share_of(&now);
	share = share > 0.999 ? 0.999 : share;
	if (share <= old) {
		return 0;
	}
	for (uint32_t i = place->n; i > 0; i--) {
		double failed = (double)place->failed[i - 1],
		       passed = (double)place->ended[i - 1] - failed;

		ratio += failed * log(share / old) + passed * log((1 - share) / (1 - old));
		if (place->failed[i - 1] > 0 && ratio > best) {
			best = ratio;
			at = i - 1;
		}
	}
	return at;
}

/* --- what is said of it ----------------------------------------------------------------------- */

static const char *place_of(const struct pythia *pythia, const struct failure *failure)
{
	return last_context(names_text(pythia->names, failure->where));
}

static void tell(struct pythia *pythia, struct failure *failure, const struct pythia_failing *place,
		const struct pythia_failed *common)
{
	struct counts now = {failure->failed, failure->ended};
	struct steps_verdict verdict = {.reason = REASON_FAILS,
			.type = names_text(pythia->names, failure->type),
			.place = place_of(pythia, failure),
			.process = common->process,
			.host = common->host,
			.several_hosts = common->n_hosts > 1,
			.share_of = "requests",
			.share = share_of(&now),
			.failed = now.failed,
			.requests = now.ended,
			.fails_how = place->what,
			.since_ns = failure->since_ns,
			.failed_before = failure->failed_before,
			.requests_before = failure->ended_before,
			.learned = failure->by_norm,
			.told = common->told,
			.told_share = common->told_share,
			.attribute = common->key,
			.attribute_where = common->where,
			.value = common->value,
			.value_share = common->share,
			.value_others = common->others};

	share_bounds(now.failed, now.ended, SHARE_95, &verdict.share_low, &verdict.share_high);
	verdict_keep(&failure->kept, &verdict);
	failure->told_ns = pythia->now_ns > failure->found_ns ? pythia->now_ns : failure->found_ns;
}

static void note_over(struct failure *failure, uint64_t now_ns)
{
	char text[64] = "as seldom as before, seen at ";

	text_add_clock(text, sizeof(text), now_ns);
	if (failure->n_history < sizeof(failure->history) / sizeof(failure->history[0])) {
		char *copy = strdup(text);

		failure->history[failure->n_history] = copy;
		failure->n_history += copy != NULL;
	}
}

/* --- a round ---------------------------------------------------------------------------------- */

static struct failure *failure_of(struct pythia *pythia, const struct pythia_failing *place)
{
	struct failure *failure;

	for (uint32_t i = 0; i < pythia->failing.n; i++) {
		if (pythia->failing.items[i].key == place->key) {
			return &pythia->failing.items[i];
		}
	}
	if (!pythia->failing.items) {
		pythia->failing.items = calloc(FAILURES_MAX, sizeof(*pythia->failing.items));
	}
	if (!pythia->failing.items || pythia->failing.n == FAILURES_MAX) {
		return NULL;
	}
	failure = &pythia->failing.items[pythia->failing.n];
	*failure = (struct failure){.key = place->key,
			.type = place->type,
			.call = place->call,
			.where = pythia_intern(pythia, place->where)};
	pythia->failing.n++;
	return failure;
}

/* How often it failed since then, as far back as seconds are known. */
static void count_since(
		struct failure *failure, const struct pythia_failing *place, uint64_t now_ns)
{
	uint64_t age = now_ns > failure->since_ns ? (now_ns - failure->since_ns) / NS_PER_S + 1 : 1;
	struct counts counts = sum(place, age < place->n ? place->n - (uint32_t)age : 0, place->n);

	failure->failed = counts.failed;
	failure->ended = counts.ended;
}

static void begin(struct failure *failure, const struct pythia_failing *place,
		const struct counts *before, bool by_norm, uint64_t now_ns)
{
	uint32_t at = begin_of(place, before);
	struct counts past = sum(place, 0, at);

	failure->rule = STOP_FAILS;
	failure->settled = false;
	failure->since_ns = place->first_ns[at] ? place->first_ns[at]
						: now_ns - (place->n - at) * NS_PER_S;
	failure->found_ns = now_ns;
	failure->by_norm = by_norm;
	/* The window that told of it may have had a part of before in it, or not all of it. */
	failure->failed_before = by_norm ? before->failed : past.failed + place->failed_before;
	failure->ended_before = by_norm ? before->ended : past.ended + place->ended_before;
	failure->told_ns = 0;
}

/* As seldom as before, or much more seldom than when it was found; not just nobody to tell. */
static bool is_over(const struct failure *failure, const struct pythia_failing *place)
{
	uint32_t to = place->late && place->n > FAIL_OVER_S ? place->n - FAIL_OVER_S : place->n;
	struct counts last = sum(place, to > FAIL_OVER_S ? to - FAIL_OVER_S : 0, to);
	struct counts before = {failure->failed_before, failure->ended_before};
	double usual = surely_below(&before, 1),
	       found = share_of(&(struct counts){failure->failed, failure->ended});
	double limit = usual > found / 4 ? usual : found / 4;

	return last.ended > 0 && surely_below(&last, 2) < limit;
}

static void examine_open(struct pythia *pythia, struct failure *failure,
		const struct pythia_failures *failures, uint32_t at)
{
	const struct pythia_failing *place = &failures->places[at];
	uint64_t now_ns = failures->now_ns;
	uint64_t pause_ns = now_ns < failure->found_ns + FAIL_YOUNG_NS ? FAIL_TELL_NS
								       : FAIL_TELL_OLD_NS;
	struct pythia_failed common = {
			.host = "", .process = "", .told = "", .key = "", .where = "", .value = ""};

	if (now_ns > failure->found_ns + FAIL_YOUNG_NS && is_over(failure, place)) {
		failure->rule = STOP_HEALTHY;
		failure->ended_ns = now_ns;
		note_over(failure, now_ns);
		return;
	}
	count_since(failure, place, now_ns);
	failure->group_id = place->group_id;
	if (!failure->settled &&
			(failures->last || now_ns >= failure->found_ns + FAIL_SETTLED_LATE_NS ||
					(now_ns >= failure->found_ns + FAIL_SETTLED_NS &&
							failure->failed >= FAIL_SETTLED_MANY))) {
		failure->settled = true;
	} else if (failure->told_ns && now_ns < failure->told_ns + pause_ns) {
		return;
	}
	if (!failures->common(failures->context, at, failure->since_ns, &common)) {
		common.requests = 0;
	}
	tell(pythia, failure, place, &common);
	failure->told_ns = now_ns;
}

void pythia_examine_failures(struct pythia *pythia, const struct pythia_failures *failures)
{
	for (uint32_t i = 0; i < failures->n; i++) {
		const struct pythia_failing *place = &failures->places[i];
		struct failure *failure = failure_of(pythia, place);
		struct counts before, burst;
		bool by_norm;

		if (!failure) {
			continue;
		}
		if (failure->rule != STOP_FAILS &&
				is_new(pythia, failure, place, &before, &by_norm)) {
			begin(failure, place, &before, by_norm, failures->now_ns);
		}
		if (failure->rule == STOP_FAILS) {
			examine_open(pythia, failure, failures, i);
			continue;
		}
		burst = sum(place, 0, place->n < FAIL_BURST_S ? place->n : FAIL_BURST_S);
		if (burst.ended >= FAIL_FEW_BEFORE && share_of(&burst) > failure->worst) {
			failure->worst = share_of(&burst);
		}
	}
}

/*
 * One call that fails makes others fail, less often: of those of a type that began to at the same
 * time the one that does so most often stands for all.
 */
static bool is_shadowed(const struct pythia *pythia, const struct failure *failure)
{
	for (uint32_t i = 0; failure->call && i < pythia->failing.n; i++) {
		const struct failure *other = &pythia->failing.items[i];
		uint64_t apart = other->since_ns > failure->since_ns
						 ? other->since_ns - failure->since_ns
						 : failure->since_ns - other->since_ns;

		if (other != failure && other->call && other->type == failure->type &&
				other->rule == failure->rule && apart < FAIL_SETTLED_NS &&
				(other->failed > failure->failed ||
						(other->failed == failure->failed &&
								other < failure))) {
			return true;
		}
	}
	return false;
}

/* --- for others ------------------------------------------------------------------------------ */

void failures_release(struct pythia *pythia)
{
	for (uint32_t i = 0; i < pythia->failing.n; i++) {
		struct failure *failure = &pythia->failing.items[i];

		verdict_release(&failure->kept);
		for (uint32_t k = 0; k < failure->n_history; k++) {
			free(failure->history[k]);
		}
	}
	free(pythia->failing.items);
	free(pythia->failing.usual);
}

uint64_t failures_standing(const struct pythia *pythia)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < pythia->failing.n; i++) {
		n += (pythia->failing.items[i].rule * 2 + pythia->failing.items[i].settled) *
		     (uint64_t)(i + 1);
	}
	return n;
}

static const char *next_of(const struct pythia *pythia, const struct failure *failure,
		struct snapshot *snapshot)
{
	const char *place = place_of(pythia, failure);

	return snapshot_printf(snapshot, "a request that failed, and %s in it",
			place[0] ? place : "where it ends");
}

enum status failures_fill(const struct pythia *pythia, bool call, enum stop_rule rule,
		struct snapshot *snapshot, struct steps_finding *out, uint32_t *n)
{
	for (uint32_t i = 0; i < pythia->failing.n; i++) {
		const struct failure *failure = &pythia->failing.items[i];
		const struct steps_verdict *verdict = &failure->kept.verdict;
		const char **history;

		if (failure->rule != rule || failure->call != call ||
				is_shadowed(pythia, failure)) {
			continue;
		}
		history = snapshot_alloc(snapshot, (failure->n_history + 1) * sizeof(*history));
		if (!history) {
			return STATUS_NO_MEMORY;
		}
		for (uint32_t k = 0; k < failure->n_history; k++) {
			history[k] = snapshot_text(snapshot, failure->history[k]);
		}
		out[(*n)++] = (struct steps_finding){.group_id = failure->group_id,
				.type = snapshot_text(
						snapshot, names_text(pythia->names, failure->type)),
				.path = path_of(&snapshot->groups, failure->group_id),
				.rule = rule == STOP_FAILS && !failure->settled ? STOP_NONE : rule,
				.verdict = *verdict,
				.where = snapshot_text(snapshot,
						names_text(pythia->names, failure->where)),
				.host = snapshot_text(snapshot, verdict->host),
				.process = snapshot_text(snapshot, verdict->process),
				.failed = failure->failed,
				.ended = failure->ended,
				.since_ns = failure->since_ns,
				.call = call,
				.seconds = (double)(failure->found_ns - failure->since_ns) * 1e-9,
				.history = history,
				.n_history = failure->n_history,
				.next = rule == STOP_HEALTHY ? ""
							     : next_of(pythia, failure, snapshot),
				.cost = {.events_per_s = 0, .bytes_per_s = 0, .cpu_share = 0}};
		if (!finding_say(&out[*n - 1], snapshot)) {
			return STATUS_NO_MEMORY;
		}
	}
	return STATUS_OK;
}
