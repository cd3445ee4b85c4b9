/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/json_values.h"

/*
 * Steps as JSON: what was proposed and done, what is recorded because of it, what it may cost, and
 * what was found. What is not known is null.
 */

static const char *const kinds[] = {"skeleton", "learn", "enable", "disable"};
static const char *const states[] = {"proposed", "approved", "watched", "kept", "undoing", "undone",
		"rejected", "failed"};
static const char *const doers[] = {"nobody", "person", "autopilot", "watch"};
static const char *const modes[] = {"observe", "approve", "autopilot"};
static const char *const rules[] = {"none", "code", "variable", "healthy", "diffuse", "spent"};

static json_t *cost(const struct step_cost *cost)
{
	return OBJECT({"events_per_s", json_real_if(cost->events_per_s >= 0, cost->events_per_s)},
			{"bytes_per_s", json_real_if(cost->bytes_per_s >= 0, cost->bytes_per_s)},
			{"cpu_share", json_real_if(cost->cpu_share >= 0, cost->cpu_share)});
}

static json_t *event(const struct step_event *event)
{
	return OBJECT({"host", json_text(event->host)}, {"event", json_text(event->name)},
			{"domain", json_string(event->kernel ? "kernel" : "ust")});
}

static json_t *events(const struct step_row *row, bool enable)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < row->n_events; i++) {
		if (row->events[i].enable == enable) {
			json_array_append_new(array, event(&row->events[i]));
		}
	}
	return array;
}

static json_t *step(const struct step_row *row)
{
	return OBJECT({"id", json_count(row->id)}, {"kind", json_string(kinds[row->kind])},
			{"state", json_string(states[row->state])},
			{"by", json_string(doers[row->by])},
			{"group", json_count_if(row->group_id != 0, row->group_id)},
			{"title", json_text(row->title)}, {"why", json_text(row->why)},
			{"effect", json_text(row->effect)},
			{"proposed_ns", json_count(row->proposed_ns)},
			{"decided_ns", json_count_if(row->decided_ns != 0, row->decided_ns)},
			{"done_ns", json_count_if(row->done_ns != 0, row->done_ns)},
			{"ended_ns", json_count_if(row->ended_ns != 0, row->ended_ns)},
			{"points", json_count(row->n_points)}, {"enable", events(row, true)},
			{"disable", events(row, false)}, {"predicted", cost(&row->predicted)},
			{"actual", cost(&row->actual)});
}

json_t *output_json_steps(const struct steps_view *view)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < view->n; i++) {
		json_array_append_new(array, step(&view->rows[i]));
	}
	return array;
}

/* The event rules in force because of steps. */
json_t *output_json_rules(const struct steps_view *view)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < view->n_rules; i++) {
		json_array_append_new(array, event(&view->rules[i]));
	}
	return array;
}

static json_t *finding(const struct steps_finding *finding)
{
	json_t *history = json_array();
	bool figures = finding->requests > 0;

	for (uint32_t i = 0; i < finding->n_history; i++) {
		json_array_append_new(history, json_text(finding->history[i]));
	}
	return OBJECT({"group", json_count(finding->group_id)}, {"type", json_text(finding->type)},
			{"path", json_text(finding->path)},
			{"stopped_by", finding->rule == STOP_NONE
							? json_null()
							: json_string(rules[finding->rule])},
			{"text", json_text(finding->text)}, {"where", json_name(finding->where)},
			{"phi", json_real_if(figures, finding->phi)},
			{"phi_low", json_real_if(figures, finding->phi_low)},
			{"phi_high", json_real_if(figures, finding->phi_high)},
			{"requests", json_count(finding->requests)},
			{"steps", json_count(finding->n_steps)},
			{"seconds", json_real_if(true, finding->seconds)}, {"history", history});
}

json_t *output_json_findings(const struct steps_view *view)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < view->n_findings; i++) {
		json_array_append_new(array, finding(&view->findings[i]));
	}
	return array;
}

json_t *output_json_budget(const struct steps_view *view)
{
	const struct step_budget *budget = &view->budget;

	return OBJECT({"mode", json_string(modes[view->mode])},
			{"strategy", json_name(view->strategy)},
			{"events_per_s", json_real_if(budget->events_per_s > 0,
							 budget->events_per_s)},
			{"bytes_per_s", json_real_if(budget->bytes_per_s > 0, budget->bytes_per_s)},
			{"cpu_share", json_real_if(budget->cpu_share > 0, budget->cpu_share)},
			{"points_per_step", json_count(budget->points)},
			{"spent", cost(&view->spent)}, {"lacks", json_name(view->lacks)});
}

json_t *output_json_points(const struct steps_view *view)
{
	return OBJECT({"skeleton", json_count(view->skeleton)},
			{"enabled", json_count(view->enabled)},
			{"ever_enabled", json_count(view->ever_enabled)},
			{"known", json_count(view->known)});
}
