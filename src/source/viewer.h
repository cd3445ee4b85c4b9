/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_VIEWER_H
#define PT_SOURCE_VIEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/status.h"

/*
 * A small viewer of a relay daemon, beside libbabeltrace2's: it lists the sessions, and looks at
 * the metadata of one. The library's own listing can hang for ever, and its connecting has no
 * timeout.
 *
 * The protocol is that of LTTng-tools 2.4 and later (lttng-viewer-abi.h): big-endian, packed.
 * Every answer must be there within `timeout_ms` of the question; counts and sizes in it are
 * limited, so a peer that lies costs time and memory within bounds only.
 *
 * Threads: one per viewer. Memory: VIEWER_MAX_SESSIONS entries; further sessions are an error.
 */
#define VIEWER_MAX_SESSIONS 4096
#define VIEWER_MAX_STREAMS  65536
#define VIEWER_NAME_BYTES   255

struct viewer; /* opaque: a connection */

struct viewer_session {
	uint64_t id;
	uint32_t live_timer_us; /* 0: not a live session */
	uint32_t viewers, streams;
	char host[VIEWER_NAME_BYTES + 1]; /* what is longer is cut */
	char name[VIEWER_NAME_BYTES + 1];
};

struct viewer_list {
	struct viewer_session *sessions; /* owned by the list's owner: viewer_list_release() */
	uint32_t n;
};

/* A sentence about what went wrong: it names the relay daemon and what to do. */
struct viewer_fault {
	char text[640];
};

/*
 * Connects and shakes hands. STATUS_NOT_FOUND: no such host. STATUS_IO: nobody listens, or the
 * network fails. STATUS_TIMEOUT: no answer. STATUS_PROTOCOL: what answers is no relay daemon (or
 * not at its port for viewers).
 */
enum status viewer_connect(struct viewer **viewer, const char *relay, uint16_t port, int timeout_ms,
		struct viewer_fault *fault);
void viewer_close(struct viewer *viewer);

/* The sessions as listed now. The list is overwritten; release it in any case. */
enum status viewer_list(
		struct viewer *viewer, struct viewer_list *list, struct viewer_fault *fault);
void viewer_list_release(struct viewer_list *list);

/*
 * The protocol that is spoken is what both sides know; newer relay daemons speak older ones as
 * well. What differs from 2.4 to 2.VIEWER_MINOR, as far as it is of concern here:
 */
#define VIEWER_MINOR 15u
struct viewer_version {
	uint32_t minor;     /* from this one on */
	bool chains;        /* relay_link_may_chain() */
	bool counted_names; /* the names of sessions tell their lengths */
};
const struct viewer_version *viewer_version(const struct viewer *viewer);

struct wire_stream;

struct viewer_stream {
	uint64_t id, trace;
	bool is_metadata;
	char channel[VIEWER_NAME_BYTES + 1];
};

struct viewer_streams {
	struct viewer_stream *streams; /* viewer_streams_release() */
	uint32_t n, room;
};

/* False if out of memory. */
bool viewer_streams_add(struct viewer_streams *list, const struct wire_stream *wire);
void viewer_streams_release(struct viewer_streams *list);

/*
 * Attaches to the session, at the newest data. The list is overwritten; release it in any case.
 * STATUS_BUSY: another viewer is attached. STATUS_NOT_FOUND: the session is gone.
 */
enum status viewer_attach(struct viewer *viewer, uint64_t session, struct viewer_streams *streams,
		struct viewer_fault *fault);

/* The connection, non-blocking, for whoever asks several things at once: see relay_link.h. */
int viewer_fd(const struct viewer *viewer);
const char *viewer_name(const struct viewer *viewer); /* of the relay daemon, for people */

/*
 * Attaches to the session and reads the first bytes of the first metadata that it has. Closing the
 * viewer detaches. STATUS_BUSY: another viewer is attached. STATUS_NOT_FOUND: the session is gone.
 * STATUS_NOT_YET: it has no metadata so far.
 */
enum status viewer_peek_metadata(struct viewer *viewer, uint64_t session, unsigned char *bytes,
		size_t room, size_t *size, struct viewer_fault *fault);

#endif
