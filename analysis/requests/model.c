/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "requests/glob.h"
#include "requests/model_parts.h"
#include "requests/schema_copy.h"

struct model *model_create(struct names *names)
{
	struct model *model = calloc(1, sizeof(*model));

	if (model) {
		model->names = names;
		model->path_depth = PATH_DEPTH_PLAIN;
	}
	return model;
}

void model_destroy(struct model *model)
{
	uint32_t i;

	if (!model) {
		return;
	}
	for (i = 0; i < model->n_types && model->watches; i++) {
		free(model->watches[i]);
	}
	free(model->watches);
	free(model->types);
	free(model->extracts);
	free(model->sorted);
	number_map_release(&model->providers);
	free(model->plans);
	free(model->events);
	arena_release(&model->schema_copies);
	arena_release(&model->arena);
	arena_release(&model->shown);
	free(model);
}

/* Two schemas that say different things of the same events, or of a namespace, cannot both hold. */
static enum status check_together(
		const struct model *model, const struct schema *schema, char *error, size_t size)
{
	uint32_t s, i, j;

	for (s = 0; s < model->n_schemas; s++) {
		const struct schema *other = model->schemas[s];
		bool same_range = strcmp(schema->applies_to ? schema->applies_to : "*",
						  other->applies_to ? other->applies_to : "*") == 0;

		for (i = 0; i < schema->n_events && same_range; i++) {
			for (j = 0; j < other->n_events; j++) {
				if (strcmp(schema->events[i].match, other->events[j].match) != 0 ||
						schema->events[i].n_extract > 0 ||
						other->events[j].n_extract > 0) {
					continue;
				}
				snprintf(error, size,
						"event \"%s\" is in both %s (line %u) and %s (line "
						"%u), neither more specific: remove one",
						schema->events[i].match, other->origin,
						other->events[j].line,
						schema->origin ? schema->origin : "schema",
						schema->events[i].line);
				return STATUS_INVALID;
			}
		}
		for (i = 0; i < schema->n_namespaces; i++) {
			for (j = 0; j < other->n_namespaces; j++) {
				const struct schema_namespace *a = &schema->namespaces[i];
				const struct schema_namespace *b = &other->namespaces[j];

				if (strcmp(a->name, b->name) == 0 &&
						(a->scope != b->scope || a->join != b->join)) {
					snprintf(error, size,
							"namespace \"%s\" differs between %s and "
							"%s in scope or join: rename one",
							a->name, other->origin,
							schema->origin ? schema->origin : "schema");
					return STATUS_INVALID;
				}
			}
		}
	}
	return STATUS_OK;
}

enum status model_add_schema(
		struct model *model, const struct schema *schema, char *error, size_t size)
{
	enum status status = schema_check(schema, error, size);
	const struct schema *copy;

	if (status == STATUS_OK) {
		status = check_together(model, schema, error, size);
	}
	if (status != STATUS_OK) {
		return status;
	}
	if (model->n_schemas == MAX_SCHEMAS) {
		snprintf(error, size, "more than %d schemas", MAX_SCHEMAS);
		return STATUS_INVALID;
	}
	copy = schema_copy(&model->schema_copies, schema);
	if (!copy) {
		snprintf(error, size, "out of memory");
		return STATUS_NO_MEMORY;
	}
	model->schemas[model->n_schemas++] = copy;
	for (uint32_t i = 0; i < copy->n_expect; i++) {
		model->groups_by |= copy->expect[i].n_group_by > 0;
	}
	model->dirty = true;
	return STATUS_OK;
}

static bool reserve_types(struct model *model)
{
	uint32_t room = array_room(model->room, model->n_types + 1);

	if (model->n_types < model->room) {
		return true;
	}
	if (!array_resize(&model->types, room) || !array_resize(&model->extracts, room) ||
			!array_resize(&model->sorted, room) || !array_resize(&model->plans, room) ||
			!array_resize(&model->events, room) ||
			!array_resize(&model->watches, room)) {
		return false;
	}
	model->room = room;
	return true;
}

bool model_add_extracted(struct model *model, const struct event_type *type,
		const struct schema_event *event)
{
	struct event_type *copy = arena_alloc(&model->schema_copies, sizeof(*copy));

	if (!copy || !reserve_types(model)) {
		return false;
	}
	*copy = *type;
	model->types[model->n_types] = copy;
	model->extracts[model->n_types] = event;
	model->watches[model->n_types] = NULL;
	memset(&model->plans[model->n_types], 0, sizeof(*model->plans));
	model->events[model->n_types] = NULL;
	model->n_types++;
	model->dirty = true;
	model_choose_offered(model, type);
	return true;
}

bool model_add_type(struct model *model, const struct event_type *type)
{
	return model_add_extracted(model, type, NULL);
}

static void make_plans(struct model *model)
{
	arena_release(&model->arena);
	model->n_notes = 0;
	model->notes = arena_alloc(&model->arena, MAX_NOTES * sizeof(*model->notes));
	model->note_types = arena_alloc(&model->arena, MAX_NOTES * sizeof(*model->note_types));
	model->noting = ID_NONE;
	model_sort_names(model);
	if (model->n_schemas > 0) {
		model_use_explicit(model);
	} else {
		model_infer(model);
	}
	model->dirty = false;
}

const struct plan *model_plans(struct model *model)
{
	if (model->dirty) {
		make_plans(model);
	}
	return model->plans;
}

uint32_t model_namespaces(struct model *model, const struct plan_namespace **namespaces)
{
	model_plans(model);
	*namespaces = model->namespaces;
	return model->n_namespaces;
}

bool model_knows_switches(const struct model *model)
{
	return model_knows_name(model, "sched_switch");
}

uint32_t model_path_depth(const struct model *model)
{
	return model->path_depth;
}

bool model_groups_by(const struct model *model)
{
	return model->groups_by;
}

const struct schema_expect *model_group_by(const struct model *model, const char *type)
{
	const struct schema_expect *best = NULL;

	for (uint32_t s = 0; s < model->n_schemas; s++) {
		for (uint32_t i = 0; i < model->schemas[s]->n_expect; i++) {
			const struct schema_expect *expect = &model->schemas[s]->expect[i];

			if (expect->n_group_by > 0 && glob_match_type(expect->type, type) &&
					(!best || glob_weight(expect->type) >
									glob_weight(best->type))) {
				best = expect;
			}
		}
	}
	return best;
}
