/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a search ends with, of one group whose tree is told: what interrupts a request is no code of
 * it, and comes after what holds half as much.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/names.h"
#include "pythia/pythia.h"
#include "pythia/state.h"

#define SECOND UINT64_C(1000000000)
#define ROWS   4u
#define KNOWN  3u   /* places that are learned, */
#define MANY   200u /* and as many more in `work`, where `many` */

/* A request, what it does in user space, a system call of that, and what interrupts the latter. */
static const struct tree_row usual[ROWS] = {{.context = 1,
							    .parent = UINT32_MAX,
							    .n_below = 3,
							    .name = "get",
							    .provider = "web"},
		{.context = 2, .parent = 0, .n_below = 2, .name = "work", .provider = "web"},
		{.context = 3,
				.parent = 1,
				.n_below = 1,
				.name = "syscall_connect",
				.provider = ""},
		{.context = 4, .parent = 2, .name = "softirq_net_rx", .provider = ""}};

/* The finding of a search that sees these shares of the rows, in the snapshot. */
static struct steps_finding search(const double phi[ROWS], struct snapshot *snapshot)
{
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);
	struct groups_row row = {.id = 1,
			.type = "get",
			.path = "web",
			.count = 400,
			.rate_per_s = 20,
			.mean_ns = 1e6,
			.sd_ns = 1e6,
			.p50_ns = 1000000,
			.detection = DETECTION_VARIES};
	struct tree_row rows[ROWS];
	struct tree_view tree = {.group_id = 1,
			.type = "get",
			.path = "web",
			.requests = 400,
			.counted = 400,
			.located = true,
			.n = ROWS,
			.rows = rows};
	struct group_view group = {.row = row, .location = {.located = true}};
	struct pythia_detail detail = {.row = &row, .tree = &tree, .group = &group};
	struct groups_view groups = {.n = 1, .rows = &row};
	struct steps_finding finding;

	memcpy(rows, usual, sizeof(rows));
	for (uint32_t i = 0; i < ROWS; i++) {
		rows[i].phi = phi[i];
		rows[i].phi_low = phi[i] - 0.05;
		rows[i].phi_high = phi[i] + 0.05;
		rows[i].segment_sd_ns = phi[i] > 0 ? 1e6 * phi[i] : 0;
	}
	for (uint32_t s = 1; s < 100; s++) {
		pythia_round(pythia, &(struct pythia_round){.now_ns = s * SECOND,
						     .groups = &groups,
						     .recent = &groups,
						     .n_details = s > 20,
						     .details = &detail});
	}
	assert_int_equal(pythia_fill(pythia, snapshot), STATUS_OK);
	assert_int_equal(snapshot->steps.n_findings, 1);
	finding = snapshot->steps.findings[0];
	pythia_destroy(pythia);
	names_destroy(names);
	return finding;
}

static void interrupts_are_no_code(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct steps_finding finding = search((const double[ROWS]){0, 0.05, 0.02, 0.93}, snapshot);

	(void)state;
	assert_int_equal(finding.rule, STOP_DIFFUSE);
	assert_non_null(strstr(finding.text,
			"the time goes by in softirq_net_rx while syscall_connect is at work"));
	assert_non_null(strstr(finding.text, "no code of the request"));
	snapshot_destroy(snapshot);
}

/* Others may take their time back, so that both hold most. */
static void what_holds_as_much_comes_first(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct steps_finding finding = search((const double[ROWS]){-0.6, 0.6, 0, 1.0}, snapshot);

	(void)state;
	assert_int_equal(finding.rule, STOP_CODE);
	assert_string_equal(finding.where, "get > work");
	snapshot_destroy(snapshot);
}

/* ---- a processor that is waited for ---- */

static enum wait_evidence evidence = WAIT_RAN;
static bool many;           /* more is known in `work` than can be tried, and autopilot tries it */
static double budget_per_s; /* of events; 0: the usual one */

/* Who had it meanwhile: the server's own program, and another one. */
static const struct group_wait *find_waits(void *context, uint32_t group_id, uint32_t row_context)
{
	static struct group_holder holders[2];
	static struct group_wait wait = {.n = 2, .holders = holders, .context = 3};
	double own = *(const double *)context;

	wait.evidence = evidence;

	assert_int_equal(group_id, 1);
	assert_int_equal(row_context, 3);
	holders[0] = (struct group_holder){.name = "work",
			.provider = "web",
			.type = "",
			.process = "web",
			.share = own / 2};
	holders[1] = (struct group_holder){.name = "",
			.provider = "",
			.type = "",
			.process = "other",
			.share = (1 - own) / 2};
	return &wait;
}

/* What is in `work` can be enabled; the others are recorded. */
static void offer(struct pythia *pythia, const struct profile_node *nodes, uint32_t n)
{
	static struct pythia_offer offers[2 * (KNOWN + MANY)];
	uint32_t n_offers = 0;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t exit = 0; exit < 2; exit++) {
			struct pythia_offer one = {.event = exit ? nodes[i].exit : nodes[i].entry,
					.role = exit ? OFFER_EXIT : OFFER_ENTRY,
					.skeleton = i < 2,
					.provider = "web",
					.span = nodes[i].name};

			pythia_know(pythia, &one);
			if (i >= 2) {
				offers[n_offers++] = one;
			}
		}
	}
	if (n_offers) {
		assert_int_equal(pythia_offer(pythia, "host", offers, n_offers), STATUS_OK);
	}
}

/* Does what is ordered, as autopilot has it; true: something was. */
static bool obey(struct pythia *pythia, uint64_t now_ns)
{
	const struct step_order *order;
	bool any = false;

	while ((order = pythia_next_order(pythia)) != NULL) {
		uint32_t step = order->step;

		assert_true(pythia_order_done(pythia,
				&(struct step_outcome){.step = step,
						.undo = order->undo,
						.ok = true,
						.error = ""},
				now_ns));
		pythia_watch_over(pythia,
				&(struct step_watch){.step = step, .actual = {.events_per_s = 10}},
				NULL, now_ns);
		any = true;
	}
	return any;
}

/*
 * A search where `work` is known, and `deep` in it, if that is among the `n_learned`; `waits` tells
 * who is waited for.
 */
static void search_told(const struct group_wait *(*waits)(void *, uint32_t, uint32_t),
		void *context, const struct tree_row *rows, uint32_t n, uint32_t n_learned,
		struct snapshot *snapshot)
{
	static const struct profile_node known[KNOWN] = {{.parent = UINT32_MAX,
									 .name = "web:80",
									 .provider = "web",
									 .entry = "web:80_entry",
									 .exit = "web:80_exit",
									 .count = 1,
									 .total_ns = 1e6},
			{.parent = 0,
					.name = "work",
					.provider = "web",
					.entry = "web:work_entry",
					.exit = "web:work_exit",
					.count = 1,
					.total_ns = 1e6},
			{.parent = 1,
					.name = "deep",
					.provider = "web",
					.entry = "web:deep_entry",
					.exit = "web:deep_exit",
					.count = 1,
					.total_ns = 9e5}};
	static struct profile_node learned[KNOWN + MANY];
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);
	struct groups_row row = {.id = 1,
			.type = "web:80",
			.path = "web",
			.count = 400,
			.rate_per_s = 20,
			.mean_ns = 1e6,
			.sd_ns = 1e6,
			.p50_ns = 1000000,
			.objective_ns = 1000,
			.detection = DETECTION_VARIES};
	struct tree_view tree = {.group_id = 1,
			.type = "web:80",
			.path = "web",
			.requests = 400,
			.counted = 400,
			.located = true,
			.n = n,
			.rows = rows};
	struct group_view group = {.row = row, .location = {.located = true}};
	struct pythia_detail detail = {.row = &row, .tree = &tree, .group = &group};
	struct groups_view groups = {.n = 1, .rows = &row};

	memcpy(learned, known, sizeof(known));
	for (uint32_t i = 0; i < MANY && many; i++) {
		static char entries[MANY][32], exits[MANY][32], spans[MANY][32];
		struct profile_node *node = &learned[n_learned++];

		snprintf(spans[i], sizeof(spans[i]), "deep_%u", i);
		snprintf(entries[i], sizeof(entries[i]), "web:deep_%u_entry", i);
		snprintf(exits[i], sizeof(exits[i]), "web:deep_%u_exit", i);
		*node = known[2];
		node->name = spans[i];
		node->entry = entries[i];
		node->exit = exits[i];
	}
	if (many) {
		pythia_set_mode(pythia, MODE_AUTOPILOT, SECOND);
	}
	assert_int_equal(
			pythia_learn(pythia,
					&(struct profile){.n = 1,
							.types = &(struct profile_type){.type = "we"
												"b:"
												"8"
												"0",
									.requests = 1000,
									.n = n_learned,
									.nodes = learned}}),
			STATUS_OK);
	offer(pythia, learned, n_learned);
	if (budget_per_s > 0) {
		struct step_budget budget = STEP_USUAL_BUDGET;

		budget.events_per_s = budget_per_s;
		pythia_set_budget(pythia, &budget);
	}
	for (uint32_t s = 1; s < (many ? 200 : 40); s++) {
		pythia_recorded(pythia, known[0].entry, (const char *[]){"host"}, 1, 40, 0);
		pythia_round(pythia, &(struct pythia_round){.now_ns = s * SECOND,
						     .epoch = row.epoch,
						     .groups = &groups,
						     .recent = &groups,
						     .n_details = 1,
						     .details = &detail,
						     .waits = waits,
						     .callback_context = context});
		if (many && obey(pythia, s * SECOND)) {
			row.epoch++;
			row.since_ns = s * SECOND;
		}
	}
	assert_int_equal(pythia_fill(pythia, snapshot), STATUS_OK);
	pythia_destroy(pythia);
	names_destroy(names);
}

static void search_rows(double own, const struct tree_row *rows, uint32_t n, uint32_t n_learned,
		struct snapshot *snapshot)
{
	search_told(find_waits, &own, rows, n, n_learned, snapshot);
}

/* Most of a request is waiting for one, within `work`, which is known to call `deep`. */
static void search_waiting(double own, struct snapshot *snapshot)
{
	static const struct tree_row rows[] = {{.context = 1,
							       .parent = UINT32_MAX,
							       .n_below = 2,
							       .name = "web:80",
							       .provider = "web"},
			{.context = 2,
					.parent = 0,
					.n_below = 1,
					.name = "work",
					.provider = "web"},
			{.context = 3,
					.parent = 1,
					.name = "(runnable)",
					.provider = "",
					.mark = TREE_NO_POINT,
					.phi = 0.8,
					.phi_low = 0.75,
					.phi_high = 0.85,
					.segment_sd_ns = 1e6}};

	search_rows(own, rows, 3, 3, snapshot);
}

/* Where the program itself uses it up, the code that waits is looked into; else that is it. */
static void own_load_is_looked_into(void **state)
{
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	search_waiting(0.9, snapshot);
	assert_int_equal(snapshot->steps.n, 1);
	assert_string_equal(snapshot->steps.rows[0].title, "+1 inside work");
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_NONE);
	snapshot_destroy(snapshot);
	snapshot = snapshot_create();
	search_waiting(0.4, snapshot);
	assert_int_equal(snapshot->steps.n, 0);
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_DIFFUSE);
	assert_non_null(strstr(snapshot->steps.findings[0].text, "(runnable) of work"));
	snapshot_destroy(snapshot);
}

/* Requests lie in the socket behind others, of which something takes longer at times. */
struct queue {
	double own, queued; /* of who is served meanwhile; of the variance, the wait */
	const char *other;
	double share; /* of the variance, of the other */
};

static void search_queue(const struct queue *queue, struct snapshot *snapshot)
{
	const bool is_code = queue->other[0] != '(';
	const struct tree_row rows[] = {{.context = 1,
							.parent = UINT32_MAX,
							.n_below = 2,
							.name = "web:80",
							.provider = "web"},
			{.context = 3,
					.parent = 0,
					.name = "(in the socket)",
					.provider = "",
					.mark = TREE_NO_POINT,
					.phi = queue->queued,
					.phi_low = queue->queued - 0.05,
					.phi_high = queue->queued + 0.05,
					.segment_sd_ns = 1e6},
			{.context = is_code ? 2 : 3,
					.parent = 0,
					.name = queue->other,
					.provider = is_code ? "web" : "",
					.mark = is_code ? TREE_ON : TREE_NO_POINT,
					.phi = queue->share,
					.phi_low = queue->share - 0.05,
					.phi_high = queue->share + 0.05,
					.segment_sd_ns = 1e6}};

	evidence = WAIT_QUEUED;
	search_rows(queue->own, rows, 3, 3, snapshot);
	evidence = WAIT_RAN;
}

/*
 * What those do is searched for; where it varies little, or for want of a processor, or they are
 * others, the queue is the place.
 */
static void a_queue_is_of_what_is_served(void **state)
{
	static const struct queue queues[] = {{0.9, 0.92, "work", 0.06},
			{0.9, 0.8, "(runnable)", 0.18}, {0.4, 0.65, "work", 0.3}};
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	search_queue(&(struct queue){0.9, 0.65, "work", 0.3}, snapshot);
	assert_int_equal(snapshot->steps.n, 1);
	assert_string_equal(snapshot->steps.rows[0].title, "+1 inside work");
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_NONE);
	snapshot_destroy(snapshot);
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		snapshot = snapshot_create();
		search_queue(&queues[i], snapshot);
		assert_int_equal(snapshot->steps.n, 0);
		assert_int_equal(snapshot->steps.findings[0].rule, STOP_DIFFUSE);
		assert_non_null(strstr(
				snapshot->steps.findings[0].text, "(in the socket) of web:80"));
		snapshot_destroy(snapshot);
	}
}

#define ROW(id, above, below, text, share)                                                         \
	{                                                                                          \
		.context = (id), .parent = (above), .n_below = (below), .name = (text),            \
		.provider = (text)[0] == '(' ? "" : "web",                                         \
		.mark = (text)[0] == '(' ? TREE_NO_POINT : TREE_ON, .phi = (share),                \
		.phi_low = (share)-0.06, .phi_high = (share) + 0.06, .segment_sd_ns = 1e6          \
	}

/* It lies there while its thread works, or waits for a processor: neither surely holds half. */
static void all_of_a_queue_is_one(void **state)
{
	const struct tree_row rows[] = {ROW(1, UINT32_MAX, 4, "web:80", 0),
			ROW(3, 0, 1, "(in the socket)", 0.41), ROW(3, 1, 0, "(runnable)", 0.37),
			ROW(2, 0, 1, "work", 0.05), ROW(3, 3, 0, "(runnable)", 0.15)};
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	evidence = WAIT_QUEUED;
	search_rows(0.9, rows, 5, 2, snapshot);
	evidence = WAIT_RAN;
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_DIFFUSE);
	assert_non_null(strstr(snapshot->steps.findings[0].text,
			"(in the socket) of web:80 (78% of the variance, 70 to 86, n 400)"));
	snapshot_destroy(snapshot);
}

/* The network is waited for, or a timer; in the context OTHER another one is. */
static const struct group_wait *find_interrupts(
		void *context, uint32_t group_id, uint32_t row_context)
{
#define HOLDER(by)                                                                                 \
	{                                                                                          \
		.name = "", .provider = "", .type = "", .process = "", .share = 0.9,               \
		.of_variation = 0.9, .interrupt = (by)                                             \
	}
	static const struct group_holder holders[] = {
			HOLDER(INTERRUPT_NETWORK), HOLDER(INTERRUPT_TIMER)};
#undef HOLDER
	static const struct group_wait waits[] = {
			{.evidence = WAIT_WOKEN, .n = 1, .holders = &holders[0]},
			{.evidence = WAIT_WOKEN, .n = 1, .holders = &holders[1]}};

	assert_int_equal(group_id, 1);
	return &waits[row_context == *(const uint32_t *)context];
}

static void search_loop(uint32_t other, struct snapshot *snapshot)
{
	const struct tree_row rows[] = {ROW(1, UINT32_MAX, 2, "web:80", 0),
			ROW(5, 0, 0, "(blocked: epoll_wait)", 0.43), ROW(2, 0, 1, "work", 0.01),
			ROW(6, 2, 0, "(blocked: epoll_wait)", 0.28),
			ROW(4, 0, 1, "syscall_epoll_wait", 0),
			ROW(7, 4, 0, "(blocked: epoll_wait)", 0.26)};

	search_told(find_interrupts, &other, rows, 6, 2, snapshot);
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_DIFFUSE);
}

/* An event loop waits for one in whatever it is at: no context surely has half of it. */
static void waits_for_one_holder_are_one(void **state)
{
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	search_loop(UINT32_MAX, snapshot);
	assert_non_null(strstr(snapshot->steps.findings[0].text,
			"(blocked: epoll_wait) of web:80 and in 2 more places (97% of the "
			"variance, 87 to 100, n 400): the network is waited for 90% of it"));
	snapshot_destroy(snapshot);

	snapshot = snapshot_create();
	search_loop(5, snapshot);
	assert_non_null(strstr(snapshot->steps.findings[0].text, "no place surely holds half"));
	snapshot_destroy(snapshot);
}

/* Of two places: what is told. */
static void search_two(const char *second, double share, enum stop_rule rule, const char *text)
{
	const struct tree_row rows[] = {ROW(1, UINT32_MAX, 2, "web:80", 0),
			ROW(2, 0, 0, "work", 0.38), ROW(4, 0, 0, second, share),
			ROW(5, 0, 0, "rest", 0.13)};
	struct snapshot *snapshot = snapshot_create();

	search_told(find_interrupts, &(uint32_t){UINT32_MAX}, rows, 4, 2, snapshot);
	assert_int_equal(snapshot->steps.findings[0].rule, rule);
	assert_non_null(strstr(snapshot->steps.findings[0].text, text));
	snapshot_destroy(snapshot);
}

/* They hold as much, as two faults do; one surely has a fifth, no more; or is a wait. */
static void two_places_are_both_named(void **state)
{
	(void)state;
	search_two("other", 0.36, STOP_CODE,
			"the time goes in work (38% of the variance, 32 to 44, n 400) and in other "
			"(36%); nothing deeper");
	search_two("other", 0.27, STOP_DIFFUSE, "no place surely holds half");
	search_two("(blocked: read)", 0.36, STOP_DIFFUSE, "no place surely holds half");
}

/* Others hold what is waited for, while they work; or for a little of it alone. */
static const struct group_wait *find_worker(void *context, uint32_t group_id, uint32_t row_context)
{
	static struct group_holder holder = {
			.name = "work", .provider = "web", .type = "web:80", .process = "web"};
	static const struct group_wait wait = {
			.evidence = WAIT_INFERRED, .n = 1, .holders = &holder};

	assert_int_equal(group_id, 1);
	assert_int_equal(row_context, 3);
	holder.share = holder.of_variation = *(const double *)context;
	return &wait;
}

/* What is waited for is looked into where it is held: `work` is known to call `deep`. */
static void the_holder_is_looked_into(void **state)
{
	const struct tree_row rows[] = {ROW(1, UINT32_MAX, 1, "web:80", 0),
			ROW(3, 0, 0, "(blocked: futex)", 0.9)},
			      in_code[] = {ROW(1, UINT32_MAX, 1, "web:80", 0),
					      ROW(3, 0, 0, "lock", 0.9)};
	double much = 0.4, little = 0.2;
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	search_told(find_worker, &much, rows, 2, 3, snapshot);
	assert_int_equal(snapshot->steps.n, 1);
	assert_string_equal(snapshot->steps.rows[0].title, "+1 inside work");
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_NONE);
	assert_non_null(strstr(snapshot->steps.findings[0].text,
			"90% of the variance is in (blocked: futex): work of web:80 is waited for "
			"40% of it (inferred); looking deeper there"));
	snapshot_destroy(snapshot);

	snapshot = snapshot_create();
	search_told(find_worker, &little, rows, 2, 3, snapshot);
	assert_int_equal(snapshot->steps.n, 0);
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_DIFFUSE);
	snapshot_destroy(snapshot);

	/* There is no room for what is known there: of the place itself nothing was left out. */
	snapshot = snapshot_create();
	budget_per_s = 1;
	search_told(find_worker, &much, in_code, 2, 3, snapshot);
	budget_per_s = 0;
	assert_int_equal(snapshot->steps.n, 0);
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_CODE);
	assert_non_null(strstr(snapshot->steps.findings[0].text,
			"no point deeper in it is known to fire; work of web:80 is waited for"));
	snapshot_destroy(snapshot);

	/* Much is known there: it ends with who was waited for in three steps. */
	snapshot = snapshot_create();
	many = true;
	search_told(find_worker, &much, rows, 2, 3, snapshot);
	many = false;
	assert_int_equal(snapshot->steps.n, 3);
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_DIFFUSE);
	assert_non_null(strstr(snapshot->steps.findings[0].text,
			"work of web:80 is waited for 40% of it"));
	snapshot_destroy(snapshot);

	/* Nothing is known in it. */
	snapshot = snapshot_create();
	search_told(find_worker, &much, rows, 2, 2, snapshot);
	assert_int_equal(snapshot->steps.n, 0);
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_DIFFUSE);
	snapshot_destroy(snapshot);
}
#undef ROW

/* Neither surely holds half: the code in two contexts, and its wait for its own program in one. */
static void code_and_its_own_load_are_one(void **state)
{
	static const struct tree_row rows[] = {{.context = 1,
							       .parent = UINT32_MAX,
							       .n_below = 4,
							       .name = "web:80",
							       .provider = "web"},
			{.context = 2,
					.parent = 0,
					.n_below = 2,
					.name = "work",
					.provider = "web",
					.phi = 0.25,
					.phi_low = 0.2,
					.phi_high = 0.3,
					.segment_sd_ns = 1e6},
			{.context = 4,
					.parent = 1,
					.n_below = 1,
					.name = "syscall_futex",
					.provider = ""},
			{.context = 3,
					.parent = 2,
					.name = "(runnable)",
					.provider = "",
					.mark = TREE_NO_POINT,
					.phi = 0.45,
					.phi_low = 0.35,
					.phi_high = 0.55,
					.segment_sd_ns = 1e6},
			{.context = 5,
					.parent = 0,
					.name = "work",
					.provider = "web",
					.phi = 0.15,
					.phi_low = 0.05,
					.phi_high = 0.25,
					.segment_sd_ns = 1e6}};
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	search_rows(0.9, rows, 5, 2, snapshot);
	assert_int_equal(snapshot->steps.findings[0].rule, STOP_CODE);
	assert_non_null(strstr(snapshot->steps.findings[0].text,
			"the time goes in work (85% of the variance, 60 to 100, n 400): 45% of the "
			"variance is waits in it for a processor, which the program itself keeps "
			"busy"));
	assert_string_equal(snapshot->steps.findings[0].where, "web:80 > work");
	snapshot_destroy(snapshot);
	/* Of others: no place holds half. */
	snapshot = snapshot_create();
	search_rows(0.4, rows, 5, 2, snapshot);
	assert_int_not_equal(snapshot->steps.findings[0].rule, STOP_CODE);
	snapshot_destroy(snapshot);
}

/* Code that holds most with what it calls, in two contexts; what it calls itself counts once. */
static void code_with_what_it_calls(void **state)
{
#define ROW(above, deep, below, text, of, share)                                                   \
	{                                                                                          \
		.parent = (above), .depth = (deep), .n_below = (below), .name = (text),            \
		.provider = (of), .mark = (text)[0] == '(' ? TREE_NO_POINT : TREE_ON,              \
		.phi = (share), .phi_low = (share) - 0.06, .phi_high = (share) + 0.06              \
	}
	const struct tree_row rows[] = {ROW(UINT32_MAX, 0, 8, "r", "", 0),
			ROW(0, 1, 4, "portal", "p", 0.02), ROW(1, 2, 3, "run", "p", 0.1),
			ROW(2, 3, 0, "(runnable)", "", 0.3), ROW(2, 3, 1, "read", "p", 0.04),
			ROW(4, 4, 0, "run", "p", 0.06), ROW(0, 1, 2, "worker", "p", 0),
			ROW(6, 2, 1, "run", "p", 0.1), ROW(7, 3, 0, "(runnable)", "", 0.3)};
#undef ROW
	const struct tree_view tree = {.n = 9, .located = true, .rows = rows};
	struct within within;

	(void)state;
	assert_true(within_of(&tree, 0.5, &within));
	assert_string_equal(rows[within.row].name, "run");
	assert_true(fabs(within.phi - 0.9) < 1e-9);
	assert_true(fabs(within.low - (0.9 - 0.06 * sqrt(6))) < 1e-9);
	assert_true(within.high <= 1);
	/* Nothing holds so much but the request itself, which is no answer. */
	assert_false(within_of(&tree, 0.8, &within));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(interrupts_are_no_code),
			cmocka_unit_test(what_holds_as_much_comes_first),
			cmocka_unit_test(own_load_is_looked_into),
			cmocka_unit_test(a_queue_is_of_what_is_served),
			cmocka_unit_test(all_of_a_queue_is_one),
			cmocka_unit_test(waits_for_one_holder_are_one),
			cmocka_unit_test(two_places_are_both_named),
			cmocka_unit_test(the_holder_is_looked_into),
			cmocka_unit_test(code_with_what_it_calls),
			cmocka_unit_test(code_and_its_own_load_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
