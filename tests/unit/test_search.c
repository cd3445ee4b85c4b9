/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a search ends with, of one group whose tree is told: what interrupts a request is no code of
 * it, and comes after what holds half as much.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/names.h"
#include "pythia/pythia.h"

#define SECOND UINT64_C(1000000000)
#define ROWS   4u

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

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(interrupts_are_no_code),
			cmocka_unit_test(what_holds_as_much_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
