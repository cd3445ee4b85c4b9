/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/servers.h"

#include <stdlib.h>

#include "base/array.h"
#include "requests/serving.h"

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
		free(servers->own_ports);
		free(servers->tracers);
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
	starting_read_type(type, told);
	if (servers->adding) {
		told->told = TOLD_NOTHING;
		told->starts = STARTS_NOTHING;
	}
	servers->by_probe |= told->by_probe && told->told != TOLD_NOTHING;
	return true;
}

bool serving_add_types(struct servers *servers)
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

/* --- Events ----------------------------------------------------------------------------------- */

/* What comes now is another request: the one before was answered; a datagram's never will be. */
static bool is_over(const struct servers *servers, const struct connection *c)
{
	return c->current->answered ||
	       (c->pair.family == SOCKETS_DATAGRAM &&
			       c->current->start_ns + SERVERS_LOST_NS < servers->now_ns);
}

static void receive(struct servers *servers, const struct use *use, const struct where *where)
{
	struct connection *c = connection_of(servers, use, where);
	uint32_t length = (uint32_t)use->length;
	uint32_t first = use->position - length;
	bool datagram = c && c->pair.family == SOCKETS_DATAGRAM;
	struct connection *peer;
	struct worker *w = worker_of(servers, where->host, where->thread, true);
	uint64_t ready_ns;

	if (!c || !w) {
		return;
	}
	connection_set_positioned(servers, c, use);
	ready_ns = arrival_since(&w->arrival, c->made_ns, c->received_ns);
	if (use->queued_ns && use->queued_ns < servers->now_ns) {
		ready_ns = servers->now_ns - use->queued_ns;
	}
	c->received_ns = servers->now_ns;
	if (length == 0 && !datagram) {
		connection_drop(servers, c, where); /* the other end has closed it */
		return;
	}
	c->sent_ns = 0;
	w->waited = false;
	if (c->role == ROLE_CLIENT) {
		struct call *call = c->call;
		struct served_request *of = call ? call->of : NULL;

		if (call) {
			call_lay(servers, call, use->queued_ns, where);
			call_end(servers, call, where);
		}
		/* An answer to a call that was not seen: for whom it works now is not known. */
		w->n_turned += of != w->served;
		worker_work_for(servers, w, of, where);
		return;
	}
	if (c->current && is_over(servers, c)) {
		served_end(servers, c->current, where);
	}
	peer = connection_peer(servers, c);
	servers->found.n_several += peer && connection_is_several(peer, first, length);
	if (datagram && peer && c->current) {
		(void)connection_sent_at(peer, first, servers->now_ns); /* it belongs to that one */
	}
	if (!c->current && !c->held && served_begin(servers, c, first, ready_ns, where)) {
		served_received(c->current, w);
		c->current->process = w->hands ? handover_process(servers, w) : NULL;
		handover_set_waits(c->current, w->hands);
	}
	if (w->process) {
		w->n_jobs = w->process->n_jobs; /* what it received it works for */
	}
	w->n_turned += c->current != w->served;
	worker_work_for(servers, w, c->current, where);
}

static void send(struct servers *servers, const struct use *use, const struct where *where)
{
	struct connection *c = connection_of(servers, use, where);
	struct worker *w = worker_of(servers, where->host, where->thread, true);

	if (!c || !w) {
		return;
	}
	connection_set_positioned(servers, c, use);
	if (c->role == ROLE_CLIENT) {
		connection_note_send(c, use->position, servers->now_ns);
	}
	if (!c->sent_ns) {
		c->sent_ns = servers->now_ns;
		c->position = use->position;
	}
	if (c->role == ROLE_CLIENT) {
		call_ask(servers, c, w, where);
		return;
	}
	c->held = false;
	if (c->current) {
		struct served_request *served = c->current;

		/* It had taken over another one, it seemed: what it did may be of either. */
		if (w->pooled && w->served && w->served != served && !w->served->answered) {
			w->served->doubtful = served->doubtful = true;
		}
		worker_work_for(servers, w, served, where);
		w->waited = false;
		if (!served->answered) {
			c->answered_ns = servers->now_ns;
			handover_answered(servers, served, w);
		}
		served->answered = true;
		served_close(served);
		served->sent_ns = servers->now_ns;
		served->answerer = w->thread;
		served_enqueue(servers, served);
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

/* It may have been a message of another request: for whom the thread works now is not known. */
static void receive_unknown(struct servers *servers, const struct where *where)
{
	struct worker *w = worker_of(servers, where->host, where->thread, servers->added);

	if (w) {
		w->n_turned++;
		w->interleaves = true;
		worker_stop(servers, w, where);
	}
}

/* A new connection: an old one of the same addresses is gone. */
static void connect_to(struct servers *servers, const struct use *use, const struct where *where)
{
	struct worker *w = worker_of(servers, where->host, where->thread, true);
	struct connection *c = connection_find(servers, &use->pair);

	if (c) {
		connection_drop(servers, c, where);
	}
	c = connection_of(servers, use, where);
	if (c && w && c->role == ROLE_CLIENT && handover_works_surely(servers, w, where)) {
		(void)call_plan(servers, c, w->served, where);
	}
}

/* (Of an answer it is not told: it has ended for the server when it was sent.) */
static void retransmit(struct servers *servers, const struct use *use, const struct where *where)
{
	struct connection *c = connection_find(servers, &use->pair);

	if (c && c->role == ROLE_CLIENT) {
		call_retransmit(servers, c, use->position, where);
	}
}

/* Answers of which nothing came for long are over. */
static void end_silent(struct servers *servers, const struct where *where)
{
	while (servers->first_answered &&
			servers->first_answered->sent_ns + SERVERS_SILENCE_NS < servers->now_ns) {
		served_end(servers, servers->first_answered, where);
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
	       ((*told)->told == TOLD_LISTEN || (*told)->told == TOLD_RETRANSMIT ||
			       threads_current(servers->config.threads, where->host, event->cpu,
					       &where->thread));
}

/*
 * Where a probe records as well, or a recording of its is read beside: who tells of this host's
 * sockets? What the state makes of a probe's system calls would tell all once more.
 */
static bool is_told_by_calls(struct servers *servers, uint32_t host)
{
	return !servers->by_probe ||
	       (host < servers->n_tracers && servers->tracers[host] == TRACER_LTTNG);
}

static void learn_tracer(struct servers *servers, uint32_t host, const struct type_told *told)
{
	if (!array_extend(&servers->tracers, &servers->n_tracers, host + 1)) {
		return;
	}
	if (told->by_probe) {
		servers->tracers[host] = TRACER_PROBE;
	} else if (servers->tracers[host] == TRACER_UNKNOWN) {
		servers->tracers[host] = TRACER_LTTNG;
	}
}

/* What the state tells of: sends before the call is seen, the others after it has ended. */
static void take_calls(struct servers *servers, const struct event *event,
		const struct socket_calls *calls, bool ended)
{
	struct where where = {.host = calls->items[0].host, /* all are of that */
			.stream = event->stream,
			.cpu = event->cpu};

	if (!is_told_by_calls(servers, where.host)) {
		return;
	}
	for (uint32_t i = 0; i < calls->n && !servers->off; i++) {
		const struct socket_call *call = &calls->items[i];
		const struct use use = sockets_use_of_call(call);
		bool ends = call->action == SOCKET_RECEIVED || call->action == SOCKET_CONNECTED ||
			    call->action == SOCKET_UNKNOWN;
		struct pair before;

		if (ends != ended) {
			continue;
		}
		where.thread = thread_host_key((uint64_t)call->tid, event->cpu);
		switch (call->action) {
		case SOCKET_SENDS:
			send(servers, &use, &where);
			break;
		case SOCKET_RECEIVED:
			receive(servers, &use, &where);
			break;
		case SOCKET_CONNECTED:
			connect_to(servers, &use, &where);
			break;
		case SOCKET_LISTENS:
			connections_listen(servers, 0, use.pair.own.port, &where);
			break;
		case SOCKET_RENAMED:
			before = sockets_pair(&call->before, call->host);
			connection_rename(servers, &before, &use, &where);
			break;
		case SOCKET_UNKNOWN:
			receive_unknown(servers, &where);
			break;
		}
	}
}

/* A thread waits for something to do, or wakes those who do. */
static void enter_wait(
		struct servers *servers, const struct type_told *told, const struct where *where)
{
	struct worker *w = worker_of(
			servers, where->host, where->thread, told->futex && servers->added);

	if (!w) {
		return;
	}
	handover_set_in_futex(w, told->futex);
	w->n_turned = 0;
	arrival_enter(&w->arrival, told);
	w->wait_ns = servers->now_ns;
	if (w->served && w->served->answered) {
		worker_stop(servers, w, where);
	} else {
		w->waited |= told->multiplexes;
	}
}

static void forget_thread(struct servers *servers, uint32_t host, uint64_t thread)
{
	struct worker *w = worker_of(servers, host, thread, false);

	if (w) {
		handover_set_pooled(w, false); /* its tid may be given anew */
		w->hands = w->in_futex = false;
		w->arrival = (struct arrival){.waits = false};
		w->process = NULL;
	}
}

static void wake(struct servers *servers, uint64_t woken, const struct where *where)
{
	struct worker *w = worker_of(servers, where->host, where->thread, false);
	struct worker *to = worker_of(servers, where->host, woken, false);

	if (to) {
		arrival_wake(&to->arrival, servers->now_ns);
	}
	if (w && to && w != to && w->in_futex && to->in_futex) {
		handover_give(servers, w, to, where);
	}
}

static void take_event(struct servers *servers, const struct event *event,
		const struct type_told *told, const struct where *where)
{
	uint16_t tid = told->fields[F_TID];
	struct use use;

	switch (told->told) {
	case TOLD_RECV:
		use = sockets_use(event, told, where->host);
		receive(servers, &use, where);
		break;
	case TOLD_SEND:
		use = sockets_use(event, told, where->host);
		send(servers, &use, where);
		break;
	case TOLD_CONNECT:
		use = sockets_use(event, told, where->host);
		connect_to(servers, &use, where);
		break;
	case TOLD_RETRANSMIT:
		use = sockets_use(event, told, where->host);
		retransmit(servers, &use, where);
		break;
	case TOLD_LISTEN:
		connections_listen(servers, (uint32_t)event->slots[told->fields[F_NETNS]],
				sockets_listened(event, told), where);
		break;
	case TOLD_WAIT:
		enter_wait(servers, told, where);
		break;
	case TOLD_GONE:
		if (tid != UINT16_MAX) {
			forget_thread(servers, where->host, event->slots[tid]);
		}
		break;
	case TOLD_WOKEN:
		wake(servers, thread_host_key(event->slots[tid], event->cpu), where);
		break;
	default:
		break;
	}
}

/* Most events tell nothing here, whatever stands: there is no answer that may fall silent. */
static bool tells_nothing(const struct servers *servers, const struct event *event)
{
	const struct type_told *told = &servers->types[event->type];

	return event->type < servers->n_types && !servers->first_answered &&
	       told->told == TOLD_NOTHING && !told->starts && !servers->by_probe;
}

static void take_any(struct servers *servers, const struct event *event,
		const struct socket_calls *calls)
{
	struct type_told *told = NULL;
	struct where where;
	bool tells = look(servers, event, &told, &where);

	if (told && servers->by_probe && (told->by_probe || told->by_lttng)) {
		learn_tracer(servers, where.host, told);
	}
	if (calls && calls->n > 0) {
		take_calls(servers, event, calls, false);
	}
	if (servers->added && !servers->off && event->type < servers->n_types &&
			servers->types[event->type].starts) {
		starting_see(servers, event, &servers->types[event->type]);
	}
	if (tells) {
		take_event(servers, event, &servers->types[event->type], &where);
	}
}

void servers_before(struct servers *servers, const struct event *event,
		const struct socket_calls *calls)
{
	if ((calls && calls->n > 0) || !tells_nothing(servers, event)) {
		take_any(servers, event, calls);
	} else {
		servers->now_ns = event->ts_ns;
	}
}

/* A system call has ended. */
static void leave_call(struct servers *servers, const struct event *event)
{
	struct type_told *told;
	struct where where;
	struct worker *w;

	if (!look(servers, event, &told, &where)) {
		return;
	}
	w = worker_of(servers, where.host, where.thread, false);
	if (w) {
		handover_set_in_futex(w, false);
		arrival_leave(&w->arrival,
				told->fields[F_RET] == UINT16_MAX
						? 0
						: (int64_t)event->slots[told->fields[F_RET]],
				servers->now_ns);
	}
	if (w && w->handed) {
		handover_take(servers, w, &where);
	}
	if (w && w->sending) {
		w->sending->sent_ns = servers->now_ns;
		w->sending->sender = NULL;
		w->sending = NULL;
	}
}

void servers_after(struct servers *servers, const struct event *event,
		const struct socket_calls *calls)
{
	if (event->type < servers->n_types && servers->types[event->type].told == TOLD_SENT) {
		leave_call(servers, event);
	}
	if (calls && calls->n > 0) {
		take_calls(servers, event, calls, true);
	}
}

void servers_lose(struct servers *servers, uint32_t stream, uint64_t now_ns)
{
	const struct where where = {
			.host = servers->config.registry->streams[stream].host, .stream = stream};
	struct connection *c, *next;

	servers->now_ns = now_ns > servers->now_ns ? now_ns : servers->now_ns;
	for (uint32_t i = 0; i < SERVING_BUCKETS; i++) {
		for (struct worker *w = servers->workers[i]; w; w = w->chained) {
			if (w->host == where.host) {
				handover_set_in_futex(w, false);
				w->arrival = (struct arrival){.waits = false};
			}
		}
	}
	for (c = servers->oldest; c; c = next) {
		next = c->newer;
		if (c->host == where.host) {
			connection_drop(servers, c, &where);
		}
	}
}

void servers_finish(struct servers *servers)
{
	while (servers->first_answered) {
		const struct where where = {.host = servers->first_answered->host,
				.stream = servers->first_answered->stream,
				.cpu = servers->first_answered->cpu};

		served_end(servers, servers->first_answered, &where);
	}
}

bool servers_serve(const struct servers *servers, uint32_t name)
{
	return found_has(&servers->found, name);
}

uint32_t servers_kind(const struct servers *servers, uint32_t name)
{
	const char *text = names_own_text(servers->config.names, name);
	const char *port = strrchr(text, ':');

	if (!port || !port[1] || port[1 + strspn(port + 1, "0123456789")]) {
		return 0;
	}
	return serving_is_call(text) || servers_serve(servers, name) ? (uint32_t)(port - text) : 0;
}

uint32_t servers_notes(const struct servers *servers, struct arena *arena, const char **notes,
		uint32_t room)
{
	return found_notes(&servers->found,
			servers->by_probe ? NULL : state_socket_counts(servers->config.state),
			servers->config.names, arena, notes, room);
}
