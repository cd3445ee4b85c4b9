/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/sockets.h"

#include <string.h>

#include "base/hash.h"
#include "requests/waits.h"

#define TYPE_DATAGRAM 2u                       /* SOCK_DGRAM of Linux */
#define ANY_IPV4      (UINT64_C(0xffff) << 32) /* ::ffff:0.0.0.0 */

static const char *const socket_fields[F_COUNT] = {"family", "netns", "sport", "dport",
		"saddr_high", "saddr_low", "daddr_high", "daddr_low", "named", "position", "length",
		"type", "tid", "ret"};

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
			{"pythiatop_statedump_listener", TOLD_LISTEN},
			{"sched_process_free", TOLD_GONE},
			{"sched_waking", TOLD_WOKEN},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i].name) == 0) {
			return names[i].told;
		}
	}
	if (strncmp(name, "syscall_entry_", 14) == 0 && wait_class(name + 14) != WAITS_NOT) {
		return TOLD_WAIT;
	}
	return strncmp(name, "syscall_exit_", 13) == 0 ? TOLD_SENT : TOLD_NOTHING;
}

void sockets_read_type(const struct event_type *type, struct type_told *told)
{
	told->told = told_by(type->name);
	told->futex = told->told == TOLD_WAIT && strncmp(type->name + 14, "futex", 5) == 0;
	told->input = told->told == TOLD_WAIT && wait_class(type->name + 14) == WAITS_INPUT;
	told->multiplexes = told->told == TOLD_WAIT && wait_multiplexes(type->name + 14);
	told->in_order = told->multiplexes && strstr(type->name, "epoll");
	for (uint32_t f = 0; f < F_COUNT; f++) {
		told->fields[f] = UINT16_MAX;
		for (uint32_t i = 0; i < type->n_fields; i++) {
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
				(told->told == TOLD_RECV || told->told == TOLD_SEND ||
						told->told == TOLD_CONNECT ||
						(told->told == TOLD_LISTEN &&
								(f == F_NETNS || f == F_SPORT)))) {
			told->told = TOLD_NOTHING;
		}
	}
}

static bool is_loopback(const struct end *end)
{
	return (end->address[0] == 0 && end->address[1] >> 24 == 0xffff7f) ||
	       (end->address[0] == 0 && end->address[1] == 1);
}

static bool is_any(const struct end *end)
{
	return end->address[0] == 0 && (end->address[1] == 0 || end->address[1] == ANY_IPV4);
}

bool sockets_is_datagram(const struct event *event, const struct type_told *told)
{
	uint16_t at = told->fields[F_TYPE];

	return at != UINT16_MAX && event->slots[at] == TYPE_DATAGRAM;
}

struct pair sockets_pair(const struct event *event, const struct type_told *told, uint32_t host)
{
	const uint64_t *slots = event->slots;
	const uint16_t *at = told->fields;
	struct pair pair;

	memset(&pair, 0, sizeof(pair)); /* with what lies between: it is compared as bytes */
	pair.family = (uint32_t)slots[at[F_FAMILY]] == SOCKETS_UNIX ? SOCKETS_UNIX
		      : sockets_is_datagram(event, told)            ? SOCKETS_DATAGRAM
								    : 0;
	pair.own.address[0] = slots[at[F_SADDR_HIGH]];
	pair.own.address[1] = slots[at[F_SADDR_LOW]];
	pair.own.port = (uint32_t)slots[at[F_SPORT]];
	pair.peer.address[0] = slots[at[F_DADDR_HIGH]];
	pair.peer.address[1] = slots[at[F_DADDR_LOW]];
	pair.peer.port = (uint32_t)slots[at[F_DPORT]];
	/* A socket of UDP may be bound to no address of its own; of this host the other end has
	 * one. */
	if (pair.family == SOCKETS_DATAGRAM && is_any(&pair.own) && is_loopback(&pair.peer)) {
		memcpy(pair.own.address, pair.peer.address, sizeof(pair.own.address));
	}
	if (pair.family == SOCKETS_UNIX) {
		pair.space = host + 1;
	} else if (is_loopback(&pair.own) || is_loopback(&pair.peer)) {
		pair.space = (uint32_t)hash_pair(host + 1, slots[at[F_NETNS]]) | 1;
	}
	return pair;
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
