/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_PROFILE_H
#define PYTHIATOP_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The search space: what is known of where tracepoints stand in the requests of each type, as it
 * was learned when they were on. Saved and read again, so that learning is done once.
 */
#define PROFILE_VERSION 1

struct profile_node {
	uint32_t parent; /* index of a node before it, of the same type; UINT32_MAX: the root */
	const char *name, *provider; /* of the span, "" for kernel events */
	const char *entry;           /* event */
	const char *exit;            /* event, "" for a single tracepoint */
	bool kernel;
	double count;       /* spans of it in a request, on average */
	double total_ns;    /* time within it in a request, on average */
	double offset_ns;   /* from its parent's begin to its own, on average; < 0: not known */
	uint32_t explained; /* how often it was the answer */
};

/* How a group of the type performed when it was learned: what is normal. */
struct profile_norm {
	const char *path;
	uint64_t count; /* requests */
	double p50_ns, cov;
	double middle_ns; /* between the quartiles; < 0: not known */
	uint32_t n_modes;
};

struct profile_type {
	const char *type;  /* of requests */
	uint64_t requests; /* that it was learned from */
	uint64_t failed, ended; /* requests that failed then, of those that ended; 0, 0: not known */
	uint32_t n;
	const struct profile_node *nodes;
	uint32_t n_norms;
	const struct profile_norm *norms;
};

struct profile {
	const char *origin;
	uint32_t n;
	const struct profile_type *types;
};

#endif
