/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/parts.h"
#include "format.h"
#include "frame.h"
#include "layout.h"
#include "step_text.h"
#include "widgets/paragraph.h"

#define LEAST_ROWS       10
#define LEAST_COLUMNS    40
#define GROUPS_ROWS      16 /* from here on the groups have room for the step that waits */
#define POSITION_COLUMNS 14 /* "10000/10000" at the end of the status line */

void console_say(struct console *console, enum role role, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(console->message, sizeof(console->message), format, args);
	va_end(args);
	console->message_role = role;
}

bool console_set_theme(struct console *console, const char *name)
{
	struct settings settings = {.file = name};
	char error[256];

	if (!console->host->theme(console->host->context, name, &settings)) {
		console_say(console, ROLE_ERROR, "no theme named %s", name);
		return false;
	}
	if (theme_read(&console->theme, &settings, error, sizeof(error)) != STATUS_OK) {
		console_say(console, ROLE_ERROR, "%s", error);
		return false;
	}
	console->theme_serial++;
	return true;
}

static bool create_parts(struct console *console)
{
	int i;

	console->prompt = prompt_create();
	console->dialog = dialog_create();
	for (i = 0; i < N_VIEWS; i++) {
		console->views[i] = all_views[i]->create();
		if (!console->views[i]) {
			return false;
		}
	}
	return console->prompt && console->dialog;
}

struct console *console_create(
		const struct console_options *options, const struct console_host *host)
{
	struct console *console = calloc(1, sizeof(*console));
	const struct focus none = {.serial = 0};
	char error[256];

	if (!console) {
		return NULL;
	}
	console->options = options;
	console->host = host;
	console->focus.horizon = options->horizon;
	console->focus.metric = options->metric;
	console->focus.frozen = options->frozen;
	console->focus.back_ns = options->back_ns;
	navigation_begin(console);
	theme_init(&console->theme);
	keymap_init(&console->keymap);
	if (!create_parts(console)) {
		console_destroy(console);
		return NULL;
	}
	console->nothing.progress = -1;
	console->nothing.notice = "";
	console->nothing.steps.next = UINT32_MAX;
	console_set_theme(console, options->theme      ? options->theme
				   : options->no_color ? "mono"
						       : "default");
	if (options->keys && keymap_read(&console->keymap, options->keys, error, sizeof(error)) !=
					     STATUS_OK) {
		console_say(console, ROLE_ERROR, "%s", error);
	}
	current(console)->update(console->views[console->view], shown(console));
	navigation_publish(console, &none);
	return console;
}

void console_destroy(struct console *console)
{
	int i;

	if (!console) {
		return;
	}
	for (i = 0; i < N_VIEWS; i++) {
		if (console->views[i]) {
			all_views[i]->destroy(console->views[i]);
		}
	}
	if (console->snapshot) {
		console->host->release(console->host->context, console->snapshot);
	}
	prompt_destroy(console->prompt);
	dialog_destroy(console->dialog);
	pattern_release(&console->search);
	free(console);
}

const struct theme *console_theme(const struct console *console, uint32_t *serial)
{
	*serial = console->theme_serial;
	return &console->theme;
}

/*
 * "The worst" is asked for once: from then on the screen stays with what it got, instead of jumping
 * to whatever is the worst a tenth of a second later.
 */
static void settle_focus(struct console *console)
{
	const struct snapshot *snapshot = console->snapshot;
	struct focus *focus = &console->focus;

	if (snapshot->focus.serial != focus->serial) {
		return;
	}
	if (focus->screen == SCREEN_GROUP && focus->group_id == 0) {
		focus->group_id = snapshot->group.id;
	}
	if (focus->screen == SCREEN_TREE && focus->group_id == 0) {
		focus->group_id = snapshot->tree.group_id;
	}
	if (focus->screen == SCREEN_COMPARE && focus->compare_id == 0) {
		focus->compare_id = snapshot->compare.b.id;
	}
	if (focus->screen == SCREEN_REQUEST && focus->request_id == 0) {
		focus->request_id = snapshot->request.id;
		if (snapshot->request.id) {
			focus->group_id = snapshot->request.group_id;
		}
	}
}

/*
 * Moves the time cursor to the moment that was asked for, once the window is pinned: from then on
 * it is a step back as any other.
 */
void console_settle_moment(struct console *console)
{
	const struct snapshot *snapshot = shown(console);
	uint64_t pinned_ns = snapshot->time_ns + snapshot->focus.back_ns, back_ns;
	char window[FORMAT_BYTES];

	if (!console->moment_ns || !console->focus.frozen || !snapshot->pinned) {
		return;
	}
	if (console->moment_ns > pinned_ns) {
		console_say(console, ROLE_WARN,
				"that instant is not there yet: this is the newest one");
	}
	back_ns = pinned_ns > console->moment_ns ? pinned_ns - console->moment_ns : 0;
	console->moment_ns = 0;
	if (back_ns > snapshot->window_ns) {
		console_say(console, ROLE_WARN,
				"that instant has left the window of %s, this is now; --window "
				"keeps more",
				format_period(window, (double)snapshot->window_ns));
		return;
	}
	console->focus.back_ns = back_ns;
}

/* A question about a step that went on by itself has no answer any more. */
static void settle_question(struct console *console)
{
	const struct snapshot *snapshot = shown(console);

	if (!dialog_is_open(console->dialog) || !(snapshot->focus.parts & FOCUS_STEPS)) {
		return;
	}
	question_renew(&console->question, console->dialog, &snapshot->steps, &console->keymap);
	if (question_is_over(&console->question, &snapshot->steps)) {
		dialog_close(console->dialog);
		console_say(console, ROLE_WARN, "step %u has changed meanwhile: nothing was done",
				(unsigned int)console->question.step);
	}
}

bool console_take(struct console *console)
{
	const struct snapshot *old = console->snapshot;
	const struct snapshot *newest = console->host->acquire(console->host->context);
	const struct focus before = console->focus;

	if (!newest) {
		return false;
	}
	if (newest == old) {
		console->host->release(console->host->context, newest);
		return false;
	}
	console->snapshot = newest;
	settle_focus(console);
	console_settle_moment(console);
	settle_question(console);
	current(console)->update(console->views[console->view], newest);
	if (old) {
		console->host->release(console->host->context, old);
	}
	if (newest->notice_serial != console->notice_serial) {
		console->notice_serial = newest->notice_serial;
		console->notice = newest->notice && newest->notice[0];
	}
	navigation_publish(console, &before);
	return true;
}

static enum console_answer key_in_prompt(struct console *console, uint32_t key)
{
	const char *text = prompt_text(console->prompt);

	if (prompt_key(console->prompt, key) != PROMPT_TAKEN) {
		return CONSOLE_STAY;
	}
	switch (prompt_kind(console->prompt)) {
	case PROMPT_SEARCH:
		command_search(console, text);
		return CONSOLE_STAY;
	case PROMPT_FILTER:
		command_filter(console, text);
		return CONSOLE_STAY;
	default:
		return command_line(console, text);
	}
}

enum console_answer console_key(struct console *console, uint32_t key)
{
	const struct focus before = console->focus;
	enum console_answer answer = CONSOLE_STAY;
	enum action action;
	char name[KEY_NAME_BYTES];

	console->message[0] = '\0';
	if (prompt_is_open(console->prompt)) {
		answer = key_in_prompt(console, key);
		navigation_publish(console, &before);
		return answer;
	}
	console->notice = false;
	if (dialog_is_open(console->dialog)) {
		answer = deciding_key(console, key);
		navigation_publish(console, &before);
		return answer;
	}
	action = keymap_find(&console->keymap, key);
	switch (action) {
	case ACTION_QUIT:
		return command_leave(console, true);
	case ACTION_SUSPEND:
		return command_leave(console, false);
	case ACTION_REDRAW:
		return CONSOLE_REDRAW;
	case ACTION_NONE:
		console_say(console, ROLE_WARN, "%s is no key here; %s lists those that are",
				key_text(key, name),
				key_text(console->keymap.keys[ACTION_HELP][0], (char[16]){0}));
		return CONSOLE_STAY;
	default:
		action_do(console, action);
		break;
	}
	navigation_publish(console, &before);
	return answer;
}

/* The step that waits, on screens that do not show it themselves. */
static void draw_waiting_step(struct console *console, struct canvas *canvas, struct area line)
{
	const struct step_row *row = step_next(&shown(console)->steps);
	enum screen screen = current(console)->screen;
	bool on_groups = screen == SCREEN_GROUPS && shown(console)->groups.n > 0 &&
			 canvas->rows >= GROUPS_ROWS;
	char text[512], approve[64], reject[64];

	if (!row || on_groups || screen == SCREEN_STEPS || screen == SCREEN_HELP) {
		return;
	}
	keymap_text(&console->keymap, ACTION_APPROVE, approve, sizeof(approve));
	keymap_text(&console->keymap, ACTION_REJECT, reject, sizeof(reject));
	snprintf(text, sizeof(text), "NEXT %.200s   %s approve  %s reject", row->title, approve,
			reject);
	canvas_text(canvas, line.y, line.x, line.width, ROLE_NEXT, text);
}

/* What the list shows, when that is not all of it. */
static void draw_list_state(struct console *console, struct canvas *canvas, struct area line)
{
	struct table *table = current_table(console);
	char text[PATTERN_BYTES + 64];
	int x = line.x;

	if (!table || (!table->filter.set && !console->search.set)) {
		draw_waiting_step(console, canvas,
				(struct area){line.y, line.x, 1, line.width - POSITION_COLUMNS});
	}
	if (!table) {
		return;
	}
	if (table->filter.set) {
		snprintf(text, sizeof(text), "filter %s: %u of %u %s", table->filter.text,
				(unsigned int)table->shown, (unsigned int)table->n,
				table->source->what);
		x += canvas_text(canvas, line.y, x, line.width, ROLE_NOTICE, text) + 3;
	}
	if (console->search.set) {
		snprintf(text, sizeof(text), "/%s: %u match", console->search.text,
				(unsigned int)table_count(table, &console->search));
		canvas_text(canvas, line.y, x, line.x + line.width - x - 12, ROLE_DIM, text);
	}
	if (table->shown > (uint32_t)table->page) {
		snprintf(text, sizeof(text), "%u/%u", (unsigned int)table->cursor + 1,
				(unsigned int)table->shown);
		canvas_text_right(canvas, line.y, line.x, line.width, ROLE_DIM, text);
	}
}

static void draw_status(struct console *console, struct canvas *canvas, struct area line)
{
	char text[512];

	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	if (console->message[0]) {
		canvas_text(canvas, line.y, line.x, line.width, console->message_role,
				console->message);
	} else if (console->notice) {
		canvas_text(canvas, line.y, line.x, line.width, ROLE_NOTICE,
				keymap_expand(&console->keymap, shown(console)->notice, text,
						sizeof(text)));
	} else {
		draw_list_state(console, canvas, line);
	}
}

void console_draw(struct console *console, struct canvas *canvas)
{
	struct area area = {0, 0, canvas->rows, canvas->columns};
	struct area keys, status;
	struct view_frame frame = {canvas, area, shown(console), &console->focus, &console->search,
			&console->keymap, console->tagged};
	char text[64];

	canvas_clear(canvas);
	if (canvas->rows < LEAST_ROWS || canvas->columns < LEAST_COLUMNS) {
		snprintf(text, sizeof(text), "pythiatop needs %dx%d, this is %dx%d", LEAST_COLUMNS,
				LEAST_ROWS, canvas->columns, canvas->rows);
		paragraph_draw(canvas, area, ROLE_TEXT, text);
		return;
	}
	frame_title(canvas, layout_cut_rows(&area, 1), frame.snapshot,
			console->options->target ? console->options->target : "");
	if (console->focus.frozen) {
		frame_paused(canvas, layout_cut_rows(&area, 1), frame.snapshot, &console->focus,
				&console->keymap);
	}
	keys = layout_cut_rows(&area, -1);
	status = layout_cut_rows(&area, -1);
	frame.area = area;
	current(console)->draw(console->views[console->view], &frame);
	draw_status(console, canvas, status);
	if (prompt_is_open(console->prompt)) {
		layout_cut_columns(&keys, 1);
		prompt_draw(console->prompt, canvas, keys);
	} else {
		frame_keys(canvas, keys, &console->keymap, current(console)->screen,
				current(console)->key);
	}
	if (dialog_is_open(console->dialog)) {
		dialog_draw(console->dialog, canvas, area);
	}
}
