/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_EXTRACT_H
#define PT_REQUESTS_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/event.h"
#include "pythiatop/schema.h"

/*
 * Fields out of texts: what a schema extracts from an event is added to its fields, behind its own.
 * An event of a type that a schema extracts from is of one more type for each of the schema's
 * events that do (an alternative): the type's fields, then those that are extracted. Everything
 * behind this sees the event as of the first alternative whose expressions match, else as it came.
 *
 * Expressions see bytes, whatever the locale is, and the first EXTRACT_MAX_TEXT bytes of a text.
 * Memory: an expression each, and one event. One thread at a time.
 */
struct extractor;

#define EXTRACT_MAX_RULES 64 /* alternatives of a type */

struct extractor *extractor_create(void);
void extractor_destroy(struct extractor *x);

/* Is the extraction `at` of a schema's event sound? False: what is wrong is in `wrong`. */
bool extract_check(const struct schema_event *event, uint32_t at, char *wrong, size_t size);

/*
 * The fields of an alternative, into room for EVENT_MAX_FIELDS; names and labels are borrowed.
 * Returns how many, 0: it is none for this type. `lack`, if given, is then the name of the field
 * that is missing or no text, or NULL where it is something else.
 */
uint32_t extract_fields(const struct event_type *type, const struct schema_event *event,
		struct field *fields, const char **lack);

/*
 * From now on events of type number `of` may be of type number `as`, by `event`, which stays where
 * it is. In the order of preference. The types' fields stay where they are. False if out of memory.
 */
bool extractor_add(struct extractor *x, uint32_t of, uint32_t as, const struct event_type *type,
		const struct schema_event *event);

/* The event as the first alternative that matches, valid until the next call; else itself. */
const struct event *extractor_feed(struct extractor *x, const struct event *event);

/* What came, of an event that is as extractor_feed() gave it; valid until the next call. */
const struct event *extractor_original(struct extractor *x, const struct event *event);

#endif
