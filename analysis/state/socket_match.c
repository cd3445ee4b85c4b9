/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state/linux_sockets.h"
#include "state/socket_table.h"

/*
 * Which connect() an accept() answers where no packet tells: the only one that can be meant.
 *
 * All that a host's threads ask for is known while it is traced whole. So who is accepted is one of
 * those that asked and were not accepted so far; and if there is but one of the kind, it is that
 * one. Where there are several, all of them are doubtful from then on, until as many were accepted,
 * or each has got an answer, which it gets of who has accepted it. Nothing is concluded
 *  - for a socket that may have had connections waiting before the recording began: until it was
 * seen to listen, or to have none, or the recording is as old as no backlog is;
 *  - of clients of other hosts, and where accept() does not tell whose address it is;
 *  - where a thread runs that was not seen to be switched to (only some are traced), or where
 * sockets are used by io_uring.
 */

static void drop(struct sockets *sockets, uint32_t i)
{
	sockets->pending[i] = sockets->pending[--sockets->n_pending];
}

/* As many were accepted as are doubtful: so all of them were. */
static void resolve(struct sockets *sockets, struct sockets_host *on, uint32_t host)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sockets->n_pending; i++) {
		n += sockets->pending[i].host == host && sockets->pending[i].doubtful;
	}
	if (n == 0 || n != on->n_unresolved) {
		return;
	}
	for (uint32_t i = 0; i < sockets->n_pending;) {
		if (sockets->pending[i].host == host && sockets->pending[i].doubtful) {
			drop(sockets, i);
		} else {
			i++;
		}
	}
	on->n_unresolved = 0;
}

static void expire(struct state_cx *cx, struct sockets_host *on, uint32_t host)
{
	struct sockets *sockets = cx->sockets;

	for (uint32_t i = 0; i < sockets->n_pending;) {
		const struct pending *p = &sockets->pending[i];

		if (p->host != host || p->since_ns + SOCKETS_PENDING_NS > cx->now_ns) {
			i++;
			continue;
		}
		/* Nobody knows whether it was among those accepted: these counts tell nothing more.
		 */
		if (p->doubtful) {
			on->n_unresolved = 0;
		}
		drop(sockets, i);
	}
}

void pending_add(struct state_cx *cx, struct socket *socket, const struct socket_end *to)
{
	struct sockets *sockets = cx->sockets;
	struct sockets_host *on = sockets_host(cx, socket->host);

	if (!on) {
		return;
	}
	expire(cx, on, socket->host);
	if (sockets->n_pending == SOCKETS_MAX_PENDING) {
		on->crowded_ns = cx->now_ns + SOCKETS_PENDING_NS;
		return;
	}
	sockets->pending[sockets->n_pending++] = (struct pending){.to = *to,
			.since_ns = cx->now_ns,
			.link = socket->link,
			.host = socket->host,
			.unix_domain = socket->family == FAMILY_UNIX};
	socket->pending = true;
}

static void take_out(struct state_cx *cx, struct socket *socket, bool accepted)
{
	struct sockets *sockets = cx->sockets;
	struct sockets_host *on = socket->pending ? sockets_host(cx, socket->host) : NULL;

	socket->pending = false;
	for (uint32_t i = 0; on && i < sockets->n_pending; i++) {
		if (sockets->pending[i].link == socket->link) {
			/* One of the accepts that are not resolved was of this one. */
			on->n_unresolved -= sockets->pending[i].doubtful && accepted &&
					    on->n_unresolved > 0;
			drop(sockets, i);
			break;
		}
	}
	if (on) {
		resolve(sockets, on, socket->host);
	}
}

void pending_remove(struct state_cx *cx, struct socket *socket)
{
	take_out(cx, socket, false);
}

void pending_answered(struct state_cx *cx, struct socket *socket)
{
	take_out(cx, socket, true);
}

void pending_forget(struct state_cx *cx, uint32_t host)
{
	struct sockets *sockets = cx->sockets;

	for (uint32_t i = 0; i < sockets->n_pending;) {
		if (sockets->pending[i].host == host) {
			drop(sockets, i);
		} else {
			i++;
		}
	}
	if (host < sockets->n_hosts) {
		sockets->hosts[host].n_unresolved = 0;
	}
}

static bool may_be(const struct pending *p, const struct socket *accepted, bool tells_peer)
{
	bool is_ip = accepted->family == FAMILY_INET || accepted->family == FAMILY_INET6;
	bool loopback = socket_end_is_loopback(&accepted->peer);

	if (p->host != accepted->host || (accepted->family == FAMILY_UNIX && !p->unix_domain) ||
			(is_ip && p->unix_domain)) {
		return false;
	}
	if (p->unix_domain) {
		return true;
	}
	if (accepted->listener && accepted->listener->port &&
			accepted->listener->port != p->to.port) {
		return false;
	}
	/* Who asks for an address of its own host comes from there. */
	return !tells_peer ||
	       (loopback ? socket_end_is_loopback(&p->to)
			 : p->to.address[0] == accepted->peer.address[0] &&
							       p->to.address[1] ==
									       accepted->peer.address
											       [1]);
}

/* Can nobody else have asked than those that are known? */
static bool is_certain(const struct state_cx *cx, const struct sockets_host *on,
		const struct socket *accepted, bool tells_peer)
{
	const struct socket *listener = accepted->listener;

	return !on->partial && cx->now_ns >= on->crowded_ns && listener &&
	       (listener->drained || cx->now_ns >= on->since_ns + SOCKETS_PENDING_NS) &&
	       (accepted->family == FAMILY_UNIX || tells_peer);
}

/* How many may be meant; of what they have in common the port (0: nothing). */
struct candidates {
	uint32_t n, last, port;
};

static struct candidates look(
		const struct sockets *sockets, const struct socket *accepted, bool tells_peer)
{
	struct candidates found = {.n = 0};

	for (uint32_t i = 0; i < sockets->n_pending; i++) {
		const struct pending *p = &sockets->pending[i];

		if (may_be(p, accepted, tells_peer)) {
			found.port = found.n == 0 || found.port == p->to.port ? p->to.port : 0;
			found.last = i;
			found.n++;
		}
	}
	return found;
}

static void doubt(struct sockets *sockets, const struct socket *accepted, bool tells_peer)
{
	for (uint32_t i = 0; i < sockets->n_pending; i++) {
		sockets->pending[i].doubtful |= may_be(&sockets->pending[i], accepted, tells_peer);
	}
}

void pending_accept(struct state_cx *cx, struct socket *accepted, bool tells_peer)
{
	struct sockets *sockets = cx->sockets;
	struct sockets_host *on = sockets_host(cx, accepted->host);
	struct candidates found;
	bool certain;

	if (!on) {
		return;
	}
	expire(cx, on, accepted->host);
	found = look(sockets, accepted, tells_peer);
	certain = is_certain(cx, on, accepted, tells_peer);
	if (certain && found.n > 0 && found.port) {
		socket_listens_on(cx, accepted->listener, found.port);
	}
	if (certain && found.n == 1 && !sockets->pending[found.last].doubtful) {
		socket_link(cx, accepted, sockets->pending[found.last].link, true);
		drop(sockets, found.last);
		sockets->counts.n_by_order++;
		return;
	}
	doubt(sockets, accepted, tells_peer);
	sockets->counts.n_ambiguous += found.n > 0;
	if (certain && found.n > 0) {
		on->n_unresolved++;
		resolve(sockets, on, accepted->host);
	}
}
