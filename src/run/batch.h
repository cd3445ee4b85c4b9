/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_BATCH_H
#define PT_RUN_BATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "output/output.h"
#include "output/select.h"
#include "run/pipeline.h"
#include "run/until.h"

/*
 * The ways to run without a screen. Each drives a pipeline whose sources are attached, in the
 * calling thread, until it is done or SIGINT or SIGTERM comes, and returns the program's exit code:
 * 0, or 1 if something failed, which is then told on `err`.
 */
struct batch {
	struct output_style style;
	uint64_t count;    /* documents; 0: no limit. Recordings give one */
	uint64_t delay_ns; /* between documents */
	enum horizon horizon;
	enum metric metric;
	const struct output_select *select; /* of the state; NULL: all */
	struct batch_until until;
	bool (*is_over)(void *context); /* what is watched has ended; NULL: it goes on */
	void *context;                  /* of is_over */
	FILE *out, *err;
	bool progress; /* draw a bar on `err` */
};

/*
 * Recordings: the final document. With a live source: one every delay. Where the pipeline is to
 * hold an instant: that one's, and no more.
 */
int batch_run(struct pipeline *pipeline, const struct batch *batch);

/* What the relay daemons that are offered have, as a table. */
int batch_list(struct pipeline *pipeline, FILE *out, FILE *err);

/* The schema in force, as YAML: of recordings at their end, of live sources after live_ns. */
int batch_show_schema(struct pipeline *pipeline, bool all, uint64_t live_ns, FILE *out, FILE *err);

#endif
