/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What widgets compute from what they are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <string.h>

#include "explain_text.h"
#include "views/view.h"
#include "widgets/bar.h"
#include "widgets/heat.h"
#include "widgets/outline.h"
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

#define LARGE (2 * OUTLINE_CHOICES + 201)

/* A tree for outlines: each row's parent, and a number to sort by. */
struct plain_tree {
	uint32_t parents[LARGE];
	int numbers[LARGE];
};

static uint32_t plain_parent(const void *data, uint32_t row)
{
	return ((const struct plain_tree *)data)->parents[row];
}

static uint64_t plain_key(const void *data, uint32_t row, uint64_t parent)
{
	(void)data;
	return parent * 1000 + row + 1;
}

static int by_number(const void *data, uint32_t a, uint32_t b)
{
	const int *numbers = ((const struct plain_tree *)data)->numbers;

	return (numbers[a] < numbers[b]) - (numbers[a] > numbers[b]);
}

static const struct outline_source plain = {plain_parent, plain_key};

static void assert_lines(const struct outline *outline, const uint32_t *rows, uint32_t n)
{
	uint32_t i;

	assert_int_equal(outline->lines, n);
	for (i = 0; i < n; i++) {
		assert_int_equal(outline->line[i].row, rows[i]);
		assert_int_equal(outline->line[i].key, outline_key(outline, rows[i]));
	}
}

/* The line a row is in, or UINT32_MAX. */
static uint32_t line_of(const struct outline *outline, uint32_t row)
{
	uint32_t i = 0;

	while (i < outline->lines && outline->line[i].row != row) {
		i++;
	}
	return i < outline->lines ? i : UINT32_MAX;
}

/* Siblings are sorted, children stay below their parent; what is folded stays so. */
static void outlines(void **state)
{
	static const struct plain_tree tree = {.parents = {UINT32_MAX, 0, 1, 0, 3, 3, UINT32_MAX},
			.numbers = {1, 10, 5, 20, 3, 3, 2}};
	struct outline outline;

	(void)state;
	outline_init(&outline, &plain);
	outline_update(&outline, &tree, 7, NULL, false);
	assert_lines(&outline, (uint32_t[]){0, 1, 2, 3, 4, 5, 6}, 7);
	outline_update(&outline, &tree, 7, by_number, false);
	assert_lines(&outline, (uint32_t[]){6, 0, 3, 4, 5, 1, 2}, 7);
	assert_false(outline_fold(&outline, 3, true)); /* a leaf */
	assert_true(outline_fold(&outline, 2, true));
	outline_update(&outline, &tree, 7, by_number, false);
	assert_lines(&outline, (uint32_t[]){6, 0, 3, 1, 2}, 5);
	assert_false(outline_fold(&outline, 2, true)); /* is so already */
	assert_true(outline_is_parent(&outline, 3));
	assert_false(outline_is_parent(&outline, 2));
	assert_int_equal(line_of(&outline, 1), 3);
	assert_int_equal(line_of(&outline, 5), UINT32_MAX);
	outline_update(&outline, &tree, 7, NULL, true); /* as for a filter */
	assert_lines(&outline, (uint32_t[]){0, 1, 2, 3, 4, 5, 6}, 7);
	outline_update(&outline, &tree, 4, NULL, false); /* fewer rows: folds are by name */
	assert_lines(&outline, (uint32_t[]){0, 1, 2, 3}, 4);
	outline_update(&outline, &tree, 7, NULL, false);
	outline_reveal(&outline, 5);
	outline_update(&outline, &tree, 7, NULL, false);
	assert_lines(&outline, (uint32_t[]){0, 1, 2, 3, 4, 5, 6}, 7);
	outline_release(&outline);
}

/* A large tree begins folded below what has room; the last folds of many are remembered. */
static void large_outlines(void **state)
{
	enum { PARENTS = LARGE / 2 };
	static struct plain_tree tree;
	struct outline outline;
	uint32_t i;

	(void)state;
	tree.parents[0] = UINT32_MAX;
	for (i = 1; i < LARGE; i++) {
		tree.parents[i] = i <= PARENTS ? 0 : i - PARENTS;
	}
	outline_init(&outline, &plain);
	outline_update(&outline, &tree, LARGE, NULL, false);
	assert_int_equal(outline.lines, 1 + PARENTS);
	for (i = 1; i <= PARENTS; i++) {
		assert_true(outline_fold(&outline, line_of(&outline, i), false));
		outline_update(&outline, &tree, LARGE, NULL, false);
	}
	assert_int_equal(outline.lines, 1 + PARENTS + OUTLINE_CHOICES);
	assert_false(outline.line[line_of(&outline, 1)].open);
	assert_true(outline.line[line_of(&outline, PARENTS)].open);
	outline_release(&outline);
}

/* The pieces of the critical path are found by span, wherever they come in time. */
static void critical_path(void **state)
{
	static const struct request_span spans[] = {
			{.name = "root", .parent = UINT32_MAX, .duration_ns = 100, .path_ns = 30},
			{.name = "a", .parent = 0, .duration_ns = 90, .path_ns = 0},
			{.name = "b", .parent = 0, .duration_ns = 70, .path_ns = 70},
	};
	static const struct request_piece pieces[] = {
			{0, 0, 10, ""}, {2, 10, 40, ""}, {0, 40, 60, "(wait)"}, {2, 60, 100, ""}};
	struct request_view request = {.id = 7,
			.duration_ns = 100,
			.n_spans = 3,
			.spans = spans,
			.n_pieces = 4,
			.pieces = pieces};
	struct waterfall waterfall = {.n = 0};
	struct canvas canvas;
	const struct area line = {0, 0, 1, 10};
	/* Off the path, and with nothing below, the root is grey at its end. */
	static const char *const drawn[] = {"█", "░", "░", "░", "═", "═", "░", "░", "░", "▒"};
	int x;

	(void)state;
	waterfall_update(&waterfall, &request);
	assert_true(waterfall_has_path(&waterfall));
	assert_int_equal(waterfall.first_piece[1], 2);
	assert_int_equal(waterfall.first_piece[2], 2);
	assert_int_equal(waterfall.pieces[waterfall.first_piece[2] + 1], 3);
	assert_int_equal(waterfall_worst(&waterfall), 2); /* though "a" is longer */
	canvas_init(&canvas, false);
	assert_true(canvas_resize(&canvas, 1, 10));
	waterfall_draw(&waterfall, 0, &canvas, line);
	for (x = 0; x < 10; x++) {
		assert_string_equal(canvas_at(&canvas, 0, x)->glyph, drawn[x]);
		assert_int_equal(canvas_at(&canvas, 0, x)->role == ROLE_CRITICAL,
				x == 0 || x == 4 || x == 5);
	}
	canvas_release(&canvas);
	request.n_pieces = 0;
	waterfall_update(&waterfall, &request);
	assert_false(waterfall_has_path(&waterfall));
	assert_int_equal(waterfall_worst(&waterfall), 1); /* by self time */
	waterfall_release(&waterfall);
}

/* Bins over any width: columns of the same width each, or put together, and none is lost. */
static void strips(void **state)
{
	static const struct {
		int width;
		const char *shown;
	} cases[] = {{4, "█ ▄▁"}, {8, "██  ▄▄▁▁"}, {2, "█▅"}, {1, "█"}, {0, ""}};
	static const uint32_t bins[] = {100, 0, 50, 1};
	struct canvas canvas;
	char shown[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		canvas_init(&canvas, false);
		assert_true(canvas_resize(&canvas, 1, 10));
		canvas_clear(&canvas);
		bar_strip(&canvas, 0, 0, cases[i].width, bins, 4);
		shown[0] = '\0';
		for (int x = 0; x < cases[i].width; x++) {
			strcat(shown, canvas_at(&canvas, 0, x)->glyph);
		}
		assert_string_equal(shown, cases[i].shown);
		canvas_release(&canvas);
	}
}

/* What names differ by is at either end, and no character is cut in half. */
static void the_middle_gives_way(void **state)
{
	static const struct {
		const char *text, *shown;
		int width;
		bool ascii;
	} cases[] = {{"compute", "compute", 7, false}, {"compute-17", "comp…-17", 8, false},
			{"compute-17", "com..-17", 8, true},
			{"漢字漢字漢字", "漢字…漢字", 9, false},
			{"漢字漢字漢字", "漢字…字", 8, false}, {"abc", "a…", 2, false}};
	struct canvas canvas;
	char shown[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int used;

		canvas_init(&canvas, cases[i].ascii);
		assert_true(canvas_resize(&canvas, 1, 20));
		canvas_clear(&canvas);
		used = canvas_text_middle(&canvas, 0, 0, cases[i].width, ROLE_TEXT, cases[i].text);
		shown[0] = '\0';
		for (int x = 0; x < used; x++) {
			strcat(shown, canvas_at(&canvas, 0, x)->glyph);
		}
		assert_string_equal(shown, cases[i].shown);
		assert_true(used <= cases[i].width);
		canvas_release(&canvas);
	}
}

/* Groups that visit the same services are told apart by what they add: by that even where it is
 * narrow. */
static void groups_are_told_apart(void **state)
{
	static const struct {
		const char *path, *shown;
	} cases[] = {
			{"api›sched›compute›net", "server create …compute›net"},
			{"api›sched›compute›net›vol +call_vol_attach",
					"server create …+call_v…attach"},
			{"api›sched›compute›net›vol +call_vol_attach+serve_attach",
					"server create …+serve_attach"},
			{"api›vol +x", "server create api›vol +x"},
			{"", "server create"},
	};
	struct canvas canvas;
	char shown[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int used;

		canvas_init(&canvas, false);
		assert_true(canvas_resize(&canvas, 1, 40));
		canvas_clear(&canvas);
		used = view_draw_group(&canvas, 0, 0, 29, "server create", cases[i].path);
		shown[0] = '\0';
		for (int x = 0; x < used; x++) {
			strcat(shown, canvas_at(&canvas, 0, x)->glyph);
		}
		assert_string_equal(shown, cases[i].shown);
		canvas_release(&canvas);
	}
}

static void explanations_in_words(void **state)
{
	static const struct explained_value values[] = {
			{.text = "0", .p50_ns = 400000000}, {.text = "1", .p50_ns = 1200000000}};
	static const struct explained_value many[] = {{.text = "a", .p50_ns = 1},
			{.text = "b", .p50_ns = 2}, {.text = "c", .p50_ns = 3},
			{.text = "d", .p50_ns = 4}, {.text = "e", .p50_ns = 5}};
	struct explained_key key = {.name = "queue_len",
			.omega2 = 0.5,
			.omega2_held = 0.92,
			.p = 0.0039840637,
			.shifts = 250,
			.confirmed = true};
	struct explanation made = {.state = EXPLANATION_DONE,
			.n = 300,
			.n_held = 299,
			.n_keys = 1,
			.keys = &key,
			.n_values = 2,
			.values = values};
	char text[256];

	(void)state;
	explain_sentence(text, sizeof(text), NULL);
	assert_string_equal(text, "");
	explain_sentence(text, sizeof(text), &made);
	assert_string_equal(text, "explained by queue_len: 0 -> 400ms, 1 -> 1.20s");
	explain_evidence(text, sizeof(text), &made);
	assert_string_equal(text, "92% held out, n 300+299, p <= 0.004"); /* 1/251, rounded up */
	made.n_values = 5;
	made.values = many;
	explain_sentence(text, sizeof(text), &made);
	assert_string_equal(text, "explained by queue_len: a -> 1ns, b -> 2ns, …, e -> 5ns");
	key.omega2_held = 0.4;
	explain_head(text, sizeof(text), &made);
	assert_string_equal(text, "40% of it explained by queue_len");
	key.confirmed = false;
	key.p = 0.231;
	explain_head(text, sizeof(text), &made);
	assert_string_equal(
			text, "no variable explains it; queue_len goes with 50% of it (p <= 0.24)");
	key.p = 0.91;
	explain_head(text, sizeof(text), &made);
	assert_string_equal(text, "no variable explains it");
	key.p = 0.231;
	key.omega2 = 0.004;
	explain_head(text, sizeof(text), &made);
	assert_string_equal(text, "no variable explains it");
	key.shifts = 0;
	explain_p(text, sizeof(text), &key);
	assert_string_equal(text, "p -");
	made.n_keys = 0;
	explain_head(text, sizeof(text), &made);
	assert_string_equal(text, "no variable explains it: no key is left to look at");
	made = (struct explanation){.state = EXPLANATION_FEW, .missing = 7};
	explain_head(text, sizeof(text), &made);
	assert_string_equal(text, "a variable can be looked for after 7 more requests");
	made.missing = 0;
	explain_head(text, sizeof(text), &made);
	assert_string_equal(text, "no variable: no value of the requests varies");
	made = (struct explanation){.state = EXPLANATION_RUNNING, .progress = 0.4};
	explain_head(text, sizeof(text), &made);
	assert_string_equal(text, "a variable that explains it is being looked for: 40%");
	explain_tail(text, sizeof(text), 0);
	assert_string_equal(text, "p < 1e-09");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(strips),
			cmocka_unit_test(the_middle_gives_way),
			cmocka_unit_test(groups_are_told_apart),
			cmocka_unit_test(explanations_in_words),
			cmocka_unit_test(self_time),
			cmocka_unit_test(critical_path),
			cmocka_unit_test(outlines),
			cmocka_unit_test(large_outlines),
			cmocka_unit_test(folding),
			cmocka_unit_test(shares),
			cmocka_unit_test(heat_cells),
			cmocka_unit_test(paragraphs),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
