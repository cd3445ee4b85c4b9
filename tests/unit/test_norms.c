/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a group is worth searching whose norm is known: not for what passes, nor for what slows all
 * alike, unless it lasts; nor, without a norm, for what hardly adds to what varies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/names.h"
#include "pythia/pythia.h"
#include "pythiatop/profile.h"

#define SECOND UINT64_C(1000000000)
#define GROUPS 8u
#define KNOWN  7u /* the last one is in no profile */
#define ROWS   4u /* of a tree: a span, its wait, a call of another service, and what it does */

struct scene {
	struct names *names;
	struct pythia *pythia;
	char types[GROUPS][16];
	struct groups_row rows[GROUPS];
	uint64_t now_ns;
	/* Of the trees of all groups. */
	double own_ns[ROWS], phi_low[ROWS];
};

/* What each request was seen to pass when it was learned, with 1 ms of its own each. */
static const struct profile_node learned[] = {{.parent = UINT32_MAX,
							      .name = "get",
							      .provider = "front",
							      .entry = "front:get_entry",
							      .exit = "front:get_exit",
							      .count = 1,
							      .total_ns = 3e6},
		{.parent = 0,
				.name = "call",
				.provider = "front",
				.entry = "front:call_entry",
				.exit = "front:call_exit",
				.count = 1,
				.total_ns = 2e6},
		{.parent = 1,
				.name = "serve",
				.provider = "back",
				.entry = "back:serve_entry",
				.exit = "back:serve_exit",
				.count = 1,
				.total_ns = 1e6}};

static void scene_init(struct scene *scene)
{
	struct profile_norm norm = {.path = "app",
			.count = 100,
			.p50_ns = 1e6,
			.middle_ns = 1e5,
			.cov = 0.2,
			.n_modes = 1};
	struct profile_type types[KNOWN];

	*scene = (struct scene){.names = names_create(1000), .now_ns = SECOND};
	scene->pythia = pythia_create(scene->names);
	for (uint32_t i = 0; i < GROUPS; i++) {
		snprintf(scene->types[i], sizeof(scene->types[i]), "type %u", i);
		scene->rows[i] = (struct groups_row){.id = i + 1,
				.type = scene->types[i],
				.path = "app",
				.count = 100,
				.rate_per_s = 10,
				.n_modes = 1,
				.p50_ns = 1000000,
				.max_ns = 1400000,
				.mean_ns = 1e6,
				.sd_ns = 2e5,
				.cov = 0.2,
				.variation_share = 1.0 / GROUPS};
		if (i < KNOWN) {
			types[i] = (struct profile_type){.type = scene->types[i],
					.requests = 1000,
					.n = 3,
					.nodes = learned,
					.n_norms = 1,
					.norms = &norm};
		}
	}
	assert_int_equal(pythia_learn(scene->pythia, &(struct profile){.n = KNOWN, .types = types}),
			STATUS_OK);
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t exit = 0; exit < 2; exit++) {
			pythia_know(scene->pythia,
					&(struct pythia_offer){.event = exit ? learned[i].exit
									     : learned[i].entry,
							.skeleton = true,
							.role = exit ? OFFER_EXIT : OFFER_ENTRY,
							.provider = learned[i].provider,
							.span = learned[i].name});
		}
	}
	for (uint32_t i = 0; i < ROWS; i++) {
		scene->own_ns[i] = 1e6;
	}
	scene->own_ns[1] = 0;
}

static void tell_recorded(struct scene *scene)
{
	for (uint32_t i = 0; i < 3; i++) {
		pythia_recorded(scene->pythia, learned[i].entry, (const char *const[]){"host"}, 1,
				30, 0);
		pythia_recorded(scene->pythia, learned[i].exit, (const char *const[]){"host"}, 1,
				30, 0);
	}
}

static void scene_release(struct scene *scene)
{
	pythia_destroy(scene->pythia);
	names_destroy(scene->names);
}

static void set_varies(struct scene *scene, uint32_t from, uint32_t n, bool varies)
{
	for (uint32_t i = from; i < from + n; i++) {
		scene->rows[i].cov = scene->rows[i].cov_low = varies ? 0.9 : 0.2;
		scene->rows[i].detection = varies ? DETECTION_VARIES : 0;
	}
}

/* Shows where the groups take more whose place is asked for; returns how many. */
static uint32_t show_places(struct scene *scene, const struct pythia_round *round)
{
	static const char *const names[ROWS] = {"get", "(wait)", "call", "serve"},
				 *const providers[ROWS] = {"front", "", "front", "back"};
	static const uint32_t parents[ROWS] = {UINT32_MAX, 0, 0, 2}, below[ROWS] = {3, 0, 1, 0};
	struct tree_row rows[ROWS];
	uint32_t ids[PYTHIA_SUSPECTS], n = pythia_suspects(scene->pythia, round, ids);

	for (uint32_t i = 0; i < ROWS; i++) {
		rows[i] = (struct tree_row){.parent = parents[i],
				.n_below = below[i],
				.name = names[i],
				.provider = providers[i],
				.mark = i == 1 ? TREE_NO_POINT : TREE_ON,
				.segment_mean_ns = scene->own_ns[i],
				.phi_low = scene->phi_low[i]};
	}
	for (uint32_t i = 0; i < n; i++) {
		pythia_judge_place(scene->pythia,
				&(struct pythia_detail){.row = &scene->rows[ids[i] - 1],
						.tree = &(struct tree_view){.located = true,
								.counted = 100,
								.requests = 100,
								.n = ROWS,
								.rows = rows}});
	}
	return n;
}

/* Looks for so many seconds; returns how many groups are wanted after them. */
static uint32_t wanted_after_s(struct scene *scene, uint32_t seconds)
{
	struct groups_view groups = {.n = GROUPS, .rows = scene->rows};
	uint32_t ids[PYTHIA_DETAILS];

	for (uint32_t i = 0; i < seconds; i++) {
		struct pythia_round round = {
				.now_ns = scene->now_ns, .groups = &groups, .recent = &groups};

		tell_recorded(scene);
		show_places(scene, &round);
		pythia_round(scene->pythia, &round);
		scene->now_ns += SECOND;
	}
	return pythia_wants(scene->pythia,
			&(struct pythia_round){.groups = &groups, .recent = &groups}, ids);
}

static uint32_t wanted_after(struct scene *scene, uint32_t windows)
{
	return wanted_after_s(scene, 10 * windows);
}

static void what_lasts_is_searched(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(wanted_after(&scene, 2), 0);
	set_varies(&scene, 2, 1, true);
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_varies(&scene, 2, 1, false);
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_varies(&scene, 2, 1, true);
	assert_int_equal(wanted_after(&scene, 2), 0);
	assert_int_equal(wanted_after(&scene, 1), 1);
	scene_release(&scene);
}

/* A profile of other programs, as of what was watched yesterday, is no reason to wait. */
static void other_programs_tell_nothing(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	for (uint32_t i = 0; i < GROUPS; i++) {
		snprintf(scene.types[i], sizeof(scene.types[i]), "other %u", i);
	}
	set_varies(&scene, 2, 1, true);
	assert_int_equal(wanted_after(&scene, 1), 1);
	scene_release(&scene);
}

/* Of two types that go beyond at once each window counts for half. */
static void company_makes_it_wait(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	set_varies(&scene, 2, 2, true);
	assert_int_equal(wanted_after(&scene, 6), 0);
	assert_int_equal(wanted_after(&scene, 1), 2);
	scene_release(&scene);
}

static void set_wide(struct scene *scene, uint32_t from, uint32_t n, double low_ns)
{
	for (uint32_t i = from; i < from + n; i++) {
		scene->rows[i].middle_ns = 1.2 * low_ns;
		scene->rows[i].middle_low_ns = low_ns;
		scene->rows[i].detection = DETECTION_VARIES;
	}
}

/* The bulk of the requests tells sooner: half a window apart is enough. */
static void the_middle_tells_sooner(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_wide(&scene, 2, 1, 1.9e5); /* less than twice the norm */
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_wide(&scene, 2, 1, 2.9e5); /* by less than a fifth of the median */
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_wide(&scene, 2, 1, 3.1e5);
	assert_int_equal(wanted_after_s(&scene, 5), 0);
	assert_int_equal(wanted_after_s(&scene, 6), 1);
	scene_release(&scene);
}

static void a_wide_middle_everywhere_waits(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	set_wide(&scene, 0, 5, 4e5);
	assert_int_equal(wanted_after(&scene, 8), 0);
	scene_release(&scene);
}

/* On a busy machine all vary more: only what varies more than they do is searched. */
static void a_busy_machine_is_allowed_for(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	for (uint32_t i = 0; i < KNOWN; i++) {
		scene.rows[i].cov = 0.29; /* not beyond, but as 1.45 to 1 */
		scene.rows[i].middle_ns = 1.5e5;
	}
	set_varies(&scene, 2, 1, true);
	scene.rows[2].cov = scene.rows[2].cov_low =
			0.4; /* beyond 0.3, not beyond 1.45 times that */
	assert_int_equal(wanted_after(&scene, 4), 0);
	set_varies(&scene, 2, 1, true);
	assert_int_equal(wanted_after(&scene, 4), 1);
	scene_release(&scene);
}

static void what_is_everywhere_waits(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	set_varies(&scene, 0, 5, true);
	assert_int_equal(wanted_after(&scene, 8), 0);
	assert_int_equal(wanted_after(&scene, 2), PYTHIA_DETAILS);
	scene_release(&scene);
}

/* Only one place takes more, and varies: `of` is its row, SPARE: none. */
#define SPARE ROWS
static void set_place(struct scene *scene, uint32_t of, double own_ns)
{
	for (uint32_t i = 0; i < ROWS; i++) {
		scene->own_ns[i] = i == of ? own_ns : i == 1 ? 0 : 1e6;
		scene->phi_low[i] = i == of ? 0.8 : 0;
	}
}

/* All types vary, which load would explain, but for that it is one place of them that does. */
static void one_place_need_not_wait(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_varies(&scene, 0, 6, true);
	set_place(&scene, 3, 2e6);
	assert_int_equal(wanted_after_s(&scene, 10), 0); /* two looks */
	assert_int_equal(wanted_after_s(&scene, 5), PYTHIA_DETAILS);
	scene_release(&scene);
}

/* One odd look in between does not take it back. */
static void three_looks_of_four_are_enough(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_varies(&scene, 0, 6, true);
	set_place(&scene, 3, 2e6);
	assert_int_equal(wanted_after_s(&scene, 10), 0);
	set_place(&scene, SPARE, 0);
	assert_int_equal(wanted_after_s(&scene, 5), 0);
	set_place(&scene, 3, 2e6);
	assert_int_equal(wanted_after_s(&scene, 5), PYTHIA_DETAILS);
	scene_release(&scene);
}

/* What passes a machine by is now here, now there. */
static void places_that_change_wait(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_varies(&scene, 0, 6, true);
	for (uint32_t i = 0; i < 8; i++) {
		/* Neither encloses the other in a tree without the call between. */
		set_place(&scene, i % 2 ? SPARE : 3, 2e6);
		assert_int_equal(wanted_after_s(&scene, 5), 0);
	}
	scene_release(&scene);
}

static void waits_are_no_place(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_varies(&scene, 0, 6, true);
	set_place(&scene, 1, 5e6);
	assert_int_equal(wanted_after(&scene, 7), 0);
	scene_release(&scene);
}

/* Where the place takes no more than it did, or others take more still, it is not the reason. */
static void a_place_must_have_grown(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_varies(&scene, 0, 6, true);
	set_place(&scene, 3, 1.2e6);
	assert_int_equal(wanted_after(&scene, 3), 0);
	set_place(&scene, 3, 2e6);
	scene.own_ns[2] = 2.5e6;
	assert_int_equal(wanted_after(&scene, 3), 0);
	scene_release(&scene);
}

/* A norm learned on a busy machine is too wide: then the place must hold more. */
static void a_wide_norm_hides_no_place(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(wanted_after(&scene, 1), 0);
	for (uint32_t i = 0; i < 6; i++) {
		scene.rows[i].detection = DETECTION_VARIES;
	}
	set_place(&scene, 3, 2e6);
	scene.phi_low[3] = 0.65;
	assert_int_equal(wanted_after(&scene, 3), 0);
	scene.phi_low[3] = 0.75;
	assert_int_equal(wanted_after(&scene, 2), PYTHIA_DETAILS);
	scene_release(&scene);
}

/* On a machine that makes all others 1.5 times as slow, it takes more than to be 1.9 times as slow.
 */
static void the_others_tell_how_busy_it_is(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_varies(&scene, 0, 6, true);
	set_place(&scene, 3, 1.9e6);
	scene.own_ns[0] = 1.4e6;
	scene.own_ns[2] = 1.6e6;
	assert_int_equal(wanted_after(&scene, 2), 0);
	scene.own_ns[3] = 2.1e6;
	assert_int_equal(wanted_after(&scene, 2), PYTHIA_DETAILS);
	scene_release(&scene);
}

/* Few odd requests are seen in two looks, which overlap; the bulk is not odd. */
static void two_looks_do_for_the_bulk(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_wide(&scene, 0, 5, 4e5);
	set_place(&scene, 3, 2e6);
	assert_int_equal(wanted_after_s(&scene, 5), 0);
	assert_int_equal(wanted_after_s(&scene, 5), PYTHIA_DETAILS);
	scene_release(&scene);
}

static void promises_come_first(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	set_varies(&scene, 0, 1, true);
	scene.rows[0].detection |= DETECTION_SHIFTED;
	assert_int_equal(wanted_after(&scene, 1), 1);
	scene_release(&scene);
}

static void the_unknown_must_matter(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	set_varies(&scene, KNOWN, 1, true);
	assert_int_equal(wanted_after(&scene, 1), 0);
	assert_int_equal(wanted_after(&scene, 4), 1);
	scene.rows[KNOWN].variation_share = 0.01;
	assert_int_equal(wanted_after(&scene, 1), 0);
	scene_release(&scene);
}

/*
 * So many of a hundred requests take ten times as long as the others: few enough for the bound of
 * what varies to say nothing.
 */
static void set_rare(struct scene *scene, uint32_t group, uint32_t slow)
{
	struct groups_row *row = &scene->rows[group];
	double share = slow / 100.0;

	row->mean_ns = 1e6 + 9e6 * share;
	row->sd_ns = sqrt(4e10 + 81e12 * share * (1 - share));
	row->max_ns = slow ? 10000000 : 1400000;
	row->cov = row->sd_ns / row->mean_ns;
	row->cov_low = 0.1;
}

static void few_that_are_much_slower_are_found(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(wanted_after(&scene, 1), 0);
	set_rare(&scene, 2, 3);
	assert_int_equal(wanted_after_s(&scene, 10), 0); /* for a moment, it proves nothing */
	set_rare(&scene, 2, 2);
	assert_int_equal(wanted_after_s(&scene, 5), 0);
	set_rare(&scene, 2, 5);
	assert_int_equal(wanted_after_s(&scene, 10), 1);
	scene_release(&scene);
}

/* One odd request in each window is none of these. */
static void a_single_odd_one_is_left_alone(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	set_rare(&scene, 2, 1);
	assert_int_equal(wanted_after(&scene, 20), 0);
	scene_release(&scene);
}

/* A busy machine makes a few of all requests slow, of long ones more: these do not count. */
static void few_of_all_are_the_machine(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	for (uint32_t i = 0; i < KNOWN; i++) {
		set_rare(&scene, i, 2);
	}
	assert_int_equal(wanted_after(&scene, 20), 0);
	set_rare(&scene, 2, 40); /* and yet one stands out */
	assert_int_equal(wanted_after(&scene, 4), 1);
	scene_release(&scene);
}

/* What costs most is looked at first, and what costs much less waits if that may come. */
static void the_most_expensive_is_first(void **state)
{
	struct groups_view groups = {.n = GROUPS};
	struct pythia_round round = {.groups = &groups, .recent = &groups};
	uint32_t ids[PYTHIA_DETAILS];
	struct scene scene;

	(void)state;
	scene_init(&scene);
	groups.rows = scene.rows;
	set_varies(&scene, 1, 1, true);
	scene.rows[1].sd_ns = 4e5; /* hardly beyond, but for long */
	assert_int_equal(wanted_after(&scene, 4), 1);
	set_rare(&scene, 5, 3);
	assert_int_equal(wanted_after_s(&scene, 10), 0);
	set_rare(&scene, 3, 3);
	scene.rows[3].rate_per_s = 20;
	assert_int_equal(wanted_after(&scene, 4), 3);
	round.now_ns = scene.now_ns;
	assert_int_equal(pythia_wants(scene.pythia, &round, ids), 3);
	assert_int_equal(ids[0], scene.rows[3].id);
	assert_int_equal(ids[1], scene.rows[5].id);
	assert_int_equal(ids[2], scene.rows[1].id);
	scene_release(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(what_lasts_is_searched),
			cmocka_unit_test(other_programs_tell_nothing),
			cmocka_unit_test(company_makes_it_wait),
			cmocka_unit_test(the_middle_tells_sooner),
			cmocka_unit_test(a_wide_middle_everywhere_waits),
			cmocka_unit_test(a_busy_machine_is_allowed_for),
			cmocka_unit_test(what_is_everywhere_waits),
			cmocka_unit_test(one_place_need_not_wait),
			cmocka_unit_test(three_looks_of_four_are_enough),
			cmocka_unit_test(places_that_change_wait),
			cmocka_unit_test(waits_are_no_place),
			cmocka_unit_test(a_place_must_have_grown),
			cmocka_unit_test(a_wide_norm_hides_no_place),
			cmocka_unit_test(the_others_tell_how_busy_it_is),
			cmocka_unit_test(two_looks_do_for_the_bulk),
			cmocka_unit_test(promises_come_first),
			cmocka_unit_test(the_unknown_must_matter),
			cmocka_unit_test(few_that_are_much_slower_are_found),
			cmocka_unit_test(a_single_odd_one_is_left_alone),
			cmocka_unit_test(few_of_all_are_the_machine),
			cmocka_unit_test(the_most_expensive_is_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
