/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "requests/internal.h"

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
	r->contexts = contexts;
	r->threads = threads;
	r->pool = pool;
	r->emit = emit;
	r->context = context;
	r->refresh = true;
	r->next_deadline_ns = UINT64_MAX;
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
	losses_release(&r->losses);
	spans_release(&r->spans);
	key_table_release(&r->intervals);
	key_table_release(&r->keyed);
	for (i = 0; i <= PLAN_MAX_BINDS; i++) {
		key_maker_release(&r->makers[i]);
	}
	free(r->stats);
	free(r->scratch);
	free(r->path);
	free(r);
}

bool requests_add_type(struct requests *r)
{
	uint32_t n = r->registry->n_types;

	if (n > r->stats_room) {
		uint32_t room = n * 2;
		struct type_stats *stats = realloc(r->stats, room * sizeof(*stats));

		if (!stats) {
			return false;
		}
		memset(stats + r->stats_room, 0, (room - r->stats_room) * sizeof(*stats));
		r->stats = stats;
		r->stats_room = room;
	}
	r->n_stats = n;
	r->refresh = true;
	return true;
}

/*
 * Takes up new plans. Where they use other namespaces than before (a request id turned up in a
 * trace that had none) what is open cannot go on: it is finished as it stands.
 */
void requests_refresh(struct requests *r)
{
	const struct plan_namespace *namespaces;
	uint32_t i, n;
	bool same;

	if (!r->refresh) {
		return;
	}
	n = model_namespaces(r->model, &namespaces);
	same = n == r->n_namespaces;
	for (i = 0; same && i < n; i++) {
		same = namespaces[i].kind == r->namespaces[i].kind &&
		       namespaces[i].global == r->namespaces[i].global &&
		       namespaces[i].ttl_ns == r->namespaces[i].ttl_ns;
	}
	if (!same && r->n_fragments > 0) {
		requests_finish(r);
	}
	memcpy(r->namespaces, namespaces, n * sizeof(*namespaces));
	r->n_namespaces = n;
	r->plans = model_plans(r->model);
	r->refresh = false;
}

/* --- whose event it is ----------------------------------------------------------------------- */

/* The key of the thread that an event happened on; false: not known. */
static bool thread_key(struct requests *r, const struct plan *plan, const struct event *event,
                uint32_t host, uint64_t *key)
{
	if (plan->vtid != PLAN_NO_FIELD) {
		uint64_t space = plan->pid_ns != PLAN_NO_FIELD && !plan->vtid_is_host
		                                 ? event->slots[plan->pid_ns] & UINT32_MAX
		                                 : THREAD_HOST_NS;

		*key = thread_ns_key(space, event->slots[plan->vtid]);
		if (*key == 0 && plan->vtid_is_host) {
			*key = thread_host_key(0, event->cpu);
		}
		return true;
	}
	if (plan->switches) {
		*key = thread_host_key(event->slots[plan->prev_tid], event->cpu);
		return true;
	}
	return threads_current(r->threads, host, event->cpu, key);
}

static void name_thread(struct requests *r, struct thread *thread, const struct event *event,
                uint16_t field)
{
	uint32_t length;
	const char *comm = event_bytes(event, field, &length);
	const char *old;

	if (!comm) {
		return;
	}
	length = (uint32_t)strnlen(comm, length > 64 ? 64 : length);
	old = names_text(r->names, thread->comm);
	if (strncmp(old, comm, length) == 0 && old[length] == '\0') {
		return;
	}
	thread->comm = names_add(r->names, comm, length);
	threads_name_process(r->threads, thread->host, thread->pid >= 0 ? thread->pid : thread->tid,
	                thread->comm);
}

static struct thread *find_thread(struct requests *r, const struct plan *plan,
                const struct event *event, struct stream *stream)
{
	struct thread *thread;
	uint64_t key;

	if (!thread_key(r, plan, event, stream->host, &key)) {
		return NULL;
	}
	if (stream->last_thread && stream->last_thread_key == key &&
	                stream->threads_generation == threads_generation(r->threads)) {
		thread = stream->last_thread;
	} else {
		thread = threads_get(r->threads, stream->host,
		                key >> 32 ? threads_resolve(r->threads, stream->host, key) : key);
		if (!thread) {
			return NULL;
		}
		stream->last_thread = thread;
		stream->last_thread_key = key;
		stream->threads_generation = threads_generation(r->threads);
	}
	if (plan->vpid != PLAN_NO_FIELD && (!thread->state || thread->pid < 0)) {
		thread->pid = (int32_t)event->slots[plan->vpid];
	}
	if (plan->procname != PLAN_NO_FIELD && thread->comm == 0) {
		name_thread(r, thread, event, plan->procname);
	}
	return thread;
}

/* --- the values that an event binds ---------------------------------------------------------- */

/* What one binding of an event comes to. */
struct bound {
	bool has_key;
	uint8_t op; /* as it acts here */
	struct key key;
	struct interval *interval; /* open one, or NULL */
};

struct feed {
	const struct plan *plan;
	const struct event *event;
	struct stream *stream;
	struct thread *thread; /* NULL: not known */
	struct bound bound[PLAN_MAX_BINDS];
	struct fragment *target;
	struct open_span *paired; /* exits: their entry */
	struct key pair_key;
	bool used;      /* by the state */
	bool keyed;     /* pairs by pair_key rather than by nesting on the thread */
	bool names_new; /* names a request that is not open */
	uint64_t id_hash;
	uint8_t id_ns;
	uint32_t name; /* of the span */
	uint32_t link;
};

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
static bool make_key(struct key_maker *maker, const struct feed *feed, uint32_t space,
                uint32_t host, const struct plan_key *parts, uint32_t n, struct key *key)
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

static void look_up(struct requests *r, struct feed *feed)
{
	const struct plan *plan = feed->plan;
	uint32_t i;

	for (i = 0; i < plan->n_bind; i++) {
		const struct plan_bind *bind = &plan->bind[i];
		struct bound *bound = &feed->bound[i];

		bound->interval = NULL;
		bound->op = bind->op;
		bound->has_key = make_key(&r->makers[i], feed, bind->ns,
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
static void choose_target(struct requests *r, struct feed *feed)
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
		                (bind->kind != NS_LANE && !fragments_conflict(feed->target, f))) {
			feed->target = fragment_unite(r, feed->target, f);
		}
	}
}

/* A fragment for an event that joins nothing; NULL: it has no say in opening one. */
static struct fragment *open_fragment(struct requests *r, const struct feed *feed)
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
static void resume_lane(struct requests *r, struct feed *feed, uint32_t i)
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

static void apply_bind(struct requests *r, struct feed *feed, uint32_t i, bool alone)
{
	const struct plan_bind *bind = &feed->plan->bind[i];
	struct bound *bound = &feed->bound[i];
	struct interval *interval = bound->interval;

	if (!bound->has_key) {
		return;
	}
	if (interval && interval->fragment == feed->target) {
		interval->last_ns = feed->event->ts_ns;
		if (bind->kind == NS_MESSAGE) {
			feed->link = interval->serial;
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
		                feed->paired->seq == interval->opener) {
			close_bound(r, feed, interval);
		}
		break;
	default: /* BASIC: alone, it holds the place of a start that is late */
		if (!interval && alone && bind->global) {
			open_bound(r, feed, i);
		}
		break;
	}
	if (bind->kind == NS_MESSAGE && bound->interval && !feed->link) {
		feed->link = bound->interval->serial;
	}
}

/* --- one event into its fragment ------------------------------------------------------------- */

static void keep_copy(struct requests *r, struct feed *feed, uint64_t enclosing)
{
	struct fragment *f = feed->target;
	const struct plan *plan = feed->plan;
	uint32_t before = f->copies.bytes;
	struct event_copy *copy = NULL;

	if (f->n_pending < r->config.max_events &&
	                f->copies.bytes + (uint64_t)feed->event->bytes + sizeof(*copy) <=
	                                r->config.max_bytes) {
		copy = copies_add(&r->pool->pool, &f->copies, feed->event);
	}
	if (!copy) {
		f->over_bound = true;
		f->n_left_out++;
		r->counts.dropped++;
		return;
	}
	r->open_bytes += f->copies.bytes - before;
	copy->ts_ns = feed->event->ts_ns;
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
		if (!feed->plan->n_pair && plan->role == SPAN_ENTRY && feed->thread &&
		                plan->bind[0].kind == NS_LANE &&
		                f->root_type == feed->event->type) {
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
	f->start_ns = feed->event->ts_ns;
	f->end_ns = 0;
	f->type = plan_text_make(r, &plan->type, type, feed->event);
}

static void enter_span(struct requests *r, struct feed *feed)
{
	struct open_span *span = span_push(r, feed->plan, feed->event, feed->thread, feed->target,
	                feed->name, feed->keyed ? &feed->pair_key : NULL);

	if (feed->target) {
		feed->target->n_spans++;
		feed->target->n_skeleton_spans += feed->plan->skeleton;
		if (!span && feed->target->root == r->seq) {
			feed->target->root_open = false; /* no memory: end it as a single event */
			feed->target->end_ns = feed->event->ts_ns;
		}
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
	if (f && f->root_open && f->root == feed->paired->seq) {
		f->root_open = false;
		f->end_ns = feed->event->ts_ns;
	}
	span_pop(r, feed->paired);
}

/* A request is complete when its root and all its other spans have ended; these may be late. */
static void check_end(struct requests *r, struct fragment *f, uint64_t now_ns)
{
	if (!f->seeded || f->root == 0 || f->root_open) {
		return;
	}
	if (f->n_open == 0) {
		fragment_finish(r, f, REQUEST_COMPLETE);
	} else if (!f->ending) {
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
	if (why == WHY_NO_THREAD && feed->stream->desc.domain == DOMAIN_UST) {
		why = WHY_NO_VTID;
	}
	if (feed->used) {
		r->counts.state_only++;
		return;
	}
	r->counts.unmatched++;
	type_stats_unmatched(&r->stats[feed->event->type], feed->event->ts_ns, why);
}

/* Enabling a point never changes which requests exist: it goes with what is open. */
static enum unmatched_why attach(struct requests *r, struct feed *feed)
{
	const struct plan *plan = feed->plan;
	uint32_t i;

	if (feed->paired && feed->paired->fragment) {
		feed->target = feed->paired->fragment;
		return WHY_COUNT;
	}
	look_up(r, feed);
	for (i = 0; i < plan->n_bind; i++) {
		struct interval *interval = feed->bound[i].interval;

		if (!interval) {
			continue;
		}
		if (plan->bind[i].kind == NS_LANE && feed->thread && feed->thread->mixed) {
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
				f->type = plan_text_make(r, &plan->type,
				                &r->registry->types[copy->type], &event);
				return;
			}
		}
	}
}

static void make_room(struct requests *r)
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
static enum unmatched_why join(struct requests *r, struct feed *feed)
{
	bool alone;
	uint32_t i;

	look_up(r, feed);
	choose_target(r, feed);
	if (feed->plan->role == SPAN_EXIT) {
		feed->paired = span_find(r, feed->plan, feed->thread, feed->target, feed->name,
		                feed->keyed ? &feed->pair_key : NULL);
		if (feed->paired && !feed->target) {
			feed->target = feed->paired->fragment;
		}
	}
	alone = feed->target == NULL;
	if (alone) {
		if (r->n_fragments >= r->config.max_open) {
			make_room(r);
			look_up(r, feed); /* what was evicted took its intervals along */
		}
		feed->target = open_fragment(r, feed);
		if (!feed->target) {
			return feed->thread || feed->plan->n_bind == 0 ? WHY_NOTHING_OPEN
			                                               : WHY_NO_THREAD;
		}
	}
	if (feed->plan->role == SPAN_ENTRY && feed->target->seeded) {
		move_root(r, feed);
	}
	for (i = 0; i < feed->plan->n_bind; i++) {
		apply_bind(r, feed, i, alone);
	}
	return WHY_COUNT;
}

static void resume_lanes(struct requests *r, struct feed *feed)
{
	uint32_t i;

	for (i = 0; i < feed->plan->n_bind; i++) {
		if (feed->bound[i].op == BIND_LEAVE && feed->plan->bind[i].kind == NS_LANE &&
		                feed->bound[i].has_key && !feed->bound[i].interval &&
		                !key_table_find(&r->intervals, &feed->bound[i].key)) {
			resume_lane(r, feed, i);
		}
	}
}

static void prepare_span(struct requests *r, struct feed *feed)
{
	const struct plan *plan = feed->plan;
	const struct event_type *type = &r->registry->types[feed->event->type];

	feed->name = plan->name.fixed ? plan->name.fixed
	                              : plan_text_make(r, &plan->name, type, feed->event);
	if (plan->keyed) {
		feed->keyed = make_key(&r->makers[PLAN_MAX_BINDS], feed,
		                UINT32_MAX - plan->pair_name, feed->stream->host, plan->pair,
		                plan->n_pair, &feed->pair_key);
	} else if (!feed->thread && plan->n_bind > 0 && plan->bind[0].kind == NS_REQUEST) {
		/* Nobody recorded the thread: the request's own name has to do. */
		feed->keyed = make_key(&r->makers[PLAN_MAX_BINDS], feed,
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
	keep_copy(r, feed, enclosing);
	if (feed->plan->seed) {
		begin_request(r, feed);
	}
	fragment_touch(r, f, feed->event->ts_ns);
}

void requests_feed(struct requests *r, const struct event *event, bool used)
{
	struct feed feed;
	enum unmatched_why why;

	if (r->refresh) {
		requests_refresh(r);
	}
	r->seq++;
	r->now_ns = event->ts_ns;
	r->stats[event->type].total++;
	if (r->open_bytes > REQUESTS_OPEN_BYTES) {
		make_room(r);
	}
	feed.plan = &r->plans[event->type];
	feed.event = event;
	feed.used = used;
	feed.stream = &r->registry->streams[event->stream];
	feed.target = NULL;
	feed.paired = NULL;
	feed.keyed = feed.names_new = false;
	feed.link = feed.name = 0;
	feed.stream->has_events = true;
	feed.thread = find_thread(r, feed.plan, event, feed.stream);
	if (feed.thread && model_watches_ids(r->model)) {
		model_watch_id(r->model, event, feed.thread->key);
		r->refresh = true;
	}
	if (feed.plan->about_tracer) {
		unmatched(r, &feed, WHY_TRACER);
		return;
	}
	if (feed.plan->role != SPAN_POINT) {
		prepare_span(r, &feed);
	}
	why = feed.plan->skeleton ? join(r, &feed) : attach(r, &feed);
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
			resume_lanes(r, &feed);
		}
	}
	if (feed.target && feed.plan->role == SPAN_EXIT) {
		check_end(r, feed.target, event->ts_ns);
	}
	if (r->doomed) {
		judge_doomed(r, event->ts_ns);
	}
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
	while ((f = earliest(r)) && f->deadline_ns <= now_ns) {
		if (!f->seeded) {
			fragment_expire(r, f);
		} else if (f->ending) {
			fragment_finish(r, f, REQUEST_COMPLETE);
		} else {
			f->end_ns = f->last_ns;
			fragment_finish(r, f, REQUEST_TIMEOUT);
		}
	}
	r->next_deadline_ns = f ? f->deadline_ns : UINT64_MAX;
}

void requests_finish(struct requests *r)
{
	while (r->seeded.first) {
		struct fragment *f = r->seeded.first;

		if (f->ending) {
			fragment_finish(r, f, REQUEST_COMPLETE);
		} else {
			f->end_ns = f->last_ns;
			fragment_finish(r, f, REQUEST_TRUNCATED);
		}
	}
	while (r->unseeded.first) {
		fragment_expire(r, r->unseeded.first);
	}
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

const struct requests_counts *requests_counts(const struct requests *r)
{
	return &r->counts;
}

const struct type_stats *requests_type_stats(const struct requests *r, uint32_t type)
{
	return &r->stats[type];
}

uint32_t requests_open(const struct requests *r)
{
	return r->n_fragments;
}
