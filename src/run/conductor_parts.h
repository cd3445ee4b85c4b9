/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_CONDUCTOR_PARTS_H
#define PT_RUN_CONDUCTOR_PARTS_H

#include "control/hosts.h"
#include "run/conductor.h"
#include "run/coverage.h"
#include "run/dry_run.h"
#include "run/watch.h"

/* What the files of the conductor share: conductor.c, conductor_hosts.c, conductor_watch.c. */

#define NS_PER_S       UINT64_C(1000000000)
#define OFFERS_NS      (30 * NS_PER_S)  /* between checks at what a host offers, at least, */
#define OFFERS_RARER   50u              /* and so many times what the last answer took more, */
#define OFFERS_MOST_NS (300 * NS_PER_S) /* at most */
#define CALM_NS        (60 * NS_PER_S)  /* after an order nobody waits for what comes of it */
#define RETRY_NS       (5 * NS_PER_S)
#define POLL_NS        (3 * NS_PER_S)  /* between checks whether our session is still there */
#define POLL_LIMIT_NS  (6 * NS_PER_S)  /* of one: a stopped application holds it up for 5 s */
#define LISTED_NS      (10 * NS_PER_S) /* until a relay daemon lists a session that was made */
#define MAX_HOSTS      CONDUCTOR_MAX_FDS
#define TEXT_BYTES     512

/* A host, by its index among the control hosts. */
struct player {
	uint32_t generation; /* of the helper that was spoken to */
	bool asking;         /* for what it offers */
	bool creating;
	bool afresh;  /* creating was not tried since its helper came, or since it was lost */
	bool lost;    /* our session was, and is not made again so far */
	bool polling; /* whether our session is still there */
	bool silent;  /* our session: its events do not come */
	bool missed;  /* by the last check; one may be in vain, if just then a call was ended */
	uint64_t offers_ns, create_ns, poll_ns; /* not before */
	uint64_t created_ns;
	char session[CONTROL_NAME_BYTES];
	char probe[CONTROL_NAME_BYTES];         /* that of pythiatop-probe beside it; "": none */
	char complaint[CONTROL_SENTENCE_BYTES]; /* why its session is not there, or not well */
};

/* The order that the hosts are at. */
struct playing {
	bool on, undo;
	enum step_kind kind;
	uint32_t step, watch_s;
	uint32_t open; /* asks without an answer */
	bool failed;
	char error[CONTROL_NAME_BYTES + TEXT_BYTES];
};

/* A step that is being watched, and what the hosts say of it. */
struct watching {
	bool on, asked;
	struct watch watch;
	uint64_t discarded; /* in our sessions, at the begin */
	uint32_t open;
	uint64_t discarded_now;
};

struct conductor {
	struct conductor_setup setup;
	struct control_hosts *hosts;
	struct decisions *decisions;
	struct player players[MAX_HOSTS];
	enum step_mode mode;
	struct playing playing;
	uint64_t ordered_ns; /* when the last order was given; 0: none was */
	struct watching watching;
	struct coverage coverage; /* of the step that is watched */
	struct load load;         /* of all steps, while none is watched */
	struct dry_run dry_run;
	bool changed;
	char own_name[256];
};

/* The engine is told, and where it takes it the log. */
bool conductor_tell(struct conductor *conductor, const struct engine_input *input);

/* conductor_hosts.c: what a host offers, and that our session is there. */
void conductor_tend_host(struct conductor *conductor, int at, uint64_t now_ns);

/* conductor_watch.c: a step that is in force is watched, by what is seen of its events. */
void conductor_begin_watch(struct conductor *conductor, uint64_t now_ns);
void conductor_tend_watch(struct conductor *conductor, uint64_t now_ns);

#endif
