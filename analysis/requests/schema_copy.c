/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "requests/extract.h"
#include "requests/fails.h"
#include "requests/plan.h"
#include "requests/schema_copy.h"

static enum status __attribute__((format(printf, 5, 6))) invalid(const struct schema *schema,
		uint32_t line, char *error, size_t size, const char *format, ...)
{
	const char *origin = schema->origin ? schema->origin : "schema";
	va_list args;
	int used;

	used = line ? snprintf(error, size, "%s:%u: ", origin, line)
		    : snprintf(error, size, "%s: ", origin);
	if (used >= 0 && (size_t)used < size) {
		va_start(args, format);
		vsnprintf(error + used, size - (size_t)used, format, args);
		va_end(args);
	}
	return STATUS_INVALID;
}

static const struct schema_namespace *find_namespace(const struct schema *schema, const char *name)
{
	uint32_t i;

	for (i = 0; i < schema->n_namespaces; i++) {
		if (strcmp(schema->namespaces[i].name, name) == 0) {
			return &schema->namespaces[i];
		}
	}
	return NULL;
}

static bool key_is_sound(const char *key)
{
	if (key[0] != '$') {
		return key[0] != '\0';
	}
	return strcmp(key, "$tid") == 0 || strcmp(key, "$pid") == 0 || strcmp(key, "$cpu") == 0 ||
	       (strncmp(key, "$ctx.", 5) == 0 && key[5] != '\0');
}

static enum status check_bind(const struct schema *schema, const struct schema_event *event,
		const struct schema_bind *bind, char *error, size_t size)
{
	uint32_t i;

	if (!bind->ns || !find_namespace(schema, bind->ns)) {
		return invalid(schema, event->line, error, size,
				"event \"%s\" binds namespace \"%s\", which is not defined: add it "
				"to `namespaces`",
				event->match, bind->ns ? bind->ns : "");
	}
	if (bind->op > BIND_LEAVE) {
		return invalid(schema, event->line, error, size,
				"event \"%s\": unknown operation on namespace \"%s\"", event->match,
				bind->ns);
	}
	if (bind->n_keys == 0 || bind->n_keys > PLAN_MAX_KEYS) {
		return invalid(schema, event->line, error, size,
				"event \"%s\": a binding of \"%s\" needs 1 to %d keys, not %u",
				event->match, bind->ns, PLAN_MAX_KEYS, bind->n_keys);
	}
	for (i = 0; i < bind->n_keys; i++) {
		if (!key_is_sound(bind->keys[i])) {
			return invalid(schema, event->line, error, size,
					"event \"%s\": unknown key \"%s\": a field's name, "
					"$ctx.NAME, $tid, $pid or $cpu",
					event->match, bind->keys[i]);
		}
	}
	return STATUS_OK;
}

static enum status check_event(const struct schema *schema, uint32_t at, char *error, size_t size)
{
	const struct schema_event *event = &schema->events[at];
	uint32_t i;

	if (!event->match || !*event->match) {
		return invalid(schema, event->line, error, size, "an event has no `match`");
	}
	if (event->n_bind > PLAN_MAX_BINDS || event->n_pair > PLAN_MAX_KEYS ||
			event->n_type > PLAN_MAX_KEYS) {
		return invalid(schema, event->line, error, size,
				"event \"%s\": at most %d bindings, %d keys of a pair and %d "
				"fields "
				"of a type",
				event->match, PLAN_MAX_BINDS, PLAN_MAX_KEYS, PLAN_MAX_KEYS);
	}
	if (event->seed && event->n_bind == 0) {
		return invalid(schema, event->line, error, size,
				"event \"%s\" is a seed but binds nothing: nothing could join it",
				event->match);
	}
	for (i = 0; i < event->n_bind; i++) {
		enum status status = check_bind(schema, event, &event->bind[i], error, size);

		if (status != STATUS_OK) {
			return status;
		}
	}
	for (i = 0; i < event->n_pair; i++) {
		if (!key_is_sound(event->pair[i])) {
			return invalid(schema, event->line, error, size,
					"event \"%s\": unknown key \"%s\" in `pair`", event->match,
					event->pair[i]);
		}
	}
	for (i = 0; i < event->n_fails; i++) {
		struct fail_rule rule;

		if (event->role == SPAN_ENTRY || event->n_fails > PLAN_MAX_FAILS ||
				!fail_rule_parse(event->fails[i], &rule)) {
			return invalid(schema, event->line, error, size,
					"event \"%s\": cannot take \"%s\" in `fails`: an exit or a "
					"point has at most %d, of the form FIELD, FIELD OP VALUE "
					"with < <= > >= == !=, or never",
					event->match, event->fails[i], PLAN_MAX_FAILS);
		}
	}
	for (i = 0; i < event->n_extract; i++) {
		char wrong[256];

		if (!extract_check(event, i, wrong, sizeof(wrong))) {
			return invalid(schema, event->line, error, size, "event \"%s\": %s",
					event->match, wrong);
		}
	}
	for (i = 0; i < at; i++) {
		/* Those that extract are alternatives. */
		if (event->n_extract == 0 && schema->events[i].n_extract == 0 &&
				strcmp(schema->events[i].match, event->match) == 0) {
			return invalid(schema, event->line, error, size,
					"event \"%s\" is there twice (also at line %u)",
					event->match, schema->events[i].line);
		}
	}
	return STATUS_OK;
}

enum status schema_check(const struct schema *schema, char *error, size_t size)
{
	uint32_t i, j;

	if (schema->n_namespaces > PLAN_MAX_NAMESPACES) {
		return invalid(schema, 0, error, size, "more than %d namespaces",
				PLAN_MAX_NAMESPACES);
	}
	for (i = 0; i < schema->n_namespaces; i++) {
		if (!schema->namespaces[i].name || !*schema->namespaces[i].name) {
			return invalid(schema, 0, error, size, "a namespace has no name");
		}
		for (j = 0; j < i; j++) {
			if (strcmp(schema->namespaces[i].name, schema->namespaces[j].name) == 0) {
				return invalid(schema, 0, error, size,
						"namespace \"%s\" is defined twice",
						schema->namespaces[i].name);
			}
		}
	}
	for (i = 0; i < schema->n_events; i++) {
		enum status status = check_event(schema, i, error, size);

		if (status != STATUS_OK) {
			return status;
		}
	}
	return STATUS_OK;
}

/* Out of memory shows as NULL in what is copied: `failed` collects it. */
struct copier {
	struct arena *arena;
	bool failed;
};

static const char *copy_text(struct copier *copier, const char *text)
{
	char *copy = text ? arena_text(copier->arena, text) : NULL;

	copier->failed |= text && !copy;
	return copy;
}

static void *copy_array(struct copier *copier, const void *items, size_t n, size_t size)
{
	void *copy = n ? arena_alloc(copier->arena, n * size) : NULL;

	if (copy) {
		memcpy(copy, items, n * size);
	}
	copier->failed |= n && !copy;
	return copy;
}

static const char *const *copy_texts(struct copier *copier, const char *const *texts, uint32_t n)
{
	const char **copy = copy_array(copier, texts, n, sizeof(*copy));
	uint32_t i;

	for (i = 0; copy && i < n; i++) {
		copy[i] = copy_text(copier, texts[i]);
	}
	return copy;
}

static void copy_event(struct copier *copier, struct schema_event *event)
{
	struct schema_bind *bind = copy_array(copier, event->bind, event->n_bind, sizeof(*bind));
	struct schema_extract *extract =
			copy_array(copier, event->extract, event->n_extract, sizeof(*extract));
	uint32_t i;

	event->match = copy_text(copier, event->match);
	event->name = copy_text(copier, event->name);
	event->type = copy_texts(copier, event->type, event->n_type);
	event->pair = copy_texts(copier, event->pair, event->n_pair);
	event->values = copy_texts(copier, event->values, event->n_values);
	event->fails = copy_texts(copier, event->fails, event->n_fails);
	for (i = 0; bind && i < event->n_bind; i++) {
		bind[i].ns = copy_text(copier, bind[i].ns);
		bind[i].keys = copy_texts(copier, bind[i].keys, bind[i].n_keys);
	}
	event->bind = bind;
	for (i = 0; extract && i < event->n_extract; i++) {
		extract[i].from = copy_text(copier, extract[i].from);
		extract[i].match = copy_text(copier, extract[i].match);
		extract[i].fields = copy_texts(copier, extract[i].fields, extract[i].n_fields);
		extract[i].as = copy_array(
				copier, extract[i].as, extract[i].n_as, sizeof(*extract[i].as));
	}
	event->extract = extract;
}

struct schema *schema_copy(struct arena *arena, const struct schema *schema)
{
	struct copier copier = {.arena = arena};
	struct schema *copy = copy_array(&copier, schema, 1, sizeof(*copy));
	struct schema_namespace *namespaces;
	struct schema_event *events;
	struct schema_expect *expect;
	uint32_t i;

	if (!copy) {
		return NULL;
	}
	copy->origin = copy_text(&copier, schema->origin ? schema->origin : "schema");
	copy->applies_to = copy_text(&copier, schema->applies_to);
	copy->when = copy_text(&copier, schema->when);
	namespaces = copy_array(
			&copier, schema->namespaces, schema->n_namespaces, sizeof(*namespaces));
	events = copy_array(&copier, schema->events, schema->n_events, sizeof(*events));
	expect = copy_array(&copier, schema->expect, schema->n_expect, sizeof(*expect));
	if (copier.failed) {
		return NULL;
	}
	for (i = 0; i < schema->n_namespaces; i++) {
		namespaces[i].name = copy_text(&copier, namespaces[i].name);
	}
	for (i = 0; i < schema->n_events; i++) {
		copy_event(&copier, &events[i]);
	}
	for (i = 0; i < schema->n_expect; i++) {
		expect[i].type = copy_text(&copier, expect[i].type);
		expect[i].group_by = copy_texts(&copier, expect[i].group_by, expect[i].n_group_by);
	}
	copy->namespaces = namespaces;
	copy->events = events;
	copy->expect = expect;
	copy->skeleton = copy_texts(&copier, schema->skeleton, schema->n_skeleton);
	copy->notes = copy_texts(&copier, schema->notes, schema->n_notes);
	return copier.failed ? NULL : copy;
}
