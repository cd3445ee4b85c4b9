/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "state/file_calls.h"
#include "state/linux_sockets.h"
#include "state/socket_table.h"

/* System calls on sockets: what they make, and whom they connect. */
#define PEER_LENGTH 64
#define MAX_NUMBERS 16

enum fd_answer fd_network(int64_t family)
{
	return family < 0 ? FD_MAYBE : fd_yes_if(family == FAMILY_INET || family == FAMILY_INET6);
}

static uint8_t small(int64_t value)
{
	return value > 0 && value <= UINT8_MAX ? (uint8_t)value : 0;
}

/* --- socket, socketpair, listen -------------------------------------------------------------- */

enum { SOCKET_FAMILY, SOCKET_TYPE };

void end_socket(struct state_cx *cx, const struct call_end *end)
{
	struct using using;
	struct socket *socket;
	int64_t type = 0, family;
	bool told;

	if (end->ret < 0 || !call_use(&using, cx, end)) {
		return;
	}
	told = call_argument(&using, SOCKET_TYPE, &type);
	family = call_argument_or(&using, SOCKET_FAMILY, -1);
	socket = socket_create(cx,
			fd_make(&using, &(struct made){.number = end->ret,
							.kind = FD_SOCKET,
							.close_on_exec =
									told ? fd_yes_if(type &
											       OPEN_CLOEXEC)
									     : FD_MAYBE,
							.network = fd_network(family)}));
	if (socket) {
		socket->family = small(family);
		socket->type = small(type & TYPE_MASK);
	}
}

enum { PAIR_TYPE };

/* Pairs are of local sockets only. */
void end_socketpair(struct state_cx *cx, const struct call_end *end)
{
	struct fd *fds[2];
	int64_t type = 0;
	struct using using;

	if (!fd_make_pair(cx, end, FD_SOCKET, fds) || !call_use(&using, cx, end) ||
			!call_argument(&using, PAIR_TYPE, &type)) {
		return;
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct socket *socket = socket_create(cx, fds[i]);

		if (!socket) {
			return;
		}
		socket->family = FAMILY_UNIX;
		socket->type = small(type & TYPE_MASK);
		socket->role = SOCKET_PAIR;
		socket_link(cx, socket, i == 0 ? 0 : cx->sockets->last_link, i > 0);
	}
}

enum { LISTEN_FD };

void end_listen(struct state_cx *cx, const struct call_end *end)
{
	struct using using;
	struct socket *socket;

	if (end->ret != 0 || !call_use(&using, cx, end)) {
		return;
	}
	socket = socket_get(cx, fd_use(&using, call_fd(&using, LISTEN_FD)));
	if (socket) {
		/* A second call changes how many may wait, and nothing else. */
		socket->drained |= socket->role != SOCKET_LISTENER;
		socket->role = SOCKET_LISTENER;
	}
}

/* --- addresses ------------------------------------------------------------------------------- */

enum { ADDRESS_FAMILY, ADDRESS_PORT, ADDRESS_V4, ADDRESS_V6 };

static bool number_of(
		const struct state_cx *cx, const struct event *event, uint16_t slot, int64_t *value)
{
	if (!event || slot == STATE_NO_FIELD ||
			cx->registry->types[event->type].fields[slot].kind > FIELD_INT) {
		return false;
	}
	*value = (int64_t)event->slots[slot];
	return true;
}

/* "192.0.2.1:80", "[2001:db8::1]:80"; 0: not told. */
static uint32_t peer_text(const struct state_cx *cx, const struct event *event,
		const uint16_t *slots, char *text)
{
	uint64_t address[MAX_NUMBERS];
	int64_t port;
	int n = 0;

	if (!number_of(cx, event, slots[ADDRESS_PORT], &port)) {
		return 0;
	}
	if (call_numbers(cx, event, slots[ADDRESS_V4], address, 4) == 4) {
		n = snprintf(text, PEER_LENGTH, "%u.%u.%u.%u:%u", (unsigned int)address[0] & 255u,
				(unsigned int)address[1] & 255u, (unsigned int)address[2] & 255u,
				(unsigned int)address[3] & 255u, (unsigned int)port & 65535u);
	} else if (call_numbers(cx, event, slots[ADDRESS_V6], address, 8) == 8) {
		uint32_t i;

		n = snprintf(text, PEER_LENGTH, "[");
		for (i = 0; i < 8; i++) {
			n += snprintf(text + n, PEER_LENGTH - (size_t)n, "%x%s",
					(unsigned int)address[i] & 65535u, i < 7 ? ":" : "]:");
		}
		n += snprintf(text + n, PEER_LENGTH - (size_t)n, "%u", (unsigned int)port & 65535u);
	}
	return n > 0 ? (uint32_t)n : 0;
}

/* The same as numbers. False: it is no address of networks, or not told. */
static bool end_of(const struct state_cx *cx, const struct event *event, const uint16_t *slots,
		struct socket_end *end)
{
	uint64_t parts[MAX_NUMBERS];
	int64_t port;
	uint32_t n;

	if (!number_of(cx, event, slots[ADDRESS_PORT], &port)) {
		return false;
	}
	n = call_numbers(cx, event, slots[ADDRESS_V4], parts, 4);
	n = n == 4 ? n : call_numbers(cx, event, slots[ADDRESS_V6], parts, 8);
	if (n != 4 && n != 8) {
		return false;
	}
	socket_end_set_address(end, parts, n);
	end->port = (uint32_t)port & 65535;
	return true;
}

/* --- accept ---------------------------------------------------------------------------------- */

enum { ACCEPT_FD, ACCEPT_FLAGS };

/* The socket that waits for connections. */
static struct socket *listener_of(struct state_cx *cx, struct fd *fd)
{
	struct socket *listener = socket_get(cx, fd);

	if (listener) {
		listener->role = SOCKET_LISTENER;
	}
	return listener;
}

/* Both ends by the packets that made the connection. */
static bool know_by_headers(struct state_cx *cx, struct socket *socket)
{
	struct tcp_flow *flow = tcp_flow_to_accept(
			cx->sockets, socket->host, &socket->peer, socket->listener->port);

	if (!flow) {
		return false;
	}
	flow->accepted = true;
	socket_listens_on(cx, socket->listener, flow->server.port);
	socket_know(cx, socket, &flow->server, &flow->client);
	socket->tx = flow->server_isn + 1;
	socket->rx = flow->client_isn + 1;
	socket->rx_known = socket->tx_known = socket->by_isn = flow->has_server_isn;
	cx->sockets->counts.n_by_headers++;
	return true;
}

static void accepted(struct state_cx *cx, const struct call_end *end, struct fd *listening,
		struct fd *fd)
{
	struct socket *listener = listener_of(cx, listening);
	struct socket *socket = socket_create(cx, fd);
	struct sockets_host *on = sockets_host(cx, fd->table->host);
	int64_t family = 0;
	bool tells_peer;

	if (!listener || !socket || !on) {
		return;
	}
	cx->sockets->counts.n_accepted++;
	number_of(cx, end->exit, end->out[ADDRESS_FAMILY], &family);
	socket->family = family > 0 ? small(family) : listener->family;
	listener->family = listener->family ? listener->family : socket->family;
	socket->type = listener->type ? listener->type : TYPE_STREAM;
	socket->role = SOCKET_SERVER;
	socket->listener = socket_share(listener);
	tells_peer = end_of(cx, end->exit, end->out, &socket->peer);
	if (tells_peer && know_by_headers(cx, socket)) {
		return;
	}
	socket_link(cx, socket, 0, true);
	/* Where headers are told, and none of this connection, its first packets were not seen. */
	if (socket->family == FAMILY_UNIX || !on->tells_headers) {
		pending_accept(cx, socket, tells_peer);
	}
	socket->own.port = socket->family == FAMILY_UNIX ? 0 : listener->port;
}

/* None was waiting: so all that come from now on are seen to come. */
static void note_empty(struct state_cx *cx, struct fd *listening)
{
	struct socket *listener = listener_of(cx, listening);

	if (listener) {
		listener->drained = true;
	}
}

void end_accept(struct state_cx *cx, const struct call_end *end)
{
	char text[PEER_LENGTH];
	struct using using;
	struct made made = {.number = end->ret, .kind = FD_SOCKET, .path = text};
	struct fd *listening, *fd;
	int64_t family;

	if ((end->ret < 0 && end->ret != ERROR_EAGAIN) || !call_use(&using, cx, end)) {
		return;
	}
	listening = fd_use(&using, call_fd(&using, ACCEPT_FD));
	if (listening && (end->ret < 0 || end->call->slept)) {
		note_empty(cx, listening);
	}
	if (end->ret < 0) {
		return;
	}
	made.network = listening ? listening->network : FD_MAYBE;
	if (listening) {
		listening->kind = FD_SOCKET;
	}
	if (number_of(cx, end->exit, end->out[ADDRESS_FAMILY], &family) && family != 0) {
		made.network = fd_network(family);
	}
	made.length = peer_text(cx, end->exit, end->out, text);
	made.close_on_exec = fd_yes_if(call_argument_or(&using, ACCEPT_FLAGS, 0) & OPEN_CLOEXEC);
	fd = fd_make(&using, &made);
	if (fd && listening) {
		accepted(cx, end, listening, fd);
	}
}

/* --- connect --------------------------------------------------------------------------------- */

enum { CONNECT_FD = 4 };

static struct fd *fd_of_entry(struct state_cx *cx, struct thread_state *thread,
		const struct event *entry, uint16_t slot)
{
	struct file_table *table = files_table(cx, thread);
	struct fd *fd;
	int64_t number;

	if (!table || !number_of(cx, entry, slot, &number) || (int32_t)number < 0) {
		return NULL;
	}
	fd = fds_find(&cx->files->fds, table, (int32_t)number);
	if (!fd) {
		fd = fds_open(&cx->files->fds, table, (int32_t)number, NULL, cx->now_ns);
		if (fd) {
			fd->confidence = FD_GUESSED;
		}
	}
	return fd;
}

/* No address at all is this host's own. */
static void name_this_host(struct socket_end *end)
{
	if (end->address[0] == 0 && end->address[1] == UINT64_C(0xffff00000000)) {
		end->address[1] = UINT64_C(0xffff7f000001);
	} else if (end->address[0] == 0 && end->address[1] == 0) {
		end->address[1] = 1;
	}
}

void begin_connect(struct state_cx *cx, struct thread_state *thread, const struct event *entry,
		const uint16_t *in)
{
	struct socket *socket = socket_get(cx, fd_of_entry(cx, thread, entry, in[CONNECT_FD]));
	const struct sockets_host *on = socket ? sockets_host(cx, socket->host) : NULL;
	struct socket_end to = {.port = 0};
	int64_t family = 0;

	if (!on || !number_of(cx, entry, in[ADDRESS_FAMILY], &family)) {
		return;
	}
	if (socket->type && socket->type != TYPE_STREAM && socket->type != TYPE_SEQPACKET) {
		socket->role = SOCKET_CLIENT; /* of datagrams: what comes are answers */
		return;
	}
	if (family != FAMILY_UNIX) {
		if (!end_of(cx, entry, in, &to)) {
			return;
		}
		name_this_host(&to);
	}
	if ((socket->known || socket->link) && socket_end_is(&socket->peer, &to)) {
		return; /* it asks how far that is */
	}
	socket->family = small(family);
	socket->role = SOCKET_OTHER;
	socket->peer = to;
	pending_remove(cx, socket); /* of an earlier one */
	socket_link(cx, socket, 0, false);
	if (family == FAMILY_UNIX || !on->tells_headers) {
		pending_add(cx, socket, &to);
	}
}

void connect_sent(struct state_cx *cx, struct thread_state *thread, const struct tcp_header *header)
{
	struct call *call = &thread->call;
	struct socket_end to = {.port = 0};
	const struct event entry = {.type = call->type, .bytes = call->bytes, .slots = call->slots};

	if (call->bytes == 0 || !end_of(cx, &entry, cx->plans[call->type].slots_call, &to)) {
		return;
	}
	name_this_host(&to);
	if (!socket_end_is(&to, &header->to) ||
			(call->n_syns > 0 && socket_end_is(&call->syn_from, &header->from))) {
		return;
	}
	call->n_syns++;
	call->syn_from = header->from;
	call->syn_seq = header->seq;
}

static void connected(struct state_cx *cx, const struct call_end *end, struct socket *socket)
{
	const struct call *call = end->call;
	struct socket_call *told;

	if (!socket->link && !socket->known) {
		return; /* no stream's */
	}
	if (end->ret < 0 && end->ret != ERROR_EINPROGRESS && end->ret != ERROR_EINTR) {
		if (end->ret != ERROR_EISCONN && end->ret != ERROR_EALREADY) {
			pending_remove(cx, socket);
			socket->link = 0;
		}
		return;
	}
	socket->role = SOCKET_CLIENT;
	if (!socket->known && call->n_syns == 1 && socket->family != FAMILY_UNIX) {
		const struct socket_end peer = socket->peer;

		pending_remove(cx, socket);
		socket_know(cx, socket, &call->syn_from, &peer);
		socket->tx = call->syn_seq + 1;
		socket->tx_known = socket->by_isn = true;
		socket->rx_known = false;
	}
	told = end->ret != ERROR_EINTR && socket_is_connected(socket)
			       ? sockets_tell(cx, socket, SOCKET_CONNECTED, end->thread)
			       : NULL;
	socket->told |= told != NULL;
}

void end_connect(struct state_cx *cx, const struct call_end *end)
{
	char text[PEER_LENGTH];
	struct using using;
	struct making *making, *origin;
	struct fd *fd;
	uint32_t length;

	if (!call_use(&using, cx, end)) {
		return;
	}
	fd = fds_find(using.fds, using.table, call_fd(&using, CONNECT_FD));
	if (socket_of(cx, fd)) {
		connected(cx, end, socket_of(cx, fd));
	}
	if (end->ret < 0 && end->ret != ERROR_EINPROGRESS && end->ret != ERROR_EINTR) {
		return;
	}
	fd = fd_use(&using, call_fd(&using, CONNECT_FD));
	if (!fd) {
		return;
	}
	fd->kind = FD_SOCKET;
	if (fd->network == FD_MAYBE) {
		fd->network = (uint8_t)fd_network(call_argument_or(&using, ADDRESS_FAMILY, -1));
	}
	length = peer_text(cx, end->entry, end->in, text);
	if (length == 0) {
		return;
	}
	/* A socket that is connected anew forgets the last peer, not where it comes from. */
	origin = fd->making && fd->making->length > 0 ? fd->making->origin : fd->making;
	making = making_create(using.fds, end->call->number, cx->number, text, length,
			making_share(origin));
	if (making) {
		fds_rename(using.fds, fd, making, using.now_ns);
	}
}

/* --- sending --------------------------------------------------------------------------------- */

enum { SEND_FD, SEND_OTHER, SEND_LENGTH };

static void enter_send(struct state_cx *cx, struct thread_state *thread, const struct event *entry,
		uint16_t fd_slot, uint16_t length_slot)
{
	int64_t number, length = 0;

	if (number_of(cx, entry, fd_slot, &number) && (int32_t)number >= 0) {
		thread->call.sends = true;
		thread->call.send_fd = (int32_t)number;
		number_of(cx, entry, length_slot, &length);
		sockets_send(cx, thread, (int32_t)number, (uint64_t)length);
	}
}

void begin_send(struct state_cx *cx, struct thread_state *thread, const struct event *entry,
		const uint16_t *in)
{
	enter_send(cx, thread, entry, in[SEND_FD], in[SEND_LENGTH]);
}

void begin_sendfile(struct state_cx *cx, struct thread_state *thread, const struct event *entry,
		const uint16_t *in)
{
	enter_send(cx, thread, entry, in[SEND_OTHER], STATE_NO_FIELD);
}

/* May the packet be of that socket, by what is known of it? */
static bool may_be_of(const struct socket *socket, const struct tcp_header *header)
{
	bool has_peer = socket->role == SOCKET_CLIENT ||
			(socket->role == SOCKET_SERVER && socket->peer.port);

	return !socket->known && socket->role != SOCKET_LISTENER && socket->role != SOCKET_PAIR &&
	       socket->family != FAMILY_UNIX && (!socket->type || socket->type == TYPE_STREAM) &&
	       (!has_peer || socket_end_is(&socket->peer, &header->to));
}

/*
 * A socket whose connection was made before the recording: what a call sends on it goes out in a
 * packet. The next call's must begin where the bytes of the first one ended: then it is certain.
 */
void send_sent(struct state_cx *cx, struct thread_state *thread, const struct tcp_header *header)
{
	struct file_table *table = files_table(cx, thread);
	struct fd *fd = table ? fds_find(&cx->files->fds, table, thread->call.send_fd) : NULL;
	struct socket *socket = fd && (fd->kind == FD_SOCKET || fd->kind == FD_UNKNOWN)
						? socket_get(cx, fd)
						: NULL;
	struct socket_guess *guess = socket ? &socket->guess : NULL;

	if (!socket || !may_be_of(socket, header)) {
		return;
	}
	if (guess->made && socket_end_is(&guess->own, &header->from) &&
			socket_end_is(&guess->peer, &header->to) && guess->bytes > 0 &&
			header->seq - guess->seq == guess->bytes) {
		if (socket->role == SOCKET_SERVER && socket->listener) {
			socket_listens_on(cx, socket->listener, header->from.port);
		}
		socket_know(cx, socket, &header->from, &header->to);
		cx->sockets->counts.n_late++;
		return;
	}
	*guess = (struct socket_guess){
			.own = header->from, .peer = header->to, .seq = header->seq, .made = true};
}

/* --- what no event tells --------------------------------------------------------------------- */

void begin_hidden(struct state_cx *cx, struct thread_state *thread, const struct event *entry,
		const uint16_t *in)
{
	sockets_miss(cx, thread->host);
	(void)entry;
	(void)in;
}
