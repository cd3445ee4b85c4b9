/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "requests/request_snapshot.h"
#include "requests/engine.h"
#include "requests/span_values.h"

#define MAX_ALIKE  8u    /* spans of one context whose values are compared, one by one */
#define MAX_VALUES 1000u /* that differ; further ones are left out */

/* A span by its context; events of a kept request outlive a fill. */
struct placed {
	uint32_t context, index; /* index: by entry */
	struct span span;
};

/* One of the two requests. */
struct side {
	const struct request *request; /* NULL: not kept (any more) */
	uint32_t n_segments, n_visits, n_spans;
	const struct measured_segment *segments;
	const struct measured_visit *visits;
	struct placed *spans; /* by context, then by index */
};

struct comparing {
	struct requests *r;
	struct snapshot *snapshot;
	struct side a, b;
	uint32_t n; /* contexts: ascending, so that a parent is before its children */
	uint32_t *contexts;
	uint32_t *rows; /* of each: its row */
	struct compare_value *values;
	uint32_t n_values;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->context != y->context) {
		return x->context < y->context ? -1 : 1;
	}
	return x->index < y->index ? -1 : x->index > y->index;
}

static void *copy_of(struct snapshot *snapshot, const void *items, uint32_t n, size_t size)
{
	void *copy = snapshot_alloc(snapshot, (n + 1) * size);

	if (copy && n > 0) {
		memcpy(copy, items, n * size);
	}
	return copy;
}

/* What one of them consists of; all of that is scratch of the request engine. */
static bool take_side(struct comparing *c, const struct request *request, struct side *side)
{
	struct measured measured;
	uint32_t i;

	*side = (struct side){.request = request};
	if (!request) {
		return true;
	}
	if (!measuring_whole(c->r, request, &measured)) {
		return false;
	}
	side->n_segments = measured.n_segments;
	side->n_visits = measured.n_visits;
	side->n_spans = c->r->spans.n;
	side->segments = copy_of(c->snapshot, measured.segments, measured.n_segments,
			sizeof(*measured.segments));
	side->visits = copy_of(
			c->snapshot, measured.visits, measured.n_visits, sizeof(*measured.visits));
	side->spans = snapshot_alloc(c->snapshot, (side->n_spans + 1) * sizeof(*side->spans));
	if (!side->segments || !side->visits || !side->spans) {
		return false;
	}
	for (i = 0; i < side->n_spans; i++) {
		side->spans[i] = (struct placed){.context = c->r->spans.items[i].context,
				.index = i,
				.span = c->r->spans.items[i]};
	}
	qsort(side->spans, side->n_spans, sizeof(*side->spans), compare_placed);
	return true;
}

/* --- the contexts of both -------------------------------------------------------------------- */

/* Those of spans hold each other's parents; parts of the path hang below them. */
static bool gather_contexts(struct comparing *c)
{
	const struct side *sides[] = {&c->a, &c->b};
	uint32_t i, j, n = 0;

	c->contexts = snapshot_alloc(c->snapshot,
			(c->a.n_segments + c->b.n_segments + c->a.n_spans + c->b.n_spans + 1) *
					sizeof(*c->contexts));
	if (!c->contexts) {
		return false;
	}
	for (i = 0; i < 2; i++) {
		for (j = 0; j < sides[i]->n_segments; j++) {
			c->contexts[n++] = sides[i]->segments[j].context;
		}
		for (j = 0; j < sides[i]->n_spans; j++) {
			c->contexts[n++] = sides[i]->spans[j].context;
		}
	}
	c->n = ids_sort(c->contexts, n);
	c->rows = snapshot_alloc(c->snapshot, (c->n + 1) * sizeof(*c->rows));
	return c->rows != NULL;
}

/* The index of a context; UINT32_MAX: it is of neither. */
static uint32_t index_of(const struct comparing *c, uint32_t context)
{
	const uint32_t *at =
			bsearch(&context, c->contexts, c->n, sizeof(*c->contexts), ids_compare);

	return at ? (uint32_t)(at - c->contexts) : UINT32_MAX;
}

/* --- rows ------------------------------------------------------------------------------------ */

static void put_name(struct comparing *c, uint32_t context, struct compare_row *row)
{
	const struct context *node = contexts_get(c->r->contexts, context);

	row->name = snapshot_text(c->snapshot, names_text(c->r->names, node->name));
	row->provider = snapshot_text(c->snapshot, names_text(c->r->names, node->provider));
}

/* Rows depth first, children in the order their contexts were first seen. */
static bool put_rows(struct comparing *c, struct compare_row *rows)
{
	uint32_t *first = snapshot_alloc(c->snapshot, (c->n + 1) * sizeof(*first));
	uint32_t *next = snapshot_alloc(c->snapshot, (c->n + 1) * sizeof(*next));
	uint32_t *up = snapshot_alloc(c->snapshot, (c->n + 1) * sizeof(*up));
	uint32_t i, n = 0, at;

	if (!first || !next || !up) {
		return false;
	}
	/* Item n is above all of them. */
	for (i = 0; i <= c->n; i++) {
		first[i] = next[i] = UINT32_MAX;
	}
	for (i = c->n; i > 0; i--) {
		uint32_t context = c->contexts[i - 1];
		uint32_t parent = contexts_get(c->r->contexts, context)->parent;

		up[i - 1] = context ? index_of(c, parent) : c->n;
		up[i - 1] = up[i - 1] == UINT32_MAX ? c->n : up[i - 1];
		next[i - 1] = first[up[i - 1]];
		first[up[i - 1]] = i - 1;
	}
	for (at = first[c->n]; at != UINT32_MAX;) {
		struct compare_row *row = &rows[n];

		put_name(c, c->contexts[at], row);
		row->parent = up[at] == c->n ? UINT32_MAX : c->rows[up[at]];
		row->depth = up[at] == c->n ? 0 : rows[row->parent].depth + 1;
		c->rows[at] = n++;
		if (first[at] != UINT32_MAX) {
			at = first[at];
			continue;
		}
		while (at != c->n && next[at] == UINT32_MAX) {
			at = up[at];
		}
		at = at == c->n ? UINT32_MAX : next[at];
	}
	return true;
}

static void put_side(const struct comparing *c, const struct side *side, bool is_a,
		struct compare_row *rows)
{
	uint32_t i;

	for (i = 0; i < side->n_visits; i++) {
		const struct measured_visit *visit = &side->visits[i];
		struct compare_row *row = &rows[c->rows[index_of(c, visit->context)]];

		*(is_a ? &row->a_count : &row->b_count) = visit->count;
		*(is_a ? &row->a_ns : &row->b_ns) = visit->total_ns;
	}
	for (i = 0; i < side->n_segments; i++) {
		const struct measured_segment *segment = &side->segments[i];
		struct compare_row *row = &rows[c->rows[index_of(c, segment->context)]];

		*(is_a ? &row->a_path_ns : &row->b_path_ns) = segment->ns;
	}
}

/* A row by how much it differs. */
struct ranked {
	uint64_t ns;
	uint32_t row;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->ns != y->ns) {
		return x->ns > y->ns ? -1 : 1;
	}
	return x->row < y->row ? -1 : x->row > y->row;
}

static bool rank_rows(struct comparing *c, const struct compare_row *rows)
{
	struct compare_view *view = &c->snapshot->compare;
	struct ranked *items = snapshot_alloc(c->snapshot, (c->n + 1) * sizeof(*items));
	uint32_t *ranked = snapshot_alloc(c->snapshot, (c->n + 1) * sizeof(*ranked));
	uint32_t i, n = 0;

	if (!items || !ranked) {
		return false;
	}
	for (i = 0; i < c->n; i++) {
		int64_t ns = rows[i].difference_ns;

		if (ns != 0) {
			items[n++] = (struct ranked){
					.ns = ns < 0 ? -(uint64_t)ns : (uint64_t)ns, .row = i};
		}
	}
	qsort(items, n, sizeof(*items), compare_ranked);
	for (i = 0; i < n; i++) {
		ranked[i] = items[i].row;
	}
	view->ranked = ranked;
	view->n_ranked = n;
	return true;
}

/* --- values that differ ---------------------------------------------------------------------- */

static const struct placed *first_of(const struct side *side, uint32_t context, uint32_t *n)
{
	uint32_t low = 0, high = side->n_spans, first;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (side->spans[middle].context < context) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	first = low;
	while (low < side->n_spans && low - first < MAX_ALIKE &&
			side->spans[low].context == context) {
		low++;
	}
	*n = low - first;
	return side->spans + first;
}

static const char *text_of(const struct request_value *values, uint32_t n, const char *name)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (strcmp(values[i].name, name) == 0) {
			return values[i].text;
		}
	}
	return NULL;
}

static void add_value(struct comparing *c, const char *span, const char *name, const char *a,
		const char *b)
{
	if (c->n_values < MAX_VALUES && strcmp(a, b) != 0) {
		c->values[c->n_values++] = (struct compare_value){span, name, a, b};
	}
}

/* The values of two spans that stand in the same place. */
static enum status compare_spans(
		struct comparing *c, const char *name, const struct span *a, const struct span *b)
{
	const struct request_value *of_a, *of_b;
	uint32_t i, n_a, n_b;

	if (span_compared(c->r, c->snapshot, a, &of_a, &n_a) != STATUS_OK ||
			span_compared(c->r, c->snapshot, b, &of_b, &n_b) != STATUS_OK) {
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < n_a; i++) {
		const char *text = text_of(of_b, n_b, of_a[i].name);

		add_value(c, name, of_a[i].name, of_a[i].text, text ? text : "");
	}
	for (i = 0; i < n_b; i++) {
		if (!text_of(of_a, n_a, of_b[i].name)) {
			add_value(c, name, of_b[i].name, "", of_b[i].text);
		}
	}
	return STATUS_OK;
}

/* In the order of the rows. The third span of its kind is compared with the other's third. */
static enum status put_values(struct comparing *c, const struct compare_row *rows)
{
	uint32_t *by_row = snapshot_alloc(c->snapshot, (c->n + 1) * sizeof(*by_row));
	enum status status = STATUS_OK;
	uint32_t i, k;

	c->values = snapshot_alloc(c->snapshot, MAX_VALUES * sizeof(*c->values));
	if (!by_row || !c->values) {
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < c->n; i++) {
		by_row[c->rows[i]] = c->contexts[i];
	}
	for (i = 0; i < c->n && c->n_values < MAX_VALUES; i++) {
		uint32_t n_a, n_b;
		const struct placed *a = first_of(&c->a, by_row[i], &n_a);
		const struct placed *b = first_of(&c->b, by_row[i], &n_b);

		for (k = 0; k < n_a && k < n_b && status == STATUS_OK; k++) {
			const char *name = k == 0 ? rows[i].name
						  : snapshot_printf(c->snapshot, "%s #%u",
								    rows[i].name, k + 1);

			status = compare_spans(c, name, &a[k].span, &b[k].span);
		}
	}
	c->snapshot->compare.values = c->values;
	c->snapshot->compare.n_values = c->n_values;
	return status;
}

/* --- all of it ------------------------------------------------------------------------------- */

static struct compare_side side_view(const struct request *request)
{
	return !request ? (struct compare_side){.id = 0}
			: (struct compare_side){.id = request->id,
					  .start_ns = request->start_ns,
					  .duration_ns = request->end_ns - request->start_ns,
					  .state = request->state,
					  .tainted = request->tainted};
}

enum status requests_fill_compare(struct requests *r, const struct request *a,
		const struct request *b, struct snapshot *snapshot)
{
	struct comparing c = {.r = r, .snapshot = snapshot};
	struct compare_view *view = &snapshot->compare;
	struct compare_row *rows;
	uint32_t i;

	*view = (struct compare_view){.a = side_view(a), .b = side_view(b)};
	if (!a || !b) {
		return STATUS_OK;
	}
	if (!take_side(&c, a, &c.a) || !take_side(&c, b, &c.b) || !gather_contexts(&c)) {
		return STATUS_NO_MEMORY;
	}
	rows = snapshot_alloc(snapshot, (c.n + 1) * sizeof(*rows));
	if (!rows || !put_rows(&c, rows)) {
		return STATUS_NO_MEMORY;
	}
	put_side(&c, &c.a, true, rows);
	put_side(&c, &c.b, false, rows);
	for (i = 0; i < c.n; i++) {
		rows[i].difference_ns = (int64_t)(rows[i].a_path_ns - rows[i].b_path_ns);
	}
	view->rows = rows;
	view->n = c.n;
	return rank_rows(&c, rows) ? put_values(&c, rows) : STATUS_NO_MEMORY;
}
