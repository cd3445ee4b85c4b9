/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "console/parts.h"

/* What keys do. The view in sight comes first; what it leaves is in one table. */

#define STEP_NS 1000000000u

static void open_filter(struct console *console, enum action action)
{
	struct table *table = current_table(console);

	(void)action;
	if (!table) {
		console_say(console, ROLE_WARN,
				"nothing to filter in this pane; Tab goes to the next");
		return;
	}
	prompt_open(console->prompt, PROMPT_FILTER, table->filter.text);
}

static void next_metric(struct console *console, enum action action)
{
	static const char *const names[METRIC_COUNT] = {METRIC_NAMES};
	static const char *const what[METRIC_COUNT] = {"rate × standard deviation",
			"the lower bound of sd / mean", "how far apart the modes are"};
	enum metric *metric = &console->focus.metric;

	(void)action;
	*metric = (enum metric)(((int)*metric + 1) % METRIC_COUNT);
	console_say(console, ROLE_NOTICE, "groups ordered by %s: %s", names[*metric],
			what[*metric]);
}

/* Steps through the window; the first step freezes it. */
static void step_time(struct console *console, enum action action)
{
	bool back = action == ACTION_EARLIER;
	struct focus *focus = &console->focus;
	uint64_t window_ns = shown(console)->window_ns;

	if (!back && !focus->frozen) {
		console_say(console, ROLE_WARN, "this is now; , steps back");
		return;
	}
	focus->frozen = true;
	if (back) {
		if (focus->back_ns + STEP_NS > window_ns) {
			console_say(console, ROLE_WARN, "this is the oldest instant of the window");
			return;
		}
		focus->back_ns += STEP_NS;
	} else if (focus->back_ns == 0) {
		console_say(console, ROLE_WARN, "this is where it was frozen");
	} else {
		focus->back_ns -= focus->back_ns < STEP_NS ? focus->back_ns : STEP_NS;
	}
}

static void freeze(struct console *console, enum action action)
{
	(void)action;
	console->focus.frozen = !console->focus.frozen;
	console->focus.back_ns = 0;
	console->moment_ns = 0;
}

static void next_horizon(struct console *console, enum action action)
{
	struct focus *focus = &console->focus;

	(void)action;
	focus->horizon = (enum horizon)(((int)focus->horizon + 1) % HORIZON_COUNT);
}

static void back(struct console *console, enum action action)
{
	(void)action;
	navigation_back(console);
}

static void open_prompt(struct console *console, enum action action)
{
	prompt_open(console->prompt, action == ACTION_SEARCH ? PROMPT_SEARCH : PROMPT_COMMAND, "");
}

static void search(struct console *console, enum action action)
{
	command_search_step(console, action == ACTION_NEXT ? 1 : -1);
}

static void decide(struct console *console, enum action action)
{
	deciding_ask(console,
			action == ACTION_APPROVE  ? STEP_APPROVE
			: action == ACTION_REJECT ? STEP_REJECT
						  : STEP_UNDO,
			0);
}

static void edit(struct console *console, enum action action)
{
	(void)action;
	deciding_edit(console);
}

static void offer_mode(struct console *console, enum action action)
{
	(void)action;
	deciding_offer_mode(console, shown(console)->steps.mode);
}

static void undo_all(struct console *console, enum action action)
{
	(void)action;
	console->host->command(console->host->context, "undo all");
}

static void (*const handlers[ACTION_COUNT])(struct console *console, enum action action) = {
		[ACTION_BACK] = back,
		[ACTION_SEARCH] = open_prompt,
		[ACTION_COMMAND] = open_prompt,
		[ACTION_NEXT] = search,
		[ACTION_PREVIOUS] = search,
		[ACTION_FILTER] = open_filter,
		[ACTION_METRIC] = next_metric,
		[ACTION_FREEZE] = freeze,
		[ACTION_EARLIER] = step_time,
		[ACTION_LATER] = step_time,
		[ACTION_HORIZON] = next_horizon,
		[ACTION_APPROVE] = decide,
		[ACTION_REJECT] = decide,
		[ACTION_UNDO] = decide,
		[ACTION_EDIT] = edit,
		[ACTION_MODE] = offer_mode,
		[ACTION_UNDO_ALL] = undo_all,
};

/* Tags a request, or takes its tag away. */
static void tag(struct console *console, uint64_t request_id)
{
	char compare[64];

	if (console->tagged == request_id) {
		console->tagged = 0;
		console_say(console, ROLE_NOTICE, "no request is tagged any more");
		return;
	}
	console->tagged = request_id;
	console_say(console, ROLE_NOTICE, "tagged: %s on another request compares the two",
			keymap_text(&console->keymap, ACTION_COMPARE, compare, sizeof(compare)));
}

/* There is something to compare with, and it is another request. */
static bool may_compare(struct console *console, const struct view_call *call)
{
	bool here = current(console)->screen == SCREEN_COMPARE;

	if (here && !call->median && !console->tagged) {
		console_say(console, ROLE_WARN, "no other request is tagged to compare with");
		return false;
	}
	if (!call->median && call->request_id == console->tagged) {
		console_say(console, ROLE_WARN,
				"this is the tagged request itself: go to another one");
		return false;
	}
	return true;
}

/* What the view in sight asks for. */
static void follow(struct console *console, struct view_call *call)
{
	if (call->tag) {
		tag(console, call->tag);
	}
	if (call->go == SCREEN_COMPARE && !may_compare(console, call)) {
		return;
	}
	if (call->message[0]) {
		console_say(console, ROLE_WARN, "%s", call->message);
	}
	if (call->command[0]) {
		console->host->command(console->host->context, call->command);
	}
	if (call->step && call->ask) {
		deciding_ask(console, call->decision, call->step);
	} else if (call->step) {
		deciding_show(console, call->step);
	}
	if (call->back) {
		navigation_back(console);
	} else if (call->go) {
		navigation_show(console, call);
	}
}

/* A key that leads to a screen leads out of it again where one comes in for a look. */
static bool go_by(struct console *console, enum action action)
{
	for (int i = 0; i < N_VIEWS; i++) {
		if (all_views[i]->key != action) {
			continue;
		}
		if (i == console->view && all_views[i]->toggles) {
			navigation_back(console);
		} else {
			navigation_go_to(console, all_views[i]->screen);
		}
		return true;
	}
	return false;
}

void action_do(struct console *console, enum action action)
{
	struct view_call call = {.go = 0};
	char keys[64];

	if (current(console)->act(console->views[console->view], action, &call)) {
		follow(console, &call);
	} else if (handlers[action]) {
		handlers[action](console, action);
	} else if (!go_by(console, action)) {
		keymap_text(&console->keymap, action, keys, sizeof(keys));
		console_say(console, ROLE_WARN, "%s (%s) does nothing here", action_name(action),
				keys);
	}
}
