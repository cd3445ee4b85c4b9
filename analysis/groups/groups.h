/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_GROUPS_H
#define PT_GROUPS_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "pythiatop/baseline.h"
#include "pythiatop/focus.h"
#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"
#include "requests/contexts.h"
#include "requests/keys.h"
#include "requests/measured.h"
#include "requests/request.h"
#include "requests/walked.h"

/*
 * Requests that should perform alike, and how they do.
 *
 * The key of a group is (type, its variant where a schema groups by fields, set of skeleton calling
 * contexts), so that enabling a tracepoint never moves a request to another group. Groups never
 * disappear. Statistics are of complete, untainted requests; the others are counted.
 *
 * Time is that of events alone: the order of calls decides everything. A request counts in the
 * one-second bucket of its end, which is kept as four quarters: columns of the heat map, and the
 * steps of a frozen screen. Buckets last for twice the window, so that a screen stepped back has
 * its whole window at every instant; a request that ended before that counts in `epoch` and `all`
 * only.
 *
 * Of each group a sample is measured (samples_per_s as a rule and at most 2,000 a second, chosen by
 * the hash of their ids, so uniform where load is steady), and, for shares of the variance, a
 * quarter as many of the slowest: all that are beyond a quantile of the window. Kept for
 * drill-down: of the sample a quarter of samples_per_s, chosen likewise, which is all of it where
 * there are not more; the first request of each cell of the heat map, the slowest of each quarter
 * and the first four that failed, for as long as buckets last; whatever their age the last 16 of
 * the sample, and the slowest 16 of the whole run and of the epoch.
 *
 * Memory: about 1.2 KiB a group, its histograms (stats/histogram.h: usually 0.5 to 2 KiB each), and
 * 256 bytes and a histogram for each quarter with requests. Beyond max_bucket_bytes the oldest
 * quarters of all groups go, and the window is shorter: horizon_ns says so. Kept requests beyond
 * max_kept_bytes go oldest first, the slowest ones last. What only the pin keeps beyond
 * max_pin_bytes goes oldest first, requests before buckets; the statistics it shows stay.
 *
 * Of the sample of each group the contexts that its time was spent in are summed up, and the last
 * 1,024 for as long as buckets last, or the last 256, are kept for intervals: see profile.h and
 * sample.h, whose bounds are max_contexts and max_sample_bytes. A pin holds at most as much of
 * either once more.
 *
 * Threads: one.
 */
#define GROUPS_MAX_SAMPLES 1024u /* kept of a group; a power of two */

struct groups;

struct groups_config {
	uint64_t window_ns;        /* in quarters of a second, rounded up; at most 17 minutes */
	uint32_t max_groups;       /* further keys are counted as folded */
	uint64_t max_kept_bytes;   /* of kept requests, all groups together */
	uint64_t max_pin_bytes;    /* of what only the pin keeps */
	uint64_t max_bucket_bytes; /* of buckets and totals; 0: 256 MiB */
	double cov_limit;          /* a CoV that is surely above varies; 0: DETECT_COV_LIMIT */
	uint64_t max_contexts;     /* pairs of group and context; 0: 262,144 */
	uint64_t max_sample_bytes; /* of measured requests; 0: 128 MiB */
	uint32_t samples_per_s;    /* of a group, as a rule; 0: 2,000, which is the most */
	/*
	 * Tells where the time of a request went; borrowed until the next call. False: not known.
	 * NULL: nothing is said of it.
	 */
	bool (*measure)(void *measurer, const struct request *request, struct measured *out);
	/* The same of its key-values; asked of groups that are being explained (collect.h). */
	bool (*read_keys)(void *measurer, const struct request *request, struct request_keys *out);
	/* How long the message is that it begins with; as above. NULL: not known. */
	bool (*asked)(void *measurer, const struct request *request, uint64_t *bytes);
	/* Walks a request; as above. NULL: nobody knows the order of things. */
	bool (*walk)(void *measurer, const struct request *request, struct walked *out);
	/* What a span of the request walked last tells in words (requests_told()); or NULL. */
	uint32_t (*told)(void *measurer, uint32_t span, struct request_key *out, uint32_t max);
	/* Is that name one of a server's requests? NULL: none is. */
	bool (*serves)(void *measurer, uint32_t name);
	/* Of the name of a server's requests, or of a call: how many bytes tell what kind of server
	 * it is, and not which; 0: another name. NULL: likewise. */
	uint32_t (*server_kind)(void *measurer, uint32_t name);
	/* How much of the time between two instants any of the hosts (request.h) was not recorded on
	 * purpose. NULL: none. */
	uint64_t (*paused)(void *measurer, uint64_t hosts, uint64_t begin_ns, uint64_t end_ns);
	void *measurer;
};

struct groups *groups_create(const struct groups_config *config, const struct names *names,
		const struct contexts *contexts, struct request_pool *pool);
void groups_destroy(struct groups *groups);

/*
 * Types that match the glob are expected to have a median of at most p50_ns. Where several match
 * the most specific one holds. STATUS_NO_MEMORY: nothing changes.
 */
enum status groups_expect(struct groups *groups, const char *type, uint64_t p50_ns);

/* Names that contexts or types go by are shown otherwise from now on: paths follow. O(1). */
void groups_renamed(struct groups *groups);

/* See engine_set_baseline() and engine_baseline(). Memory: that of the baseline, once more. */
enum status groups_set_baseline(struct groups *groups, const struct baseline *baseline);
/* The one that was set last, without buckets; groups that are not sound have no type (NULL). NULL:
 * none. */
const struct baseline *groups_reference_baseline(const struct groups *groups);
const struct baseline *groups_baseline(struct groups *groups, enum horizon horizon, uint64_t at_ns);

/*
 * Takes one finished request (of any state). The request stays its caller's; what is kept is held.
 * Requests may come in any order of their ends. Sets request->group_id (0: no room for its group).
 * Amortised O(1).
 */
void groups_add(struct groups *groups, struct request *request);

/* Event time has reached now_ns: buckets and kept requests older than the window go. */
void groups_advance(struct groups *groups, uint64_t now_ns);

/*
 * A new epoch of the groups that `touches` says yes to, of all where it is NULL: it counts the
 * requests that start at from_ns or later, which may be ahead of the latest time. The others keep
 * theirs. Until its first one is begun the epoch of a group is everything; a group that is seen
 * for the first time later is in the epoch that was begun last. `hosts` are those that requests of
 * the group have visited so far (request.h).
 */
void groups_begin_epoch(struct groups *groups, uint64_t from_ns,
		bool (*touches)(void *context, uint32_t type, uint64_t hosts), void *context);

/*
 * The pin: what is shown at now_ns stays as it is until groups_unpin(), byte for byte, while
 * requests come in. A second pin replaces the first.
 */
void groups_pin(struct groups *groups, uint64_t now_ns);
void groups_unpin(struct groups *groups);

/*
 * Fills the parts of a snapshot that are about groups, as of at_ns: the latest time, or, while
 * pinned, an instant at most a window before the pin. Such an instant is rounded down to a quarter
 * of a second, and shows what had ended by then: what was shown then, plus what was taken in late
 * (of requests: as far as they are kept). A step before an epoch's begin shows that epoch empty.
 * Also sets window_ns, horizon_ns, pinned and pin_trimmed.
 *
 * A focus on group 0 is answered by the first row, on request 0 by the slowest kept request of the
 * group in the horizon (else of the whole run, else the newest): snapshot->focus names them
 * afterwards. O(groups), of which those unchanged since the last fill cost little. Where epochs of
 * groups differ, horizon_ns is that of the group in focus, or, where all are shown, of the
 * youngest, and horizon_longest_ns of the oldest.
 *
 * Verdicts (detection) are given on what has changed, within a bound on the work of a fill that
 * some 100 groups in doubt reach, or 1,000 clear ones: the group in focus and those on top first,
 * others in turn. One that has to wait shows its last verdict of the horizon; n_modes is 0 where
 * there is none so far. FOCUS_THOROUGH judges all. STATUS_NO_MEMORY: the snapshot is not whole.
 */
enum status groups_fill(struct groups *groups, const struct focus *focus, uint64_t at_ns,
		struct snapshot *snapshot);

/*
 * Mean time from the begin of the span around to that of the spans of each row of the group's tree,
 * from some kept requests of the horizon; below 0: not known. False if out of memory.
 */
bool groups_offsets(struct groups *groups, uint32_t group_id, enum horizon horizon,
		const struct tree_view *tree, double *offset_ns);

/* A part of a context's own time: from the begin of one of its children, to that of the next. */
struct group_gap {
	uint32_t after;  /* context of the child; 0: from its own begin */
	uint32_t before; /* of the next; 0: to its own end */
	double lag_ns;   /* least time from there until the context itself went on */
	double phi;      /* of the group's variance, by an estimate */
};

/*
 * Between which of its children the own time of a context varies, the largest share first, from
 * kept requests that started at since_ns or later; returns how many, 0 if there are too few. The
 * shares add up to the context's own.
 */
uint32_t groups_gaps(struct groups *groups, uint32_t group_id, uint64_t since_ns, uint32_t context,
		struct group_gap *out, uint32_t max);

/* Kept requests of a group, complete and not tainted, of a horizon as of now (or of the pin), the
 * newest first; returns how many, at most max. They are borrowed until something is added. */
uint32_t groups_newest(struct groups *groups, uint32_t group_id, enum horizon horizon,
		const struct request **out, uint32_t max);
/*
 * For how many of the horizon each of such requests stands, 1 or more: more of the slow ones are
 * kept than of the others, so that they are counted by durations, in eighths of an octave.
 */
void groups_weigh(struct groups *groups, uint32_t group_id, enum horizon horizon,
		const struct request *const *requests, uint32_t n, double *weights);

/* A thread that requests of a group were worked on by. */
struct group_thread {
	uint32_t host;
	int32_t tid;
};

/* Those of some kept requests that started at since_ns or later; returns how many, at most max. */
uint32_t groups_threads(struct groups *groups, uint32_t group_id, uint64_t since_ns,
		struct group_thread *out, uint32_t max);

/* A kept request by its id, as of the pin if there is one; NULL if it is not kept (any more). */
struct request *groups_find_request(struct groups *groups, uint64_t id);

/*
 * A kept request of the group, complete, of the horizon in focus, nearest to the median of that;
 * 0: none.
 */
uint64_t groups_median_request(
		struct groups *groups, const struct focus *focus, uint64_t at_ns, uint32_t id);

/*
 * Keeps a request that groups_add() was called for, until it is let go of. Where memory is short it
 * goes before that, but later than others, as the slowest ones do; groups_held() tells. Returns
 * what the other two take; 0: out of memory.
 */
uint32_t groups_hold(struct groups *groups, struct request *request);
enum request_kept groups_held(const struct groups *groups, uint32_t held);
void groups_let_go(struct groups *groups, uint32_t held);

/*
 * Keeps what a person looks at, for as long as they do: these requests, by id, if they are kept
 * now, and no longer those of the call before. 0: none. Their memory comes on top of
 * max_kept_bytes.
 */
#define GROUPS_MAX_SHOWN 2
void groups_show(struct groups *groups, const uint64_t ids[GROUPS_MAX_SHOWN]);
/* Interned; 0: there is no such group. */
uint32_t groups_type(const struct groups *groups, uint32_t group_id);

/* The path of a group as its row shows it, "" if there is no such group. Borrowed until the next
 * fill. */
const char *groups_path(const struct groups *groups, uint32_t id);

#endif
