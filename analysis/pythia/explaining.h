/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_EXPLAINING_H
#define PT_PYTHIA_EXPLAINING_H

#include <stdbool.h>
#include <stdint.h>

#include "explain/explain.h"
#include "verdict.h"

/*
 * Which groups are explained by their key-values, and when: those of a finding that has a place (an
 * edge that surely holds a good part of the variance, or a verdict), and those that a person asks
 * for. One at a time, of the requests since the epoch began that the evidence is of; again when
 * twice as many requests are there, or enough for rule 2, or the evidence is of another epoch.
 *
 * It is begun, and what came of it is taken up, in rounds alone, EXPLAINING_NS of event time apart,
 * however much of it was done in slices between them: so the same calls decide the same.
 *
 * Memory: EXPLAINING_MAX groups, a table of the last 1,024 samples (explain.h) for each of them
 * once what is shown, and once what is being made.
 */
#define EXPLAINING_MAX     8u
#define EXPLAINING_NS      UINT64_C(2000000000)
#define EXPLAINING_TICK_NS UINT64_C(10000000) /* of event time, between slices */
#define EXPLAINING_SLICE   2000u              /* units: about two milliseconds */

struct explain_job {
	uint32_t group_id;
	uint32_t type; /* interned */
	bool asked;    /* by a person, */
	bool answered; /* and that was done */
	bool frozen;   /* since_ns is of the epoch in which the search stopped */
	bool collecting;
	uint64_t since_ns, tried_ns;
	struct explain *running;
	uint64_t begun_ns, running_since_ns;
	uint32_t running_rows;
	struct explain *done;
	uint64_t made_ns, done_since_ns;
	uint32_t rows;            /* of `done` */
	struct kept_verdict kept; /* its key: what explains it; "": nothing surely does */
};

struct explaining {
	bool over; /* nothing more will come: no other one is begun by itself */
	uint32_t n;
	struct explain_job jobs[EXPLAINING_MAX];
};

void explaining_release(struct explaining *explaining);
/* NULL: it is not explained. */
const struct explain_job *explaining_of(const struct explaining *explaining, uint32_t group_id);
/* What surely explains it; NULL: nothing, or not known. */
const struct verdict_key *explaining_key(const struct explain_job *job);
/*
 * What is shown of it: NULL if there is nothing; to be made again if the requests that a verdict is
 * of have not been tried since. False if out of memory.
 */
struct finding;
bool explaining_fill(const struct explaining *explaining, uint32_t group_id,
		const struct finding *finding, struct snapshot *snapshot,
		const struct explanation **out);

/* explained.c: what surely explains it; borrowed from the explanation. */
struct verdict_key explained_by(const struct explanation *explanation);
/* What to look at because of a key. */
const char *explained_next(const struct verdict_key *key, struct snapshot *snapshot);
/* It is a host or a resource that holds half of the variance: rather that than no place at all. */
bool explained_by_system(const struct verdict_key *key);

#endif
