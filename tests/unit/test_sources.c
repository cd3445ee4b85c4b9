/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The states of sources, with reader processes that do as they are told: this program itself, which
 * plays a reader when it is started as one. What it does is in the name of the session or the path.
 * Time is told, so that waiting costs nothing.
 */
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
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

#define SECOND_NS 1000000000u

/* --- the reader --- */

static struct ring *out_ring;

static void *begin(size_t size, uint32_t kind)
{
	struct record *record;

	size = (size + 7) & ~(size_t)7;
	record = ring_reserve(out_ring, size);
	if (!record) {
		_exit(3);
	}
	memset(record, 0, size);
	record->size = (uint32_t)size;
	record->kind = kind;
	return record;
}

static void show(void)
{
	ring_publish(out_ring, ring_position(out_ring));
}

static void say(enum source_state state, const char *text)
{
	struct record_state *record = begin(sizeof(*record) + strlen(text) + 1, RECORD_STATE);

	record->state = state;
	memcpy(record->text, text, strlen(text) + 1);
	show();
}

/* A reader of a live session that was taken over claims to be another one, of another host. */
static void tell_stream(bool lies)
{
	static const char truth[] = "demo\0channel\0host1", lie[] = "evil\0channel\0host2";
	struct record_stream *record = begin(sizeof(*record) + sizeof(truth), RECORD_STREAM);
	uint32_t at = sizeof(*record);

	memcpy((char *)record + at, lies ? lie : truth, sizeof(truth));
	record->domain = DOMAIN_UST;
	record->session = at;
	record->channel = at + 5;
	record->kernel_release = at + 4; /* the empty text */
	record->host = at + 13;
}

static void tell_type(void)
{
	static const char text[] = "test:event";
	struct record_type *record = begin(sizeof(*record) + sizeof(text), RECORD_TYPE);

	memcpy((char *)record + sizeof(*record), text, sizeof(text));
	record->name = sizeof(*record);
}

static void tell_event(uint64_t ts_ns, uint32_t type)
{
	struct record_event *record = begin(sizeof(*record), RECORD_EVENT);

	record->ts_ns = ts_ns;
	record->type = type;
}

static void tell_session(const char *name, uint64_t id, uint32_t timer_us, uint32_t viewers)
{
	struct record_listed *record = begin(sizeof(*record) + 6 + strlen(name) + 1, RECORD_LISTED);

	record->id = id;
	record->live_timer_us = timer_us;
	record->viewers = viewers;
	record->host = sizeof(*record);
	record->session = sizeof(*record) + 6;
	memcpy((char *)record + record->host, "host1", 6);
	memcpy((char *)record + record->session, name, strlen(name) + 1);
}

static void sleep_for_ever(void)
{
	for (;;) {
		pause();
	}
}

/* Lists what is in the file "sessions": lines of name, id, timer, viewers; again when it changes.
 */
static void play_listing(const char *directory)
{
	char path[PATH_MAX], name[64];
	struct stat info;

	snprintf(path, sizeof(path), "%s/sessions", directory);
	for (;;) {
		unsigned int id, timer_us, viewers;
		FILE *file;

		if (stat(path, &info) != 0) {
			say(SOURCE_BROKEN, "No relay daemon here");
			_exit(1);
		}
		file = fopen(path, "r");
		while (file && fscanf(file, "%63s %u %u %u", name, &id, &timer_us, &viewers) == 4) {
			tell_session(name, id, timer_us, viewers);
		}
		if (file) {
			fclose(file);
			begin(sizeof(struct record), RECORD_LIST_END);
			show();
		}
		poll(NULL, 0, 15);
	}
}

/* Reads files for ever, a byte at a time, and says nothing. */
static void read_for_ever(void)
{
	for (;;) {
		FILE *file = fopen("/dev/zero", "r");
		int byte = file ? fgetc(file) : EOF;

		if (byte == EOF) {
			_exit(4);
		}
		fclose(file);
		poll(NULL, 0, 5);
	}
}

/* Does not touch memory, like a library that turns in a circle. */
static void spin_for_ever(void)
{
	volatile uint64_t turns = 0;

	for (;;) {
		turns++;
	}
}

/* Events until there is no room: its reader waits for another recording. */
static void tell_for_ever(uint64_t start_ns)
{
	uint64_t i;

	for (i = 0;; i++) {
		tell_event(start_ns + i * 1000, 0);
		if (i % 256 == 0) {
			show();
		}
	}
}

static void play_reader(const char *what)
{
	/* The same for all: who is slow to start is not ahead of the others, who would be waited
	 * for. */
	uint64_t start_ns = strtoull(getenv("PT_TEST_SECOND"), NULL, 10) * SECOND_NS;

	say(SOURCE_CONNECTING, "");
	if (strstr(what, "hang")) {
		sleep_for_ever();
	}
	if (strstr(what, "spin")) {
		spin_for_ever();
	}
	if (strstr(what, "slow")) {
		read_for_ever();
	}
	if (strstr(what, "ctf2")) {
		say(SOURCE_REFUSED, "traced in CTF 2");
		_exit(1);
	}
	say(SOURCE_ATTACHED, "");
	tell_stream(strncmp(what, "net:", 4) == 0);
	tell_type();
	tell_event(start_ns, 0);
	tell_event(start_ns + 1, 0);
	if (strstr(what, "garbage")) {
		tell_event(start_ns + 2, 77);
	}
	show();
	if (strstr(what, "much")) {
		tell_for_ever(start_ns + 2);
	}
	if (strstr(what, "crash")) {
		fprintf(stderr, "first words\nlast \x1b[31mwords\n");
		abort();
	}
	if (strstr(what, "end")) {
		begin(sizeof(struct record), RECORD_END);
		show();
		_exit(0);
	}
	sleep_for_ever();
}

static int play(int argc, char **argv)
{
	struct ring_fds fds;

	if (argc < 5 || sscanf(argv[2], "%d,%d,%d", &fds.memory, &fds.data_event,
					&fds.space_event) != 3) {
		return 2;
	}
	out_ring = ring_attach(&fds);
	if (!out_ring) {
		return 2;
	}
	if (strcmp(argv[3], "--list") == 0) {
		play_listing(getenv("PT_TEST_DIRECTORY"));
	}
	play_reader(argv[4]);
	return 0;
}

/* --- the console's side --- */

struct world {
	struct intake *intake;
	struct intake_sink sink;
	uint64_t mono_ns;
	uint64_t events, losses, late, ended;
	char directory[64];
};

static uint32_t one_type(void *context, const struct event_type *type)
{
	(void)context;
	assert_string_equal(type->name, "test:event");
	return 0;
}

static uint32_t one_session(void *context, const struct session_desc *session)
{
	(void)context;
	assert_string_equal(session->host, "host1");
	assert_string_not_equal(session->name, "evil");
	return 0;
}

static uint32_t one_stream(void *context, const struct stream_desc *stream)
{
	(void)context;
	assert_int_equal(stream->domain, DOMAIN_UST);
	return 0;
}

static void on_end(void *context, uint32_t session)
{
	assert_int_equal(session, 0);
	((struct world *)context)->ended++;
}

static void on_feed(void *context, const struct event *event)
{
	(void)event;
	((struct world *)context)->events++;
}

static void on_lose(void *context, const struct loss *loss)
{
	assert_true(loss->begin_ns <= loss->end_ns);
	((struct world *)context)->losses++;
}

static void on_late(void *context, uint32_t session, uint64_t count)
{
	(void)session;
	((struct world *)context)->late += count;
}

static void on_advance(void *context, uint64_t ts_ns)
{
	(void)context;
	assert_true(ts_ns > 0);
}

static void list(struct world *world, const char *sessions)
{
	char path[PATH_MAX], temporary[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/sessions", world->directory);
	snprintf(temporary, sizeof(temporary), "%s/new", world->directory);
	if (!sessions) {
		unlink(path);
		return;
	}
	file = fopen(temporary, "w");
	assert_non_null(file);
	fputs(sessions, file);
	fclose(file);
	assert_int_equal(rename(temporary, path), 0);
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	char second[32];

	strcpy(world->directory, "/tmp/pt-sources-XXXXXX");
	assert_non_null(mkdtemp(world->directory));
	setenv("PT_TEST_DIRECTORY", world->directory, 1);
	snprintf(second, sizeof(second), "%lld", (long long)time(NULL));
	setenv("PT_TEST_SECOND", second, 1);
	world->sink = (struct intake_sink){
			.context = world,
			.add_type = one_type,
			.add_session = one_session,
			.add_stream = one_stream,
			.end_session = on_end,
			.feed = on_feed,
			.lose = on_lose,
			.late = on_late,
			.advance = on_advance,
	};
	world->mono_ns = SECOND_NS;
	world->intake = intake_create(&world->sink, "/proc/self/exe");
	assert_non_null(world->intake);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	intake_destroy(world->intake);
	list(world, NULL);
	rmdir(world->directory);
	free(world);
	return 0;
}

static void attach(struct world *world, const char *text)
{
	char error[256];

	assert_int_equal(intake_attach(world->intake, text, error, sizeof(error)), STATUS_OK);
}

static const struct source_row *find_row(const struct snapshot *snapshot, const char *end)
{
	uint32_t i;

	for (i = 0; i < snapshot->sources.n; i++) {
		const char *url = snapshot->sources.rows[i].url;

		if (strlen(url) >= strlen(end) &&
				strcmp(url + strlen(url) - strlen(end), end) == 0) {
			return &snapshot->sources.rows[i];
		}
	}
	return NULL;
}

/* What a source's row says; the text of its detail goes to `detail`. */
static struct source_row look(struct world *world, const char *end, char *detail, size_t size)
{
	struct snapshot *snapshot = snapshot_create();
	struct intake_view view = {.mono_ns = world->mono_ns, .real_ns = SECOND_NS};
	const struct source_row *found;
	struct source_row row = {.state = SOURCE_STARTING};

	snapshot->focus.parts = FOCUS_SOURCES;
	assert_int_equal(intake_fill(world->intake, &view, snapshot), STATUS_OK);
	found = find_row(snapshot, end);
	detail[0] = '\0';
	if (found) {
		row = *found;
		snprintf(detail, size, "%s", found->detail);
	}
	snapshot_destroy(snapshot);
	return row;
}

/* Steps for real time, but told time stands still, until the source is in this state. */
static struct source_row await(
		struct world *world, const char *end, enum source_state state, const char *detail)
{
	struct source_row row = {0};
	char text[1024] = "";
	int turns;

	for (turns = 0; turns < 2000; turns++) {
		while (intake_step(world->intake, 1000, world->mono_ns)) {
		}
		row = look(world, end, text, sizeof(text));
		if (row.state == state && strstr(text, detail)) {
			return row;
		}
		poll(NULL, 0, 5);
	}
	print_error("%s is in state %d (%s), not %d (%s)\n", end, row.state, text, state, detail);
	fail();
	return row;
}

/* Lets told time pass in steps that a listing has time to show a sign of life in. */
static void pass(struct world *world, uint64_t duration_ns)
{
	const uint64_t step_ns = 5 * (uint64_t)SECOND_NS;
	int turns;

	while (duration_ns > 0) {
		uint64_t by_ns = duration_ns < step_ns ? duration_ns : step_ns;

		world->mono_ns += by_ns;
		duration_ns -= by_ns;
		for (turns = 0; turns < 10; turns++) {
			while (intake_step(world->intake, 1000, world->mono_ns)) {
			}
			poll(NULL, 0, 5);
		}
	}
}

/*
 * Lets time pass, told and real, until the merge is done with so many events: those of a reader
 * that was slow to start may be late, beside others of the same second.
 */
static void await_events(struct world *world, uint64_t events)
{
	int turns;

	for (turns = 0; turns < 100 && world->events + world->late < events; turns++) {
		pass(world, SECOND_NS);
	}
	assert_int_equal(world->events + world->late, events);
}

static void test_backoff(void **state)
{
	static const uint64_t pauses_ms[] = {250, 500, 1000, 2000, 4000, 8000, 8000};
	struct world *world = *state;
	char detail[1024];
	size_t i, seconds;

	list(world, "hang 1 1000000 0\n");
	attach(world, "net://relay");
	/* It never gets as far as an event, so the pauses grow. */
	for (i = 0; i < sizeof(pauses_ms) / sizeof(pauses_ms[0]); i++) {
		struct source_row row = {0};

		for (seconds = 0; seconds < 30 && row.state != SOURCE_BROKEN; seconds++) {
			pass(world, SECOND_NS);
			row = look(world, "/hang", detail, sizeof(detail));
		}
		assert_non_null(strstr(detail, "no answer for 10 s"));
		assert_true(seconds >= 10);
		assert_int_equal(row.retry_in_ns, pauses_ms[i] * 1000000);
		world->mono_ns += row.retry_in_ns;
		await(world, "/hang", SOURCE_CONNECTING, "");
	}
	assert_int_equal(world->events, 0);
}

static void test_crash_is_told_and_its_gap_counted(void **state)
{
	struct world *world = *state;
	struct source_row row;

	list(world, "crash 1 1000000 0\n");
	attach(world, "net://relay/host/host1/crash");
	row = await(world, "/crash", SOURCE_BROKEN, "was ended by SIGABRT: last  [31mwords");
	assert_int_equal(row.gaps, 0);
	assert_int_equal(row.events, 2);
	assert_int_equal(world->ended, 1);
	world->mono_ns += SECOND_NS;
	await(world, "/crash", SOURCE_BROKEN, "SIGABRT");
	row = look(world, "/crash", (char[1024]){0}, 1024);
	assert_int_equal(row.gaps, 1);
	assert_int_equal(world->losses, 1);
	assert_true(row.events >= 3);
}

static void test_garbage(void **state)
{
	struct world *world = *state;

	list(world, "garbage 1 1000000 0\n");
	attach(world, "net://relay");
	await(world, "/garbage", SOURCE_BROKEN, "broke the ring's format (an event)");
	assert_int_equal(world->events, 2);
}

static void test_waiting_for_what(void **state)
{
	struct world *world = *state;

	list(world, "watched 1 1000000 1\ndead 2 0 0\nctf2 3 1000000 0\n");
	attach(world, "net://relay");
	attach(world, "net://relay/host/host1/nobody");
	await(world, "/watched", SOURCE_WAITING, "another viewer");
	await(world, "/dead", SOURCE_WAITING, "not live");
	await(world, "/nobody", SOURCE_WAITING, "pythiatop --list net://relay");
	await(world, "/ctf2", SOURCE_REFUSED, "CTF 2");

	/* Refused for good, until it is made again; the others go on as soon as they can. */
	pass(world, 100 * (uint64_t)SECOND_NS);
	await(world, "/ctf2", SOURCE_REFUSED, "CTF 2");
	list(world, "watched 1 1000000 0\ndead 4 1000000 0\n");
	await(world, "/watched", SOURCE_ACTIVE, "");
	await(world, "/dead", SOURCE_ACTIVE, "");
	/* The last event waits for the silent other one, but not for ever. */
	await_events(world, 4);

	/* The relay daemon goes: its sessions say so, once their readers end. */
	list(world, NULL);
	await(world, "net://relay", SOURCE_BROKEN, "No relay daemon here");
	await(world, "/nobody", SOURCE_BROKEN, "No relay daemon here");
	list(world, "");
	pass(world, 8 * (uint64_t)SECOND_NS);
	await(world, "net://relay", SOURCE_WAITING, "has no live session");
}

static void test_session_ends_and_returns(void **state)
{
	struct world *world = *state;
	char text[1024];
	int turns;

	list(world, "end 1 1000000 0\n");
	attach(world, "net://relay");
	await(world, "/end", SOURCE_ENDED, "attached again");
	assert_int_equal(world->events, 2);
	assert_false(intake_ended(world->intake));
	list(world, "");
	await(world, "net://relay", SOURCE_WAITING, "has no live session");
	pass(world, 20 * (uint64_t)SECOND_NS);
	await(world, "/end", SOURCE_ENDED, "attached again");
	list(world, "end 2 1000000 0\n");
	await(world, "net://relay", SOURCE_ACTIVE, "");
	for (turns = 0; turns < 2000 && look(world, "/end", text, sizeof(text)).events < 4;
			turns++) {
		while (intake_step(world->intake, 1000, world->mono_ns)) {
		}
		poll(NULL, 0, 5);
	}
	assert_int_equal(look(world, "/end", text, sizeof(text)).events, 4);
	assert_int_equal(look(world, "/end", text, sizeof(text)).gaps, 1);
}

static void test_offered_then_picked(void **state)
{
	struct world *world = *state;
	char error[256];

	list(world, "one 1 1000000 0\ntwo 2 1000000 0\n");
	assert_int_equal(intake_offer(world->intake, "net://relay", error, sizeof(error)),
			STATUS_OK);
	await(world, "/one", SOURCE_OFFERED, "");
	await(world, "/two", SOURCE_OFFERED, "");
	attach(world, "net://relay/host/host1/two");
	await(world, "/two", SOURCE_ACTIVE, "");
	await(world, "/one", SOURCE_OFFERED, "");
	assert_int_equal(intake_detach(world->intake, "net://relay/host/host1/two", error,
					 sizeof(error)),
			STATUS_OK);
	await(world, "/two", SOURCE_OFFERED, "");
	assert_int_equal(intake_detach(world->intake, "net://relay", error, sizeof(error)),
			STATUS_OK);
	assert_int_equal(look(world, "/one", error, sizeof(error)).state, SOURCE_STARTING);
	assert_int_equal(intake_detach(world->intake, "net://relay", error, sizeof(error)),
			STATUS_NOT_FOUND);
}

static void make_trace(const struct world *world, const char *name, char *path, size_t size)
{
	char file[PATH_MAX];
	FILE *out;

	snprintf(path, size, "%s/%s", world->directory, name);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(file, sizeof(file), "%s/metadata", path);
	out = fopen(file, "w");
	assert_non_null(out);
	fclose(out);
}

static void remove_trace(const char *path)
{
	char file[PATH_MAX];

	snprintf(file, sizeof(file), "%s/metadata", path);
	unlink(file);
	rmdir(path);
}

/* Steps of told time in which a source is looked at as in real time. */
static void pass_seconds(struct world *world, uint32_t seconds)
{
	while (seconds-- > 0) {
		pass(world, SECOND_NS);
	}
}

/* Reading much before the first event, and waiting for us, is no standing still. */
static void test_recordings_that_take_their_time(void **state)
{
	struct world *world = *state;
	char slow[256], much[256];

	make_trace(world, "slow", slow, sizeof(slow));
	make_trace(world, "much", much, sizeof(much));
	attach(world, slow);
	attach(world, much);
	await(world, "/slow", SOURCE_CONNECTING, "");
	await(world, "/much", SOURCE_ATTACHED, "");
	pass_seconds(world, 80);
	await(world, "/slow", SOURCE_CONNECTING, "");
	await(world, "/much", SOURCE_ATTACHED, "");
	assert_int_equal(world->events, 0); /* `much` has filled its ring, and waits */
	remove_trace(slow);
	remove_trace(much);
}

/*
 * What computes and tells nothing is given the CPU time, not the time of the clock: a machine that
 * is busy with other things is no reason to end it.
 */
static void test_a_recording_that_spins(void **state)
{
	struct world *world = *state;
	struct timespec began, now;
	struct source_row row;
	char path[256], text[1024];

	make_trace(world, "spin", path, sizeof(path));
	attach(world, path);
	await(world, "/spin", SOURCE_CONNECTING, "");
	clock_gettime(CLOCK_MONOTONIC, &began);
	pass_seconds(world, 80); /* told; of real time 4 s */
	row = look(world, "/spin", text, sizeof(text));
	assert_int_equal(row.state, SOURCE_CONNECTING);
	do {
		pass(world, SECOND_NS);
		row = look(world, "/spin", text, sizeof(text));
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (row.state == SOURCE_CONNECTING && now.tv_sec - began.tv_sec < 120);
	assert_int_equal(row.state, SOURCE_REFUSED);
	assert_non_null(strstr(text, "no progress for 10 s"));
	remove_trace(path);
}

static void test_recordings_that_fail(void **state)
{
	static const char *const names[] = {"crash", "hang", "garbage", "end"};
	struct world *world = *state;
	char paths[4][256], sentence[512];
	size_t i;

	for (i = 0; i < 4; i++) {
		make_trace(world, names[i], paths[i], sizeof(paths[i]));
		attach(world, paths[i]);
	}
	await(world, "/hang", SOURCE_CONNECTING, "");
	/* The others have begun, too: told time passes faster than slow ones start. */
	for (i = 0; i < 4; i++) {
		if (strcmp(names[i], "hang") != 0) {
			snprintf(sentence, sizeof(sentence), "/%s", names[i]);
			await(world, sentence, SOURCE_ATTACHED, "");
		}
	}
	pass(world, SECOND_NS);
	assert_int_equal(world->events, 0); /* the one that hangs is waited for */
	assert_false(intake_ended(world->intake));
	/* We were stopped for a minute: that says nothing of it. */
	world->mono_ns += 60 * (uint64_t)SECOND_NS;
	await(world, "/hang", SOURCE_CONNECTING, "");
	pass_seconds(world, 6);
	await(world, "/hang", SOURCE_CONNECTING, "");
	pass_seconds(world, 3);
	await(world, "/hang", SOURCE_REFUSED, "no progress for 10 s while it opened the recording");
	await(world, "/crash", SOURCE_REFUSED, "SIGABRT");
	await(world, "/garbage", SOURCE_REFUSED, "ring's format");
	await(world, "/end", SOURCE_ENDED, "");
	assert_true(intake_ended(world->intake));
	assert_int_equal(world->events, 6);
	assert_int_equal(intake_failed(world->intake, false, 0, sentence, sizeof(sentence)), 3);
	assert_true(intake_progress(world->intake) >= 1);
	for (i = 0; i < 4; i++) {
		remove_trace(paths[i]);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_setup_teardown(test_backoff, set_up, tear_down),
			cmocka_unit_test_setup_teardown(
					test_crash_is_told_and_its_gap_counted, set_up, tear_down),
			cmocka_unit_test_setup_teardown(test_garbage, set_up, tear_down),
			cmocka_unit_test_setup_teardown(test_waiting_for_what, set_up, tear_down),
			cmocka_unit_test_setup_teardown(
					test_session_ends_and_returns, set_up, tear_down),
			cmocka_unit_test_setup_teardown(
					test_offered_then_picked, set_up, tear_down),
			cmocka_unit_test_setup_teardown(
					test_recordings_that_take_their_time, set_up, tear_down),
			cmocka_unit_test_setup_teardown(
					test_a_recording_that_spins, set_up, tear_down),
			cmocka_unit_test_setup_teardown(
					test_recordings_that_fail, set_up, tear_down),
	};

	if (argc > 1 && strcmp(argv[1], "--ring") == 0) {
		return play(argc, argv);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
