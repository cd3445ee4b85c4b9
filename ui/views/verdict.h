/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_VERDICT_H
#define UI_VERDICT_H

#include "pythiatop/snapshot/steps.h"
#include "views/view.h"

/*
 * What was found for a group, as lines: in short, for as many lines as there are, or all of it, to
 * be scrolled. Both are made afresh whenever they are drawn, as they depend on the width.
 *
 * Memory: VERDICT_LINES lines; what has no room there is left out, and the last line says so.
 */
#define VERDICT_LINES 256

enum verdict_kind {
	VERDICT_TEXT = 0,
	VERDICT_VALUES, /* header of the values */
	VERDICT_VALUE,  /* latency of one value of the first key */
	VERDICT_AXIS,   /* of the plot above it */
	VERDICT_KEYS,   /* header of the keys */
	VERDICT_KEY,
};

struct verdict_line {
	enum verdict_kind kind;
	enum role role;
	int indent;
	int priority; /* in short: 0 stays, of the others the largest goes first */
	bool goes_on; /* in the next line */
	uint32_t at;  /* the value or key */
	char text[320], right[128];
};

struct verdict {
	const struct steps_finding *finding;
	int width; /* that the lines are made for */
	bool ascii;
	int label; /* columns of the longest value, within reason */
	uint32_t n;
	struct verdict_line lines[VERDICT_LINES];
};

/* `width`: that the lines will be drawn with, kept in the verdict; `known`: points there are. */
void verdict_brief(struct verdict *verdict, const struct steps_finding *finding, uint32_t known,
		int width, bool ascii);
void verdict_whole(struct verdict *verdict, const struct steps_finding *finding, uint32_t known,
		int width, bool ascii);

/* Draws as many lines as there is room for, those that matter most. Returns how many. */
int verdict_draw(const struct verdict *verdict, struct canvas *canvas, struct area area);

void verdict_draw_line(const struct verdict *verdict, uint32_t line, struct canvas *canvas,
		struct area area);

#endif
