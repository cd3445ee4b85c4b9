/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/coverage.h"

#define NS_PER_S UINT64_C(1000000000)

void coverage_begin(struct coverage *coverage, uint32_t step, uint32_t watch_s, uint64_t now_ns,
		uint64_t time_ns)
{
	*coverage = (struct coverage){
			.step = step, .watch_s = watch_s, .since_ns = now_ns, .time_ns = time_ns};
}

/* An order can be answered later than the look began that the answer is seen in. */
static uint64_t passed_ns(const struct coverage *coverage, uint64_t now_ns)
{
	return now_ns > coverage->since_ns ? now_ns - coverage->since_ns : 0;
}

void coverage_update(struct coverage *coverage, uint64_t now_ns, uint64_t time_ns, bool silent)
{
	coverage->silent = silent;
	if (!coverage->time_ns && time_ns) {
		coverage->time_ns = time_ns - passed_ns(coverage, now_ns);
	}
}

uint64_t coverage_clock(const struct coverage *coverage, uint64_t now_ns, uint64_t time_ns)
{
	uint64_t seen_ns = time_ns - coverage->time_ns;

	return seen_ns > passed_ns(coverage, now_ns) ? coverage->since_ns + seen_ns : now_ns;
}

bool coverage_is_low(const struct coverage *coverage, uint64_t now_ns, uint64_t time_ns)
{
	uint64_t watch_ns = coverage->watch_s * NS_PER_S;

	return passed_ns(coverage, now_ns) >= watch_ns &&
	       (coverage->silent || time_ns - coverage->time_ns < watch_ns / 2);
}

bool coverage_is_lost(const struct coverage *coverage, uint64_t now_ns, uint64_t time_ns)
{
	return coverage_is_low(coverage, now_ns, time_ns) &&
	       passed_ns(coverage, now_ns) >= COVERAGE_LOW_S * NS_PER_S;
}
