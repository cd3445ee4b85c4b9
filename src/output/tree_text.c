/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/tree_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "pythiatop/event.h"
#include "pythiatop/text.h"

struct sheet {
	char *out;
	size_t size, n;
	const unsigned char *at, *end;
	uint8_t base;
};

__attribute__((format(printf, 2, 3))) static void put(struct sheet *sheet, const char *format, ...)
{
	size_t left = sheet->n < sheet->size ? sheet->size - sheet->n : 0;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(left ? sheet->out + sheet->n : NULL, left, format, arguments);
	va_end(arguments);
	sheet->n += n > 0 ? (size_t)n : 0;
}

static void put_quoted(struct sheet *sheet, const char *text)
{
	char step[TEXT_ESCAPE_BYTES];
	uint32_t code;

	put(sheet, "\"");
	while (text_escape_next(&text, step, &code)) {
		put(sheet, "%s%s", code == '"' || code == '\\' ? "\\" : "", step);
	}
	put(sheet, "\"");
}

size_t quoted_text(char *out, size_t size, const char *text)
{
	struct sheet sheet = {.out = out, .size = size};

	put_quoted(&sheet, text);
	return sheet.n;
}

static bool take(struct sheet *sheet, void *to, size_t n)
{
	if ((size_t)(sheet->end - sheet->at) < n) {
		return false;
	}
	memcpy(to, sheet->at, n);
	sheet->at += n;
	return true;
}

/* Strings of trees end in no 0. */
static bool put_string(struct sheet *sheet, uint32_t n, bool quoted)
{
	size_t padded = ((size_t)n + 7) & ~(size_t)7;
	char piece[257];

	if ((size_t)(sheet->end - sheet->at) < padded) {
		return false;
	}
	put(sheet, "%s", quoted ? "\"" : "");
	for (uint32_t at = 0, step; at < n; at += step) {
		const char *rest = piece;
		char shown[TEXT_ESCAPE_BYTES];
		uint32_t code;

		step = n - at < sizeof(piece) - 1 ? n - at : (uint32_t)sizeof(piece) - 1;
		/* Not in the middle of a character. */
		while (at + step < n && step > 1 && (sheet->at[at + step] & 0xc0) == 0x80 &&
				step > sizeof(piece) - 5) {
			step--;
		}
		memcpy(piece, sheet->at + at, step);
		piece[step] = '\0';
		while (text_escape_next(&rest, shown, &code)) {
			put(sheet, "%s%s", quoted && (code == '"' || code == '\\') ? "\\" : "",
					shown);
		}
	}
	put(sheet, "%s", quoted ? "\"" : "");
	sheet->at += padded;
	return true;
}

static bool put_number(struct sheet *sheet, uint32_t kind)
{
	uint64_t bits;
	double value;

	if (!take(sheet, &bits, sizeof(bits))) {
		return false;
	}
	if (kind == TREE_DOUBLE) {
		memcpy(&value, &bits, sizeof(value));
		put(sheet, "%g", value);
	} else if (sheet->base == 16) {
		put(sheet, "0x%" PRIX64, bits);
	} else if (sheet->base == 8) {
		put(sheet, "0%" PRIo64, bits);
	} else if (kind == TREE_INT) {
		put(sheet, "%" PRId64, (int64_t)bits);
	} else {
		put(sheet, "%" PRIu64, bits);
	}
	return true;
}

static bool put_node(struct sheet *sheet, unsigned depth);

static bool put_array(struct sheet *sheet, uint32_t n, unsigned depth)
{
	put(sheet, "[ ");
	for (uint32_t i = 0; i < n; i++) {
		put(sheet, "%s[%" PRIu32 "] = ", i ? ", " : "", i);
		if (!put_node(sheet, depth)) {
			return false;
		}
	}
	put(sheet, n ? " ]" : "]");
	return true;
}

static bool put_members(struct sheet *sheet, uint32_t n, unsigned depth)
{
	uint32_t head[2];

	put(sheet, "{ ");
	for (uint32_t i = 0; i < n; i++) {
		put(sheet, "%s", i ? ", " : "");
		if (!take(sheet, head, sizeof(head)) || head[0] != TREE_STRING ||
				!put_string(sheet, head[1], false)) {
			return false;
		}
		put(sheet, " = ");
		if (!put_node(sheet, depth)) {
			return false;
		}
	}
	put(sheet, n ? " }" : "}");
	return true;
}

static bool put_node(struct sheet *sheet, unsigned depth)
{
	uint32_t head[2];

	if (depth == TREE_TEXT_DEPTH || !take(sheet, head, sizeof(head))) {
		return false;
	}
	switch (head[0]) {
	case TREE_UINT:
	case TREE_INT:
	case TREE_DOUBLE:
		return put_number(sheet, head[0]);
	case TREE_STRING:
		return put_string(sheet, head[1], true);
	case TREE_ARRAY:
		return put_array(sheet, head[1], depth + 1);
	case TREE_STRUCT:
		return put_members(sheet, head[1], depth + 1);
	case TREE_VARIANT:
		return put_members(sheet, 1, depth + 1);
	default:
		return false;
	}
}

size_t tree_text(char *out, size_t size, const void *tree, size_t length, uint8_t base)
{
	struct sheet sheet = {.out = out,
			.size = size,
			.at = tree,
			.end = (const unsigned char *)tree + length,
			.base = base};

	if (size > 0) {
		out[0] = '\0';
	}
	if (!put_node(&sheet, 0)) {
		put(&sheet, "...");
	}
	return sheet.n;
}
