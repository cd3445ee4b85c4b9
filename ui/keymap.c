/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text_add.h"
#include "keymap.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *keys, *label, *help;
	enum action_section section;
} actions[ACTION_COUNT] = {
#define X(id, name, section, keys, label, help)                                                    \
	[ACTION_##id] = {name, keys, label, help, ACTION_SECTION_##section},
		PYTHIATOP_ACTIONS(X)
#undef X
};

static const char *const section_titles[] = {
#define X(id, title) [ACTION_SECTION_##id] = title,
		PYTHIATOP_ACTION_SECTIONS(X)
#undef X
};

const char *action_name(enum action action)
{
	return actions[action].name;
}

const char *action_label(enum action action)
{
	return actions[action].label;
}

const char *action_help(enum action action)
{
	return actions[action].help;
}

enum action_section action_section(enum action action)
{
	return actions[action].section;
}

const char *action_section_title(enum action_section section)
{
	return section_titles[section];
}

/* Returns NULL, or the word that is no key or one too many. */
static const char *read_keys(const char *text, uint32_t keys[KEYMAP_KEYS], char *word, size_t size)
{
	size_t length;
	int n = 0;

	memset(keys, 0, KEYMAP_KEYS * sizeof(keys[0]));
	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		length = strcspn(text, " \t");
		snprintf(word, size, "%.*s", (int)length, text);
		text += length;
		if (n == KEYMAP_KEYS) {
			return word;
		}
		keys[n] = key_parse(word);
		if (keys[n] == K_NONE) {
			return word;
		}
		n++;
	}
	return NULL;
}

void keymap_init(struct keymap *keymap)
{
	char word[KEY_NAME_BYTES];
	int i;

	for (i = 0; i < ACTION_COUNT; i++) {
		read_keys(actions[i].keys, keymap->keys[i], word, sizeof(word));
	}
}

static enum action find_name(const char *name)
{
	int i;

	for (i = 0; i < ACTION_COUNT; i++) {
		if (strcmp(actions[i].name, name) == 0) {
			return (enum action)i;
		}
	}
	return ACTION_NONE;
}

static void remove_key(uint32_t keys[KEYMAP_KEYS], uint32_t key)
{
	int from, to = 0;

	for (from = 0; from < KEYMAP_KEYS; from++) {
		if (keys[from] != key) {
			keys[to++] = keys[from];
		}
	}
	while (to < KEYMAP_KEYS) {
		keys[to++] = K_NONE;
	}
}

/* Gives the keys to an action. Returns the key that the settings gave to another one, or K_NONE. */
static uint32_t bind(struct keymap *keymap, enum action action, const uint32_t keys[KEYMAP_KEYS],
		const bool set[ACTION_COUNT], enum action *other)
{
	int i;

	for (i = 0; i < KEYMAP_KEYS && keys[i]; i++) {
		*other = keymap_find(keymap, keys[i]);
		if (*other == ACTION_NONE || *other == action) {
			continue;
		}
		if (set[*other]) {
			return keys[i];
		}
		remove_key(keymap->keys[*other], keys[i]);
	}
	memcpy(keymap->keys[action], keys, sizeof(keymap->keys[action]));
	return K_NONE;
}

enum status keymap_read(
		struct keymap *keymap, const struct settings *settings, char *error, size_t size)
{
	struct keymap new_map = *keymap;
	bool set[ACTION_COUNT] = {false};
	uint32_t keys[KEYMAP_KEYS], taken, i;
	enum action action, other = ACTION_NONE;
	char word[64];

	for (i = 0; i < settings->n; i++) {
		const struct setting *item = &settings->items[i];
		unsigned int line = item->line;

		if (strncmp(item->name, "key.", 4) != 0) {
			continue;
		}
		action = find_name(item->name + 4);
		if (action == ACTION_NONE) {
			snprintf(error, size,
					"%s:%u: %s: no such action; ? lists "
					"them",
					settings->file, line, item->name);
			return STATUS_INVALID;
		}
		if (read_keys(item->value, keys, word, sizeof(word))) {
			snprintf(error, size,
					"%s:%u: %s: \"%s\" is not a key, or one too many (at most "
					"%d)",
					settings->file, line, item->name, word, KEYMAP_KEYS);
			return STATUS_INVALID;
		}
		taken = bind(&new_map, action, keys, set, &other);
		if (taken != K_NONE) {
			snprintf(error, size, "%s:%u: %s: key %s is given to %s already",
					settings->file, line, item->name, key_text(taken, word),
					actions[other].name);
			return STATUS_INVALID;
		}
		set[action] = true;
	}
	*keymap = new_map;
	return STATUS_OK;
}

enum action keymap_find(const struct keymap *keymap, uint32_t key)
{
	int i, k;

	for (i = 0; i < ACTION_COUNT; i++) {
		for (k = 0; k < KEYMAP_KEYS && keymap->keys[i][k]; k++) {
			if (keymap->keys[i][k] == key) {
				return (enum action)i;
			}
		}
	}
	return ACTION_NONE;
}

char *keymap_expand(const struct keymap *keymap, const char *text, char *out, size_t size)
{
	static const char mark[] = "{key:";
	size_t used = 0;

	while (*text && used + 1 < size) {
		size_t length = strncmp(text, mark, sizeof(mark) - 1) == 0 ? strcspn(text, "}") : 0;
		const char *name = text + sizeof(mark) - 1;
		char keys[KEYMAP_TEXT];
		int i;

		for (i = 0; length && i < ACTION_COUNT; i++) {
			if (strlen(actions[i].name) == (size_t)(text + length - name) &&
					strncmp(name, actions[i].name,
							(size_t)(text + length - name)) == 0) {
				break;
			}
		}
		if (length && text[length] && i < ACTION_COUNT) {
			keymap_text(keymap, (enum action)i, keys, sizeof(keys));
			used += (size_t)snprintf(out + used, size - used, "%.*s",
					(int)strcspn(keys, " "), keys);
			used = used < size ? used : size - 1;
			text += length + 1;
		} else {
			out[used++] = *text++;
		}
	}
	out[used] = '\0';
	return out;
}

char *keymap_text(const struct keymap *keymap, enum action action, char *out, size_t size)
{
	char name[KEY_NAME_BYTES];
	int k;

	out[0] = '\0';
	for (k = 0; k < KEYMAP_KEYS && keymap->keys[action][k]; k++) {
		text_add(out, size, "%s%s", k ? " " : "", key_text(keymap->keys[action][k], name));
	}
	return out;
}
