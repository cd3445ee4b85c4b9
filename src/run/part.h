/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_PART_H
#define PT_RUN_PART_H

#include <stdint.h>

#include "control/hosts.h"
#include "pythiatop/engine.h"
#include "pythiatop/step.h"

/*
 * What of a step one host is asked for, by its control process: to do it, or what it would do.
 * Sessions of that host that the console reads are named along, for what they record is used there.
 */
struct part {
	struct control_hosts *hosts;
	const struct engine *engine;
	int at;           /* of the host, among those of control */
	const char *host; /* its name */
	enum step_kind kind;
	uint32_t n; /* events of the step, of all hosts */
	const struct step_event *events;
	control_done_fn done;
	void *context;
};

enum part_verb {
	PART_ENABLE = 0, /* those that are to be enabled */
	PART_DISABLE,    /* those that are to be disabled */
	PART_LEARN,      /* all points of their providers */
	PART_CHECK,      /* as PART_ENABLE, but only what would become of it is told */
	PART_CHECK_LEARN,
};

/* 1: asked, `done` will be called; 0: there is nothing of that for the host; -1: out of memory. */
int part_ask(const struct part *part, enum part_verb verb);

#endif
