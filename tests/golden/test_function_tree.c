/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calling-context tree of a program whose functions were traced, against a walk of its stack
 * that shares nothing with the engine: babeltrace2 reads, and a stack a thread adds up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythiatop/engine.h"
#include "support_recorded.h"

#define TRACE       "ust-cyg-profile"
#define MAX_NODES   1000
#define MAX_DEPTH   128
#define MAX_THREADS 16

struct node {
	uint64_t address;
	uint32_t parent;
	uint64_t count, total_ns, self_ns;
};

struct frame {
	uint32_t node;
	uint64_t start_ns, below_ns;
};

struct thread {
	unsigned long tid;
	uint32_t depth;
	struct frame frames[MAX_DEPTH];
};

/* Nodes 0.. of a walk; node 0 is above all. */
struct walk {
	uint32_t n, n_threads;
	struct node nodes[MAX_NODES];
	struct thread threads[MAX_THREADS];
	uint64_t events, last_ns;
};

static struct thread *thread_of(struct walk *walk, unsigned long tid)
{
	uint32_t i;

	for (i = 0; i < walk->n_threads; i++) {
		if (walk->threads[i].tid == tid) {
			return &walk->threads[i];
		}
	}
	assert_true(walk->n_threads < MAX_THREADS);
	walk->threads[walk->n_threads].tid = tid;
	return &walk->threads[walk->n_threads++];
}

static uint32_t child_of(struct walk *walk, uint32_t parent, uint64_t address)
{
	uint32_t i;

	for (i = 1; i < walk->n; i++) {
		if (walk->nodes[i].parent == parent && walk->nodes[i].address == address) {
			return i;
		}
	}
	assert_true(walk->n < MAX_NODES);
	walk->nodes[walk->n] = (struct node){.address = address, .parent = parent};
	return walk->n++;
}

static void enter(struct walk *walk, struct thread *thread, uint64_t address, uint64_t now_ns)
{
	uint32_t parent = thread->depth ? thread->frames[thread->depth - 1].node : 0;

	assert_true(thread->depth < MAX_DEPTH);
	thread->frames[thread->depth++] =
			(struct frame){.node = child_of(walk, parent, address), .start_ns = now_ns};
}

static void leave(struct walk *walk, struct thread *thread, uint64_t now_ns)
{
	struct frame *frame = &thread->frames[--thread->depth];
	struct node *node = &walk->nodes[frame->node];
	uint64_t took_ns = now_ns - frame->start_ns;

	node->count++;
	node->total_ns += took_ns;
	node->self_ns += took_ns - frame->below_ns;
	if (thread->depth > 0) {
		thread->frames[thread->depth - 1].below_ns += took_ns;
	}
}

/* "[1378850463.596911581] ... func_entry: { cpu_id = 0 }, { ..., vtid = 1 }, { addr = 0x40, ..." */
static void walk_line(struct walk *walk, const char *line)
{
	const char *tid = strstr(line, "vtid = "), *address = strstr(line, "addr = ");
	bool entry = strstr(line, ":func_entry:") != NULL;
	unsigned long long seconds, ns;
	struct thread *thread;
	uint64_t at;

	assert_true(tid && address && (entry || strstr(line, ":func_exit:")));
	assert_int_equal(sscanf(line, "[%llu.%9llu]", &seconds, &ns), 2);
	walk->last_ns = seconds * 1000000000u + ns;
	walk->events++;
	thread = thread_of(walk, strtoul(tid + strlen("vtid = "), NULL, 10));
	at = strtoull(address + strlen("addr = "), NULL, 16);
	if (entry) {
		enter(walk, thread, at, walk->last_ns);
	} else {
		assert_true(thread->depth > 0);
		assert_true(walk->nodes[thread->frames[thread->depth - 1].node].address == at);
		leave(walk, thread, walk->last_ns);
	}
}

/* What is still open when the trace ends, ends there. */
static bool walk_trace(struct walk *walk)
{
	const char *folder = getenv("PYTHIATOP_TRACES");
	char line[4096];
	FILE *in;
	uint32_t i;

	snprintf(line, sizeof(line), "babeltrace2 --clock-seconds --no-delta '%s/%s'",
			folder ? folder : PT_TRACES_DIR, TRACE);
	in = popen(line, "r");
	assert_non_null(in);
	walk->n = 1;
	while (fgets(line, sizeof(line), in)) {
		walk_line(walk, line);
	}
	for (i = 0; i < walk->n_threads; i++) {
		while (walk->threads[i].depth > 0) {
			leave(walk, &walk->threads[i], walk->last_ns);
		}
	}
	return pclose(in) == 0 && walk->events > 0;
}

/* The walk's node of a row, by its chain of addresses. */
static uint32_t node_of(const struct walk *walk, const struct tree_view *tree, uint32_t row)
{
	const struct tree_row *r = &tree->rows[row];
	uint32_t parent = r->parent == UINT32_MAX ? 0 : node_of(walk, tree, r->parent);
	uint64_t address = strtoull(r->name, NULL, 16);
	uint32_t i;

	for (i = 1; i < walk->n; i++) {
		if (walk->nodes[i].parent == parent && walk->nodes[i].address == address) {
			return i;
		}
	}
	fail_msg("the walk has no %s at depth %u", r->name, r->depth);
	return 0;
}

static void compare(const struct walk *walk, const struct tree_view *tree)
{
	bool seen[MAX_NODES] = {false};
	uint32_t i;

	assert_int_equal(tree->n, walk->n - 1);
	assert_int_equal(tree->folded_spans, 0);
	for (i = 0; i < tree->n; i++) {
		const struct tree_row *row = &tree->rows[i];
		uint32_t at = node_of(walk, tree, i);
		const struct node *node = &walk->nodes[at];

		assert_false(seen[at]);
		seen[at] = true;
		if (row->count != node->count || row->total_ns != (double)node->total_ns ||
				row->self_ns != (double)node->self_ns) {
			fail_msg("%s: %" PRIu64 " spans, %.0f ns, self %.0f ns; the walk has "
				 "%" PRIu64 ", %" PRIu64 ", %" PRIu64,
					row->name, row->count, row->total_ns, row->self_ns,
					node->count, node->total_ns, node->self_ns);
		}
	}
}

/* Of the group, and of all groups together. */
static void as_walked(void **state)
{
	static struct walk walk;
	const struct focus focus = {.horizon = HORIZON_ALL,
			.parts = FOCUS_GROUPS | FOCUS_LOCATE | FOCUS_TREE,
			.tree_of_all = true};
	struct engine *engine;
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	if (!recorded_exists(TRACE) || system("command -v babeltrace2 >/dev/null") != 0) {
		printf("skipped: no trace " TRACE ", or no babeltrace2\n");
		snapshot_destroy(snapshot);
		skip();
	}
	engine = recorded_read_of(TRACE, 0, "0x40472b"); /* main(), which has all the others */
	engine_finish(engine);
	assert_true(walk_trace(&walk));
	assert_int_equal(engine_fill(engine, &focus, snapshot), STATUS_OK);
	assert_int_equal(snapshot->accounting.in, walk.events);
	assert_int_equal(snapshot->groups.n, 1);
	compare(&walk, &snapshot->tree);
	compare(&walk, &snapshot->groups.trees[0]);
	snapshot_destroy(snapshot);
	engine_destroy(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(as_walked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
