/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What planning a step costs: one look at the groups that ends in a proposal, the groups to look at
 * closely chosen, the space kept up, the edges found, the points chosen.
 *
 *   bench_pythia [ROUNDS]      looks per case, 50 by default
 *
 * One line per case and strategy: points, groups, ms per look (median, and the longest). Fails
 * where a median is over LIMIT_MS, or a look proposes nothing: then no step was planned.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/names.h"
#include "pythia/pythia.h"

#define S         UINT64_C(1000000000)
#define POINTS    10000u
#define GROUPS    100u
#define MAX_ROUNDS 1000u
#define LIMIT_MS  50.0
#define BARRED    6u /* epochs after which a rejected point may be proposed again */

struct shape {
	const char *name;
	uint32_t types;   /* the groups are of so many types, the points too */
	uint32_t parents; /* a point lies in one of the first so many of its type */
};

struct bench {
	const struct shape *shape;
	struct names *names;
	struct pythia *pythia;
	char spans[POINTS][32], events[POINTS][2][64], types[GROUPS][32], paths[GROUPS][32];
	struct groups_row rows[GROUPS];
	struct groups_view groups;
	struct tree_row all[POINTS], few[GROUPS]; /* of everything on, and of the skeleton alone */
	uint32_t depth[POINTS];
};

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* others may keep the machine busy */
	return (uint64_t)ts.tv_sec * S + (uint64_t)ts.tv_nsec;
}

static void give_up(const char *why)
{
	fprintf(stderr, "bench_pythia: %s\n", why);
	exit(1);
}

static uint32_t points_of_type(const struct bench *bench)
{
	return POINTS / bench->shape->types;
}

static void make_groups(struct bench *bench)
{
	for (uint32_t i = 0; i < GROUPS; i++) {
		snprintf(bench->types[i], sizeof(bench->types[i]), "type %u",
				i % bench->shape->types);
		snprintf(bench->paths[i], sizeof(bench->paths[i]), "path %u", i);
		bench->rows[i] = (struct groups_row){.id = i + 1,
				.type = bench->types[i],
				.path = bench->paths[i],
				.count = 1000,
				.rate_per_s = 10,
				.mean_ns = 1e7,
				.sd_ns = 1e7,
				.p50_ns = 10000000,
				.detection = DETECTION_VARIES};
	}
	bench->groups = (struct groups_view){.n = GROUPS, .rows = bench->rows};
}

/* All points are offered in pairs; the first one of each type is its skeleton. */
static void offer_points(struct bench *bench)
{
	struct pythia_offer *offers = calloc(2 * POINTS, sizeof(*offers));

	if (!offers) {
		give_up("out of memory");
	}
	for (uint32_t i = 0; i < POINTS; i++) {
		snprintf(bench->spans[i], sizeof(bench->spans[i]), "span_%u", i);
		for (uint32_t exit = 0; exit < 2; exit++) {
			snprintf(bench->events[i][exit], sizeof(bench->events[i][exit]),
					"app:span_%u_%s", i, exit ? "exit" : "entry");
			offers[2 * i + exit] =
					(struct pythia_offer){.event = bench->events[i][exit],
							.skeleton = i % points_of_type(bench) == 0,
							.role = exit ? OFFER_EXIT : OFFER_ENTRY,
							.provider = "app",
							.span = bench->spans[i]};
		}
	}
	if (pythia_offer(bench->pythia, "host", offers, 2 * POINTS) != STATUS_OK) {
		give_up("the points are not taken up");
	}
	free(offers);
}

static struct tree_row make_row(const struct bench *bench, uint32_t point, uint32_t parent)
{
	return (struct tree_row){.context = point + 1,
			.parent = parent,
			.depth = parent == UINT32_MAX ? 0 : bench->all[parent].depth + 1,
			.name = bench->spans[point],
			.provider = "app",
			.count = 1000,
			.total_ns = 1e9 * (double)(1 + hash_u64(point) % 1000)};
}

/* Where points stand is learned, type by type, from trees of everything. */
static void learn_points(struct bench *bench)
{
	uint32_t n = points_of_type(bench);
	struct tree_view tree = {.requests = 1000, .counted = 1000, .located = true};
	struct group_view group = {.histogram_bins = 0};
	struct pythia_detail detail = {.tree = &tree, .group = &group};
	struct pythia_round round = {.now_ns = S,
			.groups = &bench->groups,
			.recent = &bench->groups,
			.n_details = 1,
			.details = &detail};

	for (uint32_t type = 0; type < bench->shape->types; type++) {
		uint32_t first = type * n;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t within = i < bench->shape->parents ? i : bench->shape->parents;
			uint32_t parent = i ? (uint32_t)(hash_u64(i) % within) : UINT32_MAX;

			bench->all[i] = make_row(bench, first + i, parent);
		}
		tree.rows = bench->all;
		tree.n = n;
		tree.type = bench->types[type];
		detail.row = &bench->rows[type];
		pythia_learned(bench->pythia, &round);
	}
}

/* The next look, with only the skeleton on: all that varies is in the request's own time. */
static void look(struct bench *bench, uint32_t epoch)
{
	struct tree_view trees[PYTHIA_DETAILS];
	struct group_view group = {.histogram_bins = 0};
	struct pythia_detail details[PYTHIA_DETAILS];
	uint32_t ids[PYTHIA_DETAILS], n;
	struct pythia_round round = {.now_ns = epoch * 100 * S,
			.epoch = epoch,
			.groups = &bench->groups,
			.recent = &bench->groups,
			.details = details};

	round.n_details = n = pythia_wants(bench->pythia, &round, ids);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = ids[i] - 1;
		uint32_t type = at % bench->shape->types;

		bench->few[at] = make_row(bench, type * points_of_type(bench), UINT32_MAX);
		bench->few[at].phi = 0.99;
		bench->few[at].phi_low = 0.95;
		bench->few[at].phi_high = 1;
		bench->few[at].segment_sd_ns = 1e7;
		trees[i] = (struct tree_view){.group_id = ids[i],
				.type = bench->types[at],
				.requests = 1000,
				.counted = 1000,
				.located = true,
				.n = 1,
				.rows = &bench->few[at]};
		bench->rows[at].epoch = epoch;
		bench->rows[at].since_ns = round.now_ns - 20 * S;
		details[i] = (struct pythia_detail){
				.row = &bench->rows[at], .tree = &trees[i], .group = &group};
	}
	pythia_round(bench->pythia, &round);
}

/* The step proposed is refused, so that the next look plans anew. */
static void refuse(struct bench *bench, uint32_t step, uint64_t now_ns)
{
	char error[256];

	if (pythia_decide(bench->pythia, step, STEP_REJECT, STEP_BY_PERSON, now_ns, error,
			    sizeof(error)) != STATUS_OK) {
		give_up(error);
	}
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double bench_case(const struct shape *shape, const char *strategy, uint32_t looks)
{
	static const char *const host[] = {"host"};
	static struct bench bench;
	static double took[MAX_ROUNDS];

	bench.shape = shape;
	bench.names = names_create(100000);
	bench.pythia = bench.names ? pythia_create(bench.names) : NULL;
	if (!bench.pythia || pythia_set_strategy(bench.pythia, strategy) != STATUS_OK) {
		give_up("out of memory, or no such strategy");
	}
	pythia_set_budget(bench.pythia, &(struct step_budget){.points = 3});
	pythia_set_mode(bench.pythia, MODE_APPROVE, S);
	make_groups(&bench);
	offer_points(&bench);
	learn_points(&bench);
	for (uint32_t i = 0; i < looks; i++) {
		uint32_t epoch = 1 + i * BARRED;
		uint64_t begin;

		for (uint32_t point = 0; point < POINTS; point += points_of_type(&bench)) {
			pythia_recorded(bench.pythia, bench.events[point][0], host, 1, 40, 0);
		}
		begin = cpu_ns();
		look(&bench, epoch);
		took[i] = (double)(cpu_ns() - begin) * 1e-6;
		refuse(&bench, i + 1, epoch * 100 * S);
	}
	qsort(took, looks, sizeof(*took), by_value);
	printf("%-26s %-13s points %u  groups %u  plan %7.3f ms  longest %7.3f ms%s\n", shape->name,
			strategy, POINTS, GROUPS, took[looks / 2], took[looks - 1],
			took[looks / 2] > LIMIT_MS ? "  MISSED" : "");
	fflush(stdout);
	pythia_destroy(bench.pythia);
	names_destroy(bench.names);
	return took[looks / 2];
}

int main(int argc, char **argv)
{
	static const struct shape shapes[] = {
			{"a hundred types", GROUPS, POINTS},
			{"one type", 1, POINTS},
			{"one type, no nesting", 1, 1},
			{"one type, a few containers", 1, 30},
	};
	static const char *const strategies[] = {"hybrid", "flat", "hierarchical"};
	unsigned long looks = argc > 1 ? strtoul(argv[1], NULL, 10) : 50;
	bool missed = false;

	looks = looks < 1 ? 1 : looks > MAX_ROUNDS ? MAX_ROUNDS : looks;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (size_t k = 0; k < sizeof(strategies) / sizeof(strategies[0]); k++) {
			missed |= bench_case(&shapes[i], strategies[k], (uint32_t)looks) > LIMIT_MS;
		}
	}
	return missed;
}
