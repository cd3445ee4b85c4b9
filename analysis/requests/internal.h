/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_INTERNAL_H
#define PT_REQUESTS_INTERNAL_H

#include "requests/addresses.h"
#include "base/number_map.h"
#include "requests/ended.h"
#include "requests/losses.h"
#include "requests/measured.h"
#include "requests/path.h"
#include "requests/requests.h"
#include "requests/sequence.h"
#include "requests/spans.h"
#include "requests/usage.h"
#include "state/threads.h"

/*
 * What the files of the request engine share, and nobody else includes: fragments (requests in
 * the making), the intervals that hold them together, and the spans that are open.
 */

#define MAX_SPAN_DEPTH   4096   /* open spans of one thread; beyond, the outermost is given up */
#define MAX_ORPHAN_DEPTH 128    /* where the thread works on no request */
#define MAX_ORPHANS      262144 /* spans of no request; beyond, a new one is not paired */
#define MAX_KEYED_SPANS  65536  /* open spans that pair by key; beyond, the oldest is given up */

#define MEASURING_MEMO    64u  /* names of what threads are blocked on */
#define MAX_CONTEXT_DEPTH 256u /* deeper spans count as their ancestor there */

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
	uint32_t n_spans_left_out; /* their entries were beyond a bound */
	uint32_t repeated[ENDLESS_PLACES]; /* endless.c: what was entered below long spans alone */
	uint8_t n_repeated[ENDLESS_PLACES];
	uint64_t first_ns, last_ns;
	uint64_t root; /* seq of the root's entry; 0: a seed without a span */
	uint32_t n_failed;       /* events that told of a failure, those of system calls included; */
	uint32_t n_failed_calls; /* and these alone */
	uint32_t n_unclosed; /* skeleton spans that were left without their exit */
	bool died;           /* the thread of an open span of it has ended */
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

/* What measuring a request works on, used again; see measured.c. */
struct measuring {
	struct path path;
	struct measured_segment *segments, *lags;
	struct measured_visit *visits;
	uint32_t segment_room, visit_room, lag_room;
	struct walked_span *walked_spans; /* of walked.c */
	struct walked_piece *walked_pieces;
	uint32_t walked_span_room, walked_piece_room;
	/* Interned names of parts that no span owns. */
	uint32_t wait, transit, runnable, waking, blocked, lag;
	uint32_t blocked_on[MEASURING_MEMO][2];    /* name of a call: that of the part */
};

#define VARIANTS_MAX 64u

struct variants_of_type {
	bool known;                       /* the rule was looked for */
	const struct schema_expect *rule; /* NULL: none */
	uint32_t n, *values;              /* interned */
};

/* Roots that end, by name and process; and those that were found not to. */
#define ENDLESS_NOTED 8u
struct endless {
	struct number_map ended;
	uint32_t n, names[ENDLESS_NOTED];
};

/* Which spans a person said are requests; NULL: nobody did. Patterns. */
struct named_request {
	char *program, *function;
	uint64_t n; /* that began */
};

struct variants {
	struct variants_of_type *of_type; /* by the interned type of requests */
	uint32_t room;
};

#define KEY_DIGITS 72u /* of a number as text, in whatever base */

#define KEY_IDS 32u /* further names of ids are taken for values */

struct key_item;
struct request_key;

/* A field that is a key of its type's events. */
struct key_field {
	uint32_t at, name;
	bool numeric;
};

struct keys_of_type {
	uint32_t n;
	struct key_field *fields; /* NULL: not looked at so far */
};

/* What reading key-values works on, used again; see keys.c. */
struct keys_reader {
	struct keys_of_type *types;
	struct key_item *items;
	struct request_key *keys;
	char (*digits)[KEY_DIGITS];
	uint32_t n_types, n, room, key_room;
	uint32_t n_ids, ids[KEY_IDS]; /* interned names of fields that name requests or messages */
	bool ids_known;
	uint64_t received_ns; /* when the request's message was received; UINT64_MAX: none was */
};

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
	struct measuring measuring; /* scratch for measured.c */
	struct sequencing sequencing; /* scratch for sequence.c */
	struct keys_reader keys_reader;
	struct number_map told; /* what failures told, by hash: failure.c */
	uint64_t calls_second;  /* that n_calls is of */
	uint32_t n_calls;       /* requests looked at for calls that failed */
};

/* What one binding of an event comes to. */
struct bound {
	bool has_key;
	uint8_t op; /* as it acts here */
	struct key key;
	struct interval *interval; /* open one, or NULL */
};

struct feed {
	const struct plan *plan;
	const struct event *event;
	struct stream *stream;
	struct thread *thread; /* NULL: not known */
	struct bound bound[PLAN_MAX_BINDS];
	struct fragment *target;
	struct open_span *paired; /* exits: their entry */
	struct key pair_key;
	bool used;      /* by the state */
	bool keyed;     /* pairs by pair_key rather than by nesting on the thread */
	bool names_new; /* names a request that is not open */
	uint64_t id_hash;
	uint8_t id_ns;
	uint32_t name; /* of the span */
	uint32_t link;
	const struct requests_derived *derived; /* NULL: it is an event of a trace */
	uint64_t at_ns;                         /* when it happened */
	uint8_t fails; /* enum copy_fails */
	bool kept; /* there is a copy */
};

/* event_thread.c: the thread of an event, NULL if not known. */
struct thread *feed_thread(struct requests *r, const struct plan *plan, const struct event *event,
		struct stream *stream);

/* binding.c */
/* False: a part of the key is absent or not known, so nothing is bound. */
bool feed_make_key(struct key_maker *maker, const struct feed *feed, uint32_t space, uint32_t host,
		const struct plan_key *parts, uint32_t n, struct key *key);
/* Finds what is open of the values that an event binds, and how its operations act then. */
void feed_look_up(struct requests *r, struct feed *feed);
/* Which fragment a skeleton event belongs to; may unite several. */
void feed_choose_target(struct requests *r, struct feed *feed);
/* A fragment for an event that joins nothing; NULL: it has no say in opening one. */
struct fragment *feed_open_fragment(struct requests *r, const struct feed *feed);
/* Opens and closes; `alone`: the event is the first of its fragment. */
void feed_apply_bind(struct requests *r, struct feed *feed, uint32_t i, bool alone);
/* What the span interrupted that held a thread until now, goes on. */
void feed_resume_execution(struct requests *r, struct feed *feed, uint32_t i);

/* joining.c: WHY_COUNT where the event found its fragment. */
enum unmatched_why feed_attach(struct requests *r, struct feed *feed);
enum unmatched_why feed_join(struct requests *r, struct feed *feed);
/* endless.c: see there. */
bool endless_leave_root(struct requests *r, struct feed *feed);
/* A span outside of all requests may begin one, as far as a person said what requests are. */
bool endless_may_begin(struct requests *r, const struct feed *feed);
void endless_root_ended(struct requests *r, uint32_t name, const struct thread *thread);

void feed_resume_executions(struct requests *r, struct feed *feed);
/* Evicts fragments until there is room for one more. */
void requests_make_room(struct requests *r);

/* refresh.c: takes up plans and namespaces anew where a type or a schema was added. */
void requests_refresh(struct requests *r);

/* fragments.c */
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

/* pairing.c: `key` NULL pairs by nesting on the thread, else by that key. */
struct open_span *span_push(struct requests *r, const struct plan *plan, const struct event *event,
		struct thread *thread, struct fragment *f, uint32_t name, const struct key *key);
/* The entry that this exit ends, NULL if it was not seen. `f` NULL: of whatever fragment. */
struct open_span *span_find(struct requests *r, const struct plan *plan, struct thread *thread,
		const struct fragment *f, uint32_t name, const struct key *key);
/* Ends it; spans above it that belong with it were never closed, others overlap with it. */
void span_pop(struct requests *r, struct open_span *span);
void span_remove(struct requests *r, struct open_span *span);
/* The same, of one whose exit was not seen. */
/* It belongs to no request any more; its exit is still known for what it is. */
void span_orphan(struct requests *r, struct open_span *span);
void span_give_up(struct requests *r, struct open_span *span);
/*
 * cut_short.c: A thread that enters a system call has left the one before, whose exit was not seen:
 * lost, or cut off by the end of a recording that begins anew. A request that this call was is
 * truncated; else everything that the thread does would be taken for a part of it.
 */
void span_end_lost_call(struct requests *r, const struct event *event, struct thread *thread);
/* The innermost open span of a fragment on a thread; NULL: none. */
struct open_span *span_enclosing(const struct thread *thread, const struct fragment *f);

/* failure.c: whether an event tells that its span failed: enum copy_fails. */
uint8_t failure_told(struct requests *r, const struct feed *feed);
/* Where a request that is finished began to fail; see struct request_failure. */
void failure_find(struct requests *r, const struct fragment *f, struct request *request);
/*
 * The span where that was, of those in r->spans, which have their contexts; SPAN_NONE: none is known.
 * *why: as far as the request tells; as it is.
 */
uint32_t failure_place(struct requests *r, enum request_why *why);
/* What told it of a span; NULL: nothing did. */
const struct event_copy *failure_of_span(const struct span *span);
/* What it told, in words: "status = 5", "ECONNREFUSED". Into the scratch; "" if out of memory. */
const char *failure_text(struct requests *r, const struct event_copy *copy);

/* emission.c */
void fragment_finish(struct requests *r, struct fragment *f, enum request_state state);
/* What a request used: of one being emitted measured now, of a kept one as it was; NULL: not known.
 */
const struct state_resources *requests_resources(struct requests *r, struct kept_request *kept);
void fragment_expire(struct requests *r, struct fragment *f);
/* Numbers into ascending order, without doubles; returns how many are left. */
uint32_t ids_sort(uint32_t *items, uint32_t n);
int ids_compare(const void *a, const void *b); /* for bsearch() */

/* measured.c */
void measuring_release(struct measuring *measuring);
/* The spans of a finished request, whole, into r->spans. False if out of memory. */
bool measuring_build(struct requests *r, const struct request *request);
/* Gives each of them its calling context; returns how many count as their ancestors. */
uint32_t measuring_name(struct requests *r, const struct request *request);
/* Its critical path, into r->measuring.path. False if out of memory. */
bool measuring_walk(struct requests *r);
/* What a piece of the path is called that no span owns: interned; 0: it is the span's own. */
uint32_t measuring_part(struct requests *r, const struct path_piece *piece);
/* The context that owns a piece of the path. */
uint32_t measuring_owner(struct requests *r, const struct path_piece *piece);
/* requests_measure() that leaves its spans and its path behind, of whatever request. */
bool measuring_whole(struct requests *r, const struct request *request, struct measured *out);
/* What a span is called: interned; 0: nobody told. */
uint32_t span_name(const struct requests *r, const struct span *span);
/* By that name: no thread does anything in it. */
static inline bool is_of_nobody(const struct requests *r, uint32_t name)
{
	return name == r->queued_name || name == r->unacked_name;
}

/* request_snapshot.c: the name of the process that a thread is of, interned; 0: not known. */
uint32_t requests_process(const struct requests *r, uint32_t host, int32_t tid, int32_t pid);

/* value_text.c: onto the text in the scratch, of which `used` bytes are. False if out of memory. */
bool text_append(struct requests *r, uint32_t *used, const char *text, size_t length);
/* The value of a field, of a string at most `max` bytes; of a tree nothing. */
bool text_append_value(struct requests *r, uint32_t *used, const struct event_type *type,
		const struct event *event, uint16_t at, uint32_t max);
uint32_t plan_text_make(struct requests *r, const struct plan_text *text,
		const struct event_type *type, const struct event *event);

/*
 * variants.c: what sets requests of one type apart where a schema says so (`expect: group_by`): the
 * values of those fields at the event that makes the request, interned: "image=fedora size=4".
 * VARIANTS_MAX values of each type; further ones are "image=(other)" together. 0: nothing does.
 */
uint32_t variant_of(struct requests *r, uint32_t request_type, const struct event_type *type,
		const struct event *event);
/* Schemas may have been added. */
void variants_refresh(struct variants *variants);
void variants_release(struct variants *variants);

/* keys_reader.c */
/* Plans may be other ones than before. */
void keys_reader_refresh(struct keys_reader *reader);
void keys_reader_release(struct keys_reader *reader);

#endif
