/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clocks.h"

#include <string.h>

#define NS_PER_S    1000000000
#define MISDATED_NS (UINT64_C(60) * NS_PER_S)
#define DAY_NS      (UINT64_C(86400) * NS_PER_S)

__extension__ typedef __int128 wide;

static int64_t saturate(wide value)
{
	if (value > INT64_MAX) {
		return INT64_MAX;
	}
	return value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static wide cycles_to_ns(uint64_t cycles, uint64_t frequency)
{
	return (wide)cycles * NS_PER_S / (wide)frequency;
}

uint64_t clock_rule_scaled_ns(const struct clock_rule *rule, uint64_t cycles)
{
	int64_t ns = saturate(cycles_to_ns(cycles, rule->frequency) + rule->offset_ns);

	return ns < 0 ? 0 : (uint64_t)ns;
}

struct clock_rule clocks_rule(struct clocks *clocks, const struct clock_description *clock)
{
	struct clock_rule rule = {.frequency = clock->frequency ? clock->frequency : NS_PER_S};

	rule.offset_ns = saturate((wide)clock->offset_s * NS_PER_S +
				  cycles_to_ns(clock->offset_cycles, rule.frequency));
	if (!clock->uuid) {
		return rule;
	}
	memcpy(rule.uuid, clock->uuid, sizeof(rule.uuid));
	for (uint32_t i = 0; i < clocks->n; i++) {
		if (memcmp(clocks->known[i].uuid, rule.uuid, sizeof(rule.uuid)) == 0) {
			rule.shift_ns = saturate((wide)clocks->known[i].offset_ns - rule.offset_ns);
			rule.offset_ns = clocks->known[i].offset_ns;
			return rule;
		}
	}
	if (clocks->n < CLOCKS_MAX) {
		memcpy(clocks->known[clocks->n].uuid, rule.uuid, sizeof(rule.uuid));
		clocks->known[clocks->n].offset_ns = rule.offset_ns;
		clocks->n++;
	}
	return rule;
}

bool clock_is_misdated(uint64_t ts_ns, uint64_t begin_ns, uint64_t end_ns, uint64_t wall_ns)
{
	if (end_ns == 0) {
		end_ns = (begin_ns > wall_ns ? begin_ns : wall_ns) + DAY_NS;
	}
	return ts_ns + MISDATED_NS < begin_ns || (ts_ns > end_ns && ts_ns - end_ns > MISDATED_NS);
}
