/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "requests/losses.h"

void losses_release(struct losses *losses)
{
	uint32_t i;

	for (i = 0; i < losses->n_hosts; i++) {
		free(losses->hosts[i]);
	}
	free(losses->hosts);
	*losses = (struct losses){.hosts = NULL};
}

static struct host_losses *host_of(struct losses *losses, uint32_t host)
{
	if (!array_extend(&losses->hosts, &losses->n_hosts, host + 1)) {
		return NULL;
	}
	if (!losses->hosts[host]) {
		losses->hosts[host] = calloc(1, sizeof(struct host_losses));
	}
	return losses->hosts[host];
}

bool losses_add(struct losses *losses, uint32_t host, uint64_t begin_ns, uint64_t end_ns)
{
	struct host_losses *of = host_of(losses, host);
	uint32_t at;

	if (!of) {
		return false;
	}
	if (of->n == LOSSES_PER_HOST) {
		of->items[1].begin_ns = of->items[0].begin_ns;
		of->items[1].end_ns = of->items[1].end_ns > of->items[0].end_ns
						      ? of->items[1].end_ns
						      : of->items[0].end_ns;
		memmove(&of->items[0], &of->items[1], (LOSSES_PER_HOST - 1) * sizeof(of->items[0]));
		of->n--;
	}
	/* By begin, so that the oldest come first. */
	for (at = of->n; at > 0 && of->items[at - 1].begin_ns > begin_ns; at--) {
		of->items[at] = of->items[at - 1];
	}
	of->items[at].begin_ns = begin_ns;
	of->items[at].end_ns = end_ns;
	of->n++;
	if (end_ns > of->newest_ns) {
		of->newest_ns = end_ns;
	}
	return true;
}

bool losses_touch(const struct losses *losses, uint32_t host, uint64_t begin_ns, uint64_t end_ns)
{
	const struct host_losses *of = host < losses->n_hosts ? losses->hosts[host] : NULL;
	uint32_t i;

	if (!of || begin_ns > of->newest_ns) {
		return false;
	}
	for (i = 0; i < of->n; i++) {
		if (of->items[i].begin_ns <= end_ns && begin_ns <= of->items[i].end_ns) {
			return true;
		}
	}
	return false;
}
