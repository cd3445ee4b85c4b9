/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "probe/describe.h"
#include "probe/type.h"

#define MAGIC        0xc1fc1fc1u
#define STREAM_CLASS 0u
#define FOLDER       "kernel/"
#define CHANNEL      "channel0"
#define ANSWER_MS    5000 /* a relay daemon that is silent for longer is given up */
#define EXTENDED     0xffffu
#define FOLDER_BYTES 300

/* As describe() declares them. */
struct packet_head {
	uint32_t magic;
	unsigned char uuid[DESCRIBE_UUID];
	uint32_t stream_id;
	uint64_t instance;
	uint64_t begin_ns, end_ns, content_bits, packet_bits, sequence, discarded;
	uint32_t cpu;
} __attribute__((packed));

struct event_head {
	uint16_t id;
	uint32_t ts_ns; /* its lower half */
} __attribute__((packed));

struct event_head_extended {
	uint16_t extended;
	uint32_t id;
	uint64_t ts_ns;
} __attribute__((packed));

struct stream {
	struct producer_stream sent;
	uint32_t cpu;
	size_t used;       /* bytes of the packet so far; that of its head: it is empty */
	uint64_t begin_ns; /* of the packet */
	uint64_t last_ns;  /* of its last event, or begin_ns */
	unsigned char bytes[SESSION_PACKET];
};

struct session {
	struct producer *producer;
	struct producer_stream metadata;
	struct describe_trace trace;
	uint32_t n_streams;
	struct stream *streams;
};

/* --- The beginning ---------------------------------------------------------------------------- */

static enum status add_streams(struct session *session, const struct session_setup *setup,
		uint64_t begin_ns, struct producer_fault *fault)
{
	enum status status = producer_add_stream(
			session->producer, &session->metadata, "metadata", FOLDER, 0, 0, fault);

	for (uint32_t i = 0; status == STATUS_OK && i < setup->n_cpus; i++) {
		struct stream *stream = &session->streams[i];
		char name[32];

		snprintf(name, sizeof(name), CHANNEL "_%u", setup->cpus[i]);
		stream->cpu = setup->cpus[i];
		stream->used = sizeof(struct packet_head);
		stream->begin_ns = stream->last_ns = begin_ns;
		status = producer_add_stream(
				session->producer, &stream->sent, name, FOLDER, 0, 0, fault);
		session->n_streams += status == STATUS_OK;
	}
	return status;
}

static enum status send_description(struct session *session, struct producer_fault *fault)
{
	size_t size;
	char *text = describe(&session->trace, &size);
	enum status status;

	if (!text) {
		snprintf(fault->text, sizeof(fault->text), "out of memory");
		return STATUS_NO_MEMORY;
	}
	status = producer_send_metadata(session->producer, &session->metadata, text, size, fault);
	free(text);
	return status;
}

/* As LTTng names it: a session of that name that was there before is not written over. */
static void name_folder(struct producer_session *options, char *folder)
{
	time_t now = (time_t)options->begin_s;
	char created[32] = "";
	struct tm parts;

	if (localtime_r(&now, &parts)) {
		strftime(created, sizeof(created), "-%Y%m%d-%H%M%S", &parts);
	}
	snprintf(folder, FOLDER_BYTES, "%s%s", options->name, created);
	options->folder = folder;
}

static enum status begin(struct session *session, const struct session_setup *setup,
		uint64_t begin_ns, struct producer_fault *fault)
{
	struct producer_session options = {.host = setup->host,
			.name = setup->name,
			.live_timer_us = setup->live_timer_us,
			.begin_s = (uint64_t)time(NULL)};
	char folder[FOLDER_BYTES];
	enum status status = producer_connect(&session->producer, &setup->target, ANSWER_MS, fault);

	name_folder(&options, folder);
	if (status == STATUS_OK) {
		status = producer_create_session(session->producer, &options, fault);
	}
	if (status == STATUS_OK) {
		status = add_streams(session, setup, begin_ns, fault);
	}
	if (status == STATUS_OK) {
		status = producer_publish(session->producer, fault);
	}
	return status == STATUS_OK ? send_description(session, fault) : status;
}

enum status session_open(struct session **out, const struct session_setup *setup, uint64_t begin_ns,
		struct producer_fault *fault)
{
	struct session *session = calloc(1, sizeof(*session));
	enum status status = STATUS_NO_MEMORY;

	*out = NULL;
	snprintf(fault->text, sizeof(fault->text), "out of memory");
	if (!session) {
		return status;
	}
	session->trace.host = setup->host;
	session->trace.session = setup->name;
	describe_sample_clock(&session->trace.clock);
	session->streams = calloc(setup->n_cpus, sizeof(*session->streams));
	if (session->streams && getrandom(session->trace.uuid, DESCRIBE_UUID, 0) == DESCRIBE_UUID) {
		status = begin(session, setup, begin_ns, fault);
	}
	if (status != STATUS_OK) {
		session_close(session, false);
		return status;
	}
	*out = session;
	return STATUS_OK;
}

/* --- Packets ---------------------------------------------------------------------------------- */

static enum status send_packet(struct session *session, struct stream *stream, uint64_t end_ns,
		uint64_t discarded, struct producer_fault *fault)
{
	uint32_t instance = (uint32_t)(stream - session->streams);
	const struct producer_packet packet = {.packet_bits = stream->used * 8,
			.content_bits = stream->used * 8,
			.begin_ns = stream->begin_ns,
			.end_ns = end_ns,
			.events_discarded = discarded,
			.stream_class = STREAM_CLASS,
			.stream_instance = instance,
			.sequence = stream->sent.n_sent};
	struct packet_head head = {.magic = MAGIC,
			.stream_id = STREAM_CLASS,
			.instance = instance,
			.begin_ns = packet.begin_ns,
			.end_ns = packet.end_ns,
			.content_bits = packet.content_bits,
			.packet_bits = packet.packet_bits,
			.sequence = packet.sequence,
			.discarded = discarded,
			.cpu = stream->cpu};

	memcpy(head.uuid, session->trace.uuid, sizeof(head.uuid));
	memcpy(stream->bytes, &head, sizeof(head));
	stream->used = sizeof(head);
	stream->begin_ns = stream->last_ns = end_ns;
	return producer_send_packet(
			session->producer, &stream->sent, &packet, stream->bytes, fault);
}

enum status session_put(struct session *session, uint32_t at, const struct probe_head *head,
		uint64_t discarded, struct producer_fault *fault)
{
	struct stream *stream = &session->streams[at];
	const struct type *type = type_of(head);
	size_t room = sizeof(struct event_head_extended) + TYPE_ROOM(head->bytes), n;
	enum status status = STATUS_OK;
	unsigned char *to;

	/* What a program began to write before this session does not belong to it. */
	if (!type || head->ts_ns < stream->last_ns ||
			room > SESSION_PACKET - sizeof(struct packet_head)) {
		return STATUS_OK;
	}
	if (stream->used + room > SESSION_PACKET) {
		status = send_packet(session, stream, stream->last_ns, discarded, fault);
	}
	to = stream->bytes + stream->used;
	/* A reader knows the upper half of the time from the event before, or the packet's begin.
	 */
	if (head->ts_ns - stream->last_ns < UINT64_C(1) << 32) {
		const struct event_head compact = {.id = type->id, .ts_ns = (uint32_t)head->ts_ns};

		memcpy(to, &compact, sizeof(compact));
		to += sizeof(compact);
	} else {
		const struct event_head_extended extended = {
				.extended = EXTENDED, .id = type->id, .ts_ns = head->ts_ns};

		memcpy(to, &extended, sizeof(extended));
		to += sizeof(extended);
	}
	if (type_payload(type, head, to, &n)) {
		stream->used = (size_t)(to + n - stream->bytes);
		stream->last_ns = head->ts_ns;
	}
	return status;
}

enum status session_flush(struct session *session, uint32_t at, uint64_t end_ns, uint64_t discarded,
		struct producer_fault *fault)
{
	struct stream *stream = &session->streams[at];
	struct producer_packet beacon = {
			.end_ns = end_ns, .stream_class = STREAM_CLASS, .stream_instance = at};

	/* The first one may be empty: a viewer waits for it. */
	if (stream->used > sizeof(struct packet_head) || stream->sent.n_sent == 0) {
		return send_packet(session, stream, end_ns, discarded, fault);
	}
	/* The next packet begins there: not before what viewers were told. */
	stream->begin_ns = stream->last_ns = end_ns;
	return producer_send_beacon(session->producer, &stream->sent, &beacon, fault);
}

void session_close(struct session *session, bool whole)
{
	struct producer_fault fault;
	enum status status = STATUS_OK;

	if (!session) {
		return;
	}
	for (uint32_t i = 0; whole && status == STATUS_OK && i < session->n_streams; i++) {
		status = producer_close_stream(
				session->producer, &session->streams[i].sent, &fault);
	}
	if (whole && status == STATUS_OK) {
		producer_close_stream(session->producer, &session->metadata, &fault);
	}
	producer_close(session->producer);
	free(session->streams);
	free(session);
}
