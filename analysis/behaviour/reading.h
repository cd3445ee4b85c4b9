/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BEHAVIOUR_READING_H
#define PT_BEHAVIOUR_READING_H

#include "behaviour/automaton.h"
#include "behaviour/behaviour.h"
#include "behaviour/sketch.h"
#include "behaviour/alphabet.h"

/*
 * The strings of one type in a horizon, and which of them are of one shape.
 *
 * The most frequent string is the first shape. Each further one, the more frequent first, is of the
 * nearest shape that is no farther than READING_NEAR, else a shape of its own; one that is as
 * frequent as READING_SHARE and READING_LEAST say is of another one only if it is the same string,
 * and took as much. Distance = edits / length of the longer string + distance_resources(). Compared
 * are the READING_CANDIDATES shapes whose sketches have most in common with the string's. (A leader
 * algorithm: Hartigan, "Clustering Algorithms", 1975, ch. 3; in two stages as BIRCH: Zhang et al.,
 * SIGMOD 1996; sizes of the parts decide as in DenStream: Cao et al., SDM 2006.)
 *
 * Symbols are numbered by their texts (`ranks`), so that nothing depends on which came first.
 *
 * Cost: O(strings x shapes) sketches, O(strings x candidates) distances: a few ms for the most
 * strings there can be. Memory: in the arena, some 100 bytes a string and 4 a step.
 */
#define READING_NEAR       0.25
#define READING_SHARE      0.005
#define READING_LEAST      8u
#define READING_CANDIDATES 4u
#define READING_SHAPES     64u /* further strings are of the nearest one */

struct reading_string {
	const struct behaviour_string *string;
	uint32_t *ranks;
	uint32_t n;
	uint64_t count;
	double duration_ns;         /* sum */
	struct resources resources; /* means */
	struct sketch sketch;
	uint32_t shape; /* index */
	struct automaton_walk walk;
	double tail;
};

struct reading_shape {
	uint32_t leader; /* index of a string */
	uint32_t strings;
	uint64_t count;
	double duration_ns;
	uint64_t measured;
	struct resources resources; /* means */
};

struct reading {
	const struct behaviour_type *type;
	const struct alphabet *alphabet;
	const struct names *names;
	uint32_t n;
	struct reading_string *strings; /* the most frequent first */
	uint64_t total;
	uint32_t n_ranks, *symbol_of; /* of a rank */
	uint32_t n_shapes;
	struct reading_shape *shapes; /* the most frequent first */
	bool cut;
	uint32_t states;
};

/* False if out of memory. */
bool reading_make(struct reading *reading, const struct behaviour *behaviour,
		const struct behaviour_type *type, enum horizon horizon, struct arena *arena);
/* How probable each string is. False if out of memory. */
bool reading_follow(struct reading *reading, struct arena *arena);
/* Distance of two strings, at most 1 + 1; above `most` it may be any number above. */
double reading_distance(
		const struct reading_string *a, const struct reading_string *b, double most);

#endif
