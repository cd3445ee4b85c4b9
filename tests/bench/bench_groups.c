/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What taking a request into its group costs, and what a fill of many groups does.
 *
 *   bench_groups [SECONDS]      seconds of event time per case, 4 by default
 *
 * One line per case: groups, requests a second of event time, ns per groups_add(), ms per fill with
 * all groups changed since the last, ms per fill with none changed. Medians over the seconds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "groups/groups.h"
#include "hash.h"
#include "names.h"
#include "requests/contexts.h"
#include "requests/kept.h"

#define S           UINT64_C(1000000000)
#define START       (1000 * S)
#define PATH        8u
#define MAX_SECONDS 600u
#define BATCH       500u /* divides every case's requests a second */

struct bench {
	struct names *names;
	struct contexts *contexts;
	struct request_pool pool;
	struct groups *groups;
	uint32_t n_groups, per_s;
	uint32_t *types, path[PATH];
	uint64_t ids;
	struct request *batch[BATCH];
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * S + (uint64_t)ts.tv_nsec;
}

static double uniform(uint64_t x)
{
	return (double)(hash_u64(x) >> 11) * 0x1p-53;
}

static void bench_init(struct bench *bench)
{
	const struct groups_config config = {.window_ns = 10 * S,
			.max_groups = 20000,
			.max_kept_bytes = UINT64_C(256) << 20,
			.max_pin_bytes = UINT64_C(256) << 20};

	pool_init(&bench->pool.pool);
	bench->names = names_create(100000);
	bench->contexts = contexts_create(1000);
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

static double bench_fill(struct bench *bench, uint64_t at_ns)
{
	struct focus focus = {.parts = FOCUS_GROUPS | FOCUS_GROUP, .horizon = HORIZON_WINDOW};
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

static void bench_case(uint32_t n_groups, uint32_t per_s, uint32_t seconds)
{
	static double add[MAX_SECONDS], changed[MAX_SECONDS], same[MAX_SECONDS];
	struct bench bench = {.n_groups = n_groups, .per_s = per_s};
	uint64_t now = START;

	bench_init(&bench);
	for (uint32_t i = 0; i < 12; i++, now += S) { /* the window fills */
		bench_second(&bench, now);
	}
	for (uint32_t i = 0; i < seconds; i++, now += S) {
		add[i] = bench_second(&bench, now);
		changed[i] = bench_fill(&bench, now + S - 1);
		same[i] = bench_fill(&bench, now + S - 1);
	}
	printf("groups %6u  requests/s %8u  add %6.1f ns  fill %7.3f ms  unchanged %7.3f ms\n",
			n_groups, per_s, median(add, seconds), median(changed, seconds),
			median(same, seconds));
	groups_destroy(bench.groups);
	pool_release(&bench.pool.pool);
	contexts_destroy(bench.contexts);
	names_destroy(bench.names);
	free(bench.types);
}

int main(int argc, char **argv)
{
	unsigned long seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 4;

	seconds = seconds < 1 ? 1 : seconds > MAX_SECONDS ? MAX_SECONDS : seconds;
	bench_case(1, 1000000, (uint32_t)seconds);
	bench_case(9, 1000000, (uint32_t)seconds);
	bench_case(100, 1000000, (uint32_t)seconds);
	bench_case(1000, 200000, (uint32_t)seconds);
	bench_case(10000, 100000, (uint32_t)seconds);
	return 0;
}
