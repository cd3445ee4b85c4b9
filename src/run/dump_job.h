/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_DUMP_JOB_H
#define PT_RUN_DUMP_JOB_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/dump_watch.h"

/*
 * A dump (run/dump.h), or a report, that is written while the analysis goes on: by a process forked
 * for it, whose memory is the analysis as it was at that moment. So the dump is of one instant
 * however long the disk takes, nobody waits for it, and the log needs no lock and no reader's place
 * in it.
 *
 * Memory: what the analysis changes until the dump is written exists twice, at most its whole.
 * Time: forking copies page tables, about 1 ms for each 100 MiB. Thread: the pipeline's.
 */
struct dump_job {
	pid_t pid; /* 0: none runs */
	int news_fd;
	char temporary[PATH_MAX]; /* what it writes, until it is whole */
	char path[PATH_MAX];
	uint64_t n; /* events written so far */
};

/* Writes it; runs in the process of its own. `said` is a sentence on how that went. */
typedef void dump_job_write(void *context, const struct dump_watch *watch, char *said, size_t size);

/* False: `said` says why not; one job runs at a time. `path`: what it will be called. */
bool dump_job_start(struct dump_job *job, dump_job_write *write, void *context, const char *path,
		char *said, size_t size);

/* True: there is something new to say, how far it is or how it ended. Does not wait. */
bool dump_job_poll(struct dump_job *job, char *said, size_t size);

/* Ends it at once, and removes what it has written. Harmless where none runs. */
void dump_job_stop(struct dump_job *job);

#endif
