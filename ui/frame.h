/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_FRAME_H
#define UI_FRAME_H

#include "canvas.h"
#include "keymap.h"
#include "pythiatop/focus.h"
#include "pythiatop/snapshot/snapshot.h"

/*
 * What surrounds every screen: the title with target, horizon, losses and lag; the banner while
 * frozen; the key bar.
 */

/* Title: what is watched, what the figures speak of, what must not be overlooked. */
void frame_title(struct canvas *canvas, struct area line, const struct snapshot *snapshot,
		const char *target);

/* The banner while the picture is frozen. */
void frame_paused(struct canvas *canvas, struct area line, const struct snapshot *snapshot,
		const struct focus *focus, const struct keymap *keymap);

/* The keys of a screen; `here` is the one that leads there, or ACTION_NONE. */
void frame_keys(struct canvas *canvas, struct area line, const struct keymap *keymap,
		enum screen screen, enum action here);

#endif
