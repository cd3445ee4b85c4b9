/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format.h"
#include "layout.h"
#include "views/tree_screen.h"

/* Screen 3: the calling contexts of a group, or of all groups, and where its time varies. */

#define NONE   UINT32_MAX
#define NARROW 60 /* below, names need the room */

/* ---- rows ---- */

static uint32_t row_parent(const void *data, uint32_t row)
{
	return tree_screen_of(data)->tree->rows[row].parent;
}

static uint64_t row_key(const void *data, uint32_t row, uint64_t parent)
{
	const struct tree_row *at = &tree_screen_of(data)->tree->rows[row];

	return view_chain_key(at->provider, at->name, parent);
}

static const struct outline_source rows = {.parent = row_parent, .key = row_key};

static enum order order_of(const struct tree_screen *screen)
{
	bool of_variance = screen->order == BY_SHARE || screen->order == BY_OWN;

	if (!screen->ordered) {
		return screen->tree->located ? BY_SHARE : BY_TIME;
	}
	return of_variance && !screen->tree->located ? BY_TIME : screen->order;
}

static double weight(const struct tree_row *row, enum order order)
{
	switch (order) {
	case BY_SHARE:
		return row->phi_below;
	case BY_SELF:
		return row->self_ns;
	case BY_OWN:
		return row->segment_sd_ns;
	default:
		return row->total_ns;
	}
}

static int compare_rows(const void *data, uint32_t a, uint32_t b)
{
	const struct tree_screen *screen = tree_screen_of(data);
	enum order order = order_of(screen);
	double one = weight(&screen->tree->rows[a], order);
	double other = weight(&screen->tree->rows[b], order);
	int before = one > other ? -1 : one < other;

	return screen->reverse ? -before : before;
}

/* Own time with all below: children come after their parent. */
static void sum_times(struct tree_screen *screen)
{
	const struct tree_view *tree = screen->tree;
	uint32_t row;

	screen->n = tree->n;
	if (!array_reserve(&screen->self_ns, &screen->room, tree->n)) {
		screen->n = screen->room; /* shows the first rows */
	}
	screen->all_ns = 0;
	for (row = 0; row < screen->n; row++) {
		screen->self_ns[row] = tree->rows[row].self_ns;
		screen->all_ns += tree->rows[row].self_ns;
	}
	for (row = screen->n; row-- > 0;) {
		if (tree->rows[row].parent < row) {
			screen->self_ns[tree->rows[row].parent] += screen->self_ns[row];
		}
	}
}

/* Puts rows in lines anew. */
static void arrange(struct tree_screen *screen)
{
	/* Of own time the column of time shows the sum, that of SELF one span's. */
	const int columns[] = {[BY_SHARE] = C_SHARE,
			[BY_TIME] = C_TOTAL,
			[BY_SELF] = screen->tree->located ? -1 : C_SHARE,
			[BY_OWN] = C_OWN};

	screen->filtered = screen->table.filter.set;
	outline_update(&screen->outline, screen, screen->n, compare_rows, screen->filtered);
	for (uint32_t i = 0; i < screen->n && !screen->fails; i++) {
		screen->fails = screen->tree->rows[i].failed > 0;
	}
	screen->table.source = tree_source(screen->tree->located, screen->fails);
	screen->table.default_column = columns[order_of(screen)];
	screen->table.default_reverse = screen->reverse;
	table_update(&screen->table, screen, screen->outline.lines);
}

static void select_row(struct tree_screen *screen, uint32_t row)
{
	outline_reveal(&screen->outline, row);
	arrange(screen);
	table_select(&screen->table, outline_key(&screen->outline, row));
}

/* ---- the screen ---- */

static void *tree_create(void)
{
	struct tree_screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		table_init(&screen->table, tree_source(false, false));
		outline_init(&screen->outline, &rows);
	}
	return screen;
}

static void tree_destroy(void *view)
{
	struct tree_screen *screen = view;

	table_release(&screen->table);
	outline_release(&screen->outline);
	free(screen->self_ns);
	free(screen);
}

static uint32_t tree_parts(const void *view, const struct snapshot *snapshot)
{
	(void)view;
	(void)snapshot;
	return FOCUS_TREE;
}

static void tree_focus(const void *view, struct focus *focus)
{
	focus->tree_of_all = tree_screen_of(view)->all;
}

static void tree_enter(void *view, const struct view_call *call)
{
	struct tree_screen *screen = view;

	screen->context = call->context;
	screen->chain = call->chain;
	screen->proposed = call->proposed;
	if (call->group_id != 0) {
		screen->all = false;
	}
}

/* The cursor goes where the person came for, once its tree is there. */
static void find_context(struct tree_screen *screen)
{
	uint32_t row;

	if (screen->context == 0 || screen->n == 0 || screen->tree->all != screen->all) {
		return;
	}
	for (row = 0; row < screen->n; row++) {
		if (screen->tree->rows[row].context == screen->context) {
			select_row(screen, row);
			break;
		}
	}
	screen->context = 0;
}

/* The same, where the names that lead there are known. */
static void find_chain(struct tree_screen *screen)
{
	if (screen->chain == 0 || screen->n == 0 || screen->tree->all != screen->all) {
		return;
	}
	for (uint32_t row = 0; row < screen->n; row++) {
		if (outline_key(&screen->outline, row) == screen->chain) {
			select_row(screen, row);
			break;
		}
	}
	screen->chain = 0;
}

/* To what is proposed, once the tree that it is in is there. */
static void find_proposed(struct tree_screen *screen)
{
	if (!screen->proposed || screen->n == 0 || screen->tree->all != screen->all) {
		return;
	}
	for (uint32_t row = 0; row < screen->n; row++) {
		if (screen->tree->rows[row].mark == TREE_PROPOSED) {
			select_row(screen, row);
			break;
		}
	}
	screen->proposed = false;
}

static void tree_update(void *view, const struct snapshot *snapshot)
{
	struct tree_screen *screen = view;
	const struct tree_view *tree = &snapshot->tree;
	uint64_t shown = tree->all ? UINT64_MAX : tree->group_id;

	screen->tree = tree;
	screen->present = snapshot->focus.parts & FOCUS_TREE;
	if (screen->present && !tree->all && tree->group_id == 0 && snapshot->focus.group_id == 0) {
		screen->all = true; /* there is no group */
	}
	if (shown != 0 && shown != screen->shown) {
		screen->shown = shown;
		screen->table.cursor = 0;
		screen->table.cursor_key = 0;
		outline_restart(&screen->outline);
	}
	sum_times(screen);
	arrange(screen);
	find_context(screen);
	if (snapshot->focus.screen == SCREEN_TREE) {
		find_chain(screen);
		find_proposed(screen);
	}
}

static void draw_breadcrumbs(
		const struct tree_screen *screen, const struct view_frame *frame, struct area line)
{
	const struct tree_view *tree = screen->tree;
	char name[512], right[64], count[FORMAT_BYTES];

	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	right[0] = '\0';
	if (line.width >= NARROW) {
		snprintf(right, sizeof(right), "%s request%s", format_count(count, tree->requests),
				tree->requests == 1 ? "" : "s");
	}
	if (tree->all) {
		view_breadcrumbs(frame, line, "calling contexts of all groups", NULL, right);
	} else if (tree->group_id == 0) {
		view_breadcrumbs(frame, line, "group", "calling contexts", "");
	} else {
		view_group_name(name, sizeof(name), tree->type, tree->path);
		view_breadcrumbs(frame, line, name, "calling contexts", right);
	}
}

/* What the shares speak of, or why there are none. */
static void variance_text(const struct tree_view *tree, char *out, size_t size)
{
	char count[FORMAT_BYTES];

	if (tree->all) {
		snprintf(out, size, "all groups together: time only, variance is of one group");
	} else if (tree->lossy) {
		snprintf(out, size, "too many requests lost events: nothing is said of variance");
	} else if (tree->missing > 0) {
		snprintf(out, size, "not yet: %" PRIu32 " more request%s", tree->missing,
				tree->missing == 1 ? "" : "s");
	} else if (!tree->located) {
		snprintf(out, size, "the time of its requests does not vary");
	} else {
		snprintf(out, size, "variance of %s requests, ± half of the 90%% interval",
				format_count(count, tree->counted));
	}
}

static void draw_terms(
		const struct tree_screen *screen, const struct view_frame *frame, struct area line)
{
	static const char *const orders[] = {[BY_SHARE] = "by share",
			[BY_TIME] = "by time",
			[BY_SELF] = "by self time",
			[BY_OWN] = "by own variance"};
	const struct tree_view *tree = screen->tree;
	const char *order = orders[order_of(screen)];
	char text[256], more[128], number[FORMAT_BYTES];
	int keep = (int)strlen(order) + 2, x;

	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	variance_text(tree, text, sizeof(text));
	x = canvas_text(frame->canvas, line.y, line.x, line.width - keep,
			tree->lossy ? ROLE_TAINTED : ROLE_DIM, text);
	if (tree->folded_spans > 0) {
		snprintf(more, sizeof(more), "; %s spans beyond the bound count as their callers'",
				format_count(number, tree->folded_spans));
		x += canvas_text(frame->canvas, line.y, line.x + x, line.width - keep - x,
				ROLE_WARN, more);
	}
	if (tree->requests > 0 && tree->sampled_share < 0.995) {
		snprintf(more, sizeof(more), "; sampled %s",
				format_share(number, tree->sampled_share));
		canvas_text(frame->canvas, line.y, line.x + x, line.width - keep - x, ROLE_DIM,
				more);
	}
	canvas_text_right(frame->canvas, line.y, line.x, line.width, ROLE_DIM, order);
}

/* All that is known of the row under the cursor. */
static void draw_row(
		const struct tree_screen *screen, const struct view_frame *frame, struct area line)
{
	uint32_t at = table_row(&screen->table);
	char text[1024], mean[FORMAT_BYTES], sd[FORMAT_BYTES], a[FORMAT_BYTES], b[FORMAT_BYTES],
			c[FORMAT_BYTES], tail[FORMAT_BYTES];
	const struct tree_row *row;

	if (at == NONE) {
		return;
	}
	row = tree_row_at(screen, at);
	if (tree_has_share(screen, row)) {
		snprintf(text, sizeof(text),
				"%.200s: %s (%s to %s), of the tail %s; on the path %s, sd %s",
				row->name, format_share(a, row->phi), format_share(b, row->phi_low),
				format_share(c, row->phi_high), format_share(tail, row->tail_share),
				format_duration(mean, row->segment_mean_ns),
				format_duration(sd, row->segment_sd_ns));
	} else if (row->count > 0) {
		snprintf(text, sizeof(text), "%.200s: in %s of %s requests, %s a request, own %s",
				row->name, format_count(a, row->requests),
				format_count(b, screen->tree->requests),
				format_duration(mean,
						row->total_ns / (double)screen->tree->requests),
				format_duration(sd, row->self_ns / (double)screen->tree->requests));
	} else {
		snprintf(text, sizeof(text), "%.200s: %s", row->name,
				row->mark == TREE_NO_POINT ? "a part of the critical path"
							   : "no span so far");
	}
	canvas_text(frame->canvas, line.y, line.x + 1, line.width - 2, ROLE_STRONG, text);
}

static void draw_marks(const struct view_frame *frame, struct area line)
{
	static const char *const words[] = {[TREE_ON] = "on",
			[TREE_OFF] = "off",
			[TREE_NEVER_SEEN] = "never seen",
			[TREE_PROPOSED] = "proposed"};
	struct canvas *canvas = frame->canvas;
	int i, x = line.x + 1, end = line.x + line.width;
	char keys[2][64], text[160];

	for (i = TREE_ON; i <= TREE_PROPOSED; i++) {
		x += canvas_text(canvas, line.y, x, end - x, tree_mark_styles[i].role,
				     tree_mark_styles[i].sign) +
		     1;
		x += canvas_text(canvas, line.y, x, end - x, ROLE_DIM, words[i]) + 2;
	}
	x += canvas_text(canvas, line.y, x, end - x, ROLE_DIM, "( ) no tracepoint") + 2;
	keymap_text(frame->keymap, ACTION_ENABLE, keys[0], sizeof(keys[0]));
	keymap_text(frame->keymap, ACTION_DISABLE, keys[1], sizeof(keys[1]));
	snprintf(text, sizeof(text), "%s enable  %s disable", keys[0], keys[1]);
	canvas_text(canvas, line.y, x, end - x, ROLE_DIM, text);
}

static void draw_nothing(
		const struct tree_screen *screen, const struct view_frame *frame, struct area area)
{
	const char *text = "…";

	if (screen->present && view_answers(frame)) {
		text = !screen->tree->all && screen->tree->group_id == 0
				       ? "there is no such group (any more); Esc goes back"
				       : "no request was sampled within this horizon: t changes it";
	}
	canvas_text(frame->canvas, area.y + 2, area.x + 3, area.width - 6, ROLE_DIM, text);
}

static void tree_draw(void *view, const struct view_frame *frame)
{
	struct tree_screen *screen = view;
	struct area area = frame->area, below;
	bool other = screen->tree->all != screen->all ||
		     (!screen->all && frame->focus->group_id != 0 &&
				     screen->tree->group_id != frame->focus->group_id);

	if (screen->filtered != screen->table.filter.set) {
		arrange(screen);
	}
	draw_breadcrumbs(screen, frame, layout_cut_rows(&area, 1));
	if (screen->tree->n == 0 || other) {
		draw_nothing(screen, frame, area);
		return;
	}
	draw_terms(screen, frame, layout_cut_rows(&area, 1));
	below = layout_cut_rows(&area, area.height >= 12 ? -2 : area.height >= 8 ? -1 : 0);
	table_draw(&screen->table, frame->canvas, area, true, frame->search);
	if (below.height > 0) {
		draw_row(screen, frame, layout_cut_rows(&below, 1));
	}
	if (below.height > 0) {
		draw_marks(frame, layout_cut_rows(&below, 1));
	}
}

/* Left folds, or goes to the caller; right unfolds. */
static bool fold(struct tree_screen *screen, bool fold)
{
	uint32_t line = table_row(&screen->table);
	const struct tree_row *row;

	if (line == NONE) {
		return false;
	}
	if (outline_fold(&screen->outline, line, fold)) {
		arrange(screen);
		return true;
	}
	row = tree_row_at(screen, line);
	if (fold && row->parent < screen->n) {
		return table_select(&screen->table, outline_key(&screen->outline, row->parent));
	}
	return false;
}

/* To the child that most of the variance, else of the time, is in or below. */
static bool go_worst(struct tree_screen *screen, struct view_call *call)
{
	enum order order = screen->tree->located ? BY_SHARE : BY_TIME;
	uint32_t line = table_row(&screen->table), at, row, worst = NONE;
	const struct tree_row *all = screen->tree->rows;

	if (line == NONE) {
		return false;
	}
	at = screen->outline.line[line].row;
	for (row = at + 1; row < screen->n && row <= at + all[at].n_below; row++) {
		if (all[row].parent == at &&
				(worst == NONE || weight(&all[row], order) >
								  weight(&all[worst], order))) {
			worst = row;
		}
	}
	if (worst == NONE) {
		snprintf(call->message, sizeof(call->message), "nothing is known below it");
	} else if (screen->tree->located && all[at].phi > all[worst].phi_below) {
		snprintf(call->message, sizeof(call->message),
				"most of what varies here is its own, not of what it calls");
	} else {
		select_row(screen, worst);
	}
	return true;
}

/* To the slowest request of the group, at the span of this context. */
static bool enter_row(const struct tree_screen *screen, bool events, struct view_call *call)
{
	uint32_t line = table_row(&screen->table), row;

	if (line == NONE) {
		return false;
	}
	row = screen->outline.line[line].row;
	if (screen->tree->rows[row].mark == TREE_NO_POINT &&
			screen->tree->rows[row].parent < screen->n) {
		row = screen->tree->rows[row].parent;
	}
	if (screen->tree->rows[row].count == 0) {
		snprintf(call->message, sizeof(call->message),
				"no request was seen there: its tracepoint is not on");
		return true;
	}
	call->go = SCREEN_REQUEST;
	call->group_id = screen->tree->group_id;
	call->chain = outline_key(&screen->outline, row);
	call->events = events;
	return true;
}

/* Proposes the point of a row by hand; the engine says what it would cost, and whether it can be.
 */
static bool propose(const struct tree_screen *screen, bool enable, struct view_call *call)
{
	uint32_t line = table_row(&screen->table);
	const struct tree_row *row;

	if (line == NONE) {
		return false;
	}
	row = tree_row_at(screen, line);
	if (row->mark == TREE_NO_POINT) {
		snprintf(call->message, sizeof(call->message),
				"no tracepoint makes this row: there is nothing to %s",
				enable ? "enable" : "disable");
	} else if (!enable && row->mark != TREE_ON) {
		snprintf(call->message, sizeof(call->message), "%.100s is not on", row->name);
	} else {
		snprintf(call->command, sizeof(call->command), "%s %" PRIu32,
				enable ? "enable" : "disable", row->context);
	}
	return true;
}

static bool next_order(struct tree_screen *screen)
{
	enum order order = order_of(screen);

	do {
		order = (enum order)((order + 1) % ORDER_COUNT);
	} while (!screen->tree->located && (order == BY_SHARE || order == BY_OWN));
	screen->ordered = true;
	screen->order = order;
	screen->reverse = false;
	arrange(screen);
	return true;
}

static bool tree_act(void *view, enum action action, struct view_call *call)
{
	struct tree_screen *screen = view;

	switch (action) {
	case ACTION_ENTER:
	case ACTION_THREAD:
		return enter_row(screen, action == ACTION_THREAD, call);
	case ACTION_ENABLE:
	case ACTION_DISABLE:
		return propose(screen, action == ACTION_ENABLE, call);
	case ACTION_ALL:
		screen->all = !screen->all;
		return true;
	case ACTION_LEFT:
		return fold(screen, true);
	case ACTION_RIGHT:
		return fold(screen, false);
	case ACTION_WORST:
		return go_worst(screen, call);
	case ACTION_SORT:
		return next_order(screen);
	case ACTION_REVERSE:
		screen->reverse = !screen->reverse;
		arrange(screen);
		return true;
	default:
		return table_act(&screen->table, action);
	}
}

static struct table *tree_table(void *view)
{
	struct tree_screen *screen = view;

	return &screen->table;
}

const struct view_ops view_tree = {
		.screen = SCREEN_TREE,
		.key = ACTION_TREE,
		.up = SCREEN_GROUP,
		.about = "Calling contexts: who called whom, over all hosts. MEAN, SD and SELF, "
			 "which leaves out what it calls, are of one span. OF VARIANCE: the share "
			 "of the variance of the group's time that a context's own part of the "
			 "critical path explains, ± half of its 90% interval; \"all\" of a folded "
			 "one is with what it calls. Enter: the slowest request, there. o: its "
			 "original events there. + and - propose to enable or disable the point.",
		.create = tree_create,
		.destroy = tree_destroy,
		.parts = tree_parts,
		.focus = tree_focus,
		.enter = tree_enter,
		.update = tree_update,
		.draw = tree_draw,
		.act = tree_act,
		.table = tree_table,
};
