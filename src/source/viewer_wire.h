/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_VIEWER_WIRE_H
#define PT_SOURCE_VIEWER_WIRE_H

#include <stdint.h>

/*
 * What viewers and relay daemons send each other: big-endian, packed. Described in LTTng-tools'
 * lttng-viewer-abi.h and doc/live-reading-protocol.txt.
 */
#define WIRE_MAJOR         2
#define WIRE_PATH_BYTES    4096
#define WIRE_HOST_BYTES    64
#define WIRE_NAME_BYTES    255
#define WIRE_NAME_MAX      4096 /* of a name that tells its length: more is no name */
#define WIRE_COMMAND_BYTES (sizeof(struct wire_command) + sizeof(struct wire_connect))

enum wire_commands {
	COMMAND_CONNECT = 1,
	COMMAND_LIST_SESSIONS = 2,
	COMMAND_ATTACH_SESSION = 3,
	COMMAND_GET_NEXT_INDEX = 4,
	COMMAND_GET_PACKET = 5,
	COMMAND_GET_METADATA = 6,
	COMMAND_GET_NEW_STREAMS = 7,
	COMMAND_CREATE_SESSION = 8,
};

enum { CLIENT_COMMANDS = 1, SEEK_LAST = 2, CREATE_OK = 1 };
enum attach_answer { ATTACH_OK = 1, ATTACH_ALREADY, ATTACH_UNKNOWN, ATTACH_NOT_LIVE };
enum index_answer {
	INDEX_OK = 1,
	INDEX_RETRY,    /* none so far */
	INDEX_HUP,      /* none will come */
	INDEX_ERROR,    /* the stream is not known, or its files cannot be read */
	INDEX_INACTIVE, /* none, and nothing was before timestamp_end */
	INDEX_EOF,
};
enum packet_answer { PACKET_OK = 1, PACKET_RETRY, PACKET_ERROR, PACKET_EOF };
enum metadata_answer { METADATA_OK = 1, METADATA_NONE_NEW, METADATA_ERROR };
enum streams_answer { STREAMS_OK = 1, STREAMS_NONE_NEW, STREAMS_ERROR, STREAMS_HUP };

/* Of indexes and packets: ask for these as well. */
enum { FLAG_NEW_METADATA = 1, FLAG_NEW_STREAMS = 2 };

struct wire_command {
	uint64_t data_size;
	uint32_t command, version;
} __attribute__((packed));

struct wire_connect {
	uint64_t viewer_session;
	uint32_t major, minor, type;
} __attribute__((packed));

struct wire_session {
	uint64_t id;
	uint32_t live_timer, clients, streams;
} __attribute__((packed));

/* What follows it before 2.15 ... */
struct wire_names {
	char host[WIRE_HOST_BYTES];
	char name[WIRE_NAME_BYTES];
} __attribute__((packed));

/* ... and since: so many bytes of both follow, without a zero. */
struct wire_name_lengths {
	uint32_t host, name;
	uint32_t format; /* 0: CTF 1.8, 1: CTF 2; the metadata says so, too */
} __attribute__((packed));

struct wire_attach {
	uint64_t session, offset;
	uint32_t seek;
} __attribute__((packed));

/* Of attaching, and of asking for new streams; so many struct wire_stream follow. */
struct wire_streams {
	uint32_t status, n_streams;
} __attribute__((packed));

struct wire_stream {
	uint64_t id, trace;
	uint32_t is_metadata;
	char path[WIRE_PATH_BYTES];
	char channel[WIRE_NAME_BYTES];
} __attribute__((packed));

struct wire_index {
	uint64_t offset;                    /* bytes in the stream's file */
	uint64_t packet_size, content_size; /* bits */
	uint64_t timestamp_begin, timestamp_end;
	uint64_t events_discarded, stream_class;
	uint32_t status, flags;
} __attribute__((packed));

struct wire_get_packet {
	uint64_t stream, offset;
	uint32_t length;
} __attribute__((packed));

/* So many bytes follow. */
struct wire_packet {
	uint32_t status, length, flags;
} __attribute__((packed));

struct wire_metadata {
	uint64_t length;
	uint32_t status;
} __attribute__((packed));

#endif
