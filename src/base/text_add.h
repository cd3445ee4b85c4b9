/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_TEXT_ADD_H
#define PT_BASE_TEXT_ADD_H

#include <stddef.h>
#include <stdint.h>

/* Puts a text together piece by piece, in `size` bytes, at least one. What has no room is cut. */
void text_add(char *out, size_t size, const char *format, ...)
		__attribute__((format(printf, 3, 4)));
/* "1.23ms": three digits, in the largest unit that has one before the point. */
void text_add_duration(char *out, size_t size, double ns);
/* "22:13:20": of the day in UTC, of nanoseconds since 1970. */
void text_add_clock(char *out, size_t size, uint64_t ns);

#endif
