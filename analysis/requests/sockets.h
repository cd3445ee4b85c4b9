/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_SOCKETS_H
#define PT_REQUESTS_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/event.h"
#include "state/sockets.h"

/*
 * What events of pythiatop-probe tell of sockets, as types of events come (docs/probe.md), and what
 * the state has put together from LTTng's (state/sockets.h), in one form.
 *
 * Pure. Threads: any.
 */

/* What a type of events tells here. */
enum told {
	TOLD_NOTHING = 0,
	TOLD_RECV,
	TOLD_SEND,
	TOLD_LISTEN,
	TOLD_CONNECT,
	TOLD_RETRANSMIT,
	TOLD_WAIT,  /* entry of a system call by which a thread waits for something to do */
	TOLD_SENT,  /* exit of a system call */
	TOLD_GONE,  /* a thread ends */
	TOLD_WOKEN, /* the thread that runs wakes another */
};

enum socket_field {
	F_FAMILY = 0,
	F_NETNS,
	F_SPORT,
	F_DPORT,
	F_SADDR_HIGH,
	F_SADDR_LOW,
	F_DADDR_HIGH,
	F_DADDR_LOW,
	F_NAMED,
	F_POSITION,
	F_LENGTH,
	F_TYPE, /* not needed: else it is a stream's */
	F_TID,  /* not needed: else it is the thread that the CPU runs; of TOLD_WOKEN: who is woken
		 */
	F_RET,  /* of TOLD_SENT, not needed */
	F_QUEUED, /* of TOLD_RECV, not needed */
	F_COUNT
};

/* What it tells of processes that are started (starting.c). */
enum starts {
	STARTS_NOTHING = 0,
	STARTS_SIGNAL,  /* the thread that runs signals a process */
	STARTS_PROCESS, /* it starts one */
	STARTS_END,     /* a thread ends */
};

struct type_told {
	uint8_t told;
	uint8_t starts;
	uint16_t starts_whom; /* field: whom it is about */
	bool multiplexes; /* TOLD_WAIT: for whatever comes of many */
	bool in_order;    /* likewise, and tells them in the order in which they came */
	bool input;       /* TOLD_WAIT: for what comes of one, or it reads from a file */
	bool futex;       /* TOLD_WAIT: on a futex, or it wakes who waits there */
	bool by_probe;    /* LTTng has no such events */
	bool by_lttng;    /* and this one the probe has not */
	uint16_t fields[F_COUNT];
};

/*
 * pair.family: addresses and ports of streams, or of datagrams; inodes of Unix sockets; or numbers of
 * the state's own.
 */
#define SOCKETS_IP       0u
#define SOCKETS_UNIX     1u
#define SOCKETS_LINKED   2u
#define SOCKETS_DATAGRAM 3u

struct pair {
	struct socket_end own, peer;
	uint32_t family, space; /* space: of addresses that other hosts or networks have, too */
};

/* What a call does with a connection. */
struct use {
	struct pair pair; /* its own end first */
	uint32_t netns;
	bool by_calls; /* it was put together from system calls */
	bool unix_domain;
	bool serves; /* its end was accepted, or is a Unix socket that has a name */
	bool receives;
	bool positioned;
	uint32_t position; /* in the stream: of the first byte sent, or behind the last one received
			    */
	uint64_t length;   /* 0: end of the stream; of a send: not told */
	uint64_t queued_ns; /* what it received had come that long before, at least; 0: not known */
};

/* What events of the type tell; TOLD_NOTHING also where a field lacks that they need. */
void sockets_read_type(const struct event_type *type, struct type_told *told);

bool pair_is(const struct pair *pair, const struct pair *other);
uint64_t pair_hash(const struct pair *pair);

/* Of an event of such a type. */
struct use sockets_use(const struct event *event, const struct type_told *told, uint32_t host);
/* Of one that the state tells of. */
struct use sockets_use_of_call(const struct socket_call *call);
/* The ends as the state names them. */
struct pair sockets_pair(const struct socket_ends *ends, uint32_t host);

/* The ports that are listened on, by host and network namespace. */
#define SERVERS_MAX_PORTS 1024u

struct ports {
	uint32_t n;
	struct listened {
		uint32_t host, netns, port;
	} list[SERVERS_MAX_PORTS];
};

/* A port by its number: those of datagrams are others than those of streams. */
#define PORT_OF_DATAGRAMS (UINT32_C(1) << 16)
/* The one that an event says is listened on. */
uint32_t sockets_listened(const struct event *event, const struct type_told *told);

bool ports_has(const struct ports *ports, uint32_t host, uint32_t netns, uint32_t port);
/* False: it was known, or is left out as one beyond SERVERS_MAX_PORTS. */
bool ports_add(struct ports *ports, uint32_t host, uint32_t netns, uint32_t port);

#endif
