/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "requests/compile.h"
#include "requests/glob.h"
#include "requests/model_parts.h"
#include "requests/schema_copy.h"

/* Ready schemas that nobody gave: one is in force once an event is declared that it is made for. */

enum status model_offer_schema(
		struct model *model, const struct schema *schema, char *error, size_t size)
{
	enum status status = schema_check(schema, error, size);
	const struct schema *copy;

	if (status != STATUS_OK || !schema->when || model->n_offered == MAX_SCHEMAS) {
		return status;
	}
	copy = schema_copy(&model->schema_copies, schema);
	if (!copy) {
		snprintf(error, size, "out of memory");
		return STATUS_NO_MEMORY;
	}
	model->offered[model->n_offered++] = copy;
	return STATUS_OK;
}

/* Has the type every field that the name speaks of: "callback_{procname}_{$symbol.callback}"? */
static bool has_named(const struct event_type *type, const char *name)
{
	const char *at = name ? strchr(name, '{') : NULL;

	for (; at; at = strchr(at, '{')) {
		char field[256];
		const char *dot;

		if (at[1] == '{') {
			at += 2;
			continue;
		}
		snprintf(field, sizeof(field), "%.*s", (int)strcspn(at + 1, "}"), at + 1);
		dot = field[0] == '$' ? strchr(field, '.') : NULL;
		if (compile_field(type, dot ? dot + 1 : field) == PLAN_NO_FIELD) {
			return false;
		}
		at++;
	}
	return true;
}

/* What it says of the type can be had: else inference does better. */
static bool fits(const struct schema *schema, const struct event_type *type)
{
	for (uint32_t i = 0; i < schema->n_events; i++) {
		if (glob_match(schema->events[i].match, type->name) &&
				!has_named(type, schema->events[i].name)) {
			return false;
		}
	}
	return true;
}

void model_choose_offered(struct model *model, const struct event_type *type)
{
	if (model->n_schemas > model->n_chosen || model->named) {
		return; /* a person has said what requests are */
	}
	for (uint32_t i = 0; i < model->n_offered; i++) {
		const struct schema *schema = model->offered[i];

		if (schema && glob_match(schema->when, type->name) && fits(schema, type)) {
			model->schemas[model->n_schemas++] = schema;
			model->n_chosen++;
			model->offered[i] = NULL;
			model->dirty = true;
		}
	}
}

void model_note_chosen(struct model *model)
{
	for (uint32_t i = 0; i < model->n_chosen; i++) {
		model_note(model,
				arena_printf(&model->arena,
						"a ready schema, chosen by itself since there are "
						"events %s; --schema says otherwise",
						model->schemas[i]->when));
	}
}
