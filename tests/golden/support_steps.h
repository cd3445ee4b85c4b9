/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SUPPORT_STEPS_H
#define SUPPORT_STEPS_H

#include "pythiatop/snapshot/snapshot.h"

/*
 * Made-up steps of the made-up cloud: a skeleton and three points in force, a fourth to be
 * disabled; all zero: nothing was ever done, the mode is observe.
 */
struct made_steps {
	enum step_mode mode;
	bool done;       /* steps 1 and 2 are in force */
	bool waits;      /* a step is proposed: before `done` step 2, after it step 3 */
	bool learn;      /* ... to learn, on many hosts */
	uint32_t left;   /* points of step 2 that a person left out, a bit each */
	bool went_on;    /* the step that waited is being watched */
	bool verdict;    /* the search for the worst group has ended */
	bool searching;  /* it goes on */
	bool failed;     /* a step failed and was undone by itself */
	bool no_control; /* one of the hosts cannot be controlled */
	bool hostile;    /* names and texts that mean no good */
	bool unknown;    /* nothing is known of what it costs */
	bool many;       /* values and words, as many as there may be */
	bool no_normal;  /* nothing tells what is normal */
	bool changed;    /* the verdict is what has changed since a baseline */
	bool peer;       /* it is which of several like servers takes longer */
	bool at_once;    /* the verdict took no step: all was on */
	/*
	 * By key-values: with a verdict it is explained, else nobody has asked; or `explaining`: it
	 * is being looked for; or `few`: requests are missing, too.
	 */
	bool explaining, few;
};

void made_steps_fill(struct snapshot *snapshot, const struct made_steps *made);

#endif
