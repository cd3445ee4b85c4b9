/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_HOLDERS_H
#define PT_REQUESTS_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "requests/requests.h"
#include "stats/handover.h"

/*
 * Who was waited for, on the critical paths of some requests, and what those did meanwhile.
 *
 *   woken     kernel events: whoever woke the thread (Giraldeau & Dagenais 2016), if that works for
 *             another request or for none. Where that one was blocked as well, whoever woke it. Or
 *             an interrupt did: a timer, a disk.
 *   ran       kernel events: the thread was runnable, and others ran on the CPU whose run queue it
 *             was on, or nobody.
 *   queued    a message was sent, or lies in a socket, and its thread had not begun: what that one
 *             did instead.
 *   inferred  without kernel events at that time: a thread of the same process that ended, just
 *             before the end of the wait, the kind of span that ends there again and again
 *             (stats/handover.h). Where its own span ended so as well, whoever ended that.
 *
 * The time of a wait is told of the innermost spans of that thread meanwhile. Of chains of waits
 * the last one counts, HOLDERS_CHAIN at most; one that comes back to a thread of its own ends
 * there.
 *
 * Only waits of HOLDERS_LEAST_NS or more (on run queues HOLDERS_RAN_NS) are looked at,
 * HOLDERS_WAITS of them at most, as far as the last spans that ended tell of that time (ended.h).
 * Of each kind of wait the HOLDERS_MAX holders of most time are kept, of queues those of most
 * variation: many short waits are no reason why requests vary. A share is of the time of all waits
 * of its kind that were looked at; what no holder has is not known.
 *
 * What a thread did in no span is known with kernel events alone. Where a queue's thread, or who
 * ends waits by inference, was in spans for less than HOLDERS_TOLD of the time of the waits,
 * nothing is told: it was not that which took the time.
 *
 * Units: ns of event time. Memory: 80 bytes a wait, 300 KiB for the way back in the threads that
 * are asked about, and what ended (process_ends.h) once for all that are judged at an instant.
 * Cost: of each wait what ended near its end.
 */
#define HOLDERS_LEAST_NS UINT64_C(100000)
#define HOLDERS_RAN_NS   UINT64_C(10000) /* likewise of run queues: it is cheap to know who ran */
#define HOLDERS_WAITS    8192u
#define HOLDERS_TOLD     0.3
#define HOLDERS_MAX      8u
#define HOLDERS_CHAIN    16u
#define HOLDERS_KINDS    4u /* of waits, those of most time */

enum held_how { HELD_WOKEN = 0, HELD_QUEUED, HELD_INFERRED, HELD_RAN };

struct holder {
	uint32_t name, provider; /* of its span; 0: it was in none that was recorded */
	uint32_t type;           /* of its request, interned; 0: of none, or not known */
	uint32_t process;        /* interned; 0: not known */
	int64_t pid;             /* of another process than the one that waits; 0: of several */
	int32_t tid;             /* likewise of its thread */
	enum interrupt_kind interrupt; /* no thread: the kernel was told by that; else NONE */
	bool idle;               /* nobody: the CPU slept, and takes its time to wake up */
	bool child;              /* the process that waited has made it, */
	uint32_t made_in;        /* interned: in that call; 0: not told */
	uint32_t waits;
	uint64_t ns;
	/*
	 * Of the sum over waits of w * (w - mean), their variation, its part: of its ns in them,
	 * weighted alike. Parts sum up to the whole; who is waited for in the short ones alone has
	 * less than none. ns^2.
	 */
	double variation;
};

/* The waits of one calling context. */
struct held {
	uint32_t context; /* "(blocked: futex)", "(runnable)" of a span, or the span itself */
	enum held_how how;
	uint32_t waits, known; /* known: of which the holder is */
	double weight;         /* of the waits: how many they stand for */
	uint64_t ns;           /* weighted, as holders' are */
	double variation;                     /* of all of them, ns^2 */
	struct handover evidence;             /* HELD_INFERRED */
	uint32_t n_ends, ends[HANDOVER_MOST]; /* likewise: names of the spans that end there */
	uint32_t n;                           /* holders, the one of most time first */
	struct holder holders[HOLDERS_MAX];
};

struct holders;
struct process_ends;

/*
 * NULL if out of memory. *ends, NULL at first, is set once what ended is asked for
 * (process_ends.h): the caller gives it to those judged at the same instant, and destroys it before
 * the next event.
 */
struct holders *holders_begin(struct requests *requests, struct process_ends **ends);
void holders_end(struct holders *holders);
/*
 * Takes the waits of one finished request, which stands for so many as it (1 or more). False if out
 * of memory.
 */
bool holders_add(struct holders *holders, const struct request *request, double weight);
/*
 * Judges them, the kind of most time first; of one context (0: all) and of what is waited for
 * within its own time. Returns how many are told, at most HOLDERS_KINDS.
 */
uint32_t holders_judge(struct holders *holders, uint32_t context, struct held *out);

#endif
