/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "path_scene.h"

/*
 * The critical path against brute force. Random programs of work, calls, forks with joins, work
 * handed over, and calls to hosts with other clocks are run; each is a graph whose edges are work
 * and waits of known length. All ways through the graph are tried; the longest is what the path
 * must consist of, found from the spans alone.
 *
 * Then nonsense: whatever the events, the parts add up.
 */
#define MAX_NODES 4000
#define MAX_EDGES 8000
#define MAX_SPANS 600
#define BASE_NS   UINT64_C(1000000000000)
#define SMALL     5    /* work while forking: shorter than what is forked */
#define LONG      1000 /* at least that long is what is forked */

struct edge {
	uint32_t to, next; /* of the same node */
	uint32_t span;
	enum path_what what;
	uint64_t ns;
};

struct program_event {
	uint64_t ts_ns;
	uint32_t span, link;
	enum copy_role role;
	uint32_t order;
};

struct program {
	uint64_t random;
	uint32_t n_nodes, n_edges, n_spans, n_events, n_links, n_blocks;
	int32_t n_threads;
	uint64_t times[MAX_NODES];
	uint32_t first[MAX_NODES];
	struct edge edges[MAX_EDGES];
	struct {
		uint32_t host;
		int32_t tid;
	} spans[MAX_SPANS];
	int64_t clocks[8];
	struct program_event events[MAX_SPANS * 4];
	/* By brute force: of each span, how long it was on the longest way, by what. */
	uint64_t best[MAX_SPANS][3], now[MAX_SPANS][3];
	uint64_t best_ns;
	bool ambiguous;
};

static uint32_t below(struct program *p, uint32_t n)
{
	p->random = p->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(p->random >> 33) % n;
}

static uint32_t node(struct program *p)
{
	assert_true(p->n_nodes < MAX_NODES);
	p->times[p->n_nodes] = 0;
	p->first[p->n_nodes] = UINT32_MAX;
	return p->n_nodes++;
}

static void edge(struct program *p, uint32_t from, uint32_t to, uint32_t span, enum path_what what,
		uint64_t ns)
{
	assert_true(p->n_edges < MAX_EDGES);
	p->edges[p->n_edges] = (struct edge){to, p->first[from], span, what, ns};
	p->first[from] = p->n_edges++;
	if (p->times[from] + ns > p->times[to]) {
		p->times[to] = p->times[from] + ns;
	}
}

static uint32_t spend(
		struct program *p, uint32_t from, uint32_t span, enum path_what what, uint64_t ns)
{
	uint32_t to = node(p);

	edge(p, from, to, span, what, ns);
	return to;
}

static void event(struct program *p, uint32_t at, uint32_t span, enum copy_role role, uint32_t link)
{
	p->events[p->n_events] = (struct program_event){.ts_ns = p->times[at],
			.span = span,
			.link = link,
			.role = role,
			.order = p->n_events};
	p->n_events++;
}

static uint32_t new_span(struct program *p, uint32_t host, int32_t tid)
{
	assert_true(p->n_spans < MAX_SPANS);
	p->spans[p->n_spans].host = host;
	p->spans[p->n_spans].tid = tid;
	return p->n_spans++;
}

/* Ends of threads that somebody must wait for. */
struct pending {
	uint32_t n, ends[64];
};

static uint32_t run_span(struct program *p, uint32_t span, uint32_t from, uint32_t depth,
		bool may_hand_over, struct pending *pending);

static uint32_t join(struct program *p, uint32_t from, uint32_t span, const struct pending *pending)
{
	uint32_t to = node(p);

	edge(p, from, to, span, PATH_SELF, 0);
	for (uint32_t i = 0; i < pending->n; i++) {
		edge(p, pending->ends[i], to, span, PATH_SELF, 0);
	}
	return spend(p, to, span, PATH_SELF, 1 + below(p, 300));
}

/* Sends work to a thread of its own, as the last of `span` in a while. */
static uint32_t fork_span(struct program *p, uint32_t span, uint32_t from, uint32_t depth,
		struct pending *pending)
{
	uint32_t link = ++p->n_links, child, begin, end;

	from = spend(p, from, span, PATH_SELF, 1 + below(p, SMALL));
	event(p, from, span, COPY_POINT, link);
	child = new_span(p, p->spans[span].host, ++p->n_threads);
	begin = spend(p, from, child, PATH_WAIT, below(p, 50));
	event(p, begin, child, COPY_ENTRY, link);
	end = spend(p, begin, child, PATH_SELF, LONG + below(p, 500));
	end = run_span(p, child, end, depth + 1, true, pending);
	event(p, end, child, COPY_EXIT, 0);
	pending->ends[pending->n++] = end;
	return from;
}

static uint32_t call_here(struct program *p, uint32_t span, uint32_t from, uint32_t depth)
{
	uint32_t child = new_span(p, p->spans[span].host, p->spans[span].tid);
	struct pending pending = {.n = 0};

	event(p, from, child, COPY_ENTRY, 0);
	from = spend(p, from, child, PATH_SELF, 1 + below(p, 500));
	from = run_span(p, child, from, depth + 1, true, &pending);
	event(p, from, child, COPY_EXIT, 0);
	return pending.n ? join(p, from, span, &pending) : from;
}

/* The way there and back is one, of the call. */
static uint32_t call_far(struct program *p, uint32_t span, uint32_t from, uint32_t depth)
{
	uint32_t link = ++p->n_links, host = below(p, 8);
	uint32_t call = new_span(p, p->spans[span].host, p->spans[span].tid), serve;

	if (host == p->spans[span].host) {
		host = (host + 1) % 8;
	}
	from = spend(p, from, span, PATH_SELF, 1);
	event(p, from, call, COPY_ENTRY, link);
	from = spend(p, from, call, PATH_TRANSIT, 1 + below(p, 90));
	serve = new_span(p, host, ++p->n_threads);
	event(p, from, serve, COPY_ENTRY, link);
	from = spend(p, from, serve, PATH_SELF, 1 + below(p, 500));
	from = run_span(p, serve, from, depth + 1, false, NULL);
	event(p, from, serve, COPY_EXIT, link);
	from = spend(p, from, call, PATH_TRANSIT, below(p, 90));
	event(p, from, call, COPY_EXIT, link);
	return spend(p, from, span, PATH_SELF, 1 + below(p, 20));
}

static uint32_t fork_and_join(struct program *p, uint32_t span, uint32_t from, uint32_t depth)
{
	uint32_t n = 2 + below(p, 2);
	struct pending pending = {.n = 0};

	p->n_blocks++;
	for (uint32_t i = 0; i < n; i++) {
		from = fork_span(p, span, from, depth, &pending);
	}
	return join(p, from, span, &pending);
}

static uint32_t run_span(struct program *p, uint32_t span, uint32_t from, uint32_t depth,
		bool may_hand_over, struct pending *pending)
{
	uint32_t steps = 1 + below(p, 3);

	for (uint32_t i = 0; i < steps && depth < 6 && p->n_spans < 60; i++) {
		switch (below(p, 6)) {
		case 0:
		case 1:
			from = call_here(p, span, from, depth);
			break;
		case 2:
			from = call_far(p, span, from, depth);
			break;
		case 3:
			if (p->n_blocks < 6) {
				from = fork_and_join(p, span, from, depth);
			}
			break;
		default:
			from = spend(p, from, span, PATH_SELF, 1 + below(p, 500));
			break;
		}
	}
	if (may_hand_over && below(p, 4) == 0 && p->n_blocks < 6 && depth < 6) {
		p->n_blocks++;
		from = fork_span(p, span, from, depth, pending);
		from = spend(p, from, span, PATH_SELF, 1 + below(p, SMALL));
	}
	return from;
}

static int by_time(const void *a, const void *b)
{
	const struct program_event *x = a, *y = b;

	if (x->ts_ns != y->ts_ns) {
		return x->ts_ns < y->ts_ns ? -1 : 1;
	}
	return x->order < y->order ? -1 : 1;
}

static uint32_t make_program(struct program *p)
{
	uint32_t root, at;

	p->n_nodes = p->n_edges = p->n_spans = p->n_events = p->n_links = p->n_blocks = 0;
	p->n_threads = 1;
	for (uint32_t i = 0; i < 8; i++) {
		p->clocks[i] = (int64_t)below(p, 2000000) - 1000000;
	}
	at = node(p);
	root = new_span(p, 0, 1);
	event(p, at, root, COPY_ENTRY, 0);
	at = spend(p, at, root, PATH_SELF, 1 + below(p, 500));
	at = run_span(p, root, at, 0, false, NULL);
	event(p, at, root, COPY_EXIT, 0);
	return at;
}

/* Every way from a node to the end. */
static void try_all(struct program *p, uint32_t at, uint32_t end, uint64_t ns)
{
	if (at == end) {
		if (ns > p->best_ns) {
			p->best_ns = ns;
			p->ambiguous = false;
			memcpy(p->best, p->now, sizeof(p->best));
		} else if (ns == p->best_ns && memcmp(p->best, p->now, sizeof(p->best)) != 0) {
			p->ambiguous = true;
		}
		return;
	}
	for (uint32_t i = p->first[at]; i != UINT32_MAX; i = p->edges[i].next) {
		const struct edge *edge = &p->edges[i];

		p->now[edge->span][edge->what] += edge->ns;
		try_all(p, edge->to, end, ns + edge->ns);
		p->now[edge->span][edge->what] -= edge->ns;
	}
}

/* What anybody could see of it: events, by the clocks of their hosts. */
static void trace_program(struct program *p, struct scene *scene, uint64_t *entries)
{
	uint64_t start_ns = 0, end_ns = 0;

	for (uint32_t i = 0; i < p->n_events; i++) {
		struct program_event *at = &p->events[i];

		at->ts_ns += BASE_NS + (uint64_t)p->clocks[p->spans[at->span].host];
	}
	qsort(p->events, p->n_events, sizeof(*p->events), by_time);
	for (uint32_t i = 0; i < p->n_events; i++) {
		const struct program_event *at = &p->events[i];
		uint32_t host = p->spans[at->span].host;
		int32_t tid = p->spans[at->span].tid;

		if (at->role == COPY_ENTRY) {
			entries[at->span] = scene_enter(scene, "", at->ts_ns, host, tid, at->link);
			start_ns = at->span == 0 ? at->ts_ns : start_ns;
		} else if (at->role == COPY_EXIT) {
			scene_leave(scene, entries[at->span], at->ts_ns, at->link);
			end_ns = at->span == 0 ? at->ts_ns : end_ns;
		} else {
			scene_point(scene, at->ts_ns, host, tid, at->link);
		}
	}
	/* By its clock another host may seem to have begun before. */
	scene->root = entries[0];
	scene->start_ns = start_ns;
	scene->end_ns = end_ns;
}

static void longest_way(void **state)
{
	static struct program program;
	static struct scene scene;
	static uint64_t entries[MAX_SPANS], found[MAX_SPANS][3];
	uint32_t tried = 0, forked = 0, far = 0;

	(void)state;
	program.random = 20260101;
	for (uint32_t trial = 0; trial < 4000; trial++) {
		uint32_t end = make_program(&program);

		memset(program.best, 0, sizeof(program.best));
		memset(program.now, 0, sizeof(program.now));
		program.best_ns = 0;
		program.ambiguous = false;
		try_all(&program, 0, end, 0);
		assert_int_equal(program.best_ns, program.times[end]);
		if (program.ambiguous) {
			continue;
		}
		tried++;
		forked += program.n_blocks > 0;
		scene_start(&scene);
		trace_program(&program, &scene, entries);
		scene_path(&scene, NULL);
		memset(found, 0, sizeof(found));
		for (uint32_t i = 0; i < scene.path.n; i++) {
			const struct path_piece *piece = &scene.path.pieces[i];
			uint64_t seq = scene.spans.items[piece->span].entry->seq;
			uint32_t span = 0;

			while (entries[span] != seq) {
				span++;
			}
			found[span][piece->what] += piece->ns;
			far += piece->what == PATH_TRANSIT;
		}
		for (uint32_t i = 0; i < program.n_spans; i++) {
			for (uint32_t what = 0; what < 3; what++) {
				if (found[i][what] != program.best[i][what]) {
					fail_msg("trial %u: span %u, part %u: %lu instead of %lu",
							trial, i, what,
							(unsigned long)found[i][what],
							(unsigned long)program.best[i][what]);
				}
			}
		}
		assert_false(scene.path.skewed);
		scene_stop(&scene);
	}
	print_message("%u programs, %u with forks, %u transits\n", tried, forked, far);
	assert_true(tried > 3000 && forked > 1000 && far > 1000);
}

/* --- nonsense -------------------------------------------------------------------------------- */

struct nonsense {
	struct program *program;
	uint64_t end_ns;
};

static bool any_doing(
		void *context, const struct span *span, uint64_t before_ns, struct path_doing *out)
{
	struct program *p = ((struct nonsense *)context)->program;

	(void)span;
	*out = (struct path_doing){.what = (uint8_t)(below(p, 3) == 0   ? PATH_SELF
						     : below(p, 2) == 0 ? PATH_RUNNABLE
									: PATH_BLOCKED),
			.sure = below(p, 2) == 0,
			.on = below(p, 3),
			.since_ns = below(p, 20) == 0 ? below(p, 4) : before_ns - below(p, 200),
			.waker_tid = (int32_t)below(p, 5) - 1};
	return below(p, 50) != 0;
}

/* Pieces of time that nobody could have spent so, or of nothing, never appear. */
static void check_pieces(const struct scene *scene)
{
	for (uint32_t i = 0; i < scene->path.n; i++) {
		assert_true(scene->path.pieces[i].ns > 0);
		assert_true(scene->path.pieces[i].span < scene->spans.n);
	}
}

static void parts_add_up_whatever_comes(void **state)
{
	static struct program program;
	static struct scene scene;
	struct nonsense nonsense = {.program = &program};
	const struct path_kernel kernel = {.context = &nonsense, .wakes = true, .doing = any_doing};

	(void)state;
	program.random = 7;
	for (uint32_t trial = 0; trial < 6000; trial++) {
		uint32_t n = 1 + below(&program, trial % 100 == 0 ? 3000 : 40);
		uint32_t range = 1 + below(&program, 2000), n_spans = 0;
		static uint64_t open[3000];

		scene_start(&scene);
		open[n_spans++] = scene_enter(&scene, "", BASE_NS, 0, 0, below(&program, 3));
		for (uint32_t i = 0; i < n; i++) {
			uint64_t ts_ns = BASE_NS + below(&program, range) -
					 (below(&program, 10) == 0 ? below(&program, 500) : 0);
			uint32_t host = below(&program, 3), link = below(&program, 6);

			if (below(&program, 200) == 0) {
				ts_ns = below(&program, 2) ? UINT64_MAX - below(&program, 9) : 0;
			}
			switch (below(&program, 5)) {
			case 0:
				scene_point(&scene, ts_ns, host, (int32_t)below(&program, 4), link);
				break;
			case 1:
				scene_leave(&scene, open[1 + below(&program, n_spans)], ts_ns,
						link);
				break;
			default:
				open[n_spans] = scene_enter(&scene, "", ts_ns, host,
						(int32_t)below(&program, 4), link);
				n_spans += n_spans < 2999;
				break;
			}
		}
		scene.end_ns = BASE_NS + below(&program, range * 2);
		scene_path(&scene, below(&program, 2) ? &kernel : NULL);
		check_pieces(&scene);
		assert_true(scene.path.n <= PATH_MAX_PIECES + 4 * n + 16);
		scene_stop(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(longest_way),
			cmocka_unit_test(parts_add_up_whatever_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
