/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "type_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint32_t add_text(struct type_record *type, const char *text)
{
	uint32_t at = type->text_size;
	uint32_t length = (uint32_t)strnlen(text, TYPE_MAX_NAME);

	if (!array_reserve(&type->text, &type->text_room, at + length + 1)) {
		type->failed = true;
		return 0;
	}
	memcpy(type->text + at, text, length);
	type->text[at + length] = '\0';
	type->text_size += length + 1;
	return at;
}

void type_record_init(struct type_record *type, uint32_t number, const char *name)
{
	memset(type, 0, sizeof(*type));
	type->head.type = number;
	type->head.name = add_text(type, name ? name : "");
}

void type_record_release(struct type_record *type)
{
	free(type->labels);
	free(type->text);
}

int type_record_add_field(struct type_record *type, const char *name, enum field_kind kind,
		enum field_scope scope, uint8_t base, uint8_t width)
{
	uint32_t slot = type->head.n_fields;

	if (slot == EVENT_MAX_FIELDS) {
		type->head.left_out++;
		return -1;
	}
	type->fields[slot] = (struct record_field){
			.name = add_text(type, name),
			.kind = (uint8_t)kind,
			.scope = (uint8_t)scope,
			.base = base,
			.width = width,
			.first_label = type->head.n_labels,
	};
	type->head.n_fields++;
	return (int)slot;
}

void type_record_add_label(
		struct type_record *type, const char *name, uint64_t lower, uint64_t upper)
{
	uint32_t index = type->head.n_labels;

	if (index == TYPE_MAX_LABELS) {
		return;
	}
	if (!array_reserve(&type->labels, &type->labels_room, index + 1)) {
		type->failed = true;
		return;
	}
	type->labels[index] = (struct record_label){
			.name = add_text(type, name),
			.lower = lower,
			.upper = upper,
	};
	type->head.n_labels++;
	type->fields[type->head.n_fields - 1].n_labels++;
}

struct label_order {
	const char *text;
	bool is_signed;
};

static int compare(const struct label_order *order, uint64_t a, uint64_t b)
{
	if (order->is_signed) {
		return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
	}
	return (a > b) - (a < b);
}

static int by_value(const void *a, const void *b, void *context)
{
	const struct record_label *first = a, *second = b;
	const struct label_order *order = context;
	int lower = compare(order, first->lower, second->lower);
	int upper = compare(order, first->upper, second->upper);

	if (lower || upper) {
		return lower ? lower : upper;
	}
	return strcmp(order->text + first->name, order->text + second->name);
}

void type_record_sort_labels(struct type_record *type)
{
	const struct record_field *field = &type->fields[type->head.n_fields - 1];
	struct label_order order = {.text = type->text, .is_signed = field->kind == FIELD_INT};

	if (field->n_labels > 1) {
		qsort_r(type->labels + field->first_label, field->n_labels, sizeof(*type->labels),
				by_value, &order);
	}
}

static size_t text_start(const struct type_record *type)
{
	return sizeof(type->head) + type->head.n_fields * sizeof(struct record_field) +
	       type->head.n_labels * sizeof(struct record_label);
}

static void drop_labels(struct type_record *type)
{
	type->head.n_labels = 0;
	for (uint32_t i = 0; i < type->head.n_fields; i++) {
		type->fields[i].first_label = type->fields[i].n_labels = 0;
	}
}

bool type_record_write(struct type_record *type, struct outlet *outlet)
{
	size_t start = text_start(type);
	struct record_type *record;
	unsigned char *out;

	if (type->failed) {
		return false;
	}
	if (start + type->text_size > outlet_limit(outlet)) {
		drop_labels(type);
		start = text_start(type);
	}
	/* Texts were named by their offset among the texts; from now on, from the start. */
	type->head.name += (uint32_t)start;
	for (uint32_t i = 0; i < type->head.n_fields; i++) {
		type->fields[i].name += (uint32_t)start;
	}
	for (uint32_t i = 0; i < type->head.n_labels; i++) {
		type->labels[i].name += (uint32_t)start;
	}
	record = outlet_begin(outlet, start + type->text_size, RECORD_TYPE);
	if (!record) {
		return false;
	}
	type->head.record = record->record;
	*record = type->head;
	out = (unsigned char *)(record + 1);
	memcpy(out, type->fields, type->head.n_fields * sizeof(struct record_field));
	out += type->head.n_fields * sizeof(struct record_field);
	if (type->head.n_labels > 0) {
		memcpy(out, type->labels, type->head.n_labels * sizeof(struct record_label));
	}
	memcpy((unsigned char *)record + start, type->text, type->text_size);
	/* A record is a multiple of 8 long. */
	memset((unsigned char *)record + start + type->text_size, 0, -(start + type->text_size) & 7);
	return outlet_commit(outlet);
}
