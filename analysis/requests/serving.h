/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_SERVING_H
#define PT_REQUESTS_SERVING_H

#include "base/pool.h"
#include "requests/found.h"
#include "requests/arrival.h"
#include "requests/served.h"
#include "requests/servers.h"
#include "requests/sockets.h"

/*
 * What the files of servers.h share: connections, requests, calls, and the threads that work for
 * them. Threads: one at a time. All is of struct servers, and freed with it.
 */

#define SERVING_BUCKETS         16384u /* a power of two */
#define SERVING_PROCESS_BUCKETS 1024u  /* likewise */

/* A client that does not wait for answers may have sent so many requests that are not read. */
#define MAX_SENDS 16u

enum role { ROLE_CLIENT = 0, ROLE_SERVER };

struct served_request;

struct call {
	uint64_t id, seq;  /* seq: of its span, once it is open, */
	uint64_t asked_ns; /* likewise when that began */
	struct served_request *of;
	struct served_request *callee; /* NULL: not seen */
	struct call *next;             /* of its request */
	struct connection *on;         /* NULL: it has gone on to another one */
	uint64_t thread;
	uint32_t host, name;
	bool open, planned; /* planned: it connected, and has not sent so far */
};

/* One end of a connection. */
struct connection {
	struct pair pair;
	struct connection *chained;       /* of the bucket */
	struct connection *older, *newer; /* by when they were used last */
	struct served_request *current;   /* a server's: what is under way */
	struct call *call;                /* a client's: the last one */
	uint64_t sent_ns;                 /* when the message under way was begun; 0: none is */
	uint32_t position;                /* in the stream, of its first byte */
	struct sending {                  /* a client's: the last sends, by position */
		uint64_t at_ns;
		uint32_t position;
	} sends[MAX_SENDS];
	uint32_t n_sends;
	uint64_t answered_ns; /* a server's: the first send of the last answer */
	uint64_t retransmitted_ns; /* the last time */
	uint64_t made_ns,
			received_ns; /* when it was seen first; when something was received last */
	uint32_t host, netns;
	uint8_t role;
	bool shared; /* a call began before the one of another request was answered */
	bool counted;
	bool loose; /* positions are not known: a message is what goes one way */
	bool held;  /* a request is under way that nothing is made of (found_hold()) */
	bool unix_domain, accepted, by_calls; /* as struct use has them */
};

#define MAX_WORKERS 8u

struct served_request {
	uint64_t id, tree, seq; /* tree: what all requests have in common that one led to */
	struct connection *on;
	struct call *by;                        /* NULL: of nobody that is known */
	struct call *calls;                     /* the newest first */
	struct served_request *earlier, *later; /* of those answered, by theirs last send */
	uint64_t start_ns, sent_ns;
	uint32_t host, name, stream, cpu;
	bool answered, queued;
	bool untouched; /* its receiver did nothing for it so far */
	bool closed;    /* its receiver has it open no more */
	struct worker *workers[MAX_WORKERS]; /* that work for it now */
	uint32_t n_workers;
	struct worker *sender;    /* that is sending the answer */
	uint64_t answerer;        /* the thread that sent the last of it; with `answered` */
	struct process *process;  /* NULL: nothing was handed on so far */
	struct worker *successor; /* woken for it, and does not run yet; NULL: none */
	struct worker *holder;    /* took it over last; NULL: nobody */
	struct worker *receiver;  /* of its message */
	uint64_t asks_to_start;   /* thread that was signalled for it; 0: none */
	bool waits;               /* it may lie in a queue of its process */
	bool doubtful;            /* what was taken for its work may be another's, or lack */
	uint32_t n_taken;         /* how often it was taken over */
};

/* What is known of how the threads of a process hand requests on. */
struct process {
	struct process *chained;
	int64_t pid;
	uint32_t host;
	uint32_t n_waiting; /* requests that may lie in a queue */
	uint32_t n_running; /* threads that take over and do not wait on a futex */
	uint64_t n_jobs;    /* that were received to be handed on */
	/* Answered requests that had been taken over, by threads that take over, and by others. */
	uint64_t by_pool, by_others;
};

struct worker {
	uint64_t thread;
	uint32_t host;
	struct worker *chained;
	struct served_request *served; /* NULL: none */
	struct served_request *sending;
	uint32_t program;
	/* How often a receive made it turn to another request, since it waited or asked. */
	uint32_t n_turned;
	/* Requests that it received and that were not answered; of these, nothing was done for. */
	uint32_t n_open, n_untouched;
	bool interleaves; /* it has had several at once */
	bool waited;      /* for whatever comes, since it last received */
	bool in_futex; /* in that call: it waits, or wakes others */
	bool hands;    /* it hands on what it receives */
	bool pooled;   /* it takes over what others have received */
	bool asked;    /* likewise; it asked a server, for nobody that is known */
	struct arrival arrival;
	uint64_t wait_ns;              /* when it last entered a call that waits */
	uint64_t n_jobs;               /* of its process, when it took over */
	struct process *process;       /* NULL: not known so far */
	struct served_request *handed; /* it was woken for; NULL: none, or nobody knows */
	uint64_t started; /* thread that it started, and told nobody of so far; 0: none */
	bool was_started; /* for the request that it works for */
};

/* A port at a host's own end, and at the other end of the first connection of it. */
#define OWN_PORTS 4096u /* a power of two */

struct own_port {
	uint32_t host, netns, own, peer; /* own 0: none */
};

struct servers {
	struct servers_config config;
	struct pool pool;
	struct type_told *types;
	uint32_t n_types, type_room;
	struct connection *connections[SERVING_BUCKETS];
	struct connection *oldest, *newest;
	uint32_t n_connections;
	struct worker *workers[SERVING_BUCKETS];
	uint32_t n_workers;
	struct process *processes[SERVING_PROCESS_BUCKETS];
	struct found found;
	struct served_request *first_answered, *last_answered;
	struct ports ports;
	struct own_port *own_ports; /* OWN_PORTS of them; NULL: none is known */
	uint64_t next_id, now_ns;
	uint8_t *tracers; /* enum tracer of each host; by number */
	uint32_t n_tracers;
	uint32_t derived[SERVED_COUNT][2]; /* types; ID_NONE: not added so far */
	bool adding, added, off;
	bool by_probe; /* it is recorded somewhere: events that it alone has are declared */
};

/* Who tells of the sockets of a host, where there is a probe at all. */
enum tracer {
	TRACER_UNKNOWN = 0,
	TRACER_PROBE,
	TRACER_LTTNG,
};

struct where {
	uint32_t host, stream, cpu;
	uint64_t thread; /* key */
};

/* --- servers.c: types ------------------------------------------------------------------------- */

/* Adds those of derived events. False: requests are told otherwise, or there is no memory. */
bool serving_add_types(struct servers *servers);

/* --- connections.c ---------------------------------------------------------------------------- */

struct connection *connection_find(const struct servers *servers, const struct pair *pair);
/* The other end, NULL where it was not seen. */
struct connection *connection_peer(const struct servers *servers, const struct connection *c);
/* The one that an event is of, which is made where it is new; NULL if out of memory. */
struct connection *connection_of(
		struct servers *servers, const struct use *use, const struct where *where);
/* Where positions are not known at one end any more, they are of no use at both. */
void connection_set_positioned(
		const struct servers *servers, struct connection *c, const struct use *use);
/* Its ends turned out to be others than it was known by. */
void connection_rename(struct servers *servers, const struct pair *before, const struct use *use,
		const struct where *where);
/* Somebody listens on the port: connections of it that there are, are a server's from now on. */
void connections_listen(
		struct servers *servers, uint32_t netns, uint32_t port, const struct where *where);
/* Forgets one that nothing is under way on: see connection_drop(). */
void connection_remove(struct servers *servers, struct connection *c);
/* Was what begins at this position sent by the message that the other end sends? */
bool connection_is_of_message(const struct connection *peer, uint32_t first);
void connection_note_send(struct connection *c, uint32_t position, uint64_t now_ns);
/*
 * When the bytes from `first` on were sent, 0 if nobody saw it. A client that does not wait for an
 * answer before it sends the next request has several under way. Of datagrams it is the oldest that
 * was not asked for, and not long ago: each is asked for once.
 */
uint64_t connection_sent_at(struct connection *peer, uint32_t first, uint64_t now_ns);
/* Were several sends of the client, or parts of them, read at once? */
bool connection_is_several(const struct connection *peer, uint32_t first, uint32_t length);

/* --- work.c ----------------------------------------------------------------------------------- */

/*
 * Feeds a derived event, of when it really was (at_ns, not after now; 0: now), below the one with
 * the number `under` (0: none). Returns its number in the engine.
 */
uint64_t serving_tell(struct servers *servers, enum served what, bool exit,
		const struct where *where, uint64_t at_ns, const struct served_ids *ids,
		uint32_t name, uint64_t under);
struct served_ids serving_ids(const struct served_request *served, uint64_t id, uint64_t message);
/* NULL: not known, and not to be made, or there are too many. */
struct worker *worker_of(struct servers *servers, uint32_t host, uint64_t thread, bool make);
void worker_stop(struct servers *servers, struct worker *w, const struct where *near);
/* NULL: for nobody. */
void worker_work_for(struct servers *servers, struct worker *w, struct served_request *served,
		const struct where *where);

/* --- handover.c ------------------------------------------------------------------------------- */

void handover_set_in_futex(struct worker *w, bool in_futex);
/* It takes over what others have received, or does so no more. */
void handover_set_pooled(struct worker *w, bool pooled);
/* The process of a thread, NULL where it is not known. */
struct process *handover_process(struct servers *servers, struct worker *w);
/* It may lie in a queue from now on, or does no more. */
void handover_set_waits(struct served_request *served, bool waits);
/*
 * True: it works for a request, and for no other one. Else it works for nobody who is known: it may
 * have taken over several; or, as an event loop, received several and asks for them afterwards.
 */
bool handover_works_surely(struct servers *servers, struct worker *w, const struct where *near);
void handover_forget_successor(struct served_request *served);
/* A thread wakes another one of its process: both are in a futex call. */
void handover_give(struct servers *servers, struct worker *w, struct worker *to,
		const struct where *near);
/* It has returned from its wait: is what it was woken for what it finds to do? */
void handover_take(struct servers *servers, struct worker *w, const struct where *where);
/* The first send of an answer. */
void handover_answered(struct servers *servers, struct served_request *served, struct worker *w);

/* --- starting.c ------------------------------------------------------------------------------- */

void starting_read_type(const struct event_type *type, struct type_told *told);
/* An event that tells of processes that are started, or end. */
void starting_see(struct servers *servers, const struct event *event, const struct type_told *told);

/* --- serving_requests.c ----------------------------------------------------------------------- */

/* Since ready_ns the message could be read (0: not known). NULL: there are no such requests. */
struct served_request *served_begin(struct servers *servers, struct connection *c, uint32_t first,
		uint64_t ready_ns, const struct where *where);
/*
 * The request is over: what it led to as well, as far as that was answered. Where it was not
 * answered, nobody knows its end: it is left without one, and so cut off.
 */
void served_end(struct servers *servers, struct served_request *served, const struct where *near);
/*
 * Its receiver has it as one more that is open; has done something for it, or handed it on; and has
 * it open no more.
 */
void served_received(struct served_request *served, struct worker *w);
void served_touch(struct served_request *served);
void served_close(struct served_request *served);
/* It was answered just now: it ends when nothing more comes for long. */
void served_enqueue(struct servers *servers, struct served_request *served);
/* What it sent, from that byte on, or that it asks for a connection, was not acknowledged: it was
 * sent again. */
void call_retransmit(struct servers *servers, struct connection *c, uint32_t position,
		const struct where *near);
/*
 * A message to a server. Who connected is whose it is; else it is of the request that the thread
 * works for, unless it has looked for something to do meanwhile: then nobody knows.
 */
void call_ask(struct servers *servers, struct connection *c, struct worker *w,
		const struct where *where);
/* The thread connects for a request, and has not sent so far. NULL if out of memory. */
struct call *call_plan(struct servers *servers, struct connection *c, struct served_request *served,
		const struct where *where);
/*
 * Its answer had come so long before it was received, at least; 0: not known. Less than
 * CALL_LAY_NS is what it takes to wake up, and not told.
 */
#define CALL_LAY_NS UINT64_C(100000)
void call_lay(struct servers *servers, const struct call *call, uint64_t queued_ns,
		const struct where *near);
void call_end(struct servers *servers, struct call *call, const struct where *near);
/* Is it what a call to a port is called? */
bool serving_is_call(const char *name);
/* The connection goes on to something else, or goes. */
void call_forget(struct connection *c);
/* The connection is gone, with what is under way on it. */
void connection_drop(struct servers *servers, struct connection *c, const struct where *near);

#endif
