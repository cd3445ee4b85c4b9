/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

/*
 * Where a group that is beyond its norm takes more, before it is searched.
 *
 * A busy machine makes many places slow, now these and now those: hosts, own times, and waits. A
 * fault is in one place, and stays there. So a group need not wait until what goes beyond the norm
 * has lasted, nor does it matter how many other groups do (those that pass the same code will),
 * where the same place accounts for it in three of the last four rounds, half a window
 * apart: it surely holds half of what varies (or of what is slower), takes a third more than when
 * it was learned, and no less than half of all that is taken more. What stays behind a few odd
 * requests is seen in two rounds, as windows overlap: two are enough only where the bulk of the
 * requests differs, too, by its quartiles or its median.
 *
 * A norm may be too wide, as it was learned on a busy machine. So a group within it is looked at,
 * too, but then the place must hold more.
 *
 * Waits are no place: they grow with the machine.
 */

struct grown {
	double was_ns, is_ns; /* own times, of all places */
	double more_ns;       /* of those that take more */
};

/* So much more than the others together, whose time tells how busy the machine is. */
static bool has_grown(const struct grown *all, double was_ns, double is_ns)
{
	double others_ns = all->was_ns - was_ns,
	       usual = others_ns > 0 ? fmax((all->is_ns - is_ns) / others_ns, 1) : 1;

	return is_ns > PLACE_GROWN * usual * was_ns &&
	       is_ns - was_ns >= PLACE_GROWN_SHARE * all->more_ns;
}

/* The place that accounts for what the group takes more; SPACE_NONE: none does. */
static uint32_t find_place(const struct pythia *pythia, const struct tree_view *tree,
		const struct tree_row *shares, double holds)
{
	struct grown all = {.was_ns = 0};
	uint32_t at = UINT32_MAX;

	for (uint32_t i = 0; i < tree->n; i++) {
		double was, is;

		if (pythia->locating.nodes[i] == SPACE_NONE) {
			continue;
		}
		was = space_own_time(pythia, pythia->locating.nodes[i]);
		is = slow_own_time(tree, i);
		all.was_ns += was;
		all.is_ns += is;
		all.more_ns += fmax(is - was, 0);
		if (shares[i].phi_low >= holds && !tree_row_interrupts(&tree->rows[i]) &&
				(at == UINT32_MAX || shares[i].phi_low > shares[at].phi_low)) {
			at = i;
		}
	}
	return at != UINT32_MAX && has_grown(&all,
						   space_own_time(pythia,
								   pythia->locating.nodes[at]),
						   slow_own_time(tree, at))
			       ? pythia->locating.nodes[at]
			       : SPACE_NONE;
}

static bool is_above(const struct pythia *pythia, uint32_t above, uint32_t node)
{
	while (node != SPACE_NONE && node != above) {
		node = pythia->space.nodes[node].parent;
	}
	return node != SPACE_NONE;
}

/* The same, or what steps for other groups have made visible of it. */
static bool is_same(const struct pythia *pythia, uint32_t a, uint32_t b)
{
	return a != SPACE_NONE && b != SPACE_NONE &&
	       (is_above(pythia, a, b) || is_above(pythia, b, a));
}

static void judge(struct pythia *pythia, struct norm *norm, bool bulk)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < NORM_PLACES; i++) {
		n += is_same(pythia, norm->places[0], norm->places[i]);
	}
	norm->placed = n >= PLACE_ROUNDS ||
		       (n >= PLACE_ROUNDS_BULK && bulk &&
				       is_same(pythia, norm->places[0], norm->places[1]));
}

uint32_t pythia_suspects(struct pythia *pythia, const struct pythia_round *round, uint32_t *ids)
{
	uint32_t n = 0;

	pythia->detecting.places_ns =
			pythia->detecting.places_ns ? pythia->detecting.places_ns : round->now_ns;
	if (round->now_ns < pythia->detecting.places_ns + NORM_WINDOW_NS / 2) {
		return 0;
	}
	pythia->detecting.places_ns = round->now_ns;
	for (uint32_t i = 0; i < round->recent->n; i++) {
		const struct groups_row *row = &round->recent->rows[i];
		struct norm *norm = norm_of(pythia, row);

		if (!norm) {
			continue;
		}
		memmove(&norm->places[1], &norm->places[0],
				(NORM_PLACES - 1) * sizeof(norm->places[0]));
		norm->places[0] = SPACE_NONE;
		norm->placed = false;
		if (n < PYTHIA_SUSPECTS && norms_suspect(pythia, row)) {
			ids[n++] = row->id;
		}
	}
	return n;
}

void pythia_judge_place(struct pythia *pythia, const struct pythia_detail *detail)
{
	const struct groups_row *row = detail->row;
	struct norm *norm = norm_of(pythia, row);
	struct tree_row *slow = NULL;

	if (!norm || !detail->tree->located ||
			!locating_reserve(&pythia->locating, detail->tree->n)) {
		return;
	}
	space_look_up(&pythia->space, &pythia->points, pythia_intern(pythia, row->type),
			detail->tree, pythia->locating.nodes);
	slow = slow_is(pythia, detail) ? slow_rows(pythia, detail->tree) : NULL;
	norm->places[0] = find_place(pythia, detail->tree, slow ? slow : detail->tree->rows,
			norms_hold(pythia, row) ? PLACE_PHI_NORMAL : PLACE_PHI);
	judge(pythia, norm, norms_bulk(pythia, row));
	free(slow);
}
