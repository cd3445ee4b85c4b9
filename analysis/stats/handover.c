/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/handover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS (2 * HANDOVER_STEPS + 1)
#define Z     1.96

/* Of one kind, by step: HANDOVER_STEPS is just before the end of the wait, higher ones earlier. */
struct counts {
	uint32_t fits[STEPS];
	uint32_t last[STEPS]; /* wait that was counted last, plus 1 */
	double mean, deviation;
};

uint32_t handover_first(const struct handover_end *ends, uint32_t n_ends, uint64_t at_ns)
{
	uint32_t low = 0, high = n_ends;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (ends[middle].at_ns < at_ns) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Wilson's 95 % interval of a share. */
static void handover_interval(uint32_t fits, uint32_t waits, double *low, double *high)
{
	double n = waits, share = waits ? fits / n : 0;
	double middle = share + Z * Z / (2 * fmax(n, 1));
	double half = Z * sqrt(share * (1 - share) / fmax(n, 1) +
					  Z * Z / (4 * fmax(n, 1) * fmax(n, 1)));
	double scale = 1 + Z * Z / fmax(n, 1);

	*low = waits ? fmax((middle - half) / scale, 0) : 0;
	*high = waits ? fmin((middle + half) / scale, 1) : 1;
}

static uint32_t step_of(uint64_t to_ns, uint64_t at_ns)
{
	return at_ns <= to_ns ? HANDOVER_STEPS + (uint32_t)((to_ns - at_ns) / HANDOVER_NS)
			      : HANDOVER_STEPS - 1 - (uint32_t)((at_ns - to_ns - 1) / HANDOVER_NS);
}

static void count_wait(struct counts *counts, const struct handover_wait *wait, uint32_t number,
		const struct handover_end *ends, uint32_t n_ends)
{
	const uint64_t reach_ns = HANDOVER_STEPS * HANDOVER_NS;
	uint64_t first_ns = wait->to_ns > reach_ns ? wait->to_ns - reach_ns : 0;

	for (uint32_t i = handover_first(ends, n_ends, first_ns);
			i < n_ends && ends[i].at_ns <= wait->to_ns + reach_ns; i++) {
		const struct handover_end *end = &ends[i];
		struct counts *of = &counts[end->kind < HANDOVER_KINDS ? end->kind : 0];
		uint32_t step = step_of(wait->to_ns, end->at_ns);

		if (end->kind >= HANDOVER_KINDS || step >= STEPS || end->thread == wait->thread ||
				end->request == wait->request || of->last[step] == number) {
			continue;
		}
		of->last[step] = number;
		of->fits[step]++;
	}
}

static bool is_chance(uint32_t step)
{
	return step + HANDOVER_NEAR < HANDOVER_STEPS || step > HANDOVER_STEPS + HANDOVER_NEAR;
}

static void find_chance(struct counts *counts)
{
	double sum = 0, squares = 0, n = 0;

	for (uint32_t i = 0; i < STEPS; i++) {
		if (is_chance(i)) {
			sum += counts->fits[i];
			squares += (double)counts->fits[i] * counts->fits[i];
			n++;
		}
	}
	counts->mean = sum / n;
	/* Of a kind that hardly ever ends one more is no wonder. */
	counts->deviation = sqrt(fmax(squares / n - counts->mean * counts->mean, 0) + 1);
}

static double excess_over_chance(const struct counts *counts, uint32_t step)
{
	return (counts->fits[step] - counts->mean) / counts->deviation;
}

static bool stands_out(const struct counts *counts, uint32_t n_kinds, double most)
{
	for (uint32_t kind = 0; kind < n_kinds; kind++) {
		for (uint32_t i = 0; i < STEPS; i++) {
			if (is_chance(i) && excess_over_chance(&counts[kind], i) >= most) {
				return false;
			}
		}
	}
	return true;
}

/* The kind that fits most surely; NULL: none does. */
static const struct counts *surest(const struct counts *counts, uint32_t n_kinds, uint32_t waits)
{
	const struct counts *best = NULL;

	for (uint32_t kind = 0; kind < n_kinds; kind++) {
		const struct counts *of = &counts[kind];
		double fits = of->fits[HANDOVER_STEPS];

		if (fits >= HANDOVER_EACH * waits && fits >= 2 * of->mean &&
				(!best || excess_over_chance(of, HANDOVER_STEPS) >
								excess_over_chance(best,
										HANDOVER_STEPS))) {
			best = of;
		}
	}
	return best && stands_out(counts, n_kinds, excess_over_chance(best, HANDOVER_STEPS)) ? best
											     : NULL;
}

static bool fits_kind(const struct handover_wait *wait, const struct handover_end *ends,
		uint32_t n_ends, uint32_t kind)
{
	uint64_t from_ns = wait->to_ns > HANDOVER_NS ? wait->to_ns - HANDOVER_NS : 0;

	for (uint32_t i = handover_first(ends, n_ends, from_ns);
			i < n_ends && ends[i].at_ns <= wait->to_ns; i++) {
		if (ends[i].kind == kind && handover_fits(wait, &ends[i])) {
			return true;
		}
	}
	return false;
}

/* Sets those waits aside that a kind fits; returns how many are left. */
static uint32_t set_aside(struct handover_wait *waits, uint32_t n_waits,
		const struct handover_end *ends, uint32_t n_ends, uint32_t kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_waits; i++) {
		if (!fits_kind(&waits[i], ends, n_ends, kind)) {
			waits[n++] = waits[i];
		}
	}
	return n;
}

/* One more kind; false: there is none. */
static bool find_kind(struct handover_wait *waits, uint32_t *n_waits, struct counts *counts,
		uint32_t n_kinds, const struct handover_end *ends, uint32_t n_ends,
		struct handover *out)
{
	const struct counts *best;

	memset(counts, 0, n_kinds * sizeof(*counts));
	for (uint32_t i = 0; i < *n_waits; i++) {
		count_wait(counts, &waits[i], i + 1, ends, n_ends);
	}
	for (uint32_t kind = 0; kind < n_kinds; kind++) {
		find_chance(&counts[kind]);
	}
	best = surest(counts, n_kinds, *n_waits);
	if (!best) {
		return false;
	}
	out->kinds[out->n++] = (uint32_t)(best - counts);
	out->chance += best->mean / out->waits;
	*n_waits = set_aside(waits, *n_waits, ends, n_ends, (uint32_t)(best - counts));
	return true;
}

static uint32_t kinds_of(const struct handover_end *ends, uint32_t n_ends)
{
	uint32_t n_kinds = 0;

	for (uint32_t i = 0; i < n_ends; i++) {
		if (ends[i].kind < HANDOVER_KINDS && ends[i].kind >= n_kinds) {
			n_kinds = ends[i].kind + 1;
		}
	}
	return n_kinds;
}

bool handover_judge(const struct handover_wait *waits, uint32_t n_waits,
		const struct handover_end *ends, uint32_t n_ends, struct handover *out)
{
	uint32_t n_kinds = kinds_of(ends, n_ends), left = 0;
	struct counts *counts = calloc(n_kinds + 1, sizeof(*counts));
	struct handover_wait *rest = calloc(n_waits + 1, sizeof(*rest));
	bool done = counts && rest;

	*out = (struct handover){.n = 0};
	for (uint32_t i = 0; done && i < n_waits; i++) {
		if (waits[i].to_ns - waits[i].from_ns >= HANDOVER_NS) {
			rest[left++] = waits[i];
		}
	}
	out->waits = left;
	while (done && out->n < HANDOVER_MOST && left >= (out->n ? HANDOVER_REST : HANDOVER_FEW) &&
			find_kind(rest, &left, counts, n_kinds, ends, n_ends, out)) {
	}
	out->fits = out->waits - left;
	if (out->fits < HANDOVER_SHARE * out->waits) {
		out->n = 0;
	}
	handover_interval(out->fits, out->waits, &out->low, &out->high);
	free(counts);
	free(rest);
	return done;
}
