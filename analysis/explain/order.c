/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "explain/explaining.h"
#include "field_words.h"

/*
 * The strongest first, by omega^2 in the explored half alone. Of keys that are nearly as strong as
 * the strongest the one of fewest levels (of as many the deepest) comes first: a count of 0 or 1
 * says it all, where the fields of what is counted say it too (Breiman et al. 1984: the simplest
 * tree within an error). A time that was waited for a resource is a part of the duration, and would
 * be stronger than its cause, such as the length of a queue; and who is slow polls and tries again
 * more often, so that how often something is done, other than whether it is, may follow from the
 * duration; and what system calls tell, and whether they are made, follows from the way that the
 * code took; and what is told only when the time that varies has gone by, such as the length of the
 * answer, may. And the port at the other end of a request's own connection is only a name of who
 * asks: where that goes with what is asked, it is what is asked that makes it slow, and that each
 * client asks its own may be chance. These come first only where nothing else is half as strong,
 * and stand for no value that they go together with. Even whether something is done follows where a
 * value elsewhere tells as much: a count says it all only of values of what is counted.
 */
#define NEARLY_AS_STRONG 0.02
#define SAME_RHO         0.95
#define SAME_LEVELS      0.95
#define TOLD_LATE        0.5 /* of Var(T) has gone by when the value is told */

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

/* It is done so and so often, not only done or not. */
static bool repeats(const struct explain *explain, const struct key *key)
{
	double first = 0;

	for (uint32_t i = 0; i < explain->n; i++) {
		double value = isnan(key->values[i]) ? 0 : key->values[i];

		if (value > 0 && first > 0 && (value < first || value > first)) {
			return true;
		}
		first = value > 0 ? value : first;
	}
	return false;
}

/* What a key counts; "": it does not count. */
static const char *counted_by(const struct key *key)
{
	static const char counted[] = "count of ";

	return strncmp(key->name, counted, sizeof(counted) - 1) == 0
			       ? key->name + sizeof(counted) - 1
			       : "";
}

/*
 * The port at the other end of the connection that the request came by. (In a call to another
 * server the port at the other end tells which server was asked: a variable like any other.)
 */
static bool names_asker(const struct key *key)
{
	return strstr(key->where, "›call :") == NULL &&
	       (strcmp(key->name, "socket_recv.dport") == 0 ||
			       strcmp(key->name, "socket_send.dport") == 0);
}

/* It may follow from how long the request takes, or from what it asks for. */
static bool may_follow(const struct explain *explain, const struct key *key)
{
	return key->done || key_is_part(key) || names_asker(key) || key->told >= TOLD_LATE ||
	       (key->source == EXPLANATION_COUNT &&
			       (repeats(explain, key) || is_interruption(counted_by(key))));
}

/* The place of the strongest that does not follow; what may where none is half as strong. */
static uint32_t find_strongest(const struct explain *explain)
{
	double half = explain->keys[explain->tested[0]].omega2 / 2;

	for (uint32_t i = 0; i < explain->n_tested; i++) {
		const struct key *key = &explain->keys[explain->tested[i]];

		if (key->omega2 > 0 && key->omega2 >= half && !may_follow(explain, key)) {
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

/* Is the key a value of what the other one counts, or of what is done within? */
static bool is_of_counted(const struct key *key, const struct key *count)
{
	const char *name = counted_by(count), *rest = key->where;
	size_t above = strlen(count->where), length;

	if (!name[0] || strncmp(key->where, count->where, above) != 0) {
		return false;
	}
	length = strlen(name);
	if (!rest[above] && strncmp(key->name, name, length) == 0) {
		return key->name[length] == '.';
	}
	rest += above;
	rest += strncmp(rest, "›", strlen("›")) == 0 ? strlen("›") : 0;
	return strncmp(rest, name, length) == 0 &&
	       (!rest[length] || strncmp(rest + length, "›", strlen("›")) == 0);
}

/* Says it with fewer levels, or as many but nearer to where it is. */
static bool is_simpler(const struct key *a, const struct key *b)
{
	bool counts[2] = {a->source == EXPLANATION_COUNT, b->source == EXPLANATION_COUNT};

	if (counts[0] && !counts[1] && !is_of_counted(b, a)) {
		return false;
	}
	if (counts[1] && !counts[0] && !is_of_counted(a, b)) {
		return true;
	}
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

		if (key->omega2 > 0 && key->omega2 >= least && !may_follow(explain, key) &&
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

/* The key stands for what the one in that place stood for. */
static void take_place(struct explain *explain, uint32_t place, uint32_t at)
{
	uint32_t other = explain->ordered[place];

	for (uint32_t i = 0; i < explain->n_keys; i++) {
		if (explain->keys[i].stands_for == other) {
			explain->keys[i].stands_for = at;
		}
	}
	explain->keys[other].stands_for = at;
	explain->ordered[place] = at;
}

void order_place(struct explain *explain, uint32_t i)
{
	uint32_t at = explain->tested[i];
	struct key *key = &explain->keys[at];

	for (uint32_t before = 0; before < explain->n_ordered; before++) {
		uint32_t other = explain->ordered[before];

		if (!go_together(explain, &explain->keys[other], key)) {
			continue;
		}
		/* The value takes the place of what may follow, but for the first, which was
		 * chosen. */
		if (before > 0 && may_follow(explain, &explain->keys[other]) &&
				!may_follow(explain, key)) {
			take_place(explain, before, at);
		} else {
			key->stands_for = other;
		}
		return;
	}
	explain->ordered[explain->n_ordered++] = at;
}
