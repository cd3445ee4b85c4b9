/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instants as people write them, and the window held at one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "config/instant.h"
#include "run/hold.h"

#define SECOND UINT64_C(1000000000)
#define DAY    (86400 * SECOND)
#define FIRST  (UINT64_C(1769853600) * SECOND) /* 2026-01-31 10:00:00 UTC */

static void understood(void **state)
{
	static const struct {
		const char *text;
		enum instant_kind kind;
		uint64_t ns;
	} cases[] = {
			{"2026-01-31 10:00:06.25", INSTANT_ABSOLUTE, FIRST + 6250 * SECOND / 1000},
			{"2026-01-31T10:00:00", INSTANT_ABSOLUTE, FIRST},
			{"2024-02-29 00:00:00", INSTANT_ABSOLUTE, UINT64_C(1709164800) * SECOND},
			{"1970-01-01 00:00:00.000000001", INSTANT_ABSOLUTE, 1},
			{"10:00:06.5", INSTANT_OF_DAY, 36006 * SECOND + SECOND / 2},
			{"00:00:00", INSTANT_OF_DAY, 0},
			{"1769853600", INSTANT_ABSOLUTE, FIRST},
			{"1769853600.000000007", INSTANT_ABSOLUTE, FIRST + 7},
			{"1769853600000000007", INSTANT_ABSOLUTE, FIRST + 7},
			{"13", INSTANT_ABSOLUTE, 13 * SECOND},
			{"-3.2s", INSTANT_BACK, 3200 * SECOND / 1000},
			{"-250ms", INSTANT_BACK, SECOND / 4},
	};
	struct instant instant;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!instant_parse(cases[i].text, &instant)) {
			fail_msg("%s is not understood", cases[i].text);
		}
		assert_int_equal(instant.kind, cases[i].kind);
		assert_int_equal(instant.ns, cases[i].ns);
	}
}

static void refused(void **state)
{
	static const char *const cases[] = {"", "now", "-", "-3", "-3.2", "--3s", "10:00",
			"10:00:60", "24:00:00", "10:00:06.", "10:00:06.0000000001", "10:00:06x",
			"2026-02-30 10:00:00", "2026-13-01 10:00:00", "2026-00-01 10:00:00",
			"2026-01-31", "2026-01-31  10:00:00", "1.5.2", "1769853600.",
			"99999999999999999999", "9223372036854775808", "0x10", "+5", " 5"};
	struct instant instant;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (instant_parse(cases[i], &instant)) {
			fail_msg("%s is taken for an instant", cases[i]);
		}
	}
}

/* A time of day is of the day the trace begins, or of the next where it goes on past midnight. */
static void of_the_day(void **state)
{
	struct instant morning = {INSTANT_OF_DAY, 36006 * SECOND};
	struct instant night = {INSTANT_OF_DAY, 5 * SECOND};
	uint64_t evening = FIRST - FIRST % DAY + DAY - 10 * SECOND;

	(void)state;
	assert_int_equal(instant_resolve(&morning, FIRST), FIRST + 6 * SECOND);
	assert_int_equal(instant_resolve(&night, evening), evening + 15 * SECOND);
	assert_int_equal(instant_resolve(&morning, FIRST + 10 * SECOND), FIRST + 6 * SECOND);
}

static struct hold hold_of(const char *text, bool from_end)
{
	struct instant instant;
	struct hold hold;

	assert_true(instant_parse(text, &instant));
	hold_begin(&hold, &instant, from_end, 10 * SECOND);
	return hold;
}

/* Event time from FIRST to FIRST + 30 s, once a second, then the end. */
static void go_on(struct hold *hold, struct engine *engine)
{
	uint64_t i;

	for (i = 0; i <= 30; i++) {
		hold_see(hold, engine, FIRST + i * SECOND);
		engine_advance(engine, FIRST + i * SECOND);
	}
	hold_end(hold, engine);
}

static void held(void **state)
{
	static const struct {
		const char *text;
		bool from_end;
		enum hold_status status;
		uint64_t back_ns;
		const char *sentence;
	} cases[] = {
			{"10:00:06.5", true, HOLD_HELD, 0, ""},
			{"10:00:06", true, HOLD_HELD, 0, ""},
			{"10:00:30", true, HOLD_HELD, 0, ""},
			{"-3s", true, HOLD_HELD, 3 * SECOND, ""},
			{"-10s", true, HOLD_HELD, 10 * SECOND, ""},
			{"-3s", false, HOLD_HELD, 3 * SECOND, ""},
			{"-11s", true, HOLD_FAILED, 0, "the window is 10s; keep more by --window"},
			{"10:00:31", true, HOLD_FAILED, 0,
					"after the last event, of 2026-01-31 "
					"10:00:30.000000000 UTC"},
			{"09:59:59", true, HOLD_FAILED, 0,
					"before the first event, of 2026-01-31 "
					"10:00:00.000000000 UTC"},
	};
	char sentence[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct engine *engine = engine_create(NULL);
		struct hold hold = hold_of(cases[i].text, cases[i].from_end);

		go_on(&hold, engine);
		if (hold.status != cases[i].status) {
			fail_msg("%s: status %d", cases[i].text, (int)hold.status);
		}
		if (hold.status == HOLD_HELD) {
			assert_int_equal(hold.back_ns, cases[i].back_ns);
		} else {
			hold_sentence(&hold, sentence, sizeof(sentence));
			if (!strstr(sentence, cases[i].sentence)) {
				fail_msg("%s: %s", cases[i].text, sentence);
			}
		}
		engine_destroy(engine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(understood),
			cmocka_unit_test(refused),
			cmocka_unit_test(of_the_day),
			cmocka_unit_test(held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
