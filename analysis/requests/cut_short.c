/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/engine.h"
#include "requests/pairing.h"

/* Spans whose ends will not come. */

void span_end_lost_call(struct requests *r, const struct event *event, struct thread *thread)
{
	const struct state *state = r->config.state;
	struct open_span *span = thread->top;

	if (!span || !state || !state_enters_call(state, event->type)) {
		return;
	}
	while (span && !state_enters_call(state, span->type)) {
		span = span->below;
	}
	if (!span) {
		return;
	}
	r->stats[span->type].unclosed++;
	if (span->fragment && span->fragment->seeded && span->fragment->root == span->seq) {
		span->fragment->end_ns = span->fragment->last_ns;
		fragment_finish(r, span->fragment, REQUEST_TRUNCATED);
	} else {
		span_pop(r, span);
	}
}

bool requests_release_thread(struct requests *r, struct thread *thread, bool force)
{
	struct open_span *span, *below;

	for (span = thread->top; span; span = below) {
		struct fragment *f = span->fragment;
		bool is_root = f && f->root == span->seq && f->root_open;

		below = span->below;
		if (f && !force) {
			continue;
		}
		if (f && r->plans[span->type].provider) {
			f->died = true; /* a call that ends its thread does not */
		}
		span_give_up(r, span);
		if (is_root && f->n_open == 0) {
			f->superseded = true; /* by whoever gets its id: no more will come of it */
			fragment_doom(r, f);
		}
	}
	return thread->top == NULL;
}
