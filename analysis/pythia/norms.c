/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pythia/state.h"

/* What is normal of each group: learned, or from a profile. */

#define MAX_NORMS 10000u

static struct norm *find(const struct pythia *pythia, uint32_t type, uint32_t path)
{
	for (uint32_t i = 0; i < pythia->detecting.n_norms; i++) {
		if (pythia->detecting.norms[i].type == type &&
				pythia->detecting.norms[i].path == path) {
			return &pythia->detecting.norms[i];
		}
	}
	return NULL;
}

static void forget_places(struct norm *norm)
{
	for (uint32_t i = 0; i < NORM_PLACES; i++) {
		norm->places[i] = SPACE_NONE;
	}
	norm->placed = false;
}

void norms_set(struct pythia *pythia, const struct norm *norm)
{
	struct norm *at = find(pythia, norm->type, norm->path);

	if (at) {
		*at = *norm;
		forget_places(at);
		return;
	}
	if (pythia->detecting.n_norms >= 2 * MAX_NORMS ||
			!array_reserve(&pythia->detecting.norms, &pythia->detecting.norms_room,
					pythia->detecting.n_norms + 1)) {
		return;
	}
	pythia->detecting.norms[pythia->detecting.n_norms] = *norm;
	forget_places(&pythia->detecting.norms[pythia->detecting.n_norms++]);
}

void norms_learn(struct pythia *pythia, const struct groups_row *row, bool tracing)
{
	const struct norm *was =
			find(pythia, names_add(pythia->names, row->type, strlen(row->type)),
					names_add(pythia->names, row->path, strlen(row->path)));

	if (row->count < FEW_REQUESTS || row->missing || row->lossy ||
			(tracing && was && was->fresh)) {
		return;
	}
	norms_set(pythia, &(struct norm){.fresh = !tracing,
					  .type = names_add(pythia->names, row->type,
							  strlen(row->type)),
					  .path = names_add(pythia->names, row->path,
							  strlen(row->path)),
					  .count = row->count,
					  .p50_ns = (double)row->p50_ns,
					  .cov = row->cov,
					  .middle_ns = row->middle_ns,
					  .n_modes = row->n_modes});
}

void norms_drop(struct pythia *pythia, const struct groups_row *row)
{
	struct norm *norm = find(pythia, names_add(pythia->names, row->type, strlen(row->type)),
			names_add(pythia->names, row->path, strlen(row->path)));

	if (norm) {
		*norm = pythia->detecting.norms[--pythia->detecting.n_norms];
	}
}

struct norm *norm_of(const struct pythia *pythia, const struct groups_row *row)
{
	struct norm *norm = find(pythia, names_add(pythia->names, row->type, strlen(row->type)),
			names_add(pythia->names, row->path, strlen(row->path)));

	return norm && norm->applies ? norm : NULL;
}

void detecting_init(struct detecting *detecting)
{
	detecting->usual_cov = detecting->usual_middle = 1;
}

void detecting_release(struct detecting *detecting)
{
	free(detecting->norms);
}
