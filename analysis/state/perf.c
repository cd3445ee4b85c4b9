/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "state/cx.h"
#include "state/perf.h"

/*
 * Perf counters that a tracer adds to events. Those of a kernel count on a CPU: what it counted
 * since its last event goes to the thread that ran there meanwhile. (LTTngTop does the same.)
 */

/* Room for the counter; its total so far is 0. */
static struct attribute *counter_of(
		struct state_cx *cx, struct thread_state *thread, uint32_t index)
{
	struct attribute *grown;

	if (index < thread->n_perf) {
		return &thread->perf[index];
	}
	grown = pool_alloc(&cx->store.pool, cx->n_perf * sizeof(*grown));
	if (!grown) {
		return NULL;
	}
	memset(grown, 0, cx->n_perf * sizeof(*grown));
	if (thread->n_perf > 0) {
		memcpy(grown, thread->perf, thread->n_perf * sizeof(*grown));
	}
	pool_free(&cx->store.pool, thread->perf, thread->n_perf * sizeof(*grown));
	thread->perf = grown;
	thread->n_perf = cx->n_perf;
	return &thread->perf[index];
}

void perf_take(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	const struct stream *stream = &cx->registry->streams[event->stream];
	struct cpu_state *cpu;
	uint32_t i;

	if (stream->desc.domain == DOMAIN_UST) {
		return;
	}
	cpu = state_cpu(cx, stream->host, event->cpu);
	for (i = 0; cpu && i < plan->n_perf; i++) {
		uint32_t index = plan->perf_index[i];
		uint64_t value = event->slots[plan->perf_slots[i]];
		uint64_t last = cpu->perf_last[index];
		struct attribute *counter = NULL;

		if ((cpu->perf_seen >> index & 1) && cpu->current && value > last) {
			counter = counter_of(cx, cpu->current, index);
		}
		if (counter) {
			attribute_add(&cx->store, counter, event->ts_ns, value - last);
		}
		cpu->perf_seen |= 1u << index;
		cpu->perf_last[index] = value;
	}
}
