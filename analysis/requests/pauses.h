/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_PAUSES_H
#define PT_REQUESTS_PAUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "registry.h"
#include "requests/request.h"

/*
 * When hosts were not recorded on purpose, as pythiatop-probe tells it (`--cost`): events
 * pythiatop_paused and pythiatop_resumed. What was under way then is as uncertain as after a loss,
 * but nothing is lost: there are fewer requests, and rates are of the time that was recorded.
 *
 * Hosts beyond the 63rd share a bit (request.h), and the pauses of each other.
 *
 * Memory: at most PAUSES_KEPT pauses of all hosts; the oldest go.
 */
#define PAUSES_KEPT 4096u

struct pause {
	uint64_t hosts; /* a bit, see request.h */
	uint64_t begin_ns, end_ns;
};

struct pauses {
	uint8_t *kinds; /* by type */
	uint32_t n_types, types_room;
	struct pause *items; /* by begin; a ring of PAUSES_KEPT */
	uint64_t n;          /* that were ever added */
	uint32_t room;
	uint64_t longest_ns;
	struct pauses_of_host {
		uint64_t since_ns;   /* it is paused since; 0: it is not */
		uint32_t session;    /* that told so */
		uint64_t resumed_ns; /* when it was resumed last; 0: not so far */
		uint64_t span_ns;    /* how long it was recorded between the last two pauses; 0: not
				      * known */
	} * hosts;
	uint32_t n_hosts;
};

void pauses_release(struct pauses *pauses);
/* The type that was added last. False if out of memory. */
bool pauses_add_type(struct pauses *pauses, const char *name);
/*
 * Is the event about a pause of its host? Then nothing is known of the host from *begin_ns until
 * it. A pause is over, too, when another session's kernel events come: who paused was killed, say.
 */
bool pauses_see(struct pauses *pauses, const struct event *event, const struct stream *stream,
		uint64_t *begin_ns);
/* How much of the time between the two instants any of the hosts was not recorded, in ns. */
uint64_t pauses_within(
		const struct pauses *pauses, uint64_t hosts, uint64_t begin_ns, uint64_t end_ns);
/* Of one host, by number: how long it is recorded at a time, in ns. 0: not known. */
uint64_t pauses_span_ns(const struct pauses *pauses, uint32_t host);

#endif
