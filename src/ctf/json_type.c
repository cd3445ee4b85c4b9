/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "field.h"
#include "json_parts.h"

static struct ctf_type *new_type(struct fragment *fragment, enum ctf_kind kind, uint32_t align)
{
	struct ctf_type *type = fragment_alloc(fragment, sizeof(*type));

	if (type) {
		type->kind = (uint8_t)kind;
		type->align = align;
		type->base = 10;
		type->depth = 1;
		type->separator = CTF_PIECE;
	}
	return type;
}

/* Types are shared by alias, so a short text can nest deeper than its brackets do. */
static void holds(struct fragment *fragment, struct ctf_type *type, const struct ctf_type *inner)
{
	if (inner->depth >= type->depth) {
		type->depth = (uint8_t)(inner->depth + 1);
	}
	if (type->depth > TSDL_MAX_DEPTH) {
		fragment_fail(fragment, "nested too deep", "");
	}
}

static uint32_t align_of(struct fragment *fragment, const json_t *class, const char *name)
{
	uint64_t align = fragment_count(fragment, class, name, 1);

	if (align == 0 || align > 1u << 16 || (align & (align - 1)) != 0) {
		fragment_fail(fragment, "an alignment has to be a power of two", name);
		return 1;
	}
	return (uint32_t)align;
}

/* --- Numbers ------------------------------------------------------------------------------------
 */

static const struct {
	const char *role;
	enum ctf_meaning meaning;
} roles[] = {
		{"packet-magic-number", CTF_MEANS_MAGIC},
		{"metadata-stream-uuid", CTF_MEANS_UUID},
		{"data-stream-class-id", CTF_MEANS_STREAM_CLASS},
		{"data-stream-id", CTF_MEANS_STREAM},
		{"default-clock-timestamp", CTF_MEANS_BEGIN},
		{"packet-end-default-clock-timestamp", CTF_MEANS_END},
		{"packet-content-length", CTF_MEANS_CONTENT_SIZE},
		{"packet-total-length", CTF_MEANS_PACKET_SIZE},
		{"discarded-event-record-counter-snapshot", CTF_MEANS_DISCARDED},
		{"packet-sequence-number", CTF_MEANS_SEQUENCE},
		{"event-record-class-id", CTF_MEANS_EVENT_CLASS},
};

static void take_roles(struct fragment *fragment, struct ctf_type *type, const json_t *class)
{
	const json_t *list = json_object_get(class, "roles");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *role = json_string_value(json_array_get(list, i));
		size_t j = 0;

		while (role && j < sizeof(roles) / sizeof(*roles) &&
				strcmp(roles[j].role, role) != 0) {
			j++;
		}
		if (!role || j == sizeof(roles) / sizeof(*roles) || type->meaning) {
			fragment_fail(fragment, "a role that is not known, or a second one",
					role ? role : "");
			return;
		}
		type->meaning = (uint8_t)roles[j].meaning;
	}
}

static void take_order(struct fragment *fragment, struct ctf_type *type, const json_t *class)
{
	const char *order = fragment_text(class, "byte-order", "");
	bool is_big = strcmp(order, "big-endian") == 0;
	const char *usual = is_big ? "last-to-first" : "first-to-last";

	if (!is_big && strcmp(order, "little-endian") != 0) {
		fragment_fail(fragment, "a byte order that is not known", order);
	}
	if (strcmp(fragment_text(class, "bit-order", usual), usual) != 0) {
		fragment_fail(fragment, "a bit order that is not read", order);
	}
	type->order = is_big ? CTF_ORDER_BIG : CTF_ORDER_LITTLE;
}

/* Pairs of both ends, appended to the list; all have the name. */
static struct ctf_label **take_ranges(struct fragment *fragment, const json_t *ranges,
		const char *name, struct ctf_label **last, uint32_t *n)
{
	for (size_t i = 0; i < json_array_size(ranges); i++) {
		const json_t *range = json_array_get(ranges, i);
		struct ctf_label *label = fragment_alloc(fragment, sizeof(*label));

		if (!label) {
			return last;
		}
		label->name = name;
		if (json_array_size(range) != 2 ||
				!fragment_number(json_array_get(range, 0), &label->lower) ||
				!fragment_number(json_array_get(range, 1), &label->upper)) {
			fragment_fail(fragment, "not a range", name);
			return last;
		}
		*last = label;
		last = &label->next;
		++*n;
	}
	return last;
}

/* An integer whose values have names is an enumeration of it. */
static struct ctf_type *with_mappings(
		struct fragment *fragment, struct ctf_type *number, const json_t *class)
{
	json_t *mappings = json_object_get(class, "mappings"), *ranges;
	struct ctf_label **last;
	struct ctf_type *type;
	const char *name;

	if (json_object_size(mappings) == 0) {
		return number;
	}
	type = new_type(fragment, CTF_ENUM, number->align);
	if (!type) {
		return NULL;
	}
	type->of = number;
	type->meaning = number->meaning;
	last = &type->labels;
	json_object_foreach(mappings, name, ranges)
	{
		last = take_ranges(fragment, ranges, fragment_copy(fragment, name), last, &type->n);
	}
	return type;
}

static struct ctf_type *number_type(struct fragment *fragment, const json_t *class, bool is_signed)
{
	uint64_t base = fragment_count(fragment, class, "preferred-display-base", 10);
	struct ctf_type *type = new_type(fragment, CTF_INTEGER, 1);

	if (!type) {
		return NULL;
	}
	type->is_signed = is_signed;
	type->base = base == 2 || base == 8 || base == 16 ? (uint8_t)base : 10;
	take_roles(fragment, type, class);
	return type;
}

static void take_bits(struct fragment *fragment, struct ctf_type *type, const json_t *class)
{
	uint64_t bits = fragment_count(fragment, class, "length", 0);

	if (bits == 0 || bits > 64) {
		fragment_fail(fragment, "a size that numbers cannot have", "");
	}
	type->bits = (uint32_t)bits;
	type->align = align_of(fragment, class, "alignment");
	take_order(fragment, type, class);
}

static struct ctf_type *fixed_number(struct fragment *fragment, const json_t *class, bool is_signed)
{
	struct ctf_type *type = number_type(fragment, class, is_signed);

	if (!type) {
		return NULL;
	}
	take_bits(fragment, type, class);
	return with_mappings(fragment, type, class);
}

static struct ctf_type *variable_number(
		struct fragment *fragment, const json_t *class, bool is_signed)
{
	struct ctf_type *type = number_type(fragment, class, is_signed);

	if (!type) {
		return NULL;
	}
	type->is_variable = true;
	type->bits = 64;
	type->align = 8;
	type->order = CTF_ORDER_LITTLE;
	return with_mappings(fragment, type, class);
}

static struct ctf_type *fixed_bits(struct fragment *fragment, const json_t *class, bool is_bool)
{
	struct ctf_type *type = new_type(fragment, CTF_INTEGER, 1);

	if (type) {
		take_bits(fragment, type, class);
		type->is_bool = is_bool;
		type->base = is_bool ? 10 : 16;
	}
	return type;
}

static struct ctf_type *floating_point(struct fragment *fragment, const json_t *class)
{
	struct ctf_type *type = new_type(fragment, CTF_FLOAT, 1);

	if (!type) {
		return NULL;
	}
	take_bits(fragment, type, class);
	if (type->bits != 32 && type->bits != 64) {
		fragment_fail(fragment,
				"a floating point number of another size than 32 or 64 bits", "");
	}
	return type;
}

/* --- What has something inside ------------------------------------------------------------------
 */

static const char *const origins[CTF_SCOPES] = {
		[CTF_PACKET_HEADER] = "packet-header",
		[CTF_PACKET_CONTEXT] = "packet-context",
		[CTF_EVENT_HEADER] = "event-record-header",
		[CTF_COMMON_CONTEXT] = "event-record-common-context",
		[CTF_SPECIFIC_CONTEXT] = "event-record-specific-context",
		[CTF_PAYLOAD] = "event-record-payload",
};

/* Where another field lies: its scope, if it is said, and names; one that is missing goes up. */
static void take_location(struct fragment *fragment, struct ctf_type *type, const json_t *class,
		const char *name)
{
	const json_t *location = json_object_get(class, name);
	const json_t *path = json_object_get(location, "path");
	const char *origin = fragment_text(location, "origin", NULL);
	char text[4 * NAME_BYTES] = "";
	size_t length = 0;

	while (origin && type->origin < CTF_SCOPES && strcmp(origins[type->origin], origin) != 0) {
		type->origin++;
	}
	if (!origin) {
		type->origin = CTF_SCOPES;
	} else if (type->origin == CTF_SCOPES) {
		fragment_fail(fragment, "an origin that is not known", origin);
	}
	for (size_t i = 0; i < json_array_size(path); i++) {
		const json_t *piece = json_array_get(path, i);
		const char *piece_text = json_is_string(piece) ? json_string_value(piece) : "";
		size_t size = strlen(piece_text);

		if (length + size + 2 > sizeof(text)) {
			fragment_fail(fragment, "too long", name);
			return;
		}
		if (i > 0) {
			text[length++] = CTF_PIECE;
		}
		memcpy(text + length, piece_text, size + 1);
		length += size;
	}
	if (json_array_size(path) == 0) {
		fragment_fail(fragment, "it has no path", name);
	}
	type->path = fragment_copy(fragment, text);
}

static struct ctf_type *structure(struct fragment *fragment, const json_t *class)
{
	const json_t *members = json_object_get(class, "member-classes");
	struct ctf_type *type = new_type(fragment, CTF_STRUCT, 1);
	struct ctf_member **last;

	if (!type) {
		return NULL;
	}
	type->align = align_of(fragment, class, "minimum-alignment");
	last = &type->members;
	for (size_t i = 0; i < json_array_size(members) && !fragment->failed; i++) {
		const json_t *object = json_array_get(members, i);
		struct ctf_member *member = fragment_alloc(fragment, sizeof(*member));

		if (!member) {
			return NULL;
		}
		member->name = fragment_copy(fragment, fragment_text(object, "name", ""));
		member->type = fragment_type(fragment, json_object_get(object, "field-class"));
		if (!member->type) {
			return NULL;
		}
		holds(fragment, type, member->type);
		if (member->type->align > type->align) {
			type->align = member->type->align;
		}
		*last = member;
		last = &member->next;
		type->n++;
	}
	return type;
}

static struct ctf_type *array_of(struct fragment *fragment, const json_t *class,
		struct ctf_type *element, enum ctf_kind kind)
{
	struct ctf_type *type = element ? new_type(fragment, kind, element->align) : NULL;

	if (!type) {
		return NULL;
	}
	type->of = element;
	holds(fragment, type, element);
	if (kind == CTF_SEQUENCE) {
		take_location(fragment, type, class, "length-field-location");
	} else {
		type->length = fragment_count(fragment, class, "length", 0);
	}
	return type;
}

static struct ctf_type *array(struct fragment *fragment, const json_t *class, enum ctf_kind kind)
{
	const json_t *element = json_object_get(class, "element-field-class");
	struct ctf_type *type = array_of(fragment, class, fragment_type(fragment, element), kind);
	uint32_t align = align_of(fragment, class, "minimum-alignment");

	if (type && align > type->align) {
		type->align = align;
	}
	return type;
}

/* Bytes: of a text, or of anything. */
static struct ctf_type *bytes(
		struct fragment *fragment, const json_t *class, enum ctf_kind kind, bool is_text)
{
	struct ctf_type *byte = new_type(fragment, CTF_INTEGER, 8), *type;
	const char *encoding = fragment_text(class, "encoding", "utf-8");

	if (!byte) {
		return NULL;
	}
	byte->bits = 8;
	byte->base = 16;
	byte->order = CTF_ORDER_LITTLE;
	byte->is_text = is_text;
	if (is_text && strcmp(encoding, "utf-8") != 0) {
		fragment_fail(fragment, "an encoding that is not read", encoding);
	}
	type = array_of(fragment, class, byte, kind);
	if (type && !is_text) {
		take_roles(fragment, type, class);
	}
	return type;
}

static struct ctf_type *string(struct fragment *fragment, const json_t *class)
{
	const char *encoding = fragment_text(class, "encoding", "utf-8");

	if (strcmp(encoding, "utf-8") != 0) {
		fragment_fail(fragment, "an encoding that is not read", encoding);
	}
	return new_type(fragment, CTF_STRING, 8);
}

static bool add_option(struct fragment *fragment, struct ctf_type *type, const json_t *object,
		struct ctf_member **option)
{
	struct ctf_member *member = fragment_alloc(fragment, sizeof(*member));
	uint32_t n = 0;

	if (!member) {
		return false;
	}
	member->name = fragment_copy(fragment, fragment_text(object, "name", ""));
	member->type = fragment_type(fragment, json_object_get(object, "field-class"));
	if (!member->type) {
		return false;
	}
	take_ranges(fragment, json_object_get(object, "selector-field-ranges"), member->name,
			&member->ranges, &n);
	holds(fragment, type, member->type);
	type->n++;
	*option = member;
	return !fragment->failed;
}

static struct ctf_type *variant(struct fragment *fragment, const json_t *class)
{
	const json_t *options = json_object_get(class, "options");
	struct ctf_type *type = new_type(fragment, CTF_VARIANT, 1);
	struct ctf_member **last;

	if (!type) {
		return NULL;
	}
	take_location(fragment, type, class, "selector-field-location");
	last = &type->members;
	for (size_t i = 0; i < json_array_size(options); i++) {
		if (!add_option(fragment, type, json_array_get(options, i), last)) {
			return NULL;
		}
		last = &(*last)->next;
	}
	return type;
}

/* A variant of one option, or of nothing. Without ranges its selector is a boolean. */
static struct ctf_type *optional(struct fragment *fragment, const json_t *class)
{
	struct ctf_type *type = new_type(fragment, CTF_VARIANT, 1);
	struct ctf_label *range;

	if (!type) {
		return NULL;
	}
	type->is_optional = true;
	take_location(fragment, type, class, "selector-field-location");
	if (!add_option(fragment, type, class, &type->members)) {
		return NULL;
	}
	if (!type->members->ranges) {
		range = fragment_alloc(fragment, sizeof(*range));
		if (!range) {
			return NULL;
		}
		range->name = "";
		range->lower = 1;
		range->upper = UINT64_MAX;
		type->members->ranges = range;
	}
	return type;
}

static struct ctf_type *alias(struct fragment *fragment, const char *name)
{
	const struct document *document = fragment->document;

	for (uint32_t i = 0; i < document->n_aliases; i++) {
		if (strcmp(document->aliases[i].name, name) == 0) {
			return document->aliases[i].type;
		}
	}
	fragment_fail(fragment, "an alias that is not declared", name);
	return NULL;
}

static struct ctf_type *make(struct fragment *fragment, const json_t *class, const char *type)
{
	if (!strcmp(type, "fixed-length-unsigned-integer")) {
		return fixed_number(fragment, class, false);
	}
	if (!strcmp(type, "fixed-length-signed-integer")) {
		return fixed_number(fragment, class, true);
	}
	if (!strcmp(type, "variable-length-unsigned-integer")) {
		return variable_number(fragment, class, false);
	}
	if (!strcmp(type, "variable-length-signed-integer")) {
		return variable_number(fragment, class, true);
	}
	if (!strcmp(type, "fixed-length-floating-point-number")) {
		return floating_point(fragment, class);
	}
	if (!strcmp(type, "fixed-length-boolean")) {
		return fixed_bits(fragment, class, true);
	}
	if (!strcmp(type, "fixed-length-bit-array") || !strcmp(type, "fixed-length-bit-map")) {
		return fixed_bits(fragment, class, false);
	}
	if (!strcmp(type, "null-terminated-string")) {
		return string(fragment, class);
	}
	if (!strcmp(type, "static-length-string") || !strcmp(type, "dynamic-length-string")) {
		return bytes(fragment, class, type[0] == 's' ? CTF_ARRAY : CTF_SEQUENCE, true);
	}
	if (!strcmp(type, "static-length-blob") || !strcmp(type, "dynamic-length-blob")) {
		return bytes(fragment, class, type[0] == 's' ? CTF_ARRAY : CTF_SEQUENCE, false);
	}
	if (!strcmp(type, "structure")) {
		return structure(fragment, class);
	}
	if (!strcmp(type, "static-length-array") || !strcmp(type, "dynamic-length-array")) {
		return array(fragment, class, type[0] == 's' ? CTF_ARRAY : CTF_SEQUENCE);
	}
	if (!strcmp(type, "variant")) {
		return variant(fragment, class);
	}
	if (!strcmp(type, "optional")) {
		return optional(fragment, class);
	}
	fragment_fail(fragment, "a field class that is not known", type);
	return NULL;
}

struct ctf_type *fragment_type(struct fragment *fragment, const json_t *class)
{
	struct ctf_type *type = NULL;

	if (fragment->failed) {
		return NULL;
	}
	if (json_is_string(class)) {
		return alias(fragment, json_string_value(class));
	}
	if (++fragment->depth > TSDL_MAX_DEPTH) {
		fragment_fail(fragment, "nested too deep", "");
	} else {
		type = make(fragment, class, fragment_text(class, "type", ""));
	}
	fragment->depth--;
	return fragment->failed ? NULL : type;
}
