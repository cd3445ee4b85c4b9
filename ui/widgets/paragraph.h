/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_PARAGRAPH_H
#define UI_PARAGRAPH_H

#include <stddef.h>

#include "canvas.h"

/* Bytes of text that go in a line of this width: up to a blank, or as many characters as fit. */
size_t paragraph_line(const char *text, bool ascii, int width);

/* Draws text broken at blanks into the lines of the area; an ellipsis ends what has no room.
 * Returns the lines used. */
int paragraph_draw(struct canvas *canvas, struct area area, enum role role, const char *text);

#endif
