/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text on the canvas, numbers as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "canvas.h"
#include "format.h"

static int set_up(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

/* The line as drawn within `width` columns of a canvas of 40. */
static const char *drawn(const char *text, int width, bool ascii)
{
	static char line[1024];
	struct canvas canvas;
	size_t used = 0;
	int x;

	canvas_init(&canvas, ascii);
	assert_true(canvas_resize(&canvas, 1, 40));
	canvas_text(&canvas, 0, 0, width, ROLE_TEXT, text);
	for (x = 0; x < 40; x++) {
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s",
				canvas_at(&canvas, 0, x)->glyph);
	}
	while (used > 0 && line[used - 1] == ' ') {
		line[--used] = '\0';
	}
	canvas_release(&canvas);
	return line;
}

static void nothing_hostile_is_drawn(void **state)
{
	(void)state;
	assert_string_equal(drawn("\x1b[31mred\x07", 40, false), "\\x1b[31mred\\x07");
	assert_string_equal(drawn("a\nb\tc", 40, false), "a\\nb\\tc");
	assert_string_equal(drawn("\xc2\x9b"
				  "31m",
					    40, false),
			"\\x9b31m");
	assert_string_equal(drawn("\xff\xc3(", 40, false), "\\xff\\xc3(");
	assert_string_equal(drawn("a\xe2\x80\xae"
				  "b",
					    40, false),
			"a\\u{202e}b");
	assert_string_equal(drawn("zero\xe2\x80\x8bwidth", 40, false), "zero\\u{200b}width");
	assert_string_equal(drawn("\xd8\x9c", 40, false), "\\u{061c}");
	assert_string_equal(drawn("\xcc\x81 first", 40, false), "\\u{0301} first");
	assert_string_equal(drawn("e\xcc\x81", 40, false), "e\xcc\x81");
	assert_string_equal(drawn("\xf4\x90\x80\x80", 40, false), "\\xf4\\x90\\x80\\x80");
	assert_string_equal(drawn("\xed\xa0\x80", 40, false), "\\xed\\xa0\\x80");
}

static void ascii_stays_ascii(void **state)
{
	(void)state;
	assert_string_equal(drawn("api›sched", 40, true), "api>sched");
	assert_string_equal(drawn("a long text", 6, true), "a lo..");
	assert_string_equal(drawn("\xc3\xa9", 40, true), "\\u{00e9}");
	assert_string_equal(drawn("e\xcc\x81", 40, true), "e\\u{0301}");
}

static void text_is_cut_at_characters(void **state)
{
	(void)state;
	assert_string_equal(drawn("fits", 4, false), "fits");
	assert_string_equal(drawn("fits not", 4, false), "fit…");
	assert_string_equal(drawn("漢字漢字", 8, false), "漢字漢字");
	/* The third wide character has room for its left half only. */
	assert_string_equal(drawn("漢字漢字", 6, false), "漢字…");
	assert_string_equal(drawn("漢字漢字", 7, false), "漢字漢…");
	assert_string_equal(drawn("x", 0, false), "");
	assert_string_equal(drawn("\x1b\x1b", 6, false), "\\x1b…");
}

static void halves_of_wide_characters_never_stay(void **state)
{
	struct canvas canvas;

	(void)state;
	canvas_init(&canvas, false);
	assert_true(canvas_resize(&canvas, 1, 8));
	canvas_text(&canvas, 0, 0, 8, ROLE_TEXT, "漢字");
	canvas_text(&canvas, 0, 1, 1, ROLE_TEXT, "x");
	assert_string_equal(canvas_at(&canvas, 0, 0)->glyph, " ");
	assert_string_equal(canvas_at(&canvas, 0, 1)->glyph, "x");
	canvas_text(&canvas, 0, 2, 1, ROLE_TEXT, "y");
	assert_string_equal(canvas_at(&canvas, 0, 3)->glyph, " ");
	assert_int_equal(canvas_at(&canvas, 0, 3)->width, 1);
	canvas_text(&canvas, 0, 7, 2, ROLE_TEXT, "漢");
	assert_string_equal(canvas_at(&canvas, 0, 7)->glyph, " ");
	assert_null(canvas_at(&canvas, 0, 8));
	assert_null(canvas_at(&canvas, -1, 0));
	canvas_release(&canvas);
}

static void durations(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} cases[] = {{0, "0ns"}, {950, "950ns"}, {999.4, "999ns"}, {999.6, "1.00us"},
			{12300, "12.3us"}, {999600, "1.00ms"}, {80e6, "80.0ms"}, {412e6, "412ms"},
			{9.994e6, "9.99ms"}, {9.996e6, "10.0ms"}, {99.96e6, "100ms"},
			{2.1e9, "2.10s"}, {999e9, "999s"}, {1800e9, "0.50h"}, {7.2e15, "83.3d"},
			{-412000, "-412us"}, {INFINITY, "-"}, {NAN, "-"}};
	char out[FORMAT_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(format_duration(out, cases[i].ns), cases[i].text);
	}
	assert_string_equal(format_period(out, 250e6), "250ms");
	assert_string_equal(format_period(out, 3670 * 86400e9), "3670d");
	assert_string_equal(format_period(out, 10e9), "10s");
	assert_string_equal(format_period(out, -1), "-");
}

static void counts_rates_shares(void **state)
{
	char out[FORMAT_BYTES];

	(void)state;
	assert_string_equal(format_count(out, 0), "0");
	assert_string_equal(format_count(out, 9999), "9999");
	assert_string_equal(format_count(out, 41234), "41.2k");
	assert_string_equal(format_count(out, 999600), "1.00M");
	assert_string_equal(format_count(out, UINT64_MAX), "18.4E");
	assert_string_equal(format_rate(out, 0), "0/s");
	assert_string_equal(format_rate(out, 0.25), "0.25/s");
	assert_string_equal(format_rate(out, 9.3), "9.3/s");
	assert_string_equal(format_rate(out, 108.4), "108/s");
	assert_string_equal(format_rate(out, 999.6), "1.0k/s");
	assert_string_equal(format_rate(out, 41234), "41k/s");
	assert_string_equal(format_rate(out, NAN), "-");
	assert_string_equal(format_share(out, 0.71), "71%");
	assert_string_equal(format_share(out, 0.004), "<1%");
	assert_string_equal(format_share(out, 0), "0%");
	assert_string_equal(format_ratio(out, 0.914), "0.91");
	assert_string_equal(format_ratio(out, 123.4), "123");
	assert_string_equal(format_clock(out, 1700000000345000000u), "22:13:20.345");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(nothing_hostile_is_drawn),
			cmocka_unit_test(ascii_stays_ascii),
			cmocka_unit_test(text_is_cut_at_characters),
			cmocka_unit_test(halves_of_wide_characters_never_stay),
			cmocka_unit_test(durations),
			cmocka_unit_test(counts_rates_shares),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
