/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "behaving.h"

#include <stdlib.h>
#include <string.h>

#include "behaviour/told.h"
#include "requests/sequence.h"

#define NS_PER_S UINT64_C(1000000000)

struct behaving {
	struct requests *requests;
	struct groups *groups;
	struct behaviour *behaviour;
	struct request *request; /* that is being handed on */

	/* What was told last, and of what. */
	struct arena arena;
	struct shapes_view told;
	bool is_told, pinned;
	uint32_t type;
	enum horizon horizon;
	uint64_t second;
};

static uint32_t hold(void *context, uint64_t id)
{
	struct behaving *behaving = context;

	(void)id;
	return groups_hold(behaving->groups, behaving->request);
}

static enum request_kept held(void *context, uint32_t request)
{
	struct behaving *behaving = context;

	return groups_held(behaving->groups, request);
}

static void let_go(void *context, uint32_t held)
{
	struct behaving *behaving = context;

	groups_let_go(behaving->groups, held);
}

struct behaving *behaving_create(struct requests *requests, struct groups *groups,
		const struct names *names, uint64_t window_ns)
{
	struct behaving *behaving = calloc(1, sizeof(*behaving));

	if (!behaving) {
		return NULL;
	}
	behaving->requests = requests;
	behaving->groups = groups;
	behaving->behaviour = behaviour_create(&(struct behaviour_config){.window_ns = window_ns,
							       .hold = hold,
							       .held = held,
							       .let_go = let_go,
							       .context = behaving},
			names);
	if (!behaving->behaviour) {
		free(behaving);
		return NULL;
	}
	return behaving;
}

void behaving_destroy(struct behaving *behaving)
{
	if (behaving) {
		behaviour_destroy(behaving->behaviour);
		arena_release(&behaving->arena);
		free(behaving);
	}
}

static void measure(struct behaving *behaving, struct request *request, struct resources *out)
{
	struct state_resources used;

	if (!requests_used(behaving->requests, request, &used) || !used.measured) {
		return;
	}
	out->known = true;
	out->amount[RESOURCE_CPU] = (double)used.cpu_ns;
	out->amount[RESOURCE_WAIT] = (double)used.blocked_ns;
	out->amount[RESOURCE_BYTES] = (double)(used.disk_read_bytes + used.disk_write_bytes +
					       used.net_read_bytes + used.net_write_bytes);
}

void behaving_request(struct behaving *behaving, struct request *request)
{
	struct behaved behaved = {.type = request->type,
			.group_id = request->group_id,
			.id = request->id,
			.hosts = request->hosts,
			.start_ns = request->start_ns,
			.end_ns = request->end_ns,
			.no_end = request->state == REQUEST_TIMEOUT};

	if (request->tainted || request->state == REQUEST_MERGED ||
			request->state == REQUEST_TRUNCATED ||
			!behaviour_wants(behaving->behaviour, request->type, request->start_ns,
					request->end_ns) ||
			!requests_sequence(behaving->requests, request, &behaved.sequence)) {
		return;
	}
	measure(behaving, request, &behaved.resources);
	behaving->request = request;
	behaviour_add(behaving->behaviour, &behaved);
	behaving->request = NULL;
}

void behaving_advance(struct behaving *behaving, uint64_t now_ns)
{
	behaviour_advance(behaving->behaviour, now_ns);
}

void behaving_begin_epoch(struct behaving *behaving, uint64_t from_ns,
		bool (*touches)(void *context, uint32_t type, uint64_t hosts), void *context)
{
	behaviour_begin_epoch(behaving->behaviour, from_ns, touches, context);
	behaving->is_told = false;
}

/* ---- into a snapshot ---- */

static bool is_known(const struct behaving *behaving, uint32_t type, bool pinned,
		const struct snapshot *snapshot)
{
	return behaving->is_told && behaving->type == type &&
	       behaving->horizon == snapshot->focus.horizon && behaving->pinned == pinned &&
	       (pinned || behaving->second == snapshot->time_ns / NS_PER_S) &&
	       !(snapshot->focus.parts & FOCUS_THOROUGH);
}

static bool tell(struct behaving *behaving, uint32_t type, bool pinned,
		const struct snapshot *snapshot)
{
	if (is_known(behaving, type, pinned, snapshot)) {
		return true;
	}
	arena_release(&behaving->arena);
	behaving->arena = (struct arena){.chunks = NULL};
	behaving->is_told = behaviour_tell(behaving->behaviour, type, snapshot->focus.horizon,
			&behaving->arena, &behaving->told);
	behaving->type = type;
	behaving->horizon = snapshot->focus.horizon;
	behaving->pinned = pinned;
	behaving->second = snapshot->time_ns / NS_PER_S;
	return behaving->is_told;
}

/* Texts are the snapshot's own. */
static enum status copy(const struct shapes_view *told, struct snapshot *snapshot)
{
	struct shape_row *rows = snapshot_alloc(snapshot, (told->n + 1) * sizeof(*rows));
	struct improbable_row *improbable =
			snapshot_alloc(snapshot, (told->n_improbable + 1) * sizeof(*improbable));
	struct shapes_type *types = snapshot_alloc(snapshot, (told->n_types + 1) * sizeof(*types));

	if (!rows || !improbable || !types) {
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < told->n; i++) {
		rows[i] = told->rows[i];
		rows[i].type = snapshot_text(snapshot, rows[i].type);
		rows[i].differs = snapshot_text(snapshot, rows[i].differs);
	}
	for (uint32_t i = 0; i < told->n_improbable; i++) {
		improbable[i] = told->improbable[i];
		improbable[i].type = snapshot_text(snapshot, improbable[i].type);
		improbable[i].at = snapshot_text(snapshot, improbable[i].at);
		improbable[i].expected = snapshot_text(snapshot, improbable[i].expected);
	}
	for (uint32_t i = 0; i < told->n_types; i++) {
		types[i] = told->types[i];
		types[i].type = snapshot_text(snapshot, types[i].type);
	}
	snapshot->shapes = *told;
	snapshot->shapes.rows = rows;
	snapshot->shapes.improbable = improbable;
	snapshot->shapes.types = types;
	return STATUS_OK;
}

enum status behaving_fill(struct behaving *behaving, const struct focus *focus, bool pinned,
		struct snapshot *snapshot)
{
	bool one = focus->screen == SCREEN_SHAPES && !(focus->parts & FOCUS_LOCATE);
	uint32_t type = one ? groups_type(behaving->groups, snapshot->focus.group_id) : 0;

	if (one && !type) {
		return STATUS_OK;
	}
	if (!tell(behaving, type, pinned, snapshot)) {
		return STATUS_NO_MEMORY;
	}
	return copy(&behaving->told, snapshot);
}
