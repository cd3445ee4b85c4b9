/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "requests/path.h"

#define MAX_JUMPS 1024u /* to wakers, of one request */
#define FEW       48u   /* so few are sorted by insertion */
#define FAR_NS    (INT64_C(1) << 59)
#define MAX_PAST  8u /* spans of a thread looked at for the one that woke another */

/* A span as the walk sees it; times from the root's start, by the root's clock. */
struct path_node {
	int64_t start_ns, end_ns;
	int64_t shift_ns;            /* from its host's clock to the root's */
	int64_t wait_ns;             /* of a call's callee: when its caller began to wait */
	int64_t gap_from_ns, gap_ns; /* of a call: its longest stretch without own children */
	int64_t cursor_ns;           /* of a call: end of the last of these */
	uint32_t callee;             /* of a call: the one that ended last, of its host */
	uint32_t join;               /* which span could have waited for its end */
	uint32_t jump, height;       /* up the chain of joins, see find_join() */
	uint32_t first, next;        /* those that join it, the last to end first */
	uint32_t outer;              /* while the walk is within a callee: the one around it */
	uint32_t n_pieces;           /* when the walk came in */
	int64_t came_ns;
	bool callee_of_wait; /* its caller's wait is known */
	bool retry;          /* likewise, but another callee of the wait came after it */
	bool is_call;
};

__extension__ typedef unsigned __int128 path_uint128;

/* What is sorted by: when a span ended, or on which thread it began. */
struct path_key {
	uint64_t major;
	int64_t minor_ns;
	uint32_t index;
};

/* One walk back. */
struct walk {
	struct path *path;
	const struct spans *spans;
	const struct path_kernel *kernel;
	struct path_node *nodes;
	uint32_t at;    /* span */
	int64_t now_ns; /* position, going down */
	int64_t floor_ns;
	uint32_t inner;  /* the innermost callee of a wait that the walk is within; SPAN_NONE */
	uint32_t n_keys; /* by thread; built when a waker is first looked for */
	bool has_keys, failed;
	uint32_t jumps;
	int64_t jumped_ns;
};

void path_release(struct path *path)
{
	free(path->pieces);
	free(path->nodes);
	free(path->keys);
	*path = (struct path){.n = 0};
}

static bool reserve_nodes(struct path *path, uint32_t n)
{
	if (n <= path->node_room) {
		return true;
	}
	if (!array_resize(&path->nodes, n) || !array_resize(&path->keys, n)) {
		return false;
	}
	path->node_room = n;
	return true;
}

static bool reserve_pieces(struct path *path)
{
	return array_reserve(&path->pieces, &path->room, path->n + 1);
}

static int compare_keys(const void *a, const void *b)
{
	const struct path_key *x = a, *y = b;

	if (x->major != y->major) {
		return x->major < y->major ? -1 : 1;
	}
	if (x->minor_ns != y->minor_ns) {
		return x->minor_ns < y->minor_ns ? -1 : 1;
	}
	return x->index < y->index ? -1 : x->index > y->index;
}

static void sort_keys(struct path_key *keys, uint32_t n)
{
	uint32_t i, j;

	if (n > FEW) {
		qsort(keys, n, sizeof(*keys), compare_keys);
		return;
	}
	for (i = 1; i < n; i++) {
		struct path_key key = keys[i];

		for (j = i; j > 0 && compare_keys(&key, &keys[j - 1]) < 0; j--) {
			keys[j] = keys[j - 1];
		}
		keys[j] = key;
	}
}

/* Damaged times may be anything: no sum of a few of these overflows. */
static int64_t clamp(int64_t ns)
{
	return ns > FAR_NS ? FAR_NS : ns < -FAR_NS ? -FAR_NS : ns;
}

/* From the root's start, by the clock of whose it is. */
static int64_t since(const struct spans *spans, uint64_t ns)
{
	uint64_t start_ns = spans->items[spans->root].start_ns;
	uint64_t apart_ns = ns > start_ns ? ns - start_ns : start_ns - ns;
	int64_t far_ns = apart_ns > (uint64_t)FAR_NS ? FAR_NS : (int64_t)apart_ns;

	return ns > start_ns ? far_ns : -far_ns;
}

/* --- the clocks of hosts --------------------------------------------------------------------- */

static bool crosses_hosts(const struct spans *spans, const struct span *span)
{
	return span->by_message && span->parent != SPAN_NONE && span->cause != SPAN_NONE &&
	       spans->items[span->parent].host != span->host;
}

/* Points take no time, and of a span whose entry was not seen nobody knows how much. */
static bool takes_time(const struct span *span)
{
	return !span->point && (span->entry || !span->exit);
}

/* Is the parent of a span the call itself, rather than a span within which a point sent it? */
static bool is_called(const struct span *span)
{
	return span->cause == span->parent;
}

/* A call's longest stretch in which its thread had no other span open. */
static void add_gap(struct path_node *call, int64_t to_ns)
{
	if (to_ns - call->cursor_ns > call->gap_ns) {
		call->gap_from_ns = call->cursor_ns;
		call->gap_ns = to_ns - call->cursor_ns;
	}
}

/* Of calls to other hosts: how long they could have waited. Times by the caller's own clock. */
static void find_gaps(const struct spans *spans, struct path_node *nodes)
{
	uint32_t i;

	for (i = 0; i < spans->n; i++) {
		const struct span *span = &spans->items[i];
		struct path_node *parent;

		if (span->parent == SPAN_NONE || !takes_time(span) || span->below != span->parent ||
				span->by_guess) {
			continue;
		}
		parent = &nodes[span->parent];
		if (parent->is_call && since(spans, span->end_ns) > parent->cursor_ns) {
			add_gap(parent, since(spans, span->start_ns));
			parent->cursor_ns = since(spans, span->end_ns);
		}
	}
	for (i = 0; i < spans->n; i++) {
		if (nodes[i].is_call) {
			add_gap(&nodes[i], since(spans, spans->items[i].end_ns));
		}
	}
}

/* Marks the calls to other hosts, and of their callees the one that ended last. */
static bool mark_calls(const struct spans *spans, struct path_node *nodes)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < spans->n; i++) {
		const struct span *span = &spans->items[i];
		struct path_node *call;

		if (span->point || !crosses_hosts(spans, span)) {
			continue;
		}
		any = true;
		call = &nodes[span->parent];
		if (!is_called(span) || spans->items[span->parent].point) {
			continue;
		}
		if (!call->is_call) {
			call->is_call = true;
			call->cursor_ns = since(spans, spans->items[span->parent].start_ns);
			call->callee = i;
		} else if (spans->items[call->callee].host == span->host &&
				spans->items[call->callee].end_ns < span->end_ns) {
			call->callee = i;
		}
	}
	return any;
}

/* When the caller of a span waited for it, by the caller's own clock; false: not known. */
static bool find_wait(const struct spans *spans, const struct path_node *nodes, uint32_t index,
		int64_t *from_ns, int64_t *to_ns)
{
	const struct span *span = &spans->items[index];
	const struct span *parent = &spans->items[span->parent];
	const struct span *cause = &spans->items[span->cause];
	const struct path_node *call = &nodes[span->parent];

	if (parent->point) {
		return false;
	}
	if (!is_called(span)) {
		*from_ns = since(spans, cause->start_ns);
		*to_ns = since(spans, cause->answer_ns);
		return cause->answer_ns > cause->start_ns && cause->answer_ns <= parent->end_ns &&
		       cause->start_ns >= parent->start_ns;
	}
	*from_ns = call->gap_from_ns;
	*to_ns = call->gap_from_ns + call->gap_ns;
	if (span->end_ns - span->start_ns > (uint64_t)call->gap_ns) {
		*from_ns = since(spans, parent->start_ns);
		*to_ns = since(spans, parent->end_ns);
	}
	return true;
}

/* Lays a callee into its caller's wait, at the end of it. */
static void place_callee(const struct spans *spans, struct path_node *nodes, uint32_t index)
{
	const struct span *span = &spans->items[index];
	struct path_node *node = &nodes[index];
	const struct path_node *parent = &nodes[span->parent];
	uint32_t last = is_called(span) ? parent->callee : index;
	int64_t from_ns, to_ns;

	if (last == SPAN_NONE || spans->items[last].host != span->host) {
		last = index;
	}
	if (!find_wait(spans, nodes, last, &from_ns, &to_ns)) {
		return;
	}
	node->shift_ns = clamp(parent->shift_ns + to_ns - since(spans, spans->items[last].end_ns));
	node->wait_ns = from_ns + parent->shift_ns;
	node->callee_of_wait = last == index;
	node->retry = last != index;
}

static void set_times(const struct spans *spans, struct path_node *nodes)
{
	bool any = mark_calls(spans, nodes);
	uint32_t i;

	if (any) {
		find_gaps(spans, nodes);
	}
	for (i = 0; i < spans->n; i++) {
		uint32_t index = spans->order[i];
		const struct span *span = &spans->items[index];
		struct path_node *node = &nodes[index];

		if (any && index != spans->root) {
			if (!span->point && crosses_hosts(spans, span)) {
				place_callee(spans, nodes, index);
			} else if (spans->items[span->parent].host == span->host) {
				node->shift_ns = nodes[span->parent].shift_ns;
			}
		}
		node->start_ns = since(spans, span->start_ns) + node->shift_ns;
		node->end_ns = since(spans, span->end_ns) + node->shift_ns;
	}
}

/* --- who could have waited for whom ---------------------------------------------------------- */

/*
 * The nearest ancestor that ends no earlier. Along a chain of joins ends only grow, so it is found
 * by jumps whose lengths are those of the skew-binary numbers: O(log n). (Myers, "An applicative
 * random-access stack", 1983.)
 */
static uint32_t find_join(const struct path_node *nodes, uint32_t parent, int64_t end_ns)
{
	uint32_t at = parent;

	while (at != SPAN_NONE && nodes[at].end_ns < end_ns) {
		uint32_t jump = nodes[at].jump;

		at = jump != SPAN_NONE && nodes[jump].end_ns < end_ns ? jump : nodes[at].join;
	}
	return at;
}

static void set_jump(struct path_node *nodes, uint32_t index)
{
	struct path_node *node = &nodes[index];
	uint32_t join = node->join, jump = join == SPAN_NONE ? SPAN_NONE : nodes[join].jump;

	node->height = join == SPAN_NONE ? 0 : nodes[join].height + 1;
	node->jump = join;
	if (jump != SPAN_NONE && nodes[jump].jump != SPAN_NONE &&
			nodes[join].height - nodes[jump].height ==
					nodes[jump].height - nodes[nodes[jump].jump].height) {
		node->jump = nodes[jump].jump;
	}
}

/* Lists for each span those that join it. Of two that end together, the one that took longer comes
 * first. */
static void set_joins(struct path *path, const struct spans *spans)
{
	struct path_node *nodes = path->nodes;
	uint32_t i, n = 0;

	for (i = 0; i < spans->n; i++) {
		uint32_t index = spans->order[i];
		const struct span *span = &spans->items[index];
		struct path_node *node = &nodes[index];

		node->join = index == spans->root ? SPAN_NONE
			     : node->callee_of_wait || node->retry
					     ? span->parent
					     : find_join(nodes, span->parent, node->end_ns);
		set_jump(nodes, index);
		if (!takes_time(span) || node->join == SPAN_NONE) {
			continue;
		}
		path->keys[n++] = (struct path_key){
				.major = (uint64_t)node->end_ns ^ (UINT64_C(1) << 63),
				.minor_ns = -node->start_ns,
				.index = index};
	}
	sort_keys(path->keys, n);
	for (i = 0; i < n; i++) {
		uint32_t index = path->keys[i].index;
		struct path_node *join = &nodes[nodes[index].join];

		nodes[index].next = join->first;
		join->first = index;
	}
}

/* --- the walk -------------------------------------------------------------------------------- */

/* The walk goes down to to_ns, and the time between is put down. Never below the floor. */
static void go_down(
		struct walk *walk, int64_t to_ns, uint32_t span, enum path_what what, uint32_t on)
{
	struct path *path = walk->path;
	struct path_piece *last = path->n > 0 ? &path->pieces[path->n - 1] : NULL;
	uint32_t first = walk->inner == SPAN_NONE ? 0 : walk->nodes[walk->inner].n_pieces;
	uint64_t ns;

	to_ns = to_ns < walk->floor_ns ? walk->floor_ns : to_ns;
	if (to_ns >= walk->now_ns) {
		return;
	}
	ns = (uint64_t)(walk->now_ns - to_ns);
	walk->now_ns = to_ns;
	if (last && path->n > first && last->span == span && last->what == what && last->on == on) {
		last->ns += ns;
		return;
	}
	if (!reserve_pieces(path)) {
		walk->failed = true;
		return;
	}
	path->pieces[path->n++] = (struct path_piece){
			.span = span, .what = (uint8_t)what, .on = on, .ns = ns, .waker_tid = -1};
}

static void enter_callee(struct walk *walk, uint32_t callee)
{
	struct path_node *node = &walk->nodes[callee];

	node->outer = walk->inner;
	node->n_pieces = walk->path->n;
	node->came_ns = walk->now_ns;
	walk->inner = callee;
	/* Within, nothing holds it back: what is too long is scaled when it is left. */
	walk->floor_ns = node->start_ns < node->wait_ns ? node->start_ns : node->wait_ns;
}

static int64_t floor_of(const struct walk *walk)
{
	const struct path_node *node;

	if (walk->inner == SPAN_NONE) {
		return 0;
	}
	node = &walk->nodes[walk->inner];
	return node->start_ns < node->wait_ns ? node->start_ns : node->wait_ns;
}

/* Clocks differ so that the path is not as it was. */
static void note_skew(struct path *path, uint64_t ns)
{
	path->skewed = true;
	path->skew_ns = ns > path->skew_ns ? ns : path->skew_ns;
}

/* Scales the pieces since the walk came into a callee to the time its caller waited. */
static void scale(struct path *path, uint32_t first, uint64_t sum_ns, uint64_t wait_ns)
{
	uint64_t rest_ns = wait_ns;
	uint32_t i, n = first;

	for (i = first; i < path->n; i++) {
		path->pieces[i].ns =
				(uint64_t)((path_uint128)path->pieces[i].ns * wait_ns / sum_ns);
		rest_ns -= path->pieces[i].ns;
	}
	/* The walk is backwards: the last piece is the one it found first. */
	path->pieces[first].ns += rest_ns;
	for (i = first; i < path->n; i++) {
		if (path->pieces[i].ns > 0) {
			path->pieces[n++] = path->pieces[i];
		}
	}
	path->n = n;
	note_skew(path, sum_ns - wait_ns);
}

/* The walk leaves the callee that it is within: the caller is where it began to wait. */
static void leave_callee(struct walk *walk)
{
	const struct path_node *node = &walk->nodes[walk->inner];
	uint32_t caller = walk->spans->items[walk->inner].parent;
	int64_t wait_ns;

	walk->inner = node->outer;
	walk->floor_ns = floor_of(walk);
	wait_ns = node->wait_ns < walk->floor_ns ? walk->floor_ns : node->wait_ns;
	if (walk->now_ns < wait_ns && walk->path->n > node->n_pieces) {
		scale(walk->path, node->n_pieces, (uint64_t)(node->came_ns - walk->now_ns),
				(uint64_t)(node->came_ns - wait_ns));
		walk->now_ns = wait_ns;
	}
	go_down(walk, wait_ns, caller, PATH_TRANSIT, 0);
	walk->at = caller;
}

/* The next that joins a span and ended by now; SPAN_NONE: none that ended after it began. */
static uint32_t last_to_end(struct walk *walk, uint32_t index)
{
	struct path_node *node = &walk->nodes[index];

	while (node->first != SPAN_NONE && walk->nodes[node->first].end_ns > walk->now_ns) {
		node->first = walk->nodes[node->first].next;
	}
	return node->first != SPAN_NONE && walk->nodes[node->first].end_ns > node->start_ns
			       ? node->first
			       : SPAN_NONE;
}

/* An earlier callee of the wait that the walk is about to leave; false: there is none. */
static bool go_to_retry(struct walk *walk)
{
	const struct path_node *node = &walk->nodes[walk->at];
	uint32_t caller = walk->spans->items[walk->at].parent;
	uint32_t next = walk->now_ns > node->wait_ns ? last_to_end(walk, caller) : SPAN_NONE;

	if (next == SPAN_NONE || !walk->nodes[next].retry ||
			walk->nodes[next].start_ns < node->wait_ns) {
		return false;
	}
	go_down(walk, walk->nodes[next].end_ns, caller, PATH_TRANSIT, 0);
	walk->nodes[caller].first = walk->nodes[next].next;
	walk->at = next;
	return true;
}

/*
 * When what caused a span was sent. Where the parent is the call itself, it was not before the last
 * thing its thread did before; what ended there is next on the way.
 */
static int64_t sent(struct walk *walk, const struct span *span)
{
	const struct path_node *node = &walk->nodes[walk->at];
	const struct span *cause = &walk->spans->items[span->cause];
	int64_t sent_ns = since(walk->spans, cause->start_ns) + walk->nodes[span->parent].shift_ns;
	uint32_t child;

	if (node->callee_of_wait || node->retry) {
		return node->wait_ns;
	}
	child = is_called(span) && cause->host == span->host ? last_to_end(walk, span->parent)
							     : SPAN_NONE;
	if (child != SPAN_NONE && walk->spans->items[child].below == span->parent &&
			walk->nodes[child].end_ns > sent_ns) {
		return walk->nodes[child].end_ns;
	}
	return sent_ns;
}

/* Is this the callee of the wait that the walk is within, or one of its retries? */
static bool is_callee_here(const struct walk *walk, uint32_t index)
{
	return walk->inner != SPAN_NONE &&
	       (index == walk->inner ||
			       (walk->nodes[index].retry &&
					       walk->spans->items[index].parent ==
							       walk->spans->items[walk->inner]
									       .parent));
}

/* At the start of a span: on to what caused it. */
static void leave_span(struct walk *walk)
{
	const struct span *span = &walk->spans->items[walk->at];
	const struct path_node *node = &walk->nodes[walk->at];

	if (is_callee_here(walk, walk->at)) {
		if (!go_to_retry(walk)) {
			leave_callee(walk);
		}
		return;
	}
	if (span->by_message && span->cause != SPAN_NONE) {
		bool far = walk->spans->items[span->cause].host != span->host;
		int64_t sent_ns = sent(walk, span);

		if (far && sent_ns > walk->now_ns && !node->callee_of_wait && !node->retry) {
			note_skew(walk->path, (uint64_t)(sent_ns - walk->now_ns));
		}
		go_down(walk, sent_ns, far ? span->parent : walk->at,
				far ? PATH_TRANSIT : PATH_WAIT, 0);
	}
	walk->at = span->parent;
}

/* --- what the kernel told -------------------------------------------------------------------- */

static uint64_t thread_of(uint32_t host, int32_t tid)
{
	return (uint64_t)host << 32 | (uint32_t)tid;
}

static void sort_by_thread(struct walk *walk)
{
	const struct spans *spans = walk->spans;
	uint32_t i;

	walk->has_keys = true;
	for (i = 0; i < spans->n; i++) {
		const struct span *span = &spans->items[i];

		if (span->entry && takes_time(span)) {
			walk->path->keys[walk->n_keys++] =
					(struct path_key){.major = thread_of(span->host, span->tid),
							.minor_ns = since(spans, span->start_ns),
							.index = i};
		}
	}
	sort_keys(walk->path->keys, walk->n_keys);
}

/* The innermost span of the request that was open on a thread then; SPAN_NONE: none. */
static uint32_t open_on(struct walk *walk, uint32_t host, int32_t tid, int64_t then_ns)
{
	const struct path_key wanted = {
			.major = thread_of(host, tid), .minor_ns = then_ns, .index = UINT32_MAX};
	const struct path_key *keys = walk->path->keys;
	uint32_t low = 0, high, tries;

	if (!walk->has_keys) {
		sort_by_thread(walk);
	}
	high = walk->n_keys;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_keys(&keys[middle], &wanted) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	for (tries = 0; low > 0 && tries < MAX_PAST && keys[low - 1].major == wanted.major;
			low--, tries++) {
		uint32_t index = keys[low - 1].index;

		while (index != SPAN_NONE &&
				since(walk->spans, walk->spans->items[index].end_ns) < then_ns) {
			index = walk->spans->items[index].below;
		}
		if (index != SPAN_NONE) {
			return index;
		}
	}
	return SPAN_NONE;
}

/* Does the way up from a span lead through the callee that the walk is within? */
static bool is_within(const struct walk *walk, uint32_t index)
{
	if (walk->inner == SPAN_NONE) {
		return true;
	}
	while (index != SPAN_NONE && index != walk->inner) {
		index = walk->spans->items[index].parent;
	}
	return index != SPAN_NONE;
}

/* A blocked thread has been woken now: goes on with the waker if it works for the request. */
static bool go_to_waker(struct walk *walk, int32_t tid)
{
	const struct span *span = &walk->spans->items[walk->at];
	int64_t shift_ns = walk->nodes[walk->at].shift_ns;
	uint32_t waker;

	if (tid < 0 || tid == span->tid || walk->jumps >= MAX_JUMPS ||
			walk->now_ns >= walk->jumped_ns) {
		return false;
	}
	waker = open_on(walk, span->host, tid, walk->now_ns - shift_ns);
	if (waker == SPAN_NONE || walk->nodes[waker].shift_ns != shift_ns ||
			walk->nodes[waker].start_ns >= walk->now_ns || !is_within(walk, waker)) {
		return false;
	}
	walk->jumps++;
	walk->jumped_ns = walk->now_ns;
	walk->at = waker;
	return true;
}

/*
 * A thread was blocked since then, and nobody woke it who works for the request: a callee sends its
 * answer after its span has ended, and what comes from a network is woken by an interrupt. Goes on
 * with what the calls around the wait called, and ended last in it.
 */
static bool go_to_called(struct walk *walk, int64_t since_ns)
{
	const struct span *span = &walk->spans->items[walk->at];
	const int32_t tid = span->tid;
	uint32_t call = span->below, called;

	for (; call != SPAN_NONE && walk->spans->items[call].tid == tid;
			call = walk->spans->items[call].below) {
		called = last_to_end(walk, call);
		if (called == SPAN_NONE || walk->nodes[called].end_ns <= since_ns) {
			continue;
		}
		if (!walk->spans->items[called].by_message ||
				walk->spans->items[called].parent != call ||
				walk->nodes[called].callee_of_wait || walk->nodes[called].retry ||
				!is_within(walk, called)) {
			return false;
		}
		go_down(walk, walk->nodes[called].end_ns, call, PATH_TRANSIT, 0);
		walk->nodes[call].first = walk->nodes[called].next;
		walk->at = called;
		return true;
	}
	return false;
}

/* The span's own time, down to an instant; false: the walk went to another span instead. */
static bool own_time(struct walk *walk, int64_t to_ns)
{
	const struct span *span = &walk->spans->items[walk->at];
	int64_t shift_ns = walk->nodes[walk->at].shift_ns;
	uint64_t root_ns = walk->spans->items[walk->spans->root].start_ns;
	struct path_doing doing;

	to_ns = to_ns < walk->floor_ns ? walk->floor_ns : to_ns;
	while (walk->kernel && walk->now_ns > to_ns && walk->path->n < PATH_MAX_PIECES &&
			!walk->failed &&
			walk->kernel->doing(walk->kernel->context, span,
					root_ns + (uint64_t)(walk->now_ns - shift_ns), &doing)) {
		int64_t since_ns = since(walk->spans, doing.since_ns) + shift_ns;
		uint32_t n = walk->path->n;

		if (doing.what == PATH_BLOCKED && (go_to_waker(walk, doing.waker_tid) ||
								  go_to_called(walk, since_ns))) {
			return false;
		}
		since_ns = doing.since_ns < root_ns || since_ns < to_ns ? to_ns : since_ns;
		if (since_ns >= walk->now_ns) {
			break;
		}
		go_down(walk, since_ns, walk->at, (enum path_what)doing.what, doing.on);
		if (walk->path->n > n && doing.what == PATH_BLOCKED) {
			walk->path->pieces[n].waker_tid = doing.waker_tid;
		}
	}
	go_down(walk, to_ns, walk->at, PATH_SELF, 0);
	return true;
}

/* --- the root's end --------------------------------------------------------------------------- */

/*
 * A root that is paired by a key ends, or goes on, while spans of a thread are open that outlive it:
 * a request of a server ends with the last send of the answer, within whatever function sends. Such
 * a span worked for it until then. Goes on in the innermost one; false: none is open.
 */
static bool go_to_open(struct walk *walk, int32_t tid)
{
	const struct spans *spans = walk->spans;
	const struct span *root = &spans->items[spans->root];
	uint32_t at;

	if (!root->entry || !root->entry->keyed || tid < 0 || walk->at != spans->root) {
		return false;
	}
	at = open_on(walk, root->host, tid, walk->now_ns);
	while (at != SPAN_NONE && (spans->items[at].entry->keyed ||
						  walk->nodes[at].start_ns >= walk->now_ns)) {
		at = spans->items[at].below;
	}
	if (at == SPAN_NONE || at == spans->root) {
		return false;
	}
	walk->at = at;
	return true;
}

/* --- all of it ------------------------------------------------------------------------------- */

/*
 * Could the span that the walk is in have waited for the end of that one? Not while its own thread
 * was not blocked, as the kernel tells; of another host's no clock tells.
 */
static bool could_await(struct walk *walk, uint32_t index)
{
	const struct span *span = &walk->spans->items[walk->at];
	const struct span *other = &walk->spans->items[index];
	const struct path_node *node = &walk->nodes[index];
	uint64_t end_ns = walk->spans->items[walk->spans->root].start_ns +
			  (uint64_t)(node->end_ns - walk->nodes[walk->at].shift_ns);
	struct path_doing doing;

	if (!walk->kernel || !walk->kernel->wakes || node->callee_of_wait || node->retry ||
			other->host != span->host || other->tid == span->tid) {
		return true;
	}
	return !walk->kernel->doing(walk->kernel->context, span, end_ns, &doing) || !doing.sure ||
	       doing.what == PATH_BLOCKED;
}

/* One span of the way: its own time, back to the child that ended last, or to its start. */
static bool step(struct walk *walk)
{
	struct path_node *node = &walk->nodes[walk->at];
	uint32_t child = last_to_end(walk, walk->at);

	if (child != SPAN_NONE && !could_await(walk, child)) {
		node->first = walk->nodes[child].next;
		return true;
	}
	if (go_to_open(walk, walk->spans->items[walk->spans->root].tid)) {
		return true;
	}
	if (child == SPAN_NONE) {
		if (own_time(walk, node->start_ns)) {
			if (walk->at == walk->spans->root) {
				return false;
			}
			leave_span(walk);
		}
		return true;
	}
	if (!own_time(walk, walk->nodes[child].end_ns)) {
		return true;
	}
	node->first = walk->nodes[child].next;
	if (walk->nodes[child].callee_of_wait) {
		enter_callee(walk, child);
	}
	walk->at = child;
	return true;
}

static void reverse(struct path *path)
{
	uint32_t i, j;

	for (i = 0, j = path->n; i + 1 < j; i++) {
		struct path_piece piece = path->pieces[i];

		path->pieces[i] = path->pieces[--j];
		path->pieces[j] = piece;
	}
}

/* A request of many years is of damaged times: they tell nothing. */
static bool put_all(struct path *path, const struct spans *spans)
{
	const struct span *root = &spans->items[spans->root];

	if (!reserve_pieces(path)) {
		return false;
	}
	path->pieces[path->n++] = (struct path_piece){
			.span = spans->root, .ns = root->end_ns - root->start_ns, .waker_tid = -1};
	return true;
}

/* Damaged input alone takes more steps than that: what is left is the root's. */
static uint64_t most_steps(const struct walk *walk)
{
	return (uint64_t)walk->spans->n * 32 + (walk->kernel ? UINT64_C(1) << 20 : 64);
}

bool path_find(struct path *path, const struct spans *spans, const struct path_kernel *kernel)
{
	struct walk walk = {.path = path,
			.spans = spans,
			.kernel = kernel,
			.at = spans->root,
			.inner = SPAN_NONE,
			.jumped_ns = INT64_MAX};
	uint64_t steps = 0;
	uint32_t i;

	path->n = 0;
	path->skewed = false;
	path->skew_ns = 0;
	if (spans->root == SPAN_NONE || !reserve_nodes(path, spans->n)) {
		return false;
	}
	if (spans->items[spans->root].end_ns - spans->items[spans->root].start_ns >
			(uint64_t)FAR_NS) {
		return put_all(path, spans);
	}
	walk.nodes = path->nodes;
	for (i = 0; i < spans->n; i++) {
		path->nodes[i] = (struct path_node){
				.callee = SPAN_NONE, .first = SPAN_NONE, .next = SPAN_NONE};
	}
	set_times(spans, path->nodes);
	set_joins(path, spans);
	walk.now_ns = path->nodes[spans->root].end_ns;
	if (spans->items[spans->root].exit) {
		(void)go_to_open(&walk, spans->items[spans->root].exit->tid);
	}
	while (step(&walk) && !walk.failed && steps++ < most_steps(&walk)) {
	}
	while (walk.inner != SPAN_NONE) {
		leave_callee(&walk);
	}
	go_down(&walk, 0, spans->root, PATH_SELF, 0);
	reverse(path);
	return !walk.failed;
}
