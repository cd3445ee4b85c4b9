/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "requests/path.h"
#include "requests/path_nodes.h"

#define MAX_JUMPS 1024u /* to wakers, of one request */
#define MAX_PAST  8u    /* spans of a thread looked at for the one that woke another */

__extension__ typedef unsigned __int128 path_uint128;

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
	int64_t sent_ns = path_since(walk->spans, cause->start_ns) +
			  walk->nodes[span->parent].shift_ns;
	uint32_t child;

	if (node->callee_of_wait || node->retry) {
		return node->wait_ns;
	}
	child = path_is_called(span) && cause->host == span->host ? last_to_end(walk, span->parent)
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

		if (span->entry && path_takes_time(span)) {
			walk->path->keys[walk->n_keys++] = (struct path_key){
					.major = thread_of(span->host, span->tid),
					.minor_ns = path_since(spans, span->start_ns),
					.index = i};
		}
	}
	path_sort_keys(walk->path->keys, walk->n_keys);
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

		if (path_compare_keys(&keys[middle], &wanted) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	for (tries = 0; low > 0 && tries < MAX_PAST && keys[low - 1].major == wanted.major;
			low--, tries++) {
		uint32_t index = keys[low - 1].index;

		while (index != SPAN_NONE &&
				path_since(walk->spans, walk->spans->items[index].end_ns) <
						then_ns) {
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
		int64_t since_ns = path_since(walk->spans, doing.since_ns) + shift_ns;
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
 * A root that is paired by a key ends, or goes on, while spans of a thread are open that outlive
 * it: a request of a server ends with the last send of the answer, within whatever function sends.
 * Such a span worked for it until then. Goes on in the innermost one; false: none is open.
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
static bool is_damaged(const struct span *root)
{
	return root->end_ns - root->start_ns > (uint64_t)FAR_NS;
}

static bool put_all(struct path *path, const struct span *root, uint32_t index)
{
	if (!reserve_pieces(path)) {
		return false;
	}
	path->pieces[path->n++] = (struct path_piece){
			.span = index, .ns = root->end_ns - root->start_ns, .waker_tid = -1};
	return true;
}

static void clear(struct path *path)
{
	path->n = 0;
	path->skewed = false;
	path->skew_ns = 0;
}

/* Damaged input alone takes more steps than that: what is left is the root's. */
static uint64_t most_steps(const struct walk *walk)
{
	return (uint64_t)walk->spans->n * 32 + (walk->kernel ? UINT64_C(1) << 20 : 64);
}

bool path_find_alone(struct path *path, const struct span *root, const struct path_kernel *kernel)
{
	uint64_t now_ns = root->end_ns;
	struct walk walk = {.path = path,
			.inner = SPAN_NONE,
			.now_ns = (int64_t)(root->end_ns - root->start_ns)};
	struct path_doing doing;

	clear(path);
	if (is_damaged(root)) {
		return put_all(path, root, 0);
	}
	while (kernel && now_ns > root->start_ns && path->n < PATH_MAX_PIECES && !walk.failed &&
			kernel->doing(kernel->context, root, now_ns, &doing)) {
		uint64_t since_ns =
				doing.since_ns < root->start_ns ? root->start_ns : doing.since_ns;
		uint32_t n = path->n;

		if (since_ns >= now_ns) {
			break;
		}
		go_down(&walk, (int64_t)(since_ns - root->start_ns), 0, (enum path_what)doing.what,
				doing.on);
		if (path->n > n && doing.what == PATH_BLOCKED) {
			path->pieces[n].waker_tid = doing.waker_tid;
		}
		now_ns = since_ns;
	}
	go_down(&walk, 0, 0, PATH_SELF, 0);
	reverse(path);
	return !walk.failed;
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

	clear(path);
	if (spans->root == SPAN_NONE || !reserve_nodes(path, spans->n)) {
		return false;
	}
	if (is_damaged(&spans->items[spans->root])) {
		return put_all(path, &spans->items[spans->root], spans->root);
	}
	walk.nodes = path->nodes;
	path_set_nodes(path, spans);
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
