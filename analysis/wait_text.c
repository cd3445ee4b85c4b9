/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_add.h"
#include "pythiatop/snapshot/snapshot.h"

#define FEW   3u
#define LEAST 0.05 /* of the time: what is less is not worth a word */

/* What tells one process from others: how it was made, and its number, or its thread's. */
static void add_which(char *out, size_t size, const struct group_holder *holder)
{
	const char *by = holder->child ? holder->made_in : "";
	int64_t number = holder->pid > 0 ? holder->pid : holder->tid;

	if (by[0]) {
		text_add(out, size, " (by %s", by);
	}
	if (number > 0) {
		text_add(out, size, "%s%s %" PRId64, by[0] ? ", " : " (",
				holder->pid > 0 ? "pid" : "tid", number);
	}
	if (by[0] || number > 0) {
		text_add(out, size, ")");
	}
}

void group_holder_text(char *out, size_t size, const struct group_holder *holder, bool ran)
{
	static const char *const kernel[] = {[INTERRUPT_TIMER] = "a timer",
			[INTERRUPT_DISK] = "a disk",
			[INTERRUPT_NETWORK] = "the network",
			[INTERRUPT_OTHER] = "an interrupt"};
	const char *of = holder->type[0] ? holder->type : holder->process;
	const char *process = holder->process[0] ? holder->process : of;

	if (holder->idle || holder->interrupt) {
		snprintf(out, size, "%s", holder->idle ? "nobody" : kernel[holder->interrupt]);
		return;
	}
	if (ran) {
		snprintf(out, size, "%s%s", holder->child ? "its child " : "", process);
	} else if (!holder->name[0]) {
		snprintf(out, size, "%s", of);
	} else {
		/* A thread that works for a request is called as its program. */
		bool says_more = strcmp(holder->name, holder->process) != 0 || !of[0];

		snprintf(out, size, "%s%s%s", says_more ? holder->name : "",
				says_more && of[0] ? " of " : "", of);
	}
	if (out[0]) {
		add_which(out, size, holder);
	}
}

/* What comes in front of the first holder, and behind it. */
static const struct {
	const char *before, *behind;
} said[] = {[WAIT_WOKEN] = {"", " is waited for"},
		[WAIT_QUEUED] = {"its thread is busy with ", ""},
		[WAIT_INFERRED] = {"", " is waited for"},
		[WAIT_RAN] = {"", " had the processor"}};

void group_wait_text(char *out, size_t size, const struct group_wait *wait)
{
	bool ran = wait->evidence == WAIT_RAN, queue = ran || wait->evidence == WAIT_QUEUED;

	out[0] = '\0';
	for (uint32_t i = 0; i < wait->n && i < FEW; i++) {
		const struct group_holder *holder = &wait->holders[i];
		double share = fmin(queue ? holder->of_variation : holder->share, 1);
		bool first = !out[0];
		char name[256];

		group_holder_text(name, sizeof(name), holder, ran);
		if (share < LEAST || !name[0]) {
			continue;
		}
		text_add(out, size, "%s%s%s %.0f%%%s", first ? said[wait->evidence].before : ", ",
				name, first ? said[wait->evidence].behind : "", 100 * share,
				first ? " of it" : "");
	}
	if (out[0] && wait->evidence == WAIT_INFERRED) {
		text_add(out, size, " (inferred)");
	}
}

const struct group_wait *group_wait_of(const struct group_waits *waits, uint32_t context)
{
	for (uint32_t i = 0; waits && waits->told && i < waits->n; i++) {
		if (waits->items[i].context == context) {
			return &waits->items[i];
		}
	}
	return NULL;
}
