/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_POINTS_H
#define TESTBED_POINTS_H

/*
 * What SPAN() and POINT() call for the points of this target's provider: trace, and give the fault
 * injector its chance. An injected delay of a pair falls between its entry and its exit, so the
 * point encloses its own fault; nothing that is traced tells that it was injected.
 */
#include "injection.h"
#include "rpc.h"
#include "tp.h"
#include "work.h"

#define PT_PAIR(provider, name, kind)                                                              \
	static inline struct span provider##_##name##_enter(struct span span)                      \
	{                                                                                          \
		lttng_ust_tracepoint(provider, name##_entry, &span);                               \
		injection_begin(POINT_##provider##_##name);                                        \
		return span;                                                                       \
	}                                                                                          \
	static inline void provider##_##name##_leave(struct span *span)                            \
	{                                                                                          \
		injection_end(POINT_##provider##_##name, span->size_bytes);                        \
		span->status = injection_status(POINT_##provider##_##name, span->status);          \
		lttng_ust_tracepoint(provider, name##_exit, span);                                 \
	}
#define PT_POINT(provider, name, kind)                                                             \
	static inline void provider##_##name##_hit(struct span *span)                              \
	{                                                                                          \
		lttng_ust_tracepoint(provider, name, span);                                        \
		injection_begin(POINT_##provider##_##name);                                        \
	}
#include "points.def"
#undef PT_PAIR
#undef PT_POINT

/*
 * int PROVIDER_call_CALLEE_METHOD(peer, request_id, message): calls the method, within its span.
 * void PROVIDER_serve_METHOD(message, handler): has it handled, within its span.
 * Both ends carry the request's number and the message's own, so that a reader can join them.
 */
#define PT_PAIR(provider, name, kind)
#define PT_POINT(provider, name, kind)
#define PT_CALL(provider, callee, name)                                                            \
	static inline int provider##_call_##callee##_##name(                                       \
			const char *peer, uint64_t request_id, struct message *message)            \
	{                                                                                          \
		uint64_t msg_id = rpc_next_message();                                              \
		int status = 0;                                                                    \
                                                                                                   \
		SPAN_AS(span, provider, call_##callee##_##name, .request_id = request_id,          \
				.msg_id = msg_id, .text = peer) {                                  \
			message->method = METHOD_##callee##_##name;                                \
			message->request_id = request_id;                                          \
			message->msg_id = msg_id;                                                  \
			span.status = status = rpc_exchange(peer, message);                        \
		}                                                                                  \
		return status;                                                                     \
	}
#define PT_SERVE(provider, name)                                                                   \
	static inline void provider##_serve_##name(                                                \
			struct message *message, void (*handler)(struct message *))                \
	{                                                                                          \
		SPAN_AS(span, provider, serve_##name, .request_id = message->request_id,           \
				.msg_id = message->msg_id, .queue_len = message->queue_len) {      \
			handler(message);                                                          \
			rpc_take_error(message);                                                   \
			span.status = message->status;                                             \
		}                                                                                  \
	}
#include "points.def"
#undef PT_PAIR
#undef PT_POINT
#undef PT_CALL
#undef PT_SERVE

/* The usual leaves of a call tree, one line each. (The kind of the point must fit: see tp.h.) */
#define SPAN_CPU(provider, point, kib)                                                             \
	SPAN(provider, point) {                                                                    \
		work_cpu(kib);                                                                     \
	}
#define SPAN_DEVICE(provider, point, device, mean_us)                                              \
	SPAN(provider, point, .text = device) {                                                    \
		work_device(mean_us);                                                              \
	}
#define SPAN_LOCK(provider, point, lock)                                                           \
	SPAN(provider, point, .queue_len = lock_waiting(lock)) {                                   \
		lock_take(lock);                                                                   \
		injection_hold(POINT_##provider##_##point);                                        \
	}
#define SPAN_WRITE(provider, point, journal, bytes)                                                \
	SPAN(provider, point, .size_bytes = bytes) {                                               \
		journal_write(journal, bytes);                                                     \
	}
#define SPAN_SYNC(provider, point, journal)                                                        \
	SPAN(provider, point) {                                                                    \
		journal_sync(journal);                                                             \
	}
/* Looks key up in the cache, into the bool hit. */
#define SPAN_LOOKUP(provider, point, cache, what, hit)                                             \
	SPAN_AS(lookup_##point, provider, point, .key = what) {                                    \
		lookup_##point.cache_hit = hit = injection_lookup(                                 \
				POINT_##provider##_##point, cache_has(cache, what));               \
	}

#endif
