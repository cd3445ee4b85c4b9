/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_CONSOLE_PARTS_H
#define UI_CONSOLE_PARTS_H

#include "console/console.h"
#include "dialog.h"
#include "keymap.h"
#include "pattern.h"
#include "prompt.h"
#include "step_dialog.h"
#include "views/view.h"

/* What the files of the console share: console.c, navigation.c, commands.c, actions.c, deciding.c.
 */

struct console {
	const struct console_options *options;
	const struct console_host *host;
	struct theme theme;
	uint32_t theme_serial;
	struct keymap keymap;
	struct prompt *prompt;
	struct dialog *dialog;
	struct question question; /* that the dialog asks */
	struct pattern search;
	void *views[N_VIEWS];
	int view;                        /* the one shown */
	enum screen back[N_VIEWS];       /* where Esc leads to from each */
	uint64_t tagged;                 /* request to compare with; 0: none */
	uint64_t moment_ns;              /* to be shown once the window is pinned; 0: none */
	struct focus focus;              /* what is wanted; serial 0: nothing asked so far */
	const struct snapshot *snapshot; /* held; NULL before the first */
	struct snapshot nothing;         /* stands for it */
	uint64_t notice_serial;          /* of the last notice shown */
	bool notice;                     /* it is on the screen */
	char message[512];
	enum role message_role;
};

static inline const struct view_ops *current(const struct console *console)
{
	return all_views[console->view];
}

static inline const struct snapshot *shown(const struct console *console)
{
	return console->snapshot ? console->snapshot : &console->nothing;
}

/* The list that search, filter and sorting work on now, or NULL. */
static inline struct table *current_table(const struct console *console)
{
	return current(console)->table(console->views[console->view]);
}

/* A line for the person, until the next key. */
__attribute__((format(printf, 3, 4))) void console_say(
		struct console *console, enum role role, const char *format, ...);
/* False: there is none of that name, or it cannot be read; the person has been told. */
bool console_set_theme(struct console *console, const char *name);
/* Moves the time cursor to moment_ns, once the window is pinned. */
void console_settle_moment(struct console *console);

/* navigation.c: the screens, and the ways between them. */
void navigation_begin(struct console *console);
void navigation_show(struct console *console, struct view_call *call);
void navigation_go_to(struct console *console, enum screen screen);
void navigation_back(struct console *console);
/* Tells the program what is looked at, if that is not what it was before. */
void navigation_publish(struct console *console, const struct focus *before);

/* commands.c: lines typed after ':', '/' and 'f'. */
enum console_answer command_line(struct console *console, const char *line);
void command_search(struct console *console, const char *text);
void command_filter(struct console *console, const char *text);
void command_search_step(struct console *console, int step);
/* Asks first where something is recorded because of steps. */
enum console_answer command_leave(struct console *console, bool quit);

/* actions.c: what keys do that the view in sight leaves to the console. */
void action_do(struct console *console, enum action action);

/* deciding.c: steps, and the questions about them. */
void deciding_ask(struct console *console, enum step_decision decision, uint32_t step);
void deciding_show(struct console *console, uint32_t step);
void deciding_edit(struct console *console);
void deciding_offer_mode(struct console *console, enum step_mode now);
enum console_answer deciding_key(struct console *console, uint32_t key);

#endif
