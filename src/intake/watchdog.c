/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/watchdog.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DOUBTFUL_PART 6 /* of time in which it may well get on unseen */

/* What the kernel says of a process. */
struct usage {
	char state; /* as ps shows it */
	uint64_t faults, cpu_ns, read_bytes;
};

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	return fopen(path, "re");
}

static bool read_stat(pid_t pid, struct usage *usage)
{
	uint64_t minor, major, user, system;
	char line[1024], *after_name = NULL;
	FILE *file = open_proc(pid, "stat");

	if (!file) {
		return false;
	}
	if (fgets(line, sizeof(line), file)) {
		after_name = strrchr(line, ')'); /* a name may hold anything, also this */
	}
	fclose(file);
	/* proc(5): state, 6 numbers, minflt, cminflt, majflt, cmajflt, utime, stime. */
	if (!after_name || sscanf(after_name,
					   ") %c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64
					   " %*u %" SCNu64 " %" SCNu64,
					   &usage->state, &minor, &major, &user, &system) != 5) {
		return false;
	}
	usage->faults = minor + major;
	usage->cpu_ns = (user + system) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return true;
}

/* Bytes that it asked files for, and that disks gave for it. */
static bool read_io(pid_t pid, struct usage *usage)
{
	FILE *file = open_proc(pid, "io");
	char line[128];
	uint64_t bytes;
	bool found = false;

	if (!file) {
		return false;
	}
	usage->read_bytes = 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "rchar: %" SCNu64, &bytes) == 1 ||
				sscanf(line, "read_bytes: %" SCNu64, &bytes) == 1) {
			usage->read_bytes += bytes;
			found = true;
		}
	}
	fclose(file);
	return found;
}

void watchdog_reset(struct watchdog *watchdog)
{
	*watchdog = (struct watchdog){.checked_ns = 0};
}

/* What of the time since the last check it had, and made nothing of. */
static uint64_t wasted_ns(
		const struct watchdog *watchdog, const struct usage *now, uint64_t passed_ns)
{
	uint64_t cpu_ns = now->cpu_ns - watchdog->cpu_ns;

	if (passed_ns > WATCHDOG_MAX_CHECK_NS) {
		passed_ns = WATCHDOG_MAX_CHECK_NS;
	}
	if (now->state == 'R' && cpu_ns < passed_ns) {
		passed_ns = cpu_ns;
	}
	return now->state == 'D' || now->faults != watchdog->faults ? passed_ns / DOUBTFUL_PART
								    : passed_ns;
}

uint64_t watchdog_check(struct watchdog *watchdog, pid_t pid, uint64_t written, uint64_t mono_ns)
{
	struct usage now = {.state = 'D'};
	uint64_t still_ns = 0;

	if (watchdog->checked_ns != 0 && mono_ns - watchdog->checked_ns < WATCHDOG_CHECK_NS) {
		return watchdog->still_ns;
	}
	if (!read_stat(pid, &now) || !read_io(pid, &now)) {
		now = (struct usage){.state = 'D'};
	}
	if (watchdog->checked_ns != 0 && written == watchdog->written &&
			now.read_bytes == watchdog->read_bytes) {
		still_ns = watchdog->still_ns +
			   wasted_ns(watchdog, &now, mono_ns - watchdog->checked_ns);
	}
	*watchdog = (struct watchdog){
			.checked_ns = mono_ns,
			.written = written,
			.read_bytes = now.read_bytes,
			.faults = now.faults,
			.cpu_ns = now.cpu_ns,
			.still_ns = still_ns,
	};
	return still_ns;
}
