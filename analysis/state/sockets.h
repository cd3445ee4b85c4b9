/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_SOCKETS_H
#define PT_STATE_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What LTTng's kernel events tell of connections: who sends and receives on which, and where in its
 * stream of bytes.
 *
 * System calls name descriptors; what is behind one, and the addresses of both ends, is put
 * together from accept, connect, socketpair, what passes descriptors on, and the TCP headers of
 * packets. Where headers are not traced a connection's own port is in no event: then its two ends
 * are named by a number (`linked`), which accept and connect share where only they can be meant.
 *
 * Threads: as the state's.
 */
struct socket_end {
	uint64_t address[2]; /* of IPv6; IPv4 in the form ::ffff:a.b.c.d; first the high half */
	uint32_t port;       /* 0: not known */
};

/* `n`: 4 numbers of 8 bits, or 8 of 16 bits, as addresses are written. */
void socket_end_set_address(struct socket_end *end, const uint64_t *parts, uint32_t n);
bool socket_end_is_loopback(const struct socket_end *end);
/* Of addresses and ports. */
bool socket_end_is(const struct socket_end *end, const struct socket_end *other);

enum socket_action {
	SOCKET_SENDS = 0, /* the call begins */
	SOCKET_RECEIVED,  /* the call has ended; length 0: the other end has closed it */
	SOCKET_CONNECTED, /* likewise; or it goes on without the thread */
	SOCKET_LISTENS,   /* it turned out which port is listened on: own.port */
	SOCKET_RENAMED,   /* it turned out who its ends are: they were `before` */
	SOCKET_UNKNOWN,   /* the thread received something, from whom is not known */
};

/* Both ends of a connection, the one that is told of first. */
struct socket_ends {
	struct socket_end own, peer;
	bool linked; /* addresses are numbers that no other connection of the host has */
};

struct socket_call {
	enum socket_action action;
	uint32_t host;
	int32_t tid; /* -1: nobody's */
	struct socket_ends ends, before;
	bool unix_domain;
	bool accepted;     /* it is a server's */
	bool positioned;   /* position is that of the stream, in the same numbers at both ends */
	uint32_t position; /* of the first byte to be sent, or behind the last one received */
	uint64_t length;   /* of SOCKET_SENDS 0 where the call does not tell it */
	/* Of SOCKET_RECEIVED: bytes last came that long before it ended, and before it began; 0:
	 * they did not, or packets do not tell. */
	uint64_t queued_ns;
};

/* What one event told, in this order. */
#define SOCKET_CALLS_MAX 4u

struct socket_calls {
	uint32_t n;
	struct socket_call items[SOCKET_CALLS_MAX];
};

/* Of all hosts, since the beginning. */
struct socket_counts {
	uint64_t n_accepted;   /* connections */
	uint64_t n_by_headers; /* both ends known by TCP headers */
	uint64_t n_by_order;   /* by no other connection being made at the time */
	uint64_t n_ambiguous;  /* several were */
	uint64_t n_late;       /* known by the packets that calls sent: made before the recording */
	uint64_t n_unknown;    /* descriptors that were used as sockets, and are of nobody known */
	bool tells_headers;    /* packets with TCP headers have come */
};

#endif
