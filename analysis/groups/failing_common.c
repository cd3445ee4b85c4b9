/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/number_map.h"
#include "groups/failing.h"
#include "groups/grouping.h"
#include "requests/fails.h"
#include "requests/keys.h"
#include "stats/share.h"

/*
 * What requests that failed in a place have in common, against the others of their type: where that
 * was, what exits told, and which value of their keys goes with it.
 */
#define MAX_FAILED  200u /* requests read, the newest of a group first */
#define MAX_OTHERS  400u
#define FEW_FAILED  10u
#define FEW_OTHERS  20u
#define NEARLY_ALL  0.8 /* of those that failed have the value */
#define LESS        0.3 /* and fewer of the others, by so much */
#define ERRORS      3.0 /* standard errors of either share */
#define VALUE_BYTES 64u

struct tally {
	uint32_t failed, others;
};

struct found_value {
	struct tally n;
	uint32_t key;            /* place in the list of keys */
	struct request_key item; /* its text is a copy */
};

struct common {
	struct groups *groups;
	const struct failing_place *place;
	struct arena *arena;
	struct number_map key_of, value_of;
	struct tally *keys;
	struct found_value *values;
	uint32_t n_keys, keys_room, n_values, values_room;
	uint32_t n_failed, n_others;
	struct {
		uint32_t told, n;
	} told[16];
	uint32_t n_told, n_told_by; /* texts, and requests that they are of */
	struct failing_common *out;
	bool failed;
};

static bool fails_here(const struct common *common, const struct request *request)
{
	const struct request_failure *failure = &request->failure;
	uint32_t i = 0;

	if (failure->why != (uint8_t)common->place->why) {
		return false;
	}
	while (i < failure->n_more && failure->more[i] != common->place->context) {
		i++;
	}
	return failure->context == common->place->context || i < failure->n_more;
}

static void add_told(struct common *common, uint32_t told)
{
	uint32_t i = 0;

	while (i < common->n_told && common->told[i].told != told) {
		i++;
	}
	if (i == sizeof(common->told) / sizeof(common->told[0])) {
		return;
	}
	if (i == common->n_told) {
		common->told[common->n_told++].told = told;
		common->told[i].n = 0;
	}
	common->told[i].n++;
}

static void add_site(struct common *common, const struct request_failure *failure)
{
	struct failing_common *out = common->out;

	if (!failure->context) {
		return;
	}
	if (out->n_hosts == 0) {
		out->n_hosts = 1;
		out->host = failure->host;
		out->process = failure->process;
		return;
	}
	out->n_hosts += out->n_hosts == 1 && out->host != failure->host;
	out->process = out->process == failure->process ? out->process : 0;
}

/* Which value a key has; false: it is none to speak of. */
static bool value_hash(const struct request_key *key, uint64_t *hash)
{
	if (!key->numeric) {
		*hash = hash_bytes(key->text, key->length);
		return key->length > 0;
	}
	memcpy(hash, &key->number, sizeof(*hash));
	return fabs(key->number) < 1e15 && key->number >= floor(key->number) &&
	       key->number <= floor(key->number);
}

static struct tally *tally_of_key(struct common *common, uint64_t hash, uint32_t *at)
{
	*at = number_map_find(&common->key_of, hash);
	if (*at == NUMBER_NONE) {
		if (!array_reserve(&common->keys, &common->keys_room, common->n_keys + 1) ||
				!number_map_set(&common->key_of, hash, common->n_keys)) {
			return NULL;
		}
		*at = common->n_keys++;
		common->keys[*at] = (struct tally){.failed = 0};
	}
	return &common->keys[*at];
}

static struct found_value *value_of(
		struct common *common, uint64_t hash, uint32_t key, const struct request_key *item)
{
	uint32_t at = number_map_find(&common->value_of, hash);
	struct found_value *value;

	if (at != NUMBER_NONE) {
		return &common->values[at];
	}
	if (!array_reserve(&common->values, &common->values_room, common->n_values + 1) ||
			!number_map_set(&common->value_of, hash, common->n_values)) {
		return NULL;
	}
	value = &common->values[common->n_values++];
	*value = (struct found_value){.key = key, .item = *item};
	if (!item->numeric) {
		value->item.text = arena_printf(common->arena, "%.*s",
				(int)(item->length < VALUE_BYTES ? item->length : VALUE_BYTES),
				item->text);
		common->failed |= !value->item.text;
	}
	return value;
}

/* It is the place, or encloses it: of what is beside it, much follows from the failure. */
static bool leads_there(const struct common *common, uint32_t context)
{
	uint32_t at = common->place->context;

	while (at && at != context) {
		at = contexts_get(common->groups->contexts, at)->parent;
	}
	return at == context;
}

static void count(struct tally *tally, bool failed)
{
	tally->failed += failed;
	tally->others += !failed;
}

static void add_keys(struct common *common, const struct request *request, bool failed)
{
	const struct groups_config *config = &common->groups->config;
	struct request_keys keys;

	if (!config->read_keys || !config->read_keys(config->measurer, request, &keys)) {
		return;
	}
	for (uint32_t i = 0; i < keys.n; i++) {
		const struct request_key *key = &keys.items[i];
		uint64_t which = hash_pair((uint64_t)key->source << 32 | key->context, key->name);
		struct found_value *value;
		struct tally *tally;
		uint64_t hash;
		uint32_t at;

		if (key->source == EXPLANATION_RESOURCE || key->source == EXPLANATION_COUNT ||
				!leads_there(common, key->context) || !value_hash(key, &hash)) {
			continue;
		}
		tally = tally_of_key(common, which, &at);
		value = tally ? value_of(common, hash_pair(which, hash), at, key) : NULL;
		if (!value) {
			common->failed = true;
			return;
		}
		count(tally, failed);
		count(&value->n, failed);
	}
}

static void read_group(struct common *common, const struct group *group, uint64_t since_ns)
{
	const struct kept_store *kept = &common->groups->kept;

	for (uint32_t record = kept_newest_of(kept, group->index); record;
			record = kept_older_of(kept, record)) {
		const struct request *request = kept->records[record].request;
		bool failed = fails_here(common, request);

		/* The others may be from before: since then there may be none. */
		if ((failed && request->end_ns < since_ns) || request->tainted ||
				(request->state != REQUEST_COMPLETE && !request_failed(request)) ||
				(failed ? common->n_failed >= MAX_FAILED
					: common->n_others >= MAX_OTHERS)) {
			continue;
		}
		common->n_failed += failed;
		common->n_others += !failed;
		if (failed && request->failure.context == common->place->context) {
			common->n_told_by++;
			add_told(common, request->failure.told);
			add_site(common, &request->failure);
		}
		add_keys(common, request, failed);
	}
}

/* What exits told is no reason: "status" of "status = 5", "ret" of "ENOENT". */
static bool is_told(const struct common *common, const struct request_key *key)
{
	const char *name = names_text(common->groups->names, key->name);
	size_t length = strlen(name);

	if (fails_is_usual_field(name)) {
		return true;
	}
	for (uint32_t i = 0; i < common->n_told; i++) {
		const char *told = names_text(common->groups->names, common->told[i].told);

		if (length > 0 && strncmp(told, name, length) == 0 &&
				strncmp(told + length, " = ", 3) == 0) {
			return true;
		}
	}
	return false;
}

/* How much surer a value goes with those that failed than with the others; 0: not surely. */
static double distance_of(const struct common *common, const struct found_value *value)
{
	const struct tally *key = &common->keys[value->key];
	double low, high, other_low, other_high;

	if (key->failed < FEW_FAILED || key->others < FEW_OTHERS ||
			key->failed < NEARLY_ALL * common->n_failed ||
			value->n.failed < NEARLY_ALL * key->failed ||
			is_told(common, &value->item)) {
		return 0;
	}
	share_bounds(value->n.failed, key->failed, ERRORS, &low, &high);
	share_bounds(value->n.others, key->others, ERRORS, &other_low, &other_high);
	if ((double)value->n.failed / key->failed < (double)value->n.others / key->others + LESS) {
		return 0;
	}
	return low > other_high ? low - other_high : 0;
}

static void choose_value(struct common *common)
{
	const struct groups *groups = common->groups;
	struct failing_common *out = common->out;
	const struct found_value *best = NULL;
	double most = 0;

	for (uint32_t i = 0; i < common->n_values; i++) {
		double distance = distance_of(common, &common->values[i]);

		if (distance > most) {
			most = distance;
			best = &common->values[i];
		}
	}
	if (!best) {
		return;
	}
	out->key = best->item.source == EXPLANATION_HOST
				   ? "host"
				   : names_text(groups->names, best->item.name);
	out->where = best->item.context ? context_name(groups, best->item.context) : "";
	out->value = best->item.numeric ? arena_printf(common->arena, "%.15g", best->item.number)
					: best->item.text;
	out->share = (double)best->n.failed / common->keys[best->key].failed;
	out->others = (double)best->n.others / common->keys[best->key].others;
}

static void choose_told(struct common *common)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < common->n_told; i++) {
		best = common->told[i].n > common->told[best].n ? i : best;
	}
	if (common->n_told) {
		common->out->told = common->told[best].told;
		common->out->told_share = (double)common->told[best].n / common->n_told_by;
	}
}

const struct failing *groups_failing(const struct groups *groups)
{
	return groups->failing;
}

bool groups_failing_common(struct groups *groups, const struct failing_place *place,
		uint64_t since_ns, struct arena *arena, struct failing_common *out)
{
	struct common common = {.groups = groups, .place = place, .arena = arena, .out = out};
	uint32_t newest = place->type < groups->n_types ? groups->newest_of_type[place->type] : 0;

	*out = (struct failing_common){.key = "", .where = "", .value = ""};
	for (uint32_t i = newest; i; i = groups->items[i - 1]->same_type) {
		read_group(&common, groups->items[i - 1], since_ns);
	}
	out->requests = common.n_failed;
	choose_told(&common);
	if (!common.failed) {
		choose_value(&common);
	}
	number_map_release(&common.key_of);
	number_map_release(&common.value_of);
	free(common.keys);
	free(common.values);
	return !common.failed;
}
