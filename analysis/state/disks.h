/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_DISKS_H
#define PT_STATE_DISKS_H

#include "state/cx.h"

/* Disks, and what they were asked for. */

extern const struct state_rule disks_rules[];
bool disks_create(struct state_cx *cx);
void disks_destroy(struct state_cx *cx);
uint32_t disks_name(const struct disks *disks, uint32_t host, uint64_t dev);
void disks_expire(struct state_cx *cx);
enum status disks_fill(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot);

#endif
