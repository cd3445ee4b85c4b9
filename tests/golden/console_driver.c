/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The console on a real terminal, on a made-up cloud that changes ten times a second. For looking
 * at it, and for tests of the terminal itself.
 *
 *   console_driver [--theme NAME] [--no-color] [--ascii] [--crash] [--groups N] [--lossy]
 * [--hostile] [--steps]
 *
 * --crash: the command `:crash` writes to address 0. --steps: a step waits, and can be decided on.
 */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "config/instant.h"
#include "config/settings.h"
#include "pythiatop/console.h"
#include "support_cloud.h"

struct driver {
	struct focus focus;
	struct cloud cloud;
	struct settings_file theme;
	struct console_options options;
	int timer;
	bool may_crash;
	char notice[512];
};

/* The next snapshot comes in `ns`, further ones every tenth of a second. */
static void set_timer(const struct driver *driver, long ns)
{
	const struct itimerspec spec = {
			.it_value = {.tv_nsec = ns}, .it_interval = {.tv_nsec = 100000000}};

	timerfd_settime(driver->timer, 0, &spec, NULL);
}

static const struct snapshot *host_acquire(void *context)
{
	struct driver *driver = context;

	if (!driver->focus.frozen) {
		driver->cloud.tick++;
	}
	return cloud_snapshot(&driver->focus, &driver->cloud);
}

static void host_release(void *context, const struct snapshot *snapshot)
{
	(void)context;
	snapshot_destroy((struct snapshot *)(uintptr_t)snapshot);
}

static void host_set_focus(void *context, const struct focus *focus)
{
	struct driver *driver = context;

	driver->focus = *focus;
	set_timer(driver, 1);
}

/* The real thing: a sanitizer that caught it would end the program in its own way. */
__attribute__((no_sanitize("undefined"), no_sanitize("address"))) static void crash(void)
{
	volatile uintptr_t nowhere = 0;

	*(volatile int *)nowhere = 1;
}

/* As the program would, but at once. */
static void take_decision(struct made_steps *steps, const char *line)
{
	unsigned int point;

	steps->mode = strcmp(line, "mode observe") == 0 || strcmp(line, "undo all") == 0
				      ? MODE_OBSERVE
		      : strcmp(line, "mode approve") == 0   ? MODE_APPROVE
		      : strcmp(line, "mode autopilot") == 0 ? MODE_AUTOPILOT
							    : steps->mode;
	if (sscanf(line, "leave 2 %u", &point) == 1 && point >= 1 && point <= 3) {
		steps->left |= 1u << (point - 1);
	} else if (sscanf(line, "take 2 %u", &point) == 1 && point >= 1 && point <= 3) {
		steps->left &= ~(1u << (point - 1));
	} else if (strcmp(line, "approve 2") == 0) {
		steps->done = true;
		steps->waits = false;
	} else if (strcmp(line, "undo 2") == 0 || strcmp(line, "undo all") == 0) {
		steps->done = false;
		steps->waits = true;
	}
}

static void host_command(void *context, const char *line)
{
	struct driver *driver = context;

	if (driver->may_crash && strcmp(line, "crash") == 0) {
		crash();
	}
	take_decision(&driver->cloud.steps, line);
	snprintf(driver->notice, sizeof(driver->notice), "command: %s", line);
	driver->cloud.notice = driver->notice;
	driver->cloud.notice_serial++;
}

static bool host_theme(void *context, const char *name, struct settings *out)
{
	struct driver *driver = context;
	char path[512], error[256];

	snprintf(path, sizeof(path), "%s/themes/%s.theme", PT_SOURCE_DIR, name);
	settings_release(&driver->theme);
	if (settings_read(&driver->theme, path, error, sizeof(error)) != STATUS_OK) {
		return false;
	}
	*out = driver->theme.settings;
	return true;
}

static bool host_instant(void *context, const char *text, uint64_t first_ns, uint64_t now_ns,
		uint64_t *at_ns)
{
	(void)context;
	return instant_read(text, first_ns, now_ns, at_ns);
}

static void read_options(struct driver *driver, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		driver->options.no_color |= strcmp(argv[i], "--no-color") == 0;
		driver->options.ascii |= strcmp(argv[i], "--ascii") == 0;
		driver->may_crash |= strcmp(argv[i], "--crash") == 0;
		driver->cloud.lossy |= strcmp(argv[i], "--lossy") == 0;
		driver->cloud.hostile |= strcmp(argv[i], "--hostile") == 0;
		driver->cloud.steps.waits |= strcmp(argv[i], "--steps") == 0;
		if (strcmp(argv[i], "--theme") == 0 && i + 1 < argc) {
			driver->options.theme = argv[++i];
		} else if (strcmp(argv[i], "--groups") == 0 && i + 1 < argc) {
			driver->cloud.groups = (uint32_t)strtoul(argv[++i], NULL, 10);
		}
	}
}

int main(int argc, char **argv)
{
	struct driver driver = {.options = {.horizon = HORIZON_EPOCH, .target = "relay1"}};
	struct console_host host = {.context = &driver,
			.acquire = host_acquire,
			.release = host_release,
			.set_focus = host_set_focus,
			.command = host_command,
			.theme = host_theme,
			.instant = host_instant};
	int code;

	setlocale(LC_CTYPE, "");
	driver.options.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	read_options(&driver, argc, argv);
	driver.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	host.wake_fd = driver.timer;
	set_timer(&driver, 1);
	code = console_run(&driver.options, &host);
	settings_release(&driver.theme);
	close(driver.timer);
	return code;
}
