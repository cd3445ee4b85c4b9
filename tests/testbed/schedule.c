/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedule.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TYPES  64
#define MAX_PER_S  20000 /* requests of all types in a second; further ones are left out */
#define NS_PER_S   1e9
#define LARGE_MEAN 500 /* from here on a Poisson number is as good as normal */

struct arrival {
	uint64_t at_ns;
	size_t type;
};

struct schedule {
	size_t n_types;
	double rate_per_s[MAX_TYPES], dispersion[MAX_TYPES];
	uint64_t second, random;
	struct arrival arrivals[MAX_PER_S]; /* of the second, in order */
	size_t n, next;
};

/* In (0, 1). (splitmix64: Steele et al., OOPSLA 2014.) */
static double draw(struct schedule *schedule)
{
	uint64_t x = schedule->random += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	x ^= x >> 31;
	return ((double)(x >> 12) + 0.5) / (double)(UINT64_C(1) << 52);
}

static double draw_normal(struct schedule *schedule)
{
	double radius = sqrt(-2 * log(draw(schedule)));

	return radius * cos(6.283185307179586 * draw(schedule));
}

/* Of that shape, with mean 1. (Marsaglia & Tsang 2000; below 1: Stuart's theorem.) */
static double draw_gamma(struct schedule *schedule, double shape)
{
	double of = shape < 1 ? shape + 1 : shape, d = of - 1.0 / 3, c = 1 / sqrt(9 * d);

	for (;;) {
		double x = draw_normal(schedule), v = 1 + c * x;

		v = v * v * v;
		if (v > 0 && log(draw(schedule)) < 0.5 * x * x + d - d * v + d * log(v)) {
			double value = d * v;

			value *= shape < 1 ? pow(draw(schedule), 1 / shape) : 1;
			return value / shape;
		}
	}
}

/* (Knuth, "Seminumerical Algorithms", 3.4.1.) */
static size_t draw_poisson(struct schedule *schedule, double mean)
{
	double limit = exp(-mean), product = 1;
	size_t n = 0;

	if (mean > LARGE_MEAN) {
		return (size_t)fmax(0, round(mean + sqrt(mean) * draw_normal(schedule)));
	}
	while ((product *= draw(schedule)) > limit) {
		n++;
	}
	return n;
}

static int by_time(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static void plan_second(struct schedule *schedule)
{
	schedule->n = schedule->next = 0;
	for (size_t type = 0; type < schedule->n_types; type++) {
		double mean = schedule->rate_per_s[type], above = schedule->dispersion[type] - 1;
		size_t n;

		if (mean > 0 && above > 0) { /* of gamma numbers of mean 1 the variance is 1 / shape
					      */
			mean *= draw_gamma(schedule, mean / above);
		}
		n = draw_poisson(schedule, mean);
		for (; n > 0 && schedule->n < MAX_PER_S; n--) {
			schedule->arrivals[schedule->n++] = (struct arrival){
					.at_ns = (uint64_t)(((double)schedule->second +
									    draw(schedule)) *
							    NS_PER_S),
					.type = type};
		}
	}
	qsort(schedule->arrivals, schedule->n, sizeof(*schedule->arrivals), by_time);
	schedule->second++;
}

size_t schedule_next(struct schedule *schedule, uint64_t *at_ns)
{
	while (schedule->next == schedule->n) {
		plan_second(schedule);
	}
	*at_ns = schedule->arrivals[schedule->next].at_ns;
	return schedule->arrivals[schedule->next++].type;
}

/* "server create" is server_create. */
static int is_called(const char *name, const char *type)
{
	while (*name && (*name == *type || (*name == ' ' && *type == '_'))) {
		name++;
		type++;
	}
	return *name == *type;
}

static int take_types(struct schedule *schedule, const json_t *list, const char *const *types)
{
	const json_t *row;
	size_t i;
	int known = 0;

	json_array_foreach(list, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "type"));

		for (size_t j = 0; name && j < schedule->n_types; j++) {
			if (is_called(name, types[j])) {
				schedule->rate_per_s[j] = json_number_value(
						json_object_get(row, "rate_per_s"));
				schedule->dispersion[j] = json_number_value(
						json_object_get(row, "dispersion"));
				known |= schedule->rate_per_s[j] > 0 &&
					 schedule->rate_per_s[j] < MAX_PER_S;
			}
		}
	}
	return known;
}

struct schedule *schedule_read(
		const char *path, const char *const *types, size_t n_types, uint64_t seed)
{
	struct schedule *schedule = calloc(1, sizeof(*schedule));
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error);
	const char *format = json_string_value(json_object_get(root, "schema"));

	if (schedule) {
		schedule->n_types = n_types < MAX_TYPES ? n_types : MAX_TYPES;
		schedule->random = seed;
	}
	if (!root) {
		fprintf(stderr, "pt-load: %s: %s\n", path, error.text);
	} else if (!format || strcmp(format, "pythiatop-workload/1") != 0) {
		fprintf(stderr, "pt-load: %s is no workload\n", path);
	} else if (schedule && take_types(schedule, json_object_get(root, "types"), types)) {
		json_decref(root);
		return schedule;
	} else {
		fprintf(stderr, "pt-load: %s has no type of request that is known here\n", path);
	}
	json_decref(root);
	free(schedule);
	return NULL;
}
