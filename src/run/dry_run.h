/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_DRY_RUN_H
#define PT_RUN_DRY_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/hosts.h"
#include "pythiatop/engine.h"
#include "pythiatop/snapshot/steps.h"

/*
 * What the hosts would do if a step were approved: each one is asked, and nothing is changed
 * anywhere. So it is known beforehand what a host forbids, what is recorded already, and which
 * filter would not hold. One at a time; the answer comes as a sentence.
 */
struct dry_run {
	struct control_hosts *hosts;
	const struct engine *engine;
	void (*say)(void *context, const char *text);
	void *context;
	bool on, learns;
	uint32_t step, open;                                           /* asks without an answer */
	uint32_t n_hosts, would, was, disable;                         /* events, but for n_hosts */
	char trouble[CONTROL_NAME_BYTES + 2 * CONTROL_SENTENCE_BYTES]; /* the first; "": none */
};

/* False: `error` says why not. The row must only live for the call. */
bool dry_run_begin(struct dry_run *dry_run, const struct step_row *row, char *error, size_t size);

#endif
