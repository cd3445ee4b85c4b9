/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_steps.h"

#include <stdlib.h>

#define SECOND  1000000000ull
#define HOSTILE "\x1b[2J\x1b[31mgotcha\xe2\x80\xae\n"

static void *alloc(struct snapshot *snapshot, size_t n, size_t size)
{
	void *memory = snapshot_alloc(snapshot, (n + 1) * size);

	if (!memory) {
		abort();
	}
	return memory;
}

static const char *const point_names[] = {"nova:image_fetch_entry", "nova:image_fetch_exit",
		"nova:sem_acquire_entry", "nova:sem_acquire_exit", "nova:driver_spawn_entry",
		"nova:driver_spawn_exit"};

/* The events of `points` points on `hosts` hosts, from point `first` on. */
static void fill_events(struct snapshot *snapshot, const struct made_steps *made,
		struct step_row *row, uint32_t hosts, uint32_t first, uint32_t points)
{
	uint32_t n = hosts * points * 2, h, i;
	struct step_event *events = alloc(snapshot, n, sizeof(*events));

	for (h = 0; h < hosts; h++) {
		const char *host = snapshot_printf(snapshot, "compute-%u", (unsigned int)h + 1);

		for (i = 0; i < points * 2; i++) {
			uint32_t at = first * 2 + i;

			events[h * points * 2 + i] = (struct step_event){.host = host,
					.name = at < 6 ? point_names[at]
						       : snapshot_printf(snapshot,
									 "nova:point_%u_%s",
									 (unsigned int)at / 2,
									 at % 2 ? "exit" : "entry"),
					.enable = row->kind != STEP_DISABLE};
		}
	}
	if (made->hostile && n > 0) {
		events[0].name = HOSTILE;
	}
	row->n_points = points;
	row->n_events = n;
	row->events = events;
}

static struct step_cost cost(double events_per_s)
{
	return (struct step_cost){events_per_s, events_per_s < 0 ? -1 : events_per_s * 45,
			events_per_s < 0 ? -1 : events_per_s * 3e-7};
}

static struct step_row skeleton(struct snapshot *snapshot, const struct made_steps *made)
{
	uint64_t at_ns = snapshot->time_ns - 40 * SECOND;
	struct step_row row = {.id = 1,
			.kind = STEP_SKELETON,
			.state = STEP_KEPT,
			.by = STEP_BY_PERSON,
			.title = "skeleton: 18 points, 2 hosts",
			.why = "start",
			.effect = "410 events/s",
			.proposed_ns = at_ns - 5 * SECOND,
			.decided_ns = at_ns - SECOND,
			.done_ns = at_ns,
			.predicted = cost(420),
			.actual = cost(410),
			.share_of_budget = 0.08};

	fill_events(snapshot, made, &row, 2, 10, 18);
	return row;
}

/* The three points of step 2, of which some are left out. */
static void fill_parts(
		struct snapshot *snapshot, const struct made_steps *made, struct step_row *row)
{
	static const char *const names[3] = {
			"nova:image_fetch", "nova:sem_acquire", "nova:driver_spawn"};
	struct step_point *parts = alloc(snapshot, 3, sizeof(*parts));
	struct step_event *events = alloc(snapshot, row->n_events, sizeof(*events));
	uint32_t i, n = 0;

	for (i = 0; i < 3; i++) {
		parts[i] = (struct step_point){.name = made->hostile && i == 0 ? HOSTILE : names[i],
				.hosts = "compute-1, compute-2",
				.n_events = 4,
				.kept = !(made->left >> i & 1),
				.enable = true};
		row->n_points -= !parts[i].kept;
	}
	for (i = 0; i < row->n_events; i++) {
		if (!(made->left >> (i / 2 % 3) & 1)) {
			events[n++] = row->events[i];
		}
	}
	row->events = events;
	row->n_events = n;
	row->parts = parts;
	row->n_parts = 3;
	if (made->left) {
		row->title = snapshot_printf(snapshot, "%s (%u of 3 points)", row->title,
				(unsigned int)row->n_points);
		row->predicted = cost(made->unknown ? -1 : 100.0 * row->n_points);
	}
}

static struct step_row enabling(struct snapshot *snapshot, const struct made_steps *made)
{
	uint64_t at_ns = snapshot->time_ns - 2 * SECOND;
	bool decided = made->done || made->went_on;
	struct step_row row = {.id = 2,
			.kind = STEP_ENABLE,
			.state = made->done      ? STEP_KEPT
				 : made->went_on ? STEP_WATCHED
						 : STEP_PROPOSED,
			.by = decided ? STEP_BY_PERSON : STEP_BY_NOBODY,
			.group_id = 1,
			.title = made->hostile ? "+3 inside " HOSTILE
					       : "+3 inside compute.build_instance",
			.why = "97% (95 to 99) of the variance of server create lies in its own "
			       "time",
			.effect = made->done ? "731 events/s" : "",
			.proposed_ns = at_ns,
			.decided_ns = decided ? at_ns + SECOND : 0,
			.done_ns = made->done ? at_ns + SECOND : 0,
			.predicted = cost(made->unknown ? -1 : 310),
			.actual = cost(made->done ? 731 : -1),
			.share_of_budget = made->unknown ? -1 : 0.144};

	fill_events(snapshot, made, &row, 2, 0, 3);
	if (row.state == STEP_PROPOSED) {
		fill_parts(snapshot, made, &row);
	}
	return row;
}

static struct step_row learning(struct snapshot *snapshot, const struct made_steps *made)
{
	struct step_row row = {.id = 2,
			.kind = STEP_LEARN,
			.title = "learn: 271 points for 10 s",
			.why = "where points stand in requests, and what they cost, is not known",
			.effect = "",
			.proposed_ns = snapshot->time_ns,
			.predicted = cost(made->unknown ? -1 : 24000),
			.actual = cost(-1),
			.share_of_budget = 4.8};

	fill_events(snapshot, made, &row, 5, 0, 271);
	return row;
}

static struct step_row disabling(struct snapshot *snapshot, const struct made_steps *made)
{
	struct step_row row = {.id = 3,
			.kind = STEP_DISABLE,
			.group_id = 1,
			.title = "-2 points",
			.why = "image.fetch, driver.spawn hold 1% for 3 epochs",
			.effect = "",
			.proposed_ns = snapshot->time_ns,
			.predicted = cost(-206),
			.actual = cost(-1),
			.share_of_budget = 0.1};

	row.predicted = (struct step_cost){-206, -1, -1};
	fill_events(snapshot, made, &row, 2, 0, 1);
	return row;
}

static struct step_row failing(struct snapshot *snapshot, const struct made_steps *made)
{
	uint64_t at_ns = snapshot->time_ns - SECOND;
	struct step_row row = {.id = 4,
			.kind = STEP_ENABLE,
			.state = STEP_FAILED,
			.by = STEP_BY_WATCH,
			.group_id = 2,
			.title = "+1 inside volume.attach",
			.why = "61% (48 to 74) of the variance of volume create lies in its own "
			       "time",
			.effect = made->hostile ? HOSTILE
						: "compute-2: nova:attach_entry: no such event; "
						  "try "
						  "again once the application runs",
			.proposed_ns = at_ns,
			.decided_ns = at_ns,
			.ended_ns = at_ns + SECOND,
			.predicted = cost(90),
			.actual = cost(-1),
			.share_of_budget = -1};

	fill_events(snapshot, made, &row, 1, 4, 1);
	return row;
}

static void fill_rows(struct snapshot *snapshot, const struct made_steps *made)
{
	struct step_row *rows = alloc(snapshot, 4, sizeof(*rows));
	struct steps_view *view = &snapshot->steps;

	if (made->failed) {
		rows[view->n++] = failing(snapshot, made);
	}
	if (made->waits && made->done) {
		view->next = view->n;
		rows[view->n++] = disabling(snapshot, made);
	}
	if (made->learn) {
		view->next = view->n;
		rows[view->n++] = learning(snapshot, made);
	} else if (made->waits || made->done || made->went_on) {
		view->next = made->waits && !made->done && !made->went_on ? view->n : view->next;
		rows[view->n++] = enabling(snapshot, made);
	}
	if (made->done || made->waits || made->went_on) {
		rows[view->n++] = skeleton(snapshot, made);
	}
	view->rows = rows;
}

static void fill_findings(struct snapshot *snapshot, const struct made_steps *made)
{
	static const char *const history[] = {
			"step 2: +3 inside compute.build_instance",
			"then sem.acquire holds 97%",
			"queue_len: 0 -> 0.4s, 1 -> 1.2s, 2 -> 2.1s (p <= 0.001, held out)",
			"stopped: a variable explains it",
	};
	struct steps_finding *findings = alloc(snapshot, 2, sizeof(*findings));

	findings[0] = (struct steps_finding){.group_id = 1,
			.type = "server create",
			.path = "api>sched>compute",
			.rule = made->verdict ? STOP_VARIABLE : STOP_NONE,
			.text = made->hostile   ? "server create: " HOSTILE
				: made->verdict ? "server create waits at sem.acquire on "
						  "compute-1,2 (97% of the variance, n 444); "
						  "explained by queue_len: 0 -> 0.4s, 1 -> 1.2s, "
						  "2 -> 2.1s"
						: "server create: 97% of the variance is inside "
						  "compute.build_instance; looking deeper",
			.where = made->verdict ? "api.server_create > compute.build_instance > "
						 "sem.acquire"
					       : "api.server_create > compute.build_instance",
			.phi = 0.97,
			.phi_low = 0.95,
			.phi_high = 0.99,
			.requests = 444,
			.n_steps = made->verdict ? 2 : 1,
			.seconds = 37.4,
			.n_history = made->verdict ? 4 : 1,
			.history = history};
	findings[1] = (struct steps_finding){.group_id = 2,
			.type = "volume create",
			.path = "api>volume",
			.text = "volume create: 61% of the variance is inside volume.attach; "
				"looking "
				"deeper",
			.where = "api.volume_create > volume.attach",
			.phi = 0.61,
			.phi_low = 0.48,
			.phi_high = 0.74,
			.requests = 666,
			.n_steps = 0,
			.seconds = 12,
			.history = history};
	snapshot->steps.findings = findings;
	snapshot->steps.n_findings = made->verdict || made->searching ? 2 : 0;
}

static void fill_controls(struct snapshot *snapshot, const struct made_steps *made)
{
	struct steps_control *controls = alloc(snapshot, 2, sizeof(*controls));

	controls[0] = (struct steps_control){.host = "compute-1",
			.ready = true,
			.session = "pythiatop-root-4711",
			.text = ""};
	controls[1] = made->no_control ? (struct steps_control){.host = "compute-2",
							 .session = "",
							 .text = "Control off: no helper for "
								 "compute-2. Try: "
								 "pythiatop --control "
								 "compute-2=ssh://compute-2"}
				       : (struct steps_control){.host = "compute-2",
							 .ready = true,
							 .session = "pythiatop-root-4712",
							 .text = ""};
	snapshot->steps.controls = controls;
	snapshot->steps.n_controls = made->waits || made->done || made->no_control ? 2 : 0;
}

void made_steps_fill(struct snapshot *snapshot, const struct made_steps *made)
{
	struct steps_view *view = &snapshot->steps;
	bool on = made->done || made->went_on;

	*view = (struct steps_view){.mode = made->mode,
			.strategy = "hybrid",
			.budget = STEP_USUAL_BUDGET,
			.spent = cost(made->done                       ? 731
					: made->waits || made->went_on ? 410
								       : 0),
			.next = UINT32_MAX,
			.lacks = made->waits || made->done
						 ? ""
						 : "no host offers tracepoints: is control on, and "
						   "are applications running?",
			.skeleton = 18,
			.enabled = on ? 3 : 0,
			.ever_enabled = on ? 3 : 0,
			.known = 271};
	fill_rows(snapshot, made);
	fill_findings(snapshot, made);
	fill_controls(snapshot, made);
	for (uint32_t i = 0; on && i < view->n; i++) {
		if (view->rows[i].id == 2) {
			view->rules = view->rows[i].events;
			view->n_rules = view->rows[i].n_events;
		}
	}
}
