/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_BAR_H
#define UI_BAR_H

#include "canvas.h"

/*
 * Heat and bars in one line. Heat is a glyph AND a colour, so it can be read without colours.
 */

/* Draws a cell of heat, 0 <= heat <= 1, repeated over `width` columns. */
void bar_heat(struct canvas *canvas, int y, int x, int width, double heat);

/* A share of all as a bar of heat: how long it is and how dark it is say the same. */
void bar_share(struct canvas *canvas, int y, int x, int width, double share);

/* A bar of `length` (0..1) of the width, to an eighth of a column. */
void bar_draw(struct canvas *canvas, int y, int x, int width, enum role role, double length);

/* Counts as columns of one line, each up to the largest. */
void bar_spark(struct canvas *canvas, int y, int x, int width, enum role role,
		const uint32_t *counts, int n);

/*
 * The same over the whole width, however many counts there are: as many columns for each, or counts
 * put together. Higher columns are darker, too.
 */
void bar_strip(struct canvas *canvas, int y, int x, int width, const uint32_t *counts, int n);

#endif
