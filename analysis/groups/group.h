/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_GROUP_H
#define PT_GROUPS_GROUP_H

#include "groups/observed.h"
#include "groups/slices.h"

/* One group: requests of one type, path and variant. */

#define RING_LEAST      16u /* kept requests that stay when buckets of their time have gone */
#define TOPS_MAX        16u
#define ENOUGH_REQUESTS 50u

/* The slowest requests, slowest first; of equal ones the earlier. */
struct tops {
	uint32_t n;
	struct slow items[TOPS_MAX];
};

/* The last sampled requests that are kept: records[(first + i) % room], in order of completion. */
struct ring {
	uint32_t *records;
	uint32_t room, first, n; /* room is a power of two */
	uint64_t second;         /* that seen, taken and slow count */
	uint32_t seen, taken, slow;
	uint64_t mean; /* of those seen a second, in 256ths */
	/* A request whose hash is above is left out of the sample, or not kept with it. */
	uint32_t threshold, kept_threshold;
	uint32_t slow_bin; /* from that bin of durations on all are measured; UINT32_MAX: none */
};

/* Totals by horizon, as they are or as they were when the pin began. */
struct horizons {
	uint32_t epoch;
	uint64_t epoch_ns;
	struct totals totals[HORIZON_COUNT];
	struct observed observed;
	uint64_t slowest[HORIZON_COUNT]; /* request id; of a pin only */
};

/* What adding and filling touch stands first. */
struct group {
	uint32_t index; /* its id is index + 1 */
	uint32_t type, variant, n_path, hash;
	uint32_t *path;
	struct horizons *pinned; /* NULL: as now, or no pin */
	struct slice *newest, *oldest;
	uint64_t first_quarter;
	uint64_t last_start_ns; /* of all its requests */
	uint64_t hosts;         /* that its requests visited, a bit each */
	bool idle;              /* see groups_row.idle_wait */
	uint32_t epoch;         /* number of its epoch, 0: none was begun */
	uint64_t epoch_ns;      /* and its begin */
	char *label;            /* services, plus what tells it from a like group */
	bool unlabelled;        /* what tells it from like groups is still to be found */
	uint8_t rows_valid;     /* its cached rows that are of its totals: a bit for each horizon */
	uint8_t rows_judged;    /* its verdicts that are of its rows */
	struct slow window_slowest;
	struct ring ring;
	struct horizons now;
	struct tops tops, epoch_tops;
	uint64_t key;   /* of its path by names: the same in every run; never 0 */
	uint64_t kinds; /* likewise, of servers by their kind; 0: not asked for; see siblings.h */
	char *services; /* providers visited, variant: "api>sched image=a", U+203A */
	uint32_t same_type;    /* index + 1 of the group of its type made before it; 0: none */
	uint64_t objective_ns; /* median that a schema expects; 0: none */
	const struct baseline_group *was; /* in the baseline; NULL: not there */
	struct collected *collected;      /* keys; NULL: they are not collected */
};

/* Copies a group's totals for the pin, before they change. */
void group_before_change(struct groups *groups, struct group *group);
/* What is cached of its rows holds no longer, but of a pin's. */
void group_changed(const struct groups *groups, struct group *group);
/* The first epoch begins: what was cached of everything is its own from now on. */
void groups_part_epoch(struct groups *groups);
/* The slowest kept request of the group's window has to be found again. */
void group_find_window_slowest(struct groups *groups, struct group *group);
/* Id of the slowest request kept of a horizon as it is now, 0 if none is. */
uint64_t group_slowest(const struct group *group, enum horizon horizon);

#endif
