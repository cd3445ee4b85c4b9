/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_SHAPE_H
#define PT_SOURCE_SHAPE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/event.h"

/*
 * Which CTF types the fields of an event are written with.
 *
 * A type of ours says "a tree here" where CTF names arrays, their lengths, and structures. So the
 * shape is taken from each event, and events of one type that differ in it become CTF event classes
 * of one name. What is written:
 *   numbers   64 bits wide, in the base they had; with labels: enumerations
 *   strings   as such; a value that is absent is left out of its event
 *   a.b       a structure `a` again
 *   arrays    as arrays of the length found; after a member NAME_length that holds it: as sequences
 *   variants  as a structure of the option that was chosen
 *   other trees (arrays of unlike things, empty arrays without a length, names that CTF cannot
 *   express, nested deeper than SHAPE_MAX_DEPTH)   as text
 * Structures without members are not in our types, so they are lost; so is the base of numbers
 * inside of structures inside of arrays.
 */
#define SHAPE_MAX_DEPTH 16

struct shape {
	uint8_t how[EVENT_MAX_FIELDS];
	char *text; /* the same for all events that fit the same classes; ends in 0 */
	size_t n, room;
	size_t context; /* of it: what tells of the contexts */
	bool failed;    /* out of memory */
};

void shape_release(struct shape *shape);

/* The shape of an event; `plain`: with all trees as text. False if out of memory. */
bool shape_read(struct shape *shape, const struct event_type *type, const struct event *event,
		bool plain);

/* The structure of one scope's fields. NULL if out of memory. */
bt_field_class *shape_class(const struct shape *shape, bt_trace_class *trace_class,
		const struct event_type *type, const struct event *event, enum field_scope scope);

/* Puts the values of an event into a field of that class. False if out of memory. */
bool shape_fill(const struct shape *shape, bt_field *field, const struct event_type *type,
		const struct event *event, enum field_scope scope);

#endif
