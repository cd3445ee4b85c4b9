/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_CONDUCTOR_H
#define PT_RUN_CONDUCTOR_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/engine.h"
#include "pythiatop/snapshot/snapshot.h"

/*
 * Carries out what the engine orders: tells the engine what hosts offer, gives its orders to the
 * control processes of the hosts, watches what they cost by the wall clock, and tells the engine
 * what came of them. Nothing is changed on any host while the mode is `observe`, but to undo.
 *
 * Each host where a step acts gets one session of ours, made when the mode first allows steps, so
 * that a step needs no more than enabling. All of it is undone by the helpers when this ends,
 * however it ends. Each session is asked for every three seconds: one that a session daemon, or the
 * relay daemon, has lost is made again, the engine is told that what steps did there is undone, and
 * what hinders is said with the host's control.
 *
 * Nothing waits. Units: ns of CLOCK_MONOTONIC. Thread: the pipeline's.
 */
struct conductor;

#define CONDUCTOR_MAX_FDS 64u /* hosts, with two descriptors each */

/* What it needs of the sources: to watch a session of ours. */
struct conductor_sources {
	void *context;
	/* A session of ours was made there; `relay` as given to conductor_create(). */
	void (*attach)(void *context, const char *host, const char *session);
	/* It is there no more, nor will be one of its name. */
	void (*detach)(void *context, const char *host, const char *session);
	/* It was attached, and the relay daemon does not have it any more. */
	bool (*is_lost)(void *context, const char *host, const char *session);
	void (*learned)(void *context);               /* where points stand: worth saving */
	void (*say)(void *context, const char *text); /* for the person */
};

struct conductor_setup {
	struct engine *engine;
	struct conductor_sources sources;
	const char *relay;     /* of the console's first live source: "net://relay1"; NULL: none */
	const char *relay_url; /* as the traced hosts see it; NULL: taken from `relay` if that is
				  sure */
	bool own_host;         /* control this host without being told to, once traces of it come */
	uint32_t live_timer_us; /* of our sessions; 0: the usual */
	const char *const *helper; /* argv of the helper on this host; NULL: the usual */
	const char *ssh;        /* the program that reaches hosts; NULL: ssh */
	const char *log;        /* file that decisions are appended to; NULL: in memory alone */
};

/* NULL: `error` says why. The texts must outlive it. */
struct conductor *conductor_create(const struct conductor_setup *setup, char *error, size_t size);
/* Lets all helpers go, which undo what they did. */
void conductor_destroy(struct conductor *conductor);

struct decisions;
/* What was decided in this run. */
const struct decisions *conductor_decisions(const struct conductor *conductor);

/* The run is over: nothing more is decided. False: the log lacks lines, `error` says which. */
bool conductor_end_log(struct conductor *conductor, char *error, size_t size);

/* "HOST=URL" of --control. False: `error` says why. */
bool conductor_add_host(struct conductor *conductor, const char *option, char *error, size_t size);
/* Traces of a host have come: if it is this one, it can be controlled without an option. */
void conductor_see_host(struct conductor *conductor, const char *host);
/* A live session is silent, and nobody waits for it; or it is seen again. */
void conductor_see_silent(struct conductor *conductor, const struct session_desc *session, bool is);
/* Event time begins: for the decision log. */
void conductor_see_first(struct conductor *conductor, uint64_t event_ns);
/* A session has ended, or all sources have: for the decision log. */
void conductor_see_end(struct conductor *conductor, const struct session_desc *session);
void conductor_see_last(struct conductor *conductor);
/* For the log alone: a clock's first event comes; a profile was learned from. */
void conductor_note(struct conductor *conductor, const struct engine_input *input);

uint32_t conductor_poll_fds(const struct conductor *conductor, struct pollfd *fds, uint32_t max);
/* No order is under way, or was within the last minute, and no step is watched. */
bool conductor_is_calm(const struct conductor *conductor, uint64_t now_ns);
uint64_t conductor_due_ns(const struct conductor *conductor);
/* True: something changed that a screen would show. */
bool conductor_step(struct conductor *conductor, uint64_t now_ns);

/* What persons decide, as engine_input(); the decision log is told what the engine took. */
enum status conductor_input(struct conductor *conductor, const struct engine_input *input,
		char *error, size_t size);
/* Asks the hosts what they would do of a step, and changes nothing; see dry_run.h. */
bool conductor_dry_run(
		struct conductor *conductor, const struct step_row *row, char *error, size_t size);

/* Fills `controls` of snapshot->steps: what each host's control is up to. */
enum status conductor_fill(const struct conductor *conductor, struct snapshot *snapshot);

#endif
