/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/thread_spans.h"

static void take(struct thread_spans *spans, const struct requests *r,
		const struct ended_span *span, uint64_t to_ns)
{
	if (spans->n < THREAD_SPANS_MOST && !is_of_nobody(r, span->name) &&
			span->start_ns < to_ns && span->end_ns > spans->from_ns) {
		spans->items[spans->n++] = (struct thread_span){span->start_ns, span->end_ns,
				span->name, span->provider, span->type};
	}
}

/* Those that ended later than one of them. */
static void take_newer(struct thread_spans *spans, const struct requests *r,
		const struct ended_span *span, uint64_t to_ns)
{
	uint32_t passed = 0;

	for (const struct ended_span *at = span ? ended_get(&r->ended, span->newer) : NULL;
			at && passed < THREAD_SPANS_MOST;
			at = ended_get(&r->ended, at->newer), passed++) {
		take(spans, r, at, to_ns);
	}
}

static void take_older(struct thread_spans *spans, const struct requests *r,
		const struct ended_span *span, uint64_t to_ns)
{
	for (uint32_t passed = 0;
			span && passed < THREAD_SPANS_BACK && span->end_ns > spans->from_ns;
			span = ended_before(&r->ended, span, to_ns), passed++) {
		take(spans, r, span, to_ns);
	}
}

static void take_open(struct thread_spans *spans, const struct requests *r,
		const struct thread *thread, uint64_t to_ns)
{
	for (const struct open_span *span = thread->top; span && spans->n < THREAD_SPANS_MOST;
			span = span->below) {
		if (span->start_ns < to_ns && !is_of_nobody(r, span->name)) {
			spans->items[spans->n++] = (struct thread_span){span->start_ns, UINT64_MAX,
					span->name, r->plans[span->type].provider,
					span->fragment ? span->fragment->type : 0};
		}
	}
}

void thread_spans_begin(struct thread_spans *spans, const struct requests *r,
		struct ended_index *index, const struct thread *thread, uint32_t number,
		uint64_t from_ns, uint64_t to_ns)
{
	const struct ended_span *around = ended_get(&r->ended, number);

	spans->from_ns = from_ns;
	spans->n = 0;
	spans->innermost = NULL;
	spans->since_ns = spans->found_ns = 0;
	if (number) {
		take_newer(spans, r, around, to_ns);
		take_older(spans, r, around, to_ns);
	} else if (thread) {
		take_older(spans, r, ended_index_before(index, &r->ended, thread->ended, to_ns),
				to_ns);
	}
	if (thread) {
		take_open(spans, r, thread, to_ns);
	}
}

const struct thread_span *thread_spans_innermost(
		struct thread_spans *spans, uint64_t before_ns, uint64_t *since_ns)
{
	const struct thread_span *found = NULL;
	uint64_t ended_ns = spans->from_ns; /* the last end before */

	/* Between the last span that began or ended and the instant that was asked about, it is the
	 * same one. */
	if (before_ns > spans->since_ns && before_ns <= spans->found_ns) {
		*since_ns = spans->since_ns;
		return spans->innermost;
	}
	for (uint32_t i = 0; i < spans->n; i++) {
		const struct thread_span *span = &spans->items[i];

		if (span->end_ns < before_ns) {
			ended_ns = span->end_ns > ended_ns ? span->end_ns : ended_ns;
		} else if (span->start_ns < before_ns &&
				(!found || span->start_ns > found->start_ns ||
						(span->start_ns == found->start_ns &&
								span->end_ns < found->end_ns))) {
			found = span;
		}
	}
	spans->innermost = found;
	spans->found_ns = before_ns;
	spans->since_ns = found && found->start_ns > ended_ns ? found->start_ns : ended_ns;
	*since_ns = spans->since_ns;
	return found;
}
