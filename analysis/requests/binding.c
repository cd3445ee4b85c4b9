/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hash.h"
#include "requests/engine.h"
#include "requests/feed.h"
#include "requests/pairing.h"

static bool key_value(const struct feed *feed, const struct plan_key *part, uint64_t *value)
{
	switch (part->kind) {
	case KEY_TID:
		*value = feed->thread ? feed->thread->key : 0;
		return feed->thread != NULL;
	case KEY_PID:
		*value = feed->thread ? (uint64_t)(int64_t)feed->thread->pid : 0;
		return feed->thread && feed->thread->pid >= 0;
	case KEY_CPU:
		*value = feed->event->cpu;
		return feed->event->cpu != CPU_NONE;
	default:
		*value = feed->event->slots[part->field];
		return true;
	}
}

/* False: a part of the key is absent or not known, so nothing is bound. */
bool feed_make_key(struct key_maker *maker, const struct feed *feed, uint32_t space, uint32_t host,
		const struct plan_key *parts, uint32_t n, struct key *key)
{
	uint64_t value;
	uint32_t i;

	if (n == 1 && parts[0].kind != KEY_FIELD_BYTES) {
		if (!key_value(feed, &parts[0], &value)) {
			return false;
		}
		key->size = 16;
		key->words[0] = (uint64_t)space << 32 | host;
		key->words[1] = value;
		key->hash = hash_pair(key->words[0], key->words[1]);
		return true;
	}
	if (!key_begin(maker, space, host)) {
		return false;
	}
	for (i = 0; i < n; i++) {
		if (parts[i].kind == KEY_FIELD_BYTES) {
			uint32_t length;
			const char *bytes = event_bytes(feed->event, parts[i].field, &length);

			if (!bytes || length == 0 || !key_bytes(maker, bytes, length)) {
				return false;
			}
		} else if (!key_value(feed, &parts[i], &value) || !key_number(maker, value)) {
			return false;
		}
	}
	*key = key_view(maker);
	return true;
}

/*
 * How an operation acts, given what is open:
 * - a fragment without a seed in a global namespace waits for a start that clock skew delays: that
 *   start joins it, one that comes later than any skew closes it first;
 * - seeds that share a request id are one request, so a further seed joins; only one of the very
 *   type that began the request begins it anew.
 */
static uint8_t acting_op(const struct feed *feed, const struct plan_bind *bind,
		const struct interval *interval)
{
	const struct fragment *f = interval->fragment;

	if (bind->op != BIND_START && bind->op != BIND_SWITCH && bind->op != BIND_ENTER) {
		return bind->op;
	}
	if (f->tentative) {
		return feed->event->ts_ns - f->first_ns <= REQUESTS_SKEW_NS ? BIND_ENTER
									    : BIND_SWITCH;
	}
	if (bind->op == BIND_START && feed->plan->seed && bind->kind == NS_REQUEST && f->seeded &&
			f->root_open && f->root_type != feed->event->type) {
		return BIND_ENTER;
	}
	return bind->op;
}

void feed_look_up(struct requests *r, struct feed *feed)
{
	const struct plan *plan = feed->plan;
	uint32_t i;

	for (i = 0; i < plan->n_bind; i++) {
		const struct plan_bind *bind = &plan->bind[i];
		struct bound *bound = &feed->bound[i];

		bound->interval = NULL;
		bound->op = bind->op;
		bound->has_key = feed_make_key(&r->makers[i], feed, bind->ns,
				bind->global ? ID_NONE : feed->stream->host, bind->keys,
				bind->n_keys, &bound->key);
		if (!bound->has_key) {
			continue;
		}
		bound->interval = interval_find(r, &bound->key, bind->ns, feed->event->ts_ns);
		if (bound->interval && plan->skeleton) {
			bound->op = acting_op(feed, bind, bound->interval);
		}
	}
}

static bool joins(const struct bound *bound)
{
	return bound->interval && bound->op != BIND_START && bound->op != BIND_SWITCH;
}

/* ENTER and LEAVE go by what names the request; BASIC and STOP insist on their interval. */
static bool insists(uint8_t op)
{
	return op == BIND_BASIC || op == BIND_STOP;
}

/* Which fragment a skeleton event belongs to; may unite several. */
void feed_choose_target(struct requests *r, struct feed *feed)
{
	const struct plan *plan = feed->plan;
	uint32_t i;

	for (i = 0; i < plan->n_bind; i++) {
		const struct plan_bind *bind = &plan->bind[i];
		struct bound *bound = &feed->bound[i];
		struct fragment *f;

		if (bind->kind == NS_REQUEST && bound->has_key && !joins(bound) &&
				!insists(bound->op) && bound->op != BIND_LEAVE) {
			feed->names_new = true;
			feed->id_hash = bound->key.hash;
			feed->id_ns = bind->ns;
		}
		if (!joins(bound)) {
			continue;
		}
		f = bound->interval->fragment;
		if (f == feed->target) {
			continue;
		}
		if (!feed->target) {
			bool other = feed->names_new && f->id_hash && f->id_ns == feed->id_ns &&
				     f->id_hash != feed->id_hash;

			if (!other || insists(bound->op)) {
				feed->target = f;
			}
		} else if (insists(bound->op) ||
				(bind->kind != NS_EXECUTION &&
						!fragments_conflict(feed->target, f))) {
			feed->target = fragment_unite(r, feed->target, f);
		}
	}
}

/* A fragment for an event that joins nothing; NULL: it has no say in opening one. */
struct fragment *feed_open_fragment(struct requests *r, const struct feed *feed)
{
	const struct plan *plan = feed->plan;
	struct fragment *f;
	uint32_t i, first = UINT32_MAX;
	bool tentative = false;

	for (i = 0; i < plan->n_bind && first == UINT32_MAX; i++) {
		uint8_t op = feed->bound[i].op;

		if (feed->bound[i].has_key &&
				(op == BIND_START || op == BIND_SWITCH || op == BIND_ENTER)) {
			first = i;
		}
	}
	for (i = 0; i < plan->n_bind && first == UINT32_MAX; i++) {
		if (feed->bound[i].has_key && plan->bind[i].global) {
			first = i;
			tentative = true;
		}
	}
	if (first == UINT32_MAX) {
		return NULL;
	}
	f = fragment_create(r, feed->event, feed->stream->host, plan->bind[first].ns);
	if (f && tentative) {
		f->tentative = true;
		fragment_wait(r, f, LIST_TENTATIVE, feed->event->ts_ns + REQUESTS_SKEW_NS);
	}
	return f;
}

/* Closing an interval must not leave another binding of this event with a dead pointer. */
static void close_bound(struct requests *r, struct feed *feed, struct interval *interval)
{
	uint32_t i;

	for (i = 0; i < feed->plan->n_bind; i++) {
		if (feed->bound[i].interval == interval) {
			feed->bound[i].interval = NULL;
		}
	}
	interval_close(r, interval);
}

static void open_bound(struct requests *r, struct feed *feed, uint32_t i)
{
	struct bound *bound = &feed->bound[i];

	/* The same value twice in one event: the first has opened it. */
	if (key_table_find(&r->intervals, &bound->key)) {
		return;
	}
	feed->target->held |= r->namespaces[feed->plan->bind[i].ns].hold;
	bound->interval = interval_open(r, feed->target, &bound->key, feed->plan->bind[i].ns,
			r->seq, feed->event->ts_ns);
}

/* The value begins anew while its old interval is open. */
static void replace_bound(struct requests *r, struct feed *feed, uint32_t i, bool counted)
{
	struct fragment *old = feed->bound[i].interval->fragment;

	r->counts.implicit_stops += counted;
	if (feed->plan->bind[i].kind == NS_REQUEST && old != feed->target && old->seeded) {
		old->superseded = true;
		fragment_doom(r, old);
	}
	close_bound(r, feed, feed->bound[i].interval);
	open_bound(r, feed, i);
}

/*
 * When the span that held a thread ends, what it interrupted goes on: the thread is again that of
 * the request whose spans are open on it, if they are of one.
 */
void feed_resume_execution(struct requests *r, struct feed *feed, uint32_t i)
{
	const struct thread *thread = feed->thread;
	struct open_span *span;

	if (!thread || thread->mixed || feed->plan->bind[i].keys[0].kind != KEY_TID) {
		return;
	}
	for (span = thread->bottom; span; span = span->above) {
		if (span->fragment && span->fragment != feed->target && span != feed->paired) {
			interval_open(r, span->fragment, &feed->bound[i].key,
					feed->plan->bind[i].ns, span->seq, feed->event->ts_ns);
			return;
		}
	}
}

/* Which thread an event of a message is of; 0: not known. */
static uint64_t sender_of(const struct feed *feed)
{
	return feed->thread ? hash_pair(feed->stream->host + 1u, feed->thread->key) | 1 : 0;
}

/* An event takes part in a message that is open. */
static void join_message(struct feed *feed, struct interval *interval)
{
	uint64_t thread = sender_of(feed);

	feed->link = interval->serial;
	if (interval->sender && thread && interval->sender != thread) {
		interval->received = true;
	}
}

/*
 * The span that sent a message ends. It may be received later (a queue, a fan-out): until then the
 * message stays open, so that its receiver knows where it came from.
 */
static bool stays_open(const struct plan_bind *bind, struct interval *interval)
{
	interval->sent = bind->kind == NS_MESSAGE && interval->sender && !interval->received;
	return interval->sent;
}

void feed_apply_bind(struct requests *r, struct feed *feed, uint32_t i, bool alone)
{
	const struct plan_bind *bind = &feed->plan->bind[i];
	struct bound *bound = &feed->bound[i];
	struct interval *interval = bound->interval;

	if (!bound->has_key) {
		return;
	}
	/* Sent once more by the same thread: another message of the same name. */
	if (interval && interval->sent && bound->op == BIND_ENTER &&
			interval->sender == sender_of(feed)) {
		close_bound(r, feed, interval);
		interval = bound->interval;
	}
	if (interval && interval->fragment == feed->target) {
		interval->last_ns = feed->event->ts_ns;
		if (bind->kind == NS_MESSAGE) {
			join_message(feed, interval);
		}
	}
	switch (bound->op) {
	case BIND_START:
	case BIND_SWITCH:
		if (interval) {
			replace_bound(r, feed, i, bound->op == BIND_START);
		} else {
			open_bound(r, feed, i);
		}
		break;
	case BIND_ENTER:
		if (interval && interval->fragment != feed->target) {
			replace_bound(r, feed, i, true);
		} else if (!interval) {
			open_bound(r, feed, i);
		}
		break;
	case BIND_STOP:
		if (interval && interval->fragment == feed->target) {
			close_bound(r, feed, interval);
		}
		break;
	case BIND_LEAVE:
		if (interval && interval->fragment == feed->target && feed->paired &&
				feed->paired->seq == interval->opener &&
				!stays_open(bind, interval)) {
			close_bound(r, feed, interval);
		}
		break;
	default: /* BASIC: alone, it holds the place of a start that is late */
		if (!interval && alone && bind->global) {
			open_bound(r, feed, i);
		}
		break;
	}
	/* What a thread does once it has taken a message comes from there: its outermost span. */
	if (bind->kind == NS_EXECUTION && bound->interval) {
		if (bound->interval->opener == r->seq) {
			bound->interval->link = feed->link;
		} else if (feed->plan->role == SPAN_ENTRY && !feed->link &&
				!span_enclosing(feed->thread, feed->target)) {
			feed->link = bound->interval->link;
		}
	}
	if (bind->kind == NS_MESSAGE && bound->interval && !feed->link) {
		feed->link = bound->interval->serial;
		bound->interval->sender = sender_of(feed);
	}
}
