/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SUPPORT_CONSOLE_H
#define SUPPORT_CONSOLE_H

#include <stdbool.h>

#include "config/settings.h"
#include "console/console.h"

/*
 * A console without terminal and without program: it shows the snapshots it is given, and what it
 * shows is compared with a file.
 */
struct bench {
	struct console_options options;
	struct console_host host;
	struct console *console;
	struct canvas canvas;
	const struct snapshot *snapshot; /* the newest; owned */
	int held;                        /* how many the console holds */
	struct focus focus;              /* the last that was asked for */
	char command[256];               /* the last that was sent, "" if none */
	struct settings_file theme;
	/* Optional: answers a focus with a new snapshot, as the analysis would. */
	struct snapshot *(*answer)(const struct focus *focus, void *context);
	void *context;
};

/* Begins a console of this size; `ascii` and `no_color` as in the options. */
void bench_open(struct bench *bench, int rows, int columns, bool ascii, bool no_color);
void bench_close(struct bench *bench);

/* Hands over a snapshot, which is then the bench's. */
void bench_show(struct bench *bench, struct snapshot *snapshot);

/* Types keys by their names, separated by blanks: "j j Enter / s c h e d Enter". */
enum console_answer bench_type(struct bench *bench, const char *keys);

/* Types text as it is. */
void bench_text(struct bench *bench, const char *text);

/*
 * Draws and compares glyphs and roles of all cells with tests/golden/NAME.golden. With
 * PT_GOLDEN_UPDATE=1 in the environment it writes that file instead.
 */
void bench_golden(struct bench *bench, const char *name);

/* Draws; whether some line holds the text. */
bool bench_sees(struct bench *bench, const char *text);

#endif
