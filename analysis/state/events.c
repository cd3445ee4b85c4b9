/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "state/events.h"
#include "state/files.h"
#include "state/state_snapshot.h"

/*
 * The original events of the thread or fd in focus: for an fd the calls that made it, which may be
 * older than the window, and those that used it in the window; for a thread what its CPU or itself
 * told while it ran. The newest MAX_EVENTS.
 *
 * Cost: a look at each event of the window, only while somebody asks (FOCUS_EVENTS).
 */
#define MAX_EVENTS  500u
#define MAX_PENDING 64u /* calls on the fd that have not ended at that point */
#define MAX_MAKING  16u
#define NOT_RESOLVED UINT16_MAX
#define NO_TID      (UINT16_MAX - 1)

struct chosen {
	uint64_t number;
	int64_t tid;
	bool older;
};

struct choosing {
	struct state_cx *cx;
	const struct thread_state *thread; /* NULL: an fd is meant */
	const struct fd *fd;
	uint64_t making[MAX_MAKING]; /* numbers of the calls that made it */
	uint32_t n_making;
	int64_t pending[MAX_PENDING];
	uint32_t n_pending;
	uint16_t *tid_slots;              /* by type: where a user-space event tells its thread */
	struct chosen newest[MAX_EVENTS]; /* a ring */
	uint64_t n;
};

static bool is_kernel(const struct state_cx *cx, const struct event *event)
{
	return cx->registry->streams[event->stream].desc.domain == DOMAIN_KERNEL;
}

static uint16_t find_tid(const struct event_type *type)
{
	uint32_t i;

	for (i = 0; i < type->n_fields; i++) {
		if (type->fields[i].scope == SCOPE_CONTEXT &&
				strcmp(type->fields[i].name, "vtid") == 0) {
			return (uint16_t)i;
		}
	}
	return NO_TID;
}

/* The thread that an event is of: the one on its CPU, or the one it names; -1: not known. */
static int64_t tid_of(struct choosing *choosing, const struct event *event)
{
	struct state_cx *cx = choosing->cx;
	const struct host_state *host;
	uint32_t at = event_host(cx, event);
	uint16_t *slot = &choosing->tid_slots[event->type];

	if (is_kernel(cx, event)) {
		host = at < cx->n_hosts ? &cx->hosts[at] : NULL;
		return host && event->cpu < host->n_cpus
				       ? (int64_t)attribute_at(&host->cpus[event->cpu].running,
							 event->ts_ns) -
							 1
				       : -1;
	}
	if (*slot == NOT_RESOLVED) {
		*slot = find_tid(&cx->registry->types[event->type]);
	}
	return *slot == NO_TID ? -1 : (int64_t)event->slots[*slot];
}

static bool is_of_thread(const struct choosing *choosing, const struct event *event, int64_t tid)
{
	const struct thread_state *thread = choosing->thread;

	return event_host(choosing->cx, event) == thread->host && tid > 0 &&
	       (tid == thread->tid || (!is_kernel(choosing->cx, event) && tid == thread->vtid));
}

static bool made_it(const struct choosing *choosing, uint64_t number)
{
	uint32_t i;

	for (i = 0; i < choosing->n_making; i++) {
		if (choosing->making[i] == number) {
			return true;
		}
	}
	return false;
}

/* The exit of a call on the fd whose entry was chosen. */
static bool ends_pending(struct choosing *choosing, const char *name, int64_t tid)
{
	uint32_t i;

	if (!strstr(name, "syscall_exit") && strcmp(name, "exit_syscall") != 0) {
		return false;
	}
	for (i = 0; i < choosing->n_pending; i++) {
		if (choosing->pending[i] == tid) {
			choosing->pending[i] = choosing->pending[--choosing->n_pending];
			return true;
		}
	}
	return false;
}

static bool has_fd_argument(const struct state_plan *plan)
{
	return plan->fd_slot != STATE_NO_FIELD || plan->from_fd_slot != STATE_NO_FIELD ||
	       plan->to_fd_slot != STATE_NO_FIELD;
}

static bool is_argument(const struct event *event, uint16_t slot, int32_t number)
{
	return slot != STATE_NO_FIELD && (int32_t)event->slots[slot] == number;
}

/* Does a thread of the fd's file table begin or end a call on its number? */
static bool is_of_fd(struct choosing *choosing, const struct event *event, int64_t tid)
{
	const struct state_cx *cx = choosing->cx;
	const struct fd *fd = choosing->fd;
	const struct state_plan *plan = event->type < cx->n_plans ? &cx->plans[event->type] : NULL;
	const struct thread_state *thread;

	if (!plan || tid <= 0 || !is_kernel(cx, event) ||
			event_host(cx, event) != fd->table->host || event->ts_ns < fd->known_ns ||
			(fd->closed_ns && event->ts_ns > fd->closed_ns)) {
		return false;
	}
	if (!has_fd_argument(plan)) {
		return ends_pending(choosing, cx->registry->types[event->type].name, tid);
	}
	if (!is_argument(event, plan->fd_slot, fd->number) &&
			!is_argument(event, plan->from_fd_slot, fd->number) &&
			!is_argument(event, plan->to_fd_slot, fd->number)) {
		return false;
	}
	thread = state_find_thread(choosing->cx, fd->table->host, tid);
	if (!thread || thread->files != fd->table) {
		return false;
	}
	if (choosing->n_pending < MAX_PENDING) {
		choosing->pending[choosing->n_pending++] = tid;
	}
	return true;
}

static bool choose(void *context, uint64_t number, const struct event *event, bool older)
{
	struct choosing *choosing = context;
	int64_t tid = tid_of(choosing, event);
	bool wanted = choosing->thread
				      ? is_of_thread(choosing, event, tid)
				      : made_it(choosing, number) || is_of_fd(choosing, event, tid);

	if (wanted) {
		choosing->newest[choosing->n++ % MAX_EVENTS] = (struct chosen){number, tid, older};
	}
	return true;
}

static void find_fd(struct choosing *choosing, uint64_t id)
{
	const struct making *making;

	choosing->fd = fds_by_id(&choosing->cx->files->fds, id);
	making = choosing->fd ? choosing->fd->making : NULL;
	for (; making && choosing->n_making + 2 <= MAX_MAKING; making = making->origin) {
		choosing->making[choosing->n_making++] = making->entry;
		choosing->making[choosing->n_making++] = making->exit;
	}
}

static void find_thread(struct choosing *choosing, uint64_t id)
{
	choosing->thread = choosing->cx->oldest;
	while (choosing->thread && choosing->thread->id != id) {
		choosing->thread = choosing->thread->next;
	}
}

/* "fd = 4, count = 8192": the payload. */
static const char *values(
		struct snapshot *snapshot, const struct event_type *type, const struct event *event)
{
	char text[1024] = "";
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < type->n_fields && used < sizeof(text); i++) {
		if (type->fields[i].scope == SCOPE_PAYLOAD) {
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s = %s",
					used ? ", " : "", type->fields[i].name,
					value_text(snapshot, &type->fields[i], event, i));
		}
	}
	return snapshot_text(snapshot, text);
}

static bool show(const struct choosing *choosing, const struct chosen *chosen,
		struct snapshot *snapshot, struct state_event *out)
{
	const struct registry *registry = choosing->cx->registry;
	struct event event;

	if (!log_get(choosing->cx->log, chosen->number, &event)) {
		return false;
	}
	*out = (struct state_event){.ts_ns = event.ts_ns,
			.host = snapshot_text(snapshot,
					registry->hosts[event_host(choosing->cx, &event)].name),
			.name = snapshot_text(snapshot, registry->types[event.type].name),
			.values = values(snapshot, &registry->types[event.type], &event),
			.cpu = event.cpu,
			.tid = chosen->tid,
			.older = chosen->older};
	return true;
}

static enum status fill(struct choosing *choosing, uint64_t from_ns, uint64_t at_ns,
		struct snapshot *snapshot)
{
	struct state_view *view = &snapshot->state;
	uint64_t i, n;
	struct state_event *out;

	log_each(choosing->cx->log, from_ns, at_ns, choose, choosing);
	n = choosing->n < MAX_EVENTS ? choosing->n : MAX_EVENTS;
	out = snapshot_alloc(snapshot, (n + 1) * sizeof(*out));
	for (i = 0; out && i < n; i++) {
		view->n_events += show(choosing,
				&choosing->newest[(choosing->n - 1 - i) % MAX_EVENTS], snapshot,
				&out[view->n_events]);
	}
	view->events = out;
	return out ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status events_fill(struct state_cx *cx, const struct focus *focus, uint64_t from_ns,
		uint64_t at_ns, struct snapshot *snapshot)
{
	uint32_t n_types = cx->registry->n_types;
	struct choosing *choosing;
	enum status status = STATUS_OK;

	if (!(focus->parts & FOCUS_EVENTS) || (!focus->thread_id && !focus->fd_id)) {
		return STATUS_OK;
	}
	choosing = calloc(1, sizeof(*choosing));
	if (choosing) {
		choosing->cx = cx;
		choosing->tid_slots = malloc((n_types + 1) * sizeof(*choosing->tid_slots));
	}
	if (!choosing || !choosing->tid_slots) {
		free(choosing);
		return STATUS_NO_MEMORY;
	}
	memset(choosing->tid_slots, 0xff, (n_types + 1) * sizeof(*choosing->tid_slots));
	if (focus->fd_id) {
		find_fd(choosing, focus->fd_id);
	} else {
		find_thread(choosing, focus->thread_id);
	}
	if (choosing->fd || choosing->thread) {
		status = fill(choosing, from_ns, at_ns, snapshot);
	}
	free(choosing->tid_slots);
	free(choosing);
	return status;
}
