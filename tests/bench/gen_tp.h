/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tracepoints of gen_ust. No #pragma once: LTTng reads this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER gen

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "gen_tp.h"

#if !defined(GEN_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define GEN_TP_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(gen, request_entry,
		LTTNG_UST_TP_ARGS(uint64_t, request_id, uint32_t, kind),
		LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, request_id, request_id)
						lttng_ust_field_integer(uint32_t, kind, kind)))

LTTNG_UST_TRACEPOINT_EVENT(gen, point, LTTNG_UST_TP_ARGS(uint64_t, request_id, uint32_t, length),
		LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, request_id, request_id)
						lttng_ust_field_integer(uint32_t, length, length)))

LTTNG_UST_TRACEPOINT_EVENT(gen, request_exit,
		LTTNG_UST_TP_ARGS(uint64_t, request_id, int32_t, status),
		LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, request_id, request_id)
						lttng_ust_field_integer(int32_t, status, status)))

#endif

#include <lttng/tracepoint-event.h>
