/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tree.h"

#include <string.h>

#include "pythiatop/event.h"

static bool encode(struct tree *tree, const bt_field *field, unsigned depth);

/* Are all values of the class encoded alike, but for the numbers in them? */
static bool is_alike(const bt_field_class *class, unsigned depth)
{
	bt_field_class_type type = bt_field_class_get_type(class);
	uint64_t n;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER)) {
		return true;
	}
	if (type != BT_FIELD_CLASS_TYPE_STRUCTURE || depth >= TREE_DEPTH_MAX) {
		return false;
	}
	n = bt_field_class_structure_get_member_count(class);
	for (uint64_t i = 0; i < n; i++) {
		if (!is_alike(bt_field_class_structure_member_borrow_field_class_const(
					      bt_field_class_structure_borrow_member_by_index_const(
							      class, i)),
				    depth + 1)) {
			return false;
		}
	}
	return true;
}

/* Puts the numbers of a value in the place of those of another one, encoded at *at. */
static void encode_anew(struct tree *tree, size_t *at, const bt_field *field)
{
	uint32_t head[2], name[2];
	uint64_t bits;

	memcpy(head, tree->bytes + *at, sizeof(head));
	*at += sizeof(head);
	if (head[0] != TREE_STRUCT) {
		bits = head[0] == TREE_UINT ? bt_field_integer_unsigned_get_value(field)
					    : (uint64_t)bt_field_integer_signed_get_value(field);
		memcpy(tree->bytes + *at, &bits, sizeof(bits));
		*at += sizeof(bits);
		return;
	}
	for (uint32_t i = 0; i < head[1]; i++) {
		memcpy(name, tree->bytes + *at, sizeof(name));
		*at += sizeof(name) + (((size_t)name[1] + 7) & ~(size_t)7);
		encode_anew(tree, at,
				bt_field_structure_borrow_member_field_by_index_const(field, i));
	}
}

/* The rest of an array whose first element was encoded at `first`: all are alike. */
static bool encode_alike(struct tree *tree, const bt_field *field, uint64_t n, size_t first)
{
	size_t size = tree->size - first, at;

	for (uint64_t i = 1; i < n; i++) {
		at = tree->size;
		if (!tree_repeat(tree, first, size)) {
			return false;
		}
		encode_anew(tree, &at,
				bt_field_array_borrow_element_field_by_index_const(field, i));
	}
	return true;
}

static bool encode_array(struct tree *tree, const bt_field *field, unsigned depth)
{
	uint64_t n = bt_field_array_get_length(field);
	const bt_field_class *class = bt_field_class_array_borrow_element_field_class_const(
			bt_field_borrow_class_const(field));
	bool alike = n > 1 && is_alike(class, depth);
	size_t first;

	if (!tree_add_node(tree, TREE_ARRAY, n, 0)) {
		return false;
	}
	first = tree->size;
	for (uint64_t i = 0; i < n && (i == 0 || !alike); i++) {
		if (!encode(tree, bt_field_array_borrow_element_field_by_index_const(field, i),
				    depth)) {
			return false;
		}
	}
	return !alike || encode_alike(tree, field, n, first);
}

static bool encode_struct(struct tree *tree, const bt_field *field, unsigned depth)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);
	uint64_t n = bt_field_class_structure_get_member_count(class);

	if (!tree_add_node(tree, TREE_STRUCT, n, 0)) {
		return false;
	}
	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *member =
				bt_field_class_structure_borrow_member_by_index_const(class, i);

		if (!tree_add_name(tree, bt_field_class_structure_member_get_name(member)) ||
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

	return tree_add_node(tree, TREE_VARIANT, 1, 0) &&
	       tree_add_name(tree, bt_field_class_variant_option_get_name(option)) &&
	       encode(tree, bt_field_variant_borrow_selected_option_field_const(field), depth);
}

/* An option without content is an array of nothing. */
static bool encode_option(struct tree *tree, const bt_field *field, unsigned depth)
{
	const bt_field *content = bt_field_option_borrow_field_const(field);

	if (!content) {
		return tree_add_node(tree, TREE_ARRAY, 0, 0);
	}
	return encode(tree, content, depth);
}

static bool encode_scalar(struct tree *tree, const bt_field *field, bt_field_class_type type)
{
	if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		return tree_add_number(tree, TREE_UINT, bt_field_bool_get_value(field) ? 1 : 0);
	}
	if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		return tree_add_number(tree, TREE_UINT, bt_field_bit_array_get_value_as_integer(field));
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		return tree_add_number(tree, TREE_UINT, bt_field_integer_unsigned_get_value(field));
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		return tree_add_number(
				tree, TREE_INT, (uint64_t)bt_field_integer_signed_get_value(field));
	}
	if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		return tree_add_double(tree, (double)bt_field_real_single_precision_get_value(field));
	}
	if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		return tree_add_double(tree, bt_field_real_double_precision_get_value(field));
	}
	if (type == BT_FIELD_CLASS_TYPE_STRING) {
		return tree_add_string(tree, bt_field_string_get_value(field),
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
