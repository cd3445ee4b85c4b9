/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_TEMPORARY_H
#define PT_RUN_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What is written beside its place, and renamed when it is whole. */

/* Under which name process `pid` writes what is to become `path`. False: it is too long. */
bool temporary_name(char *out, size_t size, const char *path, pid_t pid);

/* Removes what was written under such a name, a file or a directory. False: some of it is left. */
bool temporary_remove(const char *temporary);

#endif
