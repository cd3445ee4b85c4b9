/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "probe/program.h"

#define INSPECT_NS UINT64_C(1000000000)
#define MEMBERS    "cgroup.procs"
#define MOST_DEPTH 16

struct processes {
	struct kernel *kernel;
	const char *const *names;
	uint32_t n_names;
	uint64_t next_ns;
};

/* A process of /proc and its parent. */
struct entry {
	int pid, parent;
};

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static bool is_group(const char *path)
{
	char members[PATH_MAX];
	int n = snprintf(members, sizeof(members), "%s/" MEMBERS, path);

	return n < (int)sizeof(members) && access(members, R_OK) == 0;
}

bool processes_right(const char *what)
{
	struct stat info;

	if (is_number(what)) {
		return strlen(what) < 10 && atoi(what) > 0;
	}
	/* A directory must be a control group's. */
	return *what && (stat(what, &info) != 0 || !S_ISDIR(info.st_mode) || is_group(what));
}

/* Those in the control group and in the ones below it. */
static void join_group(struct processes *processes, const char *path, int depth)
{
	char below[PATH_MAX];
	struct dirent *entry;
	FILE *members;
	DIR *directory;
	int pid;

	snprintf(below, sizeof(below), "%s/" MEMBERS, path);
	members = fopen(below, "re");
	while (members && fscanf(members, "%d", &pid) == 1) {
		kernel_join(processes->kernel, pid);
	}
	if (members) {
		fclose(members);
	}
	directory = depth < MOST_DEPTH ? opendir(path) : NULL;
	while (directory && (entry = readdir(directory))) {
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
				snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) <
						(int)sizeof(below)) {
			join_group(processes, below, depth + 1);
		}
	}
	if (directory) {
		closedir(directory);
	}
}

static int parent_of(const char *pid)
{
	char path[NAME_MAX + 16], line[512] = "";
	const char *end;
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "re");
	if (file) {
		line[fread(line, 1, sizeof(line) - 1, file)] = '\0';
		fclose(file);
	}
	end = strrchr(line, ')');
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static struct entry *list_processes(uint32_t *n)
{
	struct entry *list = NULL;
	uint32_t room = 0;
	DIR *directory = opendir("/proc");
	const struct dirent *entry;

	*n = 0;
	while (directory && (entry = readdir(directory))) {
		if (isdigit((unsigned char)entry->d_name[0]) &&
				array_reserve(&list, &room, *n + 1)) {
			list[(*n)++] = (struct entry){
					atoi(entry->d_name), parent_of(entry->d_name)};
		}
	}
	if (directory) {
		closedir(directory);
	}
	return list;
}

static bool is_named(const struct processes *processes, int pid)
{
	for (uint32_t i = 0; i < processes->n_names; i++) {
		const char *name = processes->names[i];

		if (is_number(name) ? atoi(name) == pid : program_runs(pid, name)) {
			return true;
		}
	}
	return false;
}

/* Whoever is named, and then whoever has a parent among them, until there is nobody more. */
static void join_named(struct processes *processes)
{
	uint32_t n;
	struct entry *list = list_processes(&n);
	bool more = n > 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!processes_has(processes, list[i].pid) && is_named(processes, list[i].pid)) {
			kernel_join(processes->kernel, list[i].pid);
		}
	}
	while (more) {
		more = false;
		for (uint32_t i = 0; i < n; i++) {
			if (list[i].parent > 0 && processes_has(processes, list[i].parent) &&
					!processes_has(processes, list[i].pid)) {
				more |= kernel_join(processes->kernel, list[i].pid) == STATUS_OK;
			}
		}
	}
	free(list);
}

struct processes *processes_create(struct kernel *kernel, const char *const *names, uint32_t n,
		struct kernel_fault *fault)
{
	struct processes *processes = calloc(1, sizeof(*processes));

	if (!processes) {
		kernel_refuse(fault, STATUS_NO_MEMORY, "out of memory");
		return NULL;
	}
	if (kernel_own_pid(kernel) != getpid()) {
		kernel_refuse(fault, STATUS_INVALID,
				"this pid namespace numbers processes otherwise than the kernel, "
				"so "
				"single ones cannot be told apart: run it in the host's");
		free(processes);
		return NULL;
	}
	*processes = (struct processes){.kernel = kernel, .names = names, .n_names = n};
	for (uint32_t i = 0; i < n; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%.20s", names[i]);
		if (is_number(names[i]) && access(path, F_OK) != 0) {
			kernel_refuse(fault, STATUS_INVALID, "there is no process %s", names[i]);
			free(processes);
			return NULL;
		}
	}
	processes_step(processes, 0);
	return processes;
}

void processes_destroy(struct processes *processes)
{
	free(processes);
}

void processes_step(struct processes *processes, uint64_t now_ns)
{
	if (now_ns != 0 && now_ns < processes->next_ns) {
		return;
	}
	processes->next_ns = now_ns + INSPECT_NS;
	for (uint32_t i = 0; i < processes->n_names; i++) {
		if (strchr(processes->names[i], '/') && is_group(processes->names[i])) {
			join_group(processes, processes->names[i], 0);
		}
	}
	join_named(processes);
}

bool processes_has(const struct processes *processes, int pid)
{
	return kernel_has_process(processes->kernel, pid);
}
