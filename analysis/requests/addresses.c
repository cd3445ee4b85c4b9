/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/addresses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "requests/key.h"

#define NO_FIELD     UINT32_MAX
#define MAX_BUILD_ID 64u
#define MAX_PATH     4096u
#define MAX_SYMBOL   160u /* of a registered symbol: a name, not all arguments of a template */
#define MAX_LABEL    128u
#define MEMO_SLOTS   4096u
#define SHORT_ID     3u /* bytes of a build id in a label */

enum mapping_event {
	MAPPING_NONE = 0,
	MAPPING_ADDED,
	MAPPING_BUILD_ID,
	MAPPING_REMOVED,
	MAPPING_SYMBOL,
};

/* Which events tell what. */
static const struct teacher {
	const char *event;
	enum mapping_event kind;
} mapping_events[] = {
		{"lttng_ust_statedump:bin_info", MAPPING_ADDED},
		{"lttng_ust_statedump:build_id", MAPPING_BUILD_ID},
		{"lttng_ust_dl:dlopen", MAPPING_ADDED},
		{"lttng_ust_dl:dlmopen", MAPPING_ADDED},
		{"lttng_ust_dl:build_id", MAPPING_BUILD_ID},
		{"lttng_ust_dl:dlclose", MAPPING_REMOVED},
		{"lttng_ust_lib:load", MAPPING_ADDED},
		{"lttng_ust_lib:build_id", MAPPING_BUILD_ID},
		{"lttng_ust_lib:unload", MAPPING_REMOVED},
		{"ros2:rclcpp_callback_register", MAPPING_SYMBOL},
};

struct mapping_plan {
	enum mapping_event kind;
	uint32_t at, size, text, id, has_id; /* fields */
};

/* A build of a file. */
struct module {
	struct key key; /* first, as in what follows: see key_table */
	uint32_t path;  /* interned */
	uint32_t label; /* interned: what places in it are named by */
	uint32_t build_id_bytes;
	uint8_t build_id[];
};

struct mapping {
	uint64_t base, end;
	uint32_t path;               /* interned */
	const struct module *module; /* NULL: its build id is still to come */
};

struct process {
	struct key key;
	struct process *next; /* of all, in a ring */
	uint64_t serial;
	bool used; /* since the hand passed */
	uint32_t n, room;
	struct mapping *mappings; /* by base, apart */
};

/* A symbol registered for an address; or how often one was registered in a process. */
struct symbol {
	struct key key;
	uint32_t value;
};

/* How many modules have that label. */
struct label {
	struct key key;
	uint32_t n;
};

struct question {
	uint32_t name;
	const struct module *module;
	uint64_t offset;
};

struct memo {
	struct address_space space;
	uint32_t name;
	uint64_t address;
	uint64_t epoch; /* 0: empty */
};

struct addresses {
	struct names *names;
	struct pool pool;
	struct key_maker maker;
	struct mapping_plan *types;
	uint32_t n_types, types_room;
	struct key_table processes, modules, labels, symbols;
	struct process *hand; /* in the ring of processes */
	uint64_t serial;
	struct question *questions; /* a ring */
	uint32_t first, n_questions;
	uint8_t *asked; /* a bit a name */
	uint32_t asked_names;
	uint64_t epoch; /* counts up with whatever is learned */
	struct memo memo[MEMO_SLOTS];
};

enum space { SPACE_PROCESS, SPACE_MODULE, SPACE_LABEL, SPACE_SYMBOL, SPACE_COUNT };

struct addresses *addresses_create(struct names *names)
{
	struct addresses *a = calloc(1, sizeof(*a));

	if (a) {
		a->names = names;
		a->epoch = 1;
		pool_init(&a->pool);
	}
	return a;
}

/* Gives an item back whose key was kept. */
static void drop(struct addresses *a, struct key_table *table, struct key *item, size_t size)
{
	key_table_remove(table, item);
	key_free(&a->pool, item);
	pool_free(&a->pool, item, size);
}

static void drop_all(struct addresses *a, struct key_table *table, size_t size)
{
	uint32_t i;

	for (i = 0; i < table->room; i++) {
		if (table->slots[i].item) {
			key_free(&a->pool, table->slots[i].item);
			pool_free(&a->pool, table->slots[i].item, size);
		}
	}
	key_table_release(table);
	*table = (struct key_table){.n = 0};
}

static size_t module_size(const struct module *module)
{
	return sizeof(*module) + module->build_id_bytes;
}

void addresses_destroy(struct addresses *a)
{
	struct process *process;
	uint32_t i;

	if (!a) {
		return;
	}
	for (i = 0; i < a->processes.room; i++) {
		process = (struct process *)(void *)a->processes.slots[i].item;
		free(process ? process->mappings : NULL);
	}
	for (i = 0; i < a->modules.room; i++) {
		struct module *module = (struct module *)(void *)a->modules.slots[i].item;

		if (module) {
			key_free(&a->pool, &module->key);
			pool_free(&a->pool, module, module_size(module));
		}
	}
	key_table_release(&a->modules);
	drop_all(a, &a->processes, sizeof(struct process));
	drop_all(a, &a->labels, sizeof(struct label));
	drop_all(a, &a->symbols, sizeof(struct symbol));
	key_maker_release(&a->maker);
	pool_release(&a->pool);
	free(a->types);
	free(a->questions);
	free(a->asked);
	free(a);
}

/* A new, zeroed item of a table. NULL if out of memory. */
static void *add(struct addresses *a, struct key_table *table, const struct key *key, size_t size)
{
	struct key *item = pool_alloc(&a->pool, size);

	if (!item) {
		return NULL;
	}
	memset(item, 0, size);
	if (!key_keep(&a->pool, item, key)) {
		pool_free(&a->pool, item, size);
		return NULL;
	}
	if (!key_table_insert(table, item)) {
		key_free(&a->pool, item);
		pool_free(&a->pool, item, size);
		return NULL;
	}
	return item;
}

/* --- types --- */

static uint32_t field_of(const struct event_type *type, const char *name, bool number)
{
	uint32_t i;

	for (i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];
		bool is_number = field->kind == FIELD_UINT || field->kind == FIELD_INT;

		if (field->scope == SCOPE_PAYLOAD && is_number == number &&
				strcmp(field->name, name) == 0) {
			return i;
		}
	}
	return NO_FIELD;
}

static struct mapping_plan plan_mapping(const struct event_type *type)
{
	struct mapping_plan plan = {.kind = MAPPING_NONE};
	bool symbol, whole;
	size_t i;

	for (i = 0; i < sizeof(mapping_events) / sizeof(mapping_events[0]); i++) {
		if (strcmp(mapping_events[i].event, type->name) == 0) {
			plan.kind = mapping_events[i].kind;
		}
	}
	symbol = plan.kind == MAPPING_SYMBOL;
	plan.at = field_of(type, symbol ? "callback" : "baddr", true);
	plan.size = field_of(type, "memsz", true);
	plan.text = field_of(type, symbol ? "symbol" : "path", false);
	plan.has_id = field_of(type, "has_build_id", true);
	plan.id = field_of(type, "build_id", false);
	whole = plan.at != NO_FIELD &&
		(plan.kind != MAPPING_ADDED || (plan.size != NO_FIELD && plan.text != NO_FIELD)) &&
		(plan.kind != MAPPING_BUILD_ID || plan.id != NO_FIELD) &&
		(!symbol || plan.text != NO_FIELD);
	plan.kind = whole ? plan.kind : MAPPING_NONE;
	return plan;
}

bool addresses_add_type(struct addresses *a, const struct event_type *type)
{
	if (!array_reserve(&a->types, &a->types_room, a->n_types + 1)) {
		return false;
	}
	a->types[a->n_types++] = plan_mapping(type);
	return true;
}

bool addresses_uses(const struct addresses *a, uint32_t type)
{
	return a->types[type].kind != MAPPING_NONE;
}

/* --- processes --- */

static bool process_key(struct addresses *a, const struct address_space *space, struct key *key)
{
	if (space->pid < 0 || !key_begin(&a->maker, SPACE_PROCESS, space->host) ||
			!key_number(&a->maker, space->pid_ns) ||
			!key_number(&a->maker, (uint32_t)space->pid)) {
		return false;
	}
	*key = key_view(&a->maker);
	return true;
}

static struct process *find_process(struct addresses *a, const struct address_space *space)
{
	struct process *process;
	struct key key;

	if (!process_key(a, space, &key)) {
		return NULL;
	}
	process = (struct process *)(void *)key_table_find(&a->processes, &key);
	if (process) {
		process->used = true;
	}
	return process;
}

/* Forgets a process that was not asked about since the hand passed it. (Second chance.) */
static void forget_process(struct addresses *a)
{
	struct process *before = a->hand, *process = before->next;

	while (process->used) {
		process->used = false;
		before = process;
		process = process->next;
	}
	before->next = process->next;
	a->hand = before;
	free(process->mappings);
	drop(a, &a->processes, &process->key, sizeof(*process));
}

static struct process *make_process(struct addresses *a, const struct address_space *space)
{
	struct process *process = find_process(a, space);
	struct key key;

	if (process || space->pid < 0) {
		return process;
	}
	if (a->processes.n >= ADDRESSES_MAX_PROCESSES) {
		forget_process(a);
	}
	if (!process_key(a, space, &key)) {
		return NULL;
	}
	process = add(a, &a->processes, &key, sizeof(*process));
	if (!process) {
		return NULL;
	}
	process->serial = ++a->serial;
	process->next = a->hand ? a->hand->next : process;
	if (a->hand) {
		a->hand->next = process;
	}
	a->hand = process; /* the hand comes to it after all others */
	return process;
}

/* The first mapping that ends behind an address. */
static uint32_t mapping_behind(const struct process *process, uint64_t address)
{
	uint32_t low = 0, high = process->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (process->mappings[middle].end <= address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static void remove_mappings(struct process *process, uint32_t from, uint32_t to)
{
	if (from == to) {
		return;
	}
	memmove(process->mappings + from, process->mappings + to,
			(process->n - to) * sizeof(*process->mappings));
	process->n -= to - from;
}

/* What was mapped there before is not there any more. */
static void map(struct process *process, const struct mapping *mapping)
{
	uint32_t at = mapping_behind(process, mapping->base), to = at;

	while (to < process->n && process->mappings[to].base < mapping->end) {
		to++;
	}
	remove_mappings(process, at, to);
	if (process->n == ADDRESSES_MAX_MAPPINGS) {
		return;
	}
	if (!array_reserve(&process->mappings, &process->room, process->n + 1)) {
		return;
	}
	memmove(process->mappings + at + 1, process->mappings + at,
			(process->n - at) * sizeof(*process->mappings));
	process->mappings[at] = *mapping;
	process->n++;
}

static struct mapping *mapping_at(const struct process *process, uint64_t address)
{
	uint32_t at = mapping_behind(process, address);

	return at < process->n && process->mappings[at].base <= address ? &process->mappings[at]
									: NULL;
}

/* --- modules --- */

/* How many have that label now; 0 if out of memory. */
static uint32_t count_label(struct addresses *a, uint32_t name)
{
	struct label *label;
	struct key key;

	if (!key_begin(&a->maker, SPACE_LABEL, 0) || !key_number(&a->maker, name)) {
		return 0;
	}
	key = key_view(&a->maker);
	label = (struct label *)(void *)key_table_find(&a->labels, &key);
	if (!label) {
		label = add(a, &a->labels, &key, sizeof(*label));
	}
	return label ? ++label->n : 0;
}

/* "libfoo.so" for the first build that is met, "libfoo.so@1b2c3d" for others. */
static uint32_t make_label(
		struct addresses *a, const char *path, const uint8_t *build_id, uint32_t bytes)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash && slash[1] ? slash + 1 : path;
	char text[MAX_LABEL + 2 * SHORT_ID + 16];
	int used = snprintf(text, sizeof(text), "%.*s", (int)MAX_LABEL, base);
	uint32_t label = names_add(a->names, text, strlen(text));
	uint32_t n = count_label(a, label), i;

	if (n <= 1) {
		return label;
	}
	used += snprintf(text + used, sizeof(text) - (size_t)used, "@");
	if (bytes == 0) {
		snprintf(text + used, sizeof(text) - (size_t)used, "%" PRIu32, n);
	}
	for (i = 0; i < bytes && i < SHORT_ID; i++) {
		used += snprintf(text + used, sizeof(text) - (size_t)used, "%02x", build_id[i]);
	}
	return names_add(a->names, text, strlen(text));
}

static const struct module *take_module(
		struct addresses *a, uint32_t path, const uint8_t *build_id, uint32_t bytes)
{
	struct module *module;
	struct key key;

	if (!key_begin(&a->maker, SPACE_MODULE, 0) || !key_number(&a->maker, path) ||
			!key_bytes(&a->maker, build_id, bytes)) {
		return NULL;
	}
	key = key_view(&a->maker);
	module = (struct module *)(void *)key_table_find(&a->modules, &key);
	if (module || a->modules.n >= ADDRESSES_MAX_MODULES) {
		return module;
	}
	module = add(a, &a->modules, &key, sizeof(*module) + bytes);
	if (!module) {
		return NULL;
	}
	module->path = path;
	module->build_id_bytes = bytes;
	memcpy(module->build_id, build_id, bytes);
	module->label = make_label(a, names_text(a->names, path), build_id, bytes);
	return module;
}

/* --- learning --- */

static uint32_t text_of(struct addresses *a, const struct event *event, uint32_t field, size_t max)
{
	uint32_t length;
	const char *bytes = event_bytes(event, field, &length);

	if (!bytes) {
		return 0;
	}
	return names_add(a->names, bytes, strnlen(bytes, length < max ? length : max));
}

static void learn_mapping(struct addresses *a, const struct mapping_plan *plan,
		const struct address_space *space, const struct event *event)
{
	struct process *process = make_process(a, space);
	uint64_t base = event->slots[plan->at], size = event->slots[plan->size];
	struct mapping mapping = {.base = base,
			.end = base + size,
			.path = text_of(a, event, plan->text, MAX_PATH)};

	if (!process || mapping.end <= base || !mapping.path) {
		return;
	}
	if (plan->has_id == NO_FIELD || event->slots[plan->has_id] == 0) {
		mapping.module = take_module(a, mapping.path, (const uint8_t *)"", 0);
	}
	map(process, &mapping);
}

/* An array of small numbers. Returns how many; 0 if it is anything else. */
static uint32_t read_bytes(const struct event *event, uint32_t field, uint8_t out[MAX_BUILD_ID])
{
	uint32_t length, header[2], i, n;
	const char *at = event_bytes(event, field, &length);
	uint64_t value;

	if (!at || length < sizeof(header)) {
		return 0;
	}
	memcpy(header, at, sizeof(header));
	n = header[1];
	if (header[0] != TREE_ARRAY || n > MAX_BUILD_ID || length < 8 + n * 16) {
		return 0;
	}
	for (i = 0, at += 8; i < n; i++, at += 16) {
		memcpy(header, at, sizeof(header));
		memcpy(&value, at + 8, sizeof(value));
		if (header[0] != TREE_UINT || value > UINT8_MAX) {
			return 0;
		}
		out[i] = (uint8_t)value;
	}
	return n;
}

static void learn_build_id(struct addresses *a, const struct mapping_plan *plan,
		const struct address_space *space, const struct event *event)
{
	struct process *process = find_process(a, space);
	struct mapping *mapping = process ? mapping_at(process, event->slots[plan->at]) : NULL;
	uint8_t build_id[MAX_BUILD_ID];
	uint32_t n = read_bytes(event, plan->id, build_id);

	if (mapping && mapping->base == event->slots[plan->at]) {
		mapping->module = take_module(a, mapping->path, build_id, n);
	}
}

static void learn_unmapping(struct addresses *a, const struct mapping_plan *plan,
		const struct address_space *space, const struct event *event)
{
	struct process *process = find_process(a, space);
	uint64_t base = event->slots[plan->at];
	uint32_t at = process ? mapping_behind(process, base) : 0;

	if (process && at < process->n && process->mappings[at].base == base) {
		remove_mappings(process, at, at + 1);
	}
}

static struct symbol *find_symbol(struct addresses *a, enum space kind,
		const struct process *process, uint64_t what, bool make)
{
	struct symbol *symbol;
	struct key key;

	if (!key_begin(&a->maker, kind, 0) || !key_number(&a->maker, process->serial) ||
			!key_number(&a->maker, what)) {
		return NULL;
	}
	key = key_view(&a->maker);
	symbol = (struct symbol *)(void *)key_table_find(&a->symbols, &key);
	return symbol || !make ? symbol : add(a, &a->symbols, &key, sizeof(*symbol));
}

/*
 * "Node::Node(...)::{lambda(...)#1}", "std::_Bind<void (Node::*(...))(...)>": of what C++ calls a
 * function, what people do. Arguments go, and within templates what is nested twice. Brackets that
 * do not match are left as they are.
 */
static uint32_t shorten(const char *text, uint32_t length, char out[MAX_SYMBOL])
{
	uint32_t i, used = 0, depth = 0, limit = 0, hidden = 0;

	for (i = 0; i < length && used + 4 < MAX_SYMBOL; i++) {
		bool opens = text[i] == '(' || text[i] == '<';
		bool closes = text[i] == ')' || text[i] == '>';

		if (closes && depth-- == 0) {
			break;
		}
		if (closes && depth == limit && hidden > 0) {
			memcpy(out + used, "...", 3);
			used += 3;
			hidden = 0;
		}
		if (depth <= limit) {
			out[used++] = text[i];
		} else {
			hidden++;
		}
		if (opens && depth++ == 0) {
			limit = text[i] == '<' ? 2 : 0;
		}
	}
	if (i < length || depth > 0) {
		used = length < MAX_SYMBOL ? length : MAX_SYMBOL;
		memcpy(out, text, used);
	}
	return used;
}

/*
 * Several callbacks may have one symbol (all that std::bind made of methods of one class): they are
 * told apart by their order, which is the same in every run.
 */
static void learn_symbol(struct addresses *a, const struct mapping_plan *plan,
		const struct address_space *space, const struct event *event)
{
	struct process *process = make_process(a, space);
	char brief[MAX_SYMBOL];
	uint32_t length;
	const char *bytes = event_bytes(event, plan->text, &length);
	uint32_t used = bytes ? shorten(bytes, (uint32_t)strnlen(bytes, length), brief) : 0;
	uint32_t text = names_add(a->names, brief, used);
	char numbered[MAX_SYMBOL + 16];
	struct symbol *count, *symbol;

	if (!process || !text) {
		return;
	}
	if (a->symbols.n >= ADDRESSES_MAX_SYMBOLS) {
		drop_all(a, &a->symbols, sizeof(struct symbol));
	}
	symbol = find_symbol(a, SPACE_SYMBOL, process, event->slots[plan->at], true);
	count = symbol ? find_symbol(a, SPACE_COUNT, process, text, true) : NULL;
	if (!count || symbol->value) {
		return;
	}
	symbol->value = text;
	if (++count->value > 1) {
		snprintf(numbered, sizeof(numbered), "%s#%" PRIu32, names_text(a->names, text),
				count->value);
		symbol->value = names_add(a->names, numbered, strlen(numbered));
	}
}

void addresses_learn(
		struct addresses *a, const struct address_space *space, const struct event *event)
{
	const struct mapping_plan *plan = &a->types[event->type];

	a->epoch++;
	switch (plan->kind) {
	case MAPPING_ADDED:
		learn_mapping(a, plan, space, event);
		break;
	case MAPPING_BUILD_ID:
		learn_build_id(a, plan, space, event);
		break;
	case MAPPING_REMOVED:
		learn_unmapping(a, plan, space, event);
		break;
	case MAPPING_SYMBOL:
		learn_symbol(a, plan, space, event);
		break;
	case MAPPING_NONE:
		break;
	}
}

/* --- naming --- */

/* True: it was not asked before, and is noted as asked. */
static bool mark_asked(struct addresses *a, uint32_t name)
{
	uint8_t bit = (uint8_t)(1u << (name & 7));

	if (name >= a->asked_names) {
		uint32_t room = name * 2 + 4096;
		uint8_t *asked = realloc(a->asked, room / 8 + 1);

		if (!asked) {
			return false;
		}
		memset(asked + (a->asked_names ? a->asked_names / 8 + 1 : 0), 0,
				room / 8 + 1 - (a->asked_names ? a->asked_names / 8 + 1 : 0));
		a->asked = asked;
		a->asked_names = room;
	}
	if (a->asked[name / 8] & bit) {
		return false;
	}
	a->asked[name / 8] |= bit;
	return true;
}

static void ask(struct addresses *a, uint32_t name, const struct module *module, uint64_t offset)
{
	if (module->build_id_bytes == 0 || !mark_asked(a, name)) {
		return; /* without a build id nobody could tell whether a file is that binary */
	}
	if (!a->questions) {
		a->questions = calloc(ADDRESSES_MAX_QUESTIONS, sizeof(*a->questions));
	}
	if (a->questions && a->n_questions < ADDRESSES_MAX_QUESTIONS) {
		a->questions[(a->first + a->n_questions++) % ADDRESSES_MAX_QUESTIONS] =
				(struct question){name, module, offset};
	}
}

static uint32_t name_place(struct addresses *a, const struct module *module, uint64_t offset)
{
	char text[2 * MAX_LABEL + 32];
	uint32_t name;

	snprintf(text, sizeof(text), "%s+0x%" PRIx64, names_text(a->names, module->label), offset);
	name = names_add(a->names, text, strlen(text));
	if (name) {
		ask(a, name, module, offset);
	}
	return name;
}

static uint32_t find_name(struct addresses *a, const struct address_space *space, uint64_t address)
{
	struct process *process = find_process(a, space);
	const struct symbol *symbol;
	const struct mapping *mapping;

	if (!process) {
		return 0;
	}
	symbol = find_symbol(a, SPACE_SYMBOL, process, address, false);
	if (symbol) {
		return symbol->value;
	}
	mapping = mapping_at(process, address);
	return mapping && mapping->module ? name_place(a, mapping->module, address - mapping->base)
					  : 0;
}

uint32_t addresses_name(struct addresses *a, const struct address_space *space, uint64_t address)
{
	struct memo *memo = &a->memo[hash_pair(address, (uint32_t)space->pid) % MEMO_SLOTS];

	if (a->processes.n == 0) {
		return 0;
	}
	if (memo->epoch == a->epoch && memo->address == address &&
			memo->space.host == space->host && memo->space.pid_ns == space->pid_ns &&
			memo->space.pid == space->pid) {
		return memo->name;
	}
	*memo = (struct memo){.space = *space,
			.name = find_name(a, space, address),
			.address = address,
			.epoch = a->epoch};
	return memo->name;
}

bool addresses_next(struct addresses *a, struct symbol_query *query)
{
	const struct question *question = a->questions ? &a->questions[a->first] : NULL;

	if (a->n_questions == 0) {
		return false;
	}
	*query = (struct symbol_query){
			.id = question->name,
			.path = names_text(a->names, question->module->path),
			.module = names_text(a->names, question->module->label),
			.build_id = question->module->build_id,
			.build_id_bytes = question->module->build_id_bytes,
			.offset = question->offset,
	};
	a->first = (a->first + 1) % ADDRESSES_MAX_QUESTIONS;
	a->n_questions--;
	return true;
}
