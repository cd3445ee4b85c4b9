/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

static uint32_t learn_point(struct pythia *pythia, const struct profile_node *node)
{
	uint32_t at = points_add(&pythia->points, pythia_intern(pythia, node->provider),
			pythia_intern(pythia, node->name), node->kernel);

	if (at == POINT_NONE) {
		return at;
	}
	if (*node->entry) {
		points_set_event(&pythia->points, at, pythia_intern(pythia, node->entry), false);
	}
	if (*node->exit) {
		points_set_event(&pythia->points, at, pythia_intern(pythia, node->exit), true);
	}
	pythia->points.items[at].placed = true;
	if (node->explained > pythia->points.items[at].explained) {
		pythia->points.items[at].explained = node->explained;
	}
	return at;
}

static enum status learn_type(struct pythia *pythia, const struct profile_type *type)
{
	uint32_t root = space_add_type(&pythia->space, pythia_intern(pythia, type->type));
	uint32_t *nodes = calloc(type->n + 1, sizeof(*nodes));
	enum status status = root != SPACE_NONE && nodes ? STATUS_OK : STATUS_NO_MEMORY;

	for (uint32_t i = 0; i < type->n && status == STATUS_OK; i++) {
		const struct profile_node *from = &type->nodes[i];
		uint32_t point = learn_point(pythia, from);
		struct space_node *node;

		if (from->parent != UINT32_MAX && from->parent >= i) {
			status = STATUS_INVALID;
			break;
		}
		nodes[i] = point == POINT_NONE
					   ? SPACE_NONE
					   : space_add(&pythia->space,
							     from->parent == UINT32_MAX
									     ? root
									     : nodes[from->parent],
							     point);
		if (nodes[i] == SPACE_NONE) {
			status = STATUS_NO_MEMORY;
			break;
		}
		node = &pythia->space.nodes[nodes[i]];
		if (type->requests >= node->requests) {
			node->count = from->count;
			node->total_ns = from->total_ns;
			node->requests = type->requests;
			node->offset_ns = from->offset_ns;
			node->guessed = false;
		}
	}
	free(nodes);
	if (type->ended) {
		failures_usual(pythia,
				&(struct usual_failures){.type = pythia_intern(pythia, type->type),
						.applies = true,
						.failed = type->failed,
						.ended = type->ended});
	}
	for (uint32_t i = 0; i < type->n_norms; i++) {
		const struct profile_norm *norm = &type->norms[i];

		norms_set(pythia, &(struct norm){.type = pythia_intern(pythia, type->type),
						  .path = pythia_intern(pythia, norm->path),
						  .count = norm->count,
						  .p50_ns = norm->p50_ns,
						  .middle_ns = norm->middle_ns,
						  .cov = norm->cov,
						  .n_modes = norm->n_modes,
						  .applies = true});
	}
	return status;
}

enum status pythia_learn(struct pythia *pythia, const struct profile *profile)
{
	enum status status = STATUS_OK;

	for (uint32_t i = 0; i < profile->n && status == STATUS_OK; i++) {
		status = learn_type(pythia, &profile->types[i]);
	}
	pythia->space.saved |= status == STATUS_OK && profile->n > 0;
	return status;
}

void profile_meet(struct pythia *pythia, const struct groups_view *groups)
{
	struct space *space = &pythia->space;

	for (uint32_t i = 0; i < groups->n && space->saved && !space->learned; i++) {
		uint32_t root = space_type(space, pythia_intern(pythia, groups->rows[i].type));

		space->learned = root != SPACE_NONE && space_is_whole(space, root);
	}
}

/* The nodes below a root, depth first, so that parents precede. */
static uint32_t write_type(const struct pythia *pythia, uint32_t root, uint32_t *number,
		struct profile_node *out)
{
	const struct space *space = &pythia->space;
	uint32_t n = 0;

	for (uint32_t at = space_next(space, root, root, false); at != SPACE_NONE;
			at = space_next(space, root, at, false)) {
		const struct space_node *node = &space->nodes[at];
		const struct point *point = &pythia->points.items[node->point];

		number[at] = n;
		if (out) {
			out[n] = (struct profile_node){
					.parent = node->parent == root ? UINT32_MAX
								       : number[node->parent],
					.name = names_text(pythia->names, point->name),
					.provider = names_text(pythia->names, point->provider),
					.entry = names_text(pythia->names, point->entry),
					.exit = names_text(pythia->names, point->exit),
					.kernel = point->kernel,
					.count = node->count,
					.total_ns = node->total_ns,
					.offset_ns = node->offset_ns,
					.explained = point->explained};
		}
		n++;
	}
	return n;
}

/* NULL if out of memory. */
static struct profile_norm *write_norms(
		const struct pythia *pythia, uint32_t type, struct arena *arena, uint32_t *n)
{
	struct profile_norm *norms =
			arena_alloc(arena, (pythia->detecting.n_norms + 1) * sizeof(*norms));

	*n = 0;
	for (uint32_t i = 0; norms && i < pythia->detecting.n_norms; i++) {
		const struct norm *norm = &pythia->detecting.norms[i];

		if (norm->type == type && !norm->stands_in) {
			norms[(*n)++] = (struct profile_norm){
					.path = names_text(pythia->names, norm->path),
					.count = norm->count,
					.p50_ns = norm->p50_ns,
					.middle_ns = norm->middle_ns,
					.cov = norm->cov,
					.n_modes = norm->n_modes};
		}
	}
	return norms;
}

static uint64_t requests_below(const struct space *space, uint32_t root)
{
	uint64_t most = 0;

	for (uint32_t at = space->nodes[root].first; at != SPACE_NONE; at = space->nodes[at].next) {
		most = space->nodes[at].requests > most ? space->nodes[at].requests : most;
	}
	return most;
}

bool pythia_has_learned(const struct pythia *pythia)
{
	return pythia->space.learned || pythia->space.saved;
}

const struct profile *pythia_profile(const struct pythia *pythia, struct arena *arena)
{
	const struct space *space = &pythia->space;
	struct profile *profile = arena_alloc(arena, sizeof(*profile));
	struct profile_type *types = arena_alloc(arena, (space->n + 1) * sizeof(*types));
	uint32_t *number = arena_alloc(arena, (space->n + 1) * sizeof(*number));

	if (!profile || !types || !number) {
		return NULL;
	}
	*profile = (struct profile){.origin = "", .types = types};
	for (uint32_t root = 0; root < space->n; root++) {
		const struct usual_failures *usual;
		struct profile_norm *norms;
		struct profile_node *nodes;
		uint32_t n, n_norms;

		if (space->nodes[root].parent != SPACE_NONE) {
			continue;
		}
		n = write_type(pythia, root, number, NULL);
		nodes = arena_alloc(arena, (n + 1) * sizeof(*nodes));
		norms = write_norms(pythia, space->nodes[root].type, arena, &n_norms);
		if (!nodes || !norms) {
			return NULL;
		}
		write_type(pythia, root, number, nodes);
		usual = failures_usual_of(pythia, space->nodes[root].type);
		types[profile->n++] = (struct profile_type){
				.type = names_text(pythia->names, space->nodes[root].type),
				.requests = requests_below(space, root),
				.failed = usual ? usual->failed : 0,
				.ended = usual ? usual->ended : 0,
				.n = n,
				.nodes = nodes,
				.n_norms = n_norms,
				.norms = norms};
	}
	return profile;
}
