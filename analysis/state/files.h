/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_FILES_H
#define PT_STATE_FILES_H

#include "state/fds.h"
#include "state/cx.h"

/*
 * What threads have open: whose table a thread's is, where a host's events were lost. (files.c,
 * file_calls.c, files_snapshot.c.)
 *
 * Memory: fds, see fds.h; FILES_LOSSES intervals of loss a host: the two oldest become one.
 */
#define FILES_LOSSES 64u

struct files_host {
	uint32_t n_losses;
	struct {
		uint64_t begin_ns, end_ns;
	} losses[FILES_LOSSES]; /* in the order they were told */
};

struct files {
	struct fds fds;
	struct files_host *hosts;
	uint32_t n_hosts;
};

/* Every thread has a file table (its process') or NULL; tables count their threads. */
extern const struct state_rule files_rules[];
extern const struct call_rule files_calls[];
bool files_create(struct state_cx *cx);
void files_destroy(struct state_cx *cx);
/* flags: of clone(2), CLONE_FILES tells sharing; where not known, set for threads of a process. */
void files_on_fork(struct state_cx *cx, struct thread_state *parent, struct thread_state *child,
		uint64_t flags);
void files_on_exec(struct state_cx *cx, struct thread_state *thread);
/* The statedump lists the thread, after its pid is known. file_table is the kernel's address of its
 * table (lttng-modules >= 2.12: fds are listed by it); 0: not told. */
void files_on_statedump(struct state_cx *cx, struct thread_state *thread, uint64_t file_table);
void files_on_free(struct state_cx *cx, struct thread_state *thread);   /* dead: lets go of fds */
void files_on_forget(struct state_cx *cx, struct thread_state *thread); /* its memory goes */
/* Events of a CPU (CPU_NONE: of any) of a host were lost until now. */
void files_on_loss(struct state_cx *cx, uint32_t host, const struct loss *loss);
/* Forgets what ended before cx->store.horizon_ns. */
void files_expire(struct state_cx *cx);
/* Calls that made fds which were closed a window ago are no longer held in the log. O(1): called as
 * time goes on, so that a dump holds exactly what is still referenced. */
void files_let_go(struct state_cx *cx);
/* view->fds; and for view->threads, one call each. The window is (from_ns, at_ns]. */
enum status files_fill(struct state_cx *cx, const struct focus *focus, uint64_t from_ns,
		uint64_t at_ns, struct snapshot *snapshot);
void files_fill_thread(struct state_cx *cx, const struct thread_state *thread, uint64_t from_ns,
		uint64_t at_ns, struct state_thread *out);
uint32_t files_count_open(const struct state_cx *cx, uint32_t host, uint64_t at_ns);
/* What the fd of a thread's call is now: for what it is blocked on. */
enum fd_kind files_kind(const struct state_cx *cx, const struct thread_state *thread, int32_t fd);
/* Disk and network bytes of a thread in (from, to], added to *out. */
void files_add_resources(struct state_cx *cx, const struct thread_state *thread, uint64_t from_ns,
		uint64_t to_ns, struct state_resources *out);

/* The table of a living thread, new if nothing is known. NULL: out of memory. */
struct file_table *files_table(struct state_cx *cx, struct thread_state *thread);
/* The thread has another table from now on; the caller's use of it is taken over. */
void files_set_table(struct state_cx *cx, struct thread_state *thread, struct file_table *table);
/* Were events lost that could have been about this fd, as known at an instant? */
bool files_uncertain(const struct files *files, const struct fd *fd, uint64_t at_ns);
/* Is it a call that reads or writes? Its time counts as such while it lasts. */
bool files_is_transfer(const struct call_rule *rule);

#define OPEN_CLOEXEC 02000000 /* O_CLOEXEC of Linux, but for alpha, mips, parisc and sparc */

static inline enum fd_answer fd_yes_if(bool is)
{
	return is ? FD_YES : FD_NO;
}

#endif
