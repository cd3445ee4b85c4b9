/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_ENGINE_H
#define PT_REQUESTS_ENGINE_H

#include "base/number_map.h"
#include "requests/addresses.h"
#include "requests/ended.h"
#include "requests/endless.h"
#include "requests/fragments.h"
#include "requests/keys_reader.h"
#include "requests/losses.h"
#include "requests/measuring.h"
#include "requests/requests.h"
#include "requests/sequence.h"
#include "requests/variants.h"

/* The request engine: what its files share, and nobody outside of this folder includes. */

struct requests {
	struct requests_config config;
	struct registry *registry;
	struct model *model;
	struct names *names;
	/* Interned: of spans in which a message lies in a socket, and was not acknowledged. */
	uint32_t queued_name, unacked_name;
	struct contexts *contexts;
	struct request_pool *pool;
	requests_emit_fn *emit;
	void *context;

	const struct plan *plans;
	struct plan_namespace namespaces[PLAN_MAX_NAMESPACES];
	uint32_t n_namespaces;
	bool refresh; /* plans must be asked for anew */
	bool renamed; /* something is shown by another name than before */
	struct type_stats *stats;
	uint32_t n_stats, stats_room;
	uint32_t *occurred; /* types that events came of, ascending: a kernel has many more */
	uint32_t n_occurred, occurred_room;

	bool knows_switches; /* the kernel tells which thread its CPUs run */
	struct threads *threads;
	struct addresses *addresses;
	struct address_space space; /* of the last event's process */
	struct variants variants;
	struct losses losses;
	struct ended ended;
	struct endless endless;
	struct named_request named;
	struct spans spans; /* scratch */
	const struct kept_request *built; /* whose spans these are, while it is emitted; or NULL */
	struct key_table intervals, keyed;
	struct open_span *oldest_keyed, *newest_keyed;
	struct key_maker makers[PLAN_MAX_BINDS + 1];

	struct fragment_list lists[LISTS];
	struct fragment_list seeded, unseeded;
	struct fragment *doomed;
	uint64_t next_deadline_ns; /* no deadline is before */
	uint32_t n_fragments, n_orphans;
	uint64_t open_bytes;

	uint64_t now_ns; /* of the last event */
	uint64_t seq, serial, request_id;
	uint32_t interval_serial;
	struct kept_request *finishing;      /* the request being emitted; NULL: none */
	const struct usage *finishing_usage; /* of it */
	struct requests_counts counts;
	char *scratch; /* for texts */
	uint32_t scratch_room;
	uint32_t *path; /* scratch for emission */
	uint32_t path_room;
	struct measuring measuring;   /* scratch for measured.c */
	struct sequencing sequencing; /* scratch for sequence.c */
	struct keys_reader keys_reader;
	struct number_map told; /* what failures told, by hash: failure.c */
	uint64_t calls_second;  /* that n_calls is of */
	uint32_t n_calls;       /* requests looked at for calls that failed */
};

/* refresh.c: takes up plans and namespaces anew where a type or a schema was added. */
void requests_refresh(struct requests *r);
/* emission.c: what a request used: of one being emitted measured now, of a kept one as it was;
 * NULL: not known. */
const struct state_resources *requests_resources(struct requests *r, struct kept_request *kept);
/* Numbers into ascending order, without doubles; returns how many are left. */
uint32_t ids_sort(uint32_t *items, uint32_t n);
int ids_compare(const void *a, const void *b); /* for bsearch() */
/* request_snapshot.c: the name of the process that a thread is of, interned; 0: not known. */
uint32_t requests_process(const struct requests *r, uint32_t host, int32_t tid, int32_t pid);

/* By its name: no thread does anything in such a span. */
static inline bool is_of_nobody(const struct requests *r, uint32_t name)
{
	return name == r->queued_name || name == r->unacked_name;
}

#endif
