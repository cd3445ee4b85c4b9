/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_readers.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_source.h"

/* All records of a reading that have to be the same. */
struct reading {
	unsigned char *bytes;
	size_t size, room;
	uint64_t n_events;
	char text[1200];
};

static void keep(struct source_probe *probe, const struct record *record)
{
	struct reading *reading = probe->user;

	if (record->kind == RECORD_PROGRESS || record->kind == RECORD_STATE ||
			record->kind == RECORD_WATERMARK) {
		return;
	}
	if (reading->size + record->size > reading->room) {
		reading->room = 2 * (reading->size + record->size);
		reading->bytes = realloc(reading->bytes, reading->room);
		assert_non_null(reading->bytes);
	}
	memcpy(reading->bytes + reading->size, record, record->size);
	reading->size += record->size;
}

static void read_by(const char *reader, const char *directory, struct reading *reading)
{
	const char *arguments[] = {"--reader", reader, "--trace", directory, NULL};
	struct source_probe probe = {.on_record = keep, .user = reading};

	source_probe_start(&probe, arguments);
	source_probe_run(&probe, 120000);
	if (probe.broken || !probe.ended) {
		print_message("%s of %s: %s %s\n", reader, directory, probe.why, probe.text);
	}
	assert_false(probe.broken);
	reading->n_events = probe.n_events;
	snprintf(reading->text, sizeof(reading->text), "%s", probe.text);
	source_probe_stop(&probe);
}

static void print_record(const char *reader, const unsigned char *bytes)
{
	const struct record *record = (const struct record *)bytes;

	print_message("%-12s kind %u, %u bytes:", reader, record->kind, record->size);
	for (uint32_t i = 8; i + 8 <= record->size && i < 400; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, sizeof(word));
		print_message(" %" PRIx64, word);
	}
	print_message("\n");
}

static void compare(const struct reading *library, const struct reading *own)
{
	size_t at = 0;
	uint64_t n = 0;

	while (at < library->size && at < own->size) {
		const struct record *a = (const struct record *)(library->bytes + at);
		const struct record *b = (const struct record *)(own->bytes + at);

		if (a->size != b->size || memcmp(a, b, a->size) != 0) {
			print_message("record %" PRIu64 " differs\n", n);
			print_record("babeltrace2", library->bytes + at);
			print_record("own", own->bytes + at);
			fail();
		}
		at += a->size;
		n++;
	}
	assert_int_equal(library->size, own->size);
}

void readers_compare(const char *directory)
{
	struct reading library = {0}, own = {0};

	read_by("babeltrace2", directory, &library);
	read_by("own", directory, &own);
	compare(&library, &own);
	assert_string_equal(library.text, own.text);
	assert_int_equal(library.n_events, own.n_events);
	free(library.bytes);
	free(own.bytes);
}
