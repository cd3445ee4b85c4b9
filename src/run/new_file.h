/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_NEW_FILE_H
#define PT_RUN_NEW_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* Files are written beside their place and then renamed: never half a file under its name. What is
 * there and no file (a pipe, a device) is written to as it is. */
struct new_file {
	char path[PATH_MAX], temporary[PATH_MAX]; /* temporary "": written in its place */
	FILE *out;
};

/* False with errno on failure. */
bool new_file_open(struct new_file *file, const char *path);

/* Puts it in its place, or, unless all was written, removes it. False with errno on failure. */
bool new_file_finish(struct new_file *file, bool written);

#endif
