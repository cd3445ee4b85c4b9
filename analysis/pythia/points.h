/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_POINTS_H
#define PT_PYTHIA_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/number_map.h"

/*
 * All points that can be recorded, or are: a point is a pair of entry and exit, or one tracepoint.
 * Where it is offered, where somebody records it, and where a step of ours made it so.
 *
 * Memory: at most POINTS_MAX; further ones are not known. At most POINTS_MAX_HOSTS hosts: what
 * others offer is not taken up, and said so (points_all_hosts()).
 */
#define POINTS_MAX       131072u
#define POINTS_MAX_HOSTS 64u
#define POINTS_SEEN_NS   UINT64_C(60000000000)
#define POINTS_LATE_NS   UINT64_C(5000000000) /* events of what is undone may come so late */
#define POINTS_APART_NS  UINT64_C(3000000000) /* without an event: it was recorded anew since */
#define POINTS_HELD_NS   UINT64_C(60000000000)
#define POINT_NONE       UINT32_MAX

struct point {
	uint32_t provider, name; /* of the span, interned */
	uint32_t entry, exit;    /* events, interned; exit 0: a single tracepoint */
	bool kernel, skeleton;
	bool bounded;        /* hosts let go of it themselves where it fires too often */
	bool ever;           /* a step of ours has enabled it */
	bool pinned;         /* a person enabled it: it is not uninformative */
	bool placed;         /* it stands somewhere in the space */
	uint64_t offered;    /* hosts, a bit each */
	uint64_t recorded;   /* its events came from there within POINTS_SEEN_NS */
	uint64_t ours;       /* steps in force record it there */
	uint64_t seen_ns;    /* event time of its last event; 0: never */
	double seen_per_s;   /* its events, in requests or not: points_see() */
	uint64_t enabled_ns; /* event time at which a step last enabled it */
	uint64_t undone;     /* hosts where it was ours last, */
	uint64_t undone_ns;  /* until this event time */
	double bytes;        /* of a record of it when it was last seen; 0: it never was */
	uint64_t held_ns;    /* event time at which it was last who is waited for, or was enabled to
				look into that; 0: never */
	uint32_t uninformative;       /* epochs in a row in which it told nothing */
	uint32_t uninformative_epoch; /* the last of them, plus 1 */
	uint32_t informative_epoch;   /* the last in which it told something, plus 1 */
	uint32_t excluded;            /* not before that epoch again */
	uint32_t explained;  /* how often it was the answer */
};

/* What it tells is who is waited for, not what a request itself spends its time in. */
static inline bool point_is_held(const struct point *point, uint64_t now_ns)
{
	return point->held_ns && now_ns < point->held_ns + POINTS_HELD_NS;
}

struct points {
	struct names *names;
	struct point *items;
	uint32_t n, room;
	struct number_map by_name, by_event;
	uint32_t hosts[POINTS_MAX_HOSTS]; /* interned */
	uint32_t n_hosts;
	bool left_out; /* a bound was reached */
};

void points_init(struct points *points, struct names *names);
void points_release(struct points *points);

/* The bit of a host, 0 if there is no room for it. */
uint64_t points_host(struct points *points, const char *host);

/* The point of a span name, new if need be. POINT_NONE: a bound, or out of memory. */
uint32_t points_add(struct points *points, uint32_t provider, uint32_t name, bool kernel);
uint32_t points_find(const struct points *points, uint32_t provider, uint32_t name);
/* It consists of this event; `exit`: the second one of a pair. */
void points_set_event(struct points *points, uint32_t point, uint32_t event, bool exit);
uint32_t points_of_event(const struct points *points, uint32_t event);

/* Hosts that offer it and where nobody records it. */
static inline uint64_t point_off(const struct point *point)
{
	return point->offered & ~(point->recorded | point->ours);
}

/*
 * Events came at a rate in a round, of its entries or of its exits: within a request or not. The
 * largest counts, and less by a tenth each round after it; the last round, mostly a part of one,
 * tells nothing.
 */
static inline void points_see(struct point *point, double events_per_s, uint64_t now_ns)
{
	double all = point->exit ? 2 * events_per_s : events_per_s;

	if (now_ns > point->seen_ns + POINTS_APART_NS) {
		point->seen_per_s = 0;
	} else if (now_ns > point->seen_ns) {
		point->seen_per_s *= 0.9;
	}
	point->seen_per_s = all > point->seen_per_s ? all : point->seen_per_s;
	point->seen_ns = now_ns;
}

/*
 * It is ours no more on these hosts. What still arrives from there was recorded before, and does
 * not say that somebody else records it.
 */
static inline void point_undo(struct point *point, uint64_t hosts, uint64_t now_ns)
{
	hosts &= point->ours;
	point->ours &= ~hosts;
	point->recorded &= ~hosts;
	if (hosts) {
		point->undone = hosts | (point->undone_ns == now_ns ? point->undone : 0);
		point->undone_ns = now_ns;
	}
}

/* It is recorded wherever it is offered, or at least somewhere if no host offers it. */
static inline bool point_is_on(const struct point *point)
{
	return point->recorded | point->ours ? !point_off(point) : false;
}

#endif
