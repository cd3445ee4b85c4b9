/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "state/files.h"
#include "state/thread_io.h"

/* The file descriptors that a statedump lists. */

/* What the path that the tracer lists for an fd says of its kind. */
static enum fd_kind files_kind_of_path(const char *path, uint32_t length)
{
	static const struct {
		const char *begin;
		enum fd_kind kind;
	} kinds[] = {
			{"socket:[", FD_SOCKET},
			{"pipe:[", FD_PIPE},
			{"anon_inode:[event", FD_EVENT}, /* eventpoll, eventfd */
			{"anon_inode:[timerfd]", FD_EVENT},
			{"anon_inode:[signalfd]", FD_EVENT},
			{"anon_inode:inotify", FD_EVENT},
			{"anon_inode:[fanotify]", FD_EVENT},
			{"/", FD_FILE},
	};
	uint32_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].begin);

		if (length >= n && memcmp(path, kinds[i].begin, n) == 0) {
			return kinds[i].kind;
		}
	}
	return FD_UNKNOWN;
}

enum { DUMP_FD, DUMP_PID, DUMP_TABLE, DUMP_FLAGS, DUMP_PATH };

static struct file_table *dumped_table(
		struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	uint32_t host = event_host(cx, event);
	struct thread_state *thread;

	if (has_field(plan, DUMP_TABLE)) {
		return table_at(&cx->files->fds, host,
				(uint64_t)field_int(plan, event, DUMP_TABLE, 0));
	}
	thread = state_thread(cx, host, field_int(plan, event, DUMP_PID, 0));
	if (!thread) {
		return NULL;
	}
	if (thread->pid < 0) {
		thread->pid = thread->tid; /* it is a pid that the list names */
	}
	return files_table(cx, thread);
}

/* Fills only what is missing: what was observed is surer, and may be newer. */
static void dump_fd(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	struct file_table *table = dumped_table(cx, plan, event);
	struct fds *fds = &cx->files->fds;
	int32_t number = (int32_t)field_int(plan, event, DUMP_FD, -1);
	struct making *making;
	const char *path = NULL;
	uint32_t length = 0;
	struct fd *fd;

	if (!table || number < 0) {
		return;
	}
	if (has_field(plan, DUMP_PATH) &&
			cx->registry->types[event->type].fields[plan->slots[DUMP_PATH]].kind ==
					FIELD_STRING) {
		path = event_bytes(event, plan->slots[DUMP_PATH], &length);
	}
	fd = fds_find(fds, table, number);
	if (fd && fd->confidence != FD_GUESSED && making_path(fd->making)[0] != '\0') {
		return;
	}
	making = making_create(fds, cx->number, 0, path ? path : "", length,
			fd ? making_share(fd->making) : NULL);
	if (!making) {
		return;
	}
	if (fd) {
		fds_tell(fds, fd, making);
	} else {
		fd = fds_open(fds, table, number, making, event->ts_ns);
		if (!fd) {
			return;
		}
		fd->confidence = FD_GUESSED;
	}
	if (fd->confidence == FD_GUESSED) {
		fd->confidence = FD_STATEDUMP;
		if (fd->close_on_exec == FD_MAYBE && has_field(plan, DUMP_FLAGS)) {
			fd->close_on_exec = (uint8_t)fd_yes_if(
					field_int(plan, event, DUMP_FLAGS, 0) & OPEN_CLOEXEC);
		}
	}
	if (fd->kind == FD_UNKNOWN && path) {
		fd->kind = (uint8_t)files_kind_of_path(path, length);
	}
	if (fd->network == FD_MAYBE && fd->kind != FD_SOCKET && fd->kind != FD_UNKNOWN) {
		fd->network = FD_NO;
	}
}

const struct state_rule files_rules[] = {
		{.names = "lttng_statedump_file_descriptor",
				.handle = dump_fd,
				.fields = {"fd", "pid", "file_table_address", "flags", "filename"},
				.required = 1},
		{.names = NULL},
};
