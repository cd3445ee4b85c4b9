/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_MEANING_H
#define PT_REQUESTS_MEANING_H

#include <stdbool.h>
#include <stdint.h>

#include "requests/model.h"

/*
 * What events would mean that nobody records so far: by the schemas that were given, else as
 * inference would have it if all of them were recorded. The model itself learns nothing, so that
 * an event that is merely offered changes no request.
 */
struct meaning {
	enum span_role role;
	bool skeleton, about_tracer;
	uint32_t provider, span; /* interned; span 0: its name comes from a field */
};

/* False if out of memory. The types need names, and names of fields. */
bool model_meanings(const struct model *model, const struct event_type *types, uint32_t n,
		struct meaning *out);

#endif
