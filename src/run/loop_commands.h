/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_LOOP_COMMANDS_H
#define PT_RUN_LOOP_COMMANDS_H

#include <stdbool.h>

#include "run/pipeline.h"

/*
 * The commands about steps: what a person decides on the screen comes here too, as
 *   mode observe|approve|autopilot - approve N - reject N - undo N|all - enable CONTEXT -
 *   disable CONTEXT - strategy NAME - budget [events|bytes|cpu|learn|points] VALUE -
 *   profile save|load FILE
 * (CONTEXT is the number of a row of the tree.) Answered by a notice. False: it is none of these.
 */
bool loop_command(struct pipeline *pipeline, const char *line, const struct focus *focus);

#endif
