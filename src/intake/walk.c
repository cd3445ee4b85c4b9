/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/array.h"
#include "base/hash.h"
#include "base/number_map.h"
#include "intake/walk.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A symbolic link that was met, to be followed when all real directories were. */
struct link {
	char *path;
	int depth;
};

struct search {
	struct walk *walk;
	struct number_map seen; /* directories, by what the file system knows them by */
	struct link *links;
	uint32_t n_links, max_links;
	uint32_t entries;
};

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

uint64_t walk_identity(const char *path)
{
	struct stat info;
	uint64_t identity;

	if (stat(path, &info) != 0) {
		return 0;
	}
	identity = hash_pair(info.st_dev, info.st_ino);
	return identity ? identity : 1;
}

static enum status keep_link(struct search *search, const char *path, int depth)
{
	struct link link = {.path = strdup(path), .depth = depth};

	if (!link.path || !array_reserve(&search->links, &search->max_links, search->n_links + 1)) {
		free(link.path);
		return STATUS_NO_MEMORY;
	}
	search->links[search->n_links++] = link;
	return STATUS_OK;
}

static enum status search_in(struct search *search, const char *path, int depth);

static enum status search_entry(
		struct search *search, const char *path, const char *name, int depth)
{
	char child[PATH_MAX];
	struct stat info;

	if (++search->entries > WALK_MAX_ENTRIES) {
		search->walk->full = 1;
		return STATUS_FULL;
	}
	if (snprintf(child, sizeof(child), "%s/%s", path, name) >= (int)sizeof(child) ||
			lstat(child, &info) != 0) {
		return STATUS_OK;
	}
	if (S_ISLNK(info.st_mode)) {
		return stat(child, &info) == 0 && S_ISDIR(info.st_mode)
				       ? keep_link(search, child, depth + 1)
				       : STATUS_OK;
	}
	return S_ISDIR(info.st_mode) ? search_in(search, child, depth + 1) : STATUS_OK;
}

static enum status search_entries(struct search *search, const char *path, int depth)
{
	struct dirent **entries;
	enum status status = STATUS_OK;
	int n = scandir(path, &entries, skip_dots, by_name), i;

	if (n < 0) {
		/* Passed over, like what is no trace; told if nothing else is there. */
		search->walk->closed = search->walk->closed ? search->walk->closed : errno;
		return STATUS_OK;
	}
	for (i = 0; i < n; i++) {
		if (status == STATUS_OK) {
			status = search_entry(search, path, entries[i]->d_name, depth);
		}
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* Each directory once, whatever names lead to it: so a link to one above it ends the way down. */
static enum status search_in(struct search *search, const char *path, int depth)
{
	uint64_t identity = walk_identity(path);

	if (identity == 0 || number_map_find(&search->seen, identity) != NUMBER_NONE) {
		return STATUS_OK;
	}
	if (!number_map_set(&search->seen, identity, 0)) {
		return STATUS_NO_MEMORY;
	}
	if (is_trace(path)) {
		return add_trace(search->walk, path);
	}
	if (depth == WALK_MAX_DEPTH) {
		search->walk->full = 1;
		return STATUS_OK;
	}
	return search_entries(search, path, depth);
}

static enum status search_all(struct walk *walk, const char *path)
{
	struct search search = {.walk = walk};
	enum status status = search_in(&search, path, 0);
	uint32_t i;

	/* What is found through one may hold more of them. */
	for (i = 0; i < search.n_links; i++) {
		if (status == STATUS_OK) {
			status = search_in(&search, search.links[i].path, search.links[i].depth);
		}
		free(search.links[i].path);
	}
	free(search.links);
	number_map_release(&search.seen);
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
	status = search_all(walk, path);
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
