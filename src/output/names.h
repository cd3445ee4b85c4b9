/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_NAMES_H
#define PT_OUTPUT_NAMES_H

#include <stdbool.h>

#include "pythiatop/focus.h"
#include "pythiatop/snapshot/tree.h"

/* Snapshots for programs and files: the same values that the screen shows. */
enum output_format {
	OUTPUT_JSON = 0, /* one document a snapshot, on one line */
	OUTPUT_TEXT,     /* tables for people */
	OUTPUT_CSV,      /* one line a group and snapshot, after one line of column names */
	OUTPUT_FOLDED,   /* one line a calling context, for flame graphs */
};

/* What the lines of OUTPUT_FOLDED are weighted by. */
enum output_weight {
	OUTPUT_SELF = 0, /* self time, ns */
	OUTPUT_VARIANCE, /* part in the variance of the group's latency, us^2 */
};

bool output_format_parse(const char *name, enum output_format *format);

/* The names people use: "10s", "epoch", "all". */
const char *output_horizon_name(enum horizon horizon);
bool output_horizon_parse(const char *name, enum horizon *horizon);
const char *output_metric_name(enum metric metric); /* "variance", "cov", "modes" */
bool output_metric_parse(const char *name, enum metric *metric);
bool output_weight_parse(const char *name, enum output_weight *weight);

/* Why groups are flagged; bit i of `detection` is called output_detections[i]. */
#define OUTPUT_DETECTIONS 4
extern const char *const output_detections[OUTPUT_DETECTIONS];
/* Of steps and findings, by their enums. */
extern const char *const output_step_kinds[],
		*const output_step_states[],
				*const output_step_doers[],
						*const output_step_modes[],
								*const output_key_sources[];
extern const char *const output_change_kinds[]; /* by enum change_kind */
extern const char *const output_evidence[];     /* by enum wait_evidence */
const char *output_mark_name(enum tree_mark mark);

#endif
