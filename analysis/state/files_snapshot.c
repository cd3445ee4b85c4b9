/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "state/files.h"
#include "state/thread_io.h"

#define MAX_ROWS 10000u /* of fds in a snapshot: those with most bytes */

/* --- of all fds ------------------------------------------------------------------------------ */

struct row {
	const struct fd *fd;
	struct fd_at at;
};

struct rows {
	struct row *items;
	uint32_t n, room;
	bool failed;
};

static uint64_t window_bytes(const struct row *row)
{
	return row->at.window_read_bytes + row->at.window_write_bytes;
}

static uint64_t total_bytes(const struct row *row)
{
	return row->at.total.read_bytes + row->at.total.write_bytes;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->at.open != y->at.open) {
		return x->at.open ? -1 : 1;
	}
	if (window_bytes(x) != window_bytes(y)) {
		return window_bytes(x) < window_bytes(y) ? 1 : -1;
	}
	if (total_bytes(x) != total_bytes(y)) {
		return total_bytes(x) < total_bytes(y) ? 1 : -1;
	}
	return x->fd->id < y->fd->id ? -1 : 1;
}

/* Keeps the best half of a full buffer, so that memory is bounded however many fds there are. */
static bool make_room(struct rows *rows)
{
	uint32_t room = rows->room ? rows->room * 2 : 256;
	struct row *items;

	if (rows->n == 2 * MAX_ROWS) {
		qsort(rows->items, rows->n, sizeof(*rows->items), compare_rows);
		rows->n = MAX_ROWS;
		return true;
	}
	room = room > 2 * MAX_ROWS ? 2 * MAX_ROWS : room;
	items = realloc(rows->items, room * sizeof(*items));
	if (!items) {
		rows->failed = true;
		return false;
	}
	rows->items = items;
	rows->room = room;
	return true;
}

static void add_row(struct rows *rows, const struct fd *fd, uint64_t from_ns, uint64_t at_ns)
{
	struct fd_at at;

	if (fd_at(fd, from_ns, at_ns, &at) && (rows->n < rows->room || make_room(rows))) {
		rows->items[rows->n++] = (struct row){.fd = fd, .at = at};
	}
}

/* `wanted`: those of its number alone, which may have had several lives in the window; NULL: all.
 */
static void add_list(struct rows *rows, const struct fd *fd, const struct fd *wanted,
		uint64_t from_ns, uint64_t at_ns)
{
	for (; fd; fd = fd->next) {
		if (!wanted || fd->number == wanted->number) {
			add_row(rows, fd, from_ns, at_ns);
		}
	}
}

static void add_table(struct rows *rows, const struct file_table *table, const struct fd *wanted,
		uint64_t from_ns, uint64_t at_ns)
{
	add_list(rows, table->open_first, wanted, from_ns, at_ns);
	add_list(rows, table->closed_first, wanted, from_ns, at_ns);
}

static const struct thread_state *find_thread(const struct state_cx *cx, uint64_t id)
{
	const struct thread_state *thread = cx->oldest;

	while (thread && thread->id != id) {
		thread = thread->next;
	}
	return thread;
}

static void collect(struct rows *rows, const struct state_cx *cx, const struct focus *focus,
		uint64_t from_ns, uint64_t at_ns)
{
	const struct file_table *table;

	if (focus->fd_id) {
		const struct fd *fd = fds_by_id(&cx->files->fds, focus->fd_id);

		if (fd) {
			add_table(rows, fd->table, fd, from_ns, at_ns);
		}
		return;
	}
	if (focus->thread_id) {
		const struct thread_state *thread = find_thread(cx, focus->thread_id);

		if (thread && thread->files) {
			add_table(rows, thread->files, NULL, from_ns, at_ns);
		}
		return;
	}
	for (table = cx->files->fds.tables; table; table = table->next) {
		add_table(rows, table, NULL, from_ns, at_ns);
	}
}

static const char *process_of(
		const struct state_cx *cx, const struct file_table *table, uint64_t at_ns)
{
	return table->owner ? state_process_name(cx, table->owner, at_ns)
			    : names_text(cx->names, table->name);
}

static void show(const struct state_cx *cx, const struct row *row, uint64_t at_ns,
		struct snapshot *snapshot, struct state_fd *out)
{
	const struct fd *fd = row->fd;
	const struct file_table *table = fd->table;

	*out = (struct state_fd){
			.id = fd->id,
			.host = snapshot_text(snapshot, cx->registry->hosts[table->host].name),
			.pid = table->owner ? table->owner->pid : table->pid,
			.process = snapshot_text(snapshot, process_of(cx, table, at_ns)),
			.fd = fd->number,
			.path = snapshot_text(snapshot, row->at.path),
			.kind = (enum fd_kind)fd->kind,
			.confidence = (enum fd_confidence)fd->confidence,
			.open = row->at.open,
			.uncertain = files_uncertain(cx->files, fd, at_ns),
			.opened_ns = fd->opened_ns,
			.closed_ns = row->at.open ? 0 : fd->closed_ns,
			.read_bytes = row->at.total.read_bytes,
			.write_bytes = row->at.total.write_bytes,
			.reads = row->at.total.reads,
			.writes = row->at.total.writes,
			.read_ns = row->at.total.read_ns,
			.write_ns = row->at.total.write_ns,
			.window_read_bytes = row->at.window_read_bytes,
			.window_write_bytes = row->at.window_write_bytes,
	};
	if (out->pid < 0 && table->owner) {
		out->pid = table->owner->tid; /* its process is not known: at least whose it is */
	}
}

enum status files_fill(struct state_cx *cx, const struct focus *focus, uint64_t from_ns,
		uint64_t at_ns, struct snapshot *snapshot)
{
	struct state_view *view = &snapshot->state;
	struct rows rows = {.items = NULL};
	struct state_fd *out;
	uint32_t i;

	collect(&rows, cx, focus, from_ns, at_ns);
	if (rows.n > 1) {
		qsort(rows.items, rows.n, sizeof(*rows.items), compare_rows);
	}
	rows.n = rows.n > MAX_ROWS ? MAX_ROWS : rows.n;
	out = snapshot_alloc(snapshot, (rows.n + 1) * sizeof(*out));
	for (i = 0; out && i < rows.n; i++) {
		show(cx, &rows.items[i], at_ns, snapshot, &out[i]);
	}
	view->fds = out;
	view->n_fds = out ? rows.n : 0;
	if (cx->files->fds.trimmed_ns > from_ns || cx->files->fds.refused > 0) {
		view->trimmed = true;
	}
	free(rows.items);
	return out && !rows.failed ? STATUS_OK : STATUS_NO_MEMORY;
}

/* --- of threads and hosts -------------------------------------------------------------------- */

/* The time of a read or write that is still under way. */
static uint64_t running_ns(const struct state_cx *cx, const struct thread_state *thread,
		uint64_t from_ns, uint64_t at_ns)
{
	const struct call *call = &thread->call;
	uint64_t begin_ns = call->ts_ns > from_ns ? call->ts_ns : from_ns;

	if (!call->open || call->inherited || begin_ns >= at_ns ||
			!files_is_transfer(cx->plans[call->type].call_rule)) {
		return 0;
	}
	return at_ns - begin_ns;
}

void files_fill_thread(struct state_cx *cx, const struct thread_state *thread, uint64_t from_ns,
		uint64_t at_ns, struct state_thread *out)
{
	bool did = thread->io && thread->io_ns > from_ns; /* most threads sleep */
	struct io_sums sums = {.duration_ns = 0};

	if (did) {
		thread_io_sum(thread, from_ns, at_ns, &sums);
	}
	out->net_read_bytes = sums.bytes[IO_NET_READ];
	out->net_write_bytes = sums.bytes[IO_NET_WRITE];
	out->read_bytes = sums.bytes[IO_READ] + out->net_read_bytes;
	out->write_bytes = sums.bytes[IO_WRITE] + out->net_write_bytes;
	out->disk_read_bytes = sums.bytes[IO_DISK_READ];
	out->disk_write_bytes = sums.bytes[IO_DISK_WRITE];
	out->io_ns = sums.duration_ns + running_ns(cx, thread, from_ns, at_ns);
	if (did) {
		out->pages_allocated = attribute_gain(&thread->io->pages_allocated, from_ns, at_ns);
		out->pages_freed = attribute_gain(&thread->io->pages_freed, from_ns, at_ns);
	}
	if (thread->files) {
		out->open_fds = (uint32_t)attribute_at(&thread->files->open, at_ns);
	}
}

uint32_t files_count_open(const struct state_cx *cx, uint32_t host, uint64_t at_ns)
{
	const struct file_table *table;
	uint32_t n = 0;

	for (table = cx->files->fds.tables; table; table = table->next) {
		if (table->host == host) {
			n += (uint32_t)attribute_at(&table->open, at_ns);
		}
	}
	return n;
}

enum fd_kind files_kind(const struct state_cx *cx, const struct thread_state *thread, int32_t fd)
{
	const struct fd *found = thread->files && !thread->dead_ns
						 ? fds_find(&cx->files->fds, thread->files, fd)
						 : NULL;

	return found ? (enum fd_kind)found->kind : FD_UNKNOWN;
}

void files_add_resources(struct state_cx *cx, const struct thread_state *thread, uint64_t from_ns,
		uint64_t to_ns, struct state_resources *out)
{
	struct io_sums sums;

	(void)cx;
	thread_io_sum(thread, from_ns, to_ns, &sums);
	out->disk_read_bytes += sums.bytes[IO_DISK_READ];
	out->disk_write_bytes += sums.bytes[IO_DISK_WRITE];
	out->net_read_bytes += sums.bytes[IO_NET_READ];
	out->net_write_bytes += sums.bytes[IO_NET_WRITE];
}
