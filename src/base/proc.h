/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_PROC_H
#define PT_BASE_PROC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What /proc tells of a process. Any thread may ask; what is told may be over by the answer. */

/* What stands behind the last '/'; all of it if there is none. */
const char *proc_last_part(const char *path);

/* The beginning of /proc/PID/FILE, up to its first 0 byte. False: nothing can be read. */
bool proc_read(pid_t pid, const char *file, char *text, size_t size);

/*
 * The file that it runs, as the kernel calls it, also where that was deleted. False: it is a thread
 * of the kernel's, or another user's process.
 */
bool proc_exe(pid_t pid, char file[PATH_MAX]);

/*
 * What it was started as, without folders: of a file with several names another one than the kernel
 * tells. Servers put other words behind it: "redis-server *:6379", "nginx: worker". "" if not
 * known.
 */
void proc_started_as(pid_t pid, char name[NAME_MAX + 1]);

#endif
