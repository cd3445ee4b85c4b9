/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "../feed.h"

/*
 * What the analysis costs an event: one million requests of three events each (two fields, vpid,
 * vtid), interleaved over many threads, and a kernel-like stream without request ids.
 *
 *   bench_engine [EVENTS]      prints ns an event and the peak memory
 */
#define THREADS 64

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void report(const char *what, uint64_t events, double seconds)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("%-24s %9" PRIu64 " events  %7.1f ns/event  peak %ld MiB\n", what, events,
			seconds * 1e9 / (double)events, usage.ru_maxrss / 1024);
}

/* Each thread is somewhere in its request; the next event is that of a pseudo-random thread. */
static void requests_of_three(uint64_t n_events)
{
	struct feed feed;
	uint32_t types[3], phase[THREADS] = {0}, seed = 1;
	uint64_t ids[THREADS], next_id = 1, i, ts = UINT64_C(1000000000000);
	double start;

	feed_start(&feed, NULL);
	types[0] = feed_type(&feed, "bench:request_entry", "vpid:c vtid:c request_id:u size:u");
	types[1] = feed_type(&feed, "bench:work", "vpid:c vtid:c value:u size:u");
	types[2] = feed_type(&feed, "bench:request_exit", "vpid:c vtid:c request_id:u status:u");
	start = cpu_seconds();
	for (i = 0; i < n_events; i++) {
		uint32_t thread;
		uint64_t slots[4];

		seed = seed * 1664525u + 1013904223u;
		thread = seed >> 16 & (THREADS - 1);
		if (phase[thread] == 0) {
			ids[thread] = next_id++;
		}
		slots[0] = 1000;
		slots[1] = 2000 + thread;
		slots[2] = phase[thread] == 1 ? i : ids[thread];
		slots[3] = seed & 1023;
		engine_feed(feed.engine, &(struct event){.ts_ns = ts += 1000 + (seed & 511),
							 .type = types[phase[thread]],
							 .stream = feed.stream,
							 .cpu = thread & 3,
							 .bytes = sizeof(slots),
							 .slots = slots});
		phase[thread] = (phase[thread] + 1) % 3;
	}
	engine_finish(feed.engine);
	report("requests of three", n_events, cpu_seconds() - start);
	feed_stop(&feed);
}

/* Few CPUs, one thread each at a time, system calls with events inside: no ids at all. */
static void system_calls(uint64_t n_events)
{
	struct feed feed;
	uint32_t entry, exit, waking, sched, phase[4] = {0}, seed = 7;
	uint64_t i, ts = UINT64_C(1000000000000), running[4] = {10, 11, 12, 13};
	double start;

	feed_start(&feed, NULL);
	entry = feed_type(&feed, "syscall_entry_read", "fd:u count:u");
	exit = feed_type(&feed, "syscall_exit_read", "ret:i");
	waking = feed_type(&feed, "sched_waking", "comm:s tid:u prio:i");
	sched = feed_type(&feed, "sched_switch",
			"prev_comm:s prev_tid:u prev_state:u next_comm:s next_tid:u");
	start = cpu_seconds();
	for (i = 0; i < n_events; i++) {
		uint32_t cpu;

		seed = seed * 1664525u + 1013904223u;
		cpu = seed >> 16 & 3;
		ts += 500;
		switch (phase[cpu]) {
		case 0:
			feed_raw(&feed, feed.stream, sched, ts, cpu,
					(union feed_value[]){{.s = "old"}, {.u = running[cpu]},
							{.u = 0}, {.s = "worker"},
							{.u = 100 + (seed >> 8 & 63) * 4 + cpu}});
			running[cpu] = 100 + (seed >> 8 & 63) * 4 + cpu;
			break;
		case 1:
			feed_raw(&feed, feed.stream, entry, ts, cpu,
					(union feed_value[]){{.u = 3}, {.u = 4096}});
			break;
		case 2:
			feed_raw(&feed, feed.stream, waking, ts, cpu,
					(union feed_value[]){{.s = "other"}, {.u = 5}, {.i = 20}});
			break;
		default:
			feed_raw(&feed, feed.stream, exit, ts, cpu,
					(union feed_value[]){{.i = 4096}});
		}
		phase[cpu] = (phase[cpu] + 1) % 4;
	}
	engine_finish(feed.engine);
	report("system calls", n_events, cpu_seconds() - start);
	feed_stop(&feed);
}

int main(int argc, char **argv)
{
	uint64_t n_events = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000000;

	requests_of_three(n_events);
	system_calls(n_events);
	return 0;
}
