/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_TYPE_H
#define PT_PROBE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/types.h>

#include "probe/record.h"

/*
 * The types of events as CTF declares them, and how a record becomes an event's payload. All come
 * from events.def, statedump.def and the table of system calls; numbers of types are the same in
 * each run.
 *
 * Pure. Threads: any, once types_init() is through.
 */
#define TYPE_FIELDS   14
#define TYPE_UNKNOWN  0u      /* system calls without a name: entry, exit, then those of 32 bits */
#define TYPE_TYPED    4u      /* then enum probe_event */
#define TYPE_SYSCALLS 100u    /* then the entry and exit of each system call */
#define TYPE_NONE     0xffffu /* not a number of a type */

enum field_kind {
	FIELD_U8 = 0,
	FIELD_U16,
	FIELD_U32,
	FIELD_S32,
	FIELD_U64,
	FIELD_S64,
	FIELD_X32,
	FIELD_XS32,
	FIELD_X64,
	FIELD_O32,
	FIELD_IPV4,
	FIELD_ARGUMENTS, /* all six */
	FIELD_COMM,
	FIELD_VTIDS,
	FIELD_TEXT,
	FIELD_PAIR,
	FIELD_ADDRESS,
};

struct field {
	enum field_kind kind;
	const char *name;
	/* Of numbers: bytes into those of the record. Of a system call's others: the argument + 1.
	 */
	uint16_t from;
};

struct type {
	const char *prefix, *name; /* together the event's name */
	uint16_t id, n, bytes;     /* bytes of the record's numbers */
	bool plain;                /* the numbers are the payload */
	struct field fields[TYPE_FIELDS];
};

/* A system call: its number, and the types of its two events. */
struct syscall {
	uint16_t number;
	struct type entry, exit;
};

/* To be called before the others. */
void types_init(void);

/* Calls `each` with all types, in the order of their numbers. */
void types_each(void (*each)(void *context, const struct type *type), void *context);

/* The type of a record, NULL: it is none. */
const struct type *type_of(const struct probe_head *head);

/* What the BPF programs have to copy of a system call's arguments; all 0 of those without a name.
 */
struct probe_copies type_copies(uint16_t syscall);

/* Writes the declaration of one field. */
void type_declare_field(const struct field *field, FILE *file);

/* Writes the declaration of the type, in CTF 1.8's language. */
void type_declare(const struct type *type, FILE *file);

/* Bytes that a payload may have, of a record with `bytes` after its head. */
#define TYPE_ROOM(bytes) ((size_t)(bytes) + 64)

/*
 * Writes the payload of an event from the record's `head->bytes` bytes behind its head to `out`,
 * with room for TYPE_ROOM() of them, and its length to *n. What could not be read in user space is
 * empty or 0. False: the record is shorter than its type's.
 */
bool type_payload(const struct type *type, const struct probe_head *head, unsigned char *out,
		size_t *n);

/* The table of system calls (syscalls.c), in ascending order of numbers. */
extern struct syscall syscalls[];
extern const uint32_t n_syscalls;

#endif
