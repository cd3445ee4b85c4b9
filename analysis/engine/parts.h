/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_ENGINE_PARTS_H
#define PT_ENGINE_PARTS_H

#include "behaving.h"
#include "base/array.h"
#include "base/names.h"
#include "change/change.h"
#include "duplicates.h"
#include "groups/groups.h"
#include "loop.h"
#include "pythiatop/engine.h"
#include "registry.h"
#include "requests/activations.h"
#include "requests/contexts.h"
#include "requests/dump.h"
#include "requests/extract.h"
#include "requests/model.h"
#include "requests/pauses.h"
#include "requests/request_snapshot.h"
#include "requests/requests.h"
#include "requests/servers.h"
#include "state/log.h"
#include "state/state.h"
#include "waits.h"

/*
 * What the engine consists of. engine.c: its life, and events; inputs.c: what is told
 * besides, and the loop; snapshots.c: snapshots; original_events.c: original events.
 */
#define NS_PER_S     UINT64_C(1000000000)
#define RATE_SECONDS 64 /* of history, hence the longest window with a rate */

struct engine {
	struct engine_config config;
	struct registry registry;
	struct duplicates duplicates;
	struct names *names;
	struct contexts *contexts;
	struct request_pool pool;
	struct model *model;
	struct extractor *extractor;
	struct requests *requests;
	struct servers *servers;
	struct activations *activations;
	struct groups *groups;
	struct event_log *log;
	struct threads *threads;
	struct state *state;
	struct loop loop;
	struct waits_memory *waits;
	struct behaving *behaving;
	struct pauses pauses;

	uint64_t in, late, dropped, discarded; /* dropped: copies, damaged and misdated events */
	uint64_t first_ns, now_ns;
	bool started, finished; /* finished: nothing has come since all ended, see finish() */
	bool pinned;
	uint64_t pinned_ns;
	uint64_t next_tidy_ns; /* see tidy() */
	uint64_t forget_ns;    /* event time of state_forget(); 0: none is due */
	struct arena notes;    /* of engine_schema() */
	struct loss *losses;   /* the last ENGINE_LOSSES, by number modulo that */
	uint32_t losses_room;
	uint64_t n_losses;              /* that were told */
	uint32_t seconds[RATE_SECONDS]; /* events of each of the last seconds of event time */
	uint64_t second;                /* the latest */
};

/* Where a window begins that ends then. */
uint64_t engine_window_begin(const struct engine *engine, uint64_t ts_ns);
/* State and log let go of what has left the window. */
void engine_tidy(struct engine *engine);
/* A frozen focus pins the window at the moment it is first seen; the instant that it is of. */
uint64_t engine_follow_pin(struct engine *engine, const struct focus *focus);
/* The loop sees groups as a screen would; false: not while a person has frozen the picture. */
bool engine_fill_as_of_now(void *context, const struct focus *focus, struct snapshot *snapshot);

#endif
