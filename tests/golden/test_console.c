/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What keys do: where they lead, what they ask the program for, what they say. */
#include "support_console.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "key.h"
#include "support_cloud.h"

static void begin(struct bench *bench, struct cloud *cloud)
{
	bench->answer = cloud_snapshot;
	bench->context = cloud;
	bench_open(bench, 24, 80, false, false);
	bench_type(bench, "");
}

static void drill_down_and_back(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	assert_int_equal(bench.focus.screen, SCREEN_GROUPS);
	assert_int_equal(bench.focus.parts, FOCUS_GROUPS | FOCUS_GROUP | FOCUS_TREE |
						FOCUS_CHANGES | FOCUS_STEPS);
	bench_type(&bench, "j Enter");
	assert_int_equal(bench.focus.screen, SCREEN_GROUP);
	assert_int_equal(bench.focus.group_id, 2);
	assert_true(bench_sees(&bench, "groups › volume create api›volume"));
	bench_type(&bench, "Enter");
	assert_int_equal(bench.focus.screen, SCREEN_REQUEST);
	assert_int_equal(bench.focus.group_id, 2);
	assert_true(bench.focus.request_id > 1000); /* one of a heat cell */
	bench_type(&bench, "Enter");
	assert_true(bench_sees(&bench, "▸ 26 events"));
	bench_type(&bench, "Esc");
	assert_int_equal(bench.focus.screen, SCREEN_REQUEST);
	bench_type(&bench, "Esc");
	assert_int_equal(bench.focus.screen, SCREEN_GROUP);
	assert_int_equal(bench.focus.group_id, 2);
	bench_type(&bench, "Tab Tab j j Enter");
	assert_int_equal(bench.focus.request_id, 3998);
	bench_type(&bench, "Backspace Backspace");
	assert_int_equal(bench.focus.screen, SCREEN_GROUPS);
	assert_true(bench_sees(&bench, "> volume create"));
	bench_type(&bench, "Esc");
	assert_true(bench_sees(&bench, "this is the top"));
	bench_close(&bench);
}

/* "The worst" is asked for, then kept to, whatever is the worst later. */
static void numbers_always_show_something(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "7 4");
	assert_int_equal(bench.focus.screen, SCREEN_REQUEST);
	assert_int_equal(bench.focus.group_id, 1);
	assert_int_equal(bench.focus.request_id, 100);
	bench_type(&bench, "7 2");
	assert_int_equal(bench.focus.screen, SCREEN_GROUP);
	assert_int_equal(bench.focus.group_id, 1);
	bench_type(&bench, "1 G 4");
	assert_int_equal(bench.focus.group_id, 6);
	assert_int_equal(bench.focus.request_id, 600);
	bench_type(&bench, "? ?");
	assert_int_equal(bench.focus.screen, SCREEN_REQUEST);
	bench_close(&bench);
}

static void the_cursor_stays_on_its_item(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "j");
	assert_true(bench_sees(&bench, "> volume create"));
	cloud.shuffled = true;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, "> volume create"));
	cloud.groups = 1000;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, "> volume create api›volume")); /* scrolled to */
	assert_true(bench_sees(&bench, "999/1000"));
	assert_true(canvas_resize(&bench.canvas, 12, 60));
	assert_true(bench_sees(&bench, "> volume create"));
	assert_true(canvas_resize(&bench.canvas, 50, 200));
	assert_true(bench_sees(&bench, "> volume create"));
	bench_close(&bench);
}

/* As long as nothing was selected, what is worst is. */
static void the_cursor_begins_with_the_worst(void **state)
{
	struct cloud cloud = {.shuffled = true};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	assert_true(bench_sees(&bench, ">~volume list"));
	cloud.shuffled = false;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, "> server create"));
	bench_type(&bench, "j k");
	cloud.shuffled = true;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, "> server create"));
	bench_close(&bench);
}

static void freeze_and_step(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;
	int i;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, ".");
	assert_true(bench_sees(&bench, "this is now"));
	bench_type(&bench, "p");
	assert_true(bench.focus.frozen);
	assert_true(bench_sees(&bench, "P A U S E D"));
	bench_type(&bench, ", , .");
	assert_int_equal(bench.focus.back_ns, 1000000000);
	for (i = 0; i < 20; i++) {
		bench_type(&bench, ",");
	}
	assert_int_equal(bench.focus.back_ns, 10000000000);
	assert_true(bench_sees(&bench, "oldest instant"));
	bench_type(&bench, "Enter Enter"); /* drill-down works while frozen */
	assert_true(bench.focus.frozen);
	bench_type(&bench, "p");
	assert_false(bench.focus.frozen);
	assert_int_equal(bench.focus.back_ns, 0);
	assert_false(bench_sees(&bench, "P A U S E D"));
	bench_close(&bench);
}

static void horizon_and_commands(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "t");
	assert_int_equal(bench.focus.horizon, HORIZON_ALL);
	assert_true(bench_sees(&bench, "all 74s"));
	bench_type(&bench, "t");
	assert_int_equal(bench.focus.horizon, HORIZON_WINDOW);
	assert_true(bench_sees(&bench, "last 10s"));
	bench_type(&bench, ":");
	bench_text(&bench, "horizon epoch");
	bench_type(&bench, "Enter");
	assert_int_equal(bench.focus.horizon, HORIZON_EPOCH);
	bench_type(&bench, ":");
	bench_text(&bench, "horizon year");
	bench_type(&bench, "Enter");
	assert_true(bench_sees(&bench, "horizon is 10s, epoch or all"));
	bench_type(&bench, ":");
	bench_text(&bench, " export json /tmp/x ");
	bench_type(&bench, "Enter");
	assert_string_equal(bench.command, "export json /tmp/x");
	cloud.notice = "wrote /tmp/x";
	cloud.notice_serial = 1;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, "wrote /tmp/x"));
	bench_type(&bench, "j");
	assert_false(bench_sees(&bench, "wrote /tmp/x"));
	bench_type(&bench, ":");
	bench_text(&bench, "theme nowhere");
	bench_type(&bench, "Enter");
	assert_true(bench_sees(&bench, "no theme named nowhere"));
	bench_type(&bench, ":");
	bench_text(&bench, "quit");
	assert_int_equal(bench_type(&bench, "Enter"), CONSOLE_QUIT);
	bench_close(&bench);
}

/* A key never does nothing silently: whatever is pressed, something changes or is said. */
static void no_key_is_silent(void **state)
{
	/* Each ends with a move that leaves no message behind, away from the edges of the heat map.
	 */
	static const char *const screens[] = {"7 1 j g", "2 j h", "2 Tab j g", "2 Tab Tab j g",
			"3 j g", "3 A j g", "4 j g", "4 Tab j g", "4 Tab Tab j g",
			"4 Tab Tab Tab j g", "4 c g", "4 c Tab j g", "4 c Tab Tab j g", "6 j g",
			"6 Tab j g", "6 T j g", "6 j Enter j g", "6 Tab Tab Tab Tab j g",
			"6 BackTab j g", "7 j g", "7 Tab j g", "7 j Tab Tab j g", "? j g"};
	static const char *const keys[] = {"3", "5", "A", "c", "v", "Space", "6", "x", "h", "l",
			"Enter", "s", "S", "w", "n", "N", "T", "o", "Tab", "BackTab", ".", "F7",
			"Delete"};
	struct cloud cloud = {0};
	struct canvas before;
	struct bench bench;
	size_t s, k;

	(void)state;
	canvas_init(&before, false);
	for (s = 0; s < sizeof(screens) / sizeof(screens[0]); s++) {
		for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			begin(&bench, &cloud);
			bench_type(&bench, screens[s]);
			bench_sees(&bench, "");
			assert_true(canvas_copy(&before, &bench.canvas));
			bench_type(&bench, keys[k]);
			bench_sees(&bench, "");
			if (canvas_equal(&before, &bench.canvas) && strcmp(keys[k], "w") != 0) {
				fail_msg("%s on screen %s changes nothing", keys[k], screens[s]);
			}
			bench_close(&bench);
		}
	}
	canvas_release(&before);
}

/* What has gone says so, and how to go on. */
static void what_has_gone(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "j Enter Enter");
	assert_true(bench.focus.request_id > 1000);
	cloud.gone = true;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, "this request is not kept (any more); w shows the slowest"));
	cloud.gone = false;
	bench_type(&bench, "w");
	assert_int_equal(bench.focus.request_id, 200);
	assert_int_equal(bench.focus.group_id, 2);
	bench_close(&bench);
}

/* From a thread to its process, an fd, its events; and the focus that is asked for on the way. */
static void into_the_state(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "6");
	assert_int_equal(bench.focus.screen, SCREEN_STATE);
	assert_int_equal(bench.focus.parts, FOCUS_STATE | FOCUS_BRIEF | FOCUS_STEPS);
	assert_int_equal(bench.focus.thread_id, 0);
	bench_type(&bench, "j Enter");
	assert_int_equal(bench.focus.thread_id, 12);
	assert_true(bench_sees(&bench, "thread 1211  of process 1204  on compute-1"));
	bench_type(&bench, "j j Enter");
	assert_int_equal(bench.focus.fd_id, 33);
	assert_true(bench_sees(&bench, "fd 9 (not known what it is) of compute 1204"));
	bench_type(&bench, "Esc");
	assert_int_equal(bench.focus.fd_id, 0);
	assert_int_equal(bench.focus.thread_id, 12);
	bench_type(&bench, "Esc");
	assert_int_equal(bench.focus.thread_id, 0); /* the table of threads needs no fds */
	assert_true(bench_sees(&bench, ">  19.0"));
	bench_type(&bench, "Esc");
	assert_int_equal(bench.focus.screen, SCREEN_GROUPS);
	bench_close(&bench);
}

/* A call, who calls it, the calling thread, and back the same way. */
static void from_a_call_to_its_caller(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "6 Tab Tab Tab Tab j Enter");
	assert_true(bench_sees(&bench, "who calls futex on compute-1"));
	assert_false(bench_sees(&bench, "tar"));
	bench_type(&bench, "Enter");
	assert_int_equal(bench.focus.thread_id, 12);
	bench_type(&bench, "Esc Esc");
	assert_true(bench_sees(&bench, "SYSTEM CALL"));
	assert_true(bench_sees(&bench, "> futex"));
	bench_close(&bench);
}

/* `:at` with a time before, relative and absolute; and what is no time, or is out of reach. */
static void at_an_instant(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, ":");
	bench_text(&bench, "at -3.2s");
	bench_type(&bench, "Enter");
	assert_true(bench.focus.frozen);
	assert_int_equal(bench.focus.back_ns, 3200000000);
	bench_type(&bench, ":");
	bench_text(&bench, "at 22:13:18"); /* it was frozen at 22:13:20 */
	bench_type(&bench, "Enter");
	assert_int_equal(bench.focus.back_ns, 2000000000);
	bench_type(&bench, ":");
	bench_text(&bench, "at -11s");
	bench_type(&bench, "Enter");
	assert_true(bench_sees(&bench, "left the window"));
	bench_type(&bench, ":");
	bench_text(&bench, "at noon");
	bench_type(&bench, "Enter");
	assert_true(bench_sees(&bench, "no time: \"noon\""));
	bench_type(&bench, ":");
	bench_text(&bench, "at 1000000000.5");
	bench_type(&bench, "Enter");
	assert_true(bench_sees(&bench, "before the first event"));
	bench_type(&bench, "p");
	assert_false(bench.focus.frozen);
	bench_close(&bench);
}

/* The thread of a span as it was when the span began; Esc goes back to the request. */
static void from_a_span_to_its_thread(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "4 w o"); /* sem.acquire began 104 ms after 22:13:17 */
	assert_int_equal(bench.focus.screen, SCREEN_STATE);
	assert_true(bench.focus.frozen);
	assert_int_equal(bench.focus.back_ns, 2896000000);
	assert_int_equal(bench.focus.thread_id, 12);
	bench_type(&bench, ". . .");
	assert_int_equal(bench.focus.back_ns, 0);
	bench_type(&bench, "Esc");
	assert_int_equal(bench.focus.screen, SCREEN_REQUEST);
	assert_int_equal(bench.focus.request_id, 100);
	bench_type(&bench, "p G o"); /* notify: the same thread, at another moment */
	assert_int_equal(bench.focus.back_ns, 980000000);
	bench_type(&bench, "p");
	assert_false(bench.focus.frozen);
	bench_close(&bench);
}

/* Folded processes stay folded; sorting leaves the tree. */
static void a_tree_of_processes(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "6 T j h");
	assert_true(bench_sees(&bench, "▸ systemd"));
	assert_false(bench_sees(&bench, "bash"));
	cloud.tick++;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_false(bench_sees(&bench, "bash"));
	bench_type(&bench, "l j j h"); /* from a thread to its process */
	assert_true(bench_sees(&bench, "▾ compute"));
	bench_type(&bench, "Enter");
	assert_int_equal(bench.focus.thread_id, 13);
	bench_type(&bench, "Esc s");
	assert_false(bench_sees(&bench, "▾"));
	bench_type(&bench, "f");
	bench_text(&bench, "controller|^77$");
	bench_type(&bench, "Enter");
	assert_true(bench_sees(&bench, "2 of 8 threads"));
	bench_close(&bench);
}

/* To the worst place step by step; what was folded stays so, and the cursor on its item. */
static void down_the_tree(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "3");
	assert_int_equal(bench.focus.screen, SCREEN_TREE);
	assert_int_equal(bench.focus.parts, FOCUS_TREE | FOCUS_STEPS);
	assert_int_equal(bench.focus.group_id, 1);
	assert_false(bench.focus.tree_of_all);
	bench_type(&bench, "w");
	assert_true(bench_sees(&bench, ">  ▾ ● compute.build_instance"));
	bench_type(&bench, "w");
	assert_true(bench_sees(&bench, ">     ● sem.acquire"));
	bench_type(&bench, "w");
	assert_true(bench_sees(&bench, "nothing is known below it"));
	cloud.variation.moved = true;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, ">     ● sem.acquire"));
	bench_type(&bench, "h h");
	assert_true(bench_sees(&bench, ">  ▸ ● compute.build_instance"));
	assert_true(bench_sees(&bench, "100% all"));
	cloud.variation.moved = false;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_false(bench_sees(&bench, "sem.acquire  "));
	bench_type(&bench, "w"); /* opens what is on the way */
	assert_true(bench_sees(&bench, ">     ● sem.acquire"));
	bench_type(&bench, "Esc");
	assert_int_equal(bench.focus.screen, SCREEN_GROUP);
	bench_close(&bench);
}

/* Which order siblings stand in is told; without shares of the variance there is none by them. */
static void order_of_the_tree(void **state)
{
	static const char *const orders[] = {
			"by time", "by self time", "by own variance", "by share"};
	struct cloud cloud = {0};
	struct bench bench;
	size_t i;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "3");
	assert_true(bench_sees(&bench, "by share"));
	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		bench_type(&bench, "s");
		assert_true(bench_sees(&bench, orders[i]));
	}
	bench_type(&bench, "A");
	assert_true(bench.focus.tree_of_all);
	assert_true(bench_sees(&bench, "calling contexts of all groups"));
	assert_true(bench_sees(&bench, "by time"));
	bench_type(&bench, "s");
	assert_true(bench_sees(&bench, "by self time"));
	bench_type(&bench, "s");
	assert_true(bench_sees(&bench, "by time"));
	bench_type(&bench, "A");
	assert_false(bench.focus.tree_of_all);
	bench_type(&bench, "1 3"); /* never of all where a group is at hand */
	assert_false(bench.focus.tree_of_all);
	cloud.variation.missing = 19;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, "not yet: 19 more requests"));
	assert_true(bench_sees(&bench, "OF TIME"));
	bench_close(&bench);
}

/* From a segment to its context, to the slowest request there, to its events; back by the same way.
 */
static void from_a_segment_to_events(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "Enter Tab j Enter");
	assert_int_equal(bench.focus.screen, SCREEN_TREE);
	assert_true(bench_sees(&bench, ">     ● driver.spawn"));
	bench_type(&bench, "Enter");
	assert_int_equal(bench.focus.screen, SCREEN_REQUEST);
	assert_int_equal(bench.focus.request_id, 100);
	assert_true(bench_sees(&bench, ">   ▾ driver.spawn"));
	bench_type(&bench, "Esc");
	assert_int_equal(bench.focus.screen, SCREEN_TREE);
	bench_type(&bench, "o");
	assert_true(bench_sees(&bench, "▸ 26 events"));
	assert_true(bench_sees(&bench, "nova:driver.spawn_entry"));
	bench_type(&bench, "Esc Esc j j Enter"); /* network.plug is off */
	assert_int_equal(bench.focus.screen, SCREEN_TREE);
	assert_true(bench_sees(&bench, "its tracepoint is not on"));
	bench_close(&bench);
}

/* Where a request did not go, that is said, not hidden behind another span. */
static void a_request_that_went_elsewhere(void **state)
{
	struct cloud cloud = {.variation.rows = 3};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "3 G Enter");
	assert_int_equal(bench.focus.screen, SCREEN_REQUEST);
	assert_true(bench_sees(&bench, "did not pass there"));
	bench_type(&bench, "j");
	assert_false(bench_sees(&bench, "did not pass there"));
	bench_close(&bench);
}

/* With the tagged request, else with the one nearest to the median. */
static void requests_are_compared(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "4 c");
	assert_int_equal(bench.focus.screen, SCREEN_COMPARE);
	assert_int_equal(bench.focus.parts, FOCUS_REQUEST | FOCUS_COMPARE | FOCUS_STEPS);
	assert_int_equal(bench.focus.request_id, 100);
	assert_int_equal(bench.focus.compare_id, 3997); /* and it stays that one */
	assert_true(bench_sees(&bench, "nearest to its group's median"));
	assert_true(bench_sees(&bench, ">     sem.acquire"));
	bench_type(&bench, "j w");
	assert_true(bench_sees(&bench, ">     sem.acquire"));
	bench_type(&bench, "Esc");
	assert_int_equal(bench.focus.screen, SCREEN_REQUEST);
	bench_type(&bench, "Esc Tab Tab j Space k c");
	assert_int_equal(bench.focus.screen, SCREEN_COMPARE);
	assert_int_equal(bench.focus.request_id, 4000);
	assert_int_equal(bench.focus.compare_id, 3999);
	assert_true(bench_sees(&bench, "   tagged"));
	bench_type(&bench, "c"); /* the median instead */
	assert_int_equal(bench.focus.compare_id, 3997);
	bench_type(&bench, "c");
	assert_int_equal(bench.focus.compare_id, 3999);
	bench_type(&bench, "Tab j Enter"); /* to a difference, then to who took longer there */
	assert_true(bench_sees(&bench, ">     image.fetch"));
	bench_type(&bench, "Enter");
	assert_int_equal(bench.focus.screen, SCREEN_REQUEST);
	assert_int_equal(bench.focus.request_id, 3999);
	assert_true(bench_sees(&bench, ">     image.fetch"));
	bench_type(&bench, "c");
	assert_true(bench_sees(&bench, "this is the tagged request itself"));
	bench_type(&bench, "Space c");
	assert_int_equal(bench.focus.compare_id, 3997);
	bench_type(&bench, "Esc Esc");
	assert_int_equal(bench.focus.screen, SCREEN_GROUP);
	bench_close(&bench);
}

/* The order of groups is the screen's own choice, told in the header. */
/* From a change to its context, its group and its slowest request; from a type to its group. */
static void from_a_change_to_its_place(void **state)
{
	struct cloud cloud = {.changes.compared = true};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	assert_true(bench_sees(&bench, "CHANGED nova-compute nova:sem.acquire"));
	bench_type(&bench, "8");
	assert_int_equal(bench.focus.screen, SCREEN_CHANGES);
	assert_true(bench.focus.parts & FOCUS_CHANGES);
	bench_type(&bench, "Enter");
	assert_int_equal(bench.focus.screen, SCREEN_TREE);
	assert_int_equal(bench.focus.group_id, 1);
	assert_true(bench_sees(&bench, ">     ● sem.acquire"));
	bench_type(&bench, "8 Esc");
	assert_int_equal(bench.focus.screen, SCREEN_TREE);
	bench_type(&bench, "8 j 2");
	assert_int_equal(bench.focus.screen, SCREEN_GROUP);
	assert_int_equal(bench.focus.group_id, 2);
	bench_type(&bench, "8 k 4");
	assert_int_equal(bench.focus.screen, SCREEN_REQUEST);
	assert_int_equal(bench.focus.group_id, 1);
	bench_type(&bench, "1 8 G Enter"); /* the baseline alone has it */
	assert_int_equal(bench.focus.screen, SCREEN_CHANGES);
	assert_true(bench_sees(&bench, "no request of this horizon is in it"));
	bench_type(&bench, "Tab j Enter");
	assert_int_equal(bench.focus.screen, SCREEN_GROUP);
	assert_int_equal(bench.focus.group_id, 2);
	bench_close(&bench);
}

static void metrics(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	assert_int_equal(bench.focus.metric, METRIC_VARIANCE);
	assert_true(bench_sees(&bench, "SHARE▼"));
	bench_type(&bench, "v");
	assert_int_equal(bench.focus.metric, METRIC_COV);
	assert_true(bench_sees(&bench, "COV▼"));
	bench_type(&bench, ":");
	bench_text(&bench, "metric modes");
	bench_type(&bench, "Enter");
	assert_int_equal(bench.focus.metric, METRIC_MODES);
	assert_true(bench_sees(&bench, "MODES▼"));
	bench_type(&bench, ":");
	bench_text(&bench, "metric mean");
	bench_type(&bench, "Enter");
	assert_true(bench_sees(&bench, "metric is variance, cov or modes, not \"mean\""));
	assert_string_equal(bench.command, ""); /* nothing for the program to do */
	bench_close(&bench);
}

/* Below the list is where the group under the cursor varies, and of no other. */
static void the_group_under_the_cursor(void **state)
{
	struct cloud cloud = {0};
	struct snapshot *snapshot;
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	assert_int_equal(bench.focus.group_id, 1);
	assert_true(bench_sees(&bench, "inside sem.acquire 97%"));
	bench_type(&bench, "j");
	assert_int_equal(bench.focus.group_id, 2);
	snapshot = cloud_snapshot(&bench.focus, &cloud);
	snapshot->group.id = 1; /* an answer to what was asked before */
	bench_show(&bench, snapshot);
	assert_false(bench_sees(&bench, "inside sem.acquire"));
	bench_type(&bench, "4 1 j 7 4"); /* the slowest one of the group, not the one seen before */
	assert_int_equal(bench.focus.group_id, 3);
	assert_int_equal(bench.focus.request_id, 300);
	bench_close(&bench);
}

static void search_goes_round(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "n");
	assert_true(bench_sees(&bench, "nothing is searched for"));
	bench_type(&bench, "/");
	bench_text(&bench, "list");
	bench_type(&bench, "Enter");
	assert_true(bench_sees(&bench, "> server list"));
	assert_true(bench_sees(&bench, "/list: 2 match"));
	bench_type(&bench, "n");
	assert_true(bench_sees(&bench, ">~volume list"));
	bench_type(&bench, "F3");
	assert_true(bench_sees(&bench, "> server list"));
	bench_type(&bench, "N");
	assert_true(bench_sees(&bench, ">~volume list"));
	bench_type(&bench, "f");
	bench_text(&bench, "(");
	bench_type(&bench, "Enter");
	assert_true(bench_sees(&bench, "(: "));
	bench_type(&bench, "f");
	bench_text(&bench, "nothing like it");
	bench_type(&bench, "Enter");
	assert_true(bench_sees(&bench, "0 of 6 groups"));
	bench_type(&bench, "Enter"); /* no row: the worst group */
	assert_int_equal(bench.focus.screen, SCREEN_GROUP);
	bench_close(&bench);
}

static void keys_from_settings(void **state)
{
	static const struct setting items[] = {{"key.quit", "z", 1}, {"key.help", "q", 2}};
	static const struct settings keys = {"my.conf", 2, items};
	static const struct setting wrong_items[] = {{"key.quit", "", 1}, {"key.foo", "q", 2}};
	static const struct settings wrong = {"my.conf", 2, wrong_items};
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	console_destroy(bench.console);
	bench.focus.serial = 0;
	bench.options.keys = &keys;
	bench.console = console_create(&bench.options, &bench.host);
	assert_non_null(bench.console);
	assert_int_equal(bench_type(&bench, "q"), CONSOLE_STAY);
	assert_int_equal(bench.focus.screen, SCREEN_HELP);
	assert_true(bench_sees(&bench, "z quit"));
	assert_int_equal(bench_type(&bench, "z"), CONSOLE_QUIT);
	console_destroy(bench.console);
	bench.focus.serial = 0;
	bench.options.keys = &wrong;
	bench.console = console_create(&bench.options, &bench.host);
	assert_true(bench_sees(&bench, "my.conf:2: key.foo: no such action"));
	bench_close(&bench);
}

static void sources_are_attached(void **state)
{
	struct cloud cloud = {0};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "7 G");
	assert_true(bench_sees(&bench, "Enter attaches it"));
	bench_type(&bench, "Enter");
	assert_string_equal(bench.command, "attach net://relay1/host/compute-2/mine");
	bench_type(&bench, "Tab s");
	assert_true(bench_sees(&bench, "▸ unmatched"));
	bench_close(&bench);
}

/* What sources say is shown, all of it, and once. */
static void first_run(void **state)
{
	static struct source_row rows[] = {
			{.id = 1,
					.url = "net://localhost",
					.is_relay = true,
					.state = SOURCE_BROKEN,
					.detail = "No relay daemon at localhost:5344. Start one: "
						  "lttng-relayd -d   Or open a recording: "
						  "pythiatop DIR"},
			{.id = 2,
					.url = "net://localhost/host/h/s",
					.host = "h",
					.session = "s",
					.state = SOURCE_BROKEN,
					.detail = "No relay daemon at localhost:5344. Start one: "
						  "lttng-relayd -d   Or open a recording: "
						  "pythiatop DIR"},
			{.id = 3,
					.url = "net://relay1",
					.is_relay = true,
					.state = SOURCE_CONNECTING},
			{.id = 4,
					.url = "net://relay2/host/h/x",
					.session = "x",
					.host = "h",
					.live = true,
					.state = SOURCE_OFFERED},
	};
	struct snapshot *snapshot;
	struct cloud cloud = {.no_groups = true, .sources = rows, .n_sources = 4};
	struct bench bench;

	(void)state;
	memset(&bench, 0, sizeof(bench));
	bench_open(&bench, 24, 80, false, false);
	assert_int_equal(bench.focus.parts,
			FOCUS_GROUPS | FOCUS_SOURCES | FOCUS_UNMATCHED | FOCUS_STEPS);
	assert_true(bench_sees(&bench, "No requests so far."));
	snapshot = cloud_snapshot(&bench.focus, &cloud);
	memset(&snapshot->accounting, 0, sizeof(snapshot->accounting));
	bench_show(&bench, snapshot);
	bench_golden(&bench, "first-run-sources");
	cloud.sources = rows;
	cloud.n_sources = 0;
	snapshot = cloud_snapshot(&bench.focus, &cloud);
	memset(&snapshot->accounting, 0, sizeof(snapshot->accounting));
	bench_show(&bench, snapshot);
	assert_true(bench_sees(&bench, "Nothing is watched. :attach net://RELAY"));
	bench_close(&bench);
}

static void events_without_requests(void **state)
{
	struct cloud cloud = {.no_groups = true};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	assert_true(bench_sees(&bench,
			"41.2k events/s, no requests: nothing starts one. 38 event names;"));
	bench_golden(&bench, "first-run-events");
	cloud.sources = (struct source_row[]){{.id = 2, .url = "/traces/a", .state = SOURCE_ENDED}};
	cloud.n_sources = 1;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	bench_type(&bench, "Enter");
	assert_int_equal(bench.focus.screen, SCREEN_SOURCES);
	assert_true(bench_sees(&bench, "▸ unmatched"));
	bench_close(&bench);
}

static void change_cloud(struct cloud *cloud, uint32_t random)
{
	cloud->tick++;
	cloud->groups = random % 5 == 0 ? random / 5 % 40 : cloud->groups;
	cloud->hostile = random % 3 == 0;
	cloud->lossy = random % 7 == 0;
	cloud->shuffled = random % 2 == 0;
	cloud->gone = random % 11 == 0;
	cloud->no_groups = random % 13 == 0;
	cloud->no_path = random % 17 == 0;
	cloud->changes = (struct made_changes){.compared = random % 4 != 0,
			.unsure = random % 5 == 2,
			.none = random % 5 == 3,
			.hostile = random % 3 == 0};
	cloud->variation = (struct made_variation){.missing = random % 5 == 1 ? 19 : 0,
			.lossy = random % 7 == 1,
			.common = random % 3 == 1,
			.hostile = random % 3 == 2,
			.moved = random % 2,
			.folded = random % 4 == 1,
			.rows = random % 9 == 0 ? random % 700 : 0};
}

/* Every line is as wide as the screen, whatever is drawn on it. */
static void assert_whole(const struct canvas *canvas)
{
	int y, x, width;

	for (y = 0; y < canvas->rows; y++) {
		width = 0;
		for (x = 0; x < canvas->columns; x++) {
			width += canvas_at(canvas, y, x)->width;
		}
		assert_int_equal(width, canvas->columns);
	}
}

/* Any keys on any data in any size: nothing breaks. */
static void any_keys(void **state)
{
	static const char typed[] = "123478?wjkhlgGnN/fsSp,.t:!ae(cAvo \x0c";
	struct cloud cloud = {0};
	struct bench bench;
	uint32_t random = 4711, i, key;

	(void)state;
	begin(&bench, &cloud);
	for (i = 0; i < 20000; i++) {
		random = random * 1103515245u + 12345u;
		if (random >> 16 & 1) {
			key = (unsigned char)typed[(random >> 17) % (sizeof(typed) - 1)];
		} else {
			static const uint32_t others[] = {K_ENTER, K_ESC, K_TAB, K_BACKTAB, K_UP,
					K_DOWN, K_LEFT, K_RIGHT, K_HOME, K_END, K_PAGE_UP,
					K_PAGE_DOWN, K_BACKSPACE, K_DELETE, 0xe9, 0x6f22};

			key = others[(random >> 17) % (sizeof(others) / sizeof(others[0]))];
		}
		console_key(bench.console, key);
		if (random >> 24 == 0) {
			assert_true(canvas_resize(&bench.canvas, 1 + (int)(random >> 8 & 63),
					1 + (int)(random >> 14 & 255)));
		}
		if (i % 16 == 0) {
			change_cloud(&cloud, random >> 9);
			bench_type(&bench, "");
			bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
		}
		console_draw(bench.console, &bench.canvas);
		assert_whole(&bench.canvas);
	}
	bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(drill_down_and_back),
			cmocka_unit_test(numbers_always_show_something),
			cmocka_unit_test(the_cursor_stays_on_its_item),
			cmocka_unit_test(the_cursor_begins_with_the_worst),
			cmocka_unit_test(freeze_and_step),
			cmocka_unit_test(at_an_instant),
			cmocka_unit_test(horizon_and_commands),
			cmocka_unit_test(no_key_is_silent),
			cmocka_unit_test(what_has_gone),
			cmocka_unit_test(into_the_state),
			cmocka_unit_test(from_a_call_to_its_caller),
			cmocka_unit_test(from_a_span_to_its_thread),
			cmocka_unit_test(a_tree_of_processes),
			cmocka_unit_test(down_the_tree),
			cmocka_unit_test(order_of_the_tree),
			cmocka_unit_test(from_a_segment_to_events),
			cmocka_unit_test(a_request_that_went_elsewhere),
			cmocka_unit_test(requests_are_compared),
			cmocka_unit_test(from_a_change_to_its_place),
			cmocka_unit_test(metrics),
			cmocka_unit_test(the_group_under_the_cursor),
			cmocka_unit_test(search_goes_round),
			cmocka_unit_test(keys_from_settings),
			cmocka_unit_test(sources_are_attached),
			cmocka_unit_test(first_run),
			cmocka_unit_test(events_without_requests),
			cmocka_unit_test(any_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
