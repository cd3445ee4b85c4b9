/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "state/calls.h"
#include "state/cx.h"

/*
 * System calls: attributed through the thread that the CPU runs, open from entry to exit.
 *
 * A call is counted when it ends, with the thread that entered it. What a child of fork returns
 * from is its parent's call, and is not counted; so is an exit whose entry was not seen.
 */

#define MAX_ENTRY_BYTES 4096u
#define MAX_ERRNO       4095
#define MAX_ROWS        10000u
#define ROW_SLOTS       32768u /* half of them can be used by callers */

static bool is_error(int64_t ret)
{
	return ret < 0 && ret >= -MAX_ERRNO;
}

void call_close(struct state_cx *cx, struct call *call)
{
	if (call->open && call->number) {
		log_release(cx->log, call->number);
	}
	call->open = call->inherited = false;
	call->number = 0;
	call->bytes = 0;
}

/* A copy of the entry, in memory that the thread keeps for its next calls. */
static void keep_entry(struct state_cx *cx, struct call *call, const struct event *event)
{
	if (event->bytes == 0 || event->bytes > MAX_ENTRY_BYTES) {
		return;
	}
	if (event->bytes > call->room) {
		uint32_t room = 128;
		uint64_t *slots;

		while (room < event->bytes) {
			room *= 2;
		}
		slots = pool_alloc(&cx->store.pool, room);
		if (!slots) {
			return;
		}
		pool_free(&cx->store.pool, call->slots, call->room);
		call->slots = slots;
		call->room = room;
	}
	memcpy(call->slots, event->slots, event->bytes);
	call->bytes = event->bytes;
}

void calls_entry(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = state_current(cx, event);
	struct call *call;

	if (!thread) {
		cx->no_use = true;
		return;
	}
	call = &thread->call;
	call_close(cx, call); /* its exit was lost */
	call->open = true;
	call->name = plan->call;
	call->type = event->type;
	call->ts_ns = event->ts_ns;
	call->number = cx->number;
	log_hold(cx->log, call->number);
	call->slept = call->sends = call->sent = false;
	call->n_syns = 0;
	keep_entry(cx, call, event);
	cpu_changed(cx, &cx->hosts[thread->host].cpus[event->cpu], event->ts_ns);
	if (plan->call_rule && plan->call_rule->begin) {
		plan->call_rule->begin(cx, thread, event, plan->slots_call);
	}
}

static void tell_end(struct state_cx *cx, struct thread_state *thread,
		const struct state_plan *plan, const struct event *event, int64_t ret)
{
	const struct call *call = &thread->call;
	const struct state_plan *entered = &cx->plans[call->type];
	const struct event entry = {.ts_ns = call->ts_ns,
			.type = call->type,
			.stream = event->stream,
			.cpu = event->cpu,
			.bytes = call->bytes,
			.slots = call->slots};
	const struct call_end end = {.thread = thread,
			.call = call,
			.exit = event,
			.entry = call->bytes > 0 ? &entry : NULL,
			.in = entered->slots_call,
			.out = plan->slots_call,
			.ret = ret};

	entered->call_rule->end(cx, &end);
}

static void count_call(struct state_cx *cx, const struct thread_state *thread,
		const struct event *event, int64_t ret)
{
	const struct call *call = &thread->call;
	struct call_record *record =
			series_push(&cx->store, &cx->calls, sizeof(*record), event->ts_ns);

	if (record) {
		record->duration_ns = event->ts_ns - call->ts_ns;
		record->name = call->name;
		record->process = (uint32_t)thread->comm.value;
		record->host = thread->host;
		record->tid = thread->tid;
		record->pid = thread->pid;
		record->failed = is_error(ret);
	}
}

/* "unknown" is what a tracer calls those it has no name for, and "" an exit of any. */
static bool ends(struct state_cx *cx, const struct call *call, uint32_t exit_name)
{
	return exit_name == 0 || exit_name == call->name ||
	       strcmp(names_text(cx->names, exit_name), "unknown") == 0 ||
	       strcmp(names_text(cx->names, call->name), "unknown") == 0;
}

void calls_exit(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct thread_state *thread = state_current(cx, event);
	int64_t ret = field_int(plan, event, 0, 0);

	if (!thread) {
		cx->no_use = true;
		return;
	}
	if (thread->call.open && ends(cx, &thread->call, plan->call)) {
		if (!thread->call.inherited) {
			count_call(cx, thread, event, ret);
		}
		if (cx->plans[thread->call.type].call_rule &&
				cx->plans[thread->call.type].call_rule->end) {
			tell_end(cx, thread, plan, event, ret);
		}
	}
	call_close(cx, &thread->call);
	cpu_changed(cx, &cx->hosts[thread->host].cpus[event->cpu], event->ts_ns);
}

/* --- the table ------------------------------------------------------------------------------- */

/* Calls of one name by one process of a host: a row, until it is shown. */
struct row {
	uint32_t host, name, process;
	bool summed; /* over all callers */
	int64_t pid, tid;
	uint64_t count, errors, total_ns, min_ns, max_ns, running;
	double mean, m2; /* Welford 1962 */
};

struct rows {
	struct row *items;
	uint32_t n, room;
	uint32_t slots[ROW_SLOTS]; /* by hash: the row, plus 1; 0: none */
};

/* NULL: no memory, or no room: beyond the bound callers of their own are left out, sums are not. */
static struct row *add_row(struct rows *rows, const struct row *like)
{
	uint32_t most = like->summed ? ROW_SLOTS - 1 : ROW_SLOTS / 2;

	if (rows->n >= most || !array_reserve(&rows->items, &rows->room, rows->n + 1)) {
		return NULL;
	}
	rows->items[rows->n] = *like;
	rows->items[rows->n].min_ns = UINT64_MAX;
	return &rows->items[rows->n++];
}

static struct row *find_row(struct rows *rows, const struct row *like)
{
	uint64_t key = hash_pair((uint64_t)like->name << 32 | like->host,
			like->summed ? 0 : (uint64_t)like->tid + 2);
	uint32_t at = (uint32_t)key & (ROW_SLOTS - 1);
	struct row *row;

	for (; rows->slots[at]; at = (at + 1) & (ROW_SLOTS - 1)) {
		row = &rows->items[rows->slots[at] - 1];
		if (row->name == like->name && row->host == like->host && row->tid == like->tid &&
				row->summed == like->summed) {
			return row;
		}
	}
	row = add_row(rows, like);
	if (row) {
		rows->slots[at] = rows->n;
	}
	return row;
}

static void count_row(struct rows *rows, const struct row *like, const struct call_record *record)
{
	struct row *row = find_row(rows, like);
	double delta;

	if (!row) {
		return;
	}
	row->count++;
	row->errors += record->failed;
	row->total_ns += record->duration_ns;
	row->min_ns = record->duration_ns < row->min_ns ? record->duration_ns : row->min_ns;
	row->max_ns = record->duration_ns > row->max_ns ? record->duration_ns : row->max_ns;
	delta = (double)record->duration_ns - row->mean;
	row->mean += delta / (double)row->count;
	row->m2 += delta * ((double)record->duration_ns - row->mean);
}

static void count_running(
		struct state_cx *cx, struct rows *rows, uint64_t at_ns, uint64_t thread_id)
{
	const struct thread_state *thread;

	for (thread = cx->oldest; thread; thread = thread->next) {
		struct thread_what what = what_unpack(attribute_at(&thread->status, at_ns));
		struct row like = {.host = thread->host,
				.name = what.syscall,
				.process = (uint32_t)attribute_at(&thread->comm, at_ns),
				.pid = thread->pid,
				.tid = thread->tid};
		struct row *row;

		if (what.syscall == 0 || what.status == THREAD_DEAD ||
				(thread_id && thread->id != thread_id)) {
			continue;
		}
		row = find_row(rows, &like);
		if (row) {
			row->running++;
		}
		if (!thread_id) {
			like.summed = true;
			like.pid = like.tid = -1;
			like.process = 0;
			row = find_row(rows, &like);
			if (row) {
				row->running++;
			}
		}
	}
}

/* Of the same time by name, not by which name came first: that differs where streams are merged. */
static int compare_rows(const void *a, const void *b, void *names)
{
	const struct row *x = a, *y = b;

	if (x->summed != y->summed) {
		return x->summed ? -1 : 1;
	}
	if (x->total_ns != y->total_ns) {
		return x->total_ns < y->total_ns ? 1 : -1;
	}
	if (x->host != y->host) {
		return x->host < y->host ? -1 : 1;
	}
	if (x->tid != y->tid) {
		return x->tid < y->tid ? -1 : 1;
	}
	return strcmp(names_text(names, x->name), names_text(names, y->name));
}

static const struct thread_state *find_by_id(const struct state_cx *cx, uint64_t id)
{
	const struct thread_state *thread = id ? cx->oldest : NULL;

	while (thread && thread->id != id) {
		thread = thread->next;
	}
	return thread;
}

static void collect(struct state_cx *cx, struct rows *rows, uint64_t thread_id, uint64_t from_ns,
		uint64_t at_ns)
{
	const struct thread_state *only = find_by_id(cx, thread_id);
	uint32_t i = series_from(&cx->calls, from_ns + 1);

	for (; i < cx->calls.n; i++) {
		const struct call_record *record = series_at(&cx->calls, i);
		struct row like = {.host = record->host,
				.name = record->name,
				.process = record->process,
				.pid = record->pid,
				.tid = record->tid};

		if (record->end_ns > at_ns) {
			break;
		}
		if (thread_id &&
				(!only || record->tid != only->tid || record->host != only->host)) {
			continue;
		}
		count_row(rows, &like, record);
		if (!thread_id) {
			like.summed = true;
			like.pid = like.tid = -1;
			like.process = 0;
			count_row(rows, &like, record);
		}
	}
	count_running(cx, rows, at_ns, thread_id);
}

/* Of a sum of squares of differences from the mean; 0 below two values. */
static double sd_of(double m2, uint64_t n)
{
	return n > 1 && m2 > 0 ? sqrt(m2 / (double)(n - 1)) : 0;
}

static void show_row(const struct state_cx *cx, const struct row *row, struct state_syscall *out)
{
	*out = (struct state_syscall){.host = cx->registry->hosts[row->host].name,
			.name = names_text(cx->names, row->name),
			.process = names_text(cx->names, row->process),
			.pid = row->pid,
			.tid = row->tid,
			.count = row->count,
			.errors = row->errors,
			.total_ns = row->total_ns,
			.min_ns = row->count ? row->min_ns : 0,
			.max_ns = row->max_ns,
			.running = row->running,
			.summed = row->summed,
			.mean_ns = row->mean,
			.sd_ns = sd_of(row->m2, row->count)};
}

enum status calls_fill(struct state_cx *cx, const struct focus *focus, uint64_t from_ns,
		uint64_t at_ns, struct snapshot *snapshot)
{
	struct state_view *view = &snapshot->state;
	struct state_syscall *out;
	struct rows *rows = calloc(1, sizeof(*rows));
	uint32_t i;

	if (!rows) {
		return STATUS_NO_MEMORY;
	}
	collect(cx, rows, focus->thread_id, from_ns, at_ns);
	if (rows->n > 0) {
		qsort_r(rows->items, rows->n, sizeof(*rows->items), compare_rows, cx->names);
	}
	view->n_syscalls = rows->n < MAX_ROWS ? rows->n : MAX_ROWS;
	out = snapshot_alloc(snapshot, (view->n_syscalls + 1) * sizeof(*out));
	for (i = 0; out && i < view->n_syscalls; i++) {
		show_row(cx, &rows->items[i], &out[i]);
		out[i].name = snapshot_text(snapshot, out[i].name);
		out[i].process = snapshot_text(snapshot, out[i].process);
		out[i].host = snapshot_text(snapshot, out[i].host);
	}
	view->syscalls = out;
	free(rows->items);
	free(rows);
	return out ? STATUS_OK : STATUS_NO_MEMORY;
}
