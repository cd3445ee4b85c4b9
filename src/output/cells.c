/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <wchar.h>

#include "base/text_add.h"
#include "output/formats.h"
#include "pythiatop/text.h"

/* What stands in the cells of tables of text. */

/* A latency with three significant digits, or "-" where there is none. */
const char *output_duration(char *cell, bool valid, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t unit = 0;

	while (ns >= 999.5 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	if (!valid) {
		snprintf(cell, OUTPUT_CELL, "-");
	} else {
		snprintf(cell, OUTPUT_CELL, "%.*f%s",
				unit == 0 || ns >= 99.95 ? 0
				: ns >= 9.995            ? 1
							 : 2,
				ns, units[unit]);
	}
	return cell;
}

const char *output_safe(char *cell, const char *text)
{
	text_escape(cell, OUTPUT_CELL, text);
	return cell;
}

/* Columns that a character takes; one where the locale does not know it. */
static int width_of(uint32_t code)
{
	int width = code ? wcwidth((wchar_t)code) : 1;

	return width < 0 ? 1 : width;
}

/* Of escaped text: bytes of its longest end that takes no more than `columns`. */
static const char *tail_of(const char *text, int columns)
{
	const char *at = text, *tail = text;
	char piece[TEXT_ESCAPE_BYTES];
	uint32_t code;
	int left = output_width(text);

	while (left > columns) {
		text_escape_next(&at, piece, &code);
		left -= width_of(code);
		tail = at;
	}
	return tail;
}

int output_width(const char *text)
{
	char piece[TEXT_ESCAPE_BYTES];
	uint32_t code;
	int width = 0;

	while (text_escape_next(&text, piece, &code) > 0) {
		width += width_of(code);
	}
	return width;
}

const char *output_fit(char *cell, const char *text, int columns)
{
	char safe[OUTPUT_CELL], piece[TEXT_ESCAPE_BYTES];
	const char *at = safe, *from;
	int width, head = (columns - 1) * 2 / 3, used = 0;
	size_t n = 0, length;
	uint32_t code;

	text_escape(safe, sizeof(safe), text);
	width = output_width(safe);
	if (width <= columns) {
		n = (size_t)snprintf(cell, OUTPUT_CELL, "%s", safe);
	} else {
		/* The ends tell names apart; what is left out is in the middle. */
		for (from = at; (length = text_escape_next(&at, piece, &code)) > 0; from = at) {
			if (used + width_of(code) > head) {
				break;
			}
			used += width_of(code);
			n = (size_t)(at - safe);
		}
		memcpy(cell, safe, n);
		from = tail_of(safe + n, columns - 1 - used);
		width = used + 1 + output_width(from);
		n += (size_t)snprintf(cell + n, OUTPUT_CELL - n, "…%s", from);
	}
	for (; width < columns && n + 1 < OUTPUT_CELL; width++) {
		cell[n++] = ' ';
	}
	cell[n] = '\0';
	return cell;
}

const char *output_flags(char *cell, const struct groups_row *row)
{
	cell[0] = '\0';
	for (uint32_t i = 0; i < OUTPUT_DETECTIONS; i++) {
		if (row->detection & 1u << i) {
			text_add(cell, OUTPUT_CELL, "%s%s", cell[0] ? "+" : "",
					output_detections[i]);
		}
	}
	return cell;
}
