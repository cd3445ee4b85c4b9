/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_REQUEST_H
#define PT_REQUESTS_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/snapshot/group.h"

/*
 * A finished request, as the request engine hands it to the groups.
 *
 * `type` and the entries of `path` are interned numbers (names.h, contexts.h), so that finding the
 * group of a request compares numbers. A request is counted by reference where it is kept for
 * drill-down; the request engine alone knows how its events and spans are stored
 * (request_snapshot.c reads them back).
 */
#define REQUEST_MANY_HOSTS (UINT64_C(1) << 63)
#define REQUEST_HOST(host) ((host) < 63 ? UINT64_C(1) << (host) : REQUEST_MANY_HOSTS)

/* Why a request failed. */
enum request_why {
	REQUEST_SOUND = 0,
	REQUEST_ERROR,  /* a span told so */
	REQUEST_CALL,   /* system calls alone did: it may well be as it should */
	REQUEST_NO_END, /* it fell silent, or a span was left without its exit */
	REQUEST_DIED,   /* the thread that worked for it has ended */
	REQUEST_WHY_COUNT
};
#define REQUEST_WHY_NAMES "none", "error", "system call", "no end", "died"

/*
 * Where it began: of the spans that failed, one within which none did: of several the one that
 * ended first. A system call within it that failed last is where it began, if any did. Where calls
 * alone did, it is the first of them, and the others are told, too: which are usual is not known
 * here.
 */
#define REQUEST_MORE_CALLS 3
struct request_failure {
	uint32_t context; /* of the span; 0: not known */
	uint32_t told; /* interned: what its exit told, "status = 5", "ECONNREFUSED"; 0: nothing */
	uint32_t process; /* interned name; 0: not known */
	uint16_t host;    /* where context is not 0 */
	uint8_t why;      /* enum request_why */
	/* REQUEST_CALL: contexts of further calls that failed, each once, as far as there is room.
	 */
	uint8_t n_more;
	uint32_t more[REQUEST_MORE_CALLS];
};

/* Of a finished request that is kept for a while: until when. */
enum request_kept {
	REQUEST_GONE,
	REQUEST_AGING, /* it goes next, but for others that age */
	REQUEST_KEPT,
};

struct request {
	/* What letting go of it touches stands first: by then it is in no cache. */
	uint32_t references;       /* request_keep(), request_drop() */
	uint32_t bytes;            /* memory that goes with it */
	bool compact;              /* all of it is in one piece of these */
	uint64_t id;               /* counts from 1 in the order of completion */
	uint32_t type;             /* interned name of the request's type */
	uint32_t variant;          /* interned; sets apart within the type; 0: nothing does */
	uint32_t group_id;         /* set by the groups, 0 before */
	uint64_t start_ns, end_ns; /* end_ns >= start_ns */
	enum request_state state;
	bool tainted;
	bool skewed;
	uint32_t n_hosts;
	uint64_t hosts; /* a bit for each of them; REQUEST_MANY_HOSTS: others too, or unknown */
	uint32_t n_events, n_spans;
	struct request_failure failure;
	/* The set of skeleton calling contexts visited: ascending, no doubles. */
	uint32_t n_path;
	const uint32_t *path;
};

/* It failed; that a system call did does not say so. */
static inline bool request_failed(const struct request *request)
{
	return request->failure.why != REQUEST_SOUND && request->failure.why != REQUEST_CALL;
}

struct request_pool;

/*
 * Keeps a request: gives it with one more reference, or, where it is small, a copy in one piece
 * with one reference, since what is kept is mostly older than any cache. In the order of keeping
 * these lie beside each other. NULL if out of memory. O(bytes), which are REQUEST_COMPACT_BYTES at
 * most.
 */
#define REQUEST_COMPACT_BYTES 16384u
struct request *request_keep(struct request_pool *pool, struct request *request);
/* Dropping the last reference frees the request. O(its chunks). */
void request_drop(struct request_pool *pool, struct request *request);

#endif
