/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "widgets/field_cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "text.h"

double field_figure(const struct row_field *field, const void *row)
{
	struct row_value value = row_read(field, row);

	if (!value.known) {
		return NAN;
	}
	switch (value.kind) {
	case ROW_IS_FLAG:
		return value.flag;
	case ROW_IS_COUNT:
		return (double)value.count;
	case ROW_IS_NUMBER:
		return (double)value.number;
	case ROW_IS_REAL:
		return value.real;
	default:
		return NAN;
	}
}

static void print_figure(char *out, size_t size, enum row_unit unit, double figure)
{
	switch (unit) {
	case UNIT_BYTES:
		format_bytes(out, (uint64_t)figure);
		break;
	case UNIT_NS:
		format_duration(out, figure);
		break;
	case UNIT_CLOCK:
		format_clock(out, (uint64_t)figure);
		break;
	case UNIT_SHARE:
		format_share(out, figure);
		break;
	case UNIT_RATIO:
		format_ratio(out, figure);
		break;
	case UNIT_PER_S:
		format_rate(out, figure);
		break;
	case UNIT_COUNT:
		format_count(out, (uint64_t)figure);
		break;
	default:
		snprintf(out, size, "%.0f", figure);
		break;
	}
}

void field_print(char *out, size_t size, const struct row_field *field, const void *row)
{
	struct row_value value = row_read(field, row);
	double figure = field_figure(field, row);

	if (value.known && value.kind == ROW_IS_TEXT && value.text[0]) {
		text_copy(out, size, value.text);
	} else if (isnan(figure)) {
		snprintf(out, size, "-");
	} else {
		print_figure(out, size, field->unit, figure);
	}
}

int field_compare(const struct row_field *field, const void *a, const void *b)
{
	double one = field_figure(field, a), other = field_figure(field, b);

	if (isnan(one) && isnan(other)) {
		struct row_value text_a = row_read(field, a), text_b = row_read(field, b);

		return text_a.kind == ROW_IS_TEXT ? strcmp(text_a.text, text_b.text) : 0;
	}
	if (isnan(one) || isnan(other)) {
		return isnan(one) ? -1 : 1;
	}
	return one < other ? -1 : one > other;
}
