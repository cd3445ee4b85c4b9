/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_CONSOLE_H
#define UI_CONSOLE_H

#include "canvas.h"
#include "pythiatop/console.h"
#include "theme.h"

/*
 * The console without its terminal: keys and snapshots in, a canvas out. ui/app.c puts it on a
 * terminal, tests drive it with a script of keys.
 *
 * Threads: one. Holds at most one snapshot of the host, and lets it go when a newer one is taken.
 */
struct console; /* opaque */

enum console_answer {
	CONSOLE_STAY = 0,
	CONSOLE_QUIT,
	CONSOLE_SUSPEND,
	CONSOLE_REDRAW, /* paint every cell afresh: the terminal shows something else */
};

/* NULL if out of memory. options and host must outlive it. */
struct console *console_create(
		const struct console_options *options, const struct console_host *host);
void console_destroy(struct console *console);

/* Takes the newest snapshot of the host. True if there is a new one. */
bool console_take(struct console *console);

enum console_answer console_key(struct console *console, uint32_t key);

/* Draws all of it, in the size of the canvas. */
void console_draw(struct console *console, struct canvas *canvas);

/* The colours in force; the serial counts up when they change. */
const struct theme *console_theme(const struct console *console, uint32_t *serial);

#endif
