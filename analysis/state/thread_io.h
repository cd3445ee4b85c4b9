/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_THREAD_IO_H
#define PT_STATE_THREAD_IO_H

#include "state/cx.h"

/*
 * What a thread read and wrote, of the window: by system calls (and of that over IP sockets), and
 * by block requests it issued; and the pages it took and gave back.
 *
 * Memory: of the store, 24 bytes an operation and 16 a page event of the window.
 */
enum io_way {
	IO_READ = 0,
	IO_WRITE,
	IO_NET_READ, /* of a network too */
	IO_NET_WRITE,
	IO_DISK_READ, /* not by a call: by the block layer, later */
	IO_DISK_WRITE,
};

struct thread_io {
	struct series ops;                             /* struct io_op */
	struct attribute pages_allocated, pages_freed; /* running totals */
};

struct io_op {
	uint64_t at_ns;       /* when it ended */
	uint64_t way_bytes;   /* enum io_way << 56 | bytes */
	uint64_t duration_ns; /* of the call; 0 for the block layer */
};

/* For something that it does now. NULL: out of memory (counted). */
struct thread_io *thread_io_get(struct state_cx *cx, struct thread_state *thread);
void thread_io_add(struct state_cx *cx, struct thread_state *thread, enum io_way way,
		uint64_t bytes, uint64_t duration_ns);
void thread_io_expire(struct state_cx *cx, struct thread_state *thread);
void thread_io_release(struct state_cx *cx, struct thread_state *thread);

struct io_sums {
	uint64_t bytes[IO_DISK_WRITE + 1];
	uint64_t duration_ns; /* of calls that had ended, cut at the ends of the window */
};
/* What ended in (from, to]; durations are of what lies between. */
void thread_io_sum(const struct thread_state *thread, uint64_t from_ns, uint64_t to_ns,
		struct io_sums *out);

#endif
