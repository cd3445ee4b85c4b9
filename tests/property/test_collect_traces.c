/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "groups/collect.h"
#include "base/hash.h"
#include "lab.h"
#include "requests/measured.h"
#include "trace_feed.h"

/*
 * Key-values of every group of recorded traces: the table has what was read of each request when it
 * was finished; the same events and calls give the same table; and what is read in the end, of
 * requests that are kept, is what was read at once.
 */

/* What was read of one request. */
struct heard {
	struct request request;
	struct request_keys keys; /* own copies */
};

struct work {
	struct lab lab;
	struct groups *groups;
	uint64_t switching; /* 0: all on from the start; 1: at the end; else by chance, of this seed
			     */
	uint64_t n_events;
	uint32_t n_groups, n, room;
	struct heard *heard;
	struct arena texts;
	bool listening; /* to what is read of requests */
};

/* ---- the analysis, with groups ---- */

static bool measure(void *context, const struct request *request, struct measured *out)
{
	return requests_measure(((struct work *)context)->lab.requests, request, out);
}

static bool read_keys(void *context, const struct request *request, struct request_keys *out)
{
	return requests_read_keys(((struct work *)context)->lab.requests, request, out);
}

static void listen(struct work *work, const struct request *request)
{
	struct request_key *items;
	struct heard *heard;

	if (work->n == work->room) {
		work->room = work->room ? work->room * 2 : 1024;
		work->heard = realloc(work->heard, work->room * sizeof(*work->heard));
		assert_non_null(work->heard);
	}
	heard = &work->heard[work->n++];
	heard->request = *request;
	assert_true(requests_read_keys(work->lab.requests, request, &heard->keys));
	items = arena_alloc(&work->texts, (heard->keys.n + 1) * sizeof(*items));
	assert_non_null(items);
	memcpy(items, heard->keys.items, heard->keys.n * sizeof(*items));
	for (uint32_t i = 0; i < heard->keys.n; i++) {
		items[i].text = items[i].numeric ? NULL
						 : arena_text_n(&work->texts, items[i].text,
								   items[i].length);
	}
	heard->keys.items = items;
}

static void emit(void *context, struct request *request)
{
	struct work *work = context;

	groups_add(work->groups, request);
	while (work->n_groups < request->group_id) {
		work->n_groups++;
		if (work->switching == 0) {
			assert_true(groups_collect(work->groups, work->n_groups, true));
		}
	}
	if (work->listening) {
		listen(work, request);
	}
}

static void advanced(void *context, uint64_t now_ns)
{
	struct work *work = context;
	uint64_t chance = hash_pair(work->switching, ++work->n_events);

	groups_advance(work->groups, now_ns);
	if (work->switching > 1 && work->n_groups && chance % 200 == 0) {
		assert_true(groups_collect(work->groups,
				1 + (uint32_t)(chance >> 32) % work->n_groups, chance >> 16 & 1));
	}
}

static void work_start(struct work *work, uint64_t switching)
{
	memset(work, 0, sizeof(*work));
	lab_start(&work->lab, emit, work);
	work->switching = switching;
	work->lab.advanced = advanced;
	work->groups = groups_create(&(struct groups_config){.window_ns = LAB_WINDOW_NS,
						     .max_groups = 1000,
						     .max_kept_bytes = UINT64_C(1) << 30,
						     .max_pin_bytes = UINT64_C(1) << 20,
						     .measure = measure,
						     .read_keys = read_keys,
						     .measurer = work},
			work->lab.names, work->lab.contexts, &work->lab.pool);
	assert_non_null(work->groups);
}

static void work_stop(struct work *work)
{
	groups_destroy(work->groups);
	lab_stop(&work->lab);
	arena_release(&work->texts);
	free(work->heard);
}

static void run(struct work *work, const char *directory)
{
	struct intake_sink sink = LAB_SINK(&work->lab);

	trace_feed_into(&sink, directory);
	requests_finish(work->lab.requests);
	for (uint32_t id = 1; work->switching == 1 && id <= work->n_groups; id++) {
		assert_true(groups_collect(work->groups, id, true));
	}
}

/* ---- as text ---- */

static char *print(struct work *work)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (uint32_t id = 1; id <= work->n_groups; id++) {
		struct arena arena = {.chunks = NULL};
		const struct explain_table *table = groups_table(work->groups, id, 0, &arena);

		fprintf(out, "group %u: %u rows\n", id, table ? table->n_rows : 0);
		for (uint32_t k = 0; table && k < table->n_keys; k++) {
			const struct explain_key *key = &table->keys[k];

			fprintf(out, "%s in %s (%d):", key->name, key->where, key->source);
			for (uint32_t i = 0; i < table->n_rows; i++) {
				fprintf(out, " %a", key->values[i]);
			}
			for (uint32_t i = 0; i < key->n_texts; i++) {
				fprintf(out, " '%s'", key->texts[i]);
			}
			fputc('\n', out);
		}
		for (uint32_t s = 0; table && s < table->n_segments; s++) {
			for (uint32_t i = 0; i < table->n_rows; i++) {
				fprintf(out, " %a", table->segments_ns[s][i]);
			}
			fputc('\n', out);
		}
		arena_release(&arena);
	}
	fclose(out);
	return text;
}

/* ---- against what was read ---- */

static void key_text(struct work *work, const struct request_key *key, char *text, size_t size)
{
	const struct context *at = contexts_get(work->lab.contexts, key->context);
	const char *context = names_text(work->lab.names, at->name);
	const char *field = names_text(work->lab.names, key->name);
	size_t used;

	if (key->source == EXPLANATION_FIELD) {
		snprintf(text, size, "%s.%s", context, field);
	} else if (key->source == EXPLANATION_HOST) {
		snprintf(text, size, "host of %s", context);
	} else {
		snprintf(text, size, "%s", field);
	}
	for (uint32_t up = at->parent; up; up = at->parent) { /* innermost first: told apart so */
		at = contexts_get(work->lab.contexts, up);
		used = strlen(text);
		snprintf(text + used, size - used, "<%s", names_text(work->lab.names, at->name));
	}
}

/* The same of a key of the table. */
static void column_text(const struct explain_key *key, char *text, size_t size)
{
	char chain[2048], *at, *link;

	snprintf(text, size, "%s", key->name);
	snprintf(chain, sizeof(chain), "%s", key->where);
	while (*chain) {
		for (at = link = chain; (at = strstr(at, "\u203a")); link = at) {
			at += strlen("\u203a");
		}
		snprintf(text + strlen(text), size - strlen(text), "<%s", link);
		*(link == chain ? link : link - strlen("\u203a")) = '\0';
	}
}

/* One cell: what the request has of that key. */
static void check_cell(struct work *work, const struct heard *heard, const struct explain_key *key,
		const char *name, double value)
{
	char text[4096];

	for (uint32_t i = 0; i < heard->keys.n; i++) {
		const struct request_key *one = &heard->keys.items[i];

		key_text(work, one, text, sizeof(text));
		if (one->source != key->source || strcmp(text, name) != 0) {
			continue;
		}
		if (one->numeric != key->numeric) {
			break;
		}
		assert_true(key->numeric ? value == one->number
					 : strcmp(key->texts[(uint32_t)value], one->text) == 0);
		return;
	}
	assert_true(isnan(value));
}

/* Rows are requests of the group, in their order, up to the last one; returns how many cells. */
static uint64_t check_group(struct work *work, uint32_t id, uint64_t *rows)
{
	struct arena arena = {.chunks = NULL};
	const struct explain_table *table = groups_table(work->groups, id, 0, &arena);
	uint32_t row = table ? table->n_rows : 0;
	uint64_t began_ns = 0; /* of the first row, as the trace tells the time; 0: not known */
	uint64_t cells = 0;

	assert_non_null(table);
	*rows += row;
	for (uint32_t i = work->n; i > 0 && row > 0; i--) {
		const struct heard *heard = &work->heard[i - 1];
		uint64_t ns = heard->request.end_ns - heard->request.start_ns;

		if (heard->request.group_id != id || heard->request.state != REQUEST_COMPLETE ||
				heard->request.tainted ||
				(double)ns != table->duration_ns[row - 1] ||
				(began_ns && heard->request.start_ns !=
								began_ns + (uint64_t)table->start_ns[row -
												     1])) {
			continue;
		}
		row--;
		began_ns = heard->request.start_ns - (uint64_t)table->start_ns[row];
		for (uint32_t k = 0; k < table->n_keys; k++) {
			const struct explain_key *key = &table->keys[k];
			char name[4096];

			if (key->source != EXPLANATION_COUNT && (k + row) % 16 == 0) {
				column_text(key, name, sizeof(name));
				check_cell(work, heard, key, name, key->values[row]);
				cells++;
			}
		}
	}
	assert_int_equal(row, 0); /* each was found */
	arena_release(&arena);
	return cells;
}

/* ---- the traces ---- */

static char *text_of(const char *directory, uint64_t switching)
{
	struct work *work = malloc(sizeof(*work));
	char *text;

	assert_non_null(work);
	work_start(work, switching);
	run(work, directory);
	text = print(work);
	work_stop(work);
	free(work);
	return text;
}

/* What tables hold is what requests had when they were finished, whenever it was read. */
static void check_tables(const char *directory, uint64_t switching, uint64_t *cells, uint64_t *rows)
{
	struct work *work = malloc(sizeof(*work));

	assert_non_null(work);
	*cells = *rows = 0;
	work_start(work, switching);
	work->listening = true;
	run(work, directory);
	for (uint32_t id = 1; id <= work->n_groups; id++) {
		*cells += check_group(work, id, rows);
	}
	print_message("%s, %s: %u groups, %u requests, %lu rows, %lu values\n", directory,
			switching ? "at the end" : "at once", work->n_groups, work->n,
			(unsigned long)*rows, (unsigned long)*cells);
	work_stop(work);
	free(work);
}

static void check_trace(const char *name)
{
	char directory[512], *one, *again;
	const char *traces = getenv("PYTHIATOP_TRACES");
	struct stat there;
	uint64_t cells, rows, late_cells, late_rows;

	snprintf(directory, sizeof(directory), "%s/%s", traces ? traces : PT_TRACES_DIR, name);
	if (stat(directory, &there) != 0) {
		print_message("skipped: no recorded trace %s\n", directory);
		skip();
	}
	check_tables(directory, 0, &cells, &rows);
	check_tables(directory, 1, &late_cells, &late_rows); /* of what is kept alone */
	assert_true(late_cells > 0 && late_cells <= cells && late_rows <= rows);
	for (uint64_t switching = 0; switching <= 7; switching += 7) {
		one = text_of(directory, switching);
		again = text_of(directory, switching);
		assert_true(strlen(one) > 1000);
		assert_string_equal(one, again);
		free(one);
		free(again);
	}
}

static void kernel_6_2(void **state)
{
	(void)state;
	check_trace("kernel-6.2-2cpu");
}

static void ros2(void **state)
{
	(void)state;
	check_trace("ust-ros2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(kernel_6_2),
			cmocka_unit_test(ros2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
