/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What widgets compute from what they are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <string.h>

#include "widgets/bar.h"
#include "widgets/heat.h"
#include "widgets/paragraph.h"
#include "widgets/waterfall.h"

static int set_up(void **state)
{
	(void)state;
	return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

/* Children may overlap each other, outlive their parent, and begin before it. */
static void self_time(void **state)
{
	static const struct request_span spans[] = {
			{.name = "root", .parent = UINT32_MAX, .start_ns = 0, .duration_ns = 100},
			{.name = "a", .parent = 0, .start_ns = -10, .duration_ns = 30},
			{.name = "b", .parent = 0, .start_ns = 10, .duration_ns = 30},
			{.name = "inside b", .parent = 2, .start_ns = 15, .duration_ns = 5},
			{.name = "c", .parent = 0, .start_ns = 90, .duration_ns = 50},
			{.name = "point", .parent = 0, .start_ns = 95, .flags = REQUEST_SPAN_POINT},
	};
	const struct request_view request = {
			.id = 7, .duration_ns = 100, .n_spans = 6, .spans = spans};
	struct waterfall waterfall = {.n = 0};

	(void)state;
	waterfall_update(&waterfall, &request);
	assert_int_equal(waterfall.self_ns[0], 100 - 40 - 10);
	assert_int_equal(waterfall.self_ns[1], 30);
	assert_int_equal(waterfall.self_ns[2], 25);
	assert_int_equal(waterfall.children[0], 4);
	assert_int_equal(waterfall.start_ns, -10);
	assert_int_equal(waterfall.end_ns, 140);
	assert_int_equal(waterfall_worst(&waterfall), 0);
	waterfall_release(&waterfall);
}

static void folding(void **state)
{
	static const struct request_span spans[] = {
			{.name = "root", .parent = UINT32_MAX, .duration_ns = 9},
			{.name = "a", .parent = 0, .duration_ns = 9},
			{.name = "b", .parent = 1, .duration_ns = 9},
	};
	struct request_view request = {.id = 7, .duration_ns = 9, .n_spans = 3, .spans = spans};
	struct waterfall waterfall = {.n = 0};

	(void)state;
	waterfall_update(&waterfall, &request);
	assert_false(waterfall_fold(&waterfall, 2, true));
	assert_true(waterfall_fold(&waterfall, 0, true));
	assert_true(waterfall.hidden[1]);
	assert_true(waterfall.hidden[2]);
	waterfall_update(&waterfall, &request); /* the same request, again */
	assert_true(waterfall.hidden[2]);
	request.id = 8;
	waterfall_update(&waterfall, &request);
	assert_false(waterfall.hidden[1]);
	waterfall_release(&waterfall);
}

static void bar_of(double share, char out[64])
{
	struct canvas canvas;
	int x;

	canvas_init(&canvas, false);
	assert_true(canvas_resize(&canvas, 1, 4));
	bar_share(&canvas, 0, 0, 4, share);
	out[0] = '\0';
	for (x = 0; x < 4; x++) {
		strcat(out, canvas_at(&canvas, 0, x)->glyph);
	}
	canvas_release(&canvas);
}

static void shares(void **state)
{
	char bar[64];

	(void)state;
	bar_of(0, bar);
	assert_string_equal(bar, "    ");
	bar_of(0.01, bar);
	assert_string_equal(bar, "░   ");
	bar_of(0.14, bar);
	assert_string_equal(bar, "▓   ");
	bar_of(0.71, bar);
	assert_string_equal(bar, "███ ");
	bar_of(1, bar);
	assert_string_equal(bar, "████");
	bar_of(7, bar); /* nothing is written beyond the width */
	assert_string_equal(bar, "████");
}

#define COLS 8
#define ROWS 16

/* The cursor names the cells it stands for, and stays on its instant while the window moves. */
static void heat_cells(void **state)
{
	static uint32_t counts[ROWS * COLS];
	static uint64_t requests[ROWS * COLS];
	struct group_view group = {.id = 1,
			.heat_start_ns = 1000,
			.heat_cell_ns = 100,
			.heat_cols = COLS,
			.heat_rows = ROWS,
			.heat_low = 80,
			.heat = counts,
			.heat_request = requests};
	struct heat heat = {.lines = 0};
	struct heat_cell cell;

	(void)state;
	heat_update(&heat, &group);
	heat_arrange(&heat, 8, 60);
	assert_false(heat_cursor(&heat, &cell)); /* nothing in it */
	assert_false(heat_act(&heat, ACTION_UP));
	counts[0 * COLS + 2] = 5;
	counts[15 * COLS + 6] = 3;
	requests[0 * COLS + 2] = 41;
	requests[15 * COLS + 6] = 42;
	assert_int_equal(heat_arrange(&heat, 8, 60), 8);
	assert_int_equal(heat.per_line, 2);
	assert_true(heat_act(&heat, ACTION_WORST));
	assert_true(heat_cursor(&heat, &cell));
	assert_int_equal(cell.count, 3);
	assert_int_equal(cell.request, 42);
	assert_int_equal(cell.start_ns, 1600);
	assert_true(cell.low_ns < cell.high_ns);
	group.heat_start_ns += 100; /* the window moves on by a column */
	memmove(counts, counts + 1, sizeof(counts) - sizeof(counts[0]));
	memmove(requests, requests + 1, sizeof(requests) - sizeof(requests[0]));
	assert_true(heat_cursor(&heat, &cell));
	assert_int_equal(cell.request, 42);
	assert_true(heat_act(&heat, ACTION_PAGE_DOWN));
	assert_true(heat_act(&heat, ACTION_FIRST));
	assert_true(heat_act(&heat, ACTION_RIGHT));
	assert_true(heat_cursor(&heat, &cell));
	assert_int_equal(cell.request, 41);
	assert_int_equal(cell.count, 5);
}

static void paragraphs(void **state)
{
	const struct area area = {0, 0, 3, 10};
	struct canvas canvas;

	(void)state;
	canvas_init(&canvas, false);
	assert_true(canvas_resize(&canvas, 3, 10));
	assert_int_equal(paragraph_line("two words here", false, 10), 9);
	assert_int_equal(paragraph_line("unbreakable", false, 4), 4);
	assert_int_equal(paragraph_draw(&canvas, area, ROLE_TEXT, "two words here"), 2);
	assert_int_equal(paragraph_draw(&canvas, area, ROLE_TEXT,
					 "one two three four five six seven"),
			3);
	assert_string_equal(canvas_at(&canvas, 2, 9)->glyph, "…");
	assert_int_equal(paragraph_draw(&canvas, area, ROLE_TEXT, ""), 0);
	canvas_release(&canvas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(self_time),
			cmocka_unit_test(folding),
			cmocka_unit_test(shares),
			cmocka_unit_test(heat_cells),
			cmocka_unit_test(paragraphs),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
