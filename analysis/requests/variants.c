/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "requests/compile.h"
#include "requests/engine.h"
#include "requests/value_text.h"
#include "requests/variants.h"

#define FIRST_ROOM  64u
#define VALUE_BYTES 64u /* a value that sets apart, not a document */
#define OTHER       "(other)"

void variants_release(struct variants *variants)
{
	for (uint32_t i = 0; i < variants->room; i++) {
		free(variants->of_type[i].values);
	}
	free(variants->of_type);
	*variants = (struct variants){.of_type = NULL};
}

void variants_refresh(struct variants *variants)
{
	for (uint32_t i = 0; i < variants->room; i++) {
		variants->of_type[i].known = false;
	}
}

/* What is known of a request type; NULL if out of memory. */
static struct variants_of_type *of_type(struct requests *r, uint32_t request_type)
{
	struct variants *variants = &r->variants;
	struct variants_of_type *items;
	uint32_t room = variants->room ? variants->room : FIRST_ROOM;

	while (room <= request_type) {
		room = room > UINT32_MAX / 2 ? UINT32_MAX : room * 2;
	}
	if (room > variants->room) {
		items = realloc(variants->of_type, room * sizeof(*items));
		if (!items) {
			return NULL;
		}
		memset(items + variants->room, 0, (room - variants->room) * sizeof(*items));
		variants->of_type = items;
		variants->room = room;
	}
	items = &variants->of_type[request_type];
	if (!items->known) {
		items->rule = model_group_by(r->model, names_own_text(r->names, request_type));
		items->known = true;
	}
	return items;
}

/* "image=fedora size=4" into the scratch, or the same of what is `other`. */
static bool make_text(struct requests *r, const struct schema_expect *rule,
		const struct event_type *type, const struct event *event, bool other)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < rule->n_group_by; i++) {
		const char *name = rule->group_by[i];
		uint16_t field = compile_field(type, name);
		bool room = (i == 0 || text_append(r, &used, " ", 1)) &&
			    text_append(r, &used, name, strlen(name)) &&
			    text_append(r, &used, "=", 1);

		if (room && other) {
			room = text_append(r, &used, OTHER, strlen(OTHER));
		} else if (room && field == PLAN_NO_FIELD) {
			room = text_append(r, &used, "-", 1);
		} else if (room) {
			room = text_append_value(r, &used, type, event, field, VALUE_BYTES);
		}
		if (!room) {
			return false;
		}
	}
	r->scratch[used] = '\0';
	return true;
}

/* The value in the scratch, if it is one of those that the type has. */
static uint32_t find(const struct requests *r, const struct variants_of_type *of)
{
	for (uint32_t i = 0; i < of->n; i++) {
		if (strcmp(names_own_text(r->names, of->values[i]), r->scratch) == 0) {
			return of->values[i];
		}
	}
	return 0;
}

uint32_t variant_of(struct requests *r, uint32_t request_type, const struct event_type *type,
		const struct event *event)
{
	struct variants_of_type *of;
	uint32_t found;

	if (!model_groups_by(r->model)) {
		return 0;
	}
	of = of_type(r, request_type);
	if (!of || !of->rule || !make_text(r, of->rule, type, event, false)) {
		return 0;
	}
	found = find(r, of);
	if (found) {
		return found;
	}
	if (!of->values) {
		of->values = calloc(VARIANTS_MAX, sizeof(*of->values));
	}
	if (!of->values) {
		return 0;
	}
	if (of->n == VARIANTS_MAX) {
		return make_text(r, of->rule, type, event, true)
				       ? names_add(r->names, r->scratch, strlen(r->scratch))
				       : 0;
	}
	found = names_add(r->names, r->scratch, strlen(r->scratch));
	if (found) {
		of->values[of->n++] = found;
	}
	return found;
}
