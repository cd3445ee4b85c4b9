/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/glob.h"
#include "requests/engine.h"
#include "requests/pairing.h"

static void leave_fragment(struct open_span *span)
{
	struct fragment *f = span->fragment;

	if (!f) {
		return;
	}
	*(span->prev ? &span->prev->next : &f->spans) = span->next;
	if (span->next) {
		span->next->prev = span->prev;
	}
	f->n_open--;
}

/* Do the open spans of a thread belong to more than one request? */
static bool is_mixed(const struct thread *thread)
{
	const struct open_span *span;
	const struct fragment *f = NULL;

	for (span = thread->top; span; span = span->below) {
		if (span->fragment && f && span->fragment != f) {
			return true;
		}
		f = span->fragment ? span->fragment : f;
	}
	return false;
}

/* Whom the thread works for: the fragment of its innermost span that has one. */
static void note_owner(struct requests *r, struct thread *thread)
{
	const struct open_span *span = thread->top;

	if (!thread->state || !r->config.state) {
		return;
	}
	while (span && !span->fragment) {
		span = span->below;
	}
	state_set_owner(r->config.state, thread, span ? span->fragment->serial : 0, r->now_ns);
	if (span) {
		usage_add(&r->pool->pool, &span->fragment->usage, thread, span->fragment->serial);
	}
}

static void leave_thread(struct requests *r, struct open_span *span)
{
	struct thread *thread = span->thread;

	*(span->above ? &span->above->below : &thread->top) = span->below;
	*(span->below ? &span->below->above : &thread->bottom) = span->above;
	thread->n_open--;
	if (thread->mixed) {
		thread->mixed = is_mixed(thread);
	}
	note_owner(r, thread);
}

static void leave_keyed(struct requests *r, struct open_span *span)
{
	key_table_remove(&r->keyed, &span->key);
	key_free(&r->pool->pool, &span->key);
	*(span->above ? &span->above->below : &r->newest_keyed) = span->below;
	*(span->below ? &span->below->above : &r->oldest_keyed) = span->above;
}

void span_remove(struct requests *r, struct open_span *span)
{
	r->n_orphans -= !span->fragment;
	leave_fragment(span);
	if (span->keyed) {
		leave_keyed(r, span);
	} else {
		leave_thread(r, span);
	}
	pool_free(&r->pool->pool, span, sizeof(*span));
}

void span_orphan(struct requests *r, struct open_span *span)
{
	if (!span->fragment || span->keyed || r->n_orphans >= MAX_ORPHANS) {
		span_remove(r, span);
		return;
	}
	leave_fragment(span);
	span->fragment = NULL;
	span->prev = span->next = NULL;
	r->n_orphans++;
	span->thread->mixed = span->thread->mixed && is_mixed(span->thread);
	note_owner(r, span->thread);
}

void span_give_up(struct requests *r, struct open_span *span)
{
	r->stats[span->type].unclosed++;
	span_remove(r, span);
}

static bool enter_keyed(struct requests *r, struct open_span *span, const struct key *key)
{
	struct open_span *same = (struct open_span *)(void *)key_table_find(&r->keyed, key);

	if (same) {
		span_give_up(r, same); /* its exit was not seen */
	}
	if (r->keyed.n >= MAX_KEYED_SPANS) {
		span_give_up(r, r->oldest_keyed);
	}
	if (!key_keep(&r->pool->pool, &span->key, key)) {
		return false;
	}
	if (!key_table_insert(&r->keyed, &span->key)) {
		key_free(&r->pool->pool, &span->key);
		return false;
	}
	span->above = NULL;
	span->below = r->newest_keyed;
	*(r->newest_keyed ? &r->newest_keyed->above : &r->oldest_keyed) = span;
	r->newest_keyed = span;
	return true;
}

static void enter_thread(struct requests *r, struct open_span *span, struct thread *thread)
{
	if (thread->n_open >= (thread->bottom && !thread->bottom->fragment ? MAX_ORPHAN_DEPTH
									   : MAX_SPAN_DEPTH)) {
		span_give_up(r, thread->bottom);
	}
	span->thread = thread;
	span->above = NULL;
	span->below = thread->top;
	*(thread->top ? &thread->top->above : &thread->bottom) = span;
	thread->top = span;
	thread->n_open++;
	if (!thread->mixed && span->fragment && span->below &&
			span->below->fragment != span->fragment) {
		thread->mixed = is_mixed(thread);
	}
	note_owner(r, thread);
}

struct open_span *span_push(struct requests *r, const struct plan *plan, const struct event *event,
		struct thread *thread, struct fragment *f, uint32_t name, const struct key *key)
{
	struct open_span *span;

	if ((key ? !f : plan->keyed || !thread) || (!f && r->n_orphans >= MAX_ORPHANS)) {
		return NULL;
	}
	span = pool_alloc(&r->pool->pool, sizeof(*span));
	if (!span) {
		return NULL;
	}
	*span = (struct open_span){
			.fragment = f,
			.seq = r->seq,
			.start_ns = event->ts_ns,
			.name = name,
			.type = event->type,
			.keyed = key != NULL,
	};
	if (key && !enter_keyed(r, span, key)) {
		pool_free(&r->pool->pool, span, sizeof(*span));
		return NULL;
	}
	if (f) {
		span->next = f->spans;
		if (f->spans) {
			f->spans->prev = span;
		}
		f->spans = span;
		f->n_open++;
	}
	if (!key) {
		enter_thread(r, span, thread);
	}
	r->n_orphans += !f;
	return span;
}

/* An exit that does not name its span ends one of its own provider. */
static bool ends_any(
		const struct requests *r, const struct plan *plan, const struct open_span *span)
{
	return r->plans[span->type].provider == plan->provider &&
	       glob_match(plan->glob, names_text(r->names, span->name));
}

struct open_span *span_find(struct requests *r, const struct plan *plan, struct thread *thread,
		const struct fragment *f, uint32_t name, const struct key *key)
{
	struct open_span *span;

	if (key || plan->keyed) {
		return key ? (struct open_span *)(void *)key_table_find(&r->keyed, key) : NULL;
	}
	for (span = thread ? thread->top : NULL; span; span = span->below) {
		if (f && span->fragment != f) {
			continue;
		}
		if (plan->any_exit ? ends_any(r, plan, span) : span->name == name) {
			return span;
		}
	}
	return NULL;
}

/* Is it odd that its exit is missing? Of some types it always is. */
static bool is_left(const struct requests *r, const struct open_span *span)
{
	const struct type_stats *stats = &r->stats[span->type];

	return r->plans[span->type].skeleton && r->plans[span->type].provider &&
	       stats->paired > stats->unclosed;
}

void span_pop(struct requests *r, struct open_span *span)
{
	struct open_span *above, *next;

	for (above = span->keyed ? NULL : span->above; above; above = next) {
		next = above->above;
		if (!above->fragment || above->fragment == span->fragment) {
			if (above->fragment && is_left(r, above)) {
				above->fragment->n_unclosed++;
			}
			span_give_up(r, above);
		} else {
			r->stats[span->type].interleaved++;
		}
	}
	span_remove(r, span);
}

uint32_t requests_innermost(const struct thread *thread)
{
	return thread->top->name;
}

struct open_span *span_enclosing(const struct thread *thread, const struct fragment *f)
{
	struct open_span *span = thread ? thread->top : NULL;

	while (span && span->fragment != f) {
		span = span->below;
	}
	return span;
}
