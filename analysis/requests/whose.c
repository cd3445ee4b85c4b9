/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "requests/internal.h"

#define HOST_PID_NS UINT64_C(0xeffffffc) /* PROC_PID_INIT_INO of Linux: the host's own */

static uint64_t kernel_thread_key(uint64_t tid, uint32_t cpu)
{
	return tid == 0 ? THREAD_IDLE | cpu : (uint32_t)tid;
}

/* The key of the thread that an event happened on; false: not known. */
static bool thread_key(struct requests *r, const struct plan *plan, const struct event *event,
                uint32_t host, uint64_t *key)
{
	if (plan->vtid != PLAN_NO_FIELD) {
		uint64_t space = plan->pid_ns != PLAN_NO_FIELD && !plan->vtid_is_host
		                                 ? event->slots[plan->pid_ns] & UINT32_MAX
		                                 : HOST_PID_NS;

		*key = (uint32_t)event->slots[plan->vtid] |
		       (space == HOST_PID_NS ? 0 : space << 32);
		if (*key == 0 && plan->vtid_is_host) {
			*key = kernel_thread_key(0, event->cpu);
		}
		*key &= ~THREAD_IDLE | (plan->vtid_is_host ? THREAD_IDLE : 0);
		return true;
	}
	if (plan->switches) {
		*key = kernel_thread_key(event->slots[plan->prev_tid], event->cpu);
		return true;
	}
	return threads_current(r->threads, host, event->cpu, key);
}

static void name_thread(struct requests *r, struct thread *thread, const struct event *event,
                uint16_t field)
{
	uint32_t length;
	const char *comm = event_bytes(event, field, &length);
	const char *old;

	if (!comm) {
		return;
	}
	length = (uint32_t)strnlen(comm, length > 64 ? 64 : length);
	old = names_text(r->names, thread->comm);
	if (strncmp(old, comm, length) == 0 && old[length] == '\0') {
		return;
	}
	thread->comm = names_add(r->names, comm, length);
	threads_name_process(r->threads, thread->host, thread->pid >= 0 ? thread->pid : thread->tid,
	                thread->comm);
}

struct thread *feed_thread(struct requests *r, const struct plan *plan, const struct event *event,
                struct stream *stream)
{
	struct thread *thread;
	uint64_t key;

	if (!thread_key(r, plan, event, stream->host, &key)) {
		return NULL;
	}
	if (stream->last_thread && stream->last_thread_key == key &&
	                stream->threads_generation == threads_generation(r->threads)) {
		thread = stream->last_thread;
	} else {
		thread = threads_get(r->threads, stream->host, key);
		if (!thread) {
			return NULL;
		}
		stream->last_thread = thread;
		stream->last_thread_key = key;
		stream->threads_generation = threads_generation(r->threads);
	}
	if (plan->vpid != PLAN_NO_FIELD) {
		thread->pid = (int32_t)event->slots[plan->vpid];
	}
	if (plan->procname != PLAN_NO_FIELD && thread->comm == 0) {
		name_thread(r, thread, event, plan->procname);
	}
	return thread;
}

/* A process that was there before the trace began. What was observed since is not overridden. */
void feed_take_process(struct requests *r, const struct plan *plan, const struct event *event,
                const struct stream *stream)
{
	struct thread *thread = threads_get(r->threads, stream->host,
	                kernel_thread_key(event->slots[plan->named_tid], event->cpu));

	if (thread && thread->pid < 0) {
		thread->pid = (int32_t)event->slots[plan->named_pid];
	}
	if (thread && thread->comm == 0) {
		name_thread(r, thread, event, plan->named_comm);
	}
}

/* After an event was dealt with: what it says of who runs from now on. */
void feed_take_switch(struct requests *r, const struct plan *plan, const struct event *event,
                const struct stream *stream, struct thread *thread)
{
	uint64_t next = kernel_thread_key(event->slots[plan->next_tid], event->cpu);
	struct thread *to;

	if (thread && plan->prev_comm != PLAN_NO_FIELD) {
		name_thread(r, thread, event, plan->prev_comm);
	}
	threads_switch(r->threads, stream->host, event->cpu, next);
	to = threads_get(r->threads, stream->host, next);
	if (to && plan->next_comm != PLAN_NO_FIELD) {
		name_thread(r, to, event, plan->next_comm);
	}
}
