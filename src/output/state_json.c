/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/json_out.h"
#include "pythiatop/text.h"

/*
 * The state of the systems as JSON. What was not measured is null. Each array has at most ROWS
 * rows, in the order of the screen, and `left_out` tells how many more there are.
 */
#define ROWS 1000

/* An id, or null where -1 says that it is not known. */
static struct value id(int64_t value)
{
	return value < 0 ? value_null() : value_number(value);
}

static void host(struct json_out *json, const struct state_host *row)
{
	bool known = row->has_kernel;

	JSON_OUT_ROW(json, {"host", value_text(row->host)}, {"kernel", value_name(row->kernel)},
			{"has_kernel", value_flag(row->has_kernel)},
			{"statedump", value_flag(row->statedump)},
			{"cpus", value_count_if(known, row->cpus)},
			{"threads", value_count(row->threads)},
			{"open_fds", value_count_if(known, row->open_fds)},
			{"window_ns", value_count(row->window_ns)},
			{"events_per_s", value_real_if(true, row->events_per_s)},
			{"discarded", value_count(row->discarded)},
			{"capacity_ns", value_count_if(known, row->capacity_ns)},
			{"threads_ns", value_count_if(known, row->threads_ns)},
			{"idle_ns", value_count_if(known, row->idle_ns)},
			{"irq_ns", value_count_if(known, row->irq_ns)},
			{"unknown_ns", value_count_if(known, row->unknown_ns)});
}

static void cpu(struct json_out *json, const struct state_cpu *row)
{
	bool known = row->known_ns > 0;

	JSON_OUT_ROW(json, {"host", value_text(row->host)}, {"cpu", value_count(row->cpu)},
			{"busy_percent", value_real_if(known, row->busy_percent)},
			{"known_ns", value_count(row->known_ns)},
			{"user_ns", value_count_if(known, row->user_ns)},
			{"syscall_ns", value_count_if(known, row->syscall_ns)},
			{"irq_ns", value_count_if(known, row->irq_ns)},
			{"softirq_ns", value_count_if(known, row->softirq_ns)},
			{"idle_ns", value_count_if(known, row->idle_ns)}, {"tid", id(row->tid)},
			{"name", value_name(row->name)},
			{"frequency_khz", value_count_if(row->frequency_khz > 0,
							  row->frequency_khz)});
}

static void perf(struct json_out *json, const struct state_thread *row)
{
	char safe[256];
	uint32_t i;

	json_out_open(json, "perf", '{');
	for (i = 0; i < row->n_perf; i++) {
		text_escape(safe, sizeof(safe), row->perf[i].name);
		json_out_value(json, safe, value_count(row->perf[i].value));
	}
	json_out_close(json, '}');
}

static void thread(struct json_out *json, const struct state_thread *row)
{
	bool known = row->measured;

	json_out_open(json, NULL, '{');
	JSON_OUT_MEMBERS(json, {"host", value_text(row->host)}, {"tid", id(row->tid)},
			{"pid", id(row->pid)}, {"ppid", id(row->ppid)}, {"vtid", id(row->vtid)},
			{"vpid", id(row->vpid)}, {"name", value_name(row->name)},
			{"status", value_text(thread_status_name(row->status))},
			{"since_ns", value_count_if(row->since_ns > 0, row->since_ns)},
			{"syscall", value_name(row->syscall)},
			{"waits_for", value_name(row->waits_for)},
			{"waker_tid", id(row->waker_tid)},
			{"uncertain", value_flag(row->uncertain)},
			{"cpu_ns", value_count_if(known, row->cpu_ns)},
			{"user_ns", value_count_if(known, row->user_ns)},
			{"syscall_ns", value_count_if(known, row->syscall_ns)},
			{"irq_ns", value_count_if(known, row->irq_ns)},
			{"runqueue_ns", value_count_if(known, row->runqueue_ns)},
			{"max_runqueue_ns", value_count_if(known, row->max_runqueue_ns)},
			{"blocked_ns", value_count_if(known, row->blocked_ns)},
			{"latencies", value_count_if(known, row->latencies)},
			{"latency_ns", value_count_if(row->latencies > 0, row->latency_ns)},
			{"latency_min_ns", value_count_if(row->latencies > 0, row->latency_min_ns)},
			{"latency_max_ns", value_count_if(row->latencies > 0, row->latency_max_ns)},
			{"prio", row->has_prio ? value_number(row->prio) : value_null()},
			{"switches", value_count_if(known, row->switches)},
			{"migrations", value_count_if(known, row->migrations)},
			{"wakeups", value_count_if(known, row->wakeups)},
			{"read_bytes", value_count_if(known, row->read_bytes)},
			{"write_bytes", value_count_if(known, row->write_bytes)},
			{"disk_read_bytes", value_count_if(known, row->disk_read_bytes)},
			{"disk_write_bytes", value_count_if(known, row->disk_write_bytes)},
			{"net_read_bytes", value_count_if(known, row->net_read_bytes)},
			{"net_write_bytes", value_count_if(known, row->net_write_bytes)},
			{"io_ns", value_count_if(known, row->io_ns)},
			{"open_fds", value_count_if(known, row->open_fds)},
			{"stack_depth", value_count(row->stack_depth)},
			{"context", value_name(row->context)});
	perf(json, row);
	json_out_close(json, '}');
}

static void syscall(struct json_out *json, const struct state_syscall *row)
{
	bool some = row->count > 0;

	JSON_OUT_ROW(json, {"host", value_name(row->host)}, {"name", value_text(row->name)},
			{"process", value_name(row->process)}, {"pid", id(row->pid)},
			{"tid", id(row->tid)}, {"count", value_count(row->count)},
			{"errors", value_count(row->errors)},
			{"running", value_count(row->running)},
			{"total_ns", value_count(row->total_ns)},
			{"mean_ns", value_real_if(some, row->mean_ns)},
			{"sd_ns", value_real_if(row->count > 1, row->sd_ns)},
			{"min_ns", value_count_if(some, row->min_ns)},
			{"max_ns", value_count_if(some, row->max_ns)});
}

static void fd(struct json_out *json, const struct state_fd *row)
{
	JSON_OUT_ROW(json, {"host", value_text(row->host)}, {"pid", id(row->pid)},
			{"process", value_name(row->process)}, {"fd", id(row->fd)},
			{"path", value_name(row->path)},
			{"kind", value_text(fd_kind_name(row->kind))},
			{"confidence", value_text(fd_confidence_name(row->confidence))},
			{"open", value_flag(row->open)}, {"uncertain", value_flag(row->uncertain)},
			{"opened_ns", value_count_if(row->opened_ns > 0, row->opened_ns)},
			{"closed_ns", value_count_if(row->closed_ns > 0, row->closed_ns)},
			{"reads", value_count(row->reads)}, {"writes", value_count(row->writes)},
			{"read_bytes", value_count(row->read_bytes)},
			{"write_bytes", value_count(row->write_bytes)},
			{"read_ns", value_count(row->read_ns)},
			{"write_ns", value_count(row->write_ns)},
			{"window_read_bytes", value_count(row->window_read_bytes)},
			{"window_write_bytes", value_count(row->window_write_bytes)});
}

static void disk(struct json_out *json, const struct state_disk *row)
{
	bool some = row->reads + row->writes > 0;

	JSON_OUT_ROW(json, {"host", value_text(row->host)}, {"name", value_text(row->name)},
			{"reads", value_count(row->reads)}, {"writes", value_count(row->writes)},
			{"read_bytes", value_count(row->read_bytes)},
			{"write_bytes", value_count(row->write_bytes)},
			{"errors", value_count(row->errors)},
			{"mean_ns", value_count_if(some, row->mean_ns)},
			{"max_ns", value_count_if(some, row->max_ns)},
			{"pending", value_count(row->pending)});
}

static void net(struct json_out *json, const struct state_net *row)
{
	JSON_OUT_ROW(json, {"host", value_text(row->host)}, {"name", value_text(row->name)},
			{"received_packets", value_count_if(row->has_received, row->received_packets)},
			{"received_bytes", value_count_if(row->has_received, row->received_bytes)},
			{"sent_packets", value_count_if(row->has_sent, row->sent_packets)},
			{"sent_bytes", value_count_if(row->has_sent, row->sent_bytes)});
}

static void irq(struct json_out *json, const struct state_irq *row)
{
	bool some = row->count > 0, raised = row->raised > 0;

	JSON_OUT_ROW(json, {"host", value_text(row->host)}, {"name", value_name(row->name)},
			{"soft", value_flag(row->soft)}, {"number", id(row->number)},
			{"count", value_count(row->count)},
			{"total_ns", value_count(row->total_ns)},
			{"min_ns", value_count_if(some, row->min_ns)},
			{"max_ns", value_count_if(some, row->max_ns)},
			{"raised", value_count_if(row->soft, row->raised)},
			{"raise_mean_ns", value_count_if(raised, row->raise_mean_ns)},
			{"raise_max_ns", value_count_if(raised, row->raise_max_ns)});
}

static void event(struct json_out *json, const struct state_event *row)
{
	JSON_OUT_ROW(json, {"time_ns", value_count(row->ts_ns)}, {"host", value_text(row->host)},
			{"name", value_text(row->name)},
			{"cpu", row->cpu == UINT32_MAX ? value_null() : value_count(row->cpu)},
			{"tid", id(row->tid)}, {"values", value_text(row->values)},
			{"older", value_flag(row->older)});
}

#define ADD(json, key, items, n, row)                                                              \
	do {                                                                                       \
		uint32_t i_;                                                                       \
		json_out_open(json, key, '[');                                                     \
		for (i_ = 0; i_ < (n) && i_ < ROWS; i_++) {                                        \
			row(json, &(items)[i_]);                                                   \
		}                                                                                  \
		json_out_close(json, ']');                                                         \
	} while (0)

static void left_out(struct json_out *json, const char *key, uint32_t n)
{
	if (n > ROWS) {
		json_out_value(json, key, value_count(n - ROWS));
	}
}

void output_json_state(struct json_out *json, const struct state_view *state)
{
	json_out_open(json, "state", '{');
	JSON_OUT_MEMBERS(json, {"at_ns", value_count_if(state->at_ns > 0, state->at_ns)},
			{"window_ns", value_count(state->window_ns)},
			{"measured", value_flag(state->measured)},
			{"trimmed", value_flag(state->trimmed)});
	ADD(json, "hosts", state->hosts, state->n_hosts, host);
	ADD(json, "cpus", state->cpus, state->n_cpus, cpu);
	ADD(json, "threads", state->threads, state->n_threads, thread);
	ADD(json, "syscalls", state->syscalls, state->n_syscalls, syscall);
	ADD(json, "fds", state->fds, state->n_fds, fd);
	ADD(json, "disks", state->disks, state->n_disks, disk);
	ADD(json, "nets", state->nets, state->n_nets, net);
	ADD(json, "irqs", state->irqs, state->n_irqs, irq);
	ADD(json, "events", state->events, state->n_events, event);
	json_out_open(json, "left_out", '{');
	left_out(json, "hosts", state->n_hosts);
	left_out(json, "cpus", state->n_cpus);
	left_out(json, "threads", state->n_threads);
	left_out(json, "syscalls", state->n_syscalls);
	left_out(json, "fds", state->n_fds);
	left_out(json, "disks", state->n_disks);
	left_out(json, "nets", state->n_nets);
	left_out(json, "irqs", state->n_irqs);
	left_out(json, "events", state->n_events);
	json_out_close(json, '}');
	json_out_close(json, '}');
}
