/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What few traces have: pid namespaces, CPU frequencies, priorities lent, kernels of all ages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "kernel_feed.h"
#include "pythiatop/ids.h"

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)
#define T0     (UINT64_C(1700000000) * SECOND)

/* Another kernel than that of kernel_start(), on a host of its own; what follows is of it. */
static void add_release(struct kernel_feed *kernel, const char *release)
{
	kernel->session = engine_add_session(
			kernel->engine, &(struct session_desc){.host = "other", .name = "kernel"});
	kernel->stream = engine_add_stream(
			kernel->engine, &(struct stream_desc){.session = kernel->session,
							.domain = DOMAIN_KERNEL,
							.channel = "channel0",
							.kernel_release = release});
}

/* The status of a thread that left its CPU with this prev_state. */
static enum thread_status left_with(const char *release, int state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot;
	const struct state_thread *thread;
	enum thread_status status;
	char text[200];

	kernel_start(&kernel, NULL);
	add_release(&kernel, release);
	kernel_run(&kernel, T0, 0, 0, 7);
	snprintf(text, sizeof(text),
			"sched_switch prev_comm:s=x prev_tid:i=7 prev_state:i=%d next_comm:s=y "
			"next_tid:i=8",
			state);
	kernel_event(&kernel, T0 + MS, 0, text);
	snapshot = kernel_state(&kernel, 0);
	thread = kernel_thread(snapshot, 7);
	assert_non_null(thread);
	status = thread->status;
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
	return status;
}

/*
 * include/linux/sched.h: TASK_STATE_MAX was 512 until 3.8, 1024 from 3.9, 2048 from 4.2 (with
 * TASK_NOLOAD), 4096 from 4.8 (with TASK_NEW); from 4.14 on a bit above the reporting ones, 0x100,
 * means preempted, and what else a state has above them is not reported.
 */
static void states_of_all_kernels(void **state)
{
	static const struct {
		const char *release;
		int preempted;
	} kernels[] = {
			{"3.2.0-4-amd64", 512}, {"3.16.0-4-amd64", 1024}, {"4.1.12", 1024},
			{"4.4.0-116-generic", 2048}, {"4.9.0-6-amd64", 4096}, {"4.14.0", 0x100},
			{"5.10.0-26-amd64", 0x100}, {"6.2.0-32-generic", 0x100}, {"6.12.0", 0x100},
			{"", 0x100}, /* not told: as new ones are */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		const char *release = kernels[i].release;

		assert_int_equal(left_with(release, 0), THREAD_WAIT_CPU);
		assert_int_equal(left_with(release, kernels[i].preempted), THREAD_WAIT_CPU);
		assert_int_equal(left_with(release, 1), THREAD_BLOCKED); /* interruptible */
		assert_int_equal(left_with(release, 2), THREAD_BLOCKED); /* uninterruptible */
		assert_int_equal(left_with(release, 32), THREAD_DEAD);   /* zombie; dead before */
	}
	/* Idle, as kernel threads are that wait: asleep but not counted as load. */
	assert_int_equal(left_with("6.2.0", 0x80), THREAD_BLOCKED);
	assert_int_equal(left_with("4.4.0", 2 | 1024), THREAD_BLOCKED);
	/* A sign of preemption of other kernels is none here. */
	assert_int_equal(left_with("4.4.0", 0x100 | 1), THREAD_BLOCKED);
}

/* A host whose trace has ended is not busy for ever with what it did last; the others go on. */
static void ended_hosts(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot;
	uint32_t first_session, first_stream, other_stream;

	(void)state;
	kernel_start(&kernel, NULL);
	first_session = kernel.session;
	first_stream = kernel.stream;
	add_release(&kernel, "6.2.0");
	other_stream = kernel.stream;
	kernel_run(&kernel, T0, 0, 0, 7);
	kernel.stream = first_stream;
	kernel_run(&kernel, T0, 0, 0, 8);
	kernel_run(&kernel, T0 + 2 * SECOND, 0, 8, 9);
	engine_end_session(kernel.engine, first_session);
	kernel.stream = other_stream;
	for (uint32_t i = 3; i < 8; i++) {
		kernel_run(&kernel, T0 + i * SECOND, 0, i % 2 ? 7 : 6, i % 2 ? 6 : 7);
	}
	snapshot = kernel_state(&kernel, T0 + 2 * SECOND - 1);
	assert_int_equal(snapshot->state.n_cpus, 2);
	assert_int_equal(snapshot->state.cpus[0].tid, 8);
	snapshot_destroy(snapshot);
	snapshot = kernel_state(&kernel, 0);
	assert_int_equal(snapshot->state.cpus[0].tid, -1);
	/* Until its last event: what ran then collects no time, and the rest is no part of its
	 * window. */
	assert_int_equal(snapshot->state.cpus[0].known_ns, 2 * SECOND);
	assert_int_equal(kernel_thread(snapshot, 9)->status, THREAD_UNKNOWN);
	assert_int_equal(kernel_thread(snapshot, 9)->cpu_ns, 0);
	assert_int_equal(kernel_thread(snapshot, 8)->cpu_ns, 2 * SECOND);
	assert_int_equal(kernel_thread(snapshot, 8)->status, THREAD_UNKNOWN);
	assert_int_equal(snapshot->state.hosts[0].unknown_ns, 0);
	assert_int_equal(snapshot->state.hosts[0].window_ns, 2 * SECOND);
	assert_int_equal(snapshot->state.hosts[0].capacity_ns, 2 * SECOND);
	assert_int_equal(snapshot->state.hosts[1].window_ns, 7 * SECOND);
	assert_int_equal(snapshot->state.window_ns, 7 * SECOND);
	assert_int_equal(snapshot->state.cpus[1].known_ns, 7 * SECOND);
	snapshot_destroy(snapshot);
	/* With the last one time stands still. */
	engine_end_session(kernel.engine, kernel.session);
	snapshot = kernel_state(&kernel, 0);
	assert_int_equal(snapshot->state.cpus[1].tid, 6);
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
}

/* The end is told later than it was: what was summed up of the time between is no longer so. */
static void ended_hosts_that_were_looked_at(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot;
	uint32_t first_session;

	(void)state;
	kernel_start(&kernel, NULL);
	first_session = kernel.session;
	for (uint32_t i = 0; i <= 200; i++) {
		kernel_run(&kernel, T0 + i * (SECOND / 100), 0, i % 2 ? 8 : 9, i % 2 ? 9 : 8);
	}
	add_release(&kernel, "6.2.0");
	for (uint32_t i = 3; i < 10; i++) {
		kernel_run(&kernel, T0 + i * SECOND, 0, i % 2 ? 7 : 6, i % 2 ? 6 : 7);
		snapshot = kernel_state(&kernel, 0);
		assert_int_equal(kernel_thread(snapshot, 8)->cpu_ns,
				i < 8 ? (i - 1) * SECOND : SECOND);
		assert_int_equal(kernel_thread(snapshot, 9)->cpu_ns, SECOND);
		assert_int_equal(snapshot->state.cpus[0].known_ns, i < 8 ? i * SECOND : 2 * SECOND);
		snapshot_destroy(snapshot);
		if (i == 7) {
			engine_end_session(kernel.engine, first_session);
		}
	}
	kernel_stop(&kernel);
}

/*
 * With PREEMPT_RT a softirq runs as a part of its thread, and gives way with it: it takes of a CPU
 * what the thread ran meanwhile. A softirq whose exit was lost leaves nothing behind.
 */
static void softirqs_that_switch(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot;
	const struct state_irq *net = NULL;

	(void)state;
	kernel_start(&kernel, NULL);
	kernel_run(&kernel, T0, 0, 0, 20);
	kernel_event(&kernel, T0 + 100, 0, "irq_softirq_entry vec:u=3");
	kernel_run(&kernel, T0 + 300, 0, 20, 7);
	kernel_event(&kernel, T0 + 350, 0,
			"irq_softirq_entry vec:u=1"); /* of 7: its exit is lost */
	kernel_run(&kernel, T0 + 400, 0, 7, 20);
	kernel_run(&kernel, T0 + 450, 0, 20, 8);
	kernel_run(&kernel, T0 + 500, 0, 8, 20);
	kernel_event(&kernel, T0 + 1000, 0, "irq_softirq_exit vec:u=3");
	kernel_event(&kernel, T0 + 1100, 0, "irq_softirq_exit vec:u=3"); /* its entry was lost */
	kernel_run(&kernel, T0 + 1200, 0, 20, 7);
	kernel_event(&kernel, T0 + 1300, 0, "irq_softirq_entry vec:u=9");
	kernel_event(&kernel, T0 + 1310, 0, "irq_softirq_exit vec:u=9");
	kernel_event(&kernel, T0 + 1400, 0, "irq_softirq_exit vec:u=1"); /* of long ago */
	snapshot = kernel_state(&kernel, 0);
	assert_int_equal(snapshot->state.n_irqs, 2);
	net = &snapshot->state.irqs[0];
	assert_string_equal(net->name, "net_rx");
	assert_int_equal(net->count, 1);
	assert_int_equal(net->total_ns, 200 + 50 + 500);
	assert_string_equal(snapshot->state.irqs[1].name, "rcu");
	assert_int_equal(snapshot->state.irqs[1].total_ns, 10);
	/* After it came back it is the thread's own time. */
	assert_int_equal(kernel_thread(snapshot, 20)->cpu_ns, 100 + 50 + 700);
	assert_int_equal(kernel_thread(snapshot, 20)->irq_ns, 200);
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
}

static void frequencies(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot;

	(void)state;
	kernel_start(&kernel, NULL);
	kernel_run(&kernel, T0, 0, 0, 7);
	kernel_run(&kernel, T0, 1, 0, 8);
	kernel_event(&kernel, T0 + MS, 0, "power_cpu_frequency state:u=800000 cpu_id:u=0");
	/* A CPU may tell of another one. */
	kernel_event(&kernel, T0 + 2 * MS, 0, "power_cpu_frequency state:u=2400000 cpu_id:u=1");
	kernel_event(&kernel, T0 + 3 * MS, 0, "power_cpu_frequency state:u=1600000 cpu_id:u=0");
	snapshot = kernel_state(&kernel, 0);
	assert_int_equal(snapshot->state.n_cpus, 2);
	assert_int_equal(snapshot->state.cpus[0].frequency_khz, 1600000);
	assert_int_equal(snapshot->state.cpus[1].frequency_khz, 2400000);
	snapshot_destroy(snapshot);
	snapshot = kernel_state(&kernel, T0 + 2 * MS);
	assert_int_equal(snapshot->state.cpus[0].frequency_khz, 800000);
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
}

/* A lock's holder is lent the priority of who waits for it, and gives it back. */
static void lent_priorities(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot;

	(void)state;
	kernel_start(&kernel, NULL);
	kernel_event(&kernel, T0, 0,
			"sched_switch prev_comm:s=x prev_tid:i=0 prev_prio:i=20 prev_state:i=0 "
			"next_comm:s=holder next_tid:i=7 next_prio:i=20");
	kernel_event(&kernel, T0 + MS, 1,
			"sched_pi_setprio comm:s=holder tid:i=7 oldprio:i=20 newprio:i=-2");
	kernel_event(&kernel, T0 + 3 * MS, 1,
			"sched_pi_setprio comm:s=holder tid:i=7 oldprio:i=-2 newprio:i=20");
	snapshot = kernel_state(&kernel, T0 + 2 * MS);
	assert_true(kernel_thread(snapshot, 7)->has_prio);
	assert_int_equal(kernel_thread(snapshot, 7)->prio, -2);
	snapshot_destroy(snapshot);
	snapshot = kernel_state(&kernel, 0);
	assert_int_equal(kernel_thread(snapshot, 7)->prio, 20);
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
}

/* Whom the CPU runs at that time. */
static int64_t runs_at(struct kernel_feed *kernel, uint64_t at_ns)
{
	struct snapshot *snapshot = kernel_state(kernel, at_ns);
	int64_t tid = snapshot->state.cpus[0].tid;

	snapshot_destroy(snapshot);
	return tid;
}

/* A switch that the kernel did not trace: what the thread does next says that it runs. */
static void switches_that_were_not_traced(void **state)
{
	struct kernel_feed kernel;

	(void)state;
	kernel_start(&kernel, NULL);
	kernel_run(&kernel, T0, 0, 0, 7);
	kernel_event(&kernel, T0 + MS, 0,
			"sched_switch prev_comm:s=t7 prev_tid:i=7 prev_state:i=1 next_comm:s=y "
			"next_tid:i=8");
	kernel_event(&kernel, T0 + MS + 1, 0, "pythiatop_cpu_left");
	kernel_event(&kernel, T0 + 3 * MS, 0, "pythiatop_cpu_taken comm:s=t7 tid:i=7");
	kernel_event(&kernel, T0 + 4 * MS, 0, "pythiatop_cpu_taken comm:s=t9 tid:i=9");
	kernel_event(&kernel, T0 + 5 * MS, 0, "pythiatop_cpu_taken comm:s=t9 tid:i=9");
	assert_int_equal(runs_at(&kernel, T0 + MS / 2), 7);
	assert_int_equal(runs_at(&kernel, T0 + 2 * MS), -1);
	assert_int_equal(runs_at(&kernel, T0 + 3 * MS + MS / 2), 7);
	assert_int_equal(runs_at(&kernel, 0), 9);
	kernel_stop(&kernel);
}

#define CONTEXTS 3u

/* A user-space event of a thread that knows itself by the numbers of its namespace. */
static void user_event(struct kernel_feed *kernel, uint32_t stream, uint64_t ts_ns, uint64_t vtid,
		uint64_t space)
{
	const struct field fields[CONTEXTS] = {
			{.name = "vpid", .kind = FIELD_INT, .scope = SCOPE_CONTEXT, .base = 10},
			{.name = "vtid", .kind = FIELD_INT, .scope = SCOPE_CONTEXT, .base = 10},
			{.name = "pid_ns", .kind = FIELD_UINT, .scope = SCOPE_CONTEXT, .base = 10}};
	const uint64_t slots[CONTEXTS] = {1, vtid, space};
	/* A span has two ends, by their names. */
	uint32_t end = engine_add_type(
			kernel->engine, &(struct event_type){"app:work_exit", CONTEXTS, fields});
	uint32_t type = engine_add_type(
			kernel->engine, &(struct event_type){"app:work_entry", CONTEXTS, fields});

	assert_int_not_equal(end, ID_NONE);
	engine_feed(kernel->engine, &(struct event){.ts_ns = ts_ns,
						    .type = type,
						    .stream = stream,
						    .cpu = 0,
						    .bytes = sizeof(slots),
						    .slots = slots});
}

/*
 * A container's thread is 2 inside and 702 outside. From the list of namespaces that the tracer
 * gives, its user-space events are known to be of 702: one thread, not two.
 */
static void pid_namespaces(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot;
	const struct state_thread *thread;
	uint32_t user, i, inside = 0;

	(void)state;
	kernel_start(&kernel, NULL);
	user = engine_add_stream(kernel.engine, &(struct stream_desc){.session = kernel.session,
								.domain = DOMAIN_UST,
								.channel = "events"});
	kernel_event(&kernel, T0, 0,
			"lttng_statedump_process_state tid:i=702 pid:i=700 ppid:i=600 name:s=app "
			"type:i=0");
	kernel_event(&kernel, T0, 0,
			"lttng_statedump_process_pid_ns tid:i=702 vtid:i=702 vpid:i=700 "
			"ns_level:u=0 ns_inum:u=4026531836");
	kernel_event(&kernel, T0, 0,
			"lttng_statedump_process_pid_ns tid:i=702 vtid:i=2 vpid:i=1 ns_level:u=1 "
			"ns_inum:u=4026532501");
	kernel_run(&kernel, T0 + MS, 0, 0, 702);
	user_event(&kernel, user, T0 + 2 * MS, 2, 4026532501);
	/* The same number in another container is somebody else. */
	user_event(&kernel, user, T0 + 3 * MS, 2, 4026532777);
	snapshot = kernel_state(&kernel, 0);
	thread = kernel_thread(snapshot, 702);
	assert_non_null(thread);
	assert_int_equal(thread->pid, 700);
	assert_int_equal(thread->vtid, 2);
	assert_int_equal(thread->vpid, 1);
	assert_int_equal(thread->stack_depth, 1);
	assert_string_equal(thread->name, "c702"); /* as the switch says */
	for (i = 0; i < snapshot->state.n_threads; i++) {
		inside += snapshot->state.threads[i].tid < 0;
	}
	assert_int_equal(inside, 1);
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(states_of_all_kernels),
			cmocka_unit_test(ended_hosts),
			cmocka_unit_test(ended_hosts_that_were_looked_at),
			cmocka_unit_test(softirqs_that_switch),
			cmocka_unit_test(frequencies),
			cmocka_unit_test(lent_priorities),
			cmocka_unit_test(switches_that_were_not_traced),
			cmocka_unit_test(pid_namespaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
