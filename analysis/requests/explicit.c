/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "requests/compile.h"
#include "requests/extract.h"
#include "requests/glob.h"
#include "requests/model_parts.h"

static void merge_namespaces(struct model *model)
{
	uint32_t s, i, j;

	model->n_namespaces = 0;
	for (s = 0; s < model->n_schemas; s++) {
		for (i = 0; i < model->schemas[s]->n_namespaces; i++) {
			const struct schema_namespace *ns = &model->schemas[s]->namespaces[i];

			for (j = 0; j < model->n_namespaces; j++) {
				if (strcmp(model->namespaces[j].name, ns->name) == 0) {
					break;
				}
			}
			if (j < model->n_namespaces || j == PLAN_MAX_NAMESPACES) {
				continue;
			}
			model->namespaces[model->n_namespaces++] = (struct plan_namespace){
					.name = ns->name,
					.kind = NS_MESSAGE,
					.global = ns->scope == SCHEMA_GLOBAL,
					.join = ns->join,
					.hold = ns->hold,
					.ttl_ns = ns->ttl_ns ? ns->ttl_ns : REQUEST_TTL_NS,
			};
		}
	}
}

static bool is_execution_key(const char *key)
{
	return strcmp(key, "$tid") == 0 || strcmp(key, "$cpu") == 0 ||
	       strcmp(key, "$ctx.vtid") == 0 || strcmp(key, "$ctx.tid") == 0 ||
	       strcmp(key, "vtid") == 0;
}

/*
 * A namespace whose values are threads or CPUs says where work runs; of the others, one that a
 * seed opens names requests; the rest hands work on.
 */
static void classify_namespaces(struct model *model)
{
	uint32_t n, s, i, b;

	model->path_depth = PATH_DEPTH_PLAIN;
	for (n = 0; n < model->n_namespaces; n++) {
		struct plan_namespace *ns = &model->namespaces[n];
		bool seeded = false, execution = false, composed = false;

		for (s = 0; s < model->n_schemas; s++) {
			for (i = 0; i < model->schemas[s]->n_events; i++) {
				const struct schema_event *event = &model->schemas[s]->events[i];

				for (b = 0; b < event->n_bind; b++) {
					const struct schema_bind *bound = &event->bind[b];

					if (strcmp(bound->ns, ns->name) != 0) {
						continue;
					}
					/* others of its values may come from fields: next_tid */
					if (is_execution_key(bound->keys[0])) {
						execution = true;
						ns->execution_key = strcmp(bound->keys[0], "$cpu")
										    ? "$tid"
										    : "$cpu";
					}
					composed |= bound->n_keys > 1;
					seeded |= event->seed && bound->op != BIND_BASIC &&
						  bound->op != BIND_STOP && bound->op != BIND_LEAVE;
				}
			}
		}
		ns->kind = execution && !composed && !ns->global ? NS_EXECUTION
			   : seeded                              ? NS_REQUEST
								 : NS_MESSAGE;
		if (ns->kind == NS_REQUEST || (ns->kind == NS_MESSAGE && ns->hold)) {
			model->path_depth = UINT32_MAX;
		}
	}
}

struct choice {
	const struct schema *schema;
	const struct schema_event *event;
	uint32_t weight, range;
};

/* "*:*" means the tracepoints of applications, and not what tracers say about themselves. */
static bool is_meant(const struct schema_event *event, const char *name)
{
	return glob_match(event->match, name) &&
	       (event->match[0] != '*' || !infer_about_tracer(name));
}

/* Which schema an event of it is from, for its skeleton. */
static void choose_explicit(
		const struct model *model, const struct schema_event *event, struct choice *best)
{
	for (uint32_t s = 0; s < model->n_schemas; s++) {
		const struct schema *schema = model->schemas[s];

		if (event >= schema->events && event < schema->events + schema->n_events) {
			*best = (struct choice){.schema = schema, .event = event};
		}
	}
}

/* Extracting is for alternatives, which have a choice of their own. */
static void choose(struct model *model, const char *name, struct choice *best)
{
	uint32_t s, i;

	*best = (struct choice){.schema = NULL};
	for (s = 0; s < model->n_schemas; s++) {
		const struct schema *schema = model->schemas[s];
		uint32_t range = schema->applies_to ? glob_weight(schema->applies_to) : 0;

		if (schema->applies_to && !glob_match(schema->applies_to, name)) {
			continue;
		}
		for (i = 0; i < schema->n_events; i++) {
			const struct schema_event *event = &schema->events[i];
			uint32_t weight = glob_weight(event->match);

			if (event->n_extract > 0 || !is_meant(event, name)) {
				continue;
			}
			if (best->event && weight == best->weight && range == best->range) {
				model_note(model, arena_printf(&model->arena,
								  "%s: \"%s\" (%s) and \"%s\" (%s) "
								  "match "
								  "it equally: "
								  "the first is taken",
								  name, best->event->match,
								  best->schema->origin,
								  event->match, schema->origin));
			}
			if (!best->event || weight > best->weight ||
					(weight == best->weight && range > best->range)) {
				*best = (struct choice){schema, event, weight, range};
			}
		}
	}
}

uint32_t model_extracting(const struct model *model, const char *name,
		const struct schema_event **out, uint32_t max)
{
	struct choice choices[EXTRACT_MAX_RULES];
	uint32_t n = 0, at;

	max = max < EXTRACT_MAX_RULES ? max : EXTRACT_MAX_RULES;
	for (uint32_t s = 0; s < model->n_schemas; s++) {
		const struct schema *schema = model->schemas[s];
		uint32_t range = schema->applies_to ? glob_weight(schema->applies_to) : 0;

		if (schema->applies_to && !glob_match(schema->applies_to, name)) {
			continue;
		}
		for (uint32_t i = 0; i < schema->n_events && n < max; i++) {
			const struct schema_event *event = &schema->events[i];
			struct choice one = {schema, event, glob_weight(event->match), range};

			if (event->n_extract == 0 || !is_meant(event, name)) {
				continue;
			}
			for (at = n++; at > 0 &&
					(choices[at - 1].weight < one.weight ||
							(choices[at - 1].weight == one.weight &&
									choices[at - 1].range <
											range));
					at--) {
				choices[at] = choices[at - 1];
			}
			choices[at] = one;
		}
	}
	for (at = 0; at < n; at++) {
		out[at] = choices[at].event;
	}
	return n;
}

/* What a type lacks of what would be extracted from it. */
static void note_lacks(struct model *model, const struct event_type *type)
{
	const struct schema_event *events[EXTRACT_MAX_RULES];
	uint32_t n = model_extracting(model, type->name, events, EXTRACT_MAX_RULES);
	struct field fields[EVENT_MAX_FIELDS];

	for (uint32_t i = 0; i < n; i++) {
		const char *lack;

		if (extract_fields(type, events[i], fields, &lack) == 0 && lack) {
			model_note(model, arena_printf(&model->arena,
							  "%s has no text \"%s\": nothing is "
							  "extracted from it",
							  type->name, lack));
		}
	}
}

static bool explicit_skeleton(const struct choice *choice, const char *name)
{
	const struct schema_event *event = choice->event;
	uint32_t i;

	if (event->seed) {
		return true;
	}
	for (i = 0; i < choice->schema->n_skeleton; i++) {
		if (glob_match(choice->schema->skeleton[i], name)) {
			return true;
		}
	}
	if (choice->schema->n_skeleton > 0) {
		return false;
	}
	/* Without a list: whatever the schema gives a say in what belongs together. */
	for (i = 0; i < event->n_bind; i++) {
		if (event->bind[i].op != BIND_BASIC) {
			return true;
		}
	}
	return event->n_bind > 1;
}

void model_use_explicit(struct model *model)
{
	uint32_t i, s;

	model_note_chosen(model);
	merge_namespaces(model);
	classify_namespaces(model);
	for (s = 0; s < model->n_schemas; s++) {
		for (i = 0; i < model->schemas[s]->n_notes; i++) {
			model_note(model, model->schemas[s]->notes[i]);
		}
	}
	for (i = 0; i < model->n_types; i++) {
		struct choice choice;
		const struct schema_event *event;
		struct compile_notes missing = {.n = 0};
		uint32_t m;

		model->noting = i;
		choice = (struct choice){.schema = NULL};
		if (model->extracts[i]) {
			choose_explicit(model, model->extracts[i], &choice);
		} else {
			choose(model, model->types[i]->name, &choice);
			note_lacks(model, model->types[i]);
		}
		event = choice.event ? choice.event : model_guess_event(model, i, true);
		model->events[i] = event;
		missing = compile_plan(model->names, &model->arena, model->namespaces,
				model->n_namespaces, model->types[i], event,
				choice.event && explicit_skeleton(&choice, model->types[i]->name),
				model_shares_operation(model, model->types[i]->name),
				&model->plans[i]);
		for (m = 0; m < missing.n; m++) {
			model_note(model, missing.texts[m]);
		}
		model->noting = ID_NONE;
	}
}
