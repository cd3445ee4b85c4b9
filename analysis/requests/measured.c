/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "requests/engine.h"
#include "requests/failure.h"

#define FEW 32u /* so few are sorted by insertion */

void measuring_release(struct measuring *measuring)
{
	path_release(&measuring->path);
	free(measuring->segments);
	free(measuring->visits);
	free(measuring->lags);
	free(measuring->walked_spans);
	free(measuring->walked_pieces);
	*measuring = (struct measuring){.segment_room = 0};
}

static const struct kept_request *kept_of(const struct request *request)
{
	return (const struct kept_request *)(const void *)request;
}

/* --- contexts -------------------------------------------------------------------------------- */

uint32_t span_name(const struct requests *r, const struct span *span)
{
	const struct event_copy *copy = span->entry ? span->entry : span->exit;

	return !copy ? 0 : copy->name ? copy->name : r->plans[copy->type].name.fixed;
}

/* The emission named it first, and a parent's number is below those of its children. */
static uint32_t root_context(struct requests *r, const struct request *request)
{
	return request->n_path > 0 ? request->path[0]
				   : contexts_add(r->contexts, 0, request->type, 0);
}

bool measuring_build(struct requests *r, const struct request *request)
{
	const struct kept_request *kept = kept_of(request);
	const struct spans_input input = {
			.copies = &kept->copies,
			.registry = r->registry,
			.root = kept->root,
			.start_ns = request->start_ns,
			.end_ns = request->end_ns,
	};

	requests_refresh(r);
	if (r->built && kept == r->built) {
		return true; /* several ask for the same one while it is emitted */
	}
	r->built = NULL;
	if (!spans_build(&r->spans, &input)) {
		return false;
	}
	r->built = kept == r->finishing ? kept : NULL;
	return true;
}

uint32_t measuring_name(struct requests *r, const struct request *request)
{
	struct spans *spans = &r->spans;
	uint32_t i, folded = 0;

	spans->items[spans->root].context = root_context(r, request);
	for (i = 1; i < spans->n; i++) {
		struct span *span = &spans->items[spans->order[i]];
		const struct event_copy *copy = span->entry ? span->entry : span->exit;
		uint32_t above = spans->items[span->parent].context;

		span->context = span->depth < MAX_CONTEXT_DEPTH
						? contexts_add(r->contexts, above,
								  span_name(r, span),
								  r->plans[copy->type].provider)
						: above;
		folded += span->context == above;
	}
	return folded;
}

static uint32_t intern(struct requests *r, uint32_t *name, const char *text)
{
	if (!*name) {
		*name = names_add(r->names, text, strlen(text));
	}
	return *name;
}

/* "(blocked: futex)" */
static uint32_t blocked_name(struct requests *r, uint32_t on)
{
	uint32_t *memo = r->measuring.blocked_on[on % MEASURING_MEMO];
	char text[128];
	int length;

	if (!on) {
		return intern(r, &r->measuring.blocked, "(blocked)");
	}
	if (memo[0] != on) {
		length = snprintf(
				text, sizeof(text), "(blocked: %.100s)", names_text(r->names, on));
		memo[0] = on;
		memo[1] = names_add(r->names, text, (size_t)length);
	}
	return memo[1];
}

uint32_t measuring_part(struct requests *r, const struct path_piece *piece)
{
	struct measuring *m = &r->measuring;

	switch ((enum path_what)piece->what) {
	case PATH_WAIT:
		return intern(r, &m->wait, "(wait)");
	case PATH_TRANSIT:
		return intern(r, &m->transit, "(transit)");
	case PATH_RUNNABLE:
		return intern(r, &m->runnable, "(runnable)");
	case PATH_WAKING:
		return intern(r, &m->waking, "(waking up)");
	case PATH_BLOCKED:
		return blocked_name(r, piece->on);
	default:
		return 0;
	}
}

uint32_t measuring_owner(struct requests *r, const struct path_piece *piece)
{
	uint32_t context = r->spans.items[piece->span].context;
	uint32_t part = measuring_part(r, piece);

	return part ? contexts_add(r->contexts, context, part, 0) : context;
}

/* --- the path -------------------------------------------------------------------------------- */

/* Does it go by what it is about alone, as a disk's request does? */
static bool of_no_thread(const struct plan *plan)
{
	return plan->seed && plan->keyed && plan->n_bind == 1 && plan->bind[0].kind == NS_REQUEST &&
	       !plan->bind[0].global;
}

/* ns of a stretch in which a CPU ran a thread, or (tid 0) none. */
static void add_idle(void *context, int32_t tid, uint64_t from_ns, uint64_t to_ns)
{
	*(uint64_t *)context += tid == 0 ? to_ns - from_ns : 0;
}

/* A thread waited for a CPU that for most of the time nobody had. */
static bool is_waking(struct requests *r, const struct span *span, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t idle_ns = 0;

	return state_ran_instead(r->config.state, span->host, span->tid, from_ns, to_ns, add_idle,
			       &idle_ns) &&
	       2 * idle_ns > to_ns - from_ns;
}

/* What the state knows of a span's thread. */
static bool doing(
		void *context, const struct span *span, uint64_t before_ns, struct path_doing *out)
{
	struct requests *r = context;
	const struct event_copy *copy = span->entry ? span->entry : span->exit;
	struct state_doing known;

	/* A device's work, or the network's: what the thread does that asked for it is another
	 * matter. */
	if (copy && (copy->derived ? span_name(r, span) == r->unacked_name
				   : of_no_thread(&r->plans[copy->type]))) {
		*out = (struct path_doing){.what = PATH_SELF, .sure = true, .waker_tid = -1};
		return true;
	}
	if (!copy || !state_doing(r->config.state, span->host, span->tid, copy->pid, before_ns,
				     &known)) {
		return false;
	}
	*out = (struct path_doing){.what = PATH_SELF,
			.sure = known.status != THREAD_UNKNOWN,
			.on = known.blocked_on,
			.since_ns = known.since_ns,
			.waker_tid = known.waker_tid};
	if (known.status == THREAD_BLOCKED) {
		out->what = PATH_BLOCKED;
	} else if (known.status == THREAD_WAIT_CPU || known.status == THREAD_WAIT_FORK) {
		out->what = is_waking(r, span, known.since_ns, before_ns) ? PATH_WAKING
									  : PATH_RUNNABLE;
	}
	return true;
}

static bool is_measured(const struct requests *r)
{
	return r->config.state && state_has_kernel(r->config.state);
}

bool measuring_walk(struct requests *r)
{
	const struct path_kernel kernel = {.context = r,
			.wakes = is_measured(r) && state_has_wakers(r->config.state),
			.doing = doing};

	return path_find(&r->measuring.path, &r->spans, is_measured(r) ? &kernel : NULL);
}

/* --- by context ------------------------------------------------------------------------------ */

static int compare_segments(const void *a, const void *b)
{
	const struct measured_segment *x = a, *y = b;

	return x->context < y->context ? -1 : x->context > y->context;
}

static int compare_visits(const void *a, const void *b)
{
	const struct measured_visit *x = a, *y = b;

	return x->context < y->context ? -1 : x->context > y->context;
}

static void sort_segments(struct measured_segment *items, uint32_t n)
{
	uint32_t i, j;

	if (n > FEW) {
		qsort(items, n, sizeof(*items), compare_segments);
		return;
	}
	for (i = 1; i < n; i++) {
		struct measured_segment item = items[i];

		for (j = i; j > 0 && item.context < items[j - 1].context; j--) {
			items[j] = items[j - 1];
		}
		items[j] = item;
	}
}

static void sort_visits(struct measured_visit *items, uint32_t n)
{
	uint32_t i, j;

	if (n > FEW) {
		qsort(items, n, sizeof(*items), compare_visits);
		return;
	}
	for (i = 1; i < n; i++) {
		struct measured_visit item = items[i];

		for (j = i; j > 0 && item.context < items[j - 1].context; j--) {
			items[j] = items[j - 1];
		}
		items[j] = item;
	}
}

/* Room for n; NULL if out of memory. */
static void *reserve(void **items, uint32_t *room, uint32_t n, size_t size)
{
	void *grown;

	if (n <= *room) {
		return *items;
	}
	grown = realloc(*items, (n + n / 2) * size);
	if (grown) {
		*items = grown;
		*room = n + n / 2;
	}
	return grown;
}

static bool reserve_segments(struct measuring *m, uint32_t n)
{
	void *items = m->segments;
	bool done = reserve(&items, &m->segment_room, n, sizeof(*m->segments)) != NULL;

	m->segments = items;
	return done;
}

static bool reserve_visits(struct measuring *m, uint32_t n)
{
	void *items = m->visits;
	bool done = reserve(&items, &m->visit_room, n, sizeof(*m->visits)) != NULL;

	m->visits = items;
	return done;
}

/* Sums those of a context; returns how many remain. */
static uint32_t unite_segments(struct measured_segment *segments, uint32_t n)
{
	uint32_t i, kept = 0;

	sort_segments(segments, n);
	for (i = 0; i < n; i++) {
		if (kept > 0 && segments[kept - 1].context == segments[i].context) {
			segments[kept - 1].ns += segments[i].ns;
		} else {
			segments[kept++] = segments[i];
		}
	}
	return kept;
}

static bool put_segments(struct requests *r, struct measured *out)
{
	struct measuring *m = &r->measuring;
	uint32_t i, n = m->path.n;
	struct measured_segment *segments;

	if (!reserve_segments(m, n + 1)) {
		return false;
	}
	segments = m->segments;
	for (i = 0; i < n; i++) {
		segments[i] = (struct measured_segment){
				.context = measuring_owner(r, &m->path.pieces[i]),
				.ns = m->path.pieces[i].ns};
	}
	out->segments = segments;
	out->n_segments = unite_segments(segments, n);
	return true;
}

static uint64_t duration(const struct span *span)
{
	return span->end_ns > span->start_ns ? span->end_ns - span->start_ns : 0;
}

/* The part of a span that is within the one around it, on its thread. */
static uint64_t within(const struct span *outer, const struct span *span)
{
	uint64_t start_ns = span->start_ns > outer->start_ns ? span->start_ns : outer->start_ns;
	uint64_t end_ns = span->end_ns < outer->end_ns ? span->end_ns : outer->end_ns;

	return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* Of a span whose entry was not seen nobody knows how long it took: it is no visit. */
static bool is_visit(const struct span *span)
{
	return span->entry || !span->exit;
}

/* One visit a span, by its index; what is within it on its own thread is not its own. */
static void visit_spans(const struct spans *spans, struct measured_visit *visits)
{
	uint32_t i;

	for (i = 0; i < spans->n; i++) {
		const struct span *span = &spans->items[i];
		uint64_t ns = duration(span);

		visits[i] = (struct measured_visit){.context = span->context,
				.count = is_visit(span),
				.failed = is_visit(span) && failure_of_span(span),
				.total_ns = ns,
				.self_ns = ns,
				.squares = (measured_uint128)ns * ns};
	}
	for (i = 0; i < spans->n; i++) {
		const struct span *span = &spans->items[i];
		struct measured_visit *outer;
		uint64_t ns;

		if (span->parent == SPAN_NONE || span->below != span->parent || !span->entry ||
				span->entry->keyed) {
			continue;
		}
		outer = &visits[span->parent];
		ns = within(&spans->items[span->parent], span);
		outer->self_ns -= ns < outer->self_ns ? ns : outer->self_ns;
	}
}

/* One a context; returns how many. */
static uint32_t unite_visits(struct measured_visit *visits, uint32_t n)
{
	uint32_t i, kept = 0;

	sort_visits(visits, n);
	for (i = 0; i < n; i++) {
		struct measured_visit *last = kept > 0 ? &visits[kept - 1] : NULL;

		if (last && last->context == visits[i].context) {
			last->count += visits[i].count;
			last->failed += visits[i].failed;
			last->total_ns += visits[i].total_ns;
			last->self_ns += visits[i].self_ns;
			last->squares += visits[i].squares;
		} else {
			visits[kept++] = visits[i];
		}
	}
	return kept;
}

static bool put_visits(struct requests *r, struct measured *out)
{
	struct measuring *m = &r->measuring;
	uint32_t i, n = 0;

	if (!reserve_visits(m, r->spans.n)) {
		return false;
	}
	visit_spans(&r->spans, m->visits);
	for (i = 0; i < r->spans.n; i++) {
		if (m->visits[i].count) {
			m->visits[n++] = m->visits[i];
		}
	}
	out->visits = m->visits;
	out->n_visits = unite_visits(m->visits, n);
	return true;
}

/* --- lags ------------------------------------------------------------------------------------ */

/* A message caused it, and who sent that goes on meanwhile. */
static bool is_posted(const struct spans *spans, const struct span *span)
{
	const struct span *cause;

	if (!span->by_message || span->cause == SPAN_NONE || !span->entry || span->point) {
		return false;
	}
	cause = &spans->items[span->cause];
	return cause->point ? !cause->answer_ns : cause->entry && cause->end_ns < span->end_ns;
}

static bool put_lags(struct requests *r, struct measured *out)
{
	const struct spans *spans = &r->spans;
	struct measuring *m = &r->measuring;
	void *items = m->lags;
	uint32_t i, n = 0;

	for (i = 0; i < spans->n; i++) {
		n += is_posted(spans, &spans->items[i]);
	}
	if (!n) {
		return true;
	}
	if (!reserve(&items, &m->lag_room, n, sizeof(*m->lags))) {
		return false;
	}
	m->lags = items;
	for (i = 0, n = 0; i < spans->n; i++) {
		const struct span *span = &spans->items[i];
		uint64_t sent_ns;

		if (!is_posted(spans, span)) {
			continue;
		}
		sent_ns = spans->items[span->cause].start_ns;
		m->lags[n++] = (struct measured_segment){
				.context = contexts_add(r->contexts, span->context,
						intern(r, &m->lag, MEASURED_LAG), 0),
				.ns = span->start_ns > sent_ns ? span->start_ns - sent_ns : 0};
	}
	out->lags = m->lags;
	out->n_lags = unite_segments(m->lags, n);
	return true;
}

/* --- one span: most requests of a busy service, and most system calls ---------------------- */

/*
 * Has it one span alone, beside which nothing but points is to be told? Then there is no tree;
 * `root` is that span.
 */
static bool is_plain(const struct requests *r, const struct kept_request *kept, struct span *root)
{
	const struct event_copy *copy;
	struct copy_chunk *chunk = NULL;
	uint32_t offset = 0;

	if (kept->request.n_spans != 1 || kept->root == 0 || kept->events_left_out > 0) {
		return false;
	}
	*root = (struct span){.parent = SPAN_NONE,
			.below = SPAN_NONE,
			.cause = SPAN_NONE,
			.start_ns = kept->request.start_ns,
			.end_ns = kept->request.end_ns};
	while ((copy = copies_next(&kept->copies, &chunk, &offset))) {
		/* It may have been caused by another point, or end what was not seen to begin. */
		if (copy->link || (copy->role == COPY_EXIT && copy->span != kept->root)) {
			return false;
		}
		if (copy->seq == kept->root) {
			root->entry = copy;
			root->host = r->registry->streams[copy->stream].host;
			root->tid = copy->tid;
		} else if (copy->role == COPY_EXIT) {
			root->exit = copy;
		}
	}
	return root->entry != NULL;
}

static void put_plain_visits(struct requests *r, const struct kept_request *kept,
		const struct span *root, struct measured *out)
{
	struct measured_visit *visits = r->measuring.visits;
	struct copy_chunk *chunk = NULL;
	const struct event_copy *copy;
	uint32_t offset = 0, n = 0;

	while ((copy = copies_next(&kept->copies, &chunk, &offset))) {
		struct measured_visit *visit = &visits[n];
		uint32_t name = copy->name ? copy->name : r->plans[copy->type].name.fixed;

		if (copy->role == COPY_EXIT) {
			continue;
		}
		*visit = (struct measured_visit){.context = root->context,
				.count = 1,
				.failed = copy->fails != COPY_SOUND};
		n++;
		if (copy == root->entry) {
			visit->failed = failure_of_span(root) != NULL;
			visit->total_ns = visit->self_ns = out->total_ns;
			visit->squares = (measured_uint128)out->total_ns * out->total_ns;
			continue;
		}
		visit->context = contexts_add(
				r->contexts, root->context, name, r->plans[copy->type].provider);
		out->folded += visit->context == root->context;
	}
	out->visits = visits;
	out->n_visits = unite_visits(visits, n);
}

static void put_plain_segments(struct requests *r, uint32_t context, struct measured *out)
{
	struct measured_segment *segments = r->measuring.segments;
	const struct path *path = &r->measuring.path;

	for (uint32_t i = 0; i < path->n; i++) {
		uint32_t part = measuring_part(r, &path->pieces[i]);

		segments[i] = (struct measured_segment){
				.context = part ? contexts_add(r->contexts, context, part, 0)
						: context,
				.ns = path->pieces[i].ns};
	}
	out->segments = segments;
	out->n_segments = unite_segments(segments, path->n);
}

static bool measure_plain(struct requests *r, const struct request *request, struct span *root,
		struct measured *out)
{
	const struct kept_request *kept = kept_of(request);
	const struct path_kernel kernel = {.context = r, .doing = doing};
	struct measuring *m = &r->measuring;

	*out = (struct measured){.total_ns = request->end_ns - request->start_ns,
			.folded = kept->spans_left_out};
	requests_refresh(r);
	root->context = root_context(r, request);
	if (!reserve_visits(m, kept->copies.n)) {
		return false;
	}
	put_plain_visits(r, kept, root, out);
	if (!path_find_alone(&m->path, root, is_measured(r) ? &kernel : NULL) ||
			!reserve_segments(m, m->path.n + 1)) {
		return false;
	}
	put_plain_segments(r, root->context, out);
	return true;
}

bool measuring_whole(struct requests *r, const struct request *request, struct measured *out)
{
	*out = (struct measured){.total_ns = request->end_ns - request->start_ns};
	if (!measuring_build(r, request)) {
		return false;
	}
	out->folded = measuring_name(r, request) + kept_of(request)->spans_left_out;
	if (!measuring_walk(r) || !put_segments(r, out) || !put_visits(r, out) ||
			!put_lags(r, out)) {
		return false;
	}
	out->skewed = r->measuring.path.skewed;
	return true;
}

bool requests_measure(struct requests *r, const struct request *request, struct measured *out)
{
	struct span root;

	return is_plain(r, kept_of(request), &root) ? measure_plain(r, request, &root, out)
						    : measuring_whole(r, request, out);
}
