/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "state/cx.h"
#include "state/files.h"

/*
 * Threads that come and go: forks, programs that others become, ends; and those that were there
 * before, as the kernel tracer lists them.
 */

#define CLONE_FILES 0x400u
#define COMM_LENGTH 15u
#define KTHREADD    2

/* --- birth and death ------------------------------------------------------------------------- */

enum { FORK_PARENT, FORK_CHILD, FORK_PARENT_PID, FORK_CHILD_PID, FORK_COMM, FORK_NS, FORK_VTIDS };

/* The child returns from the call that its parent is in. */
static void inherit_call(struct thread_state *parent, struct thread_state *child, uint64_t now_ns)
{
	if (parent->call.open) {
		child->call.open = true;
		child->call.inherited = true;
		child->call.name = parent->call.name;
		child->call.type = parent->call.type;
		child->call.ts_ns = now_ns;
	}
}

/* The flags of the call that makes it, where its entry was kept and has them. */
static uint64_t clone_flags(
		struct state_cx *cx, const struct thread_state *parent, bool same_process)
{
	const struct call *call = &parent->call;
	bool is_clone = strcmp(names_text(cx->names, call->name), "clone") == 0;

	if (call->open && call->bytes > 0) {
		const struct event_type *type = &cx->registry->types[call->type];
		uint32_t i;

		for (i = 0; i < type->n_fields; i++) {
			const struct field *field = &type->fields[i];

			if (field->kind <= FIELD_INT &&
					(strcmp(field->name, "clone_flags") == 0 ||
							(is_clone && strcmp(field->name, "flags") ==
											0))) {
				return call->slots[i];
			}
		}
	}
	return same_process ? CLONE_FILES : 0;
}

/* In another pid namespace it has another tid: that is what its user-space events carry. */
static void take_namespace(
		struct state_cx *cx, struct thread_state *thread, uint64_t space, uint64_t vtid)
{
	thread->vtid = (int32_t)vtid;
	if (space != THREAD_HOST_NS && vtid != 0) {
		threads_alias(cx->threads, thread->host, thread_ns_key(space, vtid),
				thread_host_key((uint64_t)thread->tid, 0));
	}
}

/* The innermost vtid of a fork: the last number of an array. */
static uint64_t last_number(const struct event *event, uint16_t slot)
{
	uint32_t length, header[2];
	const char *tree = event_bytes(event, slot, &length);
	uint64_t value = 0;

	if (!tree || length < sizeof(header)) {
		return 0;
	}
	memcpy(header, tree, sizeof(header));
	if (header[0] != TREE_ARRAY || header[1] == 0 ||
			length < sizeof(header) + (uint64_t)header[1] * 16) {
		return 0;
	}
	memcpy(&value, tree + sizeof(header) + (size_t)header[1] * 16 - 8, sizeof(value));
	return value;
}

static void sched_fork(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	uint32_t host = event_host(cx, event);
	int64_t child_tid = field_int(plan, event, FORK_CHILD, 0);
	struct thread_state *parent =
			state_thread(cx, host, field_int(plan, event, FORK_PARENT, 0));
	struct thread_state *child = state_find_thread(cx, host, child_tid);

	if (child) { /* its tid begins anew: the old one's end was not seen */
		thread_die(cx, child, event->ts_ns);
	}
	child = state_thread(cx, host, child_tid);
	if (!child) {
		return;
	}
	child->born_ns = event->ts_ns;
	child->thread->pid = child->pid = (int32_t)field_int(plan, event, FORK_CHILD_PID, -1);
	thread_take_name(cx, child, plan, event, FORK_COMM);
	attribute_set(&cx->store, &child->status, event->ts_ns, THREAD_WAIT_FORK);
	child->fork_number = cx->number;
	log_hold(cx->log, cx->number);
	if (has_field(plan, FORK_NS) && has_field(plan, FORK_VTIDS)) {
		take_namespace(cx, child, (uint64_t)field_int(plan, event, FORK_NS, 0),
				last_number(event, plan->slots[FORK_VTIDS]));
	}
	if (parent) {
		bool same;

		if (parent->pid < 0) {
			parent->thread->pid = parent->pid =
					(int32_t)field_int(plan, event, FORK_PARENT_PID, -1);
		}
		same = child->pid >= 0 && child->pid == parent->pid;
		child->ppid = same ? parent->ppid : parent->pid;
		child->kthread = parent->tid == KTHREADD;
		if (!same) {
			threads_bear_process(cx->threads, host, child->pid, parent->pid,
					parent->call.open ? parent->call.name : 0);
		}
		inherit_call(parent, child, event->ts_ns);
		files_on_fork(cx, parent, child, clone_flags(cx, parent, same));
	}
}

enum { EXEC_TID, EXEC_OLD_TID, EXEC_FILENAME };

/*
 * A thread other than the first of its process takes over the tid of that one, which ends with all
 * others of the process.
 */
static struct thread_state *take_over(struct state_cx *cx, struct thread_state *old, int64_t tid,
		const struct event *event)
{
	struct thread_state *leader = state_find_thread(cx, old->host, tid), *thread;
	uint32_t cpu_number = old->on_cpu;
	struct cpu_state *cpu;

	if (leader) {
		thread_die(cx, leader, event->ts_ns);
	}
	thread = state_thread(cx, old->host, tid);
	if (!thread) {
		return NULL;
	}
	thread->pid = thread->thread->pid = (int32_t)tid;
	thread->ppid = old->ppid;
	files_on_fork(cx, old, thread, CLONE_FILES);
	thread->call = old->call; /* it is in the execve of the old one */
	old->call = (struct call){.open = false};
	old->on_cpu = CPU_NONE;
	cpu = cpu_number != CPU_NONE ? state_cpu(cx, old->host, cpu_number) : NULL;
	if (cpu && cpu->current == old) {
		cpu->current = thread;
		thread->on_cpu = cpu_number;
		threads_switch(cx->threads, old->host, cpu_number,
				thread_host_key((uint64_t)tid, cpu_number));
		attribute_set(&cx->store, &cpu->running, event->ts_ns, (uint64_t)tid + 1);
	}
	thread_die(cx, old, event->ts_ns);
	if (cpu) {
		cpu_changed(cx, cpu, event->ts_ns);
	}
	return thread;
}

static void sched_exec(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	int64_t tid = field_int(plan, event, EXEC_TID, 0);
	int64_t old_tid = field_int(plan, event, EXEC_OLD_TID, tid);
	struct thread_state *thread = state_thread(cx, event_host(cx, event), old_tid);
	const char *path, *base;
	uint32_t length, i;

	if (thread && tid != old_tid) {
		thread = take_over(cx, thread, tid, event);
	}
	if (!thread) {
		return;
	}
	path = has_field(plan, EXEC_FILENAME)
			       ? event_bytes(event, plan->slots[EXEC_FILENAME], &length)
			       : NULL;
	if (path) {
		base = path;
		for (i = 0; i < length; i++) {
			if (path[i] == '/') {
				base = path + i + 1;
			}
		}
		length -= (uint32_t)(base - path);
		thread_name(cx, thread, event->ts_ns, base,
				length > COMM_LENGTH ? COMM_LENGTH : length);
	}
	files_on_exec(cx, thread);
}

static void sched_exit(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread =
			state_thread(cx, event_host(cx, event), field_int(plan, event, 0, 0));

	if (thread) {
		thread->exited = true;
	}
}

/* A tid may be given anew before the kernel frees its last owner: that one's end is not ours. */
static void sched_free(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread =
			state_find_thread(cx, event_host(cx, event), field_int(plan, event, 0, 0));

	if (thread && (thread->exited || thread->born_ns == 0) && thread->on_cpu == CPU_NONE) {
		thread_die(cx, thread, event->ts_ns);
	}
}

/* --- what was there before ------------------------------------------------------------------- */

enum {
	DUMP_TID,
	DUMP_PID,
	DUMP_PPID,
	DUMP_VTID,
	DUMP_VPID,
	DUMP_NAME,
	DUMP_TYPE,
	DUMP_NS,
	DUMP_TABLE
};

/* Fills only what is missing: what was observed since is newer than the list. */
static void dump_process(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = state_thread(
			cx, event_host(cx, event), field_int(plan, event, DUMP_TID, 0));
	uint32_t made_in;

	if (!thread) {
		return;
	}
	cx->hosts[thread->host].statedump = true;
	if (thread->pid < 0) {
		thread->pid = thread->thread->pid = (int32_t)field_int(plan, event, DUMP_PID, -1);
	}
	if (thread->ppid < 0) {
		thread->ppid = (int32_t)field_int(plan, event, DUMP_PPID, -1);
	}
	if (thread->vpid < 0) {
		thread->vpid = (int32_t)field_int(plan, event, DUMP_VPID, -1);
	}
	if (thread->vtid < 0 && has_field(plan, DUMP_NS) && has_field(plan, DUMP_VTID)) {
		take_namespace(cx, thread, (uint64_t)field_int(plan, event, DUMP_NS, 0),
				(uint64_t)field_int(plan, event, DUMP_VTID, 0));
	}
	if (thread->comm.value == 0) {
		thread_take_name(cx, thread, plan, event, DUMP_NAME);
	}
	if (thread->pid >= 0 && thread->ppid >= 0 &&
			!threads_is_child(cx->threads, thread->host, thread->pid, thread->ppid,
					&made_in)) {
		threads_bear_process(cx->threads, thread->host, thread->pid, thread->ppid, 0);
	}
	if (field_int(plan, event, DUMP_TYPE, 0) == 1 && !thread->kthread) {
		thread->kthread = true;
	}
	files_on_statedump(cx, thread, (uint64_t)field_int(plan, event, DUMP_TABLE, 0));
}

/* From lttng-modules 2.12 on, one for each pid namespace that the process is in. */
static void dump_pid_ns(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread =
			state_thread(cx, event_host(cx, event), field_int(plan, event, 0, 0));
	uint64_t space = (uint64_t)field_int(plan, event, 3, 0);

	if (!thread) {
		return;
	}
	if (space != THREAD_HOST_NS && thread->vtid < 0) {
		thread->vpid = (int32_t)field_int(plan, event, 2, -1);
	}
	if (space != THREAD_HOST_NS) {
		take_namespace(cx, thread, space, (uint64_t)field_int(plan, event, 1, 0));
	}
}

const struct state_rule lifecycle_rules[] = {
		{.names = "sched_process_fork",
				.handle = sched_fork,
				.fields = {"parent_tid", "child_tid", "parent_pid", "child_pid",
						"child_comm", "child_ns_inum|ns_inum", "vtids"},
				.required = 2},
		{.names = "sched_process_exec",
				.handle = sched_exec,
				.fields = {"tid|pid", "old_tid|old_pid", "filename"},
				.required = 1},
		{.names = "sched_process_exit",
				.handle = sched_exit,
				.fields = {"tid|pid"},
				.required = 1},
		{.names = "sched_process_free",
				.handle = sched_free,
				.fields = {"tid|pid"},
				.required = 1},
		{.names = "lttng_statedump_process_state",
				.handle = dump_process,
				.fields = {"tid", "pid", "ppid", "vtid", "vpid", "name", "type",
						"ns_inum", "file_table_address"},
				.required = 2},
		{.names = "lttng_statedump_process_pid_ns",
				.handle = dump_pid_ns,
				.fields = {"tid", "vtid", "vpid", "ns_inum"},
				.required = 4},
		{.names = NULL},
};
