/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads live sessions by pythiatop-source processes, one for each, and does nothing with what
 * comes: how fast they are, how far behind, and what they take.
 *
 * usage: live_read SOURCE READER TIMER_US EVENTS URL...
 *   READER: own or babeltrace2. Ends when EVENTS have come (0: when all sessions have ended).
 *
 * Prints one line: events, events/s from the first to the last, lag of events behind the clock (ms:
 * median, 99 %, most; the first second does not count), CPU seconds and the largest memory (KiB) of
 * the processes, time until all were attached, and until each had an event (ms), losses.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "pythiatop/snapshot/sources.h"
#include "ring/ring.h"

#define SOURCES_MAX 1024
#define LAGS_MAX    60000u /* ms */

struct source {
	struct ring *ring;
	pid_t pid;
	bool attached, active, over;
};

static struct source sources[SOURCES_MAX];
static uint32_t n_sources, n_attached, n_active, n_over;
static uint64_t n_events, n_lost, start_ns, first_ns, last_ns, attached_ns, active_ns;
static uint64_t lags[LAGS_MAX + 1], n_lags;

static void start(struct source *source, char **argv, const char *url)
{
	struct ring_fds fds;
	char text[64];

	source->ring = ring_create(0);
	if (!source->ring) {
		perror("live_read");
		exit(1);
	}
	fds = ring_fds(source->ring);
	source->pid = fork();
	if (source->pid == 0) {
		fcntl(fds.memory, F_SETFD, 0);
		fcntl(fds.data_event, F_SETFD, 0);
		fcntl(fds.space_event, F_SETFD, 0);
		snprintf(text, sizeof(text), "%d,%d,%d", fds.memory, fds.data_event,
				fds.space_event);
		execl(argv[1], argv[1], "--ring", text, "--live", url, "--timer-us", argv[3],
				"--reader", argv[2], (char *)NULL);
		perror(argv[1]);
		_exit(127);
	}
}

static void take_state(struct source *source, const struct record_state *state, uint64_t mono_ns)
{
	if ((state->state == SOURCE_ATTACHED || state->state == SOURCE_ACTIVE) &&
			!source->attached) {
		source->attached = true;
		attached_ns = mono_ns;
		n_attached++;
	}
	if (state->state == SOURCE_BROKEN || state->state == SOURCE_REFUSED) {
		fprintf(stderr, "live_read: %s\n", state->text);
	}
}

static void take_event(struct source *source, uint64_t ts_ns, uint64_t mono_ns, uint64_t real_ns)
{
	uint64_t lag_ms;

	if (n_events++ == 0) {
		first_ns = mono_ns;
	}
	last_ns = mono_ns;
	if (!source->active) {
		source->active = true;
		active_ns = mono_ns;
		n_active++;
	}
	if (mono_ns - first_ns >= 1000000000u) {
		lag_ms = real_ns > ts_ns ? (real_ns - ts_ns) / 1000000 : 0;
		lags[lag_ms < LAGS_MAX ? lag_ms : LAGS_MAX]++;
		n_lags++;
	}
}

/* What is there of one source. */
static void drain(struct source *source)
{
	uint64_t mono_ns = clock_monotonic_ns(), real_ns = clock_real_ns();
	const struct record *record;
	bool broken = false;

	while (!source->over && (record = ring_peek(source->ring, &broken))) {
		if (record->kind == RECORD_EVENT) {
			const struct record_event *event = (const void *)record;

			take_event(source, event->ts_ns, mono_ns, real_ns);
		} else if (record->kind == RECORD_STATE) {
			take_state(source, (const void *)record, mono_ns);
		} else if (record->kind == RECORD_LOSS) {
			n_lost += ((const struct record_loss *)record)->count;
		} else if (record->kind == RECORD_END) {
			source->over = true;
		}
		ring_next(source->ring);
	}
	if (broken || (!source->over && waitpid(source->pid, NULL, WNOHANG) == source->pid)) {
		source->over = true;
		fprintf(stderr, "live_read: a reader failed\n");
	}
	n_over += source->over;
}

static uint64_t lag_at(double part)
{
	uint64_t sum = 0, ms = 0;

	while (ms < LAGS_MAX && (double)(sum += lags[ms]) < part * (double)n_lags) {
		ms++;
	}
	return ms;
}

static void tell(void)
{
	struct rusage usage;
	double cpu_s, span_s = (double)(last_ns - first_ns) / 1e9;

	getrusage(RUSAGE_CHILDREN, &usage);
	cpu_s = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
		(double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
	printf("events %" PRIu64 " rate %.0f lag_ms %" PRIu64 " %" PRIu64 " %" PRIu64
	       " cpu_s %.2f rss_kib %ld attached_ms %.0f (%" PRIu32 ") active_ms %.0f (%" PRIu32
	       ") lost %" PRIu64 "\n",
			n_events, span_s > 0 ? (double)n_events / span_s : 0, lag_at(0.5),
			lag_at(0.99), lag_at(1), cpu_s, usage.ru_maxrss,
			(double)(attached_ns - start_ns) / 1e6, n_attached,
			(double)(active_ns - start_ns) / 1e6, n_active, n_lost);
}

int main(int argc, char **argv)
{
	struct pollfd ready[SOURCES_MAX];
	uint64_t most;

	if (argc < 6 || argc - 5 > SOURCES_MAX) {
		fprintf(stderr, "usage: live_read SOURCE READER TIMER_US EVENTS URL...\n");
		return 2;
	}
	most = strtoull(argv[4], NULL, 10);
	n_sources = (uint32_t)argc - 5;
	start_ns = clock_monotonic_ns();
	for (uint32_t i = 0; i < n_sources; i++) {
		start(&sources[i], argv, argv[5 + i]);
		ready[i] = (struct pollfd){.fd = ring_wait_fd(sources[i].ring), .events = POLLIN};
	}
	while (n_over < n_sources && (most == 0 || n_events < most)) {
		bool armed = true;

		n_over = 0;
		for (uint32_t i = 0; i < n_sources; i++) {
			drain(&sources[i]);
			armed = armed && (sources[i].over || ring_arm(sources[i].ring));
		}
		if (armed && n_over < n_sources) {
			poll(ready, n_sources, 1000);
		}
		for (uint32_t i = 0; i < n_sources; i++) {
			ring_acknowledge(sources[i].ring);
		}
	}
	for (uint32_t i = 0; i < n_sources; i++) {
		kill(sources[i].pid, SIGKILL);
		waitpid(sources[i].pid, NULL, 0);
	}
	tell();
	return 0;
}
