/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_COLLECTED_H
#define PT_GROUPS_COLLECTED_H

#include "groups/groups.h"
#include "groups/sample.h"

/* The key-values of sampled requests of a group, while it is explained. */

/* Over all requests that were read with a key: how long they took, and how long until it was told.
 */
struct elapsed {
	double n, after, duration;   /* means, ns */
	double covariance, variance; /* times n */
};

/* A key that requests of a group have. Those whose requests all left the ring have none left. */
struct collected_key {
	enum explanation_source source;
	bool numeric, is_text; /* see struct request_key */
	uint32_t context, name;
	uint32_t serial;
	uint32_t rows;     /* samples in the ring that have it */
	uint64_t last_row; /* of those taken in, counted from 1 */
	struct elapsed elapsed;
};

#define COLLECTED_SLOTS (2 * SAMPLE_MAX_KEYS)

struct collected {
	uint32_t n, next_serial;
	uint64_t taken;
	struct collected_key keys[SAMPLE_MAX_KEYS]; /* by serial */
	uint16_t table[COLLECTED_SLOTS];            /* place + 1 by hash of the key; 0: none */
};

struct group;

/*
 * The key-values of a request of a group that is collected, with a reference to each text; borrowed
 * until the next call. NULL if they cannot be read. The caller makes a sample of them, and says so,
 * or gives the texts back (nothing: NULL).
 */
const struct sample_keys *collect_read(
		struct groups *groups, struct group *group, const struct request *request);
void collect_taken(struct group *group, const struct sample *sample);
void collect_dropped(struct groups *groups, const struct sample_keys *keys);
/* A sample is about to leave the ring of its group. */
void collect_leave(struct group *group, const struct sample *sample);

#endif
