/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_PATH_NODES_H
#define PT_REQUESTS_PATH_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "requests/path.h"
#include "requests/spans.h"

/* What the walk of a critical path stands on: spans on one clock, and which waited for which. */
#define FAR_NS (INT64_C(1) << 59)

/* A span as the walk sees it; times from the root's start, by the root's clock. */
struct path_node {
	int64_t start_ns, end_ns;
	int64_t shift_ns;            /* from its host's clock to the root's */
	int64_t wait_ns;             /* of a call's callee: when its caller began to wait */
	int64_t gap_from_ns, gap_ns; /* of a call: its longest stretch without own children */
	int64_t cursor_ns;           /* of a call: end of the last of these */
	uint32_t callee;             /* of a call: the one that ended last, of its host */
	uint32_t join;               /* which span could have waited for its end */
	uint32_t jump, height;       /* up the chain of joins, see find_join() */
	uint32_t first, next;        /* those that join it, the last to end first */
	uint32_t outer;              /* while the walk is within a callee: the one around it */
	uint32_t n_pieces;           /* when the walk came in */
	int64_t came_ns;
	bool callee_of_wait; /* its caller's wait is known */
	bool retry;          /* likewise, but another callee of the wait came after it */
	bool is_call;
};

/* What is sorted by: when a span ended, or on which thread it began. */
struct path_key {
	uint64_t major;
	int64_t minor_ns;
	uint32_t index;
};

/* For qsort(). */
int path_compare_keys(const void *a, const void *b);
/* Of all spans: times on the clock of the root, and who joins whom. path->nodes has room. */
void path_set_nodes(struct path *path, const struct spans *spans);

void path_sort_keys(struct path_key *keys, uint32_t n);

/* From the root's start, by the clock of whose it is. */
static inline int64_t path_since(const struct spans *spans, uint64_t ns)
{
	uint64_t start_ns = spans->items[spans->root].start_ns;
	uint64_t apart_ns = ns > start_ns ? ns - start_ns : start_ns - ns;
	int64_t far_ns = apart_ns > (uint64_t)FAR_NS ? FAR_NS : (int64_t)apart_ns;

	return ns > start_ns ? far_ns : -far_ns;
}

/* Points take no time, and of a span whose entry was not seen nobody knows how much. */
static inline bool path_takes_time(const struct span *span)
{
	return !span->point && (span->entry || !span->exit);
}

/* Is the parent of a span the call itself, rather than a span within which a point sent it? */
static inline bool path_is_called(const struct span *span)
{
	return span->cause == span->parent;
}

#endif
