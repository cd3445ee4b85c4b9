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

/* One of its traces: a stream for each CPU, and their description. */
struct part {
	bool there;
	struct producer_stream metadata;
	struct describe_trace trace;
	uint32_t n_streams;
	struct stream *streams;
};

struct session {
	struct producer *producer;
	struct part parts[SESSION_PARTS];
	const struct function_types *functions;
	uint32_t n_declared; /* of them */
};

/* As LTTng names them. */
static const char *const folders[SESSION_PARTS] = {
		[SESSION_KERNEL] = "kernel/",
		[SESSION_FUNCTIONS] = "ust/uid/0/64-bit/",
};

/* --- The beginning ---------------------------------------------------------------------------- */

static enum status add_streams(struct session *session, enum session_part which,
		const struct session_setup *setup, uint64_t begin_ns, struct producer_fault *fault)
{
	struct part *part = &session->parts[which];
	enum status status = producer_add_stream(session->producer, &part->metadata, "metadata",
			folders[which], 0, 0, fault);

	for (uint32_t i = 0; status == STATUS_OK && i < setup->n_cpus; i++) {
		struct stream *stream = &part->streams[i];
		char name[32];

		snprintf(name, sizeof(name), CHANNEL "_%u", setup->cpus[i]);
		stream->cpu = setup->cpus[i];
		stream->used = sizeof(struct packet_head);
		stream->begin_ns = stream->last_ns = begin_ns;
		status = producer_add_stream(session->producer, &stream->sent, name, folders[which],
				setup->keep_bytes / SESSION_FILES,
				setup->keep_bytes ? SESSION_FILES : 0, fault);
		part->n_streams += status == STATUS_OK;
	}
	return status;
}

static enum status send_text(struct session *session, struct part *part, char *text, size_t size,
		struct producer_fault *fault)
{
	enum status status;

	if (!text) {
		snprintf(fault->text, sizeof(fault->text), "out of memory");
		return STATUS_NO_MEMORY;
	}
	status = producer_send_metadata(session->producer, &part->metadata, text, size, fault);
	free(text);
	return status;
}

static enum status send_descriptions(struct session *session, struct producer_fault *fault)
{
	enum status status = STATUS_OK;

	for (int i = 0; i < SESSION_PARTS && status == STATUS_OK; i++) {
		struct part *part = &session->parts[i];
		size_t size = 0;

		if (part->there) {
			char *text = describe(&part->trace, &size);

			status = send_text(session, part, text, size, fault);
		}
	}
	return status;
}

enum status session_declare(struct session *session, struct producer_fault *fault)
{
	const struct function_types *types = session->functions;
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	if (session->n_declared == types->n) {
		return STATUS_OK;
	}
	file = open_memstream(&text, &size);
	if (file) {
		if (session->n_declared == 0) {
			function_types_declare_summary(file);
		}
		function_types_declare(types, session->n_declared, file);
		if (fclose(file) != 0) {
			free(text);
			text = NULL;
		}
	}
	session->n_declared = types->n;
	return send_text(session, &session->parts[SESSION_FUNCTIONS], text, size, fault);
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
	for (int i = 0; i < SESSION_PARTS && status == STATUS_OK; i++) {
		if (session->parts[i].there) {
			status = add_streams(session, (enum session_part)i, setup, begin_ns, fault);
		}
	}
	if (status == STATUS_OK) {
		status = producer_publish(session->producer, fault);
	}
	return status == STATUS_OK ? send_descriptions(session, fault) : status;
}

static bool prepare_part(struct part *part, const struct session_setup *setup,
		const struct describe_clock *clock, bool of_functions)
{
	part->there = true;
	part->trace = (struct describe_trace){.host = setup->host,
			.session = setup->name,
			.of_functions = of_functions,
			.clock = *clock};
	part->streams = calloc(setup->n_cpus, sizeof(*part->streams));
	return part->streams && getrandom(part->trace.uuid, DESCRIBE_UUID, 0) == DESCRIBE_UUID;
}

enum status session_open(struct session **out, const struct session_setup *setup, uint64_t begin_ns,
		struct producer_fault *fault)
{
	struct session *session = calloc(1, sizeof(*session));
	enum status status = STATUS_NO_MEMORY;
	struct describe_clock clock;

	*out = NULL;
	snprintf(fault->text, sizeof(fault->text), "out of memory");
	if (!session) {
		return status;
	}
	session->functions = setup->functions;
	describe_sample_clock(&clock);
	if ((!setup->kernel ||
			    prepare_part(&session->parts[SESSION_KERNEL], setup, &clock, false)) &&
			(!setup->functions || prepare_part(&session->parts[SESSION_FUNCTIONS],
							      setup, &clock, true))) {
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

static enum status send_packet(struct session *session, const struct part *part,
		struct stream *stream, uint64_t end_ns, uint64_t discarded,
		struct producer_fault *fault)
{
	uint32_t instance = (uint32_t)(stream - part->streams);
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

	memcpy(head.uuid, part->trace.uuid, sizeof(head.uuid));
	memcpy(stream->bytes, &head, sizeof(head));
	stream->used = sizeof(head);
	stream->begin_ns = stream->last_ns = end_ns;
	return producer_send_packet(
			session->producer, &stream->sent, &packet, stream->bytes, fault);
}

/* Where the next event's payload goes: behind its head. */
static unsigned char *put_head(
		const struct stream *stream, unsigned char *to, uint16_t id, uint64_t ts_ns)
{
	/* A reader knows the upper half of the time from the event before, or the packet's begin.
	 */
	if (ts_ns - stream->last_ns < UINT64_C(1) << 32) {
		const struct event_head compact = {.id = id, .ts_ns = (uint32_t)ts_ns};

		memcpy(to, &compact, sizeof(compact));
		return to + sizeof(compact);
	}
	memcpy(to, &(struct event_head_extended){.extended = EXTENDED, .id = id, .ts_ns = ts_ns},
			sizeof(struct event_head_extended));
	return to + sizeof(struct event_head_extended);
}

enum session_part session_part(const struct probe_head *head)
{
	return head->event == PROBE_FUNCTION_ENTRY || head->event == PROBE_FUNCTION_EXIT ||
					       head->event == PROBE_FUNCTION_SUMMARY
			       ? SESSION_FUNCTIONS
			       : SESSION_KERNEL;
}

enum status session_put(struct session *session, uint32_t at, const struct probe_head *head,
		uint64_t discarded, struct producer_fault *fault)
{
	bool of_function = session_part(head) == SESSION_FUNCTIONS;
	const struct part *part = &session->parts[session_part(head)];
	struct stream *stream = part->there ? &part->streams[at] : NULL;
	const struct type *type = of_function ? NULL : type_of(head);
	size_t room = sizeof(struct event_head_extended) +
		      (of_function ? FUNCTION_ROOM : TYPE_ROOM(head->bytes));
	uint16_t id = of_function ? (uint16_t)function_type_id(head) : type ? type->id : 0;
	enum status status = STATUS_OK;
	unsigned char *to;
	size_t n;

	/* What a program began to write before this session does not belong to it. */
	if ((!of_function && !type) || !stream || head->ts_ns < stream->last_ns ||
			room > SESSION_PACKET - sizeof(struct packet_head)) {
		return STATUS_OK;
	}
	if (stream->used + room > SESSION_PACKET) {
		status = send_packet(session, part, stream, stream->last_ns, discarded, fault);
	}
	to = put_head(stream, stream->bytes + stream->used, id, head->ts_ns);
	if (of_function ? function_type_payload(session->functions, head, to, &n)
			: type_payload(type, head, to, &n)) {
		stream->used = (size_t)(to + n - stream->bytes);
		stream->last_ns = head->ts_ns;
	}
	return status;
}

enum status session_flush(struct session *session, enum session_part which, uint32_t at,
		uint64_t end_ns, uint64_t discarded, struct producer_fault *fault)
{
	const struct part *part = &session->parts[which];
	struct stream *stream = part->there ? &part->streams[at] : NULL;
	struct producer_packet beacon = {
			.end_ns = end_ns, .stream_class = STREAM_CLASS, .stream_instance = at};

	if (!stream) {
		return STATUS_OK;
	}
	/* The first one may be empty: a viewer waits for it. */
	if (stream->used > sizeof(struct packet_head) || stream->sent.n_sent == 0) {
		return send_packet(session, part, stream, end_ns, discarded, fault);
	}
	/* The next packet begins there: not before what viewers were told. */
	stream->begin_ns = stream->last_ns = end_ns;
	return producer_send_beacon(session->producer, &stream->sent, &beacon, fault);
}

static enum status end_part(struct session *session, struct part *part)
{
	struct producer_fault fault;
	enum status status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < part->n_streams; i++) {
		status = producer_close_stream(session->producer, &part->streams[i].sent, &fault);
	}
	return status == STATUS_OK && part->there
			       ? producer_close_stream(session->producer, &part->metadata, &fault)
			       : status;
}

void session_close(struct session *session, bool whole)
{
	enum status status = STATUS_OK;

	if (!session) {
		return;
	}
	for (int i = 0; i < SESSION_PARTS && whole && status == STATUS_OK; i++) {
		status = end_part(session, &session->parts[i]);
	}
	producer_close(session->producer);
	for (int i = 0; i < SESSION_PARTS; i++) {
		free(session->parts[i].streams);
	}
	free(session);
}
