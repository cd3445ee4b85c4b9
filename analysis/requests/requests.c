/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "requests/engine.h"
#include "requests/failure.h"
#include "requests/feed.h"
#include "requests/pairing.h"
#include "requests/value_text.h"
#include "requests/served.h"

struct requests *requests_create(const struct requests_config *config, struct registry *registry,
		struct model *model, struct names *names, struct contexts *contexts,
		struct threads *threads, struct request_pool *pool, requests_emit_fn *emit,
		void *context)
{
	struct requests *r = calloc(1, sizeof(*r));

	if (!r) {
		return NULL;
	}
	r->config = *config;
	r->registry = registry;
	r->model = model;
	r->names = names;
	r->queued_name = names_add(names, SERVED_QUEUED_NAME, strlen(SERVED_QUEUED_NAME));
	r->unacked_name = names_add(names, SERVED_UNACKED_NAME, strlen(SERVED_UNACKED_NAME));
	r->contexts = contexts;
	r->threads = threads;
	r->pool = pool;
	r->emit = emit;
	r->context = context;
	r->refresh = true;
	r->next_deadline_ns = UINT64_MAX;
	r->addresses = addresses_create(names);
	if (!r->addresses) {
		free(r);
		return NULL;
	}
	return r;
}

void requests_destroy(struct requests *r)
{
	uint32_t i;

	if (!r) {
		return;
	}
	while (r->unseeded.first) {
		fragment_remove(r, r->unseeded.first);
	}
	while (r->seeded.first) {
		fragment_remove(r, r->seeded.first);
	}
	addresses_destroy(r->addresses);
	variants_release(&r->variants);
	losses_release(&r->losses);
	ended_release(&r->ended);
	number_map_release(&r->endless.ended);
	number_map_release(&r->told);
	free(r->named.program);
	free(r->named.function);
	spans_release(&r->spans);
	measuring_release(&r->measuring);
	sequencing_release(&r->sequencing);
	keys_reader_release(&r->keys_reader);
	key_table_release(&r->intervals);
	key_table_release(&r->keyed);
	for (i = 0; i <= PLAN_MAX_BINDS; i++) {
		key_maker_release(&r->makers[i]);
	}
	free(r->stats);
	free(r->occurred);
	free(r->scratch);
	free(r->path);
	free(r);
}

bool requests_add_type(struct requests *r)
{
	uint32_t n = r->registry->n_types;

	if (!array_reserve_zeroed(&r->stats, &r->stats_room, n)) {
		return false;
	}
	r->n_stats = n;
	r->refresh = true;
	return addresses_add_type(r->addresses, &r->registry->types[n - 1]);
}

/* --- one event into its fragment ------------------------------------------------------------- */

/*
 * Is there room in its request? An exit may take as much again, if its entry was kept: so every
 * span that is shown has its length, however many more there are.
 */
static bool has_room(const struct requests *r, const struct feed *feed)
{
	const struct fragment *f = feed->target;
	uint32_t times =
			feed->plan->role == SPAN_EXIT && feed->paired && feed->paired->kept ? 2 : 1;

	return f->n_pending < (uint64_t)r->config.max_events * times &&
	       f->copies.bytes + (uint64_t)feed->event->bytes + sizeof(struct event_copy) <=
			       r->config.max_bytes * times;
}

static void keep_copy(struct requests *r, struct feed *feed, uint64_t enclosing)
{
	struct fragment *f = feed->target;
	const struct plan *plan = feed->plan;
	uint32_t before = f->copies.bytes;
	struct event_copy *copy = NULL;

	if (has_room(r, feed)) {
		copy = copies_add(&r->pool->pool, &f->copies, feed->event);
	}
	if (!copy) {
		f->over_bound = true;
		f->n_left_out++;
		r->counts.dropped++;
		return;
	}
	r->open_bytes += f->copies.bytes - before;
	feed->kept = true;
	copy->ts_ns = feed->at_ns;
	copy->under = feed->derived ? feed->derived->under : 0;
	copy->derived = feed->derived != NULL;
	copy->seq = r->seq;
	copy->type = feed->event->type;
	copy->stream = feed->event->stream;
	copy->cpu = feed->event->cpu;
	copy->tid = feed->thread ? feed->thread->tid : -1;
	copy->pid = feed->thread ? feed->thread->pid : -1;
	copy->link = feed->link;
	copy->name = feed->name;
	copy->skeleton = plan->skeleton;
	copy->keyed = feed->keyed;
	copy->used = feed->used;
	copy->fails = feed->fails;
	copy->role = plan->role == SPAN_ENTRY  ? COPY_ENTRY
		     : plan->role == SPAN_EXIT ? COPY_EXIT
					       : COPY_POINT;
	copy->span = plan->role == SPAN_ENTRY  ? r->seq
		     : plan->role == SPAN_EXIT ? (feed->paired ? feed->paired->seq : 0)
					       : enclosing;
	f->n_pending++;
	r->counts.pending++;
	if (feed->used) {
		f->n_state++;
	}
}

static void begin_request(struct requests *r, struct feed *feed)
{
	struct fragment *f = feed->target;
	const struct plan *plan = feed->plan;
	const struct event_type *type = &r->registry->types[feed->event->type];

	if (f->seeded) {
		/* The same work within itself, where only the thread tells requests apart. */
		if (feed->plan->role == SPAN_ENTRY && !feed->keyed &&
				feed->plan->bind[0].kind == NS_EXECUTION && f->root_open &&
				f->root_name == feed->name) {
			r->stats[feed->event->type].nested_seed++;
		}
		return;
	}
	fragment_make_seeded(r, f);
	f->ttl_ns_index = plan->bind[0].ns;
	f->root = plan->role == SPAN_ENTRY ? r->seq : 0;
	f->root_open = plan->role == SPAN_ENTRY;
	f->root_type = feed->event->type;
	f->root_name = feed->name ? feed->name : plan_text_make(r, &plan->name, type, feed->event);
	f->root_provider = plan->provider;
	f->start_ns = feed->at_ns;
	f->end_ns = 0;
	f->type = plan_text_make(r, &plan->type, type, feed->event);
	f->variant = variant_of(r, f->type, type, feed->event);
}

static void enter_span(struct requests *r, struct feed *feed)
{
	struct open_span *span = span_push(r, feed->plan, feed->event, feed->thread, feed->target,
			feed->name, feed->keyed ? &feed->pair_key : NULL);

	if (span) {
		span->kept = feed->kept;
		span->start_ns = feed->at_ns;
	}
	if (feed->target) {
		feed->target->n_spans++;
		feed->target->n_spans_left_out += !feed->kept;
		feed->target->n_skeleton_spans += feed->plan->skeleton;
		if (!span && feed->target->root == r->seq) {
			feed->target->root_open = false; /* no memory: end it as a single event */
			feed->target->end_ns = feed->event->ts_ns;
		}
	}
}

/* The other spans of its request go on, but are not its any more. */
static void leave_others(struct requests *r, const struct open_span *root)
{
	struct open_span *span, *next;

	for (span = root->fragment ? root->fragment->spans : NULL; span; span = next) {
		next = span->next;
		if (span != root) {
			span_orphan(r, span);
		}
	}
}

/* Whoever waits for something may wait for what this span was. */
static void note_ended(struct requests *r, const struct feed *feed)
{
	const struct open_span *span = feed->paired;
	struct thread *thread = span->thread;

	if (thread && feed->at_ns > span->start_ns) {
		ended_add(&r->ended,
				&(struct ended_span){.start_ns = span->start_ns,
						.end_ns = feed->at_ns,
						.key = thread->key,
						.request = span->fragment ? span->fragment->serial
									  : 0,
						.host = thread->host,
						.tid = thread->tid,
						.pid = thread->pid,
						.name = span->name,
						.provider = r->plans[span->type].provider,
						.type = span->fragment ? span->fragment->type : 0},
				&thread->ended);
	}
}

static void leave_span(struct requests *r, struct feed *feed)
{
	struct fragment *f = feed->target;

	if (!feed->paired) {
		/* Outside of requests no one keeps spans that pair by key. */
		r->stats[feed->event->type].unopened += f || !feed->keyed;
		return;
	}
	r->stats[feed->event->type].paired++;
	r->stats[feed->paired->type].paired++;
	note_ended(r, feed);
	if (f && f->root_open && f->root == feed->paired->seq) {
		f->root_open = false;
		f->end_ns = feed->at_ns;
		endless_root_ended(r, f->root_name, feed->thread);
	} else if (!f && feed->thread && feed->paired == feed->thread->bottom) {
		endless_root_ended(r, feed->paired->name, feed->thread);
	}
	/* What was received after its root has ended makes it as long. */
	if (f && f->held && f->root && !f->root_open && feed->at_ns > f->end_ns) {
		f->end_ns = feed->at_ns;
	}
	if (feed->derived && feed->derived->leaves) {
		leave_others(r, feed->paired);
		span_remove(r, feed->paired);
	} else {
		span_pop(r, feed->paired);
	}
}

/* A request is complete when its root and all its other spans have ended; these may be late. */
static void check_end(struct requests *r, struct fragment *f, uint64_t now_ns)
{
	if (!f->seeded || f->root == 0 || f->root_open) {
		return;
	}
	if (f->n_open == 0 && !f->held) {
		fragment_finish(r, f, REQUEST_COMPLETE);
	} else if (!f->ending || f->held) {
		f->ending = true;
		fragment_wait(r, f, LIST_ENDING, now_ns + REQUESTS_SKEW_NS);
	}
}

static void judge_doomed(struct requests *r, uint64_t now_ns)
{
	while (r->doomed) {
		struct fragment *f = r->doomed;

		r->doomed = f->next_doomed;
		f->is_doomed = false;
		if (f->superseded) {
			fragment_finish(r, f, REQUEST_TRUNCATED);
		} else if (!f->intervals && !f->seeded && f->n_open == 0) {
			fragment_expire(r, f);
		} else if (!f->intervals && f->seeded && f->root == 0) {
			f->end_ns = now_ns;
			fragment_finish(r, f, REQUEST_COMPLETE);
		}
	}
}

static void unmatched(struct requests *r, const struct feed *feed, enum unmatched_why why)
{
	bool user = feed->stream->desc.domain == DOMAIN_UST;

	/* Of an idle CPU's events the thread is known: it is none. */
	if (why == WHY_NOTHING_OPEN && !feed->thread && !r->knows_switches) {
		why = WHY_NO_THREAD;
	}
	if (why == WHY_NO_THREAD && (user || !r->knows_switches)) {
		why = user ? WHY_NO_VTID : WHY_NO_SWITCH;
	}
	if (feed->used) {
		r->counts.state_only++;
		return;
	}
	r->counts.unmatched++;
	type_stats_unmatched(&r->stats[feed->event->type], feed->event->ts_ns, why);
}

/* A span that was entered before anything was known of its address still goes by the number. */
static void name_as_entered(struct requests *r, struct feed *feed)
{
	const struct address_space space = r->space;
	uint32_t number;

	if (span_find(r, feed->plan, feed->thread, NULL, feed->name, NULL)) {
		return;
	}
	r->space.pid = -1;
	number = plan_text_make(
			r, &feed->plan->name, &r->registry->types[feed->event->type], feed->event);
	r->space = space;
	if (span_find(r, feed->plan, feed->thread, NULL, number, NULL)) {
		feed->name = number;
	}
}

static void prepare_span(struct requests *r, struct feed *feed)
{
	const struct plan *plan = feed->plan;
	const struct event_type *type = &r->registry->types[feed->event->type];

	feed->name = plan->name.fixed ? plan->name.fixed
				      : plan_text_make(r, &plan->name, type, feed->event);
	if (plan->name.symbolic && plan->role == SPAN_EXIT) {
		name_as_entered(r, feed);
	}
	if (plan->keyed) {
		feed->keyed = feed_make_key(&r->makers[PLAN_MAX_BINDS], feed,
				UINT32_MAX - plan->pair_name, feed->stream->host, plan->pair,
				plan->n_pair, &feed->pair_key);
	} else if (!feed->thread && plan->n_bind > 0 && plan->bind[0].kind == NS_REQUEST) {
		/* Nobody recorded the thread: the request's own name has to do. */
		feed->keyed = feed_make_key(&r->makers[PLAN_MAX_BINDS], feed,
				UINT32_MAX - plan->pair_name, feed->stream->host,
				plan->bind[0].keys, plan->bind[0].n_keys, &feed->pair_key);
	}
	if (plan->role == SPAN_EXIT && !plan->skeleton) {
		feed->paired = span_find(r, plan, feed->thread, NULL, feed->name,
				feed->keyed ? &feed->pair_key : NULL);
	}
}

static void belong(struct requests *r, struct feed *feed)
{
	struct fragment *f = feed->target;
	uint64_t enclosing = 0;

	if (feed->plan->role == SPAN_POINT) {
		const struct open_span *span = span_enclosing(feed->thread, f);

		enclosing = span ? span->seq : 0;
	}
	feed->stream->carries_schema = true;
	f->many_hosts |= f->host != feed->stream->host;
	f->n_failed += feed->fails != COPY_SOUND;
	f->n_failed_calls += feed->fails == COPY_CALL_FAILS;
	keep_copy(r, feed, enclosing);
	if (feed->plan->seed) {
		begin_request(r, feed);
	}
	fragment_touch(r, f, feed->event->ts_ns);
}

/* The first of its type. Without memory nobody is warned of the type. */
static void note_occurred(struct requests *r, uint32_t type)
{
	uint32_t at = r->n_occurred;

	if (!array_reserve(&r->occurred, &r->occurred_room, at + 1)) {
		return;
	}
	for (; at > 0 && r->occurred[at - 1] > type; at--) {
		r->occurred[at] = r->occurred[at - 1];
	}
	r->occurred[at] = type;
	r->n_occurred++;
}

static void feed_event(struct requests *r, const struct event *event, bool used,
		const struct requests_derived *derived)
{
	struct feed feed;
	enum unmatched_why why;

	if (r->refresh) {
		requests_refresh(r);
	}
	r->seq++;
	r->now_ns = event->ts_ns;
	if (r->stats[event->type].total++ == 0) {
		note_occurred(r, event->type);
	}
	if (r->open_bytes > REQUESTS_OPEN_BYTES) {
		requests_make_room(r);
	}
	feed.plan = &r->plans[event->type];
	feed.event = event;
	feed.used = used;
	feed.stream = &r->registry->streams[event->stream];
	feed.target = NULL;
	feed.paired = NULL;
	feed.keyed = feed.names_new = feed.kept = false;
	feed.link = feed.name = 0;
	feed.fails = COPY_SOUND;
	feed.derived = derived;
	feed.at_ns = derived && derived->at_ns ? derived->at_ns : event->ts_ns;
	feed.stream->has_events = true;
	feed.thread = derived ? threads_get(r->threads, derived->host, derived->thread)
			      : feed_thread(r, feed.plan, event, feed.stream);
	r->space = (struct address_space){.host = feed.stream->host,
			.pid_ns = feed.thread ? (uint32_t)(feed.thread->key >> 32) : 0,
			.pid = feed.thread ? feed.thread->pid : -1};
	if (addresses_uses(r->addresses, event->type)) {
		addresses_learn(r->addresses, &r->space, event);
	}
	if (feed.thread && model_watches_ids(r->model)) {
		model_watch_id(r->model, event, feed.thread->key);
		r->refresh = true;
	}
	if (feed.plan->about_tracer) {
		unmatched(r, &feed, WHY_TRACER);
		return;
	}
	if (feed.plan->role == SPAN_ENTRY && feed.thread && !derived) {
		span_end_lost_call(r, event, feed.thread);
	}
	if (feed.plan->role != SPAN_POINT) {
		prepare_span(r, &feed);
	}
	if (feed.plan->n_fails > 0) {
		feed.fails = failure_told(r, &feed);
	}
	why = feed.plan->skeleton ? feed_join(r, &feed) : feed_attach(r, &feed);
	if (feed.target) {
		belong(r, &feed);
	} else {
		unmatched(r, &feed, why);
	}
	if (feed.plan->role == SPAN_ENTRY) {
		enter_span(r, &feed);
	} else if (feed.plan->role == SPAN_EXIT) {
		leave_span(r, &feed);
		if (feed.target && feed.plan->skeleton) {
			feed_resume_executions(r, &feed);
		}
	}
	if (feed.target && derived && derived->cut) {
		feed.target->cut = true;
	}
	if (feed.target && feed.plan->role == SPAN_EXIT) {
		check_end(r, feed.target, event->ts_ns);
	}
	if (r->doomed) {
		judge_doomed(r, event->ts_ns);
	}
}

void requests_feed(struct requests *r, const struct event *event, bool used)
{
	feed_event(r, event, used, NULL);
}

uint64_t requests_feed_derived(struct requests *r, const struct event *event,
		const struct requests_derived *derived)
{
	r->counts.derived++;
	feed_event(r, event, false, derived);
	return r->seq;
}

/* --- time, loss, end ------------------------------------------------------------------------- */

static struct fragment *earliest(const struct requests *r)
{
	struct fragment *first = NULL;
	uint32_t i;

	for (i = 0; i < LISTS; i++) {
		struct fragment *f = r->lists[i].first;

		if (f && (!first || f->deadline_ns < first->deadline_ns ||
					 (f->deadline_ns == first->deadline_ns &&
							 f->serial < first->serial))) {
			first = f;
		}
	}
	return first;
}

void requests_expire(struct requests *r, uint64_t now_ns)
{
	struct fragment *f;

	if (now_ns < r->next_deadline_ns) {
		return;
	}
	requests_refresh(r);
	while ((f = earliest(r)) && f->deadline_ns <= now_ns) {
		if (!f->seeded) {
			fragment_expire(r, f);
		} else if (f->ending && f->held && f->n_open > 0 &&
				f->deadline_ns - f->last_ns <
						r->namespaces[f->ttl_ns_index].ttl_ns) {
			/* From then, not from now: whoever tells of time may do so rarely. */
			fragment_wait(r, f, LIST_ENDING, f->deadline_ns + REQUESTS_SKEW_NS);
		} else if (f->ending) {
			fragment_finish(r, f, REQUEST_COMPLETE);
		} else {
			f->end_ns = f->last_ns;
			fragment_finish(r, f, REQUEST_TIMEOUT);
		}
	}
	r->next_deadline_ns = f ? f->deadline_ns : UINT64_MAX;
}

/*
 * Does a stream's channel carry events that requests are made of? Where it has not shown any event
 * yet, nobody knows: then it does.
 */
static bool carries_schema(const struct requests *r, const struct stream *stream)
{
	bool seen = false;
	uint32_t i;

	for (i = 0; i < r->registry->n_streams; i++) {
		const struct stream *other = &r->registry->streams[i];

		if (other->desc.session != stream->desc.session ||
				other->desc.domain != stream->desc.domain ||
				strcmp(other->desc.channel, stream->desc.channel) != 0) {
			continue;
		}
		if (other->carries_schema) {
			return true;
		}
		seen |= other->has_events;
	}
	return !seen;
}

void requests_lose(struct requests *r, const struct loss *loss)
{
	const struct stream *stream = &r->registry->streams[loss->stream];

	if (carries_schema(r, stream)) {
		losses_add(&r->losses, stream->host, loss->begin_ns,
				loss->end_ns < loss->begin_ns ? loss->begin_ns : loss->end_ns);
	}
}

bool requests_next_symbol(struct requests *r, struct symbol_query *query)
{
	return addresses_next(r->addresses, query);
}

bool requests_renamed(struct requests *r)
{
	bool renamed = r->renamed;

	r->renamed = false;
	return renamed;
}

const struct requests_counts *requests_counts(const struct requests *r)
{
	return &r->counts;
}
