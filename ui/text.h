/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_TEXT_H
#define UI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Text cut into pieces with their width on the screen. Text from a trace is data: what it must not
 * do to a terminal is decided by text_escape_next() alone; here unprintable characters (as the C
 * library has it) and combining marks without a base are escaped too. The canvas takes no other
 * text than what came through text_next().
 *
 * Threads: any; pure but for the locale's character classes (LC_CTYPE must be a UTF-8 locale unless
 * `ascii`).
 */

#define TEXT_PIECE_BYTES 16

/* A character with its combining marks, or an escape of plain ASCII (one column per byte). */
struct text_piece {
	char bytes[TEXT_PIECE_BYTES + 1];
	uint8_t length; /* bytes */
	uint8_t width;  /* columns */
	bool plain;     /* one column per byte */
};

/*
 * Takes the next piece off *text; false at its end. With `ascii` other characters become an ASCII
 * likeness where there is a usual one, else an escape.
 */
bool text_next(const char **text, bool ascii, struct text_piece *piece);

/* Columns that text takes when shown. */
int text_width(const char *text, bool ascii);

/* Whether it takes no more than `width` columns; stops looking where it does. */
bool text_fits(const char *text, bool ascii, int width);

/* Copies raw text, cut at a character. */
void text_copy(char *out, size_t size, const char *text);

/* Writes a code point as UTF-8 into `out` (5 bytes); its length. */
size_t text_encode(uint32_t code, char *out);

#endif
