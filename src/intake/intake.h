/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_INTAKE_H
#define PT_INTAKE_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "intake/input_queue.h"
#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"

/*
 * All sources: starts and watches the processes that read them, brings them back when they or their
 * relay daemons die, and merges what they tell into one stream for the analysis.
 *
 * Nothing here waits: the caller polls intake_fd() until intake_deadline() and then steps.
 *
 * Thread: one at a time. Time: mono_ns is CLOCK_MONOTONIC, real_ns is CLOCK_REALTIME, both told by
 * the caller. Memory: at most INTAKE_MAX_SOURCES sources, each with a ring of RING_DEFAULT_BYTES.
 */
#define INTAKE_MAX_SOURCES 4096u

struct intake;

/* `program` reads a source: "pythiatop-source". NULL if out of memory or descriptors. */
struct intake *intake_create(const struct intake_sink *sink, const char *program);

/* Who is to read what is attached from now on, see child_start(). Borrows the text. */
void intake_set_reader(struct intake *intake, const char *reader);

/* Ends all source processes at once, whatever they do. */
void intake_destroy(struct intake *intake);

/*
 * Attaches what a person named: the URL of a relay daemon (all its sessions, later ones too) or of
 * one session, or a directory (all traces in it). Failing later is no failure of this call: the
 * source then says what is wrong. STATUS_INVALID, STATUS_NOT_FOUND, STATUS_FULL: `error` says why.
 */
enum status intake_attach(struct intake *intake, const char *text, char *error, size_t error_size);

/* Before the first step: see merge_set_clock(). */
enum status intake_set_clock(struct intake *intake, const uint8_t *uuid, int64_t offset_ns);

/* Lists a relay daemon's sessions for the person to pick, attaching none. */
enum status intake_offer(struct intake *intake, const char *text, char *error, size_t error_size);

/* Lets go of a source, or of a relay daemon with all its sessions. STATUS_NOT_FOUND. */
enum status intake_detach(struct intake *intake, const char *text, char *error, size_t error_size);

/*
 * Does what there is to do, merging at most `budget` records. True: call again at once. False: wait
 * until intake_fd() is readable or intake_deadline() has come, after intake_arm().
 */
bool intake_step(struct intake *intake, uint32_t budget, uint64_t mono_ns);

/* Asks to be woken by the sources. False: something came meanwhile, step instead. */
bool intake_arm(struct intake *intake);
/*
 * Nobody will look at what live sessions bring before `until_ns` (CLOCK_MONOTONIC; 0: at any time):
 * their readers ask for it no sooner. A recording is read as it was.
 */
void intake_rest(struct intake *intake, uint64_t until_ns);
int intake_fd(const struct intake *intake);
uint64_t intake_deadline(const struct intake *intake);

/* Every source has come to its end, or cannot be read; nothing more will come by itself. */
bool intake_ended(const struct intake *intake);

/*
 * Sources that cannot be read, and, if `broken` is true, those that cannot be read just now: their
 * number, and a sentence about the one with this index.
 */
uint32_t intake_failed(
		const struct intake *intake, bool broken, uint32_t index, char *out, size_t size);

/* Whether any source is live, be it attached or only to be. */
bool intake_has_live(const struct intake *intake);

/* At least one event was read. */
bool intake_any_events(const struct intake *intake);

/* Sessions of the relay daemons were listed at least once, or cannot be. */
bool intake_listed(const struct intake *intake);

/*
 * A session (its URL) was attached once, and its relay daemon, which answers, does not have it any
 * more: it was made anew, or the session has ended.
 */
bool intake_is_lost(struct intake *intake, const char *text);

/* Counts up whenever the state of a source changes, or what it says. */
uint64_t intake_changes(const struct intake *intake);

/*
 * How much of the recorded sources was read, 0..1; < 0: none is recorded. Between the two ends only
 * of what was started after intake_tell_progress(): to tell costs a reader as much as opening its
 * recording.
 */
double intake_progress(const struct intake *intake);
void intake_tell_progress(struct intake *intake);

/*
 * Fills `sources` (if the focus asks for it), `lag_ns`, `progress` and `ended` of a snapshot.
 * duplicates() tells the events of a session that another session supplied already.
 */
struct intake_view {
	uint64_t mono_ns, real_ns;
	uint64_t (*duplicates)(void *context, uint32_t session, const char **of);
	void *context;
};
enum status intake_fill(
		struct intake *intake, const struct intake_view *view, struct snapshot *snapshot);

#endif
