/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "behaviour/words.h"

#include <stdio.h>
#include <stdlib.h>

#define EDIT_ELSE 2u /* of a substitution by another step: as to leave one out and add one */

enum edit { EDIT_NONE, EDIT_OUT, EDIT_IN, EDIT_CHANGED };

/* Two strings side by side. */
struct aligned {
	const struct reading *reading;
	struct arena *arena;
	const struct reading_string *a, *b;
	uint32_t n; /* columns: of each the step of a, of b, or both */
	struct column {
		enum edit edit;
		uint32_t a, b;
	} * columns;
	const char *text;
	uint32_t phrases;
};

static const struct symbol *symbol_of(const struct reading *reading, uint32_t rank)
{
	return &reading->alphabet->symbols[reading->symbol_of[rank]];
}

static bool same_place(const struct symbol *x, const struct symbol *y)
{
	return x->name == y->name && x->provider == y->provider && x->above_name == y->above_name &&
	       x->above_provider == y->above_provider && x->no_end == y->no_end;
}

static uint32_t cost(const struct aligned *at, uint32_t i, uint32_t j)
{
	uint32_t x = at->a->ranks[i], y = at->b->ranks[j];

	return x == y                                                             ? 0
	       : same_place(symbol_of(at->reading, x), symbol_of(at->reading, y)) ? 1
										  : EDIT_ELSE;
}

/* costs[i * (n_b + 1) + j]: of what is behind the first i of a and the first j of b. */
static void fill_costs(const struct aligned *at, uint16_t *costs)
{
	uint32_t n = at->a->n, m = at->b->n, width = m + 1;

	for (uint32_t i = n + 1; i-- > 0;) {
		for (uint32_t j = m + 1; j-- > 0;) {
			uint32_t best = i == n ? m - j : j == m ? n - i : UINT32_MAX;

			if (i < n && j < m) {
				uint32_t both = costs[(i + 1) * width + j + 1] + cost(at, i, j);
				uint32_t out = costs[(i + 1) * width + j] + 1u;
				uint32_t in = costs[i * width + j + 1] + 1u;

				best = both < out ? both : out;
				best = in < best ? in : best;
			}
			costs[i * width + j] = (uint16_t)best;
		}
	}
}

static void follow_costs(struct aligned *at, const uint16_t *costs)
{
	uint32_t n = at->a->n, m = at->b->n, width = m + 1, i = 0, j = 0;

	while (i < n || j < m) {
		uint32_t now = costs[i * width + j];
		uint32_t edit = i < n && j < m ? cost(at, i, j) : EDIT_ELSE;
		struct column *column = &at->columns[at->n++];

		*column = (struct column){.a = i, .b = j};
		if (edit < EDIT_ELSE && now == costs[(i + 1) * width + j + 1] + edit) {
			column->edit = edit ? EDIT_CHANGED : EDIT_NONE;
			i++;
			j++;
		} else if (i < n && now == costs[(i + 1) * width + j] + 1u) {
			column->edit = EDIT_OUT;
			i++;
		} else {
			column->edit = EDIT_IN;
			j++;
		}
	}
}

static bool align(struct aligned *at)
{
	size_t cells = ((size_t)at->a->n + 1) * (at->b->n + 1);
	uint16_t *costs = malloc(cells * sizeof(*costs));

	at->columns = malloc(((size_t)at->a->n + at->b->n + 1) * sizeof(*at->columns));
	if (costs && at->columns) {
		fill_costs(at, costs);
		follow_costs(at, costs);
	}
	free(costs);
	return costs && at->columns;
}

const char *words_of_step(const struct reading *reading, uint32_t rank, struct arena *arena)
{
	const struct symbol *symbol;
	const char *name;

	if (rank == AUTOMATON_END) {
		return "(end)";
	}
	symbol = symbol_of(reading, rank);
	if (symbol->no_end) {
		return "(no end)";
	}
	name = names_text(reading->names, symbol->name);
	name = name[0] ? name : "(no name)";
	return arena_printf(arena, "%s%s%s", name, symbol->many ? " several times" : "",
			symbol->failed ? " fails" : "");
}

static void say(struct aligned *at, const char *before, const char *what, const char *after)
{
	const char *join = at->text && at->text[0] ? ", " : "";

	if (at->phrases == WORDS_PHRASES) {
		at->text = arena_printf(at->arena, "%s, ...", at->text ? at->text : "");
	} else if (at->phrases < WORDS_PHRASES) {
		at->text = arena_printf(at->arena, "%s%s%s%s%s", at->text ? at->text : "", join,
				before, what ? what : "", after);
	}
	at->phrases++;
}

/* "authenticate" */
static const char *name_of(const struct aligned *at, uint32_t rank)
{
	const char *name = names_text(at->reading->names, symbol_of(at->reading, rank)->name);

	return name[0] ? name : "(no name)";
}

static uint32_t rank_of(const struct aligned *at, uint32_t column)
{
	const struct column *c = &at->columns[column];

	return c->edit == EDIT_OUT ? at->a->ranks[c->a] : at->b->ranks[c->b];
}

/* Is what it is part of another one of the same run? */
static bool is_below(const struct aligned *at, uint32_t from, uint32_t column)
{
	const struct symbol *symbol = symbol_of(at->reading, rank_of(at, column));

	for (uint32_t i = column; i-- > from;) {
		const struct symbol *other = symbol_of(at->reading, rank_of(at, i));

		if (!symbol->no_end && other->name == symbol->above_name &&
				other->provider == symbol->above_provider) {
			return true;
		}
	}
	return false;
}

/* Columns from..to - 1 are all in, or all out. */
static void say_run(struct aligned *at, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		uint32_t rank = rank_of(at, i);

		if (symbol_of(at->reading, rank)->no_end) {
			say(at, at->columns[i].edit == EDIT_IN ? "no end" : "ends", "", "");
		} else if (!is_below(at, from, i)) {
			say(at, at->columns[i].edit == EDIT_IN ? "+ " : "without ",
					words_of_step(at->reading, rank, at->arena), "");
		}
	}
}

static const struct symbol *symbol_at(const struct aligned *at, uint32_t i)
{
	return symbol_of(at->reading, at->b->ranks[i]);
}

/* Is the step at `i` part of the one at `of`, by whatever is between? Parts come behind. */
static bool is_part(const struct aligned *at, uint32_t i, uint32_t of)
{
	const struct symbol *part = symbol_at(at, i);

	while (i-- > of) {
		const struct symbol *above = symbol_at(at, i);

		if (above->name == part->above_name && above->provider == part->above_provider) {
			if (i == of) {
				return true;
			}
			part = above;
		}
	}
	return false;
}

/* A failure that a part of the step tells, too, is said of that part. */
static bool fails_below(const struct aligned *at, uint32_t of)
{
	for (uint32_t i = of + 1; i < at->b->n; i++) {
		if (symbol_at(at, i)->failed && is_part(at, i, of)) {
			return true;
		}
	}
	return false;
}

static void say_changed(struct aligned *at, const struct column *column)
{
	uint32_t now = at->b->ranks[column->b];
	const struct symbol *before = symbol_of(at->reading, at->a->ranks[column->a]);
	const struct symbol *after = symbol_of(at->reading, now);

	if (before->failed != after->failed && !(after->failed && fails_below(at, column->b))) {
		say(at, "", name_of(at, now), after->failed ? " fails" : " does not fail");
	}
	if (before->many != after->many) {
		say(at, after->many ? "repeats " : "", name_of(at, now),
				after->many ? "" : " once");
	}
}

/* All of b is how a begins, but for that it may have no end. */
static bool say_early_end(struct aligned *at)
{
	uint32_t common = 0, n = at->b->n;
	bool no_end = n > 0 && symbol_of(at->reading, at->b->ranks[n - 1])->no_end;

	n -= no_end;
	while (common < n && common < at->a->n && at->a->ranks[common] == at->b->ranks[common]) {
		common++;
	}
	if (common < n || common == 0 || common == at->a->n) {
		return false;
	}
	say(at, no_end ? "no end after " : "ends after ", name_of(at, at->b->ranks[common - 1]),
			"");
	return true;
}

static bool say_steps(struct aligned *at)
{
	if (!at->reading->type->unordered && say_early_end(at)) {
		return true;
	}
	if (!align(at)) {
		free(at->columns);
		return false;
	}
	for (uint32_t i = 0, to; i < at->n; i = to) {
		enum edit edit = at->columns[i].edit;

		for (to = i + 1; to < at->n && at->columns[to].edit == edit &&
				 edit != EDIT_CHANGED;) {
			to++;
		}
		if (edit == EDIT_CHANGED) {
			say_changed(at, &at->columns[i]);
		} else if (edit != EDIT_NONE) {
			say_run(at, i, to);
		}
	}
	free(at->columns);
	return true;
}

static void say_resources(struct aligned *at)
{
	static const char *const names[RESOURCE_COUNT] = {RESOURCE_NAMES};
	const struct resources *a = &at->a->resources, *b = &at->b->resources;

	for (int i = 0; a->known && b->known && i < RESOURCE_COUNT; i++) {
		double ratio = distance_ratio(a, b, (enum resource)i);
		char text[64];

		if (ratio >= RESOURCE_ALIKE) {
			snprintf(text, sizeof(text), "%.0f times the ", ratio);
			say(at, text, names[i], "");
		} else if (ratio <= 1 / RESOURCE_ALIKE) {
			snprintf(text, sizeof(text), "1/%.0f of the ", 1 / ratio);
			say(at, text, names[i], "");
		}
	}
}

const char *words_of_difference(const struct reading *reading, const struct reading_string *usual,
		const struct reading_string *other, struct arena *arena)
{
	struct aligned at = {
			.reading = reading, .arena = arena, .a = usual, .b = other, .text = ""};

	if (!say_steps(&at)) {
		return NULL;
	}
	say_resources(&at);
	return at.text;
}
