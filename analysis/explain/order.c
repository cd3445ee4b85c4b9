/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "explain/internal.h"

/*
 * The strongest first, by omega^2 in the explored half alone. Of keys that are nearly as strong as
 * the strongest the one of fewest levels (of as many the deepest) comes first: a count of 0 or 1
 * says it all, where the fields of what is counted say it too (Breiman et al. 1984: the simplest
 * tree within an error). A time that was waited for a resource is a part of the duration, and would
 * be stronger than its cause, such as the length of a queue; and who is slow polls and tries again
 * more often, so that how often something is done, other than whether it is, may follow from the
 * duration. These come first only where nothing else is half as strong.
 */
#define NEARLY_AS_STRONG 0.02
#define SAME_RHO         0.95
#define SAME_LEVELS      0.95

static bool is_stronger(const struct explain *explain, uint32_t left, uint32_t right)
{
	const struct key *a = &explain->keys[left], *b = &explain->keys[right];

	return a->omega2 > b->omega2 || (a->omega2 >= b->omega2 && left < right);
}

static void sort(struct explain *explain)
{
	uint32_t *keys = explain->tested;

	for (uint32_t i = 1; i < explain->n_tested; i++) {
		uint32_t key = keys[i], at = i;

		for (; at > 0 && is_stronger(explain, key, keys[at - 1]); at--) {
			keys[at] = keys[at - 1];
		}
		keys[at] = key;
	}
}

/* A time spent waiting for a resource: a part of the duration, so that it always goes with it. */
static bool is_waiting(const struct key *key)
{
	size_t length = strlen(key->name);

	return key->source == EXPLANATION_RESOURCE && length > 3 &&
	       strcmp(key->name + length - 3, "_ns") == 0;
}

/* It may follow from how long the request takes. */
static bool may_follow(const struct key *key)
{
	return is_waiting(key) || (key->source == EXPLANATION_COUNT && key->levels.n > 2);
}

/* The place of the strongest that does not follow; what may where none is half as strong. */
static uint32_t find_strongest(const struct explain *explain)
{
	double half = explain->keys[explain->tested[0]].omega2 / 2;

	for (uint32_t i = 0; i < explain->n_tested; i++) {
		const struct key *key = &explain->keys[explain->tested[i]];

		if (key->omega2 > 0 && key->omega2 >= half && !may_follow(key)) {
			return i;
		}
	}
	return 0;
}

/* How many spans its calling context is below the request's. */
static uint32_t depth_of(const struct key *key)
{
	uint32_t depth = 0;

	for (const char *at = strstr(key->where, "›"); at; at = strstr(at + 1, "›")) {
		depth++;
	}
	return depth;
}

/* Says it with fewer levels, or as many but nearer to where it is. */
static bool is_simpler(const struct key *a, const struct key *b)
{
	return a->levels.n < b->levels.n ||
	       (a->levels.n == b->levels.n && depth_of(a) > depth_of(b));
}

void order_keys(struct explain *explain)
{
	uint32_t *keys = explain->tested, simplest, first;
	double least;

	sort(explain);
	simplest = find_strongest(explain);
	least = explain->keys[keys[simplest]].omega2 - NEARLY_AS_STRONG;
	for (uint32_t i = simplest + 1; i < explain->n_tested; i++) {
		const struct key *key = &explain->keys[keys[i]];

		if (key->omega2 > 0 && key->omega2 >= least && !may_follow(key) &&
				is_simpler(key, &explain->keys[keys[simplest]])) {
			simplest = i;
		}
	}
	first = keys[simplest];
	for (; simplest > 0; simplest--) {
		keys[simplest] = keys[simplest - 1];
	}
	keys[0] = first;
}

/* None can be told from the other: by their order, if both have one and rows in common, or by
 * which levels meet. */
static bool go_together(const struct explain *explain, const struct key *a, const struct key *b)
{
	uint32_t n = explain->n, alike = 0;
	double rho = 0;

	if (levels_association(&a->levels, &b->levels, n) >= SAME_LEVELS) {
		return true;
	}
	if (!a->numeric || !b->numeric) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		alike += isnan(a->values[i]) == isnan(b->values[i]);
		rho += a->scores[i] * b->scores[i];
	}
	/* With the few rows that one of them lacks counted as of the middle. */
	return alike >= SAME_RHO * n && fabs(rho) > SAME_RHO;
}

void order_place(struct explain *explain, uint32_t i)
{
	uint32_t at = explain->tested[i];
	struct key *key = &explain->keys[at];

	for (uint32_t before = 0; before < explain->n_ordered; before++) {
		uint32_t other = explain->ordered[before];

		if (go_together(explain, &explain->keys[other], key)) {
			key->stands_for = other;
			return;
		}
	}
	explain->ordered[explain->n_ordered++] = at;
}
