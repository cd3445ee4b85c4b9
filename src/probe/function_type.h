/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_FUNCTION_TYPE_H
#define PT_PROBE_FUNCTION_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/types.h>

#include "probe/binary.h"
#include "probe/record.h"

/*
 * The types of events of functions: PROGRAM:FUNCTION_entry with the arguments that are known, and
 * PROGRAM:FUNCTION_exit with `ret`, the value returned. Their contexts are LTTng's vpid, vtid,
 * pid_ns and procname. Types are added while the probe runs, and stay: numbers are given once.
 *
 * Threads: one.
 */
struct function_type {
	char *provider, *name;
	struct binary_arguments arguments;
	int32_t text; /* among the arguments: the string that is told; -1: none */
};

struct function_types {
	uint32_t n, room;
	struct function_type *list; /* by number */
};

void function_types_release(struct function_types *types);

/* Adds one; its number in *number. STATUS_FULL: PROBE_FUNCTIONS are there. STATUS_NO_MEMORY. */
enum status function_types_add(struct function_types *types, const char *provider, const char *name,
		const struct binary_arguments *arguments, uint32_t *number);

/* PROBE_COOKIE_* of its entry. */
uint32_t function_type_bits(const struct function_type *type);

/* The name of a program or function as an event may have it: `out` for other bytes '_'. */
void function_type_clean(char *out, size_t size, const char *name);

/* Declares those from number `from` on, in CTF 1.8's language. */
void function_types_declare(const struct function_types *types, uint32_t from, FILE *file);

/*
 * Declares pythiatop_probe:summary: calls of a function in the last second, by process and by the
 * function that called it.
 */
void function_types_declare_summary(FILE *file);

/* The number of the record's type in CTF. */
uint32_t function_type_id(const struct probe_head *head);

/* Bytes that an event's contexts and payload may have. */
#define FUNCTION_ROOM 2560u

/*
 * Writes contexts and payload of a record to `out`, with room for FUNCTION_ROOM, and their length
 * to *n. False: it is none of these, or shorter than it has to be.
 */
bool function_type_payload(const struct function_types *types, const struct probe_head *head,
		unsigned char *out, size_t *n);

#endif
