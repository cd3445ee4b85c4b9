/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pythia/explaining.h"
#include "pythia/thresholds.h"

struct verdict_key explained_by(const struct explanation *explanation)
{
	const struct explained_key *key = explanation->keys;
	uint32_t n = explanation->n_values;
	struct verdict_key by = {.n_values = n};

	if (explanation->state != EXPLANATION_DONE || explanation->n_keys == 0 || !key->confirmed ||
			key->p > FOUND_P || key->omega2_held < FOUND_OMEGA2) {
		return (struct verdict_key){.name = ""};
	}
	by.name = key->name;
	by.where = key->where;
	by.source = key->source;
	by.partly = key->omega2_held < MOST_OMEGA2;
	by.held = key->omega2_held;
	by.p = key->p;
	by.n = explanation->n;
	by.n_held = explanation->n_held;
	for (; by.n_together < key->n_together && by.n_together < VERDICT_KEY_TOGETHER;
			by.n_together++) {
		by.together[by.n_together] = key->together[by.n_together];
	}
	for (uint32_t i = 0; i < n && i < VERDICT_KEY_VALUES; i++) {
		uint32_t at = n > VERDICT_KEY_VALUES && i >= VERDICT_KEY_VALUES / 2
					      ? n - VERDICT_KEY_VALUES + i
					      : i;

		by.values[i].text = explanation->values[at].text;
		by.values[i].mean_ns = explanation->values[at].mean_ns;
	}
	return by;
}

bool explained_by_system(const struct verdict_key *key)
{
	return key->p < SYSTEM_P && !key->partly &&
	       (key->source == EXPLANATION_HOST || key->source == EXPLANATION_RESOURCE);
}

/* The host where requests take longest. */
static const char *slowest(const struct verdict_key *key)
{
	uint32_t n = key->n_values < VERDICT_KEY_VALUES ? key->n_values : VERDICT_KEY_VALUES;

	return n ? key->values[n - 1].text : "";
}

const char *explained_next(const struct verdict_key *key, struct snapshot *snapshot)
{
	switch (key->source) {
	case EXPLANATION_HOST:
		return snapshot_printf(snapshot,
				"%s: what it does else, and how it differs from the others (state "
				"of the systems)",
				slowest(key));
	case EXPLANATION_RESOURCE:
		return snapshot_printf(snapshot, "who else uses it: %s (state of the systems)",
				verdict_key_words(key));
	case EXPLANATION_COUNT:
		return snapshot_printf(snapshot, "why there are more or fewer: %s", key->name);
	default:
		return snapshot_printf(snapshot, "the values of %s%s%s%s: where they come from",
				key->name, key->where[0] ? " (in " : "", key->where,
				key->where[0] ? ")" : "");
	}
}
