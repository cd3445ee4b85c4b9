/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "behaviour/automaton.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

#define NONE UINT32_MAX

struct transition {
	uint32_t symbol, to, next; /* next: of the same state, symbols ascending */
	uint64_t count;
};

struct state {
	uint32_t first; /* transition; NONE: none */
	bool red;
	uint64_t arrivals, ends;
};

struct automaton {
	struct state *states;
	struct transition *transitions; /* each of the tree's states has one that leads to it */
	uint32_t *red;                  /* in the order in which they were found */
	uint32_t n, room, n_transitions, transition_room, n_red, red_room;
	double bound; /* sqrt(ln(2 / alpha) / 2) */
	uint64_t work;
};

void automaton_destroy(struct automaton *a)
{
	if (a) {
		free(a->states);
		free(a->transitions);
		free(a->red);
		free(a);
	}
}

uint32_t automaton_states(const struct automaton *a)
{
	return a->n_red;
}

static struct transition *find(const struct automaton *a, uint32_t state, uint32_t symbol)
{
	uint32_t at = a->states[state].first;

	while (at != NONE && a->transitions[at].symbol < symbol) {
		at = a->transitions[at].next;
	}
	return at != NONE && a->transitions[at].symbol == symbol ? &a->transitions[at] : NULL;
}

/* Puts a transition where its symbol belongs. */
static void insert(struct automaton *a, uint32_t state, uint32_t transition)
{
	uint32_t *link = &a->states[state].first;

	while (*link != NONE && a->transitions[*link].symbol < a->transitions[transition].symbol) {
		link = &a->transitions[*link].next;
	}
	a->transitions[transition].next = *link;
	*link = transition;
}

/* ---- the tree of prefixes ---- */

static uint32_t add_state(struct automaton *a)
{
	if (!array_reserve(&a->states, &a->room, a->n + 1)) {
		return NONE;
	}
	a->states[a->n] = (struct state){.first = NONE};
	return a->n++;
}

static bool step_on(struct automaton *a, uint32_t *state, uint32_t symbol, uint64_t count)
{
	struct transition *known = find(a, *state, symbol);
	uint32_t to;

	if (known) {
		known->count += count;
		*state = known->to;
		return true;
	}
	to = add_state(a);
	if (to == NONE || !array_reserve(&a->transitions, &a->transition_room,
					  a->n_transitions + 1)) {
		return false;
	}
	a->transitions[a->n_transitions] =
			(struct transition){.symbol = symbol, .to = to, .count = count};
	insert(a, *state, a->n_transitions++);
	*state = to;
	return true;
}

/* How many states a string would add. */
static uint32_t needs(const struct automaton *a, const struct automaton_string *string)
{
	uint32_t state = 0, i = 0;
	const struct transition *known;

	while (i < string->n && (known = find(a, state, string->symbols[i]))) {
		state = known->to;
		i++;
	}
	return string->n - i;
}

static bool add_string(struct automaton *a, const struct automaton_string *string)
{
	uint32_t state = 0;

	if (a->n + needs(a, string) > AUTOMATON_STATES) {
		return true;
	}
	a->states[0].arrivals += string->count;
	for (uint32_t i = 0; i < string->n; i++) {
		if (!step_on(a, &state, string->symbols[i], string->count)) {
			return false;
		}
		a->states[state].arrivals += string->count;
	}
	a->states[state].ends += string->count;
	return true;
}

/* ---- merging ---- */

static bool differ(const struct automaton *a, uint64_t f1, uint64_t n1, uint64_t f2, uint64_t n2)
{
	double x = (double)n1, y = (double)n2;

	return n1 > 0 && n2 > 0 &&
	       fabs((double)f1 / x - (double)f2 / y) > (1 / sqrt(x) + 1 / sqrt(y)) * a->bound;
}

/* Neither their ends nor their symbols; what is behind them is another matter. */
static bool look_alike(struct automaton *a, uint32_t p, uint32_t q)
{
	const struct state *x = &a->states[p], *y = &a->states[q];
	uint32_t i = x->first, j = y->first;

	if (differ(a, x->ends, x->arrivals, y->ends, y->arrivals)) {
		return false;
	}
	while (i != NONE || j != NONE) {
		const struct transition *left = i != NONE ? &a->transitions[i] : NULL;
		const struct transition *right = j != NONE ? &a->transitions[j] : NULL;
		bool with_left = left && (!right || left->symbol <= right->symbol);
		bool with_right = right && (!left || right->symbol <= left->symbol);

		a->work++;
		if (differ(a, with_left ? left->count : 0, x->arrivals,
				    with_right ? right->count : 0, y->arrivals)) {
			return false;
		}
		i = with_left ? left->next : i;
		j = with_right ? right->next : j;
	}
	return true;
}

/* q is the top of a tree, so that this ends; p may be anywhere. Its depth is a string's length. */
static bool compatible(struct automaton *a, uint32_t p, uint32_t q)
{
	if (!look_alike(a, p, q)) {
		return false;
	}
	for (uint32_t j = a->states[q].first; j != NONE; j = a->transitions[j].next) {
		const struct transition *other = find(a, p, a->transitions[j].symbol);

		if (other && !compatible(a, other->to, a->transitions[j].to)) {
			return false;
		}
	}
	return true;
}

/* Adds the tree below q to p. */
static void fold(struct automaton *a, uint32_t p, uint32_t q)
{
	a->states[p].arrivals += a->states[q].arrivals;
	a->states[p].ends += a->states[q].ends;
	for (uint32_t j = a->states[q].first, next; j != NONE; j = next) {
		struct transition *known = find(a, p, a->transitions[j].symbol);

		next = a->transitions[j].next;
		if (known) {
			known->count += a->transitions[j].count;
			fold(a, known->to, a->transitions[j].to);
		} else {
			insert(a, p, j);
		}
	}
}

static bool make_red(struct automaton *a, uint32_t state)
{
	if (!array_reserve(&a->red, &a->red_room, a->n_red + 1)) {
		return false;
	}
	a->states[state].red = true;
	a->red[a->n_red++] = state;
	return true;
}

/* A transition from the red state at `from` or a later one to one that is not; NULL: none is left.
 */
static struct transition *next_blue(const struct automaton *a, uint32_t *from)
{
	for (; *from < a->n_red; (*from)++) {
		for (uint32_t j = a->states[a->red[*from]].first; j != NONE;
				j = a->transitions[j].next) {
			if (!a->states[a->transitions[j].to].red) {
				return &a->transitions[j];
			}
		}
	}
	return NULL;
}

/* The first red state that a blue one is like; n_red: it is like none. */
static uint32_t find_alike(struct automaton *a, uint32_t state)
{
	uint32_t i = 0;

	if (a->states[state].arrivals < AUTOMATON_LEAST || a->work > AUTOMATON_WORK) {
		return a->n_red;
	}
	while (i < a->n_red && (a->states[a->red[i]].arrivals < AUTOMATON_LEAST ||
					       !compatible(a, a->red[i], state))) {
		i++;
	}
	return i;
}

static bool merge_all(struct automaton *a)
{
	struct transition *blue;
	uint32_t from = 0;

	while ((blue = next_blue(a, &from))) {
		uint32_t state = blue->to, i = find_alike(a, state);

		if (i < a->n_red) {
			blue->to = a->red[i];
			fold(a, a->red[i], state);
			from = 0; /* what was folded may stand behind any */
		} else if (!make_red(a, state)) {
			return false;
		}
	}
	return true;
}

struct automaton *automaton_learn(const struct automaton_string *strings, uint32_t n, double alpha)
{
	struct automaton *a = calloc(1, sizeof(*a));
	bool done = a && add_state(a) != NONE;

	if (done) {
		a->bound = sqrt(log(2 / alpha) / 2);
	}
	for (uint32_t i = 0; done && i < n; i++) {
		done = add_string(a, &strings[i]);
	}
	if (!done || !make_red(a, 0) || !merge_all(a)) {
		automaton_destroy(a);
		return NULL;
	}
	return a;
}

/* ---- following ---- */

/* The most probable way on: a symbol, or the end. */
static uint64_t most_probable(
		const struct automaton *a, const struct state *state, uint32_t *symbol)
{
	uint64_t most = state->ends;

	*symbol = AUTOMATON_END;
	for (uint32_t j = state->first; j != NONE; j = a->transitions[j].next) {
		if (a->transitions[j].count > most) {
			most = a->transitions[j].count;
			*symbol = a->transitions[j].symbol;
		}
	}
	return most;
}

/* The string takes a step that `count` of those that came to the state took. */
static void take(const struct automaton *a, uint32_t at, const struct state *state, uint64_t count,
		double *farthest, struct automaton_walk *out)
{
	uint32_t expected;
	double n = (double)state->arrivals, most = (double)most_probable(a, state, &expected) / n;
	double p = count ? (double)count / n : 1 / (n + 1);

	out->log_probability += log(p);
	if (most / p > *farthest && *farthest < AUTOMATON_ODDS) {
		*farthest = most / p;
		out->step = at;
		out->step_probability = p;
		out->expected = expected;
		out->expected_probability = most;
	}
}

void automaton_follow(const struct automaton *a, const uint32_t *symbols, uint32_t n,
		struct automaton_walk *out)
{
	uint32_t state = 0;
	double farthest = 0;

	*out = (struct automaton_walk){.expected = AUTOMATON_END};
	if (a->states[0].arrivals == 0) {
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct transition *way = find(a, state, symbols[i]);

		take(a, i, &a->states[state], way ? way->count : 0, &farthest, out);
		if (!way) {
			return;
		}
		state = way->to;
	}
	take(a, n, &a->states[state], a->states[state].ends, &farthest, out);
}

uint32_t automaton_state(const struct automaton *a, const uint32_t *symbols, uint32_t n)
{
	uint32_t state = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct transition *way = find(a, state, symbols[i]);

		if (!way) {
			return NONE;
		}
		state = way->to;
	}
	return state;
}
