/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "theme.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint8_t attributes;
} roles[ROLE_COUNT] = {
#define X(id, name, attributes) [ROLE_##id] = {name, attributes},
		UI_ROLES(X)
#undef X
};

void theme_init(struct theme *theme)
{
	int i;

	for (i = 0; i < ROLE_COUNT; i++) {
		theme->styles[i] = (struct theme_style){-1, -1, -1, -1, roles[i].attributes};
	}
}

/* One colour of `length` bytes: a number if `numbers`, else a name; "-" is the terminal's own. */
static bool read_color(const char *word, size_t length, bool numbers, int16_t *color)
{
	static const char *const names[] = {
			"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"};
	bool bright = false;
	char text[16], *end;
	long number;
	int16_t i;

	if (length == 0 || length >= sizeof(text)) {
		return false;
	}
	memcpy(text, word, length);
	text[length] = '\0';
	if (strcmp(text, "-") == 0) {
		*color = -1;
		return true;
	}
	if (numbers) {
		errno = 0;
		number = strtol(text, &end, 10);
		*color = (int16_t)number;
		return errno == 0 && end != text && *end == '\0' && number >= 0 && number <= 255;
	}
	if (strncmp(text, "bright", 6) == 0) {
		bright = true;
		memmove(text, text + 6, length - 6 + 1);
	}
	for (i = 0; i < 8; i++) {
		if (strcmp(text, names[i]) == 0) {
			*color = (int16_t)(bright ? i + 8 : i);
			return true;
		}
	}
	return false;
}

/* FOREGROUND or FOREGROUND/BACKGROUND */
static bool read_colors(const char *word, bool numbers, int16_t *fg, int16_t *bg)
{
	const char *slash = strchr(word, '/');

	*bg = -1;
	if (!slash) {
		return read_color(word, strlen(word), numbers, fg);
	}
	return read_color(word, (size_t)(slash - word), numbers, fg) &&
	       read_color(slash + 1, strlen(slash + 1), numbers, bg);
}

static bool read_attribute(const char *word, uint8_t *attributes)
{
	static const struct {
		const char *name;
		uint8_t attribute;
	} known[] = {{"bold", STYLE_BOLD}, {"dim", STYLE_DIM}, {"underline", STYLE_UNDERLINE},
			{"reverse", STYLE_REVERSE}};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(word, known[i].name) == 0) {
			*attributes |= known[i].attribute;
			return true;
		}
	}
	return false;
}

/* Returns NULL, or what is wrong with the line. */
static const char *read_style(const char *value, struct theme_style *style)
{
	char text[128], *word, *save;
	int n = 0;

	if (strlen(value) >= sizeof(text)) {
		return "is too long";
	}
	strcpy(text, value);
	style->attributes = 0;
	for (word = strtok_r(text, " \t", &save); word; word = strtok_r(NULL, " \t", &save), n++) {
		if (n == 0 && !read_colors(word, true, &style->fg256, &style->bg256)) {
			return "must begin with a colour of 0 to 255, as in 208 or 231/24 or -";
		}
		if (n == 1 && !read_colors(word, false, &style->fg16, &style->bg16)) {
			return "must have a colour name second, as in yellow or white/blue or -";
		}
		if (n >= 2 && !read_attribute(word, &style->attributes)) {
			return "knows the attributes bold, dim, underline and reverse only";
		}
	}
	return n >= 2 ? NULL : "needs a colour of 0 to 255 and a colour name";
}

static int find_role(const char *name)
{
	int i;

	for (i = 0; i < ROLE_COUNT; i++) {
		if (strcmp(roles[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

enum status theme_read(
		struct theme *theme, const struct settings *settings, char *error, size_t size)
{
	struct theme new_theme;
	const struct setting *item;
	const char *problem;
	uint32_t i;
	int role;

	theme_init(&new_theme);
	for (i = 0; i < settings->n; i++) {
		item = &settings->items[i];
		role = find_role(item->name);
		problem = role < 0 ? "is no role of a theme"
				   : read_style(item->value, &new_theme.styles[role]);
		if (problem) {
			snprintf(error, size, "%s:%u: %s %s", settings->file,
					(unsigned int)item->line, item->name, problem);
			return STATUS_INVALID;
		}
	}
	*theme = new_theme;
	return STATUS_OK;
}

struct theme_cell_style theme_cell_style(const struct theme *theme, enum role role, int colors)
{
	const struct theme_style *style = &theme->styles[role];
	struct theme_cell_style found = {-1, -1, style->attributes};

	if (colors >= 256) {
		found.fg = style->fg256;
		found.bg = style->bg256;
	} else if (colors >= 8) {
		found.fg = style->fg16;
		found.bg = style->bg16;
		if (colors < 16 && found.fg >= 8) {
			found.fg = (int16_t)(found.fg - 8);
			found.attributes |= STYLE_BOLD;
		}
		if (colors < 16 && found.bg >= 8) {
			found.bg = (int16_t)(found.bg - 8);
		}
	} else {
		found.attributes = roles[role].attributes;
	}
	return found;
}
