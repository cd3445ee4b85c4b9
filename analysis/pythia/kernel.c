/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

/*
 * Kernel events, where the code itself has no more points: of the threads that requests of the
 * group were worked on by, as far as an event names a thread. Interrupts and the ends of block
 * requests come in whatever thread runs then, so they are recorded of the whole host. So is all of
 * it where the threads are not known, or too many for a filter. Numbers are those that the
 * application sees of its threads: in a container they may be others than the kernel's.
 */
#define MAX_THREADS  64u   /* of a host: a filter is interpreted for each event */
#define FILTER_BYTES 4000u /* the helper takes less than 4096 */

static const struct kernel_event {
	const char *name, *fields[2]; /* that name threads */
} events[] = {{"sched_switch", {"prev_tid", "next_tid"}}, {"sched_waking", {"tid", NULL}},
		{"sched_wakeup", {"tid", NULL}}, {"irq_handler_entry", {NULL, NULL}},
		{"irq_softirq_entry", {NULL, NULL}}, {"block_rq_issue", {"tid", NULL}},
		{"block_rq_complete", {NULL, NULL}}};

const char *kernel_event_name(uint32_t at)
{
	return at < sizeof(events) / sizeof(events[0]) ? events[at].name : NULL;
}

static const struct kernel_event *event_of(const char *name)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (strcmp(events[i].name, name) == 0) {
			return &events[i];
		}
	}
	return NULL;
}

/* "prev_tid == 7 || next_tid == 7". NULL: no filter is due, or none fits. */
static char *filter_of(const struct kernel_event *event, const struct pythia_thread *threads,
		uint32_t n, const char *host)
{
	char *filter = event && event->fields[0] ? calloc(1, FILTER_BYTES) : NULL;
	uint32_t n_here = 0;
	size_t used = 0;

	for (uint32_t i = 0; filter && i < n; i++) {
		if (strcmp(threads[i].host, host) != 0) {
			continue;
		}
		n_here++;
		for (int f = 0; f < 2 && event->fields[f] && used < FILTER_BYTES; f++) {
			used += (size_t)snprintf(filter + used, FILTER_BYTES - used, "%s%s == %d",
					used ? " || " : "", event->fields[f], threads[i].tid);
		}
	}
	if (filter && (n_here == 0 || n_here > MAX_THREADS || used >= FILTER_BYTES)) {
		free(filter);
		return NULL;
	}
	return filter;
}

uint32_t kernel_parts(const struct pythia *pythia, uint32_t at, const struct pythia_thread *threads,
		uint32_t n_threads, struct step_part *parts)
{
	const struct point *point = &pythia->points.items[at];
	const struct kernel_event *event = event_of(names_text(pythia->names, point->entry));
	uint64_t off = point_off(point);
	uint32_t n = 0;

	for (uint32_t host = 0; host < pythia->points.n_hosts; host++) {
		if (off >> host & 1) {
			parts[n++] = (struct step_part){.point = at,
					.hosts = UINT64_C(1) << host,
					.enable = true,
					.filter = filter_of(event, threads, n_threads,
							names_text(pythia->names,
									pythia->points.hosts
											[host]))};
		}
	}
	return n;
}

bool kernel_is(const struct pythia *pythia, bool recorded)
{
	for (uint32_t i = 0; i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];

		if (point->kernel && (recorded ? point->recorded | point->ours : point->offered)) {
			return true;
		}
	}
	return false;
}
