/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_CONSOLE_H
#define PYTHIATOP_CONSOLE_H

#include <stdbool.h>

#include "pythiatop/focus.h"
#include "pythiatop/settings.h"
#include "pythiatop/snapshot/snapshot.h"

/*
 * The line between the program and its screen. The screen runs in a thread of its own and asks the
 * program through `struct console_host`; none of these calls waits for anything.
 */
struct console_host {
	void *context;

	/* The newest snapshot, or NULL if there is none; held until released. */
	const struct snapshot *(*acquire)(void *context);
	void (*release)(void *context, const struct snapshot *snapshot);

	/* What the person looks at now. Copied. A changed focus is answered at once. */
	void (*set_focus)(void *context, const struct focus *focus);

	/*
	 * A command as typed after ':' (without it) that is not the screen's own (command.h). Its
	 * answer comes as `notice` of a later snapshot.
	 */
	void (*command)(void *context, const char *line);

	/* The text of a theme file by name: from the person's directory, else the installed one. */
	bool (*theme)(void *context, const char *name, struct settings *out);

	/*
	 * An instant as people write it (`:at`): its nanoseconds since 1970. A relative one is
	 * before now_ns, a time of day that of the trace, which began at first_ns. False: it is
	 * none.
	 */
	bool (*instant)(void *context, const char *text, uint64_t first_ns, uint64_t now_ns,
			uint64_t *at_ns);

	int wake_fd; /* eventfd: readable when a newer snapshot waits; the screen reads it empty */
};

struct console_options {
	const char *theme;           /* NULL: "default" (or "mono" where NO_COLOR is set) */
	const struct settings *keys; /* the person's key bindings, or NULL */
	enum horizon horizon;
	enum metric metric;
	enum screen screen; /* to begin with; 0: the groups */
	bool frozen;        /* begin frozen, */
	uint64_t back_ns;   /* this long before where the window is pinned */
	bool ascii;         /* no other characters than ASCII */
	bool no_color;      /* NO_COLOR is set, or --no-color */
	const char *target; /* what is watched, for the title: "relay1", "2 recordings" */
};

/*
 * Runs the screen until the person quits or a deadly signal came. Returns the exit code of the
 * program. The terminal is as before when it returns, also after SIGTERM and SIGHUP; on a crash the
 * handlers it installed restore it.
 */
int console_run(const struct console_options *options, const struct console_host *host);

#endif
