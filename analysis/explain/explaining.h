/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_EXPLAIN_EXPLAINING_H
#define PT_EXPLAIN_EXPLAINING_H

#include "base/arena.h"
#include "explain/explain.h"
#include "explain/levels.h"
#include "stats/canonical.h"
#include "stats/shift_test.h"

/*
 * An explanation in the making: what the files of this folder share.
 *
 *   explain.c   what is done when, in slices
 *   rho.c       whether a number goes with what all rows have
 *   derived.c   keys that cannot explain anything
 *   levels.c    the values of a key as few levels
 *   order.c     which key comes first, and which go together
 *   joint.c     all keys together
 *   values.c    how long requests with each value took
 *   broad.c     whether a value makes many places slow
 *   explain_snapshot.c  into snapshots
 */
#define NOT_TOGETHER UINT32_MAX

struct key {
	const char *name, *where; /* in the arena, as all texts */
	enum explanation_source source;
	bool numeric;
	bool done;   /* as in struct explain_key */
	double told; /* as in struct explain_key */
	double *values;
	double *scores; /* of a number: ranks, centred, of length 1; 0 where it has no value */
	bool missing;   /* some rows have no value */
	uint32_t n_texts;
	const char *const *texts;

	const char *why_out;  /* NULL: it is tested */
	struct levels levels; /* what is tested: cut without a look at durations */
	enum levels_by by;    /* of a number: the ranges that its effect is told by */
	double rho, omega2, omega2_held, p;
	uint32_t shifts;
	bool confirmed;
	uint32_t stands_for; /* the key that it goes with; NOT_TOGETHER: itself */
	bool told_by_others; /* jointly: left out of the columns */
};

/* A series, and its ranks, centred, of length 1. */
struct ranked {
	double *values, *scores;
};

struct value {
	const char *text;
	uint64_t count, p50_ns;
	double mean_ns;
	uint32_t bins[EXPLANATION_BINS];
};

enum phase {
	PHASE_KEYS, /* one after the other: left out, or its levels and effect */
	PHASE_SHIFTS,
	PHASE_ORDER, /* one after the other */
	PHASE_CONFIRM,
	PHASE_VALUES,
	PHASE_COLUMNS, /* of the keys, one after the other */
	PHASE_SEGMENTS,
	PHASE_CANONICAL,
	PHASE_DONE,
};

struct explain {
	struct arena arena;
	struct arena rows; /* what is by row: let go of when it is done */
	uint32_t n, half;  /* rows; the first `half` are explored, the others held out */
	double *durations, *log_durations;
	struct ranked durations_ranked, starts, positions;
	uint32_t n_keys;
	struct key *keys;
	uint32_t n_segments;
	double **segments;

	enum phase phase;
	uint32_t at; /* of the phase */
	bool failed; /* out of memory: nothing is said */

	uint32_t n_tested;
	uint32_t *tested; /* keys, by the place they have in the test */
	uint32_t n_added; /* of them, to the test */
	struct shift_test *test;

	uint32_t n_ordered;
	uint32_t *ordered; /* tested keys that stand for themselves, strongest first */
	uint32_t confirming;

	uint32_t n_values;
	struct value values[EXPLANATION_VALUES];
	double low_ns, high_ns;
	struct explain_broad broad;

	struct basis x, y;
	uint32_t n_correlated; /* segments, of those the columns of y */
	struct multiple multiple;
	struct canonical canonical;
};

/* rho.c: Spearman's rho of a number with what all rows have. False if out of memory. */
bool key_rho(const struct explain *explain, const struct key *key, const struct ranked *with,
		double *rho);

/* derived.c: why a key is left out, NULL: it is not. False if out of memory. */
bool derived_judge(const struct explain *explain, const struct key *key, const char **why);
/* By its name alone. */
const char *derived_by_name(const struct key *key);
/* A time spent waiting for a resource: a part of the duration, so that it always goes with it. */
bool key_is_part(const struct key *key);

/* order.c: the strongest first; then places the i-th among them, or with one before it. */
void order_keys(struct explain *explain);
void order_place(struct explain *explain, uint32_t i);

/* joint.c: each adds the columns of one; false if out of memory. */
bool joint_begin(struct explain *explain);
bool joint_add_key(struct explain *explain, uint32_t key);
bool joint_add_segment(struct explain *explain, uint32_t segment);

/* broad.c: of a category whose levels are made. False if out of memory. */
bool broad_find(struct explain *explain, const struct key *key);

/* values.c: of the first key. False if out of memory. */
bool values_make(struct explain *explain);

#endif
