/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SUPPORT_CLOUD_H
#define SUPPORT_CLOUD_H

#include "pythiatop/snapshot/snapshot.h"
#include "support_changes.h"
#include "support_shapes.h"
#include "support_state.h"
#include "support_steps.h"
#include "support_variation.h"

/*
 * Snapshots of a small made-up cloud, the same at every call: six groups of requests, of which
 * "server create" takes 0.4, 1.2 or 2.1 s. They answer a focus as the analysis would.
 */
struct cloud {
	uint32_t tick;   /* time goes on by a tenth of a second with each */
	uint32_t groups; /* 0: the six; else so many */
	bool hostile;    /* names from a trace that mean no good */
	bool lossy;      /* events are lost, late and lag behind */
	bool warned;     /* something is wrong with the input */
	bool shuffled;   /* the groups are in the reverse order */
	bool gone;       /* nothing asked for is kept any more */
	bool no_groups;
	struct made_state state;
	struct made_variation variation;
	struct made_steps steps;
	struct made_changes changes;
	struct made_shapes shapes;
	bool no_path;               /* requests have no critical path */
	bool measured;              /* requests have resources */
	bool failing;               /* some requests fail: in image.fetch */
	struct source_row *sources; /* instead of its own */
	uint32_t n_sources;
	const char *notice;
	uint64_t notice_serial;
};

/* `context` is a struct cloud. Free with snapshot_destroy(). */
struct snapshot *cloud_snapshot(const struct focus *focus, void *context);

#endif
