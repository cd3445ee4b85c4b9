/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_STEP_DIALOG_H
#define UI_STEP_DIALOG_H

#include "dialog.h"
#include "keymap.h"
#include "pythiatop/snapshot/steps.h"

/*
 * The questions about steps: what would be done exactly, where, what it costs, before it is done.
 */
enum question_kind {
	QUESTION_NONE = 0,
	QUESTION_DECIDE, /* about a step */
	QUESTION_EDIT,   /* which of its points; then whether to approve it */
	QUESTION_MODE,
	QUESTION_QUIT,
	QUESTION_SUSPEND,
};

/* What is being asked. */
struct question {
	enum question_kind kind;
	uint32_t step;         /* of QUESTION_DECIDE, QUESTION_EDIT */
	enum step_state state; /* it had when asked: if that changes the question is over */
	enum step_mode mode;   /* of QUESTION_MODE: the one offered */
	char command[64];      /* for the program when the answer is yes; "" if none */
};

/*
 * Asks whether to approve, reject or undo the step `id`; of id 0: the one that waits for a
 * decision, or, to undo, the newest in force. False: it cannot be, `why` (of `size` bytes) says so.
 */
bool question_decide(struct question *question, struct dialog *dialog,
		const struct steps_view *steps, enum step_decision decision, uint32_t id, char *why,
		size_t size);

/*
 * Offers the points of the step that waits for a decision, each to be left out or taken back.
 * False: there is none, or no choice; `why` says so.
 */
bool question_edit(struct question *question, struct dialog *dialog, const struct steps_view *steps,
		const struct keymap *keymap, char *why, size_t size);
/* A later state of the steps: what is being edited is shown as it is now. */
void question_renew(struct question *question, struct dialog *dialog,
		const struct steps_view *steps, const struct keymap *keymap);
/* The command that changes the choice under the cursor. False: it is no longer there. */
bool question_toggle(const struct question *question, const struct dialog *dialog,
		const struct steps_view *steps, char *command, size_t size);

/* All that is known of a step; there is nothing to answer. */
void question_show(struct question *question, struct dialog *dialog, const struct steps_view *steps,
		const struct step_row *row);

/* Offers a mode, with the budget. */
void question_mode(struct question *question, struct dialog *dialog, const struct steps_view *steps,
		enum step_mode mode, const struct keymap *keymap);

/* Quitting or being stopped while something is recorded because of steps. False: nothing is. */
bool question_leave(struct question *question, struct dialog *dialog,
		const struct steps_view *steps, bool quit);

/* Whether the step asked about is no longer as it was. */
bool question_is_over(const struct question *question, const struct steps_view *steps);

#endif
