/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_FAILS_H
#define PT_REQUESTS_FAILS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "pythiatop/event.h"
#include "pythiatop/schema.h"
#include "requests/plan.h"

/*
 * Which events tell that their span failed: by the conditions of a schema (`fails`), else by the
 * names of fields: an exit whose `ret`, `error` or `status` is negative; of a system call its
 * errno.
 *
 * What returns a negative number in half of its calls or more (a comparison) tells no failure by
 * it: `ret` counts only where that is not usual. An errno that only says "not now" never does
 * (EAGAIN, EINTR, EINPROGRESS; ETIMEDOUT of what waits, ECHILD of a wait for children).
 */
enum fail_op {
	FAIL_SET = 0, /* is neither 0 nor empty */
	FAIL_BELOW,
	FAIL_AT_MOST,
	FAIL_ABOVE,
	FAIL_AT_LEAST,
	FAIL_EQUAL,
	FAIL_OTHER,
	FAIL_NEVER,
};

/* "status >= 500" */
struct fail_rule {
	enum fail_op op;
	char field[128]; /* "" of FAIL_NEVER */
	char value[128];
};

/* False: it is no condition. */
bool fail_rule_parse(const char *text, struct fail_rule *rule);

/*
 * The conditions that hold for exits of this type where no schema says any, as a schema would;
 * returns how many. From the arena.
 */
uint32_t fails_usual(struct arena *arena, const struct event_type *type, enum span_role role,
		const char *const **out);

/*
 * Compiles those of an event; what names a field that the type does not have, or compares a text by
 * size, is given back as the text in *wrong (the last such; else NULL), and left out.
 */
void fails_compile(struct arena *arena, const struct event_type *type,
		const struct schema_event *event, struct plan *plan, const char **wrong);

/* It is called as what tells of failures is: "ret", "error", "status". */
bool fails_is_usual_field(const char *name);

/* The field that tells it; PLAN_NO_FIELD: it did not fail. */
uint16_t fails_by(
		const struct plan *plan, const struct event_type *type, const struct event *event);

/* An errno that says no more than to try again, or that there is nothing, of this call. */
bool fails_is_ordinary(const char *call, int64_t error);

/* "ENOENT"; NULL: no such number. */
const char *fails_errno_name(int64_t error);

#endif
