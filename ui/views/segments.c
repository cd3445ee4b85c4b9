/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/segments.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "layout.h"
#include "pythiatop/snapshot/fields.h"
#include "widgets/bar.h"

#define SHARE_COLUMNS 9 /* "100% ±12" */
#define MOST_PAIRS    4

#define SEGMENT(field) &segment_fields[FIELD_SEGMENT_##field]

static const struct table_column columns[] = {
		{"SEGMENT", 22, 0, TABLE_FLEX, 40, SEGMENT(NAME)},
		{"BELOW", 20, 6, TABLE_FLEX, 70, SEGMENT(WHERE)},
		{"MEAN", 6, 2, TABLE_RIGHT, 0, SEGMENT(MEAN)},
		{"SD", 6, 1, TABLE_RIGHT, 0, SEGMENT(SD)},
		{"TAIL", 6, 1, TABLE_RIGHT, 0, SEGMENT(TAIL)},
		{"OF VARIANCE", 18, 0, TABLE_FLEX | TABLE_GRAPHIC, 50, SEGMENT(PHI)},
};

static const struct group_segment *segment_at(const void *data, uint32_t row)
{
	const struct segments *segments = data;

	return &segments->group->location.segments[row];
}

static uint64_t row_key(const void *data, uint32_t row)
{
	return segment_at(data, row)->context;
}

static const void *row_data(const void *data, uint32_t row)
{
	return segment_at(data, row);
}

static void row_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct group_segment *segment = segment_at(data, row);
	char share[FORMAT_BYTES];

	if (columns[column].field == SEGMENT(NAME)) {
		view_segment_name(cell->text, sizeof(cell->text), segment);
	} else if (columns[column].field == SEGMENT(TAIL) && segment->disagrees) {
		/* What tells another story than the variance does is never left unsaid. */
		snprintf(cell->text, sizeof(cell->text), "≠%s",
				format_share(share, segment->tail_share));
		cell->role = ROLE_WARN;
	}
}

static bool row_paint(
		const void *data, uint32_t row, int column, struct canvas *canvas, struct area area)
{
	const struct group_segment *segment = segment_at(data, row);
	char text[2 * FORMAT_BYTES];

	if (columns[column].field == SEGMENT(WHERE)) {
		view_draw_path(canvas, area.y, area.x, area.width, segment->where);
		return true;
	}
	if (columns[column].field != SEGMENT(PHI)) {
		return false;
	}
	view_share(text, sizeof(text), segment->phi, segment->phi_low, segment->phi_high);
	canvas_text_right(canvas, area.y, area.x, SHARE_COLUMNS, ROLE_STRONG, text);
	bar_share(canvas, area.y, area.x + SHARE_COLUMNS + 1, area.width - SHARE_COLUMNS - 1,
			segment->phi);
	return true;
}

static const struct table_source source = {
		.columns = columns,
		.n_columns = TABLE_COUNT(columns),
		.what = "segments",
		.key = row_key,
		.row = row_data,
		.cell = row_cell,
		.paint = row_paint,
};

void segments_init(struct segments *segments)
{
	table_init(&segments->table, &source);
	table_stay_on_top(&segments->table);
	table_give_order(&segments->table, SEGMENT(PHI));
	segments->group = NULL;
}

void segments_release(struct segments *segments)
{
	table_release(&segments->table);
}

void segments_update(struct segments *segments, const struct group_view *group)
{
	const struct group_location *location = &group->location;

	if (group->id != 0 && group->id != segments->shown_id) {
		segments->shown_id = group->id;
		segments->table.cursor = 0;
		table_stay_on_top(&segments->table);
	}
	segments->group = group;
	table_update(&segments->table, segments, location->located ? location->n_segments : 0);
}

static void draw_title(const struct segments *segments, const struct view_frame *frame,
		struct area line, bool active)
{
	const struct group_location *location = &segments->group->location;
	char title[128] = "segments of the variance", right[128] = "";
	char number[FORMAT_BYTES], sd[FORMAT_BYTES], all[FORMAT_BYTES];

	if (location->located) {
		snprintf(title, sizeof(title), "100%% of the variance of %s requests",
				format_count(number, location->requests));
	}
	if (location->located && location->unlike) {
		snprintf(right, sizeof(right), "a sample of %s: its sd %s, the group's %s",
				format_share(number, location->sampled_share),
				format_duration(sd, location->sample_sd_ns),
				format_duration(all, segments->group->row.sd_ns));
	} else if (location->located && location->skewed > 0) {
		snprintf(right, sizeof(right), "%s left out: clocks differ",
				format_count(number, location->skewed));
	}
	view_pane(frame, line, title, right, active);
}

/* "together: sem.acquire, driver.spawn 12% (r +0.81)" */
static void draw_pair(const struct group_location *location, const struct group_pair *pair,
		const struct view_frame *frame, struct area line)
{
	char text[640], share[FORMAT_BYTES], a[256], b[256];

	if (pair->a >= location->n_segments || pair->b >= location->n_segments) {
		return;
	}
	view_segment_name(a, sizeof(a), &location->segments[pair->a]);
	view_segment_name(b, sizeof(b), &location->segments[pair->b]);
	snprintf(text, sizeof(text), "%s: %s, %s %s of the variance (r %+.2f)",
			pair->share < 0 ? "against each other" : "together", a, b,
			format_share(share, pair->share), pair->correlation);
	canvas_text(frame->canvas, line.y, line.x + 2, line.width - 3, ROLE_DIM, text);
}

/* Who was waited for in the one that the cursor is on; "": not known, or it is no wait. */
static void waited_for(const struct segments *segments, char *text, size_t size)
{
	const struct group_location *location = &segments->group->location;
	uint32_t row = table_row(&segments->table);
	const struct group_wait *wait =
			row < location->n_segments
					? group_wait_of(&segments->group->waits,
							  location->segments[row].context)
					: NULL;

	text[0] = '\0';
	if (wait) {
		group_wait_text(text, size, wait);
	}
}

static int pairs_shown(const struct group_location *location, int height)
{
	int n = height / 5 < MOST_PAIRS ? height / 5 : MOST_PAIRS;

	return (uint32_t)n < location->n_pairs ? n : (int)location->n_pairs;
}

/* Why there is nothing to show. */
static void draw_nothing(
		const struct segments *segments, const struct view_frame *frame, struct area area)
{
	const struct group_location *location = &segments->group->location;
	char text[512];

	view_location(text, sizeof(text), location, NULL);
	if (text[0] == '\0') {
		snprintf(text, sizeof(text), "%s",
				segments->group->row.lossy
						? "too many requests lost events: nothing is said"
						: "the time of its requests does not vary");
	}
	canvas_text(frame->canvas, area.y + 1, area.x + 3, area.width - 6, ROLE_DIM, text);
}

void segments_draw(struct segments *segments, const struct view_frame *frame, struct area area,
		bool active)
{
	const struct group_location *location = &segments->group->location;
	struct area pairs, line, cause = {0};
	char text[512];
	int i, n;

	draw_title(segments, frame, layout_cut_rows(&area, 1), active);
	if (!location->located) {
		draw_nothing(segments, frame, area);
		return;
	}
	waited_for(segments, text, sizeof(text));
	if (text[0] && area.height > 2) {
		line = layout_cut_rows(&area, -1);
		canvas_text(frame->canvas, line.y, line.x + 2, line.width - 3, ROLE_TEXT, text);
	}
	n = pairs_shown(location, area.height);
	pairs = layout_cut_rows(&area, -n);
	if (location->common_cause && area.height > 3) {
		cause = layout_cut_rows(&area, -1);
		view_location(text, sizeof(text), location, NULL);
		canvas_text(frame->canvas, cause.y, cause.x + 2, cause.width - 3, ROLE_WARN, text);
	}
	table_draw(&segments->table, frame->canvas, area, active, frame->search);
	for (i = 0; i < n; i++) {
		draw_pair(location, &location->pairs[i], frame, layout_cut_rows(&pairs, 1));
	}
}

bool segments_act(struct segments *segments, enum action action, struct view_call *call)
{
	const struct group_location *location = &segments->group->location;
	uint32_t row = table_row(&segments->table);

	switch (action) {
	case ACTION_ENTER:
		if (row == UINT32_MAX) {
			return false;
		}
		call->go = SCREEN_TREE;
		call->group_id = segments->group->id;
		call->context = location->segments[row].context;
		return true;
	case ACTION_WORST:
		return row != UINT32_MAX &&
		       table_select(&segments->table, location->segments[0].context);
	default:
		return table_act(&segments->table, action);
	}
}
