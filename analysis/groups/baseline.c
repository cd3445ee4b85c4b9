/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "groups/baselines.h"
#include "groups/grouping.h"
#include "base/hash.h"

#define STEPS (HISTOGRAM_BINS >> HISTOGRAM_SHIFT_PER_16TH)

/* A copy of a baseline, and its groups by their keys, where it has any, else by their paths. */
struct baseline_copy {
	struct arena arena;
	const struct baseline_group *groups;
	uint32_t *table, room; /* index + 1; at most half full */
	struct baseline whole;
};

void baseline_copy_destroy(struct baseline_copy *copy)
{
	if (copy) {
		arena_release(&copy->arena);
		free(copy);
	}
}

static bool is_group(const struct baseline_group *group, const char *type, uint64_t key,
		const char *path)
{
	return !strcmp(group->type, type) && group->key == key &&
	       (key || !strcmp(group->path, path));
}

/* The place where the group stands, or would stand. */
static uint32_t *baseline_place(
		const struct baseline_copy *copy, const char *type, uint64_t key, const char *path)
{
	uint64_t at = hash_pair(
			hash_bytes(type, strlen(type)), key ? key : hash_bytes(path, strlen(path)));

	for (;; at++) {
		uint32_t *place = &copy->table[at & (copy->room - 1)];

		if (!*place || is_group(&copy->groups[*place - 1], type, key, path)) {
			return place;
		}
	}
}

static bool baseline_group_copy(
		struct arena *arena, struct baseline_group *to, const struct baseline_group *from)
{
	size_t bytes = from->histogram_bins * sizeof(*from->histogram);
	uint64_t *histogram = arena_alloc(arena, bytes + 1);

	*to = *from;
	to->type = arena_text(arena, from->type);
	to->path = arena_text(arena, from->path);
	to->histogram = histogram;
	to->counts = NULL;
	if (!to->type || !to->path || !histogram) {
		return false;
	}
	if (bytes) {
		memcpy(histogram, from->histogram, bytes);
	}
	return true;
}

/* A histogram that no durations can have made compares to nothing. */
static bool is_sound(const struct baseline_group *group)
{
	return group->histogram_low >= 0 && (uint32_t)group->histogram_low <= STEPS &&
	       group->histogram_bins <= STEPS - (uint32_t)group->histogram_low;
}

static bool baseline_node_copy(struct arena *arena, struct baseline_node *to,
		const struct baseline_node *from, uint32_t index)
{
	*to = *from;
	to->name = arena_text(arena, from->name);
	to->provider = arena_text(arena, from->provider);
	to->process = arena_text(arena, from->process);
	to->buckets = NULL;
	/* What comes before its parent could be a circle. */
	return to->name && to->provider && to->process &&
	       (from->parent == UINT32_MAX || from->parent < index);
}

static bool baseline_types_copy(
		struct arena *arena, struct baseline *to, const struct baseline *from)
{
	struct baseline_type *types = arena_alloc(arena, (from->n_types + 1u) * sizeof(*types));

	*to = *from;
	to->groups = NULL;
	to->n = 0;
	to->n_buckets = 0;
	to->types = types;
	to->origin = arena_text(arena, from->origin);
	if (!types || !to->origin) {
		return false;
	}
	for (uint32_t i = 0; i < from->n_types; i++) {
		const struct baseline_type *type = &from->types[i];
		struct baseline_node *nodes = arena_alloc(arena, (type->n + 1u) * sizeof(*nodes));

		types[i] = *type;
		types[i].nodes = nodes;
		types[i].counts = NULL;
		types[i].type = arena_text(arena, type->type);
		if (!nodes || !types[i].type) {
			return false;
		}
		for (uint32_t k = 0; k < type->n; k++) {
			if (!baseline_node_copy(arena, &nodes[k], &type->nodes[k], k)) {
				return false;
			}
		}
	}
	return true;
}

static struct baseline_copy *baseline_copy_create(const struct baseline *baseline)
{
	struct baseline_copy *copy = calloc(1, sizeof(*copy));
	struct baseline_group *groups;

	if (!copy) {
		return NULL;
	}
	copy->room = 2;
	while (copy->room / 2 < baseline->n + 1u && copy->room <= UINT32_MAX / 4) {
		copy->room *= 2;
	}
	groups = arena_alloc(&copy->arena, (baseline->n + 1u) * sizeof(*groups));
	copy->table = arena_alloc(&copy->arena, copy->room * sizeof(*copy->table));
	copy->groups = groups;
	if (!groups || !copy->table || !baseline_types_copy(&copy->arena, &copy->whole, baseline)) {
		baseline_copy_destroy(copy);
		return NULL;
	}
	for (uint32_t i = 0; i < baseline->n; i++) {
		uint32_t *place;

		if (!is_sound(&baseline->groups[i])) {
			continue;
		}
		if (!baseline_group_copy(&copy->arena, &groups[i], &baseline->groups[i])) {
			baseline_copy_destroy(copy);
			return NULL;
		}
		place = baseline_place(copy, groups[i].type, groups[i].key, groups[i].path);
		*place = *place ? *place : i + 1; /* of two alike the first holds */
	}
	copy->whole.groups = groups;
	copy->whole.n = baseline->n;
	return copy;
}

const struct baseline *groups_reference_baseline(const struct groups *groups)
{
	return groups->baseline ? &groups->baseline->whole : NULL;
}

void baseline_apply(struct groups *groups, struct group *group)
{
	const struct baseline_copy *copy = groups->baseline;
	uint32_t found = 0;

	if (copy) {
		const char *type = names_text(groups->names, group->type);

		found = *baseline_place(copy, type, group->key, group->label);
		if (!found) { /* a file that has no keys */
			found = *baseline_place(copy, type, 0, group->label);
		}
	}
	group->was = found ? &copy->groups[found - 1] : NULL;
	group->rows_judged = 0;
}

enum status groups_set_baseline(struct groups *groups, const struct baseline *baseline)
{
	struct baseline_copy *copy = baseline ? baseline_copy_create(baseline) : NULL;

	if (baseline && !copy) {
		return STATUS_NO_MEMORY;
	}
	baseline_copy_destroy(groups->baseline);
	groups->baseline = copy;
	for (uint32_t i = 0; i < groups->n; i++) {
		baseline_apply(groups, groups->items[i]);
		for (uint32_t h = 0; h < HORIZON_COUNT; h++) {
			groups->caches[h].rows[i].shift = 0;
			groups->caches[h].rows[i].detection &= ~(uint32_t)DETECTION_SHIFTED;
		}
	}
	return STATUS_OK;
}
