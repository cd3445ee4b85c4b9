/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "requests/engine.h"
#include "requests/feed.h"

/* The key of the thread that an event happened on; false: not known. */
static bool thread_key(struct requests *r, const struct plan *plan, const struct event *event,
		uint32_t host, uint64_t *key)
{
	if (plan->vtid != PLAN_NO_FIELD) {
		uint64_t space = plan->pid_ns != PLAN_NO_FIELD && !plan->vtid_is_host
						 ? event->slots[plan->pid_ns] & UINT32_MAX
						 : THREAD_HOST_NS;

		*key = thread_ns_key(space, event->slots[plan->vtid]);
		if (*key == 0 && plan->vtid_is_host) {
			*key = thread_host_key(0, event->cpu);
		}
		return true;
	}
	if (plan->switches) {
		*key = thread_host_key(event->slots[plan->prev_tid], event->cpu);
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
		thread = threads_get(r->threads, stream->host,
				key >> 32 ? threads_resolve(r->threads, stream->host, key) : key);
		if (!thread) {
			return NULL;
		}
		stream->last_thread = thread;
		stream->last_thread_key = key;
		stream->threads_generation = threads_generation(r->threads);
	}
	if (plan->vpid != PLAN_NO_FIELD && (!thread->state || thread->pid < 0)) {
		thread->pid = (int32_t)event->slots[plan->vpid];
	}
	if (plan->procname != PLAN_NO_FIELD && thread->comm == 0) {
		name_thread(r, thread, event, plan->procname);
	}
	return thread;
}
