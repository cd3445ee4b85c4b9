/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "explain/explaining.h"
#include "stats/ranks.h"

/*
 * All keys together: numbers as ranks, categories as one column for each level but one, against the
 * logarithm of the duration, and against the ranks of the segments. The strongest keys first, as
 * long as there are columns left: a tenth of the rows, and what a slice of work can bear. A column
 * that follows from the others says nothing new and is not taken.
 */
#define ROWS_PER_COLUMN 10u
#define MOST_COLUMNS    48u
#define MOST_SEGMENTS   32u
#define FOLLOWS_R2      0.98

bool joint_begin(struct explain *explain)
{
	uint32_t most = explain->n / ROWS_PER_COLUMN;
	uint32_t segments = explain->n_segments;

	segments = segments < most ? segments : most;
	return basis_init(&explain->x, explain->n, most < MOST_COLUMNS ? most : MOST_COLUMNS) &&
	       basis_init(&explain->y, explain->n,
			       segments < MOST_SEGMENTS ? segments : MOST_SEGMENTS);
}

/* Ranks; where there is no value, that of the middle. */
static bool add_ranks(struct basis *basis, const double *values, bool *added)
{
	uint32_t n = basis->n_rows;
	double *ranks = malloc((n + 1) * sizeof(*ranks));
	bool done = ranks && ranks_make(values, n, ranks);

	if (done) {
		ranks_normalize(ranks, n);
		*added |= basis_add(basis, ranks, FOLLOWS_R2);
	}
	free(ranks);
	return done;
}

static bool add_level(struct basis *basis, const struct levels *levels, uint32_t level, bool *added)
{
	uint32_t n = basis->n_rows;
	double *column = malloc((n + 1) * sizeof(*column));

	for (uint32_t i = 0; i < n && column; i++) {
		column[i] = levels->of_row[i] == level;
	}
	*added |= column && basis_add(basis, column, FOLLOWS_R2);
	free(column);
	return column != NULL;
}

bool joint_add_key(struct explain *explain, uint32_t index)
{
	struct key *key = &explain->keys[index];
	uint32_t room = explain->x.room - explain->x.n;
	bool added = false, done = true;

	if (room == 0 || (!key->numeric && key->levels.n - 1 > room)) {
		return true; /* too many for so few requests: not told by others, though */
	}
	if (key->numeric) {
		added = basis_add(&explain->x, key->scores, FOLLOWS_R2);
	}
	for (uint32_t level = 1; level < key->levels.n && !key->numeric && done; level++) {
		done = add_level(&explain->x, &key->levels, level, &added);
	}
	key->told_by_others = done && !added;
	return done;
}

bool joint_add_segment(struct explain *explain, uint32_t segment)
{
	bool added = false;

	return add_ranks(&explain->y, explain->segments[segment], &added);
}
