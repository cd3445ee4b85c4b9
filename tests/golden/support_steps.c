/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_steps.h"

#include <stdlib.h>
#include <string.h>

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
			.title = "learn: up to 271 points for 10 s",
			.why = "where points stand in requests, and what they cost, is not known",
			.effect = "",
			.learn_s = STEP_LEARN_S,
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

/*
 * What the seed of the semaphore found: three latencies, by the length of the queue. Bins are 24
 * steps from 300 ms to 3 s.
 */
static void fill_values(struct explanation *made, struct snapshot *snapshot, bool many)
{
	static const struct explained_value values[] = {
			{"0", 542, 0.61, 408e6, 400000000, {0, 12, 88, 214, 156, 58, 11, 3}},
			{"1", 240, 0.27, 1.21e9, 1200000000, {[11] = 2, 9, 41, 96, 64, 22, 5, 1}},
			{"2", 106, 0.12, 2.12e9, 2100000000, {[17] = 1, 4, 15, 38, 33, 11, 4}},
	};
	struct explained_value *copy = alloc(snapshot, EXPLANATION_VALUES, sizeof(*copy));

	memcpy(copy, values, sizeof(values));
	for (uint32_t i = 3; i < EXPLANATION_VALUES; i++) {
		copy[i] = values[2];
		copy[i].text = snapshot_printf(snapshot, "%u to %u", (unsigned int)i * 1000,
				(unsigned int)i * 1000 + 999);
	}
	made->values = copy;
	made->n_values = many ? EXPLANATION_VALUES : 3;
	made->low_ns = 300000000;
	made->high_ns = 3000000000;
}

static void fill_keys(struct explanation *made, struct snapshot *snapshot, bool hostile)
{
	static const char *const together[] = {"sem.acquire.waiters", "count of sem.acquire"};
	static const struct explained_out out[] = {
			{"api.server_create.request_id", "says which request it is"},
			{"compute.build_instance.deadline", "derived from time"},
	};
	struct explained_key *keys = alloc(snapshot, 4, sizeof(*keys));

	keys[0] = (struct explained_key){.name = hostile ? HOSTILE : "sem.acquire.queue_len",
			.where = "api.server_create > compute.build_instance",
			.numeric = true,
			.rho = 0.91,
			.omega2 = 0.94,
			.omega2_held = 0.92,
			.p = 0.001,
			.shifts = 999,
			.confirmed = true,
			.n_together = 2,
			.together = together};
	keys[1] = (struct explained_key){.name = "host of compute.build_instance",
			.where = "api.server_create",
			.source = EXPLANATION_HOST,
			.omega2 = 0.031,
			.omega2_held = 0.008,
			.p = 0.214,
			.shifts = 999};
	keys[2] = (struct explained_key){.name = "count of db.query",
			.where = "api.server_create",
			.source = EXPLANATION_COUNT,
			.numeric = true,
			.rho = -0.07,
			.omega2 = 0.004,
			.p = 0.83,
			.shifts = 999};
	keys[3] = (struct explained_key){.name = "run queue of compute.build_instance",
			.where = "",
			.source = EXPLANATION_RESOURCE,
			.numeric = true,
			.rho = 0.02,
			.p = 1,
			.shifts = 999};
	made->keys = keys;
	made->n_keys = 4;
	made->n_out = 2;
	made->out = out;
}

static const struct explanation *explanation(
		struct snapshot *snapshot, const struct made_steps *made)
{
	struct explanation *explained = alloc(snapshot, 1, sizeof(*explained));

	if (made->few || made->explaining) {
		explained->state = made->few ? EXPLANATION_FEW : EXPLANATION_RUNNING;
		explained->missing = made->few ? 120 : 0;
		explained->progress = made->few ? 0 : 0.4;
		return explained;
	}
	*explained = (struct explanation){.state = EXPLANATION_DONE,
			.progress = 1,
			.n = 444,
			.n_held = 444,
			.made_ns = snapshot->time_ns,
			.n_columns = 5,
			.r2 = 0.95,
			.f = 1655,
			.f_p = 1e-9,
			.n_segments = 4,
			.canonical = 0.97,
			.wilks = 0.052,
			.chi2 = 1301,
			.chi2_p = 1e-9,
			.df = 20};
	fill_values(explained, snapshot, made->many);
	fill_keys(explained, snapshot, made->hostile);
	return explained;
}

/* As it is told beside what explains it. */
static struct steps_verdict many_values(void)
{
	return (struct steps_verdict){.reason = REASON_CODE,
			.type = "server create",
			.place = "sem.acquire",
			.share_of = "variance",
			.share = 0.97,
			.share_low = 0.95,
			.share_high = 0.99,
			.requests = 888,
			.deeper = DEEPER_SILENT,
			.key = {.name = "sem.acquire.queue_len"}};
}

static void fill_findings(struct snapshot *snapshot, const struct made_steps *made)
{
	static const char *const history[] = {
			"step 2: +3 inside compute.build_instance",
			"then sem.acquire holds 97%",
			"queue_len: 0 -> 0.4s, 1 -> 1.2s, 2 -> 2.1s (p <= 0.001, held out)",
			"stopped: a variable explains it",
	};
	static const char *const ruled_out[] = {
			"image.fetch holds 1% (0 to 2) of the variance",
			"driver.spawn holds 1% (0 to 2) of the variance",
			"host of compute.build_instance goes with 1% of it (p <= 0.22)",
	};
	struct steps_finding *findings = alloc(snapshot, 2, sizeof(*findings));
	bool explains = made->verdict || made->explaining || made->few;

	findings[0] = (struct steps_finding){.group_id = 1,
			.type = "server create",
			.path = "api>sched>compute",
			.rule = made->verdict ? STOP_VARIABLE : STOP_NONE,
			.text = made->hostile   ? "server create: " HOSTILE
				: made->many    ? "server create: the time goes in sem.acquire "
						  "(97% of the variance, 95 to 99, n 888); no "
						  "point deeper in it is known to fire; explained "
						  "by sem.acquire.queue_len (or "
						  "sem.acquire.waiters, which goes with it): 0 -> "
						  "400ms, 1 -> 1.20s, ..., 10000 to 10999 -> "
						  "2.10s, 11000 to 11999 -> 2.10s (92% of the "
						  "variance held out, n 444+444, p <= 0.001)"
				: made->verdict ? "server create waits at sem.acquire on "
						  "compute-1,2 (97% of the variance, n 888)"
						: "server create: 97% of the variance is inside "
						  "compute.build_instance; looking deeper",
			.verdict = made->many ? many_values() : (struct steps_verdict){.type = ""},
			.where = made->verdict ? "api.server_create > compute.build_instance > "
						 "sem.acquire"
					       : "api.server_create > compute.build_instance",
			.phi = 0.97,
			.phi_low = 0.95,
			.phi_high = 0.99,
			.requests = 888,
			.n_steps = made->at_once   ? 0
				   : made->verdict ? 2
						   : 1,
			.seconds = made->at_once ? 0 : 37.4,
			.explanation = explains ? explanation(snapshot, made) : NULL,
			.n_ruled_out = made->verdict ? 3 : 0,
			.ruled_out = ruled_out,
			.next = made->verdict ? "who holds the semaphore while others wait: its "
						"holders on compute-1, compute-2"
					      : "",
			.n_points = made->at_once ? 0 : 3,
			.cost = cost(made->at_once      ? 0
					: made->unknown ? -1
							: 321),
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
			.next = "",
			.cost = cost(-1),
			.history = history};
	findings[0].no_normal = made->no_normal;
	if (made->changed) {
		findings[0].rule = STOP_CHANGED;
		findings[0].change = 1;
		findings[0].requests = 0;
		findings[0].text = "server create: since the baseline sem.acquire in nova-compute "
				   "takes longer, by 578ms to 680ms, which adds 7.52s a second to "
				   "all requests";
		findings[0].explanation = NULL;
	}
	if (made->peer) {
		findings[0].rule = STOP_PEER;
		findings[0].requests = 0;
		findings[0].type = "nginx:80";
		findings[0].path = "";
		findings[0].text = "nginx:80: requests that ask python3:8002 take 42ms (mean of "
				   "473), those that ask python3:8001 2ms (of 474): the difference "
				   "is in call :8002 (96%, 94 to 98)";
		findings[0].where = "nginx:80 > nginx > call :8002";
		findings[0].next = "what python3:8002 does meanwhile, and what of it, its host or "
				   "its load is other than with python3:8001";
		findings[0].explanation = NULL;
		findings[0].n_history = 0;
		findings[0].n_ruled_out = 0;
	}
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
