/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "requests/fails.h"
#include "requests/engine.h"
#include "requests/failure.h"
#include "requests/feed.h"
#include "requests/value_text.h"
#include "values.h"

/* Whether requests failed, and where that began. */

#define USUAL_LEAST 32u   /* events of a type, before it is said what is usual of them */
#define MAX_TOLD    4096u /* different texts of what exits tell */
#define TOLD_BYTES  64u
#define CALLS_PER_S 2000u /* requests in which calls alone failed, that are looked at */

/* What is found below a span. */
enum below {
	BELOW_ERROR = 1u << 0, /* a span that told so */
	BELOW_OPEN = 1u << 1,  /* one without its exit */
};

/* "connect" of the span "syscall_connect" */
static const char *call_of(const struct requests *r, uint32_t span_name)
{
	const char *name = names_text(r->names, span_name), *call = strstr(name, "syscall_");

	return call ? call + strlen("syscall_") : name;
}

/* More of them told so than not: it is what they tell. */
static bool is_usual(const struct plan *plan, const struct type_stats *stats)
{
	return plan->fails_usually && stats->total >= USUAL_LEAST &&
	       stats->failed * 2 >= stats->total;
}

uint8_t failure_told(struct requests *r, const struct feed *feed)
{
	const struct plan *plan = feed->plan;
	struct type_stats *stats = &r->stats[feed->event->type];
	uint16_t field = fails_by(plan, &r->registry->types[feed->event->type], feed->event);

	if (field == PLAN_NO_FIELD) {
		return COPY_SOUND;
	}
	if (plan->calls) {
		uint32_t name = feed->paired ? feed->paired->name : feed->name;

		return fails_is_ordinary(call_of(r, name), -(int64_t)feed->event->slots[field])
				       ? COPY_SOUND
				       : COPY_CALL_FAILS;
	}
	stats->failed++;
	return is_usual(plan, stats) ? COPY_SOUND : COPY_FAILS;
}

const struct event_copy *failure_of_span(const struct span *span)
{
	const struct event_copy *copy = span->exit ? span->exit : span->entry;

	return copy && copy->fails != COPY_SOUND ? copy : NULL;
}

const char *failure_text(struct requests *r, const struct event_copy *copy)
{
	const struct event_type *type = &r->registry->types[copy->type];
	const struct plan *plan = &r->plans[copy->type];
	const struct event event = copy_event(copy);
	uint16_t field = fails_by(plan, type, &event);
	uint32_t used = 0;

	if (field == PLAN_NO_FIELD || !text_append(r, &used, "", 0)) {
		return ""; /* another schema has come since */
	}
	if (plan->calls) {
		const char *error = fails_errno_name(-(int64_t)event.slots[field]);

		if (error) {
			return error;
		}
	}
	if (!text_append(r, &used, type->fields[field].name, strlen(type->fields[field].name)) ||
			!text_append(r, &used, " = ", 3) ||
			!text_append_value(r, &used, type, &event, field, TOLD_BYTES)) {
		return "";
	}
	r->scratch[used] = '\0';
	return r->scratch;
}

/* Texts are as many as values are: beyond a bound only that it failed is kept. */
static uint32_t intern_told(struct requests *r, const char *text)
{
	size_t length = strlen(text);
	uint64_t hash = hash_bytes(text, length);
	uint32_t known = number_map_find(&r->told, hash);

	if (!length || known != NUMBER_NONE) {
		return length ? known : 0;
	}
	if (r->told.n >= MAX_TOLD) {
		return 0;
	}
	known = names_add(r->names, text, length);
	return number_map_set(&r->told, hash, known) ? known : 0;
}

static bool is_open(const struct requests *r, const struct span *span)
{
	return span->entry && !span->exit && !span->point && r->plans[span->entry->type].skeleton;
}

/* What each span has below it, into its mark. */
static void mark_below(struct requests *r)
{
	struct spans *spans = &r->spans;

	for (uint32_t i = 0; i < spans->n; i++) {
		spans->items[i].mark = 0;
	}
	for (uint32_t i = spans->n; i > 1; i--) {
		const struct span *span = &spans->items[spans->order[i - 1]];
		const struct event_copy *told = failure_of_span(span);

		spans->items[span->parent].mark |=
				(uint8_t)(span->mark |
						(told && told->fails == COPY_FAILS ? BELOW_ERROR
										   : 0) |
						(is_open(r, span) ? BELOW_OPEN : 0));
	}
}

static bool is_within(const struct spans *spans, uint32_t span, uint32_t outer)
{
	while (span != SPAN_NONE && span != outer) {
		span = spans->items[span].parent;
	}
	return span == outer;
}

/* Of the spans that told so, and have no such below them, the one that ended first. */
static uint32_t first_error(const struct spans *spans)
{
	uint32_t best = SPAN_NONE;

	for (uint32_t i = 0; i < spans->n; i++) {
		const struct span *span = &spans->items[i];
		const struct event_copy *told = failure_of_span(span);

		if (told && told->fails == COPY_FAILS && !(span->mark & BELOW_ERROR) &&
				(best == SPAN_NONE || span->end_ns < spans->items[best].end_ns)) {
			best = i;
		}
	}
	return best;
}

/* The system call that failed last, or first, within a span; SPAN_NONE: none did. */
static uint32_t call_within(const struct spans *spans, uint32_t outer, bool first)
{
	uint32_t best = SPAN_NONE;

	for (uint32_t i = 0; i < spans->n; i++) {
		const struct event_copy *told = failure_of_span(&spans->items[i]);

		if (told && told->fails == COPY_CALL_FAILS && is_within(spans, i, outer) &&
				(best == SPAN_NONE || (spans->items[i].end_ns <
								      spans->items[best].end_ns) ==
								      first)) {
			best = i;
		}
	}
	return best;
}

/* Other contexts in which calls failed. */
static void add_more(const struct spans *spans, struct request_failure *out)
{
	for (uint32_t i = 0; i < spans->n && out->n_more < REQUEST_MORE_CALLS; i++) {
		uint32_t context = spans->items[i].context, k = 0;

		if (!failure_of_span(&spans->items[i]) || context == out->context) {
			continue;
		}
		while (k < out->n_more && out->more[k] != context) {
			k++;
		}
		if (k == out->n_more) {
			out->more[out->n_more++] = context;
		}
	}
}

/* The span without an exit that began last of the innermost ones. */
static uint32_t last_open(const struct requests *r)
{
	const struct spans *spans = &r->spans;
	uint32_t best = SPAN_NONE;

	for (uint32_t i = 0; i < spans->n; i++) {
		const struct span *span = &spans->items[i];

		if (is_open(r, span) && !(span->mark & BELOW_OPEN) &&
				(best == SPAN_NONE ||
						span->start_ns > spans->items[best].start_ns)) {
			best = i;
		}
	}
	return best;
}

static enum request_why why_of(const struct fragment *f, const struct request *request)
{
	if (f->died) {
		return REQUEST_DIED;
	}
	if (request->state == REQUEST_TIMEOUT && !request->tainted) {
		return REQUEST_NO_END;
	}
	if (request->state != REQUEST_COMPLETE) {
		return REQUEST_SOUND; /* nobody knows how it would have ended */
	}
	return f->n_failed > 0                          ? REQUEST_ERROR
	       : f->n_unclosed > 0 && !request->tainted ? REQUEST_NO_END
							: REQUEST_SOUND;
}

/* Such requests are many where files are looked for; a second's first ones have to do. */
static bool may_look_at_calls(struct requests *r, uint64_t now_ns)
{
	uint64_t second = now_ns / UINT64_C(1000000000);

	if (second != r->calls_second) {
		r->calls_second = second;
		r->n_calls = 0;
	}
	return ++r->n_calls <= CALLS_PER_S;
}

uint32_t failure_place(struct requests *r, enum request_why *why)
{
	const struct spans *spans = &r->spans;
	uint32_t at, call;

	mark_below(r);
	at = first_error(spans);
	if (at != SPAN_NONE) {
		*why = REQUEST_ERROR;
	} else if (*why == REQUEST_NO_END || *why == REQUEST_DIED) {
		return last_open(r);
	}
	call = call_within(spans, at == SPAN_NONE ? spans->root : at, at == SPAN_NONE);
	if (at == SPAN_NONE) {
		*why = call == SPAN_NONE ? REQUEST_SOUND : REQUEST_CALL;
	}
	return call == SPAN_NONE ? at : call;
}

void failure_find(struct requests *r, const struct fragment *f, struct request *request)
{
	struct request_failure *out = &request->failure;
	enum request_why why = why_of(f, request);
	const struct event_copy *told, *copy;
	const struct span *span;
	uint32_t at;

	*out = (struct request_failure){.why = REQUEST_SOUND};
	if (why == REQUEST_SOUND ||
			(f->n_failed == f->n_failed_calls && why == REQUEST_ERROR &&
					!may_look_at_calls(r, request->end_ns)) ||
			!measuring_build(r, request)) {
		return;
	}
	measuring_name(r, request);
	at = failure_place(r, &why);
	out->why = (uint8_t)why;
	if (at == SPAN_NONE) {
		return;
	}
	span = &r->spans.items[at];
	told = failure_of_span(span);
	copy = span->entry ? span->entry : span->exit;
	out->context = span->context;
	out->host = (uint16_t)span->host;
	out->process = requests_process(r, span->host, span->tid, copy ? copy->pid : -1);
	out->told = told ? intern_told(r, failure_text(r, told)) : 0;
	if (why == REQUEST_CALL) {
		add_more(&r->spans, out);
	}
}
