/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/walk.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_trace(const char *path)
{
	char file[PATH_MAX];
	struct stat info;

	if (snprintf(file, sizeof(file), "%s/metadata", path) >= (int)sizeof(file)) {
		return false;
	}
	return stat(file, &info) == 0 && S_ISREG(info.st_mode);
}

static enum status add_trace(struct walk *walk, const char *path)
{
	char **paths;

	if (walk->n == WALK_MAX_TRACES) {
		walk->full = 1;
		return STATUS_FULL;
	}
	paths = realloc(walk->paths, (walk->n + 1) * sizeof(*paths));
	if (!paths) {
		return STATUS_NO_MEMORY;
	}
	walk->paths = paths;
	paths[walk->n] = strdup(path);
	if (!paths[walk->n]) {
		return STATUS_NO_MEMORY;
	}
	walk->n++;
	return STATUS_OK;
}

/* By bytes, not by locale: the order of sources must not depend on the person's language. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int skip_dots(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static enum status walk_into(struct walk *walk, const char *path, int depth);

static enum status walk_entry(struct walk *walk, const char *path, const char *name, int depth)
{
	char child[PATH_MAX];
	struct stat info;

	if (++walk->entries > WALK_MAX_ENTRIES) {
		walk->full = 1;
		return STATUS_FULL;
	}
	if (snprintf(child, sizeof(child), "%s/%s", path, name) >= (int)sizeof(child) ||
			lstat(child, &info) != 0 || !S_ISDIR(info.st_mode)) {
		return STATUS_OK;
	}
	return walk_into(walk, child, depth + 1);
}

static enum status walk_into(struct walk *walk, const char *path, int depth)
{
	struct dirent **entries;
	enum status status = STATUS_OK;
	int n, i;

	if (is_trace(path)) {
		return add_trace(walk, path);
	}
	if (depth == WALK_MAX_DEPTH) {
		walk->full = 1;
		return STATUS_OK;
	}
	n = scandir(path, &entries, skip_dots, by_name);
	if (n < 0) {
		/* Passed over, like what is no trace; told if nothing else is there. */
		walk->closed = walk->closed ? walk->closed : errno;
		return STATUS_OK;
	}
	for (i = 0; i < n; i++) {
		if (status == STATUS_OK) {
			status = walk_entry(walk, path, entries[i]->d_name, depth);
		}
		free(entries[i]);
	}
	free(entries);
	return status;
}

enum status walk_traces(struct walk *walk, const char *path, char *error, size_t error_size)
{
	enum status status;
	struct stat info;

	memset(walk, 0, sizeof(*walk));
	if (stat(path, &info) != 0) {
		snprintf(error, error_size, "%s: %s", path, strerror(errno));
		return STATUS_NOT_FOUND;
	}
	if (!S_ISDIR(info.st_mode)) {
		snprintf(error, error_size, "%s is not a directory; give the directory of a trace",
				path);
		return STATUS_INVALID;
	}
	status = walk_into(walk, path, 0);
	if (status == STATUS_NO_MEMORY) {
		snprintf(error, error_size, "%s: out of memory", path);
		return status;
	}
	if (walk->n == 0 && walk->closed) {
		snprintf(error, error_size, "%s: no trace there that may be read: %s", path,
				strerror(walk->closed));
		return STATUS_NOT_FOUND;
	}
	if (walk->n == 0) {
		snprintf(error, error_size,
				"%s: no trace there: no directory with a file `metadata`", path);
		return STATUS_NOT_FOUND;
	}
	return STATUS_OK;
}

void walk_release(struct walk *walk)
{
	uint32_t i;

	for (i = 0; i < walk->n; i++) {
		free(walk->paths[i]);
	}
	free(walk->paths);
	memset(walk, 0, sizeof(*walk));
}
