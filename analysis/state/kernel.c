/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "state/cx.h"
#include "state/files.h"
#include "state/socket_table.h"

/*
 * Linux' scheduler, as its events tell: who runs on a CPU, who waits for one, who is blocked and
 * on what. (The states and their transitions are those of Trace Compass' kernel model, Ezzati-
 * Jivan, Montplaisir, Dagenais.)
 */

#define SOFTIRQ_NET_TX  2
#define SOFTIRQ_NET_RX  3
#define SOFTIRQ_BLOCK   4
#define SOFTIRQ_TIMER   1
#define SOFTIRQ_HRTIMER 8
#define WAKER_TOLD_NS   UINT64_C(50000) /* from who wakes a thread to that it is woken, at most */

/* --- sched_switch ---------------------------------------------------------------------------- */

/* What prev_state says (-1: not told): the meaning of its bits depends on the kernel. */
static enum thread_status status_after(const struct switch_states *states, int64_t prev_state)
{
	if (prev_state < 0) {
		return THREAD_UNKNOWN;
	}
	if (prev_state == 0 || (prev_state & states->preempted)) {
		return THREAD_WAIT_CPU;
	}
	return prev_state & states->dead ? THREAD_DEAD : THREAD_BLOCKED;
}

/* Names of calls that tell what they wait for by themselves. */
static bool is_one_of(const char *name, const char *const *names)
{
	uint32_t i;

	for (i = 0; names[i]; i++) {
		if (strcmp(name, names[i]) == 0) {
			return true;
		}
	}
	return false;
}

static enum wait_kind wait_of_fd(struct state_cx *cx, const struct thread_state *thread)
{
	const struct call *call = &thread->call;
	uint16_t slot = cx->plans[call->type].fd_slot;

	if (call->bytes == 0 || slot == STATE_NO_FIELD) {
		return WAIT_OTHER;
	}
	switch (files_kind(cx, thread, (int32_t)call->slots[slot])) {
	case FD_FILE:
		return WAIT_DISK;
	case FD_SOCKET:
		return WAIT_NET;
	default:
		return WAIT_OTHER;
	}
}

/*
 * What a thread that blocks in a call waits for, as far as the call tells; who wakes it will tell
 * more, where the call leaves it open.
 */
static enum wait_kind wait_of(struct state_cx *cx, const struct thread_state *thread)
{
	static const char *const locks[] = {"futex", "futex_waitv", "futex_time64", "semop",
			"semtimedop", "flock", NULL};
	static const char *const timers[] = {
			"nanosleep", "clock_nanosleep", "clock_nanosleep_time64", NULL};
	static const char *const disks[] = {"fsync", "fdatasync", "sync", "syncfs",
			"sync_file_range", "msync", "readahead", NULL};
	static const char *const nets[] = {"recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg",
			"sendmmsg", "accept", "accept4", "connect", NULL};
	const char *name;

	if (!thread->call.open) {
		return WAIT_OTHER;
	}
	name = names_text(cx->names, thread->call.name);
	return is_one_of(name, locks)    ? WAIT_LOCK
	       : is_one_of(name, timers) ? WAIT_TIMER
	       : is_one_of(name, disks)  ? WAIT_DISK
	       : is_one_of(name, nets)   ? WAIT_NET
					 : wait_of_fd(cx, thread);
}

static void switch_out(struct state_cx *cx, struct host_state *host, struct thread_state *prev,
		int64_t prev_state, uint64_t now_ns)
{
	struct thread_what what = {.status = status_after(&host->states, prev_state),
			.syscall = prev->call.open ? prev->call.name : 0};

	if (what.status == THREAD_BLOCKED) {
		what.wait = wait_of(cx, prev);
		prev->call.slept = true;
	}
	prev->on_cpu = CPU_NONE;
	attribute_set(&cx->store, &prev->status, now_ns, what_pack(what));
}

/* What it served of a softirq so far. */
static void switch_softirq_out(
		const struct cpu_state *cpu, struct thread_state *prev, uint64_t now_ns)
{
	struct thread_softirq *softirq = &prev->softirq;

	if (cpu->softirq_depth > 0) {
		*softirq = (struct thread_softirq){.open = true,
				.number = cpu->softirq,
				.ran_ns = now_ns - cpu->softirq_begin_ns,
				.wait_ns = cpu->softirq_wait_ns};
	} else if (softirq->open) {
		softirq->ran_ns += now_ns - softirq->since_ns;
	}
}

/* A thread runs on one CPU: where it was on another, events of that one were lost. */
static void switch_in(struct state_cx *cx, uint32_t host, uint32_t cpu_number,
		struct thread_state *next, uint64_t now_ns)
{
	if (next->on_cpu != CPU_NONE && next->on_cpu != cpu_number) {
		struct cpu_state *other = state_cpu(cx, host, next->on_cpu);

		if (other && other->current == next) {
			cpu_forget(cx, other, now_ns);
		}
	}
	next->on_cpu = cpu_number;
}

static void take_prio(struct state_cx *cx, struct thread_state *thread,
		const struct state_plan *plan, const struct event *event, uint32_t field)
{
	if (has_field(plan, field)) {
		uint64_t prio = PRIO_KNOWN | (uint32_t)event->slots[plan->slots[field]];

		attribute_set(&cx->store, &thread->prio, event->ts_ns, prio);
	}
}

void thread_take_name(struct state_cx *cx, struct thread_state *thread,
		const struct state_plan *plan, const struct event *event, uint32_t field)
{
	uint32_t length;
	const char *comm;

	if (!has_field(plan, field)) {
		return;
	}
	comm = event_bytes(event, plan->slots[field], &length);
	if (comm) {
		thread_name(cx, thread, event->ts_ns, comm, length);
	}
}

enum {
	SWITCH_PREV,
	SWITCH_NEXT,
	SWITCH_STATE,
	SWITCH_PREV_COMM,
	SWITCH_NEXT_COMM,
	SWITCH_PREV_PRIO,
	SWITCH_NEXT_PRIO
};

/* NULL: nobody that can be kept. */
static void take_cpu(struct state_cx *cx, uint32_t host, const struct event *event,
		struct cpu_state *cpu, struct thread_state *next, int64_t next_tid)
{
	if (next) {
		switch_in(cx, host, event->cpu, next, event->ts_ns);
		next->softirq.since_ns = event->ts_ns;
	}
	/* Interrupts do not switch: what is still open here lost its exit. A softirq goes with its
	 * thread, and where it really lost its exit nothing comes of that. */
	cpu->irq_depth = cpu->softirq_depth = 0;
	cpu->in_timer = false;
	cpu->current = next;
	cpu->idle = next_tid == 0;
	threads_switch(cx->threads, host, event->cpu,
			thread_host_key((uint64_t)next_tid, event->cpu));
	attribute_set(&cx->store, &cpu->running, event->ts_ns, (uint64_t)next_tid + 1);
	cpu_changed(cx, cpu, event->ts_ns);
}

static void tell_switch(struct state_cx *cx, struct host_state *host, const struct event *event)
{
	const struct stream *stream = &cx->registry->streams[event->stream];

	if (host->switched_ns == 0 || host->ended) {
		host->since_ns = event->ts_ns;
	}
	host->switched_ns = event->ts_ns;
	host->ended = false;
	if (!cx->registry->sessions[stream->desc.session].desc.ours) {
		host->theirs_ns = event->ts_ns;
	}
}

static void sched_switch(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	uint32_t host = event_host(cx, event);
	int64_t prev_tid = field_int(plan, event, SWITCH_PREV, 0);
	int64_t next_tid = field_int(plan, event, SWITCH_NEXT, 0);
	struct cpu_state *cpu = state_cpu(cx, host, event->cpu);
	struct thread_state *prev = state_thread(cx, host, prev_tid);
	struct thread_state *next;

	if (!cpu) {
		return;
	}
	tell_switch(cx, &cx->hosts[host], event);
	if (cpu->current ? cpu->current != prev : cpu->idle && prev) {
		sockets_miss(cx, host);
	}
	if (cpu->current && cpu->current != prev) {
		thread_lose(cx, cpu->current, event->ts_ns);
	}
	cpu->current = NULL;
	if (prev) {
		switch_softirq_out(cpu, prev, event->ts_ns);
		thread_take_name(cx, prev, plan, event, SWITCH_PREV_COMM);
		take_prio(cx, prev, plan, event, SWITCH_PREV_PRIO);
		switch_out(cx, &cx->hosts[host], prev, field_int(plan, event, SWITCH_STATE, -1),
				event->ts_ns);
	}
	next = state_thread(cx, host, next_tid);
	if (next) {
		thread_take_name(cx, next, plan, event, SWITCH_NEXT_COMM);
		take_prio(cx, next, plan, event, SWITCH_NEXT_PRIO);
	}
	if (cpu->running.value == 0) {
		attribute_mark(&cx->store, &cpu->taken_from, event->ts_ns, (uint64_t)prev_tid + 1);
	}
	take_cpu(cx, host, event, cpu, next, next_tid);
}

/* --- wake-ups -------------------------------------------------------------------------------- */

enum { WAKE_TID, WAKE_COMM, WAKE_PRIO, WAKE_TARGET };

/* Whom the interrupt or timer on the waker's CPU works for. */
static enum wait_kind waker_kind(const struct cpu_state *cpu)
{
	if (cpu->in_timer) {
		return WAIT_TIMER;
	}
	if (cpu->irq_depth > 0 || cpu->softirq_depth == 0) {
		return WAIT_OTHER;
	}
	switch (cpu->softirq) {
	case SOFTIRQ_NET_TX:
	case SOFTIRQ_NET_RX:
		return WAIT_NET;
	case SOFTIRQ_BLOCK:
		return WAIT_DISK;
	case SOFTIRQ_TIMER:
	case SOFTIRQ_HRTIMER:
		return WAIT_TIMER;
	default:
		return WAIT_OTHER;
	}
}

/* What the call left open, the context of the wake-up tells. */
static void refine_wait(struct thread_state *thread, enum wait_kind kind)
{
	struct thread_what what = what_unpack(thread->status.value);

	if (what.status == THREAD_BLOCKED && what.wait == WAIT_OTHER && kind != WAIT_OTHER) {
		what.wait = kind;
		thread->status.value = what_pack(what);
	}
}

static struct thread_state *woken(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	uint32_t host = event_host(cx, event);
	struct thread_state *thread = state_thread(cx, host, field_int(plan, event, WAKE_TID, 0));
	struct cpu_state *cpu = state_cpu(cx, host, event->cpu);

	if (thread && cpu) {
		thread_take_name(cx, thread, plan, event, WAKE_COMM);
		take_prio(cx, thread, plan, event, WAKE_PRIO);
		refine_wait(thread, waker_kind(cpu));
	}
	return thread;
}

static enum interrupt_kind interrupt_of(enum wait_kind kind)
{
	switch (kind) {
	case WAIT_DISK:
		return INTERRUPT_DISK;
	case WAIT_NET:
		return INTERRUPT_NETWORK;
	case WAIT_TIMER:
		return INTERRUPT_TIMER;
	default:
		return INTERRUPT_OTHER;
	}
}

/*
 * The interrupt that wakes a thread. INTERRUPT_NONE: whoever runs does it; so in a softirq for the
 * network that received nothing from outside, as what stays on the host is received while it is
 * sent.
 */
static enum interrupt_kind waking_interrupt(const struct cpu_state *cpu)
{
	enum wait_kind kind = waker_kind(cpu);
	bool nobody = cpu->running.value == 1; /* tid 0 */
	bool softly = cpu->irq_depth == 0 &&
		      (kind == WAIT_DISK || kind == WAIT_TIMER ||
				      (kind == WAIT_NET && cpu->from_outside));

	return cpu->irq_depth > 0 || cpu->in_timer || softly || nobody ? interrupt_of(kind)
								       : INTERRUPT_NONE;
}

/*
 * Who runs when an interrupt or a timer wakes a thread has nothing to do with it. Where only some
 * processes are recorded, the recorder tells who wakes theirs.
 */
static void set_waker(struct state_cx *cx, struct thread_state *thread, const struct event *event)
{
	const struct thread_state *waker = state_current(cx, event);
	struct cpu_state *cpu = state_cpu(cx, event_host(cx, event), event->cpu);
	enum interrupt_kind kind = cpu ? waking_interrupt(cpu) : INTERRUPT_NONE;
	bool told = waker && waker != thread && cpu && kind == INTERRUPT_NONE;
	uint64_t value = waker_pack(told ? waker->tid : -1, kind);

	if (cpu && cpu->waker) {
		value = event->ts_ns - cpu->waker_ns < WAKER_TOLD_NS ? cpu->waker : value;
		cpu->waker = 0;
	}
	if (waker_interrupt(value) == INTERRUPT_OTHER) {
		/* The call tells, in which the thread is blocked. */
		value = waker_pack(-1, interrupt_of(what_unpack(thread->status.value).wait));
	}
	attribute_set(&cx->store, &thread->waker, event->ts_ns, value);
}

static void enqueue(struct state_cx *cx, struct thread_state *thread, uint64_t now_ns)
{
	struct thread_what what = what_unpack(thread->status.value);

	if (thread->on_cpu == CPU_NONE && what.status != THREAD_WAIT_CPU) {
		what.status = THREAD_WAIT_CPU;
		what.wait = WAIT_OTHER;
		what.woken = true;
		attribute_set(&cx->store, &thread->status, now_ns, what_pack(what));
	}
}

/*
 * It is woken, on the waker's CPU: from now on it waits for a CPU only. sched_wakeup comes when it
 * is on a run queue, maybe later and on that queue's CPU; it counts where sched_waking is missing.
 */
static void sched_waking(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = woken(cx, plan, event);

	if (thread) {
		set_waker(cx, thread, event);
		enqueue(cx, thread, event->ts_ns);
	}
}

static void sched_wakeup(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = woken(cx, plan, event);

	if (thread) {
		if (!cx->has_waking) {
			set_waker(cx, thread, event);
		}
		enqueue(cx, thread, event->ts_ns);
	}
}

enum { MIGRATE_TID, MIGRATE_COMM, MIGRATE_FROM };

static void sched_migrate(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = state_thread(
			cx, event_host(cx, event), field_int(plan, event, MIGRATE_TID, 0));

	if (thread) {
		thread_take_name(cx, thread, plan, event, MIGRATE_COMM);
		attribute_add(&cx->store, &thread->migrations, event->ts_ns, 1);
		if (has_field(plan, MIGRATE_FROM)) {
			attribute_mark(&cx->store, &thread->moved_from, event->ts_ns,
					event->slots[plan->slots[MIGRATE_FROM]] + 1);
		}
	}
}

static void sched_setprio(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread =
			state_thread(cx, event_host(cx, event), field_int(plan, event, 0, 0));

	if (thread) {
		take_prio(cx, thread, plan, event, 1);
	}
}

/* --- CPUs ------------------------------------------------------------------------------------ */

static void power_frequency(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct cpu_state *cpu = state_cpu(
			cx, event_host(cx, event), (uint32_t)field_int(plan, event, 1, event->cpu));

	if (cpu) {
		attribute_set(&cx->store, &cpu->frequency_khz, event->ts_ns,
				event->slots[plan->slots[0]]);
	}
}

/* The recorder tells nothing more of the CPU until it runs a process that is recorded. */
static void cpu_left(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct cpu_state *cpu = state_cpu(cx, event_host(cx, event), event->cpu);

	(void)plan;
	if (cpu) {
		cpu_forget(cx, cpu, event->ts_ns);
	}
}

/* A thread runs that the CPU was not told to run: since when, nobody knows. */
static void cpu_taken(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	uint32_t host = event_host(cx, event);
	int64_t tid = field_int(plan, event, 0, 0);
	struct cpu_state *cpu = state_cpu(cx, host, event->cpu);
	struct thread_state *thread = state_thread(cx, host, tid);

	if (!cpu || !thread || cpu->current == thread) {
		return;
	}
	if (cpu->current) {
		thread_lose(cx, cpu->current, event->ts_ns);
	}
	thread_take_name(cx, thread, plan, event, 1);
	take_cpu(cx, host, event, cpu, thread, tid);
}

enum { WAKER_TID, WAKER_COMM, WAKER_INTERRUPT };

/* Who is about to wake a thread, on a CPU of which the recorder has not told whom it runs. */
static void told_waker(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	/* In the order of events.def of the probe. */
	static const enum interrupt_kind kinds[] = {INTERRUPT_NONE, INTERRUPT_TIMER, INTERRUPT_DISK,
			INTERRUPT_NETWORK, INTERRUPT_OTHER};
	uint32_t host = event_host(cx, event);
	int64_t tid = field_int(plan, event, WAKER_TID, -1);
	uint64_t kind = (uint64_t)field_int(plan, event, WAKER_INTERRUPT, 0);
	struct cpu_state *cpu = state_cpu(cx, host, event->cpu);
	struct thread_state *thread = tid > 0 ? state_thread(cx, host, tid) : NULL;

	if (thread) {
		thread_take_name(cx, thread, plan, event, WAKER_COMM);
	}
	if (cpu) {
		cpu->waker = waker_pack(thread ? thread->tid : -1,
				kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[kind]
									: INTERRUPT_OTHER);
		cpu->waker_ns = event->ts_ns;
	}
}

const struct state_rule kernel_rules[] = {
		{.names = "sched_switch",
				.handle = sched_switch,
				.fields = {"prev_tid|prev_pid", "next_tid|next_pid", "prev_state",
						"prev_comm", "next_comm", "prev_prio", "next_prio"},
				.required = 2},
		{.names = "pythiatop_cpu_left", .handle = cpu_left},
		{.names = "pythiatop_cpu_taken",
				.handle = cpu_taken,
				.fields = {"tid", "comm"},
				.required = 1},
		{.names = "pythiatop_waker",
				.handle = told_waker,
				.fields = {"tid", "comm", "interrupt"},
				.required = 1},
		{.names = "sched_waking",
				.handle = sched_waking,
				.fields = {"tid|pid", "comm", "prio", "target_cpu"},
				.required = 1},
		{.names = "sched_wakeup|sched_wakeup_new",
				.handle = sched_wakeup,
				.fields = {"tid|pid", "comm", "prio", "target_cpu"},
				.required = 1},
		{.names = "sched_migrate_task",
				.handle = sched_migrate,
				.fields = {"tid|pid", "comm", "orig_cpu"},
				.required = 1},
		{.names = "sched_pi_setprio",
				.handle = sched_setprio,
				.fields = {"tid|pid", "newprio"},
				.required = 2},
		{.names = "power_cpu_frequency|cpu_frequency",
				.handle = power_frequency,
				.fields = {"state|frequency", "cpu_id|cpu"},
				.required = 1},
		{.names = NULL},
};
