/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/temporary.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>

#define REMOVE_FILES 16 /* open directories while removing a tree */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
	(void)info;
	(void)kind;
	(void)place;
	return remove(path);
}

bool temporary_name(char *out, size_t size, const char *path, pid_t pid)
{
	return snprintf(out, size, "%s.%ld", path, (long)pid) < (int)size;
}

bool temporary_remove(const char *temporary)
{
	return nftw(temporary, remove_one, REMOVE_FILES, FTW_DEPTH | FTW_PHYS) == 0 ||
	       errno == ENOENT;
}
