/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "field.h"

#include <stdio.h>
#include <string.h>

#include "resolve.h"

static bool build(struct ctf_fields *fields, struct ctf_field *field, const struct ctf_type *type);

void ctf_fields_fail(struct ctf_fields *fields, const char *what, const char *name)
{
	if (!fields->failed) {
		snprintf(fields->error, fields->error_room, "field %s: %s", name, what);
	}
	fields->failed = true;
}

static struct ctf_field *add_inside(struct ctf_fields *fields, struct ctf_field *field, uint32_t n)
{
	if (n > CTF_FIELDS_MAX || fields->n_fields + n > CTF_FIELDS_MAX) {
		ctf_fields_fail(fields, "too many fields", field->declared);
		return NULL;
	}
	fields->n_fields += n;
	field->inside = arena_alloc(fields->arena, (n + 1) * sizeof(*field->inside));
	if (!field->inside) {
		ctf_fields_fail(fields, "out of memory", field->declared);
		return NULL;
	}
	field->n = n;
	for (uint32_t i = 0; i < n; i++) {
		field->inside[i].outside = field;
		field->inside[i].declared = field->inside[i].name = field->declared;
	}
	return field->inside;
}

static bool is_ctf_1(const struct ctf_fields *fields)
{
	return fields->metadata->version == 1;
}

static bool build_members(
		struct ctf_fields *fields, struct ctf_field *field, const struct ctf_type *type)
{
	struct ctf_field *inside = add_inside(fields, field, type->n);
	const struct ctf_member *member = type->members;

	for (uint32_t i = 0; inside && i < type->n; i++, member = member->next) {
		inside[i].declared = member->name;
		inside[i].name = member->name + (is_ctf_1(fields) && member->name[0] == '_');
		if (!build(fields, &inside[i], member->type)) {
			return false;
		}
	}
	return inside != NULL;
}

static void build_number(
		struct ctf_fields *fields, struct ctf_field *field, const struct ctf_type *type)
{
	const struct ctf_clock *clock = fields->metadata->clocks;

	field->bits = type->bits;
	field->is_signed = type->is_signed;
	field->is_bool = type->is_bool;
	field->is_variable = type->is_variable;
	field->base = type->base;
	if (!type->clock) {
		return;
	}
	while (clock && strcmp(clock->name, type->clock) != 0) {
		clock = clock->next;
	}
	if (!clock) {
		ctf_fields_fail(fields, "a clock that is not declared", field->declared);
	} else if (fields->clock && fields->clock != clock) {
		ctf_fields_fail(fields, "a second clock in one stream", field->declared);
	}
	fields->clock = clock;
	field->is_clock = true;
}

/* CTF 2: what a field means is said where it is declared. */
static void take_role(struct ctf_fields *fields, struct ctf_field *field)
{
	enum ctf_meaning meaning = field->type->meaning;
	enum ctf_scope scope = meaning <= CTF_MEANS_STREAM     ? CTF_PACKET_HEADER
			       : meaning <= CTF_MEANS_SEQUENCE ? CTF_PACKET_CONTEXT
							       : CTF_EVENT_HEADER;

	if (meaning == CTF_MEANS_NOTHING) {
		return;
	}
	if (meaning == CTF_MEANS_BEGIN && fields->scope == CTF_EVENT_HEADER) {
		meaning = CTF_MEANS_NOTHING; /* it is the event's time */
		scope = CTF_EVENT_HEADER;
		field->is_clock = true;
	} else if (meaning == CTF_MEANS_BEGIN) {
		field->is_clock = true;
	}
	field->meaning = (uint8_t)meaning;
	if (scope != fields->scope || field->is_signed || (field->is_clock && !fields->clock)) {
		ctf_fields_fail(fields, "a role that it cannot have", field->declared);
	}
}

/* Of 8-bit characters: such arrays are texts. */
static bool is_character(const struct ctf_type *type)
{
	const struct ctf_type *number = type->kind == CTF_ENUM ? type->of : type;

	return number->kind == CTF_INTEGER && number->is_text && number->bits == 8 &&
	       type->align == 8;
}

static bool build(struct ctf_fields *fields, struct ctf_field *field, const struct ctf_type *type)
{
	const struct ctf_type *number = type->kind == CTF_ENUM ? type->of : type;
	uint8_t order = number->order == CTF_ORDER_TRACE ? (uint8_t)fields->metadata->order
							 : number->order;

	field->kind = type->kind;
	field->type = type;
	field->align = type->align;
	field->base = 10;
	field->kept = field->source = -1;
	field->fixed = -1;
	field->is_big = order == CTF_ORDER_BIG;
	switch (type->kind) {
	case CTF_INTEGER:
	case CTF_FLOAT:
	case CTF_ENUM:
		build_number(fields, field, number);
		take_role(fields, field);
		break;
	case CTF_STRUCT:
	case CTF_VARIANT:
		field->is_optional = type->is_optional;
		return build_members(fields, field, type);
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		field->length = type->length;
		field->is_text = is_character(type->of);
		return add_inside(fields, field, 1) && build(fields, field->inside, type->of);
	default:
		break;
	}
	return !fields->failed;
}

/* --- What fields mean ---------------------------------------------------------------------------
 */

struct named_meaning {
	enum ctf_scope scope;
	enum ctf_meaning meaning;
	const char *name;
};

static const struct named_meaning meanings[] = {
		{CTF_PACKET_HEADER, CTF_MEANS_MAGIC, "magic"},
		{CTF_PACKET_HEADER, CTF_MEANS_UUID, "uuid"},
		{CTF_PACKET_HEADER, CTF_MEANS_STREAM_CLASS, "stream_id"},
		{CTF_PACKET_HEADER, CTF_MEANS_STREAM, "stream_instance_id"},
		{CTF_PACKET_CONTEXT, CTF_MEANS_BEGIN, "timestamp_begin"},
		{CTF_PACKET_CONTEXT, CTF_MEANS_END, "timestamp_end"},
		{CTF_PACKET_CONTEXT, CTF_MEANS_CONTENT_SIZE, "content_size"},
		{CTF_PACKET_CONTEXT, CTF_MEANS_PACKET_SIZE, "packet_size"},
		{CTF_PACKET_CONTEXT, CTF_MEANS_DISCARDED, "events_discarded"},
		{CTF_PACKET_CONTEXT, CTF_MEANS_SEQUENCE, "packet_seq_num"},
};

static void set_meaning(struct ctf_fields *fields, struct ctf_field *field, enum ctf_scope scope)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++) {
		if (meanings[i].scope != scope || strcmp(meanings[i].name, field->name) != 0) {
			continue;
		}
		if (meanings[i].meaning == CTF_MEANS_UUID) {
			field->meaning = field->kind == CTF_ARRAY ? CTF_MEANS_UUID : 0;
		} else if (ctf_field_is_number(field)) {
			field->meaning = (uint8_t)meanings[i].meaning;
			if (field->is_signed) {
				ctf_fields_fail(fields, "it has to be unsigned", field->declared);
			}
		}
	}
	/* It is when the packet ends, so not a time of what follows it. */
	if (field->meaning == CTF_MEANS_END) {
		field->is_clock = false;
	}
}

/* An event's header may tell its class at any depth: the last one counts. */
static void set_event_class(struct ctf_fields *fields, struct ctf_field *field, bool has_name)
{
	if (ctf_field_is_number(field) && has_name && strcmp(field->name, "id") == 0) {
		field->meaning = CTF_MEANS_EVENT_CLASS;
		if (field->is_signed) {
			ctf_fields_fail(fields, "it has to be unsigned", field->declared);
		}
	}
	for (uint32_t i = 0; i < field->n; i++) {
		set_event_class(fields, &field->inside[i], field->kind == CTF_STRUCT);
	}
}

static bool is_time(enum ctf_scope scope, const char *name)
{
	if (scope == CTF_EVENT_HEADER) {
		return strcmp(name, "timestamp") == 0;
	}
	return scope == CTF_PACKET_CONTEXT && strncmp(name, "timestamp_", 10) == 0 &&
	       (strcmp(name + 10, "begin") == 0 || strcmp(name + 10, "end") == 0);
}

/* Before clocks were mapped to fields, these were times of the only clock. */
static void map_times(struct ctf_fields *fields, struct ctf_field *field, enum ctf_scope scope)
{
	const struct ctf_clock *clock = fields->metadata->clocks;

	if (ctf_field_is_number(field) && !field->is_clock && is_time(scope, field->name)) {
		if (!clock || clock->next || (fields->clock && fields->clock != clock)) {
			ctf_fields_fail(fields, "a time of no clock, or of which one?",
					field->declared);
		}
		fields->clock = clock;
		field->is_clock = true;
	}
	for (uint32_t i = 0; i < field->n; i++) {
		map_times(fields, &field->inside[i], scope);
	}
}

/* Values of numbers that are there once in each packet; what comes later may depend on them. */
static bool keep_all(struct ctf_fields *fields, struct ctf_field *field)
{
	if (ctf_field_is_number(field)) {
		return ctf_fields_keep(fields, field);
	}
	for (uint32_t i = 0; field->kind == CTF_STRUCT && i < field->n; i++) {
		if (!keep_all(fields, &field->inside[i])) {
			return false;
		}
	}
	return true;
}

static bool is_of_stream(const struct ctf_fields *fields, const struct ctf_field *root)
{
	for (uint32_t i = 0; i < CTF_SPECIFIC_CONTEXT; i++) {
		if (fields->scopes[i] == root) {
			return true;
		}
	}
	return false;
}

bool ctf_fields_keep(struct ctf_fields *fields, struct ctf_field *field)
{
	if (field->kept >= 0) {
		return true;
	}
	if (fields->n_kept == CTF_KEPT_MAX) {
		ctf_fields_fail(fields, "too many lengths and tags", field->declared);
		return false;
	}
	field->kept = fields->n_kept++;
	for (struct ctf_field *around = field; around; around = around->outside) {
		around->fixed = -1;
		if (!around->outside && is_of_stream(fields, around)) {
			fields->n_kept_of_stream = fields->n_kept;
		}
	}
	return true;
}

/* --- Sizes --------------------------------------------------------------------------------------
 */

#define FIXED_MAX (INT64_C(1) << 40)

static int64_t round_up(int64_t bits, uint32_t align)
{
	return (bits + align - 1) & ~((int64_t)align - 1);
}

static int64_t struct_size(const struct ctf_field *field)
{
	int64_t size = 0;

	for (uint32_t i = 0; i < field->n; i++) {
		const struct ctf_field *member = &field->inside[i];

		size = round_up(size, member->align) + member->fixed;
		if (member->fixed < 0 || size > FIXED_MAX) {
			return -1;
		}
	}
	return size;
}

static int64_t array_size(const struct ctf_field *field)
{
	int64_t element = field->inside->fixed;
	int64_t stride = round_up(element, field->inside->align);

	if (element < 0 || field->length > (uint64_t)FIXED_MAX) {
		return -1;
	}
	if (field->length == 0 || stride == 0) {
		return 0;
	}
	return (int64_t)field->length > FIXED_MAX / stride
			       ? -1
			       : ((int64_t)field->length - 1) * stride + element;
}

static void measure(struct ctf_field *field)
{
	for (uint32_t i = 0; i < field->n; i++) {
		measure(&field->inside[i]);
	}
	field->fixed = -1;
	if (field->kind == CTF_STRUCT) {
		field->fixed = struct_size(field);
	} else if (field->kind == CTF_ARRAY) {
		field->fixed = array_size(field);
	} else if (field->bits > 0 && !field->is_variable && field->kept < 0 && !field->is_clock &&
			!field->meaning) {
		field->fixed = field->bits;
	}
}

/* CTF 1.8: by the names of fields. */
static void find_meanings(struct ctf_fields *fields, struct ctf_field *root, enum ctf_scope scope)
{
	if (scope == CTF_EVENT_HEADER || scope == CTF_PACKET_CONTEXT) {
		map_times(fields, root, scope);
	}
	for (uint32_t i = 0; i < root->n; i++) {
		set_meaning(fields, &root->inside[i], scope);
	}
	if (scope == CTF_EVENT_HEADER) {
		set_event_class(fields, root, false);
	}
}

bool ctf_fields_add(struct ctf_fields *fields, enum ctf_scope scope, const struct ctf_type *type)
{
	struct ctf_field *root;

	if (!type) {
		return true;
	}
	root = arena_alloc(fields->arena, sizeof(*root));
	if (!root) {
		ctf_fields_fail(fields, "out of memory", "");
		return false;
	}
	fields->n_fields = 0;
	fields->scope = scope;
	root->declared = root->name = "";
	if (!build(fields, root, type)) {
		return false;
	}
	fields->scopes[scope] = root;
	if (is_ctf_1(fields)) {
		find_meanings(fields, root, scope);
	}
	if (scope <= CTF_PACKET_CONTEXT && !keep_all(fields, root)) {
		return false;
	}
	if (!ctf_resolve(fields, root) || fields->failed) {
		return false;
	}
	measure(root);
	return true;
}
