/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_NAMES_H
#define PT_OUTPUT_NAMES_H

#include <stdbool.h>

#include "pythiatop/focus.h"
#include "pythiatop/snapshot/sources.h"

/* Snapshots for programs and files: the same values that the screen shows. */
enum output_format {
	OUTPUT_JSON = 0, /* one document a snapshot, on one line */
	OUTPUT_TEXT,     /* tables for people */
	OUTPUT_CSV,      /* one line a group and snapshot, after one line of column names */
};

bool output_format_parse(const char *name, enum output_format *format);

/* The names people use: "10s", "epoch", "all". */
const char *output_horizon_name(enum horizon horizon);
bool output_horizon_parse(const char *name, enum horizon *horizon);
const char *output_source_state_name(enum source_state state);

#endif
