/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/found.h"

#include <inttypes.h>

void found_release(struct found *found)
{
	number_map_release(&found->by_name);
}

void found_add(struct found *found, uint32_t name, bool by_port, bool first, bool joined)
{
	uint32_t at = number_map_find(&found->by_name, name);

	if (at == NUMBER_NONE) {
		at = found->n < FOUND_MAX ? found->n : FOUND_MAX;
		if (!number_map_set(&found->by_name, name, at)) {
			return;
		}
		if (at < FOUND_MAX) {
			found->servers[found->n++] =
					(struct found_server){.name = name, .by_port = by_port};
		}
	}
	if (at < FOUND_MAX) {
		found->servers[at].n_connections += first;
		found->servers[at].n_requests++;
		found->servers[at].n_joined += joined;
	}
}

bool found_has(const struct found *found, uint32_t name)
{
	return number_map_find(&found->by_name, name) != NUMBER_NONE;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static const char *server_note(
		const struct found_server *server, const struct names *names, struct arena *arena)
{
	const char *joined = "none joined with a call: their clients worked for no request that is "
			     "known";

	if (server->n_joined > 0) {
		joined = arena_printf(arena,
				"%" PRIu64 " joined with the call that led to them, by %s",
				server->n_joined,
				server->by_port ? "both addresses and ports, and the position in "
						  "the stream"
						: "the inodes of both sockets");
	}
	return arena_printf(arena,
			"server %s (%s): %" PRIu64 " request%s on %" PRIu64 " connection%s; %s",
			names_text(names, server->name),
			server->by_port ? "its port is listened on" : "its Unix socket has a name",
			server->n_requests, plural(server->n_requests), server->n_connections,
			plural(server->n_connections), joined ? joined : "");
}

uint32_t found_notes(const struct found *found, const struct names *names, struct arena *arena,
		const char **notes, uint32_t room)
{
	const char *texts[FOUND_MAX + 7] = {NULL};
	uint32_t n = 0, kept = 0;

	if (found->n > 0) {
		texts[n++] = "requests are what servers were asked over sockets, from the message "
			     "until the end of the answer";
	}
	for (uint32_t i = 0; i < found->n; i++) {
		texts[n++] = server_note(&found->servers[i], names, arena);
	}
	if (found->by_name.n > FOUND_MAX) {
		texts[n++] = arena_printf(arena, "%u more servers", found->by_name.n - FOUND_MAX);
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
