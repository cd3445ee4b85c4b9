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
	free(pauses->hosts);
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

static void pause_host(struct pauses_of_host *host, uint32_t session, uint64_t now_ns)
{
	host->session = session;
	host->span_ns = host->resumed_ns ? now_ns - host->resumed_ns : 0;
	host->since_ns = now_ns;
}

/* Returns since when it was paused; `told_ns`: for so long, as the event has it. */
static uint64_t resume_host(struct pauses_of_host *host, uint64_t now_ns, uint64_t told_ns)
{
	uint64_t since_ns = host->since_ns;

	if (!since_ns) { /* the begin of it was not seen */
		since_ns = now_ns - (told_ns < now_ns ? told_ns : now_ns);
	}
	host->since_ns = 0;
	host->resumed_ns = now_ns;
	return since_ns;
}

static bool is_recorded_again(
		const struct pauses *pauses, uint32_t host, const struct stream *stream)
{
	return host < pauses->n_hosts && pauses->hosts[host].since_ns &&
	       stream->desc.domain == DOMAIN_KERNEL &&
	       stream->desc.session != pauses->hosts[host].session;
}

bool pauses_see(struct pauses *pauses, const struct event *event, const struct stream *stream,
		uint64_t *begin_ns)
{
	uint8_t kind = event->type < pauses->n_types ? pauses->kinds[event->type] : KIND_OTHER;
	uint64_t told_ns = event->bytes >= sizeof(uint64_t) ? event->slots[0] : 0;
	uint32_t host = stream->host;

	if (kind == KIND_OTHER && is_recorded_again(pauses, host, stream)) {
		kind = KIND_RESUMED;
		told_ns = 0;
	}
	if (kind == KIND_OTHER || !array_extend(&pauses->hosts, &pauses->n_hosts, host + 1)) {
		return false;
	}
	if (kind == KIND_PAUSED) {
		pause_host(&pauses->hosts[host], stream->desc.session, event->ts_ns);
		*begin_ns = event->ts_ns;
	} else {
		*begin_ns = resume_host(&pauses->hosts[host], event->ts_ns, told_ns);
		add(pauses, host, *begin_ns, event->ts_ns);
	}
	return true;
}

/* Since when one of the hosts is paused; `end_ns`: none is. */
static uint64_t paused_since(const struct pauses *pauses, uint64_t hosts, uint64_t end_ns)
{
	for (uint32_t host = 0; host < pauses->n_hosts; host++) {
		uint64_t since_ns = pauses->hosts[host].since_ns;

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

uint64_t pauses_span_ns(const struct pauses *pauses, uint32_t host)
{
	return host < pauses->n_hosts ? pauses->hosts[host].span_ns : 0;
}
