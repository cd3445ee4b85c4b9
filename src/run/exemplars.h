/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_EXEMPLARS_H
#define PT_RUN_EXEMPLARS_H

#include "output/report.h"
#include "run/pipeline.h"

/*
 * Requests of a group that stand for the others: its slowest, the one nearest to its median, and
 * for each value of the variable that explains it, else for each of its latencies (modes), the one
 * nearest to the middle of that.
 *
 * Only requests that are kept, are complete and lost nothing; for values the newest
 * EXEMPLARS_EXAMINED of them are opened. A request may stand for several things.
 */
#define EXEMPLARS_MOST   16u
#define EXEMPLARS_EXAMINED 256u

/*
 * `whole`: answers a focus on the group, with FOCUS_GROUP; `explanation` of it, or NULL. Returns
 * how many.
 */
uint32_t exemplars_pick(struct pipeline *pipeline, const struct snapshot *whole,
		const struct explanation *explanation, struct report_exemplar out[EXEMPLARS_MOST]);

/* Whether a request has a value of a key, as far as its spans tell: of resources they do not. */
bool exemplars_has(const struct request_view *request, const struct explained_key *key,
		const char *value);

#endif
