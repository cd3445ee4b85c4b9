/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_WRITER_H
#define PT_SOURCE_WRITER_H

#include <babeltrace2/babeltrace.h>

#include "pythiatop/engine.h"
#include "shape.h"
#include "write.h"

/* What the files that write CTF share: write.c has messages and the graph, writer.c types, classes.
 */

/* Messages of one loss: a stream's beginning, two packets, the loss; an event has fewer. */
#define PENDING_MAX 6

/* One CTF trace: a host's events of one domain. */
struct out_trace {
	struct out_trace *next;
	char *host;
	uint32_t domain;
	bt_trace_class *class;
	bt_trace *trace;
	bt_clock_class *clock;
	struct out_class *classes;
};

/* A stream class: the contexts that its events have in common. */
struct out_class {
	struct out_class *next;
	struct out_trace *trace;
	char *key;
	bool has_cpu;
	bt_stream_class *class;
	struct out_stream *streams;
};

struct out_stream {
	struct out_stream *next;
	struct out_class *class;
	uint32_t cpu;
	bt_stream *stream;
	bt_packet *packet;
	uint64_t end_ns; /* of the packet, so far; of a stream of losses: of the last one */
	uint64_t cut_ns; /* when the packet ends at the latest */
};

/* An event class: a type in one shape. */
struct layout {
	struct layout *next;
	char *shape;
	struct out_class *class;
	bt_event_class *event_class;
};

struct in_type {
	struct event_type type;
	void *copy; /* of the record: names point into it */
	struct field *fields;
	struct field_label *labels;
	struct layout *layouts; /* the last used first */
	uint32_t n_layouts;
};

/* A stream of the ring. */
struct in_stream {
	struct out_trace *trace;
	char *channel;
};

struct writer {
	struct ring *ring;
	const char *directory;
	bt_self_component *self;
	struct in_type *types;
	uint32_t n_types;
	struct in_stream *streams; /* by number of the ring's streams */
	uint32_t n_streams;
	struct out_trace *traces;
	struct shape shape;
	const bt_message *messages[PENDING_MAX];
	uint32_t n_pending;
	bool ended, failed;
	const char *why; /* it failed; NULL: the library knows */
};

bool writer_fail(struct writer *writer, const char *why);
bool writer_take_type(struct writer *writer, const struct record_type *record);
bool writer_take_stream(struct writer *writer, const struct record_stream *record);
struct layout *writer_layout_of(struct writer *writer, struct in_type *type,
		struct out_trace *trace, const struct event *event);
struct out_class *writer_class_of_losses(
		const struct in_stream *stream, uint32_t number, bool has_cpu);

#endif
