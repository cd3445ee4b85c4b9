/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "output/formats.h"
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

/* Empty until something is said; "none" where that is that nothing is wrong. */
static void write_detection(FILE *out, const struct groups_row *row)
{
	bool said = row->missing == 0 && !row->lossy;
	char cell[OUTPUT_CELL];

	fprintf(out, ",%s,%" PRIu32 ",%d,",
			!said            ? ""
			: row->detection ? output_flags(cell, row)
					 : "none",
			row->missing, row->lossy);
	if (said) {
		fprintf(out, "%.12g,%" PRIu32, row->cov_low, row->n_modes);
	} else {
		fputc(',', out);
	}
	fputc(',', out);
	if (row->count > 0) {
		fprintf(out, "%.12g", row->tail_ratio);
	}
	fputc(',', out);
	if (said && row->objective_ns) {
		fprintf(out, "%" PRIu64, row->objective_ns);
	}
	fputc(',', out);
	if (said && row->shift > 0) {
		fprintf(out, "%.12g", row->shift);
	}
}

/* The segment with the largest share of the variance. */
static void write_where(FILE *out, const struct group_location *location)
{
	const struct group_segment *first;

	fputc(',', out);
	if (!location || !location->located || location->n_segments == 0) {
		fputs(",,,", out);
		return;
	}
	first = &location->segments[0];
	write_text(out, first->name);
	fprintf(out, ",%.12g,%.12g,%.12g", first->phi, first->phi_low, first->phi_high);
}

static void write_row(FILE *out, const struct snapshot *snapshot, uint32_t i)
{
	const struct groups_row *row = &snapshot->groups.rows[i];

	fprintf(out, "%" PRIu64 ",%s,%" PRIu32 ",", snapshot->time_ns,
			output_horizon_name(snapshot->focus.horizon), row->id);
	write_text(out, row->type);
	fputc(',', out);
	write_text(out, row->path);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.12g,", row->count, row->tainted,
			row->partial, row->rate_per_s);
	if (row->count > 0) {
		fprintf(out, "%.12g", row->mean_ns);
	}
	fputc(',', out);
	if (row->count > 1) {
		fprintf(out, "%.12g,%.12g,", row->sd_ns, row->cov);
	} else {
		fputs(",,", out);
	}
	if (row->count > 0) {
		fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
				row->min_ns, row->max_ns, row->p50_ns, row->p95_ns, row->p99_ns);
	} else {
		fputs(",,,,,", out);
	}
	if (row->count > 1) {
		fprintf(out, "%.12g", row->variation_share);
	}
	write_detection(out, row);
	write_where(out, snapshot->groups.locations ? &snapshot->groups.locations[i] : NULL);
	fputc('\n', out);
}

void output_csv(FILE *out, const struct snapshot *snapshot, bool first)
{
	uint32_t i;

	if (first) {
		fputs("time_ns,horizon,id,type,path,count,tainted,partial,rate_per_s,mean_ns,sd_ns,"
		      "cov,"
		      "min_ns,max_ns,p50_ns,p95_ns,p99_ns,variation_share,"
		      "detection,missing,lossy,cov_low,modes,tail_ratio,objective_ns,shift,"
		      "segment,phi,phi_low,phi_high\n",
				out);
	}
	for (i = 0; i < snapshot->groups.n; i++) {
		write_row(out, snapshot, i);
	}
}
