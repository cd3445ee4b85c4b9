/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_READER_H
#define PT_SOURCE_READER_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "fault.h"
#include "outlet.h"
#include "traces.h"

/*
 * Messages in, records out: the sink of a graph. It has one input for every output port of the
 * graph's source and merges them itself, by (time, CPU, domain, channel, stream): the library's own
 * muxer costs more, and leaves the order of equal times open.
 *
 * An input that fails is dropped with its fault kept; the others are read to their end, so that one
 * damaged stream file does not hide the rest of a recording.
 *
 * Threads: one, the graph's. Memory: one message batch of the library per input.
 */
struct reader;

enum reader_step {
	READER_MORE,  /* go on */
	READER_AGAIN, /* nothing there now (live) */
	READER_END,   /* all inputs are at their end */
	READER_ERROR, /* out of memory, or the console is gone */
};

/* Borrows outlet and traces. NULL if out of memory. */
struct reader *reader_create(struct outlet *outlet, struct traces *traces, uint32_t n_inputs);

/* Frees what is left. The iterators must be gone, or the reader still in its graph. */
void reader_destroy(struct reader *reader);

/* Takes over the iterator's reference. */
void reader_set_input(struct reader *reader, uint32_t index, bt_message_iterator *iterator);

/*
 * What is read is of between these instants: of a recording, its first packet's begin and its last
 * one's end. Without a call: of a live session, of before tomorrow. An event of more than a minute
 * beyond, or before the packet that it is in, has a corrupt time: it is put aside and told as
 * RECORD_MISDATED, since it would move everybody's now.
 */
void reader_expect(struct reader *reader, uint64_t begin_ns, uint64_t end_ns);

/* Reads some thousand messages. */
enum reader_step reader_run(struct reader *reader);

/* Drops all messages and iterators: the graph is about to go. */
void reader_close(struct reader *reader);

uint64_t reader_events(const struct reader *reader);
uint64_t reader_latest_ns(const struct reader *reader); /* of all records so far */

/* The first fault of an input, fault.text "" if none. n_failed inputs had one. */
const struct fault *reader_fault(const struct reader *reader, uint32_t *n_failed);

#endif
