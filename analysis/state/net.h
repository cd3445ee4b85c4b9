/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_NET_H
#define PT_STATE_NET_H

#include "state/cx.h"

/* Network interfaces. */

extern const struct state_rule nets_rules[];
bool nets_create(struct state_cx *cx);
void nets_destroy(struct state_cx *cx);
void nets_expire(struct state_cx *cx);
enum status nets_fill(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot);

#endif
