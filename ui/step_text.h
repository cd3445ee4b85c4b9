/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_STEP_TEXT_H
#define UI_STEP_TEXT_H

#include <stddef.h>

#include "pythiatop/snapshot/steps.h"
#include "role.h"

/*
 * Steps in words: what the groups, the steps, the dialogs and the title say of them. What is not
 * known is never a number. Pure.
 */

/* The step that waits for a decision, or NULL. */
const struct step_row *step_next(const struct steps_view *steps);

/* The step of that id, or NULL. */
const struct step_row *step_find(const struct steps_view *steps, uint32_t id);

/* Whether it can be undone: the hosts were told, or are being told. */
bool step_in_force(const struct step_row *row);

/* The newest one that can be undone, or NULL. */
const struct step_row *step_newest_in_force(const struct steps_view *steps);

const char *step_mode_name(enum step_mode mode);
const char *step_state_name(const struct step_row *row); /* one that nobody rejected: "withdrawn" */
enum role step_state_role(enum step_state state);
const char *step_by_name(enum step_by by);

/* "stopped by rule 2 \"a variable explains it\"", "searching" where none fired. */
void step_rule(char *out, size_t size, enum stop_rule rule);

/*
 * Why the search for a group ended and what it took, of `known` points: "stopped by rule 1 \"this
 * code\" after 2 steps, 37s, 3/271 points", or "... at once, with what was on".
 */
void step_stop(char *out, size_t size, const struct steps_finding *finding, uint32_t known);

/* Whether anything is to be told of a variable, be it that it is looked for. */
bool step_tells_variable(const struct steps_finding *finding);

/* "about +310 ev/s", "cost not known". */
void step_rate(char *out, size_t size, const struct step_row *row);

/* "about +310 ev/s, 14.0kB/s, 0.01% CPU"; "cost not known". */
void step_cost(char *out, size_t size, const struct step_row *row);

/* "about +321 ev/s, 14.4kB/s, 0.01% CPU" of all points that a search enabled; "-": not known. */
void step_cost_of_search(char *out, size_t size, const struct steps_finding *finding);

/* "-": not known; "0.01%": of one CPU. */
void step_cpu(char *out, size_t size, double share);

/* "1.20k of 5.00k ev/s": what all steps cost, of what they may. */
void step_budget(char *out, size_t size, const struct steps_view *steps);

/* "image_fetch, sem_acquire": what is enabled, where that is few; else "". */
void step_points(char *out, size_t size, const struct step_row *row);

/* "compute-1, compute-2 and 3 more": those that the step is about, as they come. */
void step_hosts(char *out, size_t size, const struct step_row *row);

/* How many hosts those are. */
uint32_t step_count_hosts(const struct step_event *events, uint32_t n);

/* Whether event `at` is the first one of its host. */
bool step_is_first_of_host(const struct step_event *events, uint32_t at);

/* Why some host cannot be controlled and what to do, or "". */
const char *step_control_trouble(const struct steps_view *steps);

#endif
