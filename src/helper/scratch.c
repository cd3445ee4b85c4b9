/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/worker.h"

static bool scratch_path(const struct helper *helper, pid_t worker, char *path, size_t size)
{
	int length = snprintf(path, size, "%s/saved-%d", helper->owner.directory, (int)worker);

	return length > 0 && (size_t)length < size;
}

bool helper_scratch(const struct helper *helper, char *path, size_t size)
{
	if (!scratch_path(helper, getpid(), path, size)) {
		errno = ENAMETOOLONG;
		return false;
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

void helper_scratch_remove(const struct helper *helper, pid_t worker)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	DIR *directory;

	directory = scratch_path(helper, worker, path, sizeof(path)) ? opendir(path) : NULL;
	if (!directory) {
		return;
	}
	while ((entry = readdir(directory))) {
		unlinkat(dirfd(directory), entry->d_name, 0); /* "." and ".." refuse */
	}
	closedir(directory);
	rmdir(path);
}
