/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_CX_H
#define PT_STATE_CX_H

#include "registry.h"
#include "state/cpu_state.h"
#include "state/state.h"
#include "state/store.h"

/*
 * What the files of the state share, and nobody else includes.
 *
 * Order of one event: its rule's handler; for the exit of a system call the call_rule's handler,
 * while the call is still open; then the call is closed.
 */
struct files;
struct disks;
struct nets;
struct sockets; /* socket_table.c */

/* How prev_state of sched_switch reads, by kernel release; see kernel.c. */
struct switch_states {
	uint32_t preempted, dead;
};

struct host_state {
	struct cpu_state *cpus;
	uint32_t n_cpus;
	bool statedump;
	bool ended;                      /* nobody tells any more what its threads run */
	bool by_us;                      /* steps of ours record it, */
	uint64_t by_us_until_ns;         /* or did until then; else 0 */
	uint64_t last_ns;                /* of its kernel's events */
	/* Of its switches: the first since they are told anew, the last, the last told by others. */
	uint64_t since_ns, switched_ns, theirs_ns;
	bool tells_received, tells_sent; /* packets of interfaces: such events have come */
	struct switch_states states;
	struct attribute events; /* running total, sampled */
};

struct state_cx {
	struct registry *registry;
	struct names *names;
	struct threads *threads;
	struct event_log *log;
	struct store store;
	uint32_t (*innermost)(const struct thread *thread); /* see struct state_config */
	uint64_t now_ns, window_ns;
	uint64_t number;          /* of the event being handled, in the log */
	bool no_use;              /* set by its handler: it tells nothing, after all */
	struct host_state *hosts; /* by registry host */
	uint32_t n_hosts;
	struct state_plan *plans; /* by event type */
	uint32_t n_plans, plan_room;
	struct files *files; /* of files.c, disks.c, net.c: theirs alone */
	struct disks *disks;
	struct nets *nets;
	struct sockets *sockets;
	struct series calls;             /* struct call_record, by end */
	struct series irqs;              /* struct irq_record, by end */
	uint64_t last_id;                /* of a thread */
	bool has_waking;                 /* sched_waking is traced: it tells the waker better */
	uint32_t perf_names[STATE_PERF]; /* interned */
	uint32_t n_perf;
	struct thread_state *oldest, *newest; /* of all threads */
};

static inline uint32_t event_host(const struct state_cx *cx, const struct event *event)
{
	return cx->registry->streams[event->stream].host;
}

#endif
