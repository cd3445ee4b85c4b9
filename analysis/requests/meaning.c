/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "pythiatop/logger.h"
#include "requests/extract.h"
#include "requests/meaning.h"
#include "requests/model_parts.h"

/* Events with texts: what would be extracted is known of their type alone. */
static bool add_logger(struct model *trial, const struct event_type *type, uint32_t *n)
{
	const struct schema_event *events[EXTRACT_MAX_RULES];
	struct event_type *texts = arena_alloc(&trial->schema_copies, sizeof(*texts));
	struct field *fields = arena_alloc(&trial->schema_copies,
			(type->n_fields + EXTRACT_MAX_FIELDS) * sizeof(*fields));
	char *event = arena_printf(&trial->schema_copies, "%.*s:event",
			(int)strcspn(type->name, ":"), type->name);
	uint32_t n_events = event ? model_extracting(trial, event, events, EXTRACT_MAX_RULES) : 0;
	bool added;

	if (!texts || !fields || !event) {
		return false;
	}
	for (uint32_t i = 0; i < type->n_fields; i++) {
		fields[i] = type->fields[i];
		fields[i].kind = FIELD_STRING;
	}
	*texts = (struct event_type){.name = event, .n_fields = type->n_fields, .fields = fields};
	added = model_add_type(trial, texts);
	*n = 1;
	for (uint32_t i = 0; i < n_events && added; i++) {
		struct field *more = arena_alloc(
				&trial->schema_copies, EVENT_MAX_FIELDS * sizeof(*more));
		uint32_t n_fields = more ? extract_fields(texts, events[i], more, NULL) : 0;

		if (n_fields > 0) {
			struct event_type with = {
					.name = event, .n_fields = n_fields, .fields = more};

			added = model_add_extracted(trial, &with, events[i]);
			(*n)++;
		}
	}
	return added;
}

/* Of the types of one offer, plans from `plans` on: requests are known by it if by one of them. */
static void take_meaning(const struct model *model, const struct event_type *type,
		const struct plan *plans, uint32_t n, struct meaning *out)
{
	*out = (struct meaning){.role = plans->role,
			.skeleton = plans->skeleton,
			.about_tracer = plans->about_tracer,
			.provider = plans->provider,
			.span = plans->name.fixed};
	if (logger_agent_of(type->name) < LOGGER_AGENTS) {
		/* One of many that have these events: it goes by its own name. */
		const char *logger = strchr(type->name, ':') + 1;

		out->role = SPAN_POINT;
		out->span = names_add(model->names, logger, strlen(logger));
		for (uint32_t i = 0; i < n; i++) {
			out->skeleton |= plans[i].skeleton;
		}
	}
}

bool model_meanings(const struct model *model, const struct event_type *types, uint32_t n,
		struct meaning *out)
{
	struct model *trial = model_create(model->names);
	const struct plan *plans;
	bool done = trial != NULL;
	uint32_t *n_types = trial ? arena_alloc(&trial->schema_copies, (n + 1) * sizeof(*n_types))
				  : NULL;
	uint32_t at = model->n_types;

	if (!trial || !n_types) {
		model_destroy(trial);
		return false;
	}
	memcpy(trial->schemas, model->schemas, sizeof(trial->schemas));
	trial->n_schemas = model->n_schemas;
	for (uint32_t i = 0; i < model->n_types && done; i++) {
		done = model_add_extracted(trial, model->types[i], model->extracts[i]);
	}
	for (uint32_t i = 0; i < n && done; i++) {
		n_types[i] = 1;
		done = logger_agent_of(types[i].name) < LOGGER_AGENTS
				       ? add_logger(trial, &types[i], &n_types[i])
				       : model_add_type(trial, &types[i]);
	}
	plans = done ? model_plans(trial) : NULL;
	for (uint32_t i = 0; i < n && plans; i++) {
		take_meaning(model, &types[i], plans + at, n_types[i], &out[i]);
		at += n_types[i];
	}
	model_destroy(trial);
	return plans != NULL || (done && n == 0);
}
