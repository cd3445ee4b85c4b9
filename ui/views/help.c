/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythiatop/command.h"
#include "views/view.h"
#include "widgets/paragraph.h"
#include "widgets/table.h"

/* Help: what the screen one came from shows, and all keys as they are bound now. Made from tables.
 */

#define HELP_LINES 384
#define HELP_BYTES 256
#define KEYS_WIDTH 28
#define TEXT_AT    31 /* where the second column begins */

struct help_line {
	char keys[64];
	char text[HELP_BYTES];
	bool heading;
	bool goes_on; /* with the text of the line above */
};

struct help_screen {
	enum screen about; /* the screen it is asked on */
	struct table table;
	struct help_line lines[HELP_LINES];
	uint32_t n;
};

static const struct table_column columns[] = {
		{"KEYS", KEYS_WIDTH, 0, 0, 0},
		{"WHAT THEY DO", 20, 0, TABLE_FLEX, 0},
};

static uint64_t line_key(const void *data, uint32_t row)
{
	(void)data;
	return row;
}

static void line_cell(const void *data, uint32_t row, int column, struct table_cell *cell)
{
	const struct help_screen *screen = data;
	const struct help_line *line = &screen->lines[row];

	text_copy(cell->text, sizeof(cell->text), column == 0 ? line->keys : line->text);
	if (line->heading) {
		cell->role = ROLE_HORIZON;
	} else if (column == 0) {
		cell->role = ROLE_KEY;
	}
}

/* Lines of one column, such as headings, explanations and long commands, have the whole width. */
static bool line_paint(
		const void *data, uint32_t row, int column, struct canvas *canvas, struct area area)
{
	const struct help_screen *screen = data;
	const struct help_line *line = &screen->lines[row];

	if (line->goes_on || (line->keys[0] && line->text[0])) {
		return false;
	}
	if (column == 0) {
		canvas_text(canvas, area.y, area.x, canvas->columns - area.x,
				line->heading   ? ROLE_HORIZON
				: line->keys[0] ? ROLE_KEY
						: ROLE_TEXT,
				line->keys[0] ? line->keys : line->text);
	}
	return true;
}

static const struct table_source source = {
		.columns = columns,
		.n_columns = TABLE_COUNT(columns),
		.what = "lines",
		.key = line_key,
		.cell = line_cell,
		.paint = line_paint,
};

static void *help_create(void)
{
	struct help_screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		screen->about = SCREEN_GROUPS;
		table_init(&screen->table, &source);
	}
	return screen;
}

static void help_destroy(void *view)
{
	struct help_screen *screen = view;

	table_release(&screen->table);
	free(screen);
}

static uint32_t help_parts(const void *view, const struct snapshot *snapshot)
{
	(void)view;
	(void)snapshot;
	return 0;
}

static void help_enter(void *view, const struct view_call *call)
{
	struct help_screen *screen = view;

	screen->about = call->from;
	screen->table.cursor_key = screen->table.cursor = 0;
}

static void help_update(void *view, const struct snapshot *snapshot)
{
	struct help_screen *screen = view;

	(void)snapshot;
	table_update(&screen->table, screen, screen->n);
}

/* NULL: there is no room. */
static struct help_line *add(
		struct help_screen *screen, const char *keys, const char *text, bool heading)
{
	struct help_line *line;

	if (screen->n == HELP_LINES) {
		return NULL;
	}
	line = &screen->lines[screen->n++];
	text_copy(line->keys, sizeof(line->keys), keys);
	text_copy(line->text, sizeof(line->text), text);
	line->heading = heading;
	line->goes_on = false;
	return line;
}

/* Keys, and beside them what they do, in as many lines as that takes; below them if they are long.
 */
static void add_wrapped(struct help_screen *screen, const struct view_frame *frame,
		const char *keys, const char *text)
{
	bool ascii = frame->canvas->ascii, first = true;
	int width = frame->area.width - TEXT_AT;
	char line[HELP_BYTES];
	size_t length;

	if (width < KEYS_WIDTH) {
		width = KEYS_WIDTH;
	}
	if (keys[paragraph_line(keys, ascii, KEYS_WIDTH)]) {
		add(screen, keys, "", false);
		first = false;
	}
	for (; *text; text += length + strspn(text + length, " ")) {
		struct help_line *added;

		length = paragraph_line(text, ascii, width);
		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		added = add(screen, first ? keys : "", line, false);
		if (!added) {
			return;
		}
		added->goes_on = !first;
		first = false;
	}
}

static void add_about(struct help_screen *screen, const struct view_frame *frame)
{
	char line[HELP_BYTES];
	const char *text;
	size_t i, length;

	for (i = 0; i < N_VIEWS; i++) {
		if (all_views[i]->screen != screen->about) {
			continue;
		}
		add(screen, "", "this screen", true);
		for (text = all_views[i]->about; *text;
				text += length + strspn(text + length, " ")) {
			length = paragraph_line(text, frame->canvas->ascii, frame->area.width - 4);
			snprintf(line, sizeof(line), "%.*s", (int)length, text);
			add(screen, "", line, false);
		}
	}
}

static void add_keys(struct help_screen *screen, const struct view_frame *frame)
{
	char keys[64];
	int section, i;

	for (section = 0; section < ACTION_SECTION_COUNT; section++) {
		add(screen, "", "", false);
		add(screen, "", action_section_title((enum action_section)section), true);
		for (i = 0; i < ACTION_COUNT; i++) {
			if ((int)action_section((enum action)i) == section) {
				keymap_text(frame->keymap, (enum action)i, keys, sizeof(keys));
				add_wrapped(screen, frame, keys, action_help((enum action)i));
			}
		}
	}
}

static void add_commands(struct help_screen *screen, const struct view_frame *frame)
{
	char text[64];
	size_t i;

	add(screen, "", "", false);
	add(screen, "", "commands", true);
	for (i = 0; i < COMMAND_COUNT; i++) {
		snprintf(text, sizeof(text), ":%s %s", commands[i].name, commands[i].arguments);
		add_wrapped(screen, frame, text, commands[i].help);
	}
}

static void add_signs(struct help_screen *screen, const struct view_frame *frame)
{
	static const char *const signs[][2] = {
			{"~", "events were lost by the tracer: left out of the statistics"},
			{"-", "not measured"},
			{"LOST LATE LAG", "events lost by tracers; too late to count; how far "
					  "behind"},
			{"!", "why a group is flagged: that figure; ↑ ↓ moved against the "
			      "baseline"},
			{"● ○ · +", "a tracepoint: on, off, never seen, proposed"},
			{"░▒▓█", "few, some, many, most"},
	};
	size_t i;

	add(screen, "", "", false);
	add(screen, "", "signs", true);
	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		add_wrapped(screen, frame, signs[i][0], signs[i][1]);
	}
}

static void help_draw(void *view, const struct view_frame *frame)
{
	struct help_screen *screen = view;

	screen->n = 0;
	add_about(screen, frame);
	add_keys(screen, frame);
	add_commands(screen, frame);
	add_signs(screen, frame);
	table_update(&screen->table, screen, screen->n);
	table_draw(&screen->table, frame->canvas, frame->area, true, frame->search);
}

static bool help_act(void *view, enum action action, struct view_call *call)
{
	struct help_screen *screen = view;

	if (action == ACTION_ENTER) {
		call->back = true;
		return true;
	}
	return table_act(&screen->table, action);
}

static struct table *help_table(void *view)
{
	struct help_screen *screen = view;

	return &screen->table;
}

const struct view_ops view_help = {
		.screen = SCREEN_HELP,
		.key = ACTION_HELP,
		.up = SCREEN_GROUPS,
		.back_to = SCREEN_BITS_ALL & ~SCREEN_BIT(SCREEN_HELP),
		.toggles = true,
		.about = "",
		.create = help_create,
		.destroy = help_destroy,
		.parts = help_parts,
		.enter = help_enter,
		.update = help_update,
		.draw = help_draw,
		.act = help_act,
		.table = help_table,
};
