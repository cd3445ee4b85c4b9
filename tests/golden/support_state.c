/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_state.h"

#include <stdlib.h>
#include <string.h>

#define MS     1000000ull
#define SECOND (1000 * MS)

/*
 * Two hosts with kernel events, one without. "compute" waits for a lock on compute-1; tar writes
 * the disk; one thread lives in a container.
 */
static const struct state_host made_hosts[] = {
		{.host = "compute-1",
				.kernel = "6.2.0-26-generic",
				.has_kernel = true,
				.statedump = true,
				.cpus = 2,
				.threads = 6,
				.open_fds = 31,
				.events_per_s = 7600,
				.capacity_ns = 20 * SECOND,
				.threads_ns = 8 * SECOND,
				.idle_ns = 11 * SECOND,
				.irq_ns = 200 * MS,
				.unknown_ns = 800 * MS},
		{.host = "controller",
				.kernel = "5.15.0",
				.has_kernel = true,
				.cpus = 1,
				.threads = 2,
				.open_fds = 4,
				.events_per_s = 410,
				.discarded = 728,
				.capacity_ns = 10 * SECOND,
				.threads_ns = 1 * SECOND,
				.idle_ns = 9 * SECOND},
		{.host = "net-1", .kernel = "", .threads = 1, .events_per_s = 12},
};

static const struct state_cpu made_cpus[] = {
		{"compute-1", 0, 71.4, 10 * SECOND, 5 * SECOND, 2 * SECOND, 100 * MS, 100 * MS,
				2800 * MS, 1300, "tar", 2400000},
		{"compute-1", 1, 8.1, 9200 * MS, 700 * MS, 100 * MS, 0, 0, 8400 * MS, 0, "idle",
				1200000},
		{"controller", 0, 0, 0, 0, 0, 0, 0, 0, -1, "", 0},
};

static const struct state_perf made_perf[][2] = {
		{{"perf_cpu_cycles", 4123000111}, {"perf_thread_cache_misses", 71200}},
		{{"perf_cpu_cycles", 99000}, {"perf_thread_cache_misses", 12}},
};

/* Ids that are left out are not known. */
static const struct state_thread made_threads[] = {
		{.id = 11,
				.host = "compute-1",
				.tid = 1300,
				.pid = 1300,
				.name = "tar",
				.status = THREAD_RUN_SYSCALL,
				.syscall = "write",
				.waits_for = "",
				.measured = true,
				.cpu_ns = 5 * SECOND,
				.user_ns = 3 * SECOND,
				.syscall_ns = 2 * SECOND,
				.runqueue_ns = 120 * MS,
				.blocked_ns = 4100 * MS,
				.switches = 812,
				.migrations = 3,
				.wakeups = 790,
				.max_runqueue_ns = 11 * MS,
				.read_bytes = 48200000,
				.write_bytes = 51000000,
				.disk_read_bytes = 48000000,
				.disk_write_bytes = 50100000,
				.io_ns = 4900 * MS,
				.open_fds = 5,
				.context = ""},
		{.id = 12,
				.host = "compute-1",
				.tid = 1211,
				.pid = 1204,
				.name = "compute",
				.status = THREAD_BLOCKED,
				.syscall = "futex",
				.waits_for = "lock",
				.waker_tid = 1205,
				.measured = true,
				.cpu_ns = 1900 * MS,
				.user_ns = 1700 * MS,
				.syscall_ns = 200 * MS,
				.runqueue_ns = 310 * MS,
				.blocked_ns = 7500 * MS,
				.switches = 96,
				.migrations = 9,
				.wakeups = 95,
				.max_runqueue_ns = 90 * MS,
				.read_bytes = 12000,
				.write_bytes = 3100,
				.net_read_bytes = 11000,
				.net_write_bytes = 3000,
				.io_ns = 40 * MS,
				.open_fds = 12,
				.stack_depth = 3,
				.context = "compute.build_instance"},
		{.id = 13,
				.host = "compute-1",
				.tid = 1204,
				.pid = 1204,
				.ppid = 1,
				.name = "compute",
				.status = THREAD_WAIT_CPU,
				.syscall = "",
				.waits_for = "",
				.measured = true,
				.uncertain = true,
				.cpu_ns = 900 * MS,
				.user_ns = 900 * MS,
				.runqueue_ns = 2 * SECOND,
				.max_runqueue_ns = 700 * MS,
				.blocked_ns = 6 * SECOND,
				.switches = 41,
				.wakeups = 40,
				.open_fds = 12,
				.context = ""},
		{.id = 14,
				.host = "compute-1",
				.tid = 900,
				.pid = 900,
				.ppid = 1,
				.name = "bash",
				.status = THREAD_BLOCKED,
				.syscall = "wait4",
				.waits_for = "child",
				.measured = true,
				.blocked_ns = 10 * SECOND,
				.read_bytes = 120000,
				.open_fds = 4,
				.context = ""},
		{.id = 15,
				.host = "compute-1",
				.tid = 1,
				.pid = 1,
				.ppid = 0,
				.name = "systemd",
				.status = THREAD_BLOCKED,
				.syscall = "epoll_wait",
				.waits_for = "epoll_wait",
				.measured = true,
				.blocked_ns = 10 * SECOND,
				.open_fds = 9,
				.context = ""},
		{.id = 16,
				.host = "compute-1",
				.tid = 2210,
				.pid = 2210,
				.vtid = 7,
				.vpid = 7,
				.ppid = 900,
				.name = "",
				.status = THREAD_DEAD,
				.syscall = "",
				.waits_for = "",
				.measured = true,
				.cpu_ns = 4 * MS,
				.user_ns = 4 * MS,
				.context = ""},
		{.id = 17,
				.host = "controller",
				.tid = 815,
				.pid = 811,
				.name = "api",
				.status = THREAD_UNKNOWN,
				.syscall = "",
				.waits_for = "",
				.measured = true,
				.context = "api.server_create",
				.stack_depth = 1},
		{.id = 18,
				.host = "net-1",
				.tid = 77,
				.pid = 77,
				.name = "network",
				.status = THREAD_UNKNOWN,
				.syscall = "",
				.waits_for = "",
				.context = ""},
};

static const struct state_syscall made_calls[] = {
		{"compute-1", "write", "", -1, -1, 12110, 0, 3 * SECOND, 1200, 41 * MS, 1, 247e3,
				800e3, true},
		{"compute-1", "write", "tar", 1300, 1300, 12000, 0, 2900 * MS, 1200, 41 * MS, 1,
				241e3, 790e3},
		{"compute-1", "futex", "", -1, -1, 96, 4, 2 * SECOND, 800, 900 * MS, 1, 20.8e6,
				90e6, true},
		{"compute-1", "futex", "compute", 1204, 1211, 95, 4, 1900 * MS, 800, 900 * MS, 1,
				20e6, 91e6},
		{"compute-1", "futex", "compute", 1204, 1204, 1, 0, 100 * MS, 100 * MS, 100 * MS, 0,
				100e6, 0},
		{"controller", "accept4", "", -1, -1, 0, 0, 0, 0, 0, 1, 0, 0, true},
		{"compute-1", "write", "compute", 1204, 1211, 110, 0, 100 * MS, 2000, 4 * MS, 0,
				909e3, 500e3},
};

static const struct state_fd made_fds[] = {
		{.id = 31,
				.host = "compute-1",
				.pid = 1204,
				.process = "compute",
				.fd = 4,
				.path = "/var/lib/nova/instances/7f3a/disk",
				.kind = FD_FILE,
				.confidence = FD_OBSERVED,
				.open = true,
				.opened_ns = 1699999995ull * SECOND,
				.read_bytes = 8000,
				.write_bytes = 1600000,
				.reads = 2,
				.writes = 40,
				.read_ns = 1 * MS,
				.write_ns = 80 * MS,
				.window_write_bytes = 3100},
		{.id = 32,
				.host = "compute-1",
				.pid = 1204,
				.process = "compute",
				.fd = 7,
				.path = "10.0.0.1:5672",
				.kind = FD_SOCKET,
				.confidence = FD_STATEDUMP,
				.open = true,
				.uncertain = true,
				.read_bytes = 11000,
				.write_bytes = 3000,
				.reads = 30,
				.writes = 9,
				.read_ns = 9 * MS,
				.write_ns = 1 * MS,
				.window_read_bytes = 11000},
		{.id = 33,
				.host = "compute-1",
				.pid = 1204,
				.process = "compute",
				.fd = 9,
				.path = "",
				.confidence = FD_GUESSED,
				.open = true,
				.reads = 1,
				.read_ns = 2000},
		{.id = 34,
				.host = "compute-1",
				.pid = 1204,
				.process = "compute",
				.fd = 5,
				.path = "/tmp/\x1b[2Jtest2",
				.kind = FD_FILE,
				.confidence = FD_OBSERVED,
				.open = false,
				.opened_ns = 1699999993ull * SECOND,
				.closed_ns = 1699999998ull * SECOND,
				.write_bytes = 16000,
				.writes = 1,
				.write_ns = 30000},
};

static const struct state_disk made_disks[] = {
		{"compute-1", "sda", 812, 1400, 48000000, 50100000, 0, 2100000, 41 * MS, 3},
		{"compute-1", "(8,16)", 0, 0, 0, 0, 1, 0, 0, 0},
};

static const struct state_net made_nets[] = {
		{"compute-1", "eth0", true, true, 1200, 1400000, 900, 81000},
		{"controller", "lo", false, true, 0, 0, 14, 900},
};

static const struct state_irq made_irqs[] = {
		{"compute-1", "ahci", false, 27, 2200, 31 * MS, 4000, 190000, 0, 0, 0},
		{"compute-1", "BLOCK", true, 4, 2190, 20 * MS, 1500, 90000, 3100, 71000, 2190},
		{"compute-1", "RCU", true, 9, 40, 100000, 900, 9000, 0, 0, 0},
};

static const struct state_event made_events[] = {
		{1699999999ull * SECOND, "compute-1", "syscall_exit_write", "ret = 3100", 1, 1211,
				false},
		{1699999998ull * SECOND + 999 * MS, "compute-1", "syscall_entry_write",
				"fd = 4, buf = 0x7f001000, count = 3100", 1, 1211, false},
		{1699999981ull * SECOND, "compute-1", "syscall_exit_openat", "ret = 4", 0, 1204,
				true},
		{1699999981ull * SECOND - 10000, "compute-1", "syscall_entry_openat",
				"dfd = -100, filename = \"/var/lib/nova/instances/7f3a/disk\"", 0,
				1204, true},
};

/* A copy that goes with the snapshot. */
static const void *copy(struct snapshot *snapshot, const void *from, size_t size)
{
	void *memory = snapshot_alloc(snapshot, size);

	if (!memory) {
		abort();
	}
	return memcpy(memory, from, size);
}

#define FILL(field, made)                                                                          \
	do {                                                                                       \
		state->field = copy(snapshot, made, sizeof(made));                                 \
		state->n_##field = sizeof(made) / sizeof((made)[0]);                               \
	} while (0)

static void fill_threads(struct snapshot *snapshot, const struct made_state *made)
{
	struct state_view *state = &snapshot->state;
	struct state_thread *threads;
	uint32_t i;

	FILL(threads, made_threads);
	threads = (struct state_thread *)(uintptr_t)state->threads;
	for (i = 0; i < state->n_threads; i++) {
		threads[i].ppid = threads[i].ppid ? threads[i].ppid : -1;
		threads[i].vtid = threads[i].vtid ? threads[i].vtid : -1;
		threads[i].vpid = threads[i].vpid ? threads[i].vpid : -1;
		threads[i].waker_tid = threads[i].waker_tid ? threads[i].waker_tid : -1;
		threads[i].since_ns = state->at_ns - 1300 * MS;
		threads[i].window_ns = state->window_ns;
		if (made->perf && i < 2) {
			threads[i].n_perf = 2;
			threads[i].perf = made_perf[i];
		}
		if (made->hostile && i == 1) {
			threads[i].name = "\x1b[31mred\x07";
			threads[i].host = "compute-1";
		}
	}
}

void made_state_fill(
		struct snapshot *snapshot, const struct focus *focus, const struct made_state *made)
{
	struct state_view *state = &snapshot->state;

	state->at_ns = snapshot->time_ns;
	state->window_ns = snapshot->window_ns;
	state->trimmed = made->trimmed;
	if (made->none) {
		state->hosts = copy(snapshot, &made_hosts[2], sizeof(made_hosts[2]));
		state->n_hosts = 1;
		return;
	}
	state->measured = true;
	FILL(hosts, made_hosts);
	FILL(cpus, made_cpus);
	fill_threads(snapshot, made);
	FILL(syscalls, made_calls);
	FILL(fds, made_fds);
	FILL(disks, made_disks);
	FILL(nets, made_nets);
	FILL(irqs, made_irqs);
	if (focus->parts & FOCUS_EVENTS) {
		FILL(events, made_events);
	}
}
