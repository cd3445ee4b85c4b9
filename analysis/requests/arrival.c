/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/arrival.h"

void arrival_enter(struct arrival *arrival, const struct type_told *told)
{
	arrival->waits = told->multiplexes || told->input;
	arrival->multiplexes = told->multiplexes;
	arrival->in_order = told->in_order;
	arrival->woken_ns = 0;
	if (!arrival->waits) {
		arrival->first_ns = 0; /* it may have been for a new connection */
	}
}

void arrival_leave(struct arrival *arrival, int64_t n, uint64_t now_ns)
{
	if (arrival->multiplexes) {
		arrival->told_ns = n > 0 ? now_ns : 0;
		arrival->first_ns = n == 1 || arrival->in_order ? arrival->woken_ns : 0;
	}
	arrival->waits = arrival->multiplexes = false;
	arrival->woken_ns = 0;
}

void arrival_wake(struct arrival *arrival, uint64_t now_ns)
{
	if (arrival->waits && !arrival->woken_ns) {
		arrival->woken_ns = now_ns;
	}
}

uint64_t arrival_since(struct arrival *arrival, uint64_t made_ns, uint64_t received_ns)
{
	uint64_t first_ns = arrival->first_ns;

	arrival->first_ns = 0;
	if (arrival->waits && arrival->woken_ns) {
		return made_ns < arrival->woken_ns ? arrival->woken_ns : 0;
	}
	if (made_ns >= arrival->told_ns || received_ns >= arrival->told_ns) {
		return 0;
	}
	return first_ns ? first_ns : arrival->told_ns;
}
