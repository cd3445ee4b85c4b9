/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_THREADS_H
#define PT_STATE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "pythiatop/event.h"

/*
 * The threads of all hosts, which of them each CPU runs, and what processes are called.
 *
 * A thread is (host, pid namespace, tid), whatever session an event came from, so that a host's
 * kernel and user-space events meet in one thread. User-space events of another pid namespace than
 * the host's own carry tids of that namespace: they are threads of their own.
 *
 * Memory: at most `max` threads; beyond, one that was not seen lately and is in no open span goes.
 * A CPU's thread is not known before its first sched_switch.
 */
#define THREAD_IDLE    (UINT64_C(1) << 63)
#define THREAD_HOST_NS UINT64_C(0xeffffffc) /* PROC_PID_INIT_INO of Linux: the host's own */

/* The key of a thread as the host's kernel counts. */
static inline uint64_t thread_host_key(uint64_t tid, uint32_t cpu)
{
	return tid == 0 ? THREAD_IDLE | cpu : (uint32_t)tid;
}

/* The key of a thread of a pid namespace. */
static inline uint64_t thread_ns_key(uint64_t space, uint64_t tid)
{
	return (uint32_t)tid | (space == THREAD_HOST_NS ? 0 : (space << 32 & ~THREAD_IDLE));
}

struct open_span;    /* of the request engine */
struct thread_state; /* of the state */

struct thread {
	uint64_t key; /* pid namespace << 32, tid; THREAD_IDLE, CPU for what runs when nothing does
		       */
	uint32_t host;
	int32_t tid, pid;               /* pid -1: not known */
	uint32_t comm;                  /* interned name, 0: not known */
	struct open_span *top, *bottom; /* innermost and outermost open span; NULL if none */
	uint32_t n_open;
	uint32_t ended;             /* its last span that ended: number in requests/ended.h */
	bool mixed;                 /* open spans belong to more than one request */
	bool seen;                  /* since the last sweep */
	struct thread_state *state; /* NULL: no kernel event was about it */
};

struct threads;

/* Called before a thread goes: closes its spans; false: spans of open requests are left. */
typedef bool threads_release_fn(void *context, struct thread *thread, bool force);

struct threads *threads_create(uint32_t max, threads_release_fn *release, void *context);
void threads_destroy(struct threads *threads);

/* The thread of that key, new if it was not known. NULL if out of memory. */
struct thread *threads_get(struct threads *threads, uint32_t host, uint64_t key);

/* The same, NULL if it was not known. */
struct thread *threads_find(struct threads *threads, uint32_t host, uint64_t key);
/* It has ended, or its tid begins anew: lets go of it at once. */
void threads_remove(struct threads *threads, struct thread *thread);
/* Calls `each` for every thread, in no order that may be shown. */
void threads_each(struct threads *threads, void (*each)(void *context, struct thread *thread),
		void *context);

/*
 * A thread of another pid namespace than the host's own has a tid in each: events of either are
 * its. At most 65,536 such threads; then all are learned anew.
 */
void threads_alias(struct threads *threads, uint32_t host, uint64_t key, uint64_t real_key);
/* The host's key of a thread; `key` itself if it is not known to have another. */
uint64_t threads_resolve(const struct threads *threads, uint32_t host, uint64_t key);

/* Counts up whenever a thread goes: pointers held from before are no longer valid;
 * or a key has come to mean another thread. */
uint64_t threads_generation(const struct threads *threads);
uint32_t threads_count(const struct threads *threads);

/* Key of the thread that a CPU of a host runs. False: not known. */
bool threads_current(const struct threads *threads, uint32_t host, uint32_t cpu, uint64_t *key);
void threads_switch(struct threads *threads, uint32_t host, uint32_t cpu, uint64_t key);

/* What a process is called; 0 if not known. At most 65,536 of them; then all are learned anew. */
void threads_name_process(struct threads *threads, uint32_t host, int64_t pid, uint32_t name);
uint32_t threads_process_name(const struct threads *threads, uint32_t host, int64_t pid);
/*
 * A process that has a name was made by another, in a call of that one (interned; 0: not seen). And
 * whether that is so, and in which call, while the name is known.
 */
void threads_bear_process(struct threads *threads, uint32_t host, int64_t pid, int64_t parent,
		uint32_t made_in);
bool threads_is_child(const struct threads *threads, uint32_t host, int64_t pid, int64_t parent,
		uint32_t *made_in);
/* What the process of a thread is called, as its first thread is; 0 if not known. */
uint32_t threads_program(struct threads *threads, uint32_t host, uint64_t key);

#endif
