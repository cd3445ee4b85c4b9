/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_INPUTS_H
#define PT_RUN_INPUTS_H

#include <jansson.h>

#include "base/arena.h"
#include "config/json_file.h"
#include "pythiatop/input.h"

/*
 * Inputs of the engine as JSON: a table of their fields writes them and reads them again. Members
 * that are not known, or of another type, are refused. Pure.
 */

/* "mode", "offer", ...: as a line of the decision log names it. */
const char *inputs_name(enum input_kind kind);

/* A new object of its fields; NULL if out of memory. */
json_t *inputs_write(const struct engine_input *input);

/* What it names lies in `memory`. False: the complaint is written. */
bool inputs_read(const struct complaint *complaint, const char *name, json_t *object,
		struct engine_input *input, struct arena *memory);

#endif
