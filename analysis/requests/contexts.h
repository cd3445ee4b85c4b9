/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_CONTEXTS_H
#define PT_REQUESTS_CONTEXTS_H

#include <stdint.h>

/*
 * Calling contexts, interned: a context is (parent context, span name); 0 is the root of all.
 * The same chain of spans has the same number. (Ammons, Ball & Larus, PLDI 1997.)
 * Memory: at most `max` contexts; beyond, context_add() gives the parent back and counts it.
 */
struct contexts;

struct context {
	uint32_t parent;
	uint32_t name;     /* interned span name */
	uint32_t provider; /* interned provider of the entry event, 0 for a kernel's */
	uint32_t depth;    /* 1 for children of the root */
};

struct contexts *contexts_create(uint32_t max);
void contexts_destroy(struct contexts *contexts);
uint32_t contexts_add(struct contexts *contexts, uint32_t parent, uint32_t name, uint32_t provider);
const struct context *contexts_get(const struct contexts *contexts, uint32_t context);
uint32_t contexts_count(const struct contexts *contexts);

#endif
