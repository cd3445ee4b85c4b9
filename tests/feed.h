/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_FEED_H
#define TESTS_FEED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythiatop/engine.h"

/*
 * Events by name and value, for tests of the analysis: declares types from a short text and feeds
 * events to an engine, checking after every event that the accounting balances.
 *
 *   uint32_t type = feed_type(&feed, "app:work_entry", "request_id:u vtid:c name:s");
 *   feed_event(&feed, type, ts_ns, cpu, (union feed_value[]){{.u = 7}, {.u = 100}, {.s = "x"}});
 *
 * Field kinds: u unsigned, i signed, x hexadecimal, d double, s string, e an enumeration (cold 0,
 * warm 1, hot 2 to 9), t a tree, c unsigned context, p string context.
 */
struct feed {
	struct engine *engine;
	uint32_t session, stream;
	uint32_t n_fields[512];
	bool is_string[512][16];
	uint64_t n_fed;
};

union feed_value {
	uint64_t u;
	int64_t i;
	double d;
	const char *s;
};

static const struct field_label feed_labels[] = {{"cold", 0, 0}, {"warm", 1, 1}, {"hot", 2, 9}};

/* The fields of a text, which is cut up and lends their names. Returns how many. */
static inline uint32_t feed_fields(char *text, struct field *fields)
{
	char *at, *save = NULL;
	uint32_t n = 0;

	for (at = strtok_r(text, " ", &save); at; at = strtok_r(NULL, " ", &save)) {
		struct field *field = &fields[n++];
		char kind = strchr(at, ':')[1];

		*strchr(at, ':') = '\0';
		memset(field, 0, sizeof(*field));
		field->name = at;
		field->kind = kind == 's' || kind == 'p'   ? FIELD_STRING
			      : kind == 'd'                ? FIELD_DOUBLE
			      : kind == 't'                ? FIELD_TREE
			      : kind == 'i' || kind == 'r' ? FIELD_INT
							   : FIELD_UINT;
		field->scope = kind == 'c' || kind == 'p' ? SCOPE_CONTEXT : SCOPE_PAYLOAD;
		field->base = kind == 'x' ? 16 : 10;
		field->width = kind == 'r' ? 8 : 0; /* a whole register */
		field->labels = kind == 'e' ? feed_labels : NULL;
		field->n_labels = kind == 'e' ? 3 : 0;
	}
	return n;
}

#define FEED_SLOTS (16 + 64)

/* Values as the slots of an event; returns their bytes. */
static inline uint32_t feed_slots(
		uint64_t *slots, uint32_t n, const bool *is_string, const union feed_value *values)
{
	uint32_t i, used = n * 8;

	for (i = 0; i < n; i++) {
		if (is_string[i]) {
			uint32_t length = (uint32_t)strlen(values[i].s);

			if (length >= 400) {
				abort();
			}
			memcpy((char *)slots + used, values[i].s, length + 1);
			slots[i] = (uint64_t)used << 32 | length;
			used += length + 1;
		} else {
			slots[i] = values[i].u;
		}
	}
	return used;
}

static inline void feed_start(struct feed *feed, const struct engine_config *config)
{
	memset(feed, 0, sizeof(*feed));
	feed->engine = engine_create(config);
	if (!feed->engine) {
		abort();
	}
	feed->session = engine_add_session(
			feed->engine, &(struct session_desc){.host = "alpha", .name = "test"});
	feed->stream = engine_add_stream(
			feed->engine, &(struct stream_desc){.session = feed->session,
						      .domain = DOMAIN_UST,
						      .channel = "channel0"});
}

static inline void feed_stop(struct feed *feed)
{
	engine_destroy(feed->engine);
}

/* Another stream, of another host if it is a new one. */
static inline uint32_t feed_stream(struct feed *feed, const char *host, const char *session)
{
	uint32_t id = engine_add_session(
			feed->engine, &(struct session_desc){.host = host, .name = session});

	return engine_add_stream(feed->engine, &(struct stream_desc){.session = id,
							       .domain = DOMAIN_UST,
							       .channel = "channel0"});
}

/* From now on events are those of the kernel of host alpha, in the same session. */
static inline void feed_as_kernel(struct feed *feed)
{
	feed->stream = engine_add_stream(
			feed->engine, &(struct stream_desc){.session = feed->session,
						      .domain = DOMAIN_KERNEL,
						      .channel = "kernel"});
}

static inline uint32_t feed_type(struct feed *feed, const char *name, const char *text)
{
	struct field fields[16];
	char copy[512];
	struct event_type type = {.name = name, .fields = fields};
	uint32_t id;

	snprintf(copy, sizeof(copy), "%s", text);
	type.n_fields = feed_fields(copy, fields);
	id = engine_add_type(feed->engine, &type);
	if (id >= 512) {
		abort();
	}
	feed->n_fields[id] = type.n_fields;
	for (uint32_t i = 0; i < type.n_fields; i++) {
		feed->is_string[id][i] = fields[i].kind == FIELD_STRING;
	}
	return id;
}

/* Aborts where an event is in no class, or in two. */
static inline struct accounting feed_accounting(struct feed *feed)
{
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.horizon = HORIZON_ALL};
	struct accounting a;

	if (!snapshot || engine_fill(feed->engine, &focus, snapshot) < 0) {
		abort();
	}
	a = snapshot->accounting;
	snapshot_destroy(snapshot);
	if (a.in != feed->n_fed || a.in != a.pending + a.in_request + a.state_only + a.unmatched +
								   a.late + a.dropped) {
		fprintf(stderr,
				"accounting: in %lu (fed %lu) != pending %lu + in_request %lu + "
				"state_only %lu + unmatched %lu + late %lu + dropped %lu\n",
				a.in, feed->n_fed, a.pending, a.in_request, a.state_only,
				a.unmatched, a.late, a.dropped);
		abort();
	}
	return a;
}

/* Not inlined: gcc 12 would warn of the paths it thinks a constant number of values could take. */
static __attribute__((noinline, unused)) void feed_raw(struct feed *feed, uint32_t stream,
		uint32_t type, uint64_t ts_ns, uint32_t cpu, const union feed_value *values)
{
	uint64_t slots[FEED_SLOTS];
	uint32_t used = feed_slots(slots, feed->n_fields[type], feed->is_string[type], values);

	engine_feed(feed->engine, &(struct event){.ts_ns = ts_ns,
						  .type = type,
						  .stream = stream,
						  .cpu = cpu,
						  .bytes = used,
						  .slots = slots});
	feed->n_fed++;
}

static inline void feed_event(struct feed *feed, uint32_t type, uint64_t ts_ns, uint32_t cpu,
		const union feed_value *values)
{
	feed_raw(feed, feed->stream, type, ts_ns, cpu, values);
	feed_accounting(feed);
}

#endif
