/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "output/formats.h"

/* With its sign, where it is a difference. */
static const char *signed_duration(char *cell, double ns)
{
	char size[OUTPUT_CELL];

	snprintf(cell, OUTPUT_CELL, "%s%.24s", ns < 0 ? "-" : "+",
			output_duration(size, true, fabs(ns)));
	return cell;
}

/* Before, after, and the interval of the difference. */
static void write_values(FILE *out, const struct change_row *row)
{
	char before[OUTPUT_CELL], after[OUTPUT_CELL], low[OUTPUT_CELL], high[OUTPUT_CELL];

	switch (row->kind) {
	case CHANGE_SLOWER:
	case CHANGE_TRANSIT:
	case CHANGE_FASTER:
		fprintf(out, "%s -> %s (%s to %s)", output_duration(before, true, row->before),
				output_duration(after, true, row->after),
				signed_duration(low, row->difference_low),
				signed_duration(high, row->difference_high));
		break;
	case CHANGE_MORE:
	case CHANGE_FEWER:
	case CHANGE_RATE:
		fprintf(out, "%.2f -> %.2f (%+.2f to %+.2f)%s", row->before, row->after,
				row->difference_low, row->difference_high,
				row->kind == CHANGE_RATE ? " a second" : " a span");
		break;
	case CHANGE_SPLIT:
	case CHANGE_MERGE:
		fprintf(out, "%.0f %% -> %.0f %% (%+.0f to %+.0f)", 100 * row->before,
				100 * row->after, 100 * row->difference_low,
				100 * row->difference_high);
		break;
	}
}

static const char *clock_of(char *cell, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000u);
	char clock[16] = "-";
	struct tm utc;

	if (gmtime_r(&seconds, &utc)) {
		strftime(clock, sizeof(clock), "%H:%M:%S", &utc);
	}
	snprintf(cell, OUTPUT_CELL, "%s.%03u", clock, (unsigned int)(time_ns / 1000000u % 1000u));
	return cell;
}

static void write_since(FILE *out, const struct change_row *row)
{
	char at[OUTPUT_CELL], low[OUTPUT_CELL], high[OUTPUT_CELL];

	if (row->since_ns) {
		fprintf(out, "; since %s (%s to %s UTC)", clock_of(at, row->since_ns),
				clock_of(low, row->since_low_ns),
				clock_of(high, row->since_high_ns));
	} else if (row->since_begin) {
		fprintf(out, "; from the begin on");
	}
}

static void write_place(FILE *out, const struct change_row *row)
{
	char service[OUTPUT_CELL], provider[OUTPUT_CELL], name[OUTPUT_CELL];

	fprintf(out, "%s  ", output_safe(service, row->service));
	if (row->provider[0]) {
		fprintf(out, "%s:", output_safe(provider, row->provider));
	}
	fprintf(out, "%s ", output_safe(name, row->name));
}

/* Requests that go another way than before. */
static void write_ways(FILE *out, uint32_t number, const struct change_row *row)
{
	char type[OUTPUT_CELL], from[OUTPUT_CELL], others[OUTPUT_CELL];

	fprintf(out, "%3" PRIu32 " %9s %-22s requests of %s: those of %s are now of %s: ", number,
			"-", "", output_safe(type, row->type), output_safe(from, row->from),
			output_safe(others, row->others));
	write_values(out, row);
	if (row->name[0]) {
		fprintf(out, "; it begins in ");
		write_place(out, row);
	}
	write_since(out, row);
	fputc('\n', out);
}

static void write_change(FILE *out, uint32_t number, const struct change_row *row)
{
	char added[OUTPUT_CELL], low[OUTPUT_CELL], high[OUTPUT_CELL], others[OUTPUT_CELL];
	char type[OUTPUT_CELL];

	if (row->kind == CHANGE_RATE) {
		fprintf(out, "%3" PRIu32 " %9s %-22s requests of %s come %s often: ", number, "",
				"", output_safe(type, row->type),
				row->after > row->before ? "more" : "less");
		write_values(out, row);
		write_since(out, row);
		fputc('\n', out);
		return;
	}
	if (row->kind == CHANGE_SPLIT || row->kind == CHANGE_MERGE) {
		write_ways(out, number, row);
		return;
	}
	signed_duration(low, row->added_low);
	signed_duration(high, row->added_high);
	if (row->path_unknown) { /* what it adds to requests is not known */
		fprintf(out, "%3" PRIu32 " %9s %-22s ", number, "-", "");
	} else {
		fprintf(out, "%3" PRIu32 " %9s %9s to %9s ", number,
				signed_duration(added, row->added_ns_per_s), low, high);
	}
	write_place(out, row);
	output_safe(others, row->others);
	switch (row->kind) {
	case CHANGE_SLOWER:
	case CHANGE_FASTER:
		fprintf(out, "takes %s itself: ", row->kind == CHANGE_SLOWER ? "longer" : "less");
		break;
	case CHANGE_TRANSIT:
		fprintf(out, "to or from %s takes longer: ", others);
		break;
	case CHANGE_MORE:
	case CHANGE_FEWER:
		fprintf(out, "calls %s %s often: ", others,
				row->kind == CHANGE_MORE ? "more" : "less");
		break;
	case CHANGE_RATE:
	case CHANGE_SPLIT:
	case CHANGE_MERGE:
		break;
	}
	write_values(out, row);
	if (row->types > 1) {
		fprintf(out, ", in %" PRIu32 " types", row->types);
	} else if (row->type[0]) {
		fprintf(out, ", in %s", output_safe(type, row->type));
	}
	if (!row->sure) {
		fprintf(out, "; chance makes such a one in %.0f %% of comparisons", row->p * 100);
	}
	if (row->waits_for[0]) {
		fprintf(out, "; no more than messages to %s do", output_safe(type, row->waits_for));
	}
	fprintf(out, "%s%s%s%s", row->by_clocks ? "; by the clocks of both alone" : "",
			row->callee_too ? "; its own time grew, too" : "",
			row->waited_for ? "; so did the wait for it" : "",
			row->off_path ? "; no request is surely slower for it" : "");
	write_since(out, row);
	fputc('\n', out);
}

static void write_type(FILE *out, const struct change_type *row)
{
	char type[OUTPUT_CELL], before[OUTPUT_CELL], after[OUTPUT_CELL];

	fprintf(out, "%s %9" PRIu64 " %9" PRIu64 " %9.2f %9.2f %9s %9s\n",
			output_fit(type, row->type, 39), row->requests[0], row->requests[1],
			row->rate_per_s[0], row->rate_per_s[1],
			output_duration(before, row->mean_ns[0] > 0, row->mean_ns[0]),
			output_duration(after, row->mean_ns[1] > 0, row->mean_ns[1]));
}

void output_text_changes(FILE *out, const struct changes_view *changes)
{
	char text[OUTPUT_CELL];

	if (!changes->compared) {
		return;
	}
	fprintf(out, "\nCHANGED since %s (%.1f s, now %.1f s): ",
			changes->baseline[0] ? output_safe(text, changes->baseline) : "before",
			(double)changes->before_length_ns / 1e9,
			(double)changes->after_length_ns / 1e9);
	if (changes->n == 0 || !changes->rows[0].sure) {
		fprintf(out, "nothing that chance would not make of %" PRIu32 " differences%s\n",
				changes->tests, changes->n ? "; the largest, not sure:" : "");
	} else {
		fprintf(out, "%" PRIu32 " of %" PRIu32 " differences looked at\n", changes->n,
				changes->tests);
	}
	if (changes->n) {
		fprintf(out, "%3s %9s %-22s %s\n", "#", "ADDED/s", "  95 % INTERVAL", "WHAT");
	}
	for (uint32_t i = 0; i < changes->n; i++) {
		write_change(out, i + 1, &changes->rows[i]);
	}
	fprintf(out, "\n%-39s %9s %9s %9s %9s %9s %9s\n", "TYPE", "REQUESTS", "NOW", "RATE/s",
			"NOW", "MEAN", "NOW");
	for (uint32_t i = 0; i < changes->n_all_types; i++) {
		write_type(out, &changes->all_types[i]);
	}
	if (changes->n_types_gone) {
		fprintf(out, "types no longer there: %" PRIu32 ": %s\n", changes->n_types_gone,
				output_safe(text, changes->types_gone));
	}
	if (changes->n_types_new) {
		fprintf(out, "types not there before: %" PRIu32 ": %s\n", changes->n_types_new,
				output_safe(text, changes->types_new));
	}
	if (changes->n_groups_gone) {
		fprintf(out, "groups no longer there: %" PRIu32 ": %s\n", changes->n_groups_gone,
				output_safe(text, changes->groups_gone));
	}
	if (changes->n_groups_new) {
		fprintf(out, "groups not there before: %" PRIu32 ": %s\n", changes->n_groups_new,
				output_safe(text, changes->groups_new));
	}
	if (changes->n_cut) {
		fprintf(out, "requests cut off by the begin of a recording: %" PRIu64 ": %s\n",
				changes->cut_requests, output_safe(text, changes->cut));
	}
	fprintf(out,
			"calling contexts compared: %" PRIu32 ", no longer there: %" PRIu32
			", not there before: %" PRIu32 "\n",
			changes->n_contexts, changes->n_contexts_gone, changes->n_contexts_new);
}
