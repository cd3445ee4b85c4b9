/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state/calls.h"
#include "state/cx.h"
#include "state/files.h"

/* What it holds of others; its past stays. */
void thread_end(struct state_cx *cx, struct thread_state *thread, uint64_t now_ns)
{
	struct cpu_state *cpu = thread->on_cpu != CPU_NONE
						? state_cpu(cx, thread->host, thread->on_cpu)
						: NULL;

	if (cpu && cpu->current == thread) {
		cpu_forget(cx, cpu, now_ns);
	}
	call_close(cx, &thread->call);
	pool_free(&cx->store.pool, thread->call.slots, thread->call.room);
	thread->call = (struct call){.open = false};
	files_on_free(cx, thread);
	if (thread->fork_number) {
		log_release(cx->log, thread->fork_number);
		thread->fork_number = 0;
	}
	thread->dead_ns = now_ns;
	thread->thread->state = NULL;
	thread->thread = NULL;
}

void thread_die(struct state_cx *cx, struct thread_state *thread, uint64_t now_ns)
{
	struct thread *shared = thread->thread;

	attribute_set(&cx->store, &thread->status, now_ns, THREAD_DEAD);
	thread_end(cx, thread, now_ns);
	threads_remove(cx->threads, shared);
}
