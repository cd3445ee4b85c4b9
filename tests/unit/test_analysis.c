/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The analysis thread as the screen meets it: every focus is answered, commands are answered by a
 * notice, held snapshots stay as they are. Built with ThreadSanitizer, it shows that the hand-over
 * between the threads is sound.
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "pythiatop/command.h"
#include "run/analysis.h"

#define TRACE      PT_TRACES_DIR "/ust-ros2"
#define ANSWER_MS  5000 /* generous: sanitizers and a busy machine */
#define NO_CHANGES 300

struct screen_side {
	struct pipeline *pipeline;
	struct analysis *analysis;
	struct console_host host;
	struct focus focus;
};

static int set_up(void **state)
{
	struct screen_side *side = calloc(1, sizeof(*side));

	setenv("PATH", PT_BUILD_DIR, 1); /* where pythiatop-source is */
	side->pipeline = pipeline_create(0, false);
	assert_non_null(side->pipeline);
	side->focus = (struct focus){
			.serial = 1,
			.screen = SCREEN_GROUPS,
			.parts = FOCUS_ALL,
			.horizon = HORIZON_ALL,
	};
	*state = side;
	return 0;
}

static void start(struct screen_side *side)
{
	side->analysis = analysis_start(side->pipeline, &side->focus);
	assert_non_null(side->analysis);
	analysis_host(side->analysis, &side->host);
}

static int tear_down(void **state)
{
	struct screen_side *side = *state;

	analysis_stop(side->analysis);
	pipeline_destroy(side->pipeline);
	free(side);
	return 0;
}

static void wait_for_news(const struct screen_side *side)
{
	struct pollfd fd = {.fd = side->host.wake_fd, .events = POLLIN};
	uint64_t count;

	assert_int_equal(poll(&fd, 1, ANSWER_MS), 1);
	assert_int_equal(read(side->host.wake_fd, &count, sizeof(count)), sizeof(count));
}

static const struct snapshot *acquire(const struct screen_side *side)
{
	return side->host.acquire(side->host.context);
}

static void release(const struct screen_side *side, const struct snapshot *snapshot)
{
	side->host.release(side->host.context, snapshot);
}

/* Looks at something else and waits for its answer, which is held. */
static const struct snapshot *ask(struct screen_side *side)
{
	const struct snapshot *snapshot;

	side->focus.serial++;
	side->host.set_focus(side->host.context, &side->focus);
	for (;;) {
		wait_for_news(side);
		snapshot = acquire(side);
		if (snapshot && snapshot->focus.serial == side->focus.serial) {
			return snapshot;
		}
		if (snapshot) {
			assert_true(snapshot->focus.serial < side->focus.serial);
			release(side, snapshot);
		}
	}
}

/* Waits for the answer to a command. */
static void expect_notice(struct screen_side *side, const char *command, const char *answer)
{
	const struct snapshot *snapshot = ask(side);
	uint64_t before = snapshot->notice_serial;

	release(side, snapshot);
	side->host.command(side->host.context, command);
	for (;;) {
		wait_for_news(side);
		snapshot = acquire(side);
		if (snapshot->notice_serial != before) {
			break;
		}
		release(side, snapshot);
	}
	if (!strstr(snapshot->notice, answer)) {
		print_error("%s: \"%s\", not \"%s\"\n", command, snapshot->notice, answer);
		fail();
	}
	release(side, snapshot);
}

static void test_every_focus_is_answered(void **state)
{
	static const enum focus_part parts[] = {FOCUS_GROUPS, FOCUS_ALL, FOCUS_SOURCES,
			FOCUS_GROUPS | FOCUS_GROUP, FOCUS_REQUEST};
	struct screen_side *side = *state;
	const struct snapshot *held[4] = {NULL};
	uint64_t held_time[4] = {0}, held_in[4] = {0};
	char error[256];
	uint32_t i;
	bool ended = false;

	if (access(TRACE, R_OK) != 0) {
		print_message("skipped: no recorded trace at %s\n", TRACE);
		skip();
	}
	assert_int_equal(
			intake_attach(pipeline_intake(side->pipeline), TRACE, error, sizeof(error)),
			STATUS_OK);
	start(side);
	for (i = 0; i < NO_CHANGES || !ended; i++) {
		const struct snapshot *snapshot;
		uint32_t slot = i % 4;

		side->focus.parts = parts[i % 5];
		side->focus.frozen = (i / 50) % 2;
		snapshot = ask(side);
		ended = snapshot->ended;
		assert_int_equal(snapshot->focus.parts, parts[i % 5]);
		assert_true((parts[i % 5] & FOCUS_SOURCES) || snapshot->sources.n == 0);
		/* What was held meanwhile has not changed. */
		if (held[slot]) {
			assert_int_equal(held[slot]->time_ns, held_time[slot]);
			assert_int_equal(held[slot]->accounting.in, held_in[slot]);
			release(side, held[slot]);
		}
		held[slot] = snapshot;
		held_time[slot] = snapshot->time_ns;
		held_in[slot] = snapshot->accounting.in;
	}
	for (i = 0; i < 4; i++) {
		release(side, held[i]);
	}
	side->focus.frozen = false;
	side->focus.parts = FOCUS_ALL;
	held[0] = ask(side);
	assert_int_equal(held[0]->accounting.in, 99338);
	assert_int_equal(held[0]->sources.n, 1);
	assert_int_equal(held[0]->sources.rows[0].events, 99338);
	assert_int_equal(held[0]->sources.rows[0].state, SOURCE_ENDED);
	assert_true(held[0]->groups.n > 0);
	release(side, held[0]);
	expect_notice(side, "attach /tmp", "start again");
}

static void test_commands(void **state)
{
	struct screen_side *side = *state;
	char command[128], path[64];
	struct stat info;
	uint32_t i;

	start(side);
	expect_notice(side, "nonsense", "unknown command \"nonsense\"");
	expect_notice(side, "attach", "expected: attach URL");
	expect_notice(side, "epoch now", "expected: epoch: ");
	expect_notice(side, "mode approve", "mode: there is no host to control here");
	expect_notice(side, "attach /no/such/place", "/no/such/place");
	expect_notice(side, "attach net://relay:0", "port");
	expect_notice(side, "detach net://nobody", "not a source here");
	expect_notice(side, "epoch", "epoch begins");
	expect_notice(side, "export xml /tmp/x", "expected: export");
	expect_notice(side, "export json", "expected: export");
	expect_notice(side, "export json /no/such/place/file", "Cannot write");
	snprintf(path, sizeof(path), "/tmp/pt-analysis-%ld", (long)getpid());
	snprintf(command, sizeof(command), "  export json   %s ", path);
	expect_notice(side, command, "Written");
	assert_int_equal(stat(path, &info), 0);
	assert_true(info.st_size > 100);
	unlink(path);
	/* More than there is room for: none is lost without a word, and nothing waits. */
	for (i = 0; i < 100; i++) {
		side->host.command(side->host.context, "epoch");
	}
	expect_notice(side, "epoch", "epoch begins");
}

/* What is in the table is answered by the program, but for what is the screen's own. */
static void test_every_command_is_answered(void **state)
{
	static const enum command of_the_screen[] = {
			COMMAND_AT, COMMAND_HORIZON, COMMAND_METRIC, COMMAND_QUIT, COMMAND_THEME};
	struct screen_side *side = *state;
	const struct snapshot *snapshot;
	char line[128];
	int left = 0;

	start(side);
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (i == COMMAND_DUMP || i == COMMAND_DUMP_TEXT || i == COMMAND_REPORT) {
			continue; /* they answer again when they are done */
		}
		snprintf(line, sizeof(line), "%s%s", commands[i].name,
				commands[i].arguments[0] ? " /no/such/place/x" : "");
		expect_notice(side, line, "");
		snapshot = ask(side);
		if (strncmp(snapshot->notice, "expected: ", 10) == 0) {
			assert_int_equal(i, of_the_screen[left]);
			left++;
		}
		assert_null(strstr(snapshot->notice, "unknown command"));
		release(side, snapshot);
	}
	assert_int_equal(left, sizeof(of_the_screen) / sizeof(of_the_screen[0]));
}

static void test_at_most_so_many_are_held(void **state)
{
	struct screen_side *side = *state;
	const struct snapshot *held[64];
	uint32_t n = 0, i;

	start(side);
	release(side, ask(side));
	while (n < 64 && (held[n] = acquire(side))) {
		n++;
	}
	assert_true(n >= 2 && n < 64);
	for (i = 0; i < n; i++) {
		release(side, held[i]);
	}
	release(side, ask(side));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_setup_teardown(
					test_every_focus_is_answered, set_up, tear_down),
			cmocka_unit_test_setup_teardown(test_commands, set_up, tear_down),
			cmocka_unit_test_setup_teardown(
					test_every_command_is_answered, set_up, tear_down),
			cmocka_unit_test_setup_teardown(
					test_at_most_so_many_are_held, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
