/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_STATE_FIELDS_H
#define PYTHIATOP_SNAPSHOT_STATE_FIELDS_H

#include "pythiatop/snapshot/row_field.h"

/* The fields of the state's rows (state.h). */
#define STATE_HOST_FIELDS(X)                                                                       \
	X(HOST_HOST, "host", TEXT, host, NONE, NULL)                                               \
	X(HOST_KERNEL, "kernel", NAME, kernel, NONE, NULL)                                         \
	X(HOST_HAS_KERNEL, "has_kernel", FLAG, has_kernel, NONE, NULL)                             \
	X(HOST_STATEDUMP, "statedump", FLAG, statedump, NONE, NULL)                                \
	X(HOST_CPUS, "cpus", U32, cpus, COUNT, has_kernel)                                         \
	X(HOST_THREADS, "threads", U32, threads, COUNT, NULL)                                      \
	X(HOST_OPEN_FDS, "open_fds", U32, open_fds, COUNT, has_kernel)                             \
	X(HOST_WINDOW, "window_ns", U64, window_ns, NS, NULL)                                      \
	X(HOST_EVENTS_PER_S, "events_per_s", REAL, events_per_s, PER_S, NULL)                      \
	X(HOST_DISCARDED, "discarded", U64, discarded, COUNT, NULL)                                \
	X(HOST_CAPACITY, "capacity_ns", U64, capacity_ns, NS, has_kernel)                          \
	X(HOST_THREADS_NS, "threads_ns", U64, threads_ns, NS, has_kernel)                          \
	X(HOST_IDLE_NS, "idle_ns", U64, idle_ns, NS, has_kernel)                                   \
	X(HOST_IRQ_NS, "irq_ns", U64, irq_ns, NS, has_kernel)                                      \
	X(HOST_UNKNOWN_NS, "unknown_ns", U64, unknown_ns, NS, has_kernel)                          \
	X(HOST_THREADS_SHARE, NULL, READ, host_threads_share, SHARE, NULL)                         \
	X(HOST_IRQ_SHARE, NULL, READ, host_irq_share, SHARE, NULL)                                 \
	X(HOST_IDLE_SHARE, NULL, READ, host_idle_share, SHARE, NULL)                               \
	X(HOST_UNKNOWN_SHARE, NULL, READ, host_unknown_share, SHARE, NULL)

#define STATE_CPU_FIELDS(X)                                                                        \
	X(CPU_HOST, "host", TEXT, host, NONE, NULL)                                                \
	X(CPU_CPU, "cpu", U32, cpu, ID, NULL)                                                      \
	X(CPU_BUSY, "busy_percent", REAL, busy_percent, NONE, cpu_known)                           \
	X(CPU_KNOWN, "known_ns", U64, known_ns, NS, NULL)                                          \
	X(CPU_USER, "user_ns", U64, user_ns, NS, cpu_known)                                        \
	X(CPU_SYSCALL, "syscall_ns", U64, syscall_ns, NS, cpu_known)                               \
	X(CPU_IRQ, "irq_ns", U64, irq_ns, NS, cpu_known)                                           \
	X(CPU_SOFTIRQ, "softirq_ns", U64, softirq_ns, NS, cpu_known)                               \
	X(CPU_IDLE, "idle_ns", U64, idle_ns, NS, cpu_known)                                        \
	X(CPU_TID, "tid", ID, tid, ID, NULL)                                                       \
	X(CPU_NAME, "name", NAME, name, NONE, NULL)                                                \
	X(CPU_FREQUENCY, "frequency_khz", U64, frequency_khz, NONE, cpu_has_frequency)

#define STATE_THREAD_FIELDS(X)                                                                     \
	X(THREAD_HOST, "host", TEXT, host, NONE, NULL)                                             \
	X(THREAD_TID, "tid", ID, tid, ID, NULL)                                                    \
	X(THREAD_PID, "pid", ID, pid, ID, NULL)                                                    \
	X(THREAD_PPID, "ppid", ID, ppid, ID, NULL)                                                 \
	X(THREAD_VTID, "vtid", ID, vtid, ID, NULL)                                                 \
	X(THREAD_VPID, "vpid", ID, vpid, ID, NULL)                                                 \
	X(THREAD_NAME, "name", NAME, name, NONE, NULL)                                             \
	X(THREAD_STATUS, "status", READ, thread_status, NONE, NULL)                                \
	X(THREAD_SINCE, "since_ns", U64, since_ns, CLOCK, thread_has_since)                        \
	X(THREAD_SYSCALL, "syscall", NAME, syscall, NONE, NULL)                                    \
	X(THREAD_WAITS_FOR, "waits_for", NAME, waits_for, NONE, NULL)                              \
	X(THREAD_WAKER, "waker_tid", ID, waker_tid, ID, NULL)                                      \
	X(THREAD_UNCERTAIN, "uncertain", FLAG, uncertain, NONE, NULL)                              \
	X(THREAD_CPU, "cpu_ns", U64, cpu_ns, NS, measured)                                         \
	X(THREAD_USER, "user_ns", U64, user_ns, NS, measured)                                      \
	X(THREAD_SYSTEM, "syscall_ns", U64, syscall_ns, NS, measured)                              \
	X(THREAD_IRQ, "irq_ns", U64, irq_ns, NS, measured)                                         \
	X(THREAD_RUNQUEUE, "runqueue_ns", U64, runqueue_ns, NS, measured)                          \
	X(THREAD_RUNQUEUE_MAX, "max_runqueue_ns", U64, max_runqueue_ns, NS, measured)              \
	X(THREAD_BLOCKED_NS, "blocked_ns", U64, blocked_ns, NS, measured)                          \
	X(THREAD_LATENCIES, "latencies", U64, latencies, COUNT, measured)                          \
	X(THREAD_LATENCY, "latency_ns", U64, latency_ns, NS, thread_has_latency)                   \
	X(THREAD_LATENCY_MIN, "latency_min_ns", U64, latency_min_ns, NS, thread_has_latency)       \
	X(THREAD_LATENCY_MAX, "latency_max_ns", U64, latency_max_ns, NS, thread_has_latency)       \
	X(THREAD_PRIO, "prio", I32, prio, NONE, thread_has_prio)                                   \
	X(THREAD_SWITCHES, "switches", U64, switches, COUNT, measured)                             \
	X(THREAD_MIGRATIONS, "migrations", U64, migrations, COUNT, measured)                       \
	X(THREAD_WAKEUPS, "wakeups", U64, wakeups, COUNT, measured)                                \
	X(THREAD_READ, "read_bytes", U64, read_bytes, BYTES, measured)                             \
	X(THREAD_WRITE, "write_bytes", U64, write_bytes, BYTES, measured)                          \
	X(THREAD_DISK_READ, "disk_read_bytes", U64, disk_read_bytes, BYTES, measured)              \
	X(THREAD_DISK_WRITE, "disk_write_bytes", U64, disk_write_bytes, BYTES, measured)           \
	X(THREAD_NET_READ, "net_read_bytes", U64, net_read_bytes, BYTES, measured)                 \
	X(THREAD_NET_WRITE, "net_write_bytes", U64, net_write_bytes, BYTES, measured)              \
	X(THREAD_IO, "io_ns", U64, io_ns, NS, measured)                                            \
	X(THREAD_OPEN_FDS, "open_fds", U32, open_fds, COUNT, measured)                             \
	X(THREAD_STACK_DEPTH, "stack_depth", U32, stack_depth, COUNT, NULL)                        \
	X(THREAD_CONTEXT, "context", NAME, context, NONE, NULL)                                    \
	X(THREAD_DISK, NULL, READ, thread_disk_bytes, BYTES, measured)                             \
	X(THREAD_NET, NULL, READ, thread_net_bytes, BYTES, measured)                               \
	X(THREAD_OTHER, NULL, READ, thread_other_bytes, BYTES, measured)

#define STATE_SYSCALL_FIELDS(X)                                                                    \
	X(SYSCALL_HOST, "host", NAME, host, NONE, NULL)                                            \
	X(SYSCALL_NAME, "name", TEXT, name, NONE, NULL)                                            \
	X(SYSCALL_PROCESS, "process", NAME, process, NONE, NULL)                                   \
	X(SYSCALL_PID, "pid", ID, pid, ID, NULL)                                                   \
	X(SYSCALL_TID, "tid", ID, tid, ID, NULL)                                                   \
	X(SYSCALL_SUMMED, "summed", FLAG, summed, NONE, NULL)                                      \
	X(SYSCALL_COUNT, "count", U64, count, COUNT, NULL)                                         \
	X(SYSCALL_ERRORS, "errors", U64, errors, COUNT, NULL)                                      \
	X(SYSCALL_RUNNING, "running", U64, running, COUNT, NULL)                                   \
	X(SYSCALL_TOTAL, "total_ns", U64, total_ns, NS, NULL)                                      \
	X(SYSCALL_MEAN, "mean_ns", REAL, mean_ns, NS, syscall_ended)                               \
	X(SYSCALL_SD, "sd_ns", REAL, sd_ns, NS, syscall_has_sd)                                    \
	X(SYSCALL_MIN, "min_ns", U64, min_ns, NS, syscall_ended)                                   \
	X(SYSCALL_MAX, "max_ns", U64, max_ns, NS, syscall_ended)

#define STATE_FD_FIELDS(X)                                                                         \
	X(FD_HOST, "host", TEXT, host, NONE, NULL)                                                 \
	X(FD_PID, "pid", ID, pid, ID, NULL)                                                        \
	X(FD_PROCESS, "process", NAME, process, NONE, NULL)                                        \
	X(FD_NUMBER, "fd", ID32, fd, ID, NULL)                                                     \
	X(FD_PATH, "path", NAME, path, NONE, NULL)                                                 \
	X(FD_KIND, "kind", READ, fd_kind, NONE, NULL)                                              \
	X(FD_CONFIDENCE, "confidence", READ, fd_confidence, NONE, NULL)                            \
	X(FD_OPEN, "open", FLAG, open, NONE, NULL)                                                 \
	X(FD_UNCERTAIN, "uncertain", FLAG, uncertain, NONE, NULL)                                  \
	X(FD_OPENED, "opened_ns", U64, opened_ns, CLOCK, fd_has_opened)                            \
	X(FD_CLOSED, "closed_ns", U64, closed_ns, CLOCK, fd_has_closed)                            \
	X(FD_READS, "reads", U64, reads, COUNT, NULL)                                              \
	X(FD_WRITES, "writes", U64, writes, COUNT, NULL)                                           \
	X(FD_READ, "read_bytes", U64, read_bytes, BYTES, NULL)                                     \
	X(FD_WRITE, "write_bytes", U64, write_bytes, BYTES, NULL)                                  \
	X(FD_READ_NS, "read_ns", U64, read_ns, NS, NULL)                                           \
	X(FD_WRITE_NS, "write_ns", U64, write_ns, NS, NULL)                                        \
	X(FD_WINDOW_READ, "window_read_bytes", U64, window_read_bytes, BYTES, NULL)                \
	X(FD_WINDOW_WRITE, "window_write_bytes", U64, window_write_bytes, BYTES, NULL)             \
	X(FD_OPERATIONS, NULL, READ, fd_operations, COUNT, NULL)                                   \
	X(FD_LATENCY, NULL, READ, fd_latency, NS, NULL)                                            \
	X(FD_WINDOW, NULL, READ, fd_window_bytes, BYTES, NULL)

#define STATE_DISK_FIELDS(X)                                                                       \
	X(DISK_HOST, "host", TEXT, host, NONE, NULL)                                               \
	X(DISK_NAME, "name", TEXT, name, NONE, NULL)                                               \
	X(DISK_READS, "reads", U64, reads, COUNT, NULL)                                            \
	X(DISK_WRITES, "writes", U64, writes, COUNT, NULL)                                         \
	X(DISK_READ, "read_bytes", U64, read_bytes, BYTES, NULL)                                   \
	X(DISK_WRITE, "write_bytes", U64, write_bytes, BYTES, NULL)                                \
	X(DISK_ERRORS, "errors", U64, errors, COUNT, NULL)                                         \
	X(DISK_MEAN, "mean_ns", U64, mean_ns, NS, disk_used)                                       \
	X(DISK_MAX, "max_ns", U64, max_ns, NS, disk_used)                                          \
	X(DISK_PENDING, "pending", U32, pending, COUNT, NULL)

#define STATE_NET_FIELDS(X)                                                                        \
	X(NET_HOST, "host", TEXT, host, NONE, NULL)                                                \
	X(NET_NAME, "name", TEXT, name, NONE, NULL)                                                \
	X(NET_RECEIVED, "received_packets", U64, received_packets, COUNT, net_receives)            \
	X(NET_RECEIVED_BYTES, "received_bytes", U64, received_bytes, BYTES, net_receives)          \
	X(NET_SENT, "sent_packets", U64, sent_packets, COUNT, net_sends)                           \
	X(NET_SENT_BYTES, "sent_bytes", U64, sent_bytes, BYTES, net_sends)

#define STATE_IRQ_FIELDS(X)                                                                        \
	X(IRQ_HOST, "host", TEXT, host, NONE, NULL)                                                \
	X(IRQ_NAME, "name", NAME, name, NONE, NULL)                                                \
	X(IRQ_SOFT, "soft", FLAG, soft, NONE, NULL)                                                \
	X(IRQ_NUMBER, "number", ID, number, ID, NULL)                                              \
	X(IRQ_COUNT, "count", U64, count, COUNT, NULL)                                             \
	X(IRQ_TOTAL, "total_ns", U64, total_ns, NS, NULL)                                          \
	X(IRQ_MIN, "min_ns", U64, min_ns, NS, irq_ended)                                           \
	X(IRQ_MAX, "max_ns", U64, max_ns, NS, irq_ended)                                           \
	X(IRQ_RAISED, "raised", U64, raised, COUNT, irq_is_soft)                                   \
	X(IRQ_RAISE_MEAN, "raise_mean_ns", U64, raise_mean_ns, NS, irq_was_raised)                 \
	X(IRQ_RAISE_MAX, "raise_max_ns", U64, raise_max_ns, NS, irq_was_raised)                    \
	X(IRQ_KIND, NULL, READ, irq_kind, NONE, NULL)                                              \
	X(IRQ_MEAN, NULL, READ, irq_mean, NS, NULL)

#define STATE_EVENT_FIELDS(X)                                                                      \
	X(EVENT_TIME, "time_ns", U64, ts_ns, CLOCK, NULL)                                          \
	X(EVENT_HOST, "host", TEXT, host, NONE, NULL)                                              \
	X(EVENT_NAME, "name", TEXT, name, NONE, NULL)                                              \
	X(EVENT_CPU, "cpu", U32, cpu, ID, event_has_cpu)                                           \
	X(EVENT_TID, "tid", ID, tid, ID, NULL)                                                     \
	X(EVENT_VALUES, "values", TEXT, values, NONE, NULL)                                        \
	X(EVENT_OLDER, "older", FLAG, older, NONE, NULL)

enum state_host_field { STATE_HOST_FIELDS(ROW_FIELD_ID) HOST_FIELDS };
enum state_cpu_field { STATE_CPU_FIELDS(ROW_FIELD_ID) CPU_FIELDS };
enum state_thread_field { STATE_THREAD_FIELDS(ROW_FIELD_ID) THREAD_FIELDS };
enum state_syscall_field { STATE_SYSCALL_FIELDS(ROW_FIELD_ID) SYSCALL_FIELDS };
enum state_fd_field { STATE_FD_FIELDS(ROW_FIELD_ID) FD_FIELDS };
enum state_disk_field { STATE_DISK_FIELDS(ROW_FIELD_ID) DISK_FIELDS };
enum state_net_field { STATE_NET_FIELDS(ROW_FIELD_ID) NET_FIELDS };
enum state_irq_field { STATE_IRQ_FIELDS(ROW_FIELD_ID) IRQ_FIELDS };
enum state_event_field { STATE_EVENT_FIELDS(ROW_FIELD_ID) EVENT_FIELDS };

extern const struct row_field state_host_fields[HOST_FIELDS], state_cpu_fields[CPU_FIELDS],
		state_thread_fields[THREAD_FIELDS], state_syscall_fields[SYSCALL_FIELDS],
		state_fd_fields[FD_FIELDS], state_disk_fields[DISK_FIELDS],
		state_net_fields[NET_FIELDS], state_irq_fields[IRQ_FIELDS],
		state_event_fields[EVENT_FIELDS];

#endif
