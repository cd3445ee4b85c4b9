/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <time.h>

#include "output/formats.h"

/* The state of the systems as tables for people: the top rows of each, as on the screen. */
#define ROWS 20

static uint32_t top(uint32_t n)
{
	return n < ROWS ? n : ROWS;
}

static void write_rest(FILE *out, uint32_t n)
{
	if (n > ROWS) {
		fprintf(out, "... %" PRIu32 " more\n", n - ROWS);
	}
}

static const char *number(char *cell, bool valid, uint64_t value)
{
	snprintf(cell, OUTPUT_CELL, "-");
	if (valid) {
		snprintf(cell, OUTPUT_CELL, "%" PRIu64, value);
	}
	return cell;
}

static const char *id(char *cell, int64_t value)
{
	return number(cell, value >= 0, (uint64_t)value);
}

static void write_instant(FILE *out, const struct state_view *state)
{
	time_t seconds = (time_t)(state->at_ns / 1000000000u);
	char when[32] = "-";
	struct tm utc;

	if (gmtime_r(&seconds, &utc)) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &utc);
	}
	fprintf(out, "\nSTATE at %s.%09" PRIu64 " UTC, of the %.3g s before%s\n", when,
			state->at_ns % 1000000000u, (double)state->window_ns / 1e9,
			state->trimmed ? "; memory bound reached: oldest detail has gone" : "");
}

static void write_hosts(FILE *out, const struct state_view *state)
{
	char host[OUTPUT_CELL], kernel[OUTPUT_CELL];
	uint32_t i;

	for (i = 0; i < top(state->n_hosts); i++) {
		const struct state_host *row = &state->hosts[i];

		if (!row->has_kernel) {
			fprintf(out, "host %s  CPU not measured: no kernel events of it\n",
					output_safe(host, row->host));
			continue;
		}
		fprintf(out,
				"host %s  kernel %s  %" PRIu32 " CPUs  %" PRIu32
				" threads  %" PRIu32 " fds  %.0f events/s  lost %" PRIu64 "%s\n",
				output_safe(host, row->host), output_safe(kernel, row->kernel),
				row->cpus, row->threads, row->open_fds, row->events_per_s,
				row->discarded,
				row->statedump ? ""
					       : "  (no statedump: what is older is not known)");
	}
	write_rest(out, state->n_hosts);
}

static void write_cpus(FILE *out, const struct state_view *state)
{
	char host[OUTPUT_CELL], name[OUTPUT_CELL];
	uint32_t i;

	if (state->n_cpus > 0) {
		fprintf(out, "\n%-24s %4s %7s  %s\n", "HOST", "CPU", "BUSY", "RUNS");
	}
	for (i = 0; i < top(state->n_cpus); i++) {
		const struct state_cpu *row = &state->cpus[i];

		fprintf(out, "%s %4" PRIu32, output_fit(host, row->host, 24), row->cpu);
		if (row->known_ns > 0) {
			fprintf(out, " %6.1f%%", row->busy_percent);
		} else {
			fprintf(out, " %7s", "-");
		}
		fprintf(out, "  %s\n", output_safe(name, row->name));
	}
	write_rest(out, state->n_cpus);
}

static bool is_unknown(const struct state_thread *row)
{
	return !row->measured && row->status == THREAD_UNKNOWN && !row->stack_depth;
}

static void write_threads(FILE *out, const struct state_view *state)
{
	char host[OUTPUT_CELL], name[OUTPUT_CELL], pid[OUTPUT_CELL], tid[OUTPUT_CELL];
	char cpu[OUTPUT_CELL], queue[OUTPUT_CELL], blocked[OUTPUT_CELL];
	char reads[OUTPUT_CELL], writes[OUTPUT_CELL];
	uint32_t i;

	for (i = 0; i < state->n_threads && is_unknown(&state->threads[i]); i++) {
	}
	if (i == state->n_threads) {
		fprintf(out,
				"\nnothing is known of %" PRIu32
				" threads but their numbers: there are no "
				"kernel events\n",
				i);
		return;
	}
	if (state->n_threads > 0) {
		fprintf(out, "\n%8s %8s %8s %12s %12s %-12s %8s %8s  %-20s %s\n", "CPU", "RUNQ",
				"BLOCKED", "READ B", "WRITE B", "STATUS", "PID", "TID", "NAME",
				"HOST");
	}
	for (i = 0; i < top(state->n_threads); i++) {
		const struct state_thread *row = &state->threads[i];
		bool known = row->measured;

		fprintf(out, "%8s %8s %8s %12s %12s %-12s %8s %8s %s%s %s\n",
				output_duration(cpu, known, (double)row->cpu_ns),
				output_duration(queue, known, (double)row->runqueue_ns),
				output_duration(blocked, known, (double)row->blocked_ns),
				number(reads, known, row->read_bytes),
				number(writes, known, row->write_bytes),
				thread_status_name(row->status), id(pid, row->pid),
				id(tid, row->tid), row->uncertain ? "~" : " ",
				output_fit(name, row->name, 20), output_safe(host, row->host));
	}
	write_rest(out, state->n_threads);
}

/* The sums of a host's calls, or their callers: of each the top rows. */
static void write_syscalls(FILE *out, const struct state_view *state, bool summed)
{
	char name[OUTPUT_CELL], process[OUTPUT_CELL], total[OUTPUT_CELL], pid[OUTPUT_CELL];
	char mean[OUTPUT_CELL], most[OUTPUT_CELL], tid[OUTPUT_CELL];
	uint32_t i, n = 0;

	for (i = 0; i < state->n_syscalls; i++) {
		const struct state_syscall *row = &state->syscalls[i];
		bool some = row->count > 0;

		if (row->summed != summed || n++ >= ROWS) {
			continue;
		}
		if (n == 1) {
			fprintf(out, "\n%-24s %-20s %8s %8s %10s %8s %8s %8s %8s\n",
					summed ? "SYSTEM CALL" : "CALL, BY CALLER", "PROCESS",
					"PID", "TID", "COUNT", "ERRORS", "TOTAL", "MEAN", "MAX");
		}
		fprintf(out, "%s %s %8s %8s %10" PRIu64 " %8" PRIu64 " %8s %8s %8s\n",
				output_fit(name, row->name, 24),
				output_fit(process, summed ? "(all)" : row->process, 20),
				id(pid, row->pid), id(tid, row->tid), row->count, row->errors,
				output_duration(total, true, (double)row->total_ns),
				output_duration(mean, some, row->mean_ns),
				output_duration(most, some, (double)row->max_ns));
	}
	write_rest(out, n);
}

static void write_fds(FILE *out, const struct state_view *state)
{
	char path[OUTPUT_CELL], process[OUTPUT_CELL], pid[OUTPUT_CELL];
	uint32_t i;

	if (state->n_fds > 0) {
		fprintf(out, "\n%5s %8s %-20s %12s %12s %-9s %s\n", "FD", "PID", "PROCESS",
				"READ B", "WRITE B", "KNOWN BY", "PATH");
	}
	for (i = 0; i < top(state->n_fds); i++) {
		const struct state_fd *row = &state->fds[i];

		fprintf(out, "%5" PRId32 " %8s %s %12" PRIu64 " %12" PRIu64 " %-9s%s%s%s\n",
				row->fd, id(pid, row->pid), output_fit(process, row->process, 20),
				row->read_bytes, row->write_bytes,
				fd_confidence_name(row->confidence), row->uncertain ? "~" : " ",
				row->path[0] ? output_safe(path, row->path) : "-",
				row->open ? "" : " (closed)");
	}
	write_rest(out, state->n_fds);
}

static void write_disks(FILE *out, const struct state_view *state)
{
	char host[OUTPUT_CELL], name[OUTPUT_CELL], mean[OUTPUT_CELL], most[OUTPUT_CELL];
	uint32_t i;

	if (state->n_disks > 0) {
		fprintf(out, "\n%-24s %-12s %8s %8s %12s %12s %8s %8s %7s\n", "HOST", "DISK",
				"READS", "WRITES", "READ B", "WRITE B", "MEAN", "MAX", "PENDING");
	}
	for (i = 0; i < top(state->n_disks); i++) {
		const struct state_disk *row = &state->disks[i];
		bool some = row->reads + row->writes > 0;

		fprintf(out,
				"%s %s %8" PRIu64 " %8" PRIu64 " %12" PRIu64 " %12" PRIu64
				" %8s %8s %7" PRIu32 "\n",
				output_fit(host, row->host, 24), output_fit(name, row->name, 12),
				row->reads, row->writes, row->read_bytes, row->write_bytes,
				output_duration(mean, some, (double)row->mean_ns),
				output_duration(most, some, (double)row->max_ns), row->pending);
	}
	write_rest(out, state->n_disks);
}

static const char *count_text(char cell[OUTPUT_CELL], bool known, uint64_t count)
{
	if (known) {
		snprintf(cell, OUTPUT_CELL, "%" PRIu64, count);
	}
	return known ? cell : "-";
}

static void write_nets(FILE *out, const struct state_view *state)
{
	char host[OUTPUT_CELL], name[OUTPUT_CELL], figures[4][OUTPUT_CELL];
	uint32_t i;

	if (state->n_nets > 0) {
		fprintf(out, "\n%-24s %-12s %10s %12s %10s %12s\n", "HOST", "INTERFACE", "RECEIVED",
				"BYTES", "SENT", "BYTES");
	}
	for (i = 0; i < top(state->n_nets); i++) {
		const struct state_net *row = &state->nets[i];

		fprintf(out, "%s %s %10s %12s %10s %12s\n", output_fit(host, row->host, 24),
				output_fit(name, row->name, 12),
				count_text(figures[0], row->has_received, row->received_packets),
				count_text(figures[1], row->has_received, row->received_bytes),
				count_text(figures[2], row->has_sent, row->sent_packets),
				count_text(figures[3], row->has_sent, row->sent_bytes));
	}
	write_rest(out, state->n_nets);
}

static void write_irqs(FILE *out, const struct state_view *state)
{
	char host[OUTPUT_CELL], name[OUTPUT_CELL], total[OUTPUT_CELL], most[OUTPUT_CELL];
	char raise[OUTPUT_CELL], number_[OUTPUT_CELL];
	uint32_t i;

	if (state->n_irqs > 0) {
		fprintf(out, "\n%-24s %-7s %4s %-20s %8s %8s %8s %8s\n", "HOST", "KIND", "NO.",
				"NAME", "COUNT", "TOTAL", "MAX", "WAITED");
	}
	for (i = 0; i < top(state->n_irqs); i++) {
		const struct state_irq *row = &state->irqs[i];

		fprintf(out, "%s %-7s %4s %s %8" PRIu64 " %8s %8s %8s\n",
				output_fit(host, row->host, 24), row->soft ? "softirq" : "irq",
				id(number_, row->number), output_fit(name, row->name, 20),
				row->count, output_duration(total, true, (double)row->total_ns),
				output_duration(most, row->count > 0, (double)row->max_ns),
				output_duration(raise, row->raised > 0,
						(double)row->raise_mean_ns));
	}
	write_rest(out, state->n_irqs);
}

static void write_events(FILE *out, const struct state_view *state)
{
	char name[OUTPUT_CELL], values[OUTPUT_CELL], tid[OUTPUT_CELL];
	uint32_t i;

	if (state->n_events > 0) {
		fprintf(out, "\n%-20s %8s %-32s %s\n", "EVENT AT (ns)", "TID", "NAME", "VALUES");
	}
	for (i = 0; i < top(state->n_events); i++) {
		const struct state_event *row = &state->events[i];

		fprintf(out, "%-20" PRIu64 " %8s %s %s%s\n", row->ts_ns, id(tid, row->tid),
				output_fit(name, row->name, 32), output_safe(values, row->values),
				row->older ? " (kept from before the window)" : "");
	}
	write_rest(out, state->n_events);
}

void output_text_state(FILE *out, const struct state_view *state)
{
	if (state->n_hosts == 0) {
		return;
	}
	write_instant(out, state);
	write_hosts(out, state);
	write_cpus(out, state);
	write_threads(out, state);
	write_syscalls(out, state, true);
	write_syscalls(out, state, false);
	write_fds(out, state);
	write_disks(out, state);
	write_nets(out, state);
	write_irqs(out, state);
	write_events(out, state);
}
