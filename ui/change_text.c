/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "change_text.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_add.h"
#include "format.h"

#define VALUE_BYTES (FORMAT_BYTES + 2)

/* What a change is: in a column, and in a sentence. */
static const struct {
	const char *kind, *does;
} words[] = {
		[CHANGE_SLOWER] = {"slower", "takes longer itself"},
		[CHANGE_TRANSIT] = {"transit", "takes longer to reach, or to hear from"},
		[CHANGE_MORE] = {"calls +", "makes more calls"},
		[CHANGE_FEWER] = {"calls -", "makes fewer calls"},
		[CHANGE_FASTER] = {"faster", "takes less itself"},
		[CHANGE_RATE] = {"rate", ""},
		[CHANGE_SPLIT] = {"split", "requests go other ways"},
		[CHANGE_MERGE] = {"merge", "requests of several groups go one way"},
};

const char *change_kind(enum change_kind kind)
{
	return words[kind].kind;
}

void change_place(char *out, size_t size, const struct change_row *row)
{
	bool alone = strcmp(row->service, row->provider) == 0;

	out[0] = '\0';
	switch (row->kind) {
	case CHANGE_RATE:
		text_add(out, size, "%s", row->type);
		return;
	case CHANGE_SPLIT:
	case CHANGE_MERGE:
		text_add(out, size, "%s, from %s to %s", row->type, row->from, row->others);
		return;
	case CHANGE_TRANSIT:
		text_add(out, size, "%s, from and to %s", row->service, row->others);
		return;
	default:
		text_add(out, size, "%s%s%s%s%s", row->service,
				row->provider[0] && !alone ? " " : "", alone ? "" : row->provider,
				row->provider[0] ? ":" : " ", row->name);
		break;
	}
	if (row->kind == CHANGE_MORE || row->kind == CHANGE_FEWER) {
		text_add(out, size, ", to %s", row->others);
	}
}

void change_value(char *out, size_t size, const struct change_row *row, double value)
{
	char text[FORMAT_BYTES];

	switch (row->kind) {
	case CHANGE_MORE:
	case CHANGE_FEWER:
		snprintf(out, size, "%.2f", value);
		break;
	case CHANGE_RATE:
		snprintf(out, size, "%s", format_rate(text, value));
		break;
	case CHANGE_SPLIT:
	case CHANGE_MERGE:
		format_share(text, value);
		snprintf(out, size, "%s", text);
		break;
	default:
		snprintf(out, size, "%s", format_duration(text, value));
		break;
	}
}

void change_signed(char *out, size_t size, double ns)
{
	char text[FORMAT_BYTES];

	snprintf(out, size, "%s%s", ns < 0 ? "-" : "+", format_duration(text, fabs(ns)));
}

void change_interval(char *out, size_t size, const struct change_row *row)
{
	char low[VALUE_BYTES], high[VALUE_BYTES];

	change_signed(low, sizeof(low), row->added_low);
	change_signed(high, sizeof(high), row->added_high);
	snprintf(out, size, "%s to %s", low, high);
}

static bool is_way(const struct change_row *row)
{
	return row->kind == CHANGE_SPLIT || row->kind == CHANGE_MERGE;
}

/* "2.00ms -> 9.98ms (+7.70ms to +8.20ms)" */
static void append_values(char *out, size_t size, const struct change_row *row)
{
	char before[VALUE_BYTES], after[VALUE_BYTES], low[VALUE_BYTES], high[VALUE_BYTES];
	bool times = row->kind == CHANGE_SLOWER || row->kind == CHANGE_TRANSIT ||
		     row->kind == CHANGE_FASTER;

	change_value(before, sizeof(before), row, row->before);
	change_value(after, sizeof(after), row, row->after);
	if (times) {
		change_signed(low, sizeof(low), row->difference_low);
		change_signed(high, sizeof(high), row->difference_high);
	} else {
		snprintf(low, sizeof(low), "%+.2f", row->difference_low);
		snprintf(high, sizeof(high), "%+.2f", row->difference_high);
	}
	text_add(out, size, ": %s -> %s (%s to %s)%s", before, after, low, high,
			row->kind == CHANGE_RATE ? " a second"
			: times                  ? " a span"
			: is_way(row)            ? " of the type's requests"
						 : " calls a span");
}

/* The spans right above a place tell most of where it is. */
static const char *end_of_chain(const char *chain)
{
	static const char separator[] = "›";
	const char *last = chain, *before = chain, *at = chain;

	while ((at = strstr(at, separator)) != NULL) {
		at += sizeof(separator) - 1;
		before = last;
		last = at;
	}
	return before;
}

static void append_since(char *out, size_t size, const struct change_row *row)
{
	char at[FORMAT_BYTES], low[FORMAT_BYTES], high[FORMAT_BYTES];

	if (row->since_ns) {
		text_add(out, size, "; since %s (%s to %s)", format_clock(at, row->since_ns),
				format_clock(low, row->since_low_ns),
				format_clock(high, row->since_high_ns));
	} else if (row->since_begin) {
		text_add(out, size, "; from the begin on");
	}
}

void change_sentence(char *out, size_t size, const struct change_row *row)
{
	out[0] = '\0';
	if (row->kind == CHANGE_RATE) {
		text_add(out, size, "its requests come %s often",
				row->after > row->before ? "more" : "less");
	} else {
		text_add(out, size, "%s", words[row->kind].does);
	}
	append_values(out, size, row);
	if (row->types > 1) {
		text_add(out, size, ", in %" PRIu32 " types of requests", row->types);
	} else if (row->type[0] && row->kind != CHANGE_RATE) {
		text_add(out, size, ", in %s", row->type);
	}
	if (row->where[0]) {
		text_add(out, size, ", below %s", end_of_chain(row->where));
	}
	if (row->waits_for[0]) {
		text_add(out, size, "; no more than messages to %s do", row->waits_for);
	}
	if (is_way(row) && row->name[0]) {
		text_add(out, size, "; it begins in %s of %s", row->name, row->service);
	}
	if (row->path_unknown && !is_way(row)) {
		text_add(out, size, "; what it adds to requests is not known");
	}
	text_add(out, size, "%s%s%s%s", row->by_clocks ? "; by the clocks of both alone" : "",
			row->callee_too ? "; its own time grew, too" : "",
			row->waited_for ? "; so did the wait for it" : "",
			row->off_path ? "; no request is surely slower for it" : "");
	append_since(out, size, row);
	if (!row->sure) {
		text_add(out, size, "; not sure: chance makes such a one in %.0f%% of comparisons",
				row->p * 100);
	}
}

bool change_is_sure(const struct changes_view *changes)
{
	return changes->n > 0 && changes->rows[0].sure;
}

void change_headline(char *out, size_t size, const struct changes_view *changes)
{
	const struct change_row *first = changes->rows;
	const char *file = changes->baseline && changes->baseline[0] ? changes->baseline : "before";
	char place[512], added[VALUE_BYTES];

	out[0] = '\0';
	if (!changes->compared) {
		return;
	}
	if (!change_is_sure(changes)) {
		text_add(out, size, "nothing has surely changed since %s", file);
		return;
	}
	change_place(place, sizeof(place), first);
	text_add(out, size, "CHANGED %s", place);
	if (first->kind == CHANGE_RATE) {
		text_add(out, size, ": comes %s often",
				first->after > first->before ? "more" : "less");
	} else if (first->path_unknown) {
		text_add(out, size, " %s", words[first->kind].does);
	} else {
		change_signed(added, sizeof(added), first->added_ns_per_s);
		text_add(out, size, " %s, %s/s", words[first->kind].does, added);
	}
	if (changes->n > 1) {
		text_add(out, size, "; %" PRIu32 " more", changes->n - 1);
	}
}
