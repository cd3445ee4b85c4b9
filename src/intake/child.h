/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_CHILD_H
#define PT_INTAKE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pythiatop/status.h"
#include "ring/ring.h"

/*
 * One source process: started with a ring, listened to, ended.
 *
 * It inherits its ring and nothing else: standard input and output are /dev/null, standard error is
 * a pipe of which the last CHILD_WORDS bytes are kept, and it is in a process group of its own, so
 * that Ctrl-C at the terminal is ours alone to answer.
 *
 * None outlives us: child_stop() kills it (SIGKILL), and where we end without that, the kernel does
 * so in the same moment (PR_SET_PDEATHSIG, of the thread that started it). From then on it runs no
 * instruction of its own. That it is gone is waited for, for CHILD_KILL_MS from the kill on: longer
 * only if the kernel has no time to take it down, or holds it; it then goes after us.
 */
#define CHILD_WORDS   2048u
#define CHILD_KILL_MS 500u

enum child_mode {
	CHILD_LIST = 0, /* what a relay daemon has, again and again */
	CHILD_LIVE,
	CHILD_RECORDED,
	CHILD_RECORDED_PROGRESS, /* the same, telling how far it is */
	CHILD_WRITE,             /* a dump: the ring is turned round, see ring_turn() */
};

struct child {
	pid_t pid; /* 0: none */
	int pid_fd;
	int error_fd; /* what it says on standard error */
	struct ring *ring;
	uint64_t kill_ms; /* when it was killed, CLOCK_MONOTONIC; 0: it was not */
	bool exited;
	int exit_code; /* valid if exited and signal is 0 */
	int signal;    /* that ended it, or 0 */
	char words[CHILD_WORDS];
	size_t n_words;
};

/*
 * Starts `program` on a URL (or path, which CHILD_WRITE writes to). timer_us: the live timer of the
 * session, 0 if not known. reader: who is to read, as --reader of pythiatop-source; NULL: its own
 * choice. STATUS_IO: `error` says what failed; the child is then as after
 * child_stop().
 */
enum status child_start(struct child *child, const char *program, enum child_mode mode,
		const char *url, uint32_t timer_us, const char *reader, char *error,
		size_t error_size);

/* Reads what it said and sees whether it ended. Does not wait. */
void child_poll(struct child *child);

/* The last line it said; "" if none. Bytes as they came. */
void child_last_line(const struct child *child, char *out, size_t size);

/* How it ended: "crashed (SIGSEGV)", "ended with code 1". */
void child_describe_end(const struct child *child, char *out, size_t size);

/* Tells the kernel to end it, and does not wait for that. */
void child_kill(struct child *child);

/* Ends it, whatever it does, waits as said above, and frees everything. Harmless where there is
 * none. */
void child_stop(struct child *child);

#endif
