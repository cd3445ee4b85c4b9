/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_CHANGES_H
#define PYTHIATOP_SNAPSHOT_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What is otherwise than in a baseline: places whose time changed, calls that are made more or less
 * often, requests that come more or less often. Ranked: what is likely to be behind the others
 * first. A place is a span by its provider and name, in whatever context and type it occurs; the
 * way between two services is a place of its own.
 */
enum change_kind {
	CHANGE_SLOWER = 0, /* its own time grew */
	CHANGE_TRANSIT,    /* the way to and from the service takes longer, or the wait for it */
	CHANGE_MORE,       /* it calls something more often */
	CHANGE_FEWER,      /* it calls something less often */
	CHANGE_FASTER,     /* its own time shrank */
	CHANGE_RATE,       /* requests of the type come more or less often */
	CHANGE_SPLIT,      /* requests of one group are spread over others now, or go another way */
	CHANGE_MERGE,      /* those of several groups are of one now */
};

/* A span by provider and name, on the way to a calling context. */
struct change_step {
	const char *provider, *name;
};

struct change_row {
	enum change_kind kind;
	const char *service;  /* process, else provider, that the place is in; "" for CHANGE_RATE */
	const char *provider; /* "" for CHANGE_TRANSIT */
	/* Of the span; "(all)": of all spans of the service together; for CHANGE_TRANSIT
	 * "(transit)"; CHANGE_RATE: "". */
	const char *name;
	const char *where; /* the chain of spans above it, where it is in one context alone */
	const char *type;  /* the type in which most of it is */
	uint32_t types;    /* in how many it is */
	/*
	 * The calling context that tells most of it, with those above it, the root first, and a
	 * group that it is in. 0: none; the group is not known where only the baseline has it.
	 */
	uint32_t n_steps, group_id;
	const struct change_step *steps;
	/* Services at the other ends of CHANGE_TRANSIT; what is called for MORE and FEWER; groups,
	 * with their shares of the type's requests, that have more of them for SPLIT and MERGE. */
	const char *others;
	const char *from; /* the groups that have fewer; "" for other kinds */
	/*
	 * Event time since when it is so, with its 95 % interval, by buckets of 0.25 s or more; 0:
	 * not known. since_begin: it was so when the time that is looked at began.
	 */
	uint64_t since_ns, since_low_ns, since_high_ns;
	bool since_begin;
	bool sure;       /* chance makes such a row in less than one comparison of a hundred */
	bool callee_too; /* CHANGE_TRANSIT: the service's own time grew as well */
	bool waited_for; /* CHANGE_SLOWER: the wait for the service grew as well: in added_ns_per_s
			  */
	bool off_path;   /* no request is surely slower for it */
	/* Whether requests are slower for it is not known, nor what it adds to them: messages that
	 * nobody surely waits for, or no request whose critical path is known. */
	bool path_unknown;
	/* CHANGE_SLOWER: it grew by no more than messages to this service take longer, which it may
	 * wait for; else "". */
	const char *waits_for;
	bool by_clocks; /* CHANGE_TRANSIT: by the clocks of the senders and of the receivers alone
			 */
	/*
	 * What it adds to all requests together, in ns a second, as an estimate, below 0: it saves
	 * so much. With its 95 % interval.
	 */
	double added_ns_per_s, added_low, added_high;
	/* Means before and after, and the 95 % interval of the difference: ns a span, calls a span
	 * of the caller, requests a second, or, of SPLIT and MERGE, the share of the type's
	 * requests that is of those groups that have more. */
	double before, after, difference_low, difference_high;
	uint64_t requests_before, requests_after; /* that say so */
	double p; /* that chance makes such a difference anywhere: times the number looked at */
};

/* A type of requests before (0) and after (1); what is on one side alone has 0 on the other. */
struct change_type {
	const char *type;
	uint64_t requests[2]; /* all, finished or not */
	double rate_per_s[2];
	double mean_ns[2]; /* of the complete ones; 0: none */
	uint32_t group_id; /* that most of those after are of; 0: none */
};

struct changes_view {
	bool compared;                /* there is a baseline that tells of types */
	const char *baseline;         /* where it is from */
	uint64_t before_ns, after_ns; /* event time that the two sides end at */
	uint64_t before_length_ns, after_length_ns;
	uint32_t tests; /* differences that were looked at */
	uint32_t n;
	const struct change_row *rows;
	uint32_t n_all_types;
	const struct change_type *all_types; /* largest change of time a second first */
	/* Types and calling contexts on one side alone, which nothing could be compared with. */
	uint32_t n_types, n_types_gone, n_types_new, n_contexts, n_contexts_gone, n_contexts_new;
	const char *types_gone, *types_new; /* the first names */
	/* Groups of types that are on both sides, likewise. */
	uint32_t n_groups, n_groups_gone, n_groups_new;
	const char *groups_gone, *groups_new;
	/* Types of requests that began before the recording did, so that they begin in the midst of
	 * another type, and how many of them: not compared, and in neither of the above. */
	uint32_t n_cut;
	uint64_t cut_requests;
	const char *cut;
};

#endif
