/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/json_out.h"
#include "output/verdict.h"

/*
 * The loop as JSON: what was proposed and done, what is recorded because of it, what was found, and
 * what it may cost. What is not known is null.
 */

static void cost(struct json_out *json, const char *name, const struct step_cost *cost)
{
	json_out_open(json, name, '{');
	JSON_OUT_MEMBERS(json,
			{"events_per_s",
					value_real_if(cost->events_per_s >= 0, cost->events_per_s)},
			{"bytes_per_s", value_real_if(cost->bytes_per_s >= 0, cost->bytes_per_s)},
			{"cpu_share", value_real_if(cost->cpu_share >= 0, cost->cpu_share)});
	json_out_close(json, '}');
}

static void event(struct json_out *json, const struct step_event *event)
{
	JSON_OUT_ROW(json, {"host", value_text(event->host)}, {"event", value_text(event->name)},
			{"domain", value_text(event->kernel ? "kernel" : "ust")});
}

static void events(struct json_out *json, const char *name, const struct step_row *row, bool enable)
{
	json_out_open(json, name, '[');
	for (uint32_t i = 0; i < row->n_events; i++) {
		if (row->events[i].enable == enable) {
			event(json, &row->events[i]);
		}
	}
	json_out_close(json, ']');
}

static void step(struct json_out *json, const struct step_row *row)
{
	json_out_open(json, NULL, '{');
	JSON_OUT_MEMBERS(json, {"id", value_count(row->id)},
			{"kind", value_text(output_step_kinds[row->kind])},
			{"state", value_text(output_step_states[row->state])},
			{"by", value_text(output_step_doers[row->by])},
			{"group", value_count_if(row->group_id != 0, row->group_id)},
			{"title", value_text(row->title)}, {"why", value_text(row->why)},
			{"effect", value_text(row->effect)},
			{"proposed_ns", value_count(row->proposed_ns)},
			{"decided_ns", value_count_if(row->decided_ns != 0, row->decided_ns)},
			{"done_ns", value_count_if(row->done_ns != 0, row->done_ns)},
			{"ended_ns", value_count_if(row->ended_ns != 0, row->ended_ns)},
			{"points", value_count(row->n_points)});
	events(json, "enable", row, true);
	events(json, "disable", row, false);
	cost(json, "predicted", &row->predicted);
	cost(json, "actual", &row->actual);
	json_out_close(json, '}');
}

/* The steps about a group that there still is a row of, oldest first. */
static void step_ids(struct json_out *json, const struct steps_view *view, uint32_t group_id)
{
	json_out_open(json, "step_ids", '[');
	for (uint32_t i = view->n; i-- > 0;) {
		if (view->rows[i].group_id == group_id) {
			json_out_value(json, NULL, value_count(view->rows[i].id));
		}
	}
	json_out_close(json, ']');
}

/* A row of "findings" (`name` NULL), or "verdict". */
static void finding(struct json_out *json, const char *name, const struct steps_view *view,
		const struct steps_finding *finding)
{
	bool figures = finding->requests > 0;
	struct value rule =
			value_text_if(finding->rule != STOP_NONE, stop_rule_names[finding->rule]);

	json_out_open(json, name, '{');
	JSON_OUT_MEMBERS(json, {"group", value_count(finding->group_id)},
			{"type", value_text(finding->type)}, {"path", value_text(finding->path)},
			{"rule", rule}, {"stopped_by", rule}, {"text", value_text(finding->text)},
			{"normal_known", value_flag(!finding->no_normal)},
			{"where", value_name(finding->where)}, {"host", value_name(finding->host)},
			{"process", value_name(finding->process)},
			{"phi", value_real_if(figures, finding->phi)},
			{"phi_low", value_real_if(figures, finding->phi_low)},
			{"phi_high", value_real_if(figures, finding->phi_high)},
			{"requests", value_count(finding->requests)},
			{"failed", value_count_if(finding->ended > 0, finding->failed)},
			{"ended", value_count_if(finding->ended > 0, finding->ended)},
			{"since_ns", value_count_if(finding->since_ns > 0, finding->since_ns)},
			{"steps", value_count(finding->n_steps)},
			{"points", value_count(finding->n_points)},
			{"seconds", value_real_if(true, finding->seconds)});
	output_json_verdict_data(json, finding);
	step_ids(json, view, finding->group_id);
	cost(json, "cost", &finding->cost);
	output_json_explanation(json, finding->explanation);
	json_out_texts(json, "ruled_out", finding->ruled_out, finding->n_ruled_out);
	json_out_value(json, "next", value_name(finding->next));
	json_out_texts(json, "history", finding->history, finding->n_history);
	json_out_close(json, '}');
}

void output_json_verdict(struct json_out *json, const struct snapshot *snapshot)
{
	const struct steps_finding *verdict = output_verdict(snapshot);

	if (verdict) {
		finding(json, "verdict", &snapshot->steps, verdict);
	} else {
		json_out_value(json, "verdict", value_null());
	}
}

static void budget(struct json_out *json, const struct steps_view *view)
{
	const struct step_budget *bound = &view->budget;

	json_out_open(json, "budget", '{');
	JSON_OUT_MEMBERS(json, {"mode", value_text(output_step_modes[view->mode])},
			{"strategy", value_name(view->strategy)},
			{"events_per_s", value_real_if(bound->events_per_s > 0,
							 bound->events_per_s)},
			{"bytes_per_s", value_real_if(bound->bytes_per_s > 0, bound->bytes_per_s)},
			{"cpu_share", value_real_if(bound->cpu_share > 0, bound->cpu_share)},
			{"points_per_step", value_count(bound->points)});
	cost(json, "spent", &view->spent);
	json_out_value(json, "lacks", value_name(view->lacks));
	json_out_close(json, '}');
}

static void control(struct json_out *json, const struct steps_control *control)
{
	JSON_OUT_ROW(json, {"host", value_text(control->host)},
			{"ready", value_flag(control->ready)},
			{"session", value_name(control->session)},
			{"text", value_name(control->text)});
}

static void rehearsal(struct json_out *json, const struct steps_rehearsal *counts)
{
	json_out_open(json, "rehearsal", '{');
	JSON_OUT_MEMBERS(json, {"let_through", value_count(counts->let_through)},
			{"because_of_steps", value_count(counts->ours)},
			{"masked", value_count(counts->masked)},
			{"peak_events_per_s", value_count(counts->peak_per_s)},
			{"over_budget_s", value_count(counts->over_s)});
	json_out_close(json, '}');
}

void output_json_loop(struct json_out *json, const struct steps_view *view)
{
	json_out_open(json, "steps", '[');
	for (uint32_t i = 0; i < view->n; i++) {
		step(json, &view->rows[i]);
	}
	json_out_close(json, ']');
	json_out_open(json, "rules", '[');
	for (uint32_t i = 0; i < view->n_rules; i++) {
		event(json, &view->rules[i]);
	}
	json_out_close(json, ']');
	json_out_open(json, "findings", '[');
	for (uint32_t i = 0; i < view->n_findings; i++) {
		finding(json, NULL, view, &view->findings[i]);
	}
	json_out_close(json, ']');
	budget(json, view);
	json_out_open(json, "points", '{');
	JSON_OUT_MEMBERS(json, {"skeleton", value_count(view->skeleton)},
			{"enabled", value_count(view->enabled)},
			{"ever_enabled", value_count(view->ever_enabled)},
			{"known", value_count(view->known)});
	json_out_close(json, '}');
	if (view->rehearsal.on) {
		rehearsal(json, &view->rehearsal);
	}
}

void output_json_controls(struct json_out *json, const struct steps_view *view)
{
	json_out_open(json, "controls", '[');
	for (uint32_t i = 0; i < view->n_controls; i++) {
		control(json, &view->controls[i]);
	}
	json_out_close(json, ']');
}
