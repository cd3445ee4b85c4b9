/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_MODEL_H
#define PT_REQUESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "pythiatop/event.h"
#include "pythiatop/schema.h"
#include "pythiatop/status.h"
#include "requests/plan.h"

/*
 * The schema in force: those that were given, or one inferred from the event types known so far,
 * compiled to one plan per event type.
 *
 * Inference: where any pair of events carries a request id, that names the requests; where none
 * does, the outermost span of each thread (and of each interrupt) is one. A later type may change
 * the first into the second: all plans are compiled anew then.
 * Where schemas are given, types they do not speak of are attached to what is open on their thread.
 */
struct model;

struct model *model_create(struct names *names);
void model_destroy(struct model *model);

/* See engine_add_schema(). */
enum status model_add_schema(
		struct model *model, const struct schema *schema, char *error, size_t size);

/* See engine_offer_schema(). */
enum status model_offer_schema(
		struct model *model, const struct schema *schema, char *error, size_t size);

/* Types must be added in the order of their numbers, from 0. False if out of memory. The name
 * and fields of `type` are borrowed for as long as the model lives. */
bool model_add_type(struct model *model, const struct event_type *type);

/*
 * The events of the given schemas that extract fields from types of this name, the most specific first,
 * of equal ones in their order. Returns how many, at most `max`. They live as long as the model.
 */
uint32_t model_extracting(const struct model *model, const char *name,
		const struct schema_event **out, uint32_t max);
/* A type that is an alternative of one that was added: with the fields that `event` extracts. */
bool model_add_extracted(struct model *model, const struct event_type *type,
		const struct schema_event *event);

/*
 * The plans by type, made anew if a type, a schema or a proof of an id came since the last call;
 * valid until the next such. NULL if there is no type.
 */
const struct plan *model_plans(struct model *model);

uint32_t model_namespaces(struct model *model, const struct plan_namespace **namespaces);

/* Without a global name for requests, groups are told apart by contexts of this depth at most. */
uint32_t model_path_depth(const struct model *model);

/*
 * What the given schemas expect requests of a type to be grouped by: of the most specific glob, of
 * equal ones the first; NULL: nothing. Lives as long as the model.
 */
const struct schema_expect *model_group_by(const struct model *model, const char *type);
/* Is anything grouped so? */
bool model_groups_by(const struct model *model);

/* Observation of bare `id` fields: the types with one that nothing else names a request of. */
bool model_watches_ids(const struct model *model);
/* Takes note of a value of such a field, seen on a thread; may call for new plans. */
void model_watch_id(struct model *model, const struct event *event, uint64_t thread_key);

/* Whether a kernel tells which thread its CPUs run. */
bool model_knows_switches(const struct model *model);

/* What of the schema in force is shown. */
struct model_shown {
	bool (*occurred)(const void *context, uint32_t type); /* NULL: types that did not, too */
	const void *context;
	const char *const *notes; /* of the engine on what it saw (spans that do not nest...) */
	uint32_t n_notes;
};

/* The schema in force as one; borrowed until the next call. NULL if out of memory. */
const struct schema *model_schema(struct model *model, const struct model_shown *which);

/*
 * Whether events that servers.c derives make requests: where nothing else does, that is no schema and
 * no pair of events of user space; or where a schema names them.
 */
bool model_takes_served(struct model *model);
/*
 * The same of activations.c: where no schema, no pair of events of user space, no id and no person
 * says what requests are; or where a schema names them.
 */
bool model_takes_activations(struct model *model);
/* A person says which spans are requests. */
void model_name_requests(struct model *model);

#endif
