/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "groups/baselines.h"
#include "groups/grouping.h"
#include "groups/keep.h"
#include "groups/label.h"
#include "groups/observe.h"
#include "base/hash.h"
#include "requests/waits.h"

#define FIRST_ROOM       64u
#define MAX_CONTEXTS     (UINT64_C(1) << 18)
#define MAX_SAMPLE_BYTES (UINT64_C(128) << 20)

_Static_assert(SAMPLES_MAX == GROUPS_MAX_SAMPLES, "both samples reach back equally far");

static uint32_t quarters_of(uint64_t window_ns)
{
	uint64_t quarters = window_ns / QUARTER_NS + (window_ns % QUARTER_NS != 0);

	if (quarters > MAX_QUARTERS) {
		return MAX_QUARTERS;
	}
	return quarters ? (uint32_t)quarters : 1;
}

struct groups *groups_create(const struct groups_config *config, const struct names *names,
		const struct contexts *contexts, struct request_pool *pool)
{
	struct groups *groups = calloc(1, sizeof(*groups));

	if (!groups) {
		return NULL;
	}
	groups->config = *config;
	if (!(config->cov_limit > 0)) {
		groups->config.cov_limit = DETECT_COV_LIMIT;
	}
	if (!config->max_bucket_bytes) {
		groups->config.max_bucket_bytes = MAX_BUCKET_BYTES;
	}
	if (!config->samples_per_s || config->samples_per_s > SAMPLES_PER_S) {
		groups->config.samples_per_s = SAMPLES_PER_S;
	}
	groups->names = names;
	groups->contexts = contexts;
	groups->window = quarters_of(config->window_ns);
	groups->retention = 2 * groups->window;
	groups->seal = 1;
	pool_init(&groups->pool);
	samples_init(&groups->samples,
			config->max_sample_bytes ? config->max_sample_bytes : MAX_SAMPLE_BYTES);
	groups->contexts_bound.max = config->max_contexts ? config->max_contexts : MAX_CONTEXTS;
	groups->sample_slots = calloc(groups->window, sizeof(struct sample *));
	kept_store_init(&groups->kept, pool);
	groups->slots = calloc(groups->retention, sizeof(struct slice *));
	groups->table = calloc(FIRST_ROOM, sizeof(*groups->table));
	groups->table_room = FIRST_ROOM;
	groups->failing = failing_create();
	if (!groups->failing || !groups->slots || !groups->table || !groups->sample_slots) {
		groups_destroy(groups);
		return NULL;
	}
	return groups;
}

static void group_destroy(struct groups *groups, struct group *group)
{
	if (group->pinned) {
		observed_release(groups, &group->pinned->observed);
	}
	observed_release(groups, &group->now.observed);
	free(group->pinned);
	free(group->collected);
	free(group->ring.records);
	free(group->path);
	free(group->services);
	free(group->label);
	free(group);
}

void groups_destroy(struct groups *groups)
{
	if (!groups) {
		return;
	}
	for (uint32_t i = 0; i < groups->n; i++) {
		group_destroy(groups, groups->items[i]);
	}
	kept_store_release(&groups->kept);
	pool_release(&groups->pool);
	samples_release(&groups->samples);
	free(groups->keys_of_one);
	profile_release(&groups->past.profile);
	location_release(&groups->located.location);
	tree_work_release(&groups->tree);
	profile_items_release(&groups->items_of_one);
	free(groups->sample_slots);
	free(groups->items);
	for (uint32_t h = 0; h < HORIZON_COUNT; h++) {
		free(groups->caches[h].rows);
		free(groups->caches[h].medians);
	}
	for (uint32_t i = 0; i < groups->n_objectives; i++) {
		free(groups->objectives[i].type);
	}
	free(groups->objectives);
	failing_destroy(groups->failing);
	timelines_release(&groups->timelines);
	baseline_copy_destroy(groups->baseline);
	arena_release(&groups->made_arena);
	free(groups->newest_of_type);
	free(groups->slots);
	free(groups->table);
	free(groups);
}

static uint32_t key_hash(const struct request *request)
{
	uint64_t path = hash_bytes(request->path, request->n_path * sizeof(*request->path));

	return (uint32_t)hash_pair(path, (uint64_t)request->variant << 32 | request->type);
}

static bool key_is(const struct group *group, const struct request *request, uint32_t hash)
{
	if (group->hash != hash || group->type != request->type ||
			group->variant != request->variant || group->n_path != request->n_path) {
		return false;
	}
	for (uint32_t i = 0; i < group->n_path; i++) {
		if (group->path[i] != request->path[i]) {
			return false;
		}
	}
	return true;
}

/* The place in the table where the group stands, or would stand. */
static uint32_t *table_place(
		const struct groups *groups, const struct request *request, uint32_t hash)
{
	uint32_t at = hash;

	for (;; at++) {
		uint32_t *place = &groups->table[at & (groups->table_room - 1)];

		if (!*place || key_is(groups->items[*place - 1], request, hash)) {
			return place;
		}
	}
}

static bool table_grow(struct groups *groups)
{
	uint32_t room = groups->table_room * 2;
	uint32_t *table = calloc(room, sizeof(*table));

	if (!table) {
		return false;
	}
	for (uint32_t i = 0; i < groups->n; i++) {
		uint32_t at = groups->items[i]->hash;

		while (table[at & (room - 1)]) {
			at++;
		}
		table[at & (room - 1)] = i + 1;
	}
	free(groups->table);
	groups->table = table;
	groups->table_room = room;
	return true;
}

static bool cache_reserve(struct row_cache *cache, uint32_t room)
{
	return array_resize(&cache->rows, room) && array_resize(&cache->medians, room);
}

/* Room for one more group everywhere that groups are listed. */
static bool groups_reserve(struct groups *groups)
{
	uint32_t room = groups->room ? groups->room * 2 : FIRST_ROOM;
	bool reserved = true;

	if (groups->n < groups->room) {
		return true;
	}
	if (!array_resize(&groups->items, room)) {
		return false;
	}
	for (uint32_t h = 0; h < HORIZON_COUNT; h++) {
		reserved = cache_reserve(&groups->caches[h], room) && reserved;
	}
	groups->cache = groups->caches[groups->cached];
	if (!reserved || !kept_store_reserve_groups(&groups->kept, room)) {
		return false;
	}
	groups->room = room;
	return true;
}

/* Room for the groups of a type to be chained. */
static bool groups_reserve_type(struct groups *groups, uint32_t type)
{
	return type < UINT32_MAX &&
	       array_reserve_zeroed(&groups->newest_of_type, &groups->n_types, type + 1);
}

void groups_renamed(struct groups *groups)
{
	groups->renamed = true;
}

/*
 * A system call by which a thread waits for something to do, where it is a request of its own: what
 * it waits for is not in the trace. Within a request of an application such a call is not idle.
 */
static bool is_idle_wait(const char *type)
{
	const char *call = strncmp(type, "compat ", 7) == 0 ? type + 7 : type;
	char name[32];
	size_t n = 0;

	if (strncmp(call, "syscall ", 8) != 0) {
		return false;
	}
	for (call += 8; call[n] && n < sizeof(name) - 1; n++) {
		name[n] = call[n] == ' ' ? '_' : call[n];
	}
	name[n] = '\0';
	return call[n] == '\0' && wait_class(name) == WAITS_WORK;
}

static struct group *group_create(
		struct groups *groups, const struct request *request, uint32_t hash)
{
	struct group *group;

	if (groups->n >= groups->config.max_groups || !groups_reserve(groups) ||
			!groups_reserve_type(groups, request->type) ||
			((groups->n + 1) * 2 > groups->table_room && !table_grow(groups))) {
		return NULL;
	}
	group = calloc(1, sizeof(*group));
	if (!group) {
		return NULL;
	}
	group->path = calloc(request->n_path + 1, sizeof(*group->path));
	if (!group->path) {
		group_destroy(groups, group);
		return NULL;
	}
	for (uint32_t i = 0; i < request->n_path; i++) {
		group->path[i] = request->path[i];
	}
	group->n_path = request->n_path;
	group->type = request->type;
	group->variant = request->variant;
	group->hash = hash;
	group->index = groups->n;
	group->first_quarter = request->end_ns / QUARTER_NS;
	group->same_type = groups->newest_of_type[group->type];
	group->epoch = groups->epoch;
	group->epoch_ns = groups->epoch_ns;
	if (!label_group(groups, group)) {
		group_destroy(groups, group);
		return NULL;
	}
	group_named(groups, group);
	group->idle = is_idle_wait(names_own_text(groups->names, group->type));
	for (uint32_t h = 0; h < HORIZON_COUNT; h++) {
		groups->caches[h].rows[groups->n] = (struct groups_row){.id = 0};
	}
	groups->items[groups->n++] = group;
	groups->newest_of_type[group->type] = groups->n;
	*table_place(groups, request, hash) = groups->n;
	return group;
}

static struct group *group_of(struct groups *groups, const struct request *request)
{
	uint32_t hash = key_hash(request);
	uint32_t found = *table_place(groups, request, hash);

	return found ? groups->items[found - 1] : group_create(groups, request, hash);
}

/* The sums that a request counts in; returns how many. */
static uint32_t totals_of(struct group *group, struct slice *slice, const struct request *request,
		struct totals **sums)
{
	uint32_t n = 0;

	sums[n++] = &group->now.totals[HORIZON_ALL];
	if (group->epoch && request->start_ns >= group->epoch_ns) {
		sums[n++] = &group->now.totals[HORIZON_EPOCH];
	}
	if (slice) {
		sums[n++] = &slice->totals;
		if (slice->in_window) {
			sums[n++] = &group->now.totals[HORIZON_WINDOW];
		}
	}
	return n;
}

static bool is_new_cell(const struct slice *slice, uint32_t bin)
{
	uint32_t low = bin / HEAT_CELL_BINS * HEAT_CELL_BINS;

	return !histogram_at(&slice->totals.histogram, bin) &&
	       !histogram_between(&slice->totals.histogram, low, low + HEAT_CELL_BINS);
}

void groups_add(struct groups *groups, struct request *request)
{
	bool counts = request->state == REQUEST_COMPLETE && !request->tainted;
	uint64_t ns = request->end_ns - request->start_ns;
	uint64_t quarter = request->end_ns / QUARTER_NS;
	bool sampled, new_cell = false;
	enum sampling sampling;
	uint32_t weight;
	struct totals *sums[4];
	struct group *group;
	struct slice *slice;
	uint32_t bin, n;

	groups_advance(groups, request->end_ns);
	group = group_of(groups, request);
	if (!group) {
		groups->folded++;
		return;
	}
	request->group_id = group->index + 1;
	failing_add(groups->failing, request);
	timelines_count(&groups->timelines, group->index, request->end_ns);
	group_before_change(groups, group);
	group->hosts |= request->hosts;
	group_changed(groups, group);
	if (request->start_ns > group->last_start_ns) {
		group->last_start_ns = request->start_ns;
	}
	if (quarter < group->first_quarter) {
		group->first_quarter = quarter;
	}
	slice = slice_of(groups, group, quarter,
			request->start_ns >= group->epoch_ns ? group->epoch : group->epoch - 1);
	bin = histogram_bin(ns);
	new_cell = counts && slice && is_new_cell(slice, bin);
	sampling = keep_sample(groups, group, request, counts ? bin : UINT32_MAX, &weight);
	sampled = sampling == SAMPLING_UNIFORM;
	n = totals_of(group, slice, request, sums);
	for (uint32_t i = 0; i < n; i++) {
		sums[i]->sampled += sampled;
		if (!counts) {
			totals_count(sums[i], request);
		} else if (!totals_add_complete(sums[i], &groups->pool, ns, bin)) {
			sums[i]->partial++; /* out of memory: no room for its bin */
		} else {
			sums[i]->failed += request_failed(request);
		}
	}
	if (sampling != SAMPLING_NONE) {
		observe_request(groups, group, request, sampling, weight,
				slice && slice->in_window);
	}
	if (keep_request(groups, group, slice, request, sampled, new_cell)) {
		keep_bound(groups);
	}
}

void groups_advance(struct groups *groups, uint64_t now_ns)
{
	uint64_t quarter = now_ns / QUARTER_NS;

	if (!groups->started) {
		groups->started = true;
		groups->first_ns = now_ns;
		groups->now_ns = now_ns;
		groups->now = quarter;
		groups->floor = quarter > groups->retention ? quarter - groups->retention + 1 : 0;
	}
	if (now_ns > groups->now_ns) {
		groups->now_ns = now_ns;
	}
	if (quarter > groups->now) {
		slices_advance(groups, quarter);
		keep_bound(groups);
	}
}

static void group_begin_epoch(struct groups *groups, struct group *group)
{
	group_before_change(groups, group); /* while the old epoch is in force */
	totals_clear(&group->now.totals[HORIZON_EPOCH], &groups->pool);
	keep_release_tops(groups, &group->epoch_tops);
	observe_begin_epoch(group);
	group_changed(groups, group);
	group->epoch = groups->epoch;
	group->epoch_ns = groups->epoch_ns;
}

void groups_begin_epoch(struct groups *groups, uint64_t from_ns,
		bool (*touches)(void *context, uint32_t type, uint64_t hosts), void *context)
{
	if (!groups->epoch++) {
		groups_part_epoch(groups);
	}
	groups->epoch_ns = from_ns;
	for (uint32_t i = 0; i < groups->n; i++) {
		struct group *group = groups->items[i];

		if (!touches || touches(context, group->type, group->hosts)) {
			group_begin_epoch(groups, group);
		}
	}
}

void groups_pin(struct groups *groups, uint64_t now_ns)
{
	struct pin *pin = &groups->pin;

	groups_unpin(groups);
	groups_advance(groups, now_ns);
	label_again(groups);
	memset(pin, 0, sizeof(*pin));
	pin->on = true;
	pin->ns = groups->now_ns;
	pin->quarter = groups->now;
	pin->n_groups = groups->n;
	pin->folded = groups->folded;
	pin->floor = groups->floor;
	groups->seal++;
	kept_pin(&groups->kept);
}

static void group_unpin(struct groups *groups, struct group *group)
{
	uint32_t slowest = group->window_slowest.record;

	for (uint32_t h = 0; group->pinned && h < HORIZON_COUNT; h++) {
		totals_clear(&group->pinned->totals[h], &groups->pool);
	}
	if (group->pinned) {
		observed_release(groups, &group->pinned->observed);
	}
	free(group->pinned);
	group->pinned = NULL;
	group->rows_valid = 0;
	if (slowest && !groups->kept.records[slowest].request) {
		group_find_window_slowest(groups, group); /* only the pin kept it */
	}
}

void groups_unpin(struct groups *groups)
{
	if (!groups->pin.on) {
		return;
	}
	while (slices_trim_pin(groups)) {
	}
	groups->pin.on = false;
	groups->pin.bytes = 0;
	kept_unpin(&groups->kept);
	for (uint32_t i = 0; i < groups->n; i++) {
		group_unpin(groups, groups->items[i]);
	}
	keep_bound(groups);
}

struct request *groups_find_request(struct groups *groups, uint64_t id)
{
	uint32_t record = kept_find(&groups->kept, id);

	return record ? groups->kept.records[record].request : NULL;
}

const char *groups_path(const struct groups *groups, uint32_t id)
{
	return id && id <= groups->n ? groups->items[id - 1]->label : "";
}
