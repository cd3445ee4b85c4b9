/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_SPACE_H
#define PT_PYTHIA_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/points.h"
#include "pythiatop/snapshot/tree.h"

/*
 * The search space: for each type of request the tree of all points that are known to lie in it,
 * with what they cost and how much time is spent in them. Learned when everything was on, from a
 * file, or as points come to be recorded.
 *
 * What is recorded at a time is a thinner tree: where B between A and C is off, C is seen below A.
 * A place is therefore looked up below its parent at any depth before a new one is made, and a
 * place made below A moves down when it is found below B.
 *
 * Memory: at most SPACE_MAX_NODES; beyond, further places are not known.
 */
#define SPACE_MAX_NODES 262144u
#define SPACE_NONE      UINT32_MAX
#define SPACE_FEW       20u /* requests that averages need */

struct space_node {
	uint32_t parent; /* SPACE_NONE: the root of a type, without a point */
	uint32_t first, next;
	uint32_t point;
	uint32_t type;     /* interned */
	double count;      /* spans of it in a request */
	double total_ns;   /* time within it in a request */
	double sd_ns;      /* of its own part of a request when all was on in this run; < 0: not known */
	double offset_ns;  /* from its parent's begin to its own, on average; < 0: not known */
	uint64_t requests; /* that these averages are of; 0: not known */
	uint32_t named;    /* steps made by names alone, that might lead into it */
	bool guessed;      /* seen while others were off: may lie deeper */
};

struct space {
	struct space_node *nodes;
	uint32_t n, room;
	struct number_map roots;  /* by type */
	uint64_t learned_ns; /* event time of the last learning; 0: none */
	bool saved;   /* a profile told something, maybe of other programs */
	bool learned; /* in this run, or a type is among the requests that a profile told of */
};

void space_init(struct space *space);
void space_release(struct space *space);

/* The root of a type, SPACE_NONE if it is not known; space_add_type() makes it. */
uint32_t space_type(const struct space *space, uint32_t type);
uint32_t space_add_type(struct space *space, uint32_t type);

/* The child of that point, made if need be. SPACE_NONE: a bound, or out of memory. */
uint32_t space_add(struct space *space, uint32_t parent, uint32_t point);
/* Where a point that was seen below that node stands; SPACE_NONE: not known. */
uint32_t space_find(const struct space *space, uint32_t parent, uint32_t point);

/* Requests of that root's type were seen, or learned from a file, with everything on. */
bool space_is_whole(const struct space *space, uint32_t root);

/* Mean time from the begin of a node above to that of a node; < 0: not known. */
double space_offset(const struct space *space, uint32_t node, uint32_t above);

/* The next node below `root`, depth first; `skip`: not into what is below `at`. SPACE_NONE: end. */
uint32_t space_next(const struct space *space, uint32_t root, uint32_t at, bool skip);

/*
 * Takes up a tree as it was seen. `all_on`: everything was recorded, so that it is whole. `nodes`
 * gets the node of each row, SPACE_NONE for rows without a point. `offset_ns`: of each row, from
 * the begin of the one around; < 0: not known; may be NULL.
 */
void space_observe(struct space *space, struct points *points, uint32_t type,
		const struct tree_view *tree, const double *offset_ns, bool all_on,
		uint32_t *nodes);

/* Likewise, but what it takes is not taken up: it is slower than what was learned. */
void space_place(struct space *space, struct points *points, uint32_t type,
		const struct tree_view *tree, uint32_t *nodes);

/* The node of each row, SPACE_NONE where none is known: what is seen is not learned from. */
void space_look_up(const struct space *space, const struct points *points, uint32_t type,
		const struct tree_view *tree, uint32_t *nodes);

#endif
