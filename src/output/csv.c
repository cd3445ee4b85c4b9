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

static void write_row(FILE *out, const struct snapshot *snapshot, const struct groups_row *row)
{
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
	fputc('\n', out);
}

void output_csv(FILE *out, const struct snapshot *snapshot, bool first)
{
	uint32_t i;

	if (first) {
		fputs("time_ns,horizon,id,type,path,count,tainted,partial,rate_per_s,mean_ns,sd_ns,"
		      "cov,"
		      "min_ns,max_ns,p50_ns,p95_ns,p99_ns,variation_share\n",
				out);
	}
	for (i = 0; i < snapshot->groups.n; i++) {
		write_row(out, snapshot, &snapshot->groups.rows[i]);
	}
}
