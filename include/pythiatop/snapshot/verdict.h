/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_VERDICT_H
#define PYTHIATOP_SNAPSHOT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/snapshot/explanation.h"
#include "pythiatop/snapshot/group.h"
#include "pythiatop/snapshot/row_field.h"

/*
 * What is said of a group, as data: its verdict, or what its search is looking at. The sentence is
 * made of this alone, by verdict_text(); documents have both.
 *
 * Units: shares of 1, durations in ns. What is not known, or is none of the reason's, is 0, "" or
 * NULL. Threads: plain values, immutable in a snapshot, whose texts they point to. Memory: the
 * bounds below, and the lengths of names.
 */
#define VERDICT_BYTES        2048u /* of a sentence: what has no room is cut */
#define VERDICT_PLACES       3u
#define VERDICT_HOLDERS      3u
#define VERDICT_KEY_TOGETHER 2u
#define VERDICT_KEY_VALUES   4u

/* Why the search for a group has come to its end: X(ID, name in documents, in words). */
#define STOP_RULES(X)                                                                              \
	X(NONE, "none", "the search goes on")                                                      \
	X(CODE, "code", "this code") /* 1: a leaf holds at least half of the variance */           \
	X(VARIABLE, "variable", "a variable explains it")                                          \
	X(HEALTHY, "healthy", "varies no more than usual")                                         \
	X(DIFFUSE, "diffuse", "no single place holds it")                                          \
	X(SPENT, "spent", "budget or time used up")                                                \
	X(CHANGED, "changed", "changed since the baseline")                                        \
	X(FAILS, "fails", "requests began to fail") /* or do so more often */                      \
	X(PEER, "peer", "one of like servers takes longer") /* of those that are asked */

#define STOP_RULE_ID(id, name, words) STOP_##id,
enum stop_rule { STOP_RULES(STOP_RULE_ID) };
extern const char *const stop_rule_names[], *const stop_rule_words[];

/* What is said: X(ID, name in documents). */
#define VERDICT_REASONS(X)                                                                         \
	X(NONE, none)                 /* nothing so far */                                         \
	X(INSIDE, inside)             /* it is inside the place, and the search goes on there */   \
	X(HOLDER, holder)             /* it is there, and the search goes on at the holder */      \
	X(UNCLEAR, unclear)           /* where it lies is not clear yet */                         \
	X(CODE, code)                 /* the time goes in the place */                             \
	X(LOAD, load)                 /* in the place, and its waits for its own program there */  \
	X(WAIT, wait)                 /* it goes by in waits, of kind `place`, of `within` */      \
	X(TRACING, tracing)           /* likewise, for who traces; the search goes on */           \
	X(IDLE, idle)                 /* likewise, for a processor that sleeps; it goes on, too */ \
	X(INTERRUPTS, interrupts)     /* it goes by in such while `within` is at work */           \
	X(PROCESS, process)           /* most of what a process does is slow at the same times */  \
	X(COMMON_CAUSE, common_cause) /* many places vary together */                              \
	X(NO_PLACE, no_place)         /* none surely holds half */                                 \
	X(BUDGET, budget)             /* it leaves no room for a further point */                  \
	X(SLOWER, slower)             /* the place takes longer than in the baseline */            \
	X(TRANSIT, transit)           /* the way from the process to others does */                \
	X(CALLS, calls)               /* the place makes more, or fewer, calls of others */        \
	X(PEER, peer)                 /* requests that ask one of like servers take longer */      \
	X(FAILS, fails)               /* requests began to fail in the place */                    \
	X(VARIABLE, variable)         /* a key-value explains it */                                \
	X(VALUE, value)               /* all is slower with a value */                             \
	X(SYSTEM, system)             /* a host or a resource explains it, and no place does */    \
	X(ASKED, asked)               /* what a person asked for: what explains it, or nothing */  \
	X(ASKING, asking)             /* which is not known so far */

#define VERDICT_REASON_ID(id, name) REASON_##id,
enum verdict_reason { VERDICT_REASONS(VERDICT_REASON_ID) };

/* Why nothing deeper than the place is named: X(ID, name in documents). */
#define VERDICT_DEEPER(X)                                                                          \
	X(UNKNOWN, "")                                                                             \
	X(STEADY, "steady")             /* nothing in it varied when all was on */                 \
	X(NOT_RECORDED, "not_recorded") /* and nothing can be enabled */                           \
	X(SILENT, "silent")             /* no further point is known to fire there */              \
	X(NOT_SEEN, "not_seen")         /* none of those that were tried, by their names */        \
	X(LEFT_OFF, "left_off")         /* so many points: rejected, refused or undone */          \
	X(BUDGET, "budget")             /* it has no room for any, of `budget_per_s` */

#define VERDICT_DEEPER_ID(id, name) DEEPER_##id,
enum verdict_deeper { VERDICT_DEEPER(VERDICT_DEEPER_ID) };

/* A key-value that surely goes with the duration. */
struct verdict_key {
	const char *name;  /* "": none does */
	const char *where; /* calling context of its span */
	enum explanation_source source;
	bool partly;         /* it holds less than half of the variance */
	double held;         /* share of the variance, in the requests held out */
	double p;            /* at most */
	uint32_t n, n_held;  /* requests explored, and held out */
	uint32_t n_together; /* keys that cannot be told from it, the first of them */
	const char *together[VERDICT_KEY_TOGETHER];
	uint32_t n_values; /* there are; of many those at both ends are named */
	struct {
		const char *text;
		double mean_ns;
	} values[VERDICT_KEY_VALUES];
};

struct steps_verdict {
	enum verdict_reason reason;
	const char *type; /* of requests */
	/* Where: a span, or a kind of its own time; the span around it; the one that made the
	 * system call which the place is. */
	const char *place, *within, *code;
	uint32_t n_more_places;     /* of the kind `place`, for the same holder; it is the surest */
	const char *process, *host; /* "": not one, or not known */
	const char *site;           /* the process, as it is told from others of its name */
	bool several_hosts;
	uint32_t n_places;
	struct {
		const char *name;
		double share;
	} places[VERDICT_PLACES]; /* of REASON_NO_PLACE, those that hold most; of REASON_CODE, the
				   further ones that hold a fair share */
	/* How much. */
	const char *share_of;                /* "variance", "slowdown", "requests" */
	double share, share_low, share_high; /* 90 % interval; of requests 95 % */
	bool with_callees;                   /* of all that the place calls, too */
	double waiting_share; /* of REASON_LOAD, REASON_PROCESS: waits for a processor */
	double waking_share; /* of the variance: idle processors that take their time to wake up */
	double queued_share; /* of the variance: others that wait in the socket meanwhile */
	uint64_t requests;                   /* that these are of */
	enum verdict_deeper deeper;
	uint32_t left_off;           /* points, of DEEPER_LEFT_OFF */
	enum wait_evidence evidence; /* how it is known */
	uint32_t n_holders;          /* who was waited for there, the first; 0: not known */
	struct group_holder holders[VERDICT_HOLDERS];
	bool no_kernel_events; /* they could say more */
	double budget_per_s;   /* events, of REASON_BUDGET and DEEPER_BUDGET */
	/* Of a process, or a value: places examined, those slower, by what factor in the middle. */
	uint32_t examined, slow;
	double times;
	const char *as_for;    /* the type that was told of the process before */
	const char *also_slow; /* another process, */
	uint32_t n_also_slow;  /* of so many; else: */
	const char *twin_well; /* one that does the same, and is not slow; else: */
	uint32_t n_well;       /* so many others are not */
	/* Since the baseline: bounds of what is taken longer in a span, or calls of a span. */
	double longer_low_ns, longer_high_ns, calls_before, calls_after;
	double added_ns_per_s; /* to all requests; NAN: not known */
	const char *others;    /* services, or what is called */
	bool callee_too;       /* the process's own time grew, too */
	/*
	 * Requests of a group, against those of its siblings, which ask another one of several like
	 * servers: means, and in `longer` the interval of their difference, 99 % for all that is
	 * compared together. The share is of the difference, in the place.
	 */
	const char *called, *called_others; /* ":8002"; the one of them that most requests ask */
	uint32_t n_siblings;                /* groups */
	uint64_t requests_others;
	double mean_ns, mean_others_ns;
	/* Of what fails. */
	const char *fails_how; /* requests "fail" */
	uint64_t since_ns, failed, failed_before, requests_before;
	bool learned;     /* before is when it was learned */
	const char *told; /* by exits of spans, in so many of them */
	double told_share;
	const char *attribute, *attribute_where, *value; /* that surely goes with it */
	double value_share, value_others; /* of those that failed, and of the others, have it */
	struct verdict_key key; /* what explains it: behind what was found, or all that is said */
};

/*
 * As documents have them. Those that are 0, false or "" are left out there.
 */
#define ROW_VERDICT_FIELDS(X)                                                                      \
	X(VERDICT_REASON, "reason", READ, verdict_reason_name, NONE, NULL)                         \
	X(VERDICT_TYPE, "type", NAME, type, NONE, NULL)                                            \
	X(VERDICT_PLACE, "place", NAME, place, NONE, NULL)                                         \
	X(VERDICT_WITHIN, "within", NAME, within, NONE, NULL)                                      \
	X(VERDICT_CODE, "code", NAME, code, NONE, NULL)                                            \
	X(VERDICT_MORE_PLACES, "more_places", U32, n_more_places, COUNT, NULL)                     \
	X(VERDICT_PROCESS, "process", NAME, process, NONE, NULL)                                   \
	X(VERDICT_HOST, "host", NAME, host, NONE, NULL)                                            \
	X(VERDICT_SITE, "site", NAME, site, NONE, NULL)                                            \
	X(VERDICT_HOSTS, "several_hosts", FLAG, several_hosts, NONE, NULL)                         \
	X(VERDICT_SHARE_OF, "share_of", NAME, share_of, NONE, NULL)                                \
	X(VERDICT_SHARE, "share", REAL, share, SHARE, NULL)                                        \
	X(VERDICT_SHARE_LOW, "share_low", REAL, share_low, SHARE, NULL)                            \
	X(VERDICT_SHARE_HIGH, "share_high", REAL, share_high, SHARE, NULL)                         \
	X(VERDICT_CALLEES, "with_callees", FLAG, with_callees, NONE, NULL)                         \
	X(VERDICT_WAITING, "waiting_share", REAL, waiting_share, SHARE, NULL)                      \
	X(VERDICT_WAKING, "waking_share", REAL, waking_share, SHARE, NULL)                         \
	X(VERDICT_QUEUED, "queued_share", REAL, queued_share, SHARE, NULL)                         \
	X(VERDICT_REQUESTS, "requests", U64, requests, COUNT, NULL)                                \
	X(VERDICT_DEEPER, "deeper", READ, verdict_deeper_name, NONE, NULL)                         \
	X(VERDICT_LEFT_OFF, "left_off", U32, left_off, COUNT, NULL)                                \
	X(VERDICT_NO_KERNEL, "no_kernel_events", FLAG, no_kernel_events, NONE, NULL)               \
	X(VERDICT_BUDGET, "budget_per_s", REAL, budget_per_s, PER_S, NULL)                         \
	X(VERDICT_EXAMINED, "places_examined", U32, examined, COUNT, NULL)                         \
	X(VERDICT_SLOW, "places_slow", U32, slow, COUNT, NULL)                                     \
	X(VERDICT_TIMES, "times", REAL, times, RATIO, NULL)                                        \
	X(VERDICT_AS_FOR, "as_for", NAME, as_for, NONE, NULL)                                      \
	X(VERDICT_ALSO_SLOW, "also_slow", NAME, also_slow, NONE, NULL)                             \
	X(VERDICT_N_ALSO_SLOW, "n_also_slow", U32, n_also_slow, COUNT, NULL)                       \
	X(VERDICT_TWIN_WELL, "twin_well", NAME, twin_well, NONE, NULL)                             \
	X(VERDICT_N_WELL, "n_well", U32, n_well, COUNT, NULL)                                      \
	X(VERDICT_LONGER_LOW, "longer_low_ns", REAL, longer_low_ns, NS, NULL)                      \
	X(VERDICT_LONGER_HIGH, "longer_high_ns", REAL, longer_high_ns, NS, NULL)                   \
	X(VERDICT_CALLS_BEFORE, "calls_before", REAL, calls_before, RATIO, NULL)                   \
	X(VERDICT_CALLS_AFTER, "calls_after", REAL, calls_after, RATIO, NULL)                      \
	X(VERDICT_ADDED, "added_ns_per_s", REAL, added_ns_per_s, NONE, NULL)                       \
	X(VERDICT_OTHERS, "others", NAME, others, NONE, NULL)                                      \
	X(VERDICT_CALLEE_TOO, "callee_too", FLAG, callee_too, NONE, NULL)                          \
	X(VERDICT_CALLED, "called", NAME, called, NONE, NULL)                                      \
	X(VERDICT_CALLED_OTHERS, "called_others", NAME, called_others, NONE, NULL)                 \
	X(VERDICT_SIBLINGS, "siblings", U32, n_siblings, COUNT, NULL)                              \
	X(VERDICT_REQUESTS_OTHERS, "requests_others", U64, requests_others, COUNT, NULL)           \
	X(VERDICT_MEAN, "mean_ns", REAL, mean_ns, NS, NULL)                                        \
	X(VERDICT_MEAN_OTHERS, "mean_others_ns", REAL, mean_others_ns, NS, NULL)                   \
	X(VERDICT_HOW, "fails_how", NAME, fails_how, NONE, NULL)                                   \
	X(VERDICT_SINCE, "since_ns", U64, since_ns, CLOCK, NULL)                                   \
	X(VERDICT_FAILED, "failed", U64, failed, COUNT, NULL)                                      \
	X(VERDICT_FAILED_BEFORE, "failed_before", U64, failed_before, COUNT, NULL)                 \
	X(VERDICT_BEFORE, "requests_before", U64, requests_before, COUNT, NULL)                    \
	X(VERDICT_LEARNED, "learned", FLAG, learned, NONE, NULL)                                   \
	X(VERDICT_TOLD, "told", NAME, told, NONE, NULL)                                            \
	X(VERDICT_TOLD_SHARE, "told_share", REAL, told_share, SHARE, NULL)                         \
	X(VERDICT_ATTRIBUTE, "attribute", NAME, attribute, NONE, NULL)                             \
	X(VERDICT_ATTRIBUTE_AT, "attribute_where", NAME, attribute_where, NONE, NULL)              \
	X(VERDICT_VALUE, "value", NAME, value, NONE, NULL)                                         \
	X(VERDICT_VALUE_SHARE, "value_share", REAL, value_share, SHARE, NULL)                      \
	X(VERDICT_VALUE_OTHERS, "value_others", REAL, value_others, SHARE, NULL)

enum verdict_field { ROW_VERDICT_FIELDS(ROW_FIELD_ID) N_VERDICT_FIELDS };
extern const struct row_field verdict_fields[N_VERDICT_FIELDS];

/* The sentence; "" of REASON_NONE. At least one byte. */
void verdict_text(char *out, size_t size, const struct steps_verdict *verdict);
/*
 * The same without the key-value that goes with it, where that is told beside it; "" if the
 * sentence is of the key-value alone.
 */
void verdict_text_without_key(char *out, size_t size, const struct steps_verdict *verdict);
/* What a key is called in it: its name, or of a resource what that is: "interrupts". */
const char *verdict_key_words(const struct verdict_key *key);
/* The sentence names the key, rather than what it is. */
bool verdict_names_key(const struct steps_verdict *verdict);

#endif
