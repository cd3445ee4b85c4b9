/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATS_HANDOVER_H
#define PT_STATS_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Which kind of work, done elsewhere, ends where waits end: then whoever did it is likely to have
 * handed over what was waited for (a lock, a place in a pool).
 *
 * The ends of each kind are counted by how long before the end of a wait they are, in steps of
 * HANDOVER_NS, up to HANDOVER_STEPS steps before and after: a cross-correlogram (Perkel, Gerstein &
 * Moore, "Neuronal spike trains and stochastic point processes", 1967), of each wait and step at
 * most one. The step just before the end is what a hand-over makes; all others, but for the
 * HANDOVER_NEAR nearest, are what chance makes of the same ends and waits shifted in time. A kind
 * is taken if it fits a quarter of the waits at least, twice as many as chance makes on average,
 * and by more standard deviations than any kind has in any other step: so unrelated work is taken
 * in at most one of 195 judgements, whatever the number of kinds (Westfall & Young 1993). The waits
 * that it fits are set aside, and others are looked for in the rest, as a lock may be given up in
 * several places, HANDOVER_MOST at most. They are named if they fit HANDOVER_SHARE of all waits
 * together.
 *
 * What a wait's own thread and its own request end is no evidence, nor are waits that are shorter
 * than a step.
 *
 * Units: ns. Pure. Memory: 1.6 KiB a kind while it works. Cost: O(waits x ends near them).
 * Threads: the caller's.
 */
#define HANDOVER_NS    UINT64_C(200000)
#define HANDOVER_STEPS 100u /* either side */
#define HANDOVER_NEAR  3u
#define HANDOVER_FEW   20u  /* waits, to name a kind */
#define HANDOVER_KINDS 512u /* further ones are not looked at */
#define HANDOVER_REST  8u   /* waits, to look for a further kind in */
#define HANDOVER_MOST  4u
#define HANDOVER_EACH  0.25
#define HANDOVER_SHARE 0.5

struct handover_wait {
	uint64_t from_ns, to_ns;
	uint64_t thread, request;
};

struct handover_end {
	uint64_t at_ns; /* ascending */
	uint64_t thread, request;
	uint32_t kind;   /* 0..HANDOVER_KINDS-1; others are left out */
	uint32_t number; /* the caller's */
};

struct handover {
	uint32_t n, kinds[HANDOVER_MOST]; /* the surest first; 0: none is named */
	uint32_t waits, fits;             /* waits that were long enough; of which the kinds fit */
	double low, high;                 /* 95 % interval of fits / waits (Wilson 1927) */
	double chance; /* share of the waits that they fit in other steps on average, at most */
};

/* False if out of memory. */
bool handover_judge(const struct handover_wait *waits, uint32_t n_waits,
		const struct handover_end *ends, uint32_t n_ends, struct handover *out);
/* The wait may have been ended by what ends then. */
static inline bool handover_fits(const struct handover_wait *wait, const struct handover_end *end)
{
	return end->at_ns <= wait->to_ns && wait->to_ns - end->at_ns < HANDOVER_NS &&
	       end->at_ns > wait->from_ns && end->thread != wait->thread &&
	       end->request != wait->request;
}
/* The first of the ends at that time or later. */
uint32_t handover_first(const struct handover_end *ends, uint32_t n_ends, uint64_t at_ns);

#endif
