/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "explain/explaining.h"

/* The names of the keys that a key stands for. */
static bool fill_together(const struct explain *explain, struct snapshot *snapshot, uint32_t index,
		struct explained_key *out)
{
	const char **names;

	for (uint32_t i = 0; i < explain->n_keys; i++) {
		out->n_together += explain->keys[i].stands_for == index;
	}
	names = snapshot_alloc(snapshot, (out->n_together + 1) * sizeof(*names));
	if (!names) {
		return false;
	}
	out->together = names;
	for (uint32_t i = 0; i < explain->n_keys; i++) {
		if (explain->keys[i].stands_for == index) {
			*names++ = snapshot_text(snapshot, explain->keys[i].name);
		}
	}
	return true;
}

static bool fill_keys(
		const struct explain *explain, struct snapshot *snapshot, struct explanation *out)
{
	struct explained_key *keys;

	out->n_keys = explain->n_ordered < EXPLANATION_KEYS ? explain->n_ordered : EXPLANATION_KEYS;
	keys = snapshot_alloc(snapshot, (out->n_keys + 1) * sizeof(*keys));
	out->keys = keys;
	for (uint32_t i = 0; i < out->n_keys && keys; i++) {
		const struct key *key = &explain->keys[explain->ordered[i]];

		keys[i] = (struct explained_key){.name = snapshot_text(snapshot, key->name),
				.where = snapshot_text(snapshot, key->where),
				.source = key->source,
				.numeric = key->numeric,
				.rho = key->rho,
				.omega2 = key->omega2,
				.omega2_held = key->omega2_held,
				.p = key->p,
				.shifts = key->shifts,
				.confirmed = key->confirmed};
		if (!fill_together(explain, snapshot, explain->ordered[i], &keys[i])) {
			return false;
		}
	}
	return keys != NULL;
}

static bool fill_values(
		const struct explain *explain, struct snapshot *snapshot, struct explanation *out)
{
	struct explained_value *values =
			snapshot_alloc(snapshot, (explain->n_values + 1) * sizeof(*values));

	out->n_values = explain->n_values;
	out->values = values;
	for (uint32_t i = 0; i < explain->n_values && values; i++) {
		const struct value *value = &explain->values[i];

		values[i] = (struct explained_value){.text = snapshot_text(snapshot, value->text),
				.count = value->count,
				.share = (double)value->count / explain->n,
				.mean_ns = value->mean_ns,
				.p50_ns = value->p50_ns};
		for (uint32_t bin = 0; bin < EXPLANATION_BINS; bin++) {
			values[i].bins[bin] = value->bins[bin];
		}
	}
	return values != NULL;
}

static bool fill_out(
		const struct explain *explain, struct snapshot *snapshot, struct explanation *out)
{
	struct explained_out *keys =
			snapshot_alloc(snapshot, (explain->n_keys + 1) * sizeof(*keys));

	out->out = keys;
	for (uint32_t i = 0; i < explain->n_keys && keys; i++) {
		const struct key *key = &explain->keys[i];
		const char *why = key->why_out;

		if (!why && key->told_by_others) {
			why = "follows from the other keys: not among all together";
		}
		if (why) {
			keys[out->n_out++] = (struct explained_out){
					.name = snapshot_text(snapshot, key->name), .why = why};
		}
	}
	return keys != NULL;
}

static double progress_of(const struct explain *explain)
{
	double keys = explain->n_keys ? (double)explain->at / explain->n_keys : 1, most;

	switch (explain->phase) {
	case PHASE_KEYS:
		return 0.1 * keys;
	case PHASE_SHIFTS:
		most = explain->test ? shift_test_most(explain->test) : 0;
		return most > 0 ? 0.1 + 0.7 * fmin(1, 16 * explain->at / most) : 0.1;
	case PHASE_DONE:
		return 1;
	default:
		return 0.8 + 0.03 * (explain->phase - PHASE_ORDER);
	}
}

enum status explain_fill(
		const struct explain *explain, struct snapshot *snapshot, struct explanation *out)
{
	bool filled;

	*out = (struct explanation){.state = EXPLANATION_RUNNING,
			.progress = progress_of(explain),
			.n = explain->half,
			.n_held = explain->n - explain->half};
	if (explain->phase != PHASE_DONE) {
		return STATUS_OK;
	}
	if (explain->failed) {
		return STATUS_NO_MEMORY;
	}
	filled = fill_out(explain, snapshot, out);
	if (explain->n_tested == 0) {
		out->state = EXPLANATION_FEW;
		out->missing = explain->n < EXPLAIN_ENOUGH ? EXPLAIN_ENOUGH - explain->n : 0;
		return filled ? STATUS_OK : STATUS_NO_MEMORY;
	}
	out->state = EXPLANATION_DONE;
	out->low_ns = (uint64_t)explain->low_ns;
	out->high_ns = (uint64_t)explain->high_ns;
	out->n_columns = explain->multiple.m;
	out->r2 = explain->multiple.r2;
	out->f = explain->multiple.f;
	out->f_p = explain->multiple.p;
	out->n_segments = explain->canonical.df ? explain->n_correlated : 0;
	out->canonical = explain->canonical.first;
	out->wilks = explain->canonical.wilks;
	out->chi2 = explain->canonical.chi2;
	out->chi2_p = explain->canonical.p;
	out->df = explain->canonical.df;
	filled = filled && fill_keys(explain, snapshot, out) && fill_values(explain, snapshot, out);
	return filled ? STATUS_OK : STATUS_NO_MEMORY;
}
