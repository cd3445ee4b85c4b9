/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What of the host pythiatop-probe records, as far as it needs no kernel: filters of kernel events
 * against evaluating their text, for random ones; and events of functions, from records whole and cut
 * short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/filter.h"
#include "probe/function_type.h"

/* --- Filters ---------------------------------------------------------------------------------- */

#define TERMS 40
#define TIDS  60 /* few enough that some match */

static uint32_t seed;

static uint32_t any(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

struct term {
	uint32_t field, tid;
};

static const char *const fields[] = {"prev_tid", "next_tid"};

/* As a person may write it: with blanks here and there. */
static void write_filter(const struct term *terms, uint32_t n, char *text, size_t size)
{
	size_t used = 0;

	for (uint32_t i = 0; i < n; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s%s%s==%s%u%s",
				i ? "||" : "", any(2) ? " " : "", fields[terms[i].field],
				any(2) ? " " : "", terms[i].tid, any(2) ? " " : "");
	}
}

static bool holds(const struct term *terms, uint32_t n, const uint32_t tids[2])
{
	for (uint32_t i = 0; i < n; i++) {
		if (tids[terms[i].field] == terms[i].tid) {
			return true;
		}
	}
	return false;
}

/* What the BPF program asks its map. */
static bool is_chosen(const uint64_t *keys, uint32_t n, uint32_t event, const uint32_t tids[2])
{
	for (uint32_t i = 0; i < n; i++) {
		if (keys[i] == ((uint64_t)(event * 2) << 32 | tids[0]) ||
				keys[i] == ((uint64_t)(event * 2 + 1) << 32 | tids[1])) {
			return true;
		}
	}
	return false;
}

static void filters_are_what_they_say(void **state)
{
	static uint64_t keys[FILTER_KEYS];
	const uint32_t event = filter_event("sched_switch");
	uint32_t n_held = 0;

	(void)state;
	seed = 17;
	for (int round = 0; round < 1000; round++) {
		struct term terms[TERMS];
		uint32_t n_terms = 1 + any(TERMS), n;
		char text[TERMS * 40];

		for (uint32_t i = 0; i < n_terms; i++) {
			terms[i] = (struct term){any(2), any(TIDS)};
		}
		write_filter(terms, n_terms, text, sizeof(text));
		assert_null(filter_parse(event, text, keys, &n));
		assert_int_equal(n, n_terms);
		for (int i = 0; i < 200; i++) {
			const uint32_t tids[2] = {any(TIDS), any(TIDS)};
			bool expected = holds(terms, n_terms, tids);

			n_held += expected;
			assert_int_equal(is_chosen(keys, n, event, tids), expected);
			/* Another event's filter is another one. */
			assert_false(is_chosen(keys, n, event + 1, tids));
		}
	}
	assert_in_range(n_held, 20000, 190000); /* neither all nor nothing */
}

static void other_filters_are_refused(void **state)
{
	static const char *const wrong[] = {"", " ", "prev_tid", "prev_tid ==", "prev_tid == x",
			"prev_tid != 3", "prev_tid == 3 &&", "prev_tid == 3 ||",
			"prev_tid == 3 && next_tid == 4", "tid == 3", "prev_prio == 3",
			"prev_tid == 99999999999999999999", "prev_tid == -1", "(prev_tid == 1)"};
	static uint64_t keys[FILTER_KEYS];
	static char many[FILTER_KEYS * 20];
	const uint32_t event = filter_event("sched_switch");
	size_t used = 0;
	uint32_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (!filter_parse(event, wrong[i], keys, &n)) {
			fail_msg("taken: %s", wrong[i]);
		}
	}
	for (uint32_t i = 0; i < FILTER_KEYS; i++) {
		used += (size_t)snprintf(many + used, sizeof(many) - used, "%sprev_tid == 1",
				i ? "||" : "");
	}
	assert_null(filter_parse(event, many, keys, &n));
	snprintf(many + used, sizeof(many) - used, "||prev_tid == 1");
	assert_non_null(filter_parse(event, many, keys, &n));
	assert_int_equal(filter_event("sched_nothing"), PROBE_TYPED);
	/* An event that names no thread has no filter. */
	assert_non_null(filter_parse(filter_event("irq_handler_entry"), "tid == 1", keys, &n));
}

/* --- Functions -------------------------------------------------------------------------------- */

struct record {
	struct probe_head head;
	struct body_function body;
	uint64_t registers[PROBE_ARGUMENTS];
	char text[PROBE_STRING];
};

static void payloads_are_cut_to_their_types(void **state)
{
	const struct binary_arguments arguments = {.known = true,
			.n = 4,
			.list = {{"a", BINARY_SIGNED, 2, 0}, {"b", BINARY_UNSIGNED, 1, 2},
					{"t", BINARY_TEXT, 8, 3}, {"p", BINARY_POINTER, 8, 5}},
			.returns = true,
			.result = {"", BINARY_SIGNED, 4, 0}};
	struct record record = {.body = {.vpid = 11, .vtid = 12, .pid_ns = 13, .comm = "name"},
			.registers = {0xabcd1234fffffff0u, 1, 0xffffff07u, 2, 3, 0xfedcba9876543210u},
			.text = "text"};
	struct function_types types = {.n = 0};
	unsigned char out[FUNCTION_ROOM];
	const size_t contexts = 3 * 4 + PROBE_COMM;
	uint32_t number;
	int64_t value;
	uint64_t bits;
	size_t n;

	(void)state;
	assert_int_equal(function_types_add(&types, "p", "f", &arguments, &number), STATUS_OK);
	assert_int_equal(function_type_bits(&types.list[0]), PROBE_COOKIE_TEXT | 3 << 8);
	record.head = (struct probe_head){.event = PROBE_FUNCTION_ENTRY,
			.bytes = sizeof(record) - sizeof(record.head),
			.syscall = (int)number};
	assert_true(function_type_payload(&types, &record.head, out, &n));
	assert_int_equal(n, contexts + 8 + 8 + 5 + 8);
	memcpy(&value, out + contexts, 8);
	assert_int_equal(value, -16);
	memcpy(&bits, out + contexts + 8, 8);
	assert_int_equal(bits, 7);
	assert_string_equal((char *)out + contexts + 16, "text");
	memcpy(&bits, out + contexts + 21, 8);
	assert_true(bits == 0xfedcba9876543210u);

	/* A string without an end ends where its room does. */
	memset(record.text, 'x', sizeof(record.text));
	assert_true(function_type_payload(&types, &record.head, out, &n));
	assert_int_equal(n, contexts + 8 + 8 + PROBE_STRING + 8);
	assert_int_equal(out[contexts + 16 + PROBE_STRING - 1], 0);

	record.head.event = PROBE_FUNCTION_EXIT;
	record.head.bytes = sizeof(record.body) + 8;
	record.registers[0] = 0xfffffffeu;
	assert_true(function_type_payload(&types, &record.head, out, &n));
	memcpy(&value, out + contexts, 8);
	assert_int_equal(value, -2);
	assert_int_equal(function_type_id(&record.head), 2 * number + 1);

	/* No such type, no such event, too short. */
	record.head.syscall = 1;
	assert_false(function_type_payload(&types, &record.head, out, &n));
	record.head.syscall = -1;
	assert_false(function_type_payload(&types, &record.head, out, &n));
	record.head.syscall = 0;
	record.head.event = PROBE_SYSCALL_ENTRY;
	assert_false(function_type_payload(&types, &record.head, out, &n));
	record.head.event = PROBE_FUNCTION_ENTRY;
	record.head.bytes = sizeof(record.body) - 1;
	assert_false(function_type_payload(&types, &record.head, out, &n));
	function_types_release(&types);
}

static void names_are_those_of_events(void **state)
{
	char clean[32], tiny[4];

	(void)state;
	function_type_clean(clean, sizeof(clean), "a\033[31mb \"c\"\\:*d.e-f@g$h_i");
	assert_string_equal(clean, "a__31mb__c____d.e-f@g$h_i");
	function_type_clean(tiny, sizeof(tiny), "longer");
	assert_string_equal(tiny, "lon");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(filters_are_what_they_say),
			cmocka_unit_test(other_filters_are_refused),
			cmocka_unit_test(payloads_are_cut_to_their_types),
			cmocka_unit_test(names_are_those_of_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
