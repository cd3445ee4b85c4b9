/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_FOUND_H
#define PT_REQUESTS_FOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/names.h"
#include "base/number_map.h"

/*
 * What was found of servers (servers.c), and what it rests on, for whoever asks why requests are
 * what they are.
 *
 * Memory: FOUND_MAX servers are counted one by one; of further ones only that there are.
 */
#define FOUND_MAX 64u

struct found_server {
	uint32_t name; /* interned */
	bool by_port;  /* its port is listened on; else its Unix socket has a name */
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
/* A request of a server; `first`: of its connection. */
void found_add(struct found *found, uint32_t name, bool by_port, bool first, bool joined);
/* Is it what requests of a server are called? */
bool found_has(const struct found *found, uint32_t name);
/* In sentences; returns how many, at most `room`. */
uint32_t found_notes(const struct found *found, const struct names *names, struct arena *arena,
		const char **notes, uint32_t room);

#endif
