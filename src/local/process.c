/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "local/process.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"

/* Files have several names: the one that its first thread is called after is the usual one. */
static bool name_of(pid_t pid, char *name, size_t size)
{
	char file[PATH_MAX], start[NAME_MAX + 1], comm[32];

	if (!proc_exe(pid, file) || !proc_read(pid, "comm", comm, sizeof(comm))) {
		return false;
	}
	proc_started_as(pid, start);
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(name, size, "%s", strcmp(start, comm) == 0 ? start : proc_last_part(file));
	return true;
}

static bool is_called(pid_t pid, const char *name)
{
	char file[PATH_MAX], start[NAME_MAX + 1];

	if (pid == getpid() || !proc_exe(pid, file)) {
		return false;
	}
	proc_started_as(pid, start);
	return strcmp(proc_last_part(file), name) == 0 || strcmp(start, name) == 0;
}

bool process_name(const char *what, char *name, size_t size)
{
	const struct dirent *entry;
	bool found = false;
	DIR *processes;

	if (what[strspn(what, "0123456789")] == '\0') {
		return what[0] && strlen(what) < 10 && name_of(atoi(what), name, size);
	}
	processes = opendir("/proc");
	while (processes && !found && (entry = readdir(processes))) {
		found = isdigit((unsigned char)entry->d_name[0]) &&
			is_called(atoi(entry->d_name), proc_last_part(what));
	}
	if (processes) {
		closedir(processes);
	}
	snprintf(name, size, "%s", proc_last_part(what));
	return found;
}

size_t process_children(pid_t parent, pid_t *children, size_t room)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	size_t n = 0;

	while (processes && n < room && (entry = readdir(processes))) {
		char line[512];
		const char *end;
		int number;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
				!proc_read(atoi(entry->d_name), "stat", line, sizeof(line))) {
			continue;
		}
		end = strrchr(line, ')');
		if (end && sscanf(end + 1, " %*c %d", &number) == 1 && number == parent) {
			children[n++] = atoi(entry->d_name);
		}
	}
	if (processes) {
		closedir(processes);
	}
	return n;
}
