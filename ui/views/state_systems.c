/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "views/state_screen.h"

/* What is not of one thread: system calls, interrupts, disks, networks, hosts. */

/* ---- system calls ---- */

enum call_column {
	S_CALL, /* or who calls */
	S_COUNT,
	S_ERRORS,
	S_TOTAL,
	S_MEAN,
	S_MIN,
	S_MAX,
	S_SD,
	S_RUNNING,
	S_HOST,
	S_SUMMED_COUNT_OF,
	S_PID = S_SUMMED_COUNT_OF, /* these are of callers */
	S_TID,
	S_COUNT_OF
};

static const struct table_column call_columns[] = {
		[S_CALL] = {"SYSTEM CALL", 18, 0, TABLE_FLEX, 44},
		[S_COUNT] = {"COUNT", 6, 0, TABLE_RIGHT, 0},
		[S_ERRORS] = {"ERRORS", 6, 1, TABLE_RIGHT, 0},
		[S_TOTAL] = {"TOTAL", 6, 0, TABLE_RIGHT, 0},
		[S_MEAN] = {"MEAN", 6, 1, TABLE_RIGHT, 0},
		[S_MIN] = {"MIN", 6, 4, TABLE_RIGHT, 0},
		[S_MAX] = {"MAX", 6, 2, TABLE_RIGHT, 0},
		[S_SD] = {"SD", 6, 5, TABLE_RIGHT, 0},
		[S_RUNNING] = {"NOW", 4, 3, TABLE_RIGHT, 0},
		[S_HOST] = {"HOST", 10, 3, TABLE_FLEX, 24},
};

static const struct table_column caller_columns[] = {
		[S_CALL] = {"CALLER", 16, 0, TABLE_FLEX, 44},
		[S_PID] = {"PID", 7, 2, 0, 0},
		[S_TID] = {"TID", 7, 0, 0, 0},
		[S_COUNT] = {"COUNT", 6, 0, TABLE_RIGHT, 0},
		[S_ERRORS] = {"ERRORS", 6, 1, TABLE_RIGHT, 0},
		[S_TOTAL] = {"TOTAL", 6, 0, TABLE_RIGHT, 0},
		[S_MEAN] = {"MEAN", 6, 1, TABLE_RIGHT, 0},
		[S_MIN] = {"MIN", 6, 4, TABLE_RIGHT, 0},
		[S_MAX] = {"MAX", 6, 1, TABLE_RIGHT, 0},
		[S_SD] = {"SD", 6, 5, TABLE_RIGHT, 0},
		[S_RUNNING] = {"NOW", 4, 3, TABLE_RIGHT, 0},
		[S_HOST] = {"HOST", 10, 6, TABLE_FLEX, 24},
};

static const struct state_syscall *call_at(const struct state_screen *screen, uint32_t row)
{
	return &screen->state->syscalls[row];
}

static uint64_t call_key(const void *data, uint32_t row)
{
	const struct state_syscall *call = call_at(data, row);
	uint64_t caller = (uint64_t)call->tid;

	return view_text_key(call->name, view_text_key(call->host, caller));
}

static void call_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct state_syscall *call = call_at(data, row);
	bool some = call->count > 0;

	switch (column) {
	case S_CALL:
		state_text(cell, call->name);
		cell->role = ROLE_NAME;
		break;
	case S_PID:
		state_id(cell, call->pid);
		break;
	case S_TID:
		state_id(cell, call->tid);
		break;
	case S_COUNT:
		state_count(cell, true, call->count);
		break;
	case S_ERRORS:
		state_count(cell, true, call->errors);
		cell->role = call->errors > 0 ? ROLE_WARN : ROLE_DIM;
		break;
	case S_TOTAL:
		state_duration(cell, some, (double)call->total_ns);
		cell->role = ROLE_STRONG;
		break;
	case S_MEAN:
		state_duration(cell, some, call->mean_ns);
		break;
	case S_MIN:
		state_duration(cell, some, (double)call->min_ns);
		break;
	case S_MAX:
		state_duration(cell, some, (double)call->max_ns);
		break;
	case S_SD:
		state_duration(cell, call->count > 1, call->sd_ns);
		break;
	case S_RUNNING:
		state_count(cell, true, call->running);
		cell->role = call->running > 0 ? ROLE_GOOD : ROLE_DIM;
		break;
	default:
		state_text(cell, call->host);
		break;
	}
}

static void caller_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	call_cell(data, row, column, cell);
	if (column == S_CALL) {
		state_text(cell, call_at(data, row)->process);
	}
}

static double call_figure(const struct state_screen *screen, uint32_t row, int column)
{
	const struct state_syscall *call = call_at(screen, row);
	bool some = call->count > 0;

	switch (column) {
	case S_PID:
		return (double)call->pid;
	case S_TID:
		return (double)call->tid;
	case S_COUNT:
		return (double)call->count;
	case S_ERRORS:
		return (double)call->errors;
	case S_TOTAL:
		return (double)call->total_ns;
	case S_MEAN:
		return some ? call->mean_ns : NAN;
	case S_MIN:
		return some ? (double)call->min_ns : NAN;
	case S_MAX:
		return some ? (double)call->max_ns : NAN;
	case S_SD:
		return call->count > 1 ? call->sd_ns : NAN;
	case S_RUNNING:
		return (double)call->running;
	default:
		return NAN;
	}
}

static int call_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	return state_compare(&state_pane_calls, data, a, b, column);
}

static int caller_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	return state_compare(&state_pane_callers, data, a, b, column);
}

/* Rows of single callers are in the other pane. */
static bool call_hidden(const void *data, uint32_t row)
{
	return state_screen_of(data)->summed_calls && call_at(data, row)->pid >= 0;
}

static bool caller_hidden(const void *data, uint32_t row)
{
	const struct state_screen *screen = state_screen_of(data);
	const struct state_syscall *call = call_at(screen, row);

	return call->pid < 0 || strcmp(call->name, screen->call) != 0 ||
	       strcmp(call->host, screen->call_host) != 0;
}

static uint32_t count_calls(const struct state_screen *screen)
{
	return screen->state->n_syscalls;
}

static const struct table_source call_source = {
		.columns = call_columns,
		.n_columns = S_SUMMED_COUNT_OF,
		.what = "system calls",
		.key = call_key,
		.cell = call_cell,
		.compare = call_compare,
		.hidden = call_hidden,
};

static const struct table_source caller_source = {
		.columns = caller_columns,
		.n_columns = S_COUNT_OF,
		.what = "callers",
		.key = call_key,
		.cell = caller_cell,
		.compare = caller_compare,
		.hidden = caller_hidden,
};

const struct state_pane_ops state_pane_calls = {
		"calls", &call_source, count_calls, call_figure, S_MAX};
const struct state_pane_ops state_pane_callers = {
		"callers", &caller_source, count_calls, call_figure, S_MAX};

/* ---- interrupts ---- */

enum irq_column {
	Q_KIND,
	Q_NUMBER,
	Q_NAME,
	Q_COUNT,
	Q_TOTAL,
	Q_MEAN,
	Q_MIN,
	Q_MAX,
	Q_WAIT,
	Q_WAIT_MAX,
	Q_HOST,
	Q_COUNT_OF
};

static const struct table_column irq_columns[] = {
		[Q_KIND] = {"KIND", 7, 1, 0, 0},
		[Q_NUMBER] = {"NO.", 4, 2, 0, 0},
		[Q_NAME] = {"NAME", 12, 0, TABLE_FLEX, 40},
		[Q_COUNT] = {"COUNT", 6, 0, TABLE_RIGHT, 0},
		[Q_TOTAL] = {"TOTAL", 6, 0, TABLE_RIGHT, 0},
		[Q_MEAN] = {"MEAN", 6, 1, TABLE_RIGHT, 0},
		[Q_MIN] = {"MIN", 6, 5, TABLE_RIGHT, 0},
		[Q_MAX] = {"MAX", 6, 1, TABLE_RIGHT, 0},
		[Q_WAIT] = {"WAITED", 6, 2, TABLE_RIGHT, 0},
		[Q_WAIT_MAX] = {"LONGEST", 7, 4, TABLE_RIGHT, 0},
		[Q_HOST] = {"HOST", 10, 3, TABLE_FLEX, 24},
};

static const struct state_irq *irq_at(const struct state_screen *screen, uint32_t row)
{
	return &screen->state->irqs[row];
}

static uint64_t irq_key(const void *data, uint32_t row)
{
	const struct state_irq *irq = irq_at(data, row);

	return view_text_key(irq->host, (uint64_t)irq->number * 2 + irq->soft);
}

static double irq_figure(const struct state_screen *screen, uint32_t row, int column)
{
	const struct state_irq *irq = irq_at(screen, row);
	bool some = irq->count > 0, raised = irq->raised > 0;

	switch (column) {
	case Q_NUMBER:
		return (double)irq->number;
	case Q_COUNT:
		return (double)irq->count;
	case Q_TOTAL:
		return (double)irq->total_ns;
	case Q_MEAN:
		return some ? (double)irq->total_ns / (double)irq->count : NAN;
	case Q_MIN:
		return some ? (double)irq->min_ns : NAN;
	case Q_MAX:
		return some ? (double)irq->max_ns : NAN;
	case Q_WAIT:
		return raised ? (double)irq->raise_mean_ns : NAN;
	case Q_WAIT_MAX:
		return raised ? (double)irq->raise_max_ns : NAN;
	default:
		return NAN;
	}
}

static void irq_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct state_irq *irq = irq_at(data, row);
	double figure;

	switch (column) {
	case Q_KIND:
		strcpy(cell->text, irq->soft ? "softirq" : "irq");
		break;
	case Q_NUMBER:
		state_id(cell, irq->number);
		break;
	case Q_NAME:
		state_text(cell, irq->name);
		cell->role = ROLE_NAME;
		break;
	case Q_COUNT:
		state_count(cell, true, irq->count);
		break;
	case Q_HOST:
		state_text(cell, irq->host);
		break;
	default:
		figure = irq_figure(data, row, column);
		state_duration(cell, !isnan(figure), figure);
		break;
	}
}

static int irq_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	return state_compare(&state_pane_irqs, data, a, b, column);
}

static uint32_t count_irqs(const struct state_screen *screen)
{
	return screen->state->n_irqs;
}

static const struct table_source irq_source = {
		.columns = irq_columns,
		.n_columns = Q_COUNT_OF,
		.what = "interrupts",
		.key = irq_key,
		.cell = irq_cell,
		.compare = irq_compare,
};

const struct state_pane_ops state_pane_irqs = {"irq", &irq_source, count_irqs, irq_figure, Q_MAX};

/* ---- disks ---- */

enum disk_column {
	D_NAME,
	D_READS,
	D_READ,
	D_WRITES,
	D_WRITTEN,
	D_MEAN,
	D_MAX,
	D_PENDING,
	D_ERRORS,
	D_HOST,
	D_COUNT_OF
};

static const struct table_column disk_columns[] = {
		[D_NAME] = {"DISK", 10, 0, TABLE_FLEX, 24},
		[D_READS] = {"READS", 6, 2, TABLE_RIGHT, 0},
		[D_READ] = {"READ", 6, 0, TABLE_RIGHT, 0},
		[D_WRITES] = {"WRITES", 6, 2, TABLE_RIGHT, 0},
		[D_WRITTEN] = {"WRITTEN", 7, 0, TABLE_RIGHT, 0},
		[D_MEAN] = {"MEAN", 6, 0, TABLE_RIGHT, 0},
		[D_MAX] = {"MAX", 6, 1, TABLE_RIGHT, 0},
		[D_PENDING] = {"PENDING", 7, 1, TABLE_RIGHT, 0},
		[D_ERRORS] = {"ERRORS", 6, 3, TABLE_RIGHT, 0},
		[D_HOST] = {"HOST", 10, 4, TABLE_FLEX, 24},
};

static const struct state_disk *disk_at(const struct state_screen *screen, uint32_t row)
{
	return &screen->state->disks[row];
}

static uint64_t disk_key(const void *data, uint32_t row)
{
	const struct state_disk *disk = disk_at(data, row);

	return view_text_key(disk->name, view_text_key(disk->host, 0));
}

static void disk_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct state_disk *disk = disk_at(data, row);
	bool some = disk->reads + disk->writes > 0;

	switch (column) {
	case D_NAME:
		state_text(cell, disk->name);
		cell->role = ROLE_NAME;
		break;
	case D_READS:
		state_count(cell, true, disk->reads);
		break;
	case D_READ:
		state_bytes(cell, true, disk->read_bytes);
		break;
	case D_WRITES:
		state_count(cell, true, disk->writes);
		break;
	case D_WRITTEN:
		state_bytes(cell, true, disk->write_bytes);
		break;
	case D_MEAN:
		state_duration(cell, some, (double)disk->mean_ns);
		break;
	case D_MAX:
		state_duration(cell, some, (double)disk->max_ns);
		break;
	case D_PENDING:
		state_count(cell, true, disk->pending);
		break;
	case D_ERRORS:
		state_count(cell, true, disk->errors);
		cell->role = disk->errors > 0 ? ROLE_BAD : ROLE_DIM;
		break;
	default:
		state_text(cell, disk->host);
		break;
	}
}

static double disk_figure(const struct state_screen *screen, uint32_t row, int column)
{
	const struct state_disk *disk = disk_at(screen, row);
	bool some = disk->reads + disk->writes > 0;

	switch (column) {
	case D_READS:
		return (double)disk->reads;
	case D_READ:
		return (double)disk->read_bytes;
	case D_WRITES:
		return (double)disk->writes;
	case D_WRITTEN:
		return (double)disk->write_bytes;
	case D_MEAN:
		return some ? (double)disk->mean_ns : NAN;
	case D_MAX:
		return some ? (double)disk->max_ns : NAN;
	case D_PENDING:
		return disk->pending;
	case D_ERRORS:
		return (double)disk->errors;
	default:
		return NAN;
	}
}

static int disk_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	return state_compare(&state_pane_disks, data, a, b, column);
}

static uint32_t count_disks(const struct state_screen *screen)
{
	return screen->state->n_disks;
}

static double disk_most(const void *data, uint32_t row)
{
	const struct state_disk *disk = disk_at(data, row);

	return (double)disk->read_bytes + (double)disk->write_bytes;
}

static const struct table_source disk_source = {
		.columns = disk_columns,
		.n_columns = D_COUNT_OF,
		.what = "disks",
		.key = disk_key,
		.cell = disk_cell,
		.compare = disk_compare,
		.most = disk_most,
};

const struct state_pane_ops state_pane_disks = {
		"disks", &disk_source, count_disks, disk_figure, D_MAX};

/* ---- networks ---- */

enum net_column { N_NAME, N_RECEIVED, N_RECEIVED_BYTES, N_SENT, N_SENT_BYTES, N_HOST, N_COUNT_OF };

static const struct table_column net_columns[] = {
		[N_NAME] = {"INTERFACE", 12, 0, TABLE_FLEX, 24},
		[N_RECEIVED] = {"RECEIVED", 8, 1, TABLE_RIGHT, 0},
		[N_RECEIVED_BYTES] = {"BYTES", 7, 0, TABLE_RIGHT, 0},
		[N_SENT] = {"SENT", 8, 1, TABLE_RIGHT, 0},
		[N_SENT_BYTES] = {"BYTES", 7, 0, TABLE_RIGHT, 0},
		[N_HOST] = {"HOST", 12, 2, TABLE_FLEX, 24},
};

static const struct state_net *net_at(const struct state_screen *screen, uint32_t row)
{
	return &screen->state->nets[row];
}

static uint64_t net_key(const void *data, uint32_t row)
{
	const struct state_net *net = net_at(data, row);

	return view_text_key(net->name, view_text_key(net->host, 0));
}

static void net_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct state_net *net = net_at(data, row);

	switch (column) {
	case N_NAME:
		state_text(cell, net->name);
		cell->role = ROLE_NAME;
		break;
	case N_RECEIVED:
		state_count(cell, net->has_received, net->received_packets);
		break;
	case N_RECEIVED_BYTES:
		state_bytes(cell, net->has_received, net->received_bytes);
		break;
	case N_SENT:
		state_count(cell, net->has_sent, net->sent_packets);
		break;
	case N_SENT_BYTES:
		state_bytes(cell, net->has_sent, net->sent_bytes);
		break;
	default:
		state_text(cell, net->host);
		break;
	}
}

static double net_figure(const struct state_screen *screen, uint32_t row, int column)
{
	const struct state_net *net = net_at(screen, row);

	switch (column) {
	case N_RECEIVED:
		return (double)net->received_packets;
	case N_RECEIVED_BYTES:
		return (double)net->received_bytes;
	case N_SENT:
		return (double)net->sent_packets;
	case N_SENT_BYTES:
		return (double)net->sent_bytes;
	default:
		return NAN;
	}
}

static int net_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	return state_compare(&state_pane_nets, data, a, b, column);
}

static uint32_t count_nets(const struct state_screen *screen)
{
	return screen->state->n_nets;
}

static const struct table_source net_source = {
		.columns = net_columns,
		.n_columns = N_COUNT_OF,
		.what = "interfaces",
		.key = net_key,
		.cell = net_cell,
		.compare = net_compare,
};

const struct state_pane_ops state_pane_nets = {"net", &net_source, count_nets, net_figure, -1};

/* ---- hosts ---- */

enum host_column {
	H_HOST,
	H_CPUS,
	H_THREADS,
	H_IRQ,
	H_IDLE,
	H_UNKNOWN,
	H_N_THREADS,
	H_FDS,
	H_RATE,
	H_LOST,
	H_KERNEL,
	H_DUMP,
	H_COUNT_OF
};

static const struct table_column host_columns[] = {
		[H_HOST] = {"HOST", 12, 0, TABLE_FLEX, 32},
		[H_CPUS] = {"CPUS", 4, 2, TABLE_RIGHT, 0},
		[H_THREADS] = {"IN USE", 6, 0, TABLE_RIGHT, 0},
		[H_IRQ] = {"IRQ", 5, 1, TABLE_RIGHT, 0},
		[H_IDLE] = {"IDLE", 5, 1, TABLE_RIGHT, 0},
		[H_UNKNOWN] = {"UNKNOWN", 7, 1, TABLE_RIGHT, 0},
		[H_N_THREADS] = {"THREADS", 7, 3, TABLE_RIGHT, 0},
		[H_FDS] = {"FDS", 5, 4, TABLE_RIGHT, 0},
		[H_RATE] = {"EVENTS", 8, 2, TABLE_RIGHT, 0},
		[H_LOST] = {"LOST", 5, 0, TABLE_RIGHT, 0},
		[H_KERNEL] = {"KERNEL", 12, 5, TABLE_FLEX, 30},
		[H_DUMP] = {"BEFORE", 8, 6, 0, 0},
};

static const struct state_host *host_at(const struct state_screen *screen, uint32_t row)
{
	return &screen->state->hosts[row];
}

static uint64_t host_key(const void *data, uint32_t row)
{
	return view_text_key(host_at(data, row)->host, 0);
}

static double host_figure(const struct state_screen *screen, uint32_t row, int column)
{
	const struct state_host *host = host_at(screen, row);
	double capacity = host->capacity_ns > 0 ? (double)host->capacity_ns : NAN;

	switch (column) {
	case H_CPUS:
		return host->has_kernel ? (double)host->cpus : (double)NAN;
	case H_THREADS:
		return (double)host->threads_ns / capacity;
	case H_IRQ:
		return (double)host->irq_ns / capacity;
	case H_IDLE:
		return (double)host->idle_ns / capacity;
	case H_UNKNOWN:
		return (double)host->unknown_ns / capacity;
	case H_N_THREADS:
		return host->threads;
	case H_FDS:
		return host->has_kernel ? (double)host->open_fds : (double)NAN;
	case H_RATE:
		return host->events_per_s;
	case H_LOST:
		return (double)host->discarded;
	default:
		return NAN;
	}
}

static void host_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct state_host *host = host_at(data, row);
	double figure = host_figure(data, row, column);

	switch (column) {
	case H_HOST:
		state_text(cell, host->host);
		cell->role = ROLE_NAME;
		break;
	case H_THREADS:
	case H_IRQ:
	case H_IDLE:
	case H_UNKNOWN:
		format_share(cell->text, figure);
		break;
	case H_RATE:
		format_rate(cell->text, figure);
		break;
	case H_LOST:
		state_count(cell, true, host->discarded);
		cell->role = host->discarded > 0 ? ROLE_LOST : ROLE_DIM;
		break;
	case H_KERNEL:
		state_text(cell, host->has_kernel ? host->kernel : "no kernel events");
		cell->role = host->has_kernel ? ROLE_TEXT : ROLE_WARN;
		break;
	case H_DUMP:
		state_text(cell, !host->has_kernel ? "" : host->statedump ? "listed" : "unknown");
		cell->role = ROLE_DIM;
		break;
	default:
		state_count(cell, !isnan(figure), isnan(figure) ? 0 : (uint64_t)figure);
		break;
	}
}

static int host_compare(const void *data, uint32_t a, uint32_t b, int column)
{
	return state_compare(&state_pane_hosts, data, a, b, column);
}

static uint32_t count_hosts(const struct state_screen *screen)
{
	return screen->state->n_hosts;
}

static const struct table_source host_source = {
		.columns = host_columns,
		.n_columns = H_COUNT_OF,
		.what = "hosts",
		.key = host_key,
		.cell = host_cell,
		.compare = host_compare,
};

const struct state_pane_ops state_pane_hosts = {
		"hosts", &host_source, count_hosts, host_figure, H_LOST};
