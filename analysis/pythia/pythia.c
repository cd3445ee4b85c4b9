/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "pythia/state.h"

#define TITLE_BYTES 256

struct pythia *pythia_create(struct names *names)
{
	struct pythia *pythia = calloc(1, sizeof(*pythia));

	if (!pythia) {
		return NULL;
	}
	pythia->names = names;
	points_init(&pythia->points, names);
	space_init(&pythia->space);
	detecting_init(&pythia->detecting);
	planning_init(&pythia->planning);
	return pythia;
}

void pythia_destroy(struct pythia *pythia)
{
	if (!pythia) {
		return;
	}
	detecting_release(&pythia->detecting);
	locating_release(&pythia->locating);
	planning_release(&pythia->planning);
	failures_release(pythia);
	explaining_release(&pythia->explaining);
	points_release(&pythia->points);
	space_release(&pythia->space);
	steps_release(&pythia->steps);
	free(pythia->touched.points);
	free(pythia);
}

/*
 * What a person left out of a step that is decided now is left alone as if it had been rejected by
 * itself; and what was not to be disabled is wanted, like what a person enabled.
 */
static void bar_left_out(struct pythia *pythia, const struct step *step)
{
	for (uint32_t i = 0; i < step->n_parts; i++) {
		const struct step_part *part = &step->parts[i];
		struct point *point = &pythia->points.items[part->point];

		if (part->left_out) {
			point->excluded = pythia->epoch + EXCLUDED_EPOCHS;
			point->pinned |= !part->enable;
		}
	}
}

void pythia_set_mode(struct pythia *pythia, enum step_mode mode, uint64_t now_ns)
{
	struct step *step = steps_proposed(&pythia->steps);
	char error[128];

	pythia->mode = mode;
	planning_resume(&pythia->planning);
	if (mode == MODE_AUTOPILOT && step) {
		bar_left_out(pythia, step);
		step_decide(step, STEP_APPROVE, STEP_BY_AUTOPILOT, now_ns, error, sizeof(error));
	}
}

const struct step_budget *pythia_budget(const struct pythia *pythia)
{
	return &pythia->planning.budget;
}

void pythia_set_budget(struct pythia *pythia, const struct step_budget *budget)
{
	planning_set_budget(&pythia->planning, budget);
}

enum status pythia_set_strategy(struct pythia *pythia, const char *name)
{
	return planning_set_strategy(&pythia->planning, name) ? STATUS_OK : STATUS_NOT_FOUND;
}

/* --- what is offered, and recorded ----------------------------------------------------------- */

/* The point of an event; POINT_NONE: a bound, or out of memory. */
static uint32_t point_of(struct pythia *pythia, const struct pythia_offer *event)
{
	struct points *points = &pythia->points;
	uint32_t at = points_add(points, pythia_intern(pythia, event->provider),
			pythia_intern(pythia, event->span), event->kernel);

	if (at != POINT_NONE) {
		points_set_event(points, at, pythia_intern(pythia, event->event),
				event->role == OFFER_EXIT);
		points->items[at].skeleton |= event->skeleton;
		points->items[at].bounded |= event->bounded;
	}
	return at;
}

void pythia_know(struct pythia *pythia, const struct pythia_offer *event)
{
	point_of(pythia, event);
}

enum status pythia_offer(struct pythia *pythia, const char *host, const struct pythia_offer *offers,
		uint32_t n)
{
	struct points *points = &pythia->points;
	uint64_t bit = points_host(points, host);

	if (!bit) {
		return STATUS_NOT_FOUND;
	}
	pythia->offers += n > 0;
	pythia->awaited &= ~bit;
	if (pythia->gone & bit) {
		pythia->gone &= ~bit;
		planning_set_learn_tried(
				&pythia->planning, false); /* it may have failed for that */
	}
	for (uint32_t i = 0; i < points->n; i++) {
		points->items[i].offered &= ~bit;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = point_of(pythia, &offers[i]);

		if (at == POINT_NONE) {
			return STATUS_NO_MEMORY;
		}
		if (offers[i].role != OFFER_EXIT) {
			points->items[at].offered |= bit;
		}
	}
	return STATUS_OK;
}

void pythia_recorded(struct pythia *pythia, const char *event, const char *const *hosts, uint32_t n,
		double bytes, double events_per_s)
{
	uint32_t at = points_of_event(&pythia->points, pythia_intern(pythia, event));
	struct point *point;
	uint64_t late;

	if (at == POINT_NONE) {
		return;
	}
	point = &pythia->points.items[at];
	late = pythia->now_ns < point->undone_ns + POINTS_LATE_NS ? point->undone : 0;
	points_see(point, events_per_s, pythia->now_ns);
	point->bytes = bytes;
	for (uint32_t i = 0; i < n; i++) {
		point->recorded |= points_host(&pythia->points, hosts[i]) & ~late;
	}
}

static bool offers_any(const struct pythia *pythia, uint64_t bit)
{
	uint32_t i = 0;

	while (i < pythia->points.n && !(pythia->points.items[i].offered & bit)) {
		i++;
	}
	return i < pythia->points.n;
}

/* Its control is there, so it will tell what it offers: a program of many functions after a while.
 */
void pythia_calibrate(struct pythia *pythia, const char *host, double event_ns)
{
	uint64_t bit = points_host(&pythia->points, host);

	cost_calibrate(&pythia->planning, bit, event_ns);
	if (!offers_any(pythia, bit)) {
		pythia->awaited |= bit;
		pythia->awaited_ns = 0;
	}
}

/* --- decisions and outcomes ------------------------------------------------------------------ */

enum status pythia_decide(struct pythia *pythia, uint32_t id, enum step_decision decision,
		enum step_by by, uint64_t now_ns, char *error, size_t size)
{
	struct step *step = steps_find(&pythia->steps, id);
	struct finding *finding;
	enum status status;
	bool waits;

	if (!step) {
		snprintf(error, size, "there is no step %u (any more)", id);
		return STATUS_NOT_FOUND;
	}
	waits = step->state == STEP_PROPOSED;
	if (decision == STEP_APPROVE && pythia->mode == MODE_OBSERVE) {
		snprintf(error, size, "the mode is observe: nothing is changed");
		return STATUS_INVALID;
	}
	status = step_decide(step, decision, by, now_ns, error, size);
	if (status == STATUS_OK && waits) {
		bar_left_out(pythia, step);
	}
	if (status == STATUS_OK && decision == STEP_REJECT) {
		pythia_exclude(pythia, step);
		if (step->kind == STEP_LEARN) {
			planning_set_learn_tried(&pythia->planning, true);
		}
		finding = finding_of(pythia, step->group_id, false, 0);
		if (finding) {
			finding_note(finding, "rejected: %s", step->title);
			finding->judged_epoch = UINT32_MAX;
		}
	}
	return status;
}

enum status pythia_edit(struct pythia *pythia, uint32_t id, uint32_t part, bool keep, char *error,
		size_t size)
{
	struct step *step = steps_find(&pythia->steps, id);
	enum status status;

	if (!step) {
		snprintf(error, size, "there is no step %u (any more)", id);
		return STATUS_NOT_FOUND;
	}
	status = step_edit(step, part, keep, error, size);
	if (status == STATUS_OK) {
		step->predicted = cost_of_parts(pythia, step->parts, step->n_parts);
	}
	return status;
}

enum status pythia_propose_point(struct pythia *pythia, uint32_t at, bool enable, uint64_t now_ns,
		char *error, size_t size)
{
	struct point *point = at < pythia->points.n ? &pythia->points.items[at] : NULL;
	struct step_part part = {.point = at, .enable = enable};
	struct step *step = steps_proposed(&pythia->steps);
	const char *name = point ? names_text(pythia->names, point->name) : "this";
	char title[TITLE_BYTES];

	part.hosts = !point ? 0 : enable ? point_off(point) : point->ours;
	if (!part.hosts || !point->entry) {
		snprintf(error, size,
				enable ? "%s: no host offers it, or it is recorded everywhere"
				       : "%s: no step records it; only what steps enabled is "
					 "disabled",
				name);
		return STATUS_INVALID;
	}
	if (step) {
		bar_left_out(pythia, step);
		step->state = STEP_REJECTED;
		step->ended_ns = now_ns;
		step_say(step, "withdrawn: another was asked for by hand");
	}
	pythia->now_ns = now_ns;
	snprintf(title, sizeof(title), "%s %s", enable ? "+" : "-", name);
	step = steps_add(&pythia->steps, enable ? STEP_ENABLE : STEP_DISABLE, &part, 1, title,
			"by hand", now_ns);
	if (!step) {
		snprintf(error, size, "out of memory");
		return STATUS_NO_MEMORY;
	}
	step->by = STEP_BY_PERSON;
	step->predicted = cost_of_parts(pythia, &part, 1);
	point->pinned = enable;
	return STATUS_OK;
}

enum status pythia_propose(struct pythia *pythia, const char *provider, const char *name,
		bool enable, uint64_t now_ns, char *error, size_t size)
{
	return pythia_propose_point(pythia,
			points_find(&pythia->points, pythia_intern(pythia, provider),
					pythia_intern(pythia, name)),
			enable, now_ns, error, size);
}

void pythia_undo_all(struct pythia *pythia, enum step_by by, uint64_t now_ns)
{
	for (uint32_t i = 0; i < pythia->steps.n; i++) {
		struct step *step = &pythia->steps.items[i];

		if (step->state == STEP_PROPOSED) {
			bar_left_out(pythia, step);
		}
		/* To undo a disabling would be to enable. */
		if (step->kind != STEP_DISABLE || step->state == STEP_PROPOSED ||
				step->state == STEP_APPROVED) {
			step_undo(step, by, now_ns);
		}
	}
	pythia->mode = MODE_OBSERVE;
}

/* Out of memory for the points, any may be touched. */
static void forget_touched(struct pythia *pythia)
{
	bool *points = realloc(pythia->touched.points, pythia->points.n + 1);

	pythia->touched.points = points ? points : pythia->touched.points;
	pythia->touched.n = points ? pythia->points.n : 0;
	pythia->touched.hosts = 0;
	if (points) {
		memset(points, 0, pythia->points.n);
	}
}

static void note_touched(struct pythia *pythia, uint32_t point, uint64_t hosts)
{
	pythia->touched.hosts |= hosts;
	if (point < pythia->touched.n) {
		pythia->touched.points[point] = true;
	}
}

/* All that steps enabled there. */
static bool note_host(struct pythia *pythia, uint64_t bit)
{
	forget_touched(pythia);
	for (uint32_t i = 0; i < pythia->points.n; i++) {
		if (pythia->points.items[i].ours & bit) {
			note_touched(pythia, i, bit);
		}
	}
	return pythia->touched.hosts != 0;
}

bool pythia_silent(struct pythia *pythia, const char *host, bool is, uint64_t now_ns)
{
	uint64_t bit = points_host(&pythia->points, host);

	if (is) {
		pythia->silent |= bit;
		pythia->silent_ns = now_ns;
		return false;
	}
	pythia->silent &= ~bit;
	return note_host(pythia, bit);
}

bool pythia_host_gone(struct pythia *pythia, const char *host, uint64_t now_ns)
{
	uint64_t bit = points_host(&pythia->points, host);
	bool touched = note_host(pythia, bit);

	for (uint32_t i = 0; i < pythia->points.n; i++) {
		point_undo(&pythia->points.items[i], bit, now_ns);
	}
	for (uint32_t i = 0; i < pythia->steps.n; i++) {
		step_host_gone(&pythia->steps.items[i], bit, host, now_ns);
	}
	pythia->silent &= ~bit;
	pythia->gone |= bit;
	pythia->gone_ns = now_ns;
	return touched;
}

const struct step_order *pythia_next_order(struct pythia *pythia)
{
	return steps_next_order(&pythia->steps, &pythia->points);
}

/* The bit of a host that it knows of; else 0. */
static uint64_t known_host(const struct pythia *pythia, const char *host)
{
	uint32_t name = names_add(pythia->names, host, strlen(host));

	for (uint32_t i = 0; i < pythia->points.n_hosts; i++) {
		if (pythia->points.hosts[i] == name) {
			return UINT64_C(1) << i;
		}
	}
	return 0;
}

bool pythia_touches_host(const struct pythia *pythia, const char *host)
{
	return (pythia->touched.hosts & known_host(pythia, host)) != 0;
}

bool pythia_records_switches(const struct pythia *pythia, const char *host)
{
	static const char event[] = "sched_switch";
	uint32_t point = points_of_event(
			&pythia->points, names_add(pythia->names, event, sizeof(event) - 1));

	return point != POINT_NONE &&
	       (pythia->points.items[point].ours & known_host(pythia, host)) != 0;
}

bool pythia_touches_type(const struct pythia *pythia, uint32_t type)
{
	const struct space *space = &pythia->space;
	uint32_t root = space_type(space, type);

	if (root == SPACE_NONE || !space_is_whole(space, root)) {
		return true;
	}
	for (uint32_t i = 0; i < pythia->touched.n; i++) {
		if (pythia->touched.points[i] && !pythia->points.items[i].placed) {
			return true;
		}
	}
	for (uint32_t at = space_next(space, root, root, false); at != SPACE_NONE;
			at = space_next(space, root, at, false)) {
		uint32_t point = space->nodes[at].point;

		if (point >= pythia->touched.n || pythia->touched.points[point]) {
			return true;
		}
	}
	return false;
}

bool pythia_order_done(struct pythia *pythia, const struct step_outcome *outcome, uint64_t now_ns)
{
	struct step *step = steps_order_done(&pythia->steps, &pythia->points, outcome, now_ns);
	struct finding *finding;

	if (!step) {
		return false;
	}
	forget_touched(pythia);
	for (uint32_t i = 0; i < step->n_parts; i++) {
		if (!step->parts[i].left_out) {
			note_touched(pythia, step->parts[i].point, step->parts[i].hosts);
		}
	}
	finding = finding_of(pythia, step->group_id, false, 0);
	if (finding && outcome->undo) {
		finding_note(finding, "step %u undone: %s", step->id, step->effect);
	} else if (finding) {
		finding_note(finding, "step %u: %s", step->id, step->title);
		finding->n_steps += outcome->ok;
	}
	if (!outcome->ok && step->kind == STEP_LEARN) {
		/* A host forbids it, say: it would again. */
		planning_set_learn_tried(&pythia->planning, true);
	} else if (!outcome->ok) {
		pythia_exclude(pythia, step);
	}
	return true;
}

uint32_t pythia_group_of_step(struct pythia *pythia, uint32_t id)
{
	const struct step *step = steps_find(&pythia->steps, id);

	return step ? step->group_id : 0;
}

bool pythia_can_act(const struct pythia *pythia)
{
	return pythia->offers > 0;
}

uint64_t pythia_standing(const struct pythia *pythia)
{
	uint64_t standing = pythia->locating.n_findings;

	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		const struct finding *finding = &pythia->locating.findings[i];

		standing = hash_pair(standing, finding->group_id);
		standing = hash_pair(standing, (uint64_t)finding->edge << 8 | finding->rule);
	}
	return hash_pair(standing, failures_standing(pythia));
}
