/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loop on services made at random: a tree of points in one of which all the variation is, of
 * which the loop sees only what it has enabled. It must end at that point, enabling few, within its
 * budget, and leave nothing behind.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/names.h"
#include "pythia/pythia.h"
#include "pythiatop/profile.h"
#include "trials.h"

#define MAX_POINTS  400
#define NAME_BYTES  32
#define EVENT_BYTES 64
#define MAX_ROUNDS  2000
#define MAX_STEPS   100u
#define WIDTH       14u
#define WAKING      0.6 /* of the variance, where processors sleep */
#define SECOND      UINT64_C(1000000000)

struct service {
	uint32_t n, fault;
	uint32_t parent[MAX_POINTS]; /* 0: of the root itself, which is point 0 */
	double mean_ns[MAX_POINTS];  /* own time */
	char names[MAX_POINTS][NAME_BYTES];
	char events[MAX_POINTS][2][EVENT_BYTES];
	bool on[MAX_POINTS], ever[MAX_POINTS];
	bool ordered;   /* it is told when things begin */
	double more_ns; /* that the fault takes longer, always, than was learned */
	uint64_t random;
	/* What is told of its two processes; NULL: nothing is. */
	const struct pythia_site *sites;
	uint32_t lost_at; /* the look at which control of the host is lost; 0: never */
	bool odd;         /* an odd request makes all intervals wide */
	/* Spans of the fault, and of what lies in it, in each request; 0: one. */
	uint32_t often;
	/* Until that look most of what varies is processors that wake up; 0: never. */
	uint32_t sleeps_until;
	bool sleeps;
	uint32_t n_steps, step_points[MAX_STEPS]; /* points that each step enabled */
	double point_per_s; /* events/s that a point brings, whatever was learned; 0: next to none
			     */
};

static uint32_t below(struct service *service, uint32_t n)
{
	service->random = hash_u64(service->random + 1);
	return (uint32_t)(service->random >> 33) % n;
}

/* Points as code has them: each lies in one made before it, none deeper than six. */
static void make_service(struct service *service, uint64_t seed, uint32_t n)
{
	*service = (struct service){.n = n, .random = seed};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t depth = 0, at;

		if (i > 0) {
			do {
				service->parent[i] = below(service, i < 8 ? 1 : i);
				for (depth = 1, at = service->parent[i]; at; depth++) {
					at = service->parent[at];
				}
			} while (depth > 6);
		}
		service->mean_ns[i] = 1000.0 * (1 + below(service, 1000));
		snprintf(service->names[i], NAME_BYTES, "work_%u", i);
		snprintf(service->events[i][0], EVENT_BYTES, "app:work_%u_entry", i);
		snprintf(service->events[i][1], EVENT_BYTES, "app:work_%u_exit", i);
	}
	service->fault = 1 + below(service, n - 1);
	service->on[0] = true;
}

/* Code that does much one after the other: each point calls many, and the fault took no time. */
static void widen(struct service *service)
{
	for (uint32_t i = 1; i < service->n; i++) {
		service->parent[i] = (i - 1) / WIDTH;
	}
	service->mean_ns[service->fault] = 0;
}

/* The nearest point above, or itself, that is recorded. */
static uint32_t visible(const struct service *service, uint32_t at)
{
	while (!service->on[at]) {
		at = service->parent[at];
	}
	return at;
}

static double total_of(const struct service *service, uint32_t at)
{
	double sum = service->mean_ns[at];

	for (uint32_t i = at + 1; i < service->n; i++) {
		sum += service->parent[i] == at ? total_of(service, i) : 0;
	}
	return sum;
}

/* When a point begins, within the request: its own time is spread evenly around its children. */
static double begin_of(const struct service *service, uint32_t at)
{
	uint32_t above = service->parent[at], before = 1, children = 0;
	double begin;

	if (at == 0) {
		return 0;
	}
	begin = begin_of(service, above);
	for (uint32_t i = 1; i < service->n; i++) {
		if (service->parent[i] == above) {
			begin += i < at ? total_of(service, i) : 0;
			before += i < at;
			children++;
		}
	}
	return begin + service->mean_ns[above] * before / (children + 1);
}

/* What spans of a point take of a request now: what slows all is in those around the fault. */
static double taken_by(const struct service *service, uint32_t at)
{
	uint32_t above = service->fault;

	while (above > at) {
		above = service->parent[above];
	}
	return total_of(service, at) + (above == at ? service->more_ns : 0);
}

struct sight {
	double offset_ns[MAX_POINTS];
	struct groups_row row;
	struct tree_row rows[MAX_POINTS + 1];
	struct tree_view tree;
	struct group_view group;
};

static void add_row(const struct service *service, struct sight *sight, uint32_t at,
		uint32_t parent, uint32_t depth, bool varies)
{
	uint32_t index = sight->tree.n++;
	struct tree_row *row = &sight->rows[index];
	bool holds = varies && service->more_ns <= 0 && visible(service, service->fault) == at;
	double waking = service->sleeps ? WAKING : 0;
	uint32_t around = at;

	while (around > service->fault) {
		around = service->parent[around];
	}

	*row = (struct tree_row){.context = at + 1,
			.parent = parent,
			.depth = depth,
			.name = service->names[at],
			.provider = "app",
			.count = sight->tree.requests *
				 (service->often && around == service->fault ? service->often : 1),
			.total_ns = taken_by(service, at) * (double)sight->tree.requests,
			.phi = holds ? 0.99 - waking : -1e-4, /* an estimate has either sign */
			.phi_low = service->odd ? -0.5
				   : holds      ? 0.97 - waking
						: -0.01,
			.phi_high = holds ? 1.0 - waking : 0.01,
			.segment_mean_ns =
					total_of(service, at) +
					(visible(service, service->fault) == at ? service->more_ns
										: 0),
			.segment_sd_ns = holds ? 1e6 : 1e3};
	for (uint32_t i = at + 1; i < service->n; i++) {
		if (service->on[i] && i != at) {
			uint32_t above = service->parent[i];

			while (!service->on[above]) {
				above = service->parent[above];
			}
			if (above == at) {
				sight->rows[index].segment_mean_ns -= total_of(service, i);
				add_row(service, sight, i, index, depth + 1, varies);
			}
		}
	}
	sight->rows[index].n_below = sight->tree.n - index - 1;
	sight->offset_ns[index] = -1;
	if (parent != UINT32_MAX) {
		sight->offset_ns[index] = begin_of(service, at) -
					  begin_of(service, sight->rows[parent].context - 1);
	}
}

/* The fault varies where it begins: between two children of the edge that are on. */
static uint32_t find_gaps(void *callback_context, uint32_t group_id, uint64_t since_ns,
		uint32_t context, struct pythia_gap *out, uint32_t max)
{
	const struct service *service = callback_context;
	double fault = begin_of(service, service->fault), last = -1, next = HUGE_VAL;

	(void)since_ns;
	assert_int_equal(group_id, 1);
	assert_true(max >= 2);
	out[0] = (struct pythia_gap){.phi = 0.95};
	out[1] = (struct pythia_gap){.phi = 0.01};
	for (uint32_t i = 1; i < service->n; i++) {
		uint32_t above = service->parent[i];
		double begin = begin_of(service, i);

		while (!service->on[above]) {
			above = service->parent[above];
		}
		if (!service->on[i] || above != context - 1 || i == service->fault) {
			continue;
		}
		if (begin < fault && begin > last) {
			last = begin;
			out[0].after = i + 1;
			out[0].lag_ns = total_of(service, i);
		} else if (begin >= fault && begin < next) {
			next = begin;
			out[0].before = out[1].after = i + 1;
		}
	}
	return out[1].after || out[0].after ? 2 : 1;
}

static uint32_t find_sites(void *callback_context, uint32_t group_id, uint64_t since_ns,
		uint32_t context, struct pythia_site *out, uint32_t max)
{
	const struct service *service = callback_context;

	(void)group_id;
	(void)since_ns;
	(void)context;
	assert_true(max >= 2);
	out[0] = service->sites[0];
	out[1] = service->sites[1];
	return 2;
}

/* What the loop is shown of the service after so many requests of the epoch. */
static void look_at(
		const struct service *service, struct sight *sight, uint64_t requests, bool varies)
{
	*sight = (struct sight){.row = {.id = 1,
						.type = "work",
						.path = "app",
						.count = requests,
						.rate_per_s = 20,
						.mean_ns = 1e6,
						.sd_ns = 1e6,
						.p50_ns = 1000000,
						.detection = service->more_ns > 0 ? DETECTION_SLOW
							     : varies             ? DETECTION_VARIES
										  : 0}};
	sight->tree = (struct tree_view){.group_id = 1,
			.type = "work",
			.path = "app",
			.requests = requests,
			.counted = requests,
			.located = true};
	add_row(service, sight, 0, UINT32_MAX, 0, varies);
	if (service->sleeps) {
		sight->rows[0].n_below++;
		sight->rows[sight->tree.n++] = (struct tree_row){.context = MAX_POINTS + 1,
				.depth = 1,
				.name = "(waking up)",
				.provider = "",
				.mark = TREE_NO_POINT,
				.count = requests,
				.phi = WAKING,
				.phi_low = WAKING - 0.01,
				.phi_high = WAKING + 0.01,
				.segment_sd_ns = 1e6};
	}
	sight->tree.rows = sight->rows;
	sight->group.row = sight->row;
	sight->group.location.located = true;
}

static void offer_all(struct pythia *pythia, const struct service *service)
{
	struct pythia_offer offers[2 * MAX_POINTS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < service->n; i++) {
		for (uint32_t exit = 0; exit < 2; exit++) {
			offers[n++] = (struct pythia_offer){.event = service->events[i][exit],
					.skeleton = i == 0,
					.role = exit ? OFFER_EXIT : OFFER_ENTRY,
					.provider = "app",
					.span = service->names[i]};
		}
	}
	assert_int_equal(pythia_offer(pythia, "host", offers, n), STATUS_OK);
}

/* Everything at once, as learning shows it. */
static void learn(struct pythia *pythia, struct service *service, bool varies)
{
	struct sight *sight = test_malloc(sizeof(*sight));
	struct groups_view groups = {.n = 1};
	struct pythia_detail detail;

	memset(service->on, true, sizeof(service->on));
	look_at(service, sight, 300, varies);
	memset(service->on, false, sizeof(service->on));
	service->on[0] = true;
	groups.rows = &sight->row;
	detail = (struct pythia_detail){&sight->row, &sight->tree, &sight->group,
			service->ordered ? sight->offset_ns : NULL};
	pythia_learned(pythia, &(struct pythia_round){.now_ns = SECOND,
					       .groups = &groups,
					       .recent = &groups,
					       .n_details = 1,
					       .details = &detail});
	test_free(sight);
}

static void learn_all(struct pythia *pythia, struct service *service)
{
	learn(pythia, service, false);
}

static uint32_t point_of_event(const struct service *service, const char *event)
{
	for (uint32_t i = 0; i < service->n; i++) {
		if (strcmp(event, service->events[i][0]) == 0 ||
				strcmp(event, service->events[i][1]) == 0) {
			return i;
		}
	}
	fail_msg("an order names %s, which nobody offers", event);
	return 0;
}

/* Events/s of all that was enabled. */
static double brought(const struct service *service)
{
	double sum = 10;

	for (uint32_t i = 1; i < service->n; i++) {
		sum += service->on[i] ? service->point_per_s : 0;
	}
	return sum;
}

/* Does what is ordered; true: something was. */
static bool obey(struct pythia *pythia, struct service *service, uint64_t now_ns)
{
	const struct step_order *order = pythia_next_order(pythia);
	bool any = false;

	for (; order; order = pythia_next_order(pythia)) {
		uint32_t step = order->step;
		bool undo = order->undo;
		uint32_t n_enabled = 0; /* entries and exits */

		for (uint32_t i = 0; i < order->n; i++) {
			uint32_t point = point_of_event(service, order->events[i].name);

			assert_string_equal(order->events[i].host, "host");
			service->on[point] = order->events[i].enable;
			service->ever[point] |= order->events[i].enable;
			n_enabled += order->events[i].enable;
		}
		if (!undo && service->n_steps < MAX_STEPS) {
			service->step_points[service->n_steps++] = n_enabled / 2;
		}
		any = true;
		assert_true(pythia_order_done(pythia,
				&(struct step_outcome){.step = step,
						.undo = undo,
						.ok = true,
						.error = ""},
				now_ns));
		if (!undo) {
			pythia_watch_over(pythia,
					&(struct step_watch){.step = step,
							.actual = {.events_per_s = brought(
										   service)}},
					NULL, now_ns);
		}
	}
	return any;
}

/*
 * Control of the host is lost: what was on goes off, its last events come later still, and the host
 * is back after three looks.
 */
static void lose(struct pythia *pythia, struct service *service, uint32_t look, uint64_t now_ns)
{
	if (look == service->lost_at) {
		pythia_host_gone(pythia, "host", now_ns);
		for (uint32_t i = 1; i < service->n; i++) {
			service->on[i] = false;
		}
	} else if (look == service->lost_at + 1 || look == service->lost_at + 3) {
		for (uint32_t i = 1; i < service->n; i++) {
			if (service->ever[i]) {
				pythia_recorded(pythia, service->events[i][0],
						(const char *[]){"host"}, 1, 40, 0);
			}
		}
	}
	if (look == service->lost_at + 3) {
		offer_all(pythia, service);
	}
}

struct run {
	enum stop_rule rule;
	char where[512], text[768], host[64], process[64], next[256];
	uint32_t steps, enabled, looks;
	bool around; /* not the fault itself was named, but what it lies in */
	uint32_t n_steps, step_points[MAX_STEPS];
};

/* Runs the loop until it stops by itself. */
static struct run run_loop(struct pythia *pythia, struct service *service, bool varies)
{
	struct sight *sight = test_malloc(sizeof(*sight));
	struct groups_view groups = {.n = 1};
	struct run run = {.rule = STOP_NONE};
	uint64_t now_ns = 10 * SECOND, epoch_ns = now_ns;
	uint32_t epoch = 0;

	for (uint32_t i = 0; i < MAX_ROUNDS && run.rule == STOP_NONE; i++) {
		struct pythia_round round = {.now_ns = now_ns,
				.epoch = epoch,
				.groups = &groups,
				.recent = &groups,
				.gaps = service->ordered ? find_gaps : NULL,
				.sites = service->sites ? find_sites : NULL,
				.callback_context = service};
		struct snapshot *snapshot;
		struct pythia_detail detail;
		uint32_t ids[PYTHIA_DETAILS];

		pythia_recorded(pythia, service->events[0][0], (const char *[]){"host"}, 1, 40, 0);
		if (service->lost_at) {
			lose(pythia, service, i, now_ns);
		}
		service->sleeps = i < service->sleeps_until;
		run.looks = i + 1;
		look_at(service, sight, (now_ns - epoch_ns) / SECOND * 20, varies);
		sight->row.epoch = epoch;
		sight->row.since_ns = epoch_ns;
		groups.rows = &sight->row;
		detail = (struct pythia_detail){&sight->row, &sight->tree, &sight->group,
				service->ordered ? sight->offset_ns : NULL};
		round.details = &detail;
		round.n_details = pythia_wants(pythia, &round, ids);
		pythia_round(pythia, &round);
		if (obey(pythia, service, now_ns)) {
			epoch++;
			epoch_ns = now_ns;
		}
		now_ns += SECOND;
		snapshot = snapshot_create();
		assert_int_equal(pythia_fill(pythia, snapshot), STATUS_OK);
		if (snapshot->steps.n_findings) {
			const struct steps_finding *finding = &snapshot->steps.findings[0];

			run.rule = finding->rule;
			snprintf(run.where, sizeof(run.where), "%s", finding->where);
			snprintf(run.text, sizeof(run.text), "%s", finding->text);
			snprintf(run.host, sizeof(run.host), "%s", finding->host);
			snprintf(run.process, sizeof(run.process), "%s", finding->process);
			snprintf(run.next, sizeof(run.next), "%s", finding->next);
		}
		run.steps = snapshot->steps.n;
		run.enabled = snapshot->steps.ever_enabled;
		if (snapshot->steps.budget.events_per_s > 0) {
			assert_true(snapshot->steps.spent.events_per_s <=
					snapshot->steps.budget.events_per_s + 1e-6);
		}
		snapshot_destroy(snapshot);
		if (!varies && i > 120) {
			break;
		}
	}
	run.n_steps = service->n_steps;
	memcpy(run.step_points, service->step_points, sizeof(run.step_points));
	test_free(sight);
	return run;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), cut = strlen(end);

	return length >= cut && strcmp(text + length - cut, end) == 0;
}

static struct run diagnose_shape(const char *strategy, uint64_t seed, uint32_t n, bool learned,
		bool varies, bool undo, bool wide, bool ordered)
{
	struct names *names = names_create(100000);
	struct pythia *pythia = pythia_create(names);
	struct service *service = test_malloc(sizeof(*service));
	struct run run;

	make_service(service, seed, n);
	if (wide) {
		widen(service);
	}
	service->ordered = ordered;
	assert_int_equal(pythia_set_strategy(pythia, strategy), STATUS_OK);
	offer_all(pythia, service);
	pythia_set_mode(pythia, MODE_AUTOPILOT, SECOND);
	if (learned) {
		learn_all(pythia, service);
	}
	run = run_loop(pythia, service, varies);
	for (uint32_t at = service->fault; run.rule == STOP_CODE && at != 0;
			at = service->parent[at]) {
		run.around |= at != service->fault && ends_with(run.where, service->names[at]);
	}
	run.around |= run.rule == STOP_CODE && strcmp(run.where, service->names[0]) == 0;
	if (run.rule == STOP_CODE) {
		run.rule = ends_with(run.where, service->names[service->fault]) ? STOP_CODE
										: STOP_DIFFUSE;
	}
	if (undo) {
		pythia_undo_all(pythia, STEP_BY_PERSON, UINT64_C(1000) * SECOND);
		obey(pythia, service, UINT64_C(1000) * SECOND);
		for (uint32_t i = 1; i < service->n; i++) {
			assert_false(service->on[i]);
		}
	}
	test_free(service);
	pythia_destroy(pythia);
	names_destroy(names);
	return run;
}

static struct run diagnose(const char *strategy, uint64_t seed, uint32_t n, bool learned,
		bool varies, bool undo)
{
	return diagnose_shape(strategy, seed, n, learned, varies, undo, false, false);
}

/* Where it is known when things begin, fewer steps lead there, and fewer points. */
static void order_saves_steps(void **state)
{
	double enabled[2] = {0, 0}, steps[2] = {0, 0};
	uint32_t trials = TRIALS(100);

	(void)state;
	for (uint32_t ordered = 0; ordered < 2; ordered++) {
		for (uint32_t seed = 0; seed < trials; seed++) {
			struct run run = diagnose_shape("hybrid", seed * 7 + 1, 300, true, true,
					true, true, ordered);

			assert_int_equal(run.rule, STOP_CODE);
			enabled[ordered] += (double)run.enabled / trials;
			steps[ordered] += (double)run.steps / trials;
		}
		print_message("%s order: %.1f steps, %.1f of 300 points\n",
				ordered ? "with" : "without", steps[ordered], enabled[ordered]);
	}
	assert_true(steps[1] < 0.9 * steps[0]); /* without it, splits in vain take more points */
	assert_true(enabled[1] < 0.8 * enabled[0]);
}

/* A step after one in vain has twice the points, and the next one four times as many, no more. */
static void steps_in_vain_grow(void **state)
{
	const uint32_t usual = STEP_USUAL_BUDGET.points;
	uint32_t n_doubled = 0;

	(void)state;
	for (uint32_t seed = 0; seed < 20; seed++) {
		struct run run = diagnose_shape(
				"flat", seed * 7 + 1, 300, true, true, true, true, false);

		assert_true(run.n_steps > 0 && run.step_points[0] <= usual);
		for (uint32_t i = 1; i < run.n_steps; i++) {
			assert_true(run.step_points[i] <= usual << 2);
			if (run.step_points[i] > usual) {
				assert_true(run.step_points[i] <= 2 * run.step_points[i - 1]);
				n_doubled += run.step_points[i] == 2 * run.step_points[i - 1];
			}
		}
	}
	assert_true(n_doubled > 0);
}

/* With a profile: the fault is named, and on the way few points were enabled. */
static void finds_the_fault(void **state)
{
	static const char *const guided[] = {"hybrid", "hierarchical", "historic", "pythia"};
	uint32_t trials = TRIALS(100);

	(void)state;
	for (size_t s = 0; s < sizeof(guided) / sizeof(guided[0]); s++) {
		uint32_t hits = 0;
		double enabled = 0;

		for (uint32_t seed = 0; seed < trials; seed++) {
			struct run run = diagnose(guided[s], seed * 7 + 1, 300, true, true, true);

			hits += run.rule == STOP_CODE;
			enabled += run.enabled / 300.0;
		}
		print_message("%s: %u of %u found, %.1f%% of the points enabled\n", guided[s], hits,
				trials, 100 * enabled / trials);
		assert_int_equal(hits, trials);
		assert_true(enabled / trials < 0.25);
	}
}

/* The others end too, and whatever they name is right. */
static void baselines_end(void **state)
{
	static const char *const others[] = {"flat", "random", "all"};

	(void)state;
	for (size_t s = 0; s < sizeof(others) / sizeof(others[0]); s++) {
		for (uint32_t seed = 0; seed < 20; seed++) {
			struct run run = diagnose(others[s], seed * 11 + 5, 100, true, true, true);

			assert_int_equal(run.rule, STOP_CODE);
		}
	}
}

/*
 * Without a profile it learns first, or goes by names when that is refused. It ends all the same,
 * mostly at the fault, else at a place around it: it does not try all that there is.
 */
static void goes_by_names(void **state)
{
	uint32_t hits = 0, around = 0, trials = TRIALS(100);
	double enabled = 0;

	(void)state;
	for (uint32_t seed = 0; seed < trials; seed++) {
		struct run run = diagnose("hybrid", seed * 13 + 2, 60, false, true, true);

		hits += run.rule == STOP_CODE;
		around += run.around;
		enabled += run.enabled / 60.0;
	}
	print_message("by names: %u of %u found, %u places around it, %.0f%% of the points "
		      "enabled\n",
			hits, trials, around, 100 * enabled / trials);
	assert_int_equal(hits + around, trials);
	assert_true(hits >= 0.7 * trials);
}

static void leaves_healthy_alone(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 20; seed++) {
		struct run run = diagnose("hybrid", seed, 100, true, false, false);

		assert_int_equal(run.enabled, 0);
		assert_int_equal(run.steps, 0);
	}
}

/* The budget holds after a step was kept, too: when it costs more than is left, it goes. */
static void keeps_within_a_budget_that_shrinks(void **state)
{
	struct names *names = names_create(100000);
	struct pythia *pythia = pythia_create(names);
	struct service *service = test_malloc(sizeof(*service));
	struct sight *sight = test_malloc(sizeof(*sight));
	struct groups_view groups = {.n = 1};
	struct step_budget budget = STEP_USUAL_BUDGET;
	struct run run;
	uint32_t on = 0;

	(void)state;
	make_service(service, 3, 100);
	offer_all(pythia, service);
	pythia_set_mode(pythia, MODE_AUTOPILOT, SECOND);
	learn_all(pythia, service);
	run = run_loop(pythia, service, true);
	assert_int_equal(run.rule, STOP_CODE);
	budget.events_per_s = 1;
	pythia_set_budget(pythia, &budget);
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t now_ns = (5000 + i) * SECOND;

		look_at(service, sight, 300, true);
		sight->row.since_ns = now_ns;
		groups.rows = &sight->row;
		pythia_recorded(pythia, service->events[0][0], (const char *[]){"host"}, 1, 40, 0);
		pythia_round(pythia, &(struct pythia_round){.now_ns = now_ns,
						     .epoch = (uint32_t)(1000 + i),
						     .groups = &groups,
						     .recent = &groups});
		obey(pythia, service, now_ns);
	}
	for (uint32_t i = 1; i < service->n; i++) {
		on += service->on[i];
	}
	assert_int_equal(on, 0);
	test_free(sight);
	test_free(service);
	pythia_destroy(pythia);
	names_destroy(names);
}

/* What is found in a service that varies, on autopilot, with a profile of it. */
static struct run run_learned(struct service *service)
{
	struct names *names = names_create(100000);
	struct pythia *pythia = pythia_create(names);
	struct run run;

	offer_all(pythia, service);
	pythia_set_mode(pythia, MODE_AUTOPILOT, SECOND);
	learn_all(pythia, service);
	run = run_loop(pythia, service, true);
	pythia_destroy(pythia);
	names_destroy(names);
	return run;
}

/*
 * Where processors that wake up are most of what varies nothing is found, but steps are taken: once
 * that is over the fault is named with hardly a further one.
 */
static void goes_on_where_processors_sleep(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 30; seed++) {
		struct service *service = test_malloc(sizeof(*service));
		struct run run;

		make_service(service, seed * 7 + 1, 100);
		service->sleeps_until = 300;
		run = run_learned(service);
		assert_int_equal(run.rule, STOP_CODE);
		assert_true(ends_with(run.where, service->names[service->fault]));
		assert_in_range(run.looks, service->sleeps_until + 1, service->sleeps_until + 2);
		test_free(service);
	}
}

/* What varied when all was on is called too often to be enabled: what it lies in is named instead.
 */
static void names_what_the_budget_reaches(void **state)
{
	uint32_t looked_at = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 30; seed++) {
		struct names *names = names_create(100000);
		struct pythia *pythia = pythia_create(names);
		struct service *service = test_malloc(sizeof(*service));
		uint32_t around;

		make_service(service, seed, 100);
		service->often = 1000;
		around = service->parent[service->fault];
		if (around) {
			struct run run;

			offer_all(pythia, service);
			pythia_set_mode(pythia, MODE_AUTOPILOT, SECOND);
			learn(pythia, service, true);
			run = run_loop(pythia, service, true);
			if (run.rule != STOP_CODE ||
					!ends_with(run.where, service->names[around]) ||
					!strstr(run.text, "no room for a further point deeper")) {
				fail_msg("seed %u: it ends in %s, not in %s: %s", seed, run.where,
						service->names[around], run.text);
			}
			looked_at++;
		}
		test_free(service);
		pythia_destroy(pythia);
		names_destroy(names);
	}
	assert_true(looked_at >= 20);
}

/*
 * There is room for four points, and each brings a third more than was learned: what was over the
 * budget is tried again, fewer at a time, and what told nothing makes room.
 */
static void goes_on_within_a_small_budget(void **state)
{
	struct step_budget budget = STEP_USUAL_BUDGET;
	uint32_t found = 0;

	(void)state;
	budget.events_per_s = 200;
	for (uint32_t seed = 1; seed <= 30; seed++) {
		struct names *names = names_create(100000);
		struct pythia *pythia = pythia_create(names);
		struct service *service = test_malloc(sizeof(*service));
		struct run run;

		make_service(service, seed, 100);
		widen(service);
		service->point_per_s = 1.3 * 40;
		offer_all(pythia, service);
		pythia_set_budget(pythia, &budget);
		pythia_set_mode(pythia, MODE_AUTOPILOT, SECOND);
		learn_all(pythia, service);
		run = run_loop(pythia, service, true);
		found += run.rule == STOP_CODE &&
			 ends_with(run.where, service->names[service->fault]);
		assert_true(run.step_points[0] == 4 && run.step_points[1] <= 3);
		test_free(service);
		pythia_destroy(pythia);
		names_destroy(names);
	}
	print_message("%u of 30 found\n", found);
	assert_int_equal(found, 30);
}

/* Requests that are all slower, and do not differ, lead there too. */
static void finds_what_slows_all(void **state)
{
	uint32_t enabled = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 30; seed++) {
		struct names *names = names_create(100000);
		struct pythia *pythia = pythia_create(names);
		struct service *service = test_malloc(sizeof(*service));
		struct run run;

		make_service(service, seed, 100);
		offer_all(pythia, service);
		pythia_set_mode(pythia, MODE_AUTOPILOT, SECOND);
		learn_all(pythia, service);
		service->more_ns = 5e6;
		run = run_loop(pythia, service, true);
		assert_int_equal(run.rule, STOP_CODE);
		if (!ends_with(run.where, service->names[service->fault])) {
			fail_msg("seed %u: it ends in %s, not in %s", seed, run.where,
					service->names[service->fault]);
		}
		enabled += run.enabled;
		test_free(service);
		pythia_destroy(pythia);
		names_destroy(names);
	}
	print_message("slower alike: %.1f of 100 points\n", enabled / 30.0);
	assert_true(enabled < 30 * 25);
}

/* A search goes on after control was lost, and ends where it would have ended. */
static void survives_lost_control(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct service *service = test_malloc(sizeof(*service));
		struct run run;

		make_service(service, seed, 100);
		service->lost_at = 14 + seed % 20;
		run = run_learned(service);
		assert_int_equal(run.rule, STOP_CODE);
		if (!ends_with(run.where, service->names[service->fault])) {
			fail_msg("seed %u: it ends in %s, not in %s", seed, run.where,
					service->names[service->fault]);
		}
		test_free(service);
	}
}

/* A look at the flagged group in an epoch of its own, with its tree. */
static void look_in_epoch(struct pythia *pythia, const struct service *service, struct sight *sight,
		uint64_t now_ns, uint64_t since_ns)
{
	struct pythia_detail detail = {&sight->row, &sight->tree, &sight->group, NULL};
	struct groups_view groups = {.n = 1, .rows = &sight->row};

	look_at(service, sight, 300, true);
	sight->row.epoch = 1;
	sight->row.since_ns = since_ns;
	pythia_recorded(pythia, service->events[0][0], (const char *[]){"host"}, 1, 40, 0);
	pythia_round(pythia, &(struct pythia_round){.now_ns = now_ns,
					     .epoch = 1,
					     .groups = &groups,
					     .recent = &groups,
					     .n_details = 1,
					     .details = &detail});
}

/* Where a person rejects what is proposed, the place that is left says that there is more in it. */
static void tells_what_was_rejected(void **state)
{
	struct names *names = names_create(100000);
	struct pythia *pythia = pythia_create(names);
	struct service *service = test_malloc(sizeof(*service));
	struct sight *sight = test_malloc(sizeof(*sight));
	const char *text;
	struct snapshot *snapshot = snapshot_create();
	char error[128];

	(void)state;
	make_service(service, 3, 5);
	offer_all(pythia, service);
	pythia_set_mode(pythia, MODE_APPROVE, SECOND);
	learn_all(pythia, service);
	for (uint32_t step = 1; step <= 10; step++) {
		uint64_t now_ns = (10 + 20 * step) * SECOND;

		look_in_epoch(pythia, service, sight, now_ns, now_ns - 15 * SECOND);
		pythia_decide(pythia, step, STEP_REJECT, STEP_BY_PERSON, now_ns, error,
				sizeof(error));
	}
	assert_int_equal(pythia_fill(pythia, snapshot), STATUS_OK);
	assert_int_equal(snapshot->steps.n_findings, 1);
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_CODE);
	text = snapshot->steps.findings[0].text;
	if (!strstr(text, "left off: rejected, refused or undone")) {
		fail_msg("it says: %s", text);
	}
	snapshot_destroy(snapshot);
	test_free(sight);
	test_free(service);
	pythia_destroy(pythia);
	names_destroy(names);
}

/*
 * A step that nobody decides on is withdrawn after a minute. What an odd request has made unclear
 * by then is given another minute: the search does not end for having waited.
 */
static void waits_anew_where_nobody_decides(void **state)
{
	static const uint64_t seconds[] = {30, 31, 91, 92, 120, 150, 153};
	struct names *names = names_create(100000);
	struct pythia *pythia = pythia_create(names);
	struct service *service = test_malloc(sizeof(*service));
	struct sight *sight = test_malloc(sizeof(*sight));

	(void)state;
	make_service(service, 3, 5);
	offer_all(pythia, service);
	pythia_set_mode(pythia, MODE_APPROVE, SECOND);
	learn_all(pythia, service);
	for (uint32_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		uint64_t now_ns = seconds[i] * SECOND;
		struct snapshot *snapshot = snapshot_create();

		service->odd = seconds[i] > 31;
		look_in_epoch(pythia, service, sight, now_ns, 10 * SECOND);
		assert_int_equal(pythia_fill(pythia, snapshot), STATUS_OK);
		assert_int_equal(snapshot->steps.n, 1);
		assert_int_equal(snapshot->steps.rows[0].state,
				seconds[i] <= 31 ? STEP_PROPOSED : STEP_REJECTED);
		assert_int_equal(snapshot->steps.n_findings, 1);
		assert_int_equal(snapshot->steps.findings[0].rule,
				seconds[i] < 153 ? STOP_NONE : STOP_DIFFUSE);
		snapshot_destroy(snapshot);
	}
	test_free(sight);
	test_free(service);
	pythia_destroy(pythia);
	names_destroy(names);
}

/* The rule of the first finding after six windows in which the group deviates by so much. */
static enum stop_rule rule_after(struct pythia *pythia, const struct service *service,
		uint64_t from_ns, double sd_ns)
{
	struct sight *sight = test_malloc(sizeof(*sight));
	struct groups_view groups = {.n = 1, .rows = &sight->row};
	struct snapshot *snapshot = snapshot_create();
	enum stop_rule rule;

	look_at(service, sight, 300, true);
	sight->row.sd_ns = sd_ns;
	for (uint32_t i = 0; i < 6; i++) {
		pythia_recorded(pythia, service->events[0][0], (const char *[]){"host"}, 1, 40, 0);
		pythia_round(pythia, &(struct pythia_round){.now_ns = from_ns + 10 * i * SECOND,
						     .groups = &groups,
						     .recent = &groups});
	}
	assert_int_equal(pythia_fill(pythia, snapshot), STATUS_OK);
	rule = snapshot->steps.findings[0].rule;
	snapshot_destroy(snapshot);
	test_free(sight);
	return rule;
}

/*
 * The norm is as wide as the fault makes the group: the verdict stands while that lasts, and no
 * longer.
 */
static void a_wide_norm_does_not_heal(void **state)
{
	struct profile_norm norm = {
			.path = "app", .count = 300, .p50_ns = 1e6, .cov = 1, .n_modes = 1};
	struct profile_type type = {.type = "work", .requests = 300, .n_norms = 1, .norms = &norm};
	struct names *names = names_create(100000);
	struct pythia *pythia = pythia_create(names);
	struct service *service = test_malloc(sizeof(*service));

	(void)state;
	make_service(service, 3, 100);
	offer_all(pythia, service);
	pythia_set_mode(pythia, MODE_AUTOPILOT, SECOND);
	learn_all(pythia, service);
	assert_int_equal(run_loop(pythia, service, true).rule, STOP_CODE);
	assert_int_equal(
			pythia_learn(pythia, &(struct profile){.n = 1, .types = &type}), STATUS_OK);
	assert_int_equal(rule_after(pythia, service, 3000 * SECOND, 1e6), STOP_CODE);
	assert_int_equal(rule_after(pythia, service, 3100 * SECOND, 5e5), STOP_HEALTHY);
	test_free(service);
	pythia_destroy(pythia);
	names_destroy(names);
}

/* One group that varies, on a host that offers points, and autopilot: it would learn first. */
struct scene {
	struct names *names;
	struct pythia *pythia;
	struct service *service;
	struct sight *sight;
};

static void scene_begin(struct scene *scene)
{
	scene->names = names_create(100000);
	scene->pythia = pythia_create(scene->names);
	scene->service = test_malloc(sizeof(*scene->service));
	scene->sight = test_malloc(sizeof(*scene->sight));
	make_service(scene->service, 3, 100);
	offer_all(scene->pythia, scene->service);
	pythia_set_mode(scene->pythia, MODE_AUTOPILOT, SECOND);
	look_at(scene->service, scene->sight, 300, false);
	scene->sight->row.since_ns = 10 * SECOND;
}

static void scene_look(struct scene *scene, uint64_t now_ns)
{
	const struct groups_view groups = {.n = 1, .rows = &scene->sight->row};

	pythia_recorded(scene->pythia, scene->service->events[0][0], (const char *[]){"host"}, 1,
			40, 0);
	pythia_round(scene->pythia,
			&(struct pythia_round){
					.now_ns = now_ns, .groups = &groups, .recent = &groups});
}

static void scene_end(struct scene *scene)
{
	test_free(scene->sight);
	test_free(scene->service);
	pythia_destroy(scene->pythia);
	names_destroy(scene->names);
}

/* To learn in vain is not tried again, until the host was gone. */
static void learns_in_vain_once(void **state)
{
	struct scene scene;
	uint32_t learned = 0;

	(void)state;
	scene_begin(&scene);
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t now_ns = (10 + i) * SECOND;
		const struct step_order *order;

		if (i == 50) {
			pythia_host_gone(scene.pythia, "host", now_ns);
			offer_all(scene.pythia, scene.service);
		}
		scene_look(&scene, now_ns);
		while ((order = pythia_next_order(scene.pythia))) {
			struct step_outcome refused = {.step = order->step,
					.undo = order->undo,
					.ok = order->undo,
					.error = order->undo ? "" : "this host does not allow it"};

			assert_int_equal(order->kind, STEP_LEARN);
			learned += !order->undo;
			pythia_order_done(scene.pythia, &refused, now_ns);
		}
		assert_int_equal(learned, i < 50 ? 1 : 2);
	}
	scene_end(&scene);
}

/* A profile that was saved when something else was watched is none; one of the same type is. */
static void learns_what_a_profile_does_not_know(void **state)
{
	static const char *const types[] = {"other", "work"};

	(void)state;
	for (uint32_t known = 0; known < 2; known++) {
		const struct profile_node node = {.parent = UINT32_MAX,
				.name = "a",
				.provider = "app",
				.entry = "app:a_entry",
				.exit = "app:a_exit",
				.count = 1};
		const struct profile_type type = {
				.type = types[known], .requests = 300, .n = 1, .nodes = &node};
		const struct step_order *order;
		struct scene scene;

		scene_begin(&scene);
		assert_int_equal(pythia_learn(scene.pythia,
						 &(struct profile){.n = 1, .types = &type}),
				STATUS_OK);
		for (uint64_t i = 0; i < 5 && !(order = pythia_next_order(scene.pythia)); i++) {
			scene_look(&scene, (10 + i) * SECOND);
		}
		assert_true(known ? !order || order->kind != STEP_LEARN
				  : order && order->kind == STEP_LEARN);
		scene_end(&scene);
	}
}

/* The second of the first order, where our session is silent until then (100: it stays so). */
static uint32_t first_order(uint32_t silent_s)
{
	struct scene scene;
	uint32_t i;

	scene_begin(&scene);
	for (i = 0; i < 99 && !pythia_next_order(scene.pythia); i++) {
		uint64_t now_ns = (10 + i) * SECOND;

		if (i == 0 || i == silent_s) {
			/* Nothing is recorded by us so far: no epoch has to begin. */
			assert_false(pythia_silent(scene.pythia, "host", i < silent_s, now_ns));
		}
		scene_look(&scene, now_ns);
	}
	scene_end(&scene);
	return i;
}

/* Of requests that may lack what is recorded nothing is concluded: for a minute, and no longer. */
static void what_is_not_seen_is_not_judged(void **state)
{
	(void)state;
	assert_in_range(first_order(0), 0, 2);
	assert_in_range(first_order(20), 20, 22);
	assert_in_range(first_order(100), 60, 62);
}

static struct run diagnose_with_sites(const struct pythia_site *sites)
{
	struct names *names = names_create(100000);
	struct pythia *pythia = pythia_create(names);
	struct service *service = test_malloc(sizeof(*service));
	struct run run;

	make_service(service, 7, 60);
	service->sites = sites;
	offer_all(pythia, service);
	pythia_set_mode(pythia, MODE_AUTOPILOT, SECOND);
	learn_all(pythia, service);
	run = run_loop(pythia, service, true);
	test_free(service);
	pythia_destroy(pythia);
	names_destroy(names);
	return run;
}

/*
 * A process that is slow at all it does is the verdict, and no point is enabled; where some of it
 * is well, one place adds nearly all, or the group varies elsewhere, the code is searched, and told
 * where it runs.
 */
static void names_the_process_that_is_slow(void **state)
{
	static const struct pythia_site well = {.host = "node-2",
			.process = "app",
			.tells = "",
			.places = 9,
			.along = 1,
			.working = 1,
			.most = 1,
			.times = 1.4};
	static const struct pythia_site slow = {.host = "node-1",
			.process = "app",
			.tells = "",
			.phi = 0.9,
			.places = 9,
			.along = 7,
			.of_group = 2,
			.working = 4,
			.most = 0.3,
			.times = 3};
	struct pythia_site sites[2] = {slow, well};
	struct run run = diagnose_with_sites(sites);

	(void)state;
	assert_int_equal(run.rule, STOP_DIFFUSE);
	assert_int_equal(run.enabled, 0);
	assert_string_equal(run.host, "node-1");
	assert_string_equal(run.process, "app");
	assert_non_null(strstr(run.text,
			"most of what app on node-1 does is slow at the same times: "
			"7 of 9 places"));
	assert_non_null(strstr(run.text, "not so app on node-2, which does the same"));
	assert_non_null(strstr(run.next, "app on node-1: its CPU"));
	sites[0].along = 5;
	run = diagnose_with_sites(sites);
	assert_int_equal(run.rule, STOP_CODE);
	assert_string_equal(run.host, "node-1");
	assert_non_null(strstr(run.next, " in app on node-1: no deeper point"));
	sites[0] = slow;
	sites[0].most = 0.9;
	assert_int_equal(diagnose_with_sites(sites).rule, STOP_CODE);
	sites[0] = slow;
	sites[0].working = 1; /* they wait for it, and it works as ever: a queue */
	assert_int_equal(diagnose_with_sites(sites).rule, STOP_CODE);
	sites[0] = slow;
	sites[0].of_group = 1; /* one in each type: code that all of them pass */
	assert_int_equal(diagnose_with_sites(sites).rule, STOP_CODE);
	sites[0] = slow;
	sites[0].judged = 20; /* with the short ones it is few */
	sites[0].judged_along = 7;
	assert_int_equal(diagnose_with_sites(sites).rule, STOP_CODE);
	sites[0] = slow;
	sites[0].phi = sites[1].phi = 0.4;
	run = diagnose_with_sites(sites);
	assert_int_equal(run.rule, STOP_CODE);
	assert_string_equal(run.host, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(names_the_process_that_is_slow),
			cmocka_unit_test(finds_what_slows_all),
			cmocka_unit_test(survives_lost_control),
			cmocka_unit_test(learns_in_vain_once),
			cmocka_unit_test(learns_what_a_profile_does_not_know),
			cmocka_unit_test(what_is_not_seen_is_not_judged),
			cmocka_unit_test(tells_what_was_rejected),
			cmocka_unit_test(waits_anew_where_nobody_decides),
			cmocka_unit_test(a_wide_norm_does_not_heal),
			cmocka_unit_test(finds_the_fault),
			cmocka_unit_test(order_saves_steps),
			cmocka_unit_test(steps_in_vain_grow),
			cmocka_unit_test(baselines_end),
			cmocka_unit_test(goes_by_names),
			cmocka_unit_test(leaves_healthy_alone),
			cmocka_unit_test(keeps_within_a_budget_that_shrinks),
			cmocka_unit_test(goes_on_where_processors_sleep),
			cmocka_unit_test(names_what_the_budget_reaches),
			cmocka_unit_test(goes_on_within_a_small_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
