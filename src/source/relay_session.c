/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "relay_session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer_wire.h"

/* Streams that share a trace have one metadata. */
struct relay_trace {
	struct relay_trace *next;
	struct packet_trace *packets;
	uint64_t id, metadata; /* its metadata stream, if has_metadata */
	uint32_t n_streams;    /* data streams that are there */
	bool has_metadata;
	bool ready;  /* some of it is there */
	bool wanted; /* there is more */
	bool later;  /* it was not to be had: again at the next look */
	bool asked;  /* for it */
	bool closed; /* there will be no more */
};

/* Where a data stream is on its way to the next packet. */
enum place {
	PLACE_RESTING, /* has nothing, or may not be read now: until the next look */
	PLACE_ASKED,   /* a question is under way */
	PLACE_FOUND,   /* its packet is to be asked for */
	PLACE_ENDED,   /* waits for answers that nobody needs any more */
};

struct relay_stream {
	struct relay_stream *before, *after; /* of all */
	struct relay_stream *next;           /* of the queue that it is in: of its place */
	struct relay_trace *trace;
	struct packet_stream *packets; /* NULL: it has ended */
	uint64_t id;
	enum place place;
	uint32_t questions; /* under way */
	uint32_t due_bytes; /* of the packet that was asked for; 0: none */
	bool found;         /* a packet: here */
	uint64_t offset;
	uint32_t bytes;
};

struct queue {
	struct relay_stream *first, **end;
};

struct relay_session {
	struct relay_link *link;
	struct packets *packets;
	uint64_t id;
	struct relay_trace *traces;
	struct relay_stream *streams;
	struct queue resting, found;
	uint32_t n_living; /* data streams that have not ended */
	bool look;
	bool streams_wanted, streams_asked;
	bool hung_up; /* no stream will come any more */
	enum relay_step step;
	char fault[640];
};

__attribute__((format(printf, 3, 4))) static bool fail(
		struct relay_session *session, enum relay_step step, const char *format, ...)
{
	va_list arguments;

	session->step = step;
	va_start(arguments, format);
	vsnprintf(session->fault, sizeof(session->fault), format, arguments);
	va_end(arguments);
	return false;
}

static bool fail_memory(struct relay_session *session)
{
	return fail(session, RELAY_FAILED, "out of memory");
}

static bool fail_asked(struct relay_session *session, const char *what, uint32_t status)
{
	return fail(session, RELAY_FAILED, "the relay daemon %s could not give %s (status %u)",
			relay_link_name(session->link), what, status);
}

/* --- Streams and traces --- */

static void queue_clear(struct queue *queue)
{
	queue->first = NULL;
	queue->end = &queue->first;
}

static void queue_add(struct queue *queue, struct relay_stream *stream)
{
	stream->next = NULL;
	*queue->end = stream;
	queue->end = &stream->next;
}

/* Takes all that are in the queue, as a list. */
static struct relay_stream *queue_take(struct queue *queue)
{
	struct relay_stream *first = queue->first;

	queue_clear(queue);
	return first;
}

static void move(struct relay_session *session, struct relay_stream *stream, enum place place)
{
	stream->place = place;
	if (place == PLACE_RESTING) {
		queue_add(&session->resting, stream);
	} else if (place == PLACE_FOUND) {
		queue_add(&session->found, stream);
	}
}

/* Frees a stream that has ended, once no answer can name it. It is in no queue. */
static void forget_ended(struct relay_session *session, struct relay_stream *stream)
{
	if (stream->place != PLACE_ENDED || stream->questions > 0) {
		return;
	}
	if (stream->before) {
		stream->before->after = stream->after;
	} else {
		session->streams = stream->after;
	}
	if (stream->after) {
		stream->after->before = stream->before;
	}
	stream->trace->n_streams--;
	free(stream);
}

static void end_stream(struct relay_session *session, struct relay_stream *stream)
{
	if (stream->packets) {
		packet_stream_end(stream->packets);
		stream->packets = NULL;
	}
	session->n_living--;
	stream->place = PLACE_ENDED;
	forget_ended(session, stream);
}

static struct relay_trace *find_trace(struct relay_session *session, uint64_t id)
{
	struct relay_trace *trace = session->traces;

	while (trace && trace->id != id) {
		trace = trace->next;
	}
	if (trace) {
		return trace;
	}
	trace = calloc(1, sizeof(*trace));
	if (!trace) {
		return NULL;
	}
	trace->id = id;
	trace->packets = packets_trace(session->packets);
	if (!trace->packets) {
		free(trace);
		return NULL;
	}
	trace->next = session->traces;
	session->traces = trace;
	return trace;
}

/* Traces all of whose streams have ended, and whose metadata is closed. */
static void forget_traces(struct relay_session *session)
{
	struct relay_trace **link = &session->traces;

	while (*link) {
		struct relay_trace *trace = *link;

		if (trace->n_streams == 0 && trace->closed && !trace->asked) {
			*link = trace->next;
			packet_trace_end(trace->packets);
			free(trace);
		} else {
			link = &trace->next;
		}
	}
}

static bool add_data_stream(struct relay_session *session, struct relay_trace *trace,
		const struct viewer_stream *told)
{
	struct relay_stream *stream;

	if (session->n_living == RELAY_MAX_STREAMS) {
		return fail(session, RELAY_FAILED, "the session has more than %u streams",
				RELAY_MAX_STREAMS);
	}
	stream = calloc(1, sizeof(*stream));
	if (!stream) {
		return fail_memory(session);
	}
	stream->packets = packet_trace_stream(trace->packets, told->id, told->channel);
	if (!stream->packets) {
		free(stream);
		return fail_memory(session);
	}
	stream->id = told->id;
	stream->trace = trace;
	stream->after = session->streams;
	if (stream->after) {
		stream->after->before = stream;
	}
	session->streams = stream;
	session->n_living++;
	trace->n_streams++;
	move(session, stream, PLACE_RESTING);
	return true;
}

static bool add_streams(struct relay_session *session, const struct viewer_streams *streams)
{
	for (uint32_t i = 0; i < streams->n; i++) {
		const struct viewer_stream *told = &streams->streams[i];
		struct relay_trace *trace = find_trace(session, told->trace);

		if (!trace) {
			return fail_memory(session);
		}
		if (!told->is_metadata) {
			if (!add_data_stream(session, trace, told)) {
				return false;
			}
		} else if (!trace->has_metadata) {
			trace->has_metadata = true;
			trace->metadata = told->id;
			trace->wanted = true;
		}
	}
	if (streams->n > 0) {
		session->look = true;
	}
	return true;
}

/* --- Answers --- */

static bool ask_index(struct relay_session *session, struct relay_stream *stream)
{
	if (!relay_link_ask_index(session->link, stream->id, stream)) {
		return fail_memory(session);
	}
	stream->questions++;
	stream->place = PLACE_ASKED;
	return true;
}

static void take_flags(struct relay_session *session, struct relay_trace *trace, uint32_t flags)
{
	if (flags & FLAG_NEW_METADATA && !trace->closed) {
		trace->wanted = true;
	}
	if (flags & FLAG_NEW_STREAMS) {
		session->streams_wanted = true;
	}
}

static bool on_index(void *user, void *who, const struct relay_index *index)
{
	struct relay_session *session = user;
	struct relay_stream *stream = who;

	stream->questions--;
	take_flags(session, stream->trace, index->flags);
	if (stream->place == PLACE_ENDED) {
		forget_ended(session, stream);
		return true;
	}
	switch (index->status) {
	case INDEX_OK:
		stream->found = true;
		stream->offset = index->offset;
		stream->bytes = (uint32_t)index->bytes;
		move(session, stream, PLACE_FOUND);
		return true;
	case INDEX_INACTIVE:
		packet_stream_quiet(stream->packets, index->end);
		move(session, stream, PLACE_RESTING);
		return true;
	case INDEX_RETRY:
		move(session, stream, PLACE_RESTING);
		return true;
	case INDEX_HUP:
	case INDEX_EOF:
		end_stream(session, stream);
		return true;
	default:
		return fail_asked(session, "the index of a stream", index->status);
	}
}

/* A packet that is not there, from a relay daemon that may mean "later". */
static bool ask_again(struct relay_session *session, struct relay_stream *stream, uint32_t status,
		uint32_t flags)
{
	take_flags(session, stream->trace, flags);
	if (status == PACKET_EOF) {
		end_stream(session, stream);
		return true;
	}
	if (relay_link_may_chain(session->link) || (status == PACKET_ERROR && !flags)) {
		return fail_asked(session, "a packet", status);
	}
	stream->found = true;
	move(session, stream, PLACE_RESTING);
	return true;
}

static bool on_packet(void *user, void *who, uint32_t status, uint32_t flags, unsigned char *bytes,
		size_t size)
{
	struct relay_session *session = user;
	struct relay_stream *stream = who;

	stream->questions--;
	stream->due_bytes = 0;
	if (stream->place == PLACE_ENDED) {
		free(bytes);
		forget_ended(session, stream);
		return true;
	}
	if (status != PACKET_OK) {
		return ask_again(session, stream, status, flags);
	}
	if (!packet_stream_give(stream->packets, bytes, size)) {
		return fail_memory(session);
	}
	return stream->questions > 0 || ask_index(session, stream);
}

/* The metadata is no more. Without any, nothing of the trace can be read. */
static void close_trace(struct relay_session *session, struct relay_trace *trace)
{
	trace->closed = true;
	for (struct relay_stream *stream = session->streams, *after; stream && !trace->ready;
			stream = after) {
		after = stream->after;
		if (stream->trace == trace && stream->place == PLACE_ASKED) {
			end_stream(session, stream);
		}
	}
}

static bool on_metadata(void *user, void *who, uint32_t status, unsigned char *bytes, size_t size)
{
	struct relay_session *session = user;
	struct relay_trace *trace = who;
	char wrong[400];
	bool understood = true;

	trace->asked = false;
	switch (status) {
	case METADATA_OK:
		if (size == 0) {
			trace->later = true;
			break;
		}
		understood = packet_trace_metadata(
				trace->packets, bytes, size, wrong, sizeof(wrong));
		trace->ready = true;
		break;
	case METADATA_NONE_NEW:
		trace->later = !trace->ready;
		break;
	case METADATA_ERROR:
		close_trace(session, trace);
		break;
	default:
		free(bytes);
		return fail_asked(session, "metadata", status);
	}
	free(bytes);
	return understood || fail(session, RELAY_NOT_UNDERSTOOD, "%s", wrong);
}

static bool on_streams(void *user, uint32_t status, const struct viewer_streams *streams)
{
	struct relay_session *session = user;

	session->streams_asked = false;
	switch (status) {
	case STREAMS_OK:
		return add_streams(session, streams);
	case STREAMS_NONE_NEW:
		return true;
	case STREAMS_ERROR:
		/* The relay daemon has forgotten the session; its streams say the rest. */
	case STREAMS_HUP:
		session->hung_up |= status == STREAMS_HUP || session->n_living == 0;
		return true;
	default:
		return fail_asked(session, "new streams", status);
	}
}

/* --- Questions --- */

static bool ask_metadata(struct relay_session *session)
{
	for (struct relay_trace *trace = session->traces; trace; trace = trace->next) {
		if (session->look) {
			/* Of a process that has ended: asked for until it is told to be closed. */
			trace->wanted |= trace->later || (trace->ready && trace->n_streams == 0);
			trace->later = false;
		}
		if (!trace->wanted || trace->asked || trace->closed || !trace->has_metadata) {
			continue;
		}
		if (!relay_link_ask_metadata(session->link, trace->metadata, trace)) {
			return fail_memory(session);
		}
		trace->wanted = false;
		trace->asked = true;
	}
	return true;
}

static bool ask_streams(struct relay_session *session)
{
	session->streams_wanted |= session->look && session->n_living == 0;
	if (!session->streams_wanted || session->streams_asked || session->hung_up) {
		return true;
	}
	if (!relay_link_ask_streams(session->link, session->id)) {
		return fail_memory(session);
	}
	session->streams_wanted = false;
	session->streams_asked = true;
	return true;
}

static bool ask_packet(struct relay_session *session, struct relay_stream *stream)
{
	if (!relay_link_ask_packet(
			    session->link, stream->id, stream->offset, stream->bytes, stream)) {
		return fail_memory(session);
	}
	stream->questions++;
	stream->due_bytes = stream->bytes;
	stream->found = false;
	stream->place = PLACE_ASKED;
	return !relay_link_may_chain(session->link) || ask_index(session, stream);
}

static bool ask_resting(struct relay_session *session)
{
	struct relay_stream *stream = queue_take(&session->resting);

	while (stream) {
		struct relay_stream *next = stream->next;

		if (stream->trace->closed && !stream->trace->ready) {
			end_stream(session, stream);
		} else if (stream->found) {
			move(session, stream, PLACE_FOUND);
		} else if (!ask_index(session, stream)) {
			return false;
		}
		stream = next;
	}
	return true;
}

/* What tells packets apart must be there before they are; and there must be room for them. */
static bool may_fetch(const struct relay_session *session, const struct relay_stream *stream)
{
	const struct relay_trace *trace = stream->trace;
	uint64_t due_bytes = relay_link_due_bytes(session->link);
	uint64_t ahead = RELAY_AHEAD_BYTES / session->n_living;
	size_t held_bytes;
	uint32_t held;

	if (!trace->ready || trace->wanted || trace->later || trace->asked ||
			(due_bytes > 0 && due_bytes + stream->bytes > RELAY_DUE_BYTES)) {
		return false;
	}
	held = packet_stream_held(stream->packets, &held_bytes);
	if (held == 0 && stream->due_bytes == 0) {
		return true;
	}
	ahead = ahead > RELAY_STREAM_BYTES ? ahead : RELAY_STREAM_BYTES;
	return held_bytes + stream->due_bytes + stream->bytes <= ahead;
}

static bool ask_packets(struct relay_session *session)
{
	struct relay_stream *stream = queue_take(&session->found);

	while (stream) {
		struct relay_stream *next = stream->next;

		if (stream->trace->closed && !stream->trace->ready) {
			end_stream(session, stream);
		} else if (!may_fetch(session, stream)) {
			move(session, stream, PLACE_FOUND);
		} else if (!ask_packet(session, stream)) {
			return false;
		}
		stream = next;
	}
	return true;
}

static bool ask_for_more(struct relay_session *session)
{
	forget_traces(session);
	if (!ask_metadata(session) || !ask_streams(session) ||
			(session->look && !ask_resting(session)) || !ask_packets(session)) {
		return false;
	}
	session->look = false;
	return true;
}

static const struct relay_answers answers = {
		.index = on_index,
		.packet = on_packet,
		.metadata = on_metadata,
		.streams = on_streams,
};

static void fail_link(struct relay_session *session, enum status status)
{
	const char *name = relay_link_name(session->link);

	switch (status) {
	case STATUS_OK:
	case STATUS_INVALID: /* told already */
		break;
	case STATUS_NO_MEMORY:
		fail_memory(session);
		break;
	case STATUS_END:
		fail(session, RELAY_FAILED, "%s closed the connection", name);
		break;
	case STATUS_IO:
		fail(session, RELAY_FAILED, "the connection to %s was lost: %s", name,
				strerror(errno));
		break;
	default:
		fail(session, RELAY_FAILED, "%s does not speak like a relay daemon does to viewers",
				name);
		break;
	}
}

enum relay_step relay_session_turn(struct relay_session *session)
{
	if (session->step == RELAY_GOES_ON) {
		fail_link(session, relay_link_turn(session->link));
	}
	if (session->step == RELAY_GOES_ON && ask_for_more(session)) {
		/* What is asked now goes out now. */
		fail_link(session, relay_link_send(session->link));
	}
	if (session->step == RELAY_GOES_ON && session->hung_up && session->n_living == 0) {
		session->step = RELAY_ENDED;
	}
	return session->step;
}

void relay_session_look(struct relay_session *session)
{
	session->look = true;
}

struct relay_session *relay_session_create(struct viewer *viewer, uint64_t id,
		const struct viewer_streams *streams, struct packets *packets)
{
	struct relay_session *session = calloc(1, sizeof(*session));

	if (!session) {
		viewer_close(viewer);
		return NULL;
	}
	session->link = relay_link_create(viewer, &answers, session);
	session->packets = packets;
	session->id = id;
	session->look = true;
	queue_clear(&session->resting);
	queue_clear(&session->found);
	if (!session->link || !add_streams(session, streams)) {
		relay_session_destroy(session);
		return NULL;
	}
	return session;
}

void relay_session_destroy(struct relay_session *session)
{
	if (!session) {
		return;
	}
	while (session->streams) {
		struct relay_stream *stream = session->streams;

		session->streams = stream->after;
		free(stream);
	}
	while (session->traces) {
		struct relay_trace *trace = session->traces;

		session->traces = trace->next;
		packet_trace_end(trace->packets);
		free(trace);
	}
	relay_link_destroy(session->link);
	free(session);
}

const struct relay_link *relay_session_link(const struct relay_session *session)
{
	return session->link;
}

const char *relay_session_fault(const struct relay_session *session)
{
	return session->fault;
}
