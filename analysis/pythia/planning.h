/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_PLANNING_H
#define PT_PYTHIA_PLANNING_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/location.h"
#include "pythia/points.h"
#include "pythia/pythia.h"
#include "pythia/steps.h"
#include "pythia/strategy.h"

/*
 * What next: which points could be enabled, at what cost, and the step that is made of them.
 * candidates.c, cost.c, strategy.c, split.c: of an edge; propose.c: steps that are about no edge;
 * kernel.c: kernel events, of the threads that matter; holding.c: where what is waited for is held;
 * watch.c: whether a step is kept.
 *
 * The room's own state is struct planning: only these files write it.
 */
struct planning {
	struct step_budget budget;
	const struct strategy *strategy;
	double event_ns[POINTS_MAX_HOSTS]; /* what an event costs there; 0: not measured */
	double event_bytes;                /* of the points seen so far, on average */
	/* Predicted events/s of each point if it is on, by the rates of the last round. */
	double *rates;
	uint32_t rates_room;
	struct step_cost actual; /* of all steps, at the end of the last watch */
	uint32_t over_rounds;    /* in a row, at which the steps cost more than the budget */
	bool learn_tried;        /* or a person did not want it */
	/* Event time before which what nobody decided on is not proposed again. */
	uint64_t skeleton_ns, learn_ns;
	/* Scratch of a plan. */
	struct candidate *candidates;
	uint32_t n_candidates, candidates_room;
	uint32_t n_excluded; /* points that would be candidates, were they not excluded */
	uint32_t first;      /* of the candidates directly in the edge, by time */
	uint32_t *chosen;
	double *ranks, *parts;
	struct place *places;
};

void planning_init(struct planning *planning);
void planning_release(struct planning *planning);
void planning_set_budget(struct planning *planning, const struct step_budget *budget);
bool planning_set_strategy(struct planning *planning, const char *name); /* false: there is none */
/* Nobody decided on such a step: it is not proposed again for a while. */
void planning_postpone(struct planning *planning, enum step_kind kind, uint64_t now_ns);
void planning_resume(struct planning *planning); /* it may be decided otherwise now */
void planning_set_learn_tried(struct planning *planning, bool tried);

/*
 * split.c: the step that the strategy makes of the candidates. False: none fits.
 */
struct split {
	uint32_t row;  /* of the tree, that they are of; UINT32_MAX: kernel events */
	uint32_t most; /* points; 0: as many as the budget says */
	const struct group_holder *holder; /* they are in the span of who is waited for in the row;
					      NULL: in the row itself */
};
bool split_propose(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct split *split);
/* Some candidate is within the budget. */
bool split_any_fits(const struct pythia *pythia, const struct finding *finding);
/*
 * All steps cost so many times the budget, this one among them, which is undone: by no more than
 * rates differ from what was learned. Its search goes on with fewer points, not with others.
 */
void split_take_fewer(struct pythia *pythia, const struct step *step, double times);

/* cost.c */
void cost_refresh(struct pythia *pythia, const struct groups_view *groups);
double cost_of_point(const struct pythia *pythia, uint32_t point); /* events/s; < 0: not known */
struct step_cost cost_of_parts(
		const struct pythia *pythia, const struct step_part *parts, uint32_t n);
/* The events/s that the tightest bound of the budget allows; < 0: there is none. */
double cost_bound(const struct pythia *pythia);
struct step_cost cost_spent(const struct pythia *pythia);
/* What recording an event costs on a host, in ns of CPU; of which `bit` is its number. */
void cost_calibrate(struct planning *planning, uint64_t bit, double event_ns);
/*
 * The load may grow after a step was kept, and its cost with it. cost_take_back() undoes the newest
 * ones, of which it says that all steps bring `events_per_s`, until what the others brought is
 * within the budget; cost_guard() does so when the rates of the moving window are over it for some
 * rounds.
 */
void cost_take_back(struct pythia *pythia, double events_per_s);
void cost_guard(struct pythia *pythia);

/* candidates.c */
/* The time of an edge that nothing recorded below it takes, by the profile, in ns a request; 0: not
 * known. */
double space_own_time(const struct pythia *pythia, uint32_t edge);
/* Each sets pythia->planning.candidates. */
/* The points of an edge that are off; of those, where that is known, in which it can vary. */
void candidates_of_edge(struct pythia *pythia, const struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		struct edge *edge);
/* Those that are off and known to stand below that node, of whatever type it is. */
void candidates_known_within(struct pythia *pythia, const struct finding *finding, uint32_t node);
/* Kernel events, where the code itself has no more points and a host offers them. */
void candidates_of_kernel(struct pythia *pythia);
void candidates_clear(struct planning *planning);

/* kernel.c */
/* Kernel events are recorded, or else offered. */
bool kernel_is(const struct pythia *pythia, bool recorded);
#define KERNEL_THREADS 1024u /* of all hosts, that a filter may be made of */
/* By number; NULL beyond the last. */
const char *kernel_event_name(uint32_t at);
/* A point as parts, one a host where it is off; returns how many. Their filters are to be freed. */
uint32_t kernel_parts(const struct pythia *pythia, uint32_t at, const struct pythia_thread *threads,
		uint32_t n_threads, struct step_part *parts);

/*
 * Where the median of a group surely lies: the quantiles 2.6 standard errors on both sides of one
 * half, for a quarter of the requests, since those that follow each other are alike. 0: not known.
 */
void median_bounds(const struct group_view *group, double *low_ns, double *high_ns);

/* propose.c: each may add a step. False: there is nothing to propose. */
bool pythia_propose_skeleton(struct pythia *pythia);
bool pythia_propose_learning(struct pythia *pythia, const struct pythia_round *round);
bool pythia_propose_disabling(struct pythia *pythia, bool all, uint32_t group_id, const char *why);
/* What a person rejected, or what failed, is left alone for a while. */
void pythia_exclude(struct pythia *pythia, const struct step *step);

/* A point of ours that nobody pinned told nothing for so many epochs in a row, or is not seen. */
bool pythia_tells_nothing(const struct pythia *pythia, const struct point *point, uint32_t epochs);
/* Such points, as parts to disable; room for all points. Returns how many. */
uint32_t pythia_gather_uninformative(
		const struct pythia *pythia, uint32_t epochs, struct step_part *parts);
/* Adds a step, and approves it where that is the mode. */
struct step *pythia_add_step(struct pythia *pythia, enum step_kind kind,
		const struct step_part *parts, uint32_t n, uint32_t group_id, const char *title,
		const char *why);

/*
 * holding.c: a step into the span of who is waited for in an edge, if it has a good part of the
 * wait. False: nobody is, or nothing can be enabled there that is known to fire.
 */
bool holding_propose(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct edge *edge);

#endif
