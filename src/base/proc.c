/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/proc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DELETED " (deleted)"

const char *proc_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool proc_read(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	FILE *from;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	text[0] = '\0';
	from = fopen(path, "re");
	if (!from) {
		return false;
	}
	text[fread(text, 1, size - 1, from)] = '\0';
	fclose(from);
	return text[0] != '\0';
}

bool proc_exe(pid_t pid, char file[PATH_MAX])
{
	size_t tail = strlen(DELETED);
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, file, PATH_MAX - 1);
	file[n > 0 ? n : 0] = '\0';
	if (n > (ssize_t)tail && strcmp(file + n - tail, DELETED) == 0) {
		file[(size_t)n - tail] = '\0';
	}
	return n > 0;
}

void proc_started_as(pid_t pid, char name[NAME_MAX + 1])
{
	char line[PATH_MAX];

	proc_read(pid, "cmdline", line, sizeof(line));
	line[strcspn(line, " :")] = '\0';
	snprintf(name, NAME_MAX + 1, "%.*s", NAME_MAX, proc_last_part(line));
}
