/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/new_file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

bool new_file_open(struct new_file *file, const char *path)
{
	struct stat there;

	if (snprintf(file->path, sizeof(file->path), "%s", path) >= (int)sizeof(file->path) ||
			snprintf(file->temporary, sizeof(file->temporary), "%s.%ld", path,
					(long)getpid()) >= (int)sizeof(file->temporary)) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
		file->temporary[0] = '\0';
	}
	file->out = file->temporary[0] ? fopen(file->temporary, "wxe") : fopen(path, "we");
	return file->out != NULL;
}

bool new_file_finish(struct new_file *file, bool written)
{
	int error = errno;

	if (fclose(file->out) != 0 && written) {
		error = errno;
		written = false;
	}
	if (!file->temporary[0]) {
		errno = error;
		return written;
	}
	if (written && rename(file->temporary, file->path) == 0) {
		return true;
	}
	if (written) {
		error = errno;
	}
	unlink(file->temporary);
	errno = error;
	return false;
}
