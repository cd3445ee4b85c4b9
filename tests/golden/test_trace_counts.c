/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every recorded trace gives exactly the events that babeltrace2 finds, and the losses it reports:
 * through real source processes, rings and the merge.
 */
#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "intake/intake.h"

#define SOURCE_PROGRAM PT_BUILD_DIR "/pythiatop-source"
#define DEADLINE_NS    120000000000u

struct counts {
	uint64_t events, lost, late, last_ns;
	uint32_t ids;
};

static uint32_t any_type(void *context, const struct event_type *type)
{
	assert_true(type->name[0] != '\0');
	return ((struct counts *)context)->ids++;
}

static uint32_t any_session(void *context, const struct session_desc *session)
{
	assert_non_null(session->host);
	return ((struct counts *)context)->ids++;
}

static uint32_t any_stream(void *context, const struct stream_desc *stream)
{
	assert_non_null(stream->channel);
	return ((struct counts *)context)->ids++;
}

static void any_end(void *context, uint32_t session)
{
	assert_true(session < ((struct counts *)context)->ids);
}

static void count_event(void *context, const struct event *event)
{
	struct counts *counts = context;

	assert_true(event->ts_ns >= counts->last_ns);
	counts->last_ns = event->ts_ns;
	counts->events++;
}

static void count_loss(void *context, const struct loss *loss)
{
	((struct counts *)context)->lost += loss->packets ? 0 : loss->count;
}

static void count_late(void *context, uint32_t session, uint64_t count)
{
	(void)session;
	((struct counts *)context)->late += count;
}

static void count_time(void *context, uint64_t ts_ns)
{
	assert_true(ts_ns > ((struct counts *)context)->last_ns);
	((struct counts *)context)->last_ns = ts_ns;
}

static uint64_t mono_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void read_trace(const char *path, struct counts *counts)
{
	struct intake_sink sink = {
			.context = counts,
			.add_type = any_type,
			.add_session = any_session,
			.add_stream = any_stream,
			.end_session = any_end,
			.feed = count_event,
			.lose = count_loss,
			.late = count_late,
			.advance = count_time,
	};
	struct intake *intake = intake_create(&sink, SOURCE_PROGRAM);
	uint64_t start_ns = mono_now_ns();
	char text[512];

	memset(counts, 0, sizeof(*counts));
	assert_non_null(intake);
	assert_int_equal(intake_attach(intake, path, text, sizeof(text)), STATUS_OK);
	while (!intake_ended(intake)) {
		assert_true(mono_now_ns() - start_ns < DEADLINE_NS);
		if (!intake_step(intake, 10000, mono_now_ns()) && intake_arm(intake)) {
			struct pollfd fd = {.fd = intake_fd(intake), .events = POLLIN};

			poll(&fd, 1, 20);
		}
	}
	if (intake_failed(intake, true, 0, text, sizeof(text))) {
		print_error("%s\n", text);
		fail();
	}
	assert_true(intake_progress(intake) >= 1.0);
	intake_destroy(intake);
}

/* As many lines as babeltrace2 prints. */
static uint64_t count_with_babeltrace(const char *path)
{
	char command[PATH_MAX + 128];
	unsigned long long number = 0;
	FILE *out;

	snprintf(command, sizeof(command), "babeltrace2 '%s' 2>/dev/null | wc -l", path);
	out = popen(command, "r");
	assert_non_null(out);
	assert_int_equal(fscanf(out, "%llu", &number), 1);
	pclose(out);
	return number;
}

static void check_trace(const char *name)
{
	char path[PATH_MAX];
	struct counts counts;

	snprintf(path, sizeof(path), "%s/%s", PT_TRACES_DIR, name);
	read_trace(path, &counts);
	assert_int_equal(counts.events, count_with_babeltrace(path));
	assert_int_equal(counts.late, 0);
	print_message("%s: %llu events, %llu lost\n", name, (unsigned long long)counts.events,
			(unsigned long long)counts.lost);
	if (strcmp(name, "multi-domain-lost") == 0) {
		assert_int_equal(counts.lost, 728);
	}
}

static void test_all_traces(void **state)
{
	DIR *directory = opendir(PT_TRACES_DIR);
	struct dirent *entry;
	uint32_t n = 0;

	(void)state;
	if (!directory) {
		print_message("skipped: no recorded traces at %s\n", PT_TRACES_DIR);
		skip();
	}
	while ((entry = readdir(directory))) {
		char path[PATH_MAX];
		struct stat info;

		snprintf(path, sizeof(path), "%s/%s", PT_TRACES_DIR, entry->d_name);
		if (entry->d_name[0] != '.' && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
			check_trace(entry->d_name);
			n++;
		}
	}
	closedir(directory);
	assert_true(n > 0);
}

static void test_what_is_no_trace(void **state)
{
	struct intake_sink sink = {0};
	struct intake *intake = intake_create(&sink, SOURCE_PROGRAM);
	char error[512];

	(void)state;
	assert_int_equal(intake_attach(intake, "/nonexistent/trace", error, sizeof(error)),
			STATUS_NOT_FOUND);
	assert_non_null(strstr(error, "/nonexistent/trace"));
	assert_int_equal(intake_attach(intake, PT_SOURCE_DIR "/themes", error, sizeof(error)),
			STATUS_NOT_FOUND);
	assert_non_null(strstr(error, "no trace"));
	assert_int_equal(intake_attach(intake, PT_SOURCE_DIR "/LICENSE", error, sizeof(error)),
			STATUS_INVALID);
	assert_int_equal(intake_attach(intake, "net://relay:99999", error, sizeof(error)),
			STATUS_INVALID);
	intake_destroy(intake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_all_traces),
			cmocka_unit_test(test_what_is_no_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
