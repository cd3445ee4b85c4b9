/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/hash.h"
#include "state/state_snapshot.h"
#include "state/cx.h"

/*
 * What user space tells of itself. Its spans are the request engine's (struct thread.top); here
 * are the names that its statedump gives.
 */

/* Once per process, when tracing of it begins: from then on it has a name. */
static void procname(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	uint32_t length;
	const char *name = has_field(plan, 0) ? event_bytes(event, plan->slots[0], &length) : NULL;

	if (name && plan->vpid != STATE_NO_FIELD) {
		length = (uint32_t)strnlen(name, length);
		threads_name_process(cx->threads, event_host(cx, event),
				(int64_t)event->slots[plan->vpid],
				names_add(cx->names, name, length));
	}
}

const struct state_rule users_rules[] = {
		{.names = "lttng_ust_statedump:procname",
				.handle = procname,
				.fields = {"procname"}},
		{.names = NULL},
};

/* --- what is shown --------------------------------------------------------------------------- */

void fill_stack(const struct state_cx *cx, const struct thread *thread, uint64_t at_ns,
		struct snapshot *snapshot, struct state_thread *out)
{
	if (at_ns < cx->now_ns || !thread->top) {
		return;
	}
	out->stack_depth = thread->n_open;
	out->context = snapshot_text(snapshot, names_text(cx->names, cx->innermost(thread)));
}

struct users_fill {
	struct state_cx *cx;
	uint64_t at_ns;
	struct snapshot *snapshot;
	struct state_thread *out;
	uint32_t n;
};

static void show_user(void *context, struct thread *thread)
{
	struct users_fill *fill = context;
	struct state_thread *out = &fill->out[fill->n];
	uint32_t name = thread->comm;
	bool inside = thread->key >> 32 != 0; /* of another pid namespace */

	if (thread->state || (thread->key & THREAD_IDLE)) {
		return;
	}
	fill->n++;
	if (!name) {
		name = threads_process_name(fill->cx->threads, thread->host,
				thread->pid >= 0 ? thread->pid : thread->tid);
	}
	/* Its own tids are not the host's: which these are is not known. */
	*out = (struct state_thread){.id = hash_pair(thread->key, thread->host) | UINT64_C(1) << 63,
			.host = snapshot_text(fill->snapshot,
					fill->cx->registry->hosts[thread->host].name),
			.tid = inside ? -1 : thread->tid,
			.pid = inside ? -1 : thread->pid,
			.ppid = -1,
			.vtid = inside ? thread->tid : -1,
			.vpid = inside ? thread->pid : -1,
			.name = snapshot_text(fill->snapshot, names_text(fill->cx->names, name)),
			.syscall = "",
			.waits_for = "",
			.context = "",
			.waker_tid = -1};
	fill_stack(fill->cx, thread, fill->at_ns, fill->snapshot, out);
}

uint32_t fill_users(struct state_cx *cx, uint64_t at_ns, struct snapshot *snapshot,
		struct state_thread *out)
{
	struct users_fill fill = {.cx = cx, .at_ns = at_ns, .snapshot = snapshot, .out = out};

	threads_each(cx->threads, show_user, &fill);
	return fill.n;
}
