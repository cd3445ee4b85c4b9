/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_EVENT_H
#define PYTHIATOP_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pythiatop/ids.h"

/*
 * One event of a trace, as every stage after decoding sees it.
 *
 * An event is a view: it borrows its values (from the ring, or from a kept copy) and owns nothing.
 * Its values are `slots`, one 64-bit slot per field of its type, in the type's order, followed by
 * the bytes that strings and trees refer to. `slots` to `slots + bytes` is all there is to copy in
 * order to keep an event, and the copy is valid anywhere (it holds offsets, no pointers).
 *
 * Slot by kind:
 *   FIELD_UINT, FIELD_INT   the value (two's complement); booleans and enums are these
 *   FIELD_DOUBLE            the bits of an IEEE 754 double (single precision is widened)
 *   FIELD_STRING            offset << 32 | length: bytes at that offset from `slots`, then a 0
 *   FIELD_TREE              the same; the bytes are a tree as described below
 *   absent (EVENT_ABSENT set in the type's field and the value missing): all ones
 *
 * Structures are flattened: member `b` of structure `a` is field `a.b`. Arrays, sequences,
 * variants, and structures inside them are one FIELD_TREE: a preorder sequence of nodes, each
 *   u32 kind (enum tree_node), u32 n, then
 *   TREE_UINT, TREE_INT, TREE_DOUBLE   one u64
 *   TREE_STRING                        n bytes, padded with zeros to a multiple of 8
 *   TREE_ARRAY                         n nodes
 *   TREE_STRUCT                        n pairs of nodes: name (TREE_STRING), value
 *   TREE_VARIANT                       a pair: name of the option (TREE_STRING), value
 * All in the byte order of this machine. Character arrays are strings.
 */

enum field_kind {
	FIELD_UINT = 1,
	FIELD_INT,
	FIELD_DOUBLE,
	FIELD_STRING,
	FIELD_TREE,
};

enum tree_node {
	TREE_UINT = 1,
	TREE_INT,
	TREE_DOUBLE,
	TREE_STRING,
	TREE_ARRAY,
	TREE_STRUCT,
	TREE_VARIANT,
};

enum field_scope {
	SCOPE_PAYLOAD = 0,
	SCOPE_CONTEXT, /* the stream's or the event's context: vtid, vpid, perf counters */
};

#define EVENT_MAX_FIELDS 256          /* per event type; further ones are left out, and counted */
#define EVENT_MAX_BYTES  (256u << 10) /* slots and bytes of one event; longer values are cut */
#define EVENT_ABSENT     UINT64_MAX   /* slot of an optional or unreadable string or tree */

/* A name for a range of values of an enumeration, both ends included. */
struct field_label {
	const char *name;
	uint64_t lower, upper; /* two's complement for FIELD_INT */
};

struct field {
	const char *name;
	uint8_t kind;  /* enum field_kind */
	uint8_t scope; /* enum field_scope */
	uint8_t base;  /* 2, 8, 10 or 16: how people expect to see it */
	uint32_t n_labels;
	const struct field_label *labels; /* NULL if not an enumeration */
	uint8_t width; /* bytes of a number in the trace; 0: not known, or no number */
};

struct event_type {
	const char *name; /* "provider:event" for user space, "event" for a kernel */
	uint32_t n_fields;
	const struct field *fields;
};

struct event {
	uint64_t ts_ns;  /* since the Unix epoch */
	uint32_t type;   /* from engine_add_type() */
	uint32_t stream; /* from engine_add_stream(): which session, host, domain and channel */
	uint32_t cpu;    /* CPU_NONE if the trace does not say */
	uint32_t bytes;  /* size of what `slots` points to; at least 8 per field */
	const uint64_t *slots;
};

/*
 * The bytes of a FIELD_STRING or FIELD_TREE slot, and their length without the terminating 0.
 * NULL if absent, or if the slot does not lie inside the event (a damaged one).
 */
static inline const char *event_bytes(const struct event *event, uint32_t field, uint32_t *length)
{
	uint64_t slot = event->slots[field];
	uint64_t offset = slot >> 32;
	uint64_t size = slot & UINT32_MAX;

	if (slot == EVENT_ABSENT || offset + size + 1 > event->bytes) {
		*length = 0;
		return NULL;
	}
	*length = (uint32_t)size;
	return (const char *)event->slots + offset;
}

static inline double event_double(const struct event *event, uint32_t field)
{
	double value;

	memcpy(&value, &event->slots[field], sizeof(value));
	return value;
}

#endif
