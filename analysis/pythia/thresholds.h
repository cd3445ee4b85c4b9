/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_THRESHOLDS_H
#define PT_PYTHIA_THRESHOLDS_H

/*
 * All that the search decides by, in one place: value, unit, reason. Bounds of memory and of texts
 * stand where they are used. docs/loop.md says what follows from them.
 */
#define NS_PER_S UINT64_C(1000000000)

/* --- When to search: norms.c, deviation.c, excess.c, places.c, round.c */
#define FEW_REQUESTS      50u /* requests of a group; fewer are no norm, and nothing to decide on */
#define JUDGED_REQUESTS   10u /* requests of a window, to judge a group by */
#define NORM_WINDOW_NS    (10 * NS_PER_S) /* what groups are judged by norms in */
#define WINDOWS_ALONE     3  /* windows in a row beyond the norm: nothing passing lasts so long */
#define HALF_WINDOWS      2u /* half windows in which the middle half surely is too wide */
#define WINDOWS_ALL       9u /* windows, whatever others do: what slows all may be in shared code */
#define MIDDLE_GROWS      2.0  /* times the spread of the middle half, surely, against the norm */
#define MIDDLE_COUNTS     0.2  /* and by so much of its median: less does not matter */
#define COV_GROWS         1.5  /* times sd / mean, its lower bound against the norm */
#define MEDIAN_GROWS      1.5  /* times the median */
#define SHIFT_SPREAD      0.25 /* sd, of what the median has grown by: all are slower alike */
#define USUAL_COV         0.3  /* sd / mean of a group of which nothing was learned */
#define USUAL_GROUPS      4u   /* groups; fewer say nothing of the machine */
#define USUAL_MOST        4.0  /* times a norm that the machine excuses: more would hide a fault */
#define COMMON_SHARE      (1.0 / 3) /* of the requests that have norms, beyond them at once, */
#define COMMON_GROUPS     4u        /* in so many groups: no group of its own causes that */
#define SMALL_SHARE       0.05      /* of all variation in a window: less is not worth a search */
#define EXCESS_GROWS      1.5       /* times the sd of the norm, before any of it counts */
#define MACHINE_TIMES     4.0       /* times what the machine adds to the group in the middle */
#define EXCESS_LEAST      0.3 /* of the median of the norm: the sd beyond both, to count as costly */
#define EXCESS_ROUND_NS   (5 * NS_PER_S) /* between rounds: half a window */
#define LARGE_EXCESS      0.6 /* of the variation of a window, in sum: reason enough to search, */
#define EXCESS_ROUNDS     3u  /* seen in so many rounds: what is odd for a moment is in two */
#define PLACE_PHI         0.5 /* lower bound of the share of one place */
#define PLACE_PHI_NORMAL  0.7 /* of a group within its norm, which may be of a busy machine */
#define PLACE_GROWN       1.3 /* times what was learned, beyond what the other places grow by */
#define PLACE_GROWN_SHARE 0.5 /* of all that is taken more */
#define PLACE_ROUNDS      3u  /* of the last four: load is now here and now there */
#define PLACE_ROUNDS_BULK 2u  /* in a row, where few odd requests cannot be the reason */
#define CALM_ROUNDS       2u  /* windows without variation: healthy; one more in a search */
#define EASED             0.7 /* of the standard deviation that a verdict was about */
#define OUTWEIGHS         3.0 /* times the excess: what has less waits for that */

/* --- Where: readiness.c, search.c, slow.c, site.c, changed.c */
#define EPOCH_NS         (10 * NS_PER_S) /* of an epoch and */
#define EPOCH_REQUESTS   200u            /* requests: enough to decide on */
#define WINDOW_STEP_NS   (NS_PER_S / 4)  /* that a window may lack of its ten seconds */
#define LONG_EPOCH_NS    (30 * NS_PER_S) /* that do with FEW_REQUESTS: more may not come */
#define CLEAR_PHI        0.3             /* a lower bound that needs no more requests */
#define CLEAR_EPOCH_NS   (5 * NS_PER_S)  /* with MOST_PHI, for a split: that can be undone */
#define MOST_PHI         0.5             /* of the variance, likewise */
#define PATIENCE_NS      (60 * NS_PER_S) /* for the worst group, before others are examined */
#define ELIGIBLE_PHI     0.10            /* lower bound of a share that is worth splitting */
#define VERDICT_PHI      0.5   /* of a share that is the place: more than all others together */
#define SHARED_PHI       0.25  /* likewise of each of two or three that are */
#define FRUITLESS_SPLITS 2u    /* of an edge in vain, before the next edge comes first */
#define INTERRUPTS_COUNT 0.5   /* of their share: what holds half as much is looked at before them \
				*/
#define NOBODYS_TOLD     0.25  /* of how waits vary: it is known who had the processor, */
#define NOBODYS_SHARE    0.5   /* and of that more: who traces, and nobody */
#define NOBODYS_SLIGHT   0.05  /* of the variance: what wakes up is not worth a word */
#define QUEUED_SHARE     0.1   /* of the variance is requests behind others in a socket, and */
#define BESIDE_QUEUE     0.1   /* so much is not: it is searched for what those others do */
#define OWN_LOAD         0.7   /* of who had the processor meanwhile: the program's own processes */
#define ONE_HOLDER       0.5   /* of how waits vary: it is whom they are for */
#define HOLDER_SHARE     0.25  /* of a wait: points in its span are worth enabling */
#define HOLDER_STEPS     3u    /* while it is the same, before it is the answer */
#define HOLDER_POINTS    32u   /* of them at once: the innermost span is told by few waits */
#define NAMED_STEPS      5u    /* by names, before nothing is thought to be in an edge */
#define Z90              1.645 /* standard errors on both sides: 90 % of a normal distribution */
#define SITE_PHI         0.5   /* of the group's variance, as for a verdict on code */
#define SITE_PLACES      4u    /* judged, to say "most of what it does" */
#define SITE_MOST_PLACES 0.6   /* of them slow at the same times, */
#define SITE_MANY_PLACES 0.4   /* and with those that take next to no time */
#define SITE_OF_GROUP    1.3   /* of those, in a type of requests */
#define SITE_FEW_PLACES  (1.0 / 3) /* up to which a process is well */
#define SITE_WORKING     2u        /* places that work, and do not only wait for it */
#define SITE_ONE_PLACE   0.8       /* of what is added: one place explains more than its share */
#define SITE_HELD_THERE  0.8       /* of a place's own share: it varies in one process alone */
#define SITE_AGAIN_NS    (5 * NS_PER_S) /* between examinations of the processes: they cost time */
#define SITE_LATEST_NS   (120 * NS_PER_S)
#define SITE_WINDOWS     2u             /* in a row, before a slow process is no excuse */
#define SITE_WELL        2u /* other processes that are well, for it not to be the machine */
#define SURE_ROUNDS      2u /* in a row, of a change, before it is a verdict, */
#define SURE_NS          (5 * NS_PER_S) /* that they span */
#define GONE_ROUNDS      3u             /* without a change, until it is over */

/* --- Which of several like servers: siblings.c */
#define SIBLING_P        0.01 /* that chance makes one differ, all comparisons of a round together */
#define SIBLING_TIMES    1.5 /* times the mean of the others, surely; of what was normal, likewise */
#define SIBLING_LEAST_NS 50000.0 /* and so much longer: less nobody notices */
#define SIBLING_PHI      0.5     /* of the difference, surely, in the call: as for a verdict */
#define SIBLING_ROUNDS   2u      /* in a row, */
#define SIBLING_ROUND_NS (5 * NS_PER_S) /* so far apart */
#define SIBLING_GONE     3u             /* rounds without it, until it is over */

/* --- What next: candidates.c, cost.c, strategy.c, propose.c, watch.c, round.c */
#define ITSELF_SHARE      0.5  /* of the edge's sd, when all was on: it is the place itself */
#define VARYING_SHARE     0.35 /* likewise: only points that varied are candidates */
#define VARYING_EACH      0.15 /* of the variance of all of them, to be one */
#define GAP_SHARE         0.8  /* of the edge's: points elsewhere are none, unless it was in vain */
#define BY_TIME           0.25 /* of the chance that a point is the place: by the time it takes */
#define USUAL_EVENT_NS    150.0 /* ns of CPU an event, until a host has measured it */
#define USUAL_EVENT_BYTES 60.0  /* of an event, until any of the point was seen */
#define DEARER            1.1   /* times what a step is thought to cost is left for it */
#define COST_FLOOR        10.0 /* events/s: what costs less is not worth any number of times more */
#define OVER_ROUNDS       3u   /* over the budget, before the newest step is undone */
#define STALE_NS          (60 * NS_PER_S) /* a proposal that nobody decided on is withdrawn, */
#define PROPOSE_AGAIN_NS                                                                           \
	(600 * NS_PER_S) /* and a skeleton, or learning, not proposed again before */
#define GONE_NS              (60 * NS_PER_S) /* that a host may need to come back, */
#define AWAITED_NS           (30 * NS_PER_S) /* and to tell what it offers */
#define UNINFORMATIVE_PHI    0.02 /* upper bound of the share of an uninformative point, */
#define UNINFORMATIVE_HIDES  0.1  /* unless merging it would hide shares of opposite sign */
#define UNINFORMATIVE_EPOCHS 3u   /* in a row, before it is disabled; */
#define UNINFORMATIVE_SCARCE 1u   /* where the budget has no room for what else would be enabled */
#define UNSEEN_NS            (360 * NS_PER_S) /* that a point was never seen, likewise */
#define EXCLUDED_EPOCHS      5u  /* epochs that what was rejected, or failed, is left alone */
#define LEARN_PART           10u /* a tenth of the points must be off, for learning to be worth it */
#define LEARN_TRIES          2u  /* what failed twice would again: a host has not the time for it */
#define SILENCE_NS           (5 * NS_PER_S) /* without a skeleton, before one is proposed */
#define NORMS_MOST           0.95 /* of the requests in groups that can be learned, before; */
#define NORMS_NS             (30 * NS_PER_S) /* for so long that is waited for */
#define BOUNDED_RATE         100000.0 /* events/s of a host: a quarter of a CPU at some us each */
#define MEDIAN_MOVES         0.02     /* of the median, surely, and */
#define SLIGHT_NS            50000.0  /* ns more: a step is undone. Less nobody notices */
#define MEDIAN_ERRORS        2.6      /* standard errors of one half: 99 % */
#define BURSTS               4.0 /* requests count as one: those that follow each other are alike */
#define OVERSHOOT            2.0 /* times what was predicted: a step is undone */
#define SEEN_RATE_NS         (300 * NS_PER_S) /* that the load may be taken for what it was */
#define SLIGHT_SHARE         0.2 /* of the budget: off by so little, a prediction is right */

/* --- What explains it: explaining.c, explained.c, evidence.c */
#define RETRY_NS     (5 * NS_PER_S)        /* between tables of a group */
#define BELIEVED     (2 * EXPLAIN_BELIEVE) /* rows, before rule 2 may fire */
#define ROWS_LAST    512u /* rows that do in any case: twice as many are never kept */
#define BROAD_P      0.01 /* that one value makes many places slow, */
#define BROAD_OMEGA2 0.2  /* of the half held out: the other hosts vary, too */
#define FOUND_P      0.05 /* of a key that is named, */
#define FOUND_OMEGA2 0.1  /* of it: a key may surely matter, and explain nothing */
#define SYSTEM_P     0.01 /* of a host or resource that stands first */
#define MOST_OMEGA2  0.5  /* from which a key explains it, rather than partly */
#define WEAK_OMEGA2  0.1  /* of a key that may matter, and yet explains next to nothing */

/* --- What began to fail: failures.c */
#define FAIL_ERRORS_NOW      4.0 /* standard errors, of the share now */
#define FAIL_ERRORS_BEFORE   3.0 /* likewise of the share before */
#define FAIL_TIMES           1.5 /* times the share of before */
#define FAIL_FEW_FAILED      5u  /* failures, at least */
#define FAIL_FEW_BEFORE      30u /* requests, before anything is said of what was usual */
#define FAIL_BURST_S         10u /* of the worst seconds of before */
#define FAIL_OVER_S          30u /* seconds as seldom as before: it is over */
#define FAIL_YOUNG_NS        (30 * NS_PER_S) /* while so old its text is made anew more often: */
#define FAIL_TELL_NS         (5 * NS_PER_S)  /* every so often, and */
#define FAIL_TELL_OLD_NS     (30 * NS_PER_S) /* later */
#define FAIL_SETTLED_NS      (5 * NS_PER_S)  /* so old, and */
#define FAIL_SETTLED_MANY    20u             /* of so many requests, it is a verdict; */
#define FAIL_SETTLED_LATE_NS (20 * NS_PER_S) /* or so old */

#endif
