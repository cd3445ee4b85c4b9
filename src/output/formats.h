/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_FORMATS_H
#define PT_OUTPUT_FORMATS_H

#include <stdio.h>

#include "output/names.h"
#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"

struct json_out;

/* The writers behind output_write(). STATUS_NO_MEMORY or STATUS_IO; the others show in ferror(). */
enum status output_json(FILE *out, const struct snapshot *snapshot);
enum status output_folded(FILE *out, const struct snapshot *snapshot, enum output_weight weight);
void output_text(FILE *out, const struct snapshot *snapshot, bool changes_alone);
void output_csv(FILE *out, const struct snapshot *snapshot, bool first);

/* Cells of the tables for people; `cell` has OUTPUT_CELL bytes and is returned. */
#define OUTPUT_CELL 256
const char *output_duration(char *cell, bool valid, double ns); /* "-" if not valid */
const char *output_safe(char *cell, const char *text);          /* escaped */
/* Columns that escaped text takes on a terminal. */
int output_width(const char *text);
/* Escaped, and exactly so many columns wide: what is too long is cut in its middle, by "…". */
const char *output_fit(char *cell, const char *text, int columns);
/* "varies+modes"; "" if not flagged. */
const char *output_flags(char *cell, const struct groups_row *row);

/* Where the groups vary that were flagged, or vary most. */
void output_text_location(FILE *out, const struct groups_view *groups);
void output_text_waits(FILE *out, const struct groups_view *groups);

/* The state of the systems, the first rows of each table; nothing where there is none. */
void output_text_state(FILE *out, const struct state_view *state);

/* What is otherwise than in the baseline; nothing where nothing was compared. */
void output_text_changes(FILE *out, const struct changes_view *changes);
/* "changes" of a document: null where nothing was compared. */
void output_json_changes(struct json_out *json, const struct changes_view *changes);

/* "shapes", "improbable" and "shape_types" of a document. */
void output_json_shapes(struct json_out *json, const struct shapes_view *shapes);

/* The state of the systems: "state" of a document. */
void output_json_state(struct json_out *json, const struct state_view *state);

/* "controls" of a document: which hosts can be controlled. */
void output_json_controls(struct json_out *json, const struct steps_view *view);

/* "verdict" of a document: null as long as there is none. */
void output_json_verdict(struct json_out *json, const struct snapshot *snapshot);

/* Who was waited for: "holders". */
void output_json_holders(struct json_out *json, const struct group_holder *holders, uint32_t n);

/* "verdict" of a finding: what its sentence says, as data. */
void output_json_verdict_data(struct json_out *json, const struct steps_finding *finding);

/* "explanation" of a finding: by key-values; NULL: none was made. */
void output_json_explanation(struct json_out *json, const struct explanation *explanation);

/* "steps", "rules", "findings", "budget" and "points" of a document. */
void output_json_loop(struct json_out *json, const struct steps_view *view);

/* Group i of the view, with what is said of its variation: a row of "groups" of a document. */
void output_json_group(struct json_out *json, const struct groups_view *groups, uint32_t i);

/*
 * "contexts" of a document: the tree of all groups together, if it is there, then one a group. Each
 * has at most OUTPUT_TREE_ROWS rows and all together OUTPUT_ROWS, the largest totals first at every
 * level; `left_out` tells how many more there are.
 */
#define OUTPUT_TREE_ROWS 1000
#define OUTPUT_ROWS      20000
void output_json_contexts(struct json_out *json, const struct snapshot *snapshot);

#endif
