/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_TREE_H
#define PT_SOURCE_TREE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Arrays, sequences, variants and what is inside them, as the bytes of a FIELD_TREE
 * (pythiatop/event.h has the format).
 *
 * Memory: one buffer of EVENT_MAX_BYTES, used for one field after the other. A tree that does not
 * fit, or is nested deeper than TREE_DEPTH_MAX, is absent as a whole.
 */
#define TREE_DEPTH_MAX 32

struct tree {
	unsigned char *bytes;
	size_t size;
};

/* NULL-filled on failure: false if out of memory. */
bool tree_init(struct tree *tree);
void tree_release(struct tree *tree);

/* Writes the field to tree->bytes, tree->size of them. False if it is to be absent. */
bool tree_encode(struct tree *tree, const bt_field *field);

#endif
