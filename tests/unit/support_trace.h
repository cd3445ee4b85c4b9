/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SUPPORT_TRACE_H
#define PT_SUPPORT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * CTF 1.8 traces made byte by byte, in either byte order, in a directory of their own: with every
 * kind of field, two CPUs, events at the same instant, lost events, and contexts.
 */
struct trace_maker {
	char directory[64]; /* trace_maker_init() makes it, trace_maker_release() removes it */
	bool big_endian;
};

#define MADE_OFFSET_S 1700000000u /* the clock's */
#define MADE_CLOCK_HZ 1000000000u

void trace_maker_init(struct trace_maker *maker, bool big_endian);
void trace_maker_release(struct trace_maker *maker);

/* Writes a file into the directory. */
void trace_maker_put(
		const struct trace_maker *maker, const char *name, const void *bytes, size_t size);

/* Metadata and two streams, of CPU 0 and 1, as test_source_decode.c expects them. */
void trace_maker_all_kinds(const struct trace_maker *maker);

/*
 * One event p:large beyond every bound: LARGE_FIELDS numbers, a string of LARGE_STRING bytes, a
 * sequence of LARGE_SEQUENCE numbers, an enumeration of LARGE_LABELS labels.
 */
#define LARGE_FIELDS   300
#define LARGE_STRING   300000
#define LARGE_SEQUENCE 40000
#define LARGE_LABELS   9000
void trace_maker_large(const struct trace_maker *maker);

/* Only the metadata. */
void trace_maker_metadata(const struct trace_maker *maker);

#endif
