/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace in CTF 2 comes out of a source process as it was written; what is not read is named. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_ctf2.h"
#include "support_source.h"

/* --- Records as text ----------------------------------------------------------------------------
 */

static size_t print_text(FILE *out, const char *bytes, uint32_t length)
{
	fprintf(out, "\"%.*s\"", (int)length, bytes);
	return (length + 7) & ~7u;
}

static size_t print_tree(FILE *out, const char *bytes)
{
	uint32_t head[2];
	size_t at = sizeof(head);
	uint64_t number;

	memcpy(head, bytes, sizeof(head));
	switch (head[0]) {
	case TREE_UINT:
	case TREE_INT:
		memcpy(&number, bytes + at, sizeof(number));
		fprintf(out, "%" PRId64, (int64_t)number);
		return at + sizeof(number);
	case TREE_STRING:
		return at + print_text(out, bytes + at, head[1]);
	case TREE_VARIANT:
		at += print_tree(out, bytes + at);
		fprintf(out, ":");
		return at + print_tree(out, bytes + at);
	default:
		break;
	}
	fprintf(out, head[0] == TREE_ARRAY ? "[" : "{");
	for (uint32_t i = 0; i < head[1]; i++) {
		fprintf(out, i > 0 ? "," : "");
		if (head[0] == TREE_STRUCT) {
			at += print_tree(out, bytes + at);
			fprintf(out, "=");
		}
		at += print_tree(out, bytes + at);
	}
	fprintf(out, head[0] == TREE_ARRAY ? "]" : "}");
	return at;
}

static void print_field(
		FILE *out, const struct record_field *field, const struct event *event, uint32_t i)
{
	uint32_t length;
	const char *bytes;

	switch (field->kind) {
	case FIELD_UINT:
		fprintf(out, field->base == 16 ? "%" PRIx64 : "%" PRIu64, event->slots[i]);
		break;
	case FIELD_INT:
		fprintf(out, "%" PRId64, (int64_t)event->slots[i]);
		break;
	case FIELD_DOUBLE:
		fprintf(out, "%g", event_double(event, i));
		break;
	default:
		bytes = event_bytes(event, i, &length);
		if (!bytes) {
			fprintf(out, "-");
		} else if (field->kind == FIELD_STRING) {
			print_text(out, bytes, length);
		} else {
			print_tree(out, bytes);
		}
		break;
	}
}

static void print_event(
		FILE *out, const struct source_probe *probe, const struct record_event *record)
{
	const struct record_type *type = probe->types[record->type];
	struct event event = {.bytes = record->bytes, .slots = record->slots};

	fprintf(out, "%" PRIu64 " %u %s", record->ts_ns - CTF2_OFFSET_S * UINT64_C(1000000000),
			record->cpu, record_text(&type->record, type->name));
	for (uint32_t i = 0; i < type->n_fields; i++) {
		const struct record_field *field = &source_probe_fields(type)[i];

		fprintf(out, " %s=", record_text(&type->record, field->name));
		print_field(out, field, &event, i);
	}
	fprintf(out, "\n");
}

static void print_record(struct source_probe *probe, const struct record *record)
{
	const struct record_loss *loss = (const struct record_loss *)record;
	const struct record_stream *stream = (const struct record_stream *)record;
	FILE *out = probe->user;

	if (record->kind == RECORD_EVENT) {
		print_event(out, probe, (const struct record_event *)record);
	} else if (record->kind == RECORD_LOSS) {
		fprintf(out, "lost %s %" PRIu64 "\n", loss->packets ? "packets" : "events",
				loss->count);
	} else if (record->kind == RECORD_STREAM) {
		fprintf(out, "stream %s %s %s\n", record_text(record, stream->host),
				record_text(record, stream->session),
				record_text(record, stream->channel));
	}
}

static char *read_text(const char *directory, char *why, size_t room)
{
	const char *arguments[] = {"--reader=own", "--trace", directory, NULL};
	size_t size;
	char *text;
	struct source_probe probe = {.on_record = print_record};

	probe.user = open_memstream(&text, &size);
	source_probe_start(&probe, arguments);
	source_probe_run(&probe, 60000);
	assert_false(probe.broken);
	snprintf(why, room, "%s", probe.text);
	source_probe_stop(&probe);
	fclose(probe.user);
	return text;
}

/* --- Tests --------------------------------------------------------------------------------------
 */

static void every_kind_comes_through(void **state)
{
	static const char expected[] =
			"stream h2 s2 chan\n"
			"131062 3 p:tick n=1 _vtid=-4\n"
			"131079 3 p:tick n=2 _vtid=-4\n"
			"131093 3 p:kinds u5=21 s3=-2 u12=2748 u4=13 alias=-300 "
			"u64=fedcba9876543210 named=21 flag=1 bits=8001 single=-1.5 double=3.14159 "
			"variable=300 variable_signed=-300 text=\"text\" fixed_text=\"fixed\" n=3 "
			"dynamic_text=\"dyn\" blob=[1,2,3] dynamic_blob=[4,5,6] point.x=8 "
			"point.y=-9 "
			"list=[1,-1] many=[{\"k\"=0,\"inner\"=[],\"outer\"=81},"
			"{\"k\"=1,\"inner\"=[16],\"outer\"=82},"
			"{\"k\"=2,\"inner\"=[32,33],\"outer\"=83}] tag=200 "
			"choice=\"large\":{\"v\"=3735928559} maybe=\"yes\" selector=-4 perhaps=[] "
			"_vtid=77\n"
			"lost events 5\n"
			"lost packets 2\n"
			"131590 3 p:tick n=3 _vtid=-4\n";
	struct trace_maker maker;
	char why[1200], *text;

	(void)state;
	trace_maker_init(&maker, false);
	ctf2_all_kinds(&maker);
	text = read_text(maker.directory, why, sizeof(why));
	assert_string_equal(why, "");
	assert_string_equal(text, expected);
	free(text);
	trace_maker_release(&maker);
}

#define PREAMBLE "{\"type\":\"preamble\",\"version\":2}"
#define PAYLOAD                                                                                    \
	"{\"type\":\"event-record-class\",\"payload-field-class\":{\"type\":\"structure\","        \
	"\"member-classes\":[{\"name\":\"a\",\"field-class\":{"

static void refuse(const char *words, const char *const *fragments)
{
	struct trace_maker maker;
	char why[1200], *text;

	trace_maker_init(&maker, false);
	ctf2_metadata(&maker, fragments);
	text = read_text(maker.directory, why, sizeof(why));
	if (!strstr(why, words)) {
		fail_msg("\"%s\" does not say \"%s\"", why, words);
	}
	free(text);
	trace_maker_release(&maker);
}

static void what_is_not_read_is_named(void **state)
{
	static const char stream[] = "{\"type\":\"data-stream-class\"}";

	(void)state;
	refuse("a version of CTF other than 2",
			(const char *[]){"{\"type\":\"preamble\",\"version\":3}", NULL});
	refuse("no preamble", (const char *[]){stream, NULL});
	refuse("not JSON", (const char *[]){PREAMBLE, "{\"type\":", NULL});
	refuse("of no known type: joke", (const char *[]){PREAMBLE, "{\"type\":\"joke\"}", NULL});
	refuse("declares no stream", (const char *[]){PREAMBLE, NULL});
	refuse("a clock that is not declared", (const char *[]){PREAMBLE,
							       "{\"type\":\"data-stream-class\","
							       "\"default-clock-class-id\":\"c\"}",
							       NULL});
	refuse("a field class that is not known: complex",
			(const char *[]){PREAMBLE, stream, PAYLOAD "\"type\":\"complex\"}}]}}",
					NULL});
	refuse("an encoding that is not read: utf-16le",
			(const char *[]){PREAMBLE, stream,
					PAYLOAD "\"type\":\"null-terminated-string\","
						"\"encoding\":\"utf-16le\"}}]}}",
					NULL});
	refuse("a size that numbers cannot have",
			(const char *[]){PREAMBLE, stream,
					PAYLOAD "\"type\":\"fixed-length-signed-integer\","
						"\"length\":65,\"byte-order\":"
						"\"big-endian\"}}]}}",
					NULL});
	refuse("its length is no unsigned number before it",
			(const char *[]){PREAMBLE, stream,
					PAYLOAD "\"type\":\"dynamic-length-string\","
						"\"length-field-location\":{\"path\":"
						"[\"b\"]}}}]}}",
					NULL});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_kind_comes_through),
			cmocka_unit_test(what_is_not_read_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
