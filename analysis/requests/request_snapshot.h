/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_REQUEST_SNAPSHOT_H
#define PT_REQUESTS_REQUEST_SNAPSHOT_H

#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"
#include "requests/requests.h"

/* Writes snapshot->request from a kept request. */
enum status requests_fill_request(struct requests *requests, const struct request *request,
		struct snapshot *snapshot);

/*
 * Writes snapshot->compare from two kept requests, but for b_is_median; NULL: not kept (any more),
 * then there are no rows. Of spans of one context the first eight are compared one by one, and at
 * most 1,000 values that differ are listed; what only names a request or message is not a value.
 */
enum status requests_fill_compare(struct requests *requests, const struct request *a,
		const struct request *b, struct snapshot *snapshot);

/* Writes snapshot->unmatched: the event types of which some events belong to no request. Rates are
 * over the window that ends at now_ns. */
/* Events of a type so far. */
uint64_t requests_seen(const struct requests *requests, uint32_t type);
/* What is wrong with the schema in force, as far as events have shown: snapshot->warnings. */
void requests_fill_warnings(struct requests *requests, struct snapshot *snapshot);
enum status requests_fill_unmatched(struct requests *requests, uint64_t now_ns, uint64_t window_ns,
		struct snapshot *snapshot);

/* What was seen of spans that a reader of the schema should know; texts from the arena. */
uint32_t requests_notes(
		struct requests *requests, struct arena *arena, const char **notes, uint32_t room);

#endif
