/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_FAILURE_H
#define PT_REQUESTS_FAILURE_H

#include "requests/kept.h"
#include "requests/requests.h"
#include "requests/spans.h"

/* Where requests fail, and what told it. */

struct feed;
struct fragment;

/* Whether an event tells that its span failed: enum copy_fails. */
uint8_t failure_told(struct requests *r, const struct feed *feed);
/* Where a request that is finished began to fail; see struct request_failure. */
void failure_find(struct requests *r, const struct fragment *f, struct request *request);
/*
 * The span where that was, of those in r->spans, which have their contexts; SPAN_NONE: none is
 * known. *why: as far as the request tells; as it is.
 */
uint32_t failure_place(struct requests *r, enum request_why *why);
/* What told it of a span; NULL: nothing did. */
const struct event_copy *failure_of_span(const struct span *span);
/* What it told, in words: "status = 5", "ECONNREFUSED". Into the scratch; "" if out of memory. */
const char *failure_text(struct requests *r, const struct event_copy *copy);

#endif
