/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_number(const char *text, int64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9') {
		return false;
	}
	errno = 0;
	*number = strtoll(text, &end, 10);
	return errno == 0 && *end == '\0';
}

static bool parse_text(char *out, size_t size, const char *text)
{
	if (strlen(text) >= size || text[0] == '\0') {
		return false;
	}
	memcpy(out, text, strlen(text) + 1);
	return true;
}

static bool parse_one(struct output_select *select, const char *name, const char *value)
{
	if (strcmp(name, "host") == 0) {
		return parse_text(select->host, sizeof(select->host), value);
	}
	if (strcmp(name, "disk") == 0) {
		return parse_text(select->disk, sizeof(select->disk), value);
	}
	if (strcmp(name, "pid") == 0) {
		return parse_number(value, &select->pid);
	}
	if (strcmp(name, "tid") == 0) {
		return parse_number(value, &select->tid);
	}
	if (strcmp(name, "fd") == 0) {
		return parse_number(value, &select->fd);
	}
	return strcmp(name, "cpu") == 0 && parse_number(value, &select->cpu);
}

bool output_select_parse(const char *text, struct output_select *select)
{
	char copy[512], *part, *save, *value;

	*select = (struct output_select){.pid = -1, .tid = -1, .fd = -1, .cpu = -1};
	if (!parse_text(copy, sizeof(copy), text)) {
		return false;
	}
	for (part = strtok_r(copy, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
		value = strchr(part, '=');
		if (!value) {
			return false;
		}
		*value++ = '\0';
		if (!parse_one(select, part, value)) {
			return false;
		}
		select->set = true;
	}
	return select->set;
}

static bool is_host(const struct output_select *select, const char *host)
{
	return !select->host[0] || strcmp(select->host, host) == 0;
}

static bool is_id(int64_t wanted, int64_t id)
{
	return wanted < 0 || wanted == id;
}

/* The ids of a thread as its host counts, or as its pid namespace does. */
static bool is_thread(const struct output_select *select, const struct state_thread *thread)
{
	return is_host(select, thread->host) &&
	       ((is_id(select->pid, thread->pid) && is_id(select->tid, thread->tid)) ||
			       (is_id(select->pid, thread->vpid) &&
					       is_id(select->tid, thread->vtid)));
}

/* Which of the fds of that number in the window: the one that is open, else the one made last. */
static uint64_t find_fd(const struct output_select *select, const struct state_view *state)
{
	const struct state_fd *found = NULL, *fd;
	uint32_t i;

	for (i = 0; i < state->n_fds; i++) {
		fd = &state->fds[i];
		if (fd->fd != select->fd || !is_host(select, fd->host)) {
			continue;
		}
		if (!found || fd->open > found->open ||
				(fd->open == found->open && fd->id > found->id)) {
			found = fd;
		}
	}
	return found ? found->id : 0;
}

bool output_select_focus(const struct output_select *select, const struct snapshot *snapshot,
		struct focus *focus)
{
	const struct state_view *state = &snapshot->state;
	uint32_t i;

	/* Of a whole process the calls of all threads are wanted: it is not one thread that is
	 * meant. */
	if (!focus->thread_id && (select->tid >= 0 || (select->pid >= 0 && select->fd >= 0))) {
		for (i = 0; i < state->n_threads; i++) {
			if (is_thread(select, &state->threads[i])) {
				focus->thread_id = state->threads[i].id;
				return true;
			}
		}
		return false;
	}
	if (!focus->fd_id && focus->thread_id && select->fd >= 0) {
		focus->fd_id = find_fd(select, state);
		return focus->fd_id != 0;
	}
	return false;
}

static bool keep_host(const struct output_select *select, const struct state_host *row)
{
	return is_host(select, row->host);
}

/* Asked for something that such rows do not have. */
static bool wants_thread(const struct output_select *select)
{
	return select->pid >= 0 || select->tid >= 0 || select->fd >= 0;
}

static bool keep_cpu(const struct output_select *select, const struct state_cpu *row)
{
	return is_host(select, row->host) && is_id(select->cpu, row->cpu) &&
	       !wants_thread(select) && !select->disk[0];
}

static bool keep_thread(const struct output_select *select, const struct state_thread *row)
{
	return is_thread(select, row) && select->fd < 0 && select->cpu < 0 && !select->disk[0];
}

static bool keep_syscall(const struct output_select *select, const struct state_syscall *row)
{
	return is_host(select, row->host) && is_id(select->pid, row->pid) &&
	       is_id(select->tid, row->tid) && select->fd < 0 && select->cpu < 0 &&
	       !select->disk[0];
}

/* A snapshot that speaks of a thread has its process' fds and no others. */
static bool keep_fd(const struct output_select *select, const struct state_fd *row)
{
	return is_host(select, row->host) && is_id(select->fd, row->fd) && select->cpu < 0 &&
	       !select->disk[0];
}

static bool keep_fd_of_process(const struct output_select *select, const struct state_fd *row)
{
	return keep_fd(select, row) && is_id(select->pid, row->pid);
}

static bool keep_disk(const struct output_select *select, const struct state_disk *row)
{
	return is_host(select, row->host) && !wants_thread(select) && select->cpu < 0 &&
	       (!select->disk[0] || strcmp(select->disk, row->name) == 0);
}

static bool keep_net(const struct output_select *select, const struct state_net *row)
{
	return is_host(select, row->host) && !wants_thread(select) && select->cpu < 0 &&
	       !select->disk[0];
}

static bool keep_irq(const struct output_select *select, const struct state_irq *row)
{
	return is_host(select, row->host) && !wants_thread(select) && select->cpu < 0 &&
	       !select->disk[0];
}

static bool keep_event(const struct output_select *select, const struct state_event *row)
{
	return is_host(select, row->host) && is_id(select->cpu, row->cpu);
}

#define KEEP(type, rows, n, keep)                                                                  \
	do {                                                                                       \
		type *kept_ = snapshot_alloc(snapshot, ((n) + 1) * sizeof(*kept_));                \
		uint32_t i_, n_kept_ = 0;                                                          \
		if (!kept_) {                                                                      \
			return STATUS_NO_MEMORY;                                                   \
		}                                                                                  \
		for (i_ = 0; i_ < (n); i_++) {                                                     \
			if (keep(select, &(rows)[i_])) {                                           \
				kept_[n_kept_++] = (rows)[i_];                                     \
			}                                                                          \
		}                                                                                  \
		(rows) = kept_;                                                                    \
		(n) = n_kept_;                                                                     \
	} while (0)

enum status output_select_apply(const struct output_select *select, struct snapshot *snapshot)
{
	struct state_view state = snapshot->state;

	bool of_thread = snapshot->focus.thread_id != 0;

	if (select->tid >= 0 && !of_thread) {
		state.n_fds = 0; /* there is no such thread: these are of all */
	}
	if (select->fd >= 0 && !snapshot->focus.fd_id) {
		state.n_events = 0; /* there is no such fd: these are of the whole thread */
	}
	KEEP(struct state_host, state.hosts, state.n_hosts, keep_host);
	KEEP(struct state_cpu, state.cpus, state.n_cpus, keep_cpu);
	KEEP(struct state_thread, state.threads, state.n_threads, keep_thread);
	KEEP(struct state_syscall, state.syscalls, state.n_syscalls, keep_syscall);
	if (of_thread) {
		KEEP(struct state_fd, state.fds, state.n_fds, keep_fd);
	} else {
		KEEP(struct state_fd, state.fds, state.n_fds, keep_fd_of_process);
	}
	KEEP(struct state_disk, state.disks, state.n_disks, keep_disk);
	KEEP(struct state_net, state.nets, state.n_nets, keep_net);
	KEEP(struct state_irq, state.irqs, state.n_irqs, keep_irq);
	KEEP(struct state_event, state.events, state.n_events, keep_event);
	snapshot->state = state;
	return STATUS_OK;
}
