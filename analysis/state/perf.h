/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_PERF_H
#define PT_STATE_PERF_H

#include "state/cx.h"

/* Perf counters of an event go to who ran since the last one. */
void perf_take(struct state_cx *cx, const struct state_plan *plan, const struct event *event);

#endif
