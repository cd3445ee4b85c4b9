/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_FUNCTIONS_H
#define PT_PROBE_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/function_type.h"
#include "probe/kernel.h"

/*
 * The functions that are recorded, by program: found in its file, attached at once, let go of where
 * one fires too often. A program may start later, or be replaced by another build: its file is
 * looked at each second.
 *
 * Threads: one. Memory: what binary.h needs of each program, and a few hundred bytes a function.
 */
#define FUNCTIONS_PROGRAMS  64u
#define FUNCTIONS_ARGUMENTS 256u /* with more of a program at once, arguments are not looked up */

struct functions; /* opaque */

struct functions_setup {
	struct kernel *kernel;
	int pid;         /* only of this process; 0: of all */
	double limit;    /* CPUs that the functions of a program may take; beyond, the most expensive go */
	uint32_t one_in; /* requests, where there are roots; else 0 */
	/* Sentences for people, such as that a function was let go of. */
	void (*say)(void *context, const char *sentence);
	void *context;
};

/*
 * Also measures what a call costs to record here, and says so: some 50 ms. NULL: out of memory.
 * What it is to record is added later.
 */
struct functions *functions_create(const struct functions_setup *setup);
void functions_destroy(struct functions *functions); /* NULL is allowed */

void functions_tell(struct functions *functions, void (*say)(void *context, const char *sentence),
		void *context);

/*
 * "PROGRAM:PATTERN[,PATTERN...]": PROGRAM is a path, or the name of a program that runs or is in
 * the PATH; a pattern a shell's, or 0xOFFSET in the file. `root`: these begin requests. A program
 * that is not there is waited for. STATUS_INVALID: `fault` says what is wrong with it.
 */
enum status functions_add(struct functions *functions, const char *what, bool root,
		struct kernel_fault *fault);

/*
 * One function's entry or exit, on or off, by its exact name; takes effect with functions_apply().
 * STATUS_NOT_FOUND: the program is not here, or has no such function.
 */
enum status functions_choose(struct functions *functions, const char *program, const char *function,
		bool exit, bool on, struct kernel_fault *fault);
enum status functions_apply(struct functions *functions, struct kernel_fault *fault);

/* Many were asked for, and some are still to be attached, by functions_step(). */
bool functions_grows(const struct functions *functions);

/* Is it on? Of those that were let go of, no. */
bool functions_is_on(const struct functions *functions, const char *program, const char *function,
		bool exit);

/* Looks at files that are due, and at what fires too often. `now_ns`: CLOCK_MONOTONIC. */
void functions_step(struct functions *functions, uint64_t now_ns);

/* Their types, which come to be before any record of them. */
const struct function_types *functions_types(const struct functions *functions);

#endif
