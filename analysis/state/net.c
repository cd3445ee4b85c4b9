/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "state/cx.h"
#include "state/net.h"
#include "state/socket_table.h"

/*
 * Network interfaces of all hosts: packets and bytes received and sent in the window.
 *
 * A packet is sent when the driver took it (net_dev_xmit with code 0); where an interface shows no
 * such event, when it was queued (net_dev_queue). It is received when the stack is given it.
 *
 * Memory: histories of the window in the store; at most MAX_NETS interfaces; beyond, the one that
 * was used longest ago goes.
 */
#define MAX_NETS    1024u
#define NAME_LENGTH 64u

struct traffic {
	struct attribute packets, bytes; /* running totals */
};

struct net {
	struct net *next;
	uint32_t host, name; /* interned */
	uint64_t used_ns;
	bool has_xmit;
	struct traffic received, queued, sent;
};

struct nets {
	struct net *first;
	uint32_t n;
};

bool nets_create(struct state_cx *cx)
{
	cx->nets = calloc(1, sizeof(*cx->nets));
	return cx->nets != NULL;
}

static void release_traffic(struct state_cx *cx, struct traffic *traffic)
{
	attribute_release(&cx->store, &traffic->packets);
	attribute_release(&cx->store, &traffic->bytes);
}

static void drop(struct state_cx *cx, struct net **at)
{
	struct net *net = *at;

	*at = net->next;
	release_traffic(cx, &net->received);
	release_traffic(cx, &net->queued);
	release_traffic(cx, &net->sent);
	pool_free(&cx->store.pool, net, sizeof(*net));
	cx->nets->n--;
}

void nets_destroy(struct state_cx *cx)
{
	if (cx->nets) {
		while (cx->nets->first) {
			drop(cx, &cx->nets->first);
		}
	}
	free(cx->nets);
	cx->nets = NULL;
}

static void drop_longest_unused(struct state_cx *cx)
{
	struct net **at, **oldest = &cx->nets->first;

	for (at = &cx->nets->first; *at; at = &(*at)->next) {
		if ((*at)->used_ns < (*oldest)->used_ns) {
			oldest = at;
		}
	}
	drop(cx, oldest);
}

static struct net *net_of(struct state_cx *cx, uint32_t host, const char *name, uint32_t length)
{
	struct net **at, *net;
	uint32_t id;

	if (length == 0) {
		return NULL;
	}
	id = names_add(cx->names, name, length > NAME_LENGTH ? NAME_LENGTH : length);
	for (at = &cx->nets->first; (net = *at); at = &net->next) {
		if (net->name == id && net->host == host) {
			break;
		}
	}
	if (net) { /* to the front: packets come in runs */
		*at = net->next;
	} else {
		if (cx->nets->n >= MAX_NETS) {
			drop_longest_unused(cx);
		}
		net = pool_alloc(&cx->store.pool, sizeof(*net));
		if (!net) {
			cx->store.failed++;
			return NULL;
		}
		*net = (struct net){.host = host, .name = id};
		cx->nets->n++;
	}
	net->next = cx->nets->first;
	cx->nets->first = net;
	net->used_ns = cx->now_ns;
	return net;
}

enum { NET_LENGTH, NET_NAME, NET_HEADERS };
enum { NET_CODE = NET_HEADERS };

static struct net *event_net(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	const char *name = NULL;
	uint32_t length = 0;

	if (has_field(plan, NET_NAME) &&
			cx->registry->types[event->type].fields[plan->slots[NET_NAME]].kind ==
					FIELD_STRING) {
		name = event_bytes(event, plan->slots[NET_NAME], &length);
	}
	return name ? net_of(cx, event_host(cx, event), name, length) : NULL;
}

static void count(struct state_cx *cx, struct traffic *traffic, const struct state_plan *plan,
		const struct event *event)
{
	attribute_add(&cx->store, &traffic->packets, event->ts_ns, 1);
	attribute_add(&cx->store, &traffic->bytes, event->ts_ns,
			(uint32_t)field_int(plan, event, NET_LENGTH, 0));
}

static void read_headers(struct state_cx *cx, const struct state_plan *plan,
		const struct event *event, bool sent)
{
	uint16_t slot = plan->slots[NET_HEADERS];

	if (slot != STATE_NO_FIELD &&
			cx->registry->types[event->type].fields[slot].kind == FIELD_TREE) {
		tcp_flows_packet(cx, event, slot, sent);
	}
}

static void net_queue(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct net *net = event_net(cx, plan, event);

	if (net) {
		cx->hosts[net->host].tells_sent = true;
		count(cx, &net->queued, plan, event);
	}
	read_headers(cx, plan, event, true);
}

static void net_xmit(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct net *net = event_net(cx, plan, event);

	if (net) {
		net->has_xmit = true;
		cx->hosts[net->host].tells_sent = true;
		if (field_int(plan, event, NET_CODE, 0) == 0) { /* else it is tried again */
			count(cx, &net->sent, plan, event);
		}
	}
}

static void net_receive(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct net *net = event_net(cx, plan, event);
	struct cpu_state *cpu = state_cpu(cx, event_host(cx, event), event->cpu);

	if (net) {
		cx->hosts[net->host].tells_received = true;
		count(cx, &net->received, plan, event);
	}
	if (net && cpu) {
		cpu->from_outside = strcmp(names_text(cx->names, net->name), "lo") != 0;
	}
	read_headers(cx, plan, event, false);
}

static void dump_interface(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	event_net(cx, plan, event);
}

const struct state_rule nets_rules[] = {
		{.names = "net_dev_queue",
				.handle = net_queue,
				.fields = {"len", "name", "network_header"},
				.required = 1},
		{.names = "net_dev_xmit",
				.handle = net_xmit,
				.fields = {"len", "name", "rc"},
				.required = 1},
		{.names = "netif_receive_skb|net_if_receive_skb",
				.handle = net_receive,
				.fields = {"len", "name", "network_header"},
				.required = 1},
		{.names = "lttng_statedump_network_interface",
				.handle = dump_interface,
				.fields = {NULL, "name"}},
		{.names = NULL},
};

static void expire_traffic(struct state_cx *cx, struct traffic *traffic)
{
	attribute_expire(&cx->store, &traffic->packets);
	attribute_expire(&cx->store, &traffic->bytes);
}

void nets_expire(struct state_cx *cx)
{
	struct net *net;

	for (net = cx->nets->first; net; net = net->next) {
		expire_traffic(cx, &net->received);
		expire_traffic(cx, &net->queued);
		expire_traffic(cx, &net->sent);
	}
}

static int compare_nets(const void *a, const void *b)
{
	const struct state_net *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	return order ? order : strcmp(x->name, y->name);
}

enum status nets_fill(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot)
{
	struct state_view *view = &snapshot->state;
	struct state_net *out = snapshot_alloc(snapshot, (cx->nets->n + 1) * sizeof(*out));
	const struct net *net;
	uint32_t n = 0;

	if (!out) {
		return STATUS_NO_MEMORY;
	}
	for (net = cx->nets->first; net; net = net->next) {
		const struct traffic *sent = net->has_xmit ? &net->sent : &net->queued;

		out[n++] = (struct state_net){.host = snapshot_text(snapshot,
							      cx->registry->hosts[net->host].name),
				.name = snapshot_text(snapshot, names_text(cx->names, net->name)),
				.has_received = cx->hosts[net->host].tells_received,
				.has_sent = cx->hosts[net->host].tells_sent,
				.received_packets = attribute_gain(
						&net->received.packets, from_ns, at_ns),
				.received_bytes = attribute_gain(
						&net->received.bytes, from_ns, at_ns),
				.sent_packets = attribute_gain(&sent->packets, from_ns, at_ns),
				.sent_bytes = attribute_gain(&sent->bytes, from_ns, at_ns)};
	}
	qsort(out, n, sizeof(*out), compare_nets);
	view->nets = out;
	view->n_nets = n;
	return STATUS_OK;
}
