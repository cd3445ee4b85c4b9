/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/holders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "requests/engine.h"
#include "requests/process_ends.h"
#include "requests/thread_spans.h"
#include "requests/waits.h"

#define ALIKE 64u /* holders of one kind of wait that are told apart */

struct wait {
	uint64_t from_ns, to_ns, request;
	uint32_t context;        /* that owns it */
	uint32_t within;         /* of the span */
	uint32_t name, provider; /* of the span */
	uint32_t host;
	int32_t tid, pid, waker_tid;
	uint64_t later_ns; /* of an event loop: from to_ns until the wake-up that ends it */
	enum held_how how;
	double weight; /* how many it stands for */
};

struct holders {
	struct requests *r;
	struct wait *waits;
	uint32_t n, room;

	struct process_ends **ends; /* the caller's; of it NULL: they were not needed yet */
	uint64_t first_ns;          /* since which the log is whole */

	struct ended_index index;                 /* of the log */
	struct thread_spans spans[HOLDERS_CHAIN]; /* by depth: of the threads of a chain */
};

/* Whose thread it is. */
struct doer {
	uint32_t process; /* interned */
	int64_t pid;      /* 0: not known, or the one that waits, */
	int32_t tid;      /* of which no thread is told; 0 */
	bool child;       /* the process that waits has made it, */
	uint32_t made_in; /* interned: in that call; 0: not told */
};

/* What is told of one kind of wait. */
struct telling {
	struct holders *holders;
	const struct handover *evidence;
	struct holder items[ALIKE];
	uint32_t n;
	struct wait at;   /* the wait at hand, */
	int64_t pid;      /* and the process that waits, as the kernel numbers it */
	double beyond_ns; /* what it takes more than the mean of them */
	uint64_t chain[HOLDERS_CHAIN];
	uint32_t depth;
};

static uint64_t weighted(const struct wait *wait, uint64_t ns)
{
	return (uint64_t)llround(wait->weight * (double)ns);
}

struct holders *holders_begin(struct requests *requests, struct process_ends **ends)
{
	struct holders *holders = calloc(1, sizeof(*holders));

	if (holders) {
		holders->r = requests;
		holders->ends = ends;
		if (requests->ended.n == ENDED_SPANS) {
			holders->first_ns = ended_get(&requests->ended,
					requests->ended.last - requests->ended.n + 1)
							    ->end_ns;
		}
	}
	return holders;
}

void holders_end(struct holders *holders)
{
	if (holders) {
		ended_index_release(&holders->index);
		free(holders->waits);
		free(holders);
	}
}

/* ---- waits ---- */

/* Is this piece of a path a wait, and how can it be known whose? */
static bool is_wait(const struct holders *holders, const struct span *span,
		const struct path_piece *piece, uint64_t from_ns, enum held_how *how)
{
	const struct state *state = holders->r->config.state;
	/* While a message lies in a socket its thread works, or waits, for others. */
	bool queued = span_name(holders->r, span) == holders->r->queued_name;
	bool unacked = span_name(holders->r, span) == holders->r->unacked_name;

	switch ((enum path_what)piece->what) {
	case PATH_BLOCKED:
		*how = queued ? HELD_QUEUED : HELD_WOKEN;
		return true;
	case PATH_WAIT:
		*how = HELD_QUEUED;
		return true;
	case PATH_RUNNABLE:
		*how = HELD_RAN;
		return true;
	case PATH_SELF:
		*how = queued ? HELD_QUEUED : unacked ? HELD_WOKEN : HELD_INFERRED;
		return queued || unacked || !state ||
		       !state_was_told(state, span->host, from_ns, from_ns + piece->ns);
	default:
		return false;
	}
}

static bool waits_for_many(const struct holders *holders, const struct path_piece *piece)
{
	return piece->what == PATH_BLOCKED &&
	       wait_multiplexes(names_text(holders->r->names, piece->on));
}

/*
 * An event loop is woken for whatever comes: what it waits for on behalf of one request ends with
 * the last wake-up before it works for that again. The index of the piece that ends so.
 */
static uint32_t piece_that_ends(const struct holders *holders, uint32_t first)
{
	const struct path *path = &holders->r->measuring.path;
	const struct path_piece *piece = &path->pieces[first];
	uint32_t last = first;

	if (!waits_for_many(holders, piece)) {
		return first;
	}
	for (uint32_t i = first; i < path->n && path->pieces[i].span == piece->span; i++) {
		last = waits_for_many(holders, &path->pieces[i]) ? i : last;
	}
	return last;
}

bool holders_add(struct holders *holders, const struct request *request, double weight)
{
	const struct kept_request *kept = (const struct kept_request *)(const void *)request;
	struct requests *r = holders->r;
	const struct path *path = &r->measuring.path;
	uint64_t at_ns = request->start_ns;

	if (!measuring_build(r, request)) {
		return false;
	}
	measuring_name(r, request);
	if (!measuring_walk(r)) {
		return false;
	}
	for (uint32_t i = 0; i < path->n && !path->skewed && holders->n < HOLDERS_WAITS; i++) {
		const struct path_piece *piece = &path->pieces[i];
		const struct span *span = &r->spans.items[piece->span];
		uint64_t from_ns = at_ns;
		struct wait *wait;
		enum held_how how;
		uint32_t ends;

		at_ns += piece->ns;
		if (from_ns < holders->first_ns || !span->entry ||
				!is_wait(holders, span, piece, from_ns, &how) ||
				piece->ns < (how == HELD_RAN ? HOLDERS_RAN_NS : HOLDERS_LEAST_NS)) {
			continue;
		}
		if (!array_reserve(&holders->waits, &holders->room, holders->n + 1)) {
			return false;
		}
		ends = how == HELD_WOKEN ? piece_that_ends(holders, i) : i;
		wait = &holders->waits[holders->n++];
		*wait = (struct wait){.from_ns = from_ns,
				.to_ns = at_ns,
				.request = kept->serial,
				.context = measuring_owner(r, piece),
				.within = span->context,
				.name = span_name(r, span),
				.provider = r->plans[span->entry->type].provider,
				.host = span->host,
				.tid = span->tid,
				.pid = span->entry->pid,
				.waker_tid = path->pieces[ends].waker_tid,
				.how = how,
				.weight = weight};
		for (uint32_t k = i + 1; k <= ends; k++) {
			wait->later_ns += path->pieces[k].ns;
		}
		if (how == HELD_INFERRED && span->end_ns <= wait->to_ns + HANDOVER_NS &&
				span->end_ns > from_ns) {
			/* Of another host: by its own clock. */
			wait->from_ns = span->end_ns - piece->ns;
			wait->to_ns = span->end_ns;
		}
	}
	return true;
}

/* ---- what ended in their processes ---- */

/* False: out of memory. */
static bool find_ends(struct holders *holders)
{
	bool inferred = false;

	for (uint32_t i = 0; i < holders->n && !inferred; i++) {
		inferred = holders->waits[i].how == HELD_INFERRED;
	}
	if (inferred && !*holders->ends) {
		*holders->ends = process_ends_make(&holders->r->ended);
	}
	return !inferred || *holders->ends;
}

static struct handover_wait as_handover(const struct holders *holders, const struct wait *wait)
{
	const struct process_ends *ends = *holders->ends;

	return (struct handover_wait){
			.from_ns = process_ends_time(ends, wait->host, wait->pid, wait->from_ns),
			.to_ns = process_ends_time(ends, wait->host, wait->pid, wait->to_ns),
			.thread = process_ends_thread(wait->host, wait->tid),
			.request = wait->request};
}

/* Judges waits by what ended near them: the rest of the log says nothing of these. */
static bool judge_ends(const struct holders *holders, const struct handover_wait *waits, uint32_t n,
		struct handover *out)
{
	const uint64_t reach_ns = HANDOVER_STEPS * HANDOVER_NS;
	const struct process_ends *ends = *holders->ends;
	uint64_t from_ns = UINT64_MAX, to_ns = 0;
	uint32_t first, last;

	if (n == 0) {
		return handover_judge(waits, n, NULL, 0, out);
	}
	for (uint32_t i = 0; i < n; i++) {
		from_ns = waits[i].to_ns < from_ns ? waits[i].to_ns : from_ns;
		to_ns = waits[i].to_ns > to_ns ? waits[i].to_ns : to_ns;
	}
	first = handover_first(ends->items, ends->n, from_ns - reach_ns);
	last = handover_first(ends->items, ends->n, to_ns + reach_ns + 1);
	return handover_judge(waits, n, &ends->items[first], last - first, out);
}

/* The last of the surest kind that ended just before the end of a wait; NULL: none did. */
static const struct handover_end *handed_by(const struct holders *holders, const struct wait *wait,
		const struct handover *evidence)
{
	const struct process_ends *ends = *holders->ends;
	struct handover_wait shape;
	const struct handover_end *found = NULL;

	if (evidence->n == 0) {
		return NULL;
	}
	shape = as_handover(holders, wait);
	for (uint32_t k = 0; k < evidence->n && !found; k++) {
		uint32_t i = handover_first(ends->items, ends->n, shape.to_ns - HANDOVER_NS);

		for (; i < ends->n && ends->items[i].at_ns <= shape.to_ns; i++) {
			if (ends->items[i].kind == evidence->kinds[k] &&
					handover_fits(&shape, &ends->items[i])) {
				found = &ends->items[i];
			}
		}
	}
	return found;
}

/* ---- what is told ---- */

static bool is_same_holder(const struct holder *one, const struct holder *other)
{
	return one->name == other->name && one->provider == other->provider &&
	       one->type == other->type && one->process == other->process &&
	       one->idle == other->idle && one->child == other->child &&
	       one->interrupt == other->interrupt;
}

static void tell_holder(struct telling *telling, const struct holder *holder)
{
	uint32_t i = 0;

	while (i < telling->n && !is_same_holder(&telling->items[i], holder)) {
		i++;
	}
	if (i == ALIKE) {
		return;
	}
	if (i == telling->n) {
		telling->items[telling->n++] = *holder;
		telling->items[i].ns = 0;
	}
	if (telling->items[i].pid != holder->pid) {
		telling->items[i].pid = 0;
	}
	if (telling->items[i].tid != holder->tid) {
		telling->items[i].tid = 0;
	}
	if (!telling->items[i].made_in) {
		telling->items[i].made_in = holder->made_in;
	}
	telling->items[i].waits++;
	telling->items[i].ns += weighted(&telling->at, holder->ns);
	telling->items[i].variation += telling->at.weight * (double)holder->ns * telling->beyond_ns;
}

static void tell(struct telling *telling, const struct thread_span *span, const struct doer *doer,
		uint64_t ns)
{
	struct holder holder = {.process = doer->process,
			.pid = doer->pid,
			.tid = doer->tid,
			.child = doer->child,
			.made_in = doer->made_in,
			.ns = ns};

	if (!span && telling->at.how != HELD_WOKEN && telling->at.how != HELD_RAN) {
		return;
	}
	if (span) {
		holder.name = span->name;
		holder.provider = span->provider;
		holder.type = span->type;
	}
	tell_holder(telling, &holder);
}

static bool enter_chain(struct telling *telling, uint64_t thread)
{
	for (uint32_t i = 0; i < telling->depth; i++) {
		if (telling->chain[i] == thread) {
			return false;
		}
	}
	if (telling->depth == HOLDERS_CHAIN) {
		return false;
	}
	telling->chain[telling->depth++] = thread;
	return true;
}

static void follow(struct telling *telling, uint32_t host, int32_t tid, uint32_t number,
		const struct wait *wait);

/* The thread itself was blocked before an instant: since when, and who woke it. */
static bool is_blocked(struct telling *telling, uint32_t host, int32_t tid, uint64_t before_ns,
		struct state_doing *doing)
{
	struct state *state = telling->holders->r->config.state;

	return state && state_has_kernel(state) &&
	       state_doing(state, host, tid, -1, before_ns, doing);
}

/* Does a kind of span end waits, rather than wait? */
static bool ends_waits(const struct telling *telling, const struct thread_span *span)
{
	for (uint32_t i = 0; i < telling->evidence->n; i++) {
		const struct process_ends_kind *kind =
				&(*telling->holders->ends)->kinds[telling->evidence->kinds[i]];

		if (kind->name == span->name && kind->provider == span->provider) {
			return true;
		}
	}
	return false;
}

/* The stretch was a wait for the same, by where it ended, and whoever ended it is known: it is
 * theirs. */
static bool pass_on(struct telling *telling, const struct thread_span *span, uint32_t host,
		int32_t tid, int32_t pid, const struct wait *stretch)
{
	struct wait inner = *stretch;
	const struct handover_end *ending;

	if (!span || telling->at.how != HELD_INFERRED || span->end_ns > stretch->to_ns ||
			span->end_ns - span->start_ns < HANDOVER_NS || ends_waits(telling, span)) {
		return false;
	}
	inner.from_ns = span->start_ns;
	inner.to_ns = span->end_ns;
	inner.host = host;
	inner.tid = tid;
	inner.pid = pid;
	inner.request = 0;
	ending = handed_by(telling->holders, &inner, telling->evidence);
	if (!ending) {
		return false;
	}
	follow(telling, host, (int32_t)(uint32_t)ending->thread, ending->number, stretch);
	return true;
}

/* Tells what a thread did in the time of a wait, back from its end. */
static void follow(struct telling *telling, uint32_t host, int32_t tid, uint32_t number,
		const struct wait *wait)
{
	struct requests *r = telling->holders->r;
	const struct ended_span *known = ended_get(&r->ended, number);
	const struct thread *thread = threads_find(
			r->threads, host, known ? known->key : thread_host_key((uint32_t)tid, 0));
	int32_t pid = known ? known->pid : thread ? thread->pid : -1;
	struct doer doer = {.process = requests_process(r, host, tid, pid)};
	uint32_t depth = telling->depth;
	struct thread_spans *spans = &telling->holders->spans[depth];
	uint64_t at_ns = wait->to_ns;

	if (!enter_chain(telling, process_ends_thread(host, tid))) {
		return;
	}
	doer.pid = pid > 0 && pid != telling->pid ? pid : 0;
	doer.tid = pid != telling->pid ? tid : 0;
	doer.child = threads_is_child(
			r->threads, host, pid >= 0 ? pid : tid, telling->pid, &doer.made_in);
	thread_spans_begin(spans, r, &telling->holders->index, thread, number, wait->from_ns,
			wait->to_ns);
	while (at_ns > wait->from_ns) {
		struct wait stretch = *wait;
		struct state_doing doing;
		const struct thread_span *span =
				thread_spans_innermost(spans, at_ns, &stretch.from_ns);

		stretch.to_ns = at_ns;
		if (is_blocked(telling, host, tid, at_ns, &doing)) {
			if (doing.since_ns > stretch.from_ns) {
				stretch.from_ns =
						doing.since_ns < at_ns ? doing.since_ns : at_ns - 1;
			}
			/* Who lies in a socket waits for what is served; what that waits for is
			 * another matter. */
			if (telling->at.name != r->queued_name && doing.status == THREAD_BLOCKED &&
					doing.waker_tid > 0 && doing.waker_tid != tid &&
					telling->depth < HOLDERS_CHAIN) {
				follow(telling, host, doing.waker_tid, 0, &stretch);
				at_ns = stretch.from_ns;
				continue;
			}
		}
		if (!pass_on(telling, span, host, tid, pid, &stretch)) {
			tell(telling, span, &doer, stretch.to_ns - stretch.from_ns);
		}
		at_ns = stretch.from_ns;
	}
	telling->depth = depth;
}

/* A stretch in which another thread had the CPU, or none. */
static void tell_ran(void *context, int32_t tid, uint64_t from_ns, uint64_t to_ns)
{
	struct telling *telling = context;
	struct wait stretch = telling->at;

	stretch.from_ns = from_ns;
	stretch.to_ns = to_ns;
	if (tid == 0 && to_ns > from_ns) {
		tell_holder(telling, &(struct holder){.idle = true, .ns = to_ns - from_ns});
	} else if (tid > 0 && to_ns > from_ns) {
		telling->depth = 0;
		follow(telling, stretch.host, tid, 0, &stretch);
	}
}

static int64_t process_that_waits(const struct requests *r, const struct wait *wait)
{
	const struct thread *thread = threads_find(
			r->threads, wait->host, thread_host_key((uint32_t)wait->tid, 0));

	return thread && thread->pid >= 0 ? thread->pid : wait->pid;
}

/* No thread ended the wait: an interrupt did. False: nor is that known. */
static bool tell_interrupt(struct telling *telling, const struct wait *wait)
{
	struct state_doing doing;

	if (!is_blocked(telling, wait->host, wait->tid, wait->to_ns + wait->later_ns, &doing) ||
			doing.woken_by == INTERRUPT_NONE) {
		return false;
	}
	tell_holder(telling, &(struct holder){.interrupt = doing.woken_by,
					     .ns = wait->to_ns - wait->from_ns});
	return true;
}

static bool tell_wait(struct telling *telling, const struct wait *wait)
{
	const struct handover_end *ending;

	telling->at = *wait;
	telling->pid = process_that_waits(telling->holders->r, wait);
	telling->depth = 0;
	enter_chain(telling, process_ends_thread(wait->host, wait->tid));
	switch (wait->how) {
	case HELD_WOKEN:
		if (wait->name == telling->holders->r->unacked_name) {
			tell_holder(telling, &(struct holder){.interrupt = INTERRUPT_NETWORK,
							     .ns = wait->to_ns - wait->from_ns});
			return true;
		}
		if (wait->waker_tid <= 0 || wait->waker_tid == wait->tid) {
			return tell_interrupt(telling, wait);
		}
		follow(telling, wait->host, wait->waker_tid, 0, wait);
		return true;
	case HELD_QUEUED:
		telling->depth = 0;
		follow(telling, wait->host, wait->tid, 0, wait);
		return true;
	case HELD_INFERRED:
		ending = handed_by(telling->holders, wait, telling->evidence);
		if (ending) {
			follow(telling, wait->host, (int32_t)(uint32_t)ending->thread,
					ending->number, wait);
		}
		return ending != NULL;
	case HELD_RAN:
		return state_ran_instead(telling->holders->r->config.state, wait->host, wait->tid,
				wait->from_ns, wait->to_ns, tell_ran, telling);
	}
	return false;
}

static int by_share(const void *left, const void *right)
{
	const struct holder *a = left, *b = right;

	if (a->ns != b->ns) {
		return a->ns > b->ns ? -1 : 1;
	}
	return (a->name > b->name) - (a->name < b->name);
}

static int by_variation(const void *left, const void *right)
{
	const struct holder *a = left, *b = right;

	return a->variation != b->variation ? (a->variation > b->variation ? -1 : 1)
					    : by_share(left, right);
}

/* Waits of one kind: by context, the one of most time first within a context. */
static bool judge_kind(
		struct holders *holders, const struct wait *waits, uint32_t n, struct held *out)
{
	struct telling *telling = calloc(1, sizeof(*telling));
	struct handover_wait *shapes = calloc(n + 1, sizeof(*shapes));
	uint64_t told_ns = 0;
	uint32_t n_shapes = 0;
	double mean_ns;
	bool done = telling && shapes;

	*out = (struct held){.context = waits[0].context, .how = waits[0].how, .waits = n};
	if (done) {
		*telling = (struct telling){.holders = holders, .evidence = &out->evidence};
	}
	for (uint32_t i = 0; done && waits[0].how == HELD_INFERRED && i < n; i++) {
		shapes[n_shapes] = as_handover(holders, &waits[i]);
		n_shapes += shapes[n_shapes].from_ns < shapes[n_shapes].to_ns;
	}
	done = done && judge_ends(holders, shapes, n_shapes, &out->evidence);
	out->n_ends = out->evidence.n;
	for (uint32_t i = 0; i < out->n_ends; i++) {
		out->ends[i] = (*holders->ends)->kinds[out->evidence.kinds[i]].name;
	}
	for (uint32_t i = 0; i < n; i++) {
		out->ns += weighted(&waits[i], waits[i].to_ns - waits[i].from_ns);
		out->weight += waits[i].weight;
	}
	mean_ns = (double)out->ns / out->weight;
	for (uint32_t i = 0; done && i < n; i++) {
		double ns = (double)(waits[i].to_ns - waits[i].from_ns);

		telling->beyond_ns = ns - mean_ns;
		out->variation += waits[i].weight * ns * telling->beyond_ns;
		out->known += tell_wait(telling, &waits[i]);
	}
	if (done) {
		qsort(telling->items, telling->n, sizeof(*telling->items),
				(out->how == HELD_RAN || out->how == HELD_QUEUED) ? by_variation
										  : by_share);
		out->n = telling->n < HOLDERS_MAX ? telling->n : HOLDERS_MAX;
		memcpy(out->holders, telling->items, out->n * sizeof(*out->holders));
	}
	for (uint32_t i = 0; i < out->n; i++) {
		told_ns += out->holders[i].ns;
	}
	if (out->how != HELD_WOKEN && out->how != HELD_RAN &&
			(double)told_ns < HOLDERS_TOLD * (double)out->ns) {
		out->n = out->known = 0;
	}
	free(telling);
	free(shapes);
	return done;
}

static int by_context(const void *left, const void *right)
{
	const struct wait *a = left, *b = right;

	if (a->context != b->context) {
		return a->context < b->context ? -1 : 1;
	}
	if (a->how != b->how) {
		return a->how < b->how ? -1 : 1;
	}
	return (a->to_ns > b->to_ns) - (a->to_ns < b->to_ns);
}

/* The kinds of waits of most time, as (first, count, ns). */
struct run {
	uint32_t first, n;
	uint64_t ns;
};

static uint32_t find_runs(const struct holders *holders, uint32_t context, struct run *runs)
{
	uint32_t n = 0;

	for (uint32_t i = 0, end; i < holders->n; i = end) {
		const struct wait *waits = holders->waits;
		struct run run = {.first = i};
		uint32_t at;

		for (end = i; end < holders->n && waits[end].context == waits[i].context &&
				waits[end].how == waits[i].how;
				end++) {
			run.ns += weighted(&waits[end], waits[end].to_ns - waits[end].from_ns);
		}
		run.n = end - i;
		if (context && waits[i].context != context && waits[i].within != context) {
			continue;
		}
		for (at = n < HOLDERS_KINDS ? n : HOLDERS_KINDS; at > 0 && runs[at - 1].ns < run.ns;
				at--) {
			if (at < HOLDERS_KINDS) {
				runs[at] = runs[at - 1];
			}
		}
		if (at < HOLDERS_KINDS) {
			runs[at] = run;
			n += n < HOLDERS_KINDS;
		}
	}
	return n;
}

uint32_t holders_judge(struct holders *holders, uint32_t context, struct held *out)
{
	struct run runs[HOLDERS_KINDS];
	uint32_t n_runs, n = 0;

	if (!find_ends(holders)) {
		return 0;
	}
	if (holders->n) {
		qsort(holders->waits, holders->n, sizeof(*holders->waits), by_context);
	}
	n_runs = find_runs(holders, context, runs);
	for (uint32_t i = 0; i < n_runs; i++) {
		n += judge_kind(holders, &holders->waits[runs[i].first], runs[i].n, &out[n]);
	}
	return n;
}
