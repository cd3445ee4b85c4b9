/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "feed.h"
#include "kernel_feed.h"

/*
 * The critical path as the engine shows it: with what the kernel told of threads, in ns.
 */
#define T0 UINT64_C(1700000000000000000)

/* Threads of one process that work for requests; their user-space and their kernel events. */
struct office {
	struct feed feed;
	struct kernel_feed kernel;
	uint32_t begin, end, work_begin, work_end;
};

#define V(...) ((union feed_value[]){__VA_ARGS__})

static void serve(struct office *office, uint32_t type, uint64_t ns, uint32_t cpu, uint64_t tid)
{
	feed_raw(&office->feed, office->feed.stream, type, T0 + ns, cpu,
			V({.u = 7}, {.u = tid}, {.u = 100}));
}

static void run(struct office *office, uint64_t ns, uint32_t cpu, int prev, int state, int next)
{
	char text[200];

	snprintf(text, sizeof(text),
			"sched_switch prev_comm:s=a prev_tid:i=%d prev_prio:i=20 prev_state:i=%d "
			"next_comm:s=b next_tid:i=%d next_prio:i=20",
			prev, state, next);
	kernel_event(&office->kernel, T0 + ns, cpu, text);
}

static void wake(struct office *office, uint64_t ns, uint32_t cpu, int tid, const char *how)
{
	char text[200];

	snprintf(text, sizeof(text), "%s comm:s=a tid:i=%d prio:i=20 target_cpu:i=0", how, tid);
	kernel_event(&office->kernel, T0 + ns, cpu, text);
}

static void call(struct office *office, uint64_t ns, uint32_t cpu, const char *name)
{
	kernel_event(&office->kernel, T0 + ns, cpu, name);
}

static void office_start(struct office *office)
{
	struct feed *feed = &office->feed;

	feed_start(feed, NULL);
	office->begin = feed_type(feed, "app:serve_entry", "request_id:u vtid:c vpid:c");
	office->end = feed_type(feed, "app:serve_exit", "request_id:u vtid:c vpid:c");
	office->work_begin = feed_type(feed, "app:work_entry", "request_id:u vtid:c vpid:c");
	office->work_end = feed_type(feed, "app:work_exit", "request_id:u vtid:c vpid:c");
	office->kernel = (struct kernel_feed){.engine = feed->engine, .session = feed->session};
	office->kernel.stream = engine_add_stream(
			feed->engine, &(struct stream_desc){.session = feed->session,
						      .domain = DOMAIN_KERNEL,
						      .channel = "kernel",
						      .kernel_release = "6.2.0"});
	/* An entry is paired once the type of its exit is known. */
	call(office, 0, 7, "syscall_entry_fsync fd:u=3");
	call(office, 0, 7, "syscall_exit_fsync ret:i=0");
	call(office, 0, 7, "syscall_entry_futex uaddr:u=1 op:i=0");
	call(office, 0, 7, "syscall_exit_futex ret:i=0");
}

static const char *short_name(const char *name)
{
	return strncmp(name, "syscall_", 8) == 0 ? name + 8 : name;
}

/* The path of the slowest request, in words. */
static const char *path_of(struct office *office)
{
	static char text[4096];
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_GROUPS | FOCUS_REQUEST, .horizon = HORIZON_ALL};
	const struct request_view *view;
	uint64_t own_ns = 0, spans_ns = 0;
	size_t used = 0;
	uint32_t i;

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(office->feed.engine, &focus, snapshot), STATUS_OK);
	view = &snapshot->request;
	assert_true(view->id > 0);
	text[0] = '\0';
	for (i = 0; i < view->n_pieces; i++) {
		const struct request_piece *piece = &view->pieces[i];
		bool is_out = strcmp(piece->what, "(wait)") == 0 ||
			      strcmp(piece->what, "(transit)") == 0;

		assert_int_equal(piece->from_ns, i ? view->pieces[i - 1].to_ns : 0);
		own_ns += is_out ? 0 : (uint64_t)(piece->to_ns - piece->from_ns);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s %ld",
				i ? ", " : "", short_name(view->spans[piece->span].name),
				piece->what, (long)(piece->to_ns - piece->from_ns));
	}
	assert_int_equal(view->pieces[view->n_pieces - 1].to_ns, view->duration_ns);
	for (i = 0; i < view->n_spans; i++) {
		spans_ns += view->spans[i].path_ns;
	}
	assert_int_equal(spans_ns, own_ns);
	snapshot_destroy(snapshot);
	return text;
}

static void without_a_kernel(void **state)
{
	struct office office;

	(void)state;
	office_start(&office);
	serve(&office, office.begin, 0, 0, 100);
	serve(&office, office.work_begin, 1000, 0, 100);
	serve(&office, office.work_end, 5000, 0, 100);
	serve(&office, office.end, 6000, 0, 100);
	assert_string_equal(path_of(&office), "serve 1000, work 4000, serve 1000");
	feed_stop(&office.feed);
}

/* Runs, is preempted, reads from a disk that an interrupt answers. */
static void own_time_is_split(void **state)
{
	struct office office;

	(void)state;
	office_start(&office);
	run(&office, 0, 0, 5, 1, 100);
	serve(&office, office.begin, 1000, 0, 100);
	run(&office, 3000, 0, 100, 0, 6); /* preempted */
	run(&office, 4500, 0, 6, 1, 100);
	call(&office, 5000, 0, "syscall_entry_fsync fd:u=3");
	run(&office, 6000, 0, 100, 2, 6);
	call(&office, 8990, 0, "irq_handler_entry irq:i=9 name:s=disk");
	wake(&office, 9000, 0, 100, "sched_waking");
	call(&office, 9010, 0, "irq_handler_exit irq:i=9 ret:i=1");
	run(&office, 9500, 0, 6, 0, 100);
	call(&office, 9600, 0, "syscall_exit_fsync ret:i=0");
	serve(&office, office.end, 11000, 0, 100);
	assert_string_equal(path_of(&office),
			"serve 2000, serve(runnable) 1500, serve 500, fsync 1000, "
			"fsync(blocked: fsync) 3000, fsync(runnable) 500, fsync 100, serve 1400");
	feed_stop(&office.feed);
}

/* Its processor slept when it was woken, and then once another ran there for a moment. */
static void a_processor_wakes_up(void **state)
{
	struct office office;

	(void)state;
	office_start(&office);
	run(&office, 0, 0, 5, 1, 100);
	serve(&office, office.begin, 1000, 0, 100);
	for (uint64_t at = 2000; at <= 12000; at += 10000) {
		call(&office, at, 0, "syscall_entry_fsync fd:u=3");
		run(&office, at + 500, 0, 100, 2, 0);
		call(&office, at + 2990, 0, "irq_handler_entry irq:i=9 name:s=disk");
		wake(&office, at + 3000, 0, 100, "sched_waking");
		call(&office, at + 3010, 0, "irq_handler_exit irq:i=9 ret:i=1");
		if (at > 2000) {
			run(&office, at + 3500, 0, 0, 0, 6);
		}
		run(&office, at + 5000, 0, at > 2000 ? 6 : 0, at > 2000, 100);
		call(&office, at + 5500, 0, "syscall_exit_fsync ret:i=0");
	}
	serve(&office, office.end, 18000, 0, 100);
	assert_string_equal(path_of(&office),
			"serve 1000, fsync 500, fsync(blocked: fsync) 2500, fsync(waking up) 2000, "
			"fsync 500, serve 4500, fsync 500, fsync(blocked: fsync) 2500, "
			"fsync(runnable) 2000, fsync 500, serve 500");
	feed_stop(&office.feed);
}

/*
 * Thread 100 takes a lock that thread 200 holds while it works for the same request: the path goes
 * on with it, from where it began.
 */
static void to_the_waker(struct office *office, const char *how)
{
	office_start(office);
	run(office, 0, 0, 5, 1, 100);
	run(office, 10, 1, 6, 1, 200);
	serve(office, office->begin, 1000, 0, 100);
	serve(office, office->work_begin, 2000, 1, 200);
	call(office, 3000, 0, "syscall_entry_futex uaddr:u=1 op:i=0");
	run(office, 3500, 0, 100, 1, 5);
	wake(office, 7000, 1, 100, how);
	run(office, 7200, 0, 5, 0, 100);
	call(office, 7300, 0, "syscall_exit_futex ret:i=0");
	/* Only now does thread 200 leave its span: its end is not what was waited for. */
	serve(office, office->end, 9000, 0, 100);
	serve(office, office->work_end, 9500, 1, 200);
}

static void path_goes_on_with_the_waker(void **state)
{
	struct office office;

	(void)state;
	to_the_waker(&office, "sched_waking");
	assert_string_equal(path_of(&office),
			"serve 1000, work 5000, futex(runnable) 200, futex 100, serve 1700");
	feed_stop(&office.feed);

	/* Where sched_waking is not traced, whose CPU told of it is not sure. */
	to_the_waker(&office, "sched_wakeup");
	assert_string_equal(path_of(&office),
			"serve 2000, futex 500, futex(blocked: futex) 3500, futex(runnable) 200, "
			"futex 100, serve 1700");
	feed_stop(&office.feed);
}

/* The waker works for nobody we know of: what it did is not the request's. */
static void stranger_wakes(void **state)
{
	struct office office;

	(void)state;
	office_start(&office);
	run(&office, 0, 0, 5, 1, 100);
	run(&office, 10, 1, 6, 1, 200);
	serve(&office, office.begin, 1000, 0, 100);
	call(&office, 3000, 0, "syscall_entry_futex uaddr:u=1 op:i=0");
	run(&office, 3500, 0, 100, 1, 5);
	wake(&office, 7000, 1, 100, "sched_waking");
	run(&office, 7200, 0, 5, 0, 100);
	call(&office, 7300, 0, "syscall_exit_futex ret:i=0");
	serve(&office, office.end, 9000, 0, 100);
	assert_string_equal(path_of(&office),
			"serve 2000, futex 500, futex(blocked: futex) 3500, futex(runnable) 200, "
			"futex 100, serve 1700");
	feed_stop(&office.feed);
}

/* Two threads wake each other in turns: each time the path changes over. */
static void ping_pong(void **state)
{
	struct office office;

	(void)state;
	office_start(&office);
	run(&office, 0, 0, 5, 1, 100);
	serve(&office, office.begin, 1000, 0, 100);
	run(&office, 1100, 1, 6, 1, 200);
	serve(&office, office.work_begin, 2000, 1, 200);
	call(&office, 2100, 1, "syscall_entry_futex uaddr:u=1 op:i=0");
	run(&office, 2200, 1, 200, 1, 6); /* 200 waits for 100 */
	wake(&office, 4000, 0, 200, "sched_waking");
	run(&office, 4100, 1, 6, 0, 200);
	call(&office, 4150, 1, "syscall_exit_futex ret:i=0");
	call(&office, 4200, 0, "syscall_entry_futex uaddr:u=2 op:i=0");
	run(&office, 4300, 0, 100, 1, 5); /* 100 waits for 200 */
	wake(&office, 8000, 1, 100, "sched_waking");
	run(&office, 8050, 0, 5, 0, 100);
	call(&office, 8100, 0, "syscall_exit_futex ret:i=0");
	serve(&office, office.work_end, 8400, 1, 200);
	serve(&office, office.end, 9000, 0, 100);
	assert_string_equal(path_of(&office),
			"serve 3000, futex(runnable) 100, futex 50, work 3850, futex(runnable) 50, "
			"futex 50, serve 900");
	feed_stop(&office.feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(without_a_kernel),
			cmocka_unit_test(own_time_is_split),
			cmocka_unit_test(a_processor_wakes_up),
			cmocka_unit_test(path_goes_on_with_the_waker),
			cmocka_unit_test(stranger_wakes),
			cmocka_unit_test(ping_pong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
