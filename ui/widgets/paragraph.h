/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_PARAGRAPH_H
#define UI_PARAGRAPH_H

#include "canvas.h"

/* Draws text broken at blanks into the lines of the area; an ellipsis ends what has no room. Returns
 * the lines used. */
int paragraph_draw(struct canvas *canvas, struct area area, enum role role, const char *text);

#endif
