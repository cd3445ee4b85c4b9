/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_DECISIONS_H
#define PT_RUN_DECISIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pythiatop/input.h"

/*
 * The decision log: what was told to the engine besides events (pythiatop/input.h), one JSON object
 * a line, appended. With the recording of the same events it is enough to take the same decisions
 * again, since the engine knows nothing else.
 *
 *   {"log":"pythiatop-decisions/1","at":WALL,"event_ns":N,"do":"mode","mode":"autopilot"}
 *
 * run/inputs.c lists the fields of each. A file may hold several runs; run/replay.h reads it.
 *
 * Each line is written whole and at once. One that the file does not take (a full disk) waits in
 * memory with all after it, at most DECISIONS_BYTES, and is written with the next that it takes:
 * what the file has is a log without holes. decisions_trouble() says so meanwhile. All calls may be
 * made with NULL: no log is kept.
 *
 * The lines of this run are in memory, too, for decisions_copy(), but for offers that only repeat
 * the host's last one: at most DECISIONS_BYTES; further ones are counted and left out, so that what
 * is there can be replayed up to its end.
 */
struct decisions;

#define DECISIONS_FORMAT "pythiatop-decisions/1"
#define DECISIONS_BYTES  (8u << 20)

/* `path` NULL: in memory alone. NULL: `error` names the file and what is wrong. */
struct decisions *decisions_open(const char *path, char *error, size_t size);
/* The run ends: nothing more is told but whether the file has it all. */
void decisions_end(struct decisions *log);
/* Ends it. A run that is not closed has no end in the log. */
void decisions_close(struct decisions *log);
/* The file lacks lines: in a sentence, which file, how many, and why. */
bool decisions_trouble(const struct decisions *log, char *text, size_t size);

/* Writes the lines of this run that are in memory. False, with errno: the file does not take it. */
bool decisions_copy(const struct decisions *log, FILE *out);
/* Lines of this run, and how many of them are not in memory. */
uint64_t decisions_lines(const struct decisions *log, uint64_t *left_out);

/* Event time of what follows. */
void decisions_at(struct decisions *log, uint64_t event_ns);

/* With inputs that only a log has. */
void decisions_put(struct decisions *log, const struct engine_input *input);

#endif
