/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_LOOP_H
#define PT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "groups/groups.h"
#include "groups/sites.h"
#include "base/names.h"
#include "pythiatop/event.h"
#include "pythia/pythia.h"
#include "registry.h"
#include "requests/contexts.h"
#include "requests/model.h"

/*
 * Joins Pythia's loop to the rest of the engine: tells it what is offered and recorded, shows it
 * the groups once a second of event time, as a screen would be shown them, and begins an epoch of
 * those that are touched when what is recorded has changed. While a person has frozen the picture
 * nothing is proposed.
 */
struct loop_host {
	const struct names *names;
	const struct contexts *contexts;
	const struct registry *registry;
	struct model *model;
	struct groups *groups; /* what is in an edge's time, and their key-values */
	/* Answers a focus as of now; false: not now. */
	bool (*fill)(void *context, const struct focus *focus, struct snapshot *snapshot);
	/* Begins one of the groups that `touches` says yes to; hosts answered then (0: now). */
	void (*begin_epoch)(void *context, uint64_t answered_ns,
			bool (*touches)(void *context, uint32_t type, uint64_t hosts),
			void *touched);
	void *context;
};

struct loop_type {
	uint64_t seen;           /* hosts that sent it since the last round, a bit each */
	uint64_t events, bytes;  /* since then */
	uint32_t fixed_bytes;    /* of a record, what is the same of all */
	uint32_t n_texts, slots; /* and what the others begin with, in an event */
};

struct loop {
	struct loop_host host;
	struct pythia *pythia;
	struct loop_type *types;              /* by type */
	uint32_t n_types, types_room, n_told; /* types; those that Pythia knows */
	uint64_t requests, seen_requests;     /* so far, and at the last round */
	uint64_t now_ns;
	uint64_t standing, news_ns; /* pythia_standing(), and event time at which it last changed */
	uint64_t slice_ns; /* event time of the next slice of explaining; UINT64_MAX: none */
	uint32_t epoch;
	struct arena profile;
	/* Those of the group that was asked for last in this round (0: none); and scratch. */
	struct group_site sites[SITES_MAX], shown_sites[SITES_MAX];
	uint32_t n_sites, sites_group;
	uint64_t sites_since_ns;
	/* Of the group that find_waits() was asked of last, in this round. */
	struct snapshot *waits;
};

/* False if out of memory. The names are Pythia's to add to. */
bool loop_init(struct loop *loop, const struct loop_host *host, struct names *names);
void loop_release(struct loop *loop);
bool loop_add_type(struct loop *loop);

/*
 * An event of that type came from a host; of hosts beyond 64 it does not know. Returns the bytes of
 * its record in the trace: exact for numbers, to 3 bytes for a text; trees count as they are here.
 */
static inline uint32_t loop_see(struct loop *loop, const struct event *event, uint32_t host)
{
	struct loop_type *type = &loop->types[event->type];
	uint32_t others = event->bytes - type->slots, slack = 3 * type->n_texts;
	uint32_t bytes = type->fixed_bytes + (others > slack ? others - slack : 0);

	type->seen |= host < 64 ? UINT64_C(1) << host : 0;
	type->events++;
	type->bytes += bytes;
	return bytes;
}

/* A request was handed to the groups. */
static inline void loop_request(struct loop *loop)
{
	loop->requests++;
}

/* A second of event time has turned. */
void loop_round(struct loop *loop, uint64_t now_ns);
/* A part of it, where nothing is to be proposed: what is being explained is taken up. */
void loop_explain_round(struct loop *loop, uint64_t now_ns);
/* Event time has come to loop->slice_ns. */
void loop_slice(struct loop *loop, uint64_t now_ns);
/* Nothing more will come: what is being explained is done. */
void loop_finish(struct loop *loop, uint64_t now_ns);
/* A person wants to know what explains a group. STATUS_FULL: too many are being explained. */
enum status loop_explain(struct loop *loop, uint32_t group_id);
/* An epoch has begun, for whatever reason. */
void loop_epoch(struct loop *loop);

enum status loop_offer(
		struct loop *loop, const char *host, const struct step_offer *offers, uint32_t n);
enum status loop_propose(
		struct loop *loop, uint32_t context, bool enable, char *error, size_t size);
void loop_order_done(struct loop *loop, const struct step_outcome *outcome);
void loop_host_gone(struct loop *loop, const char *host, uint64_t now_ns);
void loop_silent(struct loop *loop, const char *host, bool is, uint64_t now_ns);
void loop_watch_over(struct loop *loop, const struct step_watch *watch);
/* Takes what is recorded now for all there is. */
void loop_learn(struct loop *loop);
const struct profile *loop_profile(struct loop *loop);

#endif
