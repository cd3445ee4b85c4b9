/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_THEME_H
#define UI_THEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/settings.h"
#include "pythiatop/status.h"
#include "role.h"

/*
 * The looks of every role. A theme file has one role a line:
 *
 *	heat.3 = 208 yellow bold
 *	selected = 231/24 white/blue bold
 *
 * First the colour on terminals with 256 colours (0 to 255), then the one on those with 16 (black
 *red green yellow blue magenta cyan white, each with "bright" before it), then attributes: bold dim
 * underline reverse. FOREGROUND/BACKGROUND; "-" is the terminal's own. A terminal with 8 colours
 * shows a bright one as bold. Roles that a file leaves out look as without colours.
 */
struct theme_style {
	int16_t fg256, bg256, fg16, bg16; /* -1: the terminal's own */
	uint8_t attributes;               /* enum style_attribute */
};

struct theme {
	struct theme_style styles[ROLE_COUNT];
};

/* What to show on a terminal: colours are its numbers, -1 its own. */
struct theme_cell_style {
	int16_t fg, bg;
	uint8_t attributes;
};

/* The built-in theme: attributes only. */
void theme_init(struct theme *theme);

/*
 * Reads a theme file's lines. STATUS_INVALID: `error` (of `size` bytes) names the file, line and
 * what is wrong; *theme is unchanged.
 */
enum status theme_read(
		struct theme *theme, const struct settings *settings, char *error, size_t size);

/* The looks of a role on a terminal with so many colours; below 8, those of the built-in theme. */
struct theme_cell_style theme_cell_style(const struct theme *theme, enum role role, int colors);

#endif
