/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/usage.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"

#define MOST 64u /* processes of ours: a source each for what is watched */

static uint64_t process_ns(pid_t pid)
{
	clockid_t id;

	return clock_getcpuclockid(pid, &id) == 0 ? clock_read_ns(id) : 0;
}

/*
 * Those that a thread has started; returns how many are listed then. One that ends meanwhile may be
 * missed, which is no matter here; to ask all of /proc for their parents would take milliseconds.
 */
static uint32_t add_children(pid_t pid, const char *thread, pid_t *list, uint32_t n)
{
	char path[64];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid, thread);
	file = fopen(path, "re");
	while (file && n < MOST && fscanf(file, "%d", &child) == 1) {
		list[n++] = child;
	}
	if (file) {
		fclose(file);
	}
	return n;
}

static uint32_t add_below(pid_t pid, pid_t *list, uint32_t n)
{
	char path[64];
	const struct dirent *entry;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	while (threads && (entry = readdir(threads))) {
		if (isdigit((unsigned char)entry->d_name[0])) {
			n = add_children(pid, entry->d_name, list, n);
		}
	}
	if (threads) {
		closedir(threads);
	}
	return n;
}

uint64_t usage_tree_ns(pid_t root, bool (*leaves_out)(void *context, int pid), void *context)
{
	pid_t list[MOST] = {root};
	uint32_t n = 1;
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!leaves_out || !leaves_out(context, list[i])) {
			sum_ns += process_ns(list[i]);
			n = add_below(list[i], list, n);
		}
	}
	return sum_ns;
}

bool usage_read_idle(struct usage_idle *out)
{
	FILE *file = fopen("/proc/stat", "re");
	uint64_t user, nice, system, idle, io, irq, softirq, steal;
	bool read = file &&
		    fscanf(file,
				    "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
				    " %" SCNu64 " %" SCNu64 " %" SCNu64,
				    &user, &nice, &system, &idle, &io, &irq, &softirq, &steal) == 8;

	if (file) {
		fclose(file);
	}
	if (read) {
		out->idle = idle + io;
		out->all = user + nice + system + idle + io + irq + softirq + steal;
	}
	return read;
}

double usage_idle_share(const struct usage_idle *before, const struct usage_idle *now)
{
	return now->all > before->all && now->idle >= before->idle
			       ? (double)(now->idle - before->idle) /
						 (double)(now->all - before->all)
			       : 1;
}
