/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_STRATEGY_H
#define PT_PYTHIA_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Which points to enable next inside an edge of the critical path that holds the variation. Pure
 * functions of the candidates; each strategy is one row of the table strategies().
 *
 * The value of splitting an edge's time into parts of shares p_k is 1 - sum p_k^2: the chance that
 * two moments of it fall into different parts. Shares are half of what the profile says and half
 * even, because what varies now need not have taken time when it was learned. Where the order of
 * things is known, what is left of the edge before, between and after the points chosen are parts
 * of their own: once they are on, it can be told in which of these it varies.
 */
#define CANDIDATE_NONE UINT32_MAX

struct candidate {
	uint32_t node, point; /* node SPACE_NONE: where it stands is not known */
	uint32_t above;       /* candidate that it lies in; CANDIDATE_NONE: directly in the edge */
	uint32_t depth;       /* 1: directly in the edge */
	double share;         /* of the edge's time by the profile; < 0: not known */
	double position;      /* 0..1: of its middle in the edge's time */
	double begin_ns;      /* from the edge's begin to its own; < 0: not known */
	bool ordered;         /* that is known of all those in the same container */
	double events_per_s;  /* that it would cost */
	uint32_t explained;   /* how often it was the answer */
	bool kernel;
};

struct choice {
	const struct candidate *candidates; /* containers before what lies in them */
	uint32_t n;
	uint32_t max;            /* points of one step */
	double events_left;      /* of the budget; < 0: no bound */
	uint64_t seed;           /* of random choices: the same seed, the same choice */
	uint32_t *chosen;        /* n entries of room: indices of candidates */
	double *scratch;         /* 4 n entries of room */
	const uint32_t *in_time; /* all candidates, by container and then by time */
};

/* What an edge is judged by. */
enum edge_rule {
	EDGE_BY_PHI = 0,  /* lower bound of Cov(S, T) / Var(T) */
	EDGE_BY_VARIANCE, /* its own variance alone, as Pythia's prototype did */
};

struct strategy {
	const char *name;
	enum edge_rule edges;
	bool whole; /* the whole edge is looked at, whichever part of its time varies */
	uint32_t (*choose)(struct choice *choice); /* returns how many */
};

/* All of them, the default first; *n tells how many. */
const struct strategy *strategies(uint32_t *n);
const struct strategy *strategy_find(const char *name); /* NULL: none of that name */

#endif
