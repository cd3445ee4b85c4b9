/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_FORMATS_H
#define PT_OUTPUT_FORMATS_H

#include <stdio.h>

#include "output/names.h"
#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"

/* The writers behind output_write(). STATUS_NO_MEMORY or STATUS_IO; the others show in ferror(). */
enum status output_json(FILE *out, const struct snapshot *snapshot);
enum status output_folded(FILE *out, const struct snapshot *snapshot, enum output_weight weight);
void output_text(FILE *out, const struct snapshot *snapshot);
void output_csv(FILE *out, const struct snapshot *snapshot, bool first);

/* Cells of the tables for people; `cell` has OUTPUT_CELL bytes and is returned. */
#define OUTPUT_CELL 256
const char *output_duration(char *cell, bool valid, double ns); /* "-" if not valid */
const char *output_safe(char *cell, const char *text);          /* escaped */
/* Fills up to a column by what is seen: a continuation byte of UTF-8 takes none. */
void output_padded(FILE *out, const char *text, int columns);
/* "varies+modes"; "" if not flagged. */
const char *output_flags(char *cell, const struct groups_row *row);

/* Where the groups vary that were flagged, or vary most. */
void output_text_location(FILE *out, const struct groups_view *groups);

/* The state of the systems, the first rows of each table; nothing where there is none. */
void output_text_state(FILE *out, const struct state_view *state);

#endif
