/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_DECISIONS_H
#define PT_RUN_DECISIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pythiatop/step.h"

/*
 * The decision log: what was told to the engine besides events, one JSON object a line, appended.
 * With the recording of the same events it is enough to take the same decisions again, since the
 * engine knows nothing else.
 *
 *   {"log":"pythiatop-decisions/1","at":WALL,"event_ns":N,"do":"mode","mode":"autopilot"}
 *   "offer" host, events [{name, kernel, fields}] - "budget" - "strategy" - "decide" step,
 * decision, by - "edit" step, part, keep - "propose" context, enable - "explain" group -
 * "host_gone" host - "silent" host, is - "undo_all" - "order" step, undo, events - "outcome" step,
 * undo, ok, error, answered_ns - "watch" step, discarded, events_per_s, bytes_per_s - "calibrate"
 * host, cpu_ns - "epoch" - "profile" file - "clock" uuid (32 hex digits), offset_ns: what a host's
 * clock was taken to be off the epoch - "first": event time began with event_ns; and "begin" and
 * "end" of a run, as a file may hold several. run/replay.h reads it.
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
#define DECISIONS_NAMES  3
#define DECISIONS_UUID   16 /* bytes */
#define DECISIONS_BYTES  (8u << 20)

/* Of enum step_decision. */
extern const char *const decisions_names[DECISIONS_NAMES];

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

void decisions_mode(struct decisions *log, enum step_mode mode);
void decisions_strategy(struct decisions *log, const char *name);
void decisions_budget(struct decisions *log, const struct step_budget *budget);
void decisions_offer(struct decisions *log, const char *host, const struct step_offer *offers,
		uint32_t n);
void decisions_processes(struct decisions *log, const char *host,
		const struct step_process *processes, uint32_t n);
/* `by`: STEP_BY_PERSON, or STEP_BY_WATCH. */
void decisions_decide(
		struct decisions *log, uint32_t step, enum step_decision decision, enum step_by by);
void decisions_edit(struct decisions *log, uint32_t step, uint32_t part, bool keep);
void decisions_propose(struct decisions *log, uint32_t context, bool enable);
void decisions_explain(struct decisions *log, uint32_t group_id);
void decisions_calibrate(struct decisions *log, const char *host, double event_ns);
void decisions_host_gone(struct decisions *log, const char *host);
void decisions_silent(struct decisions *log, const char *host, bool is);
void decisions_undo_all(struct decisions *log);
void decisions_epoch(struct decisions *log);
void decisions_profile(struct decisions *log, const char *file);
/* Each session measured it anew, so that the same sessions may be taken otherwise another time. */
void decisions_clock(struct decisions *log, const uint8_t *uuid, int64_t offset_ns);
/* Event time began: events before that in a recording were not seen. */
void decisions_first(struct decisions *log, uint64_t event_ns);
void decisions_order(struct decisions *log, const struct step_order *order);
void decisions_outcome(struct decisions *log, const struct step_outcome *outcome);
void decisions_watch(struct decisions *log, const struct step_watch *watch);

#endif
