/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "pythiatop/snapshot/snapshot.h"

#define FEW   3u
#define LEAST 0.05 /* of the time: what is less is not worth a word */

static void holder_text(char *out, size_t size, const struct group_holder *holder, bool ran)
{
	const char *of = holder->type[0] ? holder->type : holder->process;

	if (ran) {
		snprintf(out, size, "%s", holder->process[0] ? holder->process : of);
	} else if (!holder->name[0]) {
		snprintf(out, size, "%s", of);
	} else {
		snprintf(out, size, "%s%s%s", holder->name, of[0] ? " of " : "", of);
	}
}

void group_wait_text(char *out, size_t size, const struct group_wait *wait)
{
	bool ran = wait->evidence == WAIT_RAN;
	size_t used = 0;

	if (size > 0) {
		out[0] = '\0';
	}
	for (uint32_t i = 0; i < wait->n && i < FEW && used < size; i++) {
		const struct group_holder *holder = &wait->holders[i];
		char name[256];
		int length;

		holder_text(name, sizeof(name), holder, ran);
		if (holder->share < LEAST || !name[0]) {
			continue;
		}
		length = snprintf(out + used, size - used, "%s%s%s %.0f%%%s", used ? ", " : "",
				name,
				used  ? ""
				: ran ? " had the processor"
				      : " is waited for",
				100 * holder->share, used ? "" : " of it");
		used += length > 0 ? (size_t)length : 0;
	}
	if (used > 0 && used < size && wait->evidence == WAIT_INFERRED) {
		snprintf(out + used, size - used, " (inferred)");
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
