/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state/thread_io.h"

/*
 * Pages that threads take from the kernel's page allocator and give back: what a CPU does for the
 * thread it runs, interrupts on it included, as nobody can tell them apart.
 */

enum { PAGES_ORDER };

static uint64_t pages_of(const struct state_plan *plan, const struct event *event)
{
	int64_t order = field_int(plan, event, PAGES_ORDER, 0);

	return order >= 0 && order < 32 ? UINT64_C(1) << order : 1;
}

static void pages_alloc(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = state_current(cx, event);
	struct thread_io *io = thread ? thread_io_get(cx, thread) : NULL;

	if (io) {
		attribute_add(&cx->store, &io->pages_allocated, event->ts_ns,
				pages_of(plan, event));
	}
}

static void pages_free(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = state_current(cx, event);
	struct thread_io *io = thread ? thread_io_get(cx, thread) : NULL;

	if (io) {
		attribute_add(&cx->store, &io->pages_freed, event->ts_ns, pages_of(plan, event));
	}
}

const struct state_rule pages_rules[] = {
		{.names = "kmem_mm_page_alloc|mm_page_alloc",
				.handle = pages_alloc,
				.fields = {"order"}},
		{.names = "kmem_mm_page_free|mm_page_free|kmem_mm_page_free_direct",
				.handle = pages_free,
				.fields = {"order"}},
		{.names = NULL},
};
