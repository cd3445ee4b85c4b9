/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests of made-up systems as CTF traces of their spans: topology NAME SEED FAULT DIRECTORY
 * writes a minute of one, a trace for each host. The same arguments write the same bytes. A
 * discrete-event simulation: services have a few workers, which a caller that waits keeps, and a
 * queue before them; work takes log-normal times, messages too.
 *
 * FAULT: none, or KIND:SERVICE/OPERATION:SIZE, see `usage`. topology --list prints every place.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ust_trace.h"

#define MS           UINT64_C(1000000)
#define START_NS     (UINT64_C(1767225600) * UINT64_C(1000000000))
#define LONG_NS      (60000 * MS)
#define MAX_SERVICES 64u
#define MAX_OPS      256u
#define MAX_STEPS    48u
#define MAX_ROOTS    16u
#define MAX_WORKERS  64u
#define NAME         32u

static const char usage[] =
		"usage: topology NAME SEED FAULT DIRECTORY, or topology --list [NAME]\n"
		"FAULT: none, or\n"
		"  slowdown:SERVICE/OP[/SPAN]:MS  takes MS longer, always\n"
		"  transit:SERVICE:MS             messages to and from it take MS longer\n"
		"  cpu:SERVICE:FACTOR             all of its work takes FACTOR times as long\n"
		"  early:SERVICE/OP:SHARE         that share returns before it has called anybody\n"
		"  exception:SERVICE/OP:SHARE     that share fails after a part of its work, and "
		"so "
		"do its callers\n"
		"  more:SERVICE/OP/CALLED:N       calls the operation N times instead of once\n";

enum step_kind { STEP_WORK, STEP_CALL, STEP_SEND, STEP_GATHER, STEP_PUBLISH };

struct step {
	enum step_kind kind;
	double mean_ns, cov; /* of work */
	char span[NAME];     /* around the work; "": it is the operation's own */
	uint32_t op;         /* called */
	double chance;       /* that it is called at all */
};

struct op {
	char name[NAME];
	uint32_t service, n;
	bool root, consumes;
	struct step steps[MAX_STEPS];
};

struct frame {
	struct frame *next, *parent; /* next: in the queue of its service */
	const struct op *op;
	uint64_t request, message;
	uint32_t step, worker, pending, left; /* left: calls of this step to go */
	bool waits, replies, gathers, ends, failed;
};

struct service {
	char name[NAME];
	uint32_t host, n_workers, n_free, free[MAX_WORKERS];
	struct frame *first, **last;
};

struct root {
	uint32_t op;
	double per_s;
};

enum what { NEXT, ARRIVE, REPLY, BEGIN };

struct happening {
	uint64_t ns, order;
	enum what what;
	struct frame *frame;
	uint32_t root; /* of BEGIN */
	bool failed;
};

struct record {
	uint64_t ns, order;
	uint32_t name, service, worker;
	uint64_t request, message;
};

enum fault_kind { NONE, SLOWDOWN, TRANSIT, CPU, EARLY, EXCEPTION, MORE };

static struct service services[MAX_SERVICES];
static struct op ops[MAX_OPS];
static struct root roots[MAX_ROOTS];
static uint32_t n_services, n_ops, n_roots, n_hosts;
static double transit_ms = 0.4;

static struct {
	enum fault_kind kind;
	uint32_t service, op, called;
	char span[NAME];
	double size;
} fault;

static struct happening *heap;
static size_t n_heap, heap_room;
static struct record *records;
static size_t n_records, records_room;
static uint64_t now_ns, order, next_request = 1, next_message = 1, random_state;

static struct {
	char name[2 * NAME + 8];
	uint32_t fields;
} * names;
static uint32_t n_names;

static void stop(const char *what, const char *which)
{
	fprintf(stderr, "topology: %s: %s\n%s", what, which, usage);
	exit(2);
}

static void *more(void *old, size_t n)
{
	void *grown = realloc(old, n);

	if (!grown) {
		stop("out of memory", "");
	}
	return grown;
}

/* --- chance (splitmix64) --- */

static uint64_t draw(void)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static double uniform(void)
{
	return ((double)(draw() >> 11) + 0.5) / 9007199254740992.0;
}

static double log_normal(double mean, double cov)
{
	double variance = log(1 + cov * cov);
	double normal = sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());

	return mean * exp(sqrt(variance) * normal - variance / 2);
}

/* --- systems --- */

static uint32_t service(const char *name, uint32_t host, uint32_t workers)
{
	struct service *s = &services[n_services];

	snprintf(s->name, sizeof(s->name), "%s", name);
	s->host = host;
	s->n_workers = s->n_free = workers;
	for (uint32_t i = 0; i < workers; i++) {
		s->free[i] = workers - 1 - i;
	}
	s->last = &s->first;
	n_hosts = host + 1 > n_hosts ? host + 1 : n_hosts;
	return n_services++;
}

static uint32_t op(uint32_t of, const char *name)
{
	snprintf(ops[n_ops].name, NAME, "%s", name);
	ops[n_ops].service = of;
	return n_ops++;
}

static struct step *step(uint32_t of, enum step_kind kind)
{
	struct step *s = &ops[of].steps[ops[of].n++];

	s->kind = kind;
	s->chance = 1;
	return s;
}

static void work(uint32_t of, const char *span, double ms, double cov)
{
	struct step *s = step(of, STEP_WORK);

	s->mean_ns = ms * 1e6;
	s->cov = cov;
	snprintf(s->span, NAME, "%s", span);
}

static void call(uint32_t of, enum step_kind kind, uint32_t called, double chance)
{
	struct step *s = step(of, kind);

	s->op = called;
	s->chance = chance;
	ops[called].consumes = kind == STEP_PUBLISH;
}

static void root(uint32_t of, double per_s)
{
	ops[of].root = true;
	roots[n_roots++] = (struct root){.op = of, .per_s = per_s};
}

/* Twelve services, each of which calls the next; requests go twelve, eight and five deep. */
static void chain(void)
{
	static const uint32_t depths[3] = {12, 8, 5};
	static const char *const types[3] = {"checkout", "browse", "profile"};
	char name[NAME];

	for (uint32_t i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "link%02u", i);
		service(name, i / 3, 6);
	}
	for (uint32_t t = 0; t < 3; t++) {
		uint32_t below = UINT32_MAX;

		for (uint32_t i = depths[t]; i-- > 0;) {
			uint32_t at;

			snprintf(name, sizeof(name), "%s%s", i ? "do_" : "", types[t]);
			at = op(i, name);
			work(at, "parse", 0.6 + 0.1 * (i % 4), 0.4);
			work(at, "", 1.0 + 0.3 * ((i + t) % 3), 0.5);
			if (below != UINT32_MAX) {
				call(at, STEP_CALL, below, 1);
			}
			work(at, i % 2 ? "store" : "render", 1.5 + 0.5 * (i % 3), 0.6);
			below = at;
		}
		root(below, t == 0 ? 3 : 2);
	}
}

/* One service asks forty at a time, or ten of them. */
static void fan(void)
{
	uint32_t front = service("front", 0, 24), leaf[40], search, some;
	char name[NAME];

	for (uint32_t i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "shard%02u", i);
		service(name, 1 + i / 8, 4);
		leaf[i] = op(i + 1, "lookup");
		work(leaf[i], "", 0.8, 0.4);
		work(leaf[i], "scan", 3 + 0.5 * (i % 7), 0.4);
	}
	search = op(front, "search");
	some = op(front, "suggest");
	work(search, "", 1, 0.4);
	work(some, "", 1, 0.4);
	for (uint32_t i = 0; i < 40; i++) {
		call(search, STEP_SEND, leaf[i], 1);
		if (i % 4 == 0) {
			call(some, STEP_SEND, leaf[i], 1);
		}
	}
	step(search, STEP_GATHER);
	step(some, STEP_GATHER);
	work(search, "merge", 4, 0.5);
	work(some, "merge", 1.5, 0.5);
	root(search, 3);
	root(some, 2);
}

/* Orders are taken, and worked on later by others; some are answered at once. */
static void queues(void)
{
	static const char *const list[] = {
			"shop", "stock", "mailer", "billing", "ledger", "parcel"};
	static const double weight[] = {1, 2, 4, 6, 2, 5};
	uint32_t at[6], later[3], reserve, post, order_, status;

	for (uint32_t i = 0; i < 6; i++) {
		service(list[i], i / 2, 5);
	}
	post = at[4] = op(4, "post");
	work(post, "", 0.5, 0.5);
	work(post, "sync_disk", weight[4], 0.7);
	reserve = at[1] = op(1, "reserve");
	work(reserve, "", weight[1], 0.5);
	work(reserve, "row_lock", 1, 0.6);
	for (uint32_t i = 0; i < 3; i++) {
		static const uint32_t who[] = {2, 3, 5};
		static const char *const what[] = {"mail", "bill", "pack"};

		later[i] = op(who[i], what[i]);
		work(later[i], "", 1, 0.5);
		work(later[i], "compose", weight[who[i]], 0.5);
		if (i == 1) {
			call(later[i], STEP_CALL, post, 1);
			work(later[i], "receipt", 1, 0.5);
		}
	}
	order_ = op(0, "order");
	work(order_, "", 1, 0.5);
	call(order_, STEP_CALL, reserve, 1);
	for (uint32_t i = 0; i < 3; i++) {
		call(order_, STEP_PUBLISH, later[i], i == 2 ? 0.6 : 1);
	}
	work(order_, "respond", 1, 0.5);
	status = op(0, "status");
	work(status, "", 1, 0.5);
	call(status, STEP_CALL, reserve, 1);
	root(order_, 5);
	root(status, 5);
}

/* One request a second in all, of fifteen kinds, over nine services. */
static void sparse(void)
{
	uint32_t inner[8];
	char name[NAME];

	service("gateway", 0, 8);
	for (uint32_t i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "part%u", i);
		service(name, 1 + i / 3, 4);
	}
	for (uint32_t i = 8; i-- > 0;) {
		inner[i] = op(i + 1, "handle");
		work(inner[i], "", 1 + 0.5 * (i % 3), 0.5);
		if (i < 4) {
			call(inner[i], STEP_CALL, inner[i + 4], 1);
		}
		work(inner[i], "query", 3 + (i % 4), 0.6);
	}
	for (uint32_t t = 0; t < 15; t++) {
		uint32_t at;

		snprintf(name, sizeof(name), "api_%c", (char)('a' + t));
		at = op(0, name);
		work(at, "", 1, 0.5);
		call(at, STEP_CALL, inner[t % 8], 1);
		if (t % 3 == 0) {
			call(at, STEP_CALL, inner[(t + 3) % 8], 1);
		}
		work(at, "reply", 1, 0.5);
		root(at, 1.0 / 15);
	}
}

/* Six services whose times vary as much as they are long, or twice. */
static void noisy(void)
{
	uint32_t deep[4], edge[2];
	char name[NAME];

	for (uint32_t i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "tier%u", i);
		service(name, i / 2, 12);
	}
	for (uint32_t i = 4; i-- > 0;) {
		deep[i] = op(i + 2, "serve");
		work(deep[i], "", 1, 1);
		if (i < 2) {
			call(deep[i], STEP_CALL, deep[i + 2], 1);
		}
		work(deep[i], "fetch", 3 + i, i % 2 ? 2 : 1.2);
	}
	for (uint32_t i = 0; i < 2; i++) {
		edge[i] = op(i, i ? "watch" : "play");
		work(edge[i], "", 1, 1);
		work(edge[i], "auth", 2, 1.5);
		call(edge[i], STEP_CALL, deep[i], 1);
		if (i == 0) {
			call(edge[i], STEP_CALL, deep[1], 0.5);
		}
		root(edge[i], 8);
	}
}

/* Ten services, of which three serve nearly all others with two workers each. */
static void mesh(void)
{
	uint32_t shared[3], mid[4], edge[3];
	char name[NAME];

	for (uint32_t i = 0; i < 10; i++) {
		static const char *const kinds[] = {"edge", "mid", "shared"};
		uint32_t kind = i < 3 ? 0 : i < 7 ? 1 : 2;

		snprintf(name, sizeof(name), "%s%u", kinds[kind],
				i < 3   ? i
				: i < 7 ? i - 3
					: i - 7);
		service(name, i / 3, kind == 2 ? 2 : 8);
	}
	for (uint32_t i = 0; i < 3; i++) {
		shared[i] = op(7 + i, "get");
		work(shared[i], "", 1 + i, 0.6);
		work(shared[i], "read", 4, 0.8);
	}
	for (uint32_t i = 0; i < 4; i++) {
		mid[i] = op(3 + i, "compute");
		work(mid[i], "", 1.5, 0.6);
		call(mid[i], STEP_CALL, shared[i % 3], 1);
		call(mid[i], STEP_CALL, shared[(i + 1) % 3], 0.7);
		work(mid[i], "fold", 3, 0.6);
	}
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const types[] = {"list", "buy", "rate"};

		edge[i] = op(i, types[i]);
		work(edge[i], "", 1, 0.5);
		call(edge[i], STEP_CALL, mid[i], 1);
		call(edge[i], STEP_CALL, mid[i + 1], 1);
		work(edge[i], "format", 1.5, 0.5);
		root(edge[i], 8);
	}
}

static const struct {
	const char *name;
	void (*make)(void);
} systems[] = {{"chain", chain}, {"fan", fan}, {"queues", queues}, {"sparse", sparse},
		{"noisy", noisy}, {"mesh", mesh}};

/* --- what happens --- */

static bool is_before(const struct happening *a, const struct happening *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->order < b->order);
}

static void push(struct happening item)
{
	size_t at = n_heap++;

	if (n_heap > heap_room) {
		heap_room = heap_room ? 2 * heap_room : 1024;
		heap = more(heap, heap_room * sizeof(*heap));
	}
	item.order = order++;
	for (; at && is_before(&item, &heap[(at - 1) / 2]); at = (at - 1) / 2) {
		heap[at] = heap[(at - 1) / 2];
	}
	heap[at] = item;
}

static struct happening pop(void)
{
	struct happening first = heap[0], last = heap[--n_heap];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < n_heap) {
		child += child + 1 < n_heap && is_before(&heap[child + 1], &heap[child]);
		if (!is_before(&heap[child], &last)) {
			break;
		}
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

static uint32_t name_of(const struct op *op, const char *kind, const char *span, const char *end,
		uint32_t fields)
{
	char text[sizeof(names->name)];
	uint32_t i = 0;

	snprintf(text, sizeof(text), "%s:%s%s_%s", services[op->service].name, kind, span, end);
	while (i < n_names && strcmp(names[i].name, text) != 0) {
		i++;
	}
	if (i == n_names) {
		names = more(names, (n_names + 1) * sizeof(*names));
		memcpy(names[n_names].name, text, sizeof(text));
		names[n_names++].fields = fields;
	}
	return i;
}

static void tell(const struct frame *frame, const char *kind, const char *span, const char *end,
		uint32_t fields, uint64_t message)
{
	if (n_records == records_room) {
		records_room = records_room ? 2 * records_room : 4096;
		records = more(records, records_room * sizeof(*records));
	}
	now_ns += 2000; /* the tracer's, and the code between two events */
	records[n_records] = (struct record){.ns = now_ns,
			.order = n_records,
			.name = name_of(frame->op, kind, span, end, fields),
			.service = frame->op->service,
			.worker = frame->worker,
			.request = frame->request,
			.message = message};
	n_records++;
}

static void tell_op(const struct frame *frame, const char *end)
{
	bool is_root = frame->op->root;

	tell(frame,
			is_root               ? ""
			: frame->op->consumes ? "consume_"
					      : "serve_",
			frame->op->name, end, is_root ? UST_REQUEST : UST_REQUEST | UST_MESSAGE,
			frame->message);
}

static double transit_ns(uint32_t from, uint32_t to)
{
	double ns = log_normal(transit_ms * 1e6, 0.5);

	if (fault.kind == TRANSIT && (fault.service == from || fault.service == to)) {
		ns += log_normal(fault.size * 1e6, 0.2);
	}
	return ns;
}

static void send(
		struct frame *parent, uint32_t called, bool replies, bool gathers, uint64_t message)
{
	struct frame *frame = calloc(1, sizeof(*frame));

	if (!frame) {
		stop("out of memory", "");
	}
	frame->op = &ops[called];
	frame->parent = replies ? parent : NULL;
	frame->replies = replies;
	frame->gathers = gathers;
	frame->request = parent->request;
	frame->message = message;
	push((struct happening){.ns = now_ns +
				      (uint64_t)transit_ns(parent->op->service, frame->op->service),
			.what = ARRIVE,
			.frame = frame});
}

static bool is_at_fault(enum fault_kind kind, const struct frame *frame)
{
	return fault.kind == kind && &ops[fault.op] == frame->op;
}

static double work_ns(const struct frame *frame, const struct step *s)
{
	double ns = log_normal(s->mean_ns, s->cov);

	if (fault.kind == CPU && fault.service == frame->op->service) {
		ns *= fault.size;
	}
	if (is_at_fault(SLOWDOWN, frame) && strcmp(fault.span, s->span) == 0) {
		ns += fault.size * 1e6;
	}
	return ns;
}

static void advance(struct frame *frame);

static void begin(struct frame *frame)
{
	struct service *s = &services[frame->op->service];

	if (!s->n_free) {
		frame->next = NULL;
		*s->last = frame;
		s->last = &frame->next;
		return;
	}
	frame->worker = s->free[--s->n_free];
	tell_op(frame, "entry");
	if (is_at_fault(EARLY, frame) && uniform() < fault.size) {
		frame->ends = true;
	}
	if (is_at_fault(EXCEPTION, frame) && uniform() < fault.size) {
		frame->failed = true;
	}
	advance(frame);
}

static void finish(struct frame *frame)
{
	struct service *s = &services[frame->op->service];
	struct frame *next = s->first;

	tell_op(frame, "exit");
	s->free[s->n_free++] = frame->worker;
	if (frame->replies) {
		push((struct happening){.ns = now_ns + (uint64_t)transit_ns(frame->op->service,
								       frame->parent->op->service),
				.what = REPLY,
				.frame = frame,
				.failed = frame->failed});
	} else {
		free(frame);
	}
	if (next) {
		s->first = next->next;
		if (!s->first) {
			s->last = &s->first;
		}
		begin(next);
	}
}

static void start_call(struct frame *frame, const struct step *s)
{
	frame->message = next_message++;
	tell(frame, "call_", ops[s->op].name, "entry", UST_REQUEST | UST_MESSAGE, frame->message);
	frame->waits = true;
	send(frame, s->op, true, false, frame->message);
}

/* A message that nobody waits for here. */
static void post(struct frame *frame, const struct step *s)
{
	const char *kind = s->kind == STEP_SEND ? "send_" : "publish_";
	char target[2 * NAME];
	uint64_t message = next_message++;

	snprintf(target, sizeof(target), "%s", ops[s->op].name);
	if (s->kind == STEP_SEND) {
		snprintf(target, sizeof(target), "%s", services[ops[s->op].service].name);
	}
	tell(frame, kind, target, "entry", UST_REQUEST | UST_MESSAGE, message);
	send(frame, s->op, s->kind == STEP_SEND, s->kind == STEP_SEND, message);
	frame->pending += s->kind == STEP_SEND;
	tell(frame, kind, target, "exit", UST_REQUEST | UST_MESSAGE, message);
}

/* Does what comes until something takes time. */
static void advance(struct frame *frame)
{
	uint64_t own = frame->message;

	for (; frame->step < frame->op->n; frame->step++) {
		const struct step *s = &frame->op->steps[frame->step];

		if (s->kind == STEP_WORK) {
			double ns = work_ns(frame, s);
			bool breaks = frame->failed;

			if (s->span[0]) {
				tell(frame, "", s->span, "entry", 0, 0);
			}
			frame->left = 0;
			push((struct happening){.ns = now_ns + (uint64_t)(breaks ? ns / 4 : ns),
					.what = NEXT,
					.frame = frame});
			return;
		}
		if (s->kind == STEP_GATHER) {
			tell(frame, "", "gather", "entry", 0, 0);
			frame->waits = true;
			if (frame->pending) {
				return;
			}
			tell(frame, "", "gather", "exit", 0, 0);
			frame->waits = false;
			continue;
		}
		if (s->chance < 1 && uniform() >= s->chance) {
			continue;
		}
		if (s->kind == STEP_CALL) {
			frame->left = is_at_fault(MORE, frame) && fault.called == s->op
						      ? (uint32_t)fault.size
						      : 1;
			frame->left--;
			start_call(frame, s);
			return;
		}
		for (uint32_t n = is_at_fault(MORE, frame) && fault.called == s->op
						  ? (uint32_t)fault.size
						  : 1;
				n-- > 0;) {
			post(frame, s);
		}
	}
	frame->message = own;
	finish(frame);
}

/* The work of a step is done. */
static void go_on(struct frame *frame)
{
	const struct step *s = &frame->op->steps[frame->step];

	if (s->span[0]) {
		tell(frame, "", s->span, "exit", 0, 0);
	}
	frame->step = frame->ends || frame->failed ? frame->op->n : frame->step + 1;
	advance(frame);
}

static void answer(struct frame *callee, bool failed)
{
	struct frame *frame = callee->parent;
	const struct step *s = &frame->op->steps[frame->step];
	bool gathers = callee->gathers;

	free(callee);
	if (gathers) {
		frame->pending--;
		if (!frame->pending && frame->waits) {
			tell(frame, "", "gather", "exit", 0, 0);
			frame->waits = false;
			frame->step++;
			advance(frame);
		}
		return;
	}
	tell(frame, "call_", ops[s->op].name, "exit", UST_REQUEST | UST_MESSAGE, frame->message);
	frame->waits = false;
	if (failed) {
		frame->failed = true;
		frame->step = frame->op->n;
	} else if (frame->left) {
		frame->left--;
		start_call(frame, s);
		return;
	} else {
		frame->step++;
	}
	advance(frame);
}

static void arrive(uint32_t of)
{
	struct frame *frame = calloc(1, sizeof(*frame));
	double gap = -log(uniform()) / roots[of].per_s;

	if (!frame) {
		stop("out of memory", "");
	}
	frame->op = &ops[roots[of].op];
	frame->request = next_request++;
	push((struct happening){.ns = now_ns + (uint64_t)(gap * 1e9), .what = BEGIN, .root = of});
	begin(frame);
}

static void simulate(void)
{
	for (uint32_t i = 0; i < n_roots; i++) {
		push((struct happening){.ns = (uint64_t)(-log(uniform()) / roots[i].per_s * 1e9),
				.what = BEGIN,
				.root = i});
	}
	while (n_heap) {
		struct happening item = pop();

		now_ns = item.ns;
		if (item.what == BEGIN) {
			if (now_ns < LONG_NS) {
				arrive(item.root);
			}
		} else if (item.what == ARRIVE) {
			begin(item.frame);
		} else if (item.what == REPLY) {
			answer(item.frame, item.failed);
		} else {
			go_on(item.frame);
		}
	}
}

/* --- the traces --- */

static int compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->ns != y->ns) {
		return x->ns < y->ns ? -1 : 1;
	}
	return x->order < y->order ? -1 : 1;
}

static void write_host(const char *directory, uint32_t host)
{
	char path[4096], name[NAME];
	uint32_t *types = more(NULL, (n_names + 1) * sizeof(*types));
	struct ust_trace *trace;

	snprintf(name, sizeof(name), "node%u", host);
	snprintf(path, sizeof(path), "%s/%s/ust/uid/0/64-bit", directory, name);
	trace = ust_trace_create(path, name, START_NS);
	memset(types, 0xff, (n_names + 1) * sizeof(*types));
	for (size_t i = 0; i < n_records; i++) {
		const struct record *record = &records[i];
		const struct service *s = &services[record->service];
		int32_t pid = 1000 + 100 * (int32_t)record->service;

		if (s->host != host) {
			continue;
		}
		if (types[record->name] == UINT32_MAX) {
			types[record->name] = ust_trace_type(trace, names[record->name].name,
					names[record->name].fields);
		}
		ust_trace_event(trace, &(struct ust_event){.ns = START_NS + record->ns,
						       .type = types[record->name],
						       .pid = pid,
						       .tid = pid + 1 + (int32_t)record->worker,
						       .process = s->name,
						       .request = record->request,
						       .message = record->message});
	}
	ust_trace_close(trace);
	free(types);
}

/* --- arguments --- */

static void list_places(const char *system)
{
	for (uint32_t i = 0; i < n_ops; i++) {
		const struct op *o = &ops[i];
		const char *s = services[o->service].name;

		for (uint32_t k = 0; k < o->n; k++) {
			const struct step *at = &o->steps[k];
			bool calls = at->kind == STEP_CALL || at->kind == STEP_SEND ||
				     at->kind == STEP_PUBLISH;

			if (at->kind == STEP_WORK) {
				printf("%s work %s/%s%s%s %g\n", system, s, o->name,
						at->span[0] ? "/" : "", at->span,
						at->mean_ns / 1e6);
			} else if (calls) {
				printf("%s call %s/%s/%s\n", system, s, o->name, ops[at->op].name);
			}
		}
	}
}

static uint32_t find_service(const char *name)
{
	for (uint32_t i = 0; i < n_services; i++) {
		if (strcmp(services[i].name, name) == 0) {
			return i;
		}
	}
	stop("no such service", name);
	return 0;
}

static uint32_t find_op(uint32_t of, const char *name)
{
	for (uint32_t i = 0; i < n_ops; i++) {
		if (ops[i].service == of && strcmp(ops[i].name, name) == 0) {
			return i;
		}
	}
	stop("no such operation", name);
	return 0;
}

static bool has_step(const struct op *op, const char *span)
{
	for (uint32_t i = 0; i < op->n; i++) {
		if (op->steps[i].kind == STEP_WORK && strcmp(op->steps[i].span, span) == 0) {
			return true;
		}
	}
	return false;
}

static uint32_t find_called(const struct op *op, const char *name)
{
	for (uint32_t i = 0; i < op->n; i++) {
		if (op->steps[i].kind != STEP_WORK && op->steps[i].kind != STEP_GATHER &&
				strcmp(ops[op->steps[i].op].name, name) == 0) {
			return op->steps[i].op;
		}
	}
	stop("it does not call", name);
	return 0;
}

static void parse_fault(char *text)
{
	static const char *const kinds[] = {
			"none", "slowdown", "transit", "cpu", "early", "exception", "more"};
	char *kind = strtok(text, ":"), *where = strtok(NULL, ":"), *size = strtok(NULL, ":");
	char *name, *third;

	for (uint32_t i = 0; kind && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		fault.kind = strcmp(kinds[i], kind) == 0 ? (enum fault_kind)i : fault.kind;
	}
	if (fault.kind == NONE && kind && strcmp(kind, "none") == 0) {
		return;
	}
	if (fault.kind == NONE || !where || !size) {
		stop("no such fault", text);
	}
	fault.size = strtod(size, NULL);
	fault.service = find_service(strtok(where, "/"));
	name = strtok(NULL, "/");
	third = strtok(NULL, "/");
	if (fault.kind == TRANSIT || fault.kind == CPU) {
		return;
	}
	if (!name) {
		stop("no operation", where);
	}
	fault.op = find_op(fault.service, name);
	if (fault.kind == MORE) {
		fault.called = find_called(&ops[fault.op], third ? third : "");
	} else if (fault.kind == SLOWDOWN) {
		snprintf(fault.span, NAME, "%s", third ? third : "");
		if (!has_step(&ops[fault.op], fault.span)) {
			stop("no such span", fault.span);
		}
	}
}

static bool make(const char *name)
{
	for (uint32_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		if (strcmp(systems[i].name, name) == 0) {
			n_services = n_ops = n_roots = n_hosts = 0;
			memset(ops, 0, sizeof(ops));
			systems[i].make();
			return true;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (uint32_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
			make(systems[i].name);
			list_places(systems[i].name);
		}
		return 0;
	}
	if (argc != 5) {
		fputs(usage, stderr);
		return 2;
	}
	if (!make(argv[1])) {
		stop("no such system", argv[1]);
	}
	random_state = strtoull(argv[2], NULL, 10) * UINT64_C(0x2545f4914f6cdd1d) + 1;
	parse_fault(argv[3]);
	simulate();
	qsort(records, n_records, sizeof(*records), compare_records);
	for (uint32_t i = 0; i < n_hosts; i++) {
		write_host(argv[4], i);
	}
	free(records);
	free(heap);
	free(names);
	return 0;
}
