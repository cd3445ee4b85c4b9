/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_VALUES_H
#define PT_REQUESTS_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "pythiatop/event.h"
#include "pythiatop/snapshot/snapshot.h"

/*
 * Values of fields as text, the way people expect to see them: integers in their base, names of
 * enumerations, trees as {a=1, b=[2, 3]}. Not escaped.
 */

/* What an enumeration calls a number; NULL: nothing, or it is none. Lives as long as the field. */
const char *value_label(const struct field *field, uint64_t value);

/* An integer or a floating point number. Always terminated. */
void value_scalar(char *text, size_t size, const struct field *field, uint64_t slot);

/* Any value, in the snapshot's memory; at most VALUE_MAX_BYTES. Never NULL; "" if absent. */
#define VALUE_MAX_BYTES 65536
const char *value_text(struct snapshot *snapshot, const struct field *field,
		const struct event *event, uint32_t at);

#endif
