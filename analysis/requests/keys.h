/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_KEYS_H
#define PT_REQUESTS_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/snapshot/explanation.h"
#include "requests/request.h"

/*
 * The key-values of one finished request: what may explain how long it took.
 *
 * FIELD: the fields that the schema keeps of its spans and points, but for those that say which
 * request, message or span it is: what the event joins or pairs by, and whatever is called like a
 * field that names requests or messages elsewhere. Integers shown in base ten, and floating point
 * numbers, are numbers; enumerations, strings, and integers shown in another base (addresses,
 * flags), and those that their name says to be codes (field_words.h) are categories. Trees, what is
 * not finite, where in its memory the kernel has something, and what it interrupts a thread with
 * (switches, interrupts, timers) are left out. Where entry and exit of a span tell the same field,
 * the exit's holds: what it was in the end.
 *
 * HOST: where the root ran, and each context whose span is not nested in its parent on its thread:
 * work that was handed on, so that somebody chose where to.
 *
 * RESOURCE: with kernel events what the request used, as in struct state_resources, under the names
 * of its members (cpu_ns, runqueue_ns, disk_read_bytes, ...).
 *
 * How often a context ran is not among them: it is in struct measured.
 *
 * A key is told by (source, calling context, name). Where a context has several spans in a request,
 * a numeric field is their sum; a category, and a host, is that of a span that failed, if one did,
 * and of the longest of those that remain, of equal ones of the first. A field that is now a
 * number, now a category, is what the first of them is.
 */
#define KEY_TEXT_BYTES 128u /* of a category; longer ones are cut */

struct request_key {
	enum explanation_source source;
	uint32_t context; /* 0: of the request as a whole */
	uint32_t name;    /* interned; 0 for hosts */
	bool numeric;
	double number; /* numeric; finite */
	/*
	 * From the request's start until all of the value was told, ns; 0: that cannot be said, or
	 * it is of the message that the request begins with, which was there before it was read.
	 */
	uint64_t after_ns;
	bool is_text;     /* the event tells a text, rather than a number that is only a name */
	const char *text; /* else; need not end in 0 */
	uint32_t length;
};

struct request_keys {
	uint32_t n; /* ordered by (source, context, name), no doubles */
	const struct request_key *items;
};

/*
 * Reads them; borrowed until the next call of the request engine, texts at most as long as the
 * request lives. The request has its events (it is new, or kept). False if out of memory. O(values
 * log values).
 */
struct requests;
bool requests_read_keys(
		struct requests *requests, const struct request *request, struct request_keys *out);

/*
 * How long the message is that a request of a server begins with, as far as it was read at once.
 * As above. False: it is not known.
 */
bool requests_read_asked(struct requests *requests, const struct request *request, uint64_t *bytes);

/*
 * What the events of a span of the request that was walked last tell in words: its string fields
 * and labels, those that keys are made of. Returns how many, at most max; texts last as the
 * request does.
 */
uint32_t requests_told(
		struct requests *requests, uint32_t span, struct request_key *out, uint32_t max);

#endif
