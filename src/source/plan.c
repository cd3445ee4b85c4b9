/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event_bytes.h"
#include "type_record.h"

#define DEPTH_MAX 8 /* structures inside structures that are flattened; deeper ones are trees */

enum step_kind {
	/* Make a structure the one at hand, at depth 0. */
	STEP_COMMON_CONTEXT,
	STEP_SPECIFIC_CONTEXT,
	STEP_PAYLOAD,
	STEP_PACKET_CONTEXT,
	STEP_ENTER, /* make a member of it the structure at the next depth */
	/* A value. */
	STEP_UINT,
	STEP_INT,
	STEP_BOOL,
	STEP_BITS,
	STEP_SINGLE,
	STEP_DOUBLE,
	STEP_STRING,
	STEP_TREE,
};

struct step {
	uint8_t kind;
	uint8_t depth; /* of the structure that the member belongs to */
	uint16_t slot;
	uint32_t member;
};

struct plan {
	uint32_t type;
	uint32_t n_slots;
	uint32_t n_steps, steps_room;
	struct step *steps;
};

struct compiler {
	struct plan *plan;
	struct type_record type;
	enum field_scope scope;
	bool of_packet; /* what is added is the packet's context */
	bool failed;
};

static void add_step(struct compiler *compiler, struct step step)
{
	struct plan *plan = compiler->plan;

	if (!array_reserve(&plan->steps, &plan->steps_room, plan->n_steps + 1)) {
		compiler->failed = true;
		return;
	}
	plan->steps[plan->n_steps++] = step;
}

static enum step_kind step_of(bt_field_class_type type)
{
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		return STEP_UINT;
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		return STEP_INT;
	}
	switch (type) {
	case BT_FIELD_CLASS_TYPE_BOOL:
		return STEP_BOOL;
	case BT_FIELD_CLASS_TYPE_BIT_ARRAY:
		return STEP_BITS;
	case BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL:
		return STEP_SINGLE;
	case BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL:
		return STEP_DOUBLE;
	case BT_FIELD_CLASS_TYPE_STRING:
		return STEP_STRING;
	default:
		return STEP_TREE;
	}
}

static enum field_kind kind_of(enum step_kind step)
{
	switch (step) {
	case STEP_INT:
		return FIELD_INT;
	case STEP_SINGLE:
	case STEP_DOUBLE:
		return FIELD_DOUBLE;
	case STEP_STRING:
		return FIELD_STRING;
	case STEP_TREE:
		return FIELD_TREE;
	default:
		return FIELD_UINT;
	}
}

static uint8_t base_of(const bt_field_class *class, bt_field_class_type type)
{
	while (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		class = bt_field_class_array_borrow_element_field_class_const(class);
		type = bt_field_class_get_type(class);
	}
	if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		return 16;
	}
	if (!bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER)) {
		return 10;
	}
	return (uint8_t)bt_field_class_integer_get_preferred_display_base(class);
}

static uint8_t width_of(const bt_field_class *class, enum step_kind step)
{
	switch (step) {
	case STEP_UINT:
	case STEP_INT:
		return (uint8_t)((bt_field_class_integer_get_field_value_range(class) + 7) / 8);
	case STEP_BITS:
		return (uint8_t)((bt_field_class_bit_array_get_length(class) + 7) / 8);
	case STEP_SINGLE:
		return 4;
	case STEP_DOUBLE:
		return 8;
	case STEP_BOOL:
		return 1;
	default:
		return 0;
	}
}

static void add_unsigned_labels(struct type_record *type, const bt_field_class *class)
{
	uint64_t n = bt_field_class_enumeration_get_mapping_count(class);

	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_enumeration_unsigned_mapping *mapping =
				bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(
						class, i);
		const bt_integer_range_set_unsigned *ranges =
				bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(
						mapping);
		const char *label = bt_field_class_enumeration_mapping_get_label(
				bt_field_class_enumeration_unsigned_mapping_as_mapping_const(
						mapping));
		uint64_t n_ranges = bt_integer_range_set_get_range_count(
				bt_integer_range_set_unsigned_as_range_set_const(ranges));

		for (uint64_t j = 0; j < n_ranges; j++) {
			const bt_integer_range_unsigned *range =
					bt_integer_range_set_unsigned_borrow_range_by_index_const(
							ranges, j);

			type_record_add_label(type, label,
					bt_integer_range_unsigned_get_lower(range),
					bt_integer_range_unsigned_get_upper(range));
		}
	}
}

static void add_signed_labels(struct type_record *type, const bt_field_class *class)
{
	uint64_t n = bt_field_class_enumeration_get_mapping_count(class);

	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_enumeration_signed_mapping *mapping =
				bt_field_class_enumeration_signed_borrow_mapping_by_index_const(
						class, i);
		const bt_integer_range_set_signed *ranges =
				bt_field_class_enumeration_signed_mapping_borrow_ranges_const(
						mapping);
		const char *label = bt_field_class_enumeration_mapping_get_label(
				bt_field_class_enumeration_signed_mapping_as_mapping_const(
						mapping));
		uint64_t n_ranges = bt_integer_range_set_get_range_count(
				bt_integer_range_set_signed_as_range_set_const(ranges));

		for (uint64_t j = 0; j < n_ranges; j++) {
			const bt_integer_range_signed *range =
					bt_integer_range_set_signed_borrow_range_by_index_const(
							ranges, j);

			type_record_add_label(type, label,
					(uint64_t)bt_integer_range_signed_get_lower(range),
					(uint64_t)bt_integer_range_signed_get_upper(range));
		}
	}
}

static void add_value(struct compiler *compiler, const bt_field_class *class, const char *name,
		uint8_t depth, uint32_t member)
{
	bt_field_class_type type = bt_field_class_get_type(class);
	enum step_kind step = step_of(type);
	int slot = type_record_add_field(&compiler->type, name, kind_of(step), compiler->scope,
			base_of(class, type), width_of(class, step));

	if (slot < 0) {
		return;
	}
	add_step(compiler, (struct step){.kind = (uint8_t)step,
					   .depth = depth,
					   .slot = (uint16_t)slot,
					   .member = member});
	if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION) {
		add_unsigned_labels(&compiler->type, class);
	} else if (type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION) {
		add_signed_labels(&compiler->type, class);
	}
	type_record_sort_labels(&compiler->type);
}

/* Every event has its CPU anyway. */
static bool is_cpu_of_packet(const struct compiler *compiler, const char *name, uint8_t depth)
{
	return compiler->of_packet && depth == 0 && strcmp(name, "cpu_id") == 0;
}

static void add_members(struct compiler *compiler, const bt_field_class *structure,
		const char *prefix, uint8_t depth)
{
	uint64_t n = bt_field_class_structure_get_member_count(structure);

	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *member =
				bt_field_class_structure_borrow_member_by_index_const(structure, i);
		const bt_field_class *class =
				bt_field_class_structure_member_borrow_field_class_const(member);
		char name[TYPE_MAX_NAME + 1];

		snprintf(name, sizeof(name), "%s%s%s", prefix, prefix[0] ? "." : "",
				bt_field_class_structure_member_get_name(member));
		if (is_cpu_of_packet(compiler, name, depth)) {
			continue;
		}
		if (bt_field_class_get_type(class) == BT_FIELD_CLASS_TYPE_STRUCTURE &&
				depth + 1 < DEPTH_MAX) {
			add_step(compiler, (struct step){.kind = STEP_ENTER,
							   .depth = depth,
							   .member = (uint32_t)i});
			add_members(compiler, class, name, (uint8_t)(depth + 1));
		} else {
			add_value(compiler, class, name, depth, (uint32_t)i);
		}
	}
}

static void add_root(struct compiler *compiler, enum step_kind step, enum field_scope scope,
		const bt_field_class *class)
{
	if (!class || bt_field_class_get_type(class) != BT_FIELD_CLASS_TYPE_STRUCTURE ||
			bt_field_class_structure_get_member_count(class) == 0) {
		return;
	}
	compiler->scope = scope;
	add_step(compiler, (struct step){.kind = (uint8_t)step});
	add_members(compiler, class, "", 0);
}

/* What a packet says of all its events, LTTng's own members apart: only the CPU is left of those. */
static void add_packet_context(struct compiler *compiler, const bt_stream_class *stream_class)
{
	const bt_field_class *class =
			bt_stream_class_borrow_packet_context_field_class_const(stream_class);
	uint64_t n = class ? bt_field_class_structure_get_member_count(class) : 0;

	compiler->of_packet = true;
	if (n > 1 || (n == 1 && !bt_field_class_structure_borrow_member_by_name_const(
						class, "cpu_id"))) {
		add_root(compiler, STEP_PACKET_CONTEXT, SCOPE_CONTEXT, class);
	}
}

struct plan *plan_create(const bt_event_class *event_class, uint32_t type, struct outlet *outlet)
{
	const bt_stream_class *stream_class = bt_event_class_borrow_stream_class_const(event_class);
	const char *name = bt_event_class_get_name(event_class);
	struct compiler *compiler = calloc(1, sizeof(*compiler));
	struct plan *plan = calloc(1, sizeof(*plan));
	char number[32];
	bool failed;

	if (!compiler || !plan) {
		free(compiler);
		free(plan);
		return NULL;
	}
	if (!name || !name[0]) {
		snprintf(number, sizeof(number), "event-%" PRIu64,
				bt_event_class_get_id(event_class));
		name = number;
	}
	compiler->plan = plan;
	type_record_init(&compiler->type, type, name);
	add_root(compiler, STEP_PAYLOAD, SCOPE_PAYLOAD,
			bt_event_class_borrow_payload_field_class_const(event_class));
	add_root(compiler, STEP_SPECIFIC_CONTEXT, SCOPE_CONTEXT,
			bt_event_class_borrow_specific_context_field_class_const(event_class));
	add_root(compiler, STEP_COMMON_CONTEXT, SCOPE_CONTEXT,
			bt_stream_class_borrow_event_common_context_field_class_const(
					stream_class));
	add_packet_context(compiler, stream_class);
	plan->type = type;
	plan->n_slots = compiler->type.head.n_fields;
	failed = compiler->failed || !type_record_write(&compiler->type, outlet);
	type_record_release(&compiler->type);
	free(compiler);
	if (failed) {
		plan_destroy(plan);
		return NULL;
	}
	return plan;
}

void plan_destroy(struct plan *plan)
{
	if (plan) {
		free(plan->steps);
		free(plan);
	}
}

static uint64_t double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static bool put_tree(struct outlet *outlet, uint64_t *slot, const bt_field *field,
		struct tree *tree, uint32_t *used)
{
	if (!tree_encode(tree, field)) {
		*slot = EVENT_ABSENT;
		return true;
	}
	return event_put_tree(outlet, slot, tree, used);
}

bool plan_write(const struct plan *plan, const bt_event *event, struct outlet *outlet,
		struct tree *tree, struct record_event **written)
{
	uint32_t used = plan->n_slots * (uint32_t)sizeof(uint64_t);
	struct record_event *record = outlet_begin(outlet, sizeof(*record) + used, RECORD_EVENT);
	const bt_field *at_hand[DEPTH_MAX] = {NULL};
	/* An event without fields has no steps, and no array of them to point into. */
	const struct step *step = plan->steps, *end = step ? step + plan->n_steps : NULL;

	if (!record) {
		return false;
	}
	record->type = plan->type;
	for (; step != end; step++) {
		uint64_t *slot = &record->slots[step->slot];
		const bt_field *field;

		switch (step->kind) {
		case STEP_COMMON_CONTEXT:
			at_hand[0] = bt_event_borrow_common_context_field_const(event);
			continue;
		case STEP_SPECIFIC_CONTEXT:
			at_hand[0] = bt_event_borrow_specific_context_field_const(event);
			continue;
		case STEP_PAYLOAD:
			at_hand[0] = bt_event_borrow_payload_field_const(event);
			continue;
		case STEP_PACKET_CONTEXT:
			at_hand[0] = bt_packet_borrow_context_field_const(
					bt_event_borrow_packet_const(event));
			continue;
		default:
			field = bt_field_structure_borrow_member_field_by_index_const(
					at_hand[step->depth], step->member);
			break;
		}
		switch (step->kind) {
		case STEP_ENTER:
			at_hand[step->depth + 1] = field;
			break;
		case STEP_UINT:
			*slot = bt_field_integer_unsigned_get_value(field);
			break;
		case STEP_INT:
			*slot = (uint64_t)bt_field_integer_signed_get_value(field);
			break;
		case STEP_BOOL:
			*slot = bt_field_bool_get_value(field) ? 1 : 0;
			break;
		case STEP_BITS:
			*slot = bt_field_bit_array_get_value_as_integer(field);
			break;
		case STEP_SINGLE:
			*slot = double_bits(
					(double)bt_field_real_single_precision_get_value(field));
			break;
		case STEP_DOUBLE:
			*slot = double_bits(bt_field_real_double_precision_get_value(field));
			break;
		case STEP_STRING:
			if (!event_put_bytes(outlet, slot, bt_field_string_get_value(field),
					    bt_field_string_get_length(field), &used)) {
				return false;
			}
			break;
		default:
			if (!put_tree(outlet, slot, field, tree, &used)) {
				return false;
			}
			break;
		}
	}
	record->bytes = used;
	*written = record;
	return true;
}
