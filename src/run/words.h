/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_WORDS_H
#define PT_RUN_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "pythiatop/step.h"

/* What people, and logs of what they decided, say of the loop. */

/* The first word of a line into `word`; returns where the rest begins. */
const char *words_split(const char *line, char *word, size_t size);
/* "observe", "approve", "autopilot". False: it is none of these. */
bool words_mode(const char *text, enum step_mode *mode);
/* "5k", "2%", "learn 50k": what a budget is, over what it was. False: it is no budget. */
bool words_budget(struct step_budget *budget, const char *text);

#endif
