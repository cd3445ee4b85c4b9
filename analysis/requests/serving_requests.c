/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests of servers, and what they ask of other servers. */
#include <stdio.h>
#include <string.h>

#include "requests/serving.h"

static void dequeue(struct servers *servers, struct served_request *served)
{
	if (!served->queued) {
		return;
	}
	*(served->earlier ? &served->earlier->later : &servers->first_answered) = served->later;
	*(served->later ? &served->later->earlier : &servers->last_answered) = served->earlier;
	served->queued = false;
}

void served_enqueue(struct servers *servers, struct served_request *served)
{
	dequeue(servers, served);
	served->earlier = servers->last_answered;
	served->later = NULL;
	*(servers->last_answered ? &servers->last_answered->later : &servers->first_answered) =
			served;
	servers->last_answered = served;
	served->queued = true;
}

void call_end(struct servers *servers, struct call *call, const struct where *near)
{
	struct where where = *near;
	struct served_ids ids = serving_ids(call->of, call->id, call->id);

	if (!call->open) {
		return;
	}
	where.host = call->host;
	where.thread = call->thread;
	serving_tell(servers, SERVED_CALL, true, &where, 0, &ids, call->name, 0);
	call->open = false;
	servers->found.n_calls++;
	servers->found.n_unseen += !call->callee;
}

void call_forget(struct connection *c)
{
	if (c->call) {
		c->call->on = NULL;
		c->call = NULL;
	}
}

void served_end(struct servers *servers, struct served_request *served, const struct where *near)
{
	const struct where where = {.host = served->host,
			.stream = near->stream,
			.cpu = near->cpu,
			.thread = served->answered ? served->answerer : near->thread};
	struct served_ids ids = serving_ids(served, served->id, 0);
	struct call *call, *next;

	for (call = served->calls; call; call = next) {
		next = call->next;
		call_end(servers, call, near);
		if (call->callee) {
			struct served_request *callee = call->callee;

			callee->by = NULL;
			if (callee->answered) {
				served_end(servers, callee, near);
			}
		}
		if (call->on) {
			call_forget(call->on);
		}
		pool_free(&servers->pool, call, sizeof(*call));
	}
	if (served->by) {
		served->by->callee = NULL;
	}
	while (served->n_workers > 0) {
		worker_stop(servers, served->workers[0], near);
	}
	handover_forget_successor(served);
	handover_set_waits(served, false);
	served_close(served);
	serving_tell(servers, SERVED_REQUEST, true, &where,
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

void connection_drop(struct servers *servers, struct connection *c, const struct where *near)
{
	if (c->current) {
		served_end(servers, c->current, near);
	}
	if (c->call) {
		call_end(servers, c->call, near);
		call_forget(c);
	}
	connection_remove(servers, c);
}

/* PROGRAM:PORT; of a Unix socket the program alone; PROGRAM:? where no event tells the port. */
static uint32_t name_of(struct servers *servers, uint32_t program, const struct connection *c)
{
	const char *text = program ? names_text(servers->config.names, program) : "";
	uint32_t port = c->pair.own.port;
	char name[SERVED_NAME];

	if (port) {
		snprintf(name, sizeof(name), "%.40s:%u", text, port);
	} else if (!c->unix_domain) {
		snprintf(name, sizeof(name), "%.40s:?", text);
	} else {
		snprintf(name, sizeof(name), "%.40s", program ? text : "(unknown)");
	}
	return names_add(servers->config.names, name, (uint32_t)strlen(name));
}

/* What was so of a request from then on until now; below the span with that number. */
static void tell_until_now(struct servers *servers, const struct served_request *served,
		enum served what, const char *text, uint64_t since_ns, const struct where *where,
		uint64_t under)
{
	const struct served_ids ids = serving_ids(served, ++servers->next_id, 0);
	uint32_t name = names_add(servers->config.names, text, (uint32_t)strlen(text));

	serving_tell(servers, what, false, where, since_ns, &ids, name, under);
	serving_tell(servers, what, true, where, 0, &ids, name, 0);
}

static enum found_why why_of(const struct connection *c)
{
	return c->pair.own.port ? FOUND_LISTENS : c->by_calls ? FOUND_ACCEPTS : FOUND_NAMED;
}

static enum found_by by_of(const struct connection *c)
{
	switch (c->pair.family) {
	case SOCKETS_LINKED:
		return FOUND_BY_ORDER;
	case SOCKETS_UNIX:
		return FOUND_BY_INODE;
	default:
		return c->loose ? FOUND_BY_PACKETS : FOUND_BY_ADDRESS;
	}
}

/*
 * Of a host whose kernel alone is traced nothing else is shown once there is a request. On a
 * desktop there are always a few over Unix sockets: they are not worth it.
 */
static bool is_held(struct servers *servers, const struct connection *c,
		const struct found_request *request)
{
	return !servers->added && c->by_calls && c->unix_domain &&
	       model_takes_activations(servers->config.model) &&
	       found_hold(&servers->found, request, servers->now_ns);
}

struct served_request *served_begin(struct servers *servers, struct connection *c, uint32_t first,
		uint64_t ready_ns, const struct where *where)
{
	struct connection *peer = connection_peer(servers, c);
	uint64_t sent_ns = peer ? connection_sent_at(peer, first, servers->now_ns) : 0;
	struct call *call = peer && connection_is_of_message(peer, first) ? peer->call : NULL;
	struct found_request found = {.why = why_of(c), .by = by_of(c), .first = !c->counted};
	struct served_request *served;
	struct served_ids ids;

	found.name = name_of(servers,
			threads_program(servers->config.threads, where->host, where->thread), c);
	if (is_held(servers, c, &found)) {
		c->counted = c->held = true;
		return NULL;
	}
	if (!serving_add_types(servers)) {
		return NULL;
	}
	served = pool_alloc(&servers->pool, sizeof(*served));
	if (!served) {
		return NULL;
	}
	*served = (struct served_request){.id = ++servers->next_id,
			.on = c,
			.start_ns = sent_ns    ? sent_ns
				    : ready_ns ? ready_ns
					       : servers->now_ns,
			.host = where->host,
			.stream = where->stream,
			.cpu = where->cpu,
			.name = found.name};
	served->tree = served->id;
	/* A call has one callee: what comes further on the connection belongs to nobody known. */
	if (call && !call->callee && !peer->shared) {
		served->by = call;
		served->tree = call->of->tree;
		call->callee = served;
	}
	servers->found.n_shared += call && peer->shared;
	found.joined = served->by != NULL;
	found_add(&servers->found, &found);
	c->counted = true;
	servers->found.n_pipelined += sent_ns && sent_ns < c->answered_ns;
	ids = serving_ids(served, served->id, served->by ? served->by->id : 0);
	c->current = served;
	served->seq = serving_tell(servers, SERVED_REQUEST, false, where, served->start_ns, &ids,
			served->name, 0);
	if (ready_ns) {
		tell_until_now(servers, served, SERVED_QUEUED, SERVED_QUEUED_NAME,
				ready_ns > served->start_ns ? ready_ns : served->start_ns, where,
				served->seq);
	}
	return served;
}

#define CALL "call"

bool serving_is_call(const char *name)
{
	return strncmp(name, CALL " :", sizeof(CALL " :") - 1) == 0;
}

/* By the port alone: so it is the same whether or not the peer is known, and was from the start. */
static uint32_t call_name(struct servers *servers, uint32_t port)
{
	char name[SERVED_NAME];

	if (port) {
		snprintf(name, sizeof(name), CALL " :%u", port);
	} else {
		snprintf(name, sizeof(name), CALL);
	}
	return names_add(servers->config.names, name, (uint32_t)strlen(name));
}

void served_received(struct served_request *served, struct worker *w)
{
	served->receiver = w;
	served->untouched = true;
	w->n_untouched++;
	w->n_open++;
	w->interleaves |= w->n_open > 1;
}

void served_touch(struct served_request *served)
{
	if (served->untouched) {
		served->untouched = false;
		served->receiver->n_untouched--;
	}
}

void served_close(struct served_request *served)
{
	served_touch(served);
	if (served->receiver && !served->closed) {
		served->receiver->n_open--;
	}
	served->closed = true;
}

struct call *call_plan(struct servers *servers, struct connection *c, struct served_request *served,
		const struct where *where)
{
	struct call *call = pool_alloc(&servers->pool, sizeof(*call));

	call_forget(c);
	if (!call) {
		return NULL;
	}
	c->shared = false;
	*call = (struct call){.of = served, .next = served->calls, .on = c, .planned = true};
	call->thread = where->thread;
	call->host = where->host;
	call->name = call_name(servers, c->pair.peer.port);
	served->calls = call;
	served_touch(served);
	c->call = call;
	return call;
}

static void begin_call(struct servers *servers, struct call *call, const struct where *where)
{
	struct served_ids ids;

	call->id = ++servers->next_id;
	call->planned = false;
	call->open = true;
	call->asked_ns = servers->now_ns;
	call->thread = where->thread;
	ids = serving_ids(call->of, call->id, call->id);
	call->seq = serving_tell(
			servers, SERVED_CALL, false, where, 0, &ids, call->name, call->of->seq);
}

void call_lay(struct servers *servers, const struct call *call, uint64_t queued_ns,
		const struct where *near)
{
	struct where where = *near;
	uint64_t since_ns;

	if (!call->open || queued_ns < CALL_LAY_NS || queued_ns >= servers->now_ns) {
		return;
	}
	since_ns = servers->now_ns - queued_ns;
	where.host = call->host;
	where.thread = call->thread;
	tell_until_now(servers, call->of, SERVED_QUEUED, SERVED_QUEUED_NAME,
			since_ns > call->asked_ns ? since_ns : call->asked_ns, &where, call->seq);
}

/* When what is not acknowledged was sent, from that byte on; 0: not known. */
static uint64_t unacked_since(struct servers *servers, struct connection *c, uint32_t position)
{
	if (!c->call || !(c->call->planned || c->call->open)) {
		return 0;
	}
	return c->call->planned ? c->made_ns : connection_sent_at(c, position, servers->now_ns);
}

void call_retransmit(struct servers *servers, struct connection *c, uint32_t position,
		const struct where *near)
{
	const struct call *call = c->call;
	uint64_t since_ns = unacked_since(servers, c, position);
	const struct worker *w = call ? worker_of(servers, call->host, call->thread, false) : NULL;
	struct where where = *near;

	if (since_ns && c->retransmitted_ns > since_ns) {
		since_ns = c->retransmitted_ns;
	}
	/* Where its thread waits for nothing else, it is a part of that call. */
	if (since_ns && w && w->served == call->of && w->arrival.waits && w->wait_ns > since_ns) {
		since_ns = w->wait_ns;
	}
	c->retransmitted_ns = servers->now_ns;
	if (since_ns) {
		where.host = call->host;
		where.thread = call->thread;
		tell_until_now(servers, call->of, SERVED_UNACKED, SERVED_UNACKED_NAME, since_ns,
				&where, call->open ? call->seq : call->of->seq);
	}
}

void call_ask(struct servers *servers, struct connection *c, struct worker *w,
		const struct where *where)
{
	struct call *call = c->call;

	if (call && call->planned) {
		worker_work_for(servers, w, call->of, where);
		w->waited = false;
		begin_call(servers, call, where);
	} else if (call && call->open) {
		/* Which answer is whose is not known. */
		c->shared |= call->of != w->served;
	} else if (handover_works_surely(servers, w, where)) {
		call = call_plan(servers, c, w->served, where);
		if (call) {
			begin_call(servers, call, where);
		}
	} else {
		w->asked = w->pooled;
		call_forget(c);
	}
}
