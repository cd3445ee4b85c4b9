/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What requests used: slices of the time of threads, each of one request, none left over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernel_feed.h"

#define MS UINT64_C(1000000)
#define T0 UINT64_C(1700000000000000000)

/* The request of that type: requests are numbered from 1. */
static struct snapshot *request_of(struct engine *engine, const char *type)
{
	uint64_t id;

	for (id = 1; id < 10; id++) {
		const struct focus focus = {
				.parts = FOCUS_ALL, .horizon = HORIZON_ALL, .request_id = id};
		struct snapshot *snapshot = snapshot_create();

		assert_non_null(snapshot);
		assert_int_equal(engine_fill(engine, &focus, snapshot), STATUS_OK);
		if (snapshot->request.id == id && strcmp(snapshot->request.type, type) == 0) {
			return snapshot;
		}
		snapshot_destroy(snapshot);
	}
	fail_msg("no request of type %s", type);
	abort();
}

/* A read that is interrupted, waits for a disk, then for a CPU: every ns of it is somewhere. */
static void slices_of_a_call(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot;
	const struct state_resources *used;

	(void)state;
	kernel_start(&kernel, NULL);
	/* The tracer declares all of its types before: here, on a CPU whose thread nobody knows. */
	kernel_event(&kernel, T0 - 3, 2, "syscall_entry_read fd:u=3 count:u=10");
	kernel_event(&kernel, T0 - 2, 2, "syscall_exit_read ret:i=10");
	kernel_event(&kernel, T0, 0,
			"sched_switch prev_comm:s=idle prev_tid:i=0 prev_state:i=0 "
			"next_comm:s=cat next_tid:i=42");
	kernel_event(&kernel, T0 + 1 * MS, 0, "syscall_entry_read fd:u=3 count:u=10");
	kernel_event(&kernel, T0 + 2 * MS, 0, "irq_handler_entry irq:i=7 name:s=nic");
	kernel_event(&kernel, T0 + 2 * MS + MS / 2, 0, "irq_handler_exit irq:i=7 ret:i=1");
	kernel_event(&kernel, T0 + 3 * MS, 0,
			"sched_switch prev_comm:s=cat prev_tid:i=42 prev_state:i=2 "
			"next_comm:s=idle next_tid:i=0");
	kernel_event(&kernel, T0 + 5 * MS - 1, 1, "irq_softirq_entry vec:u=4");
	kernel_event(&kernel, T0 + 5 * MS, 1,
			"sched_waking comm:s=cat tid:i=42 prio:i=20 target_cpu:i=0");
	kernel_event(&kernel, T0 + 5 * MS + 1, 1, "irq_softirq_exit vec:u=4");
	kernel_event(&kernel, T0 + 7 * MS, 0,
			"sched_switch prev_comm:s=idle prev_tid:i=0 prev_state:i=0 "
			"next_comm:s=cat next_tid:i=42");
	kernel_event(&kernel, T0 + 8 * MS, 0, "syscall_exit_read ret:i=10");
	snapshot = request_of(kernel.engine, "syscall read");
	used = &snapshot->request.resources;
	assert_int_equal(snapshot->request.duration_ns, 7 * MS);
	assert_true(used->measured);
	assert_int_equal(used->cpu_ns, 2 * MS + MS / 2);
	assert_int_equal(used->irq_ns, MS / 2);
	assert_int_equal(used->blocked_ns, 2 * MS);
	assert_int_equal(used->blocked_disk_ns, 2 * MS);
	assert_int_equal(used->runqueue_ns, 2 * MS);
	assert_int_equal(used->unknown_ns, 0);
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
}

/* User space of the same host: its requests take their slices from the kernel's thread. */
static void user_space_meets_the_kernel(void **state)
{
	static const struct field fields[] = {
			{.name = "vtid", .kind = FIELD_UINT, .scope = SCOPE_CONTEXT, .base = 10},
			{.name = "request_id", .kind = FIELD_UINT, .base = 10}};
	struct event_type entry = {.name = "app:serve_entry", .n_fields = 2, .fields = fields};
	struct event_type exit = {.name = "app:serve_exit", .n_fields = 2, .fields = fields};
	const uint64_t slots[] = {42, 7};
	struct kernel_feed kernel;
	struct event event = {.cpu = 0, .bytes = sizeof(slots), .slots = slots};
	struct snapshot *snapshot;

	(void)state;
	kernel_start(&kernel, NULL);
	event.stream = engine_add_stream(kernel.engine,
			&(struct stream_desc){.session = kernel.session, .domain = DOMAIN_UST});
	event.type = engine_add_type(kernel.engine, &entry);
	engine_add_type(kernel.engine, &exit);
	kernel_event(&kernel, T0, 0,
			"sched_switch prev_comm:s=idle prev_tid:i=0 prev_state:i=0 "
			"next_comm:s=srv next_tid:i=42");
	event.ts_ns = T0 + 1 * MS;
	engine_feed(kernel.engine, &event);
	kernel_event(&kernel, T0 + 3 * MS, 0,
			"sched_switch prev_comm:s=srv prev_tid:i=42 prev_state:i=0 "
			"next_comm:s=other next_tid:i=43");
	kernel_event(&kernel, T0 + 4 * MS, 0,
			"sched_switch prev_comm:s=other prev_tid:i=43 prev_state:i=1 "
			"next_comm:s=srv next_tid:i=42");
	event.type = engine_add_type(kernel.engine, &exit);
	event.ts_ns = T0 + 6 * MS;
	engine_feed(kernel.engine, &event);
	snapshot = request_of(kernel.engine, "serve");
	assert_int_equal(snapshot->request.duration_ns, 5 * MS);
	assert_true(snapshot->request.resources.measured);
	assert_int_equal(snapshot->request.resources.cpu_ns, 4 * MS);
	assert_int_equal(snapshot->request.resources.runqueue_ns, 1 * MS);
	assert_string_equal(snapshot->request.tracks[0].process, "srv");
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(slices_of_a_call),
			cmocka_unit_test(user_space_meets_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
