/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/sight.h"

#define NS_PER_S UINT64_C(1000000000)

void sight_begin(struct sight *sight, uint32_t step, uint32_t watch_s, uint64_t now_ns,
		uint64_t time_ns)
{
	*sight = (struct sight){
			.step = step, .watch_s = watch_s, .since_ns = now_ns, .time_ns = time_ns};
}

/* An order can be answered later than the look began that the answer is seen in. */
static uint64_t passed_ns(const struct sight *sight, uint64_t now_ns)
{
	return now_ns > sight->since_ns ? now_ns - sight->since_ns : 0;
}

void sight_look(struct sight *sight, uint64_t now_ns, uint64_t time_ns, bool silent)
{
	sight->silent = silent;
	if (!sight->time_ns && time_ns) {
		sight->time_ns = time_ns - passed_ns(sight, now_ns);
	}
}

uint64_t sight_clock(const struct sight *sight, uint64_t now_ns, uint64_t time_ns)
{
	uint64_t seen_ns = time_ns - sight->time_ns;

	return seen_ns > passed_ns(sight, now_ns) ? sight->since_ns + seen_ns : now_ns;
}

bool sight_is_blind(const struct sight *sight, uint64_t now_ns, uint64_t time_ns)
{
	uint64_t watch_ns = sight->watch_s * NS_PER_S;

	return passed_ns(sight, now_ns) >= watch_ns &&
	       (sight->silent || time_ns - sight->time_ns < watch_ns / 2);
}

bool sight_is_lost(const struct sight *sight, uint64_t now_ns, uint64_t time_ns)
{
	return sight_is_blind(sight, now_ns, time_ns) &&
	       passed_ns(sight, now_ns) >= SIGHT_BLIND_S * NS_PER_S;
}
