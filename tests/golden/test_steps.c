/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What keys do about steps: nothing is done that was not asked first, but undoing everything. */
#include "support_console.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "support_cloud.h"

static void begin(struct bench *bench, struct cloud *cloud)
{
	bench->answer = cloud_snapshot;
	bench->context = cloud;
	bench_open(bench, 24, 80, false, false);
	bench_type(bench, "");
}

/* The command sent since the last look; "" if none was. */
static void expect_command(struct bench *bench, const char *command)
{
	assert_string_equal(bench->command, command);
	bench->command[0] = '\0';
}

static void approving_asks_first(void **state)
{
	struct cloud cloud = {.steps = {.mode = MODE_APPROVE, .waits = true}};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	assert_true(bench_sees(&bench, "NEXT +3 inside compute.build_instance"));
	assert_true(bench_sees(&bench, "about +310 ev/s"));
	bench_type(&bench, "a");
	assert_true(bench_sees(&bench, "enable nova:sem_acquire_entry"));
	assert_true(bench_sees(&bench, "in session pythiatop-root-4711, nobody else's"));
	assert_true(bench_sees(&bench, "[ Esc cancel ]"));
	expect_command(&bench, "");
	/* The focus is on Cancel; other keys neither answer nor do what they do elsewhere. */
	bench_type(&bench, "x 3 r q a Enter");
	assert_false(bench_sees(&bench, "[ Esc cancel ]"));
	assert_int_equal(bench.focus.screen, SCREEN_GROUPS);
	expect_command(&bench, "");
	bench_type(&bench, "a Esc");
	assert_true(bench_sees(&bench, "nothing was done"));
	expect_command(&bench, "");
	bench_type(&bench, "a y");
	assert_false(bench_sees(&bench, "[ Esc cancel ]"));
	expect_command(&bench, "approve 2");
	bench_type(&bench, "a Tab Enter");
	expect_command(&bench, "approve 2");
	bench_type(&bench, "a Tab Tab Enter");
	expect_command(&bench, "");
	bench_close(&bench);
}

static void rejecting_and_undoing(void **state)
{
	struct cloud cloud = {.steps = {.mode = MODE_APPROVE, .waits = true}};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "r n");
	expect_command(&bench, "");
	bench_type(&bench, "r y");
	expect_command(&bench, "reject 2");
	bench_type(&bench, "5 u"); /* the one under the cursor is proposed */
	assert_true(bench_sees(&bench, "step 2 is proposed: it cannot be undone"));
	bench_type(&bench, "j u y");
	expect_command(&bench, "undo 1");
	cloud.steps = (struct made_steps){.mode = MODE_APPROVE, .done = true};
	bench_type(&bench, "1 2 u"); /* the newest in force */
	assert_true(bench_sees(&bench, "Step 2: undo +3 inside"));
	bench_type(&bench, "y a");
	expect_command(&bench, "undo 2");
	assert_true(bench_sees(&bench, "there is no step to approve"));
	bench_close(&bench);
}

/* The step goes on while the person thinks: y has nothing to approve any more. */
static void questions_end_with_their_step(void **state)
{
	struct cloud cloud = {.steps = {.mode = MODE_APPROVE, .waits = true}};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "a");
	cloud.steps = (struct made_steps){.mode = MODE_APPROVE, .went_on = true};
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, "step 2 has changed meanwhile: nothing was done"));
	assert_false(bench_sees(&bench, "[ Esc cancel ]"));
	bench_type(&bench, "y");
	expect_command(&bench, "");
	bench_close(&bench);
}

static void modes_are_confirmed(void **state)
{
	struct cloud cloud = {.steps = {.waits = true}};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "a");
	assert_true(bench_sees(&bench, "the mode is observe: nothing may be changed; m changes"));
	assert_false(bench_sees(&bench, "[ Esc cancel ]"));
	bench_type(&bench, "m");
	assert_true(bench_sees(&bench, "Mode: approve, instead of observe"));
	bench_type(&bench, "m");
	assert_true(bench_sees(&bench, "Mode: autopilot, instead of observe"));
	assert_true(bench_sees(&bench, "410 of 5000 ev/s"));
	expect_command(&bench, "");
	bench_type(&bench, "y");
	expect_command(&bench, "mode autopilot");
	cloud.steps.mode = MODE_AUTOPILOT;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, "epoch 74s  autopilot"));
	bench_type(&bench, "m y");
	expect_command(&bench, "mode observe");
	bench_type(&bench, "X"); /* at once */
	expect_command(&bench, "undo all");
	bench_type(&bench, "m X"); /* whatever is asked */
	assert_false(bench_sees(&bench, "[ Esc cancel ]"));
	expect_command(&bench, "undo all");
	bench_close(&bench);
}

static void leaving_asks_where_steps_are_in_force(void **state)
{
	struct cloud cloud = {.steps = {.mode = MODE_APPROVE, .done = true}};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	assert_int_equal(bench_type(&bench, "q"), CONSOLE_STAY);
	assert_true(bench_sees(&bench, "3 points beyond the skeleton"));
	assert_int_equal(bench_type(&bench, "Esc"), CONSOLE_STAY);
	assert_int_equal(bench_type(&bench, "q y"), CONSOLE_QUIT);
	assert_int_equal(bench_type(&bench, ": q Enter"), CONSOLE_STAY);
	assert_int_equal(bench_type(&bench, "y"), CONSOLE_QUIT);
	assert_int_equal(bench_type(&bench, "Ctrl-Z"), CONSOLE_STAY);
	assert_true(bench_sees(&bench, "While it is stopped nobody watches"));
	assert_int_equal(bench_type(&bench, "y"), CONSOLE_SUSPEND);
	cloud.steps = (struct made_steps){.mode = MODE_APPROVE, .waits = true};
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_int_equal(bench_type(&bench, "Ctrl-Z"), CONSOLE_SUSPEND);
	assert_int_equal(bench_type(&bench, "q"), CONSOLE_QUIT);
	bench_close(&bench);
}

static void show_left(struct bench *bench, struct cloud *cloud, uint32_t left)
{
	cloud->steps.left = left;
	bench_show(bench, cloud_snapshot(&bench->focus, cloud));
}

/* Points are left out and taken back one by one; what is shown is what the program answered. */
static void points_are_chosen(void **state)
{
	struct cloud cloud = {.steps = {.mode = MODE_APPROVE, .waits = true}};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "e");
	assert_int_equal(bench.focus.screen, SCREEN_GROUPS);
	assert_true(bench_sees(&bench, "Step 2: edit +3 inside compute.build_instance"));
	assert_true(bench_sees(
			&bench, "[x] enable nova:image_fetch on compute-1, compute-2: 4 ev"));
	bench_type(&bench, "k Down Space"); /* the first is the top */
	expect_command(&bench, "leave 2 2");
	assert_true(bench_sees(&bench, "[x] enable nova:sem_acquire")); /* not answered so far */
	show_left(&bench, &cloud, 2);
	assert_true(bench_sees(&bench, "[ ] enable nova:sem_acquire"));
	assert_true(bench_sees(&bench, "(2 of 3 points)"));
	assert_true(bench_sees(&bench, "about +200 ev/s"));
	bench_type(&bench, "Space"); /* the cursor has stayed */
	expect_command(&bench, "take 2 2");
	bench_type(&bench, "j j j Space"); /* the last is the bottom */
	expect_command(&bench, "leave 2 3");
	bench_type(&bench, "Esc");
	assert_true(bench_sees(&bench, "step 2 waits, as it is now"));
	expect_command(&bench, "");
	bench_type(&bench, "a"); /* only what is kept */
	assert_false(bench_sees(&bench, "enable nova:sem_acquire_entry"));
	assert_true(bench_sees(&bench, "enable 2 points"));
	bench_type(&bench, "Space"); /* nothing to choose here */
	expect_command(&bench, "");
	bench_type(&bench, "Esc e y");
	expect_command(&bench, "approve 2");
	bench_type(&bench, "e");
	cloud.steps = (struct made_steps){.mode = MODE_APPROVE, .went_on = true};
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, "step 2 has changed meanwhile"));
	bench_type(&bench, "y Space");
	expect_command(&bench, "");
	bench_close(&bench);
}

/* Where nothing may be changed, and where there is no choice. */
static void editing_has_its_bounds(void **state)
{
	struct cloud cloud = {.steps = {.waits = true}};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "e Space");
	expect_command(&bench, "leave 2 1");
	bench_type(&bench, "y Tab Enter");
	expect_command(&bench, "");
	cloud.steps = (struct made_steps){.mode = MODE_APPROVE, .learn = true};
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	bench_type(&bench, "e");
	assert_true(bench_sees(&bench, "learns from all points at once: there is no choice"));
	cloud.steps = (struct made_steps){.mode = MODE_APPROVE, .done = true};
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	bench_type(&bench, "e");
	assert_true(bench_sees(&bench, "there is no step to edit"));
	bench_close(&bench);
}

static void points_by_hand(void **state)
{
	struct cloud cloud = {.steps = {.mode = MODE_APPROVE, .waits = true}};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	bench_type(&bench, "e 3"); /* to the first point that is proposed */
	assert_int_equal(bench.focus.screen, SCREEN_TREE);
	assert_int_equal(bench.focus.group_id, 1);
	assert_true(bench_sees(&bench, ">     + volume.attach  proposed"));
	assert_true(bench_sees(&bench, "+ or - on a point proposes that instead of step 2"));
	bench_type(&bench, "-");
	assert_true(bench_sees(&bench, "volume.attach is not on"));
	expect_command(&bench, "");
	bench_type(&bench, "+");
	expect_command(&bench, "enable 12");
	bench_type(&bench, "k +");
	expect_command(&bench, "enable 11");
	bench_type(&bench, "k +");
	assert_true(bench_sees(&bench, "no tracepoint makes this row"));
	expect_command(&bench, "");
	bench_type(&bench, "k -");
	expect_command(&bench, "disable 10");
	assert_true(bench_sees(&bench, "NEXT +3 inside compute.build_instance"));
	bench_type(&bench, "a y"); /* over any screen */
	expect_command(&bench, "approve 2");
	bench_close(&bench);
}

static void the_steps_screen_explains(void **state)
{
	struct cloud cloud = {.steps = {.done = true, .verdict = true, .no_control = true}};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	assert_true(bench_sees(&bench, "◆ server create"));
	assert_true(bench_sees(&bench, "◇ volume create"));
	bench_type(&bench, "2 5");
	assert_int_equal(bench.focus.screen, SCREEN_STEPS);
	assert_true(bench.focus.parts & FOCUS_STEPS);
	assert_true(bench_sees(
			&bench, "stopped by rule 2 \"a variable explains it\" after 2 steps"));
	assert_true(bench_sees(&bench, "3 of 271 points"));
	assert_true(bench_sees(&bench, "explained by sem.acquire.queue_len"));
	assert_true(bench_sees(&bench, "92% held out, n 444+444, p <= 0.001"));
	bench_type(&bench, "BackTab Enter");
	assert_true(bench_sees(&bench, "evidence: server create"));
	bench_type(&bench, "PgDn PgDn");
	assert_true(bench_sees(&bench, "cannot be told from: sem.acquire.waiters"));
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud)); /* stays where it is */
	assert_true(bench_sees(&bench, "cannot be told from: sem.acquire.waiters"));
	bench_type(&bench, "G");
	assert_true(bench_sees(&bench, "then sem.acquire holds 97%"));
	bench_type(&bench, "/ l e f t Space o u t Enter");
	assert_true(bench_sees(&bench, "> variables left out"));
	bench_type(&bench, "Esc");
	assert_true(bench_sees(&bench, "stopped by rule 2"));
	bench_type(&bench, "j Enter"); /* the other group's */
	assert_true(bench_sees(&bench, "> volume create: 61%"));
	bench_type(&bench, "Esc f n o n e Enter"); /* none is left, so none is told of */
	assert_false(bench_sees(&bench, "looking deeper"));
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_false(bench_sees(&bench, "looking deeper"));
	bench_type(&bench, "f Backspace Backspace Backspace Backspace Enter k Tab Tab Tab j");
	assert_true(bench_sees(&bench, "compute-2=ssh://compute-2"));
	bench_type(&bench, "Tab Tab Enter"); /* the newest step */
	assert_true(bench_sees(&bench, "Step 2 (kept)"));
	assert_true(bench_sees(&bench, "[ Esc close ]"));
	bench_type(&bench, "y");
	expect_command(&bench, "");
	bench_type(&bench, "Esc Esc");
	assert_int_equal(bench.focus.screen, SCREEN_GROUP); /* where one came from */
	bench_close(&bench);
}

static void control_that_is_off_is_said(void **state)
{
	struct cloud cloud = {.no_groups = true, .steps.no_control = true};
	struct bench bench;

	(void)state;
	begin(&bench, &cloud);
	assert_true(bench_sees(&bench, "Control off: no helper for compute-2. Try: pythiatop"));
	cloud.no_groups = false;
	bench_show(&bench, cloud_snapshot(&bench.focus, &cloud));
	assert_true(bench_sees(&bench, "Control off: no helper for compute-2. Try: pythiatop"));
	bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(approving_asks_first),
			cmocka_unit_test(rejecting_and_undoing),
			cmocka_unit_test(questions_end_with_their_step),
			cmocka_unit_test(modes_are_confirmed),
			cmocka_unit_test(leaving_asks_where_steps_are_in_force),
			cmocka_unit_test(points_are_chosen),
			cmocka_unit_test(editing_has_its_bounds),
			cmocka_unit_test(points_by_hand),
			cmocka_unit_test(the_steps_screen_explains),
			cmocka_unit_test(control_that_is_off_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
