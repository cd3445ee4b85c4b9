/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "requests/model_internal.h"

/* What there is to know of all types together: their names, and notes about them. */

void model_note(struct model *model, const char *text)
{
	uint32_t i;

	if (!text || !model->notes || model->n_notes >= MAX_NOTES) {
		return;
	}
	for (i = 0; i < model->n_notes; i++) {
		if (strcmp(model->notes[i], text) == 0) {
			return;
		}
	}
	model->notes[model->n_notes++] = text;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool model_knows_name(const void *context, const char *name)
{
	const struct model *model = context;

	return bsearch(&name, model->sorted, model->n_types, sizeof(*model->sorted),
			       compare_names) != NULL;
}

void model_sort_names(struct model *model)
{
	for (uint32_t i = 0; i < model->n_types; i++) {
		model->sorted[i] = model->types[i]->name;
	}
	if (model->n_types > 0) {
		qsort(model->sorted, model->n_types, sizeof(*model->sorted), compare_names);
	}
}
