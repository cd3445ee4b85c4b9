/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dialog.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "key.h"
#include "layout.h"
#include "widgets/paragraph.h"

#define WIDEST 100 /* beyond, lines are hard to read */

struct fact {
	enum role role;
	char *text;
};

struct dialog {
	bool open;
	bool on_yes; /* where the focus is */
	char title[DIALOG_BYTES], yes[64];
	char *list[DIALOG_LIST];
	struct fact facts[DIALOG_FACTS];
	int n_list, n_facts;
	int left_out; /* lines the list had no room for */
	int top, page;
	bool choosing; /* the list is of choices */
	int cursor;
};

struct dialog *dialog_create(void)
{
	return calloc(1, sizeof(struct dialog));
}

static void clear(struct dialog *dialog)
{
	while (dialog->n_list > 0) {
		free(dialog->list[--dialog->n_list]);
	}
	while (dialog->n_facts > 0) {
		free(dialog->facts[--dialog->n_facts].text);
	}
	dialog->left_out = dialog->top = dialog->cursor = 0;
	dialog->on_yes = dialog->choosing = false;
}

void dialog_destroy(struct dialog *dialog)
{
	if (dialog) {
		clear(dialog);
		free(dialog);
	}
}

void dialog_open(struct dialog *dialog, const char *title, const char *yes)
{
	clear(dialog);
	dialog->open = true;
	text_copy(dialog->title, sizeof(dialog->title), title);
	text_copy(dialog->yes, sizeof(dialog->yes), yes);
}

void dialog_renew(struct dialog *dialog, const char *title, const char *yes)
{
	int top = dialog->top, cursor = dialog->cursor;
	bool on_yes = dialog->on_yes;

	dialog_open(dialog, title, yes);
	dialog->top = top;
	dialog->cursor = cursor;
	dialog->on_yes = on_yes && dialog->yes[0];
}

bool dialog_is_open(const struct dialog *dialog)
{
	return dialog->open;
}

void dialog_close(struct dialog *dialog)
{
	dialog->open = false;
	clear(dialog);
}

static void add_line(struct dialog *dialog, const char *text)
{
	char *copy = dialog->n_list < DIALOG_LIST ? strdup(text) : NULL;

	if (copy) {
		dialog->list[dialog->n_list++] = copy;
	} else {
		dialog->left_out++;
	}
}

void dialog_list(struct dialog *dialog, const char *format, ...)
{
	char text[DIALOG_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	add_line(dialog, text);
}

void dialog_choice(struct dialog *dialog, bool on, const char *format, ...)
{
	char text[DIALOG_BYTES];
	va_list args;

	strcpy(text, on ? "[x] " : "[ ] ");
	va_start(args, format);
	vsnprintf(text + 4, sizeof(text) - 4, format, args);
	va_end(args);
	dialog->choosing = true;
	add_line(dialog, text);
}

uint32_t dialog_cursor(const struct dialog *dialog)
{
	return (uint32_t)dialog->cursor;
}

void dialog_fact(struct dialog *dialog, enum role role, const char *format, ...)
{
	char text[DIALOG_BYTES];
	va_list args;
	char *copy;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	copy = dialog->n_facts < DIALOG_FACTS ? strdup(text) : NULL;
	if (copy) {
		dialog->facts[dialog->n_facts++] = (struct fact){role, copy};
	}
}

static void scroll(struct dialog *dialog, int lines)
{
	int last = dialog->n_list + (dialog->left_out > 0) - dialog->page;

	dialog->top += lines;
	dialog->top = dialog->top > last ? last : dialog->top;
	dialog->top = dialog->top < 0 ? 0 : dialog->top;
}

/* The cursor of choices, which the list follows; or the list itself. */
static void move(struct dialog *dialog, int lines)
{
	if (!dialog->choosing) {
		scroll(dialog, lines);
		return;
	}
	dialog->cursor += lines;
	dialog->cursor = dialog->cursor >= dialog->n_list ? dialog->n_list - 1 : dialog->cursor;
	dialog->cursor = dialog->cursor < 0 ? 0 : dialog->cursor;
}

static enum dialog_answer leave(struct dialog *dialog, enum dialog_answer answer)
{
	dialog_close(dialog);
	return answer;
}

enum dialog_answer dialog_key(struct dialog *dialog, uint32_t key)
{
	switch (key) {
	case 'y':
		return dialog->yes[0] ? leave(dialog, DIALOG_YES) : DIALOG_ASKING;
	case K_ENTER:
		return leave(dialog, dialog->on_yes ? DIALOG_YES : DIALOG_NO);
	case K_ESC:
	case K_BACKSPACE:
	case K_CTRL('c'):
	case 'n':
		return leave(dialog, DIALOG_NO);
	case K_TAB:
	case K_BACKTAB:
	case K_LEFT:
	case K_RIGHT:
		dialog->on_yes = dialog->yes[0] && !dialog->on_yes;
		return DIALOG_ASKING;
	case K_SPACE:
		return dialog->choosing ? DIALOG_TOGGLE : DIALOG_ASKING;
	case K_UP:
	case 'k':
		move(dialog, -1);
		return DIALOG_ASKING;
	case K_DOWN:
	case 'j':
		move(dialog, 1);
		return DIALOG_ASKING;
	case K_PAGE_UP:
		move(dialog, -dialog->page);
		return DIALOG_ASKING;
	case K_PAGE_DOWN:
		move(dialog, dialog->page);
		return DIALOG_ASKING;
	default:
		return DIALOG_ASKING;
	}
}

/* Lines that a paragraph takes. */
static int paragraph_height(const char *text, bool ascii, int width)
{
	int lines = 0;
	size_t length;

	while (*text) {
		length = paragraph_line(text, ascii, width);
		if (length == 0) {
			return lines + 1;
		}
		text += length;
		text += strspn(text, " ");
		lines++;
	}
	return lines;
}

static int widest_line(const struct dialog *dialog, bool ascii)
{
	int i, width, widest = text_width(dialog->title, ascii) + 4;

	for (i = 0; i < dialog->n_list; i++) {
		width = text_width(dialog->list[i], ascii);
		widest = width > widest ? width : widest;
	}
	for (i = 0; i < dialog->n_facts; i++) {
		width = text_width(dialog->facts[i].text, ascii);
		widest = width > widest ? width : widest;
	}
	return widest > WIDEST ? WIDEST : widest;
}

static void draw_border(const struct dialog *dialog, struct canvas *canvas, struct area area)
{
	int y, bottom = area.y + area.height - 1, right = area.x + area.width - 1, used;

	for (y = area.y; y <= bottom; y++) {
		canvas_fill(canvas, y, area.x, area.width, ROLE_TEXT, " ");
		canvas_text(canvas, y, area.x, 1, ROLE_PANE_ACTIVE, "│");
		canvas_text(canvas, y, right, 1, ROLE_PANE_ACTIVE, "│");
	}
	canvas_fill(canvas, area.y, area.x, area.width, ROLE_PANE_ACTIVE, "─");
	canvas_fill(canvas, bottom, area.x, area.width, ROLE_PANE_ACTIVE, "─");
	canvas_text(canvas, area.y, area.x, 1, ROLE_PANE_ACTIVE, "┌");
	canvas_text(canvas, area.y, right, 1, ROLE_PANE_ACTIVE, "┐");
	canvas_text(canvas, bottom, area.x, 1, ROLE_PANE_ACTIVE, "└");
	canvas_text(canvas, bottom, right, 1, ROLE_PANE_ACTIVE, "┘");
	canvas_text(canvas, area.y, area.x + 2, 1, ROLE_PANE_ACTIVE, " ");
	used = canvas_text(canvas, area.y, area.x + 3, area.width - 6, ROLE_STRONG, dialog->title);
	canvas_text(canvas, area.y, area.x + 3 + used, 1, ROLE_PANE_ACTIVE, " ");
}

/* The list as far up or down as it takes to see the cursor. */
static void follow_cursor(struct dialog *dialog)
{
	move(dialog, 0);
	if (dialog->cursor < dialog->top) {
		dialog->top = dialog->cursor;
	} else if (dialog->page > 0 && dialog->cursor >= dialog->top + dialog->page) {
		dialog->top = dialog->cursor - dialog->page + 1;
	}
}

/* `border`: the line that says which part of a long list is shown. */
static void draw_list(
		struct dialog *dialog, struct canvas *canvas, struct area area, struct area border)
{
	int i, lines = dialog->n_list + (dialog->left_out > 0);
	char text[64];

	dialog->page = area.height;
	if (dialog->choosing) {
		follow_cursor(dialog);
	}
	scroll(dialog, 0);
	for (i = 0; i < area.height && dialog->top + i < lines; i++) {
		if (dialog->top + i == dialog->n_list) {
			snprintf(text, sizeof(text), "... and %d more", dialog->left_out);
		}
		canvas_text(canvas, area.y + i, area.x, area.width,
				dialog->choosing && dialog->top + i == dialog->cursor
						? ROLE_SELECTED
						: ROLE_TEXT,
				dialog->top + i == dialog->n_list ? text
								  : dialog->list[dialog->top + i]);
	}
	if (lines > area.height && area.height > 0) {
		snprintf(text, sizeof(text), " %d to %d of %d: Up, Down ", dialog->top + 1,
				dialog->top + i, lines);
		canvas_text(canvas, border.y, border.x + 2, border.width - 4, ROLE_DIM, text);
	}
}

static void draw_answers(const struct dialog *dialog, struct canvas *canvas, struct area line)
{
	const char *no = dialog->yes[0] && !dialog->choosing ? " Esc cancel " : " Esc close ";
	char yes[96];
	int width = text_width(no, canvas->ascii), x = line.x + line.width - width - 2;

	canvas_text(canvas, line.y, x, 1, ROLE_TEXT, "[");
	canvas_text(canvas, line.y, x + 1, width, dialog->on_yes ? ROLE_TEXT : ROLE_SELECTED, no);
	canvas_text(canvas, line.y, x + 1 + width, 1, ROLE_TEXT, "]");
	if (!dialog->yes[0]) {
		return;
	}
	snprintf(yes, sizeof(yes), " y %s ", dialog->yes);
	width = text_width(yes, canvas->ascii);
	x -= width + 3;
	if (x < line.x) {
		x = line.x;
	}
	canvas_text(canvas, line.y, x, width, dialog->on_yes ? ROLE_SELECTED : ROLE_KEY_LABEL, yes);
	if (!dialog->on_yes) {
		canvas_paint(canvas, line.y, x + 1, 1, ROLE_KEY);
	}
}

void dialog_draw(struct dialog *dialog, struct canvas *canvas, struct area area)
{
	int width = widest_line(dialog, canvas->ascii), facts = 0, list, i, used;
	struct area box = area, inner;

	width = width < 40 ? 40 : width;
	width = width > area.width - 6 ? area.width - 6 : width;
	for (i = 0; i < dialog->n_facts; i++) {
		facts += paragraph_height(dialog->facts[i].text, canvas->ascii, width);
	}
	list = dialog->n_list + (dialog->left_out > 0);
	if (list + facts + 3 > area.height) {
		list = area.height - facts - 3; /* facts come first, the list scrolls */
		list = list < 1 && dialog->n_list > 0 ? 1 : list < 0 ? 0 : list;
	}
	box.height = list + facts + 3 > area.height ? area.height : list + facts + 3;
	box.width = width + 4;
	box.y += (area.height - box.height) / 2;
	box.x += (area.width - box.width) / 2;
	draw_border(dialog, canvas, box);
	inner = (struct area){box.y + 1, box.x + 2, box.height - 2, width};
	draw_answers(dialog, canvas, layout_cut_rows(&inner, -1));
	draw_list(dialog, canvas, layout_cut_rows(&inner, list),
			(struct area){box.y + box.height - 1, box.x, 1, box.width});
	for (i = 0; i < dialog->n_facts && inner.height > 0; i++) {
		used = paragraph_draw(canvas, inner, dialog->facts[i].role, dialog->facts[i].text);
		layout_cut_rows(&inner, used);
	}
}
