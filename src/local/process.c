/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "local/process.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DELETED " (deleted)"

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool read_start(const char *pid, const char *file, char *text, size_t size)
{
	char path[64];
	FILE *from;

	snprintf(path, sizeof(path), "/proc/%.20s/%s", pid, file);
	text[0] = '\0';
	from = fopen(path, "re");
	if (!from) {
		return false;
	}
	text[fread(text, 1, size - 1, from)] = '\0';
	fclose(from);
	return text[0] != '\0';
}

/* The last part of the file that it runs; "": a thread of the kernel's, or another user's process.
 */
static void file_of(const char *pid, char *name, size_t size)
{
	char path[64], file[PATH_MAX];
	size_t tail = strlen(DELETED);
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/exe", pid);
	n = readlink(path, file, sizeof(file) - 1);
	file[n > 0 ? n : 0] = '\0';
	if (n > (ssize_t)tail && strcmp(file + n - tail, DELETED) == 0) {
		file[(size_t)n - tail] = '\0';
	}
	snprintf(name, size, "%.*s", NAME_MAX, last_part(file));
}

/* What it was started as; servers put other words behind it: "redis-server *:6379". */
static void start_of(const char *pid, char *name, size_t size)
{
	char line[PATH_MAX];

	read_start(pid, "cmdline", line, sizeof(line));
	line[strcspn(line, " :")] = '\0';
	snprintf(name, size, "%.*s", NAME_MAX, last_part(line));
}

/* Files have several names: the one that its first thread is called after is the usual one. */
static bool name_of(const char *pid, char *name, size_t size)
{
	char file[NAME_MAX + 1], start[NAME_MAX + 1], comm[32];

	file_of(pid, file, sizeof(file));
	start_of(pid, start, sizeof(start));
	if (!read_start(pid, "comm", comm, sizeof(comm)) || file[0] == '\0') {
		return false;
	}
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(name, size, "%s", strcmp(start, comm) == 0 ? start : file);
	return true;
}

static bool is_called(const char *pid, const char *name)
{
	char called[NAME_MAX + 1];

	file_of(pid, called, sizeof(called));
	if (called[0] == '\0') {
		return false;
	}
	if (strcmp(called, name) != 0) {
		start_of(pid, called, sizeof(called));
	}
	return strcmp(called, name) == 0 && atoi(pid) != getpid();
}

bool process_name(const char *what, char *name, size_t size)
{
	const struct dirent *entry;
	bool found = false;
	DIR *processes;

	if (what[strspn(what, "0123456789")] == '\0') {
		return what[0] && strlen(what) < 10 && name_of(what, name, size);
	}
	processes = opendir("/proc");
	while (processes && !found && (entry = readdir(processes))) {
		found = isdigit((unsigned char)entry->d_name[0]) &&
			is_called(entry->d_name, last_part(what));
	}
	if (processes) {
		closedir(processes);
	}
	snprintf(name, size, "%s", last_part(what));
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
				!read_start(entry->d_name, "stat", line, sizeof(line))) {
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
