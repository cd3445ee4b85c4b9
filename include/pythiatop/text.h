/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_TEXT_H
#define PYTHIATOP_TEXT_H

#include <stddef.h>

/*
 * Text that came from a trace or from the network, made safe to show on a terminal and in exports.
 *
 * Control characters (C0, DEL, C1) become \n, \t, \xNN; code points that reorder or hide text
 * (U+200B..U+200F, U+202A..U+202E, U+2060..U+206F, U+FEFF) become \u{NNNN}; bytes that are no UTF-8
 * become \xNN; a backslash stays one. Whatever does not fit `size` is cut at a whole character.
 * Always ends in 0 if size > 0. Returns the length written, without the 0.
 */
size_t text_escape(char *out, size_t size, const char *text);

#endif
