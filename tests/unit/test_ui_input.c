/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys, key bindings, themes, the prompt, patterns, layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "config/settings.h"
#include "keymap.h"
#include "layout.h"
#include "pattern.h"
#include "prompt.h"
#include "theme.h"

static int set_up(void **state)
{
	(void)state;
	return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

static void keys_have_names(void **state)
{
	static const char *const names[] = {"p", "?", "Space", "Enter", "Esc", "BackTab", "PgDn",
			"F1", "F12", "Ctrl-L", "é", "Backspace", "Tab", "Delete"};
	char out[KEY_NAME_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint32_t key = key_parse(names[i]);

		assert_int_not_equal(key, K_NONE);
		assert_string_equal(key_text(key, out), names[i]);
	}
	assert_int_equal(key_parse("F13"), K_NONE);
	assert_int_equal(key_parse("pp"), K_NONE);
	assert_int_equal(key_parse(""), K_NONE);
	assert_int_equal(key_parse("\x1b"), K_NONE);
	assert_int_equal(key_parse("Ctrl-1"), K_NONE);
}

/* No two actions may have the same key, or one of them would never be done. */
static void default_keys_do_not_collide(void **state)
{
	struct keymap keymap;
	int i, k;

	(void)state;
	keymap_init(&keymap);
	for (i = 0; i < ACTION_COUNT; i++) {
		assert_int_not_equal(keymap.keys[i][0], K_NONE);
		for (k = 0; k < KEYMAP_KEYS && keymap.keys[i][k]; k++) {
			assert_int_equal(keymap_find(&keymap, keymap.keys[i][k]), i);
		}
	}
	assert_int_equal(keymap_find(&keymap, '%'), ACTION_NONE);
}

static enum status bind(
		struct keymap *keymap, const char *const lines[][2], uint32_t n, char error[256])
{
	struct setting items[8];
	struct settings settings = {.file = "my.conf", .n = n, .items = items};
	uint32_t i;

	for (i = 0; i < n; i++) {
		items[i] = (struct setting){lines[i][0], lines[i][1], i + 1};
	}
	error[0] = '\0';
	keymap_init(keymap);
	return keymap_read(keymap, &settings, error, 256);
}

static void keys_can_be_changed(void **state)
{
	static const char *const good[][2] = {
			{"theme", "light"}, {"key.freeze", "Space F5"}, {"key.quit", "p"}};
	static const char *const twice[][2] = {{"key.freeze", "x"}, {"key.quit", "q x"}};
	static const char *const unknown[][2] = {{"key.explode", "x"}};
	static const char *const no_key[][2] = {{"key.quit", "q Ctrl-?"}};
	struct keymap keymap;
	char error[256], text[64];

	(void)state;
	assert_int_equal(bind(&keymap, good, 3, error), STATUS_OK);
	assert_int_equal(keymap_find(&keymap, ' '), ACTION_FREEZE);
	assert_int_equal(keymap_find(&keymap, 'p'), ACTION_QUIT);
	assert_int_equal(keymap_find(&keymap, 'q'), ACTION_NONE);
	assert_string_equal(keymap_text(&keymap, ACTION_FREEZE, text, sizeof(text)), "Space F5");
	assert_int_equal(bind(&keymap, twice, 2, error), STATUS_INVALID);
	assert_string_equal(error, "my.conf:2: key.quit: key x is given to freeze already");
	assert_int_equal(keymap_find(&keymap, 'p'), ACTION_FREEZE);
	assert_int_equal(bind(&keymap, unknown, 1, error), STATUS_INVALID);
	assert_string_equal(error, "my.conf:1: key.explode: no such action; ? lists them");
	assert_int_equal(bind(&keymap, no_key, 1, error), STATUS_INVALID);
	assert_non_null(strstr(error, "\"Ctrl-?\" is not a key"));
}

static enum status read_theme(
		struct theme *theme, const char *name, const char *value, char error[256])
{
	struct setting item = {name, value, 3};
	struct settings settings = {.file = "my.theme", .n = 1, .items = &item};

	theme_init(theme);
	error[0] = '\0';
	return theme_read(theme, &settings, error, 256);
}

static void sentences_have_the_keys_of_the_map(void **state)
{
	struct keymap keymap;
	char text[64], small[12];

	(void)state;
	keymap_init(&keymap);
	assert_string_equal(
			keymap_expand(&keymap, "key {key:approve} approves it", text, sizeof(text)),
			"key a approves it");
	keymap.keys[ACTION_APPROVE][0] = 'y';
	assert_string_equal(keymap_expand(&keymap, "{key:approve}", text, sizeof(text)), "y");
	assert_string_equal(
			keymap_expand(&keymap, "{key:help}, {key:no} {key:", text, sizeof(text)),
			"?, {key:no} {key:");
	assert_string_equal(keymap_expand(&keymap, "0123456789{key:help}...", small, sizeof(small)),
			"0123456789?");
}

static void themes_are_read(void **state)
{
	struct theme_cell_style look;
	struct theme theme;
	char error[256];

	(void)state;
	assert_int_equal(read_theme(&theme, "heat.3", "208/16 brightyellow/black bold", error),
			STATUS_OK);
	look = theme_cell_style(&theme, ROLE_HEAT_3, 256);
	assert_int_equal(look.fg, 208);
	assert_int_equal(look.bg, 16);
	assert_int_equal(look.attributes, STYLE_BOLD);
	look = theme_cell_style(&theme, ROLE_HEAT_3, 16);
	assert_int_equal(look.fg, 11);
	assert_int_equal(look.bg, 0);
	look = theme_cell_style(&theme, ROLE_HEAT_3, 8);
	assert_int_equal(look.fg, 3);
	assert_int_equal(look.attributes, STYLE_BOLD);
	look = theme_cell_style(&theme, ROLE_SELECTED, 0);
	assert_int_equal(look.fg, -1);
	assert_int_equal(look.attributes, STYLE_REVERSE);
}

static void wrong_themes_are_told(void **state)
{
	struct theme theme;
	char error[256];

	(void)state;
	assert_int_equal(read_theme(&theme, "heat.9", "1 red", error), STATUS_INVALID);
	assert_string_equal(error, "my.theme:3: heat.9 is no role of a theme");
	assert_int_equal(read_theme(&theme, "heat.3", "256 red", error), STATUS_INVALID);
	assert_int_equal(read_theme(&theme, "heat.3", "red", error), STATUS_INVALID);
	assert_int_equal(read_theme(&theme, "heat.3", "1 pink", error), STATUS_INVALID);
	assert_int_equal(read_theme(&theme, "heat.3", "1 red blinking", error), STATUS_INVALID);
	assert_int_equal(read_theme(&theme, "heat.3", "1", error), STATUS_INVALID);
	assert_int_equal(read_theme(&theme, "heat.3", "", error), STATUS_INVALID);
	assert_int_equal(read_theme(&theme, "heat.3", "1/2/3 red", error), STATUS_INVALID);
}

static bool has_name(const struct settings *settings, const char *name)
{
	uint32_t i = 0;

	while (i < settings->n && strcmp(settings->items[i].name, name) != 0) {
		i++;
	}
	return i < settings->n;
}

/* The files that come with the program: read, and each role named but those of plain text. */
static void own_themes_are_right(void **state)
{
	static const char *const names[] = {"default", "light", "colorblind", "mono"};
	static const char *const role_names[] = {
#define X(id, name, attributes) [ROLE_##id] = (name),
			UI_ROLES(X)
#undef X
	};
	struct settings_file file;
	struct theme_cell_style look, expected;
	struct theme theme, plain;
	char path[512], error[256];
	size_t i;
	int role;

	(void)state;
	theme_init(&plain);
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/themes/%s.theme", PT_SOURCE_DIR, names[i]);
		if (settings_read(&file, path, error, sizeof(error)) != STATUS_OK) {
			fail_msg("%s", error);
		}
		if (theme_read(&theme, &file.settings, error, sizeof(error)) != STATUS_OK) {
			fail_msg("%s", error);
		}
		for (role = 0; role < ROLE_COUNT; role++) {
			if (strcmp(names[i], "mono") == 0) {
				look = theme_cell_style(&theme, (enum role)role, 256);
				expected = theme_cell_style(&plain, (enum role)role, 256);
				assert_int_equal(look.attributes, expected.attributes);
				assert_int_equal(look.fg, -1);
				assert_int_equal(look.bg, -1);
			} else if (!has_name(&file.settings, role_names[role])) {
				fail_msg("%s: no %s", path, role_names[role]);
			}
		}
		settings_release(&file);
	}
}

static void type(struct prompt *prompt, const char *text)
{
	for (; *text; text++) {
		assert_int_equal(prompt_key(prompt, (unsigned char)*text), PROMPT_TYPING);
	}
}

static void prompt_edits(void **state)
{
	struct prompt *prompt = prompt_create();
	int i;

	(void)state;
	assert_non_null(prompt);
	prompt_open(prompt, PROMPT_COMMAND, "");
	type(prompt, "themes light");
	for (i = 0; i < 6; i++) {
		prompt_key(prompt, K_LEFT);
	}
	prompt_key(prompt, K_BACKSPACE);
	assert_string_equal(prompt_text(prompt), "theme light");
	prompt_key(prompt, 0xe9);
	assert_string_equal(prompt_text(prompt), "themeé light");
	prompt_key(prompt, K_BACKSPACE);
	prompt_key(prompt, K_END);
	prompt_key(prompt, K_CTRL('w'));
	assert_string_equal(prompt_text(prompt), "theme ");
	prompt_key(prompt, K_CTRL('u'));
	assert_string_equal(prompt_text(prompt), "");
	prompt_key(prompt, 0x1b5b);
	for (i = 0; i < 400; i++) {
		prompt_key(prompt, 'x');
	}
	assert_true(strlen(prompt_text(prompt)) < PROMPT_BYTES);
	assert_int_equal(prompt_key(prompt, K_ESC), PROMPT_LEFT);
	assert_false(prompt_is_open(prompt));
	prompt_destroy(prompt);
}

static void prompt_completes_and_recalls(void **state)
{
	struct prompt *prompt = prompt_create();

	(void)state;
	prompt_open(prompt, PROMPT_COMMAND, "");
	type(prompt, "ex");
	prompt_key(prompt, K_TAB);
	assert_string_equal(prompt_text(prompt), "exp"); /* explain, export */
	type(prompt, "o");
	prompt_key(prompt, K_TAB);
	assert_string_equal(prompt_text(prompt), "export ");
	type(prompt, "j");
	prompt_key(prompt, K_TAB);
	assert_string_equal(prompt_text(prompt), "export json ");
	assert_int_equal(prompt_key(prompt, K_ENTER), PROMPT_TAKEN);
	prompt_open(prompt, PROMPT_SEARCH, "");
	prompt_key(prompt, K_UP);
	assert_string_equal(prompt_text(prompt), "");
	prompt_open(prompt, PROMPT_COMMAND, "");
	type(prompt, "new");
	prompt_key(prompt, K_UP);
	assert_string_equal(prompt_text(prompt), "export json ");
	prompt_key(prompt, K_DOWN);
	assert_string_equal(prompt_text(prompt), "new");
	prompt_destroy(prompt);
}

static void patterns(void **state)
{
	struct pattern pattern = {.set = false};
	char error[128] = "";

	(void)state;
	assert_true(pattern_set(&pattern, "^serv(er|ice)", true, error, sizeof(error)));
	assert_true(pattern_finds(&pattern, "Server create"));
	assert_false(pattern_finds(&pattern, "volume"));
	assert_false(pattern.negated);
	assert_true(pattern_set(&pattern, "!list$", true, error, sizeof(error)));
	assert_true(pattern.negated);
	assert_true(pattern_finds(&pattern, "server list"));
	assert_false(pattern_set(&pattern, "(", true, error, sizeof(error)));
	assert_string_not_equal(error, "");
	assert_string_equal(pattern.text, "!list$");
	assert_true(pattern_set(&pattern, "", true, error, sizeof(error)));
	assert_false(pattern.set);
	pattern_release(&pattern);
}

/* Also of patterns that match nothing, of which there are endlessly many. */
static void matches_are_highlighted(void **state)
{
	struct pattern pattern = {.set = false};
	struct canvas canvas;
	char error[128];
	int x, marked = 0;

	(void)state;
	canvas_init(&canvas, false);
	assert_true(canvas_resize(&canvas, 1, 20));
	canvas_text(&canvas, 0, 0, 20, ROLE_TEXT, "漢字 abc ab 漢");
	assert_true(pattern_set(&pattern, "ab|字", false, error, sizeof(error)));
	pattern_highlight(&pattern, &canvas, 0, 0, 20);
	for (x = 0; x < 20; x++) {
		marked += canvas_at(&canvas, 0, x)->role == ROLE_MATCH;
	}
	assert_int_equal(marked, 2 + 2 + 2);
	assert_int_equal(canvas_at(&canvas, 0, 2)->role, ROLE_MATCH);
	assert_int_equal(canvas_at(&canvas, 0, 5)->role, ROLE_MATCH);
	assert_int_equal(canvas_at(&canvas, 0, 7)->role, ROLE_TEXT);
	assert_true(pattern_set(&pattern, "z*", false, error, sizeof(error)));
	pattern_highlight(&pattern, &canvas, 0, 0, 20);
	pattern_release(&pattern);
	canvas_release(&canvas);
}

static void the_least_important_goes_first(void **state)
{
	struct layout_item items[] = {{10, 0, false}, {5, 2, false}, {5, 1, false}, {5, 2, false}};

	(void)state;
	assert_int_equal(layout_fit(items, 4, 1, 30), 2);
	assert_true(items[3].kept);
	assert_int_equal(layout_fit(items, 4, 1, 27), 5);
	assert_false(items[3].kept);
	assert_true(items[1].kept);
	assert_int_equal(layout_fit(items, 4, 1, 16), 0);
	assert_false(items[1].kept);
	assert_true(items[2].kept);
	assert_int_equal(layout_fit(items, 4, 1, 8), -2);
	assert_true(items[0].kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(keys_have_names),
			cmocka_unit_test(default_keys_do_not_collide),
			cmocka_unit_test(keys_can_be_changed),
			cmocka_unit_test(sentences_have_the_keys_of_the_map),
			cmocka_unit_test(themes_are_read),
			cmocka_unit_test(wrong_themes_are_told),
			cmocka_unit_test(own_themes_are_right),
			cmocka_unit_test(prompt_edits),
			cmocka_unit_test(prompt_completes_and_recalls),
			cmocka_unit_test(patterns),
			cmocka_unit_test(matches_are_highlighted),
			cmocka_unit_test(the_least_important_goes_first),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
