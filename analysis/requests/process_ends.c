/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/process_ends.h"

#include <stdlib.h>

#define PROCESS_NS 50 /* bits: times of different processes are so far apart */

static uint64_t time_of(uint32_t process, uint64_t ns)
{
	return ((uint64_t)(process + 1) << PROCESS_NS) + (ns & ((UINT64_C(1) << PROCESS_NS) - 1));
}

static uint64_t process_key(uint32_t host, int32_t pid)
{
	return (uint64_t)host << 32 | (uint32_t)pid;
}

/* From 0 on, in the order they are met; NUMBER_NONE: beyond the bound, or out of memory. */
static uint32_t number_of(struct number_map *map, uint64_t key, uint32_t most, bool *no_memory)
{
	uint32_t number = number_map_find(map, key);

	if (number == NUMBER_NONE && map->n < most) {
		number = map->n;
		if (!number_map_set(map, key, number)) {
			*no_memory = true;
			return NUMBER_NONE;
		}
	}
	return number;
}

static uint32_t kind_of(struct process_ends *ends, const struct ended_span *span, bool *no_memory)
{
	uint64_t key = (uint64_t)span->name << 32 | span->provider;
	uint32_t kind = number_of(&ends->kind_numbers, key, HANDOVER_KINDS, no_memory);

	if (kind == NUMBER_NONE) {
		return HANDOVER_KINDS;
	}
	ends->kinds[kind] = (struct process_ends_kind){span->name, span->provider};
	return kind;
}

static int by_time(const void *left, const void *right)
{
	const struct handover_end *a = left, *b = right;

	if (a->at_ns != b->at_ns) {
		return a->at_ns < b->at_ns ? -1 : 1;
	}
	return (a->number > b->number) - (a->number < b->number);
}

static void sort(struct process_ends *ends)
{
	for (uint32_t i = 1; i < ends->n; i++) {
		if (ends->items[i].at_ns < ends->items[i - 1].at_ns) {
			qsort(ends->items, ends->n, sizeof(*ends->items), by_time);
			return;
		}
	}
}

/* Those of each process one after another, in the order of the log: almost always that of time. */
static bool list(struct process_ends *ends, const struct ended *log, uint32_t *process_of,
		uint32_t *first)
{
	uint32_t oldest = log->last - log->n + 1;
	bool no_memory = false;

	for (uint32_t k = 0; k < log->n; k++) {
		const struct ended_span *span = ended_get(log, oldest + k);

		process_of[k] = span ? number_of(&ends->processes,
						       process_key(span->host, span->pid),
						       PROCESS_ENDS_MAX, &no_memory)
				     : NUMBER_NONE;
		if (process_of[k] != NUMBER_NONE) {
			first[process_of[k] + 1]++;
			ends->n++;
		}
	}
	for (uint32_t i = 1; i < ends->processes.n; i++) {
		first[i] += first[i - 1];
	}
	for (uint32_t k = 0; k < log->n; k++) {
		const struct ended_span *span = ended_get(log, oldest + k);

		if (process_of[k] == NUMBER_NONE) {
			continue;
		}
		ends->items[first[process_of[k]]++] = (struct handover_end){
				.at_ns = time_of(process_of[k], span->end_ns),
				.thread = process_ends_thread(span->host, span->tid),
				/* What is of no request is of no wait's own. */
				.request = span->request ? span->request : UINT64_MAX,
				.kind = kind_of(ends, span, &no_memory),
				.number = oldest + k};
	}
	sort(ends);
	return !no_memory;
}

struct process_ends *process_ends_make(const struct ended *log)
{
	struct process_ends *ends = calloc(1, sizeof(*ends));
	uint32_t *process_of = malloc((log->n + 1) * sizeof(*process_of));
	uint32_t *first = calloc(PROCESS_ENDS_MAX + 1, sizeof(*first));
	bool made = ends && process_of && first;

	if (made) {
		ends->items = malloc((log->n + 1) * sizeof(*ends->items));
		made = ends->items && list(ends, log, process_of, first);
	}
	free(process_of);
	free(first);
	if (!made) {
		process_ends_destroy(ends);
		ends = NULL;
	}
	return ends;
}

void process_ends_destroy(struct process_ends *ends)
{
	if (ends) {
		number_map_release(&ends->processes);
		number_map_release(&ends->kind_numbers);
		free(ends->items);
		free(ends);
	}
}

uint64_t process_ends_time(const struct process_ends *ends, uint32_t host, int32_t pid, uint64_t ns)
{
	uint32_t process = number_map_find(&ends->processes, process_key(host, pid));

	return time_of(process == NUMBER_NONE ? PROCESS_ENDS_MAX : process, ns);
}
