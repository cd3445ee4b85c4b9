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
void output_text(FILE *out, const struct snapshot *snapshot);
void output_csv(FILE *out, const struct snapshot *snapshot, bool first);

/* Cells of the tables for people; `cell` has OUTPUT_CELL bytes and is returned. */
#define OUTPUT_CELL 256
const char *output_duration(char *cell, bool valid, double ns); /* "-" if not valid */
const char *output_safe(char *cell, const char *text);          /* escaped */

/* The state of the systems, the first rows of each table; nothing where there is none. */
void output_text_state(FILE *out, const struct state_view *state);

/* The state of the systems: "state" of a document. */
void output_json_state(struct json_out *json, const struct state_view *state);

#endif
