/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_SERVED_H
#define PT_REQUESTS_SERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/event.h"
#include "requests/servers.h"

/*
 * The events that servers.c derives: what they are called, their fields, and what these mean, in
 * one table that the inference of schemas reads as well.
 */
#define SERVED_FIELDS      4u
#define SERVED_NAME        64u /* bytes of a name, with the final 0; a multiple of 8 */
/* What spans are called in which nobody works; as contexts they are of no code. */
#define SERVED_QUEUED_NAME  "(in the socket)"
#define SERVED_UNACKED_NAME "(no acknowledgement)"

struct served_ids {
	uint64_t request; /* shared by all requests that one led to */
	uint64_t message; /* a call and the request that the peer makes of it; 0: none */
	uint64_t id;      /* of the span */
};

struct served_rule {
	const char *stem; /* "_entry" and "_exit" follow */
	bool keyed;       /* paired by the id: it goes on whatever its thread does meanwhile */
	bool seed, message, thread;
	bool aside; /* groups are not told apart by it: it goes with a request */
};

/* NULL: the event is none of these. */
const struct served_rule *served_rule(const char *event, bool *exit);
const char *served_name(enum served what, bool exit);
const struct field *served_fields(void);
/* Fills the slots of one in; returns its bytes. `slots`: of SERVED_FIELDS * 8 + SERVED_NAME bytes.
 */
uint32_t served_write(uint64_t *slots, const struct served_ids *ids, const char *name);

#endif
