/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_GROUPING_H
#define PT_GROUPS_GROUPING_H

#include "base/arena.h"
#include "base/pool.h"
#include "groups/collected.h"
#include "groups/failing.h"
#include "groups/group.h"
#include "groups/groups.h"
#include "groups/kept.h"
#include "groups/rows.h"
#include "groups/timeline.h"
#include "groups/tree.h"
#include "groups/view.h"

/*
 * What the files of this folder share, and nobody outside of it includes.
 *
 * Running totals (`all`, `epoch`, `window`) hold what has been added so far, so that a fill at the
 * latest time reads them and sums nothing. Slices serve what totals cannot: they are taken out of
 * the window's total when they leave it, draw the heat map, and take a frozen screen back in time.
 *
 * The pin copies nothing when it begins: slices of before are sealed (later ones are new slices,
 * even of the same quarter), and a group's totals are copied when they first change afterwards.
 *
 *   totals.c   what is counted
 *   groups.c   keys and groups; taking a request; epochs; the pin
 *   group.c    what is cached of a group, or pinned, before it changes
 *   slices.c   time passing: which slices exist, and what they hold
 *   keep.c     which requests are kept; bound.c: and which not, for want of room
 *   profile.c  where the time of requests went: sums for each context
 *   sample.c   the last sampled requests of each group, packed
 *   texts.c    texts of key-values
 *   observed.c what both hold of a group
 *   observe.c  sampled requests into both; leaving.c: out of the window, and out of memory
 *   collected.c  their key-values; collect.c: where a group is explained; table.c: as a table
 *   locate.c   shares of the variance, by share_interval.c with their intervals
 *   where.c    what is located at an instant
 *   gaps.c     the order of things within a span
 *   timeline.c what requests did in course of time, for since when
 *   tree.c     the calling-context tree
 *   siblings.c groups that differ by whom they ask
 *   label.c    the text that tells a group's path
 *   detect.c   the rules of detection; judge.c: when they are applied
 *   metric.c   what rows are ordered by
 *   baseline.c the baseline that groups are compared with; as_baseline.c: the groups as one;
 *              as_types.c: where the time of each type went
 *   objectives.c  what goes by a group's name: what a schema expects, its place in the baseline
 *   view.c     what is shown at an instant: totals, slowest request
 *   failing.c  where requests fail, by second; failing_common.c: what these have in common
 *   groups_snapshot.c     views into snapshots
 */

struct pin {
	bool on, trimmed;
	uint64_t ns, quarter;
	uint32_t n_groups;
	uint64_t folded;
	uint64_t floor, trimmed_floor; /* first quarter with slices: then, and of what is left */
	struct slice *first, *last;    /* that the pin alone keeps, oldest first */
	uint64_t bytes;                /* of these, and of copied totals */
};

/* What a schema expects of the types that a glob matches. */
struct objective {
	char *type;
	uint64_t p50_ns;
};

struct baseline_copy;

struct groups {
	struct groups_config config;
	const struct names *names;
	const struct contexts *contexts;
	bool unlabelled;  /* some group is */
	bool renamed;     /* names of contexts or types may be shown otherwise than labels say */
	struct pool pool; /* of slices and histograms */
	struct kept_store kept;
	uint32_t shown[GROUPS_MAX_SHOWN]; /* records of it that a person looks at; 0: none */

	struct group **items;
	uint32_t n, room;
	uint32_t *newest_of_type, n_types; /* index + 1, by type */
	uint32_t *table, table_room;       /* group index + 1 by hash of key; at most half full */
	uint64_t folded;

	bool started;
	uint64_t first_ns, now_ns;
	uint64_t now;               /* quarter */
	uint64_t floor;             /* first quarter that slices are kept of */
	uint32_t window, retention; /* quarters */
	struct slice **slots;       /* by quarter % retention */

	struct samples samples;
	struct sample **sample_slots; /* of the window's, by quarter % window */
	struct profile_bound contexts_bound;
	struct profile_items items_of_one; /* the request being taken in */
	struct sample_keys *keys_of_one;   /* NULL: nothing was ever collected */
	struct observed past;              /* of an instant stepped back to */
	struct located located;
	struct tree_work tree;

	uint32_t epoch; /* the one begun last, of some groups or all */
	uint32_t seal;
	uint64_t epoch_ns;
	struct pin pin;

	struct row_cache caches[HORIZON_COUNT];
	struct row_cache cache; /* the one of the horizon that is looked at */
	enum horizon cached;    /* that horizon */
	struct detect_medians compared_medians;
	uint32_t judge_next; /* group whose turn it is to be judged */

	struct timelines timelines;
	struct failing *failing; /* where they fail, and how often */

	struct objective *objectives;
	uint32_t n_objectives;
	struct baseline_copy *baseline; /* NULL: none */
	struct arena made_arena;
	struct baseline made; /* the one that was asked for last */
	struct totals scratch;
};

#endif
