/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_PLAN_H
#define PT_REQUESTS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "pythiatop/event.h"
#include "pythiatop/schema.h"
#include "requests/key.h"

/*
 * What to do with the events of one type: a schema's words, resolved once to field numbers and
 * interned names, so that no event costs a look at a string of the schema.
 */
#define PLAN_MAX_NAMESPACES 32
#define PLAN_MAX_BINDS      8
#define PLAN_MAX_KEYS       4
#define PLAN_MAX_FAILS      8
#define PLAN_NO_FIELD       UINT16_MAX

enum namespace_kind {
	NS_REQUEST = 0, /* names a request: seeds open it */
	NS_MESSAGE,     /* hands work from one thread to another */
	NS_EXECUTION,   /* where work runs: thread or CPU */
};

struct plan_namespace {
	const char *name;
	enum namespace_kind kind;
	bool global, join;
	uint64_t ttl_ns;
	const char *execution_key; /* of NS_EXECUTION: what the values are, "$tid" or "$cpu" */
	bool hold;            /* of messages: see struct schema_namespace */
};

enum key_kind {
	KEY_FIELD_NUMBER,
	KEY_FIELD_BYTES,
	KEY_TID,
	KEY_PID,
	KEY_CPU,
};

struct plan_key {
	uint8_t kind; /* enum key_kind */
	uint16_t field;
};

struct plan_bind {
	uint8_t ns, op, n_keys;
	uint8_t kind; /* enum namespace_kind */
	bool global;
	struct plan_key keys[PLAN_MAX_KEYS];
};

/* How the value of a field is shown in a name. */
enum plan_reading {
	READ_VALUE = 0,
	READ_SYMBOL,  /* an address: the function there */
	READ_SOFTIRQ, /* a softirq's number: its name */
	READ_DISK,    /* a device's number: its name, "8:0" where nothing told it */
	READ_RWBS,    /* what a disk request does: "read", "write", "discard", "flush" */
};

/* A piece of a name: literal text, or the value of a field. */
struct plan_piece {
	const char *text;
	uint32_t length;
	uint16_t field; /* PLAN_NO_FIELD: literal */
	enum plan_reading reading;
};

struct plan_text {
	uint32_t n;
	struct plan_piece *pieces; /* from the model's arena */
	uint32_t fixed;            /* interned, where no piece is a field; else 0 */
	bool symbolic;             /* some piece is a symbol */
	/* The last numbers seen and their names, where one number is all that varies. */
	struct plan_text_memo *memo;
};

#define PLAN_MEMO_SLOTS 256
struct plan_text_memo {
	struct {
		uint64_t value;
		uint32_t name; /* 0: empty */
	} slots[PLAN_MEMO_SLOTS];
};

/* A condition on a field. */
struct plan_fail {
	uint16_t field;
	uint8_t op;       /* enum fail_op */
	double number;    /* compared with: of fields that are numbers; */
	const char *text; /* of texts */
};

struct plan {
	uint8_t role; /* enum span_role */
	bool seed, skeleton, keyed;
	bool any_exit;         /* an exit whose name is a glob over names of open spans */
	bool about_tracer;     /* belongs to no request */
	uint32_t provider;     /* interned */
	uint32_t pair_name;    /* interned: what entry and exit share */
	struct plan_text name; /* of the span */
	struct plan_text type; /* of the request it begins */
	uint32_t n_pair, n_bind;
	struct plan_key pair[PLAN_MAX_KEYS];
	struct plan_bind bind[PLAN_MAX_BINDS]; /* requests first, messages, then execution contexts */
	uint8_t n_fails;
	struct plan_fail fails[PLAN_MAX_FAILS]; /* any of them: the span failed; see fails.h */
	bool fails_usually;                     /* where half of them do, it is no failure */
	bool calls;                             /* the exit of a system call: it tells an errno */
	uint16_t vtid, vpid, pid_ns, procname;  /* context fields */
	bool vtid_is_host; /* the kernel's `tid`: always of the host's own pid namespace */
	/* sched_switch */
	bool switches;
	uint16_t prev_tid;
	const struct schema_event *source; /* NULL: not in any schema */
	const char *glob;                  /* of any_exit */
};

#endif
