/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "requests/glob.h"
#include "requests/endless.h"
#include "requests/engine.h"
#include "requests/feed.h"
#include "requests/pairing.h"

/*
 * Where nothing names requests, the outermost span of a thread is one. But the outermost function
 * of a server is its main(), which calls its loop, which calls the handler: none of the first two
 * ends. So the root moves down, to the outermost span that repeats.
 *
 * It does when a span is entered whose enclosing spans are all open for ENDLESS_NS or longer, and
 * spans of its name were entered like this REPEATS times; but not from a root whose function has
 * ended before in this process, since that one repeats itself. What was open is emitted as
 * truncated. A first request that takes that long, and calls something again and again, is taken
 * for endless until it ends; the next one is whole.
 *
 * Or a person says which function is a request; then no root moves.
 *
 * Memory: ENDED_MAX names of roots with their processes; then it learns them anew.
 */
#define ENDLESS_NS UINT64_C(1000000000)
#define REPEATS    3u
#define ENDED_MAX  65536u

static uint64_t key_of(uint32_t name, const struct thread *thread)
{
	return (uint64_t)name << 32 | (uint32_t)(thread ? thread->pid : -1);
}

void endless_root_ended(struct requests *r, uint32_t name, const struct thread *thread)
{
	struct number_map *ended = &r->endless.ended;
	uint64_t key = key_of(name, thread);

	if (number_map_find(ended, key) != NUMBER_NONE) {
		return;
	}
	if (ended->n >= ENDED_MAX) {
		number_map_release(ended);
		*ended = (struct number_map){.n = 0};
	}
	number_map_set(ended, key, 1);
}

static bool by_thread_alone(const struct plan *plan)
{
	return plan->seed && plan->role == SPAN_ENTRY && plan->n_bind == 1 &&
	       plan->bind[0].kind == NS_EXECUTION;
}

static void note_endless(struct endless *endless, uint32_t name)
{
	for (uint32_t i = 0; i < endless->n; i++) {
		if (endless->names[i] == name) {
			return;
		}
	}
	if (endless->n < ENDLESS_NOTED) {
		endless->names[endless->n++] = name;
	}
}

/* Of many names the rarer ones give way. */
static bool repeats(struct fragment *f, uint32_t name)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < ENDLESS_PLACES; i++) {
		if (f->n_repeated[i] > 0 && f->repeated[i] == name) {
			return ++f->n_repeated[i] >= REPEATS;
		}
		at = f->n_repeated[i] < f->n_repeated[at] ? i : at;
	}
	f->repeated[at] = name;
	f->n_repeated[at] = 1;
	return false;
}

/* True: the request that the span would have been in has been emitted, so the span begins its own.
 */
bool endless_leave_root(struct requests *r, struct feed *feed)
{
	struct fragment *f = feed->target;
	const struct thread *thread = feed->thread;
	uint64_t now_ns = feed->event->ts_ns;

	if (r->named.function || !f->root_open || now_ns - f->start_ns < ENDLESS_NS ||
			!by_thread_alone(feed->plan) || !by_thread_alone(&r->plans[f->root_type]) ||
			!thread || !thread->top || thread->top->fragment != f || thread->mixed ||
			now_ns - thread->top->start_ns < ENDLESS_NS ||
			number_map_find(&r->endless.ended, key_of(f->root_name, thread)) !=
					NUMBER_NONE) {
		return false;
	}
	if (!repeats(f, feed->name)) {
		return false;
	}
	note_endless(&r->endless, f->root_name);
	while (f->spans) {
		span_orphan(r, f->spans);
	}
	fragment_finish(r, f, REQUEST_TRUNCATED);
	return true;
}

bool requests_set_request(struct requests *r, const char *program, const char *function)
{
	free(r->named.program);
	free(r->named.function);
	r->named = (struct named_request){.program = strdup(program), .function = strdup(function)};
	model_name_requests(r->model);
	return r->named.program && r->named.function;
}

bool endless_may_begin(struct requests *r, const struct feed *feed)
{
	const struct thread *thread = feed->thread;
	uint32_t program;

	if (!by_thread_alone(feed->plan)) {
		return true;
	}
	if (!glob_match(r->named.function, names_text(r->names, feed->name))) {
		return false;
	}
	program = thread ? requests_process(r, feed->stream->host, thread->tid, thread->pid) : 0;
	if (strcmp(r->named.program, "*") != 0 &&
			!glob_match(r->named.program,
					program ? names_text(r->names, program) : "")) {
		return false;
	}
	r->named.n++;
	return true;
}
