/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "views/state_screen.h"

/* What is not of one thread: system calls, interrupts, disks, networks, hosts. */

#define N_COLUMNS(columns) ((int)(sizeof(columns) / sizeof((columns)[0])))

/* Where the rows of a pane are, and how many. */
#define ROWS_OF(what, items)                                                                       \
	static const struct state_##what *what##_at(const void *data, uint32_t row)                \
	{                                                                                          \
		return &state_screen_of(data)->state->items[row];                                  \
	}                                                                                          \
	static const void *what##_row(const void *data, uint32_t row)                              \
	{                                                                                          \
		return what##_at(data, row);                                                       \
	}                                                                                          \
	static uint32_t count_##items(const struct state_screen *screen)                           \
	{                                                                                          \
		return screen->state->n_##items;                                                   \
	}

/* ---- system calls ---- */

#define CALL(field) &state_syscall_fields[FIELD_SYSCALL_##field]

enum call_column { S_WHO, S_COUNT, S_ERRORS, S_TOTAL, S_MEAN, S_MIN, S_MAX, S_SD, S_RUNNING };

static const struct table_column call_columns[] = {
		[S_WHO] = {"SYSTEM CALL", 18, 0, TABLE_FLEX, 44, CALL(NAME), ROLE_NAME},
		{"COUNT", 6, 0, TABLE_RIGHT, 0, CALL(COUNT)},
		[S_ERRORS] = {"ERRORS", 6, 1, TABLE_RIGHT, 0, CALL(ERRORS)},
		[S_TOTAL] = {"TOTAL", 6, 0, TABLE_RIGHT, 0, CALL(TOTAL), ROLE_STRONG},
		{"MEAN", 6, 1, TABLE_RIGHT, 0, CALL(MEAN)},
		{"MIN", 6, 4, TABLE_RIGHT, 0, CALL(MIN)},
		{"MAX", 6, 2, TABLE_RIGHT, 0, CALL(MAX)},
		{"SD", 6, 5, TABLE_RIGHT, 0, CALL(SD)},
		[S_RUNNING] = {"NOW", 4, 3, TABLE_RIGHT, 0, CALL(RUNNING)},
		{"HOST", 10, 3, TABLE_FLEX, 24, CALL(HOST)},
};

static const struct table_column caller_columns[] = {
		[S_WHO] = {"CALLER", 16, 0, TABLE_FLEX, 44, CALL(PROCESS), ROLE_NAME},
		{"COUNT", 6, 0, TABLE_RIGHT, 0, CALL(COUNT)},
		[S_ERRORS] = {"ERRORS", 6, 1, TABLE_RIGHT, 0, CALL(ERRORS)},
		[S_TOTAL] = {"TOTAL", 6, 0, TABLE_RIGHT, 0, CALL(TOTAL), ROLE_STRONG},
		{"MEAN", 6, 1, TABLE_RIGHT, 0, CALL(MEAN)},
		{"MIN", 6, 4, TABLE_RIGHT, 0, CALL(MIN)},
		{"MAX", 6, 1, TABLE_RIGHT, 0, CALL(MAX)},
		{"SD", 6, 5, TABLE_RIGHT, 0, CALL(SD)},
		[S_RUNNING] = {"NOW", 4, 3, TABLE_RIGHT, 0, CALL(RUNNING)},
		{"HOST", 10, 6, TABLE_FLEX, 24, CALL(HOST)},
		{"PID", 7, 2, 0, 0, CALL(PID)},
		{"TID", 7, 0, 0, 0, CALL(TID)},
};

ROWS_OF(syscall, syscalls)

static uint64_t call_key(const void *data, uint32_t row)
{
	const struct state_syscall *call = syscall_at(data, row);
	uint64_t caller = (uint64_t)call->tid;

	return view_text_key(call->name, view_text_key(call->host, caller));
}

/* These columns are in both tables. */
static void call_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct state_syscall *call = syscall_at(data, row);

	if (column == S_ERRORS) {
		cell->role = call->errors > 0 ? ROLE_WARN : ROLE_DIM;
	} else if (column == S_RUNNING) {
		cell->role = call->running > 0 ? ROLE_GOOD : ROLE_DIM;
	} else if (column == S_TOTAL && call->count == 0) {
		strcpy(cell->text, "-"); /* none has returned */
	}
}

/* Rows of single callers are in the other pane. */
static bool call_hidden(const void *data, uint32_t row)
{
	return state_screen_of(data)->summed_calls && !syscall_at(data, row)->summed;
}

static bool caller_hidden(const void *data, uint32_t row)
{
	const struct state_screen *screen = state_screen_of(data);
	const struct state_syscall *call = syscall_at(screen, row);

	return call->summed || strcmp(call->name, screen->call) != 0 ||
	       strcmp(call->host, screen->call_host) != 0;
}

static const struct table_source call_source = {
		.columns = call_columns,
		.n_columns = TABLE_COUNT(call_columns),
		.what = "system calls",
		.key = call_key,
		.row = syscall_row,
		.cell = call_cell,
		.hidden = call_hidden,
};

static const struct table_source caller_source = {
		.columns = caller_columns,
		.n_columns = TABLE_COUNT(caller_columns),
		.what = "callers",
		.key = call_key,
		.row = syscall_row,
		.cell = call_cell,
		.hidden = caller_hidden,
};

const struct state_pane_ops state_pane_calls = {"calls", &call_source, count_syscalls, CALL(MAX)};
const struct state_pane_ops state_pane_callers = {
		"callers", &caller_source, count_syscalls, CALL(MAX)};

/* ---- interrupts ---- */

#define IRQ(field) &state_irq_fields[FIELD_IRQ_##field]

static const struct table_column irq_columns[] = {
		{"KIND", 7, 1, 0, 0, IRQ(KIND)},
		{"NO.", 4, 2, 0, 0, IRQ(NUMBER)},
		{"NAME", 12, 0, TABLE_FLEX, 40, IRQ(NAME), ROLE_NAME},
		{"COUNT", 6, 0, TABLE_RIGHT, 0, IRQ(COUNT)},
		{"TOTAL", 6, 0, TABLE_RIGHT, 0, IRQ(TOTAL)},
		{"MEAN", 6, 1, TABLE_RIGHT, 0, IRQ(MEAN)},
		{"MIN", 6, 5, TABLE_RIGHT, 0, IRQ(MIN)},
		{"MAX", 6, 1, TABLE_RIGHT, 0, IRQ(MAX)},
		{"WAITED", 6, 2, TABLE_RIGHT, 0, IRQ(RAISE_MEAN)},
		{"LONGEST", 7, 4, TABLE_RIGHT, 0, IRQ(RAISE_MAX)},
		{"HOST", 10, 3, TABLE_FLEX, 24, IRQ(HOST)},
};

ROWS_OF(irq, irqs)

static uint64_t irq_key(const void *data, uint32_t row)
{
	const struct state_irq *irq = irq_at(data, row);

	return view_text_key(irq->host, (uint64_t)irq->number * 2 + irq->soft);
}

static const struct table_source irq_source = {
		.columns = irq_columns,
		.n_columns = TABLE_COUNT(irq_columns),
		.what = "interrupts",
		.key = irq_key,
		.row = irq_row,
};

const struct state_pane_ops state_pane_irqs = {"irq", &irq_source, count_irqs, IRQ(MAX)};

/* ---- disks ---- */

#define DISK(field) &state_disk_fields[FIELD_DISK_##field]

static const struct table_column disk_columns[] = {
		{"DISK", 10, 0, TABLE_FLEX, 24, DISK(NAME), ROLE_NAME},
		{"READS", 6, 2, TABLE_RIGHT, 0, DISK(READS)},
		{"READ", 6, 0, TABLE_RIGHT, 0, DISK(READ)},
		{"WRITES", 6, 2, TABLE_RIGHT, 0, DISK(WRITES)},
		{"WRITTEN", 7, 0, TABLE_RIGHT, 0, DISK(WRITE)},
		{"MEAN", 6, 0, TABLE_RIGHT, 0, DISK(MEAN)},
		{"MAX", 6, 1, TABLE_RIGHT, 0, DISK(MAX)},
		{"PENDING", 7, 1, TABLE_RIGHT, 0, DISK(PENDING)},
		{"ERRORS", 6, 3, TABLE_RIGHT, 0, DISK(ERRORS)},
		{"HOST", 10, 4, TABLE_FLEX, 24, DISK(HOST)},
};

ROWS_OF(disk, disks)

static uint64_t disk_key(const void *data, uint32_t row)
{
	const struct state_disk *disk = disk_at(data, row);

	return view_text_key(disk->name, view_text_key(disk->host, 0));
}

static void disk_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	if (disk_columns[column].field == DISK(ERRORS)) {
		cell->role = disk_at(data, row)->errors > 0 ? ROLE_BAD : ROLE_DIM;
	}
}

static double disk_most(const void *data, uint32_t row)
{
	const struct state_disk *disk = disk_at(data, row);

	return (double)disk->read_bytes + (double)disk->write_bytes;
}

static const struct table_source disk_source = {
		.columns = disk_columns,
		.n_columns = TABLE_COUNT(disk_columns),
		.what = "disks",
		.key = disk_key,
		.row = disk_row,
		.cell = disk_cell,
		.most = disk_most,
};

const struct state_pane_ops state_pane_disks = {"disks", &disk_source, count_disks, DISK(MAX)};

/* ---- networks ---- */

#define NET(field) &state_net_fields[FIELD_NET_##field]

static const struct table_column net_columns[] = {
		{"INTERFACE", 12, 0, TABLE_FLEX, 24, NET(NAME), ROLE_NAME},
		{"RECEIVED", 8, 1, TABLE_RIGHT, 0, NET(RECEIVED)},
		{"BYTES", 7, 0, TABLE_RIGHT, 0, NET(RECEIVED_BYTES)},
		{"SENT", 8, 1, TABLE_RIGHT, 0, NET(SENT)},
		{"BYTES", 7, 0, TABLE_RIGHT, 0, NET(SENT_BYTES)},
		{"HOST", 12, 2, TABLE_FLEX, 24, NET(HOST)},
};

ROWS_OF(net, nets)

static uint64_t net_key(const void *data, uint32_t row)
{
	const struct state_net *net = net_at(data, row);

	return view_text_key(net->name, view_text_key(net->host, 0));
}

static const struct table_source net_source = {
		.columns = net_columns,
		.n_columns = TABLE_COUNT(net_columns),
		.what = "interfaces",
		.key = net_key,
		.row = net_row,
};

const struct state_pane_ops state_pane_nets = {"net", &net_source, count_nets, NULL};

/* ---- hosts ---- */

#define HOST(field) &state_host_fields[FIELD_HOST_##field]

static const struct table_column host_columns[] = {
		{"HOST", 12, 0, TABLE_FLEX, 32, HOST(HOST), ROLE_NAME},
		{"CPUS", 4, 2, TABLE_RIGHT, 0, HOST(CPUS)},
		{"IN USE", 6, 0, TABLE_RIGHT, 0, HOST(THREADS_SHARE)},
		{"IRQ", 5, 1, TABLE_RIGHT, 0, HOST(IRQ_SHARE)},
		{"IDLE", 5, 1, TABLE_RIGHT, 0, HOST(IDLE_SHARE)},
		{"UNKNOWN", 7, 1, TABLE_RIGHT, 0, HOST(UNKNOWN_SHARE)},
		{"THREADS", 7, 3, TABLE_RIGHT, 0, HOST(THREADS)},
		{"FDS", 5, 4, TABLE_RIGHT, 0, HOST(OPEN_FDS)},
		{"EVENTS", 8, 2, TABLE_RIGHT, 0, HOST(EVENTS_PER_S)},
		{"LOST", 5, 0, TABLE_RIGHT, 0, HOST(DISCARDED)},
		{"KERNEL", 12, 5, TABLE_FLEX, 30, HOST(KERNEL)},
		{"BEFORE", 8, 6, 0, 0, HOST(STATEDUMP), ROLE_DIM},
};

ROWS_OF(host, hosts)

static uint64_t host_key(const void *data, uint32_t row)
{
	return view_text_key(host_at(data, row)->host, 0);
}

static void host_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct row_field *field = host_columns[column].field;
	const struct state_host *host = host_at(data, row);

	if (field == HOST(DISCARDED)) {
		cell->role = host->discarded > 0 ? ROLE_LOST : ROLE_DIM;
	} else if (field == HOST(KERNEL) && !host->has_kernel) {
		strcpy(cell->text, "no kernel events");
		cell->role = ROLE_WARN;
	} else if (field == HOST(STATEDUMP)) {
		strcpy(cell->text, !host->has_kernel ? "-"
				   : host->statedump ? "listed"
						     : "unknown");
	}
}

static const struct table_source host_source = {
		.columns = host_columns,
		.n_columns = TABLE_COUNT(host_columns),
		.what = "hosts",
		.key = host_key,
		.row = host_row,
		.cell = host_cell,
};

const struct state_pane_ops state_pane_hosts = {
		"hosts", &host_source, count_hosts, HOST(DISCARDED)};
