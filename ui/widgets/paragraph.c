/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "widgets/paragraph.h"

#include <string.h>

size_t paragraph_line(const char *text, bool ascii, int width)
{
	const char *at = text, *blank = NULL;
	struct text_piece piece;
	int used = 0;

	while (*at) {
		const char *next = at;

		text_next(&next, ascii, &piece);
		if (used + piece.width > width) {
			return (size_t)((blank && *at != ' ' ? blank : at) - text);
		}
		if (*at == ' ') {
			blank = at;
		}
		used += piece.width;
		at = next;
	}
	return (size_t)(at - text);
}

int paragraph_draw(struct canvas *canvas, struct area area, enum role role, const char *text)
{
	char line[1024];
	size_t length;
	int y;

	for (y = 0; y < area.height && *text; y++) {
		length = paragraph_line(text, canvas->ascii, area.width);
		if (length == 0 || y == area.height - 1 || length >= sizeof(line)) {
			canvas_text(canvas, area.y + y, area.x, area.width, role, text);
			return y + 1;
		}
		memcpy(line, text, length);
		line[length] = '\0';
		canvas_text(canvas, area.y + y, area.x, area.width, role, line);
		text += length;
		text += strspn(text, " ");
	}
	return y;
}
