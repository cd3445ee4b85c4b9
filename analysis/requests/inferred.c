/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "requests/activations.h"
#include "requests/compile.h"
#include "requests/fails.h"
#include "requests/model_parts.h"
#include "requests/served.h"
#include "requests/waits.h"

/* The field that names a request in this type, a promoted bare `id` included. */
static uint32_t request_field(const struct model *model, uint32_t type)
{
	uint32_t field = infer_request_field(model->types[type]);

	if (field == UINT32_MAX && model->watches[type] && model->watches[type]->is_request) {
		field = model->watches[type]->field;
	}
	return field;
}

static const char *const *texts(struct arena *arena, uint32_t n, const char *a, const char *b)
{
	const char **list = arena_alloc(arena, 2 * sizeof(*list));

	if (list) {
		list[0] = a;
		list[1] = n > 1 ? b : NULL;
	}
	return list;
}

static void bind(struct arena *arena, struct schema_bind *binds, uint32_t *n, const char *ns,
		enum bind_op op, const char *key, const char *key2)
{
	binds[(*n)++] = (struct schema_bind){
			.ns = ns,
			.op = op,
			.n_keys = key2 ? 2 : 1,
			.keys = texts(arena, key2 ? 2 : 1, key, key2),
	};
}

/* How a field is written as a key: a context field by its full name, if a payload field hides it.
 */
static const char *key_of(struct arena *arena, const struct event_type *type, uint32_t field)
{
	const struct field *f = &type->fields[field];

	return f->scope == SCOPE_CONTEXT ? arena_printf(arena, "$ctx.%s", f->name) : f->name;
}

/* Bindings of a type that carries a request id or a message id. */
static void bind_by_id(struct model *model, const struct event_type *type, uint32_t request,
		uint32_t message, struct schema_event *event, struct schema_bind *binds)
{
	struct arena *arena = &model->arena;
	const char *id = request != UINT32_MAX ? key_of(arena, type, request) : NULL;
	bool entry = event->role == SPAN_ENTRY, exit = event->role == SPAN_EXIT;

	if (id) {
		bind(arena, binds, &event->n_bind, "req", entry ? BIND_ENTER : BIND_BASIC, id,
				NULL);
		event->seed = entry;
	}
	if (message != UINT32_MAX) {
		const char *key = key_of(arena, type, message);

		bind(arena, binds, &event->n_bind, "msg", exit ? BIND_LEAVE : BIND_ENTER,
				id && model->message_by_request ? id : key,
				id && model->message_by_request ? key : NULL);
	}
	if (entry || exit) {
		bind(arena, binds, &event->n_bind, "thr", entry ? BIND_ENTER : BIND_LEAVE, "$tid",
				NULL);
	} else if (!id) {
		bind(arena, binds, &event->n_bind, "thr", BIND_BASIC, "$tid", NULL);
	}
}

/* What servers.c derives: the rules are its own. */
static void bind_served(struct arena *arena, const struct served_rule *rule,
		struct schema_event *event, struct schema_bind *binds)
{
	bool entry = event->role == SPAN_ENTRY;

	event->seed = rule->seed && entry;
	bind(arena, binds, &event->n_bind, "req", event->seed ? BIND_ENTER : BIND_BASIC,
			"request_id", NULL);
	if (rule->message) {
		bind(arena, binds, &event->n_bind, "msg", entry ? BIND_ENTER : BIND_LEAVE, "msg_id",
				NULL);
	}
	if (rule->thread) {
		bind(arena, binds, &event->n_bind, "thr", entry ? BIND_ENTER : BIND_LEAVE, "$tid",
				NULL);
	}
	if (rule->keyed) {
		event->n_pair = 1;
		event->pair = texts(arena, 1, "span_id", NULL);
	}
}

/* May an event of the kernel happen in an interrupt? Then it is not the interrupted thread's. */
static bool may_be_interrupt(const char *name)
{
	return !strchr(name, ':') && !strstr(name, "syscall_") && strcmp(name, "sched_switch") != 0;
}

/* Whether it is told which thread an event of the type is of: by itself, or by the kernel. */
static bool knows_thread(const struct model *model, const struct event_type *type)
{
	for (uint32_t i = 0; i < type->n_fields; i++) {
		if (type->fields[i].scope == SCOPE_CONTEXT &&
				(strcmp(type->fields[i].name, "vtid") == 0 ||
						strcmp(type->fields[i].name, "tid") == 0)) {
			return true;
		}
	}
	return model_knows_name(model, "sched_switch");
}

static bool has_number(const struct event_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->n_fields; i++) {
		if (strcmp(type->fields[i].name, name) == 0 &&
				(type->fields[i].kind == FIELD_UINT ||
						type->fields[i].kind == FIELD_INT)) {
			return true;
		}
	}
	return false;
}

static const struct event_type *type_of_name(const struct model *model, const char *name)
{
	for (uint32_t i = 0; i < model->n_types; i++) {
		if (strcmp(model->types[i]->name, name) == 0) {
			return model->types[i];
		}
	}
	return NULL;
}

/*
 * A pair of which no thread is known: by a field of both that tells one thing from another, else by
 * the CPU, which is right as long as no thread gives way or moves within it.
 */
static void bind_without_thread(struct model *model, const struct event_type *type,
		const struct guess *guess, struct schema_event *event, struct schema_bind *binds)
{
	struct arena *arena = &model->arena;
	const struct event_type *other = guess->other ? type_of_name(model, guess->other) : NULL;
	uint32_t field = other ? infer_common_field(type, other) : UINT32_MAX;
	bool entry = guess->role == SPAN_ENTRY;
	const char *key = field != UINT32_MAX ? key_of(arena, type, field) : "$cpu";

	event->seed = entry;
	event->n_pair = 1;
	event->pair = texts(arena, 1, key, NULL);
	if (field != UINT32_MAX) {
		bind(arena, binds, &event->n_bind, "key", entry ? BIND_ENTER : BIND_LEAVE, key,
				NULL);
	} else {
		bind(arena, binds, &event->n_bind, "cpu", entry ? BIND_ENTER : BIND_LEAVE, key,
				NULL);
	}
	model_note(model, arena_printf(arena,
					  "%s: its thread is not known: paired by %s; record the "
					  "context vtid",
					  type->name, field != UINT32_MAX ? key : "its CPU"));
}

/*
 * A part of what its thread does, and no request: of an activation; or a wait for something to do,
 * which is what lies between requests.
 */
static bool is_within(const struct model *model, const struct event_type *type)
{
	const char *call;
	bool exit;

	if (model->by_activation || model->named) {
		return !model->named && !activation_event(type->name, &exit);
	}
	call = strchr(type->name, ':') ? NULL : wait_call(type->name, &exit);
	return call && wait_class(call) == WAITS_WORK;
}

/* Where nothing names a request: the outermost span of a thread, or of an interrupt, is one. */
static void bind_by_execution(struct model *model, const struct event_type *type,
		const struct guess *guess, struct schema_event *event, struct schema_bind *binds)
{
	struct arena *arena = &model->arena;
	enum bind_op op = guess->role == SPAN_ENTRY ? BIND_ENTER : BIND_LEAVE;

	if (guess->role != SPAN_POINT && guess->execution == EXECUTION_THREAD &&
			!knows_thread(model, type)) {
		bind_without_thread(model, type, guess, event, binds);
		return;
	}

	if (guess->role == SPAN_POINT) {
		if (may_be_interrupt(event->match)) {
			bind(arena, binds, &event->n_bind, "irq", BIND_BASIC, "$cpu", NULL);
			bind(arena, binds, &event->n_bind, "softirq", BIND_BASIC, "$cpu", NULL);
		}
		bind(arena, binds, &event->n_bind, "thr", BIND_BASIC, "$tid", NULL);
		return;
	}
	if (guess->execution == EXECUTION_THREAD && is_within(model, type)) {
		bind(arena, binds, &event->n_bind, "thr", BIND_BASIC, "$tid", NULL);
		return;
	}
	event->seed = guess->role == SPAN_ENTRY;
	bind(arena, binds, &event->n_bind,
			guess->execution == EXECUTION_IRQ       ? "irq"
			: guess->execution == EXECUTION_SOFTIRQ ? "softirq"
								: "thr",
			op, guess->execution == EXECUTION_THREAD ? "$tid" : "$cpu", NULL);
}

/* Requests of disks: beside activations they are requests as well. */
static bool bind_disk(struct model *model, const struct event_type *type,
		struct schema_event *event, struct schema_bind *binds)
{
	struct arena *arena = &model->arena;
	bool entry = strcmp(type->name, "block_rq_issue") == 0;

	if (!model->by_activation || (!entry && strcmp(type->name, "block_rq_complete") != 0) ||
			!model_knows_name(model, entry ? "block_rq_complete" : "block_rq_issue") ||
			!has_number(type, "dev") || !has_number(type, "sector") ||
			!has_number(type, "rwbs")) {
		return false;
	}
	event->role = entry ? SPAN_ENTRY : SPAN_EXIT;
	event->name = "disk {$disk.dev} {$rwbs.rwbs}";
	event->seed = entry;
	event->n_pair = 2;
	event->pair = texts(arena, 2, "dev", "sector");
	bind(arena, binds, &event->n_bind, "disk", entry ? BIND_ENTER : BIND_LEAVE, "dev",
			"sector");
	return true;
}

/* What a type most likely means. NULL if out of memory, or of no use (the tracer's own). */
struct schema_event *model_guess_event(struct model *model, uint32_t at, bool attach_only)
{
	const struct infer_names names = {
			.n = model->n_types, .known = model_knows_name, .context = model};
	const struct event_type *type = model->types[at];
	struct arena *arena = &model->arena;
	struct schema_event *event = arena_alloc(arena, sizeof(*event));
	struct schema_bind *binds = arena_alloc(arena, 4 * sizeof(*binds));
	uint32_t i, request = request_field(model, at), message = infer_message_field(type);
	const struct served_rule *rule;
	struct guess guess;
	bool exit;

	if (!event || !binds || !infer_role(&names, type, arena, &guess) || guess.about_tracer) {
		return NULL;
	}
	rule = served_rule(type->name, &exit);
	model_note(model, guess.note);
	event->match = type->name;
	event->role = guess.role;
	event->name = guess.name;
	if (activation_event(type->name, &exit)) {
		event->name = "{program}";
	}
	event->bind = binds;
	event->n_pair = guess.n_pair;
	event->n_fails = fails_usual(arena, type, guess.role, &event->fails);
	event->pair = guess.n_pair ? texts(arena, guess.n_pair, guess.pair[0], guess.pair[1])
				   : NULL;
	if (rule && !attach_only) {
		event->name = "{server}";
		bind_served(arena, rule, event, binds);
		return event;
	}
	if (attach_only) {
		for (i = 0; i < model->n_namespaces; i++) {
			const struct plan_namespace *ns = &model->namespaces[i];

			if (ns->kind == NS_EXECUTION && ns->join && event->n_bind < 4 &&
					(strcmp(ns->execution_key, "$tid") == 0 ||
							may_be_interrupt(type->name))) {
				bind(arena, binds, &event->n_bind, ns->name, BIND_BASIC,
						ns->execution_key, NULL);
			}
		}
	} else if (model->by_id && (request != UINT32_MAX || message != UINT32_MAX)) {
		bind_by_id(model, type, request, message, event, binds);
	} else if (model->by_id) {
		bind(arena, binds, &event->n_bind, "thr", BIND_BASIC, "$tid", NULL);
	} else if (!bind_disk(model, type, event, binds)) {
		bind_by_execution(model, type, &guess, event, binds);
	}
	return event;
}

/* Which way requests are named: by an id on some pair of events, or by nothing. */
static void choose_mode(struct model *model)
{
	const struct infer_names names = {
			.n = model->n_types, .known = model_knows_name, .context = model};
	uint32_t i;

	model->by_id = false;
	model->message_by_request = true;
	for (i = 0; i < model->n_types; i++) {
		bool request = request_field(model, i) != UINT32_MAX;
		struct guess guess;

		if (infer_message_field(model->types[i]) != UINT32_MAX && !request) {
			model->message_by_request = false;
		}
		if (!request || !infer_role(&names, model->types[i], &model->arena, &guess) ||
				guess.about_tracer) {
			continue;
		}
		if (guess.role == SPAN_ENTRY) {
			model->by_id = true;
		} else if (guess.role == SPAN_POINT) {
			model_note(model, arena_printf(&model->arena,
							  "%s carries a request id but is no pair: "
							  "it "
							  "joins requests, "
							  "and begins none",
							  model->types[i]->name));
		}
	}
}

static void inferred_namespaces(struct model *model)
{
	static const struct plan_namespace by_id[] = {
			{"req", NS_REQUEST, true, true, REQUEST_TTL_NS, NULL},
			{"msg", NS_MESSAGE, true, true, REQUEST_TTL_NS, NULL},
			{"thr", NS_EXECUTION, false, true, THREAD_TTL_NS, "$tid"},
	};
	static const struct plan_namespace by_execution[] = {
			{"irq", NS_EXECUTION, false, true, REQUEST_TTL_NS, "$cpu"},
			{"softirq", NS_EXECUTION, false, true, REQUEST_TTL_NS, "$cpu"},
			{"thr", NS_EXECUTION, false, true, THREAD_TTL_NS, "$tid"},
			{"cpu", NS_EXECUTION, false, true, REQUEST_TTL_NS, "$cpu"},
			{"key", NS_REQUEST, false, true, REQUEST_TTL_NS, NULL},
			{"disk", NS_REQUEST, false, true, REQUEST_TTL_NS, NULL},
	};

	if (model->by_id) {
		model->n_namespaces = sizeof(by_id) / sizeof(by_id[0]);
		memcpy(model->namespaces, by_id, sizeof(by_id));
	} else {
		model->n_namespaces = sizeof(by_execution) / sizeof(by_execution[0]);
		memcpy(model->namespaces, by_execution, sizeof(by_execution));
	}
	model->path_depth = model->by_id ? UINT32_MAX : PATH_DEPTH_PLAIN;
}

static void watch_ids(struct model *model)
{
	uint32_t i;

	model->n_watches = 0;
	for (i = 0; i < model->n_types; i++) {
		uint32_t field = infer_bare_id(model->types[i]);

		/* An `id` of a kernel's event is one of its own things: a timer, a queue. */
		if (field == UINT32_MAX || !strchr(model->types[i]->name, ':') ||
				infer_request_field(model->types[i]) != UINT32_MAX) {
			continue;
		}
		if (!model->watches[i]) {
			model->watches[i] = calloc(1, sizeof(*model->watches[i]));
			if (!model->watches[i]) {
				continue;
			}
			model->watches[i]->type = i;
			model->watches[i]->field = field;
		}
		model->n_watches += !model->watches[i]->is_request;
	}
}

static bool is_execution_skeleton(const struct schema_event *event)
{
	return event->role != SPAN_POINT && (event->seed || event->bind[0].op == BIND_LEAVE);
}

/* Inferred: what carries ids, or, where nothing does, what could be an outermost span. */
static bool inferred_skeleton(const struct model *model, const struct schema_event *event)
{
	const struct served_rule *rule;
	bool exit;
	uint32_t i;

	rule = served_rule(event->match, &exit);
	if (rule && rule->aside) {
		return false;
	}

	if (!model->by_id) {
		return is_execution_skeleton(event);
	}
	for (i = 0; i < event->n_bind; i++) {
		if (strcmp(event->bind[i].ns, "thr") != 0) {
			return true;
		}
	}
	return false;
}

/* Does a program that was made to be traced tell of spans? */
static bool has_pairs_of_programs(struct model *model)
{
	const struct infer_names names = {
			.n = model->n_types, .known = model_knows_name, .context = model};
	struct guess guess;

	for (uint32_t i = 0; i < model->n_types; i++) {
		if (strchr(model->types[i]->name, ':') &&
				infer_role(&names, model->types[i], &model->shown, &guess) &&
				guess.role == SPAN_ENTRY && !guess.about_tracer) {
			return true;
		}
	}
	return false;
}

void model_infer(struct model *model)
{
	uint32_t i;

	choose_mode(model);
	model->by_activation = !model->by_id && !model->named &&
			       model_knows_name(model, "activation_entry") &&
			       !has_pairs_of_programs(model);
	inferred_namespaces(model);
	watch_ids(model);
	for (i = 0; i < model->n_types; i++) {
		const struct schema_event *event;

		model->noting = i;
		event = model_guess_event(model, i, false);
		model->noting = ID_NONE;
		model->events[i] = event;
		compile_plan(model->names, &model->arena, model->namespaces, model->n_namespaces,
				model->types[i], event, event && inferred_skeleton(model, event),
				model_shares_operation(model, model->types[i]->name),
				&model->plans[i]);
	}
}

bool model_watches_ids(const struct model *model)
{
	return model->n_schemas == 0 && !model->by_id && model->n_watches > 0;
}

void model_watch_id(struct model *model, const struct event *event, uint64_t thread_key)
{
	struct id_watch *watch = model->watches[event->type];
	uint64_t value;
	uint32_t at;

	if (!watch || watch->is_request ||
			model->types[event->type]->fields[watch->field].kind == FIELD_STRING) {
		return;
	}
	value = event->slots[watch->field];
	at = (uint32_t)hash_u64(value) & (ID_SEEN - 1);
	if (watch->seen[at].proven) {
		return;
	}
	if (watch->seen[at].used && watch->seen[at].value == value &&
			watch->seen[at].thread != thread_key) {
		watch->seen[at].proven = true;
		watch->n_proofs++;
	} else {
		watch->seen[at].used = true;
		watch->seen[at].value = value;
		watch->seen[at].thread = thread_key;
	}
	if (watch->n_proofs >= ID_PROOF) {
		uint32_t i;

		/* What is proven of one type holds for its like: a pair is told as a whole. */
		for (i = 0; i < model->n_types; i++) {
			if (model->watches[i]) {
				model->watches[i]->is_request = true;
			}
		}
		model->dirty = true;
	}
}

static bool is_named_by_schema(
		const struct model *model, bool (*is_one)(const char *event, bool *exit))
{
	for (uint32_t s = 0; s < model->n_schemas; s++) {
		for (uint32_t i = 0; i < model->schemas[s]->n_events; i++) {
			bool exit;

			if (is_one(model->schemas[s]->events[i].match, &exit)) {
				return true;
			}
		}
	}
	return false;
}

static bool is_served(const char *event, bool *exit)
{
	return served_rule(event, exit) != NULL;
}

bool model_takes_served(struct model *model)
{
	model_plans(model); /* names are in order */
	return model->n_schemas > 0 ? is_named_by_schema(model, is_served)
				    : !has_pairs_of_programs(model);
}

bool model_takes_activations(struct model *model)
{
	model_plans(model);
	return model->n_schemas > 0
			       ? is_named_by_schema(model, activation_event)
			       : !model->by_id && !model->named && !has_pairs_of_programs(model);
}

void model_name_requests(struct model *model)
{
	model->named = true;
	model->dirty = true;
}
