/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_CLOCKS_H
#define PT_SOURCE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * From cycles of a trace's clock to nanoseconds since the Unix epoch.
 *
 * The traces of one host that are read together count the same cycles (their clocks have one UUID),
 * but each wrote down its own idea of when that clock was zero. Two ideas would put cause after
 * effect: so the first offset seen for a UUID is used for all of them.
 *
 * Memory: CLOCKS_MAX UUIDs; a clock beyond them keeps its own offset.
 */
#define CLOCKS_MAX 64

struct clock_rule {
	uint64_t frequency; /* Hz, never 0 */
	int64_t offset_ns;  /* as used */
	int64_t shift_ns;   /* offset as used, minus the trace's own */
	uint8_t uuid[16];   /* all zero: none */
};

struct clocks {
	uint32_t n;
	struct {
		uint8_t uuid[16];
		int64_t offset_ns;
	} known[CLOCKS_MAX];
};

/* A clock as its trace describes it. */
struct clock_description {
	const uint8_t *uuid;    /* 16 bytes, or NULL */
	uint64_t frequency;     /* Hz; 0 is taken for 1 GHz */
	int64_t offset_s;       /* of the origin from the Unix epoch: seconds, */
	uint64_t offset_cycles; /* and cycles more */
};

struct clock_rule clocks_rule(struct clocks *clocks, const struct clock_description *clock);

/* Saturates instead of wrapping. */
uint64_t clock_rule_scaled_ns(const struct clock_rule *rule, uint64_t cycles);

static inline uint64_t clock_rule_ns(const struct clock_rule *rule, uint64_t cycles)
{
	int64_t ns;

	if (rule->frequency == 1000000000u && cycles <= INT64_MAX &&
			!__builtin_add_overflow((int64_t)cycles, rule->offset_ns, &ns) && ns >= 0) {
		return (uint64_t)ns;
	}
	return clock_rule_scaled_ns(rule, cycles);
}

/*
 * Whether an event cannot have been at ts_ns: more than a minute before its packet began (or what
 * is read, where the packet does not tell), or after what is read ends. end_ns 0: that is not
 * known, and no clock of a live host is more than a day ahead of wall_ns, or of the packet.
 */
bool clock_is_misdated(uint64_t ts_ns, uint64_t begin_ns, uint64_t end_ns, uint64_t wall_ns);

#endif
