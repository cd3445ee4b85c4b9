/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_CHILD_H
#define PT_HELPER_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "helper/lines.h"
#include "helper/worker.h"

/* The guardian's worker process and the pipes to it. */
struct child {
	pid_t pid;    /* 0: none */
	int to, from; /* its standard input and output, seen from here */
	struct line_in in;
	struct line_out out;
};

void child_init(struct child *child);

/* `close_fd`: one that the child has no use for. False: see errno. */
bool child_start(struct child *child, const struct helper *helper, int close_fd);

/* Kills it, if there is one, in whatever call it is, and clears up after it. */
void child_kill(struct child *child, const struct helper *helper);

/* After the end of its output: "the call ended: its process was killed by SIGSEGV". */
void child_describe_end(const struct child *child, char *text, size_t size);

#endif
