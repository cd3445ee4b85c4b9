/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shape.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/tree_text.h"

#define LENGTH_DISTANCE 8 /* fields between an array and its length, at most */

enum how {
	AS_NOTHING = 0,
	AS_NUMBER,
	AS_STRING,
	AS_SEQUENCE,
	AS_TREE,
	AS_TEXT,
};

/* Trees are walked by a cursor. shape_read() checks their bounds, what follows trusts them. */
struct cursor {
	const unsigned char *at, *end;
};

struct node {
	uint32_t kind, n;
};

static struct node node_next(struct cursor *cursor)
{
	struct node node;

	memcpy(&node, cursor->at, sizeof(node));
	cursor->at += sizeof(node);
	return node;
}

static uint64_t number_next(struct cursor *cursor)
{
	uint64_t value;

	memcpy(&value, cursor->at, sizeof(value));
	cursor->at += sizeof(value);
	return value;
}

static size_t padded(uint32_t n)
{
	return ((size_t)n + 7) & ~(size_t)7;
}

static const char *text_next(struct cursor *cursor, uint32_t n)
{
	const char *text = (const char *)cursor->at;

	cursor->at += padded(n);
	return text;
}

/* --- The shape as text --------------------------------------------------------------------- */

static void add_bytes(struct shape *shape, const char *bytes, size_t n)
{
	if (shape->n + n + 1 > shape->room) {
		size_t room = (shape->n + n + 1) * 2;
		char *text = realloc(shape->text, room);

		if (!text) {
			shape->failed = true;
			return;
		}
		shape->text = text;
		shape->room = room;
	}
	memcpy(shape->text + shape->n, bytes, n);
	shape->n += n;
	shape->text[shape->n] = '\0';
}

static bool add_node(struct shape *shape, struct cursor *cursor, unsigned depth);

/* All elements must have the shape of the first. */
static bool add_elements(struct shape *shape, struct cursor *cursor, uint32_t n, unsigned depth)
{
	size_t first = shape->n, length = 0;

	for (uint32_t i = 0; i < n; i++) {
		size_t start = shape->n;

		if (!add_node(shape, cursor, depth) || shape->failed) {
			return false;
		}
		if (i == 0) {
			length = shape->n - first;
			continue;
		}
		if (shape->n - start != length ||
				memcmp(shape->text + first, shape->text + start, length) != 0) {
			return false;
		}
		shape->n = start;
	}
	return true;
}

/* A member's name, and then its value. */
static bool add_member(struct shape *shape, struct cursor *cursor, unsigned depth)
{
	struct node node;
	const char *name;

	if (cursor->end - cursor->at < (ptrdiff_t)sizeof(node)) {
		return false;
	}
	node = node_next(cursor);
	if (node.kind != TREE_STRING || (size_t)(cursor->end - cursor->at) < padded(node.n)) {
		return false;
	}
	name = text_next(cursor, node.n);
	for (uint32_t i = 0; i < node.n; i++) {
		if (!isalnum((unsigned char)name[i]) && name[i] != '_') {
			return false;
		}
	}
	add_bytes(shape, name, node.n);
	add_bytes(shape, ":", 1);
	return node.n > 0 && add_node(shape, cursor, depth);
}

static bool add_compound(
		struct shape *shape, struct cursor *cursor, struct node node, unsigned depth)
{
	char head[16];

	switch (node.kind) {
	case TREE_ARRAY:
		snprintf(head, sizeof(head), "[%u:", node.n);
		add_bytes(shape, head, strlen(head));
		return node.n > 0 && add_elements(shape, cursor, node.n, depth + 1);
	case TREE_STRUCT:
	case TREE_VARIANT:
		add_bytes(shape, "{", 1);
		for (uint32_t i = 0; i < (node.kind == TREE_VARIANT ? 1 : node.n); i++) {
			if (!add_member(shape, cursor, depth + 1)) {
				return false;
			}
		}
		add_bytes(shape, "}", 1);
		return true;
	default:
		return false;
	}
}

static bool add_node(struct shape *shape, struct cursor *cursor, unsigned depth)
{
	struct node node;
	size_t left;

	if (depth == SHAPE_MAX_DEPTH || cursor->end - cursor->at < (ptrdiff_t)sizeof(node)) {
		return false;
	}
	node = node_next(cursor);
	left = (size_t)(cursor->end - cursor->at);
	switch (node.kind) {
	case TREE_UINT:
	case TREE_INT:
	case TREE_DOUBLE:
		add_bytes(shape, &"_uid"[node.kind], 1);
		cursor->at += left < 8 ? 0 : 8;
		return left >= 8;
	case TREE_STRING:
		add_bytes(shape, "s", 1);
		cursor->at += left < padded(node.n) ? 0 : padded(node.n);
		return left >= padded(node.n);
	default:
		return add_compound(shape, cursor, node, depth);
	}
}

static struct cursor tree_cursor(const struct event *event, uint32_t field)
{
	static const unsigned char nothing[sizeof(struct node)];
	uint32_t length;
	const char *text = event_bytes(event, field, &length);
	const unsigned char *bytes = text ? (const unsigned char *)text : nothing;

	return (struct cursor){bytes, bytes + length};
}

static size_t prefix_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? (size_t)(dot + 1 - name) : 0;
}

/* Is `length` the name "NAME_length" or "_NAME_length"? */
static bool names_length(const char *length, const char *name)
{
	length += length[0] == '_' && name[0] != '_';
	return strncmp(length, name, strlen(name)) == 0 &&
	       strcmp(length + strlen(name), "_length") == 0;
}

/* The member before it that holds the number of its elements, and says so by its name; NULL: none.
 */
static const char *length_name(const struct event_type *type, const struct event *event,
		uint32_t index, uint32_t n)
{
	const struct field *field = &type->fields[index];
	size_t prefix = prefix_of(field->name);

	for (uint32_t i = index; i > 0 && index - i < LENGTH_DISTANCE; i--) {
		const struct field *before = &type->fields[i - 1];

		if (before->kind == FIELD_UINT && before->n_labels == 0 &&
				before->scope == field->scope && event->slots[i - 1] == n &&
				prefix_of(before->name) == prefix &&
				strncmp(before->name, field->name, prefix) == 0 &&
				names_length(before->name + prefix, field->name + prefix)) {
			return before->name + prefix;
		}
	}
	return NULL;
}

static uint8_t read_tree(struct shape *shape, const struct event_type *type,
		const struct event *event, uint32_t field, bool plain)
{
	struct cursor cursor = tree_cursor(event, field);
	size_t start = shape->n;
	struct node node;

	if (!plain && cursor.end - cursor.at >= (ptrdiff_t)sizeof(node)) {
		memcpy(&node, cursor.at, sizeof(node));
		if (node.kind == TREE_ARRAY && length_name(type, event, field, node.n)) {
			node_next(&cursor);
			add_bytes(shape, "(", 1);
			if (add_elements(shape, &cursor, node.n, 0)) {
				return AS_SEQUENCE;
			}
		} else if (add_node(shape, &cursor, 0)) {
			return AS_TREE;
		}
	}
	shape->n = start;
	add_bytes(shape, "t", 1);
	return AS_TEXT;
}

static void read_field(struct shape *shape, const struct event_type *type,
		const struct event *event, uint32_t field, bool plain)
{
	uint8_t kind = type->fields[field].kind;
	uint32_t length;

	if (kind != FIELD_STRING && kind != FIELD_TREE) {
		shape->how[field] = AS_NUMBER;
		return;
	}
	if (!event_bytes(event, field, &length)) {
		shape->how[field] = AS_NOTHING;
		add_bytes(shape, "x", 1);
	} else if (kind == FIELD_STRING) {
		shape->how[field] = AS_STRING;
		add_bytes(shape, "s", 1);
	} else {
		shape->how[field] = read_tree(shape, type, event, field, plain);
	}
	add_bytes(shape, ";", 1);
}

bool shape_read(struct shape *shape, const struct event_type *type, const struct event *event,
		bool plain)
{
	shape->n = 0;
	shape->failed = false;
	add_bytes(shape, plain ? "p" : "", plain);
	for (uint32_t i = 0; i < type->n_fields; i++) {
		if (type->fields[i].scope == SCOPE_CONTEXT) {
			read_field(shape, type, event, i, plain);
		}
	}
	shape->context = shape->n;
	for (uint32_t i = 0; i < type->n_fields; i++) {
		if (type->fields[i].scope != SCOPE_CONTEXT) {
			read_field(shape, type, event, i, plain);
		}
	}
	return !shape->failed;
}

void shape_release(struct shape *shape)
{
	free(shape->text);
	memset(shape, 0, sizeof(*shape));
}

/* --- Classes -----------------------------------------------------------------------------------
 */

/* A member under a name that CTF can express and that the structure does not have. */
static bool append(bt_field_class *structure, const char *name, size_t n, bt_field_class *member)
{
	char clean[512];
	size_t length = 0;
	bool done;

	for (size_t i = 0; i < n && length < sizeof(clean) / 2; i++) {
		clean[length++] = isalnum((unsigned char)name[i]) ? name[i] : '_';
	}
	clean[length] = '\0';
	while (length < sizeof(clean) - 1 &&
			(length == 0 || bt_field_class_structure_borrow_member_by_name_const(
							structure, clean))) {
		clean[length++] = '_';
		clean[length] = '\0';
	}
	done = member && bt_field_class_structure_append_member(structure, clean, member) ==
					 BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK;
	bt_field_class_put_ref(member);
	return done;
}

static bt_field_class *based(bt_field_class *integer, uint8_t base)
{
	if (integer && (base == 2 || base == 8 || base == 16)) {
		bt_field_class_integer_set_preferred_display_base(
				integer, (bt_field_class_integer_preferred_display_base)base);
	}
	return integer;
}

static bool is_first_of_name(const struct field *field, uint32_t label)
{
	for (uint32_t i = 0; i < label; i++) {
		if (strcmp(field->labels[i].name, field->labels[label].name) == 0) {
			return false;
		}
	}
	return true;
}

/* All ranges of one name are one mapping. */
static bool map_unsigned(bt_field_class *class, const struct field *field, uint32_t label)
{
	bt_integer_range_set_unsigned *ranges = bt_integer_range_set_unsigned_create();
	bool done = ranges != NULL;

	for (uint32_t i = label; done && i < field->n_labels; i++) {
		const struct field_label *each = &field->labels[i];

		if (strcmp(each->name, field->labels[label].name) == 0 &&
				each->lower <= each->upper) {
			done = bt_integer_range_set_unsigned_add_range(
					       ranges, each->lower, each->upper) == 0;
		}
	}
	done = done && bt_field_class_enumeration_unsigned_add_mapping(
				       class, field->labels[label].name, ranges) == 0;
	bt_integer_range_set_unsigned_put_ref(ranges);
	return done;
}

static bool map_signed(bt_field_class *class, const struct field *field, uint32_t label)
{
	bt_integer_range_set_signed *ranges = bt_integer_range_set_signed_create();
	bool done = ranges != NULL;

	for (uint32_t i = label; done && i < field->n_labels; i++) {
		const struct field_label *each = &field->labels[i];

		if (strcmp(each->name, field->labels[label].name) == 0 &&
				(int64_t)each->lower <= (int64_t)each->upper) {
			done = bt_integer_range_set_signed_add_range(ranges, (int64_t)each->lower,
					       (int64_t)each->upper) == 0;
		}
	}
	done = done && bt_field_class_enumeration_signed_add_mapping(
				       class, field->labels[label].name, ranges) == 0;
	bt_integer_range_set_signed_put_ref(ranges);
	return done;
}

static bt_field_class *enumeration_class(bt_trace_class *trace_class, const struct field *field)
{
	bool is_signed = field->kind == FIELD_INT;
	bt_field_class *class = is_signed ? bt_field_class_enumeration_signed_create(trace_class)
					  : bt_field_class_enumeration_unsigned_create(trace_class);
	bool done = class != NULL;

	for (uint32_t i = 0; done && i < field->n_labels; i++) {
		if (is_first_of_name(field, i)) {
			done = is_signed ? map_signed(class, field, i)
					 : map_unsigned(class, field, i);
		}
	}
	if (!done) {
		bt_field_class_put_ref(class);
		return NULL;
	}
	return based(class, field->base);
}

static bt_field_class *number_class(bt_trace_class *trace_class, const struct field *field)
{
	if (field->kind == FIELD_DOUBLE) {
		return bt_field_class_real_double_precision_create(trace_class);
	}
	if (field->n_labels > 0) {
		return enumeration_class(trace_class, field);
	}
	return based(field->kind == FIELD_INT ? bt_field_class_integer_signed_create(trace_class)
					      : bt_field_class_integer_unsigned_create(trace_class),
			field->base);
}

static void skip(struct cursor *cursor)
{
	struct node node = node_next(cursor);

	switch (node.kind) {
	case TREE_STRING:
		cursor->at += padded(node.n);
		break;
	case TREE_ARRAY:
		for (uint32_t i = 0; i < node.n; i++) {
			skip(cursor);
		}
		break;
	case TREE_STRUCT:
	case TREE_VARIANT:
		for (uint32_t i = 0; i < (node.kind == TREE_VARIANT ? 1 : node.n); i++) {
			skip(cursor);
			skip(cursor);
		}
		break;
	default:
		cursor->at += 8;
		break;
	}
}

static bt_field_class *tree_class(bt_trace_class *trace_class, struct cursor *cursor, uint8_t base);

/* The class of n elements' first; the cursor is then behind all of them. */
static bt_field_class *element_class(
		bt_trace_class *trace_class, struct cursor *cursor, uint32_t n, uint8_t base)
{
	bt_field_class *class;

	if (n == 0) {
		return based(bt_field_class_integer_unsigned_create(trace_class), base);
	}
	class = tree_class(trace_class, cursor, base);
	for (uint32_t i = 1; i < n; i++) {
		skip(cursor);
	}
	return class;
}

static bt_field_class *array_class(
		bt_trace_class *trace_class, struct cursor *cursor, uint32_t n, uint8_t base)
{
	bt_field_class *element = element_class(trace_class, cursor, n, base);
	bt_field_class *class =
			element ? bt_field_class_array_static_create(trace_class, element, n)
				: NULL;

	bt_field_class_put_ref(element);
	return class;
}

static bt_field_class *members_class(
		bt_trace_class *trace_class, struct cursor *cursor, uint32_t n, uint8_t base)
{
	bt_field_class *class = bt_field_class_structure_create(trace_class);

	for (uint32_t i = 0; class && i < n; i++) {
		struct node node = node_next(cursor);
		const char *name = text_next(cursor, node.n);

		if (!append(class, name, node.n, tree_class(trace_class, cursor, base))) {
			bt_field_class_put_ref(class);
			class = NULL;
		}
	}
	return class;
}

static bt_field_class *tree_class(bt_trace_class *trace_class, struct cursor *cursor, uint8_t base)
{
	struct node node = node_next(cursor);

	switch (node.kind) {
	case TREE_UINT:
		cursor->at += 8;
		return based(bt_field_class_integer_unsigned_create(trace_class), base);
	case TREE_INT:
		cursor->at += 8;
		return based(bt_field_class_integer_signed_create(trace_class), base);
	case TREE_DOUBLE:
		cursor->at += 8;
		return bt_field_class_real_double_precision_create(trace_class);
	case TREE_STRING:
		cursor->at += padded(node.n);
		return bt_field_class_string_create(trace_class);
	case TREE_ARRAY:
		return array_class(trace_class, cursor, node.n, base);
	default:
		return members_class(
				trace_class, cursor, node.kind == TREE_VARIANT ? 1 : node.n, base);
	}
}

/* What all steps through the fields of one scope share. */
struct walk {
	const struct shape *shape;
	bt_trace_class *trace_class;
	const struct event_type *type;
	const struct event *event;
	enum field_scope scope;
	uint32_t next; /* field */
};

static bt_field_class *sequence_class(
		const struct walk *walk, uint32_t index, bt_field_class *structure)
{
	struct cursor cursor = tree_cursor(walk->event, index);
	struct node node = node_next(&cursor);
	const char *name = length_name(walk->type, walk->event, index, node.n);
	bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_name(structure, name);
	bt_field_class *length =
			member ? bt_field_class_structure_member_borrow_field_class(member) : NULL;
	bt_field_class *element = element_class(
			walk->trace_class, &cursor, node.n, walk->type->fields[index].base);
	bt_field_class *class = element ? bt_field_class_array_dynamic_create(
							  walk->trace_class, element, length)
					: NULL;

	bt_field_class_put_ref(element);
	return class;
}

static bt_field_class *leaf_class(
		const struct walk *walk, uint32_t index, bt_field_class *structure)
{
	const struct field *field = &walk->type->fields[index];
	struct cursor cursor;

	switch (walk->shape->how[index]) {
	case AS_NUMBER:
		return number_class(walk->trace_class, field);
	case AS_SEQUENCE:
		return sequence_class(walk, index, structure);
	case AS_TREE:
		cursor = tree_cursor(walk->event, index);
		return tree_class(walk->trace_class, &cursor, field->base);
	default:
		return bt_field_class_string_create(walk->trace_class);
	}
}

/* The next field whose name begins with the first n letters of `prefix`; NULL: none follows. */
static const struct field *walk_next(struct walk *walk, const char *prefix, size_t n)
{
	const struct field *field;

	while (walk->next < walk->type->n_fields &&
			(walk->type->fields[walk->next].scope != walk->scope ||
					walk->shape->how[walk->next] == AS_NOTHING)) {
		walk->next++;
	}
	if (walk->next == walk->type->n_fields) {
		return NULL;
	}
	field = &walk->type->fields[walk->next];
	return strncmp(field->name, prefix, n) == 0 ? field : NULL;
}

static bt_field_class *structure_class(struct walk *walk, const char *prefix, size_t n)
{
	bt_field_class *class = bt_field_class_structure_create(walk->trace_class);
	bt_field_class *member;
	const struct field *field;

	while (class && (field = walk_next(walk, prefix, n))) {
		const char *rest = field->name + n, *dot = strchr(rest, '.');

		if (dot) {
			member = structure_class(
					walk, field->name, (size_t)(dot + 1 - field->name));
		} else {
			member = leaf_class(walk, walk->next++, class);
		}
		if (!append(class, rest, dot ? (size_t)(dot - rest) : strlen(rest), member)) {
			bt_field_class_put_ref(class);
			class = NULL;
		}
	}
	return class;
}

bt_field_class *shape_class(const struct shape *shape, bt_trace_class *trace_class,
		const struct event_type *type, const struct event *event, enum field_scope scope)
{
	struct walk walk = {shape, trace_class, type, event, scope, 0};

	return structure_class(&walk, "", 0);
}

/* --- Values ------------------------------------------------------------------------------------
 */

static bool set_string(bt_field *field, const char *bytes, size_t n)
{
	/* The library hands out fields again and again, with what was in them. */
	bt_field_string_clear(field);
	/* A 0 inside would end it anyway: that is how CTF stores strings. */
	return bt_field_string_append_with_length(field, bytes, strnlen(bytes, n)) == 0;
}

static void set_double(bt_field *field, uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	bt_field_real_double_precision_set_value(field, value);
}

static bool fill_tree(bt_field *field, struct cursor *cursor);

static bool fill_elements(bt_field *field, struct cursor *cursor, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!fill_tree(bt_field_array_borrow_element_field_by_index(field, i), cursor)) {
			return false;
		}
	}
	return true;
}

static bool fill_members(bt_field *field, struct cursor *cursor, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		skip(cursor);
		if (!fill_tree(bt_field_structure_borrow_member_field_by_index(field, i), cursor)) {
			return false;
		}
	}
	return true;
}

static bool fill_tree(bt_field *field, struct cursor *cursor)
{
	struct node node = node_next(cursor);

	switch (node.kind) {
	case TREE_UINT:
		bt_field_integer_unsigned_set_value(field, number_next(cursor));
		return true;
	case TREE_INT:
		bt_field_integer_signed_set_value(field, (int64_t)number_next(cursor));
		return true;
	case TREE_DOUBLE:
		set_double(field, number_next(cursor));
		return true;
	case TREE_STRING:
		return set_string(field, text_next(cursor, node.n), node.n);
	case TREE_ARRAY:
		return fill_elements(field, cursor, node.n);
	default:
		return fill_members(field, cursor, node.kind == TREE_VARIANT ? 1 : node.n);
	}
}

static bool fill_sequence(bt_field *field, struct cursor cursor)
{
	struct node node = node_next(&cursor);

	return bt_field_array_dynamic_set_length(field, node.n) == 0 &&
	       fill_elements(field, &cursor, node.n);
}

static bool fill_text(bt_field *field, struct cursor cursor, uint8_t base)
{
	size_t size = tree_text(NULL, 0, cursor.at, (size_t)(cursor.end - cursor.at), base) + 1;
	char *text = malloc(size);
	bool done = text != NULL;

	if (done) {
		tree_text(text, size, cursor.at, (size_t)(cursor.end - cursor.at), base);
		done = bt_field_string_set_value(field, text) == 0;
	}
	free(text);
	return done;
}

static void fill_number(bt_field *field, uint8_t kind, uint64_t slot)
{
	switch (kind) {
	case FIELD_DOUBLE:
		set_double(field, slot);
		break;
	case FIELD_INT:
		bt_field_integer_signed_set_value(field, (int64_t)slot);
		break;
	default:
		bt_field_integer_unsigned_set_value(field, slot);
		break;
	}
}

static bool fill_leaf(const struct walk *walk, uint32_t index, bt_field *field)
{
	const struct field *what = &walk->type->fields[index];
	struct cursor cursor;
	const char *bytes;
	uint32_t length;

	switch (walk->shape->how[index]) {
	case AS_NUMBER:
		fill_number(field, what->kind, walk->event->slots[index]);
		return true;
	case AS_STRING:
		bytes = event_bytes(walk->event, index, &length);
		return set_string(field, bytes, length);
	case AS_SEQUENCE:
		return fill_sequence(field, tree_cursor(walk->event, index));
	case AS_TREE:
		cursor = tree_cursor(walk->event, index);
		return fill_tree(field, &cursor);
	default:
		return fill_text(field, tree_cursor(walk->event, index), what->base);
	}
}

static bool fill_structure(struct walk *walk, bt_field *structure, const char *prefix, size_t n)
{
	const struct field *field;
	uint64_t member = 0;
	bool done = true;

	while (done && (field = walk_next(walk, prefix, n))) {
		bt_field *to = bt_field_structure_borrow_member_field_by_index(structure, member++);
		const char *dot = strchr(field->name + n, '.');

		done = dot ? fill_structure(walk, to, field->name, (size_t)(dot + 1 - field->name))
			   : fill_leaf(walk, walk->next++, to);
	}
	return done;
}

bool shape_fill(const struct shape *shape, bt_field *field, const struct event_type *type,
		const struct event *event, enum field_scope scope)
{
	struct walk walk = {shape, NULL, type, event, scope, 0};

	return fill_structure(&walk, field, "", 0);
}
