/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_SPAN_H
#define TESTBED_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The values a point can record. Which of them an event carries is the business of its kind
 * (tp.h); what is set before a span ends is recorded by its exit.
 *
 * Threads: each value lives on the stack of the thread that traces it.
 */
struct span {
	uint64_t request_id;
	uint64_t msg_id;
	uint64_t key; /* of a cache, or number of an object */
	uint64_t size_bytes;
	const char *text;   /* image, peer, device or chosen host: see the kind; never NULL there */
	uint32_t queue_len; /* who waits before us, at the moment of asking */
	uint32_t count;     /* rows, hosts, rules */
	int32_t status;     /* 0: ok */
	bool cache_hit;
	bool open; /* used by SPAN() only */
};

/*
 * SPAN(provider, point, .field = value...) { body }
 *
 * Traces provider:point_entry, runs the body, and traces provider:point_exit however the body is
 * left. SPAN_AS() gives the span a name, so that the body can set what the exit records.
 */
#define SPAN(provider, ...)         SPAN_UNIQUE(__COUNTER__, provider, __VA_ARGS__)
#define SPAN_UNIQUE(n, ...)         SPAN_UNIQUE_(n, __VA_ARGS__)
#define SPAN_UNIQUE_(n, ...)        SPAN_AS(span_##n, __VA_ARGS__)
#define SPAN_AS(var, provider, ...) SPAN_FOR(var, provider, __VA_ARGS__, .open = true)
#define SPAN_FOR(var, provider, point, ...)                                                        \
	for (struct span var __attribute__((cleanup(provider##_##point##_leave))) =                \
					provider##_##point##_enter((struct span){__VA_ARGS__});    \
			var.open; var.open = false)

/* POINT(provider, point, .field = value...): a single tracepoint, provider:point. */
#define POINT(provider, ...)           POINT_AT(provider, __VA_ARGS__, .open = true)
#define POINT_AT(provider, point, ...) provider##_##point##_hit(&(struct span){__VA_ARGS__})

#endif
