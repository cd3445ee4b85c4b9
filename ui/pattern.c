/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pattern.h"

#include <stdlib.h>
#include <string.h>

bool pattern_set(struct pattern *pattern, const char *text, bool may_negate, char *error,
		size_t size)
{
	bool negated = may_negate && text[0] == '!';
	regex_t regex;
	int status;

	if (text[0] == '\0' || (negated && text[1] == '\0')) {
		pattern_release(pattern);
		return true;
	}
	status = regcomp(&regex, text + negated, REG_EXTENDED | REG_ICASE);
	if (status != 0) {
		regerror(status, &regex, error, size);
		return false;
	}
	pattern_release(pattern);
	pattern->regex = regex;
	pattern->set = true;
	pattern->negated = negated;
	text_copy(pattern->text, sizeof(pattern->text), text);
	return true;
}

void pattern_release(struct pattern *pattern)
{
	if (pattern->set) {
		regfree(&pattern->regex);
	}
	pattern->set = pattern->negated = false;
	pattern->text[0] = '\0';
}

bool pattern_finds(const struct pattern *pattern, const char *visible)
{
	return regexec(&pattern->regex, visible, 0, NULL, 0) == 0;
}

/* The line as text, and for each of its bytes the column it is shown in. */
static char *line_text(const struct canvas *canvas, int y, int x, int width, int **columns)
{
	size_t room = (size_t)width * TEXT_PIECE_BYTES + 1, used = 0, length, b;
	char *text = malloc(room);
	const struct canvas_cell *cell;
	int i;

	*columns = malloc(room * sizeof(**columns));
	if (!text || !*columns) {
		free(text);
		free(*columns);
		return NULL;
	}
	for (i = 0; i < width; i++) {
		cell = canvas_at(canvas, y, x + i);
		length = cell ? strlen(cell->glyph) : 0;
		for (b = 0; b < length; b++) {
			(*columns)[used] = x + i;
			text[used++] = cell->glyph[b];
		}
	}
	text[used] = '\0';
	(*columns)[used] = x + width;
	return text;
}

void pattern_highlight(
		const struct pattern *pattern, struct canvas *canvas, int y, int x, int width)
{
	regmatch_t match;
	int *columns;
	size_t at = 0;
	char *text;

	if (!pattern->set || width <= 0) {
		return;
	}
	text = line_text(canvas, y, x, width, &columns);
	if (!text) {
		return;
	}
	while (text[at] &&
			regexec(&pattern->regex, text + at, 1, &match, at ? REG_NOTBOL : 0) == 0) {
		int from = columns[at + (size_t)match.rm_so],
		    to = columns[at + (size_t)match.rm_eo];

		canvas_paint(canvas, y, from, to - from, ROLE_MATCH);
		at += (size_t)match.rm_eo;
		if (match.rm_eo == match.rm_so && text[at]) {
			at++; /* an empty match: go on behind it */
		}
	}
	free(text);
	free(columns);
}
