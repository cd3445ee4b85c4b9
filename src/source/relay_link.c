/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "relay_link.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "packets.h"
#include "viewer_wire.h"

#define IN_BYTES   (64u << 10)
#define ROOM_FIRST 64u /* questions */

_Static_assert(IN_BYTES >= sizeof(struct wire_stream), "a stream's record fits the buffer");

struct question {
	enum wire_commands command;
	uint32_t bytes; /* of a packet */
	void *who;
};

struct relay_link {
	struct viewer *viewer;
	struct relay_answers answers;
	void *user;

	/* Questions without an answer: n from first on, in a circle of `room` (a power of two). */
	struct question *questions;
	uint32_t first, n, room;
	uint64_t due_bytes;

	/* To be sent: [out_at, out_n). */
	unsigned char *out;
	size_t out_at, out_n, out_room;

	/* Received and not looked at: [in_at, in_n). */
	unsigned char *in;
	size_t in_at, in_n;
	uint64_t received;

	/* The answer that is arriving, once its head is there. */
	bool has_head;
	uint32_t status, flags;
	unsigned char *body; /* `body_n` of `body_bytes` are there */
	size_t body_n, body_bytes;
	struct viewer_streams streams;
	uint32_t streams_left;
};

struct relay_link *relay_link_create(
		struct viewer *viewer, const struct relay_answers *answers, void *user)
{
	struct relay_link *link = calloc(1, sizeof(*link));

	if (!link) {
		viewer_close(viewer);
		return NULL;
	}
	link->viewer = viewer;
	link->answers = *answers;
	link->user = user;
	link->in = malloc(IN_BYTES);
	link->questions = calloc(ROOM_FIRST, sizeof(*link->questions));
	link->room = ROOM_FIRST;
	if (!link->in || !link->questions) {
		relay_link_destroy(link);
		return NULL;
	}
	return link;
}

void relay_link_destroy(struct relay_link *link)
{
	if (link) {
		viewer_close(link->viewer);
		viewer_streams_release(&link->streams);
		free(link->questions);
		free(link->out);
		free(link->in);
		free(link->body);
		free(link);
	}
}

/* --- Questions --- */

static bool expect_answer(struct relay_link *link, const struct question *question)
{
	if (link->n == link->room) {
		struct question *questions = calloc(2 * (size_t)link->room, sizeof(*questions));

		if (!questions) {
			return false;
		}
		for (uint32_t i = 0; i < link->n; i++) {
			questions[i] = link->questions[(link->first + i) & (link->room - 1)];
		}
		free(link->questions);
		link->questions = questions;
		link->first = 0;
		link->room *= 2;
	}
	link->questions[(link->first + link->n++) & (link->room - 1)] = *question;
	return true;
}

static bool make_room(struct relay_link *link, size_t size)
{
	size_t room = link->out_room ? link->out_room : 4096;
	unsigned char *out;

	if (link->out_at == link->out_n) {
		link->out_at = link->out_n = 0;
	}
	while (room < link->out_n + size) {
		room *= 2;
	}
	if (room == link->out_room) {
		return true;
	}
	out = realloc(link->out, room);
	if (!out) {
		return false;
	}
	link->out = out;
	link->out_room = room;
	return true;
}

static bool ask(struct relay_link *link, const struct question *question, const void *data,
		size_t size)
{
	struct wire_command head = {
			.data_size = htobe64(size),
			.command = htobe32((uint32_t)question->command),
	};

	if (!make_room(link, sizeof(head) + size) || !expect_answer(link, question)) {
		return false;
	}
	memcpy(link->out + link->out_n, &head, sizeof(head));
	memcpy(link->out + link->out_n + sizeof(head), data, size);
	link->out_n += sizeof(head) + size;
	link->due_bytes += question->bytes;
	return true;
}

static bool ask_of(struct relay_link *link, enum wire_commands command, uint64_t number, void *who)
{
	const struct question question = {.command = command, .who = who};

	number = htobe64(number);
	return ask(link, &question, &number, sizeof(number));
}

bool relay_link_ask_index(struct relay_link *link, uint64_t stream, void *who)
{
	return ask_of(link, COMMAND_GET_NEXT_INDEX, stream, who);
}

bool relay_link_ask_metadata(struct relay_link *link, uint64_t stream, void *who)
{
	return ask_of(link, COMMAND_GET_METADATA, stream, who);
}

bool relay_link_ask_streams(struct relay_link *link, uint64_t session)
{
	return ask_of(link, COMMAND_GET_NEW_STREAMS, session, NULL);
}

bool relay_link_ask_packet(struct relay_link *link, uint64_t stream, uint64_t offset,
		uint32_t bytes, void *who)
{
	const struct question question = {
			.command = COMMAND_GET_PACKET, .bytes = bytes, .who = who};
	const struct wire_get_packet data = {
			.stream = htobe64(stream),
			.offset = htobe64(offset),
			.length = htobe32(bytes),
	};

	return ask(link, &question, &data, sizeof(data));
}

/* --- Answers --- */

static struct question *first_question(struct relay_link *link)
{
	return &link->questions[link->first];
}

/* The oldest question is answered: it goes before its owner is told, who may ask more. */
static struct question answered(struct relay_link *link)
{
	struct question question = *first_question(link);

	link->first = (link->first + 1) & (link->room - 1);
	link->n--;
	link->due_bytes -= question.bytes;
	link->has_head = false;
	return question;
}

static size_t head_bytes(enum wire_commands command)
{
	switch (command) {
	case COMMAND_GET_NEXT_INDEX:
		return sizeof(struct wire_index);
	case COMMAND_GET_PACKET:
		return sizeof(struct wire_packet);
	case COMMAND_GET_METADATA:
		return sizeof(struct wire_metadata);
	default:
		return sizeof(struct wire_streams);
	}
}

static enum status told(bool goes_on)
{
	return goes_on ? STATUS_OK : STATUS_INVALID;
}

static enum status take_index(struct relay_link *link, const struct wire_index *wire)
{
	uint64_t packet_bits = be64toh(wire->packet_size);
	struct relay_index index = {
			.status = be32toh(wire->status),
			.flags = be32toh(wire->flags),
			.offset = be64toh(wire->offset),
			.bytes = packet_bits / 8,
			.begin = be64toh(wire->timestamp_begin),
			.end = be64toh(wire->timestamp_end),
	};
	struct question question = answered(link);

	if (index.status == INDEX_OK &&
			(packet_bits % 8 != 0 || packet_bits == 0 ||
					index.bytes > PACKET_MAX_BYTES ||
					be64toh(wire->content_size) > packet_bits)) {
		return STATUS_PROTOCOL;
	}
	return told(link->answers.index(link->user, question.who, &index));
}

/* So many bytes follow a head. */
static enum status begin_body(struct relay_link *link, size_t bytes)
{
	link->body_n = 0;
	link->body_bytes = bytes;
	link->body = bytes ? malloc(bytes) : NULL;
	return bytes && !link->body ? STATUS_NO_MEMORY : STATUS_OK;
}

static enum status begin_packet(struct relay_link *link, const struct wire_packet *wire)
{
	uint32_t length = be32toh(wire->length);

	link->status = be32toh(wire->status);
	link->flags = be32toh(wire->flags);
	if (link->status != PACKET_OK) {
		return begin_body(link, 0);
	}
	if (length != first_question(link)->bytes) {
		return STATUS_PROTOCOL;
	}
	return begin_body(link, length);
}

static enum status begin_metadata(struct relay_link *link, const struct wire_metadata *wire)
{
	uint64_t length = be64toh(wire->length);

	link->status = be32toh(wire->status);
	if (link->status != METADATA_OK) {
		return begin_body(link, 0);
	}
	return length > RELAY_METADATA_BYTES ? STATUS_PROTOCOL : begin_body(link, (size_t)length);
}

static enum status begin_streams(struct relay_link *link, const struct wire_streams *wire)
{
	link->status = be32toh(wire->status);
	link->streams.n = 0;
	link->streams_left = link->status == STREAMS_OK ? be32toh(wire->n_streams) : 0;
	return link->streams_left > VIEWER_MAX_STREAMS ? STATUS_PROTOCOL : STATUS_OK;
}

/* Looks at the head of the oldest question's answer. STATUS_NOT_YET: it is not there. */
static enum status take_head(struct relay_link *link)
{
	enum wire_commands command = first_question(link)->command;
	size_t size = head_bytes(command);
	union {
		struct wire_index index;
		struct wire_packet packet;
		struct wire_metadata metadata;
		struct wire_streams streams;
	} head;

	if (link->in_n - link->in_at < size) {
		return STATUS_NOT_YET;
	}
	memcpy(&head, link->in + link->in_at, size);
	link->in_at += size;
	link->has_head = true;
	switch (command) {
	case COMMAND_GET_NEXT_INDEX:
		return take_index(link, &head.index);
	case COMMAND_GET_PACKET:
		return begin_packet(link, &head.packet);
	case COMMAND_GET_METADATA:
		return begin_metadata(link, &head.metadata);
	default:
		return begin_streams(link, &head.streams);
	}
}

static enum status take_streams(struct relay_link *link)
{
	struct wire_stream wire;

	while (link->streams_left > 0) {
		if (link->in_n - link->in_at < sizeof(wire)) {
			return STATUS_NOT_YET;
		}
		memcpy(&wire, link->in + link->in_at, sizeof(wire));
		link->in_at += sizeof(wire);
		link->streams_left--;
		if (!viewer_streams_add(&link->streams, &wire)) {
			return STATUS_NO_MEMORY;
		}
	}
	answered(link);
	return told(link->answers.streams(link->user, link->status, &link->streams));
}

/* What was received of a body together with other things. */
static void take_part(struct relay_link *link)
{
	size_t part = link->in_n - link->in_at, missing = link->body_bytes - link->body_n;

	part = part < missing ? part : missing;
	if (part > 0) {
		memcpy(link->body + link->body_n, link->in + link->in_at, part);
		link->in_at += part;
		link->body_n += part;
	}
}

static enum status take_body(struct relay_link *link)
{
	unsigned char *bytes;
	struct question question;

	take_part(link);
	if (link->body_n < link->body_bytes) {
		return STATUS_NOT_YET;
	}
	bytes = link->body;
	link->body = NULL;
	question = answered(link);
	if (question.command == COMMAND_GET_PACKET) {
		return told(link->answers.packet(link->user, question.who, link->status,
				link->flags, bytes, link->body_bytes));
	}
	return told(link->answers.metadata(
			link->user, question.who, link->status, bytes, link->body_bytes));
}

/* Hands out all answers that are complete. */
static enum status take_answers(struct relay_link *link)
{
	enum status status = STATUS_OK;

	while (status == STATUS_OK && link->n > 0) {
		if (!link->has_head) {
			status = take_head(link);
		} else if (first_question(link)->command == COMMAND_GET_NEW_STREAMS) {
			status = take_streams(link);
		} else {
			status = take_body(link);
		}
	}
	if (link->n == 0 && link->in_at < link->in_n) {
		return STATUS_PROTOCOL; /* nobody asked for that */
	}
	return status == STATUS_NOT_YET ? STATUS_OK : status;
}

/* --- The socket --- */

enum status relay_link_send(struct relay_link *link)
{
	while (link->out_at < link->out_n) {
		ssize_t n = send(viewer_fd(link->viewer), link->out + link->out_at,
				link->out_n - link->out_at, MSG_NOSIGNAL);

		if (n > 0) {
			link->out_at += (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			return STATUS_OK;
		} else if (n < 0 && errno != EINTR) {
			return STATUS_IO;
		}
	}
	return STATUS_OK;
}

/* Receives once: into a body that is long, and behind it into the buffer. *all: nothing is left. */
static enum status receive(struct relay_link *link, bool *all)
{
	struct iovec parts[2];
	struct msghdr message = {.msg_iov = parts};
	size_t missing = link->body ? link->body_bytes - link->body_n : 0, room;
	ssize_t n;

	memmove(link->in, link->in + link->in_at, link->in_n - link->in_at);
	link->in_n -= link->in_at;
	link->in_at = 0;
	if (missing > 0) {
		parts[message.msg_iovlen++] = (struct iovec){link->body + link->body_n, missing};
	}
	parts[message.msg_iovlen++] = (struct iovec){link->in + link->in_n, IN_BYTES - link->in_n};
	room = missing + IN_BYTES - link->in_n;
	n = recvmsg(viewer_fd(link->viewer), &message, 0);
	if (n == 0) {
		return STATUS_END;
	}
	if (n < 0) {
		*all = true;
		return errno == EAGAIN || errno == EINTR ? STATUS_OK : STATUS_IO;
	}
	*all = (size_t)n < room;
	link->received += (uint64_t)n;
	missing = (size_t)n < missing ? (size_t)n : missing;
	link->body_n += missing;
	link->in_n += (size_t)n - missing;
	return STATUS_OK;
}

/*
 * Relay daemons send the head and the rest of an answer one after the other, and leave it to the
 * kernel to hold back the rest until the head is acknowledged; that may take 40 ms unless it is
 * done at once.
 */
static void acknowledge(const struct relay_link *link)
{
	int one = 1;

	setsockopt(viewer_fd(link->viewer), IPPROTO_TCP, TCP_QUICKACK, &one, sizeof(one));
}

enum status relay_link_turn(struct relay_link *link)
{
	enum status status = relay_link_send(link);
	bool all = false;

	while (status == STATUS_OK && link->n > 0 && !all) {
		status = receive(link, &all);
		if (status == STATUS_OK) {
			status = take_answers(link);
		}
	}
	if (status == STATUS_OK && link->n > 0) {
		acknowledge(link);
	}
	return status;
}

uint32_t relay_link_due(const struct relay_link *link)
{
	return link->n;
}

uint64_t relay_link_due_bytes(const struct relay_link *link)
{
	return link->due_bytes;
}

uint64_t relay_link_received(const struct relay_link *link)
{
	return link->received;
}

int relay_link_fd(const struct relay_link *link)
{
	return viewer_fd(link->viewer);
}

short relay_link_events(const struct relay_link *link)
{
	return link->out_at < link->out_n ? POLLIN | POLLOUT : POLLIN;
}

bool relay_link_may_chain(const struct relay_link *link)
{
	return viewer_version(link->viewer)->chains;
}

const char *relay_link_name(const struct relay_link *link)
{
	return viewer_name(link->viewer);
}
