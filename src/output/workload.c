/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/json_out.h"
#include "output/output.h"

/*
 * The workload as JSON, for a generator of load: types with their shares, when requests of them
 * come, and their shapes with what these demand.
 */

static void demand(struct json_out *json, const char *key, const struct shape_quantiles *quantiles)
{
	if (!quantiles->known) {
		json_out_value(json, key, value_null());
		return;
	}
	json_out_open(json, key, '{');
	JSON_OUT_MEMBERS(json, {"p50", value_real_if(true, quantiles->p50)},
			{"p90", value_real_if(true, quantiles->p90)},
			{"p99", value_real_if(true, quantiles->p99)});
	json_out_close(json, '}');
}

static void shape(struct json_out *json, const struct shape_row *row)
{
	static const char *const names[DEMAND_COUNT] = {
			"duration_ns", "cpu_ns", "wait_ns", "bytes"};

	json_out_open(json, NULL, '{');
	JSON_OUT_MEMBERS(json, {"shape", value_count(row->number)},
			{"differs", value_text(row->differs)}, {"count", value_count(row->count)},
			{"share", value_real_if(true, row->share)},
			{"share_low", value_real_if(true, row->share_low)},
			{"share_high", value_real_if(true, row->share_high)},
			{"steps", value_count(row->steps)},
			{"request", value_count_if(row->request != 0, row->request)});
	for (int i = 0; i < DEMAND_COUNT; i++) {
		demand(json, names[i], &row->demands[i]);
	}
	json_out_close(json, '}');
}

static void type(struct json_out *json, const struct shapes_view *shapes,
		const struct shapes_type *type, uint64_t all, uint32_t *next)
{
	json_out_open(json, NULL, '{');
	JSON_OUT_MEMBERS(json, {"type", value_text(type->type)},
			{"count", value_count(type->requests)},
			{"share", value_real_if(all > 0, (double)type->requests / (double)all)},
			{"rate_per_s", value_real_if(type->seconds > 0, type->rate_per_s)},
			{"dispersion", value_real_if(type->dispersion >= 0, type->dispersion)});
	json_out_open(json, "shapes", '[');
	/* Both lists are in the order of types. */
	for (; *next < shapes->n && shapes->rows[*next].type_index == type->index; (*next)++) {
		shape(json, &shapes->rows[*next]);
	}
	json_out_close(json, ']');
	json_out_close(json, '}');
}

enum status output_workload(FILE *out, const struct snapshot *snapshot)
{
	struct json_out json = {.file = out};
	const struct shapes_view *shapes = &snapshot->shapes;
	uint64_t all = 0, seconds = 0;
	double rate_per_s = 0;
	uint32_t next = 0;

	for (uint32_t i = 0; i < shapes->n_types; i++) {
		all += shapes->types[i].requests;
		rate_per_s += shapes->types[i].rate_per_s;
		seconds = shapes->types[i].seconds > seconds ? shapes->types[i].seconds : seconds;
	}
	json_out_open(&json, NULL, '{');
	JSON_OUT_MEMBERS(&json, {"schema", value_text("pythiatop-workload/1")},
			{"time_ns", value_count(snapshot->time_ns)}, {"requests", value_count(all)},
			{"seconds", value_count(seconds)},
			{"rate_per_s", value_real_if(seconds > 0, rate_per_s)});
	json_out_open(&json, "types", '[');
	for (uint32_t i = 0; i < shapes->n_types; i++) {
		type(&json, shapes, &shapes->types[i], all, &next);
	}
	json_out_close(&json, ']');
	json_out_close(&json, '}');
	json_out_flush(&json);
	return fputc('\n', out) == EOF || fflush(out) != 0 || ferror(out) ? STATUS_IO : STATUS_OK;
}
