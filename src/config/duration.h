/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONFIG_DURATION_H
#define PT_CONFIG_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Durations as people write them: a decimal number and a unit (ns, us, ms, s, m, h), "1.5s".
 * False: no number, no unit, negative, or longer than ten years.
 */
bool duration_parse(const char *text, uint64_t *ns);

/* The same for a plain number of seconds, "0.5". */
bool duration_parse_seconds(const char *text, uint64_t *ns);

/* Writes it with the largest unit that leaves a whole number, "30s", "250ms". */
void duration_format(char *out, size_t size, uint64_t ns);

#endif
