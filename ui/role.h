/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_ROLE_H
#define UI_ROLE_H

#include <stdint.h>

/*
 * What a cell of the screen means. A theme gives each role its looks; the looks here are those of a
 * terminal without colours, and of the built-in theme.
 *
 * X(ID, name in theme files, attributes without colours)
 */
enum style_attribute {
	STYLE_BOLD = 1u << 0,
	STYLE_DIM = 1u << 1,
	STYLE_UNDERLINE = 1u << 2,
	STYLE_REVERSE = 1u << 3,
};

#define UI_ROLES(X)                                                                                \
	X(TEXT, "text", 0)                                                                         \
	X(DIM, "dim", STYLE_DIM)                                                                   \
	X(STRONG, "strong", STYLE_BOLD)                                                            \
	X(TITLE, "title", STYLE_BOLD)                                                              \
	X(TITLE_TEXT, "title.text", 0)                                                             \
	X(HORIZON, "title.horizon", STYLE_BOLD)                                                    \
	X(TITLE_GOOD, "title.good", 0)                                                             \
	X(TITLE_WARN, "title.warn", STYLE_BOLD)                                                    \
	X(CRUMB, "crumb", 0)                                                                       \
	X(CRUMB_HERE, "crumb.here", STYLE_BOLD)                                                    \
	X(HEADER, "header", STYLE_UNDERLINE)                                                       \
	X(HEADER_SORT, "header.sort", STYLE_UNDERLINE | STYLE_BOLD)                                \
	X(PANE, "pane", STYLE_DIM)                                                                 \
	X(PANE_ACTIVE, "pane.active", STYLE_BOLD)                                                  \
	X(SELECTED, "selected", STYLE_REVERSE)                                                     \
	X(SELECTED_IDLE, "selected.idle", STYLE_BOLD)                                              \
	X(MATCH, "match", STYLE_REVERSE | STYLE_BOLD)                                              \
	X(AXIS, "axis", STYLE_DIM)                                                                 \
	X(NAME, "name", STYLE_BOLD)                                                                \
	X(PATH, "path", 0)                                                                         \
	X(GOOD, "good", 0)                                                                         \
	X(WARN, "warn", STYLE_BOLD)                                                                \
	X(BAD, "bad", STYLE_BOLD)                                                                  \
	X(LOST, "lost", STYLE_REVERSE | STYLE_BOLD)                                                \
	X(TAINTED, "tainted", STYLE_BOLD)                                                          \
	X(PAUSED, "paused", STYLE_REVERSE | STYLE_BOLD)                                            \
	X(KEY, "key", STYLE_BOLD)                                                                  \
	X(KEY_LABEL, "key.label", 0)                                                               \
	X(KEY_HERE, "key.here", STYLE_REVERSE)                                                     \
	X(PROMPT, "prompt", STYLE_BOLD)                                                            \
	X(CURSOR, "cursor", STYLE_REVERSE)                                                         \
	X(NOTICE, "notice", STYLE_BOLD)                                                            \
	X(ERROR, "error", STYLE_REVERSE)                                                           \
	X(NEXT, "next", STYLE_BOLD)                                                                \
	X(HEAT_0, "heat.0", STYLE_DIM)                                                             \
	X(HEAT_1, "heat.1", STYLE_DIM)                                                             \
	X(HEAT_2, "heat.2", 0)                                                                     \
	X(HEAT_3, "heat.3", STYLE_BOLD)                                                            \
	X(HEAT_4, "heat.4", STYLE_BOLD)                                                            \
	X(BAR, "bar", 0)                                                                           \
	X(CRITICAL, "critical", STYLE_BOLD)                                                        \
	X(SPAN_0, "span.0", STYLE_BOLD)                                                            \
	X(SPAN_1, "span.1", 0)                                                                     \
	X(SPAN_2, "span.2", STYLE_BOLD)                                                            \
	X(SPAN_3, "span.3", 0)                                                                     \
	X(SPAN_4, "span.4", STYLE_BOLD)                                                            \
	X(SPAN_5, "span.5", 0)

/* From heat.0 on they are of bars and the like. */
#define UI_HEAT_LEVELS 5
#define UI_SPAN_COLORS 6

enum role {
#define X(id, name, attributes) ROLE_##id,
	UI_ROLES(X)
#undef X
			ROLE_COUNT
};

#endif
