/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/pool.h"
#include "requests/found.h"
#include "requests/served.h"
#include "requests/servers.h"
#include "requests/sockets.h"

#define BUCKETS         16384u /* a power of two */
#define PROCESS_BUCKETS 1024u  /* likewise */

/* A client that does not wait for answers may have sent so many requests that are not read. */
#define MAX_SENDS 16u

enum role { ROLE_CLIENT = 0, ROLE_SERVER };

struct served_request;

struct call {
	uint64_t id;
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
	uint32_t host;
	uint8_t role;
	bool shared; /* a call began before the one of another request was answered */
	bool counted;
};

#define MAX_WORKERS 8u

struct served_request {
	uint64_t id, tree, seq; /* tree: what all requests have in common that one led to */
	struct connection *on;
	struct call *by;                        /* NULL: of nobody that is known */
	struct call *calls;                     /* the newest first */
	struct served_request *earlier, *later; /* of those answered, by their last send */
	uint64_t start_ns, sent_ns;
	uint32_t host, name, stream, cpu;
	bool answered, queued;
	struct worker *workers[MAX_WORKERS]; /* that work for it now */
	uint32_t n_workers;
	struct worker *sender; /* that is sending the answer */
	uint64_t answerer;     /* the thread that sent the last of it; with `answered` */
	struct process *process; /* NULL: nothing was handed on so far */
	struct worker *successor; /* woken for it, and does not run yet; NULL: none */
	struct worker *holder;   /* took it over last; NULL: nobody */
	struct worker *receiver; /* of its message */
	bool waits;              /* it may lie in a queue of its process */
	bool doubtful;           /* what was taken for its work may be another's, or lack */
	uint32_t n_taken; /* how often it was taken over */
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
	bool waited;                   /* for whatever comes, since it last received */
	bool in_futex;                 /* in that call: it waits, or wakes others */
	bool hands;                    /* it hands on what it receives */
	bool pooled;                   /* it takes over what others have received */
	bool asked; /* likewise; it asked a server, for nobody that is known */
	uint64_t n_jobs;               /* of its process, when it took over */
	struct process *process;       /* NULL: not known so far */
	struct served_request *handed; /* it was woken for; NULL: none, or nobody knows */
};

struct servers {
	struct servers_config config;
	struct pool pool;
	struct type_told *types;
	uint32_t n_types, type_room;
	struct connection *connections[BUCKETS];
	struct connection *oldest, *newest;
	uint32_t n_connections;
	struct worker *workers[BUCKETS];
	uint32_t n_workers;
	struct process *processes[PROCESS_BUCKETS];
	struct found found;
	struct served_request *first_answered, *last_answered;
	struct ports ports;
	uint64_t next_id, now_ns;
	uint32_t derived[SERVED_COUNT][2]; /* types; ID_NONE: not added so far */
	bool adding, added, off;
};

struct servers *servers_create(const struct servers_config *config)
{
	struct servers *servers = calloc(1, sizeof(*servers));

	if (servers) {
		servers->config = *config;
		pool_init(&servers->pool);
	}
	return servers;
}

void servers_destroy(struct servers *servers)
{
	if (servers) {
		pool_release(&servers->pool);
		found_release(&servers->found);
		free(servers->types);
		free(servers);
	}
}

/* --- Types ------------------------------------------------------------------------------------ */

bool servers_add_type(struct servers *servers)
{
	uint32_t at = servers->config.registry->n_types - 1;
	const struct event_type *type = &servers->config.registry->types[at];
	struct type_told *told;

	if (!array_reserve_zeroed(&servers->types, &servers->type_room, at + 1)) {
		return false;
	}
	servers->n_types = at + 1;
	told = &servers->types[at];
	sockets_read_type(type, told);
	if (servers->adding) {
		told->told = TOLD_NOTHING;
	}
	return true;
}

/* False: requests are told otherwise (by ids, by a schema), or there is no memory. */
static bool add_derived(struct servers *servers)
{
	if (servers->added || servers->off) {
		return servers->added;
	}
	if (!model_takes_served(servers->config.model)) {
		servers->off = true;
		return false;
	}
	servers->adding = true;
	for (uint32_t i = 0; i < SERVED_COUNT; i++) {
		for (uint32_t exit = 0; exit < 2; exit++) {
			struct event_type type = {.name = served_name(i, exit),
					.n_fields = SERVED_FIELDS,
					.fields = served_fields()};

			servers->derived[i][exit] =
					servers->config.add_type(servers->config.context, &type);
			servers->off |= servers->derived[i][exit] == ID_NONE;
		}
	}
	servers->adding = false;
	servers->added = !servers->off;
	return servers->added;
}

/* --- Connections ------------------------------------------------------------------------------ */

static uint32_t bucket_of(const struct pair *pair)
{
	return (uint32_t)hash_bytes(pair, sizeof(*pair)) & (BUCKETS - 1);
}

static struct connection *find(const struct servers *servers, const struct pair *pair)
{
	struct connection *c = servers->connections[bucket_of(pair)];

	while (c && memcmp(&c->pair, pair, sizeof(*pair)) != 0) {
		c = c->chained;
	}
	return c;
}

static struct connection *find_peer(const struct servers *servers, const struct connection *c)
{
	struct pair pair = c->pair;

	pair.own = c->pair.peer;
	pair.peer = c->pair.own;
	return find(servers, &pair);
}

static void age_remove(struct servers *servers, struct connection *c)
{
	*(c->older ? &c->older->newer : &servers->oldest) = c->newer;
	*(c->newer ? &c->newer->older : &servers->newest) = c->older;
}

static void age_append(struct servers *servers, struct connection *c)
{
	c->older = servers->newest;
	c->newer = NULL;
	*(servers->newest ? &servers->newest->newer : &servers->oldest) = c;
	servers->newest = c;
}

/* --- Derived events --------------------------------------------------------------------------- */

struct where {
	uint32_t host, stream, cpu;
	uint64_t thread; /* key */
};

/* Feeds one; `at_ns`: when it really was, not after now. Returns its number in the engine. */
static uint64_t tell(struct servers *servers, enum served what, bool exit,
		const struct where *where, uint64_t at_ns, const struct served_ids *ids,
		uint32_t name, uint64_t under)
{
	uint64_t slots[SERVED_FIELDS + SERVED_NAME / 8];
	struct event event = {.ts_ns = servers->now_ns,
			.type = servers->derived[what][exit],
			.stream = where->stream,
			.cpu = where->cpu,
			.slots = slots};
	const struct requests_derived derived = {.at_ns = at_ns,
			.under = under,
			.host = where->host,
			.thread = where->thread,
			.cut = what == SERVED_REQUEST && exit && at_ns == 0};

	event.bytes = served_write(slots, ids, names_text(servers->config.names, name));
	return requests_feed_derived(servers->config.requests, &event, &derived);
}

static struct served_ids ids_of(const struct served_request *served, uint64_t id, uint64_t message)
{
	return (struct served_ids){.request = served->tree, .message = message, .id = id};
}

/* --- Who works for whom ----------------------------------------------------------------------- */

static struct worker *worker_of(struct servers *servers, uint32_t host, uint64_t thread, bool make)
{
	uint32_t bucket = (uint32_t)hash_pair(host, thread) & (BUCKETS - 1);
	struct worker *w = servers->workers[bucket];

	while (w && (w->thread != thread || w->host != host)) {
		w = w->chained;
	}
	if (w || !make || servers->n_workers == SERVERS_MAX_THREADS) {
		return w;
	}
	w = pool_alloc(&servers->pool, sizeof(*w));
	if (w) {
		*w = (struct worker){.thread = thread,
				.host = host,
				.chained = servers->workers[bucket]};
		servers->workers[bucket] = w;
		servers->n_workers++;
	}
	return w;
}

static void stop_work(struct servers *servers, struct worker *w, const struct where *near)
{
	struct served_request *served = w->served;
	struct where where = *near;
	struct served_ids ids;

	if (!served) {
		return;
	}
	where.thread = w->thread;
	where.host = w->host;
	ids = ids_of(served, served->id, 0);
	tell(servers, SERVED_WORK, true, &where, 0, &ids, w->program, 0);
	w->served = NULL;
	for (uint32_t i = 0; i < served->n_workers; i++) {
		if (served->workers[i] == w) {
			served->workers[i] = served->workers[--served->n_workers];
			break;
		}
	}
}

static void work_for(struct servers *servers, struct worker *w, struct served_request *served,
		const struct where *where)
{
	struct served_ids ids;

	if (w->served == served) {
		return;
	}
	stop_work(servers, w, where);
	if (!served || served->n_workers == MAX_WORKERS) {
		return;
	}
	w->served = served;
	w->program = threads_program(servers->config.threads, w->host, w->thread);
	served->workers[served->n_workers++] = w;
	ids = ids_of(served, served->id, 0);
	tell(servers, SERVED_WORK, false, where, 0, &ids, w->program, served->seq);
}

/* --- Hand-overs ------------------------------------------------------------------------------- */

/*
 * A thread that works for a request and wakes one of its process that waits on a futex for nobody that
 * is known hands it on. The other one may come too late for it, or go on to another one without
 * waiting in between; which request is in whose hands only answers tell.
 *
 * Where the threads that take over answer by themselves, what one was woken for is taken for its
 * work until it answers. If it answers another request, or another thread this one, both are cut;
 * and so is a request whose answer comes from a thread that asked something for nobody known.
 *
 * Else, and before that is known, a thread takes over only what alone can be meant: no other request
 * of the process lies in a queue, that is received by a thread that hands on, neither answered nor
 * taken over; and all others that take over wait. It works for it until the process receives the
 * next one. What is ambiguous is counted, and nobody's.
 */

static void set_in_futex(struct worker *w, bool in_futex)
{
	if (w->pooled && w->in_futex != in_futex) {
		w->process->n_running += in_futex ? UINT32_MAX : 1;
	}
	w->in_futex = in_futex;
}

/* It takes over what others have received, or does so no more. */
static void set_pooled(struct worker *w, bool pooled)
{
	if (w->pooled != pooled && !w->in_futex) {
		w->process->n_running += pooled ? 1 : UINT32_MAX;
	}
	w->pooled = pooled;
}

static struct process *process_of(struct servers *servers, struct worker *w)
{
	const struct thread *thread;
	struct process **at;

	thread = threads_find(servers->config.threads, w->host, w->thread);
	if (!thread || thread->pid < 0) {
		return NULL;
	}
	if (w->process && w->process->pid == thread->pid) {
		return w->process;
	}
	at = &servers->processes[hash_pair(w->host, (uint64_t)thread->pid) & (PROCESS_BUCKETS - 1)];
	while (*at && ((*at)->pid != thread->pid || (*at)->host != w->host)) {
		at = &(*at)->chained;
	}
	if (!*at) {
		*at = pool_alloc(&servers->pool, sizeof(**at));
		if (*at) {
			**at = (struct process){.pid = thread->pid, .host = w->host};
		}
	}
	if (w->process) {
		set_pooled(w, false); /* its tid was given to a thread of another process */
	}
	w->process = *at;
	return w->process;
}

/* It may lie in a queue from now on, or does no more. */
static void set_waits(struct served_request *served, bool waits)
{
	if (served->process && served->waits != waits) {
		served->process->n_waiting += waits ? 1 : UINT32_MAX;
		served->process->n_jobs += waits;
		served->waits = waits;
	}
}

/* Are requests answered by the threads that take them over, and by no other? */
static bool answers_in_pool(const struct process *process)
{
	return process->by_pool > 0 && process->by_others == 0;
}

/* Can what the thread does be for nothing but the request that it works for? */
static bool is_sure(const struct worker *w)
{
	const struct process *process = w->process;

	if (!w->pooled || !process) {
		return true;
	}
	return !w->served->answered &&
	       (answers_in_pool(process) ||
			       (process->n_waiting == 0 && process->n_jobs == w->n_jobs));
}

/* True: it works for a request, and for no other one. Else it works for nobody who is known. */
static bool works_surely(struct servers *servers, struct worker *w, const struct where *near)
{
	if (!w->served || w->waited) {
		return false;
	}
	if (is_sure(w)) {
		return true;
	}
	servers->found.n_ambiguous++;
	stop_work(servers, w, near);
	return false;
}

static void forget_successor(struct served_request *served)
{
	if (served->successor) {
		served->successor->handed = NULL;
		served->successor = NULL;
	}
}

/* What it has received and not answered may lie in a queue already. */
static void begin_handing(struct servers *servers, struct worker *w)
{
	w->hands = true;
	for (struct connection *c = servers->oldest; c; c = c->newer) {
		if (c->current && c->current->receiver == w && !c->current->answered) {
			c->current->process = w->process;
			set_waits(c->current, true);
		}
	}
}

/* A thread wakes another one of its process: both are in a futex call. */
static void hand_on(struct servers *servers, struct worker *w, struct worker *to,
		const struct where *near)
{
	struct served_request *served = w->served;
	struct process *process = process_of(servers, w);

	if (!process || process_of(servers, to) != process) {
		return;
	}
	if (to->served && to->served->answered) {
		stop_work(servers, to, near);
	}
	if (to->served) {
		/* A lock, or something else to do? */
		if (to->pooled && to->served != served && !is_sure(to)) {
			servers->found.n_ambiguous++;
			stop_work(servers, to, near);
		}
		return;
	}
	if (to->handed && to->handed != served) {
		servers->found.n_ambiguous++;
		forget_successor(to->handed);
		return;
	}
	if (!served || w->waited || served->answered || served->n_workers == MAX_WORKERS ||
			!is_sure(w) || (w->pooled && answers_in_pool(process))) {
		return;
	}
	if (served->holder && answers_in_pool(process)) {
		return;
	}
	if (served->successor && served->successor != to) {
		servers->found.n_ambiguous++;
		forget_successor(served);
		set_pooled(to, true);
		return;
	}
	if (!w->hands && !w->pooled) {
		begin_handing(servers, w);
	}
	served->process = process;
	if (!served->holder) {
		set_waits(served, true);
	}
	served->successor = to;
	to->handed = served;
}

/* It has returned from its wait: is what it was woken for what it finds to do? */
static void take_over(struct servers *servers, struct worker *w, const struct where *where)
{
	struct served_request *served = w->handed;
	struct process *process = w->process;

	set_pooled(w, true);
	forget_successor(served);
	w->asked = false;
	if (served->answered ||
			(!answers_in_pool(process) &&
					(process->n_waiting != (served->waits ? 1u : 0u) ||
							process->n_running != 1))) {
		servers->found.n_ambiguous++;
		return;
	}
	served->n_taken++;
	set_waits(served, false);
	served->holder = w;
	w->waited = false;
	w->n_jobs = process->n_jobs;
	work_for(servers, w, served, where);
}

/* The first send of an answer. */
static void note_answered(struct servers *servers, struct served_request *served, struct worker *w)
{
	struct process *process = served->process;
	struct connection *c;

	set_waits(served, false);
	/* Somebody gave it to this thread, if nobody saw it. */
	if (served->receiver != w && !w->pooled && process_of(servers, w)) {
		set_pooled(w, true);
	}
	served->doubtful |= w->pooled && w->asked;
	w->asked = false;
	if (!process || !served->holder) {
		return;
	}
	if (w->pooled) {
		process->by_pool++;
		served->doubtful |= served->holder != w || served->n_taken > 1;
		return;
	}
	if (answers_in_pool(process)) {
		for (c = servers->oldest; c; c = c->newer) {
			if (c->current && c->current->process == process && c->current->holder) {
				c->current->doubtful = true;
			}
		}
	}
	process->by_others++;
}

/* --- Requests and calls ----------------------------------------------------------------------- */

static void dequeue(struct servers *servers, struct served_request *served)
{
	if (!served->queued) {
		return;
	}
	*(served->earlier ? &served->earlier->later : &servers->first_answered) = served->later;
	*(served->later ? &served->later->earlier : &servers->last_answered) = served->earlier;
	served->queued = false;
}

static void enqueue(struct servers *servers, struct served_request *served)
{
	dequeue(servers, served);
	served->earlier = servers->last_answered;
	served->later = NULL;
	*(servers->last_answered ? &servers->last_answered->later : &servers->first_answered) =
			served;
	servers->last_answered = served;
	served->queued = true;
}

static void end_call(struct servers *servers, struct call *call, const struct where *near)
{
	struct where where = *near;
	struct served_ids ids = ids_of(call->of, call->id, call->id);

	if (!call->open) {
		return;
	}
	where.host = call->host;
	where.thread = call->thread;
	tell(servers, SERVED_CALL, true, &where, 0, &ids, call->name, 0);
	call->open = false;
	servers->found.n_calls++;
	servers->found.n_unseen += !call->callee;
}

/* The connection goes on to something else, or goes. */
static void forget_call(struct connection *c)
{
	if (c->call) {
		c->call->on = NULL;
		c->call = NULL;
	}
}

/*
 * The request is over: what it led to as well, as far as that was answered. Where it was not
 * answered, nobody knows its end: it is left without one, and so cut off.
 */
static void end_request(
		struct servers *servers, struct served_request *served, const struct where *near)
{
	const struct where where = {.host = served->host,
			.stream = near->stream,
			.cpu = near->cpu,
			.thread = served->answered ? served->answerer : near->thread};
	struct served_ids ids = ids_of(served, served->id, 0);
	struct call *call, *next;

	for (call = served->calls; call; call = next) {
		next = call->next;
		end_call(servers, call, near);
		if (call->callee) {
			struct served_request *callee = call->callee;

			callee->by = NULL;
			if (callee->answered) {
				end_request(servers, callee, near);
			}
		}
		if (call->on) {
			forget_call(call->on);
		}
		pool_free(&servers->pool, call, sizeof(*call));
	}
	if (served->by) {
		served->by->callee = NULL;
	}
	while (served->n_workers > 0) {
		stop_work(servers, served->workers[0], near);
	}
	forget_successor(served);
	set_waits(served, false);
	tell(servers, SERVED_REQUEST, true, &where,
			served->answered && !served->doubtful ? served->sent_ns : 0, &ids,
			served->name, 0);
	if (served->sender) {
		served->sender->sending = NULL;
	}
	dequeue(servers, served);
	if (served->on->current == served) {
		served->on->current = NULL;
	}
	pool_free(&servers->pool, served, sizeof(*served));
}

static void drop_connection(struct servers *servers, struct connection *c, const struct where *near)
{
	struct connection **at = &servers->connections[bucket_of(&c->pair)];

	if (c->current) {
		end_request(servers, c->current, near);
	}
	if (c->call) {
		end_call(servers, c->call, near);
		forget_call(c);
	}
	for (; *at; at = &(*at)->chained) {
		if (*at == c) {
			*at = c->chained;
			break;
		}
	}
	age_remove(servers, c);
	servers->n_connections--;
	pool_free(&servers->pool, c, sizeof(*c));
}

static struct connection *connection_of(struct servers *servers, const struct event *event,
		const struct type_told *told, const struct where *where)
{
	const struct pair pair = sockets_pair(event, told, where->host);
	struct connection *c = find(servers, &pair);
	uint32_t bucket = bucket_of(&pair);

	if (c) {
		age_remove(servers, c);
		age_append(servers, c);
		return c;
	}
	if (servers->n_connections == SERVERS_MAX_CONNECTIONS) {
		drop_connection(servers, servers->oldest, where);
	}
	c = pool_alloc(&servers->pool, sizeof(*c));
	if (!c) {
		return NULL;
	}
	*c = (struct connection){.chained = servers->connections[bucket], .host = where->host};
	c->pair = pair;
	c->role = (pair.family == SOCKETS_UNIX ? event->slots[told->fields[F_NAMED]] != 0
					       : ports_has(&servers->ports, where->host,
								 (uint32_t)event->slots
										 [told->fields[F_NETNS]],
								 pair.own.port))
				  ? ROLE_SERVER
				  : ROLE_CLIENT;
	servers->connections[bucket] = c;
	servers->n_connections++;
	age_append(servers, c);
	return c;
}

/* PROGRAM:PORT; of a Unix socket the program alone. */
static uint32_t name_of(struct servers *servers, uint32_t program, uint32_t port)
{
	const char *text = program ? names_text(servers->config.names, program) : "";
	char name[SERVED_NAME];

	if (port) {
		snprintf(name, sizeof(name), "%.40s:%u", text, port);
	} else {
		snprintf(name, sizeof(name), "%.40s", program ? text : "(unknown)");
	}
	return names_add(servers->config.names, name, (uint32_t)strlen(name));
}

/* Was what begins at this position sent by the message that the other end sends? */
static bool is_of_message(const struct connection *peer, uint32_t first)
{
	return peer->sent_ns &&
	       (peer->pair.family == SOCKETS_UNIX || first - peer->position < UINT32_C(1) << 31);
}

static bool is_behind(uint32_t position, uint32_t other)
{
	return position - other < UINT32_C(1) << 31; /* streams' numbers come round */
}

static void note_send(struct connection *c, uint32_t position, uint64_t now_ns)
{
	if (c->pair.family == SOCKETS_UNIX) {
		return; /* has no positions */
	}
	if (c->n_sends == MAX_SENDS) {
		c->n_sends--;
		memmove(c->sends, c->sends + 1, c->n_sends * sizeof(*c->sends));
	}
	c->sends[c->n_sends++] = (struct sending){.at_ns = now_ns, .position = position};
}

/*
 * When the bytes from `first` on were sent, 0 if nobody saw it. A client that does not wait for an
 * answer before it sends the next request has several under way.
 */
static uint64_t sent_at(const struct connection *peer, uint32_t first)
{
	uint32_t i = peer->n_sends;

	while (i > 0 && !is_behind(first, peer->sends[i - 1].position)) {
		i--;
	}
	if (i > 0) {
		return peer->sends[i - 1].at_ns;
	}
	return is_of_message(peer, first) ? peer->sent_ns : 0;
}

/* Were several sends of the client, or parts of them, read at once? */
static bool is_several(const struct connection *peer, uint32_t first, uint32_t length)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < peer->n_sends; i++) {
		uint32_t within = peer->sends[i].position - first;

		n += within > 0 && within < length;
	}
	return n > 0;
}

static struct served_request *begin_request(struct servers *servers, struct connection *c,
		uint32_t first, const struct where *where)
{
	const struct connection *peer = find_peer(servers, c);
	uint64_t sent_ns = peer ? sent_at(peer, first) : 0;
	struct call *call = peer && is_of_message(peer, first) ? peer->call : NULL;
	struct served_request *served;
	struct served_ids ids;

	if (!add_derived(servers)) {
		return NULL;
	}
	served = pool_alloc(&servers->pool, sizeof(*served));
	if (!served) {
		return NULL;
	}
	*served = (struct served_request){.id = ++servers->next_id,
			.on = c,
			.start_ns = sent_ns ? sent_ns : servers->now_ns,
			.host = where->host,
			.stream = where->stream,
			.cpu = where->cpu};
	served->name = name_of(servers,
			threads_program(servers->config.threads, where->host, where->thread),
			c->pair.own.port);
	served->tree = served->id;
	/* A call has one callee: what comes further on the connection belongs to nobody known. */
	if (call && !call->callee && !peer->shared) {
		served->by = call;
		served->tree = call->of->tree;
		call->callee = served;
	}
	servers->found.n_shared += call && peer->shared;
	found_add(&servers->found, served->name, c->pair.own.port != 0, !c->counted,
			served->by != NULL);
	c->counted = true;
	servers->found.n_pipelined += sent_ns && sent_ns < c->answered_ns;
	ids = ids_of(served, served->id, served->by ? served->by->id : 0);
	c->current = served;
	served->seq = tell(servers, SERVED_REQUEST, false, where, served->start_ns, &ids,
			served->name, 0);
	return served;
}

/* By the port alone: so it is the same whether or not the peer is known, and was from the start. */
static uint32_t call_name(struct servers *servers, uint32_t port)
{
	char name[SERVED_NAME];

	if (port) {
		snprintf(name, sizeof(name), "call :%u", port);
	} else {
		snprintf(name, sizeof(name), "call");
	}
	return names_add(servers->config.names, name, (uint32_t)strlen(name));
}

static struct call *plan_call(struct servers *servers, struct connection *c,
		struct served_request *served, const struct where *where)
{
	struct call *call = pool_alloc(&servers->pool, sizeof(*call));

	forget_call(c);
	if (!call) {
		return NULL;
	}
	c->shared = false;
	*call = (struct call){.of = served, .next = served->calls, .on = c, .planned = true};
	call->thread = where->thread;
	call->host = where->host;
	call->name = call_name(servers, c->pair.peer.port);
	served->calls = call;
	c->call = call;
	return call;
}

static void begin_call(struct servers *servers, struct call *call, const struct where *where)
{
	struct served_ids ids;

	call->id = ++servers->next_id;
	call->planned = false;
	call->open = true;
	call->thread = where->thread;
	ids = ids_of(call->of, call->id, call->id);
	tell(servers, SERVED_CALL, false, where, 0, &ids, call->name, call->of->seq);
}

/*
 * A message to a server. Who connected is whose it is; else it is of the request that the thread
 * works for, unless it has looked for something to do meanwhile: then nobody knows.
 */
static void ask(struct servers *servers, struct connection *c, struct worker *w,
		const struct where *where)
{
	struct call *call = c->call;

	if (call && call->planned) {
		work_for(servers, w, call->of, where);
		w->waited = false;
		begin_call(servers, call, where);
	} else if (call && call->open) {
		/* Which answer is whose is not known. */
		c->shared |= call->of != w->served;
	} else if (works_surely(servers, w, where)) {
		call = plan_call(servers, c, w->served, where);
		if (call) {
			begin_call(servers, call, where);
		}
	} else {
		w->asked = w->pooled;
		forget_call(c);
	}
}

/* --- Events ----------------------------------------------------------------------------------- */

static void receive(struct servers *servers, const struct event *event,
		const struct type_told *told, const struct where *where)
{
	struct connection *c = connection_of(servers, event, told, where);
	uint32_t length = (uint32_t)event->slots[told->fields[F_LENGTH]];
	uint32_t first = (uint32_t)event->slots[told->fields[F_POSITION]] - length;
	const struct connection *peer;
	struct worker *w = worker_of(servers, where->host, where->thread, true);

	if (!c || !w) {
		return;
	}
	if (length == 0) {
		drop_connection(servers, c, where); /* the other end has closed it */
		return;
	}
	c->sent_ns = 0;
	w->waited = false;
	if (c->role == ROLE_CLIENT) {
		struct call *call = c->call;

		if (call) {
			end_call(servers, call, where);
		}
		/* An answer to a call that was not seen: for whom it works now is not known. */
		work_for(servers, w, call ? call->of : NULL, where);
		return;
	}
	if (c->current && c->current->answered) {
		end_request(servers, c->current, where);
	}
	peer = find_peer(servers, c);
	servers->found.n_several += peer && is_several(peer, first, length);
	if (!c->current && begin_request(servers, c, first, where)) {
		c->current->receiver = w;
		c->current->process = w->hands ? process_of(servers, w) : NULL;
		set_waits(c->current, w->hands);
	}
	if (w->process) {
		w->n_jobs = w->process->n_jobs; /* what it received it works for */
	}
	work_for(servers, w, c->current, where);
}

static void send(struct servers *servers, const struct event *event, const struct type_told *told,
		const struct where *where)
{
	struct connection *c = connection_of(servers, event, told, where);
	struct worker *w = worker_of(servers, where->host, where->thread, true);

	if (!c || !w) {
		return;
	}
	if (c->role == ROLE_CLIENT) {
		note_send(c, (uint32_t)event->slots[told->fields[F_POSITION]], servers->now_ns);
	}
	if (!c->sent_ns) {
		c->sent_ns = servers->now_ns;
		c->position = (uint32_t)event->slots[told->fields[F_POSITION]];
	}
	if (c->role == ROLE_CLIENT) {
		ask(servers, c, w, where);
		return;
	}
	if (c->current) {
		struct served_request *served = c->current;

		/* It had taken over another one, it seemed: what it did may be of either. */
		if (w->pooled && w->served && w->served != served && !w->served->answered) {
			w->served->doubtful = served->doubtful = true;
		}
		work_for(servers, w, served, where);
		w->waited = false;
		if (!served->answered) {
			c->answered_ns = servers->now_ns;
			note_answered(servers, served, w);
		}
		served->answered = true;
		served->sent_ns = servers->now_ns;
		served->answerer = w->thread;
		enqueue(servers, served);
		if (served->sender) {
			served->sender->sending = NULL;
		}
		if (w->sending) {
			w->sending->sender = NULL;
		}
		served->sender = w;
		w->sending = served;
	}
}

/* A new connection: an old one of the same addresses is gone. */
static void connect_to(struct servers *servers, const struct event *event,
		const struct type_told *told, const struct where *where)
{
	const struct pair pair = sockets_pair(event, told, where->host);
	struct worker *w = worker_of(servers, where->host, where->thread, true);
	struct connection *c = find(servers, &pair);

	if (c) {
		drop_connection(servers, c, where);
	}
	c = connection_of(servers, event, told, where);
	if (c && w && c->role == ROLE_CLIENT && works_surely(servers, w, where)) {
		(void)plan_call(servers, c, w->served, where);
	}
}

/* Answers of which nothing came for long are over. */
static void end_silent(struct servers *servers, const struct where *where)
{
	while (servers->first_answered &&
			servers->first_answered->sent_ns + SERVERS_SILENCE_NS < servers->now_ns) {
		end_request(servers, servers->first_answered, where);
	}
}

static bool look(struct servers *servers, const struct event *event, struct type_told **told,
		struct where *where)
{
	const struct stream *stream = &servers->config.registry->streams[event->stream];

	servers->now_ns = event->ts_ns;
	if (event->type >= servers->n_types || servers->off) {
		return false;
	}
	*told = &servers->types[event->type];
	*where = (struct where){.host = stream->host, .stream = event->stream, .cpu = event->cpu};
	if (servers->first_answered) {
		end_silent(servers, where);
	}
	if ((*told)->fields[F_TID] != UINT16_MAX &&
			((*told)->told == TOLD_RECV || (*told)->told == TOLD_SEND ||
					(*told)->told == TOLD_CONNECT)) {
		where->thread = thread_host_key(event->slots[(*told)->fields[F_TID]], event->cpu);
		return true;
	}
	return (*told)->told != TOLD_NOTHING &&
	       ((*told)->told == TOLD_LISTEN ||
			       threads_current(servers->config.threads, where->host, event->cpu,
					       &where->thread));
}

void servers_before(struct servers *servers, const struct event *event)
{
	struct type_told *told;
	struct where where;

	if (!look(servers, event, &told, &where)) {
		return;
	}
	switch (told->told) {
	case TOLD_RECV:
		receive(servers, event, told, &where);
		break;
	case TOLD_SEND:
		send(servers, event, told, &where);
		break;
	case TOLD_CONNECT:
		connect_to(servers, event, told, &where);
		break;
	case TOLD_LISTEN:
		ports_add(&servers->ports, event, told, where.host);
		break;
	case TOLD_WAIT: {
		struct worker *w = worker_of(
				servers, where.host, where.thread, told->futex && servers->added);

		if (w) {
			set_in_futex(w, told->futex);
		}
		if (w && w->served && w->served->answered) {
			stop_work(servers, w, &where);
		} else if (w) {
			w->waited |= told->multiplexes;
		}
		break;
	}
	case TOLD_GONE: {
		struct worker *w =
				told->fields[F_TID] == UINT16_MAX
						? NULL
						: worker_of(servers, where.host,
								  event->slots[told->fields[F_TID]],
								  false);

		if (w) {
			set_pooled(w, false); /* its tid may be given anew */
			w->hands = w->in_futex = false;
			w->process = NULL;
		}
		break;
	}
	case TOLD_WOKEN: {
		struct worker *w = worker_of(servers, where.host, where.thread, false);
		struct worker *to = worker_of(servers, where.host,
				thread_host_key(event->slots[told->fields[F_TID]], event->cpu),
				false);

		if (w && to && w != to && w->in_futex && to->in_futex) {
			hand_on(servers, w, to, &where);
		}
		break;
	}
	default:
		break;
	}
}

void servers_after(struct servers *servers, const struct event *event)
{
	struct type_told *told;
	struct where where;
	struct worker *w;

	if (event->type >= servers->n_types || servers->types[event->type].told != TOLD_SENT ||
			!look(servers, event, &told, &where)) {
		return;
	}
	w = worker_of(servers, where.host, where.thread, false);
	if (w) {
		set_in_futex(w, false);
	}
	if (w && w->handed) {
		take_over(servers, w, &where);
	}
	if (w && w->sending) {
		w->sending->sent_ns = servers->now_ns;
		w->sending->sender = NULL;
		w->sending = NULL;
	}
}

void servers_lose(struct servers *servers, uint32_t stream, uint64_t now_ns)
{
	const struct where where = {
			.host = servers->config.registry->streams[stream].host, .stream = stream};
	struct connection *c, *next;

	servers->now_ns = now_ns > servers->now_ns ? now_ns : servers->now_ns;
	for (uint32_t i = 0; i < BUCKETS; i++) {
		for (struct worker *w = servers->workers[i]; w; w = w->chained) {
			if (w->host == where.host) {
				set_in_futex(w, false);
			}
		}
	}
	for (c = servers->oldest; c; c = next) {
		next = c->newer;
		if (c->host == where.host) {
			drop_connection(servers, c, &where);
		}
	}
}

void servers_finish(struct servers *servers)
{
	while (servers->first_answered) {
		const struct where where = {.host = servers->first_answered->host,
				.stream = servers->first_answered->stream,
				.cpu = servers->first_answered->cpu};

		end_request(servers, servers->first_answered, &where);
	}
}

bool servers_serve(const struct servers *servers, uint32_t name)
{
	return found_has(&servers->found, name);
}

uint32_t servers_notes(const struct servers *servers, struct arena *arena, const char **notes,
		uint32_t room)
{
	return found_notes(&servers->found, servers->config.names, arena, notes, room);
}
