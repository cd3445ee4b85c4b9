/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BEHAVIOUR_BEHAVIOUR_H
#define PT_BEHAVIOUR_BEHAVIOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/names.h"
#include "behaviour/arrivals.h"
#include "behaviour/demands.h"
#include "behaviour/distance.h"
#include "pythiatop/focus.h"
#include "requests/request.h"
#include "requests/sequence.h"

/*
 * What requests do: of each type the strings of steps that its requests were, how often each, and
 * the shapes that these are of. (Barham et al., "Using Magpie for request extraction and workload
 * modelling", OSDI 2004.)
 *
 * A finished request is counted with those of the same string that took about as much
 * (distance_level()): that is one look into a table, and it does not matter who came first. Which
 * strings are of one shape is told when somebody asks, from the counts alone (reading.h), so that
 * requests in whatever order within the window make the same shapes.
 *
 * A type has at most BEHAVIOUR_STRINGS strings. Before that they are made coarser, in levels: steps
 * deeper than a few are left out, then their order, which is the same whatever came first. While a
 * type has more than half of that, strings that were not seen for two windows, and longer for each
 * time they had been seen, go at the turn of a slot (a tenth of the window).
 *
 * Where more than BEHAVIOUR_PER_S requests a second end, a share of them is looked at, chosen by
 * the hash of their times: so many are expected of it as there were in the second before; where
 * these were far less the share is halved in the midst of it, and only there the order matters.
 *
 * Memory: a string has some 900 bytes and five a step, so at most 28 MiB with BEHAVIOUR_ALL_STRINGS
 * of the longest, usually some 100 KiB a type; beyond that number requests are counted as others.
 * Each has a request kept for it, renewed at most twice a window. Threads: one.
 */
#define BEHAVIOUR_TYPES       256u
#define BEHAVIOUR_STRINGS     512u
#define BEHAVIOUR_ALL_STRINGS 8192u
#define BEHAVIOUR_PER_S       1000u
#define BEHAVIOUR_SLOTS       12u /* a tenth of the window each: the last ten and the one that runs */

struct behaviour;

struct behaviour_config {
	uint64_t window_ns;
	/*
	 * Keeps a finished request, which is at hand; returns what the others take, 0: it could
	 * not. It may be forgotten all the same, where memory is short: held() tells. All may be
	 * NULL.
	 */
	uint32_t (*hold)(void *context, uint64_t id);
	enum request_kept (*held)(void *context, uint32_t held);
	void (*let_go)(void *context, uint32_t held);
	void *context;
};

/* A finished request. */
struct behaved {
	uint32_t type, group_id;
	uint64_t id, hosts; /* hosts: as of struct request */
	uint64_t start_ns, end_ns;
	bool no_end; /* it fell silent */
	struct resources resources;
	struct sequence sequence;
};

struct behaviour *behaviour_create(
		const struct behaviour_config *config, const struct names *names);
void behaviour_destroy(struct behaviour *behaviour);

/* Is one of these times looked at? Counts it either way. O(1). */
bool behaviour_wants(
		struct behaviour *behaviour, uint32_t type, uint64_t start_ns, uint64_t end_ns);
/* Counts a request that it wants. O(steps), cannot fail: what has no room is counted as such. */
void behaviour_add(struct behaviour *behaviour, const struct behaved *request);
/* Event time has reached now_ns. */
void behaviour_advance(struct behaviour *behaviour, uint64_t now_ns);
/* As groups_begin_epoch(), of types. */
void behaviour_begin_epoch(struct behaviour *behaviour, uint64_t from_ns,
		bool (*touches)(void *context, uint32_t type, uint64_t hosts), void *context);

/* ---- what reading.c reads ---- */

struct behaviour_tally {
	uint64_t n;
	double duration_ns; /* sum */
};

struct behaviour_tallies {
	struct behaviour_tally all, epoch, slots[BEHAVIOUR_SLOTS];
	uint64_t slot; /* the latest; slots are by number modulo BEHAVIOUR_SLOTS */
};

/* Requests that did the same, and took about as much. */
struct behaviour_string {
	struct behaviour_string *next; /* of its type */
	struct behaviour_string *next_same_hash;
	uint64_t hash;
	uint32_t level; /* of what they took: distance_level() */
	struct behaviour_tallies tallies;
	uint64_t measured; /* requests that `resources` are sums of */
	struct resources resources;
	struct demands demands;
	uint64_t last_ns;
	/* The one that is kept, unless it was forgotten: behaviour_request(). 0: none. */
	uint64_t request, request_end_ns, request_start_ns;
	uint32_t group_id;
	uint32_t held, held_before; /* the latter: of the one kept before, which a screen may show
				     */
	bool cut;
	uint32_t n;
	uint32_t *symbols; /* of the alphabet */
	uint8_t *depths;
	/* both behind this, in one piece */
};

struct behaviour_type {
	uint32_t type;          /* interned */
	uint32_t n, coarseness; /* coarseness: a level; 0: nothing is left out */
	bool unordered;         /* strings are sets */
	struct behaviour_string *first;
	struct arrivals arrivals;      /* of all its requests, as `seen` */
	struct behaviour_tallies seen; /* all its requests, looked at or not */
	uint64_t others;               /* looked at, and without a string (any more) */
	uint64_t hosts, epoch_ns;
	bool epoch; /* one was begun */
};

/* The one that is kept of those that were this string; 0: none is any more. */
uint64_t behaviour_request(const struct behaviour *b, const struct behaviour_string *string);

/* Of a horizon as of now. */
struct behaviour_tally behaviour_count(const struct behaviour *behaviour,
		const struct behaviour_type *type, const struct behaviour_tallies *tallies,
		enum horizon horizon);
const struct behaviour_type *behaviour_find(const struct behaviour *behaviour, uint32_t type);
uint32_t behaviour_types(const struct behaviour *behaviour);
const struct behaviour_type *behaviour_type_at(const struct behaviour *behaviour, uint32_t i);
const struct alphabet *behaviour_alphabet(const struct behaviour *behaviour);
const struct names *behaviour_names(const struct behaviour *behaviour);

#endif
