/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mode_names[MODE_COUNT] = {STEP_MODE_NAMES};

const char *words_split(const char *line, char *word, size_t size)
{
	size_t length = strcspn(line, " ");

	snprintf(word, size, "%.*s", (int)(length < size ? length : size - 1), line);
	return line + length + strspn(line + length, " ");
}

bool words_mode(const char *text, enum step_mode *mode)
{
	for (uint32_t i = 0; i < MODE_COUNT; i++) {
		if (strcmp(text, mode_names[i]) == 0) {
			*mode = (enum step_mode)i;
			return true;
		}
	}
	return false;
}

/* "2%" is 0.02, "5k" is 5000. False: it is no number. */
static bool parse_amount(const char *text, double *amount)
{
	char *end;

	*amount = strtod(text, &end);
	if (end == text || !(*amount >= 0) || *amount > 1e12) {
		return false;
	}
	if (strcmp(end, "k") == 0) {
		*amount *= 1e3;
	} else if (strcmp(end, "M") == 0) {
		*amount *= 1e6;
	} else if (strcmp(end, "%") == 0) {
		*amount /= 100;
	} else {
		return !*end;
	}
	return true;
}

bool words_budget(struct step_budget *budget, const char *text)
{
	char what[16];
	const char *rest = words_split(text, what, sizeof(what));
	double amount;

	if (!*rest) {
		rest = text; /* "2%" and "5k" say themselves what they bound */
		snprintf(what, sizeof(what), "%s", strchr(text, '%') ? "cpu" : "events");
	}
	if (!parse_amount(rest, &amount)) {
		return false;
	}
	if (strcmp(what, "events") == 0) {
		budget->events_per_s = amount;
	} else if (strcmp(what, "bytes") == 0) {
		budget->bytes_per_s = amount;
	} else if (strcmp(what, "cpu") == 0) {
		budget->cpu_share = amount;
	} else if (strcmp(what, "learn") == 0) {
		budget->learn_events_per_s = amount;
	} else if (strcmp(what, "points") == 0 && amount >= 1 && amount <= 1000) {
		budget->points = (uint32_t)amount;
	} else {
		return false;
	}
	return true;
}
