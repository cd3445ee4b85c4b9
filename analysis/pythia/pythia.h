/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_PYTHIA_H
#define PT_PYTHIA_PYTHIA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/names.h"
#include "pythiatop/profile.h"
#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"
#include "pythiatop/step.h"

/*
 * What to record next, so that the place is found where requests of a group differ: the loop of
 * Pythia. It looks at the groups as the screen does, at set times of event time, and proposes at
 * most one step at a time. (Ates et al., SoCC 2019; Toslali et al., "Automating instrumentation
 * choices for performance problems in distributed applications with VAIF", SoCC 2021.)
 *
 * A decision needs an epoch of the group, the time since the last step that touched it: at least
 * ten seconds and 200 requests of the group; less where the intervals are clear already, see
 * round.c. Pure: the same calls take the same decisions. One thread. Memory: points.h, space.h,
 * steps.h; at most PYTHIA_MAX_FINDINGS groups are searched.
 */
#define PYTHIA_MAX_FINDINGS 64u
#define PYTHIA_MAX_HISTORY  32u
#define PYTHIA_DETAILS      4u /* groups looked at closely at a time */
#define PYTHIA_SUSPECTS     8u /* and whose place is judged before they are searched */

struct pythia;

struct pythia *pythia_create(struct names *names); /* NULL if out of memory */
void pythia_destroy(struct pythia *pythia);

void pythia_set_mode(struct pythia *pythia, enum step_mode mode, uint64_t now_ns);
const struct step_budget *pythia_budget(const struct pythia *pythia);
void pythia_set_budget(struct pythia *pythia, const struct step_budget *budget);
enum status pythia_set_strategy(struct pythia *pythia, const char *name);

/* An event that a host offers, and what it means. */
struct pythia_offer {
	const char *event;
	bool kernel, skeleton, bounded;
	enum { OFFER_POINT, OFFER_ENTRY, OFFER_EXIT } role;
	const char *provider, *span;
};

/* All that a host offers: replaces what it offered before. */
enum status pythia_offer(struct pythia *pythia, const char *host, const struct pythia_offer *offers,
		uint32_t n);

enum status pythia_learn(struct pythia *pythia, const struct profile *profile);
/* Where points stand is known, by any way. */
bool pythia_has_learned(const struct pythia *pythia);
/* From the arena. NULL if out of memory. */
const struct profile *pythia_profile(const struct pythia *pythia, struct arena *arena);

/* An event that is recorded, and what it means, whether anybody offers it or not. */
void pythia_know(struct pythia *pythia, const struct pythia_offer *event);

/* Events of that name, of so many bytes on average, came from these hosts since the last round. */
void pythia_recorded(struct pythia *pythia, const char *event, const char *const *hosts, uint32_t n,
		double bytes, double events_per_s);
/*
 * What recording an event costs on a host, in ns of CPU; see helper/calibrate.h. Until the host has
 * told what it offers, the search waits for it, at most half a minute.
 */
void pythia_calibrate(struct pythia *pythia, const char *host, double event_ns);

/* A group looked at closely. */
struct pythia_detail {
	const struct groups_row *row;   /* of its epoch, or of the window: since_ns */
	const struct tree_view *tree;   /* likewise */
	const struct group_view *group; /* likewise */
	/* Of each row, mean time from the begin of the one around; < 0: not known; or NULL. */
	const double *offset_ns;
	double queued_share; /* set aside by the search: load_queued_share() */
};

/* A part of a context's own time, from the begin of one of its children to that of the next. */
struct pythia_gap {
	uint32_t after;  /* context of the child; 0: from its own begin */
	uint32_t before; /* of the next; 0: to its own end */
	double lag_ns;   /* least time from there until the context itself went on */
	double phi;      /* share of the variance, an estimate */
};

/* A thread of a host that requests were worked on by. */
struct pythia_thread {
	const char *host;
	int32_t tid;
};

/* A process that requests pass through, or a host where none is known; texts are borrowed. */
struct pythia_site {
	const char *host, *process; /* "" if not known */
	const char *tells; /* a value that sets it apart from others of its name; "" if none */
	int32_t pid;       /* -1: not known */
	double phi;        /* share of the variance that was asked for; an estimate */
	/* Places of its work, in requests of any group: judged, and slow when the others are; */
	uint32_t judged, judged_along;
	uint32_t places, along; /* the same of those that take a noticed share of its time, */
	double of_group;        /* as many of a group, of those where any is, */
	uint32_t working;       /* and of these, such in which code works rather than waits */
	double most;      /* of what they take longer together: by the one that adds most */
	double times;     /* slower, in the middle of those */
};

/* A group that does the same as another one, but for which of several like servers it asks. */
struct pythia_sibling {
	uint32_t group_id;
	uint32_t own, its; /* contexts of the calls */
};

struct pythia_round {
	bool last;   /* nothing more will come: what was seen has to do */
	bool live;   /* some session is, so that hosts could offer points */
	uint64_t now_ns; /* event time */
	uint32_t epoch;  /* number of the one that was begun last, of some groups or all */
	const struct groups_view *groups; /* of their epochs */
	const struct groups_view *recent; /* of the window */
	double unrecorded; /* share of the window that a host was not recorded in, on purpose */
	const struct changes_view *changes; /* of the epochs, against the baseline; may be NULL */
	uint32_t n_details;
	const struct pythia_detail *details;
	/*
	 * Between which of its children the own time of a context varies, in requests of the group
	 * that started at since_ns or later, the largest share first; returns how many, 0: not
	 * known. May be NULL.
	 */
	uint32_t (*gaps)(void *callback_context, uint32_t group_id, uint64_t since_ns,
			uint32_t context, struct pythia_gap *out, uint32_t max);
	/* Threads of such requests; returns how many, at most max. May be NULL. */
	uint32_t (*threads)(void *callback_context, uint32_t group_id, uint64_t since_ns,
			struct pythia_thread *out, uint32_t max);
	/*
	 * What a context, or with 0 the whole request, holds of the group's variance in each
	 * process, the largest share first; returns how many, 0: not known. May be NULL.
	 */
	uint32_t (*sites)(void *callback_context, uint32_t group_id, uint64_t since_ns,
			uint32_t context, struct pythia_site *out, uint32_t max);
	/*
	 * Who was waited for in a context of requests of the group, until another group is asked
	 * for, or the round ends; NULL: not known. May be NULL.
	 */
	const struct group_wait *(*waits)(
			void *callback_context, uint32_t group_id, uint32_t context);
	/* The siblings of a group; returns how many, at most max. May be NULL. */
	uint32_t (*siblings)(void *callback_context, uint32_t group_id, struct pythia_sibling *out,
			uint32_t max);
	/* What the requests of two siblings were asked tells nothing of whom they ask. */
	bool (*ask_alike)(void *callback_context, uint32_t group_id, uint32_t other_id);
	/* Whom a group calls in that context: "python3:8002". */
	void (*called)(void *callback_context, uint32_t group_id, uint32_t call, char *out,
			size_t size);
	void *callback_context;
};

/*
 * Where requests of a type fail: counts of seconds, the last of which ended last. `first_ns` is when
 * the first of a second's failed requests began.
 */
struct pythia_failing {
	uint64_t key;      /* tells the place from others */
	uint32_t type;     /* of requests, interned */
	uint32_t group_id; /* that most of them are of */
	bool call;         /* system calls alone told of it */
	bool late;         /* it is known only once requests fell silent: no end */
	const char *what;  /* they do: "fail" */
	const char *where; /* calling context, "a > b"; "" if not known */
	uint32_t n;        /* seconds */
	const uint64_t *failed, *ended, *first_ns;
	uint64_t failed_before, ended_before; /* in all before */
};

/* What requests that failed in a place have in common; texts are borrowed until the next call. */
struct pythia_failed {
	uint32_t requests, n_hosts;
	const char *host, *process, *told; /* "" if not one, or not known */
	double told_share;
	const char *key, *where, *value; /* that surely goes with it; "" if none */
	double share, others;            /* of them, and of the others, have it */
};

struct pythia_failures {
	uint64_t now_ns; /* end of the last second */
	bool last;       /* nothing more will come */
	uint32_t n;
	const struct pythia_failing *places;
	/* False: nothing is known. */
	bool (*common)(void *context, uint32_t place, uint64_t since_ns,
			struct pythia_failed *out);
	void *context;
};

/*
 * Once a second: whether requests of a type fail more often in a place than they did before, or than
 * was learned to be normal: a finding of its own, until they do so no more. What is as it always was
 * is none. See failures.c.
 */
void pythia_examine_failures(struct pythia *pythia, const struct pythia_failures *failures);

/* Some host offers something. */
bool pythia_can_act(const struct pythia *pythia);
/* A number that changes when a search begins, goes elsewhere or ends. */
uint64_t pythia_standing(const struct pythia *pythia);

/*
 * Twice a window: the groups, at most PYTHIA_SUSPECTS, that vary, or are slower, and whose window
 * is to be shown to pythia_judge_place() before pythia_wants() is asked; returns how many.
 */
uint32_t pythia_suspects(struct pythia *pythia, const struct pythia_round *round, uint32_t *ids);
void pythia_judge_place(struct pythia *pythia, const struct pythia_detail *detail);
/*
 * Twice a window: a group whose requests surely take longer than those of its siblings, and the one
 * of these with most requests; both are to be shown to pythia_judge_siblings(), as the window has
 * them. At most PYTHIA_COMPARED; returns how many. See siblings.c.
 */
#define PYTHIA_COMPARED 2u
struct pythia_compared {
	struct pythia_sibling sibling; /* `its` and group_id are the other's */
	uint32_t group_id, n_siblings;
	double others_ns;         /* mean of the siblings together */
	uint64_t others_requests; /* that it is of */
	double low_ns, high_ns;   /* difference of the means, for all comparisons together */
};
uint32_t pythia_compare_siblings(struct pythia *pythia, const struct pythia_round *round,
		struct pythia_compared *out);
void pythia_judge_siblings(struct pythia *pythia, const struct pythia_round *round,
		const struct pythia_compared *compared, const struct pythia_detail *slow,
		const struct pythia_detail *other);

/*
 * The groups that should be looked at closely next, at most PYTHIA_DETAILS; returns how many. The
 * round has no details so far.
 */
uint32_t pythia_wants(const struct pythia *pythia, const struct pythia_round *round, uint32_t *ids);
/*
 * A step was made for the group in the last 20 s, or its epoch is no older than the window: that is
 * what is shown. Else it may have been well for most of its epoch, or odd at its begin, and what is
 * seen of the window is shown where that is enough to decide on, and one place surely holds half
 * there; or the epoch is older than a minute. What is slow twice in ten seconds may not be in the
 * window just now.
 */
bool pythia_wants_epoch(
		const struct pythia *pythia, const struct pythia_round *round, uint32_t group_id);
bool pythia_window_will_do(struct pythia *pythia, const struct pythia_round *round,
		const struct pythia_detail *window);
/* Looks, and may propose a step, or in autopilot approve it. */
void pythia_round(struct pythia *pythia, const struct pythia_round *round);

/*
 * A step to learn is with the hosts: once it is done, the groups as they were before are wanted by
 * pythia_before_learning().
 */
bool pythia_will_learn(const struct pythia *pythia, uint32_t step);
void pythia_before_learning(struct pythia *pythia, const struct groups_view *groups);
/* A step to learn is being watched: all groups' trees are wanted by pythia_learned() at its end. */
bool pythia_is_learning(const struct pythia *pythia, uint32_t step);
void pythia_learned(struct pythia *pythia, const struct pythia_round *round);

enum status pythia_decide(struct pythia *pythia, uint32_t step, enum step_decision decision,
		enum step_by by, uint64_t now_ns, char *error, size_t size);
/* See engine_edit(). */
enum status pythia_edit(struct pythia *pythia, uint32_t step, uint32_t part, bool keep, char *error,
		size_t size);
/* Proposes a point by hand: by its span, or by its number (tree rows of points that are off). */
enum status pythia_propose_point(struct pythia *pythia, uint32_t point, bool enable,
		uint64_t now_ns, char *error, size_t size);
enum status pythia_propose(struct pythia *pythia, const char *provider, const char *name,
		bool enable, uint64_t now_ns, char *error, size_t size);
void pythia_undo_all(struct pythia *pythia, enum step_by by, uint64_t now_ns);

/*
 * Events of our session there are not seen for now, or are again: see engine_silent(). True: as for
 * pythia_order_done().
 */
bool pythia_silent(struct pythia *pythia, const char *host, bool is, uint64_t now_ns);
/* What steps did on a host is undone: its helper has ended. True: as for pythia_order_done(). */
bool pythia_host_gone(struct pythia *pythia, const char *host, uint64_t now_ns);

const struct step_order *pythia_next_order(struct pythia *pythia);
/* True: what is recorded has changed: a new epoch begins of the groups that are touched. */
bool pythia_order_done(struct pythia *pythia, const struct step_outcome *outcome, uint64_t now_ns);
/*
 * Of the order that was done last, or the host that went or is seen again: it was about that host;
 * its points may lie in requests of that type (interned). Where points stand is known of types
 * whose requests were seen with all on; in requests of another type, and where a point was never
 * seen, they may.
 */
bool pythia_touches_host(const struct pythia *pythia, const char *host);
bool pythia_touches_type(const struct pythia *pythia, uint32_t type);
/* Does a step in force record there which threads run? */
bool pythia_records_switches(const struct pythia *pythia, const char *host);
/* `group`: the step's, in the epoch; NULL if it has none. */
void pythia_watch_over(struct pythia *pythia, const struct step_watch *watch,
		const struct group_view *group, uint64_t now_ns);
uint32_t pythia_group_of_step(struct pythia *pythia, uint32_t step); /* 0: none */

/* The key-values of a group's requests, from whoever has them: see groups/collect.h. */
struct explain_table;
struct pythia_keys {
	bool (*collect)(void *context, uint32_t group_id, bool on);
	const struct explain_table *(*table)(
			void *context, uint32_t group_id, uint64_t since_ns, struct arena *arena);
	/* Of that table, without making it. */
	uint32_t (*rows)(void *context, uint32_t group_id, uint64_t since_ns);
	void *context;
};

/*
 * Explains findings, and groups that a person asks for: see explaining.h. A round takes up what was
 * done, and begins the next; `groups` of the epoch, NULL: they cannot be shown now. At the finish
 * all is done at once.
 */
void pythia_explain_round(struct pythia *pythia, const struct pythia_keys *keys,
		const struct groups_view *groups, uint64_t now_ns);
void pythia_explain_finish(struct pythia *pythia, const struct pythia_keys *keys,
		const struct groups_view *groups, uint64_t now_ns);
/* A slice of what was begun: about so many microseconds. */
void pythia_explain_work(struct pythia *pythia, uint64_t units);
/* Something was begun, or is asked for by a person: there is to be a round each second. */
bool pythia_explains(const struct pythia *pythia);
bool pythia_has_findings(const struct pythia *pythia);
/* STATUS_NOT_FOUND: there is no such group; STATUS_FULL: too many are being explained. */
enum status pythia_explain(
		struct pythia *pythia, const struct pythia_keys *keys, uint32_t group_id);

enum status pythia_fill(struct pythia *pythia, struct snapshot *snapshot);
/* Marks the rows of a tree, and adds those of points that are off. */
enum status pythia_mark_tree(struct pythia *pythia, struct snapshot *snapshot);

#endif
