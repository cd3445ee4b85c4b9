/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_SOCKET_TABLE_H
#define PT_STATE_SOCKET_TABLE_H

#include "state/files.h"
#include "state/sockets.h"
#include "state/tcp_header.h"

/*
 * The sockets behind descriptors, and the TCP connections that packets tell of; what
 * socket_calls.c, socket_table.c, tcp_flows.c and socket_match.c share.
 *
 * Memory: from the state's store. A socket for each that a descriptor refers to (fds.h bounds
 * these); TCP_FLOWS_MAX connections that packets told of, the oldest goes; SOCKETS_MAX_PENDING
 * connections that nobody has accepted so far, beyond no accept of that host is joined by its time
 * until they are old.
 */
#define TCP_FLOWS_MAX       16384u
#define TCP_FLOW_BUCKETS    4096u /* a power of two */
#define SOCKETS_MAX_PENDING 256u
/* What was not accepted for so long is not looked for; so no backlog is older. */
#define SOCKETS_PENDING_NS UINT64_C(10000000000)

enum socket_role {
	SOCKET_OTHER = 0, /* it was there before; or it is new, and none of these */
	SOCKET_LISTENER,
	SOCKET_CLIENT,
	SOCKET_SERVER, /* accepted */
	SOCKET_PAIR,   /* of socketpair() */
};

/* A connection that packets in send calls seem to be of, until a second one confirms it. */
struct socket_guess {
	struct socket_end own, peer;
	uint32_t seq;   /* of the first byte of a send */
	uint32_t bytes; /* that calls have sent since */
	bool made;
};

/* An open socket: shared by all descriptors of it. */
struct socket {
	uint32_t refs, host;
	uint32_t epoch;          /* of its host's losses: of an older one nothing holds any more */
	uint64_t link;           /* number of its connection; 0: none */
	struct socket *listener; /* of an accepted one; a reference */
	struct socket_end own, peer; /* of a connection; peer is what is known of it, or nothing */
	struct socket_guess guess;
	uint8_t family, type, role; /* of Linux; 0: not known */
	bool known;                 /* both ends, by packets */
	bool second;                /* of the two ends of the link */
	bool tx_known, rx_known;    /* positions in the stream */
	bool by_isn;                /* they count from what packets told */
	bool told;                  /* the link is known to others */
	bool pending;               /* it asked for a connection, and nothing came of it so far */
	bool drained;               /* listens: all connections since were seen to be made */
	uint32_t tx, rx;
	uint32_t port; /* listens: 0: not known */
};

/* A TCP connection, from its first packets. */
struct tcp_flow {
	struct tcp_flow *chained; /* by the client's end */
	struct tcp_flow *older, *newer;
	struct socket_end client, server;
	uint32_t host;
	uint32_t client_isn, server_isn; /* the first byte is the next one */
	uint64_t to_client_ns, to_server_ns; /* when bytes last came there; 0: never */
	bool has_server_isn, accepted;
};

/* A connection that was asked for. */
struct pending {
	struct socket_end to; /* port 0: of a Unix socket */
	uint64_t since_ns, link;
	uint32_t host;
	bool unix_domain;
	bool doubtful; /* it may have been accepted already */
};

struct sockets_host {
	uint64_t since_ns;   /* nothing was lost from then on; 0: it has no sockets so far */
	uint64_t crowded_ns; /* until then there may be pending ones that had no room */
	uint32_t epoch;
	uint32_t n_unresolved; /* accepts of one of those that are doubtful */
	bool partial;          /* not all that its threads do is traced */
	bool tells_headers;    /* packets with TCP headers have come */
};

struct sockets {
	struct socket_calls calls; /* of the event being fed */
	struct socket_counts counts;
	uint64_t last_link;
	struct tcp_flow *flows[TCP_FLOW_BUCKETS];
	struct tcp_flow *oldest, *newest;
	uint32_t n_flows;
	struct pending pending[SOCKETS_MAX_PENDING];
	uint32_t n_pending;
	struct sockets_host *hosts;
	uint32_t n_hosts;
};

/* --- socket_table.c --------------------------------------------------------------------------- */

bool sockets_create(struct state_cx *cx);
void sockets_destroy(struct state_cx *cx);
/* NULL if out of memory. */
struct sockets_host *sockets_host(struct state_cx *cx, uint32_t host);

/* One reference more, or less; NULL is allowed. */
struct socket *socket_share(struct socket *socket);
void socket_release(struct fds *fds, struct socket *socket);
/* That of a descriptor; NULL: nothing is known of it. */
struct socket *socket_of(const struct state_cx *cx, const struct fd *fd);
/* A new one for a descriptor; NULL if out of memory. */
struct socket *socket_create(struct state_cx *cx, struct fd *fd);
/* The same as socket_of(), which is made where nothing is known. */
struct socket *socket_get(struct state_cx *cx, struct fd *fd);

/* A call on the socket, to be filled in further; NULL: too many. */
struct socket_call *sockets_tell(struct state_cx *cx, const struct socket *socket,
		enum socket_action action, const struct thread_state *thread);
/* Is it a stream's, and are its ends named? */
bool socket_is_connected(const struct socket *socket);
/* It is an end of a connection of its own, or of another one's. */
void socket_link(struct state_cx *cx, struct socket *socket, uint64_t link, bool second);
/* Both ends of its connection are known. */
void socket_know(struct state_cx *cx, struct socket *socket, const struct socket_end *own,
		const struct socket_end *peer);
/* The port of a socket that listens is known. */
void socket_listens_on(struct state_cx *cx, struct socket *socket, uint32_t port);

/* A thread enters a call that sends. */
void sockets_send(
		struct state_cx *cx, struct thread_state *thread, int32_t number, uint64_t length);
/* A call has sent. `bytes`: UINT64_MAX if it does not tell. */
void sockets_sent(struct state_cx *cx, struct fd *fd, uint64_t bytes);
/* Likewise, received. `tells`: it is one that receives messages, as far as others are to know. */
void sockets_received(struct state_cx *cx, const struct thread_state *thread, struct fd *fd,
		uint64_t bytes, bool tells);
/* Events of the host were lost: which descriptor is which is not known any more. */
void sockets_lose(struct state_cx *cx, uint32_t host);
/* Not all that its threads do is traced. */
void sockets_miss(struct state_cx *cx, uint32_t host);

/* --- tcp_flows.c ------------------------------------------------------------------------------ */

/* The one between two ends, the client's first. NULL: not seen. */
struct tcp_flow *tcp_flow_find(const struct sockets *sockets, uint32_t host,
		const struct socket_end *client, const struct socket_end *server);
/*
 * The only one from that client which nobody has accepted so far, to that port (0: any); NULL:
 * there is none, or are several.
 */
struct tcp_flow *tcp_flow_to_accept(const struct sockets *sockets, uint32_t host,
		const struct socket_end *client, uint32_t port);
/*
 * Since when bytes lay in a socket of known ends when a thread asked for them, at asked_ns; 0: not
 * known, or they came later.
 */
uint64_t tcp_flow_since(
		const struct sockets *sockets, const struct socket *socket, uint64_t asked_ns);
/* A packet that an interface was given, or has received. `field`: its headers. */
void tcp_flows_packet(struct state_cx *cx, const struct event *event, uint16_t field, bool sent);
/* Those of a host. */
void tcp_flows_forget(struct state_cx *cx, uint32_t host);

/* --- socket_match.c --------------------------------------------------------------------------- */

/* A thread asks for a connection of the socket, from now on. */
void pending_add(struct state_cx *cx, struct socket *socket, const struct socket_end *to);
/* It will not be made, or is known otherwise. */
void pending_remove(struct state_cx *cx, struct socket *socket);
/* Something was received on it: so it was accepted. */
void pending_answered(struct state_cx *cx, struct socket *socket);
/* Those of a host, whose events were lost. */
void pending_forget(struct state_cx *cx, uint32_t host);
/* A connection was accepted, `accepted`'s: of whom, if only one can be meant? */
void pending_accept(struct state_cx *cx, struct socket *accepted, bool tells_peer);

#endif
