/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_LOCATION_H
#define PT_PYTHIA_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "field_words.h"
#include "pythia/pythia.h"
#include "pythiatop/snapshot/snapshot.h"
#include "verdict.h"

/*
 * Where: the edge that holds most of what varies in a group, and the process. finding.c: what is
 * known of a group's search; readiness.c: whether enough was seen; search.c: edges and verdicts;
 * load.c: waits for a processor that the program itself has, and in sockets for what it serves;
 * within.c: code with what it calls; slow.c: shares where all requests are slower, and vary no
 * more; site.c: processes; changed.c: what has changed since a baseline, as findings; evidence.c:
 * what is told of a finding beside its text; siblings.c: groups that differ by which of several
 * like servers they ask.
 *
 * The room's own state is struct locating, the findings.
 */
struct pythia;

#define FINDING_RULED_OUT 16u
#define SITE_TEXT         192u

/* A group whose variation is searched. */
struct finding {
	uint32_t group_id, type;
	enum stop_rule rule;
	struct kept_verdict kept;
	const char *where; /* calling context of its place: pythia_keep(); NULL: not known */
	double phi, phi_low, phi_high;
	uint64_t requests, started_ns, ended_ns;
	uint64_t anew_ns; /* event time since which it is looked at anew: nobody decided on its step
			   */
	uint32_t n_steps;
	const char *site, *host, *process; /* where that varies, likewise */
	bool at_site;      /* most of what this process does is slow, and that is the verdict */
	uint64_t sites_ns; /* when they were last examined */
	uint32_t sites_looks; /* how often before */
	bool no_normal;    /* nothing told what is normal when its search began */
	uint32_t change;   /* place among what has changed, by the last round; 0: none */
	uint64_t changed_key, changed_ns;   /* which change that is, and since when it is seen; */
	uint32_t changed_rounds, unchanged; /* rounds in a row with it, and without any */
	bool told_all;                      /* its verdict names what explains it */
	uint32_t alone; /* STOP_PEER: rounds in a row that did not show it */
	bool slow;          /* shares are of what takes longer, not of the variance: slow.c */
	double excess;      /* that its group had when it was last looked at: excess_of() */
	double sd_ns;       /* and its standard deviation */
	bool outweighed;    /* it names nothing, and what costs much more is searched, or will be */
	uint32_t edge;      /* node searched now; SPACE_NONE: none */
	double edge_phi;    /* of it when it was split last */
	bool split_noted;   /* what that has shown is in the history */
	uint32_t fruitless; /* splits of it in a row that showed nothing */
	uint32_t holder; /* point of whoever was waited for most when one more was looked into, */
	uint32_t holder_steps; /* and how often that was, in a row */
	double dearer; /* times what they are thought to cost its steps do; 0: nothing is known */
	uint32_t given_up[PYTHIA_MAX_HISTORY], n_given_up; /* edges, after two such */
	uint32_t calm;                /* rounds in a row at which nothing varied */
	uint64_t calm_ns;             /* of the last */
	uint32_t judged_epoch;        /* the group's epoch that was last decided on */
	uint32_t uninformative_epoch; /* in which its points were last judged uninformative or not,
					 plus 1 */
	char *history[PYTHIA_MAX_HISTORY];
	uint32_t n_history;
	double given_up_phi[PYTHIA_MAX_HISTORY]; /* that they held then */
	uint64_t *told_nothing; /* points that did, a bit each: they and what they enclose */
	uint32_t told_words;
	struct {
		uint32_t point;
		double phi;
	} ruled_out[FINDING_RULED_OUT]; /* the first of these */
	uint32_t n_ruled_out;
};

struct locating {
	struct finding findings[PYTHIA_MAX_FINDINGS];
	uint32_t n_findings;
	struct {
		char text[SITE_TEXT]; /* the process that was slow in the last window; or "" */
		uint32_t windows;     /* in a row */
		uint64_t ns;          /* event time of the last */
	} slow_site;
	/* Groups that took longer than their siblings in the last rounds. */
	struct {
		uint32_t group_id, call, rounds;
		uint64_t ns; /* event time of the last; 0: none */
	} beside[PYTHIA_COMPARED];
	uint64_t siblings_ns, siblings_before_ns; /* of the last two rounds */
	/* Scratch: nodes of a tree's rows. */
	uint32_t *nodes;
	uint32_t nodes_room;
};

void locating_release(struct locating *locating);
/* Room in `nodes` for so many rows. False: out of memory. */
bool locating_reserve(struct locating *locating, uint32_t n);

#define MAX_EDGES 16u /* of a group that are looked at */

/* An edge of a group: a row of its tree, with its own time. */
struct edge {
	uint32_t row, node;
	uint32_t within; /* row whose points may be enabled: the edge's, or what waited in it */
	double weight;
	bool leaf;
	bool itself; /* nothing in it varied when all was on */
};

/* finding.c */
/* What is said of it now; the type of requests, and where a verdict is, are added. */
void finding_tell(const struct pythia *pythia, struct finding *finding,
		const struct steps_verdict *verdict);
/* The search has come to its end with that. */
void finding_stop(const struct pythia *pythia, struct finding *finding, enum stop_rule rule,
		const struct steps_verdict *verdict);
struct finding *finding_of(struct pythia *pythia, uint32_t group_id, bool make, uint32_t type);
/* NULL: there is none; of the second one: none whose search goes on. */
const struct finding *finding_find(const struct pythia *pythia, uint32_t group_id);
const struct finding *finding_searched(const struct pythia *pythia, uint32_t group_id);
/* What its shares are of: "variance", or "slowdown". */
const char *finding_share_of(const struct finding *finding);
void finding_note(struct finding *finding, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
/* A point was on in this search, and what it encloses held next to nothing: phi. */
void finding_rule_out(struct finding *finding, uint32_t point, double phi);
bool finding_rules_out(const struct finding *finding, uint32_t point);

/* readiness.c: how long a group's epoch has lasted; whether that is enough for a verdict, and for
 * the next step. */
uint64_t pythia_age_of_epoch(const struct pythia_round *round, const struct groups_row *row);
bool pythia_is_settled(struct pythia *pythia, const struct pythia_round *round,
		const struct pythia_detail *detail);
bool pythia_is_ready(struct pythia *pythia, const struct pythia_round *round,
		const struct pythia_detail *detail);

/* What the kernel does of its own accord to a thread that is at work: no code of the request. */
static inline bool tree_row_interrupts(const struct tree_row *row)
{
	return !row->provider[0] && is_interruption(row->name);
}

/* finding.c: "a > b", the chain of calling contexts that leads to a row. */
void tree_where(const struct tree_view *tree, uint32_t row, char *out, size_t size);
/* The code that made the system call which a row is of; UINT32_MAX: it is of none, or nobody's. */
uint32_t tree_code_above(const struct tree_view *tree, uint32_t at);

/* search.c: decides on a group that there is enough to see of; may add a proposed step. */
void finding_search(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round);
/* The holders of a row's waits, into a verdict; they are left as they are where none is known. */
void search_who_was_waited_for(const struct pythia_round *round, const struct pythia_detail *detail,
		uint32_t row, struct steps_verdict *verdict);

/* load.c */
/* pythiatop, or one of LTTng's daemons. */
bool holder_is_tracing(const struct group_holder *holder);
/*
 * A wait for a processor that the program itself uses up falls into the code that does: where
 * points are known in that, they are looked at, as if it had worked.
 */
void load_look_within(const struct pythia *pythia, const struct pythia_detail *detail,
		const struct pythia_round *round, struct edge *edges, uint32_t n);
/*
 * What code holds in all its contexts, with its waits for processors that its own program has. The
 * bounds are sums of bounds: no standard error of a sum is larger than the sum of them, so they are
 * as sure, or surer.
 */
struct load {
	double phi, low, high; /* shares, as phi of rows */
	double waiting;        /* of that, the waits */
};
/* False: it does not wait so, or is no code below the request's first. */
bool load_of(const struct pythia *pythia, const struct pythia_detail *detail,
		const struct pythia_round *round, uint32_t code, struct load *load);
/*
 * Of the variance: requests that wait in the socket behind others of their kind, where what these
 * do varies as well: it is searched for, and the rest follows. 0: they do not, or what is left is
 * too little, or no place holds half of it but a wait for a processor: then the queue itself is the
 * place, as more come at once than are served.
 */
double load_queued_share(const struct pythia_detail *detail, const struct pythia_round *round);
/* A row of such a wait: "(in the socket)", or what its thread waits for meanwhile. */
bool load_lies_in_socket(const struct tree_view *tree, uint32_t at);
/* All of these together, and the first of them that is the span itself. False: there is none. */
bool load_in_socket(const struct tree_view *tree, struct load *load, uint32_t *row);

/* waiting.c */
/* Waits of one kind that are for the same holder, together. */
struct waiting {
	struct load load;
	uint32_t edge, places; /* the first of them; how many contexts */
};
/*
 * The surest such of at most MAX_EDGES edges. False: there is none, or it is in one context. Errors
 * of the rows are taken for independent. Holders are borrowed as `round->waits` lends them.
 */
bool waiting_of(const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edges, uint32_t n, struct waiting *waiting);

/* within.c */
/*
 * What code holds with all that it calls and waits for there, in all its contexts. Errors of the
 * rows are taken for independent: as shares of one whole they rather make up for each other.
 */
struct within {
	uint32_t row;          /* of the code, the first */
	double phi, low, high; /* shares, as phi of rows */
};
/*
 * The deepest code below the request's first that so holds `least` at the lower bound. False: there
 * is none. O(rows^2 x depth).
 */
bool within_of(const struct tree_view *tree, double least, struct within *out);

/* slow.c */
/* What a row takes in a request, with the parts below it that are no span's: a span's own time when
 * it was learned. */
double slow_own_time(const struct tree_view *tree, uint32_t at);
/* All requests of the group are slower than they were, and vary as they ever did. */
bool slow_is(const struct pythia *pythia, const struct pythia_detail *detail);
/*
 * The rows of a tree, whose nodes are in pythia->locating.nodes, with shares of what takes longer
 * than was learned in the place of phi. free() them. NULL if out of memory.
 */
struct tree_row *slow_rows(const struct pythia *pythia, const struct tree_view *tree);
/* The largest lower bound of such a share; sets pythia->locating.nodes. */
double slow_surest(struct pythia *pythia, const struct pythia_detail *detail);

/* site.c */
/*
 * The process that holds most of the group's variance is slow at all it does: that is the verdict.
 * Looked at every five seconds at most.
 */
bool site_verdict(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round);
/*
 * Several groups beyond their norms at once may have a busy machine for it, or a process that they
 * share. Where the worst of them varies in one process, which is slow at all it does while others
 * are well, in two windows in a row, it is that: no excuse. Once a window.
 */
void site_watch(struct pythia *pythia, const struct pythia_round *round);
/* The host, and the process, of all that the group's requests do, where it is one. */
void site_of_all(struct pythia *pythia, struct finding *finding, const struct pythia_detail *detail,
		const struct pythia_round *round);
/* Where a place varies, if in one process alone: into the finding. */
void site_of_place(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct tree_row *place);

/* changed.c: takes up what has changed since the baseline; may end searches. */
void changed_judge(struct pythia *pythia, const struct pythia_round *round);

/* evidence.c: copies the verdict of a row of the snapshot into that, with its sentence. */
bool finding_say(struct steps_finding *finding, struct snapshot *snapshot);
/* What was ruled out, what its points cost, what explains it, what to look at next. */
enum status finding_fill_evidence(struct pythia *pythia, const struct finding *finding,
		struct snapshot *snapshot, struct steps_finding *out);
/* Groups that a person asked to be explained, and that no search is about. */
enum status evidence_fill_asked(struct pythia *pythia, struct snapshot *snapshot,
		struct steps_finding *out, uint32_t *n);

#endif
