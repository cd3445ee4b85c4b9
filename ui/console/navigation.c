/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "console/parts.h"

static bool same_focus(const struct focus *a, const struct focus *b)
{
	return a->screen == b->screen && a->parts == b->parts && a->horizon == b->horizon &&
	       a->metric == b->metric && a->group_id == b->group_id &&
	       a->request_id == b->request_id && a->compare_id == b->compare_id &&
	       a->tree_of_all == b->tree_of_all && a->frozen == b->frozen &&
	       a->back_ns == b->back_ns && a->thread_id == b->thread_id && a->fd_id == b->fd_id;
}

/* Tells the program what is looked at, if that has changed. */
void navigation_publish(struct console *console, const struct focus *before)
{
	struct focus *focus = &console->focus;
	uint32_t group_id = focus->group_id;

	focus->screen = current(console)->screen;
	/* What steps are in force is told, and asked for when quitting, on every screen. */
	focus->parts = FOCUS_STEPS |
		       current(console)->parts(console->views[console->view], shown(console));
	focus->thread_id = focus->fd_id = 0;
	focus->tree_of_all = false;
	if (current(console)->focus) {
		current(console)->focus(console->views[console->view], focus);
	}
	if (focus->group_id != group_id) {
		focus->request_id = 0; /* it was of another group */
	}
	if (focus->serial > 0 && same_focus(before, focus)) {
		return;
	}
	focus->serial++;
	console->host->set_focus(console->host->context, focus);
}

static int find_view(enum screen screen)
{
	int i;

	for (i = 0; i < N_VIEWS; i++) {
		if (all_views[i]->screen == screen) {
			return i;
		}
	}
	return 0;
}

/* Whether Esc, pressed often enough, leads from the one screen to the other. */
static bool leads_to(const struct console *console, enum screen from, enum screen to)
{
	for (int i = 0; i < N_VIEWS && from && from != to; i++) {
		from = console->back[find_view(from)];
	}
	return from == to;
}

/*
 * Where Esc leads to from the screen that is gone to: back to the one the person comes from, if the
 * view says so, else as before, or up. A screen that is on the way up is gone back to: else Esc
 * would lead in circles.
 */
static void remember_way(struct console *console, int view, enum screen from)
{
	const struct view_ops *to = all_views[view];

	if (to->back_to & SCREEN_BIT(from)) {
		if (!leads_to(console, from, to->screen)) {
			console->back[view] = from;
		}
	} else if (to->up_from & SCREEN_BIT(from)) {
		console->back[view] = to->up;
	}
}

void navigation_begin(struct console *console)
{
	int i;

	for (i = 0; i < N_VIEWS; i++) {
		console->back[i] = all_views[i]->up;
	}
	console->view = find_view(console->options->screen);
}

void navigation_show(struct console *console, struct view_call *call)
{
	int view = find_view(call->go);

	call->from = current(console)->screen;
	remember_way(console, view, call->from);
	if (call->go == SCREEN_STATE && call->moment.at_ns) {
		console->focus.frozen = true;
		console->moment_ns = call->moment.at_ns;
		console_settle_moment(console);
	}
	if (call->go == SCREEN_GROUP || call->go == SCREEN_TREE || call->go == SCREEN_REQUEST ||
			call->go == SCREEN_COMPARE || call->go == SCREEN_SHAPES) {
		console->focus.group_id = call->group_id;
		console->focus.request_id = call->request_id;
		console->focus.compare_id = call->median ? 0 : console->tagged;
	}
	console->view = view;
	if (current(console)->enter) {
		current(console)->enter(console->views[console->view], call);
	}
	current(console)->update(console->views[console->view], shown(console));
}

void navigation_back(struct console *console)
{
	struct view_call call = {.go = console->back[console->view],
			.group_id = console->focus.group_id,
			.request_id = console->focus.request_id};

	if (!call.go) {
		console_say(console, ROLE_DIM, "this is the top; q quits");
		return;
	}
	if (current(console)->screen == SCREEN_TREE && console->focus.tree_of_all) {
		call.go = SCREEN_GROUPS;
	}
	if (current(console)->screen == SCREEN_REQUEST) {
		call.request_id = 0;
	}
	navigation_show(console, &call);
}

/* A screen by its number, as chosen on a screen that has nothing better to say. */
void navigation_go_to(struct console *console, enum screen screen)
{
	struct view_call call = {.go = screen,
			.group_id = console->focus.group_id,
			.request_id = console->focus.request_id};

	if (screen == current(console)->screen) {
		console_say(console, ROLE_DIM, "this is it already");
		return;
	}
	navigation_show(console, &call);
}
