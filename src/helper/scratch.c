/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "helper/worker.h"

#define UNUSED_S 60

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

/*
 * Where no process has the number, and nothing was written for a minute: of a worker in another pid
 * namespace, whose number says nothing here, it is made again when it is needed.
 */
void helper_scratch_sweep(const struct helper *helper)
{
	DIR *directory = opendir(helper->owner.directory);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		struct stat info;
		int worker, end = 0;

		if (sscanf(entry->d_name, "saved-%d%n", &worker, &end) == 1 && worker > 0 &&
				!entry->d_name[end] &&
				fstatat(dirfd(directory), entry->d_name, &info,
						AT_SYMLINK_NOFOLLOW) == 0 &&
				S_ISDIR(info.st_mode) && time(NULL) - info.st_mtime > UNUSED_S &&
				kill(worker, 0) != 0 && errno == ESRCH) {
			helper_scratch_remove(helper, worker);
		}
	}
	if (directory) {
		closedir(directory);
	}
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
