/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text_add.h"
#include "pythiatop/command.h"

const struct command_row commands[COMMAND_COUNT] = {
#define X(id, name, arguments, help) {name, arguments, help},
		PYTHIATOP_COMMANDS(X)
#undef X
};

/* Whether arguments like these may be, or have to be, left out. */
static bool takes(const struct command_row *row, const char *argument)
{
	size_t length = strlen(row->arguments);

	if (length == 0) {
		return argument[0] == '\0';
	}
	return argument[0] || (row->arguments[0] == '[' && row->arguments[length - 1] == ']');
}

enum command command_find(const char *line, const char **argument)
{
	size_t length, longest = 0;
	int i, found = COMMAND_NONE;

	for (i = 0; i < COMMAND_COUNT; i++) {
		length = strlen(commands[i].name);
		if (length > longest && strncmp(line, commands[i].name, length) == 0 &&
				(line[length] == ' ' || line[length] == '\0')) {
			longest = length;
			found = i;
		}
	}
	*argument = line + longest + strspn(line + longest, " ");
	if (found != COMMAND_NONE && !takes(&commands[found], *argument)) {
		found = COMMAND_NONE;
	}
	return (enum command)found;
}

/* Whether the first words are the same. */
static bool begins_alike(const char *a, const char *b)
{
	size_t length = strcspn(a, " ");

	return length == strcspn(b, " ") && strncmp(a, b, length) == 0;
}

char *command_suggest(const char *line, char *out, size_t size)
{
	const struct command_row *last = NULL;
	int i, n = 0;

	for (i = 0; i < COMMAND_COUNT; i++) {
		n += begins_alike(commands[i].name, line);
	}
	if (n > 0) {
		snprintf(out, size, "expected: ");
	} else {
		snprintf(out, size, "unknown command \"%.60s\"; there are: ", line);
	}
	for (i = 0; i < COMMAND_COUNT; i++) {
		const struct command_row *row = &commands[i];

		if (n > 0 && !begins_alike(row->name, line)) {
			continue;
		}
		/* All of them are too many to tell their arguments as well. */
		text_add(out, size, "%s%s%s%s", last ? ", " : "", row->name,
				n > 0 && row->arguments[0] ? " " : "", n > 0 ? row->arguments : "");
		last = row;
	}
	if (n == 1) {
		text_add(out, size, ": %s", last->help);
	}
	return out;
}
