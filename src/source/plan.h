/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_PLAN_H
#define PT_SOURCE_PLAN_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "outlet.h"
#include "tree.h"

/*
 * How the events of one event class become records: compiled once, run for every event.
 *
 * A plan is a list of straight steps ("member 3 of the structure at hand is an unsigned integer,
 * put it into slot 5"). Field classes are looked at when it is compiled, and never again: the
 * library does not check types when values are read, and crashes on wrong ones.
 *
 * Memory: at most EVENT_MAX_FIELDS steps with a slot, and the steps that enter structures.
 * Threads: one.
 */
struct plan;

/*
 * Compiles the plan and writes the RECORD_TYPE that announces it. NULL if out of memory or if the
 * console is gone.
 */
struct plan *plan_create(const bt_event_class *event_class, uint32_t type, struct outlet *outlet);
void plan_destroy(struct plan *plan);

/* The record is begun, filled, and left open: the caller commits it. False as outlet_begin(). */
bool plan_write(const struct plan *plan, const bt_event *event, struct outlet *outlet,
		struct tree *tree, struct record_event **record);

#endif
