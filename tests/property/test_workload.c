/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When requests come: what is told of it against a naive count, and that what a load generator
 * makes of a workload is told as that workload again.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "behaviour/arrivals.h"
#include "behaviour/demands.h"
#include "testbed/schedule.h"

#define NS_PER_S UINT64_C(1000000000)
#define T0       (UINT64_C(1700000000) * NS_PER_S)
#define SECONDS  400u

static uint64_t random_state;

static uint32_t pick(uint32_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((random_state >> 33) % n);
}

/* Numbers of seconds, the first and the last one left out. */
static void naive(const uint32_t *counts, uint32_t n, double *rate, double *dispersion)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 1; i + 1 < n; i++) {
		sum += counts[i];
	}
	*rate = sum / (n - 2);
	for (uint32_t i = 1; i + 1 < n; i++) {
		squares += (counts[i] - *rate) * (counts[i] - *rate);
	}
	*dispersion = squares / (n - 3) / *rate;
}

/* Requests end up to half a minute after they began, and are counted then; some seconds are empty.
 */
static void arrivals_are_counted_in_any_order(void **state)
{
	(void)state;
	random_state = 1;
	for (int trial = 0; trial < 20; trial++) {
		static uint64_t starts[SECONDS * 20];
		uint32_t counts[SECONDS] = {0}, n = 0;
		struct arrivals arrivals = {.n = 0};
		struct arrivals_view view;
		double rate, dispersion;

		for (uint32_t second = 0; second < SECONDS; second++) {
			bool silent = trial % 2 && second > 100 && second < 300;

			counts[second] = second == 0 || second == SECONDS - 1 ? 1
					 : silent                             ? 0
									      : pick(20);
			for (uint32_t i = 0; i < counts[second]; i++) {
				starts[n++] = T0 + second * NS_PER_S + pick(1000000000);
			}
		}
		/* Out of order by 30 seconds at most. */
		for (uint32_t i = 0; i < n; i++) {
			uint32_t j = i + pick(60);

			if (j < n && starts[j] - starts[i] < 20 * NS_PER_S) {
				uint64_t moved = starts[i];

				starts[i] = starts[j];
				starts[j] = moved;
			}
		}
		for (uint32_t i = 0; i < n; i++) {
			arrivals_add(&arrivals, starts[i]);
		}
		arrivals_read(&arrivals, &view);
		naive(counts, SECONDS, &rate, &dispersion);
		assert_int_equal(arrivals.late, 0);
		assert_int_equal(view.seconds, SECONDS - 2);
		assert_true(fabs(view.rate_per_s - rate) < 1e-9);
		assert_true(fabs(view.dispersion - dispersion) < 1e-9);
	}
}

static void workloads_are_made_as_they_are_told(void **state)
{
	static const char *const types[] = {"order_create", "order_list", "order_delete"};
	static const double rates[] = {12, 40, 7}, dispersions[] = {1, 5, 0.8};
	char path[] = "/tmp/pt-workload-XXXXXX";
	struct arrivals arrivals[3];
	struct schedule *schedule;
	FILE *file = fdopen(mkstemp(path), "w");
	uint64_t at_ns = 0, before_ns = 0;

	(void)state;
	assert_non_null(file);
	fprintf(file, "{\"schema\": \"pythiatop-workload/1\", \"types\": [");
	for (int i = 0; i < 3; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s", types[i]);
		*strchr(name, '_') = i == 1 ? ' ' : '_';
		fprintf(file, "%s{\"type\": \"%s\", \"rate_per_s\": %g, \"dispersion\": %g}",
				i ? ", " : "", name, rates[i], dispersions[i]);
	}
	fprintf(file, "]}");
	fclose(file);
	schedule = schedule_read(path, types, 3, 7);
	unlink(path);
	assert_non_null(schedule);
	memset(arrivals, 0, sizeof(arrivals));
	while (at_ns < 3000 * NS_PER_S) {
		size_t type = schedule_next(schedule, &at_ns);

		assert_true(at_ns >= before_ns && type < 3);
		before_ns = at_ns;
		arrivals_add(&arrivals[type], T0 + at_ns);
	}
	for (int i = 0; i < 3; i++) {
		/* Less uneven than chance is made by chance. */
		double wanted = fmax(1, dispersions[i]);
		struct arrivals_view view;

		arrivals_read(&arrivals[i], &view);
		assert_true(fabs(view.rate_per_s / rates[i] - 1) < 0.04);
		assert_true(fabs(view.dispersion / wanted - 1) < 0.12);
	}
	free(schedule);
}

/* A sample's quantiles, whichever comes first, and weighed by what each part stands for. */
static void demands_do_not_depend_on_order(void **state)
{
	static struct demands forth, back, joined[2];
	struct shape_quantiles a, b, both;
	struct demands_part parts[2] = {{&joined[0], 900}, {&joined[1], 100}};

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t times[2] = {i, 999 - i};

		for (int way = 0; way < 2; way++) {
			uint64_t start_ns = T0 + times[way] * 1000;
			uint64_t ns = times[way] * 1000000;
			struct resources used = {.known = true, .amount = {(double)ns / 2, 0, 1}};

			demands_add(way ? &back : &forth, start_ns, start_ns + ns, &used);
		}
		demands_add(&joined[i < 900 ? 0 : 1], T0 + i, T0 + i + (i < 900 ? 1000 : 50000),
				&(struct resources){.known = false});
	}
	for (int i = 0; i < DEMAND_COUNT; i++) {
		assert_true(demands_quantiles(
				&(struct demands_part){&forth, 1000}, 1, (enum shape_demand)i, &a));
		assert_true(demands_quantiles(
				&(struct demands_part){&back, 1000}, 1, (enum shape_demand)i, &b));
		assert_true(a.known && a.p50 == b.p50 && a.p90 == b.p90 && a.p99 == b.p99);
	}
	assert_true(demands_quantiles(parts, 2, DEMAND_DURATION, &both));
	assert_true(both.p50 == 1000 && both.p99 == 50000);
	assert_true(demands_quantiles(parts, 2, DEMAND_CPU, &both));
	assert_false(both.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(arrivals_are_counted_in_any_order),
			cmocka_unit_test(workloads_are_made_as_they_are_told),
			cmocka_unit_test(demands_do_not_depend_on_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
