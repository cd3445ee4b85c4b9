/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_SEQUENCE_H
#define PT_REQUESTS_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "requests/request.h"

/*
 * What one finished request did, in an order that does not depend on hosts, threads and chance: the
 * depth-first walk of its tree of spans and points. Of the parts of a span those on its own thread
 * come first, in the order of their begins, then those on other threads, by their names. Parts that
 * follow each other alike (a loop, a retry) stand there once and are marked; of loops over several
 * parts so are these, up to SEQUENCE_PERIOD.
 *
 * Of a kernel's events only system calls that do not wait count: the others come and go with load.
 *
 * Cost: as spans_build(), O(n log n) in spans. Memory: scratch of the largest request.
 */
#define SEQUENCE_NONE   UINT32_MAX
#define SEQUENCE_MAX    512u /* steps; further ones are left out */
#define SEQUENCE_PERIOD 4u

struct sequence_step {
	uint32_t name, provider; /* interned */
	uint32_t above;          /* index of the step it is part of, below its own; SEQUENCE_NONE */
	bool many;               /* several of its like follow each other */
	bool failed;
};

struct sequence {
	uint32_t n;
	const struct sequence_step *steps;
	bool cut; /* there were more than SEQUENCE_MAX */
};

struct requests;
/* Borrowed until the next call of the request engine. False if out of memory. */
bool requests_sequence(
		struct requests *requests, const struct request *request, struct sequence *out);

/* What a request used that is being handed on, of which a part may be known; false: nothing is. */
struct state_resources;
bool requests_used(struct requests *requests, struct request *request, struct state_resources *out);

/* Used by the request engine alone. */
struct sequence_node;
struct sequencing {
	struct sequence_node *nodes;
	uint32_t *list, *stack;
	struct sequence_step *steps;
	uint32_t room, list_room, stack_room, step_room;
};
void sequencing_release(struct sequencing *sequencing);

#endif
