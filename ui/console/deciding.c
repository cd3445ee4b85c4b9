/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "console/parts.h"
#include "step_text.h"

/* Deciding on steps: the questions over any screen, and their answers. */

void deciding_ask(struct console *console, enum step_decision decision, uint32_t step)
{
	char why[512];

	if (decision == STEP_APPROVE && shown(console)->steps.mode == MODE_OBSERVE) {
		keymap_text(&console->keymap, ACTION_MODE, why, sizeof(why));
		console_say(console, ROLE_WARN,
				"the mode is observe: nothing may be changed; %s changes it", why);
	} else if (!question_decide(&console->question, console->dialog, &shown(console)->steps,
				   decision, step, why, sizeof(why))) {
		console_say(console, ROLE_WARN, "%s", why);
	}
}

void deciding_offer_mode(struct console *console, enum step_mode now)
{
	question_mode(&console->question, console->dialog, &shown(console)->steps,
			(enum step_mode)((now + 1) % MODE_COUNT), &console->keymap);
}

void deciding_edit(struct console *console)
{
	char why[512];

	if (!question_edit(&console->question, console->dialog, &shown(console)->steps,
			    &console->keymap, why, sizeof(why))) {
		console_say(console, ROLE_WARN, "%s", why);
	}
}

/* To the tree of the step that waits, where + and - propose other points in its place. */
static void edit_in_tree(struct console *console)
{
	const struct step_row *row = step_find(&shown(console)->steps, console->question.step);
	struct view_call call = {.go = SCREEN_TREE, .proposed = true};
	char enable[64], disable[64];

	dialog_close(console->dialog);
	if (!row) {
		return;
	}
	call.group_id = row->group_id ? row->group_id : console->focus.group_id;
	navigation_show(console, &call);
	keymap_text(&console->keymap, ACTION_ENABLE, enable, sizeof(enable));
	keymap_text(&console->keymap, ACTION_DISABLE, disable, sizeof(disable));
	console_say(console, ROLE_NOTICE, "%s or %s on a point proposes that instead of step %u",
			enable, disable, (unsigned int)row->id);
}

/* The program answers with a snapshot: until then the old choice is shown. */
static void toggle_point(struct console *console)
{
	char command[64];

	if (question_toggle(&console->question, console->dialog, &shown(console)->steps, command,
			    sizeof(command))) {
		console->host->command(console->host->context, command);
	}
}

void deciding_show(struct console *console, uint32_t id)
{
	const struct steps_view *steps = &shown(console)->steps;
	const struct step_row *row = step_find(steps, id);

	if (row) {
		question_show(&console->question, console->dialog, steps, row);
	}
}

/* What was asked is to be done. */
static enum console_answer answer_question(struct console *console)
{
	const struct question *question = &console->question;

	if (question->command[0]) {
		console->host->command(console->host->context, question->command);
	}
	return question->kind == QUESTION_QUIT      ? CONSOLE_QUIT
	       : question->kind == QUESTION_SUSPEND ? CONSOLE_SUSPEND
						    : CONSOLE_STAY;
}

enum console_answer deciding_key(struct console *console, uint32_t key)
{
	enum action action = keymap_find(&console->keymap, key);

	if (action == ACTION_REDRAW) {
		return CONSOLE_REDRAW;
	}
	if (action == ACTION_UNDO_ALL) {
		dialog_close(console->dialog); /* it waits for no answer */
		action_do(console, action);
		return CONSOLE_STAY;
	}
	if (action == ACTION_MODE && console->question.kind == QUESTION_MODE) {
		deciding_offer_mode(console, console->question.mode);
		return CONSOLE_STAY;
	}
	if (action == ACTION_TREE && console->question.kind == QUESTION_EDIT) {
		edit_in_tree(console);
		return CONSOLE_STAY;
	}
	switch (dialog_key(console->dialog, key)) {
	case DIALOG_TOGGLE:
		toggle_point(console);
		break;
	case DIALOG_YES:
		return answer_question(console);
	case DIALOG_NO:
		if (console->question.kind == QUESTION_EDIT) {
			console_say(console, ROLE_DIM, "step %u waits, as it is now",
					(unsigned int)console->question.step);
		} else if (console->question.kind != QUESTION_NONE) {
			console_say(console, ROLE_DIM, "nothing was done");
		}
		break;
	default:
		break;
	}
	return CONSOLE_STAY;
}
