/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_SPAN_VALUES_H
#define PT_REQUESTS_SPAN_VALUES_H

#include "pythiatop/snapshot/request.h"
#include "pythiatop/status.h"
#include "requests/engine.h"

/* What events and spans tell beside their names: fields and their values, as text. */
enum values {
	VALUES_KEPT = 0, /* those the schema names; else all scalars and strings */
	VALUES_ALL,      /* also contexts and trees */
	VALUES_COMPARED, /* those kept, but what only says which request or message it is */
};

/* Is this field of a type's events among them? */
bool value_is_told(const struct requests *r, uint32_t type, uint32_t field, enum values which);

/* The values of an event, in the snapshot's memory; returns how many. Room: its fields. */
uint32_t event_values(struct requests *r, struct snapshot *snapshot, const struct event_copy *copy,
		enum values which, struct request_value *values);
/* The values kept of a span: of its entry, then what only its exit tells, or tells otherwise. */
enum status span_values(struct requests *r, struct snapshot *snapshot, const struct span *span,
		const struct request_value **values, uint32_t *n);
/* The same of those compared. */
enum status span_compared(struct requests *r, struct snapshot *snapshot, const struct span *span,
		const struct request_value **values, uint32_t *n);

#endif
