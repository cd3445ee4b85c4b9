/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_PIPELINE_H
#define PT_RUN_PIPELINE_H

#define PIPELINE_PROFILE "profile.json" /* what was learned last, in the state directory */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "intake/intake.h"
#include "pythiatop/engine.h"
#include "pythiatop/focus.h"
#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"
#include "run/conductor.h"
#include "run/hold.h"
#include "run/rehearse.h"
#include "run/replay.h"

/*
 * Sources and analysis joined: what the console's analysis thread, batch, --list and --show-schema
 * each drive in their own way.
 *
 * Thread: one at a time. Clocks are read here and told to the intake; the engine knows none.
 */
struct pipeline;
struct dump_job;

/*
 * window_ns: length of the moving window, 0 for the usual. keep_events: hold the original events of
 * the window, so that they can be dumped. NULL if out of memory.
 */
struct pipeline *pipeline_create(uint64_t window_ns, bool keep_events);

/* Ends all source processes at once. */
void pipeline_destroy(struct pipeline *pipeline);

/*
 * Makes steps possible, for hosts to be controlled. `engine` and `sources` of the setup are filled
 * in here. False: `error` says why. Until then pipeline_conductor() is NULL.
 */
bool pipeline_conduct(struct pipeline *pipeline, const struct conductor_setup *setup, char *error,
		size_t error_size);
struct conductor *pipeline_conductor(struct pipeline *pipeline);
/* Through the conductor, where there is one, so that the decision log has it. */
enum status pipeline_input(struct pipeline *pipeline, const struct engine_input *input, char *error,
		size_t size);

/*
 * Takes the decisions of a log again while recordings are read: instead of pipeline_conduct(), and
 * before the first step. False: `error` says what is wrong with the log.
 */
bool pipeline_replay(struct pipeline *pipeline, const char *path, char *error, size_t error_size);
const struct replay *pipeline_replayed(const struct pipeline *pipeline); /* NULL: none */

const char *pipeline_replayed_log(const struct pipeline *pipeline); /* its file; NULL: none */
/*
 * Plays the loop on recordings in which everything was on: instead of pipeline_conduct(), and
 * before the first step. False: out of memory.
 */
bool pipeline_rehearse(struct pipeline *pipeline, const struct rehearse_setup *setup);
const struct rehearse *pipeline_rehearsed(const struct pipeline *pipeline); /* NULL: none */

/* Saves what is known of points to a file, or for the next time; a notice says how it went. */
bool pipeline_save_profile(struct pipeline *pipeline, const char *path);
void pipeline_save_learned(struct pipeline *pipeline);

/* What was learned, from a file. STATUS_INVALID, STATUS_NO_MEMORY: `error` says why. */
enum status pipeline_learn(
		struct pipeline *pipeline, const char *path, char *error, size_t error_size);

/*
 * The ready schemas that are chosen by themselves where their events are, see engine_offer_schema(). One that
 * is not installed is left out.
 */
enum status pipeline_offer_schemas(struct pipeline *pipeline, char *error, size_t error_size);

/*
 * A schema by its file, or by the name of a ready one. To be called before the first source.
 * PIPELINE_INFERRED is none.
 */
#define PIPELINE_INFERRED "inferred"
enum status pipeline_add_schema(
		struct pipeline *pipeline, const char *name, char *error, size_t error_size);

/* Compares with the baseline in a file from now on. On failure the last one stays. */
enum status pipeline_set_baseline(
		struct pipeline *pipeline, const char *path, char *error, size_t error_size);

struct intake *pipeline_intake(struct pipeline *pipeline);
const char *pipeline_program(const struct pipeline *pipeline); /* path of pythiatop-source */
struct engine *pipeline_engine(struct pipeline *pipeline);

/*
 * Pins the window at an instant when event time comes by; until then no answer is frozen. Told as a
 * notice if it cannot be. Before the first step; from_end: see struct hold.
 */
void pipeline_hold(struct pipeline *pipeline, const struct instant *instant, bool from_end);
const struct hold *pipeline_held(const struct pipeline *pipeline);

/* Analyses some thousand events, if there are any. True: there are more at once. */
bool pipeline_step(struct pipeline *pipeline);

/* The dump that is being written, if there is one; its answers are notices. */
struct dump_job *pipeline_dump_job(struct pipeline *pipeline);

/* Waits until all functions have been looked up that spans are named by, or for that long. */
void pipeline_settle(struct pipeline *pipeline, uint64_t timeout_ns);

/*
 * Waits until sources have something, `deadline_ns` (CLOCK_MONOTONIC; UINT64_MAX: none) has come,
 * or `fd` (-1: none) is readable: then it returns true.
 */
bool pipeline_wait(struct pipeline *pipeline, uint64_t deadline_ns, int fd);

/*
 * Little comes, nothing is being dumped or waited for, and no step was taken within a minute. To be
 * asked after each step, or else what comes is of longer than the last second.
 */
bool pipeline_is_calm(struct pipeline *pipeline, uint64_t now_ns);

/*
 * No answer is asked for before `until_ns` (CLOCK_MONOTONIC; 0: one may be at any time): the
 * readers of live sessions rest, a second at most, and bring what there is shortly before.
 */
void pipeline_rest(struct pipeline *pipeline, uint64_t until_ns);

/* A snapshot that answers the focus. NULL if out of memory. Free with snapshot_destroy(). */
struct snapshot *pipeline_answer(struct pipeline *pipeline, const struct focus *focus);

/* A sentence for the person, in the snapshots from now on. */
void pipeline_notice(struct pipeline *pipeline, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* Counts up with everything that a new snapshot would show. */
uint64_t pipeline_changes(const struct pipeline *pipeline);

/*
 * All sources have come to their end: the analysis finishes, once. False as long as one may still
 * bring something.
 */
bool pipeline_ended(struct pipeline *pipeline);

/*
 * Answers a command line of the console (`attach URL`, `export json FILE`, ...) by a notice.
 * `focus`: what the person looks at.
 */
void pipeline_command(struct pipeline *pipeline, const char *line, const struct focus *focus);


#endif
