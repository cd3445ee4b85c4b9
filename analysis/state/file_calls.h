/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_FILE_CALLS_H
#define PT_STATE_FILE_CALLS_H

#include "state/files.h"
#include "state/tcp_header.h"

/*
 * What file_calls.c, call_values.c and socket_calls.c share: values of the entry and the exit of a
 * call that has ended, and fds that it made or used.
 */

/* What is used again and again about the end of a call. */
struct using
{
	struct state_cx *cx;
	struct fds *fds;
	const struct call_end *end;
	struct file_table *table;
	uint64_t now_ns, began_ns;
};

bool call_use(struct using *using, struct state_cx *cx, const struct call_end *end);
const struct field *call_field(const struct using *using, const struct event *event, uint16_t slot);
/* A number among the arguments; false: the trace does not tell it. */
bool call_argument(const struct using *using, uint32_t i, int64_t *value);
int64_t call_argument_or(const struct using *using, uint32_t i, int64_t otherwise);
/* An fd among the arguments: negative if it is not told, or none. */
int32_t call_fd(const struct using *using, uint32_t i);
const char *call_text(const struct using *using, uint32_t i, uint32_t *length);
/* The numbers of an array of an event; 0: there are none, or not that many. */
uint32_t call_numbers(const struct state_cx *cx, const struct event *event, uint16_t slot,
		uint64_t *numbers, uint32_t max);

struct made {
	int64_t number;
	const char *path;
	uint32_t length;
	enum fd_kind kind;
	enum fd_answer close_on_exec, network;
	struct making *origin; /* a reference taken over; NULL: none */
};

/*
 * The call has made an fd. Where another thread's use of it, or the statedump, was seen before the
 * call's end, it is known already: what the call says of it completes that. NULL: no room.
 */
struct fd *fd_make(const struct using *using, const struct made *made);
/* An fd that a call used with success: if nobody told of it, it is there nevertheless. */
struct fd *fd_use(const struct using *using, int32_t number);
/* The two that a call has made, whose first argument is flags. False: none, or one has no room. */
bool fd_make_pair(struct state_cx *cx, const struct call_end *end, enum fd_kind kind,
		struct fd *made[2]);
/* socket_calls.c: is a socket of that family one of networks? */
enum fd_answer fd_network(int64_t family);

/* --- socket_calls.c --------------------------------------------------------------------------- */

void end_socket(struct state_cx *cx, const struct call_end *end);
void end_socketpair(struct state_cx *cx, const struct call_end *end);
void end_listen(struct state_cx *cx, const struct call_end *end);
void end_accept(struct state_cx *cx, const struct call_end *end);
void begin_connect(struct state_cx *cx, struct thread_state *thread, const struct event *entry,
		const uint16_t *in);
void end_connect(struct state_cx *cx, const struct call_end *end);
void begin_send(struct state_cx *cx, struct thread_state *thread, const struct event *entry,
		const uint16_t *in);
void begin_sendfile(struct state_cx *cx, struct thread_state *thread, const struct event *entry,
		const uint16_t *in);
/* The thread's call, which connects, has sent the first packet of a connection. */
void connect_sent(
		struct state_cx *cx, struct thread_state *thread, const struct tcp_header *header);
/* The thread's call, which sends, has sent its first packet. */
void send_sent(struct state_cx *cx, struct thread_state *thread, const struct tcp_header *header);
/* Of calls that do with sockets what no event tells. */
void begin_hidden(struct state_cx *cx, struct thread_state *thread, const struct event *entry,
		const uint16_t *in);

#endif
