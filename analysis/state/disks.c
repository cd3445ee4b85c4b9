/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "state/cx.h"
#include "state/disks.h"
#include "state/thread_io.h"

/*
 * Disks of all hosts: the requests that are pending, by (device, sector), and those that ended in
 * the window.
 *
 * A request is pending from its insertion (or its issue, where no insertion is seen) to its
 * completion; its latency is from issue to completion. Its bytes go to the thread that inserted it,
 * else to the one that issued it: a worker that empties a queue issues for others. A device that
 * has no requests of its own (dm, md, loop-backed memory) is counted by its bios; where a device
 * shows both, its requests alone count. Requests without data (flushes) are not counted.
 *
 * Memory: histories of the window in the store; at most MAX_PENDING pending, the oldest of which
 * goes; one whose completion was not seen for FORGET_NS goes, too; MAX_DISKS devices.
 */
#define MAX_PENDING  65536u
#define MAX_DISKS    4096u
#define FORGET_NS    (UINT64_C(180) * 1000000000) /* far beyond the kernel's own time limit, 30 s */
#define SECTOR_BYTES 512u
#define FIRST_SLOTS  256u
#define RWBS_WRITE   1u
#define RWBS_DISCARD 2u
#define OP_WRITE     (UINT64_C(1) << 63)
#define OP_ERROR     (UINT64_C(1) << 62)
#define OP_BYTES     (OP_ERROR - 1)

struct pending {
	struct pending *next_hash, *older, *newer;
	struct disk *disk;
	uint64_t sector, bytes, since_ns, issued_ns; /* issued 0: it waits in the queue */
	uint64_t done_bytes;                         /* of parts completed so far */
	uint64_t thread_id;
	int32_t tid; /* -1: not known */
	uint32_t rwbs;
	bool bio, error;
};

struct disk_op {
	uint64_t at_ns;
	uint64_t bytes; /* OP_WRITE, OP_ERROR added */
	uint64_t duration_ns;
};

struct disk {
	struct disk *next;
	uint32_t host;
	uint64_t dev;
	uint32_t name; /* interned; 0: not told */
	bool has_requests;
	struct series ops[2]; /* requests, bios: struct disk_op */
	struct attribute pending[2];
};

struct disks {
	struct disk *first, **last;
	uint32_t n;
	struct pending **slots;
	uint32_t n_slots, n_pending;
	struct pending *oldest, *newest;
};

bool disks_create(struct state_cx *cx)
{
	struct disks *disks = calloc(1, sizeof(*disks));

	cx->disks = disks;
	if (!disks) {
		return false;
	}
	disks->last = &disks->first;
	disks->n_slots = FIRST_SLOTS;
	disks->slots = calloc(disks->n_slots, sizeof(*disks->slots));
	return disks->slots != NULL;
}

static struct disk *disk_of(struct state_cx *cx, uint32_t host, uint64_t dev)
{
	struct disks *disks = cx->disks;
	struct disk *disk;

	for (disk = disks->first; disk; disk = disk->next) {
		if (disk->dev == dev && disk->host == host) {
			return disk;
		}
	}
	disk = disks->n < MAX_DISKS ? pool_alloc(&cx->store.pool, sizeof(*disk)) : NULL;
	if (disk) {
		*disk = (struct disk){.host = host, .dev = dev};
		*disks->last = disk;
		disks->last = &disk->next;
		disks->n++;
	}
	return disk;
}

uint32_t disks_name(const struct disks *disks, uint32_t host, uint64_t dev)
{
	const struct disk *disk = disks->first;

	while (disk && (disk->dev != dev || disk->host != host)) {
		disk = disk->next;
	}
	return disk ? disk->name : 0;
}

/* --- pending requests ------------------------------------------------------------------------ */

static struct pending **slot_of(
		const struct disks *disks, const struct disk *disk, uint64_t sector, bool bio)
{
	uint64_t hash = hash_pair(sector, (uintptr_t)disk + bio);

	return &disks->slots[hash & (disks->n_slots - 1)];
}

static struct pending *find(
		const struct disks *disks, const struct disk *disk, uint64_t sector, bool bio)
{
	struct pending *at = *slot_of(disks, disk, sector, bio);

	while (at && (at->disk != disk || at->sector != sector || at->bio != bio)) {
		at = at->next_hash;
	}
	return at;
}

static void grow(struct disks *disks)
{
	struct pending *at, **slots = calloc(disks->n_slots * 2, sizeof(*slots));

	if (!slots) {
		return; /* chains become longer */
	}
	free(disks->slots);
	disks->slots = slots;
	disks->n_slots *= 2;
	for (at = disks->oldest; at; at = at->newer) {
		struct pending **slot = slot_of(disks, at->disk, at->sector, at->bio);

		at->next_hash = *slot;
		*slot = at;
	}
}

static void count_pending(struct state_cx *cx, struct disk *disk, bool bio, bool more)
{
	attribute_set(&cx->store, &disk->pending[bio], cx->now_ns,
			more ? disk->pending[bio].value + 1 : disk->pending[bio].value - 1);
}

static void unhash(struct disks *disks, struct pending *gone)
{
	struct pending **at = slot_of(disks, gone->disk, gone->sector, gone->bio);

	while (*at != gone) {
		at = &(*at)->next_hash;
	}
	*at = gone->next_hash;
}

static void hash(struct disks *disks, struct pending *fresh)
{
	struct pending **slot = slot_of(disks, fresh->disk, fresh->sector, fresh->bio);

	fresh->next_hash = *slot;
	*slot = fresh;
}

static void drop(struct state_cx *cx, struct pending *gone)
{
	struct disks *disks = cx->disks;

	unhash(disks, gone);
	*(gone->older ? &gone->older->newer : &disks->oldest) = gone->newer;
	*(gone->newer ? &gone->newer->older : &disks->newest) = gone->older;
	disks->n_pending--;
	count_pending(cx, gone->disk, gone->bio, false);
	pool_free(&cx->store.pool, gone, sizeof(*gone));
}

static struct pending *add(struct state_cx *cx, struct disk *disk, uint64_t sector, bool bio)
{
	struct disks *disks = cx->disks;
	struct pending *fresh;

	if (disks->n_pending >= MAX_PENDING) {
		drop(cx, disks->oldest);
	}
	if (disks->n_pending >= disks->n_slots) {
		grow(disks);
	}
	fresh = pool_alloc(&cx->store.pool, sizeof(*fresh));
	if (!fresh) {
		cx->store.failed++;
		return NULL;
	}
	*fresh = (struct pending){.older = disks->newest,
			.disk = disk,
			.sector = sector,
			.since_ns = cx->now_ns,
			.tid = -1,
			.bio = bio};
	*(disks->newest ? &disks->newest->newer : &disks->oldest) = fresh;
	disks->newest = fresh;
	disks->n_pending++;
	hash(disks, fresh);
	count_pending(cx, disk, bio, true);
	return fresh;
}

/* --- events ---------------------------------------------------------------------------------- */

enum { RQ_DEV, RQ_SECTOR, RQ_SECTORS, RQ_RWBS, RQ_TID, RQ_ERROR };

static void note_thread(struct state_cx *cx, struct pending *request, const struct state_plan *plan,
		const struct event *event)
{
	int64_t tid = field_int(plan, event, RQ_TID, -1);
	const struct thread_state *thread = tid >= 0 ? state_thread(cx, event_host(cx, event), tid)
						     : state_current(cx, event);

	if (thread) {
		request->tid = thread->tid;
		request->thread_id = thread->id;
	}
}

static bool has_data(const struct state_plan *plan, const struct event *event)
{
	return field_int(plan, event, RQ_SECTORS, 0) != 0;
}

static struct disk *event_disk(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	return disk_of(cx, event_host(cx, event), (uint64_t)field_int(plan, event, RQ_DEV, 0));
}

static struct pending *begin(struct state_cx *cx, const struct state_plan *plan,
		const struct event *event, bool bio)
{
	struct disk *disk = event_disk(cx, plan, event);
	uint64_t sector = (uint64_t)field_int(plan, event, RQ_SECTOR, 0);
	struct pending *request;

	if (!disk) {
		return NULL;
	}
	disk->has_requests |= !bio;
	request = find(cx->disks, disk, sector, bio);
	if (!request) {
		request = add(cx, disk, sector, bio);
		if (request) {
			note_thread(cx, request, plan, event);
		}
	}
	if (request) {
		request->bytes = (uint64_t)(uint32_t)field_int(plan, event, RQ_SECTORS, 0) *
				 SECTOR_BYTES;
		request->rwbs = (uint32_t)field_int(plan, event, RQ_RWBS, 0);
	}
	return request;
}

static void rq_insert(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	if (has_data(plan, event)) {
		begin(cx, plan, event, false);
	}
}

/* Issued again, it was put back, or its completion lost: its latency is from the last issue. */
static void rq_issue(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct pending *request = has_data(plan, event) ? begin(cx, plan, event, false) : NULL;

	if (request) {
		request->issued_ns = event->ts_ns;
	}
}

static void bio_queue(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct pending *request = has_data(plan, event) ? begin(cx, plan, event, true) : NULL;

	if (request) {
		request->issued_ns = event->ts_ns;
	}
}

/* It was merged into a request, which carries its bytes. */
static void bio_merge(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct disk *disk = event_disk(cx, plan, event);
	struct pending *request =
			disk ? find(cx->disks, disk, (uint64_t)field_int(plan, event, RQ_SECTOR, 0),
					       true)
			     : NULL;

	if (request) {
		drop(cx, request);
	}
}

static void give_to_thread(struct state_cx *cx, const struct pending *request)
{
	struct thread_state *thread = state_find_thread(cx, request->disk->host, request->tid);

	if (thread && thread->id == request->thread_id && !(request->rwbs & RWBS_DISCARD)) {
		thread_io_add(cx, thread, request->rwbs & RWBS_WRITE ? IO_DISK_WRITE : IO_DISK_READ,
				request->done_bytes, 0);
	}
}

/* Where they are seen, the requests to the devices below are what a thread's bios became. */
static bool shows_requests(const struct state_cx *cx, uint32_t host)
{
	const struct disk *disk = cx->disks->first;

	while (disk && (disk->host != host || !disk->has_requests)) {
		disk = disk->next;
	}
	return disk != NULL;
}

static void finish(struct state_cx *cx, struct pending *request)
{
	struct disk *disk = request->disk;
	struct disk_op *op;

	if (request->issued_ns && !(request->rwbs & RWBS_DISCARD)) {
		op = series_push(&cx->store, &disk->ops[request->bio], sizeof(*op), cx->now_ns);
		if (op) {
			op->bytes = (request->done_bytes & OP_BYTES) |
				    (request->rwbs & RWBS_WRITE ? OP_WRITE : 0) |
				    (request->error ? OP_ERROR : 0);
			op->duration_ns = cx->now_ns - request->issued_ns;
		}
		if (!request->bio || !shows_requests(cx, disk->host)) {
			give_to_thread(cx, request);
		}
	}
	drop(cx, request);
}

/* A request may be completed in parts: the rest begins where the part ended. */
static void end(struct state_cx *cx, const struct state_plan *plan, const struct event *event,
		bool bio)
{
	struct disk *disk = has_data(plan, event) ? event_disk(cx, plan, event) : NULL;
	uint64_t sector = (uint64_t)field_int(plan, event, RQ_SECTOR, 0);
	uint64_t part = (uint64_t)(uint32_t)field_int(plan, event, RQ_SECTORS, 0) * SECTOR_BYTES;
	struct pending *request = disk ? find(cx->disks, disk, sector, bio) : NULL;

	if (!request) {
		return; /* begun before the trace */
	}
	request->error |= field_int(plan, event, RQ_ERROR, 0) != 0;
	if (part >= request->bytes) {
		request->done_bytes += request->bytes;
		finish(cx, request);
		return;
	}
	request->done_bytes += part;
	request->bytes -= part;
	unhash(cx->disks, request);
	request->sector = sector + part / SECTOR_BYTES;
	hash(cx->disks, request);
}

static void rq_complete(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	end(cx, plan, event, false);
}

static void bio_complete(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	end(cx, plan, event, true);
}

enum { NAME_DEV, NAME_TEXT };

static void dump_device(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct disk *disk = event_disk(cx, plan, event);
	const char *name = NULL;
	uint32_t length = 0;

	if (disk && has_field(plan, NAME_TEXT) &&
			cx->registry->types[event->type].fields[plan->slots[NAME_TEXT]].kind ==
					FIELD_STRING) {
		name = event_bytes(event, plan->slots[NAME_TEXT], &length);
	}
	if (name) {
		disk->name = names_add(cx->names, name, length > 64 ? 64 : length);
	}
}

#define RQ_FIELDS                                                                                  \
	{                                                                                          \
		"dev", "sector", "nr_sector", "rwbs", "tid|pid", "error|errors"                    \
	}

const struct state_rule disks_rules[] = {
		{.names = "block_rq_insert",
				.handle = rq_insert,
				.fields = RQ_FIELDS,
				.required = 3},
		{.names = "block_rq_issue", .handle = rq_issue, .fields = RQ_FIELDS, .required = 3},
		{.names = "block_rq_complete",
				.handle = rq_complete,
				.fields = RQ_FIELDS,
				.required = 3},
		{.names = "block_bio_queue",
				.handle = bio_queue,
				.fields = RQ_FIELDS,
				.required = 3},
		{.names = "block_bio_complete",
				.handle = bio_complete,
				.fields = RQ_FIELDS,
				.required = 3},
		{.names = "block_bio_backmerge|block_bio_frontmerge",
				.handle = bio_merge,
				.fields = RQ_FIELDS,
				.required = 3},
		{.names = "lttng_statedump_block_device",
				.handle = dump_device,
				.fields = {"dev", "diskname|name"},
				.required = 1},
		{.names = NULL},
};

/* --- the window ------------------------------------------------------------------------------ */

void disks_expire(struct state_cx *cx)
{
	struct disk *disk;
	struct pending *oldest;

	while ((oldest = cx->disks->oldest) && oldest->since_ns + FORGET_NS < cx->now_ns) {
		drop(cx, oldest);
	}
	for (disk = cx->disks->first; disk; disk = disk->next) {
		uint32_t i;

		for (i = 0; i < 2; i++) {
			series_expire(&cx->store, &disk->ops[i]);
			attribute_expire(&cx->store, &disk->pending[i]);
		}
	}
}

void disks_destroy(struct state_cx *cx)
{
	struct disks *disks = cx->disks;
	struct disk *disk, *next;

	if (!disks) {
		return;
	}
	while (disks->oldest) {
		drop(cx, disks->oldest);
	}
	for (disk = disks->first; disk; disk = next) {
		uint32_t i;

		next = disk->next;
		for (i = 0; i < 2; i++) {
			series_release(&cx->store, &disk->ops[i]);
			attribute_release(&cx->store, &disk->pending[i]);
		}
		pool_free(&cx->store.pool, disk, sizeof(*disk));
	}
	free(disks->slots);
	free(disks);
	cx->disks = NULL;
}

static void sum(const struct series *ops, uint64_t from_ns, uint64_t at_ns, struct state_disk *out)
{
	uint64_t total_ns = 0;
	uint32_t i;

	for (i = series_from(ops, from_ns + 1); i < ops->n; i++) {
		const struct disk_op *op = series_at(ops, i);

		if (op->at_ns > at_ns) {
			break;
		}
		out->errors += (op->bytes & OP_ERROR) != 0;
		if (op->bytes & OP_WRITE) {
			out->writes++;
			out->write_bytes += op->bytes & OP_BYTES;
		} else {
			out->reads++;
			out->read_bytes += op->bytes & OP_BYTES;
		}
		total_ns += op->duration_ns;
		out->max_ns = op->duration_ns > out->max_ns ? op->duration_ns : out->max_ns;
	}
	if (out->reads + out->writes > 0) {
		out->mean_ns = total_ns / (out->reads + out->writes);
	}
}

static const char *name_of(
		const struct state_cx *cx, const struct disk *disk, struct snapshot *snapshot)
{
	/* dev_t of the kernel: 12 bits of major, 20 of minor. */
	return disk->name ? snapshot_text(snapshot, names_text(cx->names, disk->name))
			  : snapshot_printf(snapshot, "(%u,%u)", (unsigned int)(disk->dev >> 20),
					    (unsigned int)(disk->dev & 0xfffff));
}

enum status disks_fill(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot)
{
	struct state_view *view = &snapshot->state;
	struct state_disk *out = snapshot_alloc(snapshot, (cx->disks->n + 1) * sizeof(*out));
	const struct disk *disk;

	if (!out) {
		return STATUS_NO_MEMORY;
	}
	view->disks = out;
	for (disk = cx->disks->first; disk; disk = disk->next) {
		const uint32_t kind = disk->has_requests ? 0 : 1;

		*out = (struct state_disk){.host = snapshot_text(snapshot,
							   cx->registry->hosts[disk->host].name),
				.name = name_of(cx, disk, snapshot),
				.pending = (uint32_t)attribute_at(&disk->pending[kind], at_ns)};
		sum(&disk->ops[kind], from_ns, at_ns, out);
		out++;
		view->n_disks++;
	}
	return STATUS_OK;
}
