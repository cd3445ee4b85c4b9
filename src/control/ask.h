/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONTROL_ASK_H
#define PT_CONTROL_ASK_H

#include <jansson.h>

#include "control/hosts.h"
#include "control/peer.h"
#include "control/rows.h"
#include "control/target.h"

/* What hosts are asked, and what the files of this folder share; hosts.h is for everybody else. */
#define CONTROL_MAX_NOTICES 16u

struct ask {
	struct ask *next;
	uint64_t number; /* also on the wire */
	int host;
	enum control_verb verb;
	uint32_t n_rules; /* of an enable or disable: so many changes must come */
	control_done_fn done;
	void *context;
	uint64_t asked_ns, deadline_ns;
	enum status refused; /* not STATUS_OK: never went out, to be answered by the next step */
	bool giving_up;
	bool answered;        /* its last line is still to come, and nobody wants it */
	uint64_t given_up_ns; /* when the helper was told */
};

struct host {
	struct target target;
	struct peer peer;
	enum control_state state;
	uint32_t generation;
	bool read_only;
	double event_ns;
	char session[CONTROL_NAME_BYTES], probe[CONTROL_NAME_BYTES];
	char hostname[CONTROL_NAME_BYTES];
	char sentence[CONTROL_SENTENCE_BYTES];
	uint64_t start_ns, retry_ns, backoff_ns; /* of the process */
	uint64_t hello, ready_ns;                /* the number of our hello; when it was answered */
	uint64_t heard_ns, renew_ns; /* the last line of its, the next renewal of ours */
	struct rows rows;            /* of the answer that is coming */
	uint64_t collecting;         /* its number; 0: none */
};

struct control_hosts {
	const char *const *local; /* argv of the helper that is started here */
	char *program, *ssh, *console;
	struct host *hosts[CONTROL_MAX_HOSTS];
	uint32_t n_hosts;
	struct ask *asks; /* in the order asked */
	uint64_t last;    /* number given */
	uint64_t stepped_ns;
	bool changed;
	char notices[CONTROL_MAX_NOTICES][CONTROL_SENTENCE_BYTES];
	uint32_t n_notices;
};

/* --- ask.c --- */

/* Sends {"id","do",...}; takes the reference of `request`. The number, or 0. */
uint64_t ask_send(
		struct control_hosts *hosts, struct host *host, const char *verb, json_t *request);

struct ask *ask_find(struct control_hosts *hosts, uint64_t number);

/* Takes it off the list and calls back. `rows`, `last`: of its answer, may be NULL. */
void ask_answer(struct control_hosts *hosts, struct ask *ask, enum status status,
		const char *message, const struct rows *rows, const json_t *last);

/* Those of a host that lost its helper. */
void ask_answer_all(struct control_hosts *hosts, int host, enum status status, const char *message);

/* Tells the helper, and the asker. The ask stays until its last line has come. */
void ask_abandon(struct control_hosts *hosts, struct ask *ask, uint64_t now_ns, enum status status,
		const char *message);

/* Refusals, deadlines and give-ups. False: the host's helper does not even give up. */
void ask_refusals(struct control_hosts *hosts);
bool ask_deadlines(struct control_hosts *hosts, int host, uint64_t now_ns);

/* The earliest time at which one of them is due. */
uint64_t ask_due_ns(const struct control_hosts *hosts);

#endif
