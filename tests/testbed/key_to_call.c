/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long it takes from a key that is pressed to the begin of the first call of lttng-ctl that it
 * brings about: what was said to the helper, and what it answered ("began_ns"), stand in files.
 *
 *   key_to_call ASKED ANSWERED LIMIT_MS TRIES COMMAND [ARGUMENT]...
 *
 * The console runs on a pseudo-terminal in mode approve. Of the first step that it proposes a dry
 * run is asked for TRIES times, it is approved once, and undone.
 * Prints the durations; fails if their median is over LIMIT_MS, or a screen or call does not come.
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS        UINT64_C(1000000)
#define MAX_TRIES 200
#define SOON_NS   (5000 * MS)
#define LONG_NS   (90000 * MS)
#define SETTLE_NS (300 * MS)
#define REDRAW_NS (1000 * MS)
#define REDRAW    "\x0c" /* Ctrl-L */

struct scene {
	int terminal;
	pid_t console;
	char tail[65536]; /* what was written last */
	size_t length;
	const char *asked, *answered;
	uint64_t took_ns[MAX_TRIES + 2];
	unsigned int n;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

__attribute__((format(printf, 2, 3), noreturn)) static void give_up(
		struct scene *scene, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "key_to_call: ");
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	kill(scene->console, SIGTERM);
	waitpid(scene->console, NULL, 0);
	exit(1);
}

static void listen_for(struct scene *scene, int wait_ms)
{
	struct pollfd terminal = {.fd = scene->terminal, .events = POLLIN};
	ssize_t length;

	if (poll(&terminal, 1, wait_ms) <= 0) {
		return;
	}
	if (scene->length > sizeof(scene->tail) / 2) {
		memmove(scene->tail, scene->tail + scene->length - 256, 256);
		scene->length = 256;
	}
	length = read(scene->terminal, scene->tail + scene->length,
			sizeof(scene->tail) - scene->length - 1);
	if (length <= 0) {
		give_up(scene, "the console has ended");
	}
	scene->length += (size_t)length;
	scene->tail[scene->length] = '\0';
}

static uint64_t type(struct scene *scene, const char *keys)
{
	uint64_t at_ns = now_ns();

	if (write(scene->terminal, keys, strlen(keys)) < 0) {
		give_up(scene, "the console does not read keys");
	}
	return at_ns;
}

/* What is on the screen already is not written again unless it is asked for. */
static void expect(struct scene *scene, const char *text, uint64_t wait_ns)
{
	uint64_t now = now_ns(), end_ns = now + wait_ns, redraw_ns = now + REDRAW_NS;

	while (!memmem(scene->tail, scene->length, text, strlen(text))) {
		now = now_ns();
		if (now >= end_ns) {
			give_up(scene, "\"%s\" does not come", text);
		}
		if (now >= redraw_ns) {
			redraw_ns = now + REDRAW_NS;
			type(scene, REDRAW);
		}
		listen_for(scene, 50);
	}
	scene->length = 0;
}

/* The number behind `name` in the last line of a file that has `text`; 0: there is none. */
static uint64_t find(const char *path, const char *text, const char *name)
{
	FILE *file = fopen(path, "re");
	uint64_t number = 0;
	char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) > 0) {
		const char *at = strstr(line, text) ? strstr(line, name) : NULL;

		number = at ? strtoull(at + strlen(name), NULL, 10) : number;
	}
	free(line);
	if (file) {
		fclose(file);
	}
	return number;
}

/* When the call began that the newest ask of this verb brought about. */
static uint64_t call_of(struct scene *scene, const char *verb, uint64_t before)
{
	uint64_t end_ns = now_ns() + SOON_NS, id = before, began_ns = 0;
	char what[64], whose[64];

	snprintf(what, sizeof(what), "\"do\":\"%s\"", verb);
	while (id == before || began_ns == 0) {
		if (now_ns() >= end_ns) {
			give_up(scene, "no call of lttng-ctl for \"%s\"", verb);
		}
		listen_for(scene, 10);
		id = find(scene->asked, what, "\"id\":");
		snprintf(whose, sizeof(whose), "\"id\":%llu,\"ok\":true", (unsigned long long)id);
		began_ns = id == before ? 0 : find(scene->answered, whose, "\"began_ns\":");
	}
	return began_ns;
}

/* Types the keys, which lead to such an ask. */
static void take_time(struct scene *scene, const char *keys, const char *verb)
{
	char what[64];
	uint64_t typed_ns, before, began_ns;

	snprintf(what, sizeof(what), "\"do\":\"%s\"", verb);
	before = find(scene->asked, what, "\"id\":");
	typed_ns = type(scene, keys);
	began_ns = call_of(scene, verb, before);
	if (began_ns < typed_ns) {
		give_up(scene, "the call for \"%s\" was before the key", verb);
	}
	scene->took_ns[scene->n++] = began_ns - typed_ns;
}

/* The files tell of an answer before the console has read it, and it takes one dry run at a time.
 */
static void settle(struct scene *scene)
{
	uint64_t end_ns = now_ns() + SETTLE_NS;

	while (now_ns() < end_ns) {
		listen_for(scene, 20);
	}
}

static void run(struct scene *scene, unsigned int tries)
{
	expect(scene, "+1 inside serve_build", LONG_NS);
	for (unsigned int i = 0; i < tries; i++) {
		settle(scene);
		type(scene, ":dry-run");
		settle(scene);
		take_time(scene, "\r", "check");
	}
	type(scene, "a");
	expect(scene, "Esc cancel", SOON_NS);
	take_time(scene, "y", "enable");
	type(scene, "u");
	expect(scene, "Esc cancel", SOON_NS);
	take_time(scene, "y", "disable");
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	static struct scene scene;
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	unsigned int tries;
	double limit_ms, median_ms;

	if (argc < 6 || (tries = (unsigned int)atoi(argv[4])) < 1 || tries > MAX_TRIES) {
		fprintf(stderr, "key_to_call: see the top of key_to_call.c\n");
		return 2;
	}
	scene.asked = argv[1];
	scene.answered = argv[2];
	limit_ms = atof(argv[3]);
	scene.console = forkpty(&scene.terminal, NULL, NULL, &size);
	if (scene.console < 0) {
		perror("key_to_call: forkpty");
		return 1;
	}
	if (scene.console == 0) {
		setenv("TERM", "xterm-256color", 1);
		execvp(argv[5], argv + 5);
		_exit(127);
	}
	run(&scene, tries);
	printf("approving %.1f ms, undoing %.1f ms; ", (double)scene.took_ns[tries] / 1e6,
			(double)scene.took_ns[tries + 1] / 1e6);
	qsort(scene.took_ns, scene.n, sizeof(scene.took_ns[0]), by_size);
	median_ms = (double)scene.took_ns[scene.n / 2] / 1e6;
	printf("a key to the call, of %u: median %.1f ms, worst %.1f ms\n", scene.n, median_ms,
			(double)scene.took_ns[scene.n - 1] / 1e6);
	kill(scene.console, SIGTERM);
	waitpid(scene.console, NULL, 0);
	if (median_ms > limit_ms) {
		fprintf(stderr, "key_to_call: over %.0f ms\n", limit_ms);
		return 1;
	}
	return 0;
}
