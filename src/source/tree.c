/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "pythiatop/event.h"

#define TREE_BYTES_MAX (EVENT_MAX_BYTES / 2)

static bool encode(struct tree *tree, const bt_field *field, unsigned depth);

bool tree_init(struct tree *tree)
{
	tree->size = 0;
	tree->bytes = malloc(TREE_BYTES_MAX);
	return tree->bytes != NULL;
}

void tree_release(struct tree *tree)
{
	free(tree->bytes);
	tree->bytes = NULL;
}

static bool add_node(struct tree *tree, enum tree_node kind, uint64_t n, size_t follows)
{
	uint32_t head[2] = {kind, (uint32_t)n};

	if (n > UINT32_MAX || tree->size + sizeof(head) + follows > TREE_BYTES_MAX) {
		return false;
	}
	memcpy(tree->bytes + tree->size, head, sizeof(head));
	tree->size += sizeof(head);
	return true;
}

static bool add_number(struct tree *tree, enum tree_node kind, uint64_t bits)
{
	if (!add_node(tree, kind, 1, sizeof(bits))) {
		return false;
	}
	memcpy(tree->bytes + tree->size, &bits, sizeof(bits));
	tree->size += sizeof(bits);
	return true;
}

static bool add_double(struct tree *tree, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return add_number(tree, TREE_DOUBLE, bits);
}

static bool add_string(struct tree *tree, const char *text, size_t length)
{
	size_t padded = (length + 7) & ~(size_t)7;

	if (length > TREE_BYTES_MAX || !add_node(tree, TREE_STRING, length, padded)) {
		return false;
	}
	memcpy(tree->bytes + tree->size, text, length);
	memset(tree->bytes + tree->size + length, 0, padded - length);
	tree->size += padded;
	return true;
}

static bool add_name(struct tree *tree, const char *name)
{
	return add_string(tree, name ? name : "", name ? strlen(name) : 0);
}

static bool encode_array(struct tree *tree, const bt_field *field, unsigned depth)
{
	uint64_t n = bt_field_array_get_length(field);

	if (!add_node(tree, TREE_ARRAY, n, 0)) {
		return false;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (!encode(tree, bt_field_array_borrow_element_field_by_index_const(field, i),
				    depth)) {
			return false;
		}
	}
	return true;
}

static bool encode_struct(struct tree *tree, const bt_field *field, unsigned depth)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);
	uint64_t n = bt_field_class_structure_get_member_count(class);

	if (!add_node(tree, TREE_STRUCT, n, 0)) {
		return false;
	}
	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *member =
				bt_field_class_structure_borrow_member_by_index_const(class, i);

		if (!add_name(tree, bt_field_class_structure_member_get_name(member)) ||
				!encode(tree,
						bt_field_structure_borrow_member_field_by_index_const(
								field, i),
						depth)) {
			return false;
		}
	}
	return true;
}

static bool encode_variant(struct tree *tree, const bt_field *field, unsigned depth)
{
	const bt_field_class_variant_option *option =
			bt_field_variant_borrow_selected_option_class_const(field);

	return add_node(tree, TREE_VARIANT, 1, 0) &&
	       add_name(tree, bt_field_class_variant_option_get_name(option)) &&
	       encode(tree, bt_field_variant_borrow_selected_option_field_const(field), depth);
}

/* An option without content is an array of nothing. */
static bool encode_option(struct tree *tree, const bt_field *field, unsigned depth)
{
	const bt_field *content = bt_field_option_borrow_field_const(field);

	if (!content) {
		return add_node(tree, TREE_ARRAY, 0, 0);
	}
	return encode(tree, content, depth);
}

static bool encode_scalar(struct tree *tree, const bt_field *field, bt_field_class_type type)
{
	if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		return add_number(tree, TREE_UINT, bt_field_bool_get_value(field) ? 1 : 0);
	}
	if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		return add_number(tree, TREE_UINT, bt_field_bit_array_get_value_as_integer(field));
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		return add_number(tree, TREE_UINT, bt_field_integer_unsigned_get_value(field));
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		return add_number(
				tree, TREE_INT, (uint64_t)bt_field_integer_signed_get_value(field));
	}
	if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		return add_double(tree, (double)bt_field_real_single_precision_get_value(field));
	}
	if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		return add_double(tree, bt_field_real_double_precision_get_value(field));
	}
	if (type == BT_FIELD_CLASS_TYPE_STRING) {
		return add_string(tree, bt_field_string_get_value(field),
				bt_field_string_get_length(field));
	}
	return false;
}

static bool encode(struct tree *tree, const bt_field *field, unsigned depth)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (depth == TREE_DEPTH_MAX) {
		return false;
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		return encode_array(tree, field, depth + 1);
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRUCTURE)) {
		return encode_struct(tree, field, depth + 1);
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT)) {
		return encode_variant(tree, field, depth + 1);
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
		return encode_option(tree, field, depth + 1);
	}
	return encode_scalar(tree, field, type);
}

bool tree_encode(struct tree *tree, const bt_field *field)
{
	tree->size = 0;
	return encode(tree, field, 0);
}
