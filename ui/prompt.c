/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_add.h"
#include "pythiatop/command.h"

struct history {
	char lines[PROMPT_HISTORY][PROMPT_BYTES]; /* oldest first */
	int n;
};

struct prompt {
	bool open;
	enum prompt_kind kind;
	char text[PROMPT_BYTES];
	size_t at;                /* byte the cursor is on */
	int recalled;             /* line of the history shown; n: the one being typed */
	char typed[PROMPT_BYTES]; /* kept while recalling */
	struct history histories[PROMPT_KINDS];
};

struct prompt *prompt_create(void)
{
	return calloc(1, sizeof(struct prompt));
}

void prompt_destroy(struct prompt *prompt)
{
	free(prompt);
}

static void set_text(struct prompt *prompt, const char *text)
{
	text_copy(prompt->text, sizeof(prompt->text), text);
	prompt->at = strlen(prompt->text);
}

void prompt_open(struct prompt *prompt, enum prompt_kind kind, const char *text)
{
	prompt->open = true;
	prompt->kind = kind;
	prompt->recalled = prompt->histories[kind].n;
	prompt->typed[0] = '\0';
	set_text(prompt, text);
}

bool prompt_is_open(const struct prompt *prompt)
{
	return prompt->open;
}

enum prompt_kind prompt_kind(const struct prompt *prompt)
{
	return prompt->kind;
}

const char *prompt_text(const struct prompt *prompt)
{
	return prompt->text;
}

static void remember(struct history *history, const char *text)
{
	if (text[0] == '\0' ||
			(history->n > 0 && strcmp(history->lines[history->n - 1], text) == 0)) {
		return;
	}
	if (history->n == PROMPT_HISTORY) {
		memmove(history->lines[0], history->lines[1],
				sizeof(history->lines[0]) * (PROMPT_HISTORY - 1));
		history->n--;
	}
	text_copy(history->lines[history->n++], PROMPT_BYTES, text);
}

static void recall(struct prompt *prompt, int step)
{
	const struct history *history = &prompt->histories[prompt->kind];
	int line = prompt->recalled + step;

	if (line < 0 || line > history->n) {
		return;
	}
	if (prompt->recalled == history->n) {
		text_copy(prompt->typed, sizeof(prompt->typed), prompt->text);
	}
	prompt->recalled = line;
	set_text(prompt, line == history->n ? prompt->typed : history->lines[line]);
}

/* Completes the command as far as those that begin so agree. */
static void complete(struct prompt *prompt)
{
	size_t typed = strlen(prompt->text), common = 0, i, k;
	const char *first = NULL;
	int n = 0;

	if (prompt->kind != PROMPT_COMMAND) {
		return;
	}
	for (i = 0; i < COMMAND_COUNT; i++) {
		if (strncmp(commands[i].name, prompt->text, typed) != 0) {
			continue;
		}
		n++;
		if (!first) {
			first = commands[i].name;
			common = strlen(first);
		}
		for (k = 0; k < common && commands[i].name[k] == first[k]; k++) {
		}
		common = k;
	}
	if (first) {
		snprintf(prompt->text, sizeof(prompt->text), "%.*s%s", (int)common, first,
				n == 1 ? " " : "");
		prompt->at = strlen(prompt->text);
	}
}

static size_t character_before(const char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[--at] & 0xc0) == 0x80) {
	}
	return at;
}

static size_t character_after(const char *text, size_t at)
{
	if (text[at]) {
		at++;
	}
	while (((unsigned char)text[at] & 0xc0) == 0x80) {
		at++;
	}
	return at;
}

static void erase(struct prompt *prompt, size_t from, size_t to)
{
	memmove(prompt->text + from, prompt->text + to, strlen(prompt->text + to) + 1);
	prompt->at = from;
}

static void insert(struct prompt *prompt, uint32_t key)
{
	size_t used = strlen(prompt->text), length;
	char bytes[5];

	if (key < 0x20 || key == 0x7f || key > 0x10ffff) {
		return;
	}
	length = text_encode(key, bytes);
	if (used + length >= sizeof(prompt->text)) {
		return;
	}
	memmove(prompt->text + prompt->at + length, prompt->text + prompt->at,
			used - prompt->at + 1);
	memcpy(prompt->text + prompt->at, bytes, length);
	prompt->at += length;
}

static size_t word_before(const char *text, size_t at)
{
	while (at > 0 && text[at - 1] == ' ') {
		at--;
	}
	while (at > 0 && text[at - 1] != ' ') {
		at--;
	}
	return at;
}

static void edit(struct prompt *prompt, uint32_t key)
{
	switch (key) {
	case K_LEFT:
		prompt->at = character_before(prompt->text, prompt->at);
		break;
	case K_RIGHT:
		prompt->at = character_after(prompt->text, prompt->at);
		break;
	case K_HOME:
	case K_CTRL('a'):
		prompt->at = 0;
		break;
	case K_END:
	case K_CTRL('e'):
		prompt->at = strlen(prompt->text);
		break;
	case K_DELETE:
		erase(prompt, prompt->at, character_after(prompt->text, prompt->at));
		break;
	case K_CTRL('u'):
		erase(prompt, 0, prompt->at);
		break;
	case K_CTRL('w'):
		erase(prompt, word_before(prompt->text, prompt->at), prompt->at);
		break;
	case K_UP:
		recall(prompt, -1);
		break;
	case K_DOWN:
		recall(prompt, 1);
		break;
	case K_TAB:
		complete(prompt);
		break;
	default:
		insert(prompt, key);
		break;
	}
}

enum prompt_answer prompt_key(struct prompt *prompt, uint32_t key)
{
	switch (key) {
	case K_ENTER:
		remember(&prompt->histories[prompt->kind], prompt->text);
		prompt->open = false;
		return PROMPT_TAKEN;
	case K_ESC:
	case K_CTRL('c'):
		prompt->open = false;
		return PROMPT_LEFT;
	case K_BACKSPACE:
		if (prompt->text[0] == '\0') {
			prompt->open = false;
			return PROMPT_LEFT;
		}
		erase(prompt, character_before(prompt->text, prompt->at), prompt->at);
		return PROMPT_TYPING;
	default:
		edit(prompt, key);
		return PROMPT_TYPING;
	}
}

/* What may be typed, shown behind the line: the commands that begin so. */
static void hint(const struct prompt *prompt, char *out, size_t size)
{
	size_t typed = strlen(prompt->text), i, shown = typed;

	out[0] = '\0';
	while (shown > 0 && prompt->text[shown - 1] == ' ') {
		shown--;
	}
	for (i = 0; i < COMMAND_COUNT; i++) {
		if (typed > shown && strncmp(commands[i].name, prompt->text, shown) == 0 &&
				commands[i].name[shown] == '\0') {
			snprintf(out, size, "%s  %s", commands[i].arguments, commands[i].help);
			return;
		}
		if (strncmp(commands[i].name, prompt->text, typed) == 0) {
			text_add(out, size, "%s   ", commands[i].name);
		}
	}
}

void prompt_draw(const struct prompt *prompt, struct canvas *canvas, struct area area)
{
	static const char *const signs[] = {":", "/", "filter: "};
	static const char *const hints[] = {"", "a regular expression; n and N go on",
			"a regular expression; ! first leaves out what matches; empty shows all"};
	char before[PROMPT_BYTES], behind[512];
	int x = area.x, end = area.x + area.width, room, cursor;
	const char *text = prompt->text;

	x += canvas_text(canvas, area.y, x, area.width, ROLE_PROMPT, signs[prompt->kind]);
	room = end - x - 1;
	snprintf(before, sizeof(before), "%.*s", (int)prompt->at, prompt->text);
	/* A line longer than the screen scrolls so that the cursor stays in sight. */
	while (text_width(before, canvas->ascii) > room && before[0]) {
		size_t cut = character_after(before, 0);

		memmove(before, before + cut, strlen(before + cut) + 1);
		text += cut;
	}
	cursor = x + text_width(before, canvas->ascii);
	x += canvas_text(canvas, area.y, x, end - x, ROLE_TEXT, text);
	if (prompt->kind == PROMPT_COMMAND) {
		hint(prompt, behind, sizeof(behind));
	} else {
		text_copy(behind, sizeof(behind), prompt->text[0] ? "" : hints[prompt->kind]);
	}
	canvas_text(canvas, area.y, x + 3, end - x - 3, ROLE_DIM, behind);
	canvas_paint(canvas, area.y, cursor, 1, ROLE_CURSOR);
}
