/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What compare tells besides what is slower, by the engine, from events: since when, within its
 * interval; groups that split and merge, as such and where it begins; requests that the begin of a
 * recording cut off; a place that few requests of each type pass; names and matching that do not
 * depend on the order of requests, nor on which minute it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "feed.h"
#include "stats/bootstrap.h"

#define MS    1000000.0
#define S     UINT64_C(1000000000)
#define T0    (UINT64_C(1700000000) * S)
#define KINDS 4u

enum what { ROOT, COMMON, EXTRA, RETRY, OTHER, THIRD, FOURTH, N_WHAT };

static const char *const names[N_WHAT] = {
		"root", "common", "extra", "retry", "other", "third", "fourth"};

/* How a minute goes. */
struct minute {
	uint64_t seed;
	uint32_t per_s, seconds;
	double cov;
	uint32_t from_s; /* since when it is otherwise; 0: from the begin on */
	double slower;   /* COMMON takes so many times as long */
	uint32_t again;  /* and is called so many times more */
	double extra;    /* so many of the requests have EXTRA, before and after */
	double extra_then;
	uint32_t more;  /* requests come so many times as often */
	uint32_t types; /* ROOT, OTHER, THIRD, FOURTH */
	bool cut;       /* the first event is in the midst of a request */
	uint32_t kinds; /* which spans a request has, by its number; 0: as above */
	bool reversed;
};

struct told {
	struct feed feed;
	uint32_t entry[N_WHAT], exit[N_WHAT];
	struct bootstrap_random random;
};

static void start(struct told *told, uint64_t seed)
{
	char name[64];

	feed_start(&told->feed, &(struct engine_config){.window_ns = 0});
	told->random.state = seed;
	for (uint32_t i = 0; i < N_WHAT; i++) {
		snprintf(name, sizeof(name), "app:%s_entry", names[i]);
		told->entry[i] = feed_type(&told->feed, name, "vpid:c vtid:c");
		snprintf(name, sizeof(name), "app:%s_exit", names[i]);
		told->exit[i] = feed_type(&told->feed, name, "vpid:c vtid:c");
	}
}

static uint64_t event(struct told *told, uint32_t type, uint64_t at)
{
	feed_event(&told->feed, type, at, 0, (union feed_value[]){{.u = 10}, {.u = 11}});
	return at + 1000;
}

static uint64_t span(struct told *told, enum what what, uint64_t at, double ns)
{
	return event(told, told->exit[what], event(told, told->entry[what], at) + (uint64_t)ns);
}

static double varied(struct told *told, double mean, double cov)
{
	double variance = log(1 + cov * cov);

	return mean * exp(sqrt(variance) * bootstrap_normal(&told->random) - variance / 2);
}

static void request(struct told *told, const struct minute *minute, uint32_t number, uint64_t at)
{
	static const enum what roots[] = {ROOT, OTHER, THIRD, FOURTH};
	bool then = at >= T0 + minute->from_s * S;
	uint32_t types = minute->types ? minute->types : 1;
	uint32_t calls = then ? 1 + minute->again : 1;
	uint32_t kind = minute->kinds ? 1 + number % KINDS : 0;
	double extra = then ? minute->extra_then : minute->extra;
	enum what root = roots[number % types];

	if (minute->reversed) {
		kind = KINDS + 1 - kind;
	}
	if (!minute->cut || number > 0) {
		at = event(told, told->entry[root], at);
	}
	for (uint32_t i = 0; i < calls; i++) {
		at = span(told, COMMON, at,
				varied(told, (then ? minute->slower : 1) * 2 * MS, minute->cov));
	}
	if (bootstrap_uniform(&told->random) < extra || kind & 1) {
		at = event(told, told->entry[EXTRA], at);
		at = span(told, RETRY, at, 0.1 * MS);
		at = event(told, told->exit[EXTRA], at);
	}
	if (kind & 2) {
		at = span(told, RETRY, at, 0.1 * MS);
	}
	event(told, told->exit[root], at + (uint64_t)varied(told, MS, minute->cov));
}

static struct feed *play(struct told *told, const struct minute *minute)
{
	uint32_t number = 0;

	start(told, minute->seed);
	for (uint32_t second = 0; second < minute->seconds; second++) {
		bool then = second >= minute->from_s;
		uint32_t n = minute->per_s * (then && minute->more ? minute->more : 1);

		for (uint32_t i = 0; i < n; i++) {
			request(told, minute, number++, T0 + second * S + i * (S / n));
		}
	}
	engine_finish(told->feed.engine);
	return &told->feed;
}

static const struct focus focus = {
		.serial = 1, .parts = FOCUS_GROUPS | FOCUS_CHANGES, .horizon = HORIZON_ALL};

static struct snapshot *compare(const struct minute *before, const struct minute *after)
{
	struct snapshot *snapshot = snapshot_create();
	struct told *told = calloc(2, sizeof(*told));

	assert_non_null(told);
	play(&told[0], before);
	play(&told[1], after);
	assert_int_equal(engine_set_baseline(told[1].feed.engine,
					 engine_baseline(told[0].feed.engine, HORIZON_ALL)),
			STATUS_OK);
	assert_int_equal(engine_fill(told[1].feed.engine, &focus, snapshot), STATUS_OK);
	assert_true(snapshot->changes.compared);
	feed_stop(&told[0].feed);
	feed_stop(&told[1].feed);
	free(told);
	return snapshot;
}

static const struct change_row *row_of(const struct snapshot *snapshot, enum change_kind kind)
{
	static const struct change_row none = {.name = "", .from = "", .others = "", .type = ""};

	for (uint32_t i = 0; i < snapshot->changes.n; i++) {
		if (snapshot->changes.rows[i].kind == kind) {
			return &snapshot->changes.rows[i];
		}
	}
	fail_msg("no row of kind %d among %u", (int)kind, snapshot->changes.n);
	return &none;
}

static const struct minute usual = {.seed = 1, .per_s = 10, .seconds = 60, .cov = 0.3, .slower = 1};

/* In 19 of 20 cases the interval holds the instant; it is a few seconds wide. */
static void since_when_it_is_slower(void **state)
{
	uint32_t held = 0;

	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		struct minute after = usual;
		struct snapshot *snapshot;
		const struct change_row *row;

		after.seed = 100 + i;
		after.slower = 1.5;
		after.from_s = 10 + i * 3 / 2;
		snapshot = compare(&usual, &after);
		row = row_of(snapshot, CHANGE_SLOWER);
		assert_string_equal(row->name, "common");
		assert_true(row->sure && row->since_ns && !row->since_begin);
		assert_true(row->since_low_ns <= row->since_ns &&
				row->since_ns <= row->since_high_ns);
		assert_true(row->since_high_ns - row->since_low_ns <= 12 * S);
		held += row->since_low_ns <= T0 + after.from_s * S &&
			T0 + after.from_s * S <= row->since_high_ns;
		snapshot_destroy(snapshot);
	}
	assert_true(held >= 18);
}

static void assert_since(const struct change_row *row, uint32_t from_s)
{
	assert_true(row->sure);
	if (row->since_low_ns > T0 + from_s * S || row->since_high_ns < T0 + from_s * S ||
			row->since_high_ns - row->since_low_ns > 3 * S) {
		fail_msg("since %f, %f to %f, not %u", (double)(row->since_ns - T0) / 1e9,
				(double)(row->since_low_ns - T0) / 1e9,
				(double)(row->since_high_ns - T0) / 1e9, from_s);
	}
}

static void since_when_of_rates_calls_and_paths(void **state)
{
	struct minute after = usual;
	struct snapshot *snapshot;

	(void)state;
	after.more = 4;
	after.from_s = 37;
	snapshot = compare(&usual, &after);
	assert_since(row_of(snapshot, CHANGE_RATE), 37);
	snapshot_destroy(snapshot);
	after.more = 0;
	after.again = 2;
	after.from_s = 21;
	snapshot = compare(&usual, &after);
	assert_since(row_of(snapshot, CHANGE_MORE), 21);
	snapshot_destroy(snapshot);
	after.again = 0;
	after.from_s = 42;
	after.extra_then = 0.7;
	snapshot = compare(&usual, &after);
	assert_since(row_of(snapshot, CHANGE_SPLIT), 42);
	snapshot_destroy(snapshot);
}

/* What is otherwise all the time began before; what is as before began never. */
static void from_the_begin_on(void **state)
{
	struct minute after = usual;
	struct snapshot *snapshot;
	const struct change_row *row;

	(void)state;
	after.seed = 7;
	after.slower = 1.5;
	snapshot = compare(&usual, &after);
	row = row_of(snapshot, CHANGE_SLOWER);
	assert_true(row->sure && row->since_begin && row->since_ns == 0);
	snapshot_destroy(snapshot);
	after.slower = 1;
	snapshot = compare(&usual, &after);
	assert_true(snapshot->changes.n == 0 || !snapshot->changes.rows[0].sure);
	snapshot_destroy(snapshot);
}

static void groups_split_and_merge(void **state)
{
	struct minute split = usual;
	struct snapshot *snapshot;
	const struct change_row *row;

	(void)state;
	split.extra_then = 0.4;
	snapshot = compare(&usual, &split);
	row = row_of(snapshot, CHANGE_SPLIT);
	assert_true(row->sure);
	assert_string_equal(row->name, "root"); /* where it begins */
	assert_string_equal(row->type, "root");
	assert_non_null(strstr(row->from, "100 % -> "));
	assert_non_null(strstr(row->others, "+extra"));
	assert_true(row->before == 0 && fabs(row->after - 0.4) < 0.08);
	assert_true(row->difference_low < 0.4 && 0.4 < row->difference_high);
	assert_int_equal(snapshot->changes.n_groups, 1);
	assert_int_equal(snapshot->changes.n_groups_new, 1);
	assert_non_null(strstr(snapshot->changes.groups_new, "+extra"));
	snapshot_destroy(snapshot);
	snapshot = compare(&split, &usual);
	row = row_of(snapshot, CHANGE_SPLIT); /* one gave to one: they go another way */
	assert_non_null(strstr(row->from, "+extra"));
	assert_non_null(strstr(row->others, "-> 100 %"));
	snapshot_destroy(snapshot);
	split.kinds = KINDS; /* four groups become one */
	snapshot = compare(&split, &usual);
	row = row_of(snapshot, CHANGE_MERGE);
	assert_true(row->sure);
	assert_int_equal(snapshot->changes.n_groups_gone, 3);
	snapshot_destroy(snapshot);
}

/* The first request has lost its begin: its spans are not a type that is new. */
static void a_cut_request_is_no_type(void **state)
{
	struct minute after = usual;
	struct snapshot *snapshot;

	(void)state;
	after.cut = true;
	for (uint32_t side = 0; side < 2; side++) {
		snapshot = side ? compare(&usual, &after) : compare(&after, &usual);
		assert_int_equal(snapshot->changes.n_cut, 1);
		assert_int_equal(snapshot->changes.cut_requests, 1);
		assert_string_equal(snapshot->changes.cut, "common");
		assert_int_equal(snapshot->changes.n_types, 1);
		assert_int_equal(snapshot->changes.n_types_new, 0);
		assert_int_equal(snapshot->changes.n_types_gone, 0);
		snapshot_destroy(snapshot);
	}
}

/*
 * Four types of ten requests each pass a place: none says much by itself, all together do, and the
 * interval of the difference holds it in 19 of 20 cases.
 */
static void tens_of_requests_speak(void **state)
{
	uint32_t found = 0, held = 0, none = 0;

	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		struct minute before = usual, after;
		struct snapshot *snapshot;
		const struct change_row *row;

		before.per_s = 1;
		before.seconds = 40;
		before.types = 4;
		after = before;
		before.seed = 1000 + i;
		after.seed = 2000 + i;
		after.slower = i % 2 ? 1.5 : 1;
		snapshot = compare(&before, &after);
		row = snapshot->changes.rows;
		none += i % 2 == 0 && snapshot->changes.n && row->sure;
		if (i % 2 && snapshot->changes.n && row->sure && !strcmp(row->name, "common")) {
			found++;
			held += row->types == 4 && row->difference_low <= 1.0 * MS &&
				1.0 * MS <= row->difference_high;
		}
		snapshot_destroy(snapshot);
	}
	assert_true(none <= 1);
	assert_true(found >= 18);
	assert_true(held + 3 >= found);
}

static struct snapshot *groups_of(const struct minute *minute)
{
	struct snapshot *snapshot = snapshot_create();
	struct told *told = calloc(1, sizeof(*told));

	assert_non_null(told);
	play(told, minute);
	assert_int_equal(engine_fill(told->feed.engine, &focus, snapshot), STATUS_OK);
	feed_stop(&told->feed);
	free(told);
	return snapshot;
}

/* Groups of the same services are told apart by what they do, whichever came first. */
static void names_do_not_depend_on_the_first(void **state)
{
	struct minute minute = usual, other;
	struct snapshot *first, *snapshot;

	(void)state;
	minute.kinds = KINDS;
	other = minute;
	other.reversed = true;
	other.seed = 9;
	first = groups_of(&minute);
	snapshot = groups_of(&other);
	assert_int_equal(first->groups.n, KINDS);
	assert_int_equal(snapshot->groups.n, KINDS);
	for (uint32_t i = 0; i < KINDS; i++) {
		uint32_t same = 0;

		for (uint32_t k = 0; k < KINDS; k++) {
			same += strcmp(first->groups.rows[i].path, snapshot->groups.rows[k].path) ==
				0;
		}
		if (same != 1) {
			fail_msg("\"%s\" is there %u times", first->groups.rows[i].path, same);
		}
	}
	snapshot_destroy(first);
	snapshot_destroy(snapshot);
	/* A minute without some of them: names may be shorter, yet each is matched. */
	other.kinds = 0;
	other.extra = other.extra_then = 1;
	snapshot = compare(&minute, &other);
	assert_int_equal(snapshot->changes.n_groups, 1);
	assert_int_equal(snapshot->changes.n_groups_gone, KINDS - 1);
	assert_int_equal(snapshot->changes.n_groups_new, 0);
	snapshot_destroy(snapshot);
}

/* --- work that is handed to other threads ----------------------------------------------------- */

#define HANDED_TYPES 8u

/* A request puts work into a queue, for two threads that begin while it does, or just after. */
static uint32_t groups_of_handed_work(uint64_t seed)
{
	static const char *const events[HANDED_TYPES] = {"app:root_entry", "app:root_exit",
			"app:put_entry", "app:put_exit", "app:work_entry", "app:work_exit",
			"app:step_entry", "app:step_exit"};
	static const struct {
		uint32_t type, thread, at_us, by_us; /* and a chance of so much later */
	} happens[] = {
			{0, 1, 0, 0},
			{2, 1, 100, 0},
			{4, 2, 105, 20}, /* `put` ends at 115 */
			{3, 1, 115, 0},
			{4, 3, 130, 900},
			{6, 2, 1200, 0},
			{7, 2, 1300, 0},
			{5, 2, 2000, 800},
			{5, 3, 2100, 800},
			{1, 1, 3000, 0},
	};
	struct bootstrap_random random = {.state = seed};
	struct snapshot *snapshot = snapshot_create();
	struct feed *feed = calloc(1, sizeof(*feed));
	uint32_t types[HANDED_TYPES], n;

	assert_non_null(feed);
	feed_start(feed, &(struct engine_config){.window_ns = 0});
	for (uint32_t i = 0; i < HANDED_TYPES; i++) {
		types[i] = feed_type(feed, events[i], "vpid:c vtid:c request_id:u");
	}
	for (uint32_t i = 0; i < 100; i++) {
		uint64_t ats[sizeof(happens) / sizeof(happens[0])], last = 0;

		for (uint32_t left = sizeof(happens) / sizeof(happens[0]); left > 0; left--) {
			uint32_t best = UINT32_MAX;

			for (uint32_t k = 0; k < sizeof(happens) / sizeof(happens[0]); k++) {
				if (left == sizeof(happens) / sizeof(happens[0])) {
					ats[k] = happens[k].at_us * 1000u +
						 bootstrap_below(&random,
								 happens[k].by_us * 1000u + 1);
				}
				if (ats[k] >= last && ats[k] != UINT64_MAX &&
						(best == UINT32_MAX || ats[k] < ats[best])) {
					best = k;
				}
			}
			assert_true(best != UINT32_MAX);
			feed_event(feed, types[happens[best].type], T0 + i * (S / 100) + ats[best],
					0,
					(union feed_value[]){{.u = 10}, {.u = happens[best].thread},
							{.u = i + 1}});
			last = ats[best];
			ats[best] = UINT64_MAX;
		}
	}
	engine_finish(feed->engine);
	assert_int_equal(engine_fill(feed->engine, &focus, snapshot), STATUS_OK);
	n = snapshot->groups.n;
	feed_stop(feed);
	free(feed);
	snapshot_destroy(snapshot);
	return n;
}

static void handing_on_does_not_split(void **state)
{
	(void)state;
	assert_int_equal(groups_of_handed_work(1), 1);
	assert_int_equal(groups_of_handed_work(2), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(since_when_it_is_slower),
			cmocka_unit_test(since_when_of_rates_calls_and_paths),
			cmocka_unit_test(from_the_begin_on),
			cmocka_unit_test(groups_split_and_merge),
			cmocka_unit_test(a_cut_request_is_no_type),
			cmocka_unit_test(tens_of_requests_speak),
			cmocka_unit_test(names_do_not_depend_on_the_first),
			cmocka_unit_test(handing_on_does_not_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
