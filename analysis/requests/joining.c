/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/engine.h"
#include "requests/feed.h"
#include "requests/pairing.h"
#include "requests/value_text.h"

/* Enabling a point never changes which requests exist: it goes with what is open. */
enum unmatched_why feed_attach(struct requests *r, struct feed *feed)
{
	const struct plan *plan = feed->plan;
	uint32_t i;

	if (feed->paired && feed->paired->fragment) {
		feed->target = feed->paired->fragment;
		return WHY_COUNT;
	}
	feed_look_up(r, feed);
	for (i = 0; i < plan->n_bind; i++) {
		struct interval *interval = feed->bound[i].interval;

		if (!interval) {
			continue;
		}
		if (plan->bind[i].kind == NS_EXECUTION && feed->thread && feed->thread->mixed) {
			return WHY_AMBIGUOUS;
		}
		feed->target = interval->fragment;
		interval->last_ns = feed->event->ts_ns;
		return WHY_COUNT;
	}
	if (plan->n_bind == 0) {
		return WHY_NO_BINDING;
	}
	for (i = 0; i < plan->n_bind; i++) {
		if (feed->bound[i].has_key) {
			return WHY_NOTHING_OPEN;
		}
	}
	return feed->thread ? WHY_NO_BINDING : WHY_NO_THREAD;
}

/* An entry that names the message that its root is said to have come from: the root is its callee.
 */
static void move_root(struct requests *r, struct feed *feed)
{
	struct fragment *f = feed->target;
	struct open_span *enclosing = span_enclosing(feed->thread, f), *outermost = NULL;
	uint32_t i;

	if (!enclosing || feed->event->ts_ns - f->first_ns > REQUESTS_SKEW_NS) {
		return;
	}
	for (i = 0; i < feed->plan->n_bind; i++) {
		const struct interval *interval = feed->bound[i].interval;

		if (feed->plan->bind[i].kind == NS_MESSAGE && interval && interval->fragment == f &&
				interval->opener == f->root) {
			for (; enclosing; enclosing = enclosing->below) {
				outermost = enclosing->fragment == f ? enclosing : outermost;
			}
		}
	}
	if (outermost && r->plans[outermost->type].seed) {
		struct copy_chunk *chunk = NULL;
		struct event_copy *copy;
		uint32_t offset = 0;

		while ((copy = copies_next(&f->copies, &chunk, &offset))) {
			if (copy->seq == outermost->seq) {
				const struct event_type *type = &r->registry->types[copy->type];
				const struct plan *plan = &r->plans[copy->type];
				const struct event event = {.ts_ns = copy->ts_ns,
						.type = copy->type,
						.stream = copy->stream,
						.cpu = copy->cpu,
						.bytes = copy->bytes,
						.slots = copy->slots};

				f->root = copy->seq;
				f->root_open = true;
				f->ending = false;
				f->root_type = copy->type;
				f->root_name = copy->name;
				f->root_provider = plan->provider;
				f->start_ns = copy->ts_ns;
				f->end_ns = 0;
				f->type = plan_text_make(r, &plan->type, type, &event);
				f->variant = variant_of(r, f->type, type, &event);
				return;
			}
		}
	}
}

void requests_make_room(struct requests *r)
{
	while (r->n_fragments >= r->config.max_open || r->open_bytes > REQUESTS_OPEN_BYTES) {
		r->counts.evicted++;
		if (r->unseeded.first) {
			fragment_expire(r, r->unseeded.first);
		} else if (r->seeded.first) {
			fragment_finish(r, r->seeded.first, REQUEST_TRUNCATED);
		} else {
			return;
		}
	}
}

/* Skeleton events open, close and unite. */
enum unmatched_why feed_join(struct requests *r, struct feed *feed)
{
	bool alone;
	uint32_t i;

	feed_look_up(r, feed);
	feed_choose_target(r, feed);
	if (feed->target && endless_leave_root(r, feed)) {
		feed->target = NULL;
		feed_look_up(r, feed);
	}
	if (feed->plan->role == SPAN_EXIT) {
		feed->paired = span_find(r, feed->plan, feed->thread, feed->target, feed->name,
				feed->keyed ? &feed->pair_key : NULL);
		if (feed->paired && !feed->target) {
			feed->target = feed->paired->fragment;
		}
	}
	alone = feed->target == NULL;
	if (alone && r->named.function && !endless_may_begin(r, feed)) {
		return WHY_NOTHING_OPEN;
	}
	if (alone) {
		if (r->n_fragments >= r->config.max_open) {
			requests_make_room(r);
			feed_look_up(r, feed); /* what was evicted took its intervals along */
		}
		feed->target = feed_open_fragment(r, feed);
		if (!feed->target) {
			return feed->thread || feed->plan->n_bind == 0 ? WHY_NOTHING_OPEN
								       : WHY_NO_THREAD;
		}
	}
	if (feed->plan->role == SPAN_ENTRY && feed->target->seeded) {
		move_root(r, feed);
	}
	for (i = 0; i < feed->plan->n_bind; i++) {
		feed_apply_bind(r, feed, i, alone);
	}
	return WHY_COUNT;
}

void feed_resume_executions(struct requests *r, struct feed *feed)
{
	uint32_t i;

	for (i = 0; i < feed->plan->n_bind; i++) {
		if (feed->bound[i].op == BIND_LEAVE && feed->plan->bind[i].kind == NS_EXECUTION &&
				feed->bound[i].has_key && !feed->bound[i].interval &&
				!key_table_find(&r->intervals, &feed->bound[i].key)) {
			feed_resume_execution(r, feed, i);
		}
	}
}
