/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_OWNER_H
#define PT_HELPER_OWNER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "helper/check.h"

/*
 * Who owns which sessions, on disk: what is left when even the helper was killed, or the power
 * went.
 *
 * A record is a file of JSON named after its session, in a directory of our user's alone:
 * $XDG_STATE_HOME/pythiatop/control/HOST, ~/.local/state/pythiatop/control/HOST, or for root
 * without the variable /var/lib/pythiatop/control/HOST. It is written before its session is made,
 * in one step, by the helper's guardian, and goes after the session. The guardian touches it with
 * each renewal of the lease.
 *
 * An owner is gone if its process is, or another one has its number now (start time, boot), or if
 * it is stopped and has not renewed for a lease. Owners in another pid namespace cannot be judged
 * from here, and are left alone.
 */
#define OWNER_SESSION_BYTES 64u

struct owner {
	char session[OWNER_SESSION_BYTES];     /* pythiatop-USER-PID */
	char flight[OWNER_SESSION_BYTES + 8u]; /* the same with -flight */
	char probe[OWNER_SESSION_BYTES + 8u];  /* the same with -probe: of pythiatop-probe */
	char directory[PATH_MAX];
	char path[PATH_MAX]; /* of our own record */
};

/* Names of this process' sessions, and the directory, made if it is not there. */
bool owner_init(struct owner *owner, char *error, size_t size);

/* `console`: who controls, for people. */
bool owner_write(const struct owner *owner, const char *console, char *error, size_t size);
void owner_renew(const struct owner *owner);
void owner_remove(const struct owner *owner);

struct owner_record {
	char session[OWNER_SESSION_BYTES], flight[OWNER_SESSION_BYTES + 8u];
	char path[PATH_MAX];
	char lttng_home[PATH_MAX]; /* "" if it was not set */
	bool elsewhere;            /* made in another mount namespace: maybe another daemon's */
};

/*
 * Calls `take` for each record whose owner is gone, until it returns false. At most 1,000 records.
 * Ours is not among them.
 */
void owner_each_gone(const struct owner *owner,
		bool (*take)(void *context, const struct owner_record *record), void *context);

#endif
