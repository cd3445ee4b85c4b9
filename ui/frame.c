/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "frame.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "layout.h"
#include "step_text.h"

#define MAX_SEGMENTS 12

/* Behind by more than this, a live source deserves attention. */
#define LAG_WARN_NS 3000000000u

struct segment {
	char text[128];
	enum role role;
	int priority;
	bool right;
};

struct segments {
	struct segment items[MAX_SEGMENTS];
	int n;
};

__attribute__((format(printf, 5, 6))) static void add(struct segments *segments, enum role role,
		int priority, bool right, const char *format, ...)
{
	struct segment *segment = &segments->items[segments->n++];
	va_list args;

	segment->role = role;
	segment->priority = priority;
	segment->right = right;
	va_start(args, format);
	vsnprintf(segment->text, sizeof(segment->text), format, args);
	va_end(args);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Whole seconds where a fraction would only flicker. */
static char *horizon_length(char out[FORMAT_BYTES], uint64_t length_ns)
{
	if (length_ns >= 10000000000u) {
		length_ns -= length_ns % 1000000000u;
	}
	return format_period(out, (double)length_ns);
}

static void add_horizon(struct segments *segments, const struct snapshot *snapshot)
{
	char length[FORMAT_BYTES], longest[FORMAT_BYTES];

	switch (snapshot->focus.horizon) {
	case HORIZON_EPOCH:
		horizon_length(length, snapshot->horizon_ns);
		horizon_length(longest, snapshot->horizon_longest_ns);
		if (strcmp(length, longest) != 0) {
			add(segments, ROLE_HORIZON, 0, false, "epoch %s..%s", length, longest);
		} else {
			add(segments, ROLE_HORIZON, 0, false, "epoch %s", length);
		}
		break;
	case HORIZON_ALL:
		add(segments, ROLE_HORIZON, 0, false, "all %s",
				horizon_length(length, snapshot->horizon_ns));
		break;
	default:
		add(segments, ROLE_HORIZON, 0, false, "last %s",
				horizon_length(length, snapshot->window_ns));
		break;
	}
}

/* That the console may act, or has acted, is never out of sight. */
static void add_mode(struct segments *segments, const struct snapshot *snapshot)
{
	const struct steps_view *steps = &snapshot->steps;

	if (steps->mode != MODE_OBSERVE) {
		add(segments, steps->mode == MODE_AUTOPILOT ? ROLE_TITLE_WARN : ROLE_TITLE_GOOD, 0,
				false, "%s", step_mode_name(steps->mode));
	}
	if (steps->enabled > 0) {
		add(segments, ROLE_TITLE_GOOD, 2, false, "+%" PRIu32 " on", steps->enabled);
	}
}

/* What may make the figures wrong stays in sight, whatever else has no room. */
static void add_warnings(struct segments *segments, const struct snapshot *snapshot)
{
	char text[FORMAT_BYTES];

	if (snapshot->discarded > 0) {
		add(segments, ROLE_LOST, 0, true, " LOST %s ",
				format_count(text, snapshot->discarded));
	}
	if (snapshot->unrecorded > 0) {
		add(segments, ROLE_TITLE_WARN, 0, true, "REC %s",
				format_share(text, 1 - snapshot->unrecorded));
	}
	if (snapshot->late > 0) {
		add(segments, ROLE_TITLE_WARN, 0, true, "LATE %s",
				format_count(text, snapshot->late));
	}
	if (snapshot->lag_ns > LAG_WARN_NS) {
		add(segments, ROLE_TITLE_WARN, 0, true, "LAG %s",
				format_duration(text, (double)snapshot->lag_ns));
	}
}

static void add_progress(struct segments *segments, const struct snapshot *snapshot)
{
	char text[FORMAT_BYTES];

	if (snapshot->ended) {
		add(segments, ROLE_TITLE_GOOD, 1, true, "at its end");
	} else if (snapshot->progress >= 0) {
		add(segments, ROLE_TITLE_TEXT, 1, true, "read %s",
				format_share(text, snapshot->progress));
	}
	if (snapshot->lag_ns > 0 && snapshot->lag_ns <= LAG_WARN_NS) {
		add(segments, ROLE_TITLE_TEXT, 3, true, "lag %.1fs",
				(double)snapshot->lag_ns / 1e9);
	}
	if (snapshot->ended) {
		add(segments, ROLE_TITLE_TEXT, 2, true, "%s ev",
				format_count(text, snapshot->accounting.in));
	} else {
		add(segments, ROLE_TITLE_TEXT, 2, true, "%s ev/s",
				format_count(text, (uint64_t)(snapshot->events_per_s + 0.5)));
	}
}

static void draw_segments(struct segments *segments, struct canvas *canvas, struct area line)
{
	struct layout_item items[MAX_SEGMENTS];
	int i, x = line.x, end = line.x + line.width, right = 0;

	for (i = 0; i < segments->n; i++) {
		items[i].width = text_width(segments->items[i].text, canvas->ascii);
		items[i].priority = segments->items[i].priority;
	}
	layout_fit(items, segments->n, 2, line.width);
	for (i = 0; i < segments->n; i++) {
		if (items[i].kept && segments->items[i].right) {
			right += items[i].width + 2;
		}
	}
	for (i = 0; i < segments->n; i++) {
		const struct segment *segment = &segments->items[i];

		if (!items[i].kept) {
			continue;
		}
		if (segment->right && x < end - right + 2) {
			x = end - right + 2;
		}
		canvas_text(canvas, line.y, x, end - x, segment->role, segment->text);
		x += items[i].width + 2;
		right -= segment->right ? items[i].width + 2 : 0;
	}
}

void frame_title(struct canvas *canvas, struct area line, const struct snapshot *snapshot,
		const char *target)
{
	struct segments segments = {.n = 0};

	canvas_fill(canvas, line.y, line.x, line.width, ROLE_TITLE_TEXT, " ");
	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	add(&segments, ROLE_TITLE, 4, false, "pythiatop");
	if (target[0]) {
		add(&segments, ROLE_TITLE_TEXT, 1, false, "%.60s", target);
	}
	if (snapshot->hosts > 0) {
		add(&segments, ROLE_TITLE_TEXT, 5, false, "%" PRIu32 " host%s", snapshot->hosts,
				plural(snapshot->hosts));
	}
	if (snapshot->sessions > 0) {
		add(&segments, ROLE_TITLE_TEXT, 6, false, "%" PRIu32 " session%s",
				snapshot->sessions, plural(snapshot->sessions));
	}
	add_horizon(&segments, snapshot);
	add_mode(&segments, snapshot);
	add_warnings(&segments, snapshot);
	add_progress(&segments, snapshot);
	draw_segments(&segments, canvas, line);
}

void frame_paused(struct canvas *canvas, struct area line, const struct snapshot *snapshot,
		const struct focus *focus, const struct keymap *keymap)
{
	char back[FORMAT_BYTES], window[FORMAT_BYTES], at[FORMAT_BYTES], on[64], text[256];

	keymap_text(keymap, ACTION_FREEZE, on, sizeof(on));
	format_period(window, (double)snapshot->window_ns);
	if (!snapshot->pinned) {
		snprintf(text, sizeof(text), "  P A U S E D   holding the window ...");
	} else if (focus->back_ns == 0) {
		snprintf(text, sizeof(text), "  P A U S E D   at %s   %s goes on%s",
				format_clock(at, snapshot->time_ns), on,
				snapshot->pin_trimmed
						? "   (oldest detail has gone: no memory left)"
						: "");
	} else {
		snprintf(text, sizeof(text), "  P A U S E D   at %s   %s back of %s   %s goes on%s",
				format_clock(at, snapshot->time_ns),
				format_period(back, (double)focus->back_ns), window, on,
				snapshot->pin_trimmed
						? "   (oldest detail has gone: no memory left)"
						: "");
	}
	canvas_fill(canvas, line.y, line.x, line.width, ROLE_PAUSED, " ");
	canvas_text(canvas, line.y, line.x, line.width, ROLE_PAUSED, text);
}

/* Actions of the key bar, and what has its place where not all fit: larger goes first. */
static const struct {
	enum action action;
	int priority;
	uint32_t only; /* screens that it is for, a bit each; 0: all */
} bar[] = {
		{ACTION_GROUPS, 1, 0},
		{ACTION_GROUP, 1, 0},
		{ACTION_TREE, 1, 0},
		{ACTION_REQUEST, 1, 0},
		{ACTION_STEPS, 1, 0},
		{ACTION_STATE, 1, 0},
		{ACTION_SOURCES, 1, 0},
		/* Others name the key where there is a baseline. */
		{ACTION_CHANGES, 1, 1u << SCREEN_CHANGES},
		{ACTION_SHAPES, 4, 1u << SCREEN_GROUP | 1u << SCREEN_SHAPES},
		{ACTION_THREAD, 3, 1u << SCREEN_REQUEST | 1u << SCREEN_TREE},
		{ACTION_COMPARE, 2,
				1u << SCREEN_REQUEST | 1u << SCREEN_GROUP | 1u << SCREEN_SHAPES},
		{ACTION_TAG, 5, 1u << SCREEN_REQUEST | 1u << SCREEN_GROUP},
		{ACTION_ALL, 2, 1u << SCREEN_TREE},
		{ACTION_METRIC, 4, 1u << SCREEN_GROUPS},
		{ACTION_FOREST, 5, 1u << SCREEN_STATE},
		{ACTION_HELP, 0, 0},
		{ACTION_SEARCH, 2, 0},
		{ACTION_FILTER, 4, 0},
		{ACTION_SORT, 6, 0},
		{ACTION_HORIZON, 5, 0},
		{ACTION_WORST, 7, 0},
		{ACTION_FREEZE, 3, ~(1u << SCREEN_HELP)},
		{ACTION_QUIT, 3, 0},
};

#define BAR_WANTED 3 /* the largest priority of what one should know of */
#define BAR_ITEMS  ((int)(sizeof(bar) / sizeof(bar[0])))

/* Something that one should know of has no room. */
static bool leaves_out(const struct layout_item *items)
{
	int i;

	for (i = 0; i < BAR_ITEMS; i++) {
		if (!items[i].kept && items[i].priority <= BAR_WANTED) {
			return true;
		}
	}
	return false;
}

void frame_keys(struct canvas *canvas, struct area line, const struct keymap *keymap,
		enum screen screen, enum action here)
{
	struct layout_item items[BAR_ITEMS];
	char keys[BAR_ITEMS][KEY_NAME_BYTES + 1];
	int i, x = line.x + 1, gap = 2;

	for (i = 0; i < BAR_ITEMS; i++) {
		key_text(keymap->keys[bar[i].action][0], keys[i]);
		/* "1groups" and "/search" can be told apart, "ffilter" cannot. */
		if (isalpha((unsigned char)keys[i][strlen(keys[i]) - (keys[i][0] != 0)])) {
			strcat(keys[i], " ");
		}
		items[i].width = text_width(keys[i], canvas->ascii) +
				 (int)strlen(action_label(bar[i].action));
		items[i].priority = bar[i].priority;
		if (bar[i].only && !(bar[i].only & 1u << screen)) {
			items[i].width = line.width + 1; /* never fits */
			items[i].priority = INT_MAX;
		}
	}
	layout_fit(items, BAR_ITEMS, gap, line.width - 2);
	if (leaves_out(items)) {
		gap = 1; /* closer, so that more of them have room */
		layout_fit(items, BAR_ITEMS, gap, line.width - 2);
	}
	for (i = 0; i < BAR_ITEMS; i++) {
		int from = x;

		if (!items[i].kept) {
			continue;
		}
		x += canvas_text(canvas, line.y, x, line.width, ROLE_KEY, keys[i]);
		x += canvas_text(canvas, line.y, x, line.width, ROLE_KEY_LABEL,
				action_label(bar[i].action));
		if (bar[i].action == here) {
			canvas_paint(canvas, line.y, from, x - from, ROLE_KEY_HERE);
		}
		x += gap;
	}
}
