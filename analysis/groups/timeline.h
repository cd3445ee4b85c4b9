/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_TIMELINE_H
#define PT_GROUPS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/baseline.h"

/*
 * What requests did in the course of the whole run: of each group how many ended, of each calling
 * context what sampled requests that started then spent in it. From it follows since when something
 * is otherwise (change/since.c).
 *
 * Buckets are a quarter of a second long at first; a run that outlasts them makes all twice as
 * long: a second from 64 s on. Memory: 3 KiB each of the first 2,048 contexts, 512 bytes each of
 * the first 4,096 groups: 8 MiB at most. What comes later, or for want of memory, has none.
 * Threads: the caller's.
 */
#define TIMELINE_BUCKETS  128u
#define TIMELINE_CONTEXTS 2048u
#define TIMELINE_GROUPS   4096u

struct timelines {
	bool begun;
	uint64_t origin_ns, width_ns;
	struct baseline_bucket **contexts; /* by context; NULL: none */
	uint32_t room, n;
	uint32_t **groups; /* by index; NULL: none */
	uint32_t room_of_groups;
};

void timelines_release(struct timelines *timelines);

void timelines_count(struct timelines *timelines, uint32_t group, uint64_t end_ns);
/* Of a request that started then, in one context. */
void timelines_add(struct timelines *timelines, uint32_t context, uint64_t start_ns, uint32_t spans,
		uint64_t self_ns, uint64_t segment_ns);

/* Borrowed until something is added; NULL: there is none. */
const struct baseline_bucket *timelines_of_context(
		const struct timelines *timelines, uint32_t context);
const uint32_t *timelines_of_group(const struct timelines *timelines, uint32_t group);

#endif
