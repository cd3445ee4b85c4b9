/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_VARIANTS_H
#define PT_REQUESTS_VARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "requests/requests.h"

/*
 * What sets requests of one type apart where a schema says so (`expect: group_by`): the
 * values of those fields at the event that makes the request, interned: "image=fedora size=4".
 * VARIANTS_MAX values of each type; further ones are "image=(other)" together.
 */
#define VARIANTS_MAX 64u

struct variants_of_type {
	bool known;                       /* the rule was looked for */
	const struct schema_expect *rule; /* NULL: none */
	uint32_t n, *values;              /* interned */
};

struct variants {
	struct variants_of_type *of_type; /* by the interned type of requests */
	uint32_t room;
};

/* 0: nothing does. */
uint32_t variant_of(struct requests *r, uint32_t request_type, const struct event_type *type,
		const struct event *event);
/* Schemas may have been added. */
void variants_refresh(struct variants *variants);
void variants_release(struct variants *variants);

#endif
