/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_PROGRAM_H
#define PT_PROBE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds the file of a program, or of a library, that a person names: a path; the name of a program
 * that runs; one in the PATH.
 *
 * Of a process in another mount namespace, or whose file was deleted, it is /proc/PID/exe: the file
 * itself, whatever its name means here. With `pid` only that process' program, and the libraries
 * that it uses, are looked at. False: there is none.
 */
bool program_find(const char *name, int pid, char path[PATH_MAX]);

/*
 * Does the process run that program: a name, or a path? Of a file with several names either will do.
 */
bool program_runs(int pid, const char *name);

/* What its events are named after: the last part of the name, with '_' for what names cannot hold.
 */
void program_provider(const char *name, char *provider, size_t size);

/* The processes that run the file, as "1,2,3", at most 32 of them; "" if none. */
void program_processes(const char *path, char *text, size_t size);
/* How many processes are in "1,2,3". */
uint32_t program_n_processes(const char *pids);

#endif
