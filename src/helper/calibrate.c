/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/calibrate.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS       5
#define EVENTS       20000u
#define RING_BYTES   (256u << 10)
#define RECORD_BYTES 64u
/* Of tracing with LTTng-UST and three contexts to the work below; see docs/results/measured.md. */
#define TRACING_OVER_WORK 3.5

struct ring {
	_Atomic uint64_t reserved, committed;
	unsigned char bytes[RING_BYTES];
};

/* What a tracer does for an event: time, CPU, room in a ring, a record, and that it is whole. */
static void write_event(struct ring *ring)
{
	unsigned char record[RECORD_BYTES] = {0};
	struct timespec now;
	int cpu = sched_getcpu();
	uint64_t at, seen;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seen = atomic_load(&ring->reserved);
	while (!atomic_compare_exchange_weak(&ring->reserved, &seen, seen + RECORD_BYTES)) {
	}
	at = seen % RING_BYTES;
	memcpy(record, &now, sizeof(now));
	memcpy(record + sizeof(now), &cpu, sizeof(cpu));
	memcpy(ring->bytes + at, record, RECORD_BYTES);
	atomic_fetch_add(&ring->committed, RECORD_BYTES);
}

static double cpu_ns(void)
{
	struct timespec now;

	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0
			       ? (double)now.tv_sec * 1e9 + (double)now.tv_nsec
			       : 0;
}

double calibrate_event_ns(void)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	double least = 0;

	for (int round = 0; ring && round < ROUNDS; round++) {
		double begin = cpu_ns(), each;

		for (uint32_t i = 0; i < EVENTS; i++) {
			write_event(ring);
		}
		each = (cpu_ns() - begin) / EVENTS;
		least = each > 0 && (least <= 0 || each < least) ? each : least;
	}
	free(ring);
	return least * TRACING_OVER_WORK;
}
