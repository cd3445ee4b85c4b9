/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_INTERNAL_H
#define PT_GROUPS_INTERNAL_H

#include "base/arena.h"
#include "groups/detect.h"
#include "groups/failing.h"
#include "groups/groups.h"
#include "groups/kept.h"
#include "groups/locate.h"
#include "groups/profile.h"
#include "groups/sample.h"
#include "groups/timeline.h"
#include "base/pool.h"
#include "stats/histogram.h"
#include "stats/moments.h"

/*
 * What the files of this folder share. Time is cut in quarter-seconds, four to the one-second
 * bucket: a quarter is a column of the heat map and the step of a frozen screen, so that neither
 * needs a store of its own. A `slice` is what one group did in one quarter.
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
#define QUARTER_NS         UINT64_C(250000000)
#define MAX_QUARTERS       4096                  /* of a window: 17 minutes */
#define MAX_BUCKET_BYTES   (UINT64_C(256) << 20) /* unless configured */
#define SAMPLES_LEAST      256u /* measured ones: so many stay when buckets of their time have gone */
#define RING_LEAST         16u /* kept ones, likewise */
#define SAMPLES_PER_S      2000u
#define TOPS_MAX           16u
#define FAILED_PER_QUARTER 4u /* requests that failed kept of a group */
#define ENOUGH_REQUESTS    50u
#define HEAT_CELL_BINS     (HISTOGRAM_OCTAVE_BINS / 8)

struct totals {
	struct moments moments; /* of complete, untainted requests */
	struct histogram histogram;
	uint64_t tainted, partial;
	uint64_t failed;  /* of the complete, untainted ones; */
	uint64_t lost;    /* of the partial ones: what fell silent, or whose thread ended */
	uint64_t sampled; /* of all these, how many were taken into the sample */
};

#define REST_NAME "(rest)"

/* A kept request, by how slow it is. */
struct slow {
	uint64_t ns, id;
	uint32_t record; /* 0: none */
};

struct slice {
	struct totals totals;
	uint64_t quarter;
	struct slice *older, *newer; /* of its group: by quarter, sealed ones first */
	struct slice *next;          /* of the same quarter, or in the pin's queue */
	uint32_t group;
	uint32_t epoch; /* its requests started in this epoch, or before it: epoch - 1 */
	uint32_t seal;
	bool in_window;
	uint32_t kept; /* first request of each heat cell, and some that failed: chain of records */
	uint8_t kept_failed; /* how many of the latter */
	struct slow slowest;
};

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

/* Whether a request belongs to the sample of its group. */
enum sampling {
	SAMPLING_NONE,
	SAMPLING_UNIFORM,
	SAMPLING_ADDED, /* for shares of the variance only */
};

/* Where the time of the sampled requests went. */
struct observed {
	struct profile profile;  /* sums of each horizon */
	struct sample_ring ring; /* the last of them */
	uint64_t changes;        /* counts up */
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
	uint64_t key;          /* of its path by names: the same in every run; never 0 */
	uint64_t kinds; /* likewise, of servers by their kind; 0: not asked for; see siblings.h */
	char *services;        /* providers visited, variant: "api>sched image=a", U+203A */
	uint32_t same_type;    /* index + 1 of the group of its type made before it; 0: none */
	uint64_t objective_ns; /* median that a schema expects; 0: none */
	const struct baseline_group *was; /* in the baseline; NULL: not there */
	struct collected *collected;      /* keys; NULL: they are not collected */
};

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

/* A row of the groups, in their order. */
struct place {
	bool idle;     /* struct group's: such are last */
	double value;  /* of the metric in focus */
	double weight; /* count x sd; of an idle one 0 */
	uint32_t index;
};

struct baseline_copy;

/* Rows of a horizon by group, cached: see rows_valid. */
struct row_cache {
	struct groups_row *rows;
	struct detect_median *medians;
};

/* What is shown, and when. */
struct view {
	uint64_t at_ns, start_ns; /* of the horizon */
	uint64_t quarter;         /* of at_ns */
	uint64_t floor;           /* first quarter with slices */
	bool latest;              /* the latest instant, or the pin itself: totals answer */
	bool pinned;
	enum horizon horizon;
	uint32_t epoch; /* of the group that it was narrowed to */
	uint32_t n_groups;
	uint64_t epoch_ns, folded;
};

/* Where time went at an instant; borrowed until the next look. */
struct instant {
	struct view view;
	const struct profile *profile;
	const struct sample_ring *ring;
	uint64_t changes;
};

/* The location made last, kept while it holds. */
struct located {
	bool valid;
	uint32_t group;
	uint64_t changes;
	struct view view;
	struct location location;
};

/* Memory that trees are made in; grows with the contexts that there are. */
struct tree_work {
	uint64_t *places; /* by context: serial and branch */
	uint32_t n_places, serial;
	struct branch *branches;
	struct profile_sums *sums; /* by branch */
	uint32_t *order;           /* branches by row */
	uint32_t n, room;
};

/* A key that requests of a group have. Those whose requests all left the ring have none left. */
/* Over all requests that were read with a key: how long they took, and how long until it was told.
 */
struct elapsed {
	double n, after, duration;   /* means, ns */
	double covariance, variance; /* times n */
};

struct collected_key {
	enum explanation_source source;
	bool numeric, is_text; /* see struct request_key */
	uint32_t context, name;
	uint32_t serial;
	uint32_t rows;     /* samples in the ring that have it */
	uint64_t last_row; /* of those taken in, counted from 1 */
	struct elapsed elapsed;
};

#define COLLECTED_SLOTS (2 * SAMPLE_MAX_KEYS)

struct collected {
	uint32_t n, next_serial;
	uint64_t taken;
	struct collected_key keys[SAMPLE_MAX_KEYS]; /* by serial */
	uint16_t table[COLLECTED_SLOTS];            /* place + 1 by hash of the key; 0: none */
};

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

/* Totals. False if out of memory: then nothing, or a part, was counted. */
bool totals_add_complete(struct totals *totals, struct pool *pool, uint64_t ns, uint32_t bin);
void totals_count(struct totals *totals, const struct request *request);
bool totals_merge(struct totals *totals, struct pool *pool, const struct totals *other);
void totals_subtract(struct totals *totals, const struct totals *other);
bool totals_copy(struct totals *totals, struct pool *pool, const struct totals *other);
void totals_clear(struct totals *totals, struct pool *pool);

/* The slice of a quarter that takes requests now, made if need be; NULL if too old, or no memory.
 */
struct slice *slice_of(
		struct groups *groups, struct group *group, uint64_t quarter, uint32_t epoch);
/* Sealed slices are those the pin shows. */
bool slice_is_shown(const struct groups *groups, const struct slice *slice);
void slices_advance(struct groups *groups, uint64_t quarter);
/* Drops oldest slices while the bound on detail is passed. */
void slices_bound(struct groups *groups);
/* Drops the pin's own slices, or the oldest of them only. False if there is none. */
bool slices_trim_pin(struct groups *groups);

/* Copies a group's totals for the pin, before they change. */
void group_before_change(struct groups *groups, struct group *group);
/* What is cached of its rows holds no longer, but of a pin's. */
void group_changed(const struct groups *groups, struct group *group);
/* The first epoch begins: what was cached of everything is its own from now on. */
void groups_part_epoch(struct groups *groups);
/* The slowest kept request of the group's window has to be found again. */
void group_find_window_slowest(struct groups *groups, struct group *group);

/* Keeps the request for the reasons that hold; false: none does, or no memory. `new_cell`: first of
 * its cell of the heat map. */
bool keep_request(struct groups *groups, struct group *group, struct slice *slice,
		struct request *request, bool sampled, bool new_cell);
/*
 * Decides, by the hash of its id, whether the request belongs to the sample of its group; `bin`: of
 * its duration, UINT32_MAX of one that is of no use to statistics. Sets what it weighs in shares of
 * the variance.
 */
enum sampling keep_sample(struct groups *groups, struct group *group, const struct request *request,
		uint32_t bin, uint32_t *weight);
/* Lets go of the group's sampled requests that ended in a quarter before `floor`, but for the last
 * RING_LEAST; and of those that are kept no more. */
void keep_trim_sample(struct groups *groups, struct group *group, uint64_t floor);
void keep_release_slice(struct groups *groups, struct slice *slice);
void keep_release_tops(struct groups *groups, struct tops *tops);
/* Brings kept requests, and what the pin holds, within their bounds. */
void keep_bound(struct groups *groups);

/* Measures a sampled request, and counts where its time went. */
void observe_request(struct groups *groups, struct group *group, const struct request *request,
		enum sampling sampling, uint32_t weight, bool in_window);
/* The window begins after that quarter. */
void observe_leave_window(struct groups *groups, uint64_t quarter);
void observe_begin_epoch(struct group *group);
/* Counts a sample in a horizon, or takes it away again. */
void observed_count(struct observed *observed, enum horizon horizon, const struct sample *sample,
		bool away);
/* False if out of memory: *copy is empty then. */
bool observed_copy(struct observed *copy, const struct observed *observed);
void observed_release(struct groups *groups, struct observed *observed);

void observe_drop_oldest(struct groups *groups, struct group *group);
/* Drops oldest samples while the bound on all is passed. */
void observe_bound(struct groups *groups);

/*
 * The key-values of a request of a group that is collected, with a reference to each text; borrowed
 * until the next call. NULL if they cannot be read. The caller makes a sample of them, and says so,
 * or gives the texts back (nothing: NULL).
 */
const struct sample_keys *collect_read(
		struct groups *groups, struct group *group, const struct request *request);
void collect_taken(struct group *group, const struct sample *sample);
void collect_dropped(struct groups *groups, const struct sample_keys *keys);
/* A sample is about to leave the ring of its group. */
void collect_leave(struct group *group, const struct sample *sample);

/* Fills key, services and, until the next look, label of a new group. False if out of memory. */
bool label_group(struct groups *groups, struct group *group);
/* Gives labels where groups are new, or functions have got names since. O(groups) then, else
 * nothing. */
void label_again(struct groups *groups);
/* What goes by a group's type and path: its objective, and itself in the baseline. */
void group_named(struct groups *groups, struct group *group);

/* Gives verdicts on rows that changed, but for SLOW; the rows must be up to date. */
enum status judge_rows(struct groups *groups, const struct view *view, const struct focus *focus,
		const struct place *places, uint32_t n);

/* Fills what a baseline tells of types; its buckets are those after the `skipped` first ones. False
 * if out of memory. */
bool baseline_types(struct groups *groups, const struct view *view, uint32_t skipped,
		struct baseline *baseline, struct arena *arena);
/* Looks the group up in the baseline. */
void baseline_apply(struct groups *groups, struct group *group);
void baseline_copy_destroy(struct baseline_copy *copy);

struct view view_at(const struct groups *groups, enum horizon horizon, uint64_t at_ns);
/* As it shows this group: of its epoch. */
struct view view_of(
		const struct groups *groups, const struct view *view, const struct group *group);
/* The group existed then. */
bool view_has(const struct view *view, const struct group *group);
/* Of the view's time, what any of the hosts was not recorded in, on purpose, in ns. */
uint64_t groups_unrecorded(const struct groups *groups, uint64_t hosts, const struct view *view);
/* The slice belongs to the window that ends then. */
bool view_in_window(
		const struct groups *groups, const struct view *view, const struct slice *slice);
/* Borrowed until the next call. NULL if out of memory. */
const struct totals *view_totals(
		struct groups *groups, const struct view *view, const struct group *group);
/* Id of the slowest request kept of a horizon as it is now, 0 if none is. */
uint64_t group_slowest(const struct group *group, enum horizon horizon);
/* Id of the slowest complete request kept of the horizon, 0 if none is. */
uint64_t view_slowest(
		const struct groups *groups, const struct view *view, const struct group *group);
/* A request with these ends had ended by then, within the horizon. */
bool view_shows(const struct groups *groups, const struct view *view, uint64_t start_ns,
		uint64_t end_ns);
bool view_shows_request(const struct groups *groups, const struct view *view,
		const struct request *request);
/* False if out of memory. */
bool instant_at(struct groups *groups, const struct view *view, const struct group *group,
		struct instant *out);
/* Borrowed until the next call. NULL if out of memory. */
const struct location *instant_location(
		struct groups *groups, const struct instant *instant, const struct group *group);

const char *context_name(const struct groups *groups, uint32_t context);
/* The names of those above a context, outermost first: "server_create›build". Never NULL. */
const char *context_chain(const struct groups *groups, uint32_t context, struct arena *arena);
enum status fill_location(struct groups *groups, const struct view *view, const struct group *group,
		struct snapshot *snapshot, struct group_location *out);
enum status fill_tree(struct groups *groups, const struct view *view, const struct group *group,
		struct snapshot *snapshot, struct tree_view *out);
enum status fill_tree_of_all(struct groups *groups, const struct view *view,
		struct snapshot *snapshot, struct tree_view *out);
void tree_work_release(struct tree_work *work);

#endif
