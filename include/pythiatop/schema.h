/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SCHEMA_H
#define PYTHIATOP_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What events mean: which start a request, which belong together, which enclose a span of work.
 * (Barham et al., "Using Magpie for request extraction and workload modelling", OSDI 2004.)
 *
 * Plain values: a schema is written by the YAML reader (src/config) or by inference
 * (analysis/requests), compiled by the engine, and printed by --show-schema. Whoever made it frees
 * it with schema_free() of the maker.
 *
 * Keys of bindings and pairs name fields of the event:
 *   NAME        payload field (or, failing that, context field)
 *   $ctx.NAME   context field
 *   $tid        the thread: context vtid, else context tid, else the CPU's current thread
 *   $pid        the process, likewise
 *   $cpu        the CPU the event was recorded on
 */

enum schema_scope {
	SCHEMA_HOST = 0, /* the same value on two hosts is two things */
	SCHEMA_GLOBAL,   /* the same value on two hosts is the same thing */
};

enum bind_op {
	BIND_BASIC = 0, /* joins the open interval of this value */
	BIND_START,  /* opens one; an open one is closed first, and counted as an implicit stop */
	BIND_STOP,   /* joins and closes */
	BIND_SWITCH, /* stop + start */
	BIND_ENTER,  /* opens one unless it is open, else joins: nested entries of a span */
	BIND_LEAVE,  /* joins; closes if this exit pairs with the entry that opened it */
};

enum span_role {
	SPAN_POINT = 0,
	SPAN_ENTRY,
	SPAN_EXIT,
};

struct schema_namespace {
	const char *name;
	enum schema_scope scope;
	uint64_t ttl_ns;
	bool join; /* false: binds for accounting only, never makes events belong together */
	bool hold; /* a request that has sent such a message waits for who receives it */
};

struct schema_bind {
	const char *ns;
	enum bind_op op;
	uint32_t n_keys;
	const char *const *keys;
};

enum extract_as {
	EXTRACT_TEXT = 0,
	EXTRACT_INTEGER, /* decimal, of 64 bits, signed */
	EXTRACT_REAL,
};

#define EXTRACT_MAX        4    /* of an event */
#define EXTRACT_MAX_FIELDS 16   /* of an event */
#define EXTRACT_MAX_TEXT   4096 /* bytes of a text that are looked at */

/*
 * Fields out of a text of the event. An event that extracts is meant only where all its expressions
 * match and all its numbers are numbers; of several with equally specific globs, the first one that
 * does, and one that extracts nothing last.
 */
struct schema_extract {
	const char *from;  /* the field that has the text */
	const char *match; /* POSIX extended regular expression, see base/expression.h */
	uint32_t n_fields; /* as many as groups in parentheses, and in their order */
	const char *const *fields;
	uint32_t n_as; /* at most n_fields; text from there on */
	const enum extract_as *as;
};

struct schema_event {
	const char *match; /* glob over the event's name; the more specific one wins */
	uint32_t n_extract;
	const struct schema_extract *extract;
	enum span_role role;
	const char *name; /* of the span; NULL: derived. "{field}" is replaced by its value */
	bool seed;        /* makes a fragment a request */
	uint32_t n_type;
	const char *const *type; /* fields whose values form the request type; none: span name */
	uint32_t n_pair;
	const char *const *pair; /* keys that pair entry and exit; none: nesting on the thread */
	uint32_t n_values;
	const char *const *values; /* fields kept for explanation; none given: all scalars */
	/*
	 * When an exit, or a point, tells that its span failed: "FIELD", which is then neither 0
	 * nor an empty text, or "FIELD OP VALUE" with < <= > >= == !=; any of them. "never": it
	 * never does. None given: `ret`, `error` or `status` is negative (integers of exits).
	 */
	uint32_t n_fails;
	const char *const *fails;
	uint32_t n_bind;
	const struct schema_bind *bind;
	uint32_t line; /* where it stands in its file; 0: inferred */
};

struct schema_expect {
	const char *type;
	uint64_t p50_ns; /* 0: no objective */
	uint32_t n_group_by;
	const char *const *group_by;
};

struct schema {
	const char *origin;     /* file name, or "inferred" */
	const char *applies_to; /* glob over event names; NULL: all */
	const char *when; /* of a ready one, see engine_offer_schema(): a glob; NULL: only if given
			   */
	uint32_t n_namespaces, n_events, n_skeleton, n_expect;
	const struct schema_namespace *namespaces;
	const struct schema_event *events;
	const char *const *skeleton; /* globs; only these events start, stop or unite */
	const struct schema_expect *expect;
	uint32_t n_notes;
	const char *const
			*notes; /* what inference guessed, or could not pair; printed as comments */
};

#endif
