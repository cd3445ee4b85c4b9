/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_KEYMAP_H
#define UI_KEYMAP_H

#include <stddef.h>
#include <stdint.h>

#include "key.h"
#include "pythiatop/action.h"
#include "pythiatop/settings.h"
#include "pythiatop/status.h"

/*
 * Which key does what: the defaults of the action table, changed by settings `key.ACTION = KEY...`.
 * Memory: constant; at most KEYMAP_KEYS keys an action.
 */
#define KEYMAP_KEYS 4
#define KEYMAP_TEXT 64 /* bytes of the keys of an action as text */

struct keymap {
	uint32_t keys[ACTION_COUNT][KEYMAP_KEYS]; /* K_NONE after the last */
};

void keymap_init(struct keymap *keymap);

/*
 * Takes the settings named key.*. A key given to an action is taken from the one that had it by
 * default; a key that the settings give to two actions, an unknown key or action is STATUS_INVALID:
 * `error` (of `size` bytes) names the file, line and what is wrong; *keymap is unchanged.
 */
enum status keymap_read(
		struct keymap *keymap, const struct settings *settings, char *error, size_t size);

/* ACTION_NONE if the key does nothing. */
enum action keymap_find(const struct keymap *keymap, uint32_t key);

/* The keys of an action as text: "? F1". */
char *keymap_text(const struct keymap *keymap, enum action action, char *out, size_t size);

/*
 * A sentence in which {key:ACTION} stands for the first key of an action: "key {key:approve}
 * approves it". Who writes it need not know which keys a person has set. At most `size` bytes.
 */
char *keymap_expand(const struct keymap *keymap, const char *text, char *out, size_t size);

const char *action_name(enum action action);
const char *action_label(enum action action);
const char *action_help(enum action action);
enum action_section action_section(enum action action);
const char *action_section_title(enum action_section section);

#endif
