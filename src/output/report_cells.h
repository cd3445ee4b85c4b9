/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_REPORT_CELLS_H
#define PT_OUTPUT_REPORT_CELLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pythiatop/snapshot/steps.h"

/*
 * What the parts of the page of a report share. `cell` has OUTPUT_CELL bytes (formats.h) and is
 * returned; what is not known is "-".
 */
const char *report_duration(char *cell, uint64_t ns);
const char *report_share(char *cell, bool valid, double value); /* "92.0 %" */
const char *report_rate(char *cell, double per_s, const char *unit);

/* "<= 0.004": a bound, so it is rounded up, to two digits; never 0. */
const char *report_p(char *cell, const struct explained_key *key);

/* Key-values were looked at, whether or not one explains it. */
bool report_is_explained(const struct steps_finding *finding);

/* A cell of a table, after its border. */
void report_put_cell(FILE *out, const char *text);

/* The part of the page on the variable: latency by value, all variables, those left out. */
void report_put_variables(FILE *out, const struct explanation *explanation);

#endif
