/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pythia/state.h"

/* Whether enough of a group was seen to decide on it. */

uint64_t pythia_age_of_epoch(const struct pythia_round *round, const struct groups_row *row)
{
	return round->now_ns > row->since_ns ? round->now_ns - row->since_ns : 0;
}

/* One place surely holds so much: more requests would tell no other story. */
static bool is_clear(struct pythia *pythia, const struct pythia_detail *detail, double phi)
{
	const struct tree_view *tree = detail->tree;

	if (slow_is(pythia, detail)) {
		return slow_surest(pythia, detail) >= phi;
	}
	for (uint32_t i = 0; i < tree->n && tree->located; i++) {
		if (tree->rows[i].phi_low >= phi) {
			return true;
		}
	}
	return false;
}

bool pythia_is_settled(struct pythia *pythia, const struct pythia_round *round,
		const struct pythia_detail *detail)
{
	uint64_t age_ns = pythia_age_of_epoch(round, detail->row), count = detail->row->count;

	return detail->tree->located && (round->last || age_ns >= EPOCH_NS - WINDOW_STEP_NS) &&
	       count >= FEW_REQUESTS &&
	       (round->last || count >= EPOCH_REQUESTS || age_ns >= LONG_EPOCH_NS ||
			       is_clear(pythia, detail, CLEAR_PHI));
}

/*
 * Enough of a group was seen since the last step for the next one. Where one place holds most of
 * the variance, half of an epoch does: to split it in vain costs a step, which can be taken back.
 */
bool pythia_is_ready(struct pythia *pythia, const struct pythia_round *round,
		const struct pythia_detail *detail)
{
	return pythia_is_settled(pythia, round, detail) ||
	       (detail->tree->located && detail->row->count >= FEW_REQUESTS &&
			       pythia_age_of_epoch(round, detail->row) >= CLEAR_EPOCH_NS &&
			       is_clear(pythia, detail, MOST_PHI));
}

bool pythia_window_will_do(struct pythia *pythia, const struct pythia_round *round,
		const struct pythia_detail *window)
{
	const struct groups_row *epoch = row_of(round->groups, window->row->id);

	return pythia_is_ready(pythia, round, window) &&
	       (is_clear(pythia, window, VERDICT_PHI) || !epoch ||
			       pythia_age_of_epoch(round, epoch) >= PATIENCE_NS);
}
