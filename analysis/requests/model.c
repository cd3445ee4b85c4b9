/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "requests/compile.h"
#include "requests/glob.h"
#include "requests/infer.h"
#include "requests/model.h"
#include "requests/schema_copy.h"

#define MAX_SCHEMAS      16
#define REQUEST_TTL_NS   UINT64_C(30000000000)
#define THREAD_TTL_NS    UINT64_C(600000000000)
#define PATH_DEPTH_PLAIN 2 /* of groups of outermost spans: they and what they enclose */
#define MAX_NOTES        200

/* A bare `id` names requests once so many different values were seen on two threads each. */
#define ID_PROOF 16
#define ID_SEEN  256

struct id_watch {
	uint32_t type, field;
	uint32_t n_proofs;
	bool is_request;
	struct {
		uint64_t value, thread;
		bool used, proven; /* proven: it stays, so that each value counts once */
	} seen[ID_SEEN];
};

struct model {
	struct names *names;
	struct arena given; /* the schemas that were given */
	const struct schema *schemas[MAX_SCHEMAS];
	uint32_t n_schemas;

	const struct event_type **types;
	const char **sorted; /* names of all types, for infer_role() */
	struct plan *plans;
	uint32_t n_types, room;
	bool dirty; /* a type was added since the plans were made */

	struct arena arena; /* of what is compiled or inferred; made anew when dirty */
	struct plan_namespace namespaces[PLAN_MAX_NAMESPACES];
	uint32_t n_namespaces;
	uint32_t path_depth;
	const struct schema_event **events; /* by type: what its plan was made of, or NULL */
	bool by_id;                         /* inferred: some pair carries a request id */
	bool message_by_request;            /* inferred: message ids always come with request ids */
	const char **notes;
	uint32_t n_notes;

	struct id_watch **watches; /* by type; NULL: none */
	uint32_t n_watches;

	struct arena shown; /* of model_schema() */
	struct schema schema;
};

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
	free(model->sorted);
	free(model->plans);
	free(model->events);
	arena_release(&model->given);
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
				if (strcmp(schema->events[i].match, other->events[j].match) != 0) {
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
	copy = schema_copy(&model->given, schema);
	if (!copy) {
		snprintf(error, size, "out of memory");
		return STATUS_NO_MEMORY;
	}
	model->schemas[model->n_schemas++] = copy;
	model->dirty = true;
	return STATUS_OK;
}

static bool reserve_types(struct model *model)
{
	uint32_t room = model->room ? model->room * 2 : 64;
	void *types, *sorted, *plans, *events, *watches;

	if (model->n_types < model->room) {
		return true;
	}
	types = realloc(model->types, room * sizeof(*model->types));
	model->types = types ? types : model->types;
	sorted = realloc(model->sorted, room * sizeof(*model->sorted));
	model->sorted = sorted ? sorted : model->sorted;
	plans = realloc(model->plans, room * sizeof(*model->plans));
	model->plans = plans ? plans : model->plans;
	events = realloc(model->events, room * sizeof(*model->events));
	model->events = events ? events : model->events;
	watches = realloc(model->watches, room * sizeof(*model->watches));
	model->watches = watches ? watches : model->watches;
	if (!types || !sorted || !plans || !events || !watches) {
		return false;
	}
	model->room = room;
	return true;
}

bool model_add_type(struct model *model, const struct event_type *type)
{
	struct event_type *copy = arena_alloc(&model->given, sizeof(*copy));

	if (!copy || !reserve_types(model)) {
		return false;
	}
	*copy = *type;
	model->types[model->n_types] = copy;
	model->watches[model->n_types] = NULL;
	memset(&model->plans[model->n_types], 0, sizeof(*model->plans));
	model->events[model->n_types] = NULL;
	model->n_types++;
	model->dirty = true;
	return true;
}

static void note(struct model *model, const char *text)
{
	uint32_t i;

	if (!text || !model->notes || model->n_notes >= MAX_NOTES) {
		return;
	}
	for (i = 0; i < model->n_notes; i++) {
		if (strcmp(model->notes[i], text) == 0) {
			return;
		}
	}
	model->notes[model->n_notes++] = text;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool name_known(const void *context, const char *name)
{
	const struct model *model = context;

	return bsearch(&name, model->sorted, model->n_types, sizeof(*model->sorted),
	                       compare_names) != NULL;
}

/* --- inference ------------------------------------------------------------------------------ */

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

/* May an event of the kernel happen in an interrupt? Then it is not the interrupted thread's. */
static bool may_be_interrupt(const char *name)
{
	return !strchr(name, ':') && !strstr(name, "syscall_") && strcmp(name, "sched_switch") != 0;
}

/* Where nothing names a request: the outermost span of a thread, or of an interrupt, is one. */
static void bind_by_lane(struct model *model, const struct guess *guess, struct schema_event *event,
                struct schema_bind *binds)
{
	struct arena *arena = &model->arena;
	enum bind_op op = guess->role == SPAN_ENTRY ? BIND_ENTER : BIND_LEAVE;

	if (guess->role == SPAN_POINT) {
		if (may_be_interrupt(event->match)) {
			bind(arena, binds, &event->n_bind, "irq", BIND_BASIC, "$cpu", NULL);
			bind(arena, binds, &event->n_bind, "softirq", BIND_BASIC, "$cpu", NULL);
		}
		bind(arena, binds, &event->n_bind, "thr", BIND_BASIC, "$tid", NULL);
		return;
	}
	event->seed = guess->role == SPAN_ENTRY;
	bind(arena, binds, &event->n_bind,
	                guess->lane == LANE_IRQ       ? "irq"
	                : guess->lane == LANE_SOFTIRQ ? "softirq"
	                                              : "thr",
	                op, guess->lane == LANE_THREAD ? "$tid" : "$cpu", NULL);
}

/* What a type most likely means. NULL if out of memory, or of no use (the tracer's own). */
static struct schema_event *guess_event(struct model *model, uint32_t at, bool attach_only)
{
	const struct infer_names names = {
	                .n = model->n_types, .known = name_known, .context = model};
	const struct event_type *type = model->types[at];
	struct arena *arena = &model->arena;
	struct schema_event *event = arena_alloc(arena, sizeof(*event));
	struct schema_bind *binds = arena_alloc(arena, 4 * sizeof(*binds));
	uint32_t i, request = request_field(model, at), message = infer_message_field(type);
	struct guess guess;

	if (!event || !binds || !infer_role(&names, type, arena, &guess) || guess.about_tracer) {
		return NULL;
	}
	note(model, guess.note);
	event->match = type->name;
	event->role = guess.role;
	event->name = guess.name;
	event->bind = binds;
	event->n_pair = guess.n_pair;
	event->pair = guess.n_pair ? texts(arena, guess.n_pair, guess.pair[0], guess.pair[1])
	                           : NULL;
	if (attach_only) {
		for (i = 0; i < model->n_namespaces; i++) {
			const struct plan_namespace *ns = &model->namespaces[i];

			if (ns->kind == NS_LANE && ns->join && event->n_bind < 4 &&
			                (strcmp(ns->lane_key, "$tid") == 0 ||
			                                may_be_interrupt(type->name))) {
				bind(arena, binds, &event->n_bind, ns->name, BIND_BASIC,
				                ns->lane_key, NULL);
			}
		}
	} else if (model->by_id && (request != UINT32_MAX || message != UINT32_MAX)) {
		bind_by_id(model, type, request, message, event, binds);
	} else if (model->by_id) {
		bind(arena, binds, &event->n_bind, "thr", BIND_BASIC, "$tid", NULL);
	} else {
		bind_by_lane(model, &guess, event, binds);
	}
	return event;
}

/* Which way requests are named: by an id on some pair of events, or by nothing. */
static void choose_mode(struct model *model)
{
	const struct infer_names names = {
	                .n = model->n_types, .known = name_known, .context = model};
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
			note(model, arena_printf(&model->arena,
			                            "%s carries a request id but is no pair: it "
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
	                {"thr", NS_LANE, false, true, THREAD_TTL_NS, "$tid"},
	};
	static const struct plan_namespace by_lane[] = {
	                {"irq", NS_LANE, false, true, REQUEST_TTL_NS, "$cpu"},
	                {"softirq", NS_LANE, false, true, REQUEST_TTL_NS, "$cpu"},
	                {"thr", NS_LANE, false, true, THREAD_TTL_NS, "$tid"},
	};

	memcpy(model->namespaces, model->by_id ? by_id : by_lane, sizeof(by_id));
	model->n_namespaces = 3;
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

static bool is_lane_skeleton(const struct schema_event *event)
{
	return event->role != SPAN_POINT && (event->seed || event->bind[0].op == BIND_LEAVE);
}

/* Inferred: what carries ids, or, where nothing does, what could be an outermost span. */
static bool inferred_skeleton(const struct model *model, const struct schema_event *event)
{
	uint32_t i;

	if (!model->by_id) {
		return is_lane_skeleton(event);
	}
	for (i = 0; i < event->n_bind; i++) {
		if (strcmp(event->bind[i].ns, "thr") != 0) {
			return true;
		}
	}
	return false;
}

static void infer_all(struct model *model)
{
	uint32_t i;

	choose_mode(model);
	inferred_namespaces(model);
	watch_ids(model);
	for (i = 0; i < model->n_types; i++) {
		const struct schema_event *event = guess_event(model, i, false);

		model->events[i] = event;
		compile_plan(model->names, &model->arena, model->namespaces, model->n_namespaces,
		                model->types[i], event, event && inferred_skeleton(model, event),
		                &model->plans[i]);
	}
}

/* --- schemas that were given ----------------------------------------------------------------- */

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
			                .ttl_ns = ns->ttl_ns ? ns->ttl_ns : REQUEST_TTL_NS,
			};
		}
	}
}

static bool is_lane_key(const char *key)
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
		bool seeded = false, lane = false, composed = false;

		for (s = 0; s < model->n_schemas; s++) {
			for (i = 0; i < model->schemas[s]->n_events; i++) {
				const struct schema_event *event = &model->schemas[s]->events[i];

				for (b = 0; b < event->n_bind; b++) {
					const struct schema_bind *bound = &event->bind[b];

					if (strcmp(bound->ns, ns->name) != 0) {
						continue;
					}
					/* others of its values may come from fields: next_tid */
					if (is_lane_key(bound->keys[0])) {
						lane = true;
						ns->lane_key = strcmp(bound->keys[0], "$cpu")
						                               ? "$tid"
						                               : "$cpu";
					}
					composed |= bound->n_keys > 1;
					seeded |= event->seed && bound->op != BIND_BASIC &&
					          bound->op != BIND_STOP && bound->op != BIND_LEAVE;
				}
			}
		}
		ns->kind = lane && !composed && !ns->global ? NS_LANE
		           : seeded                         ? NS_REQUEST
		                                            : NS_MESSAGE;
		if (ns->kind == NS_REQUEST) {
			model->path_depth = UINT32_MAX;
		}
	}
}

struct choice {
	const struct schema *schema;
	const struct schema_event *event;
	uint32_t weight, range;
};

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

			if (!glob_match(event->match, name)) {
				continue;
			}
			if (best->event && weight == best->weight && range == best->range) {
				note(model, arena_printf(&model->arena,
				                            "%s: \"%s\" (%s) and \"%s\" (%s) match "
				                            "it equally: "
				                            "the first is taken",
				                            name, best->event->match,
				                            best->schema->origin, event->match,
				                            schema->origin));
			}
			if (!best->event || weight > best->weight ||
			                (weight == best->weight && range > best->range)) {
				*best = (struct choice){schema, event, weight, range};
			}
		}
	}
}

static bool given_skeleton(const struct choice *choice, const char *name)
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

static void use_given(struct model *model)
{
	uint32_t i, s;

	merge_namespaces(model);
	classify_namespaces(model);
	for (s = 0; s < model->n_schemas; s++) {
		for (i = 0; i < model->schemas[s]->n_notes; i++) {
			note(model, model->schemas[s]->notes[i]);
		}
	}
	for (i = 0; i < model->n_types; i++) {
		struct choice choice;
		const struct schema_event *event;
		struct compile_notes missing = {.n = 0};
		uint32_t m;

		choose(model, model->types[i]->name, &choice);
		event = choice.event ? choice.event : guess_event(model, i, true);
		model->events[i] = event;
		missing = compile_plan(model->names, &model->arena, model->namespaces,
		                model->n_namespaces, model->types[i], event,
		                choice.event && given_skeleton(&choice, model->types[i]->name),
		                &model->plans[i]);
		for (m = 0; m < missing.n; m++) {
			note(model, missing.texts[m]);
		}
	}
}

static void make_plans(struct model *model)
{
	uint32_t i;

	arena_release(&model->arena);
	model->n_notes = 0;
	model->notes = arena_alloc(&model->arena, MAX_NOTES * sizeof(*model->notes));
	for (i = 0; i < model->n_types; i++) {
		model->sorted[i] = model->types[i]->name;
	}
	if (model->n_types > 0) {
		qsort(model->sorted, model->n_types, sizeof(*model->sorted), compare_names);
	}
	if (model->n_schemas > 0) {
		use_given(model);
	} else {
		infer_all(model);
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

uint32_t model_path_depth(const struct model *model)
{
	return model->path_depth;
}

const struct schema_event *model_event(const struct model *model, uint32_t type)
{
	return type < model->n_types ? model->events[type] : NULL;
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

/* --- the schema as values -------------------------------------------------------------------- */

static void note_ids(struct model *model)
{
	uint32_t i;

	for (i = 0; i < model->n_types; i++) {
		const struct id_watch *watch = model->watches[i];

		if (watch && !watch->is_request && model->n_schemas == 0) {
			note(model, arena_printf(&model->arena,
			                            "%s: field `id` is ambiguous: its values were "
			                            "not seen to "
			                            "recur across threads; not taken for a request "
			                            "id",
			                            model->types[i]->name));
		}
	}
}

static void show_inferred(struct model *model, struct schema *schema)
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
		if (!model->events[i] || j < schema->n_events) {
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
static void show_given(struct model *model, struct schema *schema)
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

const struct schema *model_schema(struct model *model, const char *const *extra, uint32_t n_extra)
{
	uint32_t i;
	const char **notes;

	model_plans(model);
	arena_release(&model->shown);
	model->schema = (struct schema){.origin = NULL};
	if (model->n_schemas > 0) {
		show_given(model, &model->schema);
	} else {
		show_inferred(model, &model->schema);
		note_ids(model);
		if (model->by_id) {
			note(model, "requests are named by request ids");
		} else if (model->n_types > 0) {
			note(model, "nothing names a request: the outermost span of each thread is "
			            "one");
		}
	}
	notes = arena_alloc(&model->shown, (model->n_notes + n_extra + 1) * sizeof(*notes));
	if (!notes || !model->schema.origin) {
		return NULL;
	}
	for (i = 0; i < model->n_notes; i++) {
		notes[i] = model->notes[i];
	}
	for (i = 0; i < n_extra; i++) {
		notes[model->n_notes + i] = extra[i];
	}
	model->schema.n_notes = model->n_notes + n_extra;
	model->schema.notes = notes;
	return &model->schema;
}
