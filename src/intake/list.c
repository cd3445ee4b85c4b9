/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "intake/source.h"

/* The sources that there are. */

struct source *intake_find(struct intake *intake, const char *text)
{
	uint32_t i;

	for (i = 0; i < intake->n; i++) {
		if (strcmp(intake->sources[i]->text, text) == 0) {
			return intake->sources[i];
		}
	}
	return NULL;
}

struct source *intake_find_id(struct intake *intake, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < intake->n; i++) {
		if (intake->sources[i]->id == id) {
			return intake->sources[i];
		}
	}
	return NULL;
}

void intake_remove(struct intake *intake, struct source *source)
{
	uint32_t i;

	for (i = 0; i < intake->n && intake->sources[i] != source; i++) {
	}
	memmove(&intake->sources[i], &intake->sources[i + 1],
			(intake->n - i - 1) * sizeof(struct source *));
	intake->n--;
	source_destroy(source);
}

/* Makes room: the oldest session goes that nobody named, and that is no more. */
static bool forget_oldest(struct intake *intake)
{
	uint32_t i;

	for (i = 0; i < intake->n; i++) {
		struct source *source = intake->sources[i];

		if (source->role == ROLE_SESSION && !source->named && !source->running &&
				!source->listed.present && !source->next.present) {
			intake_remove(intake, source);
			return true;
		}
	}
	return false;
}

struct source *intake_add(struct intake *intake, enum source_role role, const char *text)
{
	struct source *source;

	if (intake->n == INTAKE_MAX_SOURCES && !forget_oldest(intake)) {
		return NULL;
	}
	if (!array_reserve(&intake->sources, &intake->max, intake->n + 1)) {
		return NULL;
	}
	source = source_create(intake, role, text);
	if (source) {
		source->id = intake->next_id++;
		intake->sources[intake->n++] = source;
	}
	return source;
}
