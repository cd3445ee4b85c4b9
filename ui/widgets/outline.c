/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "widgets/outline.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NONE       UINT32_MAX
#define DEPTHS     64 /* deeper rows begin folded */
#define LEAST_OPEN 1

void outline_init(struct outline *outline, const struct outline_source *source)
{
	memset(outline, 0, sizeof(*outline));
	outline->source = source;
}

void outline_release(struct outline *outline)
{
	free(outline->line);
	free(outline->first);
	free(outline->next);
	free(outline->stack);
	outline->line = NULL;
	outline->first = outline->next = outline->stack = NULL;
	outline->n = outline->lines = outline->room = outline->room_lines = 0;
}

void outline_restart(struct outline *outline)
{
	outline->placed = false;
}

static bool make_room(struct outline *outline, uint32_t n)
{
	if (n <= outline->room) {
		return true;
	}
	if (!array_resize(&outline->first, n) || !array_resize(&outline->next, n) ||
			!array_resize(&outline->stack, n)) {
		return false;
	}
	outline->room = n;
	return true;
}

static void link_rows(struct outline *outline)
{
	uint32_t row, parent;

	for (row = 0; row < outline->n; row++) {
		outline->first[row] = NONE;
	}
	/* From the last one on, so that lists of children come out in the order of rows. */
	for (row = outline->n; row-- > 0;) {
		parent = outline->source->parent(outline->data, row);
		if (parent < row) {
			outline->next[row] = outline->first[parent];
			outline->first[parent] = row;
		} else {
			outline->next[row] = NONE;
		}
	}
}

static bool is_root(const struct outline *outline, uint32_t row)
{
	return outline->source->parent(outline->data, row) >= row;
}

static uint32_t depth_of(const struct outline *outline, uint32_t row)
{
	uint32_t depth = 0;

	for (; !is_root(outline, row) && depth < DEPTHS; depth++) {
		row = outline->source->parent(outline->data, row);
	}
	return depth;
}

/* How deep it can be open without filling more than so many lines. */
static void place(struct outline *outline)
{
	uint32_t counts[DEPTHS + 1] = {0}, row, lines = 0, depth;

	for (row = 0; row < outline->n; row++) {
		counts[depth_of(outline, row)]++;
	}
	for (depth = 0; depth < DEPTHS; depth++) {
		lines += counts[depth];
		if (lines + counts[depth + 1] > OUTLINE_OPEN_LINES && depth >= LEAST_OPEN) {
			break;
		}
	}
	outline->depth = depth;
	outline->placed = outline->n > 0;
}

static const struct outline_choice *find_choice(const struct outline *outline, uint64_t key)
{
	uint32_t i;

	for (i = 0; i < outline->n_choices; i++) {
		if (outline->choices[i].key == key) {
			return &outline->choices[i];
		}
	}
	return NULL;
}

static void choose(struct outline *outline, uint64_t key, bool open)
{
	const struct outline_choice *old = find_choice(outline, key);
	uint32_t at;

	if (old) {
		at = (uint32_t)(old - outline->choices);
	} else if (outline->n_choices < OUTLINE_CHOICES) {
		at = outline->n_choices++;
	} else {
		at = outline->next_choice++ % OUTLINE_CHOICES;
	}
	outline->choices[at] = (struct outline_choice){key, open};
}

static bool is_open(const struct outline *outline, uint64_t key, uint32_t depth)
{
	const struct outline_choice *choice = find_choice(outline, key);

	return choice ? choice->open : depth < outline->depth;
}

static bool add_line(struct outline *outline, const struct outline_line *line)
{
	if (!array_reserve(&outline->line, &outline->room_lines, outline->lines + 1)) {
		return false;
	}
	outline->line[outline->lines++] = *line;
	return true;
}

struct sorting {
	const void *data;
	outline_order order;
};

static int compare_siblings(const void *a, const void *b, void *context)
{
	const struct sorting *sorting = context;
	uint32_t row_a = *(const uint32_t *)a, row_b = *(const uint32_t *)b;
	int order = sorting->order(sorting->data, row_a, row_b);

	/* Equal ones keep the order they come in, so that rows do not jump about. */
	return order ? order : row_a < row_b ? -1 : row_a > row_b;
}

/* Puts siblings on the stack, the first one on top. */
static uint32_t push(struct outline *outline, uint32_t top, uint32_t row, outline_order order)
{
	struct sorting sorting = {outline->data, order};
	uint32_t from = top, i, swap;

	for (; row != NONE; row = outline->next[row]) {
		outline->stack[top++] = row;
	}
	if (order && top - from > 1) {
		qsort_r(outline->stack + from, top - from, sizeof(uint32_t), compare_siblings,
				&sorting);
	}
	for (i = 0; i < (top - from) / 2; i++) {
		swap = outline->stack[from + i];
		outline->stack[from + i] = outline->stack[top - 1 - i];
		outline->stack[top - 1 - i] = swap;
	}
	return top;
}

/* Roots are siblings, too. */
static uint32_t link_roots(struct outline *outline)
{
	uint32_t row, first = NONE;

	for (row = outline->n; row-- > 0;) {
		if (is_root(outline, row)) {
			outline->next[row] = first;
			first = row;
		}
	}
	return first;
}

uint64_t outline_key(const struct outline *outline, uint32_t row)
{
	uint64_t parent = 0;

	if (!is_root(outline, row)) {
		parent = outline_key(outline, outline->source->parent(outline->data, row));
	}
	return outline->source->key(outline->data, row, parent);
}

void outline_update(struct outline *outline, const void *data, uint32_t n, outline_order order,
		bool all)
{
	uint64_t above[DEPTHS + 1] = {0}; /* by depth: the key of the last line there */
	struct outline_line line;
	uint32_t top, depth;

	outline->data = data;
	outline->n = make_room(outline, n) ? n : outline->room;
	outline->lines = 0;
	link_rows(outline);
	if (!outline->placed) {
		place(outline);
	}
	top = push(outline, 0, link_roots(outline), order);
	while (top > 0) {
		line.row = outline->stack[--top];
		depth = depth_of(outline, line.row);
		line.key = depth < DEPTHS ? outline->source->key(data, line.row,
							    depth ? above[depth - 1] : 0)
					  : outline_key(outline, line.row);
		above[depth] = line.key;
		line.open = outline->first[line.row] != NONE &&
			    (all || is_open(outline, line.key, depth));
		if (!add_line(outline, &line)) {
			return;
		}
		if (line.open) {
			top = push(outline, top, outline->first[line.row], order);
		}
	}
}

bool outline_is_parent(const struct outline *outline, uint32_t row)
{
	return row < outline->n && outline->first[row] != NONE;
}

bool outline_fold(struct outline *outline, uint32_t line, bool fold)
{
	const struct outline_line *at;

	if (line >= outline->lines) {
		return false;
	}
	at = &outline->line[line];
	if (outline->first[at->row] == NONE || at->open != fold) {
		return false;
	}
	choose(outline, at->key, !fold);
	return true;
}

void outline_reveal(struct outline *outline, uint32_t row)
{
	uint32_t at = row;
	uint64_t key;

	while (!is_root(outline, at)) {
		at = outline->source->parent(outline->data, at);
		key = outline_key(outline, at);
		if (!is_open(outline, key, depth_of(outline, at))) {
			choose(outline, key, true);
		}
	}
}
