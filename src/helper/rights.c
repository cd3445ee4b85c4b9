/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/rights.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYSTEM_FILE "/etc/pythiatop/control.conf"

bool rights_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *resume = NULL;

	while (*text) {
		const char *p = pattern;

		if (*p == '*') {
			star = ++pattern;
			resume = text;
			continue;
		}
		if (*p == '\\' && p[1] != '\0') {
			p++;
		}
		if (*p == *text) {
			pattern = p + 1;
			text++;
		} else if (star) {
			pattern = star;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*') {
		pattern++;
	}
	return *pattern == '\0';
}

static bool matches(const struct rights_list *list, const char *text)
{
	uint32_t i;

	for (i = 0; i < list->n; i++) {
		if (rights_glob(list->words[i], text)) {
			return true;
		}
	}
	return false;
}

static bool allowed(const struct rights_list lists[2], const char *text)
{
	return (lists[0].n == 0 || matches(&lists[0], text)) &&
	       (lists[1].n == 0 || matches(&lists[1], text));
}

bool rights_point(const struct rights *rights, const char *name)
{
	return allowed(rights->allow, name) && !matches(&rights->deny, name);
}

bool rights_relay(const struct rights *rights, const char *url)
{
	return allowed(rights->relay, url);
}

/* Takes the words of a value apart, where they stand. */
static bool add_words(struct rights_list *list, char *value)
{
	char *rest = value, *word;

	while ((word = strsep(&rest, " \t"))) {
		if (*word == '\0') {
			continue;
		}
		if (list->n == RIGHTS_MAX_LIST) {
			return false;
		}
		list->words[list->n++] = word;
	}
	return true;
}

static bool add_functions(struct rights_list *list, char *value)
{
	uint32_t i = list->n;

	if (!add_words(list, value) || list->n > RIGHTS_MAX_FUNCTIONS) {
		return false;
	}
	for (; i < list->n; i++) {
		const char *colon = strchr(list->words[i], ':');

		if (!colon || colon == list->words[i] || !colon[1]) {
			return false;
		}
	}
	return true;
}

bool rights_add_functions(struct rights *rights, char *functions)
{
	rights->only_functions = true;
	return add_functions(&rights->functions, functions);
}

void rights_add_tree(struct rights *rights, char *tree)
{
	if (rights->trees.n < RIGHTS_MAX_TREES) {
		rights->trees.words[rights->trees.n++] = tree;
	}
}

static bool is_power_of_two(uint64_t n)
{
	return (n & (n - 1)) == 0;
}

struct limit {
	const char *name;
	size_t offset;
	uint64_t usual, least, most;
	bool power_of_two;
};

#define LIMIT(field, usual, least, most, power)                                                    \
	{                                                                                          \
		"control." #field, offsetof(struct rights, field), usual, least, most, power       \
	}

static const struct limit limits[] = {
		LIMIT(max_points, 2000, 1, 100000, false),
		LIMIT(subbuf_kb, 256, 4, 65536, true),
		LIMIT(subbufs, 8, 2, 64, true),
		LIMIT(tracefile_mb, 16, 1, 1048576, false),
		LIMIT(tracefiles, 4, 2, 65536, false),
		LIMIT(filter_slots, 2, 0, 16, false),
		LIMIT(call_seconds, 25, 1, 600, false),
};

static uint64_t *limit_value(struct rights *rights, const struct limit *limit)
{
	return (uint64_t *)(void *)((char *)rights + limit->offset);
}

static bool take_limit(struct rights *rights, const struct limit *limit, const char *text)
{
	uint64_t *value = limit_value(rights, limit);
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || n < limit->least || n > limit->most ||
			(limit->power_of_two && !is_power_of_two(n))) {
		return false;
	}
	*value = n < *value ? n : *value;
	return true;
}

/* NULL, or what was expected. `file`: 0 or 1. */
static const char *take(struct rights *rights, int file, const char *name, char *value, char *words,
		size_t size)
{
	size_t i;

	if (strcmp(name, "control.allow") == 0) {
		return add_words(&rights->allow[file], value) ? NULL : "fewer patterns";
	}
	if (strcmp(name, "control.deny") == 0) {
		return add_words(&rights->deny, value) ? NULL : "fewer patterns";
	}
	if (strcmp(name, "control.relay") == 0) {
		return add_words(&rights->relay[file], value) ? NULL : "fewer patterns";
	}
	if (strcmp(name, "control.context") == 0) {
		return add_words(&rights->contexts, value) ? NULL : "fewer contexts";
	}
	if (strcmp(name, "control.functions") == 0) {
		return add_functions(&rights->functions, value)
				       ? NULL
				       : "PROGRAM:NAME,... (at most 32), such as nginx:ngx_http_*";
	}
	if (strcmp(name, "control.tree") == 0) {
		return add_words(&rights->trees, value) && rights->trees.n <= RIGHTS_MAX_TREES
				       ? NULL
				       : "at most 16 PIDs, programs or control groups";
	}
	if (strcmp(name, "control.read_only") == 0) {
		rights->read_only = rights->read_only || strcmp(value, "yes") == 0;
		return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0 ? NULL : "yes or no";
	}
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (strcmp(name, limits[i].name) == 0) {
			snprintf(words, size, "a number%s, %llu to %llu",
					limits[i].power_of_two ? " that is a power of two" : "",
					(unsigned long long)limits[i].least,
					(unsigned long long)limits[i].most);
			return take_limit(rights, &limits[i], value) ? NULL : words;
		}
	}
	return "a name that starts with control.: allow, deny, relay, functions, tree, context, "
	       "read_only, a limit";
}

static bool read_file(struct rights *rights, int file, const char *path, bool must, char *error,
		size_t size)
{
	struct settings_file *settings = &rights->files[file];
	enum status status = settings_read(settings, path, error, size);
	char words[128];
	uint32_t i;

	if (status == STATUS_NOT_FOUND && must) {
		snprintf(error, size, "cannot open %s: there is no such file", path);
	}
	if (status != STATUS_OK) {
		return status == STATUS_NOT_FOUND && !must;
	}
	for (i = 0; i < settings->settings.n; i++) {
		const struct setting *item = &settings->items[i];
		char said[128];
		const char *expected;

		snprintf(said, sizeof(said), "%s", item->value);
		/* The text is ours, in settings->text. */
		expected = take(rights, file, item->name, (char *)(uintptr_t)item->value, words,
				sizeof(words));
		if (expected) {
			snprintf(error, size, "%s:%u: %s = %s: expected %s", path, item->line,
					item->name, said, expected);
			return false;
		}
	}
	return true;
}

static bool person_file(char *path, size_t size)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int length;

	if (xdg && xdg[0] == '/') {
		length = snprintf(path, size, "%s/pythiatop/control.conf", xdg);
	} else if (home && home[0] == '/') {
		length = snprintf(path, size, "%s/.config/pythiatop/control.conf", home);
	} else {
		return false;
	}
	return length > 0 && (size_t)length < size;
}

bool rights_read(struct rights *rights, const char *path, char *error, size_t size)
{
	char person[PATH_MAX];
	bool read;
	size_t i;

	memset(rights, 0, sizeof(*rights));
	/* A file's limit is taken if it is the smaller one. */
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		*limit_value(rights, &limits[i]) = UINT64_MAX;
	}
	if (path) {
		read = read_file(rights, 0, path, true, error, size);
	} else {
		read = read_file(rights, 0, SYSTEM_FILE, false, error, size) &&
		       (!person_file(person, sizeof(person)) ||
				       read_file(rights, 1, person, false, error, size));
	}
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		uint64_t *value = limit_value(rights, &limits[i]);

		*value = *value == UINT64_MAX ? limits[i].usual : *value;
	}
	return read;
}

void rights_release(struct rights *rights)
{
	settings_release(&rights->files[0]);
	settings_release(&rights->files[1]);
}
