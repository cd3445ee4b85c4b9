/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waits.h"

#include <stdlib.h>
#include <string.h>

#include "requests/holders.h"
#include "requests/process_ends.h"

#define NS_PER_S  UINT64_C(1000000000)
#define SEPARATOR "›"

/* What was judged of a group. */
struct judged {
	uint32_t group_id; /* 0: nothing */
	enum horizon horizon;
	uint64_t second, fill;
	uint32_t requests, n;
	struct held held[HOLDERS_KINDS];
};

/* Of those of a document, and of one in focus besides; the one that was judged first goes first. */
struct waits_memory {
	struct judged items[GROUPS_WAITS + 1];
	uint32_t next;
	uint64_t fill;             /* the number of the one that is under way */
	struct process_ends *ends; /* for all that it judges; else NULL */
};

/* What one fill works on. */
struct filling {
	struct snapshot *snapshot;
	const struct names *names;
	const struct contexts *contexts;
};

struct waits_memory *waits_create(void)
{
	return calloc(1, sizeof(struct waits_memory));
}

void waits_destroy(struct waits_memory *memory)
{
	free(memory);
}

static uint64_t duration_of(const struct request *request)
{
	return request->end_ns - request->start_ns;
}

static int by_duration(const void *left, const void *right)
{
	const struct request *const *a = left, *const *b = right;

	if (duration_of(*a) != duration_of(*b)) {
		return duration_of(*a) > duration_of(*b) ? -1 : 1;
	}
	return ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

/*
 * Takes the waits of the slowest requests, and of others at even distances in the order of their
 * durations, each of which stands for those around it as well.
 */
static bool add_requests(struct judged *judged, struct groups *groups, struct holders *holders)
{
	const struct request *kept[WAITS_LOOKED_AT];
	double weights[WAITS_LOOKED_AT];
	uint32_t n = groups_newest(
			groups, judged->group_id, judged->horizon, kept, WAITS_LOOKED_AT);
	uint32_t n_slowest = n <= WAITS_REQUESTS ? n : WAITS_SLOWEST;
	uint32_t n_others = n <= WAITS_REQUESTS ? 0 : WAITS_REQUESTS - WAITS_SLOWEST;
	double each = n_others ? (double)(n - n_slowest) / n_others : 0;
	bool done = true;

	judged->requests = n_slowest + n_others;
	qsort(kept, n, sizeof(*kept), by_duration);
	groups_weigh(groups, judged->group_id, judged->horizon, kept, n, weights);
	for (uint32_t i = 0; done && i < n_slowest; i++) {
		done = holders_add(holders, kept[i], weights[i]);
	}
	for (uint32_t i = 0; done && i < n_others; i++) {
		uint32_t at = n_slowest + (uint32_t)(each * (i + 0.5));

		done = holders_add(holders, kept[at], weights[at] * each);
	}
	return done;
}

static struct judged *find_judged(
		struct waits_memory *memory, uint32_t group_id, enum horizon horizon)
{
	for (uint32_t i = 0; i < GROUPS_WAITS + 1; i++) {
		if (memory->items[i].group_id == group_id && memory->items[i].horizon == horizon) {
			return &memory->items[i];
		}
	}
	return NULL;
}

/* NULL: out of memory. */
static const struct judged *judge(struct waits_memory *memory, struct requests *requests,
		struct groups *groups, uint32_t group_id, const struct snapshot *snapshot)
{
	const struct focus *focus = &snapshot->focus;
	struct judged *judged = find_judged(memory, group_id, focus->horizon);
	uint64_t second = snapshot->time_ns / NS_PER_S;
	struct holders *holders;
	bool done;

	if (judged && (focus->parts & FOCUS_THOROUGH ? judged->fill == memory->fill
						     : judged->second == second)) {
		return judged;
	}
	holders = holders_begin(requests, &memory->ends);
	if (!holders) {
		return NULL;
	}
	if (!judged) {
		judged = &memory->items[memory->next];
		memory->next = (memory->next + 1) % (GROUPS_WAITS + 1);
	}
	*judged = (struct judged){.group_id = group_id,
			.horizon = focus->horizon,
			.second = second,
			.fill = memory->fill};
	done = add_requests(judged, groups, holders);
	judged->n = done ? holders_judge(holders, 0, judged->held) : 0;
	judged->group_id = done ? group_id : 0;
	holders_end(holders);
	return done ? judged : NULL;
}

/* "(blocked: futex)": a part of a span's time, rather than a span. */
static bool is_part(const struct filling *filling, uint32_t context)
{
	return names_text(filling->names, contexts_get(filling->contexts, context)->name)[0] == '(';
}

static const char *name_of(const struct filling *filling, uint32_t name)
{
	return snapshot_text(filling->snapshot, names_text(filling->names, name));
}

/* The names of those above a context, the outermost first. */
static const char *chain_of(const struct filling *filling, uint32_t context)
{
	const char *text = "";

	for (uint32_t at = contexts_get(filling->contexts, context)->parent; at && text;
			at = contexts_get(filling->contexts, at)->parent) {
		const char *name = names_text(
				filling->names, contexts_get(filling->contexts, at)->name);

		text = text[0] ? snapshot_printf(filling->snapshot, "%s" SEPARATOR "%s", name, text)
			       : snapshot_text(filling->snapshot, name);
	}
	return text;
}

static enum status fill_holders(
		const struct filling *filling, const struct held *held, struct group_wait *out)
{
	const struct context *within = contexts_get(filling->contexts, out->within);
	struct group_holder *rows =
			snapshot_alloc(filling->snapshot, (held->n + 1) * sizeof(*rows));

	if (!rows) {
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < held->n; i++) {
		const struct holder *holder = &held->holders[i];
		double share = held->ns ? (double)holder->ns / (double)held->ns : 0;

		rows[i] = (struct group_holder){.name = name_of(filling, holder->name),
				.provider = name_of(filling, holder->provider),
				.type = name_of(filling, holder->type),
				.process = name_of(filling, holder->process),
				.pid = holder->pid,
				.tid = holder->tid,
				.share = share,
				.waits = holder->waits,
				.of_variation = held->variation > 0
								? holder->variation /
										  held->variation
								: share,
				.interrupt = holder->interrupt,
				.idle = holder->idle,
				.child = holder->child,
				.made_in = name_of(filling, holder->made_in),
				.same_place = holder->name && holder->name == within->name &&
					      holder->provider == within->provider};
	}
	out->n = held->n;
	out->holders = rows;
	return STATUS_OK;
}

/* "rules_commit, remove_commit" */
static const char *ends_of(const struct filling *filling, const struct held *held)
{
	const char *text = "";

	for (uint32_t i = 0; i < held->n_ends; i++) {
		const char *name = names_text(filling->names, held->ends[i]);

		text = i ? snapshot_printf(filling->snapshot, "%s, %s", text ? text : "", name)
			 : snapshot_text(filling->snapshot, name);
	}
	return text ? text : "";
}

static enum status fill_wait(
		const struct filling *filling, const struct held *held, struct group_wait *out)
{
	const struct handover *evidence = &held->evidence;
	bool part = is_part(filling, held->context);
	uint32_t within = part ? contexts_get(filling->contexts, held->context)->parent
			       : held->context;

	*out = (struct group_wait){.context = held->context,
			.within = within,
			.name = name_of(filling, contexts_get(filling->contexts, within)->name),
			.where = chain_of(filling, within),
			.what = part ? name_of(filling, contexts_get(filling->contexts,
									held->context)
									->name)
				     : "",
			.evidence = (enum wait_evidence)held->how,
			.waits = held->waits,
			.known = held->known,
			.mean_ns = (double)held->ns / held->weight,
			.ends_with = ends_of(filling, held),
			.fits = evidence->n ? (double)evidence->fits / evidence->waits : 0,
			.fits_low = evidence->low,
			.fits_high = evidence->high,
			.chance = evidence->chance};
	return fill_holders(filling, held, out);
}

/* `judged`: NULL if out of memory. */
static enum status fill_group(
		const struct filling *filling, const struct judged *judged, struct group_waits *out)
{
	struct group_wait *items =
			judged ? snapshot_alloc(filling->snapshot, (judged->n + 1) * sizeof(*items))
			       : NULL;
	enum status status = items ? STATUS_OK : STATUS_NO_MEMORY;

	if (!items) {
		return status;
	}
	*out = (struct group_waits){.told = true, .requests = judged->requests, .items = items};
	for (uint32_t i = 0; i < judged->n && status == STATUS_OK; i++) {
		/* Of an inferred one not even that it is a wait is known, where nobody is. */
		if (judged->held[i].n) {
			status = fill_wait(filling, &judged->held[i], &items[out->n]);
			out->n += status == STATUS_OK;
		}
	}
	return status;
}

enum status waits_fill(struct waits_memory *memory, struct requests *requests,
		struct groups *groups, const struct names *names, const struct contexts *contexts,
		const struct focus *focus, struct snapshot *snapshot)
{
	const struct filling filling = {.snapshot = snapshot, .names = names, .contexts = contexts};
	enum status status = STATUS_OK;
	uint32_t n = snapshot->groups.locations ? snapshot->groups.n : 0;
	struct group_waits *all = n ? snapshot_alloc(snapshot, n * sizeof(*all)) : NULL;

	if (n && !all) {
		return STATUS_NO_MEMORY;
	}
	memory->fill++;
	if (n) {
		memset(all, 0, n * sizeof(*all));
	}
	for (uint32_t i = 0; i < n && i < GROUPS_WAITS && status == STATUS_OK; i++) {
		status = fill_group(&filling,
				judge(memory, requests, groups, snapshot->groups.rows[i].id,
						snapshot),
				&all[i]);
	}
	snapshot->groups.waits = all;
	if (status == STATUS_OK && (focus->parts & FOCUS_GROUP) && snapshot->group.id) {
		status = fill_group(&filling,
				judge(memory, requests, groups, snapshot->group.id, snapshot),
				&snapshot->group.waits);
	}
	process_ends_destroy(memory->ends);
	memory->ends = NULL;
	return status;
}
