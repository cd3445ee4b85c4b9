/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report for others: no name breaks its page, each value gets a request that has it, and the
 * decisions are there whether or not there is a log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/markdown.h"
#include "output/report.h"
#include "run/decisions.h"
#include "run/exemplars.h"

#define HOSTILE "|a|`b`\x1b[2J\n# <script>[x](http://y)\xe2\x80\xae\xff**&amp;"

static void names_are_no_markdown(void **state)
{
	static const struct {
		const char *text, *escaped;
	} cases[] = {
			{"sem_acquire", "sem_acquire"},
			{"_a_ b_", "\\_a\\_ b\\_"},
			{"a|b\\|", "a\\|b\\\\\\|"},
			{"`x`", "\\`x\\`"},
			{"a\nb\x1b[0m", "a\\\\nb\\\\x1b\\[0m"},
			{"<b>&lt;", "\\<b>\\&lt;"},
			{"[a](b) ![c](d)", "\\[a\\](b) !\\[c\\](d)"},
			{"# ~~x~~ $y$ @z *w*", "\\# \\~\\~x\\~\\~ \\$y\\$ \\@z \\*w\\*"},
			{"\xc3\xa4_\xc3\xb6", "\xc3\xa4_\xc3\xb6"},
			{"\xe2\x80\xae\xff", "\\\\u{202e}\\\\xff"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t length = 0;
		FILE *out = open_memstream(&text, &length);

		assert_non_null(out);
		markdown_put(out, cases[i].text);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(text, cases[i].escaped);
		free(text);
	}
}

/* --- the page --- */

static const char *const texts[] = {HOSTILE};
static const struct explained_key keys[] = {{.name = HOSTILE,
		.where = HOSTILE,
		.numeric = true,
		.rho = 0.91,
		.omega2 = 0.94,
		.omega2_held = 0.92,
		.p = 0.0039840637,
		.shifts = 250,
		.confirmed = true,
		.n_together = 1,
		.together = texts}};
static const struct explained_value values[] = {
		{HOSTILE, 542, 0.61, 408e6, 400000000, {[2] = 540, 2}},
		{"```", 240, 0.39, 2e9, 2100000000, {[20] = 240}},
};
static const struct explained_out out_keys[] = {{HOSTILE, HOSTILE}};
static const struct explanation explanation = {.state = EXPLANATION_DONE,
		.n = 444,
		.n_held = 443,
		.n_keys = 1,
		.keys = keys,
		.n_values = 2,
		.values = values,
		.low_ns = 300000000,
		.high_ns = 3000000000,
		.n_columns = 1,
		.r2 = 0.95,
		.n_segments = 2,
		.n_out = 1,
		.out = out_keys};
static const struct steps_finding finding = {.group_id = 7,
		.type = HOSTILE,
		.path = HOSTILE,
		.rule = STOP_VARIABLE,
		.text = "waits in "
			"|a|`b` <script>",
		.where = HOSTILE,
		.phi = 0.97,
		.phi_low = 0.95,
		.phi_high = 0.99,
		.requests = 888,
		.n_steps = 2,
		.seconds = 37,
		.n_history = 1,
		.history = texts,
		.explanation = &explanation,
		.n_ruled_out = 1,
		.ruled_out = texts,
		.next = HOSTILE,
		.n_points = 3,
		.cost = {321, -1, -1}};
static const struct step_row step = {
		.id = 1, .group_id = 7, .title = HOSTILE, .why = HOSTILE, .effect = HOSTILE};
static const struct groups_mode mode = {400000000, 300000000, 900000000, 0.61};
static const struct source_row source = {.url = HOSTILE,
		.host = HOSTILE,
		.session = HOSTILE,
		.detail = "",
		.state = SOURCE_ENDED};
static const struct group_segment segment = {.name = HOSTILE, .where = HOSTILE, .phi = 0.97};
static const struct report_exemplar exemplar = {
		.request = {.id = 1, .start_ns = 1000000000, .duration_ns = 5}, .why = HOSTILE};

static char *page_of(const struct report_page *page)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	report_write_page(file, page);
	assert_false(ferror(file));
	fclose(file);
	return text;
}

/* Cells of a line of a table; 0: it is none. */
static int cells(const char *line, size_t length)
{
	int n = 0;

	for (size_t i = 0; i < length; i++) {
		n += line[i] == '|';
		i += line[i] == '\\'; /* what comes next is text */
	}
	return line[0] == '|' ? n - 1 : 0;
}

static void check_page(const char *page)
{
	int columns = 0;

	for (const char *line = page; *line;) {
		size_t length = strcspn(line, "\n");
		int n = cells(line, length);

		if (columns && n && n != columns) { /* as many as its header has */
			fail_msg("%d cells, not %d: %.*s", n, columns, (int)length, line);
		}
		columns = n;
		for (size_t i = 0; i < length; i++) {
			assert_true((unsigned char)line[i] >= ' ' && line[i] != 0x7f);
		}
		assert_int_not_equal(strncmp(line, "```", 3), 0);
		/* Of code, which four blanks make, nothing is taken for HTML. */
		assert_true(strncmp(line, "    ", 4) == 0 || !memmem(line, length, " <script", 8));
		line += length + (line[length] == '\n');
	}
	assert_null(strstr(page, "\xe2\x80\xae"));
}

static void a_page_stands_whatever_names_are(void **state)
{
	struct groups_row row = {.id = 7,
			.type = HOSTILE,
			.path = HOSTILE,
			.count = 888,
			.detection = DETECTION_MODES,
			.n_modes = 2,
			.modes = {mode, mode}};
	const struct group_location location = {
			.located = true, .requests = 444, .n_segments = 1, .segments = &segment};
	struct snapshot *snapshot = snapshot_create();
	struct report_page page = {.snapshot = snapshot,
			.group_id = 7,
			.finding = &finding,
			.n_exemplars = 1,
			.exemplars = &exemplar,
			.trace_events = 18,
			.decisions = HOSTILE};
	struct steps_finding named;
	char *text;

	(void)state;
	assert_non_null(snapshot);
	snapshot->groups = (struct groups_view){.n = 1, .rows = &row, .locations = &location};
	snapshot->steps = (struct steps_view){
			.n = 1, .rows = &step, .strategy = HOSTILE, .known = 271};
	snapshot->sources = (struct sources_view){.n = 1, .rows = &source};
	text = page_of(&page);
	check_page(text);
	assert_non_null(strstr(text, "# Verdict: \\|a\\|\\`b\\`\\\\x1b\\[2J\\\\n\\# \\<script>"));
	assert_non_null(strstr(text, "rule 2: a variable explains it"));
	assert_non_null(strstr(text, "92.0 % of the variance in requests held out, p <= 0.004)"));
	assert_non_null(strstr(text, "| points enabled for it | 3 of 271 |"));
	assert_non_null(strstr(text, "| what they cost | 321 events/s, -, - of a CPU |"));
	assert_non_null(strstr(text, "    ``` ")); /* in the plot, a line of code */
	assert_non_null(strstr(text, "Their 18 original events"));
	free(text);
	named = finding;
	named.text = "explained by " HOSTILE "!";
	named.verdict.key.name = HOSTILE; /* its own sentence says it */
	page.finding = &named;
	text = page_of(&page);
	check_page(text);
	assert_null(strstr(text, "It is explained by"));
	assert_non_null(strstr(text, "\nWhy the search ended: rule 2: a variable explains it."));
	free(text);
	page.finding = NULL; /* flagged, and not searched */
	page.n_exemplars = 0;
	snapshot->steps.lacks = HOSTILE;
	text = page_of(&page);
	check_page(text);
	assert_non_null(strstr(text, "# No verdict so far: \\|a"));
	assert_non_null(strstr(text, "was not searched so far: \\|a"));
	free(text);
	page.group_id = 0;
	text = page_of(&page);
	check_page(text);
	assert_non_null(strstr(text, "# Nothing varies"));
	free(text);
	snapshot_destroy(snapshot);
}

/* --- exemplars --- */

static void requests_have_values(void **state)
{
	static const struct request_value first[] = {{"queue_len", "2"}, {"image", "fedora"}};
	static const struct request_value second[] = {{"queue_len", "17"}};
	static const struct request_track tracks[] = {
			{"compute-1", "", -1, -1}, {"api", "", -1, -1}};
	static const struct request_span spans[] = {{.name = "create", .track = 1},
			{.name = "sem.acquire", .n_values = 2, .values = first},
			{.name = "sem.acquire", .n_values = 1, .values = second}};
	static const struct request_view request = {
			.n_tracks = 2, .tracks = tracks, .n_spans = 3, .spans = spans};
	static const struct {
		const char *key;
		enum explanation_source source;
		const char *value;
		bool has;
	} cases[] = {
			{"sem.acquire.queue_len", EXPLANATION_FIELD, "2", true},
			{"sem.acquire.queue_len", EXPLANATION_FIELD, "2.0", true},
			{"sem.acquire.queue_len", EXPLANATION_FIELD, "3", false},
			{"sem.acquire.queue_len", EXPLANATION_FIELD, "3 to 20", true},
			{"sem.acquire.queue_len", EXPLANATION_FIELD, "3 to 16", false},
			{"sem.acquire.queue_len", EXPLANATION_FIELD, "(none)", false},
			{"sem.acquire.image", EXPLANATION_FIELD, "fedora", true},
			{"sem.acquire.image", EXPLANATION_FIELD, "fed", false},
			{"sem.queue_len", EXPLANATION_FIELD, "2", false},
			{"other.key", EXPLANATION_FIELD, "(none)", true},
			{"host of create", EXPLANATION_HOST, "api", true},
			{"host of sem.acquire", EXPLANATION_HOST, "api", false},
			{"host of other", EXPLANATION_HOST, "(none)", true},
			{"count of sem.acquire", EXPLANATION_COUNT, "2", true},
			{"count of sem.acquire", EXPLANATION_COUNT, "0 to 1", false},
			{"count of other", EXPLANATION_COUNT, "0", true},
			{"run queue", EXPLANATION_RESOURCE, "2", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct explained_key key = {.name = cases[i].key, .source = cases[i].source};

		if (exemplars_has(&request, &key, cases[i].value) != cases[i].has) {
			fail_msg("%s = %s", cases[i].key, cases[i].value);
		}
	}
}

/* --- decisions --- */

static size_t copy_of(const struct decisions *log, char **text)
{
	size_t size = 0;
	FILE *file = open_memstream(text, &size);

	assert_non_null(file);
	assert_true(decisions_copy(log, file));
	fclose(file);
	return size;
}

#define PUT(log, what, ...)                                                                        \
	decisions_put((log), &(struct engine_input){.kind = (what), __VA_ARGS__})

static void decisions_are_kept_without_a_log(void **state)
{
	static const char *const fields[] = {"queue_len"};
	struct step_offer offers[] = {
			{"h", "p:a_entry", false, 1, fields}, {"h", "p:b", false, 0, NULL}};
	char error[128], *text, *line, *rest;
	uint64_t left_out, lines = 0;
	struct decisions *log = decisions_open(NULL, error, sizeof(error));

	(void)state;
	assert_non_null(log);
	decisions_at(log, 7);
	PUT(log, INPUT_MODE, .mode = MODE_AUTOPILOT);
	PUT(log, INPUT_OFFER, .offer = {"h", 2, offers});
	PUT(log, INPUT_OFFER, .offer = {"h", 2, offers}); /* nothing new */
	PUT(log, INPUT_OFFER, .offer = {"i", 2, offers});
	PUT(log, INPUT_OFFER, .offer = {"h", 1, offers});
	PUT(log, INPUT_DECIDE, .decide = {3, STEP_REJECT, STEP_BY_PERSON});
	assert_false(decisions_trouble(log, error, sizeof(error)));
	assert_int_equal(decisions_lines(log, &left_out), 6);
	assert_int_equal(left_out, 0);
	copy_of(log, &text);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		json_t *json = json_loads(line, 0, NULL);

		assert_non_null(json);
		lines++;
		json_decref(json);
	}
	assert_int_equal(lines, 6);
	free(text);
	decisions_close(log);
}

static void decisions_are_bounded(void **state)
{
	char error[128], name[4096], *text;
	struct step_offer offer = {"h", name, false, 0, NULL};
	struct decisions *log = decisions_open(NULL, error, sizeof(error));
	uint64_t left_out = 0, n;
	size_t size;

	(void)state;
	assert_non_null(log);
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < 3000; i++) {
		name[i % 1000] = (char)('b' + i / 1000 % 20); /* each is another one */
		PUT(log, INPUT_OFFER, .offer = {"h", 1, &offer});
	}
	PUT(log, INPUT_MODE, .mode = MODE_APPROVE); /* short, but after what has no room */
	n = decisions_lines(log, &left_out);
	assert_int_equal(n, 3002);
	assert_true(left_out > 900 && left_out < 1500);
	size = copy_of(log, &text);
	assert_true(size <= DECISIONS_BYTES && size > DECISIONS_BYTES - 8192);
	assert_int_equal(text[size - 1], '\n'); /* whole lines */
	assert_null(strstr(text, "\"do\":\"mode\""));
	free(text);
	decisions_close(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(names_are_no_markdown),
			cmocka_unit_test(a_page_stands_whatever_names_are),
			cmocka_unit_test(requests_have_values),
			cmocka_unit_test(decisions_are_kept_without_a_log),
			cmocka_unit_test(decisions_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
