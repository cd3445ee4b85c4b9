/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_DUPLICATES_H
#define PT_DUPLICATES_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/event.h"
#include "registry.h"

/*
 * Events that two sessions of a host both recorded. A tracepoint that is hit runs the probe of each
 * session in turn, and each takes a time of its own: tens of nanoseconds apart, or as long as the
 * thread was preempted in between. So the same event is told by what cannot differ: host, name,
 * thread (the CPU where the sessions do not both record it) and payload, within DUPLICATES_NS, from
 * another session. Each event has at most one duplicate from each other session; the later is the
 * duplicate.
 *
 * Memory: DUPLICATES_SLOTS events of 32 bytes, from the first event that could have one, and 2
 * bytes a field of the types of such. Beyond that, older ones are forgotten: what would match them
 * counts as an event.
 */
#define DUPLICATES_NS    UINT64_C(10000000)
#define DUPLICATES_SLOTS 32768u /* a power of two */

struct duplicates {
	const struct registry *registry;
	struct told *told; /* DUPLICATES_SLOTS, or NULL */
	struct identity *identities;
	uint32_t n_identities;
};

void duplicates_release(struct duplicates *duplicates);

/*
 * Whether another session has told the event. Events must come in the order of time. Call it only
 * where another session of the host may have it: see registry_is_shared(). *teller is that session.
 * False if out of memory.
 */
bool duplicates_find(struct duplicates *duplicates, const struct event *event, uint32_t *teller);

#endif
