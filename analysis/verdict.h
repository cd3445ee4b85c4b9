/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_VERDICT_H
#define PT_VERDICT_H

#include <stdbool.h>

#include "base/arena.h"
#include "pythiatop/snapshot/verdict.h"

/*
 * A verdict that owns its texts, until the next one takes its place. {.verdict = {.reason =
 * REASON_NONE}} is one that says nothing.
 */
struct kept_verdict {
	struct steps_verdict verdict;
	struct arena words;
};

/* Its texts become copies in the arena. False: out of memory, and some are not. */
bool verdict_own(struct steps_verdict *verdict, struct arena *arena);
/* A copy takes the place of what was kept; out of memory: that stays. */
void verdict_keep(struct kept_verdict *kept, const struct steps_verdict *verdict);
void verdict_release(struct kept_verdict *kept);

#endif
