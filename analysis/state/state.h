/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_STATE_H
#define PT_STATE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "pythiatop/engine.h"
#include "registry.h"
#include "state/log.h"
#include "state/sockets.h"
#include "state/threads.h"

/*
 * The live state of the watched systems: who runs, waits and blocks, which calls are open, which
 * file is behind an fd; now, and at any instant of the window, then collected. (Desfossez, Dagenais
 * et al., the live state system of LTTng, 2014.)
 *
 * state_feed() is called for every event of use before the requests see it.
 * Event time alone; one thread; everything bounded by max_bytes (oldest detail goes first).
 */
struct state;

struct state_config {
	uint64_t window_ns;
	uint64_t max_bytes;
	uint64_t max_pin_bytes;
	/* The interned name of a thread's innermost open span (top is not NULL). */
	uint32_t (*innermost)(const struct thread *thread);
};

struct state *state_create(const struct state_config *config, struct registry *registry,
		struct names *names, struct threads *threads, struct event_log *log);
void state_destroy(struct state *state);

bool state_add_type(struct state *state); /* a type was added to the registry */
/* Are events of that type of any use? Others need not be fed. */
bool state_uses(const struct state *state, uint32_t type);
/* Takes an event of such a type; false: it told nothing, after all. */
bool state_feed(struct state *state, const struct event *event, uint64_t number);
/* What the event that was fed last told of connections; and what all told. */
const struct socket_calls *state_socket_calls(const struct state *state);
const struct socket_counts *state_socket_counts(const struct state *state);
void state_lose(struct state *state, const struct loss *loss);

/* Collects what left the window, and samples: to be called, before the event of that time, when
 * event time reaches a multiple of state_tick_ns(), and before anybody looks. */
void state_advance(struct state *state, uint64_t now_ns);
/*
 * Where nobody traces a host's kernel any more, or tells what runs there, nothing is known of its
 * threads from its last event on: to be called when a session has ended, and when state_record()
 * says so.
 */
void state_forget(struct state *state, uint64_t now_ns);
/*
 * Steps record which threads run on a host, or do so no more. True: they did until at_ns, and where
 * no others do that is to be forgotten then.
 */
bool state_record(struct state *state, uint32_t host, bool by_us, uint64_t at_ns);
static inline uint64_t state_tick_ns(uint64_t window_ns)
{
	return window_ns / 1000 + 1;
}

void state_pin(struct state *state, uint64_t now_ns);
void state_unpin(struct state *state);

/* Called before a thread of the table goes; false: it runs, or is in a system call. */
bool state_release_thread(struct state *state, struct thread *thread, bool force);

/* Fills snapshot->state as of at_ns, for the focus' thread and fd. */
enum status state_fill(struct state *state, const struct focus *focus, uint64_t at_ns,
		struct snapshot *snapshot);

/* What a thread did just before an instant: for critical paths. */
struct state_doing {
	enum thread_status status;
	uint64_t since_ns;
	uint32_t blocked_on; /* interned: the call it is blocked in, else what for; 0: not told */
	int32_t waker_tid;   /* who ended a block, at that instant; -1: not told, or */
	enum interrupt_kind woken_by; /* an interrupt of that kind did */
};

/* Are there kernel events at all? Without them state_doing() knows nothing. */
bool state_has_kernel(const struct state *state);
/* Was it told which threads ran on a host in any of this time? Not before it was told anew. */
bool state_was_told(const struct state *state, uint32_t host, uint64_t from_ns, uint64_t to_ns);
/* What a disk is called, interned; 0: nothing told it. */
uint32_t state_disk_name(const struct state *state, uint32_t host, uint64_t device);
/* Does an event of this type begin a system call? A thread is in one at a time. */
bool state_enters_call(const struct state *state, uint32_t type);
/* Is it told who wakes whom (sched_waking)? */
bool state_has_wakers(const struct state *state);
/* False: no kernel event told of that thread then. O(log changes of its status). */
bool state_doing(struct state *state, uint32_t host, int32_t tid, int32_t pid, uint64_t before_ns,
		struct state_doing *out);

/*
 * Who ran on the CPU that a thread was given at to_ns, and before on those whose run queues it was
 * on, from from_ns until then: each stretch, the last CPU's first; tid 0: nobody, it was idle. What
 * was not told is left out, unless a switch tells at its end whom the CPU was taken from. False:
 * which CPU it was is not known.
 */
typedef void state_ran(void *context, int32_t tid, uint64_t from_ns, uint64_t to_ns);
bool state_ran_instead(struct state *state, uint32_t host, int32_t tid, uint64_t from_ns,
		uint64_t to_ns, state_ran *ran, void *context);

/* The thread works for `owner` from now on (0: nobody we know of). Cheap, and nothing for a thread
 * that no kernel event was about. */
void state_set_owner(struct state *state, struct thread *thread, uint64_t owner, uint64_t now_ns);
/*
 * What a thread did for any of the owners between two instants of the last window, added to *out:
 * the resources of requests. Each instant of a thread is one owner's, or nobody's.
 */
void state_add_resources(struct state *state, uint32_t host, uint64_t thread_key, uint64_t from_ns,
		uint64_t to_ns, const uint64_t *owners, uint32_t n_owners,
		struct state_resources *out);

#endif
