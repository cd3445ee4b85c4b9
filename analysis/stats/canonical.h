/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_CANONICAL_H
#define PT_STATS_CANONICAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How several columns together go with one other column, or with several.
 *
 * One: multiple correlation, R^2, and F = (R^2 / m) / ((1 - R^2) / (n - m - 1)) with m columns.
 * Several: canonical correlation, the largest corr(X a, Y b) of all a and b (Hotelling 1936):
 * the singular values of Qx' Qy, where Qx and Qy are orthonormal bases of the centred columns
 * (Bjorck & Golub 1973). Wilks' lambda = prod (1 - r_i^2); with p and q columns
 * chi^2 = -(n - (p + q + 3) / 2) ln lambda has p q degrees of freedom if nothing goes with anything
 * (Bartlett 1941). Both take rows as independent and normal: ranks nearly are, what follows each
 * other is not, so that their p are too small there.
 *
 * Pure. Memory: O(rows x columns). Threads: the caller's.
 */

/* An orthonormal basis of centred columns. */
struct basis {
	uint32_t n_rows, n, room;
	double *q; /* n columns of n_rows */
};

/* False if out of memory. `room`: columns it can take. */
bool basis_init(struct basis *basis, uint32_t n_rows, uint32_t room);
void basis_release(struct basis *basis);

/*
 * Adds a column unless the others say what it says already: R^2 of it against those is above
 * `limit`, or it does not vary. Gram & Schmidt, twice, which is enough (Giraud, Langou & Rozloznik
 * 2005). False: it was not added. O(rows x columns).
 */
bool basis_add(struct basis *basis, const double *column, double limit);

struct multiple {
	double r2, f, p;
	uint32_t m;
};

/* `column` against those of the basis; 0 and p = 1 with none, or too few rows. False: no memory. */
bool basis_multiple(const struct basis *basis, const double *column, struct multiple *out);

struct canonical {
	double first; /* the largest correlation, 0..1 */
	double wilks, chi2, p;
	uint32_t df; /* 0: one side has no columns, or there are too few rows */
};

/* False if out of memory. O(rows p q + p q min(p, q)). */
bool basis_canonical(const struct basis *x, const struct basis *y, struct canonical *out);

#endif
