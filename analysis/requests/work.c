/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events that are derived, and which thread works for which request. */
#include "requests/serving.h"

#include "base/hash.h"

uint64_t serving_tell(struct servers *servers, enum served what, bool exit,
		const struct where *where, uint64_t at_ns, const struct served_ids *ids,
		uint32_t name, uint64_t under)
{
	uint64_t slots[SERVED_FIELDS + SERVED_NAME / 8];
	struct event event = {.ts_ns = servers->now_ns,
			.type = servers->derived[what][exit],
			.stream = where->stream,
			.cpu = where->cpu,
			.slots = slots};
	const struct requests_derived derived = {.at_ns = at_ns,
			.under = under,
			.host = where->host,
			.thread = where->thread,
			.cut = what == SERVED_REQUEST && exit && at_ns == 0};

	event.bytes = served_write(slots, ids, names_text(servers->config.names, name));
	return requests_feed_derived(servers->config.requests, &event, &derived);
}

struct served_ids serving_ids(const struct served_request *served, uint64_t id, uint64_t message)
{
	return (struct served_ids){.request = served->tree, .message = message, .id = id};
}

struct worker *worker_of(struct servers *servers, uint32_t host, uint64_t thread, bool make)
{
	uint32_t bucket = (uint32_t)hash_pair(host, thread) & (SERVING_BUCKETS - 1);
	struct worker *w = servers->workers[bucket];

	while (w && (w->thread != thread || w->host != host)) {
		w = w->chained;
	}
	if (w || !make || servers->n_workers == SERVERS_MAX_THREADS) {
		return w;
	}
	w = pool_alloc(&servers->pool, sizeof(*w));
	if (w) {
		*w = (struct worker){.thread = thread,
				.host = host,
				.chained = servers->workers[bucket]};
		servers->workers[bucket] = w;
		servers->n_workers++;
	}
	return w;
}

void worker_stop(struct servers *servers, struct worker *w, const struct where *near)
{
	struct served_request *served = w->served;
	struct where where = *near;
	struct served_ids ids;

	if (!served) {
		return;
	}
	where.thread = w->thread;
	where.host = w->host;
	ids = serving_ids(served, served->id, 0);
	serving_tell(servers, SERVED_WORK, true, &where, 0, &ids, w->program, 0);
	w->served = NULL;
	for (uint32_t i = 0; i < served->n_workers; i++) {
		if (served->workers[i] == w) {
			served->workers[i] = served->workers[--served->n_workers];
			break;
		}
	}
}

void worker_work_for(struct servers *servers, struct worker *w, struct served_request *served,
		const struct where *where)
{
	struct served_ids ids;

	if (w->served == served) {
		return;
	}
	worker_stop(servers, w, where);
	if (!served || served->n_workers == MAX_WORKERS) {
		return;
	}
	w->served = served;
	w->program = threads_program(servers->config.threads, w->host, w->thread);
	served->workers[served->n_workers++] = w;
	ids = serving_ids(served, served->id, 0);
	serving_tell(servers, SERVED_WORK, false, where, 0, &ids, w->program, served->seq);
}
