/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_KEYS_H
#define PT_REQUESTS_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/snapshot/explanation.h"
#include "requests/request.h"

/*
 * The key-values of one finished request: what may explain how long it took. Fields of its spans
 * and points (as the schema keeps them), the host of each context where there is a choice, how
 * often a context ran, and, with kernel events, its resources.
 *
 * A key is told by (source, calling context, name). Where a context has several spans in a request,
 * a numeric field is their sum, of a category the value of the longest span.
 */
struct request_key {
	enum explanation_source source;
	uint32_t context; /* 0: of the request as a whole */
	uint32_t name;    /* interned field name; 0 for hosts and counts */
	bool numeric;
	double number;     /* numeric */
	uint32_t category; /* else: interned text */
};

struct request_keys {
	uint32_t n; /* ordered by (source, context, name), no doubles */
	const struct request_key *items;
};

/*
 * Reads them; borrowed until the next call of the request engine. The request has its events (it is
 * new, or kept). False if out of memory. O(events log events).
 */
struct requests;
bool requests_read_keys(
		struct requests *requests, const struct request *request, struct request_keys *out);

#endif
