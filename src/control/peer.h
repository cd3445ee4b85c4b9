/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONTROL_PEER_H
#define PT_CONTROL_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "control/target.h"
#include "helper/lines.h"

/*
 * A helper's process as seen from here: pythiatop-control itself, or the ssh that runs it
 * elsewhere.
 *
 * It is in a session of its own, without a terminal: Ctrl-C is ours alone to answer, and whatever
 * would ask for a password has nowhere to do so. Its standard error is kept, the last PEER_WORDS
 * bytes of it.
 */
#define PEER_WORDS 1024u
#define PEER_LINE  (4u << 20)

struct peer {
	pid_t pid;  /* 0: none */
	int socket; /* its standard input and output; -1: none */
	int error_fd;
	struct line_in in;
	struct line_out out;
	char words[PEER_WORDS];
	size_t n_words;
};

void peer_init(struct peer *peer);

/*
 * `program`: the local helper, `arguments` its argv (NULL: none); `ssh`: how others are reached.
 * False: see errno.
 */
bool peer_start(struct peer *peer, const struct target *target, const char *program,
		const char *const *arguments, const char *ssh);

/* Reads what it says on standard error. Does not wait. */
void peer_listen(struct peer *peer);

/* Lets it end by itself: it sees the end of its input. */
void peer_let_go(struct peer *peer);

/*
 * Kills it. `ended`: its output has ended, so it is about to end by itself: then `why` says how it
 * did, otherwise it is "". Takes at most a tenth of a second, even if the kernel holds the process.
 */
void peer_kill(struct peer *peer, const struct target *target, bool ended, char *why, size_t size);

#endif
