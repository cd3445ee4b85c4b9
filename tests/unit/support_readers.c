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

/* The bytes around the first one that differs. */
static void print_record(const char *reader, const unsigned char *bytes, size_t differs)
{
	const struct record *record = (const struct record *)bytes;
	size_t begin = differs > 48 ? (differs - 48) & ~(size_t)7 : 0;

	print_message("%-12s kind %u, %u bytes, from %zu:", reader, record->kind, record->size,
			begin);
	for (size_t i = begin; i < record->size && i < begin + 96; i++) {
		print_message(bytes[i] >= ' ' && bytes[i] < 127 ? "%s%c" : "%s%02x",
				i % 8 == 0 ? " " : "", bytes[i]);
	}
	print_message("\n");
}

static size_t first_difference(const struct record *a, const struct record *b)
{
	const unsigned char *first = (const unsigned char *)a, *second = (const unsigned char *)b;
	size_t i = 0;

	while (i < a->size && i < b->size && first[i] == second[i]) {
		i++;
	}
	return i;
}

static void compare(const struct reading *library, const struct reading *own)
{
	size_t at = 0;
	uint64_t n = 0;

	while (at < library->size && at < own->size) {
		const struct record *a = (const struct record *)(library->bytes + at);
		const struct record *b = (const struct record *)(own->bytes + at);

		if (a->size != b->size || memcmp(a, b, a->size) != 0) {
			size_t differs = first_difference(a, b);

			print_message("record %" PRIu64 " differs at %zu\n", n, differs);
			print_record("babeltrace2", library->bytes + at, differs);
			print_record("own", own->bytes + at, differs);
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
