/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_PAIRING_H
#define PT_REQUESTS_PAIRING_H

#include "requests/fragments.h"

/* Spans that are open, on their threads or by a key, and the exits that end them. */

/* `key` NULL pairs by nesting on the thread, else by that key. */
struct open_span *span_push(struct requests *r, const struct plan *plan, const struct event *event,
		struct thread *thread, struct fragment *f, uint32_t name, const struct key *key);
/* The entry that this exit ends, NULL if it was not seen. `f` NULL: of whatever fragment. */
struct open_span *span_find(struct requests *r, const struct plan *plan, struct thread *thread,
		const struct fragment *f, uint32_t name, const struct key *key);
/* Ends it; spans above it that belong with it were never closed, others overlap with it. */
void span_pop(struct requests *r, struct open_span *span);
void span_remove(struct requests *r, struct open_span *span);
/* It belongs to no request any more; its exit is still known for what it is. */
void span_orphan(struct requests *r, struct open_span *span);
/* As span_pop(), of one whose exit was not seen. */
void span_give_up(struct requests *r, struct open_span *span);
/*
 * cut_short.c: A thread that enters a system call has left the one before, whose exit was not seen:
 * lost, or cut off by the end of a recording that begins anew. A request that this call was is
 * truncated; else everything that the thread does would be taken for a part of it.
 */
void span_end_lost_call(struct requests *r, const struct event *event, struct thread *thread);
/* The innermost open span of a fragment on a thread; NULL: none. */
struct open_span *span_enclosing(const struct thread *thread, const struct fragment *f);

#endif
