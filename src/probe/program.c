/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/program.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/function_type.h"

#define USUAL_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define DELETED    " (deleted)"

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

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

/* The file that the process runs, in `name` as it calls it. */
static bool read_exe(int pid, char *link, size_t size, char name[PATH_MAX])
{
	ssize_t n;
	size_t tail = strlen(DELETED);

	snprintf(link, size, "/proc/%d/exe", pid);
	n = readlink(link, name, PATH_MAX - 1);
	if (n <= 0) {
		return false;
	}
	name[n] = '\0';
	if ((size_t)n > tail && strcmp(name + n - tail, DELETED) == 0) {
		name[(size_t)n - tail] = '\0';
	}
	return true;
}

/* What it was started as: of a file with several names another one than the kernel tells. */
static bool is_started_as(int pid, const char *program)
{
	char path[64], line[PATH_MAX] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	if (file) {
		line[fread(line, 1, sizeof(line) - 1, file)] = '\0';
		fclose(file);
	}
	/* A server may put other words there: "redis-server *:6379". */
	line[strcspn(line, " ")] = '\0';
	return strcmp(last_part(line), program) == 0;
}

static bool take_exe(int pid, const char *program, char path[PATH_MAX])
{
	char link[64], name[PATH_MAX];

	if (!program_runs(pid, program) || !read_exe(pid, link, sizeof(link), name)) {
		return false;
	}
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
		if (strcmp(by_path ? name : last_part(name), wanted) != 0) {
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
	char link[64], file[PATH_MAX];

	if (!read_exe(pid, link, sizeof(link), file)) {
		return false;
	}
	if (strchr(name, '/')) {
		return same_file(link, name);
	}
	return strcmp(last_part(file), name) == 0 || is_started_as(pid, name);
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
	function_type_clean(provider, size, last_part(name));
}
