/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/sockets.h"

#include <string.h>

#include "base/hash.h"
#include "requests/waits.h"

#define TYPE_DATAGRAM 2u                       /* SOCK_DGRAM of Linux */
#define ANY_IPV4      (UINT64_C(0xffff) << 32) /* ::ffff:0.0.0.0 */

static const char *const socket_fields[F_COUNT] = {"family", "netns", "sport", "dport",
		"saddr_high", "saddr_low", "daddr_high", "daddr_low", "named", "position", "length",
		"type", "tid", "ret", "queued"};

static uint8_t told_by(const char *name)
{
	static const struct {
		const char *name;
		uint8_t told;
	} names[] = {
			{"socket_recv", TOLD_RECV},
			{"socket_send", TOLD_SEND},
			{"socket_listen", TOLD_LISTEN},
			{"socket_connect", TOLD_CONNECT},
			{"socket_retransmit", TOLD_RETRANSMIT},
			{"pythiatop_statedump_listener", TOLD_LISTEN},
			{"sched_process_free", TOLD_GONE},
			{"sched_waking", TOLD_WOKEN},
	};

	const char *call;
	bool exit;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i].name) == 0) {
			return names[i].told;
		}
	}
	call = wait_call(name, &exit);
	if (!call) {
		return TOLD_NOTHING;
	}
	return exit ? TOLD_SENT : wait_class(call) != WAITS_NOT ? TOLD_WAIT : TOLD_NOTHING;
}

void sockets_read_type(const struct event_type *type, struct type_told *told)
{
	const char *call;
	bool exit;

	told->told = told_by(type->name);
	told->by_probe = strncmp(type->name, "socket_", 7) == 0 ||
			 strncmp(type->name, "pythiatop_", 10) == 0;
	told->by_lttng = strcmp(type->name, "sched_wakeup") == 0;
	call = told->told == TOLD_WAIT ? wait_call(type->name, &exit) : NULL;
	told->futex = call && strncmp(call, "futex", 5) == 0;
	told->input = call && wait_class(call) == WAITS_INPUT;
	told->multiplexes = call && wait_multiplexes(call);
	told->in_order = told->multiplexes && strstr(call, "epoll");
	for (uint32_t f = 0; f < F_COUNT; f++) {
		told->fields[f] = UINT16_MAX;
		for (uint32_t i = 0; i < type->n_fields; i++) {
			told->by_lttng |= strcmp(type->fields[i].name, "network_header") == 0 ||
					  strcmp(type->fields[i].name, "file_table_address") == 0;
			if (strcmp(type->fields[i].name, socket_fields[f]) == 0 &&
					(type->fields[i].kind == FIELD_UINT ||
							type->fields[i].kind == FIELD_INT)) {
				told->fields[f] = (uint16_t)i;
			}
		}
		if (told->told == TOLD_WOKEN && f == F_TID && told->fields[f] == UINT16_MAX) {
			told->told = TOLD_NOTHING;
		}
		/* A listening socket tells its port alone. */
		if (told->fields[f] == UINT16_MAX && f != F_TYPE && f != F_TID && f != F_RET &&
				f != F_QUEUED &&
				(told->told == TOLD_RECV || told->told == TOLD_SEND ||
						told->told == TOLD_CONNECT ||
						told->told == TOLD_RETRANSMIT ||
						(told->told == TOLD_LISTEN &&
								(f == F_NETNS || f == F_SPORT)))) {
			told->told = TOLD_NOTHING;
		}
	}
}

bool pair_is(const struct pair *pair, const struct pair *other)
{
	return socket_end_is(&pair->own, &other->own) && socket_end_is(&pair->peer, &other->peer) &&
	       pair->family == other->family && pair->space == other->space;
}

static bool is_any(const struct socket_end *end)
{
	return end->address[0] == 0 && (end->address[1] == 0 || end->address[1] == ANY_IPV4);
}

static bool is_datagram(const struct event *event, const struct type_told *told)
{
	uint16_t at = told->fields[F_TYPE];

	return at != UINT16_MAX && event->slots[at] == TYPE_DATAGRAM;
}

uint32_t sockets_listened(const struct event *event, const struct type_told *told)
{
	return (uint32_t)event->slots[told->fields[F_SPORT]] |
	       (is_datagram(event, told) ? PORT_OF_DATAGRAMS : 0);
}

uint64_t pair_hash(const struct pair *pair)
{
	uint64_t own = hash_pair(pair->own.address[0] ^ pair->own.address[1], pair->own.port);
	uint64_t peer = hash_pair(pair->peer.address[0] ^ pair->peer.address[1], pair->peer.port);

	return hash_pair(own, peer ^ (uint64_t)pair->space << 2 ^ pair->family);
}

/* Addresses that other hosts, or other networks of this one, have as well. */
static uint32_t space_of(const struct pair *pair, uint32_t host, uint32_t netns)
{
	if (pair->family == SOCKETS_UNIX || pair->family == SOCKETS_LINKED) {
		return host + 1;
	}
	return socket_end_is_loopback(&pair->own) || socket_end_is_loopback(&pair->peer)
			       ? (uint32_t)hash_pair(host + 1, netns) | 1
			       : 0;
}

struct use sockets_use(const struct event *event, const struct type_told *told, uint32_t host)
{
	const uint64_t *slots = event->slots;
	const uint16_t *at = told->fields;
	struct use use = {.unix_domain = (uint32_t)slots[at[F_FAMILY]] == SOCKETS_UNIX};
	struct pair *pair = &use.pair;

	pair->family = use.unix_domain            ? SOCKETS_UNIX
		       : is_datagram(event, told) ? SOCKETS_DATAGRAM
						  : SOCKETS_IP;
	pair->own.address[0] = slots[at[F_SADDR_HIGH]];
	pair->own.address[1] = slots[at[F_SADDR_LOW]];
	pair->own.port = (uint32_t)slots[at[F_SPORT]];
	pair->peer.address[0] = slots[at[F_DADDR_HIGH]];
	pair->peer.address[1] = slots[at[F_DADDR_LOW]];
	pair->peer.port = (uint32_t)slots[at[F_DPORT]];
	/* A socket of UDP may be bound to no address of its own; of this host the other end has
	 * one. */
	if (pair->family == SOCKETS_DATAGRAM && is_any(&pair->own) &&
			socket_end_is_loopback(&pair->peer)) {
		memcpy(pair->own.address, pair->peer.address, sizeof(pair->own.address));
	}
	use.netns = (uint32_t)slots[at[F_NETNS]];
	pair->space = space_of(pair, host, use.netns);
	use.serves = use.unix_domain && slots[at[F_NAMED]] != 0;
	use.positioned = pair->family == SOCKETS_IP;
	use.receives = told->told == TOLD_RECV;
	use.position = (uint32_t)slots[at[F_POSITION]];
	use.length = slots[at[F_LENGTH]];
	use.queued_ns = at[F_QUEUED] == UINT16_MAX ? 0 : slots[at[F_QUEUED]];
	return use;
}

struct pair sockets_pair(const struct socket_ends *ends, uint32_t host)
{
	struct pair pair = {.own = ends->own,
			.peer = ends->peer,
			.family = ends->linked ? SOCKETS_LINKED : SOCKETS_IP};

	pair.space = space_of(&pair, host, 0);
	return pair;
}

struct use sockets_use_of_call(const struct socket_call *call)
{
	return (struct use){.pair = sockets_pair(&call->ends, call->host),
			.by_calls = true,
			.unix_domain = call->unix_domain,
			.serves = call->accepted,
			.positioned = call->positioned,
			.position = call->position,
			.length = call->length,
			.queued_ns = call->queued_ns};
}

bool ports_has(const struct ports *ports, uint32_t host, uint32_t netns, uint32_t port)
{
	for (uint32_t i = 0; i < ports->n; i++) {
		const struct listened *l = &ports->list[i];

		if (l->port == port && l->host == host && l->netns == netns) {
			return true;
		}
	}
	return false;
}

bool ports_add(struct ports *ports, uint32_t host, uint32_t netns, uint32_t port)
{
	if (!port || ports->n == SERVERS_MAX_PORTS || ports_has(ports, host, netns, port)) {
		return false;
	}
	ports->list[ports->n++] = (struct listened){.host = host, .netns = netns, .port = port};
	return true;
}
