/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/program.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "probe/function_type.h"

#define MAX_PIDS   32u
#define USUAL_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool is_file(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool take_exe(int pid, const char *program, char path[PATH_MAX])
{
	char link[64], name[PATH_MAX];

	if (!program_runs(pid, program) || !proc_exe(pid, name)) {
		return false;
	}
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	snprintf(path, PATH_MAX, "%s", same_file(link, name) ? name : link);
	return true;
}

/* A file that the process has mapped: its program or a library. */
static bool take_mapped(int pid, const char *wanted, char path[PATH_MAX])
{
	char maps[64], root[PATH_MAX + 64], *line = NULL;
	bool by_path = strchr(wanted, '/'), found = false;
	size_t room = 0;
	FILE *file;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	file = fopen(maps, "re");
	while (file && !found && getline(&line, &room, file) > 0) {
		char *name = strchr(line, '/');

		if (!name) {
			continue;
		}
		name[strcspn(name, "\n")] = '\0';
		if (strcmp(by_path ? name : proc_last_part(name), wanted) != 0) {
			continue;
		}
		snprintf(root, sizeof(root), "/proc/%d/root%s", pid, name);
		found = strlen(root) < PATH_MAX && is_file(root);
		if (found) {
			snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1,
					same_file(root, name) ? name : root);
		}
	}
	free(line);
	if (file) {
		fclose(file);
	}
	return found;
}

static bool find_running(const char *program, char path[PATH_MAX])
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	bool found = false;

	while (processes && !found && (entry = readdir(processes))) {
		int pid = atoi(entry->d_name);

		found = pid > 0 && pid != getpid() && take_exe(pid, program, path);
	}
	if (processes) {
		closedir(processes);
	}
	return found;
}

static bool find_in_path(const char *program, char path[PATH_MAX])
{
	const char *at = getenv("PATH");

	for (at = at && *at ? at : USUAL_PATH; *at; at += *at == ':') {
		size_t n = strcspn(at, ":");
		int length = snprintf(path, PATH_MAX, "%.*s/%s", (int)n, at, program);

		if (n > 0 && length < PATH_MAX && is_file(path)) {
			return true;
		}
		at += n;
	}
	return false;
}

bool program_runs(int pid, const char *name)
{
	char link[64], file[PATH_MAX], start[NAME_MAX + 1];

	if (!proc_exe(pid, file)) {
		return false;
	}
	if (strchr(name, '/')) {
		snprintf(link, sizeof(link), "/proc/%d/exe", pid);
		return same_file(link, name);
	}
	proc_started_as(pid, start);
	return strcmp(proc_last_part(file), name) == 0 || strcmp(start, name) == 0;
}

bool program_find(const char *name, int pid, char path[PATH_MAX])
{
	if (pid > 0) {
		return (!strchr(name, '/') && take_exe(pid, name, path)) ||
		       take_mapped(pid, name, path);
	}
	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		return is_file(path);
	}
	return find_running(name, path) || find_in_path(name, path);
}

void program_provider(const char *name, char *provider, size_t size)
{
	function_type_clean(provider, size, proc_last_part(name));
}

void program_processes(const char *path, char *text, size_t size)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	struct stat file, exe;
	uint32_t n = 0;
	size_t used = 0;

	text[0] = '\0';
	while (processes && stat(path, &file) == 0 && n < MAX_PIDS &&
			(entry = readdir(processes))) {
		char link[PATH_MAX];

		snprintf(link, sizeof(link), "/proc/%s/exe", entry->d_name);
		if (atoi(entry->d_name) > 0 && stat(link, &exe) == 0 && exe.st_dev == file.st_dev &&
				exe.st_ino == file.st_ino && used < size) {
			used += (size_t)snprintf(text + used, size - used, "%s%d", n ? "," : "",
					atoi(entry->d_name));
			n++;
		}
	}
	if (processes) {
		closedir(processes);
	}
}

uint32_t program_n_processes(const char *pids)
{
	uint32_t n = *pids != '\0';

	for (; *pids; pids++) {
		n += *pids == ',';
	}
	return n;
}
