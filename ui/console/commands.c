/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "console/parts.h"
#include "pythiatop/command.h"

/* ---- search and filter ---- */

void command_search_step(struct console *console, int step)
{
	struct table *table = current_table(console);

	if (!console->search.set) {
		console_say(console, ROLE_WARN, "nothing is searched for: / begins a search");
	} else if (!table) {
		console_say(console, ROLE_WARN,
				"nothing to search in this pane; Tab goes to the next");
	} else if (!table_search(table, &console->search, step)) {
		console_say(console, ROLE_WARN, "no match for %s", console->search.text);
	}
}

void command_search(struct console *console, const char *text)
{
	struct table *table = current_table(console);
	char error[128];

	if (!pattern_set(&console->search, text, false, error, sizeof(error))) {
		console_say(console, ROLE_ERROR, "%s: %s", text, error);
		return;
	}
	if (!console->search.set || !table) {
		return;
	}
	command_search_step(console, 1);
}

void command_filter(struct console *console, const char *text)
{
	struct table *table = current_table(console);
	char error[128];

	if (!table) {
		return;
	}
	if (!pattern_set(&table->filter, text, true, error, sizeof(error))) {
		console_say(console, ROLE_ERROR, "%s: %s", text, error);
		return;
	}
	table_update(table, table->data, table->n);
}

/* ---- commands of the screen's own ---- */

/* The place of a name among `n`, or `n`. */
static int find_name(const char *const *names, int n, const char *name)
{
	int i;

	for (i = 0; i < n && strcmp(names[i], name) != 0; i++) {
	}
	return i;
}

static enum console_answer set_horizon(struct console *console, const char *name)
{
	static const char *const names[] = {HORIZON_NAMES};
	int found = find_name(names, HORIZON_COUNT, name);

	if (found == HORIZON_COUNT) {
		console_say(console, ROLE_ERROR, "horizon is 10s, epoch or all, not \"%s\"", name);
	} else {
		console->focus.horizon = (enum horizon)found;
	}
	return CONSOLE_STAY;
}

static enum console_answer set_metric(struct console *console, const char *name)
{
	static const char *const names[] = {METRIC_NAMES};
	int found = find_name(names, METRIC_COUNT, name);

	if (found == METRIC_COUNT) {
		console_say(console, ROLE_ERROR, "metric is variance, cov or modes, not \"%s\"",
				name);
	} else {
		console->focus.metric = (enum metric)found;
	}
	return CONSOLE_STAY;
}

static enum console_answer theme(struct console *console, const char *name)
{
	console_set_theme(console, name);
	return CONSOLE_STAY;
}

/* Freezes, and goes back to the instant. */
static enum console_answer show_instant(struct console *console, const char *text)
{
	const struct snapshot *snapshot = shown(console);
	uint64_t at_ns;

	if (!snapshot->time_ns) {
		console_say(console, ROLE_ERROR, "there is no instant so far: no event has come");
	} else if (!console->host->instant(console->host->context, text, snapshot->first_ns,
				   snapshot->time_ns + snapshot->focus.back_ns, &at_ns)) {
		console_say(console, ROLE_ERROR,
				"no time: \"%s\"; 10:00:06.5 (UTC), -3.2s, or with the day before "
				"it: 2026-01-31 10:00:06.5",
				text);
	} else if (at_ns < snapshot->first_ns) {
		console_say(console, ROLE_WARN,
				"that is before the first event: nothing is known of it");
	} else {
		console->focus.frozen = true;
		console->moment_ns = at_ns;
		console_settle_moment(console);
	}
	return CONSOLE_STAY;
}

/* Asks first where something is recorded because of steps. */
enum console_answer command_leave(struct console *console, bool quit)
{
	if (question_leave(&console->question, console->dialog, &shown(console)->steps, quit)) {
		return CONSOLE_STAY;
	}
	return quit ? CONSOLE_QUIT : CONSOLE_SUSPEND;
}

static enum console_answer quit(struct console *console, const char *argument)
{
	(void)argument;
	return command_leave(console, true);
}

/* The program answers the others. */
static enum console_answer (*const answers[COMMAND_COUNT])(
		struct console *console, const char *argument) = {
		[COMMAND_AT] = show_instant,
		[COMMAND_HORIZON] = set_horizon,
		[COMMAND_METRIC] = set_metric,
		[COMMAND_QUIT] = quit,
		[COMMAND_THEME] = theme,
};

enum console_answer command_line(struct console *console, const char *line)
{
	char text[PROMPT_BYTES], *end;
	const char *argument = "";
	enum command command;

	text_copy(text, sizeof(text), line + strspn(line, " "));
	end = text + strlen(text);
	while (end > text && end[-1] == ' ') {
		*--end = '\0';
	}
	command = strcmp(text, "q") == 0 ? COMMAND_QUIT : command_find(text, &argument);
	if (command != COMMAND_NONE && answers[command]) {
		return answers[command](console, argument);
	}
	if (text[0]) {
		console->host->command(console->host->context, text);
	}
	return CONSOLE_STAY;
}
