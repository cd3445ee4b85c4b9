/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "behaviour/arrivals.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

static void count(double *sum, double *squares, uint32_t n)
{
	*sum += n;
	*squares += (double)n * n;
}

/* Seconds that are too old to be counted in any more are closed; the first one is not whole. */
static void turn_to(struct arrivals *arrivals, uint64_t second)
{
	uint64_t from = arrivals->last + 1;

	for (uint64_t next = from; next <= second && next < from + ARRIVALS_SECONDS; next++) {
		uint32_t *slot = &arrivals->open[next % ARRIVALS_SECONDS];

		if (next >= ARRIVALS_SECONDS && next - ARRIVALS_SECONDS > arrivals->first) {
			count(&arrivals->sum, &arrivals->squares, *slot);
		}
		*slot = 0;
	}
	/* Of a longer silence all further seconds are closed with nothing in them. */
	arrivals->last = second;
}

void arrivals_add(struct arrivals *arrivals, uint64_t start_ns)
{
	uint64_t second = start_ns / NS_PER_S;

	arrivals->n++;
	if (arrivals->last == 0) {
		arrivals->first = arrivals->last = second;
	}
	if (second > arrivals->last) {
		turn_to(arrivals, second);
	}
	if (second + ARRIVALS_SECONDS <= arrivals->last) {
		arrivals->late++;
		return;
	}
	if (second < arrivals->first) {
		arrivals->first = second; /* it began earlier than the one that ended first */
	}
	arrivals->open[second % ARRIVALS_SECONDS]++;
}

void arrivals_read(const struct arrivals *arrivals, struct arrivals_view *view)
{
	double sum = arrivals->sum, squares = arrivals->squares, n, variance;

	*view = (struct arrivals_view){.seconds = 0};
	if (arrivals->last <= arrivals->first + 1) {
		return;
	}
	for (uint64_t i = 1; i < ARRIVALS_SECONDS && arrivals->last - i > arrivals->first; i++) {
		count(&sum, &squares, arrivals->open[(arrivals->last - i) % ARRIVALS_SECONDS]);
	}
	view->seconds = arrivals->last - arrivals->first - 1;
	n = (double)view->seconds;
	view->rate_per_s = sum / n;
	if (view->seconds > 1 && sum > 0) {
		variance = (squares - sum * sum / n) / (n - 1);
		view->dispersion = variance / view->rate_per_s;
	}
}
