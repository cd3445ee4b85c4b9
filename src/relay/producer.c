/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "relay/producer.h"

#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "helper/check.h"
#include "relay/connection.h"

#define PROTOCOL_MAJOR  2u
#define PROTOCOL_MINOR  13u
#define PROTOCOL_OLDEST 11u /* chunks came with it */
#define REPLY_OK        10u
#define PATH_BYTES      4096u
#define CHUNK           0u /* a session has one */
#define NOTHING_SENT    UINT64_MAX

enum command {
	COMMAND_ADD_STREAM = 1,
	COMMAND_CREATE_SESSION = 2,
	COMMAND_VERSION = 5,
	COMMAND_METADATA = 6,
	COMMAND_CLOSE_STREAM = 7,
	COMMAND_INDEX = 13,
	COMMAND_STREAMS_SENT = 16,
	COMMAND_CREATE_CHUNK = 19,
};

struct producer {
	struct connection control, data;
	char name[300]; /* of the relay daemon, for people */
	uint64_t begin_s;
};

__attribute__((format(printf, 3, 4))) static enum status fail(
		struct producer_fault *fault, enum status status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(fault->text, sizeof(fault->text), format, arguments);
	va_end(arguments);
	return status;
}

/* The sentence for what went wrong while `doing` something. */
static enum status explain(const struct producer *producer, enum status status, const char *doing,
		struct producer_fault *fault)
{
	switch (status) {
	case STATUS_OK:
		return status;
	case STATUS_NO_MEMORY:
		return fail(fault, status, "out of memory");
	case STATUS_TIMEOUT:
		return fail(fault, status,
				"the relay daemon at %s does not answer within %d s (%s); is it "
				"stopped, or no relay daemon?",
				producer->name, producer->control.timeout_ms / 1000, doing);
	case STATUS_END:
		return fail(fault, STATUS_IO, "the relay daemon at %s closed the connection (%s)",
				producer->name, doing);
	default:
		return fail(fault, status,
				"the connection to the relay daemon at %s is lost (%s): %s",
				producer->name, doing, strerror(errno));
	}
}

/* --- Where to --- */

const char *producer_parse(struct producer_target *target, const char *url)
{
	const char *wrong = check_relay(url), *host, *end;
	bool bracketed;

	*target = (struct producer_target){
			.control_port = PRODUCER_CONTROL_PORT, .data_port = PRODUCER_DATA_PORT};
	if (wrong) {
		return wrong;
	}
	host = strstr(url, "://") + 3;
	bracketed = *host == '[';
	host += bracketed;
	end = host + strcspn(host, bracketed ? "]" : ":");
	if ((size_t)(end - host) >= sizeof(target->host)) {
		return "is too long";
	}
	memcpy(target->host, host, (size_t)(end - host));
	end += bracketed;
	if (*end == ':') {
		char *next;

		target->control_port = (uint16_t)strtoul(end + 1, &next, 10);
		if (*next == ':') {
			target->data_port = (uint16_t)strtoul(next + 1, NULL, 10);
		}
	}
	return NULL;
}

/* --- Messages: big-endian, packed --- */

struct message {
	unsigned char *bytes;
	size_t n, room;
	bool failed; /* out of memory, or too long: what is put is dropped */
};

#define MESSAGE_MAX (64u << 20) /* metadata are the longest */

static void put(struct message *message, const void *bytes, size_t n)
{
	if (message->failed || n > MESSAGE_MAX || message->n > MESSAGE_MAX - n) {
		message->failed = true;
		return;
	}
	if (message->n + n > message->room) {
		size_t room = (message->n + n) * 2;
		unsigned char *more = realloc(message->bytes, room);

		if (!more) {
			message->failed = true;
			return;
		}
		message->bytes = more;
		message->room = room;
	}
	memcpy(message->bytes + message->n, bytes, n);
	message->n += n;
}

static void put32(struct message *message, uint32_t value)
{
	value = htobe32(value);
	put(message, &value, sizeof(value));
}

static void put64(struct message *message, uint64_t value)
{
	value = htobe64(value);
	put(message, &value, sizeof(value));
}

static void put8(struct message *message, uint8_t value)
{
	put(message, &value, sizeof(value));
}

/* Sends a command with its data in one piece, and lets go of the data. */
static enum status send_command(
		struct producer *producer, enum command command, struct message *data)
{
	struct message message = {.bytes = NULL};
	enum status status = STATUS_NO_MEMORY;

	put64(&message, 0); /* circuit */
	put64(&message, data->n);
	put32(&message, (uint32_t)command);
	put32(&message, 0); /* version of the command */
	if (data->n > 0) {
		put(&message, data->bytes, data->n);
	}
	if (!message.failed && !data->failed) {
		connection_expect(&producer->control);
		status = connection_send(&producer->control, message.bytes, message.n);
	}
	free(message.bytes);
	free(data->bytes);
	return status;
}

static enum status refuse(const struct producer *producer, uint32_t code, const char *doing,
		struct producer_fault *fault)
{
	return code == REPLY_OK ? STATUS_OK
				: fail(fault, STATUS_PROTOCOL,
						  "the relay daemon at %s refuses (%s): code %u",
						  producer->name, doing, code);
}

/* A command of which nothing but success is to be told. */
static enum status command(struct producer *producer, enum command what, struct message *data,
		const char *doing, struct producer_fault *fault)
{
	uint32_t code = 0;
	enum status status = send_command(producer, what, data);

	if (status == STATUS_OK) {
		status = connection_receive(&producer->control, &code, sizeof(code));
	}
	return status == STATUS_OK ? refuse(producer, be32toh(code), doing, fault)
				   : explain(producer, status, doing, fault);
}

/* --- The session --- */

static enum status shake_hands(struct producer *producer, struct producer_fault *fault)
{
	static const char *const doing = "greeting";
	struct message message = {.bytes = NULL};
	uint32_t version[2] = {0, 0};
	enum status status;

	put32(&message, PROTOCOL_MAJOR);
	put32(&message, PROTOCOL_MINOR);
	status = send_command(producer, COMMAND_VERSION, &message);
	if (status == STATUS_OK) {
		status = connection_receive(&producer->control, version, sizeof(version));
	}
	if (status != STATUS_OK) {
		return explain(producer, status, doing, fault);
	}
	if (be32toh(version[0]) != PROTOCOL_MAJOR || be32toh(version[1]) < PROTOCOL_OLDEST) {
		return fail(fault, STATUS_PROTOCOL,
				"%s is no relay daemon of LTTng 2.11 or later; producers connect "
				"to "
				"the port that lttng-relayd --control-port names, 5342 as a rule",
				producer->name);
	}
	return STATUS_OK;
}

static enum status dial(struct connection *connection, const struct producer_target *target,
		uint16_t port, int timeout_ms, struct producer_fault *fault)
{
	int resolve_error;
	enum status status =
			connection_open(connection, target->host, port, timeout_ms, &resolve_error);

	if (resolve_error != 0) {
		return fail(fault, status, "the host \"%s\" is not known: %s; check its spelling",
				target->host, gai_strerror(resolve_error));
	}
	if (status != STATUS_OK) {
		return fail(fault, status,
				"cannot reach the relay daemon at %s, port %u: %s; start one with: "
				"lttng-relayd --daemonize",
				target->host, port, strerror(errno));
	}
	return STATUS_OK;
}

enum status producer_connect(struct producer **out, const struct producer_target *target,
		int timeout_ms, struct producer_fault *fault)
{
	struct producer *producer = calloc(1, sizeof(*producer));
	enum status status;

	*out = NULL;
	if (!producer) {
		return fail(fault, STATUS_NO_MEMORY, "out of memory");
	}
	producer->control.fd = producer->data.fd = -1;
	snprintf(producer->name, sizeof(producer->name),
			strchr(target->host, ':') ? "[%s]:%u" : "%s:%u", target->host,
			target->control_port);
	status = dial(&producer->control, target, target->control_port, timeout_ms, fault);
	if (status == STATUS_OK) {
		status = shake_hands(producer, fault);
	}
	if (status == STATUS_OK) {
		status = dial(&producer->data, target, target->data_port, timeout_ms, fault);
	}
	if (status != STATUS_OK) {
		producer_close(producer);
		return status;
	}
	*out = producer;
	return STATUS_OK;
}

void producer_close(struct producer *producer)
{
	if (producer) {
		connection_close(&producer->data);
		connection_close(&producer->control);
		free(producer);
	}
}

static enum status create_chunk(struct producer *producer, struct producer_fault *fault)
{
	struct message message = {.bytes = NULL};

	put64(&message, CHUNK);
	put64(&message, producer->begin_s);
	put32(&message, 0); /* without a name */
	return command(producer, COMMAND_CREATE_CHUNK, &message, "making a chunk", fault);
}

enum status producer_create_session(struct producer *producer,
		const struct producer_session *session, struct producer_fault *fault)
{
	static const char *const doing = "creating the session";
	const char *folder = session->folder ? session->folder : "";
	struct message message = {.bytes = NULL};
	struct {
		uint64_t id;
		uint32_t code, path_length;
	} __attribute__((packed)) reply = {0, 0, 0};
	unsigned char uuid[16];
	char path[PATH_BYTES];
	enum status status;

	if (getrandom(uuid, sizeof(uuid), 0) != sizeof(uuid)) {
		return fail(fault, STATUS_IO, "no random numbers: %s", strerror(errno));
	}
	producer->begin_s = session->begin_s;
	put32(&message, (uint32_t)strlen(session->name) + 1);
	put32(&message, (uint32_t)strlen(session->host) + 1);
	put32(&message, (uint32_t)strlen(folder) + 1);
	put32(&message, session->live_timer_us);
	put8(&message, 0);                 /* no snapshot session */
	put8(&message, 0);                 /* the name contains no time */
	put(&message, uuid, sizeof(uuid)); /* of the session daemon */
	put64(&message, 1);                /* the session's number there */
	put64(&message, session->begin_s);
	put8(&message, 0); /* no chunk so far */
	put64(&message, 0);
	put(&message, session->name, strlen(session->name) + 1);
	put(&message, session->host, strlen(session->host) + 1);
	put(&message, folder, strlen(folder) + 1);
	status = send_command(producer, COMMAND_CREATE_SESSION, &message);
	if (status == STATUS_OK) {
		status = connection_receive(&producer->control, &reply, sizeof(reply));
	}
	if (status != STATUS_OK) {
		return explain(producer, status, doing, fault);
	}
	status = refuse(producer, be32toh(reply.code), doing, fault);
	if (status != STATUS_OK) {
		return status;
	}
	if (be32toh(reply.path_length) > sizeof(path)) {
		return fail(fault, STATUS_PROTOCOL, "the answer of %s is no relay daemon's",
				producer->name);
	}
	status = connection_receive(&producer->control, path, be32toh(reply.path_length));
	return status == STATUS_OK ? create_chunk(producer, fault)
				   : explain(producer, status, doing, fault);
}

/* --- Streams --- */

enum status producer_add_stream(struct producer *producer, struct producer_stream *stream,
		const char *name, const char *path, uint64_t file_bytes, uint64_t n_files,
		struct producer_fault *fault)
{
	static const char *const doing = "adding a stream";
	struct message message = {.bytes = NULL};
	struct {
		uint64_t handle;
		uint32_t code;
	} __attribute__((packed)) reply = {0, 0};
	enum status status;

	put32(&message, (uint32_t)strlen(name) + 1);
	put32(&message, (uint32_t)strlen(path) + 1);
	put64(&message, file_bytes);
	put64(&message, n_files);
	put64(&message, CHUNK);
	put(&message, name, strlen(name) + 1);
	put(&message, path, strlen(path) + 1);
	status = send_command(producer, COMMAND_ADD_STREAM, &message);
	if (status == STATUS_OK) {
		status = connection_receive(&producer->control, &reply, sizeof(reply));
	}
	*stream = (struct producer_stream){.handle = be64toh(reply.handle)};
	return status == STATUS_OK ? refuse(producer, be32toh(reply.code), doing, fault)
				   : explain(producer, status, doing, fault);
}

enum status producer_publish(struct producer *producer, struct producer_fault *fault)
{
	struct message message = {.bytes = NULL};

	return command(producer, COMMAND_STREAMS_SENT, &message, "publishing the streams", fault);
}

enum status producer_send_metadata(struct producer *producer, const struct producer_stream *stream,
		const char *text, size_t size, struct producer_fault *fault)
{
	struct message message = {.bytes = NULL};

	put64(&message, stream->handle);
	put32(&message, 0); /* padding */
	put(&message, text, size);
	/* The relay daemon does not answer this one. */
	return explain(producer, send_command(producer, COMMAND_METADATA, &message),
			"sending the metadata", fault);
}

static enum status send_index(struct producer *producer, struct producer_stream *stream,
		const struct producer_packet *packet, struct producer_fault *fault)
{
	struct message message = {.bytes = NULL};
	enum status status;

	put64(&message, stream->handle);
	put64(&message, stream->n_sent);
	put64(&message, packet->packet_bits);
	put64(&message, packet->content_bits);
	put64(&message, packet->begin_ns);
	put64(&message, packet->end_ns);
	put64(&message, packet->events_discarded);
	put64(&message, packet->stream_class);
	put64(&message, packet->stream_instance);
	put64(&message, packet->sequence);
	status = command(producer, COMMAND_INDEX, &message, "sending an index", fault);
	if (status == STATUS_OK) {
		stream->told_ns = packet->end_ns;
	}
	return status;
}

enum status producer_send_packet(struct producer *producer, struct producer_stream *stream,
		const struct producer_packet *packet, const void *bytes,
		struct producer_fault *fault)
{
	size_t size = packet->packet_bits / 8;
	struct {
		uint64_t circuit, handle, sequence;
		uint32_t size, padding;
	} __attribute__((packed)) head = {
			.handle = htobe64(stream->handle),
			.sequence = htobe64(stream->n_sent),
			.size = htobe32((uint32_t)size),
	};
	enum status status;

	connection_expect(&producer->data);
	status = connection_send(&producer->data, &head, sizeof(head));
	if (status == STATUS_OK) {
		status = connection_send(&producer->data, bytes, size);
	}
	if (status != STATUS_OK) {
		return explain(producer, status, "sending a packet", fault);
	}
	status = send_index(producer, stream, packet, fault);
	stream->n_sent += status == STATUS_OK;
	return status;
}

enum status producer_send_beacon(struct producer *producer, struct producer_stream *stream,
		const struct producer_packet *packet, struct producer_fault *fault)
{
	struct producer_packet beacon = *packet;

	beacon.packet_bits = beacon.content_bits = 0;
	return send_index(producer, stream, &beacon, fault);
}

enum status producer_close_stream(struct producer *producer, const struct producer_stream *stream,
		struct producer_fault *fault)
{
	struct message message = {.bytes = NULL};

	put64(&message, stream->handle);
	put64(&message, stream->n_sent ? stream->n_sent - 1 : NOTHING_SENT);
	return command(producer, COMMAND_CLOSE_STREAM, &message, "closing a stream", fault);
}
