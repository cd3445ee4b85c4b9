/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The LTTng-UST provider of a service, made from points.def.
 *
 * One header serves all providers: PT_PROVIDER names the one to make (api, sched, ...) and
 * PT_TABLE_<provider> its section of the table; both come from the build. LTTng reads this file
 * several times with other definitions of its macros, hence the unusual guard.
 *
 * A KIND is a pair of event classes: what is recorded at entry, and what at exit. A single point
 * records what the entry of its kind records.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER PT_PROVIDER

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tp.h"

#if !defined(TESTBED_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TESTBED_TP_H

#include <lttng/tracepoint.h>

#include "span.h"

#ifdef PT_TABLE_compute
#include "process.h"
#define PT_COMMON_FIELDS lttng_ust_field_string(host, process_name())
#else
#define PT_COMMON_FIELDS
#endif

#define PT_CLASS(name, fields)                                                                     \
	LTTNG_UST_TRACEPOINT_EVENT_CLASS(PT_PROVIDER, name,                                        \
			LTTNG_UST_TP_ARGS(const struct span *, span),                              \
			LTTNG_UST_TP_FIELDS(PT_COMMON_FIELDS fields))

#define F_REQUEST    lttng_ust_field_integer(uint64_t, request_id, span->request_id)
#define F_MESSAGE    lttng_ust_field_integer(uint64_t, msg_id, span->msg_id)
#define F_STATUS     lttng_ust_field_integer(int32_t, status, span->status)
#define F_QUEUE      lttng_ust_field_integer(uint32_t, queue_len, span->queue_len)
#define F_SIZE       lttng_ust_field_integer(uint64_t, size_bytes, span->size_bytes)
#define F_KEY        lttng_ust_field_integer(uint64_t, cache_key, span->key)
#define F_HIT        lttng_ust_field_integer(uint8_t, cache_hit, span->cache_hit)
#define F_OBJECT     lttng_ust_field_integer(uint64_t, object, span->key)
#define F_COUNT      lttng_ust_field_integer(uint32_t, count, span->count)
#define F_TEXT(name) lttng_ust_field_string(name, span->text)

PT_CLASS(plain_entry, )
PT_CLASS(plain_exit, )
PT_CLASS(request_entry, F_REQUEST)
PT_CLASS(request_exit, F_REQUEST F_STATUS)
PT_CLASS(call_entry, F_REQUEST F_MESSAGE F_TEXT(peer))
PT_CLASS(call_exit, F_REQUEST F_MESSAGE F_STATUS)
PT_CLASS(serve_entry, F_REQUEST F_MESSAGE F_QUEUE)
PT_CLASS(serve_exit, F_REQUEST F_MESSAGE F_STATUS)
PT_CLASS(queue_entry, F_QUEUE)
PT_CLASS(queue_exit, F_QUEUE)
PT_CLASS(size_entry, F_SIZE)
PT_CLASS(size_exit, F_SIZE)
PT_CLASS(cache_entry, F_KEY)
PT_CLASS(cache_exit, F_KEY F_HIT)
PT_CLASS(image_entry, F_TEXT(image))
PT_CLASS(image_exit, F_TEXT(image) F_SIZE F_HIT)
PT_CLASS(object_entry, F_OBJECT)
PT_CLASS(object_exit, F_OBJECT F_STATUS)
PT_CLASS(count_entry, F_COUNT)
PT_CLASS(count_exit, F_COUNT)
PT_CLASS(device_entry, F_TEXT(device))
PT_CLASS(device_exit, F_STATUS)
PT_CLASS(chosen_entry, F_COUNT)
PT_CLASS(chosen_exit, F_TEXT(chosen_host))
PT_CLASS(host_entry, F_TEXT(chosen_host))

#undef PT_CLASS
#undef PT_COMMON_FIELDS

#define PT_INSTANCE(provider, name, kind)                                                          \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(provider, kind, provider, name,                        \
			LTTNG_UST_TP_ARGS(const struct span *, span))
#define PT_PAIR(provider, name, kind)                                                              \
	PT_INSTANCE(provider, name##_entry, kind##_entry)                                          \
	PT_INSTANCE(provider, name##_exit, kind##_exit)
#define PT_POINT(provider, name, kind) PT_INSTANCE(provider, name, kind##_entry)
#include "points.def"
#undef PT_PAIR
#undef PT_POINT
#undef PT_INSTANCE

#endif /* TESTBED_TP_H */

#include <lttng/tracepoint-event.h>
