/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "output/names.h"

static const char *const format_names[] = {"json", "text", "csv"};
static const char *const horizon_names[] = {"10s", "epoch", "all"};
static const char *const state_names[] = {
		[SOURCE_STARTING] = "starting",
		[SOURCE_CONNECTING] = "connecting",
		[SOURCE_WAITING] = "waiting",
		[SOURCE_ATTACHED] = "attached",
		[SOURCE_ACTIVE] = "active",
		[SOURCE_STALLED] = "stalled",
		[SOURCE_BROKEN] = "broken",
		[SOURCE_ENDED] = "ended",
		[SOURCE_REFUSED] = "refused",
		[SOURCE_OFFERED] = "offered",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool find(const char *const *names, size_t n, const char *name, size_t *found)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0) {
			*found = i;
			return true;
		}
	}
	return false;
}

bool output_format_parse(const char *name, enum output_format *format)
{
	size_t found;

	if (!find(format_names, COUNT(format_names), name, &found)) {
		return false;
	}
	*format = (enum output_format)found;
	return true;
}

const char *output_horizon_name(enum horizon horizon)
{
	return horizon < HORIZON_COUNT ? horizon_names[horizon] : "?";
}

bool output_horizon_parse(const char *name, enum horizon *horizon)
{
	size_t found;

	if (!find(horizon_names, COUNT(horizon_names), name, &found)) {
		return false;
	}
	*horizon = (enum horizon)found;
	return true;
}

const char *output_source_state_name(enum source_state state)
{
	return (size_t)state < COUNT(state_names) ? state_names[state] : "?";
}
