/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <time.h>

#include "output/formats.h"

static void write_head(FILE *out, const struct snapshot *snapshot)
{
	time_t seconds = (time_t)(snapshot->time_ns / 1000000000u);
	char when[32] = "-";
	struct tm utc;

	if (snapshot->time_ns > 0 && gmtime_r(&seconds, &utc)) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &utc);
	}
	fprintf(out,
			"time %s UTC  horizon %s %.1f s  events %" PRIu64 "  %.0f/s  lost %" PRIu64
			"  late %" PRIu64 "\n",
			when, output_horizon_name(snapshot->focus.horizon),
			(double)snapshot->horizon_ns / 1e9, snapshot->accounting.in,
			snapshot->events_per_s, snapshot->discarded, snapshot->late);
}

static void write_sources(FILE *out, const struct snapshot *snapshot)
{
	char url[OUTPUT_CELL], detail[OUTPUT_CELL];
	uint32_t i;

	fprintf(out, "\n%-40s %-10s %12s %8s %6s %8s\n", "SOURCE", "STATE", "EVENTS", "LOST",
			"LATE", "COPIES");
	for (i = 0; i < snapshot->sources.n; i++) {
		const struct source_row *row = &snapshot->sources.rows[i];

		fprintf(out, "%s ", output_fit(url, row->url, 39));
		fprintf(out, " %-10s %12" PRIu64 " %8" PRIu64 " %6" PRIu64 " %8" PRIu64,
				source_state_name(row->state), row->events, row->discarded,
				row->late, row->duplicates);
		if (row->duplicates) {
			fprintf(out, "  of events that session %s told, too",
					output_safe(detail, row->duplicates_of));
		}
		fprintf(out, "%s%s\n", row->detail[0] ? "  " : "",
				output_safe(detail, row->detail));
	}
}

/* Modes, tail and what is flagged; how many requests are missing until something is said. */
static void write_says(FILE *out, const struct groups_row *row)
{
	char cell[OUTPUT_CELL];

	if (row->missing || row->lossy || row->idle_wait) {
		fprintf(out, "%5s ", "-");
	} else {
		fprintf(out, "%5" PRIu32 " ", row->n_modes);
	}
	if (row->count > 0) {
		fprintf(out, "%6.2f  ", row->tail_ratio);
	} else {
		fprintf(out, "%6s  ", "-");
	}
	if (row->failed) {
		fprintf(out, "%" PRIu64 " of %" PRIu64 " failed ", row->failed, row->ended);
	}
	if (row->idle_wait) {
		fprintf(out, "idle wait\n");
	} else if (row->lossy) {
		fprintf(out, "lossy\n");
	} else if (row->missing) {
		fprintf(out, "%" PRIu32 " more\n", row->missing);
	} else {
		fprintf(out, "%s\n", row->detection ? output_flags(cell, row) : "-");
	}
}

static void write_groups(FILE *out, const struct snapshot *snapshot)
{
	char type[OUTPUT_CELL], path[OUTPUT_CELL];
	char mean[OUTPUT_CELL], p50[OUTPUT_CELL], p95[OUTPUT_CELL], p99[OUTPUT_CELL];
	uint32_t i;

	fprintf(out, "\n %-36s%-32s %8s %9s %8s %8s %8s %8s %6s %6s %5s %6s  %s\n", "GROUP", "PATH",
			"N", "RATE/s", "MEAN", "P50", "P95", "P99", "COV", "SHARE", "MODES", "TAIL",
			"SAYS");
	for (i = 0; i < snapshot->groups.n; i++) {
		const struct groups_row *row = &snapshot->groups.rows[i];
		bool some = row->count > 0;

		fputc(row->tainted ? '~' : ' ', out);
		fprintf(out, "%s ", output_fit(type, row->type, 35));
		fprintf(out, "%s ", output_fit(path, row->path, 31));
		fprintf(out, " %8" PRIu64 " %9.1f %8s %8s %8s %8s ", row->count, row->rate_per_s,
				output_duration(mean, some, row->mean_ns),
				output_duration(p50, some, (double)row->p50_ns),
				output_duration(p95, some, (double)row->p95_ns),
				output_duration(p99, some, (double)row->p99_ns));
		if (row->count > 1) {
			fprintf(out, "%6.2f %5.1f%% ", row->cov, row->variation_share * 100);
		} else {
			fprintf(out, "%6s %6s ", "-", "-");
		}
		write_says(out, row);
	}
}

static void write_unmatched(FILE *out, const struct snapshot *snapshot)
{
	char event[OUTPUT_CELL], why[OUTPUT_CELL];
	uint32_t i;

	if (snapshot->unmatched.n == 0) {
		return;
	}
	fprintf(out, "\n%-48s %12s %12s  %s\n", "IN NO REQUEST", "EVENTS", "UNMATCHED", "WHY");
	for (i = 0; i < snapshot->unmatched.n; i++) {
		const struct unmatched_row *row = &snapshot->unmatched.rows[i];

		fprintf(out, "%s ", output_fit(event, row->event, 47));
		fprintf(out, " %12" PRIu64 " %12" PRIu64 "  %s\n", row->total, row->unmatched,
				output_safe(why, row->why));
	}
}

void output_text(FILE *out, const struct snapshot *snapshot, bool changes_alone)
{
	const struct accounting *a = &snapshot->accounting;

	write_head(out, snapshot);
	for (uint32_t i = 0; i < snapshot->n_warnings; i++) {
		char warning[OUTPUT_CELL];

		fprintf(out, "warning: %s\n", output_safe(warning, snapshot->warnings[i]));
	}
	if (changes_alone) {
		output_text_changes(out, &snapshot->changes);
		return;
	}
	write_sources(out, snapshot);
	output_text_changes(out, &snapshot->changes);
	write_groups(out, snapshot);
	output_text_location(out, &snapshot->groups);
	output_text_waits(out, &snapshot->groups);
	write_unmatched(out, snapshot);
	output_text_state(out, &snapshot->state);
	fprintf(out,
			"\nin %" PRIu64 " = in request %" PRIu64 " + pending %" PRIu64
			" + state only %" PRIu64 " + unmatched %" PRIu64 " + late %" PRIu64
			" + dropped %" PRIu64 "\n",
			a->in, a->in_request, a->pending, a->state_only, a->unmatched, a->late,
			a->dropped);
}
