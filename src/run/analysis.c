/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/analysis.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <urcu/urcu-memb.h>

#include "base/background.h"
#include "base/clock.h"
#include "base/array.h"
#include "config/instant.h"
#include "config/paths.h"
#include "config/settings.h"
#include "run/publish.h"

#define REFRESH_NS      100000000u  /* between snapshots while events come */
#define IDLE_REFRESH_NS 500000000u  /* between those that only tell lag and rates */
#define SLOW_REFRESH_NS 1000000000u /* between snapshots that take long */
/* A snapshot that nobody asked for waits this many times as long as the last one took to make. */
#define REST_FACTOR   1000u
#define AWAKE_NS      10000000000u /* so long after the last question nobody seems to be there */
#define MAX_COMMANDS  16
#define COMMAND_BYTES 1024

struct analysis {
	struct pipeline *pipeline;
	struct publisher *publisher;
	pthread_t thread;
	int wake_fd;  /* to the screen: a newer snapshot */
	int asked_fd; /* to the analysis: a focus, a command, or the end */
	_Atomic bool stop;

	pthread_mutex_t mutex; /* guards what follows; held for a copy only */
	struct focus focus;
	bool focus_changed;
	char commands[MAX_COMMANDS][COMMAND_BYTES];
	uint32_t n_commands;
	uint32_t refused; /* commands that had no room */

	/* The screen's: theme files it was given. They live until the end: it keeps pointers. */
	struct settings_file *themes;
	uint32_t n_themes;
};

static void ring_bell(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0) {
		return; /* EAGAIN: it has been rung often enough */
	}
}

static void acknowledge_bell(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0) {
		return; /* EAGAIN: nobody rang */
	}
}

/* --- the analysis thread -------------------------------------------------------------------------
 */

struct orders {
	struct focus focus;
	bool focus_changed;
	char commands[MAX_COMMANDS][COMMAND_BYTES];
	uint32_t n_commands, refused;
};

static void take_orders(struct analysis *analysis, struct orders *orders)
{
	pthread_mutex_lock(&analysis->mutex);
	orders->focus = analysis->focus;
	orders->focus_changed = analysis->focus_changed;
	orders->n_commands = analysis->n_commands;
	orders->refused = analysis->refused;
	memcpy(orders->commands, analysis->commands,
			orders->n_commands * sizeof(orders->commands[0]));
	analysis->focus_changed = false;
	analysis->n_commands = 0;
	analysis->refused = 0;
	pthread_mutex_unlock(&analysis->mutex);
}

/* True: something was asked that wants an answer at once. */
static bool follow_orders(struct analysis *analysis, struct orders *orders)
{
	uint32_t i;

	take_orders(analysis, orders);
	for (i = 0; i < orders->n_commands; i++) {
		pipeline_command(analysis->pipeline, orders->commands[i], &orders->focus);
	}
	if (orders->refused) {
		pipeline_notice(analysis->pipeline, "too many commands at once; %u were left out",
				orders->refused);
	}
	return orders->focus_changed || orders->n_commands || orders->refused;
}

static void answer(struct analysis *analysis, const struct focus *focus)
{
	struct snapshot *snapshot = pipeline_answer(analysis->pipeline, focus);

	if (snapshot) {
		publisher_put(analysis->publisher, snapshot);
		ring_bell(analysis->wake_fd);
	}
}

/*
 * How long the next snapshot may wait: what is on the screen then costs a tenth of a percent of a
 * CPU where it is made within a millisecond, and moves every second whatever it is; no more often
 * where nobody seems to be there, whose sources rest meanwhile.
 */
static uint64_t rest_ns(uint64_t took_ns, bool changed, bool rests)
{
	uint64_t least_ns = changed ? REFRESH_NS : IDLE_REFRESH_NS;
	uint64_t rest = took_ns < SLOW_REFRESH_NS ? took_ns * REST_FACTOR : SLOW_REFRESH_NS;

	if (rests) {
		return SLOW_REFRESH_NS;
	}
	rest = rest < SLOW_REFRESH_NS ? rest : SLOW_REFRESH_NS;
	return rest > least_ns ? rest : least_ns;
}

static void *analysis_main(void *context)
{
	struct analysis *analysis = context;
	struct pipeline *pipeline = analysis->pipeline;
	struct orders orders = {0};
	uint64_t answered_ns = 0, took_ns = 0, changes = 0, asked_ns = 0;
	bool asked = true, more, rests;

	background_enter();
	while (!atomic_load(&analysis->stop)) {
		uint64_t now_ns, due_ns;

		if (asked) {
			acknowledge_bell(analysis->asked_fd);
		}
		asked = follow_orders(analysis, &orders);
		more = pipeline_step(pipeline);
		pipeline_ended(pipeline);
		now_ns = clock_monotonic_ns();
		asked_ns = asked ? now_ns : asked_ns;
		rests = pipeline_is_calm(pipeline, now_ns) && !more &&
			now_ns - asked_ns >= AWAKE_NS;
		due_ns = answered_ns +
			 rest_ns(took_ns, pipeline_changes(pipeline) != changes, rests);
		if (asked || now_ns >= due_ns) {
			changes = pipeline_changes(pipeline);
			answer(analysis, &orders.focus);
			answered_ns = clock_monotonic_ns();
			took_ns = answered_ns - now_ns;
			due_ns = answered_ns + rest_ns(took_ns, true, rests);
		}
		pipeline_rest(pipeline, rests ? due_ns : 0);
		/* The bell is looked at every time; while events pour in, without waiting. */
		asked = pipeline_wait(pipeline, more ? 0 : due_ns, analysis->asked_fd);
	}
	return NULL;
}

/* --- the screen's side --- */

static const struct snapshot *host_acquire(void *context)
{
	struct analysis *analysis = context;

	return publisher_acquire(analysis->publisher);
}

static void host_release(void *context, const struct snapshot *snapshot)
{
	struct analysis *analysis = context;

	publisher_release(analysis->publisher, snapshot);
}

static void host_set_focus(void *context, const struct focus *focus)
{
	struct analysis *analysis = context;

	pthread_mutex_lock(&analysis->mutex);
	analysis->focus = *focus;
	analysis->focus_changed = true;
	pthread_mutex_unlock(&analysis->mutex);
	ring_bell(analysis->asked_fd);
}

static void host_command(void *context, const char *line)
{
	struct analysis *analysis = context;

	pthread_mutex_lock(&analysis->mutex);
	if (analysis->n_commands < MAX_COMMANDS && strlen(line) < COMMAND_BYTES) {
		memcpy(analysis->commands[analysis->n_commands++], line, strlen(line) + 1);
	} else {
		analysis->refused++;
	}
	pthread_mutex_unlock(&analysis->mutex);
	ring_bell(analysis->asked_fd);
}

static bool host_theme(void *context, const char *name, struct settings *out)
{
	struct analysis *analysis = context;
	struct settings_file file = {0};
	char path[PATH_MAX], error[256];

	if (!paths_data(PATHS_THEME, name, path, sizeof(path)) ||
			settings_read(&file, path, error, sizeof(error)) != STATUS_OK) {
		settings_release(&file);
		return false;
	}
	if (!array_resize(&analysis->themes, analysis->n_themes + 1u)) {
		settings_release(&file);
		return false;
	}
	analysis->themes[analysis->n_themes++] = file;
	*out = file.settings;
	return true;
}

static bool host_instant(void *context, const char *text, uint64_t first_ns, uint64_t now_ns,
		uint64_t *at_ns)
{
	(void)context;
	return instant_read(text, first_ns, now_ns, at_ns);
}

void analysis_host(struct analysis *analysis, struct console_host *host)
{
	*host = (struct console_host){
			.context = analysis,
			.acquire = host_acquire,
			.release = host_release,
			.set_focus = host_set_focus,
			.command = host_command,
			.theme = host_theme,
			.instant = host_instant,
			.wake_fd = analysis->wake_fd,
	};
}

/* --- starting and stopping --- */

static void analysis_free(struct analysis *analysis)
{
	uint32_t i;

	for (i = 0; i < analysis->n_themes; i++) {
		settings_release(&analysis->themes[i]);
	}
	free(analysis->themes);
	publisher_destroy(analysis->publisher);
	if (analysis->wake_fd >= 0) {
		close(analysis->wake_fd);
	}
	if (analysis->asked_fd >= 0) {
		close(analysis->asked_fd);
	}
	pthread_mutex_destroy(&analysis->mutex);
	free(analysis);
}

/* Signals are the screen's: the analysis thread takes none. */
static int start_thread(struct analysis *analysis)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&analysis->thread, NULL, analysis_main, analysis);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

struct analysis *analysis_start(struct pipeline *pipeline, const struct focus *focus)
{
	struct analysis *analysis = calloc(1, sizeof(*analysis));
	int failed;

	if (!analysis) {
		return NULL;
	}
	pthread_mutex_init(&analysis->mutex, NULL);
	analysis->pipeline = pipeline;
	analysis->focus = *focus;
	analysis->focus_changed = true;
	analysis->publisher = publisher_create();
	analysis->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	analysis->asked_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	failed = !analysis->publisher || analysis->wake_fd < 0 || analysis->asked_fd < 0
				 ? ENOMEM
				 : start_thread(analysis);
	if (failed) {
		analysis_free(analysis);
		errno = failed;
		return NULL;
	}
	urcu_memb_register_thread();
	return analysis;
}

void analysis_stop(struct analysis *analysis)
{
	if (!analysis) {
		return;
	}
	atomic_store(&analysis->stop, true);
	ring_bell(analysis->asked_fd);
	pthread_join(analysis->thread, NULL);
	urcu_memb_unregister_thread();
	analysis_free(analysis);
}
