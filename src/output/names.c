/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "output/names.h"
#include "pythiatop/step.h"

static const char *const format_names[] = {"json", "text", "csv", "folded"};
static const char *const horizon_names[] = {HORIZON_NAMES};
static const char *const metric_names[] = {METRIC_NAMES};
static const char *const weight_names[] = {"self", "variance"};
static const char *const mark_names[] = {
		[TREE_ON] = "on",
		[TREE_OFF] = "off",
		[TREE_NEVER_SEEN] = "never seen",
		[TREE_PROPOSED] = "proposed",
		[TREE_NO_POINT] = "no point",
};
const char *const output_detections[OUTPUT_DETECTIONS] = {"varies", "modes", "slow", "shifted"};
const char *const output_step_kinds[] = {"skeleton", "learn", "enable", "disable"};
const char *const output_step_states[] = {"proposed", "approved", "watched", "kept", "undoing",
		"undone", "rejected", "failed"};
const char *const output_step_doers[] = {STEP_BY_NAMES};
const char *const output_step_modes[] = {STEP_MODE_NAMES};
const char *const output_change_kinds[] = {"slower", "transit", "more_calls", "fewer_calls",
		"faster", "rate", "split", "merge"};
const char *const output_evidence[] = {"woken", "queued", "inferred", "ran"};
const char *const output_key_sources[] = {"field", "host", "count", "resource"};
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

const char *output_metric_name(enum metric metric)
{
	return metric < METRIC_COUNT ? metric_names[metric] : "?";
}

bool output_metric_parse(const char *name, enum metric *metric)
{
	size_t found;

	if (!find(metric_names, COUNT(metric_names), name, &found)) {
		return false;
	}
	*metric = (enum metric)found;
	return true;
}

bool output_weight_parse(const char *name, enum output_weight *weight)
{
	size_t found;

	if (!find(weight_names, COUNT(weight_names), name, &found)) {
		return false;
	}
	*weight = (enum output_weight)found;
	return true;
}

const char *output_mark_name(enum tree_mark mark)
{
	return (size_t)mark < COUNT(mark_names) ? mark_names[mark] : "?";
}
