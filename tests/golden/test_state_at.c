/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program itself on a recorded kernel trace: the state at an instant, and a part of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACE "kernel-6.2-2cpu"

/* Where the recorded traces are, as tests/README or the build says. */
static const char *trace(void)
{
	static char path[512];
	const char *traces = getenv("PYTHIATOP_TRACES");

	snprintf(path, sizeof(path), "%s/%s", traces && traces[0] ? traces : PT_TRACES_DIR, TRACE);
	if (access(path, R_OK) != 0) {
		print_message("skipped: no recorded trace at %s\n", path);
		skip();
	}
	return path;
}

/* Runs the program; its exit code. What it printed comes in *document, NULL if it is no JSON. */
static int run(const char *options, json_t **document)
{
	char command[1024];
	FILE *out;
	int code;

	snprintf(command, sizeof(command), "'%s/pythiatop' --batch=json %s '%s' 2>/dev/null",
			PT_BUILD_DIR, options, trace());
	out = popen(command, "r");
	assert_non_null(out);
	*document = json_loadf(out, 0, NULL);
	code = pclose(out);
	return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static json_t *state_at(const char *options, json_t **document)
{
	json_t *state;

	assert_int_equal(run(options, document), 0);
	assert_non_null(*document);
	state = json_object_get(*document, "state");
	assert_true(json_is_object(state));
	return state;
}

static json_int_t number(json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

/* What a thread waits for may be told only by what wakes it up, later. */
static void forget_hindsight(json_t *state)
{
	json_t *thread;
	size_t i;

	json_array_foreach(json_object_get(state, "threads"), i, thread)
	{
		json_object_del(thread, "waits_for");
	}
}

/*
 * An instant is the same whether reading stopped there, or went on to the end and was stepped back
 * from there.
 */
static void stopped_or_stepped_back(void **state)
{
	static const char *const arrays[] = {
			"hosts", "cpus", "threads", "syscalls", "fds", "disks", "nets", "irqs"};
	json_t *stopped, *back, *a, *b, *end;
	char at[64];
	size_t i;

	(void)state;
	a = state_at("", &end);
	snprintf(at, sizeof(at), "--state-at=%" JSON_INTEGER_FORMAT,
			number(a, "at_ns") - 3000000000);
	a = state_at(at, &stopped);
	b = state_at("--state-at=-3s", &back);
	forget_hindsight(a);
	forget_hindsight(b);
	assert_int_equal(number(a, "at_ns"), number(b, "at_ns"));
	for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		assert_true(json_array_size(json_object_get(a, arrays[i])) > 0);
		if (!json_equal(json_object_get(a, arrays[i]), json_object_get(b, arrays[i]))) {
			fail_msg("%s differ", arrays[i]);
		}
	}
	json_decref(stopped);
	json_decref(back);
	json_decref(end);
}

/* All of the time of all CPUs is somewhere. */
static void time_is_conserved(void **state)
{
	json_t *document, *hosts, *host;
	size_t i;

	(void)state;
	hosts = json_object_get(state_at("--state-at=-1s", &document), "hosts");
	json_array_foreach(hosts, i, host)
	{
		assert_int_equal(number(host, "capacity_ns"),
				number(host, "threads_ns") + number(host, "idle_ns") +
						number(host, "irq_ns") +
						number(host, "unknown_ns"));
	}
	assert_true(i > 0);
	json_decref(document);
}

/* A thread, its fds, and the events of one of them. */
static void one_fd(void **state)
{
	json_t *document, *all, *fd, *event;
	char options[128];
	json_int_t pid, number_of_fd;
	size_t i;

	(void)state;
	all = state_at("", &document);
	fd = json_array_get(json_object_get(all, "fds"), 0); /* the one with most bytes */
	pid = number(fd, "pid");
	number_of_fd = number(fd, "fd");
	json_decref(document);
	snprintf(options, sizeof(options),
			"--state-of=pid=%" JSON_INTEGER_FORMAT ",fd=%" JSON_INTEGER_FORMAT, pid,
			number_of_fd);
	all = state_at(options, &document);
	assert_int_equal(json_array_size(json_object_get(all, "threads")), 0);
	assert_int_equal(json_array_size(json_object_get(all, "cpus")), 0);
	json_array_foreach(json_object_get(all, "fds"), i, fd)
	{
		assert_int_equal(number(fd, "fd"), number_of_fd);
		assert_int_equal(number(fd, "pid"), pid);
	}
	assert_true(i > 0);
	json_array_foreach(json_object_get(all, "events"), i, event)
	{
		assert_non_null(strstr(
				json_string_value(json_object_get(event, "name")), "syscall_"));
	}
	assert_true(i > 0);
	json_decref(document);
}

/* Of the fds that are open and were seen to be opened, the one whose number had most lives. */
static json_t *most_lives(json_t *fds, size_t *most)
{
	json_t *fd, *found = NULL, *lives = json_object();
	size_t i;

	*most = 1;
	for (uint32_t pass = 0; pass < 2; pass++) {
		json_array_foreach(fds, i, fd)
		{
			char key[64];
			json_int_t n;

			snprintf(key, sizeof(key), "%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT,
					number(fd, "pid"), number(fd, "fd"));
			n = json_integer_value(json_object_get(lives, key));
			if (pass == 0) {
				json_object_set_new(lives, key, json_integer(n + 1));
			} else if (json_is_true(json_object_get(fd, "open")) && (size_t)n > *most &&
					json_is_integer(json_object_get(fd, "opened_ns"))) {
				*most = (size_t)n;
				found = fd;
			}
		}
	}
	json_decref(lives);
	return found;
}

/* All lives of a number in the window are told, and the events of the one that is open. */
static void an_fd_with_many_lives(void **state)
{
	json_t *whole, *document, *part, *fd, *event;
	char options[128];
	size_t lives, i;
	bool made = false;

	(void)state;
	fd = most_lives(json_object_get(state_at("--state-at=-3.2s", &whole), "fds"), &lives);
	assert_non_null(fd);
	snprintf(options, sizeof(options),
			"--state-at=-3.2s --state-of=pid=%" JSON_INTEGER_FORMAT
			",fd=%" JSON_INTEGER_FORMAT,
			number(fd, "pid"), number(fd, "fd"));
	part = state_at(options, &document);
	assert_int_equal(json_array_size(json_object_get(part, "fds")), lives);
	json_array_foreach(json_object_get(part, "events"), i, event)
	{
		assert_true(i > 0 || number(event, "time_ns") >= number(fd, "opened_ns"));
		made = made || number(event, "time_ns") == number(fd, "opened_ns");
	}
	assert_true(made);
	json_decref(document);
	json_decref(whole);
}

/* A call with two fds is told of both: a splice between files, which has no argument "fd". */
static void calls_with_two_fds(void **state)
{
	json_t *document, *whole, *all, *splice = NULL, *part, *event;
	char options[128];
	size_t i, n;
	int64_t fd;

	(void)state;
	all = json_object_get(state_at("", &whole), "syscalls");
	json_array_foreach(all, i, splice)
	{
		if (json_is_integer(json_object_get(splice, "pid")) &&
				strcmp(json_string_value(json_object_get(splice, "name")),
						"splice") == 0) {
			break;
		}
	}
	assert_non_null(splice);
	for (fd = 42; fd <= 44; fd += 2) { /* as the trace has it: from 42 to 44 */
		snprintf(options, sizeof(options),
				"--state-of=pid=%" JSON_INTEGER_FORMAT ",fd=%" PRId64,
				number(splice, "pid"), fd);
		part = state_at(options, &document);
		n = 0;
		json_array_foreach(json_object_get(part, "events"), i, event)
		{
			n += strstr(json_string_value(json_object_get(event, "name")), "_splice") !=
			     NULL;
		}
		/* By the end of the first one the fd became known. */
		assert_int_equal(n, 2 * (number(json_array_get(json_object_get(part, "fds"), 0),
							 fd == 42 ? "reads" : "writes") -
							1));
		assert_true(n > 0);
		json_decref(document);
	}
	json_decref(whole);
}

/* Of what is not there nothing is told, its thread's events neither. */
static void no_such_fd(void **state)
{
	json_t *document, *all, *threads;
	char options[64];

	(void)state;
	all = state_at("", &document);
	threads = json_object_get(all, "threads");
	snprintf(options, sizeof(options), "--state-of=pid=%" JSON_INTEGER_FORMAT ",fd=98765",
			number(json_array_get(threads, 0), "pid"));
	json_decref(document);
	all = state_at(options, &document);
	assert_int_equal(json_array_size(json_object_get(all, "fds")), 0);
	assert_int_equal(json_array_size(json_object_get(all, "events")), 0);
	json_decref(document);
}

static void no_such_instant(void **state)
{
	static const char *const options[] = {"--state-at=-11s", "--state-at='2001-01-01 00:00:00'",
			"--state-at='2051-01-01 00:00:00'"};
	json_t *document;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		assert_int_equal(run(options[i], &document), 1);
		assert_null(document);
	}
	assert_int_equal(run("--state-at=yesterday", &document), 2);
	assert_null(document);
	assert_int_equal(run("--state-of=colour=red", &document), 2);
	assert_null(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(stopped_or_stepped_back),
			cmocka_unit_test(time_is_conserved),
			cmocka_unit_test(one_fd),
			cmocka_unit_test(an_fd_with_many_lives),
			cmocka_unit_test(calls_with_two_fds),
			cmocka_unit_test(no_such_fd),
			cmocka_unit_test(no_such_instant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
