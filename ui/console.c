/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "console.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialog.h"
#include "format.h"
#include "frame.h"
#include "keymap.h"
#include "layout.h"
#include "pattern.h"
#include "prompt.h"
#include "step_dialog.h"
#include "step_text.h"
#include "views/view.h"
#include "widgets/paragraph.h"

#define LEAST_ROWS       10
#define LEAST_COLUMNS    40
#define STEP_NS          1000000000u
#define GROUPS_ROWS      16 /* from here on the groups have room for the step that waits */
#define POSITION_COLUMNS 14 /* "10000/10000" at the end of the status line */

static const struct view_ops *const all_views[] = {&view_groups, &view_group, &view_tree,
		&view_request, &view_compare, &view_steps, &view_state, &view_sources,
		&view_changes, &view_help};

#define N_VIEWS ((int)(sizeof(all_views) / sizeof(all_views[0])))

struct console {
	const struct console_options *options;
	const struct console_host *host;
	struct theme theme;
	uint32_t theme_serial;
	struct keymap keymap;
	struct prompt *prompt;
	struct dialog *dialog;
	struct question question; /* that the dialog asks */
	struct pattern search;
	void *views[N_VIEWS];
	int view;                        /* the one shown */
	enum screen help_from;           /* where help goes back to */
	enum screen sources_from;        /* where the sources go back to */
	enum screen steps_from;          /* where the steps go back to */
	enum screen state_from;          /* where the state goes back to */
	enum screen changes_from;        /* where the changes go back to */
	enum screen request_from;        /* where a request does: its group, or the tree */
	enum screen compare_from;        /* where a comparison does: the request, or the group */
	uint64_t tagged;                 /* request to compare with; 0: none */
	uint64_t moment_ns;              /* to be shown once the window is pinned; 0: none */
	struct focus focus;              /* what is wanted; serial 0: nothing asked so far */
	const struct snapshot *snapshot; /* held; NULL before the first */
	struct snapshot nothing;         /* stands for it */
	uint64_t notice_serial;          /* of the last notice shown */
	bool notice;                     /* it is on the screen */
	char message[512];
	enum role message_role;
};

static const struct view_ops *current(const struct console *console)
{
	return all_views[console->view];
}

static const struct snapshot *shown(const struct console *console)
{
	return console->snapshot ? console->snapshot : &console->nothing;
}

__attribute__((format(printf, 3, 4))) static void say(
		struct console *console, enum role role, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(console->message, sizeof(console->message), format, args);
	va_end(args);
	console->message_role = role;
}

static bool same_focus(const struct focus *a, const struct focus *b)
{
	return a->screen == b->screen && a->parts == b->parts && a->horizon == b->horizon &&
	       a->metric == b->metric && a->group_id == b->group_id &&
	       a->request_id == b->request_id && a->compare_id == b->compare_id &&
	       a->tree_of_all == b->tree_of_all && a->frozen == b->frozen &&
	       a->back_ns == b->back_ns && a->thread_id == b->thread_id && a->fd_id == b->fd_id;
}

/* Tells the program what is looked at, if that has changed. */
static void publish_focus(struct console *console, const struct focus *before)
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
	console->host->look(console->host->context, focus);
}

static bool set_theme(struct console *console, const char *name)
{
	struct settings settings = {.file = name};
	char error[256];

	if (!console->host->theme(console->host->context, name, &settings)) {
		say(console, ROLE_ERROR, "no theme named %s", name);
		return false;
	}
	if (theme_read(&console->theme, &settings, error, sizeof(error)) != STATUS_OK) {
		say(console, ROLE_ERROR, "%s", error);
		return false;
	}
	console->theme_serial++;
	return true;
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

static bool create_parts(struct console *console)
{
	int i;

	console->prompt = prompt_create();
	console->dialog = dialog_create();
	for (i = 0; i < N_VIEWS; i++) {
		console->views[i] = all_views[i]->create();
		if (!console->views[i]) {
			return false;
		}
	}
	return console->prompt && console->dialog;
}

struct console *console_create(
		const struct console_options *options, const struct console_host *host)
{
	struct console *console = calloc(1, sizeof(*console));
	const struct focus none = {.serial = 0};
	char error[256];

	if (!console) {
		return NULL;
	}
	console->options = options;
	console->host = host;
	console->help_from = console->sources_from = SCREEN_GROUPS;
	console->state_from = console->steps_from = console->changes_from = SCREEN_GROUPS;
	console->request_from = console->compare_from = SCREEN_GROUP;
	console->focus.horizon = options->horizon;
	console->focus.metric = options->metric;
	console->focus.frozen = options->frozen;
	console->focus.back_ns = options->back_ns;
	console->view = find_view(options->screen);
	theme_init(&console->theme);
	keymap_init(&console->keymap);
	if (!create_parts(console)) {
		console_destroy(console);
		return NULL;
	}
	console->nothing.progress = -1;
	console->nothing.notice = "";
	console->nothing.steps.next = UINT32_MAX;
	set_theme(console, options->theme      ? options->theme
			   : options->no_color ? "mono"
					       : "default");
	if (options->keys && keymap_read(&console->keymap, options->keys, error, sizeof(error)) !=
					     STATUS_OK) {
		say(console, ROLE_ERROR, "%s", error);
	}
	current(console)->update(console->views[console->view], shown(console));
	publish_focus(console, &none);
	return console;
}

void console_destroy(struct console *console)
{
	int i;

	if (!console) {
		return;
	}
	for (i = 0; i < N_VIEWS; i++) {
		if (console->views[i]) {
			all_views[i]->destroy(console->views[i]);
		}
	}
	if (console->snapshot) {
		console->host->release(console->host->context, console->snapshot);
	}
	prompt_destroy(console->prompt);
	dialog_destroy(console->dialog);
	pattern_release(&console->search);
	free(console);
}

const struct theme *console_theme(const struct console *console, uint32_t *serial)
{
	*serial = console->theme_serial;
	return &console->theme;
}

/*
 * "The worst" is asked for once: from then on the screen stays with what it got, instead of jumping
 * to whatever is the worst a tenth of a second later.
 */
static void settle_focus(struct console *console)
{
	const struct snapshot *snapshot = console->snapshot;
	struct focus *focus = &console->focus;

	if (snapshot->focus.serial != focus->serial) {
		return;
	}
	if (focus->screen == SCREEN_GROUP && focus->group_id == 0) {
		focus->group_id = snapshot->group.id;
	}
	if (focus->screen == SCREEN_TREE && focus->group_id == 0) {
		focus->group_id = snapshot->tree.group_id;
	}
	if (focus->screen == SCREEN_COMPARE && focus->compare_id == 0) {
		focus->compare_id = snapshot->compare.b.id;
	}
	if (focus->screen == SCREEN_REQUEST && focus->request_id == 0) {
		focus->request_id = snapshot->request.id;
		if (snapshot->request.id) {
			focus->group_id = snapshot->request.group_id;
		}
	}
}

/*
 * Moves the time cursor to the moment that was asked for, once the window is pinned: from then on
 * it is a step back as any other.
 */
static void settle_moment(struct console *console)
{
	const struct snapshot *snapshot = shown(console);
	uint64_t pinned_ns = snapshot->time_ns + snapshot->focus.back_ns, back_ns;
	char window[FORMAT_BYTES];

	if (!console->moment_ns || !console->focus.frozen || !snapshot->pinned) {
		return;
	}
	if (console->moment_ns > pinned_ns) {
		say(console, ROLE_WARN, "that instant is not there yet: this is the newest one");
	}
	back_ns = pinned_ns > console->moment_ns ? pinned_ns - console->moment_ns : 0;
	console->moment_ns = 0;
	if (back_ns > snapshot->window_ns) {
		say(console, ROLE_WARN,
				"that instant has left the window of %s, this is now; --window "
				"keeps more",
				format_period(window, (double)snapshot->window_ns));
		return;
	}
	console->focus.back_ns = back_ns;
}

/* A question about a step that went on by itself has no answer any more. */
static void settle_question(struct console *console)
{
	const struct snapshot *snapshot = shown(console);

	if (!dialog_is_open(console->dialog) || !(snapshot->focus.parts & FOCUS_STEPS)) {
		return;
	}
	question_renew(&console->question, console->dialog, &snapshot->steps, &console->keymap);
	if (question_is_over(&console->question, &snapshot->steps)) {
		dialog_close(console->dialog);
		say(console, ROLE_WARN, "step %u has changed meanwhile: nothing was done",
				(unsigned int)console->question.step);
	}
}

bool console_take(struct console *console)
{
	const struct snapshot *old = console->snapshot;
	const struct snapshot *newest = console->host->acquire(console->host->context);
	const struct focus before = console->focus;

	if (!newest) {
		return false;
	}
	if (newest == old) {
		console->host->release(console->host->context, newest);
		return false;
	}
	console->snapshot = newest;
	settle_focus(console);
	settle_moment(console);
	settle_question(console);
	current(console)->update(console->views[console->view], newest);
	if (old) {
		console->host->release(console->host->context, old);
	}
	if (newest->notice_serial != console->notice_serial) {
		console->notice_serial = newest->notice_serial;
		console->notice = newest->notice && newest->notice[0];
	}
	publish_focus(console, &before);
	return true;
}

/* Where Esc leads to from a screen that can be come to from several. */
static void remember_way(struct console *console, const struct view_call *call)
{
	enum screen from = call->from;

	if (call->go == SCREEN_HELP && from != SCREEN_HELP) {
		console->help_from = from;
	}
	if (call->go == SCREEN_SOURCES && from != SCREEN_SOURCES && from != SCREEN_HELP) {
		console->sources_from = from;
	}
	if (call->go == SCREEN_STEPS && from != SCREEN_STEPS && from != SCREEN_SOURCES &&
			from != SCREEN_HELP) {
		console->steps_from = from;
	}
	if (call->go == SCREEN_STATE && from != SCREEN_STATE && from != SCREEN_SOURCES &&
			from != SCREEN_HELP) {
		console->state_from = from;
	}
	if (call->go == SCREEN_CHANGES &&
			(from == SCREEN_GROUPS || from == SCREEN_GROUP || from == SCREEN_TREE ||
					from == SCREEN_REQUEST)) {
		console->changes_from = from;
	}
	if (call->go == SCREEN_REQUEST &&
			(from == SCREEN_TREE || from == SCREEN_GROUP || from == SCREEN_GROUPS)) {
		console->request_from = from == SCREEN_TREE ? SCREEN_TREE : SCREEN_GROUP;
	}
	if (call->go == SCREEN_COMPARE && from != SCREEN_COMPARE) {
		console->compare_from = from == SCREEN_REQUEST ? SCREEN_REQUEST : SCREEN_GROUP;
	}
}

static void show(struct console *console, struct view_call *call)
{
	call->from = current(console)->screen;
	remember_way(console, call);
	if (call->go == SCREEN_STATE && call->moment.at_ns) {
		console->focus.frozen = true;
		console->moment_ns = call->moment.at_ns;
		settle_moment(console);
	}
	if (call->go == SCREEN_GROUP || call->go == SCREEN_TREE || call->go == SCREEN_REQUEST ||
			call->go == SCREEN_COMPARE) {
		console->focus.group_id = call->group_id;
		console->focus.request_id = call->request_id;
		console->focus.compare_id = call->median ? 0 : console->tagged;
	}
	console->view = find_view(call->go);
	if (current(console)->enter) {
		current(console)->enter(console->views[console->view], call);
	}
	current(console)->update(console->views[console->view], shown(console));
}

/* Out of a screen: up the way that the breadcrumbs show. */
static void go_back(struct console *console)
{
	struct view_call call = {.group_id = console->focus.group_id,
			.request_id = console->focus.request_id};

	switch (current(console)->screen) {
	case SCREEN_GROUPS:
		say(console, ROLE_DIM, "this is the top; q quits");
		return;
	case SCREEN_REQUEST:
		call.go = console->request_from;
		call.request_id = 0;
		break;
	case SCREEN_COMPARE:
		call.go = console->compare_from;
		break;
	case SCREEN_TREE:
		call.go = console->focus.tree_of_all ? SCREEN_GROUPS : SCREEN_GROUP;
		break;
	case SCREEN_GROUP:
		call.go = SCREEN_GROUPS;
		break;
	case SCREEN_STEPS:
		call.go = console->steps_from;
		break;
	case SCREEN_STATE:
		call.go = console->state_from;
		break;
	case SCREEN_SOURCES:
		call.go = console->sources_from;
		break;
	case SCREEN_CHANGES:
		call.go = console->changes_from;
		break;
	default:
		call.go = console->help_from;
		break;
	}
	show(console, &call);
}

/* A screen by its number, as chosen on a screen that has nothing better to say. */
static void go_to(struct console *console, enum screen screen)
{
	struct view_call call = {.go = screen,
			.group_id = console->focus.group_id,
			.request_id = console->focus.request_id};

	if (screen == current(console)->screen) {
		say(console, ROLE_DIM, "this is it already");
		return;
	}
	show(console, &call);
}

static void search_step(struct console *console, int step)
{
	struct table *table = current(console)->table(console->views[console->view]);

	if (!console->search.set) {
		say(console, ROLE_WARN, "nothing is searched for: / begins a search");
	} else if (!table) {
		say(console, ROLE_WARN, "nothing to search in this pane; Tab goes to the next");
	} else if (!table_search(table, &console->search, step)) {
		say(console, ROLE_WARN, "no match for %s", console->search.text);
	}
}

static void open_filter(struct console *console)
{
	struct table *table = current(console)->table(console->views[console->view]);

	if (!table) {
		say(console, ROLE_WARN, "nothing to filter in this pane; Tab goes to the next");
		return;
	}
	prompt_open(console->prompt, PROMPT_FILTER, table->filter.text);
}

static void take_search(struct console *console, const char *text)
{
	struct table *table = current(console)->table(console->views[console->view]);
	char error[128];

	if (!pattern_set(&console->search, text, false, error, sizeof(error))) {
		say(console, ROLE_ERROR, "%s: %s", text, error);
		return;
	}
	if (!console->search.set || !table) {
		return;
	}
	search_step(console, 1);
}

static void take_filter(struct console *console, const char *text)
{
	struct table *table = current(console)->table(console->views[console->view]);
	char error[128];

	if (!table) {
		return;
	}
	if (!pattern_set(&table->filter, text, true, error, sizeof(error))) {
		say(console, ROLE_ERROR, "%s: %s", text, error);
		return;
	}
	table_update(table, table->data, table->n);
}

static void take_horizon(struct console *console, const char *name)
{
	static const char *const names[HORIZON_COUNT] = {"10s", "epoch", "all"};
	int i;

	for (i = 0; i < HORIZON_COUNT; i++) {
		if (strcmp(name, names[i]) == 0) {
			console->focus.horizon = (enum horizon)i;
			return;
		}
	}
	say(console, ROLE_ERROR, "horizon is 10s, epoch or all, not \"%s\"", name);
}

/* Freezes, and goes back to the instant. */
static void take_instant(struct console *console, const char *text)
{
	const struct snapshot *snapshot = shown(console);
	uint64_t at_ns;

	if (!snapshot->time_ns) {
		say(console, ROLE_ERROR, "there is no instant so far: no event has come");
	} else if (!console->host->instant(console->host->context, text, snapshot->first_ns,
				   snapshot->time_ns + snapshot->focus.back_ns, &at_ns)) {
		say(console, ROLE_ERROR,
				"no time: \"%s\"; 10:00:06.5 (UTC), -3.2s, or with the day before "
				"it: 2026-01-31 10:00:06.5",
				text);
	} else if (at_ns < snapshot->first_ns) {
		say(console, ROLE_WARN, "that is before the first event: nothing is known of it");
	} else {
		console->focus.frozen = true;
		console->moment_ns = at_ns;
		settle_moment(console);
	}
}

static const char *const metric_names[METRIC_COUNT] = {"variance", "cov", "modes"};

static void take_metric(struct console *console, const char *name)
{
	int i;

	for (i = 0; i < METRIC_COUNT; i++) {
		if (strcmp(name, metric_names[i]) == 0) {
			console->focus.metric = (enum metric)i;
			return;
		}
	}
	say(console, ROLE_ERROR, "metric is variance, cov or modes, not \"%s\"", name);
}

static void next_metric(struct console *console)
{
	static const char *const what[METRIC_COUNT] = {"rate × standard deviation",
			"the lower bound of sd / mean", "how far apart the modes are"};
	enum metric *metric = &console->focus.metric;

	*metric = (enum metric)(((int)*metric + 1) % METRIC_COUNT);
	say(console, ROLE_NOTICE, "groups ordered by %s: %s", metric_names[*metric], what[*metric]);
}

/* Asks first where something is recorded because of steps. */
static enum console_answer leave(struct console *console, bool quit)
{
	if (question_leave(&console->question, console->dialog, &shown(console)->steps, quit)) {
		return CONSOLE_STAY;
	}
	return quit ? CONSOLE_QUIT : CONSOLE_SUSPEND;
}

static enum console_answer take_command(struct console *console, const char *line)
{
	char text[PROMPT_BYTES], *end;

	text_copy(text, sizeof(text), line + strspn(line, " "));
	end = text + strlen(text);
	while (end > text && end[-1] == ' ') {
		*--end = '\0';
	}
	if (strcmp(text, "quit") == 0 || strcmp(text, "q") == 0) {
		return leave(console, true);
	}
	if (strncmp(text, "theme ", 6) == 0) {
		set_theme(console, text + 6 + strspn(text + 6, " "));
	} else if (strncmp(text, "horizon ", 8) == 0) {
		take_horizon(console, text + 8 + strspn(text + 8, " "));
	} else if (strncmp(text, "at ", 3) == 0) {
		take_instant(console, text + 3 + strspn(text + 3, " "));
	} else if (strcmp(text, "at") == 0) {
		take_instant(console, "");
	} else if (strcmp(text, "metric") == 0 || strncmp(text, "metric ", 7) == 0) {
		take_metric(console, text + 6 + strspn(text + 6, " "));
	} else if (strcmp(text, "theme") == 0) {
		say(console, ROLE_ERROR,
				"which theme? default, light, colorblind, mono, or one of yours");
	} else if (text[0]) {
		console->host->command(console->host->context, text);
	}
	return CONSOLE_STAY;
}

static enum console_answer key_in_prompt(struct console *console, uint32_t key)
{
	const char *text = prompt_text(console->prompt);

	if (prompt_key(console->prompt, key) != PROMPT_TAKEN) {
		return CONSOLE_STAY;
	}
	switch (prompt_kind(console->prompt)) {
	case PROMPT_SEARCH:
		take_search(console, text);
		return CONSOLE_STAY;
	case PROMPT_FILTER:
		take_filter(console, text);
		return CONSOLE_STAY;
	default:
		return take_command(console, text);
	}
}

/* Steps through the window; the first step freezes it. */
static void step_time(struct console *console, bool back)
{
	struct focus *focus = &console->focus;
	uint64_t window_ns = shown(console)->window_ns;

	if (!back && !focus->frozen) {
		say(console, ROLE_WARN, "this is now; , steps back");
		return;
	}
	focus->frozen = true;
	if (back) {
		if (focus->back_ns + STEP_NS > window_ns) {
			say(console, ROLE_WARN, "this is the oldest instant of the window");
			return;
		}
		focus->back_ns += STEP_NS;
	} else if (focus->back_ns == 0) {
		say(console, ROLE_WARN, "this is where it was frozen");
	} else {
		focus->back_ns -= focus->back_ns < STEP_NS ? focus->back_ns : STEP_NS;
	}
}

static bool act_on_screens(struct console *console, enum action action)
{
	switch (action) {
	case ACTION_GROUPS:
		go_to(console, SCREEN_GROUPS);
		return true;
	case ACTION_GROUP:
		go_to(console, SCREEN_GROUP);
		return true;
	case ACTION_TREE:
		go_to(console, SCREEN_TREE);
		return true;
	case ACTION_REQUEST:
		go_to(console, SCREEN_REQUEST);
		return true;
	case ACTION_STEPS:
		go_to(console, SCREEN_STEPS);
		return true;
	case ACTION_STATE:
		go_to(console, SCREEN_STATE);
		return true;
	case ACTION_SOURCES:
		go_to(console, SCREEN_SOURCES);
		return true;
	case ACTION_CHANGES:
		go_to(console, SCREEN_CHANGES);
		return true;
	case ACTION_HELP:
		if (current(console)->screen == SCREEN_HELP) {
			go_back(console);
		} else {
			go_to(console, SCREEN_HELP);
		}
		return true;
	case ACTION_BACK:
		go_back(console);
		return true;
	default:
		return false;
	}
}

static bool act_on_lists(struct console *console, enum action action)
{
	switch (action) {
	case ACTION_SEARCH:
		prompt_open(console->prompt, PROMPT_SEARCH, "");
		return true;
	case ACTION_NEXT:
		search_step(console, 1);
		return true;
	case ACTION_PREVIOUS:
		search_step(console, -1);
		return true;
	case ACTION_FILTER:
		open_filter(console);
		return true;
	case ACTION_METRIC:
		next_metric(console);
		return true;
	case ACTION_COMMAND:
		prompt_open(console->prompt, PROMPT_COMMAND, "");
		return true;
	default:
		return false;
	}
}

static bool act_on_time(struct console *console, enum action action)
{
	struct focus *focus = &console->focus;

	switch (action) {
	case ACTION_FREEZE:
		focus->frozen = !focus->frozen;
		focus->back_ns = 0;
		console->moment_ns = 0;
		return true;
	case ACTION_EARLIER:
		step_time(console, true);
		return true;
	case ACTION_LATER:
		step_time(console, false);
		return true;
	case ACTION_HORIZON:
		focus->horizon = (enum horizon)(((int)focus->horizon + 1) % HORIZON_COUNT);
		return true;
	default:
		return false;
	}
}

static void decide(struct console *console, enum step_decision decision, uint32_t step)
{
	char why[512];

	if (decision == STEP_APPROVE && shown(console)->steps.mode == MODE_OBSERVE) {
		keymap_text(&console->keymap, ACTION_MODE, why, sizeof(why));
		say(console, ROLE_WARN,
				"the mode is observe: nothing may be changed; %s changes it", why);
	} else if (!question_decide(&console->question, console->dialog, &shown(console)->steps,
				   decision, step, why, sizeof(why))) {
		say(console, ROLE_WARN, "%s", why);
	}
}

static void offer_mode(struct console *console, enum step_mode now)
{
	question_mode(&console->question, console->dialog, &shown(console)->steps,
			(enum step_mode)((now + 1) % MODE_COUNT), &console->keymap);
}

static void edit_step(struct console *console)
{
	char why[512];

	if (!question_edit(&console->question, console->dialog, &shown(console)->steps,
			    &console->keymap, why, sizeof(why))) {
		say(console, ROLE_WARN, "%s", why);
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
	show(console, &call);
	keymap_text(&console->keymap, ACTION_ENABLE, enable, sizeof(enable));
	keymap_text(&console->keymap, ACTION_DISABLE, disable, sizeof(disable));
	say(console, ROLE_NOTICE, "%s or %s on a point proposes that instead of step %u", enable,
			disable, (unsigned int)row->id);
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

static bool act_on_steps(struct console *console, enum action action)
{
	switch (action) {
	case ACTION_APPROVE:
		decide(console, STEP_APPROVE, 0);
		return true;
	case ACTION_REJECT:
		decide(console, STEP_REJECT, 0);
		return true;
	case ACTION_UNDO:
		decide(console, STEP_UNDO, 0);
		return true;
	case ACTION_EDIT:
		edit_step(console);
		return true;
	case ACTION_MODE:
		offer_mode(console, shown(console)->steps.mode);
		return true;
	case ACTION_UNDO_ALL:
		console->host->command(console->host->context, "undo all");
		return true;
	default:
		return false;
	}
}

/* Tags a request, or takes its tag away. */
static void tag(struct console *console, uint64_t request_id)
{
	char compare[64];

	if (console->tagged == request_id) {
		console->tagged = 0;
		say(console, ROLE_NOTICE, "no request is tagged any more");
		return;
	}
	console->tagged = request_id;
	say(console, ROLE_NOTICE, "tagged: %s on another request compares the two",
			keymap_text(&console->keymap, ACTION_COMPARE, compare, sizeof(compare)));
}

/* There is something to compare with, and it is another request. */
static bool may_compare(struct console *console, const struct view_call *call)
{
	bool here = current(console)->screen == SCREEN_COMPARE;

	if (here && !call->median && !console->tagged) {
		say(console, ROLE_WARN, "no other request is tagged to compare with");
		return false;
	}
	if (!call->median && call->request_id == console->tagged) {
		say(console, ROLE_WARN, "this is the tagged request itself: go to another one");
		return false;
	}
	return true;
}

static void show_step(struct console *console, uint32_t id)
{
	const struct steps_view *steps = &shown(console)->steps;
	const struct step_row *row = step_find(steps, id);

	if (row) {
		question_show(&console->question, console->dialog, steps, row);
	}
}

static void act(struct console *console, enum action action)
{
	struct view_call call = {.go = 0};
	char keys[64];

	if (current(console)->act(console->views[console->view], action, &call)) {
		if (call.tag) {
			tag(console, call.tag);
		}
		if (call.go == SCREEN_COMPARE && !may_compare(console, &call)) {
			return;
		}
		if (call.message[0]) {
			say(console, ROLE_WARN, "%s", call.message);
		}
		if (call.command[0]) {
			console->host->command(console->host->context, call.command);
		}
		if (call.step && call.ask) {
			decide(console, call.decision, call.step);
		} else if (call.step) {
			show_step(console, call.step);
		}
		if (call.back) {
			go_back(console);
		} else if (call.go) {
			show(console, &call);
		}
		return;
	}
	if (!act_on_screens(console, action) && !act_on_lists(console, action) &&
			!act_on_time(console, action) && !act_on_steps(console, action)) {
		keymap_text(&console->keymap, action, keys, sizeof(keys));
		say(console, ROLE_WARN, "%s (%s) does nothing here", action_name(action), keys);
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

static enum console_answer key_in_dialog(struct console *console, uint32_t key)
{
	enum action action = keymap_find(&console->keymap, key);

	if (action == ACTION_REDRAW) {
		return CONSOLE_REDRAW;
	}
	if (action == ACTION_UNDO_ALL) {
		dialog_close(console->dialog); /* it waits for no answer */
		act(console, action);
		return CONSOLE_STAY;
	}
	if (action == ACTION_MODE && console->question.kind == QUESTION_MODE) {
		offer_mode(console, console->question.mode);
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
			say(console, ROLE_DIM, "step %u waits, as it is now",
					(unsigned int)console->question.step);
		} else if (console->question.kind != QUESTION_NONE) {
			say(console, ROLE_DIM, "nothing was done");
		}
		break;
	default:
		break;
	}
	return CONSOLE_STAY;
}

enum console_answer console_key(struct console *console, uint32_t key)
{
	const struct focus before = console->focus;
	enum console_answer answer = CONSOLE_STAY;
	enum action action;
	char name[KEY_NAME_BYTES];

	console->message[0] = '\0';
	if (prompt_is_open(console->prompt)) {
		answer = key_in_prompt(console, key);
		publish_focus(console, &before);
		return answer;
	}
	console->notice = false;
	if (dialog_is_open(console->dialog)) {
		answer = key_in_dialog(console, key);
		publish_focus(console, &before);
		return answer;
	}
	action = keymap_find(&console->keymap, key);
	switch (action) {
	case ACTION_QUIT:
		return leave(console, true);
	case ACTION_SUSPEND:
		return leave(console, false);
	case ACTION_REDRAW:
		return CONSOLE_REDRAW;
	case ACTION_NONE:
		say(console, ROLE_WARN, "%s is no key here; %s lists those that are",
				key_text(key, name),
				key_text(console->keymap.keys[ACTION_HELP][0], (char[16]){0}));
		return CONSOLE_STAY;
	default:
		act(console, action);
		break;
	}
	publish_focus(console, &before);
	return answer;
}

/* The step that waits, on screens that do not show it themselves. */
static void draw_waiting_step(struct console *console, struct canvas *canvas, struct area line)
{
	const struct step_row *row = step_next(&shown(console)->steps);
	enum screen screen = current(console)->screen;
	bool on_groups = screen == SCREEN_GROUPS && shown(console)->groups.n > 0 &&
			 canvas->rows >= GROUPS_ROWS;
	char text[512], approve[64], reject[64];

	if (!row || on_groups || screen == SCREEN_STEPS || screen == SCREEN_HELP) {
		return;
	}
	keymap_text(&console->keymap, ACTION_APPROVE, approve, sizeof(approve));
	keymap_text(&console->keymap, ACTION_REJECT, reject, sizeof(reject));
	snprintf(text, sizeof(text), "NEXT %.200s   %s approve  %s reject", row->title, approve,
			reject);
	canvas_text(canvas, line.y, line.x, line.width, ROLE_NEXT, text);
}

/* What the list shows, when that is not all of it. */
static void draw_list_state(struct console *console, struct canvas *canvas, struct area line)
{
	struct table *table = current(console)->table(console->views[console->view]);
	char text[PATTERN_BYTES + 64];
	int x = line.x;

	if (!table || (!table->filter.set && !console->search.set)) {
		draw_waiting_step(console, canvas,
				(struct area){line.y, line.x, 1, line.width - POSITION_COLUMNS});
	}
	if (!table) {
		return;
	}
	if (table->filter.set) {
		snprintf(text, sizeof(text), "filter %s: %u of %u %s", table->filter.text,
				(unsigned int)table->shown, (unsigned int)table->n,
				table->source->what);
		x += canvas_text(canvas, line.y, x, line.width, ROLE_NOTICE, text) + 3;
	}
	if (console->search.set) {
		snprintf(text, sizeof(text), "/%s: %u match", console->search.text,
				(unsigned int)table_count(table, &console->search));
		canvas_text(canvas, line.y, x, line.x + line.width - x - 12, ROLE_DIM, text);
	}
	if (table->shown > (uint32_t)table->page) {
		snprintf(text, sizeof(text), "%u/%u", (unsigned int)table->cursor + 1,
				(unsigned int)table->shown);
		canvas_text_right(canvas, line.y, line.x, line.width, ROLE_DIM, text);
	}
}

static void draw_status(struct console *console, struct canvas *canvas, struct area line)
{
	layout_cut_columns(&line, 1);
	layout_cut_columns(&line, -1);
	if (console->message[0]) {
		canvas_text(canvas, line.y, line.x, line.width, console->message_role,
				console->message);
	} else if (console->notice) {
		canvas_text(canvas, line.y, line.x, line.width, ROLE_NOTICE,
				shown(console)->notice);
	} else {
		draw_list_state(console, canvas, line);
	}
}

void console_draw(struct console *console, struct canvas *canvas)
{
	struct area area = {0, 0, canvas->rows, canvas->columns};
	struct area keys, status;
	struct view_frame frame = {canvas, area, shown(console), &console->focus, &console->search,
			&console->keymap, console->tagged};
	char text[64];

	canvas_clear(canvas);
	if (canvas->rows < LEAST_ROWS || canvas->columns < LEAST_COLUMNS) {
		snprintf(text, sizeof(text), "pythiatop needs %dx%d, this is %dx%d", LEAST_COLUMNS,
				LEAST_ROWS, canvas->columns, canvas->rows);
		paragraph_draw(canvas, area, ROLE_TEXT, text);
		return;
	}
	frame_title(canvas, layout_cut_rows(&area, 1), frame.snapshot,
			console->options->target ? console->options->target : "");
	if (console->focus.frozen) {
		frame_paused(canvas, layout_cut_rows(&area, 1), frame.snapshot, &console->focus,
				&console->keymap);
	}
	keys = layout_cut_rows(&area, -1);
	status = layout_cut_rows(&area, -1);
	frame.area = area;
	current(console)->draw(console->views[console->view], &frame);
	draw_status(console, canvas, status);
	if (prompt_is_open(console->prompt)) {
		layout_cut_columns(&keys, 1);
		prompt_draw(console->prompt, canvas, keys);
	} else {
		frame_keys(canvas, keys, &console->keymap, current(console)->screen);
	}
	if (dialog_is_open(console->dialog)) {
		dialog_draw(console->dialog, canvas, area);
	}
}
