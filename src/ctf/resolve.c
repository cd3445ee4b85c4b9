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

/* The member that the first piece of the path names, among the first n. */
static struct ctf_field *member_of(const struct ctf_field *structure, const char *path, uint32_t n)
{
	size_t length = strcspn(path, ".");

	for (uint32_t i = 0; i < n; i++) {
		struct ctf_field *member = &structure->inside[i];

		if (strlen(member->declared) == length &&
				memcmp(member->declared, path, length) == 0) {
			return member;
		}
	}
	return NULL;
}

/* Down from a structure, of which only the first n members lie before the field that asks. */
static struct ctf_field *descend(const struct ctf_field *structure, const char *path, uint32_t n)
{
	struct ctf_field *field = NULL;

	while (structure && structure->kind == CTF_STRUCT) {
		field = member_of(structure, path, n);
		path += strcspn(path, ".");
		if (!field || !*path) {
			return field;
		}
		path++;
		structure = field;
		n = field->n;
	}
	return NULL;
}

/* Whether the field lies inside the other, or is it; then it does not come after it. */
static uint32_t members_before(const struct ctf_field *structure, const struct ctf_field *field)
{
	while (field && field->outside != structure) {
		field = field->outside;
	}
	return field ? (uint32_t)(field - structure->inside) : structure->n;
}

static struct ctf_field *find(struct ctf_fields *fields, enum ctf_scope scope,
		const struct ctf_field *field, const char *path)
{
	const struct ctf_field *around;
	struct ctf_field *found;

	for (uint32_t i = 0; i <= (uint32_t)scope; i++) {
		size_t length = strlen(prefixes[i]);

		if (fields->scopes[i] && strncmp(path, prefixes[i], length) == 0) {
			return descend(fields->scopes[i], path + length,
					members_before(fields->scopes[i], field));
		}
	}
	for (around = field->outside; around; around = around->outside) {
		if (around->kind != CTF_STRUCT) {
			continue;
		}
		found = descend(around, path, members_before(around, field));
		if (found) {
			return found;
		}
	}
	return NULL;
}

static bool add_choices(struct ctf_fields *fields, struct ctf_field *variant,
		const struct ctf_field *tag, bool count_only)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < variant->n; i++) {
		for (const struct ctf_label *label = tag->type->labels; label;
				label = label->next) {
			if (strcmp(label->name, variant->inside[i].declared) != 0) {
				continue;
			}
			if (!count_only) {
				variant->choices[n] =
						(struct ctf_choice){label->lower, label->upper, i};
			}
			n++;
		}
	}
	if (count_only) {
		variant->choices = arena_alloc(fields->arena, (n + 1) * sizeof(*variant->choices));
	}
	variant->n_choices = n;
	return variant->choices != NULL;
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
	if (!tag || tag->kind != CTF_ENUM) {
		ctf_fields_fail(fields, "its tag is no enumeration before it", field->declared);
		return false;
	}
	field->tag_is_signed = tag->is_signed;
	if (!add_choices(fields, field, tag, true) || !add_choices(fields, field, tag, false)) {
		ctf_fields_fail(fields, "out of memory", field->declared);
		return false;
	}
	return connect(fields, field, tag);
}

bool ctf_resolve(struct ctf_fields *fields, enum ctf_scope scope, struct ctf_field *field)
{
	bool is_variant = field->kind == CTF_VARIANT;

	if (is_variant || field->kind == CTF_SEQUENCE) {
		const char *path = field->type->path ? field->type->path : "";
		struct ctf_field *other = find(fields, scope, field, path);

		if (is_variant ? !connect_variant(fields, field, other)
			       : !connect(fields, field, other)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < field->n; i++) {
		if (!ctf_resolve(fields, scope, &field->inside[i])) {
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
