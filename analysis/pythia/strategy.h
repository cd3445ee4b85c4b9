/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_STRATEGY_H
#define PT_PYTHIA_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Which points to enable next inside an edge of the critical path that holds the variation. Pure
 * functions of the candidates; each strategy is one row of the table strategies().
 */
#define CANDIDATE_NONE UINT32_MAX

struct candidate {
	uint32_t node, point; /* node SPACE_NONE: where it stands is not known */
	uint32_t above;       /* candidate that it lies in; CANDIDATE_NONE: directly in the edge */
	uint32_t depth;       /* 1: directly in the edge */
	double share;         /* of the edge's time by the profile; < 0: not known */
	double begin_ns;      /* from the edge's begin to its own; < 0: not known */
	double events_per_s;  /* that it would cost */
	uint32_t explained;   /* how often it was the answer */
	bool kernel;
	/* Set by candidates_order(): */
	uint32_t first;  /* by time, of those directly in it; CANDIDATE_NONE: none is */
	uint32_t next;   /* after it in the same container; CANDIDATE_NONE: it is the last */
	bool ordered;    /* the begin is known of all those in the same container */
	double position; /* 0..1: of its middle in the edge's time */
};

/*
 * Their order in time: as was learned, else as they stand. Containers come before what lies in
 * them. Returns the first of those directly in the edge; CANDIDATE_NONE: there are none.
 */
uint32_t candidates_order(struct candidate *candidates, uint32_t n);

/* Where a candidate lies in the edge's time, as that is cut by the points chosen; shares of it. */
struct place {
	double share;
	double gap; /* its own time: that before, between and after each of those in it, evenly */
	uint32_t within, directly; /* candidates in it, and directly in it */
	uint32_t begin_part, end_part;
	double begin_at, end_at; /* of that part lies before */
	bool on;
};

struct choice {
	const struct candidate *candidates; /* containers before what lies in them */
	uint32_t n;
	uint32_t max;            /* points of one step */
	double events_left;      /* of the budget; < 0: no bound */
	uint64_t seed;           /* of random choices: the same seed, the same choice */
	uint32_t *chosen;        /* n entries of room: indices of candidates */
	uint32_t first;          /* of those directly in the edge, by time */
	/* Scratch. */
	double *ranks;        /* n */
	struct place *places; /* n */
	double *parts;        /* 2 n + 1 */
};

/* What an edge is judged by. */
enum edge_rule {
	EDGE_BY_PHI = 0,  /* lower bound of Cov(S, T) / Var(T) */
	EDGE_BY_VARIANCE, /* its own variance alone, as Pythia's prototype did */
};

static inline bool choice_fits(const struct choice *choice, uint32_t at, double spent)
{
	return choice->events_left < 0 ||
	       spent + choice->candidates[at].events_per_s <= choice->events_left;
}

struct strategy {
	const char *name;
	enum edge_rule edges;
	bool whole; /* the whole edge is looked at, whichever part of its time varies */
	uint32_t (*choose)(struct choice *choice); /* returns how many */
};

/* All of them, the default first; *n tells how many. */
const struct strategy *strategies(uint32_t *n);
uint32_t choose_hybrid(struct choice *choice);          /* hybrid.c */
const struct strategy *strategy_find(const char *name); /* NULL: none of that name */

#endif
