/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <string.h>

#include "requests/glob.h"

#define EXACT (UINT32_MAX / 2)

static bool same(char a, char b, bool types)
{
	return a == b || (types && (a == '_' || a == ' ') && (b == '_' || b == ' '));
}

static bool match(const char *glob, const char *text, bool types)
{
	const char *star = NULL, *resume = NULL;

	while (*text) {
		if (*glob == '*') {
			star = glob++;
			resume = text;
		} else if (*glob == '?' || same(*glob, *text, types)) {
			glob++;
			text++;
		} else if (star) {
			glob = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*glob == '*') {
		glob++;
	}
	return *glob == '\0';
}

bool glob_match(const char *glob, const char *text)
{
	return match(glob, text, false);
}

bool glob_match_type(const char *glob, const char *type)
{
	return match(glob, type, true);
}

uint32_t glob_weight(const char *glob)
{
	uint32_t weight = 0;

	if (!strpbrk(glob, "*?")) {
		return EXACT;
	}
	for (; *glob; glob++) {
		weight += *glob != '*' && *glob != '?';
	}
	return weight;
}
