/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often a few requests in a hundred that are much slower are found by what they cost, and how
 * seldom a machine that holds all requests up is taken for that. Bounds of what varies are given
 * as nothing here: so few requests in a window hardly move them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/names.h"
#include "pythia/pythia.h"
#include "pythiatop/profile.h"
#include "stats/bootstrap.h"

#define SECOND   UINT64_C(1000000000)
#define MS       1e6
#define GROUPS   10u
#define WINDOW_S 10u
#define PER_S    12u /* requests of each group */
#define RUNS     40u
#define NATURAL  0.1 /* sd / mean of all groups, undisturbed */

/* Means of a service with short and long requests, in ms. */
static const double means[GROUPS] = {50, 12, 10, 6, 6.5, 2, 1.8, 1.3, 1, 54};

struct service {
	struct names *names;
	struct pythia *pythia;
	struct bootstrap_random random;
	char types[GROUPS][16];
	double samples[GROUPS][WINDOW_S][PER_S];
	struct groups_row rows[GROUPS];
	uint64_t now_ns;
	double held_up_per_s; /* how often the machine does that to what runs, */
	double held_up_ms;    /* and for how long, on average */
	uint32_t slow_group;
	double slow_share, slow_ms;
};

static void service_init(struct service *service, uint64_t seed)
{
	struct profile_norm norms[GROUPS];
	struct profile_type types[GROUPS];

	*service = (struct service){
			.names = names_create(1000), .now_ns = SECOND, .random = {.state = seed}};
	service->pythia = pythia_create(service->names);
	for (uint32_t i = 0; i < GROUPS; i++) {
		snprintf(service->types[i], sizeof(service->types[i]), "type %u", i);
		norms[i] = (struct profile_norm){.path = "app",
				.count = 1000,
				.p50_ns = means[i] * MS,
				.middle_ns = means[i] * NATURAL * MS,
				.cov = NATURAL,
				.n_modes = 1};
		types[i] = (struct profile_type){.type = service->types[i],
				.requests = 1000,
				.n_norms = 1,
				.norms = &norms[i]};
	}
	assert_int_equal(pythia_learn(service->pythia,
					 &(struct profile){.n = GROUPS, .types = types}),
			STATUS_OK);
}

static void service_release(struct service *service)
{
	pythia_destroy(service->pythia);
	names_destroy(service->names);
}

static double duration(struct service *service, uint32_t group)
{
	struct bootstrap_random *random = &service->random;
	double ms = means[group] * (1 + NATURAL * bootstrap_normal(random));

	if (bootstrap_uniform(random) < service->held_up_per_s * means[group] / 1000) {
		ms -= service->held_up_ms * log(1 - bootstrap_uniform(random));
	}
	if (group == service->slow_group && bootstrap_uniform(random) < service->slow_share) {
		ms += service->slow_ms;
	}
	return fmax(ms, 0.01) * MS;
}

static void fill_row(struct service *service, uint32_t group)
{
	const double n = WINDOW_S * PER_S;
	double sum = 0, squares = 0, most = 0;

	for (uint32_t s = 0; s < WINDOW_S; s++) {
		for (uint32_t i = 0; i < PER_S; i++) {
			double ns = service->samples[group][s][i];

			sum += ns;
			squares += ns * ns;
			most = fmax(most, ns);
		}
	}
	service->rows[group] = (struct groups_row){.id = group + 1,
			.type = service->types[group],
			.path = "app",
			.count = WINDOW_S * PER_S,
			.rate_per_s = PER_S,
			.mean_ns = sum / n,
			.sd_ns = sqrt(fmax(0, squares - sum * sum / n) / (n - 1)),
			.max_ns = (uint64_t)most,
			.p50_ns = (uint64_t)(means[group] * MS),
			.n_modes = 1};
	service->rows[group].cov = service->rows[group].sd_ns / service->rows[group].mean_ns;
}

/* A second of requests, and a look at the last ten. */
static uint32_t pass_second(struct service *service, uint32_t second, uint32_t *ids)
{
	struct groups_view groups = {.n = GROUPS, .rows = service->rows};
	struct pythia_round round = {.groups = &groups, .recent = &groups};
	double all = 0;

	for (uint32_t g = 0; g < GROUPS; g++) {
		for (uint32_t i = 0; i < PER_S; i++) {
			service->samples[g][second % WINDOW_S][i] = duration(service, g);
		}
		if (second + 1 >= WINDOW_S) {
			fill_row(service, g);
			all += service->rows[g].sd_ns;
		}
	}
	service->now_ns += SECOND;
	if (second + 1 < WINDOW_S) {
		return 0;
	}
	for (uint32_t g = 0; g < GROUPS; g++) {
		service->rows[g].variation_share = service->rows[g].sd_ns / all;
	}
	round.now_ns = service->now_ns;
	pythia_round(service->pythia, &round);
	return pythia_wants(service->pythia, &round, ids);
}

/* The groups wanted first within so many seconds after so many without anything slow; 0: none. */
static uint32_t first_wanted(struct service *service, uint32_t calm_s, uint32_t slow_s)
{
	double share = service->slow_share;
	uint32_t ids[PYTHIA_DETAILS], n;

	for (uint32_t s = 0; s < calm_s + slow_s; s++) {
		service->slow_share = s < calm_s ? 0 : share;
		n = pass_second(service, s, ids);
		if (n > 0) {
			return n == 1 ? ids[0] : UINT32_MAX;
		}
	}
	return 0;
}

/* Runs of RUNS in which that group, alone, is wanted within so many seconds. */
static uint32_t count_found(const struct service *like, uint32_t seconds)
{
	uint32_t found = 0;

	for (uint64_t run = 0; run < RUNS; run++) {
		struct service service;

		service_init(&service, run * 7919 + 1);
		service.held_up_per_s = like->held_up_per_s;
		service.held_up_ms = like->held_up_ms;
		service.slow_group = like->slow_group;
		service.slow_share = like->slow_share;
		service.slow_ms = like->slow_ms;
		found += first_wanted(&service, 30, seconds) == like->slow_group + 1;
		service_release(&service);
	}
	return found;
}

/* Three in a hundred at ten times the time: where a long request costs most, and a middling one. */
static void three_in_a_hundred_at_ten_times_are_found(void **state)
{
	(void)state;
	assert_in_range(count_found(&(struct service){.slow_group = 0,
						    .slow_share = 0.03,
						    .slow_ms = 450},
					30),
			38, RUNS);
	assert_in_range(count_found(&(struct service){.slow_group = 1,
						    .slow_share = 0.03,
						    .slow_ms = 108},
					60),
			36, RUNS);
}

/* What runs for a second is held up five times, for 20 ms: all vary much more than they did. */
static void they_are_found_on_a_busy_machine(void **state)
{
	(void)state;
	assert_in_range(count_found(&(struct service){.slow_group = 0,
						    .slow_share = 0.03,
						    .slow_ms = 450,
						    .held_up_per_s = 5,
						    .held_up_ms = 20},
					40),
			36, RUNS);
}

static void a_busy_machine_alone_is_nothing(void **state)
{
	static const double per_s[] = {0, 0.2, 1, 5}, ms[] = {0, 60, 30, 20};

	(void)state;
	for (uint32_t i = 0; i < sizeof(per_s) / sizeof(*per_s); i++) {
		for (uint64_t run = 0; run < RUNS; run++) {
			struct service service;

			service_init(&service, run * 104729 + i);
			service.slow_group = GROUPS;
			service.held_up_per_s = per_s[i];
			service.held_up_ms = ms[i];
			assert_int_equal(first_wanted(&service, 120, 0), 0);
			service_release(&service);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(three_in_a_hundred_at_ten_times_are_found),
			cmocka_unit_test(they_are_found_on_a_busy_machine),
			cmocka_unit_test(a_busy_machine_alone_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
