/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What threads do where nothing but a kernel is traced: from a wake-up until they are idle again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel_feed.h"

#define T0 UINT64_C(1700000000000000000)
#define MS UINT64_C(1000000)

struct scene {
	struct kernel_feed kernel;
	uint64_t now_ns;
	int running;
};

static const char *name_of(int tid)
{
	return tid == 0     ? "swapper/0"
	       : tid < 1000 ? "kworker/0:1"
	       : tid < 2000 ? "service"
	       : tid < 3000 ? "pythiatop-probe"
			    : "shell";
}

static void feed(struct scene *scene, const char *text)
{
	scene->now_ns += MS;
	kernel_event(&scene->kernel, scene->now_ns, 0, text);
}

static void wake(struct scene *scene, int tid)
{
	char text[128];

	snprintf(text, sizeof(text), "sched_waking comm:s=%s tid:i=%d", name_of(tid), tid);
	feed(scene, text);
}

static void run(struct scene *scene, int tid, int prev_state)
{
	char text[256];

	snprintf(text, sizeof(text),
			"sched_switch prev_comm:s=%s prev_tid:i=%d prev_state:i=%d next_comm:s=%s "
			"next_tid:i=%d",
			name_of(scene->running), scene->running, prev_state, name_of(tid), tid);
	feed(scene, text);
	scene->running = tid;
}

static void enter(struct scene *scene, const char *call)
{
	char text[128];

	snprintf(text, sizeof(text), "syscall_entry_%s fd:i=3", call);
	feed(scene, text);
}

static void leave(struct scene *scene, const char *call)
{
	char text[128];

	snprintf(text, sizeof(text), "syscall_exit_%s ret:i=1", call);
	feed(scene, text);
}

static void start(struct scene *scene)
{
	const struct engine_config config = {.window_ns = UINT64_C(10000000000)};

	*scene = (struct scene){.now_ns = T0};
	kernel_start(&scene->kernel, &config);
	wake(scene, 5000);
}

/* How many activations of a program were complete, and how long all took together. */
static uint64_t count(struct scene *scene, const char *program, uint64_t *total_ns)
{
	const struct focus focus = {.parts = FOCUS_GROUPS, .horizon = HORIZON_ALL};
	struct snapshot *snapshot = snapshot_create();
	uint64_t n = 0;

	assert_non_null(snapshot);
	assert_true(engine_fill(scene->kernel.engine, &focus, snapshot) >= 0);
	*total_ns = 0;
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		const struct groups_row *row = &snapshot->groups.rows[i];

		assert_null(strstr(row->type, "syscall"));
		if (strcmp(row->type, program) == 0) {
			n += row->count;
			*total_ns += (uint64_t)(row->mean_ns * (double)row->count + 0.5);
		}
	}
	snapshot_destroy(snapshot);
	return n;
}

/* Brings a thread of which nothing is known to where it is idle in poll(). */
static void make_idle(struct scene *scene, int tid)
{
	run(scene, tid, 0);
	enter(scene, "poll");
	run(scene, 0, 1);
}

static void test_wakeup_to_idle(void **state)
{
	struct scene scene;
	uint64_t total_ns, woken_ns;

	(void)state;
	start(&scene);
	make_idle(&scene, 1000);
	assert_int_equal(count(&scene, "service", &total_ns), 0);
	wake(&scene, 1000);
	woken_ns = scene.now_ns;
	run(&scene, 1000, 0);
	leave(&scene, "poll");
	enter(&scene, "poll"); /* returns at once: it goes on */
	leave(&scene, "poll");
	enter(&scene, "fsync");
	run(&scene, 0, 2); /* for the disk: a wait within */
	wake(&scene, 1000);
	run(&scene, 1000, 0);
	run(&scene, 0, 256); /* preempted */
	run(&scene, 1000, 0);
	leave(&scene, "fsync");
	enter(&scene, "ioctl");
	run(&scene, 0, 1); /* in a call that is no wait for something to do */
	wake(&scene, 1000);
	run(&scene, 1000, 0);
	leave(&scene, "ioctl");
	enter(&scene, "read");
	assert_int_equal(count(&scene, "service", &total_ns), 0);
	run(&scene, 0, 1);
	assert_int_equal(count(&scene, "service", &total_ns), 1);
	assert_int_equal(total_ns, scene.now_ns - woken_ns);
	/* Woken, and asleep again without returning. */
	wake(&scene, 1000);
	run(&scene, 1000, 0);
	run(&scene, 0, 1);
	assert_int_equal(count(&scene, "service", &total_ns), 1);
	kernel_stop(&scene.kernel);
}

/* What records all this is woken because there is something to record. */
static void test_the_recorder(void **state)
{
	struct scene scene;
	uint64_t total_ns;

	(void)state;
	start(&scene);
	make_idle(&scene, 2000);
	for (int i = 0; i < 3; i++) {
		wake(&scene, 2000);
		run(&scene, 2000, 0);
		leave(&scene, "poll");
		enter(&scene, "poll");
		run(&scene, 0, 1);
	}
	assert_int_equal(count(&scene, "pythiatop-probe", &total_ns), 0);
	kernel_stop(&scene.kernel);
}

/* A thread of the kernel has no calls; its CPU is no part of its name. */
static void test_kernel_thread(void **state)
{
	struct scene scene;
	uint64_t total_ns, woken_ns;

	(void)state;
	start(&scene);
	run(&scene, 7, 0);
	run(&scene, 0, 128);
	wake(&scene, 7);
	woken_ns = scene.now_ns;
	run(&scene, 7, 0);
	run(&scene, 0, 2);
	run(&scene, 7, 0);
	run(&scene, 0, 128);
	assert_int_equal(count(&scene, "kworker", &total_ns), 1);
	assert_int_equal(total_ns, scene.now_ns - woken_ns);
	kernel_stop(&scene.kernel);
}

/* From its creation, anew with each program, until it ends. */
static void test_new_process(void **state)
{
	struct scene scene;
	uint64_t total_ns, forked_ns, executed_ns;

	(void)state;
	start(&scene);
	run(&scene, 1000, 0);
	feed(&scene, "sched_process_fork parent_comm:s=service parent_tid:i=1000 parent_pid:i=1000 "
		     "child_comm:s=service child_tid:i=2000 child_pid:i=2000");
	forked_ns = scene.now_ns;
	wake(&scene, 2000);
	scene.now_ns += MS;
	kernel_event(&scene.kernel, scene.now_ns, 0,
			"sched_switch prev_comm:s=service prev_tid:i=1000 prev_state:i=0 "
			"next_comm:s=service next_tid:i=2000");
	scene.running = 2000;
	leave(&scene, "clone");
	enter(&scene, "execve");
	feed(&scene, "sched_process_exec filename:s=/bin/shell tid:i=2000 old_tid:i=2000");
	executed_ns = scene.now_ns;
	leave(&scene, "execve");
	assert_int_equal(count(&scene, "service", &total_ns), 1);
	assert_int_equal(total_ns, executed_ns - forked_ns);
	enter(&scene, "exit_group");
	run(&scene, 0, 32);
	assert_int_equal(count(&scene, "shell", &total_ns), 1);
	assert_int_equal(total_ns, scene.now_ns - executed_ns);
	kernel_stop(&scene.kernel);
}

/* In the middle of a call when the recording began, and after a loss: nothing is made up. */
static void test_what_is_not_known(void **state)
{
	struct scene scene;
	uint64_t total_ns;

	(void)state;
	start(&scene);
	run(&scene, 1000, 0);
	run(&scene, 0, 1); /* in whatever call */
	wake(&scene, 1000);
	run(&scene, 1000, 0);
	leave(&scene, "ioctl");
	enter(&scene, "poll");
	run(&scene, 0, 1);
	assert_int_equal(count(&scene, "service", &total_ns), 0);
	wake(&scene, 1000);
	run(&scene, 1000, 0);
	leave(&scene, "poll");
	engine_lose(scene.kernel.engine, &(struct loss){.stream = scene.kernel.stream,
							 .count = 10,
							 .begin_ns = scene.now_ns,
							 .end_ns = scene.now_ns + MS});
	scene.now_ns += MS;
	run(&scene, 0, 1);
	wake(&scene, 1000);
	run(&scene, 1000, 0);
	leave(&scene, "ioctl");
	enter(&scene, "poll");
	run(&scene, 0, 1);
	assert_int_equal(count(&scene, "service", &total_ns), 0);
	wake(&scene, 1000);
	run(&scene, 1000, 0);
	leave(&scene, "poll");
	enter(&scene, "poll");
	run(&scene, 0, 1);
	assert_int_equal(count(&scene, "service", &total_ns), 1);
	kernel_stop(&scene.kernel);
}

/* Two requests of a disk at once: by device and sector; called as the disk is, once that is told.
 */
static void test_disk_requests(void **state)
{
	struct scene scene;
	uint64_t total_ns;

	(void)state;
	start(&scene);
	run(&scene, 1000, 0);
	feed(&scene, "block_rq_complete dev:u=8388608 sector:u=1 rwbs:u=1");
	feed(&scene, "block_rq_issue dev:u=8388608 sector:u=64 rwbs:u=33 tid:i=1000");
	feed(&scene, "block_rq_issue dev:u=8388608 sector:u=128 rwbs:u=4 tid:i=1000");
	feed(&scene, "block_rq_complete dev:u=8388608 sector:u=64 rwbs:u=33");
	feed(&scene, "block_rq_complete dev:u=8388608 sector:u=128 rwbs:u=4");
	assert_int_equal(count(&scene, "disk 8:0 write", &total_ns), 1);
	assert_int_equal(total_ns, 2 * MS);
	assert_int_equal(count(&scene, "disk 8:0 read", &total_ns), 1);
	assert_int_equal(total_ns, 2 * MS);
	feed(&scene, "lttng_statedump_block_device dev:u=8388608 diskname:s=sda");
	feed(&scene, "block_rq_issue dev:u=8388608 sector:u=64 rwbs:u=1 tid:i=1000");
	feed(&scene, "block_rq_complete dev:u=8388608 sector:u=64 rwbs:u=1");
	assert_int_equal(count(&scene, "disk sda write", &total_ns), 2);
	assert_int_equal(total_ns, 3 * MS);
	kernel_stop(&scene.kernel);
}

/*
 * Where one program alone is recorded, others are seen where they had the processor before it and
 * after: nobody tells what they did, nor that they were woken.
 */
static void test_others_of_one_program(void **state)
{
	struct scene scene;
	uint64_t total_ns;

	(void)state;
	start(&scene);
	make_idle(&scene, 1000);
	for (int i = 0; i < 3; i++) {
		scene.running = 20; /* since when, and that it was woken, is not told */
		wake(&scene, 1000);
		run(&scene, 1000, 1);
		leave(&scene, "poll");
		enter(&scene, "poll");
		run(&scene, 20, 1);
		feed(&scene, "pythiatop_cpu_left nothing:i=0");
	}
	assert_int_equal(count(&scene, "service", &total_ns), 3);
	assert_int_equal(count(&scene, "kworker", &total_ns), 0);
	kernel_stop(&scene.kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_wakeup_to_idle),
			cmocka_unit_test(test_kernel_thread),
			cmocka_unit_test(test_the_recorder),
			cmocka_unit_test(test_new_process),
			cmocka_unit_test(test_what_is_not_known),
			cmocka_unit_test(test_others_of_one_program),
			cmocka_unit_test(test_disk_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
