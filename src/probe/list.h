/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_LIST_H
#define PT_PROBE_LIST_H

#include <stdint.h>

/*
 * Prints the functions of "PROGRAM[:PATTERN]" that can be recorded, with their place in the file
 * and their arguments. `pid`: of that process' program; 0: of any. `seen_s`: only those that
 * threads of it are seen in within so many seconds, and on how many of their stacks; 0: all.
 * Returns the exit status; what is wrong was said.
 */
int list_functions(const char *what, int pid, uint32_t seen_s);

#endif
