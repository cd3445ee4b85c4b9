/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/pulse.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DOUBTFUL_PART 6 /* of time in which it may well get on unseen */

/* What the kernel says of a process. */
struct vitals {
	char state; /* as ps shows it */
	uint64_t faults, cpu_ns, read_bytes;
};

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	return fopen(path, "re");
}

static bool read_stat(pid_t pid, struct vitals *vitals)
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
					   &vitals->state, &minor, &major, &user, &system) != 5) {
		return false;
	}
	vitals->faults = minor + major;
	vitals->cpu_ns = (user + system) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return true;
}

/* Bytes that it asked files for, and that disks gave for it. */
static bool read_io(pid_t pid, struct vitals *vitals)
{
	FILE *file = open_proc(pid, "io");
	char line[128];
	uint64_t bytes;
	bool found = false;

	if (!file) {
		return false;
	}
	vitals->read_bytes = 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "rchar: %" SCNu64, &bytes) == 1 ||
				sscanf(line, "read_bytes: %" SCNu64, &bytes) == 1) {
			vitals->read_bytes += bytes;
			found = true;
		}
	}
	fclose(file);
	return found;
}

void pulse_reset(struct pulse *pulse)
{
	*pulse = (struct pulse){.looked_ns = 0};
}

/* What of the time since the last look it had, and made nothing of. */
static uint64_t wasted_ns(const struct pulse *pulse, const struct vitals *now, uint64_t passed_ns)
{
	uint64_t cpu_ns = now->cpu_ns - pulse->cpu_ns;

	if (passed_ns > PULSE_MAX_LOOK_NS) {
		passed_ns = PULSE_MAX_LOOK_NS;
	}
	if (now->state == 'R' && cpu_ns < passed_ns) {
		passed_ns = cpu_ns;
	}
	return now->state == 'D' || now->faults != pulse->faults ? passed_ns / DOUBTFUL_PART
								 : passed_ns;
}

uint64_t pulse_look(struct pulse *pulse, pid_t pid, uint64_t written, uint64_t mono_ns)
{
	struct vitals now = {.state = 'D'};
	uint64_t still_ns = 0;

	if (pulse->looked_ns != 0 && mono_ns - pulse->looked_ns < PULSE_LOOK_NS) {
		return pulse->still_ns;
	}
	if (!read_stat(pid, &now) || !read_io(pid, &now)) {
		now = (struct vitals){.state = 'D'};
	}
	if (pulse->looked_ns != 0 && written == pulse->written &&
			now.read_bytes == pulse->read_bytes) {
		still_ns = pulse->still_ns + wasted_ns(pulse, &now, mono_ns - pulse->looked_ns);
	}
	*pulse = (struct pulse){
			.looked_ns = mono_ns,
			.written = written,
			.read_bytes = now.read_bytes,
			.faults = now.faults,
			.cpu_ns = now.cpu_ns,
			.still_ns = still_ns,
	};
	return still_ns;
}
