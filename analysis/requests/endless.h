/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_ENDLESS_H
#define PT_REQUESTS_ENDLESS_H

#include "base/number_map.h"

/*
 * Outermost functions that never end, so that what they call is the request, and spans that a
 * person said are requests.
 */

/* Roots that end, by name and process; and those that were found not to. */
#define ENDLESS_NOTED 8u
struct endless {
	struct number_map ended;
	uint32_t n, names[ENDLESS_NOTED];
};

/* Which spans a person said are requests; NULL: nobody did. Patterns. */
struct named_request {
	char *program, *function;
	uint64_t n; /* that began */
};

struct feed;
struct requests;
struct thread;

/* See endless.c. */
bool endless_leave_root(struct requests *r, struct feed *feed);
/* A span outside of all requests may begin one, as far as a person said what requests are. */
bool endless_may_begin(struct requests *r, const struct feed *feed);
void endless_root_ended(struct requests *r, uint32_t name, const struct thread *thread);

#endif
