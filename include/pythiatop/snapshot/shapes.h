/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_SHAPES_H
#define PYTHIATOP_SNAPSHOT_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Shapes: requests of a type that did the same, or nearly; and those that did what was not to be
 * expected of their type. analysis/behaviour/ has how they are told.
 */
enum shape_demand {
	DEMAND_DURATION, /* ns */
	DEMAND_CPU,      /* ns */
	DEMAND_WAIT,     /* ns */
	DEMAND_BYTES,
	DEMAND_COUNT
};

/* Of a sample of the whole run, whatever the horizon. */
struct shape_quantiles {
	bool known;
	double p50, p90, p99;
};

struct shape_row {
	const char *type;
	uint32_t type_index;                 /* `index` of its struct shapes_type */
	uint32_t group_id;                   /* of `request` */
	uint32_t number;                     /* within its type, from 1: the most frequent first */
	uint64_t count, of;                  /* of the requests of its type that were looked at */
	double share, share_low, share_high; /* 95 % interval */
	const char *differs; /* from the first of its type: "+ retry"; "" of the first, and of one
				that nothing sets apart that is recorded */
	uint64_t request;    /* a kept one that did just this; 0: none is kept */
	uint32_t steps, variants; /* of the most frequent string; strings it is made of */
	double mean_ns;
	struct shape_quantiles demands[DEMAND_COUNT];
	bool measured;                 /* below is known */
	double cpu_ns, wait_ns, bytes; /* means; wait: for locks, disks, networks; bytes: of both */
};

struct improbable_row {
	const char *type;
	uint32_t group_id;
	uint64_t request;   /* the kept one of these; 0: none is kept */
	uint64_t count;     /* that did just this */
	double probability; /* of what it did, by the automaton of its type */
	double surprise;    /* the same in bits: -log2; where it is too small for a number, too */
	double tail;   /* share of the type's requests that did what is as improbable, or more so */
	uint32_t step; /* at which it left the road, from 1 */
	const char *at;       /* what it did there; "(end)", "(no end)" */
	const char *expected; /* what was most probable there */
	double at_probability, expected_probability;
};

/* What a type's shapes were told of. */
struct shapes_type {
	const char *type;
	uint32_t index; /* that its shapes name */
	uint64_t requests, looked_at; /* of the horizon; others are counted in neither */
	/* When they began, over the whole run. */
	uint64_t seconds;  /* whole ones */
	double rate_per_s; /* valid if there are any */
	double dispersion; /* variance of the numbers a second by their mean; below 0: not known */
	uint32_t states;              /* of the automaton */
	uint32_t coarseness; /* 0: whole strings; above: deep steps are left out, then the order */
	bool cut;            /* the longest were not looked at to their end */
};

struct shapes_view {
	uint32_t n, n_improbable, n_types;
	const struct shape_row *rows;            /* by type, most frequent first */
	const struct improbable_row *improbable; /* the least probable first */
	const struct shapes_type *types;
};

#endif
