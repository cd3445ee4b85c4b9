/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/dump.h"

#include <stdlib.h>

#include "requests/kept.h"

static const struct copies *copies_of(const struct request *request)
{
	return &((const struct kept_request *)(const void *)request)->copies;
}

static int by_order(const void *a, const void *b)
{
	const struct event_copy *x = *(const struct event_copy *const *)a;
	const struct event_copy *y = *(const struct event_copy *const *)b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

enum status requests_dump(const struct request *const *requests, uint32_t n,
		bool (*take)(void *context, const struct event *event), void *context)
{
	const struct event_copy **events, *copy;
	size_t n_events = 0, used = 0;
	bool more = true;

	for (uint32_t i = 0; i < n; i++) {
		n_events += copies_of(requests[i])->n;
	}
	events = malloc((n_events + 1) * sizeof(*events));
	if (!events) {
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct copy_chunk *chunk = NULL;
		uint32_t offset = 0;

		while (used < n_events &&
				(copy = copies_next(copies_of(requests[i]), &chunk, &offset))) {
			events[used] = copy;
			used += !copy->derived;
		}
	}
	qsort(events, used, sizeof(*events), by_order);
	for (size_t i = 0; i < used && more; i++) {
		const struct event event = {.ts_ns = events[i]->ts_ns,
				.type = events[i]->type,
				.stream = events[i]->stream,
				.cpu = events[i]->cpu,
				.bytes = events[i]->bytes,
				.slots = events[i]->slots};

		more = (i > 0 && events[i]->seq == events[i - 1]->seq) || take(context, &event);
	}
	free(events);
	return STATUS_OK;
}
