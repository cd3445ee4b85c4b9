/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_WORKER_H
#define PT_HELPER_WORKER_H

#include <jansson.h>
#include <stdbool.h>

#include "helper/answer.h"
#include "helper/owner.h"
#include "helper/prober.h"
#include "helper/rights.h"

/*
 * The process that calls lttng-ctl, one request after the other. It keeps nothing between them:
 * what is on is asked of the session daemon, so that it can be killed in any call and started
 * again.
 *
 * Standard input brings requests from its guardian, and an empty line a second; standard output
 * takes answers (helper/answer.h). Should the guardian be killed, or stopped for longer than the
 * lease, it undoes everything itself, as the second line of defence.
 */
struct helper {
	struct rights rights;
	struct owner owner;
	struct prober *prober; /* the guardian's; what the worker has is as it was at its fork */
};

/* Does not return before the guardian lets it go. Returns the exit code. */
int worker_run(const struct helper *helper);

/* What the guardian alone asks: to destroy ours, to destroy what dead ones left. */
#define WORKER_UNDO  "undo"
#define WORKER_SWEEP "sweep"

/* A verb answers completely, whatever happens. */
typedef void worker_verb(const struct helper *helper, struct answer *answer, const json_t *request);

worker_verb list_sessions, list_points, list_channels;         /* list.c */
worker_verb session_create, session_destroy, session_snapshot; /* session.c */
worker_verb session_sweep;
worker_verb learn_begin, learn_end, learn_check;         /* learn.c */
worker_verb change_enable, change_disable, change_check; /* change.c */

/* The channel of our live session that all points of a provider are learned through. */
#define LEARN_CHANNEL "learn"
struct lttng_handle;
/* Switches on a channel that exists. 0, or a negative code of LTTng. */
int session_enable_channel(struct lttng_handle *handle, const char *name);

/* Destroys a session of ours. 0, also if it is not there; or a negative code of LTTng. */
int session_end(struct answer *answer, const char *name);

/* "us", "pythiatop" or "other". */
const char *session_owner(const struct helper *helper, const char *name);

/* scratch.c: where the session daemon may write for us. False: `path` cannot be made, see errno. */
bool helper_scratch(const struct helper *helper, char *path, size_t size);
void helper_scratch_remove(const struct helper *helper, pid_t worker); /* with what is in it */
/* Those of workers that are gone. */
void helper_scratch_sweep(const struct helper *helper);

#endif
