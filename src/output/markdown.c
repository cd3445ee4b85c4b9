/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/markdown.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "pythiatop/text.h"

/* Emphasis, code, links and images, HTML and its entities, tables, headings, mentions, formulas. */
static const char special[] = "\\`*_[]<#|~&@$";

static bool is_word(char byte)
{
	return isalnum((unsigned char)byte) || (byte & 0x80);
}

/* One character with what it needs before it; its length. *before: the last byte. */
static size_t next(const char **text, char *before, char out[2 * TEXT_ESCAPE_BYTES])
{
	char shown[TEXT_ESCAPE_BYTES];
	uint32_t code;
	size_t length = text_escape_next(text, shown, &code), used = 0;

	for (size_t i = 0; i < length; i++) {
		/* Within a word it emphasizes nothing, and names are full of it. */
		bool inner = shown[i] == '_' && is_word(*before) && is_word(**text);

		if (strchr(special, shown[i]) && !inner) {
			out[used++] = '\\';
		}
		out[used++] = *before = shown[i];
	}
	return used;
}

void markdown_put(FILE *out, const char *text)
{
	char piece[2 * TEXT_ESCAPE_BYTES];
	size_t length;
	char before = 0;

	while ((length = next(&text, &before, piece)) > 0) {
		fwrite(piece, length, 1, out);
	}
}
