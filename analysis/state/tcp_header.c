/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state/tcp_header.h"

#include <string.h>

#define MAX_DEPTH 8u

/* A place in a tree (pythiatop/event.h). */
struct cursor {
	const unsigned char *at, *end;
};

struct node {
	uint32_t kind, n;
};

static bool take_node(struct cursor *c, struct node *node)
{
	if ((size_t)(c->end - c->at) < sizeof(*node)) {
		return false;
	}
	memcpy(node, c->at, sizeof(*node));
	c->at += sizeof(*node);
	return true;
}

static bool take_bytes(struct cursor *c, uint64_t n)
{
	if ((uint64_t)(c->end - c->at) < n) {
		return false;
	}
	c->at += n;
	return true;
}

static bool skip(struct cursor *c, uint32_t depth)
{
	struct node node;
	uint64_t inside;

	if (depth == MAX_DEPTH || !take_node(c, &node)) {
		return false;
	}
	switch (node.kind) {
	case TREE_STRING:
		return take_bytes(c, ((uint64_t)node.n + 7) / 8 * 8);
	case TREE_ARRAY:
		inside = node.n;
		break;
	case TREE_STRUCT:
		inside = (uint64_t)node.n * 2;
		break;
	case TREE_VARIANT:
		inside = 2;
		break;
	default:
		return take_bytes(c, 8);
	}
	for (; inside > 0; inside--) {
		if (!skip(c, depth + 1)) {
			return false;
		}
	}
	return true;
}

struct name {
	const char *text;
	uint32_t length;
};

static bool take_name(struct cursor *c, struct name *name)
{
	struct node node;

	if (!take_node(c, &node) || node.kind != TREE_STRING) {
		return false;
	}
	*name = (struct name){.text = (const char *)c->at, .length = node.n};
	return take_bytes(c, ((uint64_t)node.n + 7) / 8 * 8);
}

static bool is(const struct name *name, const char *text)
{
	return name->length == strlen(text) && memcmp(name->text, text, name->length) == 0;
}

static bool take_number(struct cursor *c, uint64_t *value)
{
	struct node node;

	if (!take_node(c, &node) || (node.kind != TREE_UINT && node.kind != TREE_INT) ||
			(size_t)(c->end - c->at) < sizeof(*value)) {
		return false;
	}
	memcpy(value, c->at, sizeof(*value));
	return take_bytes(c, sizeof(*value));
}

/* An IPv4 address (four numbers of 8 bits), or of IPv6 (eight of 16 bits). */
static bool take_address(struct cursor *c, struct socket_end *end)
{
	uint64_t parts[8];
	struct node node;

	if (!take_node(c, &node) || node.kind != TREE_ARRAY || (node.n != 4 && node.n != 8)) {
		return false;
	}
	for (uint32_t i = 0; i < node.n; i++) {
		if (!take_number(c, &parts[i])) {
			return false;
		}
	}
	socket_end_set_address(end, parts, node.n);
	return true;
}

/* Headers, as far as they were told. */
struct packet {
	struct tcp_header *header;
	uint64_t size;      /* of the packet, or of what follows the first header of IPv6 */
	uint64_t ip_words;  /* of 32 bits, in the header of IPv4 */
	uint64_t tcp_words; /* likewise, of TCP */
	bool is_tcp, is_ipv4;
	uint32_t n_addresses, n_ports;
};

static bool take_tcp_member(struct cursor *c, const struct name *name, struct packet *packet)
{
	struct tcp_header *header = packet->header;
	uint64_t value;

	if (!take_number(c, &value)) {
		return false;
	}
	if (is(name, "source_port")) {
		header->from.port = (uint32_t)value;
		packet->n_ports++;
	} else if (is(name, "dest_port")) {
		header->to.port = (uint32_t)value;
		packet->n_ports++;
	} else if (is(name, "seq")) {
		header->seq = (uint32_t)value;
	} else if (is(name, "ack_seq")) {
		header->ack = (uint32_t)value;
	} else if (is(name, "data_offset")) {
		packet->tcp_words = value;
	} else if (is(name, "flags")) {
		header->flags = (uint32_t)value;
	}
	return true;
}

static bool take_transport(struct cursor *c, struct packet *packet)
{
	struct node node;
	struct name name;

	if (!take_node(c, &node) || node.kind != TREE_VARIANT || !take_name(c, &name) ||
			(!is(&name, "tcp") && !is(&name, "_tcp")) || !take_node(c, &node) ||
			node.kind != TREE_STRUCT) {
		return false;
	}
	packet->is_tcp = true;
	for (uint32_t i = 0; i < node.n; i++) {
		if (!take_name(c, &name) || !take_tcp_member(c, &name, packet)) {
			return false;
		}
	}
	return true;
}

static bool take_ip_member(struct cursor *c, const struct name *name, struct packet *packet)
{
	if (is(name, "saddr")) {
		packet->n_addresses++;
		return take_address(c, &packet->header->from);
	}
	if (is(name, "daddr")) {
		packet->n_addresses++;
		return take_address(c, &packet->header->to);
	}
	if (is(name, "tot_len") || is(name, "payload_len")) {
		return take_number(c, &packet->size);
	}
	if (is(name, "ihl")) {
		return take_number(c, &packet->ip_words);
	}
	if (is(name, "transport_header")) {
		return take_transport(c, packet);
	}
	return skip(c, 0);
}

bool tcp_header_read(const struct event *event, uint32_t field, struct tcp_header *out)
{
	struct packet packet = {.header = out};
	struct cursor c;
	struct node node;
	struct name name;
	uint32_t length;
	uint64_t headers;

	*out = (struct tcp_header){.seq = 0};
	c.at = (const unsigned char *)event_bytes(event, field, &length);
	if (!c.at) {
		return false;
	}
	c.end = c.at + length;
	if (!take_node(&c, &node) || node.kind != TREE_VARIANT || !take_name(&c, &name) ||
			!take_node(&c, &node) || node.kind != TREE_STRUCT) {
		return false;
	}
	packet.is_ipv4 = is(&name, "ipv4") || is(&name, "_ipv4");
	for (uint32_t i = 0; i < node.n; i++) {
		if (!take_name(&c, &name) || !take_ip_member(&c, &name, &packet)) {
			return false;
		}
	}
	headers = 4 * (packet.tcp_words + (packet.is_ipv4 ? packet.ip_words : 0));
	out->payload = packet.size > headers ? (uint32_t)(packet.size - headers) : 0;
	return packet.is_tcp && packet.n_addresses == 2 && packet.n_ports == 2;
}
