/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "requests/compile.h"
#include "requests/fails.h"
#include "requests/infer.h"

static uint16_t find_field(const struct event_type *type, const char *name, int scope)
{
	uint32_t i;

	/* What is extracted is behind the event's own fields, and meant first. */
	for (i = type->n_fields; i-- > 0;) {
		if ((scope < 0 || type->fields[i].scope == scope) &&
				strcmp(type->fields[i].name, name) == 0) {
			return (uint16_t)i;
		}
	}
	return PLAN_NO_FIELD;
}

static uint16_t find_number(const struct event_type *type, const char *name, int scope)
{
	uint16_t field = find_field(type, name, scope);

	if (field != PLAN_NO_FIELD && type->fields[field].kind != FIELD_UINT &&
			type->fields[field].kind != FIELD_INT) {
		return PLAN_NO_FIELD;
	}
	return field;
}

uint16_t compile_field(const struct event_type *type, const char *key)
{
	uint16_t field;

	if (strncmp(key, "$ctx.", 5) == 0) {
		return find_field(type, key + 5, SCOPE_CONTEXT);
	}
	field = find_field(type, key, SCOPE_PAYLOAD);
	return field != PLAN_NO_FIELD ? field : find_field(type, key, SCOPE_CONTEXT);
}

static bool resolve_key(const struct event_type *type, const char *key, struct plan_key *out)
{
	uint16_t field;

	*out = (struct plan_key){.kind = KEY_TID, .field = PLAN_NO_FIELD};
	if (strcmp(key, "$tid") == 0) {
		return true;
	}
	if (strcmp(key, "$pid") == 0) {
		out->kind = KEY_PID;
		return true;
	}
	if (strcmp(key, "$cpu") == 0) {
		out->kind = KEY_CPU;
		return true;
	}
	field = compile_field(type, key);
	if (field == PLAN_NO_FIELD) {
		return false;
	}
	/* The thread by its own name: the same values as $tid, pid namespaces included. */
	if (type->fields[field].scope == SCOPE_CONTEXT &&
			(strcmp(type->fields[field].name, "vtid") == 0 ||
					strcmp(type->fields[field].name, "tid") == 0)) {
		return true;
	}
	out->field = field;
	out->kind = type->fields[field].kind == FIELD_STRING ||
						    type->fields[field].kind == FIELD_TREE
				    ? KEY_FIELD_BYTES
				    : KEY_FIELD_NUMBER;
	return true;
}

/* What a value in braces is shown as: "{$symbol.addr}" is the function at the address in `addr`. */
static const struct {
	const char *prefix;
	enum plan_reading reading;
} readings[] = {
		{"$symbol.", READ_SYMBOL},
		{"$softirq.", READ_SOFTIRQ},
		{"$disk.", READ_DISK},
		{"$rwbs.", READ_RWBS},
};

static enum plan_reading reading_of(const char **field)
{
	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		size_t length = strlen(readings[i].prefix);

		if (strncmp(*field, readings[i].prefix, length) == 0) {
			*field += length;
			return readings[i].reading;
		}
	}
	return READ_VALUE;
}

static void add_literal(struct plan_text *out, const char *text, size_t length)
{
	if (length > 0) {
		out->pieces[out->n++] = (struct plan_piece){
				.text = text, .length = (uint32_t)length, .field = PLAN_NO_FIELD};
	}
}

/* The pieces as one text, where none is a value. */
static uint32_t fixed_text(struct names *names, struct arena *arena, const struct plan_text *text)
{
	const char *all = "";

	if (text->n == 1) {
		return names_add(names, text->pieces[0].text, text->pieces[0].length);
	}
	for (uint32_t i = 0; all && i < text->n; i++) {
		all = arena_printf(arena, "%s%.*s", all, (int)text->pieces[i].length,
				text->pieces[i].text);
	}
	return all ? names_add(names, all, strlen(all)) : 0;
}

/* "addr}": a value. Returns what is behind it. */
static char *compile_value(const struct event_type *type, char *at, struct plan_text *out)
{
	char *close = strchr(at, '}');
	const char *name = at;
	enum plan_reading reading = reading_of(&name);
	uint16_t field;

	*close = '\0';
	field = reading == READ_VALUE ? compile_field(type, name)
				      : find_number(type, name, SCOPE_PAYLOAD);
	out->symbolic |= reading == READ_SYMBOL;
	out->pieces[out->n++] = (struct plan_piece){.text = "?",
			.length = field == PLAN_NO_FIELD ? 1 : 0,
			.field = field,
			.reading = reading};
	return close + 1;
}

/*
 * Splits "irq_{name}" into pieces; "{{" and "}}" are braces. `spaces`: literal underscores become
 * spaces, for types.
 */
static void compile_text(struct names *names, struct arena *arena, const struct event_type *type,
		const char *text, bool spaces, struct plan_text *out)
{
	uint32_t n_fields = 0;
	uint16_t field = PLAN_NO_FIELD;
	char *at = arena_text(arena, text), *begin = at;

	*out = (struct plan_text){.n = 0};
	out->pieces = arena_alloc(arena, (strlen(text) + 1) * sizeof(*out->pieces));
	if (!at || !out->pieces) {
		return;
	}
	while (*at) {
		bool brace = *at == '{' || *at == '}';

		if (brace && at[1] == *at) {
			add_literal(out, begin, (size_t)(at + 1 - begin));
			begin = at += 2;
		} else if (*at == '{' && strchr(at, '}')) {
			add_literal(out, begin, (size_t)(at - begin));
			begin = at = compile_value(type, at + 1, out);
			field = out->pieces[out->n - 1].field;
			n_fields += field != PLAN_NO_FIELD;
		} else {
			*at = spaces && *at == '_' ? ' ' : *at;
			at++;
		}
	}
	add_literal(out, begin, (size_t)(at - begin));
	if (n_fields == 0) {
		out->fixed = fixed_text(names, arena, out);
	} else if (n_fields == 1 && field != PLAN_NO_FIELD && !out->symbolic &&
			out->pieces[out->n - 1].reading != READ_DISK &&
			(type->fields[field].kind == FIELD_UINT ||
					type->fields[field].kind == FIELD_INT)) {
		out->memo = arena_alloc(arena, sizeof(*out->memo));
	}
}

/* "net:serve" of the operation "serve"; another name that a schema gives stays. */
static const char *with_provider(struct arena *arena, const struct event_type *type,
		const struct schema_event *event, const char *name)
{
	const char *operation = infer_span_name(arena, type->name, event->role), *both = NULL;

	if (operation && strcmp(name, operation) == 0) {
		both = arena_printf(
				arena, "%.*s:%s", (int)strcspn(type->name, ":"), type->name, name);
	}
	return both ? both : name;
}

static void compile_type(struct names *names, struct arena *arena, const struct event_type *type,
		const struct schema_event *event, const char *name, struct plan *plan)
{
	char *text;
	uint32_t i;

	if (event->n_type == 0) {
		compile_text(names, arena, type, name, true, &plan->type);
		return;
	}
	text = arena_printf(arena, "{%s}", event->type[0]);
	for (i = 1; text && i < event->n_type; i++) {
		text = arena_printf(arena, "%s {%s}", text, event->type[i]);
	}
	if (text) {
		compile_text(names, arena, type, text, false, &plan->type);
	}
}

static void add_note(struct arena *arena, struct compile_notes *notes,
		const struct event_type *type, const char *key, const char *what)
{
	char *text;

	if (notes->n == COMPILE_MAX_NOTES) {
		return;
	}
	text = arena_printf(
			arena, "%s has no field \"%s\": its %s is left out", type->name, key, what);
	if (text) {
		notes->texts[notes->n++] = text;
	}
}

static void compile_binds(struct arena *arena, const struct plan_namespace *namespaces,
		uint32_t n_namespaces, const struct event_type *type,
		const struct schema_event *event, struct plan *plan, struct compile_notes *notes)
{
	int kind;
	uint32_t b, n, k;

	for (kind = NS_REQUEST; kind <= NS_EXECUTION; kind++) {
		for (b = 0; b < event->n_bind; b++) {
			struct plan_bind *bind = &plan->bind[plan->n_bind];

			for (n = 0; n < n_namespaces; n++) {
				if (strcmp(namespaces[n].name, event->bind[b].ns) == 0) {
					break;
				}
			}
			if (n == n_namespaces || !namespaces[n].join ||
					(int)namespaces[n].kind != kind) {
				continue;
			}
			*bind = (struct plan_bind){.ns = (uint8_t)n,
					.op = (uint8_t)event->bind[b].op,
					.n_keys = (uint8_t)event->bind[b].n_keys,
					.kind = (uint8_t)kind,
					.global = namespaces[n].global};
			for (k = 0; k < bind->n_keys; k++) {
				if (!resolve_key(type, event->bind[b].keys[k], &bind->keys[k])) {
					add_note(arena, notes, type, event->bind[b].keys[k],
							"binding");
					break;
				}
			}
			plan->n_bind += k == bind->n_keys;
		}
	}
}

static void compile_pair(struct arena *arena, const struct event_type *type,
		const struct schema_event *event, struct plan *plan, struct compile_notes *notes)
{
	uint32_t k;

	for (k = 0; k < event->n_pair; k++) {
		if (!resolve_key(type, event->pair[k], &plan->pair[plan->n_pair])) {
			add_note(arena, notes, type, event->pair[k], "pairing");
			plan->role = SPAN_POINT; /* half a key would pair what does not belong */
			plan->n_pair = 0;
			return;
		}
		plan->n_pair++;
	}
	plan->keyed = plan->n_pair > 0 && plan->role != SPAN_POINT;
}

static void compile_context(const struct event_type *type, struct plan *plan)
{
	bool kernel = strchr(type->name, ':') == NULL;

	plan->vtid = find_number(type, "vtid", SCOPE_CONTEXT);
	plan->vpid = find_number(type, "vpid", SCOPE_CONTEXT);
	plan->pid_ns = find_number(type, "pid_ns", SCOPE_CONTEXT);
	plan->procname = find_field(type, "procname", SCOPE_CONTEXT);
	if (plan->procname != PLAN_NO_FIELD && type->fields[plan->procname].kind != FIELD_STRING) {
		plan->procname = PLAN_NO_FIELD;
	}
	/* A kernel's `tid` is of the host's own namespace, its `vtid` of the process's. */
	if (kernel && find_number(type, "tid", SCOPE_CONTEXT) != PLAN_NO_FIELD) {
		plan->vtid = find_number(type, "tid", SCOPE_CONTEXT);
		plan->vtid_is_host = true;
	}
	if (kernel && find_number(type, "pid", SCOPE_CONTEXT) != PLAN_NO_FIELD) {
		plan->vpid = find_number(type, "pid", SCOPE_CONTEXT);
	}
	plan->prev_tid = PLAN_NO_FIELD;
	if (strcmp(type->name, "sched_switch") == 0) {
		plan->prev_tid = find_number(type, "prev_tid", SCOPE_PAYLOAD);
		plan->switches = plan->prev_tid != PLAN_NO_FIELD;
	}
}

struct compile_notes compile_plan(struct names *names, struct arena *arena,
		const struct plan_namespace *namespaces, uint32_t n_namespaces,
		const struct event_type *type, const struct schema_event *event, bool skeleton,
		bool shared, struct plan *plan)
{
	struct compile_notes notes = {.n = 0};
	const char *colon = strchr(type->name, ':');
	const char *name, *wrong;

	memset(plan, 0, sizeof(*plan));
	compile_context(type, plan);
	plan->source = event;
	if (colon) {
		plan->provider = names_add(names, type->name, (size_t)(colon - type->name));
	}
	if (!event) {
		plan->about_tracer = true;
		name = infer_span_name(arena, type->name, SPAN_POINT);
		compile_text(names, arena, type, name ? name : type->name, false, &plan->name);
		return notes;
	}
	plan->role = (uint8_t)event->role;
	plan->seed = event->seed;
	plan->skeleton = skeleton;
	name = event->name ? event->name : infer_span_name(arena, type->name, event->role);
	if (!name) {
		name = type->name;
	}
	compile_pair(arena, type, event, plan, &notes);
	compile_text(names, arena, type, name, false, &plan->name);
	plan->pair_name = names_add(names, name, strlen(name));
	if (plan->role == SPAN_EXIT && strchr(name, '*')) {
		plan->any_exit = true;
		plan->glob = arena_text(arena, name);
	}
	if (plan->seed) {
		compile_type(names, arena, type, event,
				shared ? with_provider(arena, type, event, name) : name, plan);
	}
	compile_binds(arena, namespaces, n_namespaces, type, event, plan, &notes);
	fails_compile(arena, type, event, plan, &wrong);
	if (wrong && strcmp(event->match, type->name) == 0) {
		add_note(arena, &notes, type, wrong, "condition of a failure");
	}
	return notes;
}
