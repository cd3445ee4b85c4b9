/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "console/console.h"
#include "key.h"
#include "pythiatop/console.h"
#include "terminal.h"

/*
 * The loop: it waits in poll() and nowhere else. A key is answered at once; what new data changes
 * is drawn at most ten times a second, and only if it looks different.
 */

#define FRAME_MS 100

struct app {
	struct console *console;
	const struct console_options *options;
	const struct console_host *host;
	struct canvas canvas, shown; /* to be drawn; what the terminal shows */
	bool afresh;                 /* the terminal may show anything */
	uint32_t theme_serial;
	int64_t drawn_ms; /* when data was drawn last */
	bool key_waits, data_waits;
};

static int64_t now_ms(void)
{
	return (int64_t)(clock_monotonic_ns() / 1000000u);
}

static bool draw(struct app *app)
{
	const struct theme *theme;
	uint32_t serial;
	int rows, columns;

	theme = console_theme(app->console, &serial);
	if (serial != app->theme_serial) {
		app->theme_serial = serial;
		terminal_theme(theme, app->options->no_color);
		app->afresh = true;
	}
	terminal_size(&rows, &columns);
	if (!canvas_resize(&app->canvas, rows, columns)) {
		return false;
	}
	console_draw(app->console, &app->canvas);
	if (app->afresh || !canvas_equal(&app->canvas, &app->shown)) {
		terminal_paint(&app->canvas, app->afresh);
		app->afresh = !canvas_copy(&app->shown, &app->canvas);
	}
	app->key_waits = app->data_waits = false;
	app->drawn_ms = now_ms();
	return true;
}

/* Until when data may wait to be drawn; -1: nothing waits. */
static int poll_timeout(const struct app *app)
{
	int64_t left;

	if (!app->data_waits) {
		return -1;
	}
	left = app->drawn_ms + FRAME_MS - now_ms();
	return left < 0 ? 0 : (int)left;
}

/* Takes all keys typed. True: the person quits. */
static bool take_keys(struct app *app)
{
	uint32_t key;

	while ((key = terminal_key()) != K_NONE) {
		app->key_waits = true;
		switch (console_key(app->console, key)) {
		case CONSOLE_QUIT:
			return true;
		case CONSOLE_SUSPEND:
			terminal_suspend();
			app->afresh = true;
			break;
		case CONSOLE_REDRAW:
			app->afresh = true;
			break;
		default:
			break;
		}
	}
	return false;
}

static void take_data(struct app *app)
{
	uint64_t count;

	/* An eventfd: one read empties it. */
	if (read(app->host->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN) {
		return;
	}
	app->data_waits |= console_take(app->console);
}

/* The exit code. */
static int run(struct app *app)
{
	struct pollfd fds[] = {
			{.fd = STDIN_FILENO, .events = POLLIN},
			{.fd = app->host->wake_fd, .events = POLLIN},
			{.fd = terminal_signal_fd(), .events = POLLIN},
	};
	bool resized;
	int signal;

	app->data_waits = console_take(app->console);
	app->key_waits = true;
	for (;;) {
		if (app->key_waits || (app->data_waits && poll_timeout(app) == 0)) {
			if (!draw(app)) {
				return 1;
			}
		}
		if (poll(fds, sizeof(fds) / sizeof(fds[0]), poll_timeout(app)) < 0) {
			if (errno != EINTR) {
				return 1;
			}
			continue;
		}
		if (fds[2].revents) {
			resized = false;
			signal = terminal_signal(&resized);
			if (signal) {
				return 128 + signal;
			}
			app->afresh |= resized;
			app->key_waits |= resized;
		}
		if (fds[1].revents) {
			take_data(app);
		}
		if (fds[0].revents && take_keys(app)) {
			return 0;
		}
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL) || !terminal_alive()) {
			return 128 + 1; /* as if SIGHUP had come */
		}
	}
}

int console_run(const struct console_options *options, const struct console_host *host)
{
	struct app app = {.options = options,
			.host = host,
			.afresh = true,
			.theme_serial = UINT32_MAX};
	enum status status = terminal_open();
	int code = 1;

	if (status != STATUS_OK) {
		fprintf(stderr, "pythiatop: %s\n",
				status == STATUS_NOT_FOUND ? "this type of terminal is not known: "
							     "set TERM, or use --batch"
							   : strerror(errno));
		return 1;
	}
	canvas_init(&app.canvas, options->ascii);
	canvas_init(&app.shown, options->ascii);
	app.console = console_create(options, host);
	if (app.console) {
		code = run(&app);
	}
	console_destroy(app.console);
	canvas_release(&app.canvas);
	canvas_release(&app.shown);
	terminal_close();
	return code;
}
