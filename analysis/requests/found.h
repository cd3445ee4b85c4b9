/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_FOUND_H
#define PT_REQUESTS_FOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/names.h"
#include "base/number_map.h"
#include "state/sockets.h"

/*
 * What was found of servers (servers.c), and what it rests on, for whoever asks why requests are
 * what they are.
 *
 * Memory: FOUND_MAX servers are counted one by one; of further ones only that there are.
 */
#define FOUND_MAX 64u
/* Where activations would end: so many requests over Unix sockets a second, for so many seconds. */
#define FOUND_LEAST         50u
#define FOUND_LEAST_SECONDS 3u

/* Why it is a server. */
enum found_why {
	FOUND_LISTENS = 0, /* its port is listened on */
	FOUND_NAMED,       /* its Unix socket has a name */
	FOUND_ACCEPTS, /* it accepts connections, at a port that no event tells, or a Unix socket */
};

/* What names both ends of a connection. */
enum found_by {
	FOUND_BY_ADDRESS = 0, /* and the position in the stream */
	FOUND_BY_PACKETS,     /* addresses that packets told, late: no positions */
	FOUND_BY_INODE,
	FOUND_BY_ORDER, /* of connect and accept */
	FOUND_BY_COUNT
};

struct found_server {
	uint32_t name;              /* interned */
	uint8_t why;                /* enum found_why */
	uint8_t by;                 /* a bit for each enum found_by */
	uint64_t n_held;            /* requests that were left out, with so few of them */
	uint64_t second;            /* of the last one of these */
	uint32_t in_second, n_busy; /* seconds before that had enough, in a row */
	uint64_t n_connections, n_requests;
	uint64_t n_joined; /* requests of which it is known which call led to them */
};

struct found {
	struct number_map by_name; /* index, FOUND_MAX for those beyond */
	struct found_server servers[FOUND_MAX];
	uint32_t n;
	uint64_t n_calls, n_unseen; /* calls that ended, and those of them whose callee was not seen
				     */
	uint64_t n_shared;    /* requests on connections that calls of several requests share */
	uint64_t n_pipelined; /* requests that were sent before the one before was answered */
	uint64_t n_several;   /* receives of what a client had sent in several pieces */
	uint64_t n_ambiguous; /* hand-overs of which nobody knows what was handed on */
};

void found_release(struct found *found);
struct found_request {
	uint32_t name;
	enum found_why why;
	enum found_by by;
	bool first; /* of its connection */
	bool joined;
};
void found_add(struct found *found, const struct found_request *request);
/* A request of a server that may be left out: are there too few of them still? */
bool found_hold(struct found *found, const struct found_request *request, uint64_t now_ns);
/* Is it what requests of a server are called? */
bool found_has(const struct found *found, uint32_t name);
/* In sentences; returns how many, at most `room`. `told`: by system calls and packets;
 * NULL: nothing. */
uint32_t found_notes(const struct found *found, const struct socket_counts *told,
		const struct names *names, struct arena *arena, const char **notes, uint32_t room);

#endif
