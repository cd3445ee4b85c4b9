/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_PROMPT_H
#define UI_PROMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "key.h"

/*
 * A line being typed: a command, a search, a filter. Each kind has a history of its own.
 *
 * Keys: characters, Left Right Home End Backspace Delete Ctrl-A Ctrl-E Ctrl-U Ctrl-W; Up Down
 * recall; Tab completes; Enter takes it; Esc leaves it.
 *
 * Memory: constant, PROMPT_HISTORY lines a kind; the oldest goes.
 */
#define PROMPT_BYTES   256
#define PROMPT_HISTORY 50

enum prompt_kind { PROMPT_COMMAND, PROMPT_SEARCH, PROMPT_FILTER, PROMPT_KINDS };

enum prompt_answer {
	PROMPT_TYPING, /* goes on */
	PROMPT_TAKEN,  /* prompt_text() is what was typed */
	PROMPT_LEFT,   /* nothing is wanted */
};

struct prompt; /* opaque */

/* NULL if out of memory. */
struct prompt *prompt_create(void);
void prompt_destroy(struct prompt *prompt);

/* Begins a line with `text` in it. */
void prompt_open(struct prompt *prompt, enum prompt_kind kind, const char *text);
bool prompt_is_open(const struct prompt *prompt);
enum prompt_kind prompt_kind(const struct prompt *prompt);

enum prompt_answer prompt_key(struct prompt *prompt, uint32_t key);
const char *prompt_text(const struct prompt *prompt);

/* Draws it in one line. */
void prompt_draw(const struct prompt *prompt, struct canvas *canvas, struct area area);

#endif
