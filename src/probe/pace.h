/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_PACE_H
#define PT_PROBE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How much of the time is recorded, so that recording takes no more than a share of what the
 * recorded processes have of the processors. It is a matter only where they have much to do: they
 * use a quarter of a processor, or the machine has none idle. Then spans of time are recorded
 * whole, and between them nothing is. Who does less is recorded all of the time: a server that is
 * asked a few hundred times a second does not become slower for whoever asks.
 *
 * What it costs to record is what the kernel's programs take, most of it in the recorded threads,
 * and what it takes to call them and to measure that, PACE_CALLING times as much in all. What is
 * done elsewhere for it, by the probe, the relay daemon and the console, counts for the share of the
 * time in which no processor is idle, as somebody has to wait for it then: (1 - idle)^processors, as
 * if each were idle or not regardless of the others.
 *
 * Pure. Threads: the caller's. O(1).
 */
#define PACE_PERIOD_NS       UINT64_C(2000000000) /* a span and the pause behind it, at least */
#define PACE_LONGEST_NS      UINT64_C(5000000000) /* and at most: two are in a window */
#define PACE_SPAN_NS         UINT64_C(250000000)  /* a span, if the period is not too long for it */
#define PACE_LOOK_NS         UINT64_C(500000000)  /* a span, while all of the time is recorded */
#define PACE_FIRST_NS        UINT64_C(100000000)  /* the first one, and where a load begins */
#define PACE_LEAST           0.02                 /* share of the time that is recorded at least */
#define PACE_LEAST_BUSY      0.25 /* processors; who uses less is recorded all of the time, */
#define PACE_LEAST_BUSY_FULL 0.05 /* and as many where none is idle */
#define PACE_IDLE            0.1  /* share of all processors; less: none counts as idle */
#define PACE_CALLING         1.6  /* of what the programs take by themselves */
#define PACE_GROWTH          1.5  /* of the share of the time, at most, from one span to the next */
#define PACE_CAUTION         0.5  /* of what is allowed where a load begins: that says little */

struct pace {
	double limit; /* share of the CPU time of what is recorded */
	double duty;  /* share of the time that is recorded; 0: nothing was decided so far */
	bool much;    /* what is recorded had much to do, when that was decided */
};

/* What was seen since the span before began. */
struct pace_seen {
	uint64_t span_ns;  /* recorded */
	double busy_ns;    /* CPU time of what is recorded, in the span */
	double kernel_ns;  /* of the kernel's programs, in the span */
	double beside_ns;  /* of who works on what was recorded, since the span before */
	double idle;       /* share of all processors that was idle, since then: 0 to 1 */
	double processors; /* how many there are */
};

/* After a span: the share of the time from now on. */
double pace_decide(struct pace *pace, const struct pace_seen *seen);

/*
 * All of the time is recorded, and a load begins: is it to be decided now, span_ns after the span
 * began? It is once what is recorded has used so much that the whole look would find it busy; less
 * is a burst.
 */
bool pace_load_begins(const struct pace *pace, uint64_t span_ns, double busy_ns);

uint64_t pace_span_ns(const struct pace *pace);
uint64_t pace_pause_ns(const struct pace *pace); /* 0: all is recorded */

#endif
