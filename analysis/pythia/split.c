/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pythia/state.h"

/* The step that splits an edge: what the strategy makes of its candidates. */

/* What points take that go with the step, because they told nothing for so many epochs. */
static double freed(const struct pythia *pythia, uint32_t epochs)
{
	double sum = 0;

	for (uint32_t i = 0; i < pythia->points.n; i++) {
		if (pythia_tells_nothing(pythia, &pythia->points.items[i], epochs)) {
			sum += fmax(0, cost_of_point(pythia, i));
		}
	}
	return sum;
}

/* Events/s that the budget leaves, as they are thought to be; negative: there is no bound. */
static double events_left(
		const struct pythia *pythia, const struct finding *finding, uint32_t epochs)
{
	double bound = cost_bound(pythia);
	double left = bound - cost_spent(pythia).events_per_s + freed(pythia, epochs);

	return bound < 0 ? -1 : left > 0 ? left / fmax(DEARER, finding->dearer) : 0;
}

bool split_any_fits(const struct pythia *pythia, const struct finding *finding)
{
	double left = events_left(pythia, finding, UNINFORMATIVE_SCARCE);

	for (uint32_t i = 0; i < pythia->planning.n_candidates && left >= 0; i++) {
		if (pythia->planning.candidates[i].events_per_s <= left) {
			return true;
		}
	}
	return left < 0;
}

void split_take_fewer(struct pythia *pythia, const struct step *step, double times)
{
	struct finding *finding = finding_of(pythia, step->group_id, false, 0);

	if (!finding) {
		pythia_exclude(pythia, step);
		return;
	}
	finding->dearer = fmax(DEARER, finding->dearer) * times * DEARER;
	finding->split_noted = true; /* it has shown nothing */
	finding->holder_steps -= finding->holder_steps > 0;
}

/* Twice as many after each split of the same edge that was in vain. */
static uint32_t most_points(const struct pythia *pythia, const struct finding *finding)
{
	uint32_t points = pythia->planning.budget.points;

	for (uint32_t i = 0; i < finding->fruitless && i < FRUITLESS_SPLITS; i++) {
		points += points <= UINT32_MAX / 2 ? points : 0;
	}
	return points;
}

/* What was chosen, as parts; kernel events only of the threads of the group's requests. */
static uint32_t parts_of(struct pythia *pythia, const struct pythia_detail *detail,
		const struct pythia_round *round, uint32_t n_chosen, struct step_part *parts)
{
	struct pythia_thread *threads = NULL;
	uint32_t n = 0, n_threads = 0;

	for (uint32_t i = 0; i < n_chosen; i++) {
		const struct candidate *candidate =
				&pythia->planning.candidates[pythia->planning.chosen[i]];

		if (!candidate->kernel) {
			parts[n++] = (struct step_part){.point = candidate->point,
					.hosts = point_off(&pythia->points.items[candidate->point]),
					.enable = true};
			continue;
		}
		if (!threads && round->threads) {
			threads = calloc(KERNEL_THREADS, sizeof(*threads));
			n_threads = threads ? round->threads(round->callback_context,
							      detail->row->id,
							      detail->row->since_ns, threads,
							      KERNEL_THREADS)
					    : 0;
		}
		n += kernel_parts(pythia, candidate->point, threads, n_threads, parts + n);
	}
	free(threads);
	return n;
}

/* How many of them; where the budget is what cuts them short, more goes with the step. */
static uint32_t choose(const struct pythia *pythia, const struct finding *finding,
		struct choice *choice, uint32_t *epochs)
{
	uint32_t n = 0, wanted = choice->n < choice->max ? choice->n : choice->max;

	*epochs = UNINFORMATIVE_EPOCHS;
	if (choice->n) {
		choice->events_left = events_left(pythia, finding, *epochs);
		n = pythia->planning.strategy->choose(choice);
	}
	if (n < wanted && choice->events_left >= 0) {
		*epochs = UNINFORMATIVE_SCARCE;
		choice->events_left = events_left(pythia, finding, *epochs);
		n = pythia->planning.strategy->choose(choice);
	}
	return n;
}

bool split_propose(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct split *split)
{
	const struct tree_row *edge =
			split->row == UINT32_MAX ? NULL : &detail->tree->rows[split->row];
	uint32_t n_all = pythia->planning.n_candidates,
		 most = split->most < n_all ? split->most : n_all;
	struct choice choice = {.candidates = pythia->planning.candidates,
			.n = n_all,
			.max = split->most ? most : most_points(pythia, finding),
			.seed = ((uint64_t)pythia->epoch << 32) + finding->group_id,
			.chosen = pythia->planning.chosen,
			.first = pythia->planning.first,
			.ranks = pythia->planning.ranks,
			.places = pythia->planning.places,
			.parts = pythia->planning.parts};
	char title[256], why[512];
	struct step_part *parts;
	struct step *step;
	uint32_t n, n_parts, epochs;

	n = choose(pythia, finding, &choice, &epochs);
	parts = n ? calloc(n * POINTS_MAX_HOSTS + pythia->points.n, sizeof(*parts)) : NULL;
	if (!parts) {
		return false;
	}
	n_parts = parts_of(pythia, detail, round, n, parts);
	snprintf(title, sizeof(title), "+%u %s%s", n, edge ? "inside " : "kernel events",
			split->holder ? split->holder->name
			: edge        ? edge->name
				      : "");
	if (split->holder) {
		snprintf(why, sizeof(why), "%s of %s is waited for %.0f%% of the time in %s of %s",
				split->holder->name, split->holder->type,
				100 * split->holder->share, edge->name, detail->row->type);
	} else if (edge) {
		snprintf(why, sizeof(why),
				"%.0f%% (%.0f to %.0f) of the %s of %s lies in its own time",
				100 * edge->phi, 100 * edge->phi_low, 100 * edge->phi_high,
				finding_share_of(finding), detail->row->type);
	} else {
		snprintf(why, sizeof(why),
				"no point of the code surely holds most of the variance of %s",
				detail->row->type);
	}
	/* What is uninformative goes along, so that it needs no epoch of its own. */
	step = pythia_add_step(pythia, STEP_ENABLE, parts,
			n_parts + pythia_gather_uninformative(pythia, epochs, parts + n_parts),
			finding->group_id, title, why);
	for (uint32_t i = 0; i < n_parts; i++) {
		free(parts[i].filter);
	}
	free(parts);
	if (step) {
		median_bounds(detail->group, &step->median_low_ns, &step->median_high_ns);
	}
	return step != NULL;
}
