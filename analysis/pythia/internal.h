/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_INTERNAL_H
#define PT_PYTHIA_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include "pythia/explaining.h"
#include "pythia/points.h"
#include "pythia/pythia.h"
#include "pythia/space.h"
#include "pythia/steps.h"
#include "pythia/strategy.h"

/*
 * What the files of this folder share.
 *
 *   points.c    what can be recorded, and is
 *   space.c     where it stands in requests
 *   strategy.c  which points to choose
 *   cost.c      what that costs
 *   steps.c     the list of steps
 *   finding.c   what is known of a group's search; readiness.c: whether enough was seen of it
 *   search.c    a group: its edges, verdict
 *   candidates.c  what can be enabled in an edge
 *   slow.c      shares where all requests are slower, and vary no more
 *   kernel.c    kernel events, of the threads that matter
 *   norms.c     what is normal; deviation.c: which groups go beyond it, and last;
 *   excess.c    how much of what varies is beyond it;
 *               places.c: where a group takes more than that
 *   round.c     the loop: what it makes of the groups once a second
 *   propose.c   steps that are not about an edge: skeleton, learning, disabling
 *   changed.c   what has changed since a baseline, as findings
 *   failures.c  which requests began to fail, as findings
 *   site.c      in which process it is, and whether all of that is slow
 *   explaining.c  which groups are explained by key-values, and when; explained.c: in words
 *   evidence.c  what is told of a finding beside its text
 *   watch.c     whether a step is kept
 *   pythia.c    what is set, offered, decided
 *   steps_snapshot.c      into snapshots; profile.c  from and to files' values
 */
#define NS_PER_S    UINT64_C(1000000000)
#define PATIENCE_NS (60 * NS_PER_S) /* for the worst group, before others are looked at */

#define FINDING_RULED_OUT 16u
#define NORM_WINDOW_NS    (10 * NS_PER_S) /* what groups are judged by norms in */
#define NORM_PLACES       4u              /* rounds that are remembered, half a window apart */
#define SITE_TEXT         192u

/* A group whose variation is searched. */
struct finding {
	uint32_t group_id, type;
	enum stop_rule rule;
	char *text, *where;
	double phi, phi_low, phi_high;
	uint64_t requests, started_ns, ended_ns;
	uint64_t anew_ns; /* event time since which it is looked at anew: nobody decided on its step
			   */
	uint32_t n_steps;
	char *site, *host, *process; /* where its place varies, in words; NULL: not known */
	bool at_site;       /* all that this process does is slow, and that is the verdict */
	uint64_t sites_ns;  /* when they were last examined */
	bool no_normal;     /* nothing told what is normal when its search began */
	uint32_t change;    /* place among what has changed, by the last round; 0: none */
	uint64_t changed_key, changed_ns; /* which change that is, and since when it is seen; */
	uint32_t changed_rounds, unchanged; /* rounds in a row with it, and without any */
	bool told_all;      /* its text names what explains it */
	bool slow;          /* shares are of what takes longer, not of the variance: slow.c */
	double excess;      /* that its group had when it was last looked at: excess_of() */
	double sd_ns;       /* and its standard deviation */
	bool outweighed;    /* it names nothing, and what costs much more is searched, or will be */
	uint32_t edge;      /* node searched now; SPACE_NONE: none */
	double edge_phi;    /* of it when it was split last */
	bool split_noted;   /* what that has shown is in the history */
	uint32_t fruitless; /* splits of it in a row that showed nothing */
	uint32_t given_up[PYTHIA_MAX_HISTORY], n_given_up; /* edges, after two such */
	uint32_t calm;         /* rounds in a row at which nothing varied */
	uint64_t calm_ns;      /* of the last */
	uint32_t judged_epoch; /* the group's epoch that was last decided on */
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

/* How a group performed when points were learned. */
struct norm {
	uint32_t type, path; /* interned */
	uint64_t count;
	double p50_ns, cov, middle_ns; /* the last: between the quartiles; < 0: not known */
	uint32_t n_modes;
	bool stands_in;  /* for one that is not known: never saved */
	bool applies;    /* it was learned before this run, so what varies now is not in it */
	bool fresh;      /* learned in this run while little was recorded */
	uint32_t exceeding; /* windows in a row that were beyond it */
	double alone;    /* the sum over them of one by how many types were, if not most */
	uint32_t wide;   /* half windows in a row in which the middle half alone was */
	double excess; /* shares of all variation that its type held beyond it, in sum: excess.c */
	uint32_t excess_rounds; /* that these are of */
	/* Nodes that took more in the last rounds, the newest first; SPACE_NONE: no single one. */
	uint32_t places[NORM_PLACES];
	bool placed; /* the same one did in so many that it is worth a search */
};

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
	uint64_t since_ns, found_ns, ended_ns, told_ns; /* told_ns: when its text was made */
	uint64_t failed, ended;               /* since then, of the last seconds at most; */
	uint64_t failed_before, ended_before; /* and before that, when it was found */
	bool by_norm;                         /* that is what was learned */
	bool settled; /* it is a verdict: enough were seen to say what they have in common */
	char *text, *where, *host, *process, *next;
	char *history[4];
	uint32_t n_history;
};

struct pythia {
	struct names *names;
	struct points points;
	struct space space;
	struct steps steps;
	enum step_mode mode;
	struct step_budget budget;
	const struct strategy *strategy;
	struct finding findings[PYTHIA_MAX_FINDINGS];
	uint32_t n_findings;
	struct failure *failures; /* FAILURES_MAX, once there is any */
	uint32_t n_failures;
	struct usual_failures *usual;
	uint32_t n_usual, usual_room;
	struct explaining explaining;
	struct number_map offered_hosts; /* by host bit number */
	uint32_t offers;            /* lists of them that came */
	uint32_t over_rounds;       /* in a row, at which the steps cost more than the budget */
	struct step_cost actual;    /* of all steps, at the end of the last watch */
	struct {
		char text[SITE_TEXT]; /* the process that was slow in the last window; or "" */
		uint32_t windows;     /* in a row */
		uint64_t ns;          /* event time of the last */
	} slow_site;
	double event_ns[POINTS_MAX_HOSTS]; /* what an event costs there; 0: not measured */
	double event_bytes;                /* of the points seen so far, on average */
	uint64_t first_ns, now_ns;
	uint32_t epoch;
	struct norm *norms;
	uint32_t n_norms, norms_room;
	uint64_t norms_ns;  /* event time at which the last window was judged */
	uint64_t wide_ns;   /* and the last half window */
	uint64_t places_ns; /* and at which the places of groups were looked at */
	/* What the window of a usual group is against its norm, at least 1: a busy machine. */
	double usual_cov, usual_middle;
	uint64_t excess_ns; /* event time of the last round about what exceeds norms */
	double machine_ns;  /* variance that the machine added then for each ns of a request */
	bool learn_tried;   /* or a person did not want it */
	/* Event time before which what nobody decided on is not proposed again. */
	uint64_t skeleton_ns, learn_ns;
	uint64_t touched_hosts; /* by the order that was done last, a bit each */
	bool *touched_points;   /* likewise, of the first n_touched; the others may be */
	uint32_t n_touched;
	uint32_t n_flagged;         /* groups, at the last round */
	uint64_t silent, silent_ns; /* hosts whose events of our session are not seen now; since */
	uint64_t gone, gone_ns; /* hosts without control now; event time at which the last was lost
				 */
	char lacks[256];

	/* Predicted events/s of each point if it is on, by the rates of the last round. */
	double *rates;
	uint32_t rates_room;

	/* Scratch of a plan. */
	struct candidate *candidates;
	uint32_t n_candidates, candidates_room;
	uint32_t n_excluded; /* points that would be candidates, were they not excluded */
	uint32_t *chosen, *nodes, *in_time;
	uint32_t nodes_room;
	double *doubles;
};

/* cost.c */
void cost_refresh(struct pythia *pythia, const struct groups_view *groups);
double cost_of_point(const struct pythia *pythia, uint32_t point); /* events/s; < 0: not known */
struct step_cost cost_of_parts(
		const struct pythia *pythia, const struct step_part *parts, uint32_t n);
/* The events/s that the tightest bound of the budget allows; < 0: there is none. */
double cost_bound(const struct pythia *pythia);
struct step_cost cost_spent(const struct pythia *pythia);

/* norms.c */
/*
 * How a group performs is taken from the time before learning, when little was recorded, where that
 * was enough; `tracing`: all is on, and that costs time, so that it only stands where nothing does.
 */
void norms_learn(struct pythia *pythia, const struct groups_row *row, bool tracing);
void norms_set(struct pythia *pythia, const struct norm *norm);
/* It was found what makes the group vary: that is not normal, whenever it was learned. */
void norms_drop(struct pythia *pythia, const struct groups_row *row);
/* The norm of a group; NULL: there is none that applies. */
struct norm *norm_of(const struct pythia *pythia, const struct groups_row *row);

/* deviation.c: against the norms */
/* A group performs as it did when it was learned, whatever that is. */
bool norms_hold(const struct pythia *pythia, const struct groups_row *row);
/* It surely does so again; where there is no norm, nothing is said of it. */
bool norms_calm(const struct pythia *pythia, const struct groups_row *row);
bool norms_slowed(const struct pythia *pythia, const struct groups_row *row);
/* And by much more than its requests differ from each other. */
bool norms_shifted(const struct pythia *pythia, const struct groups_row *row);
/* Takes up the groups of the window, once for each. */
void norms_judge(struct pythia *pythia, const struct groups_view *recent);
/* It holds, or what goes beyond it has not lasted, or is everywhere: no reason to search. */
bool norms_excuse(const struct pythia *pythia, const struct groups_row *row);
/* It varies or is slower in this window, and enough to matter. */
bool norms_suspect(const struct pythia *pythia, const struct groups_row *row);
/* Not a few odd requests: the median, or the middle half, surely goes beyond the norm's. */
bool norms_bulk(const struct pythia *pythia, const struct groups_row *row);
/* It goes beyond its norm now, and what it varies by matters. */
bool norms_exceeded(const struct pythia *pythia, const struct groups_row *row);
/* Known to last, and no machine's doing: no excuse until the next window. */
void norms_let_through(struct pythia *pythia, const struct groups_row *row);

/* excess.c */
/* What varies beyond the norm and what the machine makes of all, of its own where it has none:
 * requests/s x sd, in ns/s. */
double excess_of(const struct pythia *pythia, const struct groups_row *row);
/* Takes up the groups of the window, twice for each. */
void excess_judge(struct pythia *pythia, const struct groups_view *recent);
/* Its type held so much of it, for so long, that this is reason enough to search. */
bool excess_is_large(const struct norm *norm);
/* It may come to that, and has not yet. */
bool excess_may_grow_large(const struct pythia *pythia, const struct groups_row *row);

/* An edge of a group: a row of its tree, with its own time. */
struct edge {
	uint32_t row, node;
	double weight;
	bool leaf;
	bool itself; /* nothing in it varied when all was on */
};

/* slow.c */
/* What a row takes in a request, with the parts below it that are no span's: a span's own time when
 * it was learned. */
double slow_own_time(const struct tree_view *tree, uint32_t at);
/* All requests of the group are slower than they were, and vary as they ever did. */
bool slow_is(const struct pythia *pythia, const struct pythia_detail *detail);
/*
 * The rows of a tree, whose nodes are in pythia->nodes, with shares of what takes longer than was
 * learned in the place of phi. free() them. NULL if out of memory.
 */
struct tree_row *slow_rows(const struct pythia *pythia, const struct tree_view *tree);
/* The largest lower bound of such a share; sets pythia->nodes. */
double slow_surest(struct pythia *pythia, const struct pythia_detail *detail);

/* candidates.c */
/* The time of an edge that nothing recorded below it takes, by the profile, in ns a request; 0: not
 * known. */
double space_own_time(const struct pythia *pythia, uint32_t edge);
/* Each sets pythia->candidates, in_time. */
/* The points of an edge that are off; of those, where that is known, in which it can vary. */
void candidates_of_edge(struct pythia *pythia, const struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		struct edge *edge);
/* Kernel events, where the code itself has no more points and a host offers them. */
void candidates_of_kernel(struct pythia *pythia);

/* changed.c: takes up what has changed since the baseline; may end searches. */
void changed_judge(struct pythia *pythia, const struct pythia_round *round);

/* failures.c */
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

/* kernel.c */
/* Kernel events are recorded, or else offered. */
bool kernel_is(const struct pythia *pythia, bool recorded);
#define KERNEL_THREADS 1024u /* of all hosts, that a filter may be made of */
/* By number; NULL beyond the last. */
const char *kernel_event_name(uint32_t at);
/* A point as parts, one a host where it is off; returns how many. Their filters are to be freed. */
uint32_t kernel_parts(const struct pythia *pythia, uint32_t at, const struct pythia_thread *threads,
		uint32_t n_threads, struct step_part *parts);

/* finding.c */
/* A copy of the text takes the place of the one that is there; out of memory: that stays. */
void finding_set_text(char **at, const char *text);
void finding_say(struct finding *finding, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
struct finding *finding_of(struct pythia *pythia, uint32_t group_id, bool make, uint32_t type);
void finding_release(struct finding *finding);
void finding_note(struct finding *finding, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
/* A point was on in this search, and what it encloses held next to nothing: phi. */
void finding_rule_out(struct finding *finding, uint32_t point, double phi);
bool finding_rules_out(const struct finding *finding, uint32_t point);

/* search.c: decides on a group that there is enough to see of; may add a proposed step. */
void finding_search(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round);

/* site.c */
/* Nearly all places of a process are slow at the same times, and none of them alone adds most. */
bool site_is_slow(const struct pythia_site *site);
/* "pt-compute (compute-1) on node7" */
void site_text(const struct pythia_site *site, char *out, size_t size);
/*
 * The process that holds most of the group's variance is slow at all it does: the verdict, in
 * words. Looked at every five seconds at most.
 */
bool site_verdict(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round, char *out,
		size_t size);
/*
 * Several groups beyond their norms at once may have a busy machine for it, or a process that they
 * share. Where the worst of them varies in one process, which is slow at all it does while others
 * are well, in two windows in a row, it is that: no excuse. Once a window.
 */
void site_watch(struct pythia *pythia, const struct pythia_round *round);
/* Where a place varies, if in one process alone: into the finding. */
/* The host, and the process, of all that the group's requests do, where it is one. */
void site_of_all(struct finding *finding, const struct pythia_detail *detail,
		const struct pythia_round *round);
void site_of_place(struct finding *finding, const struct pythia_detail *detail,
		const struct pythia_round *round, const struct tree_row *place);
void site_release(struct finding *finding);

/* Room in pythia->nodes for so many rows. False: out of memory. */
static inline bool reserve_nodes(struct pythia *pythia, uint32_t n)
{
	uint32_t *nodes;

	if (n <= pythia->nodes_room) {
		return true;
	}
	nodes = realloc(pythia->nodes, n * sizeof(*nodes));
	if (!nodes) {
		return false;
	}
	pythia->nodes = nodes;
	pythia->nodes_room = n;
	return true;
}

/* The row of a group; NULL: it is not among them (NULL: there are none). */
static inline const struct groups_row *row_of(const struct groups_view *groups, uint32_t group_id)
{
	for (uint32_t i = 0; groups && i < groups->n; i++) {
		if (groups->rows[i].id == group_id) {
			return &groups->rows[i];
		}
	}
	return NULL;
}

/* Its path; "": as above. */
static inline const char *path_of(const struct groups_view *groups, uint32_t group_id)
{
	const struct groups_row *row = row_of(groups, group_id);

	return row ? row->path : "";
}

#define EPOCH_NS (10 * NS_PER_S) /* and some requests: enough to decide on */
/* readiness.c: how long a group's epoch has lasted; and whether that is enough for a verdict. */
uint64_t pythia_age_of_epoch(const struct pythia_round *round, const struct groups_row *row);
bool pythia_is_settled(struct pythia *pythia, const struct pythia_round *round,
		const struct pythia_detail *detail);

/* evidence.c: what was ruled out, what its points cost, what explains it, what to look at next. */
enum status finding_fill_evidence(struct pythia *pythia, const struct finding *finding,
		struct snapshot *snapshot, struct steps_finding *out);
/* Groups that a person asked to be explained, and that no search is about. */
enum status evidence_fill_asked(struct pythia *pythia, struct snapshot *snapshot,
		struct steps_finding *out, uint32_t *n);

/*
 * Where the median of a group surely lies: the quantiles 2.6 standard errors on both sides of one
 * half, for a quarter of the requests, since those that follow each other are alike. 0: not known.
 */
void median_bounds(const struct group_view *group, double *low_ns, double *high_ns);

static inline uint32_t pythia_intern(struct pythia *pythia, const char *text)
{
	return names_add(pythia->names, text, strlen(text));
}

/* propose.c: each may add a step. False: there is nothing to propose. */
bool pythia_propose_skeleton(struct pythia *pythia);
bool pythia_propose_learning(struct pythia *pythia, const struct groups_view *groups);
bool pythia_propose_disabling(struct pythia *pythia, bool all, uint32_t group_id, const char *why);
/* What a person rejected, or what failed, is left alone for a while. */
void pythia_exclude(struct pythia *pythia, const struct step *step);

/* The uninformative points, as parts to disable; room for all points. Returns how many. */
uint32_t pythia_gather_uninformative(const struct pythia *pythia, struct step_part *parts);
/* Adds a step, and approves it where that is the mode. */
struct step *pythia_add_step(struct pythia *pythia, enum step_kind kind,
		const struct step_part *parts, uint32_t n, uint32_t group_id, const char *title,
		const char *why);

#endif
