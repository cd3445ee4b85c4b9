/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_TYPE_RECORD_H
#define PT_SOURCE_TYPE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "outlet.h"
#include "pythiatop/event.h"

/*
 * A RECORD_TYPE in the making: fields and labels are collected, then written in one piece.
 *
 * Memory: TYPE_MAX_LABELS labels, names of at most TYPE_MAX_NAME bytes; longer names are cut, more
 * labels left out. If the record still does not fit the ring, it goes without labels.
 * Errors: running out of memory is remembered, and makes type_record_write() fail.
 */
#define TYPE_MAX_LABELS 8192
#define TYPE_MAX_NAME   255

struct type_record {
	struct record_type head;
	struct record_field fields[EVENT_MAX_FIELDS];
	struct record_label *labels;
	char *text;
	uint32_t text_size, text_room, labels_room;
	bool failed;
};

void type_record_init(struct type_record *type, uint32_t number, const char *name);
void type_record_release(struct type_record *type);

/* Returns the slot of the field, or -1 if there are EVENT_MAX_FIELDS already (it is counted). */
int type_record_add_field(struct type_record *type, const char *name, enum field_kind kind,
		enum field_scope scope, uint8_t base, uint8_t width);

/* Adds a label to the field that was added last. */
void type_record_add_label(
		struct type_record *type, const char *name, uint64_t lower, uint64_t upper);

/*
 * Orders the labels of the field that was added last by their values: libbabeltrace2 2.0 gives them
 * as the trace declares them, 2.1 in an order of its own.
 */
void type_record_sort_labels(struct type_record *type);

bool type_record_write(struct type_record *type, struct outlet *outlet);

#endif
