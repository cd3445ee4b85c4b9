/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/hold.h"

#include <stdio.h>

#include "config/duration.h"

void hold_begin(struct hold *hold, const struct instant *instant, bool from_end, uint64_t window_ns)
{
	*hold = (struct hold){.status = HOLD_WAITS,
			.instant = *instant,
			.from_end = from_end,
			.window_ns = window_ns};
}

/* The engine pins what a frozen focus first sees. */
static void pin(struct hold *hold, struct engine *engine, uint64_t at_ns, uint64_t back_ns)
{
	const struct focus focus = {.screen = SCREEN_STATE, .frozen = true};
	struct snapshot *snapshot = snapshot_create();

	if (at_ns) {
		engine_advance(engine, at_ns);
	}
	if (snapshot && engine_fill(engine, &focus, snapshot) == STATUS_OK) {
		hold->status = HOLD_HELD;
		hold->back_ns = back_ns;
	} else {
		hold->status = HOLD_FAILED;
	}
	snapshot_destroy(snapshot);
}

static void see_first(struct hold *hold, uint64_t ts_ns)
{
	hold->first_ns = ts_ns;
	if (hold->instant.kind == INSTANT_BACK) {
		/* What went before was not watched: "now" is as soon as there is that much. */
		hold->at_ns = hold->from_end ? UINT64_MAX : ts_ns + hold->instant.ns;
		return;
	}
	hold->at_ns = instant_resolve(&hold->instant, ts_ns);
	if (hold->at_ns < ts_ns) {
		hold->status = HOLD_FAILED;
	}
}

void hold_see(struct hold *hold, struct engine *engine, uint64_t ts_ns)
{
	if (hold->status != HOLD_WAITS) {
		return;
	}
	if (hold->first_ns == 0) {
		see_first(hold, ts_ns);
	}
	/* Events of that very nanosecond belong to it. */
	if (hold->status == HOLD_WAITS && ts_ns > hold->at_ns) {
		pin(hold, engine, hold->at_ns,
				hold->instant.kind == INSTANT_BACK ? hold->instant.ns : 0);
	}
	hold->last_ns = ts_ns;
}

void hold_end(struct hold *hold, struct engine *engine)
{
	if (hold->status != HOLD_WAITS) {
		return;
	}
	hold->status = HOLD_FAILED;
	if (hold->first_ns == 0) {
		return;
	}
	if (hold->instant.kind != INSTANT_BACK && hold->at_ns == hold->last_ns) {
		pin(hold, engine, 0, 0);
	} else if (hold->instant.kind == INSTANT_BACK && hold->instant.ns <= hold->window_ns &&
			hold->instant.ns <= hold->last_ns - hold->first_ns) {
		pin(hold, engine, 0, hold->instant.ns);
	}
}

void hold_sentence(const struct hold *hold, char *out, size_t size)
{
	char first[INSTANT_BYTES], last[INSTANT_BYTES], back[32], window[32];

	instant_format(first, hold->first_ns);
	instant_format(last, hold->last_ns);
	duration_format(back, sizeof(back), hold->instant.ns);
	duration_format(window, sizeof(window), hold->window_ns);
	if (hold->first_ns == 0) {
		snprintf(out, size, "--state-at: no event came");
	} else if (hold->instant.kind == INSTANT_BACK && hold->instant.ns > hold->window_ns) {
		snprintf(out, size,
				"--state-at=-%s: the window is %s; keep more by --window=SECONDS, "
				"or give the time itself (the last event is of %s)",
				back, window, last);
	} else if (hold->at_ns != UINT64_MAX && hold->at_ns > hold->last_ns) {
		snprintf(out, size, "--state-at: that is after the last event, of %s", last);
	} else {
		snprintf(out, size,
				"--state-at: that is before the first event, of %s: what was "
				"before is not known",
				first);
	}
}
