/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/offered.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/binary.h"
#include "probe/function_type.h"
#include "probe/program.h"

static bool is_listed(const char *patterns, const char *name)
{
	char *copy = strdup(patterns), *rest = copy, *word;
	bool found = false;

	while (!found && (word = strsep(&rest, ","))) {
		found = fnmatch(word, name, 0) == 0;
	}
	free(copy);
	return found;
}

/* Its patterns, and its program. */
static const char *split_spec(const char *spec, char program[PATH_MAX])
{
	const char *colon = strchr(spec, ':');

	snprintf(program, PATH_MAX, "%.*s", colon ? (int)(colon - spec) : (int)strlen(spec), spec);
	return colon ? colon + 1 : "*";
}

static bool each_of(struct offered *offered, const char *patterns,
		bool (*take)(void *context, const struct offered *offered), void *context)
{
	struct binary *binary = NULL;
	const struct binary_function *list;
	bool goes_on = true;
	char clean[1024];
	uint32_t n = 0;

	if (binary_open(&binary, offered->path) != STATUS_OK) {
		return true;
	}
	list = binary_functions(binary, &n);
	n = binary_unwinds(binary) ? 0 : n; /* see there */
	for (uint32_t i = 0; i < n && goes_on; i++) {
		if (is_listed(patterns, list[i].name)) {
			function_type_clean(clean, sizeof(clean), list[i].name);
			offered->name = clean;
			offered->offset = list[i].offset;
			goes_on = take(context, offered);
		}
	}
	binary_close(binary);
	return goes_on;
}

bool offered_each(const char *const *specs, uint32_t n, const char *wanted,
		bool (*take)(void *context, const struct offered *offered), void *context)
{
	char program[PATH_MAX], path[PATH_MAX], provider[BINARY_NAME];
	bool goes_on = true;

	for (uint32_t i = 0; i < n && goes_on; i++) {
		struct offered offered = {.provider = provider, .path = path};
		const char *patterns = split_spec(specs[i], program);

		program_provider(program, provider, sizeof(provider));
		if ((!wanted || strcmp(wanted, provider) == 0) && program_find(program, 0, path)) {
			goes_on = each_of(&offered, patterns, take, context);
		}
	}
	return goes_on;
}

bool offered_split(const char *const *specs, uint32_t n_specs, char *name, char program[PATH_MAX],
		char **function, bool *exit)
{
	char *colon = strchr(name, ':'), provider[BINARY_NAME];
	size_t n;

	if (!colon) {
		return false;
	}
	*colon = '\0';
	*function = colon + 1;
	n = strlen(*function);
	*exit = n > 5 && strcmp(*function + n - 5, "_exit") == 0;
	if (!*exit && !(n > 6 && strcmp(*function + n - 6, "_entry") == 0)) {
		return false;
	}
	(*function)[n - (*exit ? 5 : 6)] = '\0';
	for (uint32_t i = 0; i < n_specs; i++) {
		const char *patterns = split_spec(specs[i], program);

		program_provider(program, provider, sizeof(provider));
		if (strcmp(provider, name) == 0 && is_listed(patterns, *function)) {
			return true;
		}
	}
	return false;
}
