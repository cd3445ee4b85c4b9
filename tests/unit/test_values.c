/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdint.h>
#include <string.h>

#include "values.h"

/* Values as people expect to see them, damaged ones included. */

static void scalars(void **state)
{
	const struct field_label labels[] = {{"IDLE", 0, 0}, {"BUSY", 1, 9}};
	const struct field_label negative[] = {{"ERROR", (uint64_t)-5, (uint64_t)-1}};
	const struct {
		struct field field;
		uint64_t slot;
		const char *text;
	} cases[] = {
			{{.kind = FIELD_UINT, .base = 10}, 42, "42"},
			{{.kind = FIELD_INT, .base = 10}, (uint64_t)-42, "-42"},
			{{.kind = FIELD_UINT, .base = 16}, 0x4033a7, "0x4033a7"},
			{{.kind = FIELD_UINT, .base = 8}, 0644, "0644"},
			{{.kind = FIELD_UINT, .base = 2}, 5, "0b101"},
			{{.kind = FIELD_UINT, .base = 2}, 0, "0b0"},
			{{.kind = FIELD_UINT, .base = 10, .n_labels = 2, .labels = labels}, 5,
					"BUSY"},
			{{.kind = FIELD_UINT, .base = 10, .n_labels = 2, .labels = labels}, 77,
					"77"},
			{{.kind = FIELD_INT, .base = 10, .n_labels = 1, .labels = negative},
					(uint64_t)-3, "ERROR"},
	};
	char text[128];
	double number = 2.5;
	uint64_t bits;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		value_scalar(text, sizeof(text), &cases[i].field, cases[i].slot);
		assert_string_equal(text, cases[i].text);
	}
	memcpy(&bits, &number, sizeof(bits));
	value_scalar(text, sizeof(text), &(struct field){.kind = FIELD_DOUBLE}, bits);
	assert_string_equal(text, "2.5");
}

/* Writes nodes of a tree one after the other. */
struct writer {
	unsigned char bytes[512];
	uint32_t used;
};

static void node(struct writer *writer, uint32_t kind, uint32_t n)
{
	memcpy(writer->bytes + writer->used, &kind, 4);
	memcpy(writer->bytes + writer->used + 4, &n, 4);
	writer->used += 8;
}

static void number(struct writer *writer, uint32_t kind, uint64_t value)
{
	node(writer, kind, 0);
	memcpy(writer->bytes + writer->used, &value, 8);
	writer->used += 8;
}

static void string(struct writer *writer, const char *text)
{
	uint32_t length = (uint32_t)strlen(text);

	node(writer, TREE_STRING, length);
	memset(writer->bytes + writer->used, 0, (length + 7) / 8 * 8);
	memcpy(writer->bytes + writer->used, text, length);
	writer->used += (length + 7) / 8 * 8;
}

static const char *text_of(struct snapshot *snapshot, const struct writer *writer, uint32_t length)
{
	uint64_t slots[66];
	const struct field field = {.name = "tree", .kind = FIELD_TREE};
	struct event event = {.bytes = 8 + length + 1, .slots = slots};

	memset(slots, 0, sizeof(slots));
	memcpy(slots + 1, writer->bytes, length);
	slots[0] = (uint64_t)8 << 32 | length;
	return value_text(snapshot, &field, &event, 0);
}

static void trees(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct writer writer = {.used = 0};
	uint32_t cut;

	(void)state;
	node(&writer, TREE_STRUCT, 3);
	string(&writer, "a");
	number(&writer, TREE_INT, (uint64_t)-1);
	string(&writer, "list");
	node(&writer, TREE_ARRAY, 2);
	number(&writer, TREE_UINT, 2);
	string(&writer, "two");
	string(&writer, "v");
	node(&writer, TREE_VARIANT, 0);
	string(&writer, "option");
	number(&writer, TREE_UINT, 7);
	assert_string_equal(text_of(snapshot, &writer, writer.used),
			"{a=-1, list=[2, two], v={option=7}}");
	/* Wherever it is cut, it is shown as far as it goes. */
	for (cut = 0; cut < writer.used; cut++) {
		const char *text = text_of(snapshot, &writer, cut);
		size_t length = strlen(text);

		assert_true(length >= 3 && strcmp(text + length - 3, "...") == 0);
	}
	/* A count that lies, and a tower of arrays. */
	writer.used = 0;
	node(&writer, TREE_ARRAY, UINT32_MAX);
	assert_non_null(strstr(text_of(snapshot, &writer, writer.used), "..."));
	writer.used = 0;
	while (writer.used < 500) {
		node(&writer, TREE_ARRAY, 1);
	}
	assert_non_null(strstr(text_of(snapshot, &writer, writer.used), "..."));
	snapshot_destroy(snapshot);
}

static void strings(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	const struct field field = {.name = "text", .kind = FIELD_STRING};
	uint64_t slots[4] = {(uint64_t)8 << 32 | 5, 0, 0, 0};
	struct event event = {.bytes = 8 + 6, .slots = slots};

	(void)state;
	memcpy(slots + 1, "hello", 6);
	assert_string_equal(value_text(snapshot, &field, &event, 0), "hello");
	slots[0] = (uint64_t)8 << 32 | 500; /* beyond the event */
	assert_string_equal(value_text(snapshot, &field, &event, 0), "");
	slots[0] = EVENT_ABSENT;
	assert_string_equal(value_text(snapshot, &field, &event, 0), "");
	snapshot_destroy(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(scalars),
			cmocka_unit_test(trees),
			cmocka_unit_test(strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
