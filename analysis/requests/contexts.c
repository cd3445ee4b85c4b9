/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "requests/contexts.h"

#define FIRST_SLOTS 256

struct contexts {
	struct context *nodes; /* by number; 0 is the root of all */
	uint32_t *slots;       /* numbers by hash; 0: empty */
	uint32_t n, n_slots, max;
	uint64_t refused;
};

struct contexts *contexts_create(uint32_t max)
{
	struct contexts *contexts = calloc(1, sizeof(*contexts));

	if (!contexts) {
		return NULL;
	}
	contexts->max = max;
	contexts->n = 1;
	contexts->n_slots = FIRST_SLOTS;
	contexts->slots = calloc(FIRST_SLOTS, sizeof(*contexts->slots));
	contexts->nodes = calloc(FIRST_SLOTS / 2, sizeof(*contexts->nodes));
	if (!contexts->slots || !contexts->nodes) {
		contexts_destroy(contexts);
		return NULL;
	}
	return contexts;
}

void contexts_destroy(struct contexts *contexts)
{
	if (!contexts) {
		return;
	}
	free(contexts->slots);
	free(contexts->nodes);
	free(contexts);
}

static uint64_t hash_node(uint32_t parent, uint32_t name, uint32_t provider)
{
	return hash_pair((uint64_t)parent << 32 | name, provider);
}

static bool grow(struct contexts *contexts)
{
	uint32_t n_slots = contexts->n_slots * 2;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));
	struct context *nodes = realloc(contexts->nodes, n_slots / 2 * sizeof(*nodes));
	uint32_t i;

	if (nodes) {
		contexts->nodes = nodes;
	}
	if (!slots || !nodes) {
		free(slots);
		return false;
	}
	for (i = 1; i < contexts->n; i++) {
		uint64_t hash = hash_node(nodes[i].parent, nodes[i].name, nodes[i].provider);
		uint32_t at = (uint32_t)hash & (n_slots - 1);

		while (slots[at]) {
			at = (at + 1) & (n_slots - 1);
		}
		slots[at] = i;
	}
	free(contexts->slots);
	contexts->slots = slots;
	contexts->n_slots = n_slots;
	return true;
}

uint32_t contexts_add(struct contexts *contexts, uint32_t parent, uint32_t name, uint32_t provider)
{
	uint64_t hash = hash_node(parent, name, provider);
	uint32_t at;

	for (at = (uint32_t)hash & (contexts->n_slots - 1); contexts->slots[at];
			at = (at + 1) & (contexts->n_slots - 1)) {
		const struct context *node = &contexts->nodes[contexts->slots[at]];

		if (node->parent == parent && node->name == name && node->provider == provider) {
			return contexts->slots[at];
		}
	}
	if (contexts->n > contexts->max ||
			(contexts->n == contexts->n_slots / 2 && !grow(contexts))) {
		contexts->refused++;
		return parent;
	}
	at = (uint32_t)hash & (contexts->n_slots - 1);
	while (contexts->slots[at]) {
		at = (at + 1) & (contexts->n_slots - 1);
	}
	contexts->nodes[contexts->n] = (struct context){
			.parent = parent,
			.name = name,
			.provider = provider,
			.depth = contexts->nodes[parent].depth + 1,
	};
	contexts->slots[at] = contexts->n;
	return contexts->n++;
}

const struct context *contexts_get(const struct contexts *contexts, uint32_t context)
{
	return &contexts->nodes[context < contexts->n ? context : 0];
}

uint32_t contexts_count(const struct contexts *contexts)
{
	return contexts->n;
}
