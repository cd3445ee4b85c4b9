/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_TCP_HEADER_H
#define PT_STATE_TCP_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/event.h"
#include "state/sockets.h"

/*
 * The TCP header of a packet, as events of network interfaces tell it (net_dev_queue and
 * net_if_receive_skb of lttng-modules 2.13: the field network_header, a variant whose member
 * transport_header is another one; older ones may tell none).
 *
 * Pure. Threads: any. Cost: a walk over some thirty nodes.
 */
#define TCP_SYN 0x02u
#define TCP_ACK 0x10u

struct tcp_header {
	struct socket_end from, to;
	uint32_t seq, ack;
	uint32_t payload; /* bytes */
	uint32_t flags;
};

/* `field`: of kind FIELD_TREE. False: it is no TCP packet, or its headers are not told. */
bool tcp_header_read(const struct event *event, uint32_t field, struct tcp_header *out);

#endif
