/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_DIALOG_H
#define UI_DIALOG_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"

/*
 * A question over any screen, which goes on beneath it: a title, a list that scrolls, facts that
 * stay in sight, and two answers. The focus is on Cancel: Enter alone does nothing.
 *
 * Keys: y does it; Esc, n, Backspace, Ctrl-C leave it; Tab, Left, Right move the focus, Enter takes
 * what has it; Up Down j k PgUp PgDn scroll. Where the list is of choices these move a cursor, and
 * Space asks to change the one under it.
 *
 * Memory: DIALOG_LIST + DIALOG_FACTS lines of DIALOG_BYTES at most; what the list has no room for
 * is counted in its last line. All texts are copied. Threads: one.
 */
#define DIALOG_BYTES 512
#define DIALOG_LIST  1024
#define DIALOG_FACTS 12

enum dialog_answer {
	DIALOG_ASKING, /* goes on */
	DIALOG_YES,
	DIALOG_NO,
	DIALOG_TOGGLE, /* goes on: the choice under the cursor is to be the other one */
};

struct dialog; /* opaque */

/* NULL if out of memory. */
struct dialog *dialog_create(void);
void dialog_destroy(struct dialog *dialog);

/* Begins a question. `yes` says what y does; "": there is nothing to do but to close it. */
void dialog_open(struct dialog *dialog, const char *title, const char *yes);
/* The same question again, as it is by now: where the focus, the cursor and the list are stays. */
void dialog_renew(struct dialog *dialog, const char *title, const char *yes);
bool dialog_is_open(const struct dialog *dialog);
void dialog_close(struct dialog *dialog);

/* A further line of the list. */
void dialog_list(struct dialog *dialog, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* A further line that is on or off. All lines of such a list are. */
void dialog_choice(struct dialog *dialog, bool on, const char *format, ...)
		__attribute__((format(printf, 3, 4)));
/* The choice under the cursor, from 0 on. */
uint32_t dialog_cursor(const struct dialog *dialog);

/* A further fact: a paragraph. */
void dialog_fact(struct dialog *dialog, enum role role, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* Closes it unless it goes on. */
enum dialog_answer dialog_key(struct dialog *dialog, uint32_t key);

/* Draws it in the middle of the area. */
void dialog_draw(struct dialog *dialog, struct canvas *canvas, struct area area);

#endif
