/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_HOOKS_H
#define PT_PROBE_HOOKS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "probe/binary.h"
#include "probe/calibrate.h"
#include "probe/functions.h"

/*
 * What functions.c knows of programs and functions, and hooks.c attaches of it: in sets, each in
 * one go, a few at once or many on trial first; and lets go of where one fires too often. For these
 * two alone.
 */
#define MAX_PATTERNS 64u

struct pattern {
	char *text;
	bool root;
};

/* What a file was when it was read: another build is another one. */
struct identity {
	dev_t device;
	ino_t inode;
	struct timespec changed;
};

struct program {
	char *name; /* as it was asked for */
	char provider[BINARY_NAME];
	char path[PATH_MAX];
	struct identity identity;
	struct binary *binary; /* NULL: it is not there */
	uint32_t n_patterns;
	struct pattern patterns[MAX_PATTERNS];
	bool waited_for; /* that was said */
};

/* By the number of its type. */
struct target {
	uint32_t program;
	const struct binary_function *function; /* NULL: of a build that is no more there */
	uint64_t offset;
	bool root, stepped;
	bool wanted[2];   /* its entry, its exit */
	int32_t set[2];   /* -1: not attached */
	uint64_t hits[2]; /* when the window began */
};

struct set {
	bool used, exits;
	bool trial; /* entries that are only counted so far, to see what fires too often */
	uint32_t program;
	struct kernel_hooks *hooks;
};

struct functions {
	struct functions_setup setup;
	struct function_types types;
	uint32_t n_programs;
	struct program programs[FUNCTIONS_PROGRAMS];
	uint32_t room; /* of targets; their number is that of types */
	struct target *targets;
	uint32_t *numbers; /* room for as many */
	uint32_t numbers_room;
	struct set sets[PROBE_SETS];
	bool roots;
	struct calibrate_cost
			costs[2]; /* of those that are not stepped through, and those that are */
	uint64_t window_ns, inspect_ns;
	bool more;         /* is to be attached */
	bool many;         /* so many at first that all of them are on trial */
	uint32_t at_once;  /* so many of them */
	uint64_t trial_ns; /* when those on trial have proved themselves; 0: there are none */
	uint64_t tidy_ns;  /* when what is not wanted any more is detached; 0: there is nothing */
};

__attribute__((format(printf, 2, 3))) void functions_say(
		const struct functions *functions, const char *format, ...);

/* Nothing is attached so far. What a hit costs must be known. */
void hooks_init(struct functions *functions);
/* Attaches the next of many, and lets go of what fires too often. `now_ns`: CLOCK_MONOTONIC. */
void hooks_step(struct functions *functions, uint64_t now_ns);

#endif
