/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_FILTER_H
#define PT_PROBE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "probe/record.h"

/*
 * Filters of kernel events, as far as the kernel's side evaluates them: which threads the event's
 * fields name, "FIELD == NUMBER || ...", as LTTng writes it.
 *
 * Pure. Threads: any.
 */
#define FILTER_KEYS 1024u /* of one filter */

/* The number of an event of events.def by its name; PROBE_TYPED: there is none. */
uint32_t filter_event(const char *name);

/*
 * Parses the filter of an event into keys of the BPF map of threads: (event * 2 + field) << 32 |
 * tid. NULL if right; otherwise what is wrong, as a clause to stand after "the filter".
 */
const char *filter_parse(uint32_t event, const char *text, uint64_t keys[FILTER_KEYS], uint32_t *n);

#endif
