/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Screens, cell by cell with their roles, as a person meets them. */
#include "support_console.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "support_cloud.h"

struct shot {
	const char *name;
	int rows, columns;
	bool ascii, no_color;
	const char *keys;
	struct cloud cloud;
};

static void take(const struct shot *shot)
{
	struct cloud cloud = shot->cloud;
	struct bench bench = {.answer = cloud_snapshot, .context = &cloud};

	bench_open(&bench, shot->rows, shot->columns, shot->ascii, shot->no_color);
	bench_type(&bench, shot->keys);
	bench_golden(&bench, shot->name);
	bench_close(&bench);
}

static void screens(void **state)
{
	static const struct shot shots[] = {
			{"groups-80x24", 24, 80, false, false, "", {0}},
			{"groups-200x50", 50, 200, false, false, "", {0}},
			{"groups-80x24-mono", 24, 80, false, true, "", {0}},
			{"groups-80x24-ascii", 24, 80, true, false, "", {0}},
			{"groups-40x10", 10, 40, false, false, "", {0}},
			{"groups-tiny", 9, 39, false, false, "", {0}},
			{"groups-warned", 24, 80, false, false, "", {.warned = true}},
			{"sources-warned", 24, 80, false, false, "7", {.warned = true}},
			{"groups-lossy", 24, 80, false, false, "", {.lossy = true}},
			{"groups-lossy-wide", 24, 130, false, false, "G", {.lossy = true}},
			{"groups-hostile", 24, 80, false, false, "", {.hostile = true}},
			{"groups-hostile-ascii", 24, 80, true, false, "", {.hostile = true}},
			{"groups-thousand", 24, 80, false, false, "PgDn PgDn j", {.groups = 1000}},
			{"groups-filter", 24, 80, false, false, "f ! l i s t Enter", {0}},
			{"groups-search", 24, 80, false, false, "/ c r e a t e Enter n", {0}},
			{"groups-sorted", 24, 80, false, false, "s s S", {0}},
			{"groups-paused", 24, 80, false, false, "p , , .", {0}},
			{"groups-command", 24, 80, false, false, ": e x", {0}},
			{"group-80x24", 24, 80, false, false, "Enter", {0}},
			{"group-200x50", 50, 200, false, false, "Enter", {0}},
			{"group-80x24-ascii", 24, 80, true, true, "2", {0}},
			{"group-list", 24, 80, false, false, "2 Tab Tab j j s s", {.lossy = true}},
			{"group-gone", 24, 80, false, false, "2", {.gone = true}},
			{"groups-undecided", 24, 80, false, false, "", {.variation.missing = 19}},
			{"groups-common-cause", 24, 80, false, false, "v",
					{.variation.common = true}},
			{"groups-24x130", 24, 130, false, false, "v v j", {0}},
			{"group-requests", 24, 80, false, false, "2 Tab Tab j Space", {0}},
			{"group-undecided", 24, 80, false, false, "2", {.variation.missing = 19}},
			{"group-common-cause", 24, 80, false, false, "2 Tab s s",
					{.variation.common = true, .variation.hostile = true}},
			{"group-40x10", 10, 40, false, false, "2", {0}},
			{"tree-80x24", 24, 80, false, false, "3 w w", {0}},
			{"tree-200x50", 50, 200, false, false, "3 w w", {0}},
			{"tree-80x24-mono", 24, 80, false, true, "3 w h",
					{.variation.folded = true}},
			{"tree-80x24-ascii", 24, 80, true, true, "3 w w",
					{.variation.hostile = true}},
			{"tree-40x10", 10, 40, false, false, "3 w", {0}},
			{"tree-all", 24, 80, false, false, "3 A", {0}},
			{"tree-without-groups", 24, 80, false, false, "3", {.no_groups = true}},
			{"tree-undecided", 24, 80, false, false, "3", {.variation.missing = 19}},
			{"tree-lossy", 24, 80, false, false, "3", {.variation.lossy = true}},
			{"tree-sorted", 24, 80, false, false, "3 s s S", {0}},
			{"tree-filtered", 24, 80, false, false, "3 h f s e m Enter", {0}},
			{"tree-many", 24, 80, false, false, "3 G", {.variation.rows = 1000}},
			{"compare-80x24", 24, 80, false, false, "4 c w", {0}},
			{"compare-200x50", 50, 200, false, false, "4 c", {0}},
			{"compare-80x24-ascii", 24, 80, true, true, "4 c Tab",
					{.variation.hostile = true}},
			{"compare-40x10", 10, 40, false, false, "4 c w", {0}},
			{"compare-tagged", 24, 80, false, false, "2 Tab Tab j Space k c Tab Tab",
					{0}},
			{"compare-gone", 24, 80, false, false, "4 c", {.gone = true}},
			{"request-path", 24, 80, false, false, "4 Tab w", {0}},
			{"request-without-path", 24, 80, false, false, "4", {.no_path = true}},
			{"request-from-tree", 24, 80, false, false, "3 w w Enter", {0}},
			{"request-80x24", 24, 80, false, false, "4", {0}},
			{"request-200x50", 50, 200, false, false, "4 w", {0}},
			{"request-80x24-ascii", 24, 80, true, true, "4 j j j", {.hostile = true}},
			{"request-folded", 24, 80, false, false, "4 j j j h G", {.lossy = true}},
			{"request-events", 24, 80, false, false, "4 w Enter", {0}},
			{"request-gone", 24, 80, false, false, "4", {.gone = true}},
			{"request-measured", 24, 80, false, false, "4", {.measured = true}},
			{"groups-next", 24, 80, false, false, "",
					{.steps = {.mode = MODE_APPROVE, .waits = true}}},
			{"groups-next-200x50", 50, 200, false, false, "",
					{.steps = {.mode = MODE_APPROVE,
							 .waits = true,
							 .searching = true}}},
			{"groups-next-60x16", 16, 60, false, false, "",
					{.steps = {.waits = true, .unknown = true}}},
			{"groups-verdict", 24, 80, false, false, "",
					{.steps = {.mode = MODE_AUTOPILOT,
							 .done = true,
							 .verdict = true}}},
			{"groups-no-control", 24, 80, false, false, "", {.steps.no_control = true}},
			{"steps-80x24", 24, 80, false, false, "5",
					{.steps = {.mode = MODE_APPROVE,
							 .done = true,
							 .waits = true,
							 .verdict = true}}},
			{"steps-200x50", 50, 200, false, false, "5",
					{.steps = {.mode = MODE_APPROVE,
							 .done = true,
							 .waits = true,
							 .failed = true,
							 .verdict = true,
							 .no_control = true}}},
			{"steps-80x24-mono", 24, 80, false, true, "5 j",
					{.steps = {.mode = MODE_AUTOPILOT,
							 .done = true,
							 .searching = true}}},
			{"steps-80x24-ascii", 24, 80, true, true, "5",
					{.steps = {.done = true,
							 .waits = true,
							 .failed = true,
							 .verdict = true,
							 .hostile = true}}},
			{"steps-40x10", 10, 40, false, false, "5",
					{.steps = {.done = true, .verdict = true}}},
			{"steps-nothing", 24, 80, false, false, "5", {0}},
			{"steps-evidence", 24, 80, false, false, "5 BackTab Enter",
					{.steps = {.done = true, .verdict = true}}},
			{"steps-evidence-end", 24, 80, false, false, "5 BackTab Enter G",
					{.steps = {.done = true, .verdict = true}}},
			{"steps-evidence-ascii", 24, 80, true, true, "5 BackTab Enter",
					{.steps = {.done = true,
							 .verdict = true,
							 .hostile = true}}},
			{"steps-verdict-80x24", 24, 80, false, false, "5",
					{.steps = {.mode = MODE_AUTOPILOT,
							 .done = true,
							 .verdict = true}}},
			{"steps-verdict-200x50", 50, 200, false, false, "5",
					{.steps = {.mode = MODE_AUTOPILOT,
							 .done = true,
							 .verdict = true}}},
			{"steps-verdict-40x10", 10, 40, false, false, "5 BackTab",
					{.steps = {.done = true, .verdict = true}}},
			{"steps-verdict-ascii", 24, 80, true, true, "5",
					{.steps = {.done = true, .verdict = true}}},
			{"steps-verdict-mono", 24, 80, false, true, "5",
					{.steps = {.done = true, .verdict = true}}},
			{"steps-verdict-many", 24, 80, false, false, "5",
					{.steps = {.done = true, .verdict = true, .many = true}}},
			{"groups-verdict-many", 24, 80, false, false, "",
					{.steps = {.done = true, .verdict = true, .many = true}}},
			{"steps-verdict-at-once", 24, 80, false, false, "5",
					{.steps = {.verdict = true, .at_once = true}}},
			{"steps-verdict-running", 24, 80, false, false, "5",
					{.steps = {.done = true,
							 .searching = true,
							 .explaining = true}}},
			{"steps-verdict-few", 24, 80, false, false, "5",
					{.steps = {.done = true, .searching = true, .few = true}}},
			{"group-verdict", 24, 80, false, false, "2",
					{.steps = {.done = true, .verdict = true}}},
			{"steps-hosts", 24, 80, false, false, "5 Tab Tab j",
					{.steps = {.waits = true, .no_control = true}}},
			{"steps-step", 24, 80, false, false, "5 j Enter",
					{.steps = {.done = true, .waits = true, .verdict = true}}},
			{"dialog-approve", 24, 80, false, false, "a",
					{.steps = {.mode = MODE_APPROVE, .waits = true}}},
			{"dialog-approve-200x50", 50, 200, false, false, "3 a",
					{.steps = {.mode = MODE_APPROVE, .waits = true}}},
			{"dialog-approve-ascii", 24, 80, true, true, "5 a Tab",
					{.steps = {.mode = MODE_APPROVE,
							 .waits = true,
							 .hostile = true}}},
			{"dialog-approve-40x10", 10, 40, false, false, "a",
					{.steps = {.mode = MODE_APPROVE, .waits = true}}},
			{"dialog-edit", 24, 80, false, false, "e j",
					{.steps = {.mode = MODE_APPROVE,
							 .waits = true,
							 .left = 2}}},
			{"dialog-edit-ascii", 24, 80, true, true, "5 e Tab",
					{.steps = {.mode = MODE_APPROVE,
							 .waits = true,
							 .left = 4,
							 .hostile = true}}},
			{"dialog-edit-40x10", 10, 40, false, false, "e j j",
					{.steps = {.mode = MODE_APPROVE, .waits = true}}},
			{"dialog-learn", 24, 80, false, false, "a PgDn j",
					{.steps = {.mode = MODE_APPROVE, .learn = true}}},
			{"dialog-mode", 24, 80, false, false, "m m", {.steps = {.waits = true}}},
			{"dialog-undo", 24, 80, false, false, "5 u",
					{.steps = {.mode = MODE_APPROVE, .done = true}}},
			{"dialog-quit", 24, 80, false, false, "q",
					{.steps = {.mode = MODE_APPROVE, .done = true}}},
			{"tree-next", 24, 80, false, false, "3 e 3",
					{.steps = {.mode = MODE_APPROVE, .waits = true}}},
			{"state-cpu-80x24", 24, 80, false, false, "6", {0}},
			{"state-cpu-200x50", 50, 200, false, false, "6 j", {0}},
			{"state-cpu-80x24-mono", 24, 80, false, true, "6", {.lossy = true}},
			{"state-cpu-80x24-ascii", 24, 80, true, true, "6 T j j h",
					{.state.hostile = true}},
			{"state-cpu-40x10", 10, 40, false, false, "6", {0}},
			{"state-tree", 24, 80, false, false, "6 T", {0}},
			{"state-sorted", 24, 80, false, false, "6 s s", {.state.trimmed = true}},
			{"state-paused", 24, 80, false, false, "6 , ,", {0}},
			{"state-none", 24, 80, false, false, "6", {.state.none = true}},
			{"state-io-80x24", 24, 80, false, false, "6 Tab", {0}},
			{"state-io-200x50", 50, 200, false, false, "6 Tab", {0}},
			{"state-perf-80x24", 24, 80, false, false, "6 Tab Tab s s s s",
					{.state.perf = true}},
			{"state-process-80x24", 24, 80, false, false, "6 j Enter", {0}},
			{"state-process-200x50", 50, 200, false, false, "6 j Enter", {0}},
			{"state-process-ascii", 24, 80, true, true, "6 j j Enter G", {0}},
			{"state-process-user", 24, 80, false, false, "6 G Enter", {0}},
			{"state-moment", 24, 80, false, false, "4 w o", {0}},
			{"state-events-80x24", 24, 80, false, false, "6 j Enter Enter", {0}},
			{"state-events-200x50", 50, 200, false, false, "6 j Enter Enter", {0}},
			{"state-calls-80x24", 24, 80, false, false, "6 Tab Tab Tab Tab", {0}},
			{"state-calls-200x50", 50, 200, false, false, "6 Tab Tab Tab Tab w", {0}},
			{"state-callers-80x24", 24, 80, false, false, "6 Tab Tab Tab Tab j Enter",
					{0}},
			{"state-irq-80x24", 24, 80, false, false, "6 Tab Tab Tab Tab Tab", {0}},
			{"state-disks-80x24", 24, 80, false, false, "6 BackTab BackTab BackTab",
					{0}},
			{"state-net-80x24", 24, 80, false, false, "6 BackTab BackTab", {0}},
			{"state-hosts-80x24", 24, 80, false, false, "6 BackTab", {0}},
			{"state-hosts-200x50", 50, 200, false, false, "6 BackTab", {0}},
			{"sources-80x24", 24, 80, false, false, "7", {.lossy = true}},
			{"sources-200x50", 50, 200, false, false, "7 j", {0}},
			{"sources-80x24-ascii", 24, 80, true, true, "7 w", {0}},
			{"sources-streams", 24, 80, false, false, "7 j Enter", {0}},
			{"help-80x24", 24, 80, false, false, "?", {0}},
			{"help-200x50", 50, 200, false, false, "4 F1", {0}},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(shots) / sizeof(shots[0]); i++) {
		take(&shots[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(screens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
