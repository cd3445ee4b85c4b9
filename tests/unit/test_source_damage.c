/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recordings that are damaged, cut off, or no recordings at all. The reading process may die of
 * them (that is what it is for); the ring stays sound, and whoever reads it gets a sentence, or
 * sees the process end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support_source.h"
#include "support_trace.h"

#define MUTATIONS   120
#define PATIENCE_MS 5000

/* Of a made trace: packet header and context; one p:tick event. */
#define PACKET_HEAD_BYTES (8 + 5 * 8 + 4)
#define TICK_BYTES        (2 + 8 + 8 + 8)

struct blob {
	unsigned char bytes[16384];
	size_t size;
};

static void load(const struct trace_maker *maker, const char *name, struct blob *blob)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", maker->directory, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	blob->size = fread(blob->bytes, 1, sizeof(blob->bytes), file);
	fclose(file);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Reads the directory and checks what must hold for any input: the ring is sound, and the end is a
 * proper one, a sentence, or a death.
 */
static enum source_state read_any(const char *directory, char *text, size_t size, uint64_t *events)
{
	struct source_probe probe = {0};
	const char *arguments[] = {"--trace", directory, NULL};
	enum source_state state;
	int status;

	source_probe_start(&probe, arguments);
	source_probe_run(&probe, PATIENCE_MS);
	if (probe.broken) {
		fail_msg("%s: the ring is broken: %s", directory, probe.why);
	}
	snprintf(text, size, "%s", probe.text);
	*events = probe.n_events;
	state = probe.state;
	status = source_probe_stop(&probe);
	if (!probe.ended && WIFEXITED(status)) {
		assert_int_equal(state, SOURCE_REFUSED);
		assert_int_not_equal(WEXITSTATUS(status), 0);
		assert_true(strlen(text) > 20);
	}
	return state;
}

static void expect_refused(const char *directory, const char *words)
{
	char text[1200];
	uint64_t events;

	assert_int_equal(read_any(directory, text, sizeof(text), &events), SOURCE_REFUSED);
	if (!strstr(text, words)) {
		fail_msg("\"%s\" does not say \"%s\"", text, words);
	}
}

static void test_what_is_no_trace_is_refused(void **state)
{
	static const unsigned char packetized[] = {0x75, 0xd1, 0x1d, 0x57};
	unsigned char ctf2_packet[64] = {0};
	struct trace_maker maker;
	char path[128];

	(void)state;
	expect_refused("/nonexistent/trace", "No such file");
	expect_refused("/dev/null", "Not a directory");
	trace_maker_init(&maker, false);
	expect_refused(maker.directory, "no file \"metadata\"");
	trace_maker_put(&maker, "metadata", "", 0);
	expect_refused(maker.directory, "is empty");
	trace_maker_put(&maker, "metadata", "\x1e{\"type\":\"preamble\"}", 20);
	expect_refused(maker.directory, "cannot read the trace");
	memcpy(ctf2_packet, packetized, sizeof(packetized));
	ctf2_packet[37] = 0x1e;
	trace_maker_put(&maker, "metadata", ctf2_packet, sizeof(ctf2_packet));
	expect_refused(maker.directory, "cannot read the trace");
	trace_maker_put(&maker, "metadata",
			"\x7f"
			"ELF",
			4);
	expect_refused(maker.directory, "not the metadata of a CTF trace");
	trace_maker_put(&maker, "metadata", "/* CTF 1.8 */ trace { nonsense", 30);
	expect_refused(maker.directory, "its metadata is damaged");
	trace_maker_put(&maker, "metadata", "/* CTF 1.8 */\ntrace {\n  major 1;\n};\n", 37);
	expect_refused(maker.directory, "(metadata line 3: '=' expected)");
	snprintf(path, sizeof(path), "%s/metadata", maker.directory);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	expect_refused(maker.directory, "cannot read");
	rmdir(path);
	trace_maker_release(&maker);
}

static void test_a_trace_without_a_clock_is_refused(void **state)
{
	static const char metadata[] =
			"/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := u8;\n"
			"trace { major = 1; minor = 8; byte_order = le; };\n"
			"stream { };\n"
			"event { name = \"e\"; fields := struct { u8 n; }; };\n";
	struct trace_maker maker;

	(void)state;
	trace_maker_init(&maker, false);
	trace_maker_put(&maker, "metadata", metadata, sizeof(metadata) - 1);
	trace_maker_put(&maker, "stream", "\1\2\3", 3);
	expect_refused(maker.directory, "without a clock");
	trace_maker_release(&maker);
}

static void test_unreadable_files_are_named(void **state)
{
	struct trace_maker maker;
	char path[128];

	(void)state;
	if (geteuid() == 0) {
		printf("skipped: root can read everything\n");
		skip();
	}
	trace_maker_init(&maker, false);
	trace_maker_all_kinds(&maker);
	snprintf(path, sizeof(path), "%s/chan_nel_1", maker.directory);
	chmod(path, 0);
	expect_refused(maker.directory, "chan_nel_1: Permission denied");
	trace_maker_release(&maker);
}

/* babeltrace2 gives up on the whole trace then; the file at fault must be named. */
static void test_a_truncated_stream_is_named(void **state)
{
	struct trace_maker maker;
	struct blob stream;

	(void)state;
	trace_maker_init(&maker, false);
	trace_maker_all_kinds(&maker);
	load(&maker, "chan_nel_1", &stream);
	trace_maker_put(&maker, "chan_nel_1", stream.bytes, stream.size - 10);
	expect_refused(maker.directory, "chan_nel_1");
	trace_maker_release(&maker);
}

/* An event class that does not exist, in one stream: the other stream is still read to its end. */
static void test_a_damaged_stream_does_not_hide_the_others(void **state)
{
	struct trace_maker maker;
	struct blob stream;
	char text[1200];
	uint64_t events;

	(void)state;
	trace_maker_init(&maker, false);
	trace_maker_all_kinds(&maker);
	load(&maker, "chan_nel_1", &stream);
	stream.bytes[PACKET_HEAD_BYTES + TICK_BYTES] = 99; /* the class of its second event */
	trace_maker_put(&maker, "chan_nel_1", stream.bytes, stream.size);
	assert_int_equal(read_any(maker.directory, text, sizeof(text), &events), SOURCE_REFUSED);
	assert_non_null(strstr(text, "is damaged: 1 of its stream files"));
	assert_in_range(events, 4, 5);
	trace_maker_release(&maker);
}

/* An event dated years off, first or later, early or late: the others are read as if without it. */
static void test_corrupt_times_are_put_aside(void **state)
{
	static const struct {
		uint32_t event;
		int64_t by_ns;
		bool aside;
	} cases[] = {{1, INT64_C(1) << 60, true}, {0, INT64_C(1) << 60, true},
			{0, -(INT64_C(1) << 60), true}, {1, -(INT64_C(1) << 60), true},
			{2, 61000000000, true}, {2, 1000000, false}};
	struct trace_maker maker;
	struct blob stream, corrupt;

	(void)state;
	trace_maker_init(&maker, false);
	trace_maker_all_kinds(&maker);
	load(&maker, "chan_nel_1", &stream);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t at = PACKET_HEAD_BYTES + cases[i].event * TICK_BYTES + 2;
		struct source_probe probe = {0};
		uint64_t ts;

		corrupt = stream;
		memcpy(&ts, corrupt.bytes + at, sizeof(ts));
		ts += (uint64_t)cases[i].by_ns;
		memcpy(corrupt.bytes + at, &ts, sizeof(ts));
		trace_maker_put(&maker, "chan_nel_1", corrupt.bytes, corrupt.size);
		source_probe_read(&probe, maker.directory);
		assert_int_equal(probe.n_misdated, cases[i].aside);
		assert_int_equal(probe.n_events, 7 - cases[i].aside);
		if (cases[i].aside) {
			assert_true(probe.last_event_ns <=
					MADE_OFFSET_S * UINT64_C(1000000000) + 600);
		}
		source_probe_stop(&probe);
	}
	trace_maker_release(&maker);
}

/*
 * The metadata of a real recording, cut off at many places: the reader ends by itself at each, and
 * says so wherever the end of a packet's text is missing (libbabeltrace2 2.0 would hang there).
 */
static void cut_off_everywhere(const char *trace, uint32_t *n_cut_off)
{
	static unsigned char bytes[1 << 19];
	struct trace_maker maker;
	char path[512], text[1200];
	uint64_t events;
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), PT_TRACES_DIR "/%s/metadata", trace);
	file = fopen(path, "rb");
	assert_non_null(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_true(size > 4096 && size < sizeof(bytes));
	trace_maker_init(&maker, false);
	for (size_t cut = 40; cut < size; cut += size / 29) {
		struct source_probe probe = {0};
		const char *arguments[] = {"--trace", maker.directory, NULL};
		int status;

		trace_maker_put(&maker, "metadata", bytes, cut);
		source_probe_start(&probe, arguments);
		source_probe_run(&probe, PATIENCE_MS);
		status = source_probe_stop(&probe);
		if (!WIFEXITED(status)) {
			fail_msg("%s cut off at %zu of %zu: the reader hangs", trace, cut, size);
		}
		*n_cut_off += strstr(probe.text, "metadata is cut off: ") != NULL;
	}
	/* Complete, and so read: there are no stream files beside it. */
	trace_maker_put(&maker, "metadata", bytes, size);
	assert_int_equal(read_any(maker.directory, text, sizeof(text), &events), SOURCE_ENDED);
	trace_maker_release(&maker);
}

static void test_metadata_that_is_cut_off(void **state)
{
	static const char *const traces[] = {"kernel-6.2-2cpu", "kernel-bigendian-1cpu",
			"multi-domain-lost/kernel", "ust-cyg-profile", "ust-ros2"};
	uint32_t n_cut_off = 0;

	(void)state;
	if (access(PT_TRACES_DIR "/ust-ros2", R_OK) != 0) {
		printf("skipped: no recorded traces in " PT_TRACES_DIR "\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		cut_off_everywhere(traces[i], &n_cut_off);
	}
	printf("of 150 cuts %u were inside a packet's text\n", n_cut_off);
	assert_in_range(n_cut_off, 60, 149);
}

static void mutate(const struct trace_maker *maker, const char *name, const struct blob *blob,
		uint64_t *random)
{
	struct blob copy = *blob;
	uint64_t kind = next_random(random) % 4;

	if (kind == 0) {
		copy.size = next_random(random) % (blob->size + 1);
	} else {
		for (uint64_t i = 0; i <= next_random(random) % (kind == 1 ? 2 : 12); i++) {
			copy.bytes[next_random(random) % blob->size] =
					(unsigned char)next_random(random);
		}
	}
	trace_maker_put(maker, name, copy.bytes, copy.size);
}

static void test_mutated_traces_leave_the_ring_sound(void **state)
{
	struct trace_maker maker;
	struct blob metadata, streams[2];
	uint64_t random = 20240229;
	uint32_t n_ok = 0, n_refused = 0, n_died = 0;

	(void)state;
	trace_maker_init(&maker, false);
	trace_maker_all_kinds(&maker);
	load(&maker, "metadata", &metadata);
	load(&maker, "chan_nel_0", &streams[0]);
	load(&maker, "chan_nel_1", &streams[1]);
	for (int i = 0; i < MUTATIONS; i++) {
		char text[1200];
		uint64_t events;

		trace_maker_put(&maker, "metadata", metadata.bytes, metadata.size);
		trace_maker_put(&maker, "chan_nel_0", streams[0].bytes, streams[0].size);
		trace_maker_put(&maker, "chan_nel_1", streams[1].bytes, streams[1].size);
		switch (next_random(&random) % 3) {
		case 0:
			mutate(&maker, "metadata", &metadata, &random);
			break;
		case 1:
			mutate(&maker, "chan_nel_0", &streams[0], &random);
			break;
		default:
			mutate(&maker, "chan_nel_1", &streams[1], &random);
			break;
		}
		switch (read_any(maker.directory, text, sizeof(text), &events)) {
		case SOURCE_ENDED:
			n_ok++;
			break;
		case SOURCE_REFUSED:
			n_refused++;
			break;
		default:
			n_died++;
			break;
		}
	}
	printf("%u read, %u refused, %u died or hung\n", n_ok, n_refused, n_died);
	assert_true(n_refused > 10 && n_ok > 10);
	trace_maker_release(&maker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_what_is_no_trace_is_refused),
			cmocka_unit_test(test_a_trace_without_a_clock_is_refused),
			cmocka_unit_test(test_unreadable_files_are_named),
			cmocka_unit_test(test_a_truncated_stream_is_named),
			cmocka_unit_test(test_a_damaged_stream_does_not_hide_the_others),
			cmocka_unit_test(test_corrupt_times_are_put_aside),
			cmocka_unit_test(test_metadata_that_is_cut_off),
			cmocka_unit_test(test_mutated_traces_leave_the_ring_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
