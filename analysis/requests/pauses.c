/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/pauses.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum kind { KIND_OTHER = 0, KIND_PAUSED, KIND_RESUMED };

void pauses_release(struct pauses *pauses)
{
	free(pauses->kinds);
	free(pauses->items);
	free(pauses->since);
	*pauses = (struct pauses){.kinds = NULL};
}

bool pauses_add_type(struct pauses *pauses, const char *name)
{
	if (!array_reserve(&pauses->kinds, &pauses->types_room, pauses->n_types + 1)) {
		return false;
	}
	pauses->kinds[pauses->n_types++] = strcmp(name, "pythiatop_paused") == 0    ? KIND_PAUSED
					   : strcmp(name, "pythiatop_resumed") == 0 ? KIND_RESUMED
										    : KIND_OTHER;
	return true;
}

static struct pause *at(const struct pauses *pauses, uint64_t number)
{
	return &pauses->items[number % PAUSES_KEPT];
}

/* They are told by their ends, and kept by their begins. */
static void add(struct pauses *pauses, uint32_t host, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t number = pauses->n, first = number >= PAUSES_KEPT ? number - PAUSES_KEPT + 1 : 0;

	if (number < PAUSES_KEPT &&
			!array_reserve(&pauses->items, &pauses->room, (uint32_t)number + 1)) {
		return; /* rates are too low then */
	}
	for (; number > first && at(pauses, number - 1)->begin_ns > begin_ns; number--) {
		*at(pauses, number) = *at(pauses, number - 1);
	}
	*at(pauses, number) = (struct pause){REQUEST_HOST(host), begin_ns, end_ns};
	pauses->n++;
	if (end_ns - begin_ns > pauses->longest_ns) {
		pauses->longest_ns = end_ns - begin_ns;
	}
}

bool pauses_see(struct pauses *pauses, const struct event *event, uint32_t host, uint64_t *begin_ns)
{
	uint8_t kind = event->type < pauses->n_types ? pauses->kinds[event->type] : KIND_OTHER;
	uint64_t paused_ns;

	if (kind == KIND_OTHER || !array_extend(&pauses->since, &pauses->n_hosts, host + 1)) {
		return false;
	}
	*begin_ns = event->ts_ns;
	if (kind == KIND_PAUSED) {
		pauses->since[host] = event->ts_ns;
		return true;
	}
	paused_ns = event->bytes >= sizeof(uint64_t) ? event->slots[0] : 0;
	*begin_ns -= paused_ns < event->ts_ns ? paused_ns : event->ts_ns;
	if (pauses->since[host]) {
		*begin_ns = pauses->since[host];
	}
	pauses->since[host] = 0;
	add(pauses, host, *begin_ns, event->ts_ns);
	return true;
}

/* Since when one of the hosts is paused; `end_ns`: none is. */
static uint64_t paused_since(const struct pauses *pauses, uint64_t hosts, uint64_t end_ns)
{
	for (uint32_t host = 0; host < pauses->n_hosts; host++) {
		uint64_t since_ns = pauses->since[host];

		if (since_ns && since_ns < end_ns && (REQUEST_HOST(host) & hosts)) {
			end_ns = since_ns;
		}
	}
	return end_ns;
}

uint64_t pauses_within(
		const struct pauses *pauses, uint64_t hosts, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t first = pauses->n > PAUSES_KEPT ? pauses->n - PAUSES_KEPT : 0, i = pauses->n;
	uint64_t open_ns = paused_since(pauses, hosts, end_ns), sum_ns;

	if (end_ns <= begin_ns) {
		return 0;
	}
	open_ns = open_ns > begin_ns ? open_ns : begin_ns;
	sum_ns = end_ns - open_ns;
	while (i > first && at(pauses, i - 1)->begin_ns + pauses->longest_ns > begin_ns) {
		i--;
	}
	for (; i < pauses->n && begin_ns < open_ns; i++) {
		const struct pause *pause = at(pauses, i);
		uint64_t to_ns = pause->end_ns < open_ns ? pause->end_ns : open_ns;

		if (!(pause->hosts & hosts) || to_ns <= begin_ns) {
			continue;
		}
		begin_ns = pause->begin_ns > begin_ns ? pause->begin_ns : begin_ns;
		sum_ns += to_ns > begin_ns ? to_ns - begin_ns : 0;
		begin_ns = to_ns > begin_ns ? to_ns : begin_ns; /* what was counted */
	}
	return sum_ns;
}

uint64_t pauses_of_host(
		const struct pauses *pauses, uint32_t host, uint64_t begin_ns, uint64_t end_ns)
{
	return pauses_within(pauses, REQUEST_HOST(host), begin_ns, end_ns);
}
