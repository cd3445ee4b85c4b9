/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state/thread_io.h"

#define WAY_SHIFT  56
#define BYTES_MASK ((UINT64_C(1) << WAY_SHIFT) - 1)

struct thread_io *thread_io_get(struct state_cx *cx, struct thread_state *thread)
{
	thread->io_ns = cx->now_ns;
	if (!thread->io) {
		thread->io = pool_alloc(&cx->store.pool, sizeof(*thread->io));
		if (thread->io) {
			*thread->io = (struct thread_io){.ops = {.ring = NULL}};
		} else {
			cx->store.failed++;
		}
	}
	return thread->io;
}

void thread_io_add(struct state_cx *cx, struct thread_state *thread, enum io_way way,
		uint64_t bytes, uint64_t duration_ns)
{
	struct thread_io *io = thread_io_get(cx, thread);
	struct io_op *op = io ? series_push(&cx->store, &io->ops, sizeof(*op), cx->now_ns) : NULL;

	if (op) {
		op->way_bytes = (uint64_t)way << WAY_SHIFT | (bytes & BYTES_MASK);
		op->duration_ns = duration_ns;
	}
}

void thread_io_expire(struct state_cx *cx, struct thread_state *thread)
{
	if (thread->io) {
		series_expire(&cx->store, &thread->io->ops);
		attribute_expire(&cx->store, &thread->io->pages_allocated);
		attribute_expire(&cx->store, &thread->io->pages_freed);
	}
}

void thread_io_release(struct state_cx *cx, struct thread_state *thread)
{
	if (thread->io) {
		series_release(&cx->store, &thread->io->ops);
		attribute_release(&cx->store, &thread->io->pages_allocated);
		attribute_release(&cx->store, &thread->io->pages_freed);
		pool_free(&cx->store.pool, thread->io, sizeof(*thread->io));
		thread->io = NULL;
	}
}

/* The part of (begin, end] that lies in (from, to]. */
static uint64_t cut(uint64_t begin_ns, uint64_t end_ns, uint64_t from_ns, uint64_t to_ns)
{
	begin_ns = begin_ns < from_ns ? from_ns : begin_ns;
	end_ns = end_ns > to_ns ? to_ns : end_ns;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

void thread_io_sum(const struct thread_state *thread, uint64_t from_ns, uint64_t to_ns,
		struct io_sums *out)
{
	uint32_t i;

	*out = (struct io_sums){.duration_ns = 0};
	if (!thread->io) {
		return;
	}
	for (i = series_from(&thread->io->ops, from_ns + 1); i < thread->io->ops.n; i++) {
		const struct io_op *op = series_at(&thread->io->ops, i);

		out->duration_ns += cut(op->at_ns - op->duration_ns, op->at_ns, from_ns, to_ns);
		if (op->at_ns <= to_ns) {
			out->bytes[op->way_bytes >> WAY_SHIFT] += op->way_bytes & BYTES_MASK;
		} else if (op->at_ns - op->duration_ns <= to_ns && op->duration_ns > 0) {
			return; /* a thread is in one call at a time: later ones began later */
		}
	}
}
