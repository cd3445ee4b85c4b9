/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "pythia/internal.h"

/*
 * Services vary by themselves: an image is large or small, a cache is hit or missed. What a profile
 * from before this run shows of a group is taken for normal, and only what goes beyond is searched.
 * What is learned in this run is no norm: whoever comes to look may come because it is slow
 * already.
 */
#define MAX_NORMS    10000u
#define FEW_REQUESTS 50u
#define COV_GROWS    1.3 /* its lower bound against the norm's estimate */
#define MEDIAN_GROWS 1.5

static struct norm *find(const struct pythia *pythia, uint32_t type, uint32_t path)
{
	for (uint32_t i = 0; i < pythia->n_norms; i++) {
		if (pythia->norms[i].type == type && pythia->norms[i].path == path) {
			return &pythia->norms[i];
		}
	}
	return NULL;
}

void norms_set(struct pythia *pythia, const struct norm *norm)
{
	struct norm *at = find(pythia, norm->type, norm->path);

	if (at) {
		*at = *norm;
		return;
	}
	if (pythia->n_norms == pythia->norms_room) {
		uint32_t room = pythia->norms_room ? 2 * pythia->norms_room : 16;
		struct norm *norms = room <= 2 * MAX_NORMS
						     ? realloc(pythia->norms, room * sizeof(*norms))
						     : NULL;

		if (!norms) {
			return;
		}
		pythia->norms = norms;
		pythia->norms_room = room;
	}
	pythia->norms[pythia->n_norms++] = *norm;
}

void norms_learn(struct pythia *pythia, const struct groups_row *row)
{
	if (row->count < FEW_REQUESTS || row->missing || row->lossy) {
		return;
	}
	norms_set(pythia, &(struct norm){.type = names_add(pythia->names, row->type,
							 strlen(row->type)),
					  .path = names_add(pythia->names, row->path,
							  strlen(row->path)),
					  .count = row->count,
					  .p50_ns = (double)row->p50_ns,
					  .cov = row->cov,
					  .n_modes = row->n_modes});
}

void norms_drop(struct pythia *pythia, const struct groups_row *row)
{
	struct norm *norm = find(pythia, names_add(pythia->names, row->type, strlen(row->type)),
			names_add(pythia->names, row->path, strlen(row->path)));

	if (norm) {
		*norm = pythia->norms[--pythia->n_norms];
	}
}

bool norms_hold(const struct pythia *pythia, const struct groups_row *row)
{
	const struct norm *norm =
			find(pythia, names_add(pythia->names, row->type, strlen(row->type)),
					names_add(pythia->names, row->path, strlen(row->path)));

	/* What a person expects, or saved as a baseline, goes before what was seen. */
	if (!norm || !norm->applies || (row->detection & DETECTION_SHIFTED) ||
			((row->detection & DETECTION_SLOW) && row->objective_ns)) {
		return false;
	}
	return row->cov_low <= COV_GROWS * norm->cov && row->n_modes <= norm->n_modes &&
	       (double)row->p50_ns <= MEDIAN_GROWS * norm->p50_ns;
}
