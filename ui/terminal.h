/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_TERMINAL_H
#define UI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "pythiatop/status.h"
#include "theme.h"

/*
 * The terminal of this process, of which there is one: so these calls share state, in ui/curses.c
 * alone. Threads: one; the signal handlers may run in any.
 *
 * From terminal_open() to terminal_close() SIGTERM, SIGHUP, SIGINT and SIGWINCH only wake
 * terminal_signal_fd(). SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL and SIGQUIT restore the terminal
 * from a string prepared beforehand, then take their former course.
 */

/* STATUS_IO: see errno. STATUS_NOT_FOUND: the terminal's type (TERM) is not known. */
enum status terminal_open(void);
void terminal_close(void);

/* Readable when a signal came. */
int terminal_signal_fd(void);

/* The deadly signal that came, or 0. Sets *resized if the terminal changed its size. */
int terminal_signal(bool *resized);

void terminal_size(int *rows, int *columns);

/* Colours of a theme, or attributes alone. */
void terminal_theme(const struct theme *theme, bool no_color);

/* Makes the terminal look like the canvas. `afresh`: whatever it shows now. */
void terminal_paint(const struct canvas *canvas, bool afresh);

/* The next key pressed, or K_NONE. */
uint32_t terminal_key(void);

/* False: whoever was at the keyboard has gone. */
bool terminal_alive(void);

/* Gives the terminal back and stops the process until it is continued. */
void terminal_suspend(void);

#endif
