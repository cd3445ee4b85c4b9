/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "requests/model_parts.h"

#define SEVERAL (UINT32_MAX - 1)

/* What there is to know of all types together: their names, and notes about them. */

void model_note(struct model *model, const char *text)
{
	uint32_t i;

	if (!text || !model->notes || !model->note_types || model->n_notes >= MAX_NOTES) {
		return;
	}
	for (i = 0; i < model->n_notes; i++) {
		if (strcmp(model->notes[i], text) == 0) {
			return;
		}
	}
	model->note_types[model->n_notes] = model->noting;
	model->notes[model->n_notes++] = text;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool model_knows_name(const void *context, const char *name)
{
	const struct model *model = context;

	/* A model without names has no array; bsearch() must not be given none. */
	return model->n_types > 0 && bsearch(&name, model->sorted, model->n_types,
					     sizeof(*model->sorted), compare_names) != NULL;
}

static void note_provider(struct model *model, const char *name)
{
	const char *colon = strchr(name, ':');
	uint32_t provider, was;
	uint64_t operation;

	if (!colon) {
		return;
	}
	provider = names_add(model->names, name, (size_t)(colon - name));
	operation = hash_bytes(colon + 1, strlen(colon + 1));
	was = number_map_find(&model->providers, operation);
	/* Without memory for it no provider stands before an operation. */
	number_map_set(&model->providers, operation,
			was == NUMBER_NONE || was == provider ? provider : SEVERAL);
}

bool model_shares_operation(const struct model *model, const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && number_map_find(&model->providers,
					hash_bytes(colon + 1, strlen(colon + 1))) == SEVERAL;
}

void model_sort_names(struct model *model)
{
	number_map_release(&model->providers);
	for (uint32_t i = 0; i < model->n_types; i++) {
		model->sorted[i] = model->types[i]->name;
		note_provider(model, model->types[i]->name);
	}
	if (model->n_types > 0) {
		qsort(model->sorted, model->n_types, sizeof(*model->sorted), compare_names);
	}
}
