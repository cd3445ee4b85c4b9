/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "output/formats.h"
#include "pythiatop/snapshot/fields.h"
#include "pythiatop/text.h"

/* A field with quotes where it needs them (RFC 4180). */
static void write_text(FILE *out, const char *text)
{
	char safe[4096];
	const char *c;

	text_escape(safe, sizeof(safe), text);
	if (!strpbrk(safe, ",\"")) {
		fputs(safe, out);
		return;
	}
	fputc('"', out);
	for (c = safe; *c; c++) {
		if (*c == '"') {
			fputc('"', out);
		}
		fputc(*c, out);
	}
	fputc('"', out);
}

/* Names of the fields or, of a row, their values: each after a comma, empty if not known. */
static void write_fields(FILE *out, const struct row_field *fields, int first, int last,
		const void *row, bool names)
{
	for (int i = first; i <= last; i++) {
		struct row_value value = {.known = false};

		if (row) {
			value = row_read(&fields[i], row);
		}
		fputc(',', out);
		if (names) {
			fputs(fields[i].name, out);
		} else if (!value.known) {
			continue;
		} else if (value.kind == ROW_IS_TEXT) {
			write_text(out, value.text);
		} else if (value.kind == ROW_IS_REAL) {
			fprintf(out, "%.12g", value.real);
		} else if (value.kind == ROW_IS_FLAG) {
			fprintf(out, "%d", value.flag);
		} else {
			fprintf(out, "%" PRIu64, value.count);
		}
	}
}

/* Empty until something is said; "none" where that is that nothing is wrong. */
static void write_detection(FILE *out, const struct groups_row *row)
{
	bool said = groups_row_is_judged(row);
	char cell[OUTPUT_CELL];

	fprintf(out, ",%s", !said ? "" : row->detection ? output_flags(cell, row) : "none");
	write_fields(out, group_fields, FIELD_GROUP_MISSING, FIELD_GROUP_LOSSY, row, false);
	if (said) {
		fprintf(out, ",%.12g,%" PRIu32, row->cov_low, row->n_modes);
	} else {
		fputs(",,", out);
	}
	write_fields(out, group_fields, FIELD_GROUP_TAIL, FIELD_GROUP_SHIFT, row, false);
}

/* The segment with the largest share of the variance. */
static void write_where(FILE *out, const struct group_location *location)
{
	const struct group_segment *first = NULL;

	fputc(',', out);
	if (location && location->located && location->n_segments > 0) {
		first = &location->segments[0];
		write_text(out, first->name);
	}
	write_fields(out, segment_fields, FIELD_SEGMENT_PHI, FIELD_SEGMENT_PHI_HIGH, first, false);
}

static void write_row(FILE *out, const struct snapshot *snapshot, uint32_t i)
{
	const struct groups_row *row = &snapshot->groups.rows[i];

	fprintf(out, "%" PRIu64 ",%s", snapshot->time_ns,
			output_horizon_name(snapshot->focus.horizon));
	write_fields(out, group_fields, FIELD_GROUP_ID, FIELD_GROUP_PARTIAL, row, false);
	write_fields(out, group_fields, FIELD_GROUP_RATE, FIELD_GROUP_SHARE, row, false);
	write_detection(out, row);
	write_where(out, snapshot->groups.locations ? &snapshot->groups.locations[i] : NULL);
	write_fields(out, group_fields, FIELD_GROUP_FAILED, FIELD_GROUP_ENDED, row, false);
	fputc('\n', out);
}

static void write_head(FILE *out)
{
	fputs("time_ns,horizon", out);
	write_fields(out, group_fields, FIELD_GROUP_ID, FIELD_GROUP_PARTIAL, NULL, true);
	write_fields(out, group_fields, FIELD_GROUP_RATE, FIELD_GROUP_SHARE, NULL, true);
	fputs(",detection", out);
	write_fields(out, group_fields, FIELD_GROUP_MISSING, FIELD_GROUP_LOSSY, NULL, true);
	fputs(",cov_low,modes", out);
	write_fields(out, group_fields, FIELD_GROUP_TAIL, FIELD_GROUP_SHIFT, NULL, true);
	fputs(",segment", out);
	write_fields(out, segment_fields, FIELD_SEGMENT_PHI, FIELD_SEGMENT_PHI_HIGH, NULL, true);
	write_fields(out, group_fields, FIELD_GROUP_FAILED, FIELD_GROUP_ENDED, NULL, true);
	fputc('\n', out);
}

void output_csv(FILE *out, const struct snapshot *snapshot, bool first)
{
	uint32_t i;

	if (first) {
		write_head(out);
	}
	for (i = 0; i < snapshot->groups.n; i++) {
		write_row(out, snapshot, i);
	}
}
