/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Metadata in TSDL: every event class of recorded traces, and their fields, as libbabeltrace2 tells
 * them; what other producers write; what is refused, and in which line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctf/tsdl.h"

static struct ctf_metadata *parse(const char *text)
{
	char error[200] = "";
	struct ctf_metadata *metadata = tsdl_parse(text, strlen(text), error, sizeof(error));

	if (!metadata) {
		fail_msg("%s", error);
	}
	return metadata;
}

static void refuse(const char *text, const char *why)
{
	char error[200] = "";

	assert_null(tsdl_parse(text, strlen(text), error, sizeof(error)));
	assert_string_equal(error, why);
}

static const char *base_name(uint8_t base)
{
	return base == 16 ? "16" : base == 8 ? "8" : base == 2 ? "2" : "10";
}

/* As sink.text.details says it, in one line. */
static void describe(FILE *out, const char *name, const struct ctf_type *type)
{
	const struct ctf_type *number = type->kind == CTF_ENUM ? type->of : type;
	bool is_array = type->kind == CTF_ARRAY || type->kind == CTF_SEQUENCE;

	fprintf(out, "%s: ", name);
	if (type->kind == CTF_STRING || (is_array && type->of->is_text)) {
		fprintf(out, "String\n");
	} else if (type->kind == CTF_INTEGER || type->kind == CTF_ENUM) {
		fprintf(out, "%s %s (%u-bit, Base %s", number->is_signed ? "Signed" : "Unsigned",
				type->kind == CTF_ENUM ? "enumeration" : "integer", number->bits,
				base_name(number->base));
		fprintf(out, type->kind == CTF_ENUM ? "\n" : ")\n");
	} else if (type->kind == CTF_FLOAT) {
		fprintf(out, "%s-precision real\n", type->bits == 32 ? "Single" : "Double");
	} else if (type->kind == CTF_ARRAY) {
		fprintf(out, "Static array (Length %u):\n", (unsigned int)type->length);
	} else if (type->kind == CTF_SEQUENCE) {
		fprintf(out, "Dynamic array\n");
	} else {
		fprintf(out, "%s\n", type->kind == CTF_STRUCT ? "Structure" : "Variant");
	}
}

static void describe_events(FILE *out, const struct ctf_metadata *metadata)
{
	for (const struct ctf_event_class *event = metadata->events; event; event = event->next) {
		fprintf(out, "stream %u event %s %u\n", (unsigned int)event->stream_id, event->name,
				(unsigned int)event->id);
		for (const struct ctf_member *member = event->fields ? event->fields->members
								     : NULL;
				member; member = member->next) {
			describe(out, member->name + (member->name[0] == '_'), member->type);
		}
	}
}

/* The same lines, out of sink.text.details. */
static void read_details(FILE *out, const char *trace)
{
	char command[600], line[4096], name[256];
	unsigned int id, stream = 0;
	bool in_payload = false;
	FILE *in;

	snprintf(command, sizeof(command),
			"babeltrace2 -c sink.text.details -p with-data=no,color=never "
			"'" PT_TRACES_DIR "/%s' 2>/dev/null",
			trace);
	in = popen(command, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		size_t indent = strspn(line, " ");
		char *cut;

		if (sscanf(line, "  Stream class (ID %u)", &stream) == 1 && indent == 2) {
			in_payload = false;
		} else if (sscanf(line, "    Event class `%255[^`]` (ID %u)", name, &id) == 2) {
			fprintf(out, "stream %u event %s %u\n", stream, name, id);
			in_payload = false;
		} else if (indent == 6) {
			in_payload = strncmp(line + 6, "Payload field class", 19) == 0;
		} else if (indent == 8 && in_payload) {
			static const char *const until[] = {
					": Dynamic array", ": Structure", ": Variant"};

			for (size_t i = 0; i < 3; i++) {
				cut = strstr(line, until[i]);
				if (cut) {
					strcpy(cut + strlen(until[i]), "\n");
				}
			}
			cut = strstr(line, " enumeration (") ? strstr(line, ", Base ") : NULL;
			if (cut) {
				cut += strcspn(cut + 2, ",)") + 2;
				strcpy(cut, "\n");
			}
			fputs(line + 8, out);
		}
	}
	assert_int_equal(pclose(in), 0);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The library orders classes by stream and id: so do we, event by event. */
static void sort_events(char *text, char **events, size_t *n, size_t room)
{
	*n = 0;
	for (char *at = text; at && *at; at = strstr(at + 1, "\nstream ")) {
		assert_true(*n < room);
		if (at != text) {
			*at++ = '\0';
		}
		events[(*n)++] = at;
	}
	if (*n > 0 && strlen(events[*n - 1]) > 0) {
		events[*n - 1][strlen(events[*n - 1]) - 1] = '\0';
	}
	qsort(events, *n, sizeof(*events), by_text);
}

#define EVENTS 4096

static void compare(const char *trace)
{
	static char *ours[EVENTS], *theirs[EVENTS];
	static unsigned char bytes[4 << 20];
	char path[600], error[200] = "", *text, *our_text = NULL, *their_text = NULL;
	size_t size, length, n_ours, n_theirs;
	struct ctf_metadata *metadata;
	FILE *file, *out;

	snprintf(path, sizeof(path), PT_TRACES_DIR "/%s/metadata", trace);
	file = fopen(path, "r");
	if (!file) {
		print_message("skipped: no %s\n", trace);
		skip();
	}
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	text = tsdl_text(bytes, size, &length);
	assert_non_null(text);
	metadata = tsdl_parse(text, length, error, sizeof(error));
	if (!metadata) {
		fail_msg("%s: %s", trace, error);
	}
	free(text);
	out = open_memstream(&our_text, &size);
	describe_events(out, metadata);
	fclose(out);
	out = open_memstream(&their_text, &size);
	read_details(out, trace);
	fclose(out);
	sort_events(our_text, ours, &n_ours, EVENTS);
	sort_events(their_text, theirs, &n_theirs, EVENTS);
	for (size_t i = 0; i < n_ours && i < n_theirs; i++) {
		assert_string_equal(ours[i], theirs[i]);
	}
	assert_int_equal(n_ours, n_theirs);
	assert_true(n_ours > 0);
	print_message("%s: %zu event classes as libbabeltrace2's\n", trace, n_ours);
	free(our_text);
	free(their_text);
	tsdl_release(metadata);
}

static void test_traces(void **state)
{
	static const char *const traces[] = {"kernel-6.2-2cpu", "kernel-4.4-basic",
			"kernel-bigendian-1cpu", "ust-ros2", "ust-cyg-profile",
			"multi-domain-lost/ust", "multi-domain-lost/kernel"};

	(void)state;
	for (size_t i = 0; i < sizeof(traces) / sizeof(*traces); i++) {
		compare(traces[i]);
	}
}

static void test_other_producers(void **state)
{
	struct ctf_metadata *metadata = parse(
			"/* CTF 1.8 */ typealias integer { size = 0x10; byte_order = be; } := "
			"unsigned short;\n"
			"typedef unsigned short words_t[2][3]; // twice three\n"
			"trace { major = 1; minor = 8; byte_order = le; uuid = \"a\\\"b\"; };\n"
			"struct head { unsigned short n; } align(64);\n"
			"variant v { struct head a; string b; };\n"
			"clock { name = c; freq = 1000; offset_s = -5; offset = 7; };\n"
			"stream { id = 3; typealias integer { size = 27; map = clock.c.value; } := "
			"t;\n"
			"  event.header := struct { enum : unsigned short { X = 1, Y, \"Z z\" = "
			"5 ... 9, W = -1 } id; t time; variant v <id> rest; }; };\n"
			"event { id = 4; name = e; stream_id = 3; fields := struct {\n"
			"  floating_point { exp_dig = 11; mant_dig = 53; } _d; words_t w;\n"
			"  unsigned short s[stream.event.header.id]; struct head h; }; };\n");
	struct ctf_member *member = metadata->streams->event_header->members;
	struct ctf_label *label = member->type->labels;

	(void)state;
	assert_int_equal(metadata->order, CTF_ORDER_LITTLE);
	assert_string_equal(metadata->uuid, "a\"b");
	assert_int_equal(metadata->clocks->hz, 1000);
	assert_int_equal(metadata->clocks->offset_s, -5);
	assert_int_equal(metadata->clocks->offset_cycles, 7);
	assert_int_equal(metadata->streams->id, 3);
	assert_int_equal(metadata->streams->event_header->align, 8); /* a variant has none */
	assert_int_equal(member->type->of->order, CTF_ORDER_BIG);
	assert_int_equal(label->next->lower, 2);
	assert_string_equal(label->next->next->name, "Z z");
	assert_int_equal(label->next->next->upper, 9);
	assert_true(label->next->next->next->lower == UINT64_MAX);
	member = member->next;
	assert_int_equal(member->type->bits, 27);
	assert_int_equal(member->type->align, 1);
	assert_string_equal(member->type->clock, "c");
	member = member->next;
	assert_string_equal(member->type->path, "id");
	assert_int_equal(member->type->n, 2);
	assert_int_equal(metadata->events->id, 4);
	assert_int_equal(metadata->events->fields->align, 64);
	member = metadata->events->fields->members;
	assert_int_equal(member->type->bits, 64);
	member = member->next;
	assert_int_equal(member->type->length, 2);
	assert_int_equal(member->type->of->length, 3);
	member = member->next;
	assert_int_equal(member->type->kind, CTF_SEQUENCE);
	assert_string_equal(member->type->path, "stream.event.header.id");
	tsdl_release(metadata);
}

static void test_refused(void **state)
{
	char deep[8192] = "typedef struct { string x; } t0;\n";

	(void)state;
	refuse("\n\ntrace {", "metadata line 3: a name expected");
	refuse("event { fields := struct { u9 x; }; };",
			"metadata line 1: a type that is not declared");
	refuse("typealias integer { size = 65; } := a;",
			"metadata line 1: a size that numbers cannot have");
	refuse("typealias integer { size = 8; align = 3; } := a;",
			"metadata line 1: an alignment has to be a power of two");
	refuse("env { a = \"b", "metadata line 1: a text without an end");
	refuse("clock { freq = 0; };", "metadata line 1: a clock that stands still");
	refuse("typealias integer { size = 8; } := a;\ntypedef a b[-1];",
			"metadata line 2: a negative length");
	/* Each of them is shallow by its braces. */
	for (int i = 0; i < 40; i++) {
		size_t length = strlen(deep);

		snprintf(deep + length, sizeof(deep) - length,
				"typedef struct { t%d x; t%d y; } t%d;\n", i, i, i + 1);
	}
	refuse(deep, "metadata line 32: nested too deep");
}

static void test_packets(void **state)
{
	unsigned char packets[2 * 64] = {0};
	size_t length;
	char *text;

	(void)state;
	for (int i = 0; i < 2; i++) { /* big endian, 3 bytes of text each */
		unsigned char *packet = packets + (size_t)i * 64;

		memcpy(packet, "\x75\xd1\x1d\x57", 4);
		packet[26] = 40 * 8 >> 8;
		packet[27] = 40 * 8 & 0xff;
		packet[30] = 64 * 8 >> 8;
		memcpy(packet + 37, i ? "def" : "abc", 3);
	}
	text = tsdl_text(packets, sizeof(packets), &length);
	assert_string_equal(text, "abcdef");
	free(text);
	text = tsdl_text(packets, 64 + 40, &length); /* without padding at its end */
	assert_string_equal(text, "abcdef");
	free(text);
	assert_null(tsdl_text(packets, 64 + 39, &length));
	packets[30] = 0; /* a packet shorter than what is in it */
	assert_null(tsdl_text(packets, sizeof(packets), &length));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_traces),
			cmocka_unit_test(test_other_producers),
			cmocka_unit_test(test_refused),
			cmocka_unit_test(test_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
