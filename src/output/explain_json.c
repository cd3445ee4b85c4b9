/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/json_out.h"

/* What key-values explain, as JSON. What is not known is null. */

static const char *const states[] = {"none", "few", "running", "done"};

static void key(struct json_out *json, const struct explained_key *key)
{
	json_out_open(json, NULL, '{');
	JSON_OUT_MEMBERS(json, {"name", value_text(key->name)}, {"where", value_name(key->where)},
			{"source", value_text(output_key_sources[key->source])},
			{"numeric", value_flag(key->numeric)},
			{"rho", value_real_if(key->numeric, key->rho)},
			{"omega2", value_real_if(true, key->omega2)},
			{"omega2_held", value_real_if(true, key->omega2_held)},
			{"p", value_real_if(key->shifts > 0, key->p)},
			{"shifts", value_count(key->shifts)},
			{"confirmed", value_flag(key->confirmed)});
	json_out_texts(json, "together", key->together, key->n_together);
	json_out_close(json, '}');
}

static void value(struct json_out *json, const struct explained_value *value)
{
	json_out_open(json, NULL, '{');
	JSON_OUT_MEMBERS(json, {"text", value_text(value->text)},
			{"count", value_count(value->count)},
			{"share", value_real_if(true, value->share)},
			{"mean_ns", value_real_if(value->count > 0, value->mean_ns)},
			{"p50_ns", value_count_if(value->count > 0, value->p50_ns)});
	json_out_open(json, "bins", '[');
	for (uint32_t i = 0; i < EXPLANATION_BINS; i++) {
		json_out_value(json, NULL, value_count(value->bins[i]));
	}
	json_out_close(json, ']');
	json_out_close(json, '}');
}

/* All keys together: against the duration, and against the segments of the critical path. */
static void together(struct json_out *json, const struct explanation *explanation, bool done)
{
	if (!done || explanation->n_columns == 0) {
		json_out_value(json, "joint", value_null());
	} else {
		json_out_open(json, "joint", '{');
		JSON_OUT_MEMBERS(json, {"columns", value_count(explanation->n_columns)},
				{"r2", value_real_if(true, explanation->r2)},
				{"f", value_real_if(true, explanation->f)},
				{"p", value_real_if(true, explanation->f_p)});
		json_out_close(json, '}');
	}
	if (!done || explanation->n_segments == 0) {
		json_out_value(json, "canonical", value_null());
		return;
	}
	json_out_open(json, "canonical", '{');
	JSON_OUT_MEMBERS(json, {"segments", value_count(explanation->n_segments)},
			{"correlation", value_real_if(true, explanation->canonical)},
			{"wilks", value_real_if(true, explanation->wilks)},
			{"chi2", value_real_if(true, explanation->chi2)},
			{"df", value_count(explanation->df)},
			{"p", value_real_if(true, explanation->chi2_p)});
	json_out_close(json, '}');
}

static void rows(struct json_out *json, const struct explanation *explanation)
{
	json_out_open(json, "keys", '[');
	for (uint32_t i = 0; i < explanation->n_keys; i++) {
		key(json, &explanation->keys[i]);
	}
	json_out_close(json, ']');
	json_out_open(json, "values", '[');
	for (uint32_t i = 0; i < explanation->n_values; i++) {
		value(json, &explanation->values[i]);
	}
	json_out_close(json, ']');
	json_out_open(json, "out", '[');
	for (uint32_t i = 0; i < explanation->n_out; i++) {
		JSON_OUT_ROW(json, {"name", value_text(explanation->out[i].name)},
				{"why", value_text(explanation->out[i].why)});
	}
	json_out_close(json, ']');
}

void output_json_explanation(struct json_out *json, const struct explanation *explanation)
{
	enum explanation_state state = explanation ? explanation->state : EXPLANATION_NONE;
	bool done = state == EXPLANATION_DONE, range;

	if (state == EXPLANATION_NONE) {
		json_out_value(json, "explanation", value_null());
		return;
	}
	range = done && explanation->n_values > 0;
	json_out_open(json, "explanation", '{');
	JSON_OUT_MEMBERS(json, {"state", value_text(states[state])},
			{"progress", value_real_if(state == EXPLANATION_RUNNING,
						     explanation->progress)},
			{"again", value_flag(explanation->again)},
			{"missing", value_count_if(state == EXPLANATION_FEW &&
								    explanation->missing > 0,
						    explanation->missing)},
			{"n", value_count_if(done, explanation->n)},
			{"n_held", value_count_if(done, explanation->n_held)},
			{"made_ns", value_count_if(done, explanation->made_ns)},
			{"low_ns", value_count_if(range, explanation->low_ns)},
			{"high_ns", value_count_if(range, explanation->high_ns)});
	rows(json, explanation);
	together(json, explanation, done);
	json_out_close(json, '}');
}
