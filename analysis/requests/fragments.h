/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_FRAGMENTS_H
#define PT_REQUESTS_FRAGMENTS_H

#include "requests/key.h"
#include "requests/kept.h"
#include "requests/plan.h"
#include "requests/spans.h"
#include "requests/usage.h"
#include "state/threads.h"

/*
 * Requests in the making (fragments), the intervals that hold them together, and the spans that are
 * open. Threads: the engine's. Units: ns of event time.
 */

#define MAX_SPAN_DEPTH   4096   /* open spans of one thread; beyond, the outermost is given up */
#define MAX_ORPHAN_DEPTH 128    /* where the thread works on no request */
#define MAX_ORPHANS      262144 /* spans of no request; beyond, a new one is not paired */
#define MAX_KEYED_SPANS  65536  /* open spans that pair by key; beyond, the oldest is given up */

/* Lists of fragments by what they wait for: each list is in the order of its deadlines. */
#define LIST_TENTATIVE (PLAN_MAX_NAMESPACES)     /* for a start that is late by clock skew */
#define LIST_ENDING    (PLAN_MAX_NAMESPACES + 1) /* for spans open beyond the end of the root */
#define LISTS          (PLAN_MAX_NAMESPACES + 2) /* the others: silent for a namespace's ttl */

/* A value of a namespace, from when it is opened until it is closed. */
struct interval {
	struct key key; /* first: see key_table */
	struct fragment *fragment;
	struct interval *prev, *next; /* of the fragment */
	uint64_t last_ns;
	uint64_t opener; /* seq of the event that opened it */
	/* Of a message: hash of the host and thread that opened it, 0 where that is not known. */
	uint64_t sender;
	uint32_t serial;
	uint32_t link; /* of NS_EXECUTION: the message that the event which opened it took; 0: none
			*/
	uint8_t ns;
	bool received; /* a message: another thread took part in it */
	bool sent;     /* a message: the span that sent it has ended, and nobody received it yet */
};

struct open_span {
	struct key key;                  /* first; of keyed ones only */
	struct open_span *below, *above; /* of the thread; keyed: by age */
	struct open_span *prev, *next;   /* of the fragment */
	struct fragment *fragment;       /* NULL: belongs to no request */
	struct thread *thread;           /* NULL: not known, or keyed */
	uint64_t seq, start_ns;
	uint32_t name, type;
	bool keyed;
	bool kept; /* a copy of its entry is: its exit's is, too */
};

#define ENDLESS_PLACES 8u

struct fragment {
	uint64_t serial;
	struct fragment *prev, *next;   /* of the list by deadline */
	struct fragment *older, *newer; /* of those with, or without, a seed */
	struct fragment *next_doomed;
	uint64_t deadline_ns;
	uint8_t list;         /* which list by deadline */
	uint8_t ttl_ns_index; /* namespace whose ttl counts */
	bool seeded, tentative, merged, many_hosts, over_bound;
	bool ending;     /* root has ended, waits for other spans */
	bool held;       /* it sent messages that somebody may receive after its root has ended */
	bool superseded; /* its request id began anew, or the thread of its root has ended */
	bool is_doomed;  /* looked at once the event is done */
	bool root_open;
	bool cut; /* a part of it has no end that is known */
	uint32_t host;
	struct interval *intervals;
	struct open_span *spans;
	uint32_t n_open;
	uint32_t n_spans, n_skeleton_spans;
	struct copies copies;
	struct usage usage; /* empty without kernel events */
	uint32_t n_pending, n_state, n_left_out;
	uint32_t n_spans_left_out;         /* their entries were beyond a bound */
	uint32_t repeated[ENDLESS_PLACES]; /* endless.c: what was entered below long spans alone */
	uint8_t n_repeated[ENDLESS_PLACES];
	uint64_t first_ns, last_ns;
	uint64_t root;     /* seq of the root's entry; 0: a seed without a span */
	uint32_t n_failed; /* events that told of a failure, those of system calls included; */
	uint32_t n_failed_calls; /* and these alone */
	uint32_t n_unclosed;     /* skeleton spans that were left without their exit */
	bool died;               /* the thread of an open span of it has ended */
	uint64_t start_ns, end_ns;
	uint32_t root_type, root_name, root_provider;
	uint32_t type;    /* of the request, interned */
	uint32_t variant; /* of its type; 0: none */
	uint64_t id_hash; /* of its value of a request namespace; 0: none */
	uint8_t id_ns;
};

struct fragment_list {
	struct fragment *first, *last;
};

struct requests;

struct fragment *fragment_create(
		struct requests *r, const struct event *event, uint32_t host, uint8_t ttl_ns_index);
/* Makes one of two; returns it. The other is gone. */
struct fragment *fragment_unite(struct requests *r, struct fragment *a, struct fragment *b);
bool fragments_conflict(const struct fragment *a, const struct fragment *b);
void fragment_touch(struct requests *r, struct fragment *f, uint64_t now_ns);
void fragment_wait(struct requests *r, struct fragment *f, uint8_t list, uint64_t deadline_ns);
void fragment_make_seeded(struct requests *r, struct fragment *f);
void fragment_doom(struct requests *r, struct fragment *f);
/* Takes it out of everything and frees it; its events must have been counted. */
void fragment_remove(struct requests *r, struct fragment *f);

struct interval *interval_open(struct requests *r, struct fragment *f, const struct key *key,
		uint8_t ns, uint64_t opener, uint64_t now_ns);
void interval_close(struct requests *r, struct interval *interval);
/* The open interval of a value; one that was silent for its ttl is closed first. */
struct interval *interval_find(
		struct requests *r, const struct key *key, uint8_t ns, uint64_t now_ns);

/* emission.c: it is a request now, finished so; or it was silent for too long. */
void fragment_finish(struct requests *r, struct fragment *f, enum request_state state);
void fragment_expire(struct requests *r, struct fragment *f);

#endif
