/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_PATH_H
#define PT_REQUESTS_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "requests/spans.h"

/*
 * The critical path of one request: what its duration consisted of. A pure function of its spans,
 * and of what the kernel told of their threads.
 *
 * Walks back from the end of the root, always to the predecessor that finished last: within a span
 * to the child that ended last before, at a child's start to what caused it. A span that outlives
 * its parent is a predecessor of the nearest ancestor that outlives it. (Yang & Miller, "Critical
 * path analysis for the execution of parallel and distributed programs", ICDCS 1988; backwards as
 * Chow et al., "The Mystery Machine", OSDI 2014; wake-ups as Giraldeau & Dagenais, "Wait analysis
 * of distributed systems using kernel tracing", TPDS 2016.)
 *
 * A root that is paired by a key ends within whatever its threads do: spans of the thread that ended
 * it, or that it began on, which are open then and end later worked for it until then.
 *
 * A thread that waits in a call, woken by nobody who works for the request (an interrupt, or a callee
 * that answers when its span is over), waited for what the call called.
 *
 * Where the kernel tells of wake-ups, the end of a child on another thread counts only if the
 * span's own thread was blocked then; the path goes on in the span of the request that woke it.
 *
 * Between hosts clocks differ, so that only durations are compared: what the caller waited beyond
 * the callee's duration is one piece, placed before the callee. A callee that took longer than the
 * caller waited is scaled to the wait. The wait is the longest stretch of the call's span without a
 * child on its own thread; where a point sends, it lasts until the message's last event on that
 * thread. Callees of one call on one host that follow each other are retries: the pauses between
 * them count as transit. A message without an answer is followed by the clocks, as it comes.
 *
 * Units: ns. The pieces add up to the root's duration exactly, whatever the input; points take no
 * time, nor do spans whose entry was not seen. Cost: O(n log n) in spans, and in the changes of the
 * threads' status on the path. Memory: of the largest request; at most PATH_MAX_PIECES pieces,
 * beyond which a span's time is no longer told apart by what its thread did.
 */
#define PATH_MAX_PIECES 65536u

enum path_what {
	PATH_SELF = 0, /* the span itself worked */
	PATH_WAIT,     /* sent, but not begun */
	PATH_TRANSIT,  /* of the caller: between hosts */
	PATH_RUNNABLE, /* its thread waited for a CPU, which others had */
	PATH_WAKING,   /* likewise, and the CPU was idle: it takes its time to wake up */
	PATH_BLOCKED,  /* its thread was blocked */
};

struct path_piece {
	uint32_t span; /* index of struct spans */
	uint8_t what;  /* enum path_what */
	uint32_t on;   /* interned: what it was blocked on; else 0 */
	uint64_t ns;   /* above 0 */
	int32_t waker_tid; /* of PATH_BLOCKED: who ended it, none of the request; -1: not known */
};

/* What a thread did just before an instant, and since when. */
struct path_doing {
	uint8_t what; /* PATH_SELF, PATH_RUNNABLE, PATH_WAKING, PATH_BLOCKED */
	bool sure;    /* false: PATH_SELF for want of anything better */
	uint32_t on;
	uint64_t since_ns;
	int32_t waker_tid; /* of PATH_BLOCKED: who woke it, at its end; -1: not known */
};

/* What the kernel told of the thread of a span; false: nothing. */
struct path_kernel {
	void *context;
	bool wakes; /* it tells of wake-ups */
	bool (*doing)(void *context, const struct span *span, uint64_t before_ns,
			struct path_doing *out);
};

struct path_node;
struct path_key;

/* Scratch that is used again; the result of the last path_find(). */
struct path {
	uint32_t n, room;
	struct path_piece *pieces; /* by time, without gaps */
	/* A callee took longer than its caller's wait, or began before a message without an answer
	 * was sent; by how much, at most. */
	bool skewed;
	uint64_t skew_ns;

	struct path_node *nodes;
	struct path_key *keys;
	uint32_t node_room;
};

void path_release(struct path *path);
/* `kernel` may be NULL. False if out of memory. */
bool path_find(struct path *path, const struct spans *spans, const struct path_kernel *kernel);
/* The same of a root that has an entry, and beside it points without links alone: several times as
 * fast. Its pieces are of span 0. */
bool path_find_alone(struct path *path, const struct span *root, const struct path_kernel *kernel);

#endif
