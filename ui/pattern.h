/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_PATTERN_H
#define UI_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "canvas.h"

/*
 * What a person searches or filters for: a POSIX extended regular expression, case ignored, matched
 * against text in its shown form. A leading '!' negates a filter.
 */
#define PATTERN_BYTES 256

struct pattern {
	bool set, negated;
	char text[PATTERN_BYTES]; /* as typed */
	regex_t regex;            /* compiled if set */
};

/* `text` "" unsets. False: it is no regular expression; `error` says why, *pattern is unchanged. */
bool pattern_set(struct pattern *pattern, const char *text, bool may_negate, char *error,
		size_t size);
void pattern_release(struct pattern *pattern);

/* Whether it occurs in text in its shown form, negated or not; it must be set. */
bool pattern_finds(const struct pattern *pattern, const char *visible);

/* Marks what matches in a line of the canvas. */
void pattern_highlight(
		const struct pattern *pattern, struct canvas *canvas, int y, int x, int width);

#endif
