/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests without work, as fast as they can be traced: what `record.sh` records to measure how
 * fast traces are read. Each request is three events of two fields: entry, a point, exit.
 *
 * usage: gen_ust EVENTS [THREADS [EVENTS_PER_S [FIRST_ID]]]
 * Waits after every 1000 requests of a thread if it is ahead of EVENTS_PER_S (0: never). Request
 * ids count from FIRST_ID (1): on two hosts that are watched together they must differ.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "gen_tp.h"

#define EVENTS_PER_REQUEST 3
#define REQUESTS_PER_LOOK  1000
#define NS_PER_S           1000000000u

struct worker {
	pthread_t thread;
	uint64_t first_id, n_requests;
	uint64_t events_per_s; /* of this thread; 0: no limit */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void keep_pace(const struct worker *worker, uint64_t start_ns, uint64_t n_done)
{
	uint64_t due_ns, ns;

	if (worker->events_per_s == 0) {
		return;
	}
	due_ns = start_ns + n_done * EVENTS_PER_REQUEST * NS_PER_S / worker->events_per_s;
	ns = now_ns();
	if (due_ns > ns) {
		struct timespec pause = {.tv_sec = (time_t)((due_ns - ns) / NS_PER_S),
				.tv_nsec = (long)((due_ns - ns) % NS_PER_S)};

		nanosleep(&pause, NULL);
	}
}

static void *work(void *data)
{
	const struct worker *worker = data;
	uint64_t start_ns = now_ns();

	for (uint64_t i = 0; i < worker->n_requests; i++) {
		uint64_t id = worker->first_id + i;

		lttng_ust_tracepoint(gen, request_entry, id, (uint32_t)(id % 7));
		lttng_ust_tracepoint(gen, point, id, (uint32_t)(id % 100));
		lttng_ust_tracepoint(gen, request_exit, id, (int32_t)(id % 50 == 0 ? -1 : 0));
		if (i % REQUESTS_PER_LOOK == 0) {
			keep_pace(worker, start_ns, i);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t n_events = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	unsigned long n_threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 2;
	uint64_t events_per_s = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	uint64_t first_id = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
	struct worker *workers;

	if (n_events == 0 || n_threads == 0 || n_threads > 64) {
		fprintf(stderr, "usage: gen_ust EVENTS [THREADS [EVENTS_PER_S [FIRST_ID]]]\n");
		return 2;
	}
	workers = calloc(n_threads, sizeof(*workers));
	if (!workers) {
		return 1;
	}
	for (unsigned long i = 0; i < n_threads; i++) {
		workers[i].n_requests = n_events / EVENTS_PER_REQUEST / n_threads;
		workers[i].first_id = first_id + i * workers[i].n_requests;
		workers[i].events_per_s = events_per_s / n_threads;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
			perror("gen_ust: cannot start a thread");
			return 1;
		}
	}
	for (unsigned long i = 0; i < n_threads; i++) {
		pthread_join(workers[i].thread, NULL);
	}
	free(workers);
	return 0;
}
