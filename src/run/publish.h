/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_PUBLISH_H
#define PT_RUN_PUBLISH_H

#include "pythiatop/snapshot/snapshot.h"

/*
 * Hands snapshots from one thread to another without either waiting for the other: the newest is
 * swapped in with RCU, and lives until nobody holds it.
 *
 * | call              | thread                                    | excludes |
 * |-------------------|-------------------------------------------|----------|
 * | publisher_put     | the publishing one                        | itself   |
 * | publisher_acquire | the reading one, registered with urcu     | itself   |
 * | publisher_release | the reading one                           | itself   |
 * | publisher_destroy | any, after all the others                 | all      |
 *
 * Memory: the newest snapshot and at most PUBLISHER_HOLDS held ones.
 */
#define PUBLISHER_HOLDS 8

struct publisher;

struct publisher *publisher_create(void);
void publisher_destroy(struct publisher *publisher);

/* Takes over the snapshot. If there is no memory, it is freed and the last one stays. */
void publisher_put(struct publisher *publisher, struct snapshot *snapshot);

/* The newest snapshot, or NULL if there is none, or too many are held. */
const struct snapshot *publisher_acquire(struct publisher *publisher);
void publisher_release(struct publisher *publisher, const struct snapshot *snapshot);

#endif
