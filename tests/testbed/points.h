/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_POINTS_H
#define TESTBED_POINTS_H

/*
 * What SPAN() and POINT() call for the points of this target's provider: trace, and give the fault
 * injector its chance. An injected delay of a pair falls between its entry and its exit, so the
 * point encloses its own fault; nothing that is traced tells that it was injected.
 */
#include "fault.h"
#include "tp.h"
#include "work.h"

#define PT_PAIR(provider, name, kind)                                                              \
	static inline struct span provider##_##name##_enter(struct span span)                      \
	{                                                                                          \
		lttng_ust_tracepoint(provider, name##_entry, &span);                               \
		fault_delay(POINT_##provider##_##name);                                            \
		return span;                                                                       \
	}                                                                                          \
	static inline void provider##_##name##_leave(struct span *span)                            \
	{                                                                                          \
		lttng_ust_tracepoint(provider, name##_exit, span);                                 \
	}
#define PT_POINT(provider, name, kind)                                                             \
	static inline void provider##_##name##_hit(struct span *span)                              \
	{                                                                                          \
		lttng_ust_tracepoint(provider, name, span);                                        \
		fault_delay(POINT_##provider##_##name);                                            \
	}
#include "points.def"
#undef PT_PAIR
#undef PT_POINT

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
		lookup_##point.cache_hit = hit = cache_has(cache, what);                           \
	}

#endif
