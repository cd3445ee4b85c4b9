/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BEHAVIOUR_SKETCH_H
#define PT_BEHAVIOUR_SKETCH_H

#include <stdint.h>

/*
 * A sketch of a string, by which like ones are found without comparing all with all: the least
 * values of SKETCH_SIZE hash functions over its pairs of neighbours. The share of values that two
 * sketches have in common estimates how many of all their pairs both strings have. (Broder, "On the
 * resemblance and containment of documents", 1997; locality-sensitive: Indyk & Motwani 1998.)
 *
 * Pure. Cost: O(SKETCH_SIZE x length) to make one.
 */
#define SKETCH_SIZE 16

struct sketch {
	uint32_t least[SKETCH_SIZE];
};

void sketch_make(struct sketch *sketch, const uint32_t *string, uint32_t n);
/* How many values two have in common: 0..SKETCH_SIZE. */
uint32_t sketch_common(const struct sketch *a, const struct sketch *b);

#endif
