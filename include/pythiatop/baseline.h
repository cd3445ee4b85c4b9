/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_BASELINE_H
#define PYTHIATOP_BASELINE_H

#include <stdint.h>

/*
 * How the groups performed at a time that a person found right: saved, and compared with later.
 * A group is known by its type and its key, without one by its path as text, since numbers
 * differ from run to run.
 */
struct baseline_group {
	const char *type, *path;
	uint64_t count; /* requests */
	double mean_ns, sd_ns;
	int32_t histogram_low; /* as in struct group_view: 16 bins to the octave */
	uint32_t histogram_bins;
	const uint64_t *histogram;
	const uint32_t *counts; /* requests by bucket (struct baseline); NULL: not known */
	uint64_t key; /* of the path's contexts, by their names: the same in every run; 0: not known
		       */
};

/* What sampled requests that started in a bucket did in one calling context, in all its groups. */
struct baseline_bucket {
	uint32_t requests, spans;
	uint64_t self_ns, segment_ns;
};

/*
 * What requests of a type did in one calling context, over all groups of the type. `segment` is its
 * own part of the critical path, of complete requests alone, `self` the time of its spans without
 * the children on their thread. Means are over the `requests`; sd: between them.
 */
struct baseline_node {
	uint32_t parent; /* index of a node before it, of the same type; UINT32_MAX: the root */
	const char *name, *provider; /* as in struct tree_row */
	const char *process;         /* that its spans ran in; "": not known */
	uint64_t spans;
	uint64_t requests; /* that had one; of a part such as (wait): that the parent was in */
	double segment_ns, segment_sd_ns;
	double self_ns, self_sd_ns;
	uint32_t group_id; /* the group that tells most of it; 0: not known, as of a file */
	const struct baseline_bucket *buckets; /* NULL: not known, as of a file */
};

struct baseline_type {
	const char *type;
	uint64_t requests;     /* that were measured: of them the nodes speak */
	uint64_t complete;     /* of these, with a critical path: of them `segment` speaks */
	uint64_t all;          /* requests of the type, finished or not */
	double mean_ns, sd_ns; /* of how long the complete ones took */
	/* How much more means vary than those of independent requests would: variance over
	 * variance, 1 or more. */
	double inflation;
	uint32_t n;
	const struct baseline_node *nodes;
	const uint32_t *counts; /* requests by bucket, by when they ended; NULL: not known */
	uint64_t last_start_ns; /* event time that its last request began at; 0: not known */
	uint64_t unrecorded_ns; /* of the baseline's length, what its hosts were not recorded in, on
				 * purpose */
};

struct baseline {
	const char *origin; /* file it was read from, "" if made here */
	uint64_t time_ns;   /* event time that it was made at */
	uint64_t length_ns; /* of the time that it speaks of; 0: not known */
	uint32_t n;
	const struct baseline_group *groups;
	uint32_t n_types; /* 0: it tells of groups alone */
	const struct baseline_type *types;
	/* Buckets that groups, types and contexts tell of: the first begins at bucket_0_ns. */
	uint32_t n_buckets; /* 0: none, as of a file */
	uint64_t bucket_0_ns, bucket_ns;
};

#endif
