/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/json_out.h"

#define MOST_ROWS 1000u /* of each array: the most frequent, or the least probable ones */

/* What requests of each type did, and which did what was not to be expected. */

static struct value request_or_null(uint64_t request)
{
	return value_count_if(request != 0, request);
}

static void shape(struct json_out *json, const struct shape_row *row)
{
	JSON_OUT_ROW(json, {"type", value_name(row->type)}, {"shape", value_count(row->number)},
			{"differs", value_text(row->differs)}, {"count", value_count(row->count)},
			{"of", value_count(row->of)}, {"share", value_real_if(true, row->share)},
			{"share_low", value_real_if(true, row->share_low)},
			{"share_high", value_real_if(true, row->share_high)},
			{"mean_ns", value_real_if(true, row->mean_ns)},
			{"cpu_ns", value_real_if(row->measured, row->cpu_ns)},
			{"wait_ns", value_real_if(row->measured, row->wait_ns)},
			{"bytes", value_real_if(row->measured, row->bytes)},
			{"steps", value_count(row->steps)},
			{"variants", value_count(row->variants)},
			{"group", value_count(row->group_id)},
			{"request", request_or_null(row->request)});
}

static void improbable(struct json_out *json, const struct improbable_row *row)
{
	JSON_OUT_ROW(json, {"type", value_name(row->type)},
			{"request", request_or_null(row->request)},
			{"group", value_count(row->group_id)}, {"count", value_count(row->count)},
			{"probability", value_real_if(true, row->probability)},
			{"surprise", value_real_if(true, row->surprise)},
			{"tail", value_real_if(true, row->tail)}, {"step", value_count(row->step)},
			{"at", value_text(row->at)},
			{"at_probability", value_real_if(true, row->at_probability)},
			{"expected", value_text(row->expected)},
			{"expected_probability", value_real_if(true, row->expected_probability)});
}

static void type(struct json_out *json, const struct shapes_type *row)
{
	JSON_OUT_ROW(json, {"type", value_name(row->type)},
			{"requests", value_count(row->requests)},
			{"looked_at", value_count(row->looked_at)},
			{"rate_per_s", value_real_if(row->seconds > 0, row->rate_per_s)},
			{"dispersion", value_real_if(row->dispersion >= 0, row->dispersion)},
			{"states", value_count(row->states)},
			{"coarseness", value_count(row->coarseness)},
			{"cut", value_flag(row->cut)});
}

void output_json_shapes(struct json_out *json, const struct shapes_view *shapes)
{
	json_out_open(json, "shapes", '[');
	for (uint32_t i = 0; i < shapes->n && i < MOST_ROWS; i++) {
		shape(json, &shapes->rows[i]);
	}
	json_out_close(json, ']');
	json_out_open(json, "improbable", '[');
	for (uint32_t i = 0; i < shapes->n_improbable && i < MOST_ROWS; i++) {
		improbable(json, &shapes->improbable[i]);
	}
	json_out_close(json, ']');
	json_out_open(json, "shape_types", '[');
	for (uint32_t i = 0; i < shapes->n_types && i < MOST_ROWS; i++) {
		type(json, &shapes->types[i]);
	}
	json_out_close(json, ']');
}
