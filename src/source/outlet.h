/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_OUTLET_H
#define PT_SOURCE_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/snapshot/sources.h"
#include "ring/ring.h"

/*
 * The way out of a source process: records in the ring, in the order that the ring promises.
 *
 * Answers "may the console see this yet?". Records with a time are written where they arrive, but
 * stay invisible while something may still have to come before them: another record of the same
 * instant, or, where streams of several traces are read whose clocks disagree (`slack`), an earlier
 * one. What comes too early is moved into place; that is rare and costs a memmove.
 *
 * Units: times in ns since the Unix epoch. Threads: one.
 * Memory: at most STAGED_MAX records and STAGED_BYTES_MAX bytes of the ring are held back; beyond
 * that the oldest half is let go, and what then turns up earlier than those takes their time: its
 * number is outlet_clamped().
 * Errors: false and NULL mean that the console is gone, or no memory: end the process.
 */
struct outlet;

/* Borrows the ring. NULL if out of memory. */
struct outlet *outlet_create(struct ring *ring);
void outlet_destroy(struct outlet *outlet);

/* How much earlier than the latest record a record may be, ns. Grows only. */
void outlet_set_slack(struct outlet *outlet, uint64_t slack_ns);

/* Starts a record of at least `size` bytes. `size` and `kind` of it are set here and in commit. */
void *outlet_begin(struct outlet *outlet, size_t size, uint32_t kind);

/*
 * Makes the record `size` bytes longer; the new bytes lie at the offset *at from its start, which
 * is a multiple of 8 and right behind what there was, rounded up to 8. The last of them are 0.
 */
void *outlet_extend(struct outlet *outlet, size_t size, uint32_t *at);

/* Ends a record that lies at a time. `rank` orders records of equal time: smaller comes first. */
bool outlet_commit_at(struct outlet *outlet, uint64_t ts_ns, uint64_t rank);

/* Ends a record without a time. It is visible before all that is held back. */
bool outlet_commit(struct outlet *outlet);

/* Lets go of everything held back that is not later than ts_ns, and wakes the reader. */
void outlet_flush(struct outlet *outlet, uint64_t ts_ns);

/* Lets go of everything. */
void outlet_flush_all(struct outlet *outlet);
/* Sleeps as ring_sleep() does. */
uint64_t outlet_sleep(struct outlet *outlet, uint64_t least_ns);

/* The ring is more than half full: who writes on may soon have to wait for the console. */
bool outlet_is_crowded(const struct outlet *outlet);

/* Records that had to be given a later time, so as not to go back. */
uint64_t outlet_clamped(const struct outlet *outlet);

/* The longest record that the ring takes, bytes. */
size_t outlet_limit(const struct outlet *outlet);

/* RECORD_STATE, visible at once. The text is cut at STATE_TEXT_MAX bytes. */
#define STATE_TEXT_MAX 1024
bool outlet_state(struct outlet *outlet, enum source_state state, const char *text);
bool outlet_progress(struct outlet *outlet, uint64_t done, uint64_t total);
bool outlet_watermark(struct outlet *outlet, uint64_t ts_ns);
bool outlet_end(struct outlet *outlet);

#endif
