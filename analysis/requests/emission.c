/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "requests/engine.h"
#include "requests/failure.h"

#define MAX_PATH 4096 /* contexts of one request's path */

int ids_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool path_reserve(struct requests *r, uint32_t n)
{
	return array_reserve(&r->path, &r->path_room, n);
}

uint32_t ids_sort(uint32_t *items, uint32_t n)
{
	uint32_t i, kept = 0;

	qsort(items, n, sizeof(*items), ids_compare);
	for (i = 0; i < n; i++) {
		if (kept == 0 || items[i] != items[kept - 1]) {
			items[kept++] = items[i];
		}
	}
	return kept;
}

/* The set of skeleton contexts visited, into r->path; returns how many. */
static uint32_t make_path(struct requests *r, const struct fragment *f, bool *skewed)
{
	uint32_t root = contexts_add(r->contexts, 0, f->root_name, f->root_provider);
	uint32_t i, n = 0, depth = model_path_depth(r->model);
	const struct spans_input input = {
			.copies = &f->copies,
			.registry = r->registry,
			.root = f->root,
			.start_ns = f->start_ns,
			.end_ns = f->end_ns,
			.skeleton_only = true,
	};

	*skewed = false;
	if (!path_reserve(r, 1)) {
		return 0;
	}
	r->path[0] = root;
	r->built = NULL;
	if (f->n_skeleton_spans <= 1 || !spans_build(&r->spans, &input) ||
			!path_reserve(r, r->spans.n)) {
		return 1;
	}
	for (i = 0; i < r->spans.n; i++) {
		struct span *span = &r->spans.items[r->spans.order[i]];

		if (i == 0) {
			span->context = root;
		} else if (span->depth < depth && !span->point) {
			const struct plan *plan = &r->plans[span->entry->type];

			span->context = contexts_add(r->contexts,
					r->spans.items[span->parent].context, span->entry->name,
					plan->provider);
		} else {
			continue;
		}
		r->path[n++] = span->context;
	}
	*skewed = r->spans.skew_ns > 0;
	n = ids_sort(r->path, n);
	return n > MAX_PATH ? MAX_PATH : n;
}

/* The hosts it visited, and whether any of them lost events meanwhile. */
static uint32_t count_hosts(
		struct requests *r, const struct fragment *f, bool *tainted, uint64_t *hosts)
{
	struct copy_chunk *chunk = NULL;
	struct event_copy *copy;
	uint32_t offset = 0, n = 0, i, last = f->host;

	if (!f->many_hosts || !path_reserve(r, f->copies.n + 1)) {
		*tainted = losses_touch(&r->losses, f->host, f->start_ns, f->end_ns);
		*hosts = f->many_hosts ? REQUEST_MANY_HOSTS : REQUEST_HOST(f->host);
		return 1;
	}
	r->path[n++] = f->host;
	while ((copy = copies_next(&f->copies, &chunk, &offset))) {
		uint32_t host = r->registry->streams[copy->stream].host;

		if (host != last) {
			r->path[n++] = last = host;
		}
	}
	n = ids_sort(r->path, n);
	*tainted = false;
	*hosts = 0;
	for (i = 0; i < n; i++) {
		*hosts |= REQUEST_HOST(r->path[i]);
		*tainted |= losses_touch(&r->losses, r->path[i], f->start_ns, f->end_ns);
	}
	return n;
}

/* False: it is not known. */
static bool measure(const struct requests *r, const struct request *request,
		const struct usage *usage, struct state_resources *out)
{
	*out = usage_sum(r->config.state, usage, request->start_ns, request->end_ns);
	return out->measured;
}

const struct state_resources *requests_resources(struct requests *r, struct kept_request *kept)
{
	struct state_resources sum;

	if (r->finishing && kept == r->finishing->copy) {
		kept = r->finishing; /* the copy's own are written at last */
	}
	if (kept == r->finishing && kept->measures && !kept->resources &&
			measure(r, &kept->request, r->finishing_usage, &sum)) {
		kept->resources = pool_alloc(&r->pool->pool, sizeof(sum));
		if (kept->resources) {
			*kept->resources = sum;
		}
	}
	return kept->resources;
}

/* What it used, where somebody keeps the request: nobody else can ask later. */
static void measure_kept(struct requests *r, struct kept_request *kept)
{
	struct kept_request *copy = kept->copy;
	struct state_resources sum;

	if (!copy) {
		if (kept->request.references > 1) {
			(void)requests_resources(r, kept);
		}
	} else if (copy->measures) {
		bool known = kept->resources != NULL ||
			     measure(r, &kept->request, r->finishing_usage, &sum);

		if (known) {
			*copy->resources = kept->resources ? *kept->resources : sum;
		} else {
			copy->resources = NULL; /* its room goes with the copy */
		}
	}
}

void fragment_finish(struct requests *r, struct fragment *f, enum request_state state)
{
	struct kept_request *kept, *outer = r->finishing;
	const struct usage *outer_usage = r->finishing_usage;
	bool tainted, skewed;
	uint32_t n_hosts, n_path, size;
	uint64_t hosts;
	struct usage usage;

	if (f->end_ns < f->start_ns) {
		f->end_ns = f->last_ns > f->start_ns ? f->last_ns : f->start_ns;
	}
	if ((f->over_bound || f->cut) && state == REQUEST_COMPLETE) {
		state = REQUEST_TRUNCATED;
	}
	n_hosts = count_hosts(r, f, &tainted, &hosts);
	n_path = make_path(r, f, &skewed);
	size = (uint32_t)(offsetof(struct kept_request, path) + n_path * sizeof(uint32_t));
	size = size < sizeof(*kept) ? (uint32_t)sizeof(*kept) : size;
	kept = pool_alloc(&r->pool->pool, size);
	r->counts.pending -= f->n_pending;
	if (!kept) {
		r->counts.dropped += f->n_pending;
		fragment_remove(r, f);
		return;
	}
	r->counts.in_request += f->n_pending;
	*kept = (struct kept_request){
			.request = {.id = ++r->request_id,
					.type = f->type,
					.variant = f->variant,
					.start_ns = f->start_ns,
					.end_ns = f->end_ns,
					.state = f->merged ? REQUEST_MERGED : state,
					.tainted = tainted,
					.skewed = skewed,
					.n_hosts = n_hosts,
					.hosts = hosts,
					.n_events = f->n_pending,
					.n_spans = f->n_spans,
					.n_path = n_path,
					.path = kept->path,
					.references = 1,
					.bytes = size + f->copies.bytes},
			.copies = f->copies,
			.root = f->root,
			.serial = f->serial,
			.events_left_out = f->n_left_out,
			.spans_left_out = f->n_spans_left_out,
			.size = size,
			.measures = f->usage.n_threads > 0,
	};
	if (n_path > 0) {
		memcpy(kept->path, r->path, n_path * sizeof(uint32_t));
	}
	r->open_bytes -= f->copies.bytes;
	f->copies = (struct copies){.first = NULL};
	failure_find(r, f, &kept->request);
	usage = f->usage;
	f->usage = (struct usage){.n_threads = 0};
	fragment_remove(r, f);
	r->finishing = kept;
	r->finishing_usage = &usage;
	r->emit(r->context, &kept->request);
	measure_kept(r, kept);
	r->finishing = outer;
	r->finishing_usage = outer_usage;
	r->built = NULL;
	usage_release(&r->pool->pool, &usage);
	request_drop(r->pool, &kept->request);
}

void fragment_expire(struct requests *r, struct fragment *f)
{
	struct copy_chunk *chunk = NULL;
	struct event_copy *copy;
	uint32_t offset = 0;

	r->counts.pending -= f->n_pending;
	r->counts.state_only += f->n_state;
	r->counts.unmatched += f->n_pending - f->n_state;
	while ((copy = copies_next(&f->copies, &chunk, &offset))) {
		if (!copy->used) {
			type_stats_unmatched(&r->stats[copy->type], copy->ts_ns, WHY_EXPIRED);
		}
	}
	fragment_remove(r, f);
}
