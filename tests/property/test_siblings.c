/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "feed.h"
#include "stats/bootstrap.h"
#include "trials.h"

/*
 * One of several like servers is slower, through the front door: sends and receives of a front end
 * in, findings out. Nothing is said of servers that are as fast as each other, however their times
 * vary and follow from those before; nor where other requests ask another server, where the
 * difference is in the front end, or of few requests.
 */
#define MS       UINT64_C(1000000)
#define US       UINT64_C(1000)
#define S        UINT64_C(1000000000)
#define T0       (UINT64_C(1700000000) * S)
#define V(...)   ((union feed_value[]){__VA_ARGS__})
#define MOST     4u
#define LOOPBACK UINT64_C(0xffff7f000001)

enum { FRONT = 7, FRONT_PORT = 80, CLIENT_PORT = 40000, BACK_PORT = 9000 };

struct world {
	struct feed feed;
	uint32_t send, receive;
	uint64_t ns;
	struct bootstrap_random random;
	double level; /* autocorrelated, standard normal */
	uint32_t position[1 + MOST][2];
	/* What is set before a run. */
	uint32_t n_backs;
	double median_ms[MOST]; /* of each back end */
	double sigma, again;    /* of the logarithm; how alike it is to the one before */
	uint64_t length[MOST];  /* of messages that are passed on to it, and up to 2 more */
	double after_ms[MOST];  /* that the front end works after its answer */
};

static void put(struct world *world, uint32_t type, const union feed_value *values)
{
	feed_raw(&world->feed, world->feed.stream, type, world->ns, 0, values);
}

static void open_world(struct world *world, uint64_t seed)
{
	static const char *const fields = "family:u netns:u sport:u dport:u saddr_high:u "
					  "saddr_low:u daddr_high:u daddr_low:u named:u position:u "
					  "length:u";

	memset(world, 0, sizeof(*world));
	world->random.state = seed;
	world->ns = T0;
	world->n_backs = 2;
	world->sigma = 0.5;
	for (uint32_t i = 0; i < MOST; i++) {
		world->median_ms[i] = 2;
		world->length[i] = 100;
		world->after_ms[i] = 0.02;
	}
	feed_start(&world->feed, NULL);
	world->feed.stream = engine_add_stream(
			world->feed.engine, &(struct stream_desc){.session = world->feed.session,
							    .domain = DOMAIN_KERNEL,
							    .channel = "kernel"});
	world->send = feed_type(&world->feed, "socket_send", fields);
	world->receive = feed_type(&world->feed, "socket_recv", fields);
	put(world, feed_type(&world->feed, "socket_listen", fields),
			V({2}, {1}, {FRONT_PORT}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}));
	put(world,
			feed_type(&world->feed, "sched_switch",
					"prev_comm:s prev_tid:i prev_state:i next_comm:s "
					"next_tid:i"),
			V({.s = "idle"}, {0}, {0}, {.s = "front"}, {.i = FRONT}));
}

/* On the connection to a client (0), or to a back end (1 and on). */
static void message(struct world *world, uint32_t of, bool send, uint64_t length)
{
	uint64_t own = of ? 50000 + of : FRONT_PORT, its = of ? BACK_PORT + of : CLIENT_PORT;
	uint32_t *position = &world->position[of][send];

	*position += send ? 0 : (uint32_t)length;
	put(world, send ? world->send : world->receive,
			V({2}, {1}, {own}, {its}, {0}, {LOOPBACK}, {0}, {LOOPBACK}, {0},
					{*position}, {length}));
	*position += send ? (uint32_t)length : 0;
}

static double some_ms(struct world *world, double median_ms)
{
	double alike = world->again;

	world->level = alike * world->level +
		       sqrt(1 - alike * alike) * bootstrap_normal(&world->random);
	return median_ms * exp(world->sigma * world->level);
}

static void request(struct world *world, uint32_t back)
{
	double ms = some_ms(world, world->median_ms[back]);

	world->ns += 50 * US;
	message(world, 0, false,
			world->length[back] + (uint64_t)(bootstrap_uniform(&world->random) * 3));
	world->ns += 20 * US;
	message(world, 1 + back, true, 120);
	world->ns += (uint64_t)(ms * (double)MS) + 1;
	message(world, 1 + back, false, 300);
	world->ns += (uint64_t)(world->after_ms[back] * (double)MS);
	message(world, 0, true, 300);
}

/* For so many seconds, each request to any of the back ends. */
static void run(struct world *world, uint32_t seconds, uint32_t rate)
{
	uint64_t begin_ns = world->ns;

	for (uint32_t i = 0; i < seconds * rate; i++) {
		uint64_t due_ns = begin_ns + i * (S / rate);

		world->ns = world->ns > due_ns ? world->ns : due_ns;
		request(world, (uint32_t)(bootstrap_uniform(&world->random) * world->n_backs));
	}
	engine_advance(world->feed.engine, world->ns + 200 * MS);
}

static struct snapshot *look(struct world *world)
{
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_GROUPS | FOCUS_STEPS, .horizon = HORIZON_ALL};

	assert_non_null(snapshot);
	assert_int_equal(engine_fill(world->feed.engine, &focus, snapshot), STATUS_OK);
	return snapshot;
}

/* The finding that tells of a slower server; one without a text: none does. */
static const struct steps_finding *told(const struct snapshot *snapshot)
{
	static const struct steps_finding none = {.text = ""};

	for (uint32_t i = 0; i < snapshot->steps.n_findings; i++) {
		if (snapshot->steps.findings[i].rule == STOP_PEER) {
			return &snapshot->steps.findings[i];
		}
	}
	return &none;
}

static void close_world(struct world *world, struct snapshot *snapshot)
{
	snapshot_destroy(snapshot);
	feed_stop(&world->feed);
}

/* Nothing is told. */
static void stays_silent(struct world *world)
{
	struct snapshot *snapshot = look(world);

	assert_string_equal(told(snapshot)->text, "");
	close_world(world, snapshot);
}

static void the_slow_one_is_named(void **state)
{
	const struct steps_finding *finding;
	struct snapshot *snapshot;
	struct world world;

	(void)state;
	open_world(&world, 1);
	world.median_ms[1] = 12;
	run(&world, 25, 60);
	snapshot = look(&world);
	finding = told(snapshot);
	assert_string_equal(finding->where, "front:80 > front > call :9002");
	assert_string_equal(finding->verdict.called, ":9002");
	assert_string_equal(finding->verdict.called_others, ":9001");
	assert_int_equal(finding->verdict.n_siblings, 1);
	assert_true(finding->verdict.longer_low_ns > 5e6 && finding->verdict.longer_high_ns < 20e6);
	assert_true(finding->verdict.share_low > 0.9);
	assert_true(finding->no_normal);
	assert_non_null(strstr(finding->text, "front:80: requests that ask :9002 take"));
	assert_non_null(strstr(finding->text, "those that ask :9001"));
	assert_non_null(strstr(finding->text, "the difference is in call :9002"));
	close_world(&world, snapshot);
}

static void one_of_four_is_named(void **state)
{
	struct snapshot *snapshot;
	struct world world;

	(void)state;
	open_world(&world, 2);
	world.n_backs = 4;
	world.median_ms[2] = 6;
	run(&world, 25, 100);
	snapshot = look(&world);
	assert_string_equal(told(snapshot)->where, "front:80 > front > call :9003");
	assert_int_equal(told(snapshot)->verdict.n_siblings, 3);
	assert_non_null(strstr(told(snapshot)->text, "or one of 2 more"));
	close_world(&world, snapshot);
}

/* Once it is as fast as the others, it is over. */
static void it_ends(void **state)
{
	struct snapshot *snapshot;
	struct world world;

	(void)state;
	open_world(&world, 3);
	world.median_ms[1] = 10;
	run(&world, 25, 60);
	snapshot = look(&world);
	assert_int_equal(told(snapshot)->rule, STOP_PEER);
	snapshot_destroy(snapshot);
	world.median_ms[1] = 2;
	run(&world, 100, 60);
	stays_silent(&world);
}

static void a_little_slower_is_none(void **state)
{
	struct world world;

	(void)state;
	open_world(&world, 4);
	world.median_ms[1] = 2.4;
	run(&world, 45, 80);
	stays_silent(&world);
}

static void few_requests_are_none(void **state)
{
	struct world world;

	(void)state;
	open_world(&world, 5);
	world.median_ms[1] = 20;
	run(&world, 25, 6); /* 30 in a window */
	stays_silent(&world);
}

/* Longer messages go to another server: that is there for something else. */
static void other_requests_are_none(void **state)
{
	struct world world;

	(void)state;
	open_world(&world, 6);
	world.median_ms[1] = 12;
	world.length[1] = 102;
	run(&world, 25, 60);
	stays_silent(&world);
}

static void the_front_is_not_blamed_on_a_server(void **state)
{
	struct world world;

	(void)state;
	open_world(&world, 7);
	world.after_ms[1] = 12;
	run(&world, 25, 60);
	stays_silent(&world);
}

/* What was as much slower when it was learned is normal; what was not then, is told. */
static void what_was_learned_is_none(void **state)
{
	(void)state;
	for (uint32_t was_slow = 0; was_slow < 2; was_slow++) {
		struct world before, now;
		struct snapshot *snapshot;

		open_world(&before, 8);
		before.median_ms[1] = was_slow ? 12 : 2;
		run(&before, 25, 60);
		engine_learn_here(before.feed.engine);
		open_world(&now, 9);
		assert_int_equal(engine_learn(now.feed.engine, engine_profile(before.feed.engine)),
				STATUS_OK);
		now.median_ms[1] = 12;
		run(&now, 25, 60);
		snapshot = look(&now);
		assert_int_equal(told(snapshot)->rule, was_slow ? STOP_NONE : STOP_PEER);
		assert_false(told(snapshot)->no_normal);
		close_world(&now, snapshot);
		feed_stop(&before.feed);
	}
}

/* As fast as each other: how often one is named nevertheless. */
static void like_servers_are_none(void **state)
{
	static const struct {
		double sigma, again;
	} cases[] = {{0.5, 0}, {1, 0}, {1, 0.9}, {1.5, 0}, {1.5, 0.9}};
	uint32_t alarms = 0, trials = TRIALS(80);

	(void)state;
	for (uint32_t i = 0; i < trials; i++) {
		struct snapshot *snapshot;
		struct world world;

		open_world(&world, 100 + i);
		world.n_backs = 2 + i % 3;
		world.sigma = cases[i % 5].sigma;
		world.again = cases[i % 5].again;
		run(&world, 45, 80);
		snapshot = look(&world);
		alarms += told(snapshot)->rule == STOP_PEER;
		if (told(snapshot)->text[0]) {
			print_message("%u: %s\n", i, told(snapshot)->text);
		}
		close_world(&world, snapshot);
	}
	print_message("servers as fast as each other: %u of %u named\n", alarms, trials);
	assert_true(alarms <= trials / 40 + 1);
}

/* Twice as slow, of few requests that vary much, and follow from those before. */
static void how_surely_it_is_found(void **state)
{
	static const double times[] = {2, 3, 5};
	uint32_t trials = TRIALS(24);

	(void)state;
	for (uint32_t k = 0; k < 3; k++) {
		uint32_t found = 0;

		for (uint32_t i = 0; i < trials; i++) {
			struct snapshot *snapshot;
			struct world world;

			open_world(&world, 1000 + i);
			world.sigma = 0.7;
			world.again = 0.5;
			world.median_ms[1] = 2 * times[k];
			run(&world, 35, 60);
			snapshot = look(&world);
			found += told(snapshot)->verdict.called &&
				 strcmp(told(snapshot)->verdict.called, ":9002") == 0;
			close_world(&world, snapshot);
		}
		print_message("%.0f times as slow: %u of %u named\n", times[k], found, trials);
		assert_true(times[k] < 5 || found == trials);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_slow_one_is_named),
			cmocka_unit_test(one_of_four_is_named),
			cmocka_unit_test(it_ends),
			cmocka_unit_test(a_little_slower_is_none),
			cmocka_unit_test(few_requests_are_none),
			cmocka_unit_test(other_requests_are_none),
			cmocka_unit_test(the_front_is_not_blamed_on_a_server),
			cmocka_unit_test(what_was_learned_is_none),
			cmocka_unit_test(like_servers_are_none),
			cmocka_unit_test(how_surely_it_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
