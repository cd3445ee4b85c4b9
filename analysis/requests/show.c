/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "requests/model_parts.h"

static bool is_shown(const struct model_shown *which, uint32_t type)
{
	return !which->occurred || type == ID_NONE || which->occurred(which->context, type);
}

static void note_ids(struct model *model)
{
	uint32_t i;

	for (i = 0; i < model->n_types; i++) {
		const struct id_watch *watch = model->watches[i];

		if (watch && !watch->is_request && model->n_schemas == 0) {
			model->noting = i;
			model_note(model, arena_printf(&model->arena,
							  "%s: field `id` is ambiguous: its values "
							  "were "
							  "not seen to "
							  "recur across threads; not taken for a "
							  "request "
							  "id",
							  model->types[i]->name));
		}
	}
	model->noting = ID_NONE;
}

static void show_inferred(
		struct model *model, const struct model_shown *which, struct schema *schema)
{
	struct schema_namespace *namespaces =
			arena_alloc(&model->shown, (model->n_namespaces + 1) * sizeof(*namespaces));
	struct schema_event *events =
			arena_alloc(&model->shown, (model->n_types + 1) * sizeof(*events));
	const char **skeleton =
			arena_alloc(&model->shown, (model->n_types + 1) * sizeof(*skeleton));
	uint32_t i, j;

	if (!namespaces || !events || !skeleton) {
		return;
	}
	for (i = 0; i < model->n_namespaces; i++) {
		namespaces[i] = (struct schema_namespace){
				.name = model->namespaces[i].name,
				.scope = model->namespaces[i].global ? SCHEMA_GLOBAL : SCHEMA_HOST,
				.ttl_ns = model->namespaces[i].ttl_ns,
				.join = model->namespaces[i].join,
		};
	}
	for (i = 0; i < model->n_types; i++) {
		for (j = 0; j < schema->n_events; j++) {
			if (strcmp(events[j].match, model->types[i]->name) == 0) {
				break; /* the same name with other fields */
			}
		}
		if (!model->events[i] || j < schema->n_events || !is_shown(which, i)) {
			continue;
		}
		events[schema->n_events++] = *model->events[i];
		if (model->plans[i].skeleton) {
			skeleton[schema->n_skeleton++] = model->types[i]->name;
		}
	}
	schema->origin = "inferred";
	schema->n_namespaces = model->n_namespaces;
	schema->namespaces = namespaces;
	schema->events = events;
	schema->skeleton = skeleton;
}

/* Several schemas as one: their lists behind each other. */
static void show_explicit(struct model *model, struct schema *schema)
{
	uint32_t s, n_events = 0, n_skeleton = 0, n_expect = 0, n_ns = 0;
	struct schema_namespace *namespaces;
	struct schema_event *events;
	struct schema_expect *expect;
	const char **skeleton;

	*schema = *model->schemas[0];
	if (model->n_schemas == 1) {
		return;
	}
	for (s = 0; s < model->n_schemas; s++) {
		n_ns += model->schemas[s]->n_namespaces;
		n_events += model->schemas[s]->n_events;
		n_skeleton += model->schemas[s]->n_skeleton;
		n_expect += model->schemas[s]->n_expect;
	}
	namespaces = arena_alloc(&model->shown, (n_ns + 1) * sizeof(*namespaces));
	events = arena_alloc(&model->shown, (n_events + 1) * sizeof(*events));
	skeleton = arena_alloc(&model->shown, (n_skeleton + 1) * sizeof(*skeleton));
	expect = arena_alloc(&model->shown, (n_expect + 1) * sizeof(*expect));
	if (!namespaces || !events || !skeleton || !expect) {
		return;
	}
	*schema = (struct schema){.origin = "several",
			.namespaces = namespaces,
			.events = events,
			.skeleton = skeleton,
			.expect = expect};
	for (s = 0; s < model->n_schemas; s++) {
		const struct schema *one = model->schemas[s];
		uint32_t i, j;

		for (i = 0; i < one->n_namespaces; i++) {
			for (j = 0; j < schema->n_namespaces; j++) {
				if (strcmp(namespaces[j].name, one->namespaces[i].name) == 0) {
					break;
				}
			}
			if (j == schema->n_namespaces) {
				namespaces[schema->n_namespaces++] = one->namespaces[i];
			}
		}
		for (i = 0; i < one->n_events; i++) {
			events[schema->n_events++] = one->events[i];
		}
		for (i = 0; i < one->n_skeleton; i++) {
			skeleton[schema->n_skeleton++] = one->skeleton[i];
		}
		for (i = 0; i < one->n_expect; i++) {
			expect[schema->n_expect++] = one->expect[i];
		}
	}
}

const struct schema *model_schema(struct model *model, const struct model_shown *which)
{
	uint32_t i, n = 0, hidden = 0;
	const char **notes;

	model_plans(model);
	arena_release(&model->shown);
	model->schema = (struct schema){.origin = NULL};
	if (model->n_schemas > 0) {
		show_explicit(model, &model->schema);
	} else {
		show_inferred(model, which, &model->schema);
		note_ids(model);
		if (model->by_id) {
			model_note(model, "requests are named by request ids");
		} else if (model->by_activation) {
			model_note(model, "nothing but a kernel is traced: what a thread does from "
					  "when it is woken until it waits for something to do "
					  "again is a request (an activation), called as its "
					  "program");
		} else if (model->n_types > 0) {
			model_note(model, "nothing names a request: the outermost span of each "
					  "thread is "
					  "one");
		}
	}
	notes = arena_alloc(&model->shown, (model->n_notes + which->n_notes + 2) * sizeof(*notes));
	if (!notes || !model->schema.origin) {
		return NULL;
	}
	for (i = 0; i < model->n_types; i++) {
		hidden += !is_shown(which, i);
	}
	if (hidden > 0 && model->n_schemas == 0) {
		notes[n++] = arena_printf(&model->shown,
				"%u kind%s of events never occurred: --show-schema-all lists them",
				hidden, hidden == 1 ? "" : "s");
	}
	for (i = 0; i < model->n_notes; i++) {
		if (is_shown(which, model->note_types[i])) {
			notes[n++] = model->notes[i];
		}
	}
	for (i = 0; i < which->n_notes; i++) {
		notes[n++] = which->notes[i];
	}
	model->schema.n_notes = n;
	model->schema.notes = notes;
	return &model->schema;
}
