/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/json_values.h"
#include "pythiatop/text.h"

/*
 * The state of the systems as JSON. What was not measured is null. Each array has at most ROWS
 * rows, in the order of the screen, and `left_out` tells how many more there are.
 */
#define ROWS 1000

/* An id, or null where -1 says that it is not known. */
static json_t *id(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *host(const struct state_host *row)
{
	bool known = row->has_kernel;

	return OBJECT({"host", json_text(row->host)}, {"kernel", json_name(row->kernel)},
			{"has_kernel", json_boolean(row->has_kernel)},
			{"statedump", json_boolean(row->statedump)},
			{"cpus", json_count_if(known, row->cpus)},
			{"threads", json_count(row->threads)},
			{"open_fds", json_count_if(known, row->open_fds)},
			{"events_per_s", json_real_if(true, row->events_per_s)},
			{"discarded", json_count(row->discarded)},
			{"capacity_ns", json_count_if(known, row->capacity_ns)},
			{"threads_ns", json_count_if(known, row->threads_ns)},
			{"idle_ns", json_count_if(known, row->idle_ns)},
			{"irq_ns", json_count_if(known, row->irq_ns)},
			{"unknown_ns", json_count_if(known, row->unknown_ns)});
}

static json_t *cpu(const struct state_cpu *row)
{
	bool known = row->known_ns > 0;

	return OBJECT({"host", json_text(row->host)}, {"cpu", json_count(row->cpu)},
			{"busy_percent", json_real_if(known, row->busy_percent)},
			{"known_ns", json_count(row->known_ns)},
			{"user_ns", json_count_if(known, row->user_ns)},
			{"syscall_ns", json_count_if(known, row->syscall_ns)},
			{"irq_ns", json_count_if(known, row->irq_ns)},
			{"softirq_ns", json_count_if(known, row->softirq_ns)},
			{"idle_ns", json_count_if(known, row->idle_ns)}, {"tid", id(row->tid)},
			{"name", json_name(row->name)},
			{"frequency_khz",
					json_count_if(row->frequency_khz > 0, row->frequency_khz)});
}

static json_t *perf(const struct state_thread *row)
{
	json_t *counters = json_object();
	char safe[256];
	uint32_t i;

	for (i = 0; i < row->n_perf; i++) {
		text_escape(safe, sizeof(safe), row->perf[i].name);
		json_object_set_new(counters, safe, json_count(row->perf[i].value));
	}
	return counters;
}

static json_t *thread(const struct state_thread *row)
{
	bool known = row->measured;

	return OBJECT({"host", json_text(row->host)}, {"tid", id(row->tid)}, {"pid", id(row->pid)},
			{"ppid", id(row->ppid)}, {"vtid", id(row->vtid)}, {"vpid", id(row->vpid)},
			{"name", json_name(row->name)},
			{"status", json_string(thread_status_name(row->status))},
			{"since_ns", json_count_if(row->since_ns > 0, row->since_ns)},
			{"syscall", json_name(row->syscall)},
			{"waits_for", json_name(row->waits_for)}, {"waker_tid", id(row->waker_tid)},
			{"uncertain", json_boolean(row->uncertain)},
			{"cpu_ns", json_count_if(known, row->cpu_ns)},
			{"user_ns", json_count_if(known, row->user_ns)},
			{"syscall_ns", json_count_if(known, row->syscall_ns)},
			{"irq_ns", json_count_if(known, row->irq_ns)},
			{"runqueue_ns", json_count_if(known, row->runqueue_ns)},
			{"max_runqueue_ns", json_count_if(known, row->max_runqueue_ns)},
			{"blocked_ns", json_count_if(known, row->blocked_ns)},
			{"latencies", json_count_if(known, row->latencies)},
			{"latency_ns", json_count_if(row->latencies > 0, row->latency_ns)},
			{"latency_min_ns", json_count_if(row->latencies > 0, row->latency_min_ns)},
			{"latency_max_ns", json_count_if(row->latencies > 0, row->latency_max_ns)},
			{"prio", row->has_prio ? json_integer(row->prio) : json_null()},
			{"switches", json_count_if(known, row->switches)},
			{"migrations", json_count_if(known, row->migrations)},
			{"wakeups", json_count_if(known, row->wakeups)},
			{"read_bytes", json_count_if(known, row->read_bytes)},
			{"write_bytes", json_count_if(known, row->write_bytes)},
			{"disk_read_bytes", json_count_if(known, row->disk_read_bytes)},
			{"disk_write_bytes", json_count_if(known, row->disk_write_bytes)},
			{"net_read_bytes", json_count_if(known, row->net_read_bytes)},
			{"net_write_bytes", json_count_if(known, row->net_write_bytes)},
			{"io_ns", json_count_if(known, row->io_ns)},
			{"open_fds", json_count_if(known, row->open_fds)},
			{"stack_depth", json_count(row->stack_depth)},
			{"context", json_name(row->context)}, {"perf", perf(row)});
}

static json_t *syscall(const struct state_syscall *row)
{
	bool some = row->count > 0;

	return OBJECT({"host", json_name(row->host)}, {"name", json_text(row->name)},
			{"process", json_name(row->process)}, {"pid", id(row->pid)},
			{"tid", id(row->tid)}, {"count", json_count(row->count)},
			{"errors", json_count(row->errors)}, {"running", json_count(row->running)},
			{"total_ns", json_count(row->total_ns)},
			{"mean_ns", json_real_if(some, row->mean_ns)},
			{"sd_ns", json_real_if(row->count > 1, row->sd_ns)},
			{"min_ns", json_count_if(some, row->min_ns)},
			{"max_ns", json_count_if(some, row->max_ns)});
}

static json_t *fd(const struct state_fd *row)
{
	return OBJECT({"host", json_text(row->host)}, {"pid", id(row->pid)},
			{"process", json_name(row->process)}, {"fd", id(row->fd)},
			{"path", json_name(row->path)},
			{"kind", json_string(fd_kind_name(row->kind))},
			{"confidence", json_string(fd_confidence_name(row->confidence))},
			{"open", json_boolean(row->open)},
			{"uncertain", json_boolean(row->uncertain)},
			{"opened_ns", json_count_if(row->opened_ns > 0, row->opened_ns)},
			{"closed_ns", json_count_if(row->closed_ns > 0, row->closed_ns)},
			{"reads", json_count(row->reads)}, {"writes", json_count(row->writes)},
			{"read_bytes", json_count(row->read_bytes)},
			{"write_bytes", json_count(row->write_bytes)},
			{"read_ns", json_count(row->read_ns)},
			{"write_ns", json_count(row->write_ns)},
			{"window_read_bytes", json_count(row->window_read_bytes)},
			{"window_write_bytes", json_count(row->window_write_bytes)});
}

static json_t *disk(const struct state_disk *row)
{
	bool some = row->reads + row->writes > 0;

	return OBJECT({"host", json_text(row->host)}, {"name", json_text(row->name)},
			{"reads", json_count(row->reads)}, {"writes", json_count(row->writes)},
			{"read_bytes", json_count(row->read_bytes)},
			{"write_bytes", json_count(row->write_bytes)},
			{"errors", json_count(row->errors)},
			{"mean_ns", json_count_if(some, row->mean_ns)},
			{"max_ns", json_count_if(some, row->max_ns)},
			{"pending", json_count(row->pending)});
}

static json_t *net(const struct state_net *row)
{
	return OBJECT({"host", json_text(row->host)}, {"name", json_text(row->name)},
			{"received_packets", json_count(row->received_packets)},
			{"received_bytes", json_count(row->received_bytes)},
			{"sent_packets", json_count(row->sent_packets)},
			{"sent_bytes", json_count(row->sent_bytes)});
}

static json_t *irq(const struct state_irq *row)
{
	bool some = row->count > 0, raised = row->raised > 0;

	return OBJECT({"host", json_text(row->host)}, {"name", json_name(row->name)},
			{"soft", json_boolean(row->soft)}, {"number", id(row->number)},
			{"count", json_count(row->count)}, {"total_ns", json_count(row->total_ns)},
			{"min_ns", json_count_if(some, row->min_ns)},
			{"max_ns", json_count_if(some, row->max_ns)},
			{"raised", json_count_if(row->soft, row->raised)},
			{"raise_mean_ns", json_count_if(raised, row->raise_mean_ns)},
			{"raise_max_ns", json_count_if(raised, row->raise_max_ns)});
}

static json_t *event(const struct state_event *row)
{
	return OBJECT({"time_ns", json_count(row->ts_ns)}, {"host", json_text(row->host)},
			{"name", json_text(row->name)},
			{"cpu", row->cpu == UINT32_MAX ? json_null() : json_count(row->cpu)},
			{"tid", id(row->tid)}, {"values", json_text(row->values)},
			{"older", json_boolean(row->older)});
}

#define ADD(document, left_out, key, items, n, convert)                                            \
	do {                                                                                       \
		json_t *array_ = json_array();                                                     \
		uint32_t i_, rows_ = (n) < ROWS ? (n) : ROWS;                                      \
		for (i_ = 0; i_ < rows_; i_++) {                                                   \
			json_array_append_new(array_, convert(&(items)[i_]));                      \
		}                                                                                  \
		json_object_set_new(document, key, array_);                                        \
		if ((n) > ROWS) {                                                                  \
			json_object_set_new(left_out, key, json_count((n)-ROWS));                  \
		}                                                                                  \
	} while (0)

json_t *output_json_state(const struct state_view *state)
{
	json_t *left_out = json_object();
	json_t *document = OBJECT({"at_ns", json_count_if(state->at_ns > 0, state->at_ns)},
			{"window_ns", json_count(state->window_ns)},
			{"measured", json_boolean(state->measured)},
			{"trimmed", json_boolean(state->trimmed)});

	ADD(document, left_out, "hosts", state->hosts, state->n_hosts, host);
	ADD(document, left_out, "cpus", state->cpus, state->n_cpus, cpu);
	ADD(document, left_out, "threads", state->threads, state->n_threads, thread);
	ADD(document, left_out, "syscalls", state->syscalls, state->n_syscalls, syscall);
	ADD(document, left_out, "fds", state->fds, state->n_fds, fd);
	ADD(document, left_out, "disks", state->disks, state->n_disks, disk);
	ADD(document, left_out, "nets", state->nets, state->n_nets, net);
	ADD(document, left_out, "irqs", state->irqs, state->n_irqs, irq);
	ADD(document, left_out, "events", state->events, state->n_events, event);
	json_object_set_new(document, "left_out", left_out);
	return document;
}
