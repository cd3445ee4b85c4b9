/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "text.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "pythiatop/text.h"

/* What the screens draw with, and its likeness where only ASCII may be shown. */
static const struct likeness {
	const char *utf8;
	const char *ascii;
} likenesses[] = {
		{"›", ">"},
		{"…", ".."},
		{"·", "."},
		{"×", "x"},
		{"±", "+-"},
		{"─", "-"},
		{"│", "|"},
		{"┤", "|"},
		{"└", "+"},
		{"├", "|"},
		{"┬", "+"},
		{"┌", "+"},
		{"┐", "+"},
		{"┘", "+"},
		{"↑", "^"},
		{"↓", "v"},
		{"≥", ">="},
		{"×", "x"},
		{"≠", "!="},
		{"═", "~"},
		{"▲", "^"},
		{"▼", "v"},
		{"▸", "+"},
		{"▾", "-"},
		{"●", "*"},
		{"○", "o"},
		{"◆", "*"},
		{"◇", "o"},
		{"█", "#"},
		{"▓", "%"},
		{"▒", "="},
		{"░", "-"},
		{"▁", "."},
		{"▂", ":"},
		{"▃", "-"},
		{"▄", "="},
		{"▅", "+"},
		{"▆", "*"},
		{"▇", "#"},
		{"▏", "."},
		{"▎", ":"},
		{"▍", "-"},
		{"▌", "="},
		{"▋", "+"},
		{"▊", "*"},
		{"▉", "%"},
};

size_t text_encode(uint32_t code, char *out)
{
	size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	size_t i;

	out[length] = '\0';
	if (length == 1) {
		out[0] = (char)code;
		return 1;
	}
	for (i = length - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (code & 0x3f));
		code >>= 6;
	}
	out[0] = (char)((0xf00u >> length & 0xff) | code);
	return length;
}

static void set_plain(struct text_piece *piece, const char *ascii)
{
	size_t length = strnlen(ascii, TEXT_PIECE_BYTES);

	memmove(piece->bytes, ascii, length);
	piece->bytes[length] = '\0';
	piece->length = piece->width = (uint8_t)length;
	piece->plain = true;
}

static void set_escape(struct text_piece *piece, uint32_t code)
{
	char escape[TEXT_PIECE_BYTES];

	snprintf(escape, sizeof(escape), "\\u{%04x}", (unsigned int)code & 0x1fffff);
	set_plain(piece, escape);
}

static void set_ascii(struct text_piece *piece, uint32_t code)
{
	size_t i;

	for (i = 0; i < sizeof(likenesses) / sizeof(likenesses[0]); i++) {
		if (strcmp(likenesses[i].utf8, piece->bytes) == 0) {
			set_plain(piece, likenesses[i].ascii);
			return;
		}
	}
	set_escape(piece, code);
}

/* Appends the combining marks that follow, as many as have room. */
static void take_marks(const char **text, struct text_piece *piece)
{
	char mark[TEXT_ESCAPE_BYTES];
	const char *next;
	uint32_t code;
	size_t length;

	while ((unsigned char)**text >= 0x80) {
		next = *text;
		length = text_escape_next(&next, mark, &code);
		if (code == 0 || wcwidth((wchar_t)code) != 0 ||
				piece->length + length > TEXT_PIECE_BYTES) {
			return;
		}
		memcpy(piece->bytes + piece->length, mark, length + 1);
		piece->length = (uint8_t)(piece->length + length);
		*text = next;
	}
}

bool text_next(const char **text, bool ascii, struct text_piece *piece)
{
	uint32_t code;
	int width;

	piece->length = (uint8_t)text_escape_next(text, piece->bytes, &code);
	if (piece->length == 0) {
		return false;
	}
	piece->width = piece->length;
	piece->plain = true;
	if (code < 0x80) {
		if (!ascii && code != 0) {
			take_marks(text, piece);
			piece->plain = piece->length == 1;
			piece->width = 1;
		}
		return true;
	}
	if (ascii) {
		set_ascii(piece, code);
		return true;
	}
	width = wcwidth((wchar_t)code);
	if (width < 1) {
		set_escape(piece, code);
		return true;
	}
	piece->plain = false;
	piece->width = (uint8_t)width;
	take_marks(text, piece);
	return true;
}

int text_width(const char *text, bool ascii)
{
	struct text_piece piece;
	int width = 0;

	while (text_next(&text, ascii, &piece)) {
		width += piece.width;
	}
	return width;
}

bool text_fits(const char *text, bool ascii, int width)
{
	struct text_piece piece;

	while (width >= 0 && text_next(&text, ascii, &piece)) {
		width -= piece.width;
	}
	return width >= 0;
}

void text_copy(char *out, size_t size, const char *text)
{
	size_t length = strnlen(text, size);

	if (length >= size) {
		length = size - 1;
		while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
			length--;
		}
	}
	memcpy(out, text, length);
	out[length] = '\0';
}
