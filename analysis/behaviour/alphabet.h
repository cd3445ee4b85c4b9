/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BEHAVIOUR_ALPHABET_H
#define PT_BEHAVIOUR_ALPHABET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/number_map.h"
#include "requests/sequence.h"

/*
 * The symbols that requests' strings are made of: what a step is called, and what it is part of, so
 * that a string tells of the tree, but one more span above others changes these no further down
 * than by one. Memory: 32 bytes a symbol, and 24 of the map; at most ALPHABET_MAX, all further ones
 * are symbol 0.
 */
#define ALPHABET_MAX 65536u

struct symbol {
	uint32_t name, provider;             /* interned; "" of symbol 0 */
	uint32_t above_name, above_provider; /* 0, 0: it is the request itself */
	bool many, failed, no_end;           /* no_end: the request fell silent; it has no name */
};

struct alphabet {
	struct symbol *symbols;
	uint32_t n, room;
	struct number_map numbers; /* by hash; those of the same hash are looked for behind it */
};

void alphabet_release(struct alphabet *alphabet);
/* The number of a step; `above`: what it is part of, NULL: nothing. 0: there is no room. */
uint32_t alphabet_of_step(struct alphabet *alphabet, const struct sequence_step *step,
		const struct sequence_step *above);
/* That of a request that never ended. */
uint32_t alphabet_no_end(struct alphabet *alphabet);
/* By what they are called, then by what they are part of. */
int alphabet_compare(
		const struct alphabet *alphabet, const struct names *names, uint32_t a, uint32_t b);

#endif
