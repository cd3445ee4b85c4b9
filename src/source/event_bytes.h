/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_EVENT_BYTES_H
#define PT_SOURCE_EVENT_BYTES_H

#include "outlet.h"
#include "tree_bytes.h"

/*
 * Strings and trees behind the slots of the event record that is being written, and the slots for
 * them. `used` is what the event has so far, bytes from its slots on.
 * Errors: false as outlet_begin().
 */

/* Cut to what an event may have. */
bool event_put_bytes(struct outlet *outlet, uint64_t *slot, const void *bytes, uint64_t length,
		uint32_t *used);
bool event_put_tree(struct outlet *outlet, uint64_t *slot, const struct tree *tree, uint32_t *used);

#endif
