/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "step_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_add.h"
#include "explain_text.h"
#include "format.h"

#define HOSTS_NAMED  3
#define POINTS_NAMED 4

const struct step_row *step_next(const struct steps_view *steps)
{
	return steps->next < steps->n ? &steps->rows[steps->next] : NULL;
}

const struct step_row *step_find(const struct steps_view *steps, uint32_t id)
{
	for (uint32_t i = 0; i < steps->n; i++) {
		if (steps->rows[i].id == id) {
			return &steps->rows[i];
		}
	}
	return NULL;
}

bool step_in_force(const struct step_row *row)
{
	return row->state == STEP_APPROVED || row->state == STEP_WATCHED || row->state == STEP_KEPT;
}

const struct step_row *step_newest_in_force(const struct steps_view *steps)
{
	for (uint32_t i = 0; i < steps->n; i++) {
		if (step_in_force(&steps->rows[i])) {
			return &steps->rows[i];
		}
	}
	return NULL;
}

const char *step_mode_name(enum step_mode mode)
{
	static const char *const names[MODE_COUNT] = {STEP_MODE_NAMES};

	return mode < MODE_COUNT ? names[mode] : "-";
}

static const struct {
	const char *name;
	enum role role;
} states[] = {
		[STEP_PROPOSED] = {"proposed", ROLE_NEXT},
		[STEP_APPROVED] = {"approved", ROLE_STRONG},
		[STEP_WATCHED] = {"watched", ROLE_WARN},
		[STEP_KEPT] = {"kept", ROLE_GOOD},
		[STEP_UNDOING] = {"undoing", ROLE_WARN},
		[STEP_UNDONE] = {"undone", ROLE_DIM},
		[STEP_REJECTED] = {"rejected", ROLE_DIM},
		[STEP_FAILED] = {"failed", ROLE_BAD},
};

const char *step_state_name(const struct step_row *row)
{
	return row->state == STEP_REJECTED && row->by == STEP_BY_NOBODY ? "withdrawn"
									: states[row->state].name;
}

enum role step_state_role(enum step_state state)
{
	return states[state].role;
}

const char *step_by_name(enum step_by by)
{
	static const char *const names[] = {
			[STEP_BY_NOBODY] = "-",
			[STEP_BY_PERSON] = "you",
			[STEP_BY_AUTOPILOT] = "autopilot",
			[STEP_BY_WATCH] = "the watch",
	};

	return names[by];
}

void step_rule(char *out, size_t size, enum stop_rule rule)
{
	if (rule == STOP_NONE) {
		snprintf(out, size, "searching");
	} else {
		snprintf(out, size, "stopped by rule %d \"%s\"", (int)rule, stop_rule_words[rule]);
	}
}

void step_stop(char *out, size_t size, const struct steps_finding *finding, uint32_t known)
{
	char rule[128], took[FORMAT_BYTES];

	step_rule(rule, sizeof(rule), finding->rule);
	if (finding->n_steps == 0 && finding->rule != STOP_NONE) {
		snprintf(out, size, "%s at once, with what was on", rule);
		return;
	}
	snprintf(out, size, "%s%s %" PRIu32 " step%s, %s, %" PRIu32 "/%" PRIu32 " points", rule,
			finding->rule == STOP_NONE ? ":" : " after", finding->n_steps,
			finding->n_steps == 1 ? "" : "s",
			format_period(took, floor(finding->seconds) * 1e9), finding->n_points,
			known);
}

bool step_tells_variable(const struct steps_finding *finding)
{
	char text[512];

	explain_head(text, sizeof(text), finding->explanation);
	return text[0] != '\0';
}

void step_cpu(char *out, size_t size, double share)
{
	if (!(share >= 0)) {
		snprintf(out, size, "-");
	} else if (share > 0 && share < 0.0001) {
		snprintf(out, size, "<0.01%%");
	} else {
		snprintf(out, size, share < 0.01 && share > 0 ? "%.2f%%" : "%.3g%%", 100 * share);
	}
}

/* Of a step that disables it is what is saved, negative; -1 is not known, as everywhere. */
static bool is_known(const struct step_row *row)
{
	double events_per_s = row->predicted.events_per_s;

	return events_per_s >= 0 || (row->kind == STEP_DISABLE && events_per_s < -1);
}

void step_rate(char *out, size_t size, const struct step_row *row)
{
	double events_per_s = row->predicted.events_per_s;
	char number[FORMAT_BYTES];

	if (!is_known(row)) {
		snprintf(out, size, "cost not known");
		return;
	}
	snprintf(out, size, "about %s%s ev/s", row->kind == STEP_DISABLE ? "-" : "+",
			format_count(number, (uint64_t)(fabs(events_per_s) + 0.5)));
}

/* Behind the events: ", 14.0kB/s, 0.01% CPU". */
static void add_cost(char *out, size_t size, const struct step_cost *cost)
{
	char number[FORMAT_BYTES];

	if (cost->bytes_per_s >= 0) {
		text_add(out, size, ", %s/s",
				format_bytes(number, (uint64_t)(cost->bytes_per_s + 0.5)));
	}
	if (cost->cpu_share >= 0) {
		step_cpu(number, sizeof(number), cost->cpu_share);
		text_add(out, size, ", %s CPU", number);
	}
}

void step_cost(char *out, size_t size, const struct step_row *row)
{
	step_rate(out, size, row);
	add_cost(out, size, &row->predicted);
}

void step_cost_of_search(char *out, size_t size, const struct steps_finding *finding)
{
	char number[FORMAT_BYTES];

	if (finding->n_points == 0 || !(finding->cost.events_per_s >= 0)) {
		snprintf(out, size, "-");
		return;
	}
	snprintf(out, size, "about +%s ev/s",
			format_count(number, (uint64_t)(finding->cost.events_per_s + 0.5)));
	add_cost(out, size, &finding->cost);
}

void step_budget(char *out, size_t size, const struct steps_view *steps)
{
	char spent[FORMAT_BYTES] = "-", budget[FORMAT_BYTES];

	if (steps->spent.events_per_s >= 0) {
		format_count(spent, (uint64_t)(steps->spent.events_per_s + 0.5));
	}
	if (steps->budget.events_per_s > 0) {
		snprintf(out, size, "%s of %s ev/s", spent,
				format_count(budget, (uint64_t)(steps->budget.events_per_s + 0.5)));
	} else {
		snprintf(out, size, "%s ev/s, no bound", spent);
	}
}

bool step_is_first_of_host(const struct step_event *events, uint32_t at)
{
	/* Backwards: events of a host mostly follow each other. */
	for (uint32_t i = at; i-- > 0;) {
		if (strcmp(events[i].host, events[at].host) == 0) {
			return false;
		}
	}
	return true;
}

void step_points(char *out, size_t size, const struct step_row *row)
{
	uint32_t n = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < row->n_parts; i++) {
		const struct step_point *part = &row->parts[i];
		const char *colon = strchr(part->name, ':');

		if (!part->kept || !part->enable) {
			continue;
		}
		text_add(out, size, "%s%.80s", n++ ? ", " : "", colon ? colon + 1 : part->name);
	}
	if (n > POINTS_NAMED) {
		out[0] = '\0';
	}
}

uint32_t step_count_hosts(const struct step_event *events, uint32_t n)
{
	uint32_t hosts = 0;

	for (uint32_t i = 0; i < n; i++) {
		hosts += step_is_first_of_host(events, i);
	}
	return hosts;
}

void step_hosts(char *out, size_t size, const struct step_row *row)
{
	uint32_t hosts = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < row->n_events; i++) {
		if (!step_is_first_of_host(row->events, i)) {
			continue;
		}
		if (hosts < HOSTS_NAMED) {
			text_add(out, size, "%s%.120s", hosts ? ", " : "", row->events[i].host);
		}
		hosts++;
	}
	if (hosts > HOSTS_NAMED) {
		text_add(out, size, " and %u more", hosts - HOSTS_NAMED);
	}
}

const char *step_control_trouble(const struct steps_view *steps)
{
	for (uint32_t i = 0; i < steps->n_controls; i++) {
		if (!steps->controls[i].ready && steps->controls[i].text[0]) {
			return steps->controls[i].text;
		}
	}
	return "";
}
