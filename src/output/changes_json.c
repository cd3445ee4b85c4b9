/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/json_out.h"

static void change(struct json_out *json, const struct change_row *row)
{
	JSON_OUT_ROW(json, {"kind", value_text(output_change_kinds[row->kind])},
			{"service", value_name(row->service)},
			{"provider", value_name(row->provider)}, {"name", value_name(row->name)},
			{"where", value_name(row->where)}, {"type", value_name(row->type)},
			{"types", value_count(row->types)},
			{"group", row->group_id ? value_count(row->group_id) : value_null()},
			{"others", value_name(row->others)}, {"sure", value_flag(row->sure)},
			{"callee_too", value_flag(row->callee_too)},
			{"waited_for", value_flag(row->waited_for)},
			{"off_path", row->path_unknown ? value_null() : value_flag(row->off_path)},
			{"waits_for", value_name(row->waits_for)},
			{"by_clocks", value_flag(row->by_clocks)},
			{"added_ns_per_s", value_real_if(!row->path_unknown, row->added_ns_per_s)},
			{"added_low", value_real_if(!row->path_unknown, row->added_low)},
			{"added_high", value_real_if(!row->path_unknown, row->added_high)},
			{"before", value_real_if(true, row->before)},
			{"after", value_real_if(true, row->after)},
			{"difference_low", value_real_if(true, row->difference_low)},
			{"difference_high", value_real_if(true, row->difference_high)},
			{"requests_before", value_count(row->requests_before)},
			{"requests_after", value_count(row->requests_after)},
			{"p", value_real_if(true, row->p)});
}

static void type(struct json_out *json, const struct change_type *row)
{
	JSON_OUT_ROW(json, {"type", value_text(row->type)},
			{"group", row->group_id ? value_count(row->group_id) : value_null()},
			{"requests_before", value_count(row->requests[0])},
			{"requests_after", value_count(row->requests[1])},
			{"rate_before_per_s", value_real_if(true, row->rate_per_s[0])},
			{"rate_after_per_s", value_real_if(true, row->rate_per_s[1])},
			{"mean_before_ns", value_real_if(row->mean_ns[0] > 0, row->mean_ns[0])},
			{"mean_after_ns", value_real_if(row->mean_ns[1] > 0, row->mean_ns[1])});
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
		type(json, &changes->all_types[i]);
	}
	json_out_close(json, ']');
	json_out_close(json, '}');
}
