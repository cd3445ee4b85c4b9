/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_FORMAT_H
#define UI_FORMAT_H

#include <stdint.h>

/*
 * Numbers as a person reads them, with their units, in the least room. All write a string of at
 * most FORMAT_BYTES and return it; what is not a finite number is "-".
 */
#define FORMAT_BYTES 32

/* Three significant digits: 950ns 12.3us 412ms 2.10s 0.50h. At most 6 columns up to 1000 days. */
char *format_duration(char out[FORMAT_BYTES], double duration_ns);

/* A length of time that is a setting or a total, without needless digits: 250ms 10s 74s. */
char *format_period(char out[FORMAT_BYTES], double duration_ns);

/* 7990 41.2k 3.10M: at most 5 columns. */
char *format_count(char out[FORMAT_BYTES], uint64_t count);

/* 0B 950B 12.3kB 4.10MB, of 1000 each: at most 6 columns. */
char *format_bytes(char out[FORMAT_BYTES], uint64_t bytes);

/* 0.25/s 9.3/s 108/s 4.1k/s 41k/s: at most 6 columns. */
char *format_rate(char out[FORMAT_BYTES], double per_s);

/* A share of 1: 71% <1% 0% */
char *format_share(char out[FORMAT_BYTES], double share);

/* A number without unit, such as a coefficient of variation: 0.91 12.3 420 */
char *format_ratio(char out[FORMAT_BYTES], double ratio);

/* Time of day (of the local time zone) of an instant since 1970: 10:01:02.345 */
char *format_clock(char out[FORMAT_BYTES], uint64_t time_ns);

#endif
