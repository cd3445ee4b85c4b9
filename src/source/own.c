/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "own.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "packets.h"
#include "relay_session.h"

#define RECORDS_PER_RUN 4096u
#define SIGN_OF_LIFE_NS UINT64_C(2000000000)
#define SILENCE_NS      UINT64_C(30000000000) /* of a relay daemon that owes answers */
#define WAIT_MAX_MS     1000u

struct own {
	struct outlet *outlet;
	struct packets *packets;
	struct relay_session *sessions[OWN_MAX_SESSIONS];
	uint32_t n; /* that go on */
	uint64_t sleep_ns;
	uint64_t now_ns, looked_ns;  /* CLOCK_MONOTONIC */
	uint64_t received, heard_ns; /* bytes, and when the last of them came */
	uint64_t told_ns;            /* a state, last */
	bool active;
	char why[640];
};

struct own *own_create(struct outlet *outlet, const struct trace_names *names, uint64_t sleep_ns)
{
	struct own *own = calloc(1, sizeof(*own));

	if (own) {
		own->outlet = outlet;
		own->sleep_ns = sleep_ns;
		own->packets = packets_create(outlet, names);
	}
	if (own && !own->packets) {
		free(own);
		own = NULL;
	}
	return own;
}

void own_destroy(struct own *own)
{
	if (own) {
		for (uint32_t i = 0; i < own->n; i++) {
			relay_session_destroy(own->sessions[i]);
		}
		packets_destroy(own->packets);
		free(own);
	}
}

const char *own_why(const struct own *own)
{
	return own->why;
}

void own_announced(const struct own *own, uint32_t *n_streams, uint32_t *n_types)
{
	packets_announced(own->packets, n_streams, n_types);
}

bool own_add(struct own *own, struct viewer *viewer, uint64_t id,
		const struct viewer_streams *streams)
{
	struct relay_session *session;

	if (own->n == OWN_MAX_SESSIONS) {
		viewer_close(viewer);
		return false;
	}
	session = relay_session_create(viewer, id, streams, own->packets);
	if (session) {
		own->sessions[own->n++] = session;
	}
	return session != NULL;
}

static uint32_t answers_due(const struct own *own)
{
	uint32_t due = 0;

	for (uint32_t i = 0; i < own->n; i++) {
		due += relay_link_due(relay_session_link(own->sessions[i]));
	}
	return due;
}

static void look(struct own *own)
{
	own->looked_ns = own->now_ns;
	for (uint32_t i = 0; i < own->n; i++) {
		relay_session_look(own->sessions[i]);
	}
}

/* OWN_ENDED: go on; those that have ended are put away. */
static enum own_end turn(struct own *own)
{
	uint64_t received = 0;

	for (uint32_t i = 0; i < own->n;) {
		struct relay_session *session = own->sessions[i];
		enum relay_step step = relay_session_turn(session);

		received += relay_link_received(relay_session_link(session));
		if (step == RELAY_FAILED || step == RELAY_NOT_UNDERSTOOD) {
			snprintf(own->why, sizeof(own->why), "%s", relay_session_fault(session));
			return step == RELAY_FAILED ? OWN_FAILED : OWN_NOT_UNDERSTOOD;
		}
		if (step == RELAY_ENDED) {
			relay_session_destroy(session);
			own->sessions[i] = own->sessions[--own->n];
		} else {
			i++;
		}
	}
	if (received != own->received || answers_due(own) == 0) {
		own->received = received;
		own->heard_ns = own->now_ns;
	}
	return OWN_ENDED;
}

/*
 * Never waits for the console while a relay daemon waits for us: one thread of that serves all its
 * viewers, and the console may be waiting for another of them.
 */
static enum packets_step decode(struct own *own)
{
	if (answers_due(own) > 0 && outlet_is_crowded(own->outlet)) {
		return PACKETS_WAIT;
	}
	return packets_run(own->packets, RECORDS_PER_RUN);
}

static bool tell(struct own *own)
{
	bool active = packets_events(own->packets) > 0;

	if (own->told_ns != 0 && active == own->active &&
			(own->now_ns - own->told_ns < SIGN_OF_LIFE_NS ||
					own->heard_ns <= own->told_ns)) {
		return true;
	}
	own->active = active;
	own->told_ns = own->now_ns;
	return outlet_state(own->outlet, active ? SOURCE_ACTIVE : SOURCE_ATTACHED, "");
}

static void wait_for_answers(const struct own *own)
{
	struct pollfd ready[OWN_MAX_SESSIONS];
	uint64_t passed_ns = own->now_ns - own->looked_ns, left_ms = 0;
	nfds_t n = 0;

	for (uint32_t i = 0; i < own->n; i++) {
		const struct relay_link *link = relay_session_link(own->sessions[i]);

		if (relay_link_due(link) > 0) {
			ready[n++] = (struct pollfd){.fd = relay_link_fd(link),
					.events = relay_link_events(link)};
		}
	}
	if (passed_ns < own->sleep_ns) {
		left_ms = (own->sleep_ns - passed_ns) / 1000000 + 1;
	}
	poll(ready, n, (int)(left_ms < WAIT_MAX_MS ? left_ms : WAIT_MAX_MS));
}

/* Nothing is to be done: until an answer comes, or streams are to be asked again. */
static bool wait(struct own *own)
{
	if (answers_due(own) == 0) {
		uint64_t passed_ns = own->now_ns - own->looked_ns;

		if (passed_ns < own->sleep_ns) {
			outlet_sleep(own->outlet, own->sleep_ns - passed_ns);
		}
		own->now_ns = clock_monotonic_ns();
		own->heard_ns = own->now_ns;
		look(own);
		return true;
	}
	if (own->now_ns - own->heard_ns >= SILENCE_NS) {
		snprintf(own->why, sizeof(own->why), "%s has not answered for %u s",
				relay_link_name(relay_session_link(own->sessions[0])),
				(unsigned int)(SILENCE_NS / 1000000000));
		return false;
	}
	wait_for_answers(own);
	return true;
}

enum own_end own_follow(struct own *own)
{
	own->now_ns = own->heard_ns = clock_monotonic_ns();
	look(own);
	for (;;) {
		enum own_end end = turn(own);
		enum packets_step step;
		uint32_t n_failed = 0;
		const char *fault;

		if (end != OWN_ENDED) {
			return end;
		}
		step = decode(own);
		fault = packets_fault(own->packets, &n_failed);
		if (n_failed > 0) {
			snprintf(own->why, sizeof(own->why), "%s", fault);
			return OWN_NOT_UNDERSTOOD;
		}
		own->now_ns = clock_monotonic_ns();
		if (step == PACKETS_ERROR || !tell(own)) {
			return OWN_ALONE;
		}
		if (own->n == 0 && step != PACKETS_MORE) {
			return OWN_ENDED;
		}
		if (step != PACKETS_MORE && !wait(own)) {
			return OWN_FAILED;
		}
		if (own->now_ns - own->looked_ns >= own->sleep_ns) {
			look(own);
		}
	}
}
