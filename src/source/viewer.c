/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "viewer.h"

#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "relay/connection.h"
#include "viewer_wire.h"

#define METADATA_LIMIT (64u << 20)

static const struct viewer_version versions[] = {
		{.minor = 0},
		{.minor = 7, .chains = true},
		{.minor = VIEWER_MINOR, .chains = true, .counted_names = true},
};

struct viewer {
	struct connection connection;
	const struct viewer_version *version;
	char name[300]; /* of the relay, for people */
};

__attribute__((format(printf, 3, 4))) static enum status fail(
		struct viewer_fault *fault, enum status status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(fault->text, sizeof(fault->text), format, arguments);
	va_end(arguments);
	return status;
}

/* The sentence for what went wrong while waiting for an answer. */
static enum status explain(
		const struct viewer *viewer, enum status status, struct viewer_fault *fault)
{
	switch (status) {
	case STATUS_TIMEOUT:
		return fail(fault, status,
				"%s accepts connections but has not answered for %d s; is it a "
				"relay daemon (viewers connect to port 5344), and not stopped?",
				viewer->name, viewer->connection.timeout_ms / 1000);
	case STATUS_END:
		return fail(fault, STATUS_IO,
				"%s closed the connection; if the relay daemon was stopped, start "
				"it with: lttng-relayd --daemonize",
				viewer->name);
	case STATUS_IO:
		return fail(fault, status, "the connection to %s was lost: %s", viewer->name,
				strerror(errno));
	default:
		return fail(fault, STATUS_PROTOCOL,
				"%s does not speak like a relay daemon does to viewers; they "
				"connect to port 5344, not to 5342 or 5343",
				viewer->name);
	}
}

/* Sends a command with its data in one piece: in two, a delayed ACK would hold up the second. */
static enum status ask(
		struct viewer *viewer, enum wire_commands command, const void *data, size_t size)
{
	unsigned char message[WIRE_COMMAND_BYTES];
	struct wire_command head = {
			.data_size = htobe64(size),
			.command = htobe32((uint32_t)command),
	};

	if (size > sizeof(struct wire_connect)) {
		return STATUS_INVALID;
	}
	connection_expect(&viewer->connection);
	memcpy(message, &head, sizeof(head));
	if (size > 0) {
		memcpy(message + sizeof(head), data, size);
	}
	return connection_send(&viewer->connection, message, sizeof(head) + size);
}

static enum status shake_hands(struct viewer *viewer)
{
	struct wire_connect hello = {
			.major = htobe32(WIRE_MAJOR),
			.minor = htobe32(VIEWER_MINOR),
			.type = htobe32(CLIENT_COMMANDS),
	};
	enum status status = ask(viewer, COMMAND_CONNECT, &hello, sizeof(hello));

	if (status == STATUS_OK) {
		status = connection_receive(&viewer->connection, &hello, sizeof(hello));
	}
	if (status == STATUS_OK && be32toh(hello.major) != WIRE_MAJOR) {
		status = STATUS_PROTOCOL;
	}
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (versions[i].minor <= be32toh(hello.minor)) {
			viewer->version = &versions[i];
		}
	}
	return status;
}

static enum status dial(struct viewer *viewer, const char *relay, uint16_t port, int timeout_ms,
		struct viewer_fault *fault)
{
	int resolve_error;
	enum status status = connection_open(
			&viewer->connection, relay, port, timeout_ms, &resolve_error);

	if (resolve_error != 0) {
		return fail(fault, status, "the host \"%s\" is not known: %s; check its spelling",
				relay, gai_strerror(resolve_error));
	}
	if (status != STATUS_OK && errno == ECONNREFUSED) {
		return fail(fault, status,
				"No relay daemon at %s.%s Start one: lttng-relayd -d   "
				"Or open a recording: pythiatop DIR",
				viewer->name,
				port == 5344 ? "" : " Viewers connect to port 5344 as a rule.");
	}
	if (status != STATUS_OK) {
		return fail(fault, status,
				"cannot reach %s: %s; check the name, the network and its firewall",
				viewer->name, strerror(errno));
	}
	return STATUS_OK;
}

enum status viewer_connect(struct viewer **out, const char *relay, uint16_t port, int timeout_ms,
		struct viewer_fault *fault)
{
	struct viewer *viewer = calloc(1, sizeof(*viewer));
	enum status status;

	*out = NULL;
	if (!viewer) {
		return fail(fault, STATUS_NO_MEMORY, "out of memory");
	}
	snprintf(viewer->name, sizeof(viewer->name), strchr(relay, ':') ? "[%s]:%u" : "%s:%u",
			relay, port);
	status = dial(viewer, relay, port, timeout_ms, fault);
	if (status == STATUS_OK) {
		status = shake_hands(viewer);
		if (status != STATUS_OK) {
			/* Who hangs up on a greeting is no relay daemon's viewer port. */
			status = explain(viewer,
					status == STATUS_TIMEOUT ? status : STATUS_PROTOCOL, fault);
		}
	}
	if (status != STATUS_OK) {
		viewer_close(viewer);
		return status;
	}
	*out = viewer;
	return STATUS_OK;
}

void viewer_close(struct viewer *viewer)
{
	if (viewer) {
		connection_close(&viewer->connection);
		free(viewer);
	}
}

void viewer_list_release(struct viewer_list *list)
{
	free(list->sessions);
	*list = (struct viewer_list){0};
}

static enum status receive_names(struct viewer *viewer, struct viewer_session *session)
{
	struct wire_names names = {0};
	enum status status = connection_receive(&viewer->connection, &names, sizeof(names));

	memcpy(session->host, names.host, sizeof(names.host));
	memcpy(session->name, names.name, sizeof(names.name));
	return status;
}

static enum status receive_name(
		struct viewer *viewer, uint32_t length, char name[VIEWER_NAME_BYTES + 1])
{
	char bytes[WIRE_NAME_MAX];
	enum status status = length <= sizeof(bytes) ? STATUS_OK : STATUS_PROTOCOL;

	if (status == STATUS_OK && length > 0) {
		status = connection_receive(&viewer->connection, bytes, length);
	}
	if (status == STATUS_OK) {
		memcpy(name, bytes, length < VIEWER_NAME_BYTES ? length : VIEWER_NAME_BYTES);
	}
	return status;
}

static enum status receive_counted_names(struct viewer *viewer, struct viewer_session *session)
{
	struct wire_name_lengths lengths;
	enum status status = connection_receive(&viewer->connection, &lengths, sizeof(lengths));

	if (status == STATUS_OK) {
		status = receive_name(viewer, be32toh(lengths.host), session->host);
	}
	if (status == STATUS_OK) {
		status = receive_name(viewer, be32toh(lengths.name), session->name);
	}
	return status;
}

/* Into a session that is all zeros. */
static enum status receive_session(struct viewer *viewer, struct viewer_session *session)
{
	struct wire_session wire;
	enum status status = connection_receive(&viewer->connection, &wire, sizeof(wire));

	if (status != STATUS_OK) {
		return status;
	}
	session->id = be64toh(wire.id);
	session->live_timer_us = be32toh(wire.live_timer);
	session->viewers = be32toh(wire.clients);
	session->streams = be32toh(wire.streams);
	return viewer->version->counted_names ? receive_counted_names(viewer, session)
					      : receive_names(viewer, session);
}

static enum status receive_list(struct viewer *viewer, struct viewer_list *list)
{
	uint32_t n;
	enum status status = connection_receive(&viewer->connection, &n, sizeof(n));

	if (status != STATUS_OK) {
		return status;
	}
	n = be32toh(n);
	if (n > VIEWER_MAX_SESSIONS) {
		return STATUS_PROTOCOL;
	}
	list->sessions = calloc(n ? n : 1, sizeof(*list->sessions));
	if (!list->sessions) {
		return STATUS_NO_MEMORY;
	}
	while (status == STATUS_OK && list->n < n) {
		status = receive_session(viewer, &list->sessions[list->n]);
		list->n += status == STATUS_OK;
	}
	return status;
}

enum status viewer_list(struct viewer *viewer, struct viewer_list *list, struct viewer_fault *fault)
{
	enum status status = ask(viewer, COMMAND_LIST_SESSIONS, NULL, 0);

	*list = (struct viewer_list){0};
	if (status == STATUS_OK) {
		status = receive_list(viewer, list);
	}
	return status == STATUS_OK ? status : explain(viewer, status, fault);
}

static enum status create_session(struct viewer *viewer)
{
	uint32_t answer;
	enum status status = ask(viewer, COMMAND_CREATE_SESSION, NULL, 0);

	if (status == STATUS_OK) {
		status = connection_receive(&viewer->connection, &answer, sizeof(answer));
	}
	if (status == STATUS_OK && be32toh(answer) != CREATE_OK) {
		status = STATUS_PROTOCOL;
	}
	return status;
}

static enum status attach_status(uint32_t answer)
{
	switch (answer) {
	case ATTACH_OK:
		return STATUS_OK;
	case ATTACH_ALREADY:
		return STATUS_BUSY;
	case ATTACH_UNKNOWN:
	case ATTACH_NOT_LIVE:
		return STATUS_NOT_FOUND;
	default:
		return STATUS_PROTOCOL;
	}
}

bool viewer_streams_add(struct viewer_streams *list, const struct wire_stream *wire)
{
	struct viewer_stream *stream;

	if (!array_reserve(&list->streams, &list->room, list->n + 1)) {
		return false;
	}
	stream = &list->streams[list->n++];
	stream->id = be64toh(wire->id);
	stream->trace = be64toh(wire->trace);
	stream->is_metadata = wire->is_metadata != 0;
	memcpy(stream->channel, wire->channel, sizeof(wire->channel));
	stream->channel[sizeof(wire->channel)] = '\0';
	return true;
}

void viewer_streams_release(struct viewer_streams *list)
{
	free(list->streams);
	*list = (struct viewer_streams){0};
}

static enum status attach(struct viewer *viewer, uint64_t session, struct viewer_streams *streams)
{
	struct wire_attach request = {.session = htobe64(session), .seek = htobe32(SEEK_LAST)};
	struct wire_streams answer = {0};
	enum status status = ask(viewer, COMMAND_ATTACH_SESSION, &request, sizeof(request));

	if (status == STATUS_OK) {
		status = connection_receive(&viewer->connection, &answer, sizeof(answer));
	}
	if (status == STATUS_OK) {
		status = attach_status(be32toh(answer.status));
	}
	if (status == STATUS_OK && be32toh(answer.n_streams) > VIEWER_MAX_STREAMS) {
		status = STATUS_PROTOCOL;
	}
	for (uint32_t i = 0; status == STATUS_OK && i < be32toh(answer.n_streams); i++) {
		struct wire_stream stream;

		status = connection_receive(&viewer->connection, &stream, sizeof(stream));
		if (status == STATUS_OK && !viewer_streams_add(streams, &stream)) {
			status = STATUS_NO_MEMORY;
		}
	}
	return status;
}

/* For people only where they can do something about it. */
static enum status explain_session(
		const struct viewer *viewer, enum status status, struct viewer_fault *fault)
{
	switch (status) {
	case STATUS_OK:
	case STATUS_BUSY:
	case STATUS_NOT_FOUND:
	case STATUS_NOT_YET:
		return status;
	case STATUS_NO_MEMORY:
		return fail(fault, status, "out of memory");
	default:
		return explain(viewer, status, fault);
	}
}

enum status viewer_attach(struct viewer *viewer, uint64_t session, struct viewer_streams *streams,
		struct viewer_fault *fault)
{
	enum status status = create_session(viewer);

	*streams = (struct viewer_streams){0};
	if (status == STATUS_OK) {
		status = attach(viewer, session, streams);
	}
	return explain_session(viewer, status, fault);
}

int viewer_fd(const struct viewer *viewer)
{
	return viewer->connection.fd;
}

const struct viewer_version *viewer_version(const struct viewer *viewer)
{
	return viewer->version;
}

const char *viewer_name(const struct viewer *viewer)
{
	return viewer->name;
}

static enum status receive_metadata(struct viewer *viewer, uint64_t stream, unsigned char *bytes,
		size_t room, size_t *size)
{
	struct wire_metadata answer;
	enum status status = ask(viewer, COMMAND_GET_METADATA, &stream, sizeof(stream));
	uint64_t length;

	if (status == STATUS_OK) {
		status = connection_receive(&viewer->connection, &answer, sizeof(answer));
	}
	if (status != STATUS_OK) {
		return status;
	}
	length = be64toh(answer.length);
	if (be32toh(answer.status) == METADATA_NONE_NEW ||
			(be32toh(answer.status) == METADATA_OK && length == 0)) {
		return STATUS_NOT_YET;
	}
	if (be32toh(answer.status) != METADATA_OK || length > METADATA_LIMIT) {
		return STATUS_PROTOCOL;
	}
	/* The rest of it is left unread: the connection is closed after this. */
	*size = length < room ? (size_t)length : room;
	return connection_receive(&viewer->connection, bytes, *size);
}

enum status viewer_peek_metadata(struct viewer *viewer, uint64_t session, unsigned char *bytes,
		size_t room, size_t *size, struct viewer_fault *fault)
{
	struct viewer_streams streams;
	enum status status = viewer_attach(viewer, session, &streams, fault);
	uint32_t i = 0;

	*size = 0;
	while (i < streams.n && !streams.streams[i].is_metadata) {
		i++;
	}
	if (status == STATUS_OK && i == streams.n) {
		status = STATUS_NOT_YET;
	}
	if (status == STATUS_OK) {
		status = receive_metadata(
				viewer, htobe64(streams.streams[i].id), bytes, room, size);
		status = explain_session(viewer, status, fault);
	}
	viewer_streams_release(&streams);
	return status;
}
