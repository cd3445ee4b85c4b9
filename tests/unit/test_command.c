/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines typed after ':': which command they are, and what is said where they are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "pythiatop/command.h"

static void expect(const char *line, enum command command, const char *argument)
{
	const char *found;

	assert_int_equal(command_find(line, &found), command);
	assert_string_equal(found, argument);
}

static void test_commands(void **state)
{
	(void)state;
	expect("epoch", COMMAND_EPOCH, "");
	expect("attach net://relay1", COMMAND_ATTACH, "net://relay1");
	expect("attach   a directory", COMMAND_ATTACH, "a directory");
	expect("baseline save", COMMAND_BASELINE_SAVE, "");
	expect("baseline save  /tmp/b.json", COMMAND_BASELINE_SAVE, "/tmp/b.json");
	expect("dump /tmp/d", COMMAND_DUMP, "/tmp/d");
	expect("dump-text /tmp/d", COMMAND_DUMP_TEXT, "/tmp/d");
	expect("dry-run", COMMAND_DRY_RUN, "");
	expect("budget events 5k", COMMAND_BUDGET, "events 5k");
}

static void test_no_commands(void **state)
{
	static const char *const lines[] = {"", "epo", "epochs", "attach", "epoch now", "baseline",
			"baseline saves", "budget", "export xml /tmp/x", "undo"};
	const char *argument;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(command_find(lines[i], &argument), COMMAND_NONE);
	}
}

static void expect_said(const char *line, const char *said)
{
	char text[1024];

	assert_string_equal(command_suggest(line, text, sizeof(text)), said);
}

static void test_suggestions(void **state)
{
	char text[1024], cut[24];

	(void)state;
	expect_said("detach", "expected: detach URL: stop watching it");
	expect_said("baseline x",
			"expected: baseline load [FILE], baseline now, baseline save [FILE]");
	expect_said("export", "expected: export json FILE, export csv FILE, export folded FILE, "
			      "export text FILE");
	command_suggest("nonsense x", text, sizeof(text));
	assert_memory_equal(text, "unknown command \"nonsense x\"; there are: approve, at, ", 53);
	/* It fits into a notice. */
	assert_in_range(strlen(text), 200, 500);
	command_suggest("nonsense x", cut, sizeof(cut));
	assert_string_equal(cut, "unknown command \"nonsen");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_commands),
			cmocka_unit_test(test_no_commands),
			cmocka_unit_test(test_suggestions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
