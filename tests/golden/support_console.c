/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_console.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/instant.h"
#include "key.h"

static const struct snapshot *host_acquire(void *context)
{
	struct bench *bench = context;

	bench->held += bench->snapshot != NULL;
	return bench->snapshot;
}

static void host_release(void *context, const struct snapshot *snapshot)
{
	struct bench *bench = context;

	assert_non_null(snapshot);
	bench->held--;
}

static void host_set_focus(void *context, const struct focus *focus)
{
	struct bench *bench = context;

	assert_true(focus->serial > bench->focus.serial);
	bench->focus = *focus;
}

static void host_command(void *context, const char *line)
{
	struct bench *bench = context;

	snprintf(bench->command, sizeof(bench->command), "%s", line);
}

static bool host_theme(void *context, const char *name, struct settings *out)
{
	struct bench *bench = context;
	char path[512], error[256];

	snprintf(path, sizeof(path), "%s/themes/%s.theme", PT_SOURCE_DIR, name);
	settings_release(&bench->theme);
	if (settings_read(&bench->theme, path, error, sizeof(error)) != STATUS_OK) {
		return false;
	}
	*out = bench->theme.settings;
	return true;
}

static bool host_instant(void *context, const char *text, uint64_t first_ns, uint64_t now_ns,
		uint64_t *at_ns)
{
	(void)context;
	return instant_read(text, first_ns, now_ns, at_ns);
}

void bench_open(struct bench *bench, int rows, int columns, bool ascii, bool no_color)
{
	struct snapshot *(*answer)(const struct focus *, void *) = bench->answer;
	void *context = bench->context;

	memset(bench, 0, sizeof(*bench));
	bench->answer = answer;
	bench->context = context;
	setenv("TZ", "UTC", 1);
	tzset();
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	bench->options = (struct console_options){.horizon = HORIZON_EPOCH,
			.ascii = ascii,
			.no_color = no_color,
			.target = "relay1"};
	bench->host = (struct console_host){.context = bench,
			.acquire = host_acquire,
			.release = host_release,
			.set_focus = host_set_focus,
			.command = host_command,
			.theme = host_theme,
			.instant = host_instant,
			.wake_fd = -1};
	canvas_init(&bench->canvas, ascii);
	assert_true(canvas_resize(&bench->canvas, rows, columns));
	bench->console = console_create(&bench->options, &bench->host);
	assert_non_null(bench->console);
}

static void drop(const struct snapshot *snapshot)
{
	snapshot_destroy((struct snapshot *)(uintptr_t)snapshot);
}

void bench_close(struct bench *bench)
{
	console_destroy(bench->console);
	assert_int_equal(bench->held, 0);
	canvas_release(&bench->canvas);
	settings_release(&bench->theme);
	drop(bench->snapshot);
}

void bench_show(struct bench *bench, struct snapshot *snapshot)
{
	const struct snapshot *old = bench->snapshot;

	snapshot->focus = bench->focus;
	bench->snapshot = snapshot;
	assert_true(console_take(bench->console));
	assert_int_equal(bench->held, 1);
	drop(old); /* nothing may look at it any more */
}

/* Answers until nothing more is asked for. */
static void settle(struct bench *bench)
{
	uint64_t answered = bench->snapshot ? bench->snapshot->focus.serial : 0;
	int rounds = 0;

	while (bench->answer && bench->focus.serial != answered) {
		answered = bench->focus.serial;
		bench_show(bench, bench->answer(&bench->focus, bench->context));
		assert_true(rounds++ < 4); /* a screen that never rests would flood the analysis */
	}
}

enum console_answer bench_type(struct bench *bench, const char *keys)
{
	char text[512], *word, *save;
	enum console_answer answer = CONSOLE_STAY;
	uint32_t key;

	snprintf(text, sizeof(text), "%s", keys);
	settle(bench);
	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		key = key_parse(word);
		if (key == K_NONE) {
			fail_msg("%s is no key", word);
		}
		/* Widgets learn their size when they are drawn, as on a terminal. */
		console_draw(bench->console, &bench->canvas);
		answer = console_key(bench->console, key);
		settle(bench);
	}
	return answer;
}

void bench_text(struct bench *bench, const char *text)
{
	for (; *text; text++) {
		console_key(bench->console, (unsigned char)*text);
	}
	settle(bench);
}

static char role_letter(uint8_t role)
{
	static const char letters[] =
			".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	return role < sizeof(letters) - 1 ? letters[role] : '?';
}

static const char *role_name(enum role role)
{
	static const char *const names[] = {
#define X(id, name, attributes) [ROLE_##id] = (name),
			UI_ROLES(X)
#undef X
	};

	return names[role];
}

/* "a dim 245", "c title 39/236 bold": colours of 256, - is the terminal's own. */
static void dump_role(FILE *out, const struct bench *bench, enum role role)
{
	static const char *const attributes[] = {" bold", " dim", " underline", " reverse"};
	uint32_t serial;
	struct theme_cell_style look = theme_cell_style(console_theme(bench->console, &serial),
			role, bench->options.no_color ? 0 : 256);
	int i;

	fprintf(out, "%c %s", role_letter((uint8_t)role), role_name(role));
	if (look.fg < 0) {
		fputs(" -", out);
	} else {
		fprintf(out, " %d", look.fg);
	}
	if (look.bg >= 0) {
		fprintf(out, "/%d", look.bg);
	}
	for (i = 0; i < 4; i++) {
		fputs(look.attributes & 1u << i ? attributes[i] : "", out);
	}
	fputc('\n', out);
}

/* Glyphs, then roles by letter, then which letter is which role and what that looks like. */
static void dump(FILE *out, const struct bench *bench)
{
	const struct canvas *canvas = &bench->canvas;
	bool used[ROLE_COUNT] = {false};
	const struct canvas_cell *cell;
	int y, x, role;

	fprintf(out, "%dx%d\n", canvas->columns, canvas->rows);
	for (y = 0; y < canvas->rows; y++) {
		fputc('|', out);
		for (x = 0; x < canvas->columns; x++) {
			fputs(canvas_at(canvas, y, x)->glyph, out);
		}
		fputs("|\n", out);
	}
	for (y = 0; y < canvas->rows; y++) {
		fputc('|', out);
		for (x = 0; x < canvas->columns; x++) {
			cell = canvas_at(canvas, y, x);
			used[cell->role] = true;
			fputc(role_letter(cell->role), out);
		}
		fputs("|\n", out);
	}
	for (role = 0; role < ROLE_COUNT; role++) {
		if (used[role]) {
			dump_role(out, bench, (enum role)role);
		}
	}
}

static char *read_file(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!in) {
		return NULL;
	}
	if (getdelim(&text, &size, '\0', in) < 0) {
		free(text);
		text = NULL;
	}
	fclose(in);
	return text;
}

static void compare(const char *path, const char *expected, const char *actual)
{
	const char *line = actual, *want = expected;
	int number = 1;

	if (!expected) {
		fail_msg("%s is missing; PT_GOLDEN_UPDATE=1 writes it", path);
		return;
	}
	while (*line && strcspn(line, "\n") == strcspn(want, "\n") &&
			strncmp(line, want, strcspn(line, "\n")) == 0) {
		line += strcspn(line, "\n");
		line += *line == '\n';
		want += strcspn(want, "\n");
		want += *want == '\n';
		number++;
	}
	if (*line || *want) {
		fail_msg("%s:%d:\nexpected %.*s\ngot      %.*s\n", path, number,
				(int)strcspn(want, "\n"), want, (int)strcspn(line, "\n"), line);
	}
}

void bench_golden(struct bench *bench, const char *name)
{
	const char *update = getenv("PT_GOLDEN_UPDATE");
	char path[512], *text = NULL, *expected;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	settle(bench);
	console_draw(bench->console, &bench->canvas);
	dump(out, bench);
	fclose(out);
	snprintf(path, sizeof(path), "%s/tests/golden/%s.golden", PT_SOURCE_DIR, name);
	if (update && strcmp(update, "1") == 0) {
		out = fopen(path, "w");
		assert_non_null(out);
		fputs(text, out);
		fclose(out);
	} else {
		expected = read_file(path);
		compare(path, expected, text);
		free(expected);
	}
	free(text);
}

bool bench_sees(struct bench *bench, const char *text)
{
	char line[8192];
	size_t used;
	int y, x;

	settle(bench);
	console_draw(bench->console, &bench->canvas);
	for (y = 0; y < bench->canvas.rows; y++) {
		used = 0;
		for (x = 0; x < bench->canvas.columns && used < sizeof(line); x++) {
			used += (size_t)snprintf(line + used, sizeof(line) - used, "%s",
					canvas_at(&bench->canvas, y, x)->glyph);
		}
		if (strstr(line, text)) {
			return true;
		}
	}
	return false;
}
