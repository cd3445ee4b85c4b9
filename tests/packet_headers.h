/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_PACKET_HEADERS_H
#define TESTS_PACKET_HEADERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pythiatop/event.h"

/*
 * The field network_header of net_dev_queue and net_if_receive_skb, as lttng-modules declares it:
 * TCP over IPv4 or IPv6, from and to the loopback address.
 */
enum { PACKET_SYN = 2, PACKET_ACK = 16 };

struct packet_header {
	uint32_t from_port, to_port, seq, ack, flags, payload;
	uint32_t from, to; /* 0: loopback */
	bool is_6;
};

struct packet_tree {
	uint64_t words[512];
	uint32_t used; /* bytes */
};

static inline void packet_put(struct packet_tree *tree, const void *bytes, uint32_t n)
{
	if (tree->used + n > sizeof(tree->words)) {
		abort();
	}
	memcpy((char *)tree->words + tree->used, bytes, n);
	tree->used += n;
}

static inline void packet_put_node(struct packet_tree *tree, uint32_t kind, uint32_t n)
{
	uint32_t head[2] = {kind, n};

	packet_put(tree, head, sizeof(head));
}

static inline void packet_put_name(struct packet_tree *tree, const char *name)
{
	char padded[64] = {0};
	uint32_t n = (uint32_t)strlen(name);

	packet_put_node(tree, TREE_STRING, n);
	memcpy(padded, name, n);
	packet_put(tree, padded, (n + 7) / 8 * 8);
}

/* Without a name: an element of an array. */
static inline void packet_put_number(struct packet_tree *tree, const char *name, uint64_t value)
{
	if (name) {
		packet_put_name(tree, name);
	}
	packet_put_node(tree, TREE_UINT, 0);
	packet_put(tree, &value, sizeof(value));
}

static inline void packet_put_address(
		struct packet_tree *tree, const char *name, uint32_t address, bool is_6)
{
	static const uint64_t loopback_6[] = {0, 0, 0, 0, 0, 0, 0, 1};

	address = address ? address : 0x7f000001;
	packet_put_name(tree, name);
	packet_put_node(tree, TREE_ARRAY, is_6 ? 8 : 4);
	for (uint32_t i = 0; i < (is_6 ? 8u : 4u); i++) {
		packet_put_number(tree, NULL, is_6 ? loopback_6[i] : address >> 8 * (3 - i) & 255);
	}
}

static inline void packet_put_tcp(struct packet_tree *tree, const struct packet_header *header)
{
	packet_put_number(tree, "transport_header_type", 1);
	packet_put_name(tree, "transport_header");
	packet_put_node(tree, TREE_VARIANT, 1);
	packet_put_name(tree, "tcp");
	packet_put_node(tree, TREE_STRUCT, 8);
	packet_put_number(tree, "source_port", header->from_port);
	packet_put_number(tree, "dest_port", header->to_port);
	packet_put_number(tree, "seq", header->seq);
	packet_put_number(tree, "ack_seq", header->ack);
	packet_put_number(tree, "data_offset", 8);
	packet_put_number(tree, "reserved", 0);
	packet_put_number(tree, "flags", header->flags);
	packet_put_number(tree, "window_size", 512);
}

/* `tree` need not be initialized. */
static inline void packet_headers(struct packet_tree *tree, const struct packet_header *header)
{
	tree->used = 0;
	packet_put_node(tree, TREE_VARIANT, 1);
	packet_put_name(tree, header->is_6 ? "ipv6" : "ipv4");
	packet_put_node(tree, TREE_STRUCT, header->is_6 ? 7 : 8);
	packet_put_number(tree, "version", header->is_6 ? 6 : 4);
	if (header->is_6) {
		packet_put_number(tree, "payload_len", 32 + header->payload);
		packet_put_number(tree, "nexthdr", 6);
	} else {
		packet_put_number(tree, "ihl", 5);
		packet_put_number(tree, "tot_len", 20 + 32 + header->payload);
		packet_put_number(tree, "protocol", 6);
	}
	packet_put_address(tree, "saddr", header->from, header->is_6);
	packet_put_address(tree, "daddr", header->to, header->is_6);
	packet_put_tcp(tree, header);
}

#endif
