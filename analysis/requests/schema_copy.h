/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_SCHEMA_COPY_H
#define PT_REQUESTS_SCHEMA_COPY_H

#include <stddef.h>

#include "base/arena.h"
#include "pythiatop/schema.h"
#include "pythiatop/status.h"

/* STATUS_INVALID: `error` (of `size` bytes) says what is wrong, and where. */
enum status schema_check(const struct schema *schema, char *error, size_t size);

/* A deep copy in the arena; NULL if out of memory. */
struct schema *schema_copy(struct arena *arena, const struct schema *schema);

#endif
