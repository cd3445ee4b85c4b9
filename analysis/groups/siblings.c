/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/siblings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "groups/grouping.h"

#define KINDS_NONE UINT64_C(1) /* it asks no server that could be another one */

/* ---- which groups are alike ---- */

static uint32_t kind_of(const struct groups *groups, uint32_t name)
{
	return groups->config.server_kind
			       ? groups->config.server_kind(groups->config.measurer, name)
			       : 0;
}

/* Of a context and those above it, where servers are told by their kind alone. */
static uint64_t hash_kinds(const struct groups *groups, uint32_t id, bool *asks)
{
	uint64_t hash = 0;

	while (id) {
		const struct context *context = contexts_get(groups->contexts, id);
		const char *name = names_own_text(groups->names, context->name);
		uint32_t kind = kind_of(groups, context->name);

		*asks |= kind && context->depth > 1;
		hash = hash_pair(hash, hash_bytes(name, kind ? kind : strlen(name)));
		id = context->parent;
	}
	return hash;
}

static uint64_t kinds_of(const struct groups *groups, struct group *group)
{
	bool asks = false;

	if (!group->kinds) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < group->n_path; i++) {
			sum += hash_kinds(groups, group->path[i], &asks);
		}
		group->kinds = !asks ? KINDS_NONE : sum > KINDS_NONE ? sum : KINDS_NONE + 1;
	}
	return group->kinds;
}

static int compare_ids(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static bool passes(const struct group *group, uint32_t context)
{
	return bsearch(&context, group->path, group->n_path, sizeof(*group->path), compare_ids);
}

/* The one context that a request of the group enters, and none of the other; 0: there are several.
 */
static uint32_t way_apart(
		const struct groups *groups, const struct group *group, const struct group *other)
{
	uint32_t apart = 0;

	for (uint32_t i = 0; i < group->n_path; i++) {
		uint32_t at = group->path[i], above;

		if (passes(other, at)) {
			continue;
		}
		above = contexts_get(groups->contexts, at)->parent;
		if (above && !passes(other, above)) {
			continue; /* below another one */
		}
		if (apart) {
			return 0;
		}
		apart = at;
	}
	return apart;
}

/* Calls of the same place, to servers of one kind. */
static bool are_like(const struct groups *groups, uint32_t a, uint32_t b)
{
	const struct context *left = contexts_get(groups->contexts, a);
	const struct context *right = contexts_get(groups->contexts, b);
	uint32_t kind = kind_of(groups, left->name);

	return kind && kind == kind_of(groups, right->name) && left->parent == right->parent &&
	       left->provider == right->provider &&
	       memcmp(names_own_text(groups->names, left->name),
			       names_own_text(groups->names, right->name), kind) == 0;
}

uint32_t groups_siblings(
		struct groups *groups, uint32_t group_id, struct sibling *out, uint32_t max)
{
	struct group *group =
			group_id && group_id <= groups->n ? groups->items[group_id - 1] : NULL;
	uint64_t kinds = group ? kinds_of(groups, group) : KINDS_NONE;
	uint32_t n = 0, i = kinds > KINDS_NONE ? groups->newest_of_type[group->type] : 0;

	for (; i && n < max; i = groups->items[i - 1]->same_type) {
		struct group *other = groups->items[i - 1];
		struct sibling *sibling = &out[n];

		if (other == group || other->variant != group->variant ||
				other->n_path != group->n_path ||
				kinds_of(groups, other) != kinds) {
			continue;
		}
		*sibling = (struct sibling){.group_id = i,
				.own = way_apart(groups, group, other),
				.its = way_apart(groups, other, group)};
		n += sibling->own && sibling->its && are_like(groups, sibling->own, sibling->its);
	}
	return n;
}

void groups_called(const struct groups *groups, uint32_t group_id, uint32_t call, char *out,
		size_t size)
{
	const struct group *group = groups->items[group_id - 1];
	const struct context *at = contexts_get(groups->contexts, call);
	const char *name = names_text(groups->names, at->name);

	snprintf(out, size, "%s", strrchr(name, ':') ? strrchr(name, ':') : name);
	for (uint32_t i = 0; i < group->n_path; i++) {
		at = contexts_get(groups->contexts, group->path[i]);
		if (at->parent == call && kind_of(groups, at->name)) {
			snprintf(out, size, "%s", names_text(groups->names, at->name));
		}
	}
}

/* ---- what they were asked ---- */

/* How long the messages are that requests of a group begin with; returns of how many. */
static uint32_t read_asked(struct groups *groups, uint32_t group_id, double *lengths)
{
	const struct request *requests[SIBLINGS_ASKED];
	uint32_t n = groups_newest(groups, group_id, HORIZON_WINDOW, requests, SIBLINGS_ASKED);
	uint32_t n_told = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bytes;

		if (groups->config.asked(groups->config.measurer, requests[i], &bytes)) {
			lengths[n_told++] = (double)bytes;
		}
	}
	return n_told;
}

static int compare_numbers(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* How far the distribution functions of both are apart at most. Sorts them. */
static double distance(double *a, uint32_t n_a, double *b, uint32_t n_b)
{
	uint32_t at_a = 0, at_b = 0;
	double most = 0;

	qsort(a, n_a, sizeof(*a), compare_numbers);
	qsort(b, n_b, sizeof(*b), compare_numbers);
	while (at_a < n_a && at_b < n_b) {
		double value = fmin(a[at_a], b[at_b]);

		while (at_a < n_a && a[at_a] <= value) {
			at_a++;
		}
		while (at_b < n_b && b[at_b] <= value) {
			at_b++;
		}
		most = fmax(most, fabs((double)at_a / n_a - (double)at_b / n_b));
	}
	return most;
}

bool groups_ask_alike(struct groups *groups, uint32_t group_id, uint32_t other_id)
{
	double a[SIBLINGS_ASKED], b[SIBLINGS_ASKED], most;
	uint32_t n, m;

	if (!groups->config.asked) {
		return true;
	}
	n = read_asked(groups, group_id, a);
	m = read_asked(groups, other_id, b);
	/* The tail of Smirnov's distribution is at most 2 exp(-2 z^2). */
	most = sqrt(-log(SIBLINGS_P / 2) / 2) * sqrt(1.0 / (n + !n) + 1.0 / (m + !m));
	return n == 0 || m == 0 || distance(a, n, b, m) <= most;
}
