/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/json_out.h"
#include "pythiatop/snapshot/fields.h"

static void change(struct json_out *json, const struct change_row *row)
{
	json_out_open(json, NULL, '{');
	json_out_value(json, "kind", value_text(output_change_kinds[row->kind]));
	json_out_fields(json, change_fields, 0, N_CHANGE_FIELDS - 1, row);
	json_out_close(json, '}');
}

void output_json_changes(struct json_out *json, const struct changes_view *changes)
{
	if (!changes->compared) {
		json_out_value(json, "changes", value_null());
		return;
	}
	json_out_open(json, "changes", '{');
	JSON_OUT_MEMBERS(json, {"baseline", value_text(changes->baseline)},
			{"before_time_ns", value_count(changes->before_ns)},
			{"before_length_ns", value_count(changes->before_length_ns)},
			{"after_length_ns", value_count(changes->after_length_ns)},
			{"differences", value_count(changes->tests)},
			{"types_compared", value_count(changes->n_types)},
			{"types_gone", value_count(changes->n_types_gone)},
			{"types_new", value_count(changes->n_types_new)},
			{"first_gone", value_name(changes->types_gone)},
			{"first_new", value_name(changes->types_new)},
			{"groups_compared", value_count(changes->n_groups)},
			{"groups_gone", value_count(changes->n_groups_gone)},
			{"groups_new", value_count(changes->n_groups_new)},
			{"first_groups_gone", value_name(changes->groups_gone)},
			{"first_groups_new", value_name(changes->groups_new)},
			{"types_cut_off", value_count(changes->n_cut)},
			{"requests_cut_off", value_count(changes->cut_requests)},
			{"first_cut_off", value_name(changes->cut)},
			{"contexts_compared", value_count(changes->n_contexts)},
			{"contexts_gone", value_count(changes->n_contexts_gone)},
			{"contexts_new", value_count(changes->n_contexts_new)});
	json_out_open(json, "rows", '[');
	for (uint32_t i = 0; i < changes->n; i++) {
		change(json, &changes->rows[i]);
	}
	json_out_close(json, ']');
	json_out_open(json, "types", '[');
	for (uint32_t i = 0; i < changes->n_all_types; i++) {
		json_out_row(json, change_type_fields, N_TYPE_FIELDS, &changes->all_types[i]);
	}
	json_out_close(json, ']');
	json_out_close(json, '}');
}
