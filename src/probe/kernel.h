/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_KERNEL_SIDE_H
#define PT_PROBE_KERNEL_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/cpu_ring.h"
#include "probe/record.h"
#include "pythiatop/status.h"

/*
 * The BPF programs in the kernel, and what they recorded: a ring for each CPU. The only user of
 * libbpf. All of it is the process': the kernel takes it away with it, however it ends.
 *
 * Threads: one. Memory: `ring_bytes` of the kernel's for each CPU that is online.
 */
struct kernel; /* opaque */

/* A sentence about what went wrong, with what to do. */
struct kernel_fault {
	char text[640];
};

/* Puts the sentence down; returns `status`. */
__attribute__((format(printf, 3, 4))) enum status kernel_refuse(
		struct kernel_fault *fault, enum status status, const char *format, ...);

struct kernel_event {
	const char *name, *tracepoint, *since; /* static */
	bool present;                          /* this kernel has the tracepoint */
};

/* Of events.def and the two of system calls. `n`: how many. NULL: this kernel has no BTF. */
const struct kernel_event *kernel_events(uint32_t *n);
/* Is it told by the programs of other events, and cannot be chosen alone? */
bool kernel_event_is_beside(uint32_t event);

/* Whether this user may load BPF programs, and this kernel can take them; as kernel_open() says it.
 */
enum status kernel_may(struct kernel_fault *fault);

struct kernel_setup {
	size_t ring_bytes;
	bool events;  /* all of them are attached from the beginning; else kernel_choose() is asked
		       */
	bool some;    /* only of processes that kernel_join() names, and of all that they start */
	bool summing; /* calls of functions are summed up instead of recorded */
	bool one_by_one; /* functions by perf events, although the kernel could take many at once */
};

/*
 * Loads the programs; nothing is recorded so far. STATUS_NOT_FOUND: the kernel lacks what they
 * need. STATUS_BUSY: this user may not. STATUS_IO: something else.
 */
enum status kernel_open(struct kernel **kernel, const struct kernel_setup *setup,
		struct kernel_fault *fault);

/* Takes the programs away. NULL is allowed. */
void kernel_close(struct kernel *kernel);

/*
 * A process, as the kernel numbers it, is recorded from now on, and those that it starts. Of `some`
 * alone. STATUS_NO_MEMORY: there are PROBE_PROCESSES already.
 */
enum status kernel_join(struct kernel *kernel, int pid);
bool kernel_has_process(const struct kernel *kernel, int pid); /* without `some` all */
/*
 * Of `some`: whether there are processes of which the trace tells no beginning, as they began in a
 * pause or before kernel_join(); true once for those that have come since. And whether a process is
 * one of them; then it is none any more: the state is to be dumped.
 */
bool kernel_take_untold(struct kernel *kernel);
bool kernel_take_process(struct kernel *kernel, int pid);

/* From now on events go into the rings, or are dropped and counted. */
void kernel_record(struct kernel *kernel, bool on);

/* Detaches the programs: nothing is recorded any more; what is in the rings stays. */
void kernel_detach(struct kernel *kernel);

/* --- Pauses --- */

/*
 * From now on the kernel measures how long the programs run, where this user may ask for that, and
 * how long those that are recorded do. Costs some 20 ns a run.
 */
void kernel_measure(struct kernel *kernel);
void kernel_stop_measuring(struct kernel *kernel);

/* Nothing is recorded from now on, and nothing counted as lost; programs are detached. */
void kernel_pause(struct kernel *kernel);
/*
 * Attaches them again; kernel_record() lets them record. Not STATUS_OK: it stays paused.
 */
enum status kernel_resume(struct kernel *kernel, struct kernel_fault *fault);

/* CPU time of the processes that are recorded, all CPUs together, but in pauses. */
uint64_t kernel_busy_ns(const struct kernel *kernel);
/*
 * How long the programs have run, all CPUs together; where the kernel does not measure it for this
 * user (it takes CAP_SYS_ADMIN), a guess by what they have written.
 */
uint64_t kernel_run_ns(const struct kernel *kernel);

uint32_t kernel_n_rings(const struct kernel *kernel);
const uint32_t *kernel_cpus(const struct kernel *kernel); /* of the rings */
struct cpu_ring *kernel_ring(struct kernel *kernel, uint32_t at);

/* --- Single events --- */

/*
 * Records an event of events.def, whole or of those threads only that `keys` name (filter.h), or no
 * longer. STATUS_NOT_FOUND: this kernel does not have it.
 */
enum status kernel_choose(struct kernel *kernel, uint32_t event, enum probe_choice choice,
		const uint64_t *keys, uint32_t n_keys, struct kernel_fault *fault);
enum status kernel_choose_syscall(
		struct kernel *kernel, uint16_t number, bool on, struct kernel_fault *fault);

/* --- Functions of programs --- */

#define KERNEL_ONE_BY_ONE 64u /* hooks at most, where the kernel takes no more than one at once */

struct kernel_hooks; /* opaque: those that were attached in one go */

bool kernel_takes_many(const struct kernel *kernel);

/*
 * Puts probes at `offsets` of the file, at the functions' entries or their exits; `cookies` say
 * what each does (record.h). `pid`: of that process only, 0: of all, also of those that begin
 * later. They count once kernel_use_set() says so. STATUS_INVALID: the kernel puts no probe on the
 * first instruction of one of them.
 */
enum status kernel_hook(struct kernel *kernel, const char *path, const uint64_t *offsets,
		const uint64_t *cookies, uint32_t n, bool exits, int pid,
		struct kernel_hooks **hooks, struct kernel_fault *fault);
/* They count no more from now on; the kernel may take a while to take them away (closer.h). NULL is
 * allowed. */
void kernel_unhook(struct kernel_hooks *hooks);
void kernel_use_set(struct kernel *kernel, uint32_t set, enum probe_set how);
/* From now on a hook is recorded, or no longer, although it may be attached for a while. */
void kernel_want_hook(struct kernel *kernel, uint32_t hook, bool on);
uint64_t kernel_hits(const struct kernel *kernel, uint32_t hook); /* since the beginning */

/* Functions only within roots, and of these one in `n`; 0: all. */
void kernel_within(struct kernel *kernel, uint32_t n);

/*
 * Takes the sums up to the last time: calls `take` with each. Those since then are taken the next
 * time, so at the end it is called twice. False: out of memory.
 */
bool kernel_take_sums(struct kernel *kernel,
		void (*take)(void *context, const struct body_summary *summary), void *context);

/*
 * What is open on threads is forgotten: exits of calls that began before other functions were
 * attached are not seen.
 */
void kernel_forget_calls(struct kernel *kernel);

/* --- Stacks --- */

/*
 * Stacks of the threads that are recorded are looked at from now on: by a timer 999 times a second
 * of what works on each CPU, 5 us each, and at system calls, 0.1 us each. `take` is called with each
 * by kernel_take_stacks(); what no room was left for meanwhile (256 KiB) is gone. STATUS_NOT_FOUND:
 * the kernel lacks what it needs (Linux 5.15). STATUS_BUSY, STATUS_IO as kernel_open().
 */
enum status kernel_sample(struct kernel *kernel,
		void (*take)(void *context, const struct probe_stack *stack), void *context,
		struct kernel_fault *fault);
void kernel_take_stacks(struct kernel *kernel);
void kernel_stop_sampling(struct kernel *kernel);
bool kernel_samples(const struct kernel *kernel);

/* Events of functions that the ring's CPU dropped since the beginning. */
uint64_t kernel_lost_functions(const struct kernel *kernel, uint32_t at);

/*
 * Events that the ring's CPU dropped since the beginning. What no CPU of a ring dropped is told of
 * the first one, as kernel_count_lost() counted it last: events of CPUs that came later, and those
 * that came while the same program ran.
 */
uint64_t kernel_lost(const struct kernel *kernel, uint32_t at);
void kernel_count_lost(struct kernel *kernel);

/* The probe's own process as the kernel numbers it: another number in a pid namespace of its own.
 */
int kernel_own_pid(const struct kernel *kernel);

#endif
