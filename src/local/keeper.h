/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_LOCAL_KEEPER_H
#define PT_LOCAL_KEEPER_H

#include <limits.h>
#include <stdbool.h>

#include "local/local.h"

/*
 * The process that has the relay daemon, the probe and the command as its children. It tells over
 * `lease`, a socket of packets:
 *
 *   "+ SOURCE RELAY PID"  events are recorded; PID of the command, or 0
 *   "! N SENTENCE"    they will not be, for the reason N, an enum status; it has ended all
 *   "- SENTENCE"      something ended before its time
 *   "."               the command has ended, and with it the session
 *
 * It ends once the other end of the lease is closed.
 */
#define KEEPER_PACKET 2048

struct keeper_setup {
	const struct local_setup *wish;
	char programs[LOCAL_PROCESSES][LOCAL_NAME]; /* names; the session is called as the first */
	char probe[PATH_MAX]; /* path of pythiatop-probe */
	char folder[PATH_MAX];
	int lease;
};

_Noreturn void keeper_run(const struct keeper_setup *setup);

#endif
