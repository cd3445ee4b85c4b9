/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What taking a request into its group costs, and what a fill of many groups does.
 *
 *   bench_groups [SECONDS]      seconds of event time per case, 4 by default
 *
 * One line per case: groups, contexts of each, requests a second of event time, ns per groups_add()
 * (measuring is not among it); then ms per fill: with all groups changed since the last, with none
 * changed; of the group in focus with where it varies, of its tree, of the tree of all groups; and
 * of everything at once as after a second's requests, with the group's tree and with that of all.
 * Medians over the seconds. The last cases measure requests of 10 contexts each.
 *
 * At the end one group that is being explained, of so many key-values a request: ns per
 * groups_add() without and with them (reading them is not among it: property/test_measured tells
 * that), bytes a sample without and with them, ms to begin with 1,024 requests, and to make a table
 * of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "groups/collect.h"
#include "groups/grouping.h"
#include "base/hash.h"
#include "base/names.h"
#include "requests/contexts.h"
#include "requests/kept.h"

#define S           UINT64_C(1000000000)
#define START       (1000 * S)
#define PATH        8u
#define MAX_SECONDS 600u
#define VISITED     10u
#define BATCH       500u /* divides every case's requests a second */
#define MAX_KEYS    200u

struct bench {
	uint32_t n_contexts; /* of each group that a request may have; 0: nothing is measured */
	uint32_t *inner;     /* the contexts, by group */
	struct measured measured;
	struct measured_segment segments[VISITED];
	struct measured_visit visits[VISITED];
	struct names *names;
	struct contexts *contexts;
	struct request_pool pool;
	struct groups *groups;
	uint32_t n_groups, per_s;
	uint32_t *types, path[PATH];
	uint64_t ids;
	struct request *batch[BATCH];
	uint32_t n_keys;
	struct request_key keys[MAX_KEYS];
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* others may keep the machine busy */
	return (uint64_t)ts.tv_sec * S + (uint64_t)ts.tv_nsec;
}

static double uniform(uint64_t x)
{
	return (double)(hash_u64(x) >> 11) * 0x1p-53;
}

/* The duration is spread over ten of the group's contexts. */
static bool measure(void *context, const struct request *request, struct measured *out)
{
	struct bench *bench = context;
	uint64_t left = request->end_ns - request->start_ns;
	uint32_t first = (uint32_t)(hash_u64(request->id) % (bench->n_contexts - VISITED + 1));
	const uint32_t *inner =
			&bench->inner[(request->type - bench->types[0]) * bench->n_contexts];

	for (uint32_t i = 0; i < VISITED; i++) {
		uint64_t share = hash_u64(request->id * VISITED + i) % (2 * left / VISITED);
		uint64_t ns = i + 1 == VISITED || share > left ? left : share + 1;

		left -= ns;
		bench->segments[i].context = inner[first + i];
		bench->segments[i].ns = ns;
		bench->visits[i] = (struct measured_visit){.context = inner[first + i],
				.count = 1,
				.total_ns = ns,
				.self_ns = ns,
				.squares = (measured_uint128)ns * ns};
		if (!left) {
			left = 1;
		}
	}
	bench->measured.total_ns = request->end_ns - request->start_ns;
	bench->measured.n_segments = bench->measured.n_visits = VISITED;
	bench->measured.segments = bench->segments;
	bench->measured.visits = bench->visits;
	*out = bench->measured;
	return true;
}

/* Of three keys one is a text of a few, two are numbers, of which one is mostly 0. */
static bool read_keys(void *context, const struct request *request, struct request_keys *out)
{
	static const char *const texts[] = {"compute-1", "compute-2", "image-07", "image-12"};
	struct bench *bench = context;

	for (uint32_t i = 0; i < bench->n_keys; i++) {
		uint64_t chance = hash_u64(request->id * MAX_KEYS + i);
		struct request_key *key = &bench->keys[i];

		*key = (struct request_key){.context = bench->inner[i % bench->n_contexts],
				.name = 1 + i,
				.numeric = i % 3 != 0,
				.number = (double)(i % 3 == 1 ? chance % 100000
							      : chance % 10 == 0)};
		if (!key->numeric) {
			key->text = texts[chance % 4];
			key->length = (uint32_t)strlen(key->text);
		}
	}
	*out = (struct request_keys){.n = bench->n_keys, .items = bench->keys};
	return true;
}

static void make_contexts(struct bench *bench)
{
	bench->inner = calloc((size_t)bench->n_groups * bench->n_contexts, sizeof(*bench->inner));
	if (!bench->inner) {
		exit(1);
	}
	for (uint32_t i = 0; i < bench->n_groups * bench->n_contexts; i++) {
		uint32_t within = i % bench->n_contexts;
		uint32_t parent = within ? bench->inner[i - within + (within - 1) / 3] : 0;

		bench->inner[i] = contexts_add(bench->contexts, parent,
				bench->types[i / bench->n_contexts], within + 1);
	}
}

static void bench_init(struct bench *bench)
{
	const struct groups_config config = {.window_ns = 10 * S,
			.max_groups = 20000,
			.max_kept_bytes = UINT64_C(256) << 20,
			.max_pin_bytes = UINT64_C(256) << 20,
			.measure = bench->n_contexts ? measure : NULL,
			.read_keys = read_keys,
			.measurer = bench};

	pool_init(&bench->pool.pool);
	bench->names = names_create(100000);
	bench->contexts = contexts_create(1u << 20);
	bench->types = calloc(bench->n_groups, sizeof(*bench->types));
	bench->groups = groups_create(&config, bench->names, bench->contexts, &bench->pool);
	if (!bench->types || !bench->groups) {
		exit(1);
	}
	for (uint32_t i = 0; i < bench->n_groups; i++) {
		char name[32];
		int length = snprintf(name, sizeof(name), "type %u", i);

		bench->types[i] = names_add(bench->names, name, (size_t)length);
	}
	if (bench->n_contexts) {
		make_contexts(bench);
	}
	for (uint32_t i = 0; i < PATH; i++) {
		char name[32];
		int length = snprintf(name, sizeof(name), "span_%u", i);
		uint32_t id = names_add(bench->names, name, (size_t)length);

		bench->path[i] = contexts_add(
				bench->contexts, i ? bench->path[i - 1] : 0, id, bench->types[0]);
	}
}

static struct request *bench_make(struct bench *bench, uint64_t end_ns)
{
	size_t size = sizeof(struct kept_request) + sizeof(bench->path);
	struct kept_request *kept = pool_alloc(&bench->pool.pool, size);
	uint64_t id = ++bench->ids;
	double spread = sqrt(-2 * log(1 - uniform(id))) * cos(6.2831853 * uniform(~id));

	if (!kept) {
		exit(1);
	}
	memset(kept, 0, size);
	memcpy(kept->path, bench->path, sizeof(bench->path));
	kept->size = (uint32_t)size;
	kept->request = (struct request){.id = id,
			.type = bench->types[hash_u64(id * 7) % bench->n_groups],
			.end_ns = end_ns,
			.start_ns = end_ns - (uint64_t)(2e7 * exp(0.6 * spread)),
			.n_path = PATH,
			.path = kept->path,
			.references = 1,
			.bytes = (uint32_t)size};
	return &kept->request;
}

/* ns per request of one second of event time. Short batches: real ones come fresh from the CPU. */
static double bench_second(struct bench *bench, uint64_t from_ns)
{
	uint64_t spent = 0;

	for (uint32_t done = 0; done < bench->per_s; done += BATCH) {
		for (uint32_t i = 0; i < BATCH; i++) {
			bench->batch[i] = bench_make(
					bench, from_ns + (done + i) * (S / bench->per_s));
		}
		spent -= now_ns();
		for (uint32_t i = 0; i < BATCH; i++) {
			groups_add(bench->groups, bench->batch[i]);
		}
		spent += now_ns();
		for (uint32_t i = 0; i < BATCH; i++) {
			request_drop(&bench->pool, bench->batch[i]);
		}
	}
	return (double)spent / bench->per_s;
}

static double bench_fill(struct bench *bench, uint64_t at_ns, uint32_t parts, bool all)
{
	struct focus focus = {.parts = parts, .horizon = HORIZON_WINDOW, .tree_of_all = all};
	struct snapshot *snapshot = snapshot_create();
	uint64_t begin = now_ns();

	if (!snapshot || groups_fill(bench->groups, &focus, at_ns, snapshot) != STATUS_OK) {
		exit(1);
	}
	begin = now_ns() - begin;
	snapshot_destroy(snapshot);
	return (double)begin * 1e-6;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double median(double *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

static void bench_release(struct bench *bench)
{
	groups_destroy(bench->groups);
	pool_release(&bench->pool.pool);
	contexts_destroy(bench->contexts);
	names_destroy(bench->names);
	free(bench->types);
	free(bench->inner);
}

static void bench_case(uint32_t n_groups, uint32_t n_contexts, uint32_t per_s, uint32_t seconds)
{
	static double add[MAX_SECONDS], changed[MAX_SECONDS], same[MAX_SECONDS], group[MAX_SECONDS],
			tree[MAX_SECONDS], of_all[MAX_SECONDS], frame[MAX_SECONDS],
			frame_of_all[MAX_SECONDS];
	const uint32_t everything = FOCUS_GROUPS | FOCUS_GROUP | FOCUS_TREE;
	struct bench bench = {.n_groups = n_groups, .n_contexts = n_contexts, .per_s = per_s};
	uint64_t now = START;

	bench_init(&bench);
	for (uint32_t i = 0; i < 12; i++, now += S) { /* the window fills */
		bench_second(&bench, now);
	}
	for (uint32_t i = 0; i < seconds; i++, now += S) {
		uint64_t at = now + S - 1;

		add[i] = bench_second(&bench, now);
		changed[i] = bench_fill(&bench, at, FOCUS_GROUPS, false);
		same[i] = bench_fill(&bench, at, FOCUS_GROUPS, false);
		group[i] = bench_fill(&bench, at, FOCUS_GROUP, false);
		tree[i] = bench_fill(&bench, at, FOCUS_TREE, false);
		of_all[i] = bench_fill(&bench, at, FOCUS_TREE, true);
	}
	for (uint32_t i = 0; i < 2 * seconds; i++, now += S) {
		bench_second(&bench, now);
		(i % 2 ? frame_of_all : frame)[i / 2] =
				bench_fill(&bench, now + S - 1, everything, i % 2);
	}
	printf("groups %5u  contexts %3u  requests/s %7u  add %6.1f ns  groups %7.3f ms  "
	       "unchanged %6.3f  group %7.3f  tree %6.3f  of all %7.3f  "
	       "everything %7.3f  of all %7.3f\n",
			n_groups, n_contexts, per_s, median(add, seconds), median(changed, seconds),
			median(same, seconds), median(group, seconds), median(tree, seconds),
			median(of_all, seconds), median(frame, seconds),
			median(frame_of_all, seconds));
	fflush(stdout);
	bench_release(&bench);
}

static double bytes_of_samples(const struct bench *bench)
{
	const struct samples *samples = &bench->groups->samples;

	return (double)(samples->bytes + samples->texts.bytes) /
	       bench->groups->items[0]->now.observed.ring.n;
}

/* One group of 2,000 requests a second, all of which are sampled. */
static void bench_collect(uint32_t n_keys, uint32_t seconds)
{
	static double add[MAX_SECONDS], with[MAX_SECONDS], table[MAX_SECONDS], begin[MAX_SECONDS];
	struct bench bench = {.n_groups = 1, .n_contexts = 60, .per_s = 2000, .n_keys = n_keys};
	uint64_t now = START;
	double bytes = 0;

	bench_init(&bench);
	for (uint32_t i = 0; i < seconds; i++, now += 2 * S) {
		struct arena arena = {.chunks = NULL};

		add[i] = bench_second(&bench, now);
		bytes = bytes_of_samples(&bench);
		begin[i] = -(double)now_ns();
		groups_collect(bench.groups, 1, true);
		begin[i] = (begin[i] + (double)now_ns()) * 1e-6;
		with[i] = bench_second(&bench, now + S);
		table[i] = -(double)now_ns();
		if (!groups_table(bench.groups, 1, 0, &arena)) {
			exit(1);
		}
		table[i] = (table[i] + (double)now_ns()) * 1e-6;
		arena_release(&arena);
		if (i + 1 < seconds) {
			groups_collect(bench.groups, 1, false);
		}
	}
	printf("keys %3u  add %6.0f ns  with keys %6.0f  bytes %5.0f  with keys %5.0f  "
	       "begin %6.2f ms  table %6.2f\n",
			n_keys, median(add, seconds), median(with, seconds), bytes,
			bytes_of_samples(&bench), median(begin, seconds), median(table, seconds));
	bench_release(&bench);
}

int main(int argc, char **argv)
{
	unsigned long seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 4;
	uint32_t n;

	seconds = seconds < 1 ? 1 : seconds > MAX_SECONDS ? MAX_SECONDS : seconds;
	n = (uint32_t)seconds;
	bench_case(1, 0, 1000000, n);
	bench_case(9, 0, 1000000, n);
	bench_case(100, 0, 1000000, n);
	bench_case(1000, 0, 200000, n);
	bench_case(10000, 0, 100000, n);
	bench_case(1, 10, 2000, n);
	bench_case(1, 60, 2000, n);
	bench_case(9, 20, 1000000, n);
	bench_case(1000, 100, 20000, n);
	bench_case(10000, 10, 100000, n);
	bench_collect(20, n);
	bench_collect(200, n);
	return 0;
}
