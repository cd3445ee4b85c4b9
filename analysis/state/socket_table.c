/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state/socket_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "state/linux_sockets.h"

/* --- ends ------------------------------------------------------------------------------------ */

void socket_end_set_address(struct socket_end *end, const uint64_t *parts, uint32_t n)
{
	uint64_t words[8] = {0};

	if (n == 4) {
		end->address[0] = 0;
		end->address[1] = UINT64_C(0xffff00000000) | (parts[0] & 255) << 24 |
				  (parts[1] & 255) << 16 | (parts[2] & 255) << 8 | (parts[3] & 255);
		return;
	}
	for (uint32_t i = 0; i < n && i < 8; i++) {
		words[i] = parts[i] & 65535;
	}
	end->address[0] = words[0] << 48 | words[1] << 32 | words[2] << 16 | words[3];
	end->address[1] = words[4] << 48 | words[5] << 32 | words[6] << 16 | words[7];
}

bool socket_end_is_loopback(const struct socket_end *end)
{
	return end->address[0] == 0 && (end->address[1] >> 24 == 0xffff7f || end->address[1] == 1);
}

bool socket_end_is(const struct socket_end *end, const struct socket_end *other)
{
	return end->address[0] == other->address[0] && end->address[1] == other->address[1] &&
	       end->port == other->port;
}

/* --- sockets --------------------------------------------------------------------------------- */

bool sockets_create(struct state_cx *cx)
{
	cx->sockets = calloc(1, sizeof(*cx->sockets));
	return cx->sockets != NULL;
}

void sockets_destroy(struct state_cx *cx)
{
	if (cx->sockets) {
		free(cx->sockets->hosts);
	}
	free(cx->sockets);
	cx->sockets = NULL;
}

struct sockets_host *sockets_host(struct state_cx *cx, uint32_t host)
{
	struct sockets *sockets = cx->sockets;

	if (host >= sockets->n_hosts &&
			!array_extend(&sockets->hosts, &sockets->n_hosts, host + 1)) {
		cx->store.failed++;
		return NULL;
	}
	if (!sockets->hosts[host].since_ns) {
		sockets->hosts[host].since_ns = cx->now_ns;
	}
	return &sockets->hosts[host];
}

struct socket *socket_share(struct socket *socket)
{
	if (socket) {
		socket->refs++;
	}
	return socket;
}

void socket_release(struct fds *fds, struct socket *socket)
{
	while (socket && --socket->refs == 0) {
		struct socket *listener = socket->listener;

		pool_free(&fds->store->pool, socket, sizeof(*socket));
		fds->n_sockets--;
		socket = listener;
	}
}

static uint32_t epoch_of(const struct state_cx *cx, uint32_t host)
{
	return host < cx->sockets->n_hosts ? cx->sockets->hosts[host].epoch : 0;
}

struct socket *socket_of(const struct state_cx *cx, const struct fd *fd)
{
	struct socket *socket = fd ? fd->socket : NULL;

	return socket && socket->epoch == epoch_of(cx, socket->host) ? socket : NULL;
}

struct socket *socket_create(struct state_cx *cx, struct fd *fd)
{
	struct fds *fds = &cx->files->fds;
	struct socket *socket;

	if (!fd || !sockets_host(cx, fd->table->host)) {
		return NULL;
	}
	socket = pool_alloc(&cx->store.pool, sizeof(*socket));
	if (!socket) {
		cx->store.failed++;
		return NULL;
	}
	*socket = (struct socket){
			.refs = 1, .host = fd->table->host, .epoch = epoch_of(cx, fd->table->host)};
	fds->n_sockets++;
	socket_release(fds, fd->socket);
	fd->socket = socket;
	return socket;
}

struct socket *socket_get(struct state_cx *cx, struct fd *fd)
{
	struct socket *socket = socket_of(cx, fd);

	return socket ? socket : socket_create(cx, fd);
}

bool socket_is_connected(const struct socket *socket)
{
	uint8_t type = socket->type;

	return (socket->known || (socket->link && socket->role >= SOCKET_CLIENT)) &&
	       (type == TYPE_STREAM || type == TYPE_SEQPACKET);
}

void socket_link(struct state_cx *cx, struct socket *socket, uint64_t link, bool second)
{
	socket->link = link ? link : ++cx->sockets->last_link;
	socket->second = second;
	socket->known = socket->told = socket->by_isn = false;
	socket->tx = socket->rx = 0;
	socket->tx_known = socket->rx_known = true;
}

static struct socket_ends ends_of(const struct socket *socket)
{
	struct socket_ends ends = {.own = socket->own, .peer = socket->peer};

	if (socket->known) {
		return ends;
	}
	ends.linked = true;
	ends.own.address[0] = ends.peer.address[0] = socket->link;
	ends.own.address[1] = socket->second;
	ends.peer.address[1] = !socket->second;
	/* Of both ends the port that is listened on alone, so that they name each other. */
	*(socket->second ? &ends.peer.port : &ends.own.port) = 0;
	return ends;
}

struct socket_call *sockets_tell(struct state_cx *cx, const struct socket *socket,
		enum socket_action action, const struct thread_state *thread)
{
	struct socket_calls *calls = &cx->sockets->calls;
	struct socket_call *call;

	if (calls->n == SOCKET_CALLS_MAX) {
		return NULL;
	}
	call = &calls->items[calls->n++];
	*call = (struct socket_call){.action = action,
			.host = socket->host,
			.tid = thread ? thread->tid : -1,
			.ends = ends_of(socket),
			.unix_domain = !socket->known && socket->family != FAMILY_INET &&
				       socket->family != FAMILY_INET6,
			.accepted = socket->role == SOCKET_SERVER};
	call->positioned = !call->unix_domain && socket->tx_known && socket->rx_known &&
			   (socket->by_isn || !socket->known);
	return call;
}

static void sockets_tell_unknown(struct state_cx *cx, const struct thread_state *thread)
{
	struct socket_calls *calls = &cx->sockets->calls;

	if (calls->n < SOCKET_CALLS_MAX) {
		calls->items[calls->n++] = (struct socket_call){
				.action = SOCKET_UNKNOWN, .host = thread->host, .tid = thread->tid};
	}
}

void socket_know(struct state_cx *cx, struct socket *socket, const struct socket_end *own,
		const struct socket_end *peer)
{
	struct socket_ends before = ends_of(socket);
	struct socket_call *call;

	socket->own = *own;
	socket->peer = *peer;
	socket->known = true;
	socket->type = TYPE_STREAM;
	if (socket->link && socket->told) {
		call = sockets_tell(cx, socket, SOCKET_RENAMED, NULL);
		if (call) {
			call->before = before;
		}
	}
	socket->link = 0;
}

void socket_listens_on(struct state_cx *cx, struct socket *socket, uint32_t port)
{
	if (socket->port != port && port) {
		struct socket_call *call = sockets_tell(cx, socket, SOCKET_LISTENS, NULL);

		socket->port = port;
		if (call) {
			call->ends.own.port = port;
		}
	}
}

void sockets_lose(struct state_cx *cx, uint32_t host)
{
	struct sockets_host *on = sockets_host(cx, host);

	if (on) {
		on->epoch++;
		on->since_ns = cx->now_ns;
		pending_forget(cx, host);
		tcp_flows_forget(cx, host);
	}
}

void sockets_miss(struct state_cx *cx, uint32_t host)
{
	struct sockets_host *on = sockets_host(cx, host);

	if (on) {
		on->partial = true;
	}
}

/* --- bytes ----------------------------------------------------------------------------------- */

/* Where the stream of what the other end sends begins, packets may have told since. */
static void find_rx(struct state_cx *cx, struct socket *socket)
{
	const struct tcp_flow *flow;

	if (socket->rx_known || !socket->by_isn || socket->role != SOCKET_CLIENT) {
		return;
	}
	flow = tcp_flow_find(cx->sockets, socket->host, &socket->own, &socket->peer);
	if (flow && flow->has_server_isn) {
		socket->rx = flow->server_isn + 1;
		socket->rx_known = true;
	}
}

void sockets_send(struct state_cx *cx, struct thread_state *thread, int32_t number, uint64_t length)
{
	struct file_table *table = cx->files->fds.n_sockets ? files_table(cx, thread) : NULL;
	struct fd *fd = table ? fds_find(&cx->files->fds, table, number) : NULL;
	struct socket *socket = socket_of(cx, fd);
	struct socket_call *call;

	if (!socket || !socket_is_connected(socket)) {
		return;
	}
	find_rx(cx, socket);
	call = sockets_tell(cx, socket, SOCKET_SENDS, thread);
	if (call) {
		socket->told = true;
		call->position = call->positioned ? socket->tx : 0;
		call->length = length;
	}
}

static void advance(uint32_t *position, bool *known, uint64_t bytes)
{
	if (bytes == UINT64_MAX) {
		*known = false;
	} else {
		*position += (uint32_t)bytes;
	}
}

void sockets_sent(struct state_cx *cx, struct fd *fd, uint64_t bytes)
{
	struct socket *socket = socket_of(cx, fd);

	if (socket) {
		advance(&socket->tx, &socket->tx_known, bytes);
		socket->guess.bytes += (uint32_t)bytes;
		socket->guess.made &= bytes != UINT64_MAX;
	}
}

/* May somebody have asked for something, on a connection that nobody saw made, or by a datagram? */
static bool may_be_asked(const struct fd *fd, const struct socket *socket)
{
	if (!socket) {
		return fd->kind == FD_SOCKET || fd->kind == FD_UNKNOWN;
	}
	if (socket->type == TYPE_DGRAM) {
		return socket->role != SOCKET_CLIENT &&
		       (socket->family == FAMILY_INET || socket->family == FAMILY_INET6 ||
				       socket->family == FAMILY_UNIX);
	}
	return socket->type == 0 || socket->type == TYPE_STREAM || socket->type == TYPE_SEQPACKET;
}

void sockets_received(struct state_cx *cx, const struct thread_state *thread, struct fd *fd,
		uint64_t bytes, bool tells)
{
	struct socket *socket = socket_of(cx, fd);
	bool connected = socket && socket_is_connected(socket);
	struct socket_call *call;
	uint64_t since_ns;

	if (!connected && (!tells || bytes == 0 || !may_be_asked(fd, socket))) {
		return;
	}
	if (!connected) {
		if (fd->kind == FD_SOCKET && !fd->counted) {
			fd->counted = true;
			cx->sockets->counts.n_unknown++;
		}
		sockets_tell_unknown(cx, thread);
		return;
	}
	if (socket->pending && bytes > 0) {
		pending_answered(cx, socket);
	}
	find_rx(cx, socket);
	advance(&socket->rx, &socket->rx_known, bytes);
	call = tells ? sockets_tell(cx, socket, SOCKET_RECEIVED, thread) : NULL;
	if (call) {
		socket->told = true;
		call->position = call->positioned ? socket->rx : 0;
		call->length = bytes;
		since_ns = tcp_flow_since(cx->sockets, socket, thread->call.ts_ns);
		call->queued_ns = since_ns ? cx->now_ns - since_ns : 0;
	}
}
