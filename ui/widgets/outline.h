/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_OUTLINE_H
#define UI_OUTLINE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A tree in lines: what is folded, and in which order siblings stand. Rows come with every
 * snapshot; what a person folded is known by the key of a row and stays.
 *
 * A row nobody folded or unfolded is open if it is not too deep: as deep as the first rows given
 * went into OUTLINE_OPEN_LINES lines.
 *
 * Only rows in sight are sorted and named: a fold of 100,000 rows costs O(1) for each of them.
 *
 * Memory: 12 bytes a row, 16 bytes a line, and OUTLINE_CHOICES folds (a further one takes the place
 * of the oldest). Threads: one.
 */
#define OUTLINE_CHOICES    512
#define OUTLINE_OPEN_LINES 200

/* Rows 0 .. n - 1, a parent before its children. */
struct outline_source {
	uint32_t (*parent)(const void *data, uint32_t row); /* UINT32_MAX: none */
	/* Names a row, given the name of its parent (0: none); the same with every snapshot. */
	uint64_t (*key)(const void *data, uint32_t row, uint64_t parent);
};

/* Whether sibling `a` stands before (< 0) `b`. */
typedef int (*outline_order)(const void *data, uint32_t a, uint32_t b);

struct outline_line {
	uint64_t key;
	uint32_t row;
	bool open; /* its children follow */
};

struct outline_choice {
	uint64_t key;
	bool open;
};

struct outline {
	const struct outline_source *source;
	const void *data;
	uint32_t n;     /* rows */
	uint32_t lines; /* in sight */
	struct outline_line *line;
	uint32_t *first, *next; /* by row: first child, next sibling; UINT32_MAX: none */
	uint32_t *stack;        /* rows, and room for sorting siblings */
	uint32_t room, room_lines;
	uint32_t depth; /* rows less deep than that are open, unless folded */
	bool placed;    /* `depth` is set */
	struct outline_choice choices[OUTLINE_CHOICES];
	uint32_t n_choices, next_choice;
};

void outline_init(struct outline *outline, const struct outline_source *source);
void outline_release(struct outline *outline);

/* Another tree: decides anew how deep it is open. What was folded by name stays folded. */
void outline_restart(struct outline *outline);

/*
 * Takes rows and puts those in sight in order. `order` NULL: siblings as they come. `all`: nothing
 * is folded, as while a filter is set. Without memory it shows the first rows.
 */
void outline_update(struct outline *outline, const void *data, uint32_t n, outline_order order,
		bool all);

/* The row has rows below it. */
bool outline_is_parent(const struct outline *outline, uint32_t row);

/* Folds or unfolds the row of a line; outline_update() shows it. False: nothing to do. */
bool outline_fold(struct outline *outline, uint32_t line, bool fold);

/* Opens what is above a row; outline_update() shows it. */
void outline_reveal(struct outline *outline, uint32_t row);

/* The name of a row, in sight or not. */
uint64_t outline_key(const struct outline *outline, uint32_t row);

#endif
