/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/found.h"

#include <inttypes.h>

void found_release(struct found *found)
{
	number_map_release(&found->by_name);
}

/* NULL: there are too many, or no memory. */
static struct found_server *server_of(struct found *found, const struct found_request *request)
{
	uint32_t at = number_map_find(&found->by_name, request->name);

	if (at == NUMBER_NONE) {
		at = found->n < FOUND_MAX ? found->n : FOUND_MAX;
		if (!number_map_set(&found->by_name, request->name, at)) {
			return NULL;
		}
		if (at < FOUND_MAX) {
			found->servers[found->n++] = (struct found_server){
					.name = request->name, .why = (uint8_t)request->why};
		}
	}
	return at < FOUND_MAX ? &found->servers[at] : NULL;
}

void found_add(struct found *found, const struct found_request *request)
{
	struct found_server *server = server_of(found, request);

	if (server) {
		server->n_connections += request->first;
		server->n_requests++;
		server->n_joined += request->joined;
		server->by |= (uint8_t)(request->joined << request->by);
	}
}

bool found_hold(struct found *found, const struct found_request *request, uint64_t now_ns)
{
	struct found_server *server = server_of(found, request);
	uint64_t second = now_ns / UINT64_C(1000000000);

	if (!server) {
		return true;
	}
	if (second != server->second) {
		bool follows = second == server->second + 1 && server->in_second >= FOUND_LEAST;

		server->n_busy = follows ? server->n_busy + 1 : 0;
		server->in_second = 0;
		server->second = second;
	}
	server->in_second++;
	if (server->n_busy + 1 >= FOUND_LEAST_SECONDS && server->in_second >= FOUND_LEAST) {
		return false;
	}
	server->n_connections += request->first;
	server->n_held++;
	return true;
}

bool found_has(const struct found *found, uint32_t name)
{
	uint32_t at = number_map_find(&found->by_name, name);

	return at != NUMBER_NONE && (at == FOUND_MAX || found->servers[at].n_requests > 0);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static const char *const why_texts[] = {
		[FOUND_LISTENS] = "its port is listened on",
		[FOUND_NAMED] = "its Unix socket has a name",
		[FOUND_ACCEPTS] = "it accepts connections",
};

static const char *const by_texts[FOUND_BY_COUNT] = {
		[FOUND_BY_ADDRESS] = "both addresses and ports, and the position in the stream",
		[FOUND_BY_PACKETS] = "both addresses and ports, as packets told them",
		[FOUND_BY_INODE] = "the inodes of both sockets",
		[FOUND_BY_ORDER] = "connect() and accept(), where nobody else connected",
};

static const char *joined_by(const struct found_server *server, struct arena *arena)
{
	const char *text = NULL;

	for (uint32_t i = 0; i < FOUND_BY_COUNT; i++) {
		if (server->by >> i & 1) {
			text = text ? arena_printf(arena, "%s; by %s", text, by_texts[i])
				    : by_texts[i];
		}
	}
	return text ? text : "";
}

static const char *held_note(
		const struct found_server *server, const struct names *names, struct arena *arena)
{
	return arena_printf(arena,
			"server %s (%s): %" PRIu64 " request%s over Unix sockets on %" PRIu64
			" connection%s: below %u a second nothing is made of them, and what "
			"programs do from a wake-up until they are idle is shown",
			names_text(names, server->name), why_texts[server->why], server->n_held,
			plural(server->n_held), server->n_connections,
			plural(server->n_connections), FOUND_LEAST);
}

static const char *server_note(
		const struct found_server *server, const struct names *names, struct arena *arena)
{
	const char *joined = "none joined with a call: their clients worked for no request that is "
			     "known";

	if (server->n_requests == 0) {
		return held_note(server, names, arena);
	}
	if (server->n_joined > 0) {
		joined = arena_printf(arena,
				"%" PRIu64 " joined with the call that led to them, by %s",
				server->n_joined, joined_by(server, arena));
	}
	return arena_printf(arena,
			"server %s (%s): %" PRIu64 " request%s on %" PRIu64 " connection%s; %s",
			names_text(names, server->name), why_texts[server->why], server->n_requests,
			plural(server->n_requests), server->n_connections,
			plural(server->n_connections), joined ? joined : "");
}

#define NEED_HEADERS "for those of networks record net_dev_queue and net_if_receive_skb"

/* What is known of connections, and what would tell more. */
static uint32_t connection_notes(
		const struct socket_counts *told, struct arena *arena, const char **notes)
{
	uint64_t n_named = told->n_by_headers + told->n_by_order;
	uint32_t n = 0;

	if (told->n_accepted > 0) {
		notes[n++] = arena_printf(arena,
				"of %" PRIu64
				" connection%s that system calls accepted the other end "
				"is known of %" PRIu64 " by TCP headers, of %" PRIu64
				" by the only connect() that could be meant; of %" PRIu64
				" it is not%s",
				told->n_accepted, plural(told->n_accepted), told->n_by_headers,
				told->n_by_order, told->n_accepted - n_named,
				told->tells_headers ? "" : "; " NEED_HEADERS);
	}
	if (told->n_unknown > 0) {
		notes[n++] = arena_printf(arena,
				"%" PRIu64
				" descriptor%s of sockets were made before the recording, "
				"or by calls that are not recorded: %" PRIu64
				" connections became known by packets that were sent on them%s",
				told->n_unknown, plural(told->n_unknown), told->n_late,
				told->tells_headers ? "" : "; " NEED_HEADERS);
	}
	return n;
}

static bool has_requests(const struct found *found)
{
	for (uint32_t i = 0; i < found->n; i++) {
		if (found->servers[i].n_requests > 0) {
			return true;
		}
	}
	return false;
}

uint32_t found_notes(const struct found *found, const struct socket_counts *told,
		const struct names *names, struct arena *arena, const char **notes, uint32_t room)
{
	const char *texts[FOUND_MAX + 9] = {NULL};
	uint32_t n = 0, kept = 0;

	if (has_requests(found)) {
		texts[n++] = "requests are what servers were asked over sockets, from the message "
			     "until the end of the answer";
	}
	for (uint32_t i = 0; i < found->n; i++) {
		texts[n++] = server_note(&found->servers[i], names, arena);
	}
	if (found->by_name.n > FOUND_MAX) {
		texts[n++] = arena_printf(arena, "%u more servers", found->by_name.n - FOUND_MAX);
	}
	if (told) {
		n += connection_notes(told, arena, texts + n);
	}
	if (found->n_unseen > 0) {
		texts[n++] = arena_printf(arena,
				"of %" PRIu64 " call%s to servers %" PRIu64
				" led to no request that "
				"was seen: the server is not traced",
				found->n_calls, plural(found->n_calls), found->n_unseen);
	}
	if (found->n_shared > 0) {
		texts[n++] = arena_printf(arena,
				"%" PRIu64 " request%s came on connections that calls of several "
				"requests share: whose they are is not known",
				found->n_shared, plural(found->n_shared));
	}
	if (found->n_pipelined > 0) {
		texts[n++] = arena_printf(arena,
				"%" PRIu64 " request%s sent before the one before was answered "
				"(pipelining)",
				found->n_pipelined, found->n_pipelined == 1 ? " was" : "s were");
	}
	if (found->n_several > 0) {
		texts[n++] = arena_printf(arena,
				"%" PRIu64 " time%s a server received at once what its client had "
				"sent in several pieces: where clients do not wait for answers, "
				"that may be several requests, and counts as one",
				found->n_several, plural(found->n_several));
	}
	if (found->n_ambiguous > 0) {
		texts[n++] = arena_printf(arena,
				"%" PRIu64 " time%s a thread may have worked for one of several "
				"requests that its process handed on: what it did then is in none",
				found->n_ambiguous, plural(found->n_ambiguous));
	}
	for (uint32_t i = 0; i < n && kept < room; i++) {
		if (texts[i]) {
			notes[kept++] = texts[i];
		}
	}
	return kept;
}
