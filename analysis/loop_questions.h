/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_LOOP_QUESTIONS_H
#define PT_LOOP_QUESTIONS_H

#include "loop.h"

/*
 * What Pythia asks of the groups in the midst of a round, about those that it looks at closely.
 */

/* A focus answered as of now. NULL: not now, or out of memory. */
struct snapshot *loop_answer(struct loop *loop, struct focus focus);

/* Answers all that a round may ask, for as long as it takes. */
void loop_take_questions(struct loop *loop, struct pythia_round *round);

#endif
