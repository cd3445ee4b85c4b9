/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "state/files.h"
#include "state/thread_io.h"

#define CLONE_FILES 0x400u

bool files_create(struct state_cx *cx)
{
	cx->files = calloc(1, sizeof(*cx->files));
	return cx->files && fds_init(&cx->files->fds, &cx->store, cx->log);
}

void files_destroy(struct state_cx *cx)
{
	struct thread_state *thread;

	if (!cx->files) {
		return;
	}
	for (thread = cx->oldest; thread; thread = thread->next) {
		thread_io_release(cx, thread);
	}
	if (cx->files->fds.slots) {
		fds_release(&cx->files->fds);
	}
	free(cx->files->hosts);
	free(cx->files);
	cx->files = NULL;
}

/* --- whose table ----------------------------------------------------------------------------- */

static void leave_table(struct state_cx *cx, struct thread_state *thread)
{
	struct file_table *table = thread->files;

	if (table && table->owner == thread) {
		table->owner = NULL;
		table->name = (uint32_t)thread->comm.value;
	}
	if (table) {
		thread->files = NULL;
		table_leave(&cx->files->fds, table, false, cx->now_ns);
	}
}

void files_set_table(struct state_cx *cx, struct thread_state *thread, struct file_table *table)
{
	leave_table(cx, thread);
	thread->files = table;
}

static struct file_table *share(struct file_table *table)
{
	table->users++;
	return table;
}

/* The first thread of its process; NULL: that is itself, or its process is not known. */
static struct thread_state *leader_of(struct state_cx *cx, const struct thread_state *thread)
{
	struct thread_state *leader;

	if (thread->pid < 0 || thread->pid == thread->tid) {
		return NULL;
	}
	leader = state_thread(cx, thread->host, thread->pid);
	return leader == thread ? NULL : leader;
}

/* A table made before its thread's process was known becomes, or joins, that of the process. */
static void settle(struct state_cx *cx, struct thread_state *thread)
{
	struct file_table *own = thread->files;
	struct thread_state *leader = leader_of(cx, thread);
	struct file_table *table;

	own->pid = thread->pid;
	if (!leader) {
		return;
	}
	table = files_table(cx, leader);
	if (table && table != own) {
		table_merge(&cx->files->fds, own, table, cx->now_ns);
		files_set_table(cx, thread, share(table));
	}
}

struct file_table *files_table(struct state_cx *cx, struct thread_state *thread)
{
	struct thread_state *leader;

	if (thread->files) {
		if (thread->files->pid < 0 && thread->pid >= 0) {
			settle(cx, thread);
		}
		return thread->files;
	}
	leader = leader_of(cx, thread);
	if (leader) {
		struct file_table *table = files_table(cx, leader);

		thread->files = table ? share(table) : NULL;
	} else {
		thread->files = table_create(&cx->files->fds, thread->host, thread->pid, thread);
	}
	return thread->files;
}

void files_on_fork(struct state_cx *cx, struct thread_state *parent, struct thread_state *child,
		uint64_t flags)
{
	struct file_table *table;

	if (flags & CLONE_FILES) {
		table = files_table(cx, parent);
		if (table) {
			files_set_table(cx, child, share(table));
		}
	} else if (parent->files) {
		table = table_copy(&cx->files->fds, files_table(cx, parent), child->pid, child,
				cx->now_ns);
		files_set_table(cx, child, table);
	}
}

/* Is the table another process', too? An exec then takes a copy: it must not close theirs. */
static bool is_shared_outside(const struct state_cx *cx, const struct thread_state *thread)
{
	const struct thread_state *other;

	if (thread->files->users < 2) {
		return false;
	}
	for (other = cx->newest; other; other = other->prev) {
		if (other->files == thread->files && !other->dead_ns && other->pid != thread->pid) {
			return true;
		}
	}
	return false;
}

void files_on_exec(struct state_cx *cx, struct thread_state *thread)
{
	struct file_table *table = files_table(cx, thread);

	if (table && is_shared_outside(cx, thread)) {
		table = table_copy(&cx->files->fds, table, thread->pid, thread, cx->now_ns);
		files_set_table(cx, thread, table);
	}
	if (table) {
		table_exec(&cx->files->fds, table, cx->now_ns);
	}
}

void files_on_statedump(struct state_cx *cx, struct thread_state *thread, uint64_t file_table)
{
	struct file_table *table;

	if (file_table == 0) {
		files_table(cx, thread);
		return;
	}
	if (thread->files && thread->files->address == file_table) {
		files_table(cx, thread);
		return;
	}
	table = table_at(&cx->files->fds, thread->host, file_table);
	if (!table) {
		table = files_table(cx, thread);
		if (table) {
			table_set_address(&cx->files->fds, table, file_table);
		}
	} else if (!thread->files) {
		thread->files = share(table);
	} else if (table->pid < 0 || thread->files->pid < 0 || table->pid == thread->pid) {
		/* Two views of one table: what was used before its owner was told. */
		if (table->pid < 0) {
			table->pid = thread->pid;
		}
		table_merge(&cx->files->fds, thread->files, table, cx->now_ns);
		files_set_table(cx, thread, share(table));
	} else {
		/* The kernel has given the address of a table that went to this one. */
		table_set_address(&cx->files->fds, table, 0);
		table_set_address(&cx->files->fds, thread->files, file_table);
	}
}

void files_on_free(struct state_cx *cx, struct thread_state *thread)
{
	if (thread->files) {
		/* It stays a ghost: the fds it had are shown as its own until they are forgotten.
		 */
		table_leave(&cx->files->fds, thread->files, true, cx->now_ns);
	}
}

void files_on_forget(struct state_cx *cx, struct thread_state *thread)
{
	struct file_table *table = thread->files;

	thread_io_release(cx, thread);
	if (!table) {
		return;
	}
	if (table->owner == thread) {
		table->owner = NULL;
		table->name = (uint32_t)thread->comm.value;
	}
	thread->files = NULL;
	if (thread->dead_ns) {
		table_forget(&cx->files->fds, table);
	} else {
		table_leave(&cx->files->fds, table, false, cx->now_ns);
	}
}

/* --- losses ---------------------------------------------------------------------------------- */

/*
 * Whatever was lost on a CPU may have been about any fd of the host: threads move. An fd that was
 * known before such a loss ended is uncertain from its beginning on.
 */
void files_on_loss(struct state_cx *cx, uint32_t host, const struct loss *loss)
{
	struct files *files = cx->files;
	struct file_table *table;
	struct files_host *on;

	/* A change of directory may have been among what was lost. */
	for (table = files->fds.tables; table; table = table->next) {
		if (table->host == host) {
			table_set_cwd(&files->fds, table, NULL, 0);
		}
	}
	if (!array_extend(&files->hosts, &files->n_hosts, host + 1)) {
		cx->store.failed++;
		return;
	}
	on = &files->hosts[host];
	if (on->n_losses == FILES_LOSSES) {
		if (on->losses[1].end_ns > on->losses[0].end_ns) {
			on->losses[0].end_ns = on->losses[1].end_ns;
		}
		if (on->losses[1].begin_ns < on->losses[0].begin_ns) {
			on->losses[0].begin_ns = on->losses[1].begin_ns;
		}
		memmove(&on->losses[1], &on->losses[2], (FILES_LOSSES - 2) * sizeof(on->losses[0]));
		on->n_losses--;
	}
	on->losses[on->n_losses].begin_ns = loss->begin_ns;
	on->losses[on->n_losses++].end_ns = loss->end_ns;
}

bool files_uncertain(const struct files *files, const struct fd *fd, uint64_t at_ns)
{
	const struct files_host *on;
	uint32_t i, host = fd->table->host;

	if (fd->uncertain_ns && fd->uncertain_ns <= at_ns) {
		return true;
	}
	if (host >= files->n_hosts) {
		return false;
	}
	on = &files->hosts[host];
	for (i = 0; i < on->n_losses; i++) {
		if (on->losses[i].end_ns >= fd->known_ns && on->losses[i].begin_ns <= at_ns &&
				(!fd->closed_ns || on->losses[i].begin_ns <= fd->closed_ns)) {
			return true;
		}
	}
	return false;
}

/* --- forgetting ------------------------------------------------------------------------------ */

void files_expire(struct state_cx *cx)
{
	struct files *files = cx->files;
	struct thread_state *thread;

	fds_expire(&files->fds);
	for (thread = cx->oldest; thread; thread = thread->next) {
		thread_io_expire(cx, thread);
	}
}

void files_let_go(struct state_cx *cx)
{
	if (cx->now_ns > cx->window_ns) {
		fds_let_go(&cx->files->fds, cx->now_ns - cx->window_ns);
	}
}
