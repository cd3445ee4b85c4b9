/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_RULES_H
#define PT_HELPER_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "helper/answer.h"

/*
 * The rules of sessions, anybody's: read from what the session daemon itself writes when asked to
 * save a session (lttng_save_session). Listing a channel's rules with lttng_list_events() would be
 * the obvious way, but it crashes the session daemon of LTTng 2.13.9 where one has an exclusion,
 * and with it everybody's sessions. Saving does not, tells more (started, exclusions, filters), and
 * changes nothing.
 *
 * Memory: at most RULES_MAX rules; a saved session of more than RULES_MAX_BYTES is not read.
 */
#define RULES_MAX       65536u
#define RULES_MAX_BYTES (32u << 20)

enum rule_domain {
	RULE_UST = 0,
	RULE_KERNEL,
	RULE_OTHER,
};

struct rule {
	char *session, *channel, *name, *filter; /* filter NULL: none */
	enum rule_domain domain;
	bool tracepoints, syscalls; /* which of the two it is about */
	bool loggers;               /* of RULE_UST: it is about loggers, named as their points */
	bool on;                    /* itself, its channel, and the session is started */
	bool enabled;               /* itself */
	bool partial; /* a filter, exclusions or a log level: not each event of that name */
};

struct rules {
	struct rule *items;
	uint32_t n, size;
};

/*
 * Adds the rules of a session. `directory`: private to us, the session daemon writes there in our
 * name. 0, or a negative code of LTTng.
 */
int rules_read(struct rules *rules, struct answer *answer, const char *session,
		const char *directory);
void rules_release(struct rules *rules);

/* Adds a copy of one that was made since. False: RULES_MAX, or out of memory. */
bool rules_add(struct rules *rules, const struct rule *rule);

/* Is this point what the rule is about? `syscall`: kernel only. */
bool rule_covers(const struct rule *rule, enum rule_domain domain, bool syscall, const char *name);

#endif
