/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "views/state_screen.h"

/* A figure that was not measured is "-", never 0. */

const struct state_screen *state_screen_of(const void *data)
{
	return data;
}

void state_duration(struct table_cell *cell, bool valid, double ns)
{
	strcpy(cell->text, "-");
	if (valid) {
		format_duration(cell->text, ns);
	}
}

void state_bytes(struct table_cell *cell, bool valid, uint64_t bytes)
{
	strcpy(cell->text, "-");
	if (valid) {
		format_bytes(cell->text, bytes);
	}
}

void state_count(struct table_cell *cell, bool valid, uint64_t count)
{
	strcpy(cell->text, "-");
	if (valid) {
		format_count(cell->text, count);
	}
}

void state_id(struct table_cell *cell, int64_t id)
{
	strcpy(cell->text, "-");
	if (id >= 0) {
		snprintf(cell->text, sizeof(cell->text), "%" PRId64, id);
	}
}

void state_text(struct table_cell *cell, const char *text)
{
	text_copy(cell->text, sizeof(cell->text), text[0] ? text : "-");
}

int state_compare(const struct state_pane_ops *pane, const void *data, uint32_t a, uint32_t b,
		int column)
{
	double one = pane->figure(data, a, column), other = pane->figure(data, b, column);
	struct table_cell cell_a, cell_b;

	if (isnan(one) && isnan(other)) {
		pane->source->cell(data, a, column, &cell_a);
		pane->source->cell(data, b, column, &cell_b);
		return strcmp(cell_a.text, cell_b.text);
	}
	if (isnan(one) || isnan(other)) {
		return isnan(one) ? -1 : 1; /* what is not measured is less than anything */
	}
	return one < other ? -1 : one > other;
}
