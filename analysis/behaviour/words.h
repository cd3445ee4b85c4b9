/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BEHAVIOUR_WORDS_H
#define PT_BEHAVIOUR_WORDS_H

#include "behaviour/reading.h"

/*
 * In what one string differs from another, in words: "+ retry", "without cache_get", "ends after
 * authenticate", "repeats query", "commit fails", "12 times the CPU"; "" where in nothing. By an
 * alignment of the two with fewest edits, where a step that only fails or repeats is one edit and
 * anything else in its place two (Wagner & Fischer 1974). Of steps that go with others below them
 * the upper ones are named, at most WORDS_PHRASES in all.
 *
 * In the arena; NULL: out of memory. Cost: O(length^2).
 */
#define WORDS_PHRASES 4u

const char *words_of_difference(const struct reading *reading, const struct reading_string *usual,
		const struct reading_string *other, struct arena *arena);
/* A step as it is called: "authenticate", "commit fails", "(end)" of AUTOMATON_END. */
const char *words_of_step(const struct reading *reading, uint32_t rank, struct arena *arena);

#endif
