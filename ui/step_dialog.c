/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "step_dialog.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "step_text.h"

#define TITLE_BYTES 256
#define HOSTS_BYTES 512

static const char *session_on(const struct steps_view *steps, const char *host)
{
	for (uint32_t i = 0; i < steps->n_controls; i++) {
		if (strcmp(steps->controls[i].host, host) == 0) {
			return steps->controls[i].session;
		}
	}
	return "";
}

/* What one host is told. */
static void list_names(struct dialog *dialog, const struct step_row *row, const char *host)
{
	for (uint32_t i = 0; i < row->n_events; i++) {
		const struct step_event *event = &row->events[i];

		if (strcmp(event->host, host) == 0) {
			dialog_list(dialog, "  %s %.400s%s", event->enable ? "enable" : "disable",
					event->name, event->kernel ? " (kernel)" : "");
		}
	}
}

/* Whether two hosts are told the same, in the same order. */
static bool same_events(const struct step_row *row, const char *one, const char *other)
{
	const struct step_event *events = row->events;
	uint32_t a = 0, b = 0;

	for (;; a++, b++) {
		while (a < row->n_events && strcmp(events[a].host, one) != 0) {
			a++;
		}
		while (b < row->n_events && strcmp(events[b].host, other) != 0) {
			b++;
		}
		if (a >= row->n_events || b >= row->n_events) {
			return a >= row->n_events && b >= row->n_events;
		}
		if (strcmp(events[a].name, events[b].name) != 0 ||
				events[a].enable != events[b].enable) {
			return false;
		}
	}
}

static void list_host(struct dialog *dialog, const struct steps_view *steps, const char *host)
{
	const char *session = session_on(steps, host);

	if (session[0]) {
		dialog_list(dialog, "on %.150s, in session %.150s, nobody else's", host, session);
	} else {
		dialog_list(dialog, "on %.150s, in a session of our own", host);
	}
}

/* The exact events; hosts that are told the same are listed together. */
static void list_events(
		struct dialog *dialog, const struct steps_view *steps, const struct step_row *row)
{
	const char *before = NULL;

	for (uint32_t h = 0; h < row->n_events; h++) {
		const char *host = row->events[h].host;

		if (!step_is_first_of_host(row->events, h)) {
			continue;
		}
		if (before && !same_events(row, before, host)) {
			list_names(dialog, row, before);
		}
		list_host(dialog, steps, host);
		before = host;
	}
	if (before) {
		list_names(dialog, row, before);
	}
}

static void add_cost(
		struct dialog *dialog, const struct steps_view *steps, const struct step_row *row)
{
	bool over = row->kind != STEP_LEARN && row->share_of_budget > 1;
	char cost[128], budget[128];

	step_cost(cost, sizeof(cost), row);
	if (row->kind == STEP_LEARN && steps->budget.learn_events_per_s > 0) {
		snprintf(budget, sizeof(budget), "%.0f ev/s while learning",
				steps->budget.learn_events_per_s);
	} else if (row->kind == STEP_LEARN) {
		snprintf(budget, sizeof(budget), "no bound while learning");
	} else {
		step_budget(budget, sizeof(budget), steps);
	}
	dialog_fact(dialog, over ? ROLE_BAD : ROLE_TEXT, "%s; budget: %s%s", cost, budget,
			over ? ", exceeded with it" : "");
}

static void add_watch(struct dialog *dialog, const struct step_row *row)
{
	if (row->kind == STEP_LEARN) {
		dialog_fact(dialog, ROLE_TEXT,
				"for %u s, then it is undone; at once if events are lost",
				row->learn_s);
	} else if (row->kind == STEP_DISABLE) {
		dialog_fact(dialog, ROLE_TEXT, "only what steps enabled is disabled");
	} else {
		dialog_fact(dialog, ROLE_TEXT,
				"watched %d s, undone by itself if it costs twice that, exceeds "
				"the budget, loses events or slows requests down",
				STEP_WATCH_S);
	}
}

static void begin(struct question *question, enum question_kind kind, const struct step_row *row)
{
	*question = (struct question){.kind = kind,
			.step = row ? row->id : 0,
			.state = row ? row->state : STEP_PROPOSED};
}

static void ask_approve(
		struct dialog *dialog, const struct steps_view *steps, const struct step_row *row)
{
	static const char *const words[] = {[STEP_SKELETON] = "enable them",
			[STEP_LEARN] = "learn",
			[STEP_ENABLE] = "enable it",
			[STEP_DISABLE] = "disable it"};
	char title[TITLE_BYTES], hosts[HOSTS_BYTES];

	if (step_count_hosts(row->events, row->n_events) > 2) {
		snprintf(hosts, sizeof(hosts), "%" PRIu32 " hosts",
				step_count_hosts(row->events, row->n_events));
	} else {
		step_hosts(hosts, sizeof(hosts), row);
	}
	snprintf(title, sizeof(title), "Step %" PRIu32 ": %s %" PRIu32 " point%s on %.150s",
			row->id,
			row->kind == STEP_DISABLE ? "disable"
			: row->kind == STEP_LEARN ? "learn from"
						  : "enable",
			row->n_points, row->n_points == 1 ? "" : "s", hosts);
	dialog_open(dialog, title, words[row->kind]);
	list_events(dialog, steps, row);
	add_cost(dialog, steps, row);
	add_watch(dialog, row);
	/* The title tells hosts: the place that is meant stands here. */
	dialog_fact(dialog, ROLE_DIM, "why%s%.200s: %s", row->group_id ? " " : "",
			row->group_id ? row->title : "", row->why);
}

static void ask_reject(struct dialog *dialog, const struct step_row *row)
{
	char title[TITLE_BYTES];

	snprintf(title, sizeof(title), "Step %" PRIu32 ": reject %.200s", row->id, row->title);
	dialog_open(dialog, title, "reject it");
	dialog_fact(dialog, ROLE_DIM, "why it was proposed: %s", row->why);
	dialog_fact(dialog, ROLE_TEXT,
			"Nothing is changed on any host; its points are left alone for a while.");
}

static void ask_undo(
		struct dialog *dialog, const struct steps_view *steps, const struct step_row *row)
{
	char title[TITLE_BYTES];

	snprintf(title, sizeof(title), "Step %" PRIu32 ": undo %.200s", row->id, row->title);
	dialog_open(dialog, title, "undo it");
	dialog_list(dialog, "What it did, which is taken back:");
	list_events(dialog, steps, row);
	dialog_fact(dialog, ROLE_DIM, "effect: %s", row->effect[0] ? row->effect : "-");
}

static const char *edit_title(char *title, const struct step_row *row)
{
	snprintf(title, TITLE_BYTES, "Step %" PRIu32 ": edit %.200s", row->id, row->title);
	return title;
}

/* Where nothing may be changed it can be edited all the same, for later. */
static const char *edit_yes(const struct steps_view *steps)
{
	return steps->mode == MODE_OBSERVE ? "" : "approve it so";
}

static void list_choices(struct dialog *dialog, const struct steps_view *steps,
		const struct step_row *row, const struct keymap *keymap)
{
	char tree[64], enable[64], disable[64];

	for (uint32_t i = 0; i < row->n_parts; i++) {
		const struct step_point *part = &row->parts[i];

		dialog_choice(dialog, part->kept, "%s %.200s on %.200s: %" PRIu32 " event%s",
				part->enable ? "enable" : "disable", part->name, part->hosts,
				part->n_events, part->n_events == 1 ? "" : "s");
	}
	add_cost(dialog, steps, row);
	dialog_fact(dialog, ROLE_DIM, "why: %s", row->why);
	keymap_text(keymap, ACTION_TREE, tree, sizeof(tree));
	keymap_text(keymap, ACTION_ENABLE, enable, sizeof(enable));
	keymap_text(keymap, ACTION_DISABLE, disable, sizeof(disable));
	dialog_fact(dialog, ROLE_TEXT,
			"Space leaves a point out, or takes it back; %s: the tree, where %s and %s "
			"propose others",
			tree, enable, disable);
}

bool question_edit(struct question *question, struct dialog *dialog, const struct steps_view *steps,
		const struct keymap *keymap, char *why, size_t size)
{
	const struct step_row *row = step_next(steps);
	char title[TITLE_BYTES];

	if (!row) {
		snprintf(why, size, "there is no step to edit");
		return false;
	}
	if (row->n_parts == 0) {
		snprintf(why, size,
				"step %" PRIu32 " learns from all points at once: there is "
				"no choice",
				row->id);
		return false;
	}
	begin(question, QUESTION_EDIT, row);
	snprintf(question->command, sizeof(question->command), "approve %" PRIu32, row->id);
	dialog_open(dialog, edit_title(title, row), edit_yes(steps));
	list_choices(dialog, steps, row, keymap);
	return true;
}

void question_renew(struct question *question, struct dialog *dialog,
		const struct steps_view *steps, const struct keymap *keymap)
{
	const struct step_row *row = step_find(steps, question->step);
	char title[TITLE_BYTES];

	if (question->kind == QUESTION_EDIT && row) {
		dialog_renew(dialog, edit_title(title, row), edit_yes(steps));
		list_choices(dialog, steps, row, keymap);
	}
}

bool question_toggle(const struct question *question, const struct dialog *dialog,
		const struct steps_view *steps, char *command, size_t size)
{
	const struct step_row *row = step_find(steps, question->step);
	uint32_t at = dialog_cursor(dialog);

	if (question->kind != QUESTION_EDIT || !row || at >= row->n_parts) {
		return false;
	}
	snprintf(command, size, "%s %" PRIu32 " %" PRIu32, row->parts[at].kept ? "leave" : "take",
			row->id, at + 1);
	return true;
}

bool question_decide(struct question *question, struct dialog *dialog,
		const struct steps_view *steps, enum step_decision decision, uint32_t id, char *why,
		size_t size)
{
	static const char *const verbs[] = {"approve", "reject", "undo"};
	const struct step_row *row = id                      ? step_find(steps, id)
				     : decision == STEP_UNDO ? step_newest_in_force(steps)
							     : step_next(steps);

	if (!row) {
		snprintf(why, size, "there is no step to %s%s%s", verbs[decision],
				steps->lacks && steps->lacks[0] ? ": " : "",
				steps->lacks ? steps->lacks : "");
		return false;
	}
	if (decision == STEP_UNDO ? !step_in_force(row) : row->state != STEP_PROPOSED) {
		snprintf(why, size, "step %" PRIu32 " is %s: it cannot be %s", row->id,
				step_state_name(row),
				decision == STEP_UNDO ? "undone" : "decided on");
		return false;
	}
	begin(question, QUESTION_DECIDE, row);
	if (decision == STEP_APPROVE) {
		ask_approve(dialog, steps, row);
	} else if (decision == STEP_REJECT) {
		ask_reject(dialog, row);
	} else {
		ask_undo(dialog, steps, row);
	}
	snprintf(question->command, sizeof(question->command), "%s %" PRIu32, verbs[decision],
			row->id);
	return true;
}

static void add_actual(struct dialog *dialog, const struct step_row *row)
{
	char predicted[64], actual[FORMAT_BYTES] = "-";

	step_rate(predicted, sizeof(predicted), row);
	if (row->done_ns && row->actual.events_per_s >= 0) {
		format_count(actual, (uint64_t)(row->actual.events_per_s + 0.5));
	}
	dialog_fact(dialog, ROLE_TEXT, "predicted: %s; measured of all steps together: %s ev/s",
			predicted, actual);
}

void question_show(struct question *question, struct dialog *dialog, const struct steps_view *steps,
		const struct step_row *row)
{
	char title[TITLE_BYTES];

	begin(question, QUESTION_NONE, row);
	snprintf(title, sizeof(title), "Step %" PRIu32 " (%s): %.200s", row->id,
			step_state_name(row), row->title);
	dialog_open(dialog, title, "");
	list_events(dialog, steps, row);
	dialog_fact(dialog, ROLE_TEXT, "why: %s", row->why);
	add_actual(dialog, row);
	dialog_fact(dialog, ROLE_TEXT, "effect: %s", row->effect[0] ? row->effect : "-");
}

void question_mode(struct question *question, struct dialog *dialog, const struct steps_view *steps,
		enum step_mode mode, const struct keymap *keymap)
{
	static const char *const about[MODE_COUNT] = {
			[MODE_OBSERVE] = "Steps are proposed, none can be approved. What is "
					 "enabled stays so until it is undone.",
			[MODE_APPROVE] = "Each step waits for you. A session of our own is made on "
					 "each host that can be controlled.",
			[MODE_AUTOPILOT] = "Each step is done at once, without asking, as long as "
					   "the budget allows it.",
	};
	char title[TITLE_BYTES], budget[128], cpu[FORMAT_BYTES] = "no bound", bytes[FORMAT_BYTES];
	char key[64];

	*question = (struct question){.kind = QUESTION_MODE, .mode = mode};
	snprintf(question->command, sizeof(question->command), "mode %s", step_mode_name(mode));
	snprintf(title, sizeof(title), "Mode: %s, instead of %s", step_mode_name(mode),
			step_mode_name(steps->mode));
	dialog_open(dialog, title, step_mode_name(mode));
	dialog_fact(dialog, ROLE_TEXT, "%s", about[mode]);
	step_budget(budget, sizeof(budget), steps);
	if (steps->budget.cpu_share > 0) {
		step_cpu(cpu, sizeof(cpu), steps->budget.cpu_share);
	}
	strcpy(bytes, "no bound");
	if (steps->budget.bytes_per_s > 0) {
		format_bytes(bytes, (uint64_t)steps->budget.bytes_per_s);
		strcat(bytes, "/s");
	}
	dialog_fact(dialog, mode == MODE_AUTOPILOT ? ROLE_STRONG : ROLE_TEXT,
			"budget: %s; bytes: %s; of a CPU: %s; points a step: %" PRIu32, budget,
			bytes, cpu, steps->budget.points);
	keymap_text(keymap, ACTION_MODE, key, sizeof(key));
	dialog_fact(dialog, ROLE_DIM, "%s offers the next mode; :budget changes the budget", key);
}

bool question_leave(struct question *question, struct dialog *dialog,
		const struct steps_view *steps, bool quit)
{
	uint32_t hosts = step_count_hosts(steps->rules, steps->n_rules);
	char title[TITLE_BYTES];

	if (steps->n_rules == 0) {
		return false;
	}
	*question = (struct question){.kind = quit ? QUESTION_QUIT : QUESTION_SUSPEND};
	snprintf(title, sizeof(title), "%s: steps are in force", quit ? "Quit" : "Suspend");
	dialog_open(dialog, title, quit ? "quit" : "suspend");
	dialog_fact(dialog, ROLE_TEXT,
			"%" PRIu32 " point%s beyond the skeleton, %" PRIu32
			" event rule%s on %" PRIu32 " host%s, are enabled by steps.",
			steps->enabled, steps->enabled == 1 ? "" : "s", steps->n_rules,
			steps->n_rules == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s");
	dialog_fact(dialog, ROLE_STRONG, "%s",
			quit ? "Quitting undoes them."
			     : "While it is stopped nobody watches what they cost: the hosts undo "
			       "them when the lease is over.");
	return true;
}

bool question_is_over(const struct question *question, const struct steps_view *steps)
{
	const struct step_row *row;

	if (question->kind != QUESTION_DECIDE && question->kind != QUESTION_EDIT) {
		return false;
	}
	row = step_find(steps, question->step);
	return !row || row->state != question->state;
}
