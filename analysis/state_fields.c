/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pythiatop/snapshot/state_fields.h"
#include "pythiatop/snapshot/state.h"
#include "row_fields.h"

/* --- when a figure is known ------------------------------------------------------------------- */

KNOWN(has_kernel, state_host, row->has_kernel)
KNOWN(cpu_known, state_cpu, row->known_ns > 0)
KNOWN(cpu_has_frequency, state_cpu, row->frequency_khz > 0)
KNOWN(measured, state_thread, row->measured)
KNOWN(thread_has_since, state_thread, row->since_ns > 0)
KNOWN(thread_has_latency, state_thread, row->latencies > 0)
KNOWN(thread_has_prio, state_thread, row->has_prio)
KNOWN(syscall_ended, state_syscall, row->count > 0)
KNOWN(syscall_has_sd, state_syscall, row->count > 1)
KNOWN(fd_has_opened, state_fd, row->opened_ns > 0)
KNOWN(fd_has_closed, state_fd, row->closed_ns > 0)
KNOWN(disk_used, state_disk, row->reads + row->writes > 0)
KNOWN(net_receives, state_net, row->has_received)
KNOWN(net_sends, state_net, row->has_sent)
KNOWN(irq_ended, state_irq, row->count > 0)
KNOWN(irq_is_soft, state_irq, row->soft)
KNOWN(irq_was_raised, state_irq, row->raised > 0)
KNOWN(event_has_cpu, state_event, row->cpu != UINT32_MAX)

/* --- what is derived -------------------------------------------------------------------------- */

DERIVED(host_threads_share, state_host, row_ratio(row->threads_ns, row->capacity_ns))
DERIVED(host_irq_share, state_host, row_ratio(row->irq_ns, row->capacity_ns))
DERIVED(host_idle_share, state_host, row_ratio(row->idle_ns, row->capacity_ns))
DERIVED(host_unknown_share, state_host, row_ratio(row->unknown_ns, row->capacity_ns))
DERIVED(thread_status, state_thread, row_text(thread_status_name(row->status)))
DERIVED(fd_kind, state_fd, row_text(fd_kind_name(row->kind)))
DERIVED(fd_confidence, state_fd, row_text(fd_confidence_name(row->confidence)))
DERIVED(fd_operations, state_fd, row_count(row->reads + row->writes))
DERIVED(fd_latency, state_fd, row_ratio(row->read_ns + row->write_ns, row->reads + row->writes))
DERIVED(fd_window_bytes, state_fd, row_count(row->window_read_bytes + row->window_write_bytes))
DERIVED(irq_kind, state_irq, row_text(row->soft ? "softirq" : "irq"))
DERIVED(irq_mean, state_irq, row_ratio(row->total_ns, row->count))
DERIVED(thread_disk_bytes, state_thread, row_count(row->disk_read_bytes + row->disk_write_bytes))
DERIVED(thread_net_bytes, state_thread, row_count(row->net_read_bytes + row->net_write_bytes))

/* Neither to a disk nor to the network: pipes, terminals, or not known what. */
static struct row_value thread_other_bytes(const void *of)
{
	const struct state_thread *row = of;
	uint64_t all = row->read_bytes + row->write_bytes;
	uint64_t told = row->disk_read_bytes + row->disk_write_bytes + row->net_read_bytes +
			row->net_write_bytes;

	return row_count(all > told ? all - told : 0);
}

/* --- the tables ------------------------------------------------------------------------------- */

#define X(...) FIELD_OF(state_host, __VA_ARGS__)
const struct row_field state_host_fields[] = {STATE_HOST_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_cpu, __VA_ARGS__)
const struct row_field state_cpu_fields[] = {STATE_CPU_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_thread, __VA_ARGS__)
const struct row_field state_thread_fields[] = {STATE_THREAD_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_syscall, __VA_ARGS__)
const struct row_field state_syscall_fields[] = {STATE_SYSCALL_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_fd, __VA_ARGS__)
const struct row_field state_fd_fields[] = {STATE_FD_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_disk, __VA_ARGS__)
const struct row_field state_disk_fields[] = {STATE_DISK_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_net, __VA_ARGS__)
const struct row_field state_net_fields[] = {STATE_NET_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_irq, __VA_ARGS__)
const struct row_field state_irq_fields[] = {STATE_IRQ_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(state_event, __VA_ARGS__)
const struct row_field state_event_fields[] = {STATE_EVENT_FIELDS(X)};
#undef X
