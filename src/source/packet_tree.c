/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packet_tree.h"

static bool encode(struct tree *tree, const struct ctf_field *field, struct ctf_place *place,
		unsigned depth);

static bool encode_array(struct tree *tree, const struct ctf_field *field, struct ctf_place *place,
		unsigned depth)
{
	uint64_t n;

	if (!ctf_take_length(place, field, &n) || !tree_add_node(tree, TREE_ARRAY, n, 0)) {
		return false;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (!encode(tree, field->inside, place, depth)) {
			return false;
		}
	}
	return true;
}

static uint32_t shown_members(const struct ctf_field *field)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < field->n; i++) {
		n += field->inside[i].is_shown;
	}
	return n;
}

static bool encode_struct(struct tree *tree, const struct ctf_field *field, struct ctf_place *place,
		unsigned depth)
{
	if (!ctf_align(place, field->align) ||
			!tree_add_node(tree, TREE_STRUCT, shown_members(field), 0)) {
		return false;
	}
	for (uint32_t i = 0; i < field->n; i++) {
		const struct ctf_field *member = &field->inside[i];

		if (member->is_shown ? !tree_add_name(tree, member->name) ||
								!encode(tree, member, place, depth)
				     : !ctf_skip(place, member)) {
			return false;
		}
	}
	return true;
}

static bool encode_variant(struct tree *tree, const struct ctf_field *field,
		struct ctf_place *place, unsigned depth)
{
	const struct ctf_field *option = ctf_take_option(place, field);

	/* An option without content is an array of nothing. */
	if (field->is_optional && !place->fault) {
		return option ? encode(tree, option, place, depth)
			      : tree_add_node(tree, TREE_ARRAY, 0, 0);
	}
	return option && tree_add_node(tree, TREE_VARIANT, 1, 0) &&
	       tree_add_name(tree, option->name) && encode(tree, option, place, depth);
}

static bool encode_text(struct tree *tree, const struct ctf_field *field, struct ctf_place *place)
{
	const unsigned char *text;
	uint64_t length;

	return ctf_take_text(place, field, &text, &length) &&
	       tree_add_string(tree, (const char *)text, length);
}

static bool encode_number(struct tree *tree, const struct ctf_field *field, struct ctf_place *place)
{
	uint64_t value;
	float single;
	double wide;

	if (!ctf_take_number(place, field, &value)) {
		return false;
	}
	if (field->kind != CTF_FLOAT) {
		return tree_add_number(tree, field->is_signed ? TREE_INT : TREE_UINT, value);
	}
	if (field->bits == 32) {
		uint32_t bits = (uint32_t)value;

		memcpy(&single, &bits, sizeof(single));
		wide = (double)single;
	} else {
		memcpy(&wide, &value, sizeof(wide));
	}
	return tree_add_double(tree, wide);
}

static bool encode(struct tree *tree, const struct ctf_field *field, struct ctf_place *place,
		unsigned depth)
{
	if (depth == TREE_DEPTH_MAX) {
		return false;
	}
	if (field->kind == CTF_STRING || field->is_text) {
		return encode_text(tree, field, place);
	}
	switch (field->kind) {
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		return encode_array(tree, field, place, depth + 1);
	case CTF_STRUCT:
		return encode_struct(tree, field, place, depth + 1);
	case CTF_VARIANT:
		return encode_variant(tree, field, place, depth + 1);
	default:
		return encode_number(tree, field, place);
	}
}

bool packet_tree_encode(struct tree *tree, const struct ctf_field *field, struct ctf_place *place)
{
	tree->size = 0;
	return encode(tree, field, place, 0);
}
