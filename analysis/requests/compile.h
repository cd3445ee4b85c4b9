/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_COMPILE_H
#define PT_REQUESTS_COMPILE_H

#include "base/arena.h"
#include "base/names.h"
#include "requests/plan.h"

/* What a type lacks of what its schema asks for. */
#define COMPILE_MAX_NOTES 4
struct compile_notes {
	uint32_t n;
	const char *texts[COMPILE_MAX_NOTES]; /* from the arena */
};

/*
 * The field that a schema calls `key`: payload first, then context, unless it says $ctx;
 * PLAN_NO_FIELD if there is none.
 */
uint16_t compile_field(const struct event_type *type, const char *key);

/*
 * Makes the plan of one type. `event` NULL: the type belongs to no request. What the plan points to
 * comes from the arena. A binding whose field the type lacks is left out, and noted. `shared`: several
 * providers have its operation, so a type of requests that is named by it is named by the provider, too.
 */
struct compile_notes compile_plan(struct names *names, struct arena *arena,
		const struct plan_namespace *namespaces, uint32_t n_namespaces,
		const struct event_type *type, const struct schema_event *event, bool skeleton,
		bool shared, struct plan *plan);

#endif
