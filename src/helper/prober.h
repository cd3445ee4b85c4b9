/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_PROBER_H
#define PT_HELPER_PROBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "helper/rights.h"

/*
 * pythiatop-probe beside the session daemon: kernel events where LTTng's modules are not, and
 * functions of programs. The guardian runs it, the worker asks it (probe/serve.h has what they
 * say).
 *
 * Sockets outlive the processes at their ends: a worker or a probe that is started anew finds them.
 */
struct prober {
	int lease, ask;             /* our ends; -1: there is no probe on this host */
	int probe_lease, probe_ask; /* its ends */
	pid_t pid;                  /* 0: it does not run */
	uint64_t retry_ns;
	bool absent; /* the program is not installed */
};

/* --- the guardian's --- */

/* Opens the sockets; starts nothing. */
void prober_init(struct prober *prober);

/* Starts it, if it does not run. True: it has; a worker from before does not know of it. */
bool prober_start(struct prober *prober, const struct rights *rights, uint64_t now_ns);

/* To be called once a second: renews its lease; true: it has ended, and says nothing more. */
bool prober_tend(struct prober *prober, uint64_t now_ns);

/* The next sentence that it has for people. False: there is none. */
bool prober_hear(struct prober *prober, char *text, size_t size);

/* Ends it, within seconds, whatever it does: nothing that it recorded is recorded any more. */
void prober_kill(struct prober *prober);

/* The same, and closes the sockets. */
void prober_end(struct prober *prober);

/* --- the worker's --- */

bool prober_is_there(const struct prober *prober);

/*
 * Asks, and waits for the answer, at most 10 s. `take` (NULL: rows are left out) gets each row.
 * False: `error` says why. True: `error` has what is said of the whole, "" as a rule.
 */
bool prober_ask(const struct prober *prober, const char *request,
		void (*take)(void *context, char *row), void *context, char *error, size_t size);

#endif
