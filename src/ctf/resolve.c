/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "resolve.h"

#include <string.h>

static const char *const prefixes[CTF_SCOPES] = {
		[CTF_PACKET_HEADER] = "trace.packet.header.",
		[CTF_PACKET_CONTEXT] = "stream.packet.context.",
		[CTF_EVENT_HEADER] = "stream.event.header.",
		[CTF_COMMON_CONTEXT] = "stream.event.context.",
		[CTF_SPECIFIC_CONTEXT] = "event.context.",
		[CTF_PAYLOAD] = "event.fields.",
};

/* The member that the first piece of the path names, of `length`, among the first n. */
static struct ctf_field *member_of(
		const struct ctf_field *structure, const char *piece, size_t length, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ctf_field *member = &structure->inside[i];

		if (strlen(member->declared) == length &&
				memcmp(member->declared, piece, length) == 0) {
			return member;
		}
	}
	return NULL;
}

/* Down from a structure, of which only the first n members lie before the field that asks. */
static struct ctf_field *descend(
		const struct ctf_field *structure, const char *path, char separator, uint32_t n)
{
	struct ctf_field *field = NULL;

	while (structure && structure->kind == CTF_STRUCT) {
		const char *end = strchr(path, separator);

		field = member_of(structure, path, end ? (size_t)(end - path) : strlen(path), n);
		if (!field || !end) {
			return field;
		}
		path = end + 1;
		structure = field;
		n = field->n;
	}
	return NULL;
}

/* How many members of a structure lie before the field. */
static uint32_t members_before(const struct ctf_field *structure, const struct ctf_field *field)
{
	while (field && field->outside != structure) {
		field = field->outside;
	}
	return field ? (uint32_t)(field - structure->inside) : structure->n;
}

static const struct ctf_field *structure_around(const struct ctf_field *field)
{
	do {
		field = field->outside;
	} while (field && field->kind != CTF_STRUCT);
	return field;
}

/* CTF 1.8: the path begins with the name of a scope, or in any structure around the field. */
static struct ctf_field *find_1(struct ctf_fields *fields, const struct ctf_field *field)
{
	const char *path = field->type->path ? field->type->path : "";
	const struct ctf_field *around = structure_around(field);
	struct ctf_field *found = NULL;

	for (uint32_t i = 0; i <= (uint32_t)fields->scope; i++) {
		size_t length = strlen(prefixes[i]);

		if (fields->scopes[i] && strncmp(path, prefixes[i], length) == 0) {
			return descend(fields->scopes[i], path + length, '.',
					members_before(fields->scopes[i], field));
		}
	}
	for (; around && !found; around = structure_around(around)) {
		found = descend(around, path, '.', members_before(around, field));
	}
	return found;
}

/* CTF 2: in the scope that is said, or from the structure around the field, or further up. */
static struct ctf_field *find_2(struct ctf_fields *fields, const struct ctf_field *field)
{
	const char *path = field->type->path;
	const struct ctf_field *around = field->type->origin < CTF_SCOPES
							 ? fields->scopes[field->type->origin]
							 : structure_around(field);

	while (around && *path == CTF_PIECE) {
		around = structure_around(around);
		path++;
	}
	return around ? descend(around, path, CTF_PIECE, members_before(around, field)) : NULL;
}

/* The tags that select the options: by ranges of their own, or by labels that are called alike. */
static uint32_t list_choices(const struct ctf_field *variant, const struct ctf_field *tag,
		struct ctf_choice *choices)
{
	const struct ctf_member *member = variant->type->members;
	uint32_t n = 0;

	for (uint32_t i = 0; i < variant->n; i++, member = member->next) {
		const struct ctf_label *label = member->ranges ? member->ranges : tag->type->labels;

		for (; label; label = label->next) {
			if (!member->ranges && strcmp(label->name, member->name) != 0) {
				continue;
			}
			if (choices) {
				choices[n] = (struct ctf_choice){label->lower, label->upper, i};
			}
			n++;
		}
	}
	return n;
}

static bool connect(struct ctf_fields *fields, struct ctf_field *field, struct ctf_field *other)
{
	if (!other || !ctf_field_is_number(other) ||
			(field->kind == CTF_SEQUENCE && other->is_signed)) {
		ctf_fields_fail(fields, "its length is no unsigned number before it",
				field->declared);
		return false;
	}
	if (!ctf_fields_keep(fields, other)) {
		return false;
	}
	field->source = other->kept;
	field->teller = other;
	return true;
}

static bool connect_variant(
		struct ctf_fields *fields, struct ctf_field *field, struct ctf_field *tag)
{
	bool is_fit = tag && (fields->metadata->version == 1 ? tag->kind == CTF_ENUM
							     : ctf_field_is_number(tag));

	if (!is_fit) {
		ctf_fields_fail(fields, "its tag is no enumeration before it", field->declared);
		return false;
	}
	field->tag_is_signed = tag->is_signed;
	field->n_choices = list_choices(field, tag, NULL);
	field->choices = arena_alloc(
			fields->arena, (field->n_choices + 1) * sizeof(*field->choices));
	if (!field->choices) {
		ctf_fields_fail(fields, "out of memory", field->declared);
		return false;
	}
	list_choices(field, tag, field->choices);
	return connect(fields, field, tag);
}

bool ctf_resolve(struct ctf_fields *fields, struct ctf_field *field)
{
	bool is_variant = field->kind == CTF_VARIANT;

	if (is_variant || field->kind == CTF_SEQUENCE) {
		struct ctf_field *other = fields->metadata->version == 1 ? find_1(fields, field)
									 : find_2(fields, field);

		if (is_variant ? !connect_variant(fields, field, other)
			       : !connect(fields, field, other)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < field->n; i++) {
		if (!ctf_resolve(fields, &field->inside[i])) {
			return false;
		}
	}
	return true;
}

static bool show_variant(struct ctf_field *field)
{
	for (uint32_t i = 0; field->is_shown && i < field->n; i++) {
		field->inside[i].is_shown = true; /* any of them may be selected */
	}
	return field->is_shown;
}

bool ctf_field_show(struct ctf_field *field)
{
	if (!field) {
		return false;
	}
	if (ctf_field_is_number(field)) {
		field->is_shown = (!field->is_clock && !field->meaning) || field->is_needed;
		return field->is_shown;
	}
	field->is_shown = field->n == 0; /* texts, numbers of floating point, empty structures */
	for (uint32_t i = field->n; i > 0; i--) {
		field->is_shown |= ctf_field_show(&field->inside[i - 1]);
	}
	if (field->kind == CTF_VARIANT) {
		show_variant(field);
	}
	if (field->is_shown && field->teller) {
		field->teller->is_needed = true;
	}
	return field->is_shown;
}
