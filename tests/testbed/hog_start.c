/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hog.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t hog; /* 0: none */
static bool is_bound;
static cpu_set_t all_cpus; /* what we may use if not bound */

/* Binds every thread of ours to the CPUs, and gives it the policy. Threads are not made meanwhile
 * but by ourselves: a service makes all of its own when it starts. */
static int bind_threads(const cpu_set_t *cpus, int policy)
{
	const struct sched_param param = {0};
	DIR *listing = opendir("/proc/self/task");
	int status = 0;

	if (listing == NULL) {
		return -1;
	}
	for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && (sched_setaffinity(tid, sizeof(*cpus), cpus) != 0 ||
					       sched_setscheduler(tid, policy, &param) != 0)) {
			status = -1;
		}
	}
	closedir(listing);
	return status;
}

/* Runs pt-hog, which is where we are. Signals that we have blocked are for it to get. */
static int spawn(const struct hog_options *options, size_t cpu)
{
	char self[400], path[500], words[4][32];
	char *argv[] = {(char[]){"pt-hog"}, words[0], words[1], words[2], words[3], NULL};
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	posix_spawnattr_t attributes;
	sigset_t none;

	if (len < 0) {
		return -1;
	}
	self[len] = '\0';
	snprintf(path, sizeof(path), "%s/pt-hog", dirname(self));
	snprintf(words[0], sizeof(words[0]), "%zu", cpu);
	snprintf(words[1], sizeof(words[1]), "%u", options->threads);
	snprintf(words[2], sizeof(words[2]), "%llu", (unsigned long long)options->on_ns);
	snprintf(words[3], sizeof(words[3]), "%llu", (unsigned long long)options->off_ns);
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	errno = posix_spawn(&hog, path, NULL, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	if (errno != 0) {
		hog = 0;
		return -1;
	}
	return 0;
}

static int stop(void)
{
	if (hog > 0) {
		kill(hog, SIGKILL);
		waitpid(hog, NULL, 0);
		hog = 0;
	}
	if (is_bound) {
		is_bound = false;
		return bind_threads(&all_cpus, SCHED_OTHER);
	}
	return 0;
}

/* Sets *one to the CPU for the hog, and *others to the rest: at least one, too. */
static int choose_cpus(cpu_set_t *one, cpu_set_t *others, size_t *cpu)
{
	if (stop() != 0 || sched_getaffinity(0, sizeof(all_cpus), &all_cpus) != 0) {
		return -1;
	}
	*cpu = CPU_SETSIZE - 1;
	while (*cpu > 0 && !CPU_ISSET(*cpu, &all_cpus)) {
		--*cpu;
	}
	CPU_ZERO(one);
	CPU_SET(*cpu, one);
	CPU_XOR(others, &all_cpus, one);
	if (CPU_COUNT(others) == 0) {
		*others = *one;
	}
	return 0;
}

/* Starts a hog if options are given, else avoids somebody else's. */
static int begin(const struct hog_options *options)
{
	cpu_set_t one, others;
	size_t cpu;

	if (choose_cpus(&one, &others, &cpu) != 0 ||
			(options != NULL && spawn(options, cpu) != 0)) {
		return -1;
	}
	is_bound = true;
	if (bind_threads(options ? &one : &others, options ? SCHED_BATCH : SCHED_OTHER) != 0) {
		int error = errno;

		stop();
		errno = error;
		return -1;
	}
	return 0;
}

int hog_start(const struct hog_options *options)
{
	int status;

	pthread_mutex_lock(&mutex);
	status = begin(options);
	pthread_mutex_unlock(&mutex);
	return status;
}

int hog_avoid(void)
{
	return hog_start(NULL);
}

int hog_stop(void)
{
	int status;

	pthread_mutex_lock(&mutex);
	status = stop();
	pthread_mutex_unlock(&mutex);
	return status;
}
