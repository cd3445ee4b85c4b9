/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hash.h"
#include "state/file_calls.h"
#include "state/socket_table.h"

/*
 * TCP connections as their first packets tell of them: both ends, and where their streams begin.
 * Packets of one connection may be told several times: as they are queued, as they are received,
 * on each interface that they pass.
 */

static struct tcp_flow **bucket_of(
		const struct sockets *sockets, uint32_t host, const struct socket_end *client)
{
	uint64_t key = hash_pair(client->address[0] ^ host, client->address[1]);

	return (struct tcp_flow **)&sockets
			->flows[hash_pair(key, client->port) & (TCP_FLOW_BUCKETS - 1)];
}

struct tcp_flow *tcp_flow_find(const struct sockets *sockets, uint32_t host,
		const struct socket_end *client, const struct socket_end *server)
{
	struct tcp_flow *flow = *bucket_of(sockets, host, client);

	while (flow && (flow->host != host || !socket_end_is(&flow->client, client) ||
				       !socket_end_is(&flow->server, server))) {
		flow = flow->chained;
	}
	return flow;
}

struct tcp_flow *tcp_flow_to_accept(const struct sockets *sockets, uint32_t host,
		const struct socket_end *client, uint32_t port)
{
	struct tcp_flow *flow = *bucket_of(sockets, host, client), *found = NULL;

	for (; flow; flow = flow->chained) {
		if (flow->accepted || flow->host != host || !socket_end_is(&flow->client, client) ||
				(port && flow->server.port != port)) {
			continue;
		}
		if (found) {
			return NULL;
		}
		found = flow;
	}
	return found;
}

static void drop(struct state_cx *cx, struct tcp_flow *flow)
{
	struct sockets *sockets = cx->sockets;
	struct tcp_flow **at = bucket_of(sockets, flow->host, &flow->client);

	while (*at != flow) {
		at = &(*at)->chained;
	}
	*at = flow->chained;
	*(flow->older ? &flow->older->newer : &sockets->oldest) = flow->newer;
	*(flow->newer ? &flow->newer->older : &sockets->newest) = flow->older;
	pool_free(&cx->store.pool, flow, sizeof(*flow));
	sockets->n_flows--;
}

void tcp_flows_forget(struct state_cx *cx, uint32_t host)
{
	struct tcp_flow *flow, *next;

	for (flow = cx->sockets->oldest; flow; flow = next) {
		next = flow->newer;
		if (flow->host == host) {
			drop(cx, flow);
		}
	}
}

static void add(struct state_cx *cx, uint32_t host, const struct tcp_header *syn)
{
	struct sockets *sockets = cx->sockets;
	struct tcp_flow **at, *flow;

	if (sockets->n_flows == TCP_FLOWS_MAX) {
		drop(cx, sockets->oldest);
	}
	flow = pool_alloc(&cx->store.pool, sizeof(*flow));
	if (!flow) {
		cx->store.failed++;
		return;
	}
	at = bucket_of(sockets, host, &syn->from);
	*flow = (struct tcp_flow){.chained = *at,
			.older = sockets->newest,
			.client = syn->from,
			.server = syn->to,
			.host = host,
			.client_isn = syn->seq};
	*at = flow;
	*(sockets->newest ? &sockets->newest->newer : &sockets->oldest) = flow;
	sockets->newest = flow;
	sockets->n_flows++;
}

/* A new connection; or once more the packet of one that is known. */
static void take_syn(struct state_cx *cx, uint32_t host, const struct tcp_header *syn)
{
	struct tcp_flow *flow = tcp_flow_find(cx->sockets, host, &syn->from, &syn->to);

	if (flow && flow->client_isn == syn->seq) {
		return;
	}
	if (flow) {
		drop(cx, flow);
	}
	add(cx, host, syn);
}

static void take_answer(struct state_cx *cx, uint32_t host, const struct tcp_header *answer)
{
	struct tcp_flow *flow = tcp_flow_find(cx->sockets, host, &answer->to, &answer->from);

	if (flow && answer->ack == flow->client_isn + 1) {
		flow->server_isn = answer->seq;
		flow->has_server_isn = true;
	}
}

static void take_bytes(struct state_cx *cx, uint32_t host, const struct tcp_header *header)
{
	struct tcp_flow *flow = tcp_flow_find(cx->sockets, host, &header->from, &header->to);

	if (flow) {
		flow->to_server_ns = cx->now_ns;
		return;
	}
	flow = tcp_flow_find(cx->sockets, host, &header->to, &header->from);
	if (flow) {
		flow->to_client_ns = cx->now_ns;
	}
}

uint64_t tcp_flow_since(
		const struct sockets *sockets, const struct socket *socket, uint64_t asked_ns)
{
	bool serves = socket->role == SOCKET_SERVER;
	const struct tcp_flow *flow =
			!socket->known ? NULL
			: serves ? tcp_flow_find(sockets, socket->host, &socket->peer, &socket->own)
				 : tcp_flow_find(sockets, socket->host, &socket->own,
						   &socket->peer);
	uint64_t since_ns = !flow ? 0 : serves ? flow->to_server_ns : flow->to_client_ns;

	return since_ns < asked_ns ? since_ns : 0;
}

/* The call that the thread is in which gave the interface the packet; NULL: it was an interrupt. */
static struct thread_state *sender_of(struct state_cx *cx, const struct event *event)
{
	const struct cpu_state *cpu = state_cpu(cx, event_host(cx, event), event->cpu);
	struct thread_state *thread = state_current(cx, event);

	return cpu && cpu->irq_depth == 0 && cpu->softirq_depth == 0 && thread && thread->call.open
			       ? thread
			       : NULL;
}

static void take_sent(
		struct state_cx *cx, const struct event *event, const struct tcp_header *header)
{
	struct thread_state *thread = sender_of(cx, event);
	const struct call_rule *rule = thread ? cx->plans[thread->call.type].call_rule : NULL;

	if (!rule) {
		return;
	}
	if (rule->begin == begin_connect && (header->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN) {
		connect_sent(cx, thread, header);
	} else if (thread->call.sends && header->payload > 0 && !thread->call.sent) {
		thread->call.sent = true;
		send_sent(cx, thread, header);
	}
}

void tcp_flows_packet(struct state_cx *cx, const struct event *event, uint16_t field, bool sent)
{
	uint32_t host = event_host(cx, event);
	struct sockets_host *on;
	struct tcp_header header;

	if (!tcp_header_read(event, field, &header)) {
		return;
	}
	on = sockets_host(cx, host);
	if (!on) {
		return;
	}
	on->tells_headers = cx->sockets->counts.tells_headers = true;
	if ((header.flags & (TCP_SYN | TCP_ACK)) == TCP_SYN) {
		take_syn(cx, host, &header);
	} else if (header.flags & TCP_SYN) {
		take_answer(cx, host, &header);
	}
	if (sent) {
		take_sent(cx, event, &header);
	} else if (header.payload > 0) {
		take_bytes(cx, host, &header);
	}
}
