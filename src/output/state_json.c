/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/json_out.h"
#include "pythiatop/snapshot/state_fields.h"
#include "pythiatop/text.h"

/*
 * The state of the systems as JSON. What was not measured is null. Each array has at most ROWS
 * rows, in the order of the screen, and `left_out` tells how many more there are.
 */
#define ROWS 1000

#define ROW(what, fields, n)                                                                       \
	static void what(struct json_out *json, const struct state_##what *row)                    \
	{                                                                                          \
		json_out_row(json, fields, n, row);                                                \
	}

ROW(host, state_host_fields, HOST_FIELDS)
ROW(cpu, state_cpu_fields, CPU_FIELDS)
ROW(syscall, state_syscall_fields, SYSCALL_FIELDS)
ROW(fd, state_fd_fields, FD_FIELDS)
ROW(disk, state_disk_fields, DISK_FIELDS)
ROW(net, state_net_fields, NET_FIELDS)
ROW(irq, state_irq_fields, IRQ_FIELDS)
ROW(event, state_event_fields, EVENT_FIELDS)

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
	json_out_open(json, NULL, '{');
	json_out_fields(json, state_thread_fields, 0, THREAD_FIELDS - 1, row);
	perf(json, row);
	json_out_close(json, '}');
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
