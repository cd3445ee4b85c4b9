/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections of servers and clients, and which bytes of a stream were sent when. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "requests/serving.h"

static uint32_t bucket_of(const struct pair *pair)
{
	return (uint32_t)pair_hash(pair) & (SERVING_BUCKETS - 1);
}

struct connection *connection_find(const struct servers *servers, const struct pair *pair)
{
	struct connection *c = servers->connections[bucket_of(pair)];

	while (c && !pair_is(&c->pair, pair)) {
		c = c->chained;
	}
	return c;
}

struct connection *connection_peer(const struct servers *servers, const struct connection *c)
{
	struct pair pair = c->pair;

	pair.own = c->pair.peer;
	pair.peer = c->pair.own;
	return connection_find(servers, &pair);
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

/* Its ends are named by addresses and ports. */
static bool has_ports(const struct pair *pair)
{
	return pair->family == SOCKETS_IP || pair->family == SOCKETS_DATAGRAM;
}

/* The number of its own port, see PORT_OF_DATAGRAMS. */
static uint32_t own_port(const struct pair *pair)
{
	return pair->own.port | (pair->family == SOCKETS_DATAGRAM ? PORT_OF_DATAGRAMS : 0);
}

void connections_listen(
		struct servers *servers, uint32_t netns, uint32_t port, const struct where *where)
{
	if (!ports_add(&servers->ports, where->host, netns, port)) {
		return;
	}
	for (struct connection *c = servers->oldest; c; c = c->newer) {
		if (c->role == ROLE_SERVER || c->host != where->host || c->netns != netns ||
				own_port(&c->pair) != port || !has_ports(&c->pair)) {
			continue;
		}
		if (c->call) {
			call_end(servers, c->call, where);
			call_forget(c);
		}
		c->n_sends = 0;
		c->sent_ns = 0;
		c->role = ROLE_SERVER;
	}
}

/*
 * Nobody may have said that a port is listened on: another network namespace's is not dumped, nor
 * is anything to a viewer that comes later. But clients have a port for each connection: one that
 * is below those of two of its peers is a server's.
 */
static void guess_port(
		struct servers *servers, const struct connection *c, const struct where *where)
{
	uint32_t own = own_port(&c->pair), peer = c->pair.peer.port;
	struct own_port *at;

	if (c->pair.own.port >= peer || c->role == ROLE_SERVER || !has_ports(&c->pair)) {
		return;
	}
	if (!servers->own_ports) {
		servers->own_ports = calloc(OWN_PORTS, sizeof(*servers->own_ports));
	}
	if (!servers->own_ports) {
		return;
	}
	at = &servers->own_ports[hash_pair((uint64_t)c->host << 32 | c->netns, own) &
				 (OWN_PORTS - 1)];
	if (at->own != own || at->host != c->host || at->netns != c->netns) {
		*at = (struct own_port){
				.host = c->host, .netns = c->netns, .own = own, .peer = peer};
	} else if (at->peer != peer) {
		connections_listen(servers, c->netns, own, where);
	}
}

/* Its bytes have no places that both ends agree on. */
static void loosen(struct connection *c)
{
	c->loose = true;
	c->n_sends = 0;
}

/*
 * Whose end of a new connection is it? Who listens is the server. Clients of datagrams may be bound
 * to a port of their own as well: they send first, to a lower one.
 */
static uint8_t role_of(const struct servers *servers, const struct use *use, uint32_t host)
{
	const struct pair *pair = &use->pair;
	bool listened = has_ports(pair) &&
			ports_has(&servers->ports, host, use->netns, own_port(pair)) &&
			(pair->family != SOCKETS_DATAGRAM || use->receives ||
					pair->own.port < pair->peer.port);

	return use->serves || listened ? ROLE_SERVER : ROLE_CLIENT;
}

void connection_set_positioned(
		const struct servers *servers, struct connection *c, const struct use *use)
{
	struct connection *peer;

	if (use->positioned || c->loose) {
		return;
	}
	loosen(c);
	peer = connection_peer(servers, c);
	if (peer) {
		loosen(peer);
	}
}

void connection_rename(struct servers *servers, const struct pair *before, const struct use *use,
		const struct where *where)
{
	struct connection *c = connection_find(servers, before);
	struct connection *other = connection_find(servers, &use->pair);
	struct connection **at;

	if (!c || c == other) {
		return;
	}
	if (other) {
		connection_drop(servers, other, where);
	}
	for (at = &servers->connections[bucket_of(before)]; *at != c; at = &(*at)->chained) {
	}
	*at = c->chained;
	c->pair = use->pair;
	at = &servers->connections[bucket_of(&c->pair)];
	c->chained = *at;
	*at = c;
	c->unix_domain = c->counted = false;
	loosen(c);
}

struct connection *connection_of(
		struct servers *servers, const struct use *use, const struct where *where)
{
	struct connection *c = connection_find(servers, &use->pair);
	uint32_t bucket = bucket_of(&use->pair);

	if (c) {
		age_remove(servers, c);
		age_append(servers, c);
		return c;
	}
	if (servers->n_connections == SERVERS_MAX_CONNECTIONS) {
		connection_drop(servers, servers->oldest, where);
	}
	c = pool_alloc(&servers->pool, sizeof(*c));
	if (!c) {
		return NULL;
	}
	*c = (struct connection){.pair = use->pair,
			.chained = servers->connections[bucket],
			.made_ns = servers->now_ns,
			.host = where->host,
			.netns = use->netns,
			.role = role_of(servers, use, where->host),
			.loose = !use->positioned,
			.unix_domain = use->unix_domain,
			.accepted = use->serves,
			.by_calls = use->by_calls};
	servers->connections[bucket] = c;
	servers->n_connections++;
	age_append(servers, c);
	guess_port(servers, c, where);
	return c;
}

void connection_remove(struct servers *servers, struct connection *c)
{
	struct connection **at = &servers->connections[bucket_of(&c->pair)];

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

bool connection_is_of_message(const struct connection *peer, uint32_t first)
{
	return peer->sent_ns && (peer->loose || first - peer->position < UINT32_C(1) << 31);
}

static bool is_behind(uint32_t position, uint32_t other)
{
	return position - other < UINT32_C(1) << 31; /* streams' numbers come round */
}

void connection_note_send(struct connection *c, uint32_t position, uint64_t now_ns)
{
	if (c->loose && c->pair.family != SOCKETS_DATAGRAM) {
		return;
	}
	if (c->n_sends == MAX_SENDS) {
		c->n_sends--;
		memmove(c->sends, c->sends + 1, c->n_sends * sizeof(*c->sends));
	}
	c->sends[c->n_sends++] = (struct sending){.at_ns = now_ns, .position = position};
}

/* They come in the order in which they were sent; one that is lost is forgotten. */
static uint64_t datagram_sent_at(struct connection *peer, uint64_t now_ns)
{
	uint64_t at_ns = 0;
	uint32_t n = 0;

	while (n < peer->n_sends && (!at_ns || at_ns + SERVERS_LOST_NS < now_ns)) {
		at_ns = peer->sends[n++].at_ns;
	}
	peer->n_sends -= n;
	memmove(peer->sends, peer->sends + n, peer->n_sends * sizeof(*peer->sends));
	return at_ns;
}

uint64_t connection_sent_at(struct connection *peer, uint32_t first, uint64_t now_ns)
{
	uint32_t i = peer->n_sends;

	if (peer->pair.family == SOCKETS_DATAGRAM) {
		return datagram_sent_at(peer, now_ns);
	}
	while (i > 0 && !is_behind(first, peer->sends[i - 1].position)) {
		i--;
	}
	if (i > 0) {
		return peer->sends[i - 1].at_ns;
	}
	return connection_is_of_message(peer, first) ? peer->sent_ns : 0;
}

bool connection_is_several(const struct connection *peer, uint32_t first, uint32_t length)
{
	uint32_t n = 0;

	for (uint32_t i = 0; !peer->loose && i < peer->n_sends; i++) {
		uint32_t within = peer->sends[i].position - first;

		n += within > 0 && within < length;
	}
	return n > 0;
}
