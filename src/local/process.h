/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_LOCAL_PROCESS_H
#define PT_LOCAL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Processes as /proc has them. */

/*
 * What the program of a running process is called, by its number or a name: "redis-server" of 4711.
 * A name is that of the file it runs, or what it was started as. False: there is none.
 */
bool process_name(const char *what, char *name, size_t size);

/* The children of a process. Returns how many; stores at most `room`. */
size_t process_children(pid_t parent, pid_t *children, size_t room);

#endif
