/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_FAILING_H
#define PT_PYTHIA_FAILING_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/pythia.h"
#include "pythiatop/snapshot/snapshot.h"
#include "verdict.h"

/* What began to fail: findings of their own, that need no search. failures.c alone writes them. */
#define FAILURES_MAX 256u

/* How many requests of a type failed when it was learned, of those that ended. */
struct usual_failures {
	uint32_t type;
	bool applies; /* it was learned before this run */
	uint64_t failed, ended;
};

/* A place where requests fail; and, from `found_ns` on, more often than before. */
struct failure {
	uint64_t key;
	uint32_t type, group_id;
	bool call;
	enum stop_rule rule; /* STOP_NONE: it is as always, STOP_FAILS, STOP_HEALTHY */
	double worst;        /* largest share of ten seconds, in what is over for long */
	uint64_t since_ns, found_ns, ended_ns, told_ns; /* told_ns: when its verdict was made */
	uint64_t failed, ended;               /* since then, of the last seconds at most; */
	uint64_t failed_before, ended_before; /* and before that, when it was found */
	bool by_norm;                         /* that is what was learned */
	bool settled;   /* it is a verdict: enough were seen to say what they have in common */
	uint32_t where; /* calling context, interned */
	struct kept_verdict kept;
	char *history[4];
	uint32_t n_history;
};

struct failing {
	struct failure *items; /* FAILURES_MAX, once there is any */
	uint32_t n;
	struct usual_failures *usual;
	uint32_t n_usual, usual_room;
};

void failures_usual(struct pythia *pythia, const struct usual_failures *usual);
/* NULL: nothing was learned. */
const struct usual_failures *failures_usual_of(const struct pythia *pythia, uint32_t type);
/* What is usual is taken from these rows, of types of which nothing was learned so far. */
void failures_learn(struct pythia *pythia, const struct groups_view *groups);
void failures_release(struct pythia *pythia);
/* Those of system calls alone, or the others; while they last, or not. */
enum status failures_fill(const struct pythia *pythia, bool call, enum stop_rule rule,
		struct snapshot *snapshot, struct steps_finding *out, uint32_t *n);
/* How many began or ended so far: a change is news. */
uint64_t failures_standing(const struct pythia *pythia);

#endif
