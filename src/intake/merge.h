/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_MERGE_H
#define PT_INTAKE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "intake/input_queue.h"

/*
 * Merges queues into one stream in the order of event time.
 *
 * An event goes out once no other queue can bring an earlier one. Ties go by host, CPU, domain,
 * session, and the queue's key, so the result depends on what the queues hold, never on when it
 * came or in which order they were added. (CPU before domain, because that is how one reader orders
 * the traces of a session: live and recorded then agree.)
 *
 * Recorded queues are waited for without limit. A live one that is silent for longer than its
 * patience is set aside as stalled; what it brings for a time that is past counts as late, until it
 * has caught up. Those that fell silent together are waited for together once one of them is back:
 * for as long as their patience.
 *
 * Sessions of one machine that share a clock (equal UUID) measured its offset each for itself: all
 * use the offset of the queue that came first, or of the least one among those that begin together;
 * or the one that merge_set_clock() says.
 *
 * Thread: the analysis thread. Time: `mono_ns` is CLOCK_MONOTONIC, told by the caller.
 */
#define MERGE_MAX_QUEUES 4096u
#define MERGE_MAX_CLOCKS 1024u

struct merge;

struct merge *merge_create(const struct intake_sink *sink);
void merge_destroy(struct merge *merge);

/*
 * Lets a queue take part: others wait for it from now on. It must have a ring. STATUS_FULL,
 * STATUS_NO_MEMORY. A queue that ended or broke leaves by itself.
 */
enum status merge_join(struct merge *merge, struct input_queue *queue, uint64_t mono_ns);
void merge_leave(struct merge *merge, struct input_queue *queue);

/*
 * Before any queue takes part: a clock has this offset, whatever queues say (what a sink's
 * see_clock() was told in another run). STATUS_FULL: more than MERGE_MAX_CLOCKS; STATUS_NO_MEMORY.
 */
enum status merge_set_clock(struct merge *merge, const uint8_t *uuid, int64_t offset_ns);

/* Told when a queue ends (INPUT_QUEUE_ENDED) or breaks (INPUT_QUEUE_BROKEN), after it has left. */
typedef void (*merge_left_fn)(
		void *context, struct input_queue *queue, enum input_queue_status why);

/*
 * Merges what can be merged, at most `budget` records. True: there is more to do at once. False:
 * nothing can go out before more records come; wait for the queues for which merge_wants() is true.
 */
bool merge_step(struct merge *merge, uint32_t budget, uint64_t mono_ns, merge_left_fn left,
		void *context);

/* Whether a record of this queue would be looked at now. */
bool merge_wants(const struct input_queue *queue);

/* When the next live queue loses the others' patience; UINT64_MAX: none is waited for. */
uint64_t merge_deadline(const struct merge *merge);

#endif
