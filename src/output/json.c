/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/json_out.h"
#include "pythiatop/snapshot/fields.h"

static void accounting(struct json_out *json, const struct accounting *a)
{
	json_out_open(json, "accounting", '{');
	JSON_OUT_MEMBERS(json, {"in", value_count(a->in)}, {"pending", value_count(a->pending)},
			{"in_request", value_count(a->in_request)},
			{"state_only", value_count(a->state_only)},
			{"unmatched", value_count(a->unmatched)}, {"late", value_count(a->late)},
			{"dropped", value_count(a->dropped)});
	json_out_close(json, '}');
}

enum status output_json(FILE *out, const struct snapshot *snapshot)
{
	struct json_out json = {.file = out};
	uint32_t i;

	json_out_open(&json, NULL, '{');
	JSON_OUT_MEMBERS(&json, {"schema", value_text("pythiatop/1")},
			{"time_ns", value_count(snapshot->time_ns)},
			{"horizon", value_text(output_horizon_name(snapshot->focus.horizon))},
			{"metric", value_text(output_metric_name(snapshot->focus.metric))},
			{"horizon_ns", value_count(snapshot->horizon_ns)},
			{"horizon_longest_ns", value_count(snapshot->horizon_longest_ns)},
			{"events_per_s", value_real_if(true, snapshot->events_per_s)},
			{"discarded", value_count(snapshot->discarded)},
			{"folded", value_count(snapshot->groups.folded)});
	json_out_open(&json, "warnings", '[');
	for (i = 0; i < snapshot->n_warnings; i++) {
		json_out_value(&json, NULL, value_text(snapshot->warnings[i]));
	}
	json_out_close(&json, ']');
	json_out_open(&json, "sources", '[');
	for (i = 0; i < snapshot->sources.n; i++) {
		json_out_row(&json, source_fields, N_SOURCE_FIELDS, &snapshot->sources.rows[i]);
	}
	json_out_close(&json, ']');
	output_json_controls(&json, &snapshot->steps);
	accounting(&json, &snapshot->accounting);
	json_out_open(&json, "groups", '[');
	for (i = 0; i < snapshot->groups.n; i++) {
		output_json_group(&json, &snapshot->groups, i);
	}
	json_out_close(&json, ']');
	output_json_contexts(&json, snapshot);
	output_json_shapes(&json, &snapshot->shapes);
	output_json_changes(&json, &snapshot->changes);
	output_json_verdict(&json, snapshot);
	output_json_loop(&json, &snapshot->steps);
	json_out_open(&json, "unmatched", '[');
	for (i = 0; i < snapshot->unmatched.n; i++) {
		json_out_row(&json, unmatched_fields, N_UNMATCHED_FIELDS,
				&snapshot->unmatched.rows[i]);
	}
	json_out_close(&json, ']');
	output_json_state(&json, &snapshot->state);
	json_out_close(&json, '}');
	json_out_flush(&json);
	return fputc('\n', out) == EOF || ferror(out) ? STATUS_IO : STATUS_OK;
}
