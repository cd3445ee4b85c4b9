/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_FILES_H
#define PT_STATE_FILES_H

#include "state/fds.h"
#include "state/internal.h"

/*
 * What files.c, file_calls.c and files_snapshot.c share: whose table a thread's is, where a host's
 * events were lost.
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
