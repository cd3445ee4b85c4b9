/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/text_add.h"
#include "pythia/state.h"

/*
 * What has changed since the baseline, as findings: of each group the change that adds most time to
 * all requests. With a baseline the question is what is otherwise, not what varies: so such a
 * finding comes before those of the variation, and takes the place of one that names another place.
 */
#define TEXT_BYTES 1024u

static bool is_verdict(const struct change_row *row)
{
	return row->sure && row->group_id && !row->waits_for[0] && row->kind != CHANGE_FASTER &&
	       row->kind != CHANGE_RATE && row->kind != CHANGE_SPLIT && row->kind != CHANGE_MERGE;
}

static uint64_t key_of(struct pythia *pythia, const struct change_row *row)
{
	return hash_pair(hash_pair(pythia_intern(pythia, row->service),
					 pythia_intern(pythia, row->name)),
			row->kind);
}

/* "api.create > sem.acquire" */
static void where_of(const struct change_row *row, char *out, size_t size)
{
	out[0] = '\0';
	for (uint32_t i = 0; i < row->n_steps; i++) {
		text_add(out, size, "%s%s", i ? " > " : "", row->steps[i].name);
	}
}

static struct steps_verdict verdict_of(const struct change_row *row)
{
	struct steps_verdict verdict = {.process = row->service,
			.place = row->kind == CHANGE_TRANSIT ? "" : row->name,
			.added_ns_per_s = row->path_unknown ? NAN : row->added_ns_per_s};

	switch (row->kind) {
	case CHANGE_MORE:
	case CHANGE_FEWER:
		verdict.reason = REASON_CALLS;
		verdict.others = row->others;
		verdict.calls_before = row->before;
		verdict.calls_after = row->after;
		return verdict;
	case CHANGE_TRANSIT:
		verdict.reason = REASON_TRANSIT;
		verdict.others = row->others;
		verdict.callee_too = row->callee_too;
		break;
	default:
		verdict.reason = REASON_SLOWER;
	}
	verdict.longer_low_ns = row->difference_low;
	verdict.longer_high_ns = row->difference_high;
	return verdict;
}

/* A search that goes on says where deeper; what it came to stands where it is the same place. */
static bool is_open_to(
		const struct pythia *pythia, const struct finding *finding, const char *where)
{
	switch (finding->rule) {
	case STOP_NONE:
		return !pythia_can_act(pythia) ||
		       (finding->n_steps == 0 &&
				       pythia->now_ns >= finding->started_ns + PATIENCE_NS);
	case STOP_CODE:
	case STOP_VARIABLE:
		return !finding->where || strcmp(finding->where, where) != 0;
	default:
		return true;
	}
}

static void conclude(struct pythia *pythia, struct finding *finding, const struct change_row *row)
{
	struct steps_verdict verdict = verdict_of(row);
	char where[TEXT_BYTES];

	where_of(row, where, sizeof(where));
	if (!is_open_to(pythia, finding, where)) {
		return;
	}
	finding->where = pythia_keep(pythia, where);
	/* That is slow, or slow to reach. */
	finding->process = pythia_keep(pythia, row->service);
	finding->told_all = true;
	finding->requests = 0; /* no shares of a variance */
	finding->edge = SPACE_NONE;
	if (finding->rule != STOP_CHANGED) {
		finding_stop(pythia, finding, STOP_CHANGED, &verdict);
	} else {
		finding_tell(pythia, finding, &verdict);
	}
}

static void judge(struct pythia *pythia, const struct pythia_round *round,
		const struct change_row *row, uint32_t order)
{
	struct finding *finding =
			finding_of(pythia, row->group_id, true, pythia_intern(pythia, row->type));
	uint64_t key = key_of(pythia, row);

	if (!finding || finding->change) { /* or one of the group adds more */
		return;
	}
	finding->change = order;
	finding->unchanged = 0;
	if (finding->changed_key != key) {
		finding->changed_key = key;
		finding->changed_rounds = 0;
		finding->changed_ns = pythia->now_ns;
	}
	finding->changed_rounds++;
	if (round->last || (finding->changed_rounds >= SURE_ROUNDS &&
					   pythia->now_ns >= finding->changed_ns + SURE_NS)) {
		conclude(pythia, finding, row);
	}
}

void changed_judge(struct pythia *pythia, const struct pythia_round *round)
{
	const struct changes_view *changes = round->changes;

	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		pythia->locating.findings[i].change = 0;
	}
	for (uint32_t i = 0; changes && changes->compared && i < changes->n; i++) {
		if (is_verdict(&changes->rows[i])) {
			judge(pythia, round, &changes->rows[i], i + 1);
		}
	}
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		struct finding *finding = &pythia->locating.findings[i];

		if (!finding->change && finding->rule == STOP_CHANGED &&
				++finding->unchanged >= GONE_ROUNDS) {
			finding_note(finding, "it is no longer otherwise than in the baseline");
			finding->rule = STOP_HEALTHY;
			finding->told_all = false;
			finding->changed_key = 0;
		}
	}
}
