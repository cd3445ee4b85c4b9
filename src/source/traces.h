/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_TRACES_H
#define PT_SOURCE_TRACES_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "clocks.h"
#include "outlet.h"
#include "plan.h"
#include "trace_names.h"

/*
 * What is known of the traces being read: their streams, clocks and event classes, with the numbers
 * that the ring gives them. Announces each (RECORD_STREAM, RECORD_TYPE) before anything names it;
 * all event classes of a stream class together, so that the console knows early what may come.
 *
 * Memory: one entry per stream and event class of the traces that exist now; those of a trace that
 * has ended (a process with buffers of its own) are freed with it. The library's objects are never
 * kept alive from here.
 */
struct traces;

/* A data stream. Its rank orders events of equal time: by CPU, then domain, channel, stream. */
struct known_stream {
	const bt_stream *stream;
	struct clock_rule clock;
	uint64_t rank;
	uint64_t latest_ns; /* of its messages */
	uint64_t packet_ns; /* when its packet began; 0: not known */
	uint32_t number;    /* once announced */
	uint32_t cpu;
	int32_t cpu_member; /* index in the packet context; -1: none */
	uint8_t domain;     /* enum event_domain */
	bool has_clock;
	bool announced;
};

/* Borrows the outlet; copies the names. NULL if out of memory. */
struct traces *traces_create(struct outlet *outlet, const struct trace_names *names);

/* So many streams and types were announced already, by another reader. Before anything is read. */
void traces_go_on(struct traces *traces, uint32_t n_streams, uint32_t n_types);

/* Only after the graph is gone: its traces tell this when they end. */
void traces_destroy(struct traces *traces);

/* Finds or adds. NULL if out of memory or the console is gone. Valid until its trace ends. */
struct known_stream *traces_stream(struct traces *traces, const bt_stream *stream);

/* The packet decides on which CPU the following events happened. */
void traces_begin_packet(struct known_stream *stream, const bt_packet *packet);

/* Writes RECORD_STREAM, if it has not been written. False as outlet_begin(). */
bool traces_announce(struct traces *traces, struct known_stream *stream);

/* NULL as traces_stream(). */
const struct plan *traces_plan(struct traces *traces, const bt_event_class *event_class);

/* Streams of which no event has a time. */
uint32_t traces_without_clock(const struct traces *traces);

/* By how much the clocks that were taken for one disagree, ns; at most a second. */
uint64_t traces_clock_spread(const struct traces *traces);

#endif
