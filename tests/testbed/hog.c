/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pt-hog CPU THREADS ON_NS OFF_NS: computes on one CPU, in bursts, until it is ended or whoever
 * started it is gone. Threads are in step: between bursts the CPU is free.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "hog.h"
#include "process.h"
#include "work.h"

#define MAX_THREADS 64

static void *burn(void *argument)
{
	const struct hog_options *options = argument;
	uint64_t round_ns = options->on_ns + options->off_ns;

	for (;;) {
		uint64_t in_round_ns = clock_ns() % round_ns;

		if (in_round_ns < options->on_ns) {
			work_cpu(100);
		} else {
			sleep_ns(round_ns - in_round_ns);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct hog_options options;
	cpu_set_t cpus;

	if (argc != 5) {
		fprintf(stderr, "usage: pt-hog CPU THREADS ON_NS OFF_NS\n");
		return 2;
	}
	process_adopt("hog");
	options.threads = (uint32_t)strtoul(argv[2], NULL, 10);
	options.on_ns = strtoull(argv[3], NULL, 10);
	options.off_ns = strtoull(argv[4], NULL, 10);
	CPU_ZERO(&cpus);
	CPU_SET(strtoul(argv[1], NULL, 10) % CPU_SETSIZE, &cpus);
	if (options.threads < 1 || options.threads > MAX_THREADS || options.on_ns == 0 ||
			sched_setaffinity(0, sizeof(cpus), &cpus) != 0) {
		perror("pt-hog");
		return 1;
	}
	for (uint32_t i = 1; i < options.threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, burn, &options) != 0) {
			return 1;
		}
	}
	burn(&options);
	return 0;
}
