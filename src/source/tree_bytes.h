/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_TREE_BYTES_H
#define PT_SOURCE_TREE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/event.h"

/*
 * Arrays, sequences, variants and what is inside them, as the bytes of a FIELD_TREE
 * (pythiatop/event.h has the format), node by node.
 *
 * Memory: one buffer of half of EVENT_MAX_BYTES, used for one field after the other. A tree that
 * does not fit, or is nested deeper than TREE_DEPTH_MAX, is absent as a whole.
 * Errors: false where it does not fit.
 */
#define TREE_DEPTH_MAX 32

struct tree {
	unsigned char *bytes;
	size_t size;
};

/* NULL-filled on failure: false if out of memory. */
bool tree_init(struct tree *tree);
void tree_release(struct tree *tree);

/* The head of a node; `follows` bytes will come right after it. */
bool tree_add_node(struct tree *tree, enum tree_node kind, uint64_t n, size_t follows);
bool tree_add_number(struct tree *tree, enum tree_node kind, uint64_t bits);
bool tree_add_double(struct tree *tree, double value);
bool tree_add_string(struct tree *tree, const char *text, size_t length);
bool tree_add_name(struct tree *tree, const char *name); /* NULL is "" */

/* Adds what was added before once more: `size` bytes from `first` on. */
bool tree_repeat(struct tree *tree, size_t first, size_t size);

#endif
