/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/engine.h"
#include "requests/fragments.h"
#include "requests/pairing.h"

static void list_remove(struct fragment_list *list, struct fragment *f)
{
	*(f->prev ? &f->prev->next : &list->first) = f->next;
	*(f->next ? &f->next->prev : &list->last) = f->prev;
}

static void list_append(struct fragment_list *list, struct fragment *f)
{
	f->prev = list->last;
	f->next = NULL;
	*(list->last ? &list->last->next : &list->first) = f;
	list->last = f;
}

static void age_remove(struct fragment_list *list, struct fragment *f)
{
	*(f->older ? &f->older->newer : &list->first) = f->newer;
	*(f->newer ? &f->newer->older : &list->last) = f->older;
}

static void age_append(struct fragment_list *list, struct fragment *f)
{
	f->older = list->last;
	f->newer = NULL;
	*(list->last ? &list->last->newer : &list->first) = f;
	list->last = f;
}

void fragment_wait(struct requests *r, struct fragment *f, uint8_t list, uint64_t deadline_ns)
{
	list_remove(&r->lists[f->list], f);
	f->list = list;
	f->deadline_ns = deadline_ns;
	list_append(&r->lists[list], f);
	if (deadline_ns < r->next_deadline_ns) {
		r->next_deadline_ns = deadline_ns;
	}
}

struct fragment *fragment_create(
		struct requests *r, const struct event *event, uint32_t host, uint8_t ttl_ns_index)
{
	struct fragment *f = pool_alloc(&r->pool->pool, sizeof(*f));

	if (!f) {
		return NULL;
	}
	*f = (struct fragment){
			.serial = ++r->serial,
			.list = ttl_ns_index,
			.ttl_ns_index = ttl_ns_index,
			.host = host,
			.first_ns = event->ts_ns,
			.last_ns = event->ts_ns,
	};
	list_append(&r->lists[f->list], f);
	age_append(&r->unseeded, f);
	fragment_wait(r, f, f->list, event->ts_ns + r->namespaces[ttl_ns_index].ttl_ns);
	r->n_fragments++;
	return f;
}

void fragment_touch(struct requests *r, struct fragment *f, uint64_t now_ns)
{
	f->last_ns = now_ns;
	if (!f->ending && !f->tentative) {
		fragment_wait(r, f, f->ttl_ns_index,
				now_ns + r->namespaces[f->ttl_ns_index].ttl_ns);
	}
}

void fragment_make_seeded(struct requests *r, struct fragment *f)
{
	if (f->seeded) {
		return;
	}
	age_remove(&r->unseeded, f);
	f->seeded = true;
	f->tentative = false;
	age_append(&r->seeded, f);
}

void fragment_doom(struct requests *r, struct fragment *f)
{
	if (!f->is_doomed) {
		f->is_doomed = true;
		f->next_doomed = r->doomed;
		r->doomed = f;
	}
}

static void undoom(struct requests *r, struct fragment *f)
{
	struct fragment **at;

	for (at = &r->doomed; f->is_doomed && *at; at = &(*at)->next_doomed) {
		if (*at == f) {
			*at = f->next_doomed;
			break;
		}
	}
}

void fragment_remove(struct requests *r, struct fragment *f)
{
	while (f->spans) {
		span_remove(r, f->spans);
	}
	undoom(r, f);
	f->is_doomed = true; /* closing its last interval must not doom it again */
	while (f->intervals) {
		interval_close(r, f->intervals);
	}
	list_remove(&r->lists[f->list], f);
	age_remove(f->seeded ? &r->seeded : &r->unseeded, f);
	r->open_bytes -= f->copies.bytes;
	copies_free(&r->pool->pool, &f->copies);
	usage_release(&r->pool->pool, &f->usage);
	pool_free(&r->pool->pool, f, sizeof(*f));
	r->n_fragments--;
}

struct interval *interval_open(struct requests *r, struct fragment *f, const struct key *key,
		uint8_t ns, uint64_t opener, uint64_t now_ns)
{
	struct interval *interval = pool_alloc(&r->pool->pool, sizeof(*interval));

	if (!interval) {
		return NULL;
	}
	if (!key_keep(&r->pool->pool, &interval->key, key)) {
		pool_free(&r->pool->pool, interval, sizeof(*interval));
		return NULL;
	}
	if (!key_table_insert(&r->intervals, &interval->key)) {
		key_free(&r->pool->pool, &interval->key);
		pool_free(&r->pool->pool, interval, sizeof(*interval));
		return NULL;
	}
	if (++r->interval_serial == 0) {
		r->interval_serial = 1;
	}
	interval->serial = r->interval_serial;
	interval->fragment = f;
	interval->last_ns = now_ns;
	interval->opener = opener;
	interval->ns = ns;
	interval->sender = 0;
	interval->link = 0;
	interval->received = interval->sent = false;
	interval->prev = NULL;
	interval->next = f->intervals;
	if (f->intervals) {
		f->intervals->prev = interval;
	}
	f->intervals = interval;
	if (r->namespaces[ns].kind == NS_REQUEST) {
		if (f->id_hash && f->id_ns == ns && f->id_hash != key->hash) {
			f->merged = true;
		} else if (!f->id_hash) {
			f->id_hash = key->hash;
			f->id_ns = ns;
		}
	}
	return interval;
}

void interval_close(struct requests *r, struct interval *interval)
{
	struct fragment *f = interval->fragment;

	key_table_remove(&r->intervals, &interval->key);
	key_free(&r->pool->pool, &interval->key);
	*(interval->prev ? &interval->prev->next : &f->intervals) = interval->next;
	if (interval->next) {
		interval->next->prev = interval->prev;
	}
	pool_free(&r->pool->pool, interval, sizeof(*interval));
	if (!f->intervals) {
		fragment_doom(r, f); /* nothing can join it any more */
	}
}

struct interval *interval_find(
		struct requests *r, const struct key *key, uint8_t ns, uint64_t now_ns)
{
	struct interval *interval = (struct interval *)(void *)key_table_find(&r->intervals, key);

	if (interval && now_ns - interval->last_ns > r->namespaces[ns].ttl_ns) {
		interval_close(r, interval);
		return NULL;
	}
	return interval;
}

bool fragments_conflict(const struct fragment *a, const struct fragment *b)
{
	return a->id_hash && b->id_hash && a->id_ns == b->id_ns && a->id_hash != b->id_hash;
}

static void take_root(struct fragment *to, const struct fragment *from)
{
	to->root = from->root;
	to->root_open = from->root_open;
	to->root_type = from->root_type;
	to->root_name = from->root_name;
	to->root_provider = from->root_provider;
	to->start_ns = from->start_ns;
	to->end_ns = from->end_ns;
	to->type = from->type;
	to->variant = from->variant;
}

static void move_members(struct fragment *to, struct fragment *from)
{
	struct interval *interval, *last_interval = NULL;
	struct open_span *span, *last_span = NULL;

	for (interval = from->intervals; interval; interval = interval->next) {
		interval->fragment = to;
		last_interval = interval;
	}
	if (last_interval) {
		last_interval->next = to->intervals;
		if (to->intervals) {
			to->intervals->prev = last_interval;
		}
		to->intervals = from->intervals;
		from->intervals = NULL;
	}
	for (span = from->spans; span; span = span->next) {
		span->fragment = to;
		last_span = span;
	}
	if (last_span) {
		last_span->next = to->spans;
		if (to->spans) {
			to->spans->prev = last_span;
		}
		to->spans = from->spans;
		from->spans = NULL;
	}
	to->n_open += from->n_open;
	from->n_open = 0;
	copies_append(&to->copies, &from->copies);
}

/*
 * The smaller gives its members to the larger, so that each member moves O(log n) times.
 * (Union by size; Galler & Fischer 1964.)
 */
struct fragment *fragment_unite(struct requests *r, struct fragment *a, struct fragment *b)
{
	struct fragment *to = a->copies.n >= b->copies.n ? a : b;
	struct fragment *from = to == a ? b : a;

	if (from->seeded && (!to->seeded || from->start_ns < to->start_ns)) {
		bool seeded_before = to->seeded;

		take_root(to, from);
		to->ttl_ns_index = from->ttl_ns_index;
		if (!seeded_before) {
			fragment_make_seeded(r, to);
		}
		to->ending = false;
	}
	to->merged |= from->merged || fragments_conflict(to, from);
	if (!to->id_hash) {
		to->id_hash = from->id_hash;
		to->id_ns = from->id_ns;
	}
	to->tentative = to->tentative && from->tentative;
	to->many_hosts |= from->many_hosts || from->host != to->host;
	to->over_bound |= from->over_bound;
	to->held |= from->held;
	to->n_spans += from->n_spans;
	to->n_skeleton_spans += from->n_skeleton_spans;
	to->n_pending += from->n_pending;
	to->n_state += from->n_state;
	to->n_left_out += from->n_left_out;
	to->n_spans_left_out += from->n_spans_left_out;
	to->n_failed += from->n_failed;
	to->n_failed_calls += from->n_failed_calls;
	to->n_unclosed += from->n_unclosed;
	to->died |= from->died;
	to->first_ns = from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
	move_members(to, from);
	usage_append(&r->pool->pool, &to->usage, &from->usage);
	from->copies.bytes = 0;
	fragment_remove(r, from);
	return to;
}
