/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every kind of field, in both byte orders, comes out of a source process as the trace has it: the
 * traces are made byte by byte here, so both sides of the comparison are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_source.h"
#include "support_trace.h"

#define BASE_NS (UINT64_C(1700000000) * 1000000000 + 5)

struct seen {
	uint64_t ticks[16]; /* field n of each p:tick, in order of arrival */
	uint64_t times[16];
	uint32_t cpus[16];
	uint32_t n_ticks, n_kinds;
	struct record_event *kinds; /* the p:kinds event */
	uint32_t types_at_first_event;
	uint64_t loss_begin, loss_end;
	uint32_t loss_after; /* ticks seen before the loss */
};

static const char *type_name(const struct source_probe *probe, uint32_t type)
{
	return record_text(&probe->types[type]->record, probe->types[type]->name);
}

static void note(struct source_probe *probe, const struct record *record)
{
	struct seen *seen = probe->user;
	const struct record_event *event = (const struct record_event *)record;
	const struct record_loss *loss = (const struct record_loss *)record;

	if (record->kind == RECORD_LOSS) {
		seen->loss_begin = loss->begin_ns;
		seen->loss_end = loss->end_ns;
		seen->loss_after = seen->n_ticks + seen->n_kinds;
	}
	if (record->kind != RECORD_EVENT) {
		return;
	}
	if (seen->n_ticks + seen->n_kinds == 0) {
		seen->types_at_first_event = (uint32_t)probe->n_types;
	}
	if (strcmp(type_name(probe, event->type), "p:tick") == 0 && seen->n_ticks < 16) {
		seen->ticks[seen->n_ticks] = event->slots[0];
		seen->times[seen->n_ticks] = event->ts_ns;
		seen->cpus[seen->n_ticks++] = event->cpu;
	} else if (!seen->kinds) {
		seen->n_kinds++;
		seen->kinds = malloc(record->size);
		memcpy(seen->kinds, record, record->size);
	}
}

static uint64_t slot(const struct source_probe *probe, const struct seen *seen, const char *name,
		enum field_kind kind, enum field_scope scope)
{
	int index = source_probe_field(probe, seen->kinds->type, name);
	const struct record_field *field;

	if (index < 0) {
		fail_msg("no field %s", name);
	}
	field = &source_probe_fields(probe->types[seen->kinds->type])[index];
	assert_int_equal(field->kind, kind);
	assert_int_equal(field->scope, scope);
	return seen->kinds->slots[index];
}

static const char *bytes_of(const struct source_probe *probe, const struct seen *seen,
		const char *name, enum field_kind kind, uint32_t *length)
{
	struct event event = {.bytes = seen->kinds->bytes, .slots = seen->kinds->slots};

	slot(probe, seen, name, kind, SCOPE_PAYLOAD);
	return event_bytes(&event, (uint32_t)source_probe_field(probe, seen->kinds->type, name),
			length);
}

static void check_string(const struct source_probe *probe, const struct seen *seen,
		const char *name, const char *expected)
{
	uint32_t length;

	assert_string_equal(bytes_of(probe, seen, name, FIELD_STRING, &length), expected);
	assert_int_equal(length, strlen(expected));
}

static double as_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Prints a tree in a form that is easy to compare. */
static const char *print_tree(const char *at, char **out)
{
	uint32_t head[2];
	uint64_t value;

	memcpy(head, at, sizeof(head));
	at += sizeof(head);
	switch (head[0]) {
	case TREE_UINT:
	case TREE_INT:
		memcpy(&value, at, sizeof(value));
		*out += sprintf(*out, head[0] == TREE_INT ? "%lldi " : "%lluu ",
				(unsigned long long)value);
		return at + 8;
	case TREE_STRING:
		*out += sprintf(*out, "'%.*s' ", (int)head[1], at);
		return at + ((head[1] + 7) & ~7u);
	default:
		*out += sprintf(*out, head[0] == TREE_ARRAY    ? "[ "
				      : head[0] == TREE_STRUCT ? "{ "
							       : "< ");
		for (uint32_t i = 0; i < head[1] * (head[0] == TREE_ARRAY ? 1 : 2); i++) {
			at = print_tree(at, out);
		}
		*out += sprintf(*out, head[0] == TREE_ARRAY    ? "] "
				      : head[0] == TREE_STRUCT ? "} "
							       : "> ");
		return at;
	}
}

static void check_tree(const struct source_probe *probe, const struct seen *seen, const char *name,
		const char *expected)
{
	char text[512] = "", *out = text;
	uint32_t length;
	const char *bytes = bytes_of(probe, seen, name, FIELD_TREE, &length);

	assert_non_null(bytes);
	assert_ptr_equal(print_tree(bytes, &out), bytes + length);
	assert_string_equal(text, expected);
}

static void check_labels(const struct source_probe *probe, const struct seen *seen)
{
	const struct record_type *type = probe->types[seen->kinds->type];
	const struct record_field *grade =
			&source_probe_fields(type)[source_probe_field(probe, type->type, "grade")];
	const struct record_field *sign =
			&source_probe_fields(type)[source_probe_field(probe, type->type, "sign")];
	const struct record_label *label = source_probe_labels(type) + grade->first_label;

	assert_int_equal(grade->n_labels, 3);
	assert_string_equal(record_text(&type->record, label[1].name), "low");
	assert_int_equal(label[1].lower, 1);
	assert_int_equal(label[1].upper, 9);
	label = source_probe_labels(type) + sign->first_label;
	assert_int_equal(sign->n_labels, 2);
	assert_string_equal(record_text(&type->record, label[0].name), "minus");
	assert_int_equal((int64_t)label[0].lower, -5);
	assert_int_equal((int64_t)label[0].upper, -1);
}

static void check_kinds(const struct source_probe *probe, const struct seen *seen)
{
#define UINT(name) slot(probe, seen, name, FIELD_UINT, SCOPE_PAYLOAD)
#define INT(name)  (int64_t) slot(probe, seen, name, FIELD_INT, SCOPE_PAYLOAD)
	assert_int_equal(UINT("a8"), 0xff);
	assert_int_equal(INT("b8"), INT8_MIN);
	assert_int_equal(UINT("a16"), 0xfffe);
	assert_int_equal(INT("b16"), INT16_MIN);
	assert_int_equal(UINT("a32"), 0xfffffffd);
	assert_int_equal(INT("b32"), INT32_MIN);
	assert_int_equal(UINT("a64"), UINT64_MAX - 3);
	assert_int_equal(INT("b64"), INT64_MIN);
	assert_int_equal(UINT("bits3"), 5);
	assert_int_equal(INT("bits5"), -3);
	assert_int_equal(UINT("hex"), 0xcafe);
	assert_int_equal(UINT("grade"), 4);
	assert_int_equal(INT("sign"), -3);
	assert_int_equal(UINT("nest.x"), 11);
	assert_int_equal(UINT("nest.deep.y"), 12);
	assert_int_equal(UINT("n"), 2);
#undef UINT
#undef INT
	assert_true(as_double(slot(probe, seen, "single", FIELD_DOUBLE, SCOPE_PAYLOAD)) == 1.5);
	assert_true(as_double(slot(probe, seen, "twice", FIELD_DOUBLE, SCOPE_PAYLOAD)) == -0.125);
	assert_int_equal(slot(probe, seen, "prio", FIELD_UINT, SCOPE_CONTEXT), 7);
	assert_int_equal(slot(probe, seen, "vpid", FIELD_INT, SCOPE_CONTEXT), 4711);
	assert_int_equal((int64_t)slot(probe, seen, "vtid", FIELD_INT, SCOPE_CONTEXT), -2);
	check_string(probe, seen, "words", "some words");
	check_string(probe, seen, "nest.deep.z", "depth");
	check_string(probe, seen, "text", "text");
	check_tree(probe, seen, "three", "[ 21u 22u 23u ] ");
	check_tree(probe, seen, "many", "[ -31i 32i ] ");
	check_tree(probe, seen, "choice", "< 'word' 'chosen' > ");
	check_tree(probe, seen, "pairs", "[ { 'k' 41u 'v' 'v1' } { 'k' 42u 'v' '' } ] ");
	assert_int_equal(source_probe_fields(probe->types[seen->kinds->type])
					 [source_probe_field(probe, seen->kinds->type, "hex")]
							 .base,
			16);
}

static void check_made_trace(bool big_endian)
{
	static const uint64_t ticks[] = {1, 3, 2, 4, 5, 6},
			      times[] = {100, 150, 200, 200, 200, 400};
	static const uint32_t cpus[] = {0, 1, 0, 1, 1, 0};
	struct trace_maker maker;
	struct seen seen = {0};
	struct source_probe probe = {.on_record = note, .user = &seen};

	trace_maker_init(&maker, big_endian);
	trace_maker_all_kinds(&maker);
	source_probe_read(&probe, maker.directory);
	if (probe.broken || !probe.ended) {
		fail_msg("%s: %s %s", maker.directory, probe.why, probe.text);
	}
	assert_int_equal(probe.n_events, 7);
	assert_int_equal(seen.n_ticks, 6);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(seen.ticks[i], ticks[i]);
		assert_int_equal(seen.times[i], BASE_NS + times[i]);
		assert_int_equal(seen.cpus[i], cpus[i]);
	}
	assert_int_equal(seen.kinds->ts_ns, BASE_NS + 300);
	check_kinds(&probe, &seen);
	check_labels(&probe, &seen);
	/* All classes are known before the first event, also those that never happen. */
	assert_int_equal(seen.types_at_first_event, 3);
	assert_int_equal(probe.lost_events, 7);
	assert_int_equal(seen.loss_begin, BASE_NS + 300);
	assert_int_equal(seen.loss_end, BASE_NS + 500);
	assert_int_equal(seen.loss_after, 6);
	assert_string_equal(
			record_text(&probe.streams[0]->record, probe.streams[0]->host), "maker");
	assert_string_equal(
			record_text(&probe.streams[0]->record, probe.streams[0]->session), "made");
	assert_string_equal(record_text(&probe.streams[0]->record, probe.streams[0]->channel),
			"chan_nel");
	assert_int_equal(probe.streams[0]->clock_uuid[0], 0x11);
	assert_int_equal(probe.streams[0]->clock_offset_ns, BASE_NS);
	free(seen.kinds);
	assert_int_equal(source_probe_stop(&probe), 0);
	trace_maker_release(&maker);
}

static void test_little_endian(void **state)
{
	(void)state;
	check_made_trace(false);
}

static void test_big_endian(void **state)
{
	(void)state;
	check_made_trace(true);
}

/* What is beyond a bound is cut or left out as the bound says, and nothing else suffers. */
static void test_bounds_hold(void **state)
{
	struct trace_maker maker;
	struct seen seen = {0};
	struct source_probe probe = {.on_record = note, .user = &seen};
	const struct record_type *type;
	const struct record_field *grade;
	uint32_t length;

	(void)state;
	trace_maker_init(&maker, false);
	trace_maker_large(&maker);
	source_probe_read(&probe, maker.directory);
	if (probe.broken || !probe.ended) {
		fail_msg("%s: %s %s", maker.directory, probe.why, probe.text);
	}
	assert_int_equal(probe.n_events, 2);
	assert_int_equal(seen.n_ticks, 1);
	assert_int_equal(seen.ticks[0], 9);
	type = probe.types[seen.kinds->type];
	assert_int_equal(type->n_fields, EVENT_MAX_FIELDS);
	/* words, n, many, grade, 300 numbers, then vpid and vtid. */
	assert_int_equal(type->left_out, 4 + LARGE_FIELDS + 2 - EVENT_MAX_FIELDS);
	grade = &source_probe_fields(type)[source_probe_field(&probe, type->type, "grade")];
	assert_int_equal(grade->n_labels, 8192);
	assert_int_equal(slot(&probe, &seen, "grade", FIELD_UINT, SCOPE_PAYLOAD), 77);
	assert_int_equal(slot(&probe, &seen, "f200", FIELD_UINT, SCOPE_PAYLOAD), 200);
	assert_int_equal(slot(&probe, &seen, "many", FIELD_TREE, SCOPE_PAYLOAD), EVENT_ABSENT);
	assert_non_null(bytes_of(&probe, &seen, "words", FIELD_STRING, &length));
	assert_in_range(length, EVENT_MAX_BYTES - 4096, EVENT_MAX_BYTES);
	assert_in_range(seen.kinds->bytes, 0, EVENT_MAX_BYTES);
	free(seen.kinds);
	assert_int_equal(source_probe_stop(&probe), 0);
	trace_maker_release(&maker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_little_endian),
			cmocka_unit_test(test_big_endian),
			cmocka_unit_test(test_bounds_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
