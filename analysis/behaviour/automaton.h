/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BEHAVIOUR_AUTOMATON_H
#define PT_BEHAVIOUR_AUTOMATON_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A probabilistic automaton of strings, learned by merging states: begins with the tree of all
 * prefixes and their counts, and makes one of two states if their futures do not differ by more
 * than chance would have it. (Carrasco & Oncina, "Learning stochastic regular grammars by means of
 * a state merging method", ICGI 1994: ALERGIA. In the order of Lang, Pearlmutter & Price 1998:
 * states known to be different are red; what is one step behind a red one is tried against all red
 * ones in the order in which these were found, and becomes one itself if it is like none. Of
 * several behind the red ones the one behind the first is tried, of several there that of the least
 * symbol.)
 *
 * f1 of n1 and f2 of n2 differ if |f1/n1 - f2/n2| > (1/sqrt(n1) + 1/sqrt(n2)) sqrt(ln(2/alpha) / 2)
 * (Hoeffding 1963); two states do if that is so of their ends, of any symbol, or of any two states
 * behind them on the same way. A state that fewer than AUTOMATON_LEAST strings came to is neither
 * merged nor merged with: the bound would have it like any other, and what is behind it improbable.
 *
 * Pure: the order of the strings does not matter. Memory: at most AUTOMATON_STATES states; strings
 * that would need more are left out, so give the most frequent first. Cost: states x red states x
 * size of what is behind them; after AUTOMATON_WORK comparisons no more states are merged.
 */
#define AUTOMATON_ALPHA  0.05
#define AUTOMATON_LEAST  30u
#define AUTOMATON_STATES 8192u
#define AUTOMATON_WORK   UINT64_C(20000000)
#define AUTOMATON_ODDS   10.0
#define AUTOMATON_END    UINT32_MAX /* in the place of a symbol: the string ends */

struct automaton_string {
	const uint32_t *symbols;
	uint32_t n;
	uint64_t count;
};

struct automaton;

/* NULL if out of memory. */
struct automaton *automaton_learn(const struct automaton_string *strings, uint32_t n, double alpha);
void automaton_destroy(struct automaton *automaton);
uint32_t automaton_states(const struct automaton *automaton); /* that are left */

/* How probable a string is, and where it left the road. */
struct automaton_walk {
	double log_probability; /* natural; of all its steps and its end */
	/*
	 * The first step that was AUTOMATON_ODDS times less probable than the most probable one
	 * there, else the one that was so most; n: its end.
	 */
	uint32_t step;
	double step_probability;
	uint32_t expected; /* the most probable symbol there, or AUTOMATON_END */
	double expected_probability;
};

/*
 * A step that no string took there counts as 1 / (n + 1), of n that came by; what follows it is not
 * known, and does not count.
 */
void automaton_follow(const struct automaton *automaton, const uint32_t *symbols, uint32_t n,
		struct automaton_walk *out);
/* The state after a string, for those who compare automata; UINT32_MAX: nothing leads there. */
uint32_t automaton_state(const struct automaton *automaton, const uint32_t *symbols, uint32_t n);

#endif
