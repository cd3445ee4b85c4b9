/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles as files, budgets as text, the decision log, and what may become of a step. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "config/profile_file.h"
#include "loop.h"
#include "pythiatop/engine.h"
#include "pythia/state.h"
#include "pythia/space.h"
#include "pythia/steps.h"
#include "pythia/strategy.h"
#include "run/decisions.h"
#include "run/words.h"

static char path[64];

static int make_file(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/pt-test-loop.XXXXXX");
	fd = mkstemp(path);
	if (fd >= 0) {
		close(fd);
	}
	return fd < 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_text(const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

/* --- profiles --- */

static void profile_comes_back(void **state)
{
	const struct profile_node nodes[] = {
			{.parent = UINT32_MAX,
					.name = "create",
					.provider = "api",
					.entry = "api:create_entry",
					.exit = "api:create_exit",
					.count = 1,
					.total_ns = 12.5e6,
					.offset_ns = -1},
			{.parent = 0,
					.name = "odd \" \n name",
					.provider = "",
					.entry = "sched_switch",
					.exit = "",
					.kernel = true,
					.count = 2.25,
					.offset_ns = 7.5,
					.explained = 3},
	};
	const struct profile_norm norms[] = {
			{.path = "api›db", .count = 500, .p50_ns = 1e6, .cov = 0.4, .n_modes = 2}};
	const struct profile_type type = {.type = "create",
			.requests = 77,
			.n = 2,
			.nodes = nodes,
			.n_norms = 1,
			.norms = norms};
	const struct profile profile = {.n = 1, .types = &type};
	struct profile_file *file;
	const struct profile *back;
	char error[512] = "";
	FILE *out = fopen(path, "w");

	(void)state;
	assert_non_null(out);
	assert_int_equal(profile_file_write(out, &profile), STATUS_OK);
	fclose(out);
	file = profile_file_read(path, error, sizeof(error));
	assert_string_equal(error, "");
	assert_non_null(file);
	back = profile_file_profile(file);
	assert_int_equal(back->n, 1);
	assert_string_equal(back->types[0].type, "create");
	assert_int_equal(back->types[0].requests, 77);
	assert_int_equal(back->types[0].n, 2);
	assert_int_equal(back->types[0].nodes[0].parent, UINT32_MAX);
	assert_int_equal(back->types[0].nodes[1].parent, 0);
	assert_string_equal(back->types[0].nodes[1].name, nodes[1].name);
	assert_true(back->types[0].nodes[1].kernel);
	assert_true(back->types[0].nodes[1].count == 2.25);
	assert_int_equal(back->types[0].nodes[1].explained, 3);
	assert_true(back->types[0].nodes[0].offset_ns == -1);
	assert_true(back->types[0].nodes[1].offset_ns == 7.5);
	assert_int_equal(back->types[0].n_norms, 1);
	assert_string_equal(back->types[0].norms[0].path, "api›db");
	assert_true(back->types[0].norms[0].cov == 0.4);
	profile_file_destroy(file);
}

static void wrong_profiles_are_told(void **state)
{
#define HEAD "{\"format\":\"pythiatop-profile\",\"version\":1,\"types\":"
#define NODE(parent, count)                                                                        \
	"{\"parent\":" parent ",\"name\":\"a\",\"provider\":\"p\",\"entry\":\"e\",\"exit\":\"\","  \
	"\"kernel\":false,\"count\":" count ",\"total_ns\":1.0,\"explained\":0}"
#define TYPE(nodes) "[{\"type\":\"t\",\"requests\":1,\"nodes\":[" nodes "],\"norms\":[]}]}"
	static const struct {
		const char *text, *says;
	} cases[] = {
			{"", "line 1"},
			{"[]", "another kind of file"},
			{"{\"format\":\"pythiatop-baseline\",\"version\":1}",
					"another kind of file"},
			{"{\"format\":\"pythiatop-profile\",\"version\":99}", "another version"},
			{HEAD "{}}", "array"},
			{HEAD "[{}]}", "type 0"},
			{HEAD TYPE(NODE("0", "1.0")), "node 0: parent"},
			{HEAD TYPE(NODE("-2", "1.0")), "node 0: parent"},
			{HEAD TYPE(NODE("-1", "-1.0")), "negative"},
			{HEAD TYPE(NODE("-1", "\"x\"")), "node 0"},
	};
	char error[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		error[0] = '\0';
		write_text(cases[i].text);
		assert_null(profile_file_read(path, error, sizeof(error)));
		assert_non_null(strstr(error, path));
		if (!strstr(error, cases[i].says)) {
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, error, cases[i].says);
		}
	}
	assert_null(profile_file_read("/", error, sizeof(error)));
	assert_non_null(strstr(error, "--save-profile=FILE /"));
}

/* --- budgets --- */

static void budgets_are_read(void **state)
{
	struct step_budget budget = STEP_USUAL_BUDGET;

	(void)state;
	assert_true(words_budget(&budget, "2k"));
	assert_true(budget.events_per_s == 2000);
	assert_true(words_budget(&budget, "1%"));
	assert_true(budget.cpu_share == 0.01);
	assert_true(words_budget(&budget, "bytes 1M"));
	assert_true(budget.bytes_per_s == 1e6);
	assert_true(words_budget(&budget, "points 5"));
	assert_int_equal(budget.points, 5);
	assert_false(words_budget(&budget, "points 0"));
	assert_false(words_budget(&budget, ""));
	assert_false(words_budget(&budget, "-1"));
	assert_false(words_budget(&budget, "nan"));
	assert_false(words_budget(&budget, "much"));
	assert_false(words_budget(&budget, "5kk"));
	assert_false(words_budget(&budget, "hours 5"));
}

/* --- the decision log --- */

#define PUT(log, what, ...)                                                                        \
	decisions_put((log), &(struct engine_input){.kind = (what), __VA_ARGS__})

static void decisions_are_lines_of_json(void **state)
{
	const char *const fields[] = {"size"};
	const struct step_offer offer = {
			.host = "a\nb", .name = "p:\"x\"", .n_fields = 1, .fields = fields};
	const struct step_event event = {.host = "h", .name = "p:x", .enable = true};
	const struct step_order order = {.step = 7, .n = 1, .events = &event};
	const struct step_outcome outcome = {.step = 7, .ok = false, .error = "no\tway"};
	char error[256], line[4096];
	struct decisions *log;
	uint32_t n = 0, edits = 0;
	FILE *in;

	(void)state;
	write_text("");
	log = decisions_open(path, error, sizeof(error));
	assert_non_null(log);
	decisions_at(log, 123456789);
	PUT(log, INPUT_MODE, .mode = MODE_AUTOPILOT);
	PUT(log, INPUT_OFFER, .offer = {"a\nb", 1, &offer});
	PUT(log, INPUT_ORDER, .order = order);
	PUT(log, INPUT_OUTCOME, .outcome = outcome);
	PUT(log, INPUT_EDIT, .edit = {7, 2, false});
	PUT(log, INPUT_UNDO_ALL, .text = NULL);
	assert_false(decisions_trouble(log, error, sizeof(error)));
	decisions_close(log);
	in = fopen(path, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		json_error_t wrong;
		json_t *json = json_loads(line, 0, &wrong);

		assert_non_null(json);
		assert_int_equal(json_integer_value(json_object_get(json, "event_ns")),
				n ? 123456789 : 0);
		assert_true(json_is_string(json_object_get(json, "do")));
		if (strcmp(json_string_value(json_object_get(json, "do")), "edit") == 0) {
			assert_int_equal(json_integer_value(json_object_get(json, "step")), 7);
			assert_int_equal(json_integer_value(json_object_get(json, "part")), 2);
			assert_true(json_is_false(json_object_get(json, "keep")));
			edits++;
		}
		json_decref(json);
		n++;
	}
	fclose(in);
	assert_int_equal(n, 8); /* with begin and end */
	assert_int_equal(edits, 1);
	assert_null(decisions_open("/nowhere/at/all", error, sizeof(error)));
	assert_non_null(strstr(error, "/nowhere/at/all"));
}

static void file_may_grow_to(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static uint32_t lines_there(void)
{
	char line[4096];
	uint32_t n = 0;
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		json_t *json = json_loads(line, 0, NULL);

		assert_non_null(json); /* no line is torn, or joined with another */
		json_decref(json);
		n++;
	}
	fclose(in);
	return n;
}

/* While the file takes no more, lines wait; once it does, they are there in their order. */
static void decisions_wait_for_a_full_disk(void **state)
{
	struct decisions *log;
	char error[512];

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	write_text("");
	log = decisions_open(path, error, sizeof(error));
	assert_non_null(log);
	file_may_grow_to(150); /* in the middle of a line */
	for (uint32_t i = 0; i < 3; i++) {
		PUT(log, INPUT_UNDO_ALL, .text = NULL);
	}
	assert_true(decisions_trouble(log, error, sizeof(error)));
	assert_non_null(strstr(error, path));
	assert_non_null(strstr(error, "its last 3 lines: File too large; they are written once"));
	file_may_grow_to(RLIM_INFINITY);
	PUT(log, INPUT_EPOCH, .text = NULL);
	assert_false(decisions_trouble(log, error, sizeof(error)));
	assert_int_equal(lines_there(), 5);
	file_may_grow_to(600);
	for (uint32_t i = 0; i < 100000; i++) {
		PUT(log, INPUT_EPOCH, .text = NULL);
	}
	decisions_end(log);
	assert_true(decisions_trouble(log, error, sizeof(error)));
	assert_non_null(strstr(error, "lines: File too large; they are lost, and a replay ends"));
	file_may_grow_to(RLIM_INFINITY);
	decisions_close(log);
}

/* --- steps --- */

struct bench {
	struct names *names;
	struct points points;
	struct steps steps;
	struct step_part part;
};

static void bench_init(struct bench *bench)
{
	*bench = (struct bench){.names = names_create(1000)};
	points_init(&bench->points, bench->names);
	bench->part = (struct step_part){
			.point = points_add(&bench->points, names_add(bench->names, "p", 1),
					names_add(bench->names, "x", 1), false),
			.hosts = points_host(&bench->points, "h"),
			.enable = true};
	points_set_event(&bench->points, 0, names_add(bench->names, "p:x_entry", 9), false);
	points_set_event(&bench->points, 0, names_add(bench->names, "p:x_exit", 8), true);
}

static void bench_release(struct bench *bench)
{
	steps_release(&bench->steps);
	points_release(&bench->points);
	names_destroy(bench->names);
}

static struct step_outcome told(uint32_t step, bool undo, bool ok)
{
	return (struct step_outcome){.step = step, .undo = undo, .ok = ok, .error = ok ? "" : "no"};
}

static void a_step_goes_its_way(void **state)
{
	struct bench bench;
	const struct step_order *order;
	struct step_outcome outcome;
	struct step *step;
	char error[128];

	(void)state;
	bench_init(&bench);
	step = steps_add(&bench.steps, STEP_ENABLE, &bench.part, 1, "+1", "why", 1);
	assert_null(steps_next_order(&bench.steps, &bench.points));
	assert_int_equal(step_decide(step, STEP_APPROVE, STEP_BY_PERSON, 2, error, sizeof(error)),
			STATUS_OK);
	assert_int_equal(step_decide(step, STEP_APPROVE, STEP_BY_PERSON, 2, error, sizeof(error)),
			STATUS_INVALID);
	order = steps_next_order(&bench.steps, &bench.points);
	assert_non_null(order);
	assert_int_equal(order->n, 2);
	assert_true(order->events[0].enable);
	assert_string_equal(order->events[0].name, "p:x_entry");
	assert_null(steps_next_order(&bench.steps, &bench.points));
	outcome = told(1, false, true);
	assert_non_null(steps_order_done(&bench.steps, &bench.points, &outcome, 3));
	assert_int_equal(step->state, STEP_WATCHED);
	assert_true(bench.points.items[0].ours);
	/* Undone while it is watched: at once. */
	step_undo(step, STEP_BY_PERSON, 4);
	order = steps_next_order(&bench.steps, &bench.points);
	assert_true(order && order->undo && !order->events[0].enable);
	outcome = told(1, true, true);
	assert_non_null(steps_order_done(&bench.steps, &bench.points, &outcome, 5));
	assert_int_equal(step->state, STEP_UNDONE);
	assert_false(bench.points.items[0].ours);
	/* What nobody ordered is not done. */
	assert_null(steps_order_done(&bench.steps, &bench.points, &outcome, 6));
	bench_release(&bench);
}

/* What a host could not do is taken back on the others, and the step has failed. */
static void a_failure_is_undone(void **state)
{
	struct step_outcome outcome = told(1, false, false);
	const struct step_order *order;
	struct bench bench;
	struct step *step;
	char error[128];

	(void)state;
	bench_init(&bench);
	step = steps_add(&bench.steps, STEP_ENABLE, &bench.part, 1, "+1", "why", 1);
	step_decide(step, STEP_APPROVE, STEP_BY_AUTOPILOT, 2, error, sizeof(error));
	steps_next_order(&bench.steps, &bench.points);
	steps_order_done(&bench.steps, &bench.points, &outcome, 3);
	order = steps_next_order(&bench.steps, &bench.points);
	assert_true(order && order->undo);
	outcome = told(1, true, true);
	steps_order_done(&bench.steps, &bench.points, &outcome, 4);
	assert_int_equal(step->state, STEP_FAILED);
	assert_non_null(strstr(step->effect, "no"));
	assert_false(bench.points.items[0].ours);
	bench_release(&bench);
}

/* --- editing --- */

/* A step of three points x, y, z on one host that waits, of mode approve. */
struct editing {
	struct names *names;
	struct pythia *pythia;
	uint32_t points[3];
	struct step_part parts[3];
};

static void editing_init(struct editing *editing, enum step_kind kind)
{
	static const char *const spans[] = {"x", "y", "z"};
	static const char *const events[] = {"p:x", "p:y", "p:z"};
	struct pythia *pythia;

	editing->names = names_create(1000);
	pythia = editing->pythia = pythia_create(editing->names);
	assert_non_null(pythia);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t at = points_add(&pythia->points, pythia_intern(pythia, "p"),
				pythia_intern(pythia, spans[i]), false);

		points_set_event(&pythia->points, at, pythia_intern(pythia, events[i]), false);
		editing->points[i] = at;
		editing->parts[i] = (struct step_part){.point = at,
				.hosts = points_host(&pythia->points, "h"),
				.enable = kind != STEP_DISABLE};
	}
	pythia->planning.rates = calloc(3, sizeof(*pythia->planning.rates));
	assert_non_null(pythia->planning.rates);
	pythia->planning.rates_room = 3;
	for (uint32_t i = 0; i < 3; i++) {
		pythia->planning.rates[editing->points[i]] = 10.0 * (i + 1);
	}
	pythia_set_mode(pythia, MODE_APPROVE, 1);
	assert_non_null(pythia_add_step(pythia, kind, editing->parts, 3, 0, "+3 inside f", "why"));
}

static void editing_release(struct editing *editing)
{
	pythia_destroy(editing->pythia);
	names_destroy(editing->names);
}

static enum status edit(struct editing *editing, uint32_t part, bool keep, char *error, size_t size)
{
	error[0] = '\0';
	return pythia_edit(editing->pythia, 1, part, keep, error, size);
}

/* What a screen is told of the step whose second point is left out. */
static void expect_second_left_out(struct pythia *pythia)
{
	struct snapshot *snapshot = snapshot_create();
	const struct step_row *row;

	assert_non_null(snapshot);
	assert_int_equal(pythia_fill(pythia, snapshot), STATUS_OK);
	assert_int_equal(snapshot->steps.n, 1);
	row = &snapshot->steps.rows[0];
	assert_int_equal(row->n_points, 2);
	assert_int_equal(row->n_events, 2);
	assert_int_equal(row->n_parts, 3);
	assert_string_equal(row->parts[1].name, "p:y");
	assert_string_equal(row->parts[1].hosts, "h");
	assert_int_equal(row->parts[1].n_events, 1);
	assert_true(row->parts[0].kept && !row->parts[1].kept && row->parts[2].kept);
	snapshot_destroy(snapshot);
}

static void points_are_left_out(void **state)
{
	struct editing editing;
	struct pythia *pythia;
	const struct step_order *order;
	struct step_outcome outcome = {.step = 1, .ok = true, .error = ""};
	const struct step *step;
	const struct point *y;
	char error[256];

	(void)state;
	editing_init(&editing, STEP_ENABLE);
	pythia = editing.pythia;
	step = steps_find(&pythia->steps, 1);
	y = &pythia->points.items[editing.points[1]];
	assert_true(step->predicted.events_per_s == 60);
	assert_int_equal(edit(&editing, 2, false, error, sizeof(error)), STATUS_OK);
	assert_true(step->predicted.events_per_s == 40);
	assert_string_equal(step->title, "+3 inside f (2 of 3 points)");
	expect_second_left_out(pythia);
	assert_int_equal(edit(&editing, 2, false, error, sizeof(error)), STATUS_OK); /* again */
	assert_int_equal(edit(&editing, 1, false, error, sizeof(error)), STATUS_OK);
	assert_int_equal(edit(&editing, 3, false, error, sizeof(error)), STATUS_INVALID);
	assert_non_null(strstr(error, "one point must stay"));
	assert_int_equal(edit(&editing, 1, true, error, sizeof(error)), STATUS_OK);
	assert_int_equal(edit(&editing, 2, true, error, sizeof(error)), STATUS_OK);
	assert_string_equal(step->title, "+3 inside f");
	assert_true(step->predicted.events_per_s == 60);
	assert_int_equal(edit(&editing, 0, false, error, sizeof(error)), STATUS_INVALID);
	assert_int_equal(edit(&editing, 4, false, error, sizeof(error)), STATUS_INVALID);
	assert_non_null(strstr(error, "1 to 3"));
	assert_int_equal(pythia_edit(pythia, 7, 1, false, error, sizeof(error)), STATUS_NOT_FOUND);
	assert_int_equal(edit(&editing, 2, false, error, sizeof(error)), STATUS_OK);
	assert_int_equal(y->excluded, 0); /* it may be taken back */
	assert_int_equal(pythia_decide(pythia, 1, STEP_APPROVE, STEP_BY_PERSON, 2, error,
					 sizeof(error)),
			STATUS_OK);
	assert_true(y->excluded > pythia->epoch);
	assert_int_equal(pythia->points.items[editing.points[0]].excluded, 0);
	assert_int_equal(edit(&editing, 1, false, error, sizeof(error)), STATUS_INVALID);
	order = pythia_next_order(pythia);
	assert_true(order && order->n == 2);
	assert_string_equal(order->events[0].name, "p:x");
	assert_string_equal(order->events[1].name, "p:z");
	assert_true(pythia_order_done(pythia, &outcome, 3));
	assert_true(pythia->points.items[editing.points[0]].ours);
	assert_false(y->ours || y->ever);
	/* Somebody else's rule of it is not undone along with ours. */
	pythia->points.items[editing.points[1]].recorded = editing.parts[1].hosts;
	pythia_undo_all(pythia, STEP_BY_PERSON, 4);
	order = pythia_next_order(pythia);
	assert_true(order && order->undo && order->n == 2);
	outcome.undo = true;
	assert_true(pythia_order_done(pythia, &outcome, 5));
	assert_true(y->recorded);
	editing_release(&editing);
}

/* What a person would not have disabled is not uninformative from then on. */
static void what_stays_on_is_wanted(void **state)
{
	struct step_outcome outcome = {.step = 1, .ok = true, .error = ""};
	struct editing editing;
	struct pythia *pythia;
	char error[256];

	(void)state;
	editing_init(&editing, STEP_DISABLE);
	pythia = editing.pythia;
	for (uint32_t i = 0; i < 3; i++) {
		pythia->points.items[editing.points[i]].ours = editing.parts[i].hosts;
	}
	assert_int_equal(edit(&editing, 3, false, error, sizeof(error)), STATUS_OK);
	pythia_set_mode(pythia, MODE_AUTOPILOT, 2); /* decides too */
	assert_non_null(pythia_next_order(pythia));
	assert_true(pythia_order_done(pythia, &outcome, 3));
	assert_false(pythia->points.items[editing.points[0]].ours);
	assert_true(pythia->points.items[editing.points[2]].ours);
	assert_false(pythia_propose_disabling(pythia, true, 0, "nothing is searched"));
	editing_release(&editing);
}

/* A host learns from all of a provider, or not at all. */
static void learning_has_no_choice(void **state)
{
	struct editing editing;
	char error[256];

	(void)state;
	editing_init(&editing, STEP_LEARN);
	assert_int_equal(edit(&editing, 1, false, error, sizeof(error)), STATUS_INVALID);
	assert_non_null(strstr(error, "all points at once"));
	editing_release(&editing);
}

/* --- the space --- */

/* Code that calls itself, seen while others were off: no place may come to lie in itself. */
static void recursion_makes_no_circle(void **state)
{
	const struct tree_row rows[] = {
			{.parent = UINT32_MAX, .name = "f", .provider = "p", .n_below = 2},
			{.parent = 0, .depth = 1, .name = "g", .provider = "p", .n_below = 1},
			{.parent = 1, .depth = 2, .name = "f", .provider = "p"},
	};
	const struct tree_view tree = {.requests = 100, .n = 3, .rows = rows};
	struct bench bench;
	struct space space;
	uint32_t nodes[3], n = 0;

	(void)state;
	bench_init(&bench);
	space_init(&space);
	for (uint32_t i = 0; i < 3; i++) {
		space_observe(&space, &bench.points, 1, &tree, NULL, false, nodes);
	}
	for (uint32_t at = 0; at != SPACE_NONE && n < 100; n++) {
		at = space_next(&space, 0, at, false);
	}
	assert_int_equal(n, 4); /* the root, three places */
	space_release(&space);
	bench_release(&bench);
}

/*
 * A server's request and the work of its threads have one name, and of the latter there are more:
 * what was learned inside the work is found where the work is seen alone.
 */
static void the_outer_one_of_a_name_is_meant(void **state)
{
	const struct tree_row whole[] = {
			{.parent = UINT32_MAX,
					.name = "f",
					.provider = "",
					.count = 100,
					.n_below = 2},
			{.parent = 0,
					.depth = 1,
					.name = "f",
					.provider = "",
					.count = 120,
					.n_below = 1,
					.segment_sd_ns = 70},
			{.parent = 1,
					.depth = 2,
					.name = "call",
					.provider = "f",
					.count = 100,
					.segment_sd_ns = 900},
	};
	const struct tree_view learned = {.requests = 100, .n = 3, .rows = whole};
	const struct tree_view seen = {.requests = 100, .n = 2, .rows = whole};
	struct bench bench;
	struct space space;
	uint32_t before[3], after[3];

	(void)state;
	bench_init(&bench);
	space_init(&space);
	space_observe(&space, &bench.points, 1, &learned, NULL, true, before);
	space_observe(&space, &bench.points, 1, &seen, NULL, false, after);
	assert_int_equal(after[0], before[0]);
	assert_int_equal(after[1], before[1]);
	space_look_up(&space, &bench.points, 1, &learned, after);
	assert_memory_equal(after, before, sizeof(before));
	/* How much varied is of when all was on. */
	assert_true(space.nodes[before[1]].sd_ns == 70 && space.nodes[before[2]].sd_ns == 900);
	space_release(&space);
	bench_release(&bench);
}

/* --- strategies --- */

/* Two children of an edge: one takes nine tenths of its time. */
static void strategies_choose(void **state)
{
	struct candidate candidates[] = {
			{.node = 1,
					.above = CANDIDATE_NONE,
					.depth = 1,
					.share = 0.9,
					.events_per_s = 100},
			{.node = 2,
					.point = 1,
					.above = CANDIDATE_NONE,
					.depth = 1,
					.share = 0.05,
					.begin_ns = 90,
					.events_per_s = 100},
			{.node = 3,
					.point = 2,
					.above = 0,
					.depth = 2,
					.share = 0.5,
					.events_per_s = 5000,
					.explained = 1},
	};
	struct place places[3];
	double ranks[3], parts[7];
	uint32_t chosen[3], n;
	struct choice choice = {.candidates = candidates,
			.n = 3,
			.max = 1,
			.events_left = -1,
			.first = candidates_order(candidates, 3),
			.chosen = chosen,
			.ranks = ranks,
			.places = places,
			.parts = parts};

	(void)state;
	assert_int_equal(choice.first, 0);
	assert_int_equal(candidates[0].first, 2);
	assert_int_equal(candidates[0].next, 1);
	assert_true(candidates[0].position == 0.45 && candidates[2].position == 0.25);
	assert_int_equal(strategy_find("hierarchical")->choose(&choice), 1);
	assert_int_equal(chosen[0], 0);
	assert_int_equal(strategy_find("flat")->choose(&choice), 1);
	assert_int_equal(chosen[0], 0); /* nearest to the middle */
	assert_int_equal(strategy_find("historic")->choose(&choice), 1);
	assert_int_equal(chosen[0], 2);
	assert_int_equal(strategy_find("all")->choose(&choice), 3);
	assert_int_equal(strategy_find("cross-layer")->choose(&choice), 0);
	choice.max = 3;
	choice.events_left = 200; /* the deepest does not fit */
	n = strategy_find("hybrid")->choose(&choice);
	assert_int_equal(n, 2);
	choice.events_left = 0;
	assert_int_equal(strategy_find("hybrid")->choose(&choice), 0);
	assert_null(strategy_find("guess"));
}

/* Where the order of things is known, points that take no time are split in the middle. */
static void order_is_bisected(void **state)
{
	struct candidate candidates[7];
	struct place places[7];
	uint32_t chosen[7];
	double parts[15];
	struct choice choice = {.candidates = candidates,
			.n = 7,
			.max = 1,
			.events_left = -1,
			.chosen = chosen,
			.places = places,
			.parts = parts};

	(void)state;
	for (uint32_t i = 0; i < 7; i++) {
		candidates[i] = (struct candidate){.node = i,
				.point = i,
				.above = CANDIDATE_NONE,
				.depth = 1,
				.begin_ns = 100 - i,
				.events_per_s = 10};
	}
	choice.first = candidates_order(candidates, 7);
	assert_int_equal(choice.first, 6);
	assert_int_equal(strategy_find("hybrid")->choose(&choice), 1);
	assert_int_equal(chosen[0], 3);
	choice.max = 3;
	assert_int_equal(strategy_find("hybrid")->choose(&choice), 3);
	assert_int_equal(chosen[0] + chosen[1] + chosen[2], 3 + 1 + 5);
	candidates[0].share = 0.9; /* the middle moves towards what takes longest */
	choice.max = 1;
	assert_int_equal(strategy_find("hybrid")->choose(&choice), 1);
	assert_true(chosen[0] < 3);
}

/* --- what a step touches, and proposals that nobody decides on --- */

static void only_types_that_hold_a_point_are_touched(void **state)
{
	const struct profile_node x[] = {{.parent = UINT32_MAX,
			.name = "x",
			.provider = "p",
			.entry = "p:x_entry",
			.exit = "p:x_exit",
			.count = 1}},
				  y[] = {{.parent = UINT32_MAX,
						  .name = "y",
						  .provider = "p",
						  .entry = "p:y_entry",
						  .exit = "p:y_exit",
						  .count = 1}};
	const struct profile_type types[] = {{.type = "a", .requests = 100, .n = 1, .nodes = x},
			{.type = "b", .requests = 100, .n = 1, .nodes = y}};
	const struct pythia_offer offers[] = {
			{.event = "p:x_entry", .role = OFFER_ENTRY, .provider = "p", .span = "x"},
			{.event = "p:x_exit", .role = OFFER_EXIT, .provider = "p", .span = "x"},
			{.event = "p:z_entry", .role = OFFER_ENTRY, .provider = "p", .span = "z"}};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);
	struct step_outcome outcome;
	const struct step_order *order;
	char error[128];

	(void)state;
	assert_int_equal(
			pythia_learn(pythia, &(struct profile){.n = 2, .types = types}), STATUS_OK);
	assert_int_equal(pythia_offer(pythia, "h", offers, 3), STATUS_OK);
	assert_int_equal(pythia_offer(pythia, "other", offers, 0), STATUS_OK);
	pythia_set_mode(pythia, MODE_APPROVE, 1);
	for (uint32_t step = 1; step <= 2; step++) {
		assert_int_equal(pythia_propose(pythia, "p", step == 1 ? "x" : "z", true, step,
						 error, sizeof(error)),
				STATUS_OK);
		assert_int_equal(pythia_decide(pythia, step, STEP_APPROVE, STEP_BY_PERSON, step,
						 error, sizeof(error)),
				STATUS_OK);
		order = pythia_next_order(pythia);
		assert_non_null(order);
		outcome = told(step, false, true);
		assert_true(pythia_order_done(pythia, &outcome, step));
		assert_true(pythia_touches_host(pythia, "h"));
		assert_false(pythia_touches_host(pythia, "other"));
		assert_true(pythia_touches_type(pythia, pythia_intern(pythia, "a")));
		/* Where z stands nobody knows, nor what requests of c are. */
		assert_int_equal(
				pythia_touches_type(pythia, pythia_intern(pythia, "b")), step == 2);
		assert_true(pythia_touches_type(pythia, pythia_intern(pythia, "c")));
		pythia_watch_over(pythia, &(struct step_watch){.step = step}, NULL, step);
	}
	pythia_destroy(pythia);
	names_destroy(names);
}

/* With a step 1 that was thought to cost nothing, and was watched to its end: pythia_destroy(). */
static struct pythia *with_watched_step(
		struct names *names, double events_per_s, double bytes_per_s, double budget)
{
	const struct profile_node nodes[] = {{.parent = UINT32_MAX,
			.name = "x",
			.provider = "p",
			.entry = "p:x_entry",
			.exit = "p:x_exit",
			.count = 1}};
	const struct profile_type types[] = {
			{.type = "a", .requests = 100, .n = 1, .nodes = nodes}};
	const struct pythia_offer offers[] = {
			{.event = "p:x_entry", .role = OFFER_ENTRY, .provider = "p", .span = "x"},
			{.event = "p:x_exit", .role = OFFER_EXIT, .provider = "p", .span = "x"}};
	struct step_budget bounds = STEP_USUAL_BUDGET;
	struct pythia *pythia = pythia_create(names);
	struct step_outcome outcome;
	char error[128];

	bounds.events_per_s = budget;
	pythia_set_budget(pythia, &bounds);
	assert_int_equal(
			pythia_learn(pythia, &(struct profile){.n = 1, .types = types}), STATUS_OK);
	assert_int_equal(pythia_offer(pythia, "h", offers, 2), STATUS_OK);
	pythia_set_mode(pythia, MODE_APPROVE, 1);
	assert_int_equal(
			pythia_propose(pythia, "p", "x", true, 1, error, sizeof(error)), STATUS_OK);
	assert_int_equal(pythia_decide(pythia, 1, STEP_APPROVE, STEP_BY_PERSON, 1, error,
					 sizeof(error)),
			STATUS_OK);
	assert_non_null(pythia_next_order(pythia));
	steps_find(&pythia->steps, 1)->predicted = (struct step_cost){0, 0, 0};
	outcome = told(1, false, true);
	assert_true(pythia_order_done(pythia, &outcome, 1));
	pythia_watch_over(pythia,
			&(struct step_watch){.step = 1,
					.actual = {.events_per_s = events_per_s,
							.bytes_per_s = bytes_per_s}},
			NULL, 1);
	return pythia;
}

/* How such a step ends, by what it does cost. */
static enum step_state watched(double events_per_s, double bytes_per_s, double budget)
{
	struct names *names = names_create(1000);
	struct pythia *pythia = with_watched_step(names, events_per_s, bytes_per_s, budget);
	enum step_state ended = steps_find(&pythia->steps, 1)->state;

	pythia_destroy(pythia);
	names_destroy(names);
	return ended;
}

static void a_slight_cost_is_no_surprise(void **state)
{
	(void)state;
	assert_int_equal(watched(0, 0, 5000), STEP_KEPT);
	assert_int_equal(watched(999, 6000, 5000), STEP_KEPT);
	assert_int_not_equal(watched(1001, 6000, 5000), STEP_KEPT);
	assert_int_equal(watched(99, 600, 500), STEP_KEPT);
	assert_int_not_equal(watched(101, 600, 500), STEP_KEPT);
	assert_int_not_equal(watched(10, 101000, 5000), STEP_KEPT);
	/* Without a bound, by the usual one. */
	assert_int_equal(watched(999, 6000, 0), STEP_KEPT);
	assert_int_not_equal(watched(1001, 6000, 0), STEP_KEPT);
}

/* Two points of one request a type: of the second there are calls outside of requests, too. */
static void calls_outside_of_requests_cost(void **state)
{
	const struct profile_node nodes[] = {{.parent = UINT32_MAX,
							     .name = "x",
							     .provider = "p",
							     .entry = "p:x_entry",
							     .exit = "p:x_exit",
							     .count = 1},
			{.parent = 0,
					.name = "y",
					.provider = "p",
					.entry = "p:y_entry",
					.exit = "p:y_exit",
					.count = 1}};
	const struct profile_type types[] = {
			{.type = "a", .requests = 100, .n = 2, .nodes = nodes}};
	const struct groups_row row = {.type = "a", .path = "", .rate_per_s = 50};
	const struct groups_view groups = {.rows = &row, .n = 1};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);
	uint32_t x, y;

	(void)state;
	assert_int_equal(
			pythia_learn(pythia, &(struct profile){.n = 1, .types = types}), STATUS_OK);
	x = points_of_event(&pythia->points, pythia_intern(pythia, "p:x_entry"));
	y = points_of_event(&pythia->points, pythia_intern(pythia, "p:y_entry"));
	cost_refresh(pythia, &groups);
	assert_true(cost_of_point(pythia, x) == 100 && cost_of_point(pythia, y) == 100);
	/* Seen for three seconds, and not the whole of the last. */
	for (uint64_t second = 1; second <= 3; second++) {
		double rate = second < 3 ? 9000 : 100;

		pythia->now_ns = second * NS_PER_S;
		pythia_recorded(pythia, "p:x_entry", (const char *[]){"h"}, 1, 40, 30);
		pythia_recorded(pythia, "p:y_entry", (const char *[]){"h"}, 1, 40, rate);
		pythia_recorded(pythia, "p:y_exit", (const char *[]){"h"}, 1, 40, rate);
	}
	cost_refresh(pythia, &groups);
	assert_true(cost_of_point(pythia, x) == 100);
	assert_true(fabs(cost_of_point(pythia, y) - 0.9 * 18000) < 1);
	/* A burst fades while it goes on being recorded. */
	for (uint64_t second = 4; second <= 20; second++) {
		pythia->now_ns = second * NS_PER_S;
		pythia_recorded(pythia, "p:y_entry", (const char *[]){"h"}, 1, 40, 700);
	}
	cost_refresh(pythia, &groups);
	assert_true(cost_of_point(pythia, y) > 1400 && cost_of_point(pythia, y) < 3000);
	/* Recorded anew, there are fewer; and what was long ago is not how it is. */
	pythia->now_ns = 60 * NS_PER_S;
	pythia_recorded(pythia, "p:y_entry", (const char *[]){"h"}, 1, 40, 700);
	cost_refresh(pythia, &groups);
	assert_true(cost_of_point(pythia, y) == 1400);
	pythia->now_ns = 400 * NS_PER_S;
	cost_refresh(pythia, &groups);
	assert_true(cost_of_point(pythia, y) == 100);
	pythia_destroy(pythia);
	names_destroy(names);
}

/* A step more that was kept, and brought so much. */
static uint32_t keep_step(struct pythia *pythia, double events_per_s)
{
	const struct step_part part = steps_find(&pythia->steps, 1)->parts[0];
	struct step *step = steps_add(&pythia->steps, STEP_ENABLE, &part, 1, "more", "", 1);

	step->state = STEP_KEPT;
	step->actual.events_per_s = events_per_s;
	return step->id;
}

/* The newest steps go, as many as it takes. */
static void a_load_that_grew_takes_steps_back(void **state)
{
	const struct step_watch grown = {.step = 0, .actual = {.events_per_s = 5900}};
	struct names *names = names_create(1000);
	struct pythia *pythia = with_watched_step(names, 100, 6000, 5000);
	uint32_t second = keep_step(pythia, 600), third = keep_step(pythia, 400);

	(void)state;
	pythia_watch_over(pythia, &grown, NULL, 2);
	assert_int_equal(steps_find(&pythia->steps, third)->state, STEP_UNDOING);
	assert_int_equal(steps_find(&pythia->steps, second)->state, STEP_UNDOING);
	assert_int_equal(steps_find(&pythia->steps, 1)->state, STEP_KEPT);
	pythia_destroy(pythia);
	names_destroy(names);
}

/* The newest step that was kept goes. */
static void a_load_that_grew_takes_a_step_back(void **state)
{
	const struct step_watch grown = {.step = 0, .actual = {.events_per_s = 5200}};
	struct names *names = names_create(1000);
	struct pythia *pythia = with_watched_step(names, 100, 6000, 5000);
	struct step *step = steps_find(&pythia->steps, 1);
	struct step_outcome outcome = told(1, true, true);

	(void)state;
	assert_int_equal(step->state, STEP_KEPT);
	pythia_watch_over(pythia, &grown, NULL, 2);
	assert_int_equal(step->state, STEP_UNDOING);
	assert_int_equal(step->undone_by, STEP_BY_WATCH);
	assert_string_equal(step->effect, "undone by itself: the load has grown: 5200 events/s of "
					  "all steps, the budget is 5000");
	pythia_watch_over(pythia, &grown, NULL, 3);
	assert_int_equal(step->state, STEP_UNDOING);
	assert_non_null(pythia_next_order(pythia));
	assert_true(pythia_order_done(pythia, &outcome, 4));
	pythia_watch_over(pythia, &grown, NULL, 5);
	assert_int_equal(step->state, STEP_UNDONE);
	pythia_destroy(pythia);
	names_destroy(names);
}

static uint32_t proposed(struct pythia *pythia)
{
	const struct step *step = steps_proposed(&pythia->steps);

	return step ? step->kind + 1u : 0;
}

/* To learn is proposed first, and withdrawn after a minute; again once the mode is another. */
static void learning_holds_nothing_up(void **state)
{
	const struct pythia_offer offers[] = {{.event = "p:r_entry",
							      .skeleton = true,
							      .role = OFFER_ENTRY,
							      .provider = "p",
							      .span = "r"},
			{.event = "p:x_entry", .role = OFFER_ENTRY, .provider = "p", .span = "x"},
			{.event = "p:x_exit", .role = OFFER_EXIT, .provider = "p", .span = "x"}};
	const struct groups_row row = {.id = 1, .type = "a", .path = "p", .count = 200};
	const struct groups_view groups = {.n = 1, .rows = &row};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);

	(void)state;
	assert_int_equal(pythia_offer(pythia, "h", offers, 3), STATUS_OK);
	for (uint64_t second = 1; second <= 400; second++) {
		pythia_recorded(pythia, "p:r_entry", (const char *[]){"h"}, 1, 40, 0);
		pythia_round(pythia, &(struct pythia_round){.now_ns = second * NS_PER_S,
						     .groups = &groups,
						     .recent = &groups,
						     .unrecorded = second > 300 ? 0.6 : 0});
		if (second == 30) {
			assert_int_equal(proposed(pythia), STEP_LEARN + 1);
			assert_int_equal(pythia->steps.items[0].learn_s, STEP_LEARN_S);
		}
		if (second == 100) {
			assert_int_equal(proposed(pythia), 0);
			assert_int_equal(pythia->steps.items[0].state, STEP_REJECTED);
		}
		if (second == 300) {
			assert_int_equal(proposed(pythia), 0);
			pythia_set_mode(pythia, MODE_APPROVE, second * NS_PER_S);
		}
		if (second == 302) {
			const struct step *step = &pythia->steps.items[pythia->steps.n - 1];

			assert_int_equal(proposed(pythia), STEP_LEARN + 1);
			/* Recorded for 0.4 of the time. */
			assert_int_equal(step->learn_s, 25);
			assert_non_null(strstr(step->title, "for 25 s"));
		}
	}
	pythia_destroy(pythia);
	names_destroy(names);
}

/* A host that goes whenever it is to learn is not asked again and again. */
static void learning_that_fails_is_given_up(void **state)
{
	static const char *const host[] = {"h"};
	const struct pythia_offer offers[] = {{.event = "p:r_entry",
							      .skeleton = true,
							      .role = OFFER_ENTRY,
							      .provider = "p",
							      .span = "r"},
			{.event = "p:x_entry", .role = OFFER_ENTRY, .provider = "p", .span = "x"},
			{.event = "p:x_exit", .role = OFFER_EXIT, .provider = "p", .span = "x"}};
	const struct groups_row row = {.id = 1, .type = "a", .path = "p", .count = 200};
	const struct groups_view groups = {.n = 1, .rows = &row};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);
	uint32_t ordered = 0;

	(void)state;
	pythia_set_mode(pythia, MODE_AUTOPILOT, NS_PER_S);
	assert_int_equal(pythia_offer(pythia, "h", offers, 3), STATUS_OK);
	for (uint64_t second = 1; second <= 400; second++) {
		const struct step_order *order;
		struct step_outcome outcome;

		pythia_recorded(pythia, "p:r_entry", host, 1, 40, 0);
		pythia_round(pythia, &(struct pythia_round){.now_ns = second * NS_PER_S,
						     .groups = &groups,
						     .recent = &groups});
		order = pythia_next_order(pythia);
		if (!order) {
			continue;
		}
		ordered += !order->undo;
		outcome = (struct step_outcome){
				.step = order->step, .undo = order->undo, .ok = true};
		pythia_order_done(pythia, &outcome, second * NS_PER_S);
		pythia_host_gone(pythia, "h", second * NS_PER_S);
		assert_int_equal(pythia_offer(pythia, "h", offers, 3), STATUS_OK);
	}
	assert_int_equal(ordered, 2);
	assert_non_null(strstr(pythia->lacks, "it failed 2 times"));
	pythia_destroy(pythia);
	names_destroy(names);
}

/* --- a group that varies, and where --- */

static const struct groups_row varying = {.id = 1,
		.type = "a",
		.path = "p",
		.count = 300,
		.rate_per_s = 10,
		.mean_ns = 1e7,
		.sd_ns = 1e7,
		.p50_ns = 10000000,
		.detection = DETECTION_VARIES};

/* Of a row of its tree. */
#define HOLDS_NEARLY_ALL .count = 300, .total_ns = 3e9, .phi = 0.95, .phi_low = 0.9, .phi_high = 1

static struct tree_view tree_of(const struct tree_row *rows, uint32_t n)
{
	return (struct tree_view){.group_id = 1,
			.type = "a",
			.requests = 300,
			.counted = 300,
			.located = true,
			.n = n,
			.rows = rows};
}

/* A request in which context 2 waits for a processor: the rows are given what they hold. */
#define REQUEST_ROW .context = 1, .parent = UINT32_MAX, .n_below = 1, .name = "r", .provider = ""
#define RUNNABLE_ROW                                                                               \
	.context = 2, .parent = 0, .name = "(runnable)", .provider = "", .mark = TREE_NO_POINT

/* A process that had the processor for such a part of what varies. */
static struct group_holder had_it(const char *process, double part)
{
	return (struct group_holder){.name = "",
			.provider = "",
			.type = "",
			.process = process ? process : "",
			.made_in = "",
			.idle = !process,
			.share = part,
			.of_variation = part};
}

static struct group_wait runnable_wait(const struct group_holder *holders, uint32_t n)
{
	return (struct group_wait){.context = 2,
			.within = 1,
			.name = "r",
			.where = "r",
			.what = "(runnable)",
			.evidence = WAIT_RAN,
			.waits = 300,
			.known = 300,
			.n = n,
			.holders = holders};
}

static const struct group_wait *wait_of(void *context, uint32_t group_id, uint32_t of)
{
	(void)group_id;
	return of == 2 ? context : NULL;
}

/* The process that requests are on is slow at all it does, where this is set. */
static bool starves;

static uint32_t slow_process(void *context, uint32_t group_id, uint64_t since_ns, uint32_t of,
		struct pythia_site *out, uint32_t max)
{
	(void)context;
	(void)group_id;
	(void)since_ns;
	(void)of;
	assert_true(max > 0);
	out[0] = (struct pythia_site){.host = "h",
			.process = "app",
			.tells = "",
			.phi = 1,
			.places = 5,
			.along = 4,
			.of_group = 2,
			.working = 3,
			.most = 0.4,
			.times = 1.5};
	return 1;
}

/* Context 2 waits for `wait`. */
static void round_at(struct pythia *pythia, uint64_t second, const struct groups_view *groups,
		const struct tree_view *tree, struct group_wait *wait)
{
	const struct group_view group = {.histogram_bins = 0};
	const struct pythia_detail detail = {
			.row = &groups->rows[0], .tree = tree, .group = &group};

	pythia_round(pythia, &(struct pythia_round){.now_ns = second * NS_PER_S,
					     .groups = groups,
					     .recent = groups,
					     .n_details = 1,
					     .details = &detail,
					     .waits = wait_of,
					     .sites = starves ? slow_process : NULL,
					     .callback_context = wait});
}

/* Half of the requests are of a group too rare to have a norm so far: nothing is searched before.
 */
static void learning_comes_first(void **state)
{
	static const char *const host[] = {"h"};
	const struct pythia_offer offers[] = {{.event = "p:r_entry",
							      .skeleton = true,
							      .role = OFFER_ENTRY,
							      .provider = "p",
							      .span = "r"},
			{.event = "p:r_exit",
					.skeleton = true,
					.role = OFFER_EXIT,
					.provider = "p",
					.span = "r"},
			{.event = "p:x_entry", .role = OFFER_ENTRY, .provider = "p", .span = "x"},
			{.event = "p:x_exit", .role = OFFER_EXIT, .provider = "p", .span = "x"}};
	const struct groups_row rows[] = {
			varying, {.id = 2, .type = "b", .path = "p", .count = 40}};
	const struct groups_view groups = {.n = 2, .rows = rows};
	const struct tree_row edge = {.context = 1,
			.parent = UINT32_MAX,
			.name = "r",
			.provider = "p",
			HOLDS_NEARLY_ALL,
			.segment_sd_ns = 1e7};
	const struct tree_view tree = tree_of(&edge, 1);
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);

	(void)state;
	/* Until the host has told what can be enabled there is nothing to search in. */
	pythia_calibrate(pythia, "h", 200);
	for (uint64_t second = 1; second <= 10; second++) {
		round_at(pythia, 90 + second, &groups, &tree, NULL);
		assert_non_null(strstr(pythia->lacks, "has not told so far"));
		assert_int_equal(pythia->steps.n, 0);
		assert_int_equal(pythia->locating.n_findings, 0);
	}
	assert_int_equal(pythia_offer(pythia, "h", offers, 4), STATUS_OK);
	for (uint64_t second = 1; second <= 40 && pythia->steps.n == 0; second++) {
		pythia_recorded(pythia, "p:r_entry", host, 1, 40, 0);
		pythia_recorded(pythia, "p:r_exit", host, 1, 40, 0);
		round_at(pythia, 100 + second, &groups, &tree, NULL);
		if (second == 20) {
			assert_non_null(strstr(pythia->lacks, "will propose to learn"));
		}
	}
	assert_int_equal(proposed(pythia), STEP_LEARN + 1);
	pythia_destroy(pythia);
	names_destroy(names);
}

/* The window is decided on where it is clear, or where the epoch has been looked at for a minute.
 */
static void the_window_does_where_it_is_clear(void **state)
{
	struct tree_row row = {.context = 1, .parent = UINT32_MAX, .name = "r", HOLDS_NEARLY_ALL};
	const struct tree_view tree = tree_of(&row, 1);
	struct groups_row window = varying, epoch = varying;
	const struct groups_view groups = {.n = 1, .rows = &epoch};
	const struct pythia_detail detail = {.row = &window, .tree = &tree};
	struct pythia_round round = {
			.now_ns = 100 * NS_PER_S, .groups = &groups, .recent = &groups};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);

	(void)state;
	window.since_ns = 90 * NS_PER_S;
	epoch.since_ns = 70 * NS_PER_S;
	assert_true(pythia_window_will_do(pythia, &round, &detail));
	row.phi_low = 0.4;
	assert_false(pythia_window_will_do(pythia, &round, &detail));
	epoch.since_ns = 40 * NS_PER_S;
	assert_true(pythia_window_will_do(pythia, &round, &detail));
	window.since_ns = 98 * NS_PER_S;
	assert_false(pythia_window_will_do(pythia, &round, &detail));
	pythia_destroy(pythia);
	names_destroy(names);
}

static uint32_t no_site(void *context, uint32_t group_id, uint64_t since_ns, uint32_t of,
		struct pythia_site *out, uint32_t max)
{
	(void)group_id;
	(void)since_ns;
	(void)of;
	(void)out;
	(void)max;
	++*(uint32_t *)context;
	return 0;
}

/* Is it asked in this second in which process it is? */
static bool asks_for_site(
		struct pythia *pythia, struct finding *finding, uint64_t second, bool last)
{
	uint32_t asked = 0;
	const struct pythia_detail detail = {.row = &varying};
	const struct pythia_round round = {.now_ns = second * NS_PER_S,
			.last = last,
			.sites = no_site,
			.callback_context = &asked};

	pythia->now_ns = round.now_ns;
	assert_false(site_verdict(pythia, finding, &detail, &round));
	return asked > 0;
}

/* In which process it is is asked ever more rarely where nothing can be enabled. */
static void processes_are_looked_at_again(void **state)
{
	static const uint64_t rarely[] = {100, 105, 115, 135, 175, 255, 375, 495};
	const struct pythia_offer offer = {
			.event = "p:x_entry", .role = OFFER_ENTRY, .provider = "p", .span = "x"};
	struct finding finding = {.group_id = 1}, other = {.group_id = 1};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);
	uint32_t n = 0;

	(void)state;
	for (uint64_t second = 100; second < 500; second++) {
		if (asks_for_site(pythia, &finding, second, false)) {
			assert_true(n < sizeof(rarely) / sizeof(rarely[0]));
			assert_int_equal(second, rarely[n++]);
		}
	}
	assert_int_equal(n, sizeof(rarely) / sizeof(rarely[0]));
	assert_true(asks_for_site(pythia, &finding, 500, true));
	assert_int_equal(pythia_offer(pythia, "h", &offer, 1), STATUS_OK);
	for (uint64_t second = 100; second < 200; second++) {
		assert_int_equal(asks_for_site(pythia, &other, second, false), second % 5 == 0);
	}
	pythia_destroy(pythia);
	names_destroy(names);
}

/* A host that never tells what it offers is waited for so long. */
static void offers_are_awaited_for_half_a_minute(void **state)
{
	const struct groups_view none = {.n = 0};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);

	(void)state;
	pythia_calibrate(pythia, "h", 200);
	for (uint64_t second = 0; second <= 30; second++) {
		pythia_round(pythia, &(struct pythia_round){.live = true,
						     .now_ns = (100 + second) * NS_PER_S,
						     .groups = &none,
						     .recent = &none});
		assert_int_equal(strstr(pythia->lacks, "has not told so far") != NULL, second < 30);
	}
	pythia_destroy(pythia);
	names_destroy(names);
}

/* What is found in such a tree after a minute. */
static enum verdict_reason found_in(
		const struct tree_view *tree, struct group_wait *wait, enum stop_rule *rule)
{
	const struct groups_view groups = {.n = 1, .rows = &varying};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);
	const struct finding *finding;
	enum verdict_reason reason;

	for (uint64_t second = 1; second <= 60; second++) {
		round_at(pythia, 100 + second, &groups, tree, wait);
	}
	finding = finding_find(pythia, 1);
	assert_non_null(finding);
	reason = finding->kept.verdict.reason;
	*rule = finding->rule;
	pythia_destroy(pythia);
	names_destroy(names);
	return reason;
}

/* What is found where requests vary by their waits for a processor that these had; NULL: nobody. */
static enum verdict_reason found_behind(const char *one, const char *other, enum stop_rule *rule)
{
	const struct tree_row rows[] = {{REQUEST_ROW, .count = 300},
			{RUNNABLE_ROW, HOLDS_NEARLY_ALL, .segment_sd_ns = 1e7}};
	const struct tree_view tree = tree_of(rows, 2);
	const struct group_holder holders[] = {had_it(one, 0.4), had_it(other, 0.3)};
	struct group_wait wait = runnable_wait(holders, 2);

	return found_in(&tree, &wait, rule);
}

/* That tracing has the processor, or that it sleeps, is no finding about the program. */
static void waits_that_are_nobodys_are_no_finding(void **state)
{
	enum stop_rule rule;

	(void)state;
	assert_int_equal(found_behind("python3", "cc1", &rule), REASON_WAIT);
	assert_int_equal(rule, STOP_DIFFUSE);
	assert_int_equal(found_behind("python3", "pythiatop", &rule), REASON_WAIT);
	assert_int_equal(rule, STOP_DIFFUSE);
	assert_int_equal(found_behind("lttng-relayd", "pythiatop-probe", &rule), REASON_TRACING);
	assert_int_equal(rule, STOP_NONE);
	assert_int_equal(found_behind(NULL, "pythiatop-probe", &rule), REASON_IDLE);
	assert_int_equal(rule, STOP_NONE);
}

/* A process that is slow in all: with what is known of its run queues. */
static void who_has_the_processor_of_the_slow(void **state)
{
	const struct tree_row rows[] = {{REQUEST_ROW, .count = 300, .phi = 0.7, .phi_low = 0.65,
							.phi_high = 0.75, .segment_sd_ns = 1e7},
			{RUNNABLE_ROW, .count = 300, .phi = 0.2, .phi_low = 0.15, .phi_high = 0.25,
					.segment_sd_ns = 1e6}};
	const struct tree_view tree = tree_of(rows, 2);
	const struct group_holder holder = had_it("python3", 0.8);
	struct group_wait wait = runnable_wait(&holder, 1);
	const struct groups_view groups = {.n = 1, .rows = &varying};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);
	const struct finding *finding;
	char text[512];

	(void)state;
	starves = true;
	for (uint64_t second = 1; second <= 60; second++) {
		round_at(pythia, 100 + second, &groups, &tree, &wait);
	}
	starves = false;
	finding = finding_find(pythia, 1);
	assert_non_null(finding);
	assert_int_equal(finding->kept.verdict.reason, REASON_PROCESS);
	verdict_text(text, sizeof(text), &finding->kept.verdict);
	assert_non_null(strstr(text, "; (runnable) is 20% of the variance: python3 had the "
				     "processor 80% of it"));
	pythia_destroy(pythia);
	names_destroy(names);
}

/* Where processors that wake up have so much of it, and a span so much, surely. */
static enum verdict_reason found_beside_waking(double waking, double span_low, enum stop_rule *rule)
{
	const struct tree_row rows[] = {
			{REQUEST_ROW, .count = 300, .phi = span_low + 0.05, .phi_low = span_low,
					.phi_high = span_low + 0.1, .segment_sd_ns = 1e7},
			{.context = 2,
					.parent = 0,
					.name = "(waking up)",
					.provider = "",
					.mark = TREE_NO_POINT,
					.count = 300,
					.phi = waking,
					.phi_low = waking - 0.05,
					.phi_high = waking + 0.05,
					.segment_sd_ns = 2e7}};
	const struct tree_view tree = tree_of(rows, 2);

	return found_in(&tree, NULL, rule);
}

/* What idle processors take to wake up is nobody's; what varies besides is searched. */
static void what_wakes_up_is_left_out(void **state)
{
	enum stop_rule rule;

	(void)state;
	assert_int_equal(found_beside_waking(0.4, 0.35, &rule), REASON_CODE);
	assert_int_equal(rule, STOP_CODE);
	assert_int_equal(found_beside_waking(0.4, 0.25, &rule), REASON_NO_PLACE);
	assert_int_equal(rule, STOP_DIFFUSE);
	assert_int_equal(found_beside_waking(0.1, 0.35, &rule), REASON_NO_PLACE);
	assert_int_equal(found_beside_waking(0.6, 0.35, &rule), REASON_IDLE);
	assert_int_equal(rule, STOP_NONE);
}

/* Kernel events of the threads that requests were on, host by host; of interrupts all. */
static void kernel_events_are_of_threads(void **state)
{
	const struct pythia_thread threads[] = {{"a", 7}, {"b", 8}, {"a", 9}};
	static struct pythia_thread many[200];
	const struct pythia_offer offers[] = {{.event = "sched_switch",
							      .kernel = true,
							      .provider = "",
							      .span = "sched_switch"},
			{.event = "sched_waking",
					.kernel = true,
					.provider = "",
					.span = "sched_waking"},
			{.event = "softirq_entry",
					.kernel = true,
					.provider = "",
					.span = "softirq_entry"}};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);
	struct step_part parts[POINTS_MAX_HOSTS];
	const struct step_order *order;
	struct step *step;

	(void)state;
	assert_int_equal(pythia_offer(pythia, "a", offers, 3), STATUS_OK);
	assert_int_equal(pythia_offer(pythia, "b", offers, 3), STATUS_OK);
	assert_int_equal(kernel_parts(pythia, 1, threads, 3, parts), 2);
	assert_string_equal(parts[0].filter, "tid == 7 || tid == 9");
	assert_string_equal(parts[1].filter, "tid == 8");
	free(parts[0].filter);
	free(parts[1].filter);
	assert_int_equal(kernel_parts(pythia, 2, threads, 3, parts), 2);
	assert_null(parts[0].filter);
	for (int32_t i = 0; i < 200; i++) {
		many[i] = (struct pythia_thread){"a", i};
	}
	assert_int_equal(kernel_parts(pythia, 0, many, 200, parts), 2);
	assert_null(parts[0].filter); /* too many */
	/* A step keeps a copy, and its order tells it. */
	assert_int_equal(kernel_parts(pythia, 0, threads, 3, parts), 2);
	step = steps_add(&pythia->steps, STEP_ENABLE, parts, 2, "+1", "why", 1);
	free(parts[0].filter);
	free(parts[1].filter);
	assert_non_null(step);
	step->state = STEP_APPROVED;
	order = pythia_next_order(pythia);
	assert_non_null(order);
	assert_int_equal(order->n, 2);
	assert_string_equal(order->events[0].host, "a");
	assert_string_equal(order->events[0].filter,
			"prev_tid == 7 || next_tid == 7 || prev_tid == 9 || next_tid == 9");
	assert_string_equal(order->events[1].filter, "prev_tid == 8 || next_tid == 8");
	pythia_destroy(pythia);
	names_destroy(names);
}

/* What is normal is what was seen before all was on; what was not seen enough, as it is then. */
static void norms_are_of_before_learning(void **state)
{
	struct groups_row rows[] = {{.id = 1, .type = "a", .path = "p", .count = 200, .cov = 0.3},
			{.id = 2, .type = "b", .path = "p", .count = 20, .cov = 0.3}};
	const struct groups_view groups = {.n = 2, .rows = rows};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);

	(void)state;
	pythia_before_learning(pythia, &groups);
	assert_int_equal(pythia->detecting.n_norms, 1);
	rows[0].cov = rows[1].cov = 2.8;
	rows[1].count = 200;
	pythia_learned(pythia, &(struct pythia_round){.groups = &groups, .recent = &groups});
	assert_int_equal(pythia->detecting.n_norms, 2);
	assert_true(pythia->detecting.norms[0].cov == 0.3);
	assert_true(pythia->detecting.norms[1].cov == 2.8);
	pythia_destroy(pythia);
	names_destroy(names);
}

/* What an event takes in the trace: header, numbers by their width, texts by their length. */
static void bytes_are_those_of_records(void **state)
{
	const struct field fields[] = {{.name = "n", .kind = FIELD_UINT, .base = 10, .width = 4},
			{.name = "text", .kind = FIELD_STRING, .base = 10},
			{.name = "id", .kind = FIELD_INT, .base = 10, .width = 8}};
	const struct event_type type = {.name = "p:e", .n_fields = 3, .fields = fields};
	uint64_t slots[5] = {7, (uint64_t)24 << 32 | 11, 9};
	struct engine *engine = engine_create(NULL);
	struct session_counts counts;
	struct event event = {.ts_ns = NS_PER_S, .bytes = 40, .slots = slots};

	(void)state;
	assert_non_null(engine);
	memcpy(&slots[3], "hello world", 12);
	event.type = engine_add_type(engine, &type);
	event.stream = engine_add_stream(engine,
			&(struct stream_desc){.session = engine_add_session(engine,
							      &(struct session_desc){.host = "h",
									      .name = "s"}),
					.domain = DOMAIN_UST,
					.channel = "c"});
	engine_feed(engine, &event);
	engine_session_counts(engine, 0, &counts);
	assert_int_equal(counts.events, 1);
	/* 8 + 4 + 8, and 12 for the text, which is padded to 16 here: to 3 bytes. */
	assert_true(counts.bytes >= 8 + 4 + 8 + 12 && counts.bytes <= 8 + 4 + 8 + 12 + 3);
	engine_destroy(engine);
}

/* Predictions go by what an event takes where it was measured, else by what is usual. */
static void costs_are_measured(void **state)
{
	const struct pythia_offer offers[] = {
			{.event = "p:x_entry", .role = OFFER_ENTRY, .provider = "p", .span = "x"},
			{.event = "p:x_exit", .role = OFFER_EXIT, .provider = "p", .span = "x"}};
	struct names *names = names_create(1000);
	struct pythia *pythia = pythia_create(names);
	double rate = 100;
	struct step_part part = {.point = 0, .hosts = 1, .enable = true};
	struct step_cost cost;

	(void)state;
	assert_int_equal(pythia_offer(pythia, "h", offers, 2), STATUS_OK);
	pythia->planning.rates = &rate;
	pythia->planning.rates_room = 1;
	cost = cost_of_parts(pythia, &part, 1);
	assert_true(cost.bytes_per_s == 100 * 60 && fabs(cost.cpu_share - 100 * 150e-9) < 1e-12);
	pythia_calibrate(pythia, "h", 200);
	pythia_recorded(pythia, "p:x_entry", (const char *[]){"h"}, 1, 33, 0);
	cost = cost_of_parts(pythia, &part, 1);
	assert_true(cost.bytes_per_s == 100 * 33 && fabs(cost.cpu_share - 100 * 200e-9) < 1e-12);
	pythia->planning.rates = NULL;
	pythia_destroy(pythia);
	names_destroy(names);
}

/* --- when it looks where nothing can be enabled --- */

#define SECOND UINT64_C(1000000000)

static bool count_look(void *context, const struct focus *focus, struct snapshot *snapshot)
{
	(void)snapshot;
	*(uint32_t *)context += focus->horizon == HORIZON_WINDOW;
	return false;
}

/* How many looks there were in those seconds of event time. */
static uint32_t looks_in(struct loop *loop, uint32_t from, uint32_t to)
{
	uint32_t *looks = loop->host.context, before = *looks;

	for (uint32_t second = from; second < to; second++) {
		for (uint32_t i = 0; i < 100; i++) {
			loop_request(loop);
		}
		loop_round(loop, second * SECOND);
	}
	return *looks - before;
}

static void where_all_is_as_it_was_looks_are_rarer(void **state)
{
	struct names *names = names_create(1000);
	struct model *model = model_create(names);
	struct registry registry;
	struct loop loop;
	uint32_t looks = 0;

	(void)state;
	registry_init(&registry);
	assert_true(loop_init(&loop,
			&(struct loop_host){.names = names,
					.registry = &registry,
					.model = model,
					.fill = count_look,
					.context = &looks},
			names));
	assert_int_equal(looks_in(&loop, 100, 141), 5); /* each 10 s for 40 s */
	assert_in_range(looks_in(&loop, 141, 260), 5, 8);
	assert_in_range(looks_in(&loop, 260, 560), 10, 11); /* each 30 s */
	loop.pythia->locating.findings[loop.pythia->locating.n_findings++] =
			(struct finding){.group_id = 3, .rule = STOP_HEALTHY};
	looks_in(&loop, 560, 590);
	assert_in_range(looks_in(&loop, 590, 620), 3, 4); /* each 10 s again */
	loop_release(&loop);
	registry_release(&registry);
	model_destroy(model);
	names_destroy(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_setup_teardown(profile_comes_back, make_file, remove_file),
			cmocka_unit_test_setup_teardown(
					wrong_profiles_are_told, make_file, remove_file),
			cmocka_unit_test(budgets_are_read),
			cmocka_unit_test_setup_teardown(
					decisions_are_lines_of_json, make_file, remove_file),
			cmocka_unit_test_setup_teardown(
					decisions_wait_for_a_full_disk, make_file, remove_file),
			cmocka_unit_test(a_step_goes_its_way),
			cmocka_unit_test(a_failure_is_undone),
			cmocka_unit_test(points_are_left_out),
			cmocka_unit_test(what_stays_on_is_wanted),
			cmocka_unit_test(learning_has_no_choice),
			cmocka_unit_test(recursion_makes_no_circle),
			cmocka_unit_test(the_outer_one_of_a_name_is_meant),
			cmocka_unit_test(strategies_choose),
			cmocka_unit_test(order_is_bisected),
			cmocka_unit_test(only_types_that_hold_a_point_are_touched),
			cmocka_unit_test(a_slight_cost_is_no_surprise),
			cmocka_unit_test(calls_outside_of_requests_cost),
			cmocka_unit_test(a_load_that_grew_takes_a_step_back),
			cmocka_unit_test(a_load_that_grew_takes_steps_back),
			cmocka_unit_test(learning_holds_nothing_up),
			cmocka_unit_test(learning_that_fails_is_given_up),
			cmocka_unit_test(learning_comes_first),
			cmocka_unit_test(the_window_does_where_it_is_clear),
			cmocka_unit_test(processes_are_looked_at_again),
			cmocka_unit_test(offers_are_awaited_for_half_a_minute),
			cmocka_unit_test(waits_that_are_nobodys_are_no_finding),
			cmocka_unit_test(what_wakes_up_is_left_out),
			cmocka_unit_test(who_has_the_processor_of_the_slow),
			cmocka_unit_test(kernel_events_are_of_threads),
			cmocka_unit_test(bytes_are_those_of_records),
			cmocka_unit_test(costs_are_measured),
			cmocka_unit_test(norms_are_of_before_learning),
			cmocka_unit_test(where_all_is_as_it_was_looks_are_rarer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
