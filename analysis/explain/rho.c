/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "explain/explaining.h"
#include "stats/ranks.h"

bool key_rho(const struct explain *explain, const struct key *key, const struct ranked *with,
		double *rho)
{
	*rho = 0;
	if (key->missing) {
		return ranks_spearman(key->values, with->values, explain->n, rho);
	}
	for (uint32_t i = 0; i < explain->n; i++) {
		*rho += key->scores[i] * with->scores[i];
	}
	*rho = fmax(-1, fmin(1, *rho));
	return true;
}
