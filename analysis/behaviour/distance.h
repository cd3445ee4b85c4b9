/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BEHAVIOUR_DISTANCE_H
#define PT_BEHAVIOUR_DISTANCE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How far two requests are apart: by what they did, and by what that took.
 *
 * Strings: the least number of insertions, deletions and substitutions (Levenshtein 1966), looked
 * for in a band around the diagonal alone (Ukkonen, "Algorithms for approximate string matching",
 * 1985), in O(most x length). (The use for requests: Barham et al., "Using Magpie for request
 * extraction and workload modelling", OSDI 2004.)
 *
 * Pure. Threads: the caller's.
 */

/* The distance of two strings; most + 1 if it is above `most`. UINT32_MAX: out of memory. */
uint32_t distance_edits(
		const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b, uint32_t most);

/* What a request took: only of what is known of both it is told how they differ. */
enum resource { RESOURCE_CPU, RESOURCE_WAIT, RESOURCE_BYTES, RESOURCE_COUNT };
#define RESOURCE_NAMES "CPU", "waits", "bytes"

struct resources {
	bool known;
	double amount[RESOURCE_COUNT]; /* ns, ns, bytes */
};

/*
 * 0: nowhere more than RESOURCE_ALIKE times as much, 1: somewhere RESOURCE_ALIKE^2 times. What is
 * below what counts (100 us, 4 KiB) is taken for that.
 */
#define RESOURCE_ALIKE 8.0
double distance_resources(const struct resources *a, const struct resources *b);
/* How many times as much of one of them the second took. */
double distance_ratio(const struct resources *a, const struct resources *b, enum resource which);
/* Which power of RESOURCE_ALIKE of what counts it is, of each; 0 where nothing is known. */
uint32_t distance_level(const struct resources *of);

#endif
