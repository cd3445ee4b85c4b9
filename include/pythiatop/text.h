/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_TEXT_H
#define PYTHIATOP_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Text that came from a trace or from the network, made safe to show on a terminal and in exports.
 *
 * Control characters (C0, DEL, C1) become \n, \t, \xNN; code points that reorder or hide text
 * (zero width, bidirectional, invisible ones) become \u{NNNN}; bytes that are no UTF-8
 * become \xNN; a backslash stays one. Whatever does not fit `size` is cut at a whole character.
 * Always ends in 0 if size > 0. Returns the length written, without the 0.
 */
size_t text_escape(char *out, size_t size, const char *text);

#define TEXT_ESCAPE_BYTES 16

/*
 * One step of it: takes the next character off *text and writes how it is shown. Returns the length
 * written, 0 at the end. *code is the character if it is shown as it is, else 0.
 */
size_t text_escape_next(const char **text, char out[TEXT_ESCAPE_BYTES], uint32_t *code);

#endif
