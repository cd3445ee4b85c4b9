/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/json_out.h"

/* The data of a finding's sentence as JSON: what it does not speak of is left out. */

static void key(struct json_out *json, const struct verdict_key *key)
{
	uint32_t n = key->n_values < VERDICT_KEY_VALUES ? key->n_values : VERDICT_KEY_VALUES;

	json_out_open(json, "explained_by", '{');
	JSON_OUT_MEMBERS(json, {"name", value_text(key->name)}, {"where", value_name(key->where)},
			{"source", value_text(output_key_sources[key->source])},
			{"partly", value_flag(key->partly)},
			{"held", value_real_if(true, key->held)},
			{"p", value_real_if(true, key->p)}, {"n", value_count(key->n)},
			{"n_held", value_count(key->n_held)},
			{"n_values", value_count(key->n_values)});
	json_out_texts(json, "together", key->together, key->n_together);
	json_out_open(json, "values", '[');
	for (uint32_t i = 0; i < n; i++) {
		JSON_OUT_ROW(json, {"text", value_text(key->values[i].text)},
				{"mean_ns", value_real_if(true, key->values[i].mean_ns)});
	}
	json_out_close(json, ']');
	json_out_close(json, '}');
}

static void places(struct json_out *json, const struct steps_verdict *verdict)
{
	json_out_open(json, "places", '[');
	for (uint32_t i = 0; i < verdict->n_places; i++) {
		JSON_OUT_ROW(json, {"place", value_text(verdict->places[i].name)},
				{"share", value_real_if(true, verdict->places[i].share)});
	}
	json_out_close(json, ']');
}

void output_json_verdict_data(struct json_out *json, const struct steps_finding *finding)
{
	const struct steps_verdict *verdict = &finding->verdict;

	json_out_open(json, "verdict", '{');
	json_out_value(json, "rule",
			value_text_if(finding->rule != STOP_NONE, stop_rule_names[finding->rule]));
	json_out_set_fields(json, verdict_fields, N_VERDICT_FIELDS, verdict);
	if (verdict->n_places > 0) {
		places(json, verdict);
	}
	if (verdict->n_holders > 0) {
		json_out_value(json, "evidence", value_text(output_evidence[verdict->evidence]));
		output_json_holders(json, verdict->holders, verdict->n_holders);
	}
	if (verdict->key.name && verdict->key.name[0]) {
		key(json, &verdict->key);
	}
	json_out_close(json, '}');
}
