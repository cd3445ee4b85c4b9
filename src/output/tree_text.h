/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_TREE_TEXT_H
#define PT_OUTPUT_TREE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of a FIELD_TREE (pythiatop/event.h) as babeltrace2 prints such values:
 * `[ [0] = 1, [1] = 2 ]`, `{ a = 1, b = "x" }`. Strings are quoted and escaped. Numbers stand in
 * base 8, 10 or 16. What is damaged, or nested deeper than TREE_TEXT_DEPTH, ends in `...`.
 *
 * Cuts at `size`; always ends in 0 if size > 0. Returns the length of the whole, without the 0.
 */
#define TREE_TEXT_DEPTH 32
size_t tree_text(char *out, size_t size, const void *tree, size_t length, uint8_t base);

/* A string in quotes, escaped; in the same manner. */
size_t quoted_text(char *out, size_t size, const char *text);

#endif
