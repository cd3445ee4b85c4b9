/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "state/cx.h"

/* Which CPU and which thread an event is about, and what a CPU does for whom. */
#define MAX_CPUS 8192u

/* --- CPUs ------------------------------------------------------------------------------------ */

static enum cpu_mode mode_of(const struct cpu_state *cpu)
{
	if (cpu->irq_depth > 0) {
		return CPU_IRQ;
	}
	if (cpu->softirq_depth > 0) {
		return CPU_SOFTIRQ;
	}
	if (cpu->current) {
		return cpu->current->call.open || cpu->current->kthread ? CPU_SYSCALL : CPU_USER;
	}
	return cpu->idle ? CPU_IDLE : CPU_UNKNOWN;
}

void cpu_changed(struct state_cx *cx, struct cpu_state *cpu, uint64_t now_ns)
{
	enum cpu_mode mode = mode_of(cpu);
	struct thread_state *thread = cpu->current;

	attribute_set(&cx->store, &cpu->mode, now_ns, mode);
	if (thread) {
		struct thread_what what = {.syscall = thread->call.open ? thread->call.name : 0};

		what.status = mode == CPU_IRQ || mode == CPU_SOFTIRQ ? THREAD_INTERRUPTED
			      : mode == CPU_SYSCALL                  ? THREAD_RUN_SYSCALL
								     : THREAD_RUN_USER;
		attribute_set(&cx->store, &thread->status, now_ns, what_pack(what));
	}
}

void thread_lose(struct state_cx *cx, struct thread_state *thread, uint64_t now_ns)
{
	thread->on_cpu = CPU_NONE;
	thread->uncertain = true;
	attribute_set(&cx->store, &thread->status, now_ns, THREAD_UNKNOWN);
}

void cpu_forget(struct state_cx *cx, struct cpu_state *cpu, uint64_t now_ns)
{
	if (cpu->current) {
		thread_lose(cx, cpu->current, now_ns);
	}
	cpu->current = NULL;
	cpu->idle = false;
	cpu->irq_depth = cpu->softirq_depth = 0;
	cpu->in_timer = false;
	attribute_set(&cx->store, &cpu->running, now_ns, 0);
	cpu_changed(cx, cpu, now_ns);
}

/*
 * prev_state of sched_switch: before Linux 4.14 the raw state of the task, in which a bit that
 * moved with every new state means preempted; since then reporting bits of their own.
 * (include/linux/sched.h of these releases.)
 */
static struct switch_states states_of(const char *release)
{
	unsigned int major = 0, minor = 0;
	uint32_t version;

	if (sscanf(release, "%u.%u", &major, &minor) != 2) {
		return (struct switch_states){.preempted = 0x100, .dead = 0x30};
	}
	version = major * 1000 + minor;
	if (version >= 4014) {
		return (struct switch_states){.preempted = 0x100, .dead = 0x30};
	}
	return (struct switch_states){.preempted = version >= 4008   ? 4096
						   : version >= 4002 ? 2048
						   : version >= 3009 ? 1024
								     : 512,
			.dead = 16 | 32 | 64};
}

static const char *release_of(const struct registry *registry, uint32_t host)
{
	uint32_t i;

	for (i = 0; i < registry->n_streams; i++) {
		const struct stream *stream = &registry->streams[i];

		if (stream->host == host && stream->desc.domain == DOMAIN_KERNEL &&
				stream->desc.kernel_release[0] != '\0') {
			return stream->desc.kernel_release;
		}
	}
	return "";
}

struct cpu_state *state_cpu(struct state_cx *cx, uint32_t host, uint32_t cpu)
{
	struct host_state *on = &cx->hosts[host];

	if (cpu >= MAX_CPUS) {
		return NULL;
	}
	if (cpu >= on->n_cpus) {
		bool first = on->n_cpus == 0;

		if (!array_extend(&on->cpus, &on->n_cpus, cpu + 1)) {
			return NULL;
		}
		if (first) {
			on->states = states_of(release_of(cx->registry, host));
		}
	}
	if (on->cpus[cpu].first_ns == 0) {
		on->cpus[cpu].first_ns = cx->now_ns;
	}
	return &on->cpus[cpu];
}

/* --- threads --------------------------------------------------------------------------------- */

struct thread_state *state_find_thread(struct state_cx *cx, uint32_t host, int64_t tid)
{
	struct thread *thread;

	if (tid <= 0 || tid > INT32_MAX) {
		return NULL;
	}
	thread = threads_find(cx->threads, host, (uint64_t)tid);
	return thread ? thread->state : NULL;
}

struct thread_state *state_thread(struct state_cx *cx, uint32_t host, int64_t tid)
{
	struct thread *thread;
	struct thread_state *state;

	if (tid <= 0 || tid > INT32_MAX) {
		return NULL;
	}
	thread = threads_get(cx->threads, host, (uint64_t)tid);
	if (!thread || thread->state) {
		return thread ? thread->state : NULL;
	}
	state = pool_alloc(&cx->store.pool, sizeof(*state));
	if (!state) {
		return NULL;
	}
	*state = (struct thread_state){.thread = thread,
			.prev = cx->newest,
			.id = ++cx->last_id,
			.first_ns = cx->now_ns,
			.host = host,
			.tid = (int32_t)tid,
			.pid = thread->pid,
			.ppid = -1,
			.vtid = -1,
			.vpid = -1,
			.on_cpu = CPU_NONE};
	*(cx->newest ? &cx->newest->next : &cx->oldest) = state;
	cx->newest = state;
	thread->state = state;
	attribute_set(&cx->store, &state->comm, cx->now_ns, thread->comm);
	return state;
}

struct thread_state *state_current(struct state_cx *cx, const struct event *event)
{
	struct cpu_state *cpu = state_cpu(cx, event_host(cx, event), event->cpu);
	const struct state_plan *plan = &cx->plans[event->type];
	struct thread_state *thread;

	if (!cpu || cpu->current || cpu->idle || plan->ctx_tid == STATE_NO_FIELD) {
		return cpu ? cpu->current : NULL;
	}
	/* Nobody saw it begin to run, but the event says who does. */
	thread = state_thread(cx, event_host(cx, event), (int64_t)event->slots[plan->ctx_tid]);
	if (thread && thread->on_cpu == CPU_NONE) {
		cpu->current = thread;
		thread->on_cpu = event->cpu;
		attribute_set(&cx->store, &cpu->running, event->ts_ns, (uint64_t)thread->tid + 1);
		cpu_changed(cx, cpu, event->ts_ns);
	}
	return cpu->current;
}

void thread_name(struct state_cx *cx, struct thread_state *thread, uint64_t at_ns, const char *comm,
		uint32_t length)
{
	const char *old = names_text(cx->names, (uint32_t)thread->comm.value);
	uint32_t name;

	length = (uint32_t)strnlen(comm, length > 64 ? 64 : length);
	if (strncmp(old, comm, length) == 0 && old[length] == '\0') {
		return;
	}
	name = names_add(cx->names, comm, length);
	attribute_set(&cx->store, &thread->comm, at_ns, name);
	if (thread->thread) {
		thread->thread->comm = name;
	}
	if (thread->pid < 0 || thread->pid == thread->tid) {
		threads_name_process(cx->threads, thread->host, thread->tid, name);
	} else if (!threads_process_name(cx->threads, thread->host, thread->pid)) {
		threads_name_process(cx->threads, thread->host, thread->pid, name);
	}
}

const char *state_process_name(
		const struct state_cx *cx, const struct thread_state *thread, uint64_t at_ns)
{
	uint32_t name = threads_process_name(
			cx->threads, thread->host, thread->pid >= 0 ? thread->pid : thread->tid);

	return names_text(cx->names, name ? name : (uint32_t)attribute_at(&thread->comm, at_ns));
}
