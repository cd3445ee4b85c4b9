/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_SELECT_H
#define PT_OUTPUT_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"

/*
 * Part of the state: "host=compute-1,pid=1204", of host, pid, tid, fd, cpu and disk.
 *
 * A row stays if it has all that was asked for: cpu=0 leaves rows of CPUs and events, disk=sda
 * those of disks. The fds of a tid are those of its process. Hosts are chosen by host alone. Of an
 * fd all that had its number in the window stay; events are those of the one that is open, else of
 * the last.
 */
struct output_select {
	bool set;
	char host[256], disk[128]; /* "": any */
	int64_t pid, tid, fd, cpu; /* -1: any */
};

/* False: it is no such list. */
bool output_select_parse(const char *text, struct output_select *select);

/*
 * Asks, in a focus for a second snapshot, for the fds and original events of the one thread or fd
 * that is meant. False: no one is, this snapshot is all there is.
 */
bool output_select_focus(const struct output_select *select, const struct snapshot *snapshot,
		struct focus *focus);

/* Leaves in snapshot->state what was asked for. STATUS_NO_MEMORY: it is as before. */
enum status output_select_apply(const struct output_select *select, struct snapshot *snapshot);

#endif
