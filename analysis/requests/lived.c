/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/lived.h"

static void take(struct lived *lived, const struct requests *r, const struct ended_span *span,
		uint64_t to_ns)
{
	if (lived->n < LIVED_SPANS && !is_of_nobody(r, span->name) && span->start_ns < to_ns &&
			span->end_ns > lived->from_ns) {
		lived->spans[lived->n++] = (struct lived_span){span->start_ns, span->end_ns,
				span->name, span->provider, span->type};
	}
}

/* Those that ended later than one of them. */
static void take_newer(struct lived *lived, const struct requests *r, const struct ended_span *span,
		uint64_t to_ns)
{
	uint32_t passed = 0;

	for (const struct ended_span *at = span ? ended_get(&r->ended, span->newer) : NULL;
			at && passed < LIVED_SPANS; at = ended_get(&r->ended, at->newer), passed++) {
		take(lived, r, at, to_ns);
	}
}

static void take_older(struct lived *lived, const struct requests *r, const struct ended_span *span,
		uint64_t to_ns)
{
	for (uint32_t passed = 0; span && passed < LIVED_BACK && span->end_ns > lived->from_ns;
			span = ended_before(&r->ended, span, to_ns), passed++) {
		take(lived, r, span, to_ns);
	}
}

static void take_open(struct lived *lived, const struct requests *r, const struct thread *thread,
		uint64_t to_ns)
{
	for (const struct open_span *span = thread->top; span && lived->n < LIVED_SPANS;
			span = span->below) {
		if (span->start_ns < to_ns && !is_of_nobody(r, span->name)) {
			lived->spans[lived->n++] = (struct lived_span){span->start_ns, UINT64_MAX,
					span->name, r->plans[span->type].provider,
					span->fragment ? span->fragment->type : 0};
		}
	}
}

void lived_begin(struct lived *lived, const struct requests *r, struct ended_index *index,
		const struct thread *thread, uint32_t number, uint64_t from_ns, uint64_t to_ns)
{
	const struct ended_span *around = ended_get(&r->ended, number);

	lived->from_ns = from_ns;
	lived->n = 0;
	lived->innermost = NULL;
	lived->since_ns = lived->found_ns = 0;
	if (number) {
		take_newer(lived, r, around, to_ns);
		take_older(lived, r, around, to_ns);
	} else if (thread) {
		take_older(lived, r, ended_index_before(index, &r->ended, thread->ended, to_ns),
				to_ns);
	}
	if (thread) {
		take_open(lived, r, thread, to_ns);
	}
}

const struct lived_span *lived_before(struct lived *lived, uint64_t before_ns, uint64_t *since_ns)
{
	const struct lived_span *found = NULL;
	uint64_t ended_ns = lived->from_ns; /* the last end before */

	/* Between the last span that began or ended and the instant that was asked about, it is the
	 * same one. */
	if (before_ns > lived->since_ns && before_ns <= lived->found_ns) {
		*since_ns = lived->since_ns;
		return lived->innermost;
	}
	for (uint32_t i = 0; i < lived->n; i++) {
		const struct lived_span *span = &lived->spans[i];

		if (span->end_ns < before_ns) {
			ended_ns = span->end_ns > ended_ns ? span->end_ns : ended_ns;
		} else if (span->start_ns < before_ns &&
				(!found || span->start_ns > found->start_ns ||
						(span->start_ns == found->start_ns &&
								span->end_ns < found->end_ns))) {
			found = span;
		}
	}
	lived->innermost = found;
	lived->found_ns = before_ns;
	lived->since_ns = found && found->start_ns > ended_ns ? found->start_ns : ended_ns;
	*since_ns = lived->since_ns;
	return found;
}
