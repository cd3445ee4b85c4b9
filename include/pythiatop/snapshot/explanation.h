/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_EXPLANATION_H
#define PYTHIATOP_SNAPSHOT_EXPLANATION_H

#include <stdbool.h>
#include <stdint.h>

#define EXPLANATION_BINS   24u /* of a value's latencies, even steps of log time */
#define EXPLANATION_KEYS   16u /* shown, the strongest first */
#define EXPLANATION_VALUES 12u /* shown of the first key; numbers of more values as ranges */

/* What a key is made of. */
enum explanation_source {
	EXPLANATION_FIELD = 0, /* of an event in the request */
	EXPLANATION_HOST,      /* where a span ran */
	EXPLANATION_COUNT,     /* how often a span ran in the request */
	EXPLANATION_RESOURCE,  /* CPU, run queue, disk, network: from kernel events */
};

/* One value of a key, or a range of values, and how long requests with it took. */
struct explained_value {
	const char *text; /* "2", "3 to 5", "compute-2"; "(none)" where a request lacks the key */
	uint64_t count;
	double share; /* of the requests; 0..1 */
	double mean_ns;
	uint64_t p50_ns;
	uint32_t bins[EXPLANATION_BINS]; /* requests by latency */
};

/* A key, and how much of the variance between requests goes with its values. */
struct explained_key {
	const char *name;  /* "sem_acquire.queue_len", "host of build", "count of db_query" */
	const char *where; /* calling context of its span; "" if it has none */
	enum explanation_source source;
	bool numeric;
	double rho;          /* Spearman's, with the duration; numeric keys only, else 0 */
	double omega2;       /* share of Var(T) that goes with its values, explored half; 0..1 */
	double omega2_held;  /* the same, of the half that was held out: what can be believed */
	double p;            /* adjusted for all keys; "at most": never below 1 / (shifts + 1) */
	uint32_t shifts;     /* circular shifts that p is from */
	bool confirmed;      /* it holds in the half held out, too */
	uint32_t n_together; /* keys that go with it so closely that none can be told from it */
	const char *const *together;
};

struct explained_out {
	const char *name;
	const char *why; /* "grows with time", "says which request it is", "derived from time" */
};

enum explanation_state {
	EXPLANATION_NONE = 0, /* nobody has asked */
	EXPLANATION_FEW,      /* too few requests, or no key that varies */
	EXPLANATION_RUNNING,
	EXPLANATION_DONE,
};

/*
 * Which key-values explain how long the requests of a group take.
 * (Hotelling 1936; Westfall & Young 1993; analysis/explain/explain.h has the formulas.)
 */
struct explanation {
	enum explanation_state state;
	double progress;    /* while running: 0..1 */
	bool again;         /* done, and soon made once more, of requests nearer to the verdict */
	uint32_t missing;   /* EXPLANATION_FEW: requests missing until then; 0: no key varies */
	uint32_t n, n_held; /* requests of either half */
	uint64_t made_ns;   /* event time of the last request in it */
	uint32_t n_keys;    /* strongest first */
	const struct explained_key *keys;
	uint32_t n_values; /* of the first key: numbers ascending, categories by mean */
	const struct explained_value *values;
	uint64_t low_ns, high_ns; /* of the bins */
	/* All keys together against the duration: multiple correlation. */
	uint32_t n_columns; /* independent ones, at most n / 10 */
	double r2, f, f_p;
	/* All keys together against the segments of the critical path: canonical correlation. */
	uint32_t n_segments; /* 0: not made */
	double canonical;    /* the first one, 0..1 */
	double wilks, chi2, chi2_p;
	uint32_t df;
	uint32_t n_out; /* keys that were left out */
	const struct explained_out *out;
};

#endif
