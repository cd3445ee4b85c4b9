/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

#define TITLE_BYTES 256

struct step *pythia_add_step(struct pythia *pythia, enum step_kind kind,
		const struct step_part *parts, uint32_t n, uint32_t group_id, const char *title,
		const char *why)
{
	struct step *step = steps_add(&pythia->steps, kind, parts, n, title, why, pythia->now_ns);
	char error[128];

	if (!step) {
		return NULL;
	}
	step->group_id = group_id;
	step->predicted = cost_of_parts(pythia, parts, n);
	if (pythia->mode == MODE_AUTOPILOT) {
		step_decide(step, STEP_APPROVE, STEP_BY_AUTOPILOT, pythia->now_ns, error,
				sizeof(error));
	}
	return step;
}

/* All points that pass, as parts of a step. NULL: none, or out of memory. */
static struct step_part *gather(const struct pythia *pythia,
		bool (*pass)(const struct pythia *pythia, const struct point *point), bool enable,
		uint32_t *n)
{
	struct step_part *parts = calloc(pythia->points.n + 1, sizeof(*parts));

	*n = 0;
	for (uint32_t i = 0; parts && i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];

		if (pass(pythia, point)) {
			parts[(*n)++] = (struct step_part){.point = i,
					.hosts = enable ? point_off(point) : point->ours,
					.enable = enable};
		}
	}
	if (*n == 0) {
		free(parts);
		parts = NULL;
	}
	return parts;
}

/* Interrupts and the like are nobody's request. */
static bool is_skeleton_off(const struct pythia *pythia, const struct point *point)
{
	return point->skeleton && !point->kernel && point->entry && point_off(point) &&
	       point->excluded <= pythia->epoch;
}

static bool is_off(const struct pythia *pythia, const struct point *point)
{
	(void)pythia;
	return point->entry && !point->kernel && point_off(point);
}

bool pythia_tells_nothing(const struct pythia *pythia, const struct point *point, uint32_t epochs)
{
	if (!point->ours || point->skeleton || point->pinned ||
			point_is_held(point, pythia->now_ns)) {
		return false;
	}
	return point->uninformative >= epochs ||
	       (pythia->now_ns > UNSEEN_NS + point->enabled_ns &&
			       pythia->now_ns > UNSEEN_NS + point->seen_ns);
}

static bool is_uninformative(const struct pythia *pythia, const struct point *point)
{
	return pythia_tells_nothing(pythia, point, UNINFORMATIVE_EPOCHS);
}

uint32_t pythia_gather_uninformative(
		const struct pythia *pythia, uint32_t epochs, struct step_part *parts)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];

		if (pythia_tells_nothing(pythia, point, epochs)) {
			parts[n++] = (struct step_part){
					.point = i, .hosts = point->ours, .enable = false};
		}
	}
	return n;
}

static bool is_ours(const struct pythia *pythia, const struct point *point)
{
	(void)pythia;
	return point->ours && !point->skeleton && !point->pinned;
}

static uint32_t count_skeleton_on(const struct pythia *pythia)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];

		n += point->skeleton && (point->recorded | point->ours);
	}
	return n;
}

/* Nothing that requests are known by is recorded: that comes first. */
bool pythia_propose_skeleton(struct pythia *pythia)
{
	struct step_part *parts;
	char title[TITLE_BYTES];
	struct step *step;
	uint32_t n;

	if (count_skeleton_on(pythia) || pythia->now_ns < pythia->first_ns + SILENCE_NS ||
			pythia->now_ns < pythia->planning.skeleton_ns) {
		return false;
	}
	parts = gather(pythia, is_skeleton_off, true, &n);
	if (!parts) {
		return false;
	}
	snprintf(title, sizeof(title), "skeleton: %u points, %u hosts", n, pythia->points.n_hosts);
	step = pythia_add_step(pythia, STEP_SKELETON, parts, n, 0, title, "start");
	free(parts);
	return step != NULL;
}

/*
 * By how often the points that are recorded fire, since nothing else is known yet. Of points that
 * hosts let go of themselves no more than they let through.
 */
static double predict_learning(
		const struct pythia *pythia, const struct groups_view *groups, uint32_t n)
{
	double spans = 0, bounded;
	uint32_t n_bounded = 0;

	for (uint32_t i = 0; i < groups->n; i++) {
		spans += groups->rows[i].rate_per_s;
	}
	for (uint32_t i = 0; i < pythia->points.n; i++) {
		const struct point *point = &pythia->points.items[i];

		n_bounded += point->bounded && is_off(pythia, point);
	}
	if (groups->n == 0) {
		return -1;
	}
	bounded = fmin(2 * n_bounded * spans / groups->n, BOUNDED_RATE * pythia->points.n_hosts);
	return 2 * (n - n_bounded) * spans / groups->n + bounded;
}

static uint32_t count_offered(const struct pythia *pythia)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pythia->points.n; i++) {
		n += pythia->points.items[i].offered != 0 && !pythia->points.items[i].kernel;
	}
	return n;
}

/*
 * How groups perform is seen before, as recording all takes time: of those that most requests
 * belong to, or for half a minute of those that there is enough of.
 */
static bool has_norms(const struct pythia *pythia, const struct groups_view *groups)
{
	uint64_t all = 0, enough = 0;

	for (uint32_t i = 0; i < groups->n; i++) {
		uint64_t count = groups->rows[i].count;

		all += count;
		enough += count >= FEW_REQUESTS ? count : 0;
	}
	return enough > 0 && ((double)enough >= NORMS_MOST * (double)all ||
					     pythia->now_ns >= pythia->first_ns + NORMS_NS);
}

/* How often it was begun and came to nothing. */
static uint32_t failed_learning(const struct steps *steps)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < steps->n; i++) {
		const struct step *step = &steps->items[i];

		n += step->kind == STEP_LEARN &&
		     (step->state == STEP_FAILED ||
				     (step->state == STEP_UNDONE &&
						     step->undone_by == STEP_BY_WATCH));
	}
	return n;
}

/* As many seconds recorded as where all of the time is, or nearly. */
static uint32_t learning_lasts(const struct pythia_round *round)
{
	double recorded = fmax(1 - round->unrecorded, 0.01), seconds = ceil(STEP_LEARN_S / recorded);

	return seconds < STEP_LEARN_MOST_S ? (uint32_t)seconds : STEP_LEARN_MOST_S;
}

/*
 * Where points stand is learned once, by having all of them on for a short while. True: that is
 * proposed, or will be as soon as norms are seen, and nothing else is until then.
 */
bool pythia_propose_learning(struct pythia *pythia, const struct pythia_round *round)
{
	const struct groups_view *groups = round->groups;
	char title[TITLE_BYTES];
	struct step_part *parts;
	struct step *step;
	double rate;
	uint32_t n, seconds = learning_lasts(round);

	if (pythia->space.learned || pythia->planning.learn_tried ||
			pythia->now_ns < pythia->planning.learn_ns) {
		return false;
	}
	n = failed_learning(&pythia->steps);
	if (n >= LEARN_TRIES) {
		snprintf(pythia->lacks, sizeof(pythia->lacks),
				"not learned: it failed %u times; give --learn FILE", n);
		return false;
	}
	parts = gather(pythia, is_off, true, &n);
	if (!parts) {
		return false;
	}
	if (n < count_offered(pythia) / LEARN_PART) {
		free(parts); /* nearly all are on: what is seen is what there is to learn */
		return false;
	}
	rate = predict_learning(pythia, groups, n);
	if (pythia->planning.budget.learn_events_per_s > 0 &&
			rate > pythia->planning.budget.learn_events_per_s) {
		snprintf(pythia->lacks, sizeof(pythia->lacks),
				"not learned: about %.0f events/s, more than :budget learn allows; "
				"give --learn FILE",
				rate);
		free(parts);
		return false;
	}
	if (!has_norms(pythia, groups)) {
		snprintf(pythia->lacks, sizeof(pythia->lacks),
				"it will propose to learn where points stand; first it sees how "
				"requests perform");
		free(parts);
		return true;
	}
	snprintf(title, sizeof(title), "learn: up to %u points for %u s", n, seconds);
	step = pythia_add_step(pythia, STEP_LEARN, parts, n, 0, title,
			"where points stand in requests, and what they cost, is not known");
	free(parts);
	if (step) {
		step->learn_s = seconds;
	}
	if (step && rate >= 0) {
		step->predicted.events_per_s = rate;
	}
	return step != NULL;
}

/* Everything added goes once nothing is searched, or points have told nothing for long. */
bool pythia_propose_disabling(struct pythia *pythia, bool all, uint32_t group_id, const char *why)
{
	char title[TITLE_BYTES];
	struct step_part *parts;
	struct step *step;
	uint32_t n;

	parts = gather(pythia, all ? is_ours : is_uninformative, false, &n);
	if (!parts) {
		return false;
	}
	snprintf(title, sizeof(title), "-%u point%s", n, n == 1 ? "" : "s");
	step = pythia_add_step(pythia, STEP_DISABLE, parts, n, group_id, title, why);
	free(parts);
	return step != NULL;
}

/* What a person rejected, or what failed, is left alone for a while. */
void pythia_exclude(struct pythia *pythia, const struct step *step)
{
	for (uint32_t i = 0; i < step->n_parts; i++) {
		pythia->points.items[step->parts[i].point].excluded =
				pythia->epoch + EXCLUDED_EPOCHS;
	}
}
