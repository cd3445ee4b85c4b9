/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is a hit, on documents made by hand: above all, what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rules.h"

#define FAULT_NS UINT64_C(1700000000000000000)
#define CODE     "\"stopped_by\":\"code\""
#define AT(name) "\"where\":\"server_create > serve_build > " name "\""
#define SERVER   "{\"group\":7,\"type\":\"server create\",\"requests\":300,\"text\":\"it is slow\","

static const struct truth semaphore = {.types = "server_create|server_delete",
		.hits = "compute:sem_acquire|compute:spawn",
		.variable = "queue_len",
		.kind = "variable",
		.fault_ns = FAULT_NS};
static const struct truth replica = {.types = "server_create",
		.hits = "-",
		.variable = "host=compute-1",
		.kind = "host",
		.fault_ns = FAULT_NS};
static const struct truth hog = {.types = "server_create",
		.hits = "-",
		.variable = "cpu@scheduler",
		.kind = "resource",
		.fault_ns = FAULT_NS};
static const struct truth nothing = {
		.types = "-", .hits = "-", .variable = "-", .kind = "none", .fault_ns = FAULT_NS};

/* A tree with two points of one name, and shares of the variance. */
static const char *const tree =
		"[{\"group\":null,\"rows\":[]},{\"group\":7,\"rows\":["
		"{\"context\":\"server_create\",\"provider\":\"api\",\"parent\":null,\"phi\":0.01},"
		"{\"context\":\"serve_build\",\"provider\":\"compute\",\"parent\":0,\"phi\":0.2},"
		"{\"context\":\"spawn\",\"provider\":\"compute\",\"parent\":1,\"phi\":0.1},"
		"{\"context\":\"sem_acquire\",\"provider\":\"compute\",\"parent\":1,\"phi\":0.05},"
		"{\"context\":\"list\",\"provider\":\"net\",\"parent\":1,\"phi\":0.4},"
		"{\"context\":\"list\",\"provider\":\"vol\",\"parent\":0,\"phi\":0.001}]}]";

/* The score of a document 20 s after the fault, with these findings and steps. */
static struct score judge_at(double seconds, const char *findings, const char *steps, uint32_t ever,
		uint32_t over_s, const struct truth *truth)
{
	static char text[8192];
	struct score score;
	json_error_t error;
	json_t *document;
	char problem[128];

	snprintf(text, sizeof(text),
			"{\"time_ns\":%.0f,\"findings\":[%s],\"steps\":[%s],\"contexts\":%s,"
			"\"points\":{\"skeleton\":40,\"known\":240,\"enabled\":0,"
			"\"ever_enabled\":%u},\"rehearsal\":{\"over_budget_s\":%u}}",
			(double)truth->fault_ns + seconds * 1e9, findings, steps, tree, ever,
			over_s);
	document = json_loads(text, 0, &error);
	assert_non_null(document);
	assert_true(score_document(document, truth, &score, problem, sizeof(problem)));
	json_decref(document);
	return score;
}

static struct score judge(const char *findings, const struct truth *truth)
{
	return judge_at(20, findings, "", 5, 0, truth);
}

static void the_point_is_a_hit(void **state)
{
	struct score score = judge(SERVER CODE "," AT("sem_acquire") "}", &semaphore);

	(void)state;
	assert_true(score.stopped && score.hit1 && score.hit3);
	assert_string_equal(score.where, "compute:sem_acquire");
	assert_int_equal(score.requests, 300);
	assert_int_equal(score.firing, 200);
	assert_true(score.seconds > 19.99 && score.seconds < 20.01);
	assert_false(score.false_alarm);
	/* The variable is better, and the point right as well; either point will do. */
	assert_true(judge(SERVER "\"stopped_by\":\"variable\"," AT("spawn") "}", &semaphore).hit1);
}

static void other_places_are_misses(void **state)
{
	(void)state;
	/* Above the point, beside it, of another provider, part of its name. */
	assert_false(judge(SERVER CODE ",\"where\":\"server_create > serve_build\"}", &semaphore)
					.hit1);
	assert_false(judge(SERVER CODE "," AT("list") "}", &semaphore).hit1);
	assert_false(judge(SERVER CODE "," AT("sem_acquire_entry") "}", &semaphore).hit1);
	assert_false(judge(SERVER CODE "," AT("acquire") "}", &semaphore).hit1);
	assert_false(judge(SERVER CODE ",\"where\":null}", &semaphore).hit1);
	assert_false(judge("", &semaphore).hit1);
}

/* Where it is held, or where it is waited for, if that is who is waited for first. */
static void who_holds_it(void **state)
{
#define HELD_BY(provider, name)                                                                    \
	",\"verdict\":{\"holders\":[{\"name\":\"" name "\",\"provider\":\"" provider               \
	"\"},{\"name\":\"spawn\",\"provider\":\"compute\"}]}"
	const struct truth truth = {.types = "server_create|server_delete",
			.hits = "compute:sem_acquire",
			.variable = "compute:spawn|compute:list",
			.kind = "holder"};
	struct score score = judge(SERVER CODE "," AT("spawn") "}", &truth);

	(void)state;
	assert_true(score.hit1);
	assert_string_equal(score.holder, "compute:spawn");
	score = judge(SERVER CODE "," AT("sem_acquire") HELD_BY("compute", "list") "}", &truth);
	assert_true(score.hit1);
	assert_string_equal(score.holder, "compute:list");
	score = judge(SERVER CODE "," AT("sem_acquire") HELD_BY("compute", "boot") "}", &truth);
	assert_false(score.hit1);
	assert_string_equal(score.holder, "compute:boot");
	score = judge(SERVER CODE "," AT("sem_acquire") "}", &truth);
	assert_false(score.hit1);
	assert_string_equal(score.holder, "");
	assert_false(judge(SERVER CODE "," AT("sem_acquire") HELD_BY("net", "list") "}", &truth)
					.hit1);
#undef HELD_BY
}

static void names_are_of_their_provider(void **state)
{
	struct truth truth = semaphore;

	(void)state;
	truth.hits = "vol:list";
	assert_false(judge(SERVER CODE "," AT("list") "}", &truth).hit1);
	assert_true(judge(SERVER CODE ",\"where\":\"server_create > list\"}", &truth).hit1);
	truth.hits = "net:list";
	assert_true(judge(SERVER CODE "," AT("list") "}", &truth).hit1);
	/* Where no tree has the place, its name must do. */
	assert_true(judge(SERVER CODE ",\"where\":\"gone > list\"}", &truth).hit1);
}

static void a_place_is_no_verdict(void **state)
{
	struct score score = judge(
			SERVER "\"stopped_by\":\"diffuse\"," AT("sem_acquire") "}", &semaphore);

	(void)state;
	assert_true(score.stopped && score.hit3);
	assert_false(score.hit1);
	/* Where requests begin to fail is one. */
	score = judge(SERVER "\"stopped_by\":\"fails\"," AT("sem_acquire") "}", &semaphore);
	assert_true(score.stopped && score.hit1);
	/* It goes on, or has given up: that is no stop, so nothing can be hit. */
	score = judge(SERVER "\"stopped_by\":null," AT("sem_acquire") "}", &semaphore);
	assert_false(score.stopped || score.hit1 || score.hit3);
	score = judge(SERVER "\"stopped_by\":\"healthy\"," AT("sem_acquire") "}", &semaphore);
	assert_false(score.stopped || score.hit1 || score.hit3);
}

/* The verdict goes before the order of the findings. */
static void the_verdict_is_first(void **state)
{
	static const char findings[] = SERVER CODE
			"," AT("list") "}," SERVER CODE
				       "," AT("sem_acquire") "}],\"verdict\":" SERVER CODE
							     "," AT("sem_acquire") "},\"x\":[{}";
	static const char none[] = SERVER CODE "," AT("list") "}],\"verdict\":null,\"x\":[{}";

	(void)state;
	assert_true(judge(findings, &semaphore).hit1);
	assert_false(judge(none, &semaphore).hit1);
	assert_true(judge(none, &semaphore).stopped);
}

static void of_other_requests_is_a_miss(void **state)
{
	struct truth truth = semaphore;

	(void)state;
	truth.types = "volume_create|server";
	assert_false(judge(SERVER CODE "," AT("sem_acquire") "}", &truth).hit1);
	truth.types = "server_create_all";
	assert_false(judge(SERVER CODE "," AT("sem_acquire") "}", &truth).hit1);
}

static void the_first_three_places_count(void **state)
{
	static const char wrong[] = SERVER CODE "," AT("list") "}";
	static const char other[] = SERVER CODE ",\"where\":\"server_create > serve_build\"}";
	static const char third[] = SERVER CODE ",\"where\":\"server_create\"}";
	static const char right[] = SERVER CODE "," AT("sem_acquire") "}";
	char findings[2048];
	struct score score;

	(void)state;
	snprintf(findings, sizeof(findings), "%s,%s,%s", wrong, other, right);
	score = judge(findings, &semaphore);
	assert_true(score.hit3 && !score.hit1);
	snprintf(findings, sizeof(findings), "%s,%s,%s,%s", wrong, other, third, right);
	assert_false(judge(findings, &semaphore).hit3);
	/* With one finding, the two next edges: serve_build and spawn, after list itself. */
	assert_true(judge(wrong, &semaphore).hit3);
	struct truth truth = semaphore;
	truth.hits = "compute:sem_acquire";
	assert_false(judge(wrong, &truth).hit3);
}

static void hosts_and_resources_are_no_code(void **state)
{
	static const char named[] =
			"{\"group\":7,\"type\":\"server create\",\"text\":\"many places "
			"vary together on %s, busy\",\"stopped_by\":\"%s\"," AT("sem_acquire") "}";
	char findings[512];

	(void)state;
	snprintf(findings, sizeof(findings), named, "compute-1", "diffuse");
	assert_true(judge(findings, &replica).hit1);
	snprintf(findings, sizeof(findings), named, "compute-1", "variable");
	assert_true(judge(findings, &replica).hit1);
	snprintf(findings, sizeof(findings), named, "scheduler", "diffuse");
	assert_true(judge(findings, &hog).hit1);
	/* A service's CPU by its process, which is not the same word; a host is not. */
	snprintf(findings, sizeof(findings), named, "(pt-scheduler)", "diffuse");
	assert_true(judge(findings, &hog).hit1);
	snprintf(findings, sizeof(findings), named, "xpt-scheduler", "diffuse");
	assert_false(judge(findings, &hog).hit1);
	snprintf(findings, sizeof(findings), named, "pt-scheduler-2", "diffuse");
	assert_false(judge(findings, &hog).hit1);
	snprintf(findings, sizeof(findings), named, "pt-compute-1", "diffuse");
	assert_false(judge(findings, &replica).hit1);
	/* The other host, one whose name only begins so, code, and going on. */
	snprintf(findings, sizeof(findings), named, "compute-2", "diffuse");
	assert_false(judge(findings, &replica).hit1);
	snprintf(findings, sizeof(findings), named, "compute-12", "diffuse");
	assert_false(judge(findings, &replica).hit1);
	snprintf(findings, sizeof(findings), named, "compute-1", "code");
	assert_false(judge(findings, &replica).hit1);
	assert_false(judge(findings, &replica).hit3);
	snprintf(findings, sizeof(findings), named, "compute-1", "healthy");
	assert_false(judge(findings, &replica).hit1);
}

static void an_explanation_names_the_slowest(void **state)
{
	static const char explained[] = SERVER "\"stopped_by\":\"variable\"," AT(
			"sem_acquire") ",\"explanation\":{"
				       "\"keys\":[{\"name\":\"host of "
				       "serve_build\",\"confirmed\":%s}],\"values\":["
				       "{\"text\":\"compute-1\",\"mean_ns\":%u},"
				       "{\"text\":\"compute-2\",\"mean_ns\":200}]}}";
	char findings[512];

	(void)state;
	snprintf(findings, sizeof(findings), explained, "true", 300);
	assert_true(judge(findings, &replica).hit1);
	snprintf(findings, sizeof(findings), explained, "true", 100);
	assert_false(judge(findings, &replica).hit1);
	snprintf(findings, sizeof(findings), explained, "false", 300);
	assert_false(judge(findings, &replica).hit1);
}

static void alarms_are_false_without_a_fault(void **state)
{
	static const char verdict[] = SERVER CODE "," AT("sem_acquire") "}";
	struct score score;

	(void)state;
	assert_true(judge_at(20, verdict, "", 0, 0, &nothing).false_alarm);
	assert_true(judge_at(20, "", "", 1, 0, &nothing).false_alarm);
	assert_false(judge_at(20, "", "", 0, 0, &nothing).false_alarm);
	assert_false(judge_at(20, SERVER "\"stopped_by\":\"healthy\"}", "", 0, 0, &nothing)
					.false_alarm);
	/* Right, but before anything was wrong. */
	score = judge_at(-3, verdict, "", 5, 0, &semaphore);
	assert_true(score.false_alarm);
	assert_false(score.hit1 || score.hit3);
}

static void points_are_counted_while_on(void **state)
{
	/* Three at 10 s, two more at 20, three off at 30, one more at 40; learning is none. */
	static const char steps[] =
			"{\"kind\":\"learn\",\"points\":200,\"done_ns\":1e9,\"ended_ns\":9e9},"
			"{\"kind\":\"enable\",\"points\":3,\"done_ns\":1e10,\"ended_ns\":null},"
			"{\"kind\":\"enable\",\"points\":2,\"done_ns\":2e10,\"ended_ns\":3.5e10},"
			"{\"kind\":\"disable\",\"points\":3,\"done_ns\":3e10,\"ended_ns\":null},"
			"{\"kind\":\"enable\",\"points\":9,\"done_ns\":null,\"ended_ns\":5e10},"
			"{\"kind\":\"enable\",\"points\":1,\"done_ns\":4e10,\"ended_ns\":null}";
	struct score score = judge_at(50, "", steps, 6, 0, &semaphore);

	(void)state;
	assert_int_equal(score.steps, 3);
	assert_int_equal(score.peak, 5);
	assert_int_equal(score.ever, 6);
	assert_false(judge_at(50, "", "", 6, 5, &semaphore).breach);
	assert_true(judge_at(50, "", "", 6, 6, &semaphore).breach);
}

static void what_is_no_document_is_told(void **state)
{
	struct score score;
	char problem[128] = "";
	json_t *document = json_pack("{s:[]}", "findings");

	(void)state;
	assert_false(score_document(document, &semaphore, &score, problem, sizeof(problem)));
	assert_string_not_equal(problem, "");
	json_decref(document);
}

static void near(double value, double expected, double by)
{
	assert_true(value > expected - by && value < expected + by);
}

/* By hand, from the formula. */
static void wilson_as_tabled(void **state)
{
	double low, high;

	(void)state;
	wilson(0, 60, &low, &high);
	near(low, 0, 1e-9);
	near(high, 0.0601723, 1e-5);
	wilson(18, 20, &low, &high);
	near(low, 0.6989663, 1e-5);
	near(high, 0.9721335, 1e-5);
	wilson(20, 20, &low, &high);
	near(low, 0.8388747, 1e-5);
	near(high, 1, 1e-9);
	wilson(0, 0, &low, &high);
	near(low, 0, 1e-9);
	near(high, 1, 1e-9);
}

/* ln 1.1 and -ln 1.1 about 1: t of 1 degree of freedom is 12.706. */
static void ratios_by_their_logarithms(void **state)
{
	const double two[] = {1.1, 1 / 1.1}, same[] = {1.5, 1.5, 1.5};
	double values[] = {3, 1, 2, 10}, mean, low, high;

	(void)state;
	ratio_interval(two, 2, &mean, &low, &high);
	near(mean, 1, 1e-12);
	near(high, 3.3573, 1e-3);
	near(low, 1 / 3.3573, 1e-4);
	ratio_interval(same, 3, &mean, &low, &high);
	near(low, 1.5, 1e-12);
	near(high, 1.5, 1e-12);
	near(median(values, 4), 2.5, 1e-12);
	near(median(values, 3), 2, 1e-12);
}

static const struct truth either = {.types = "-",
		.hits = "compute:sem_acquire|(blocked: fdatasync)",
		.variable = "socket_recv.length=40|runnable",
		.kind = "either",
		.fault_ns = FAULT_NS};

#define SAYS(rule, sentence, more)                                                                 \
	"{\"group\":7,\"type\":\"redis\",\"text\":\"" sentence "\",\"stopped_by\":\"" rule         \
	"\"" more "}"
#define EXPLAINED(key)                                                                             \
	",\"explanation\":{\"keys\":[{\"name\":\"" key "\",\"confirmed\":true}],\"values\":["      \
	"{\"text\":\"23\",\"mean_ns\":9},{\"text\":\"40\",\"mean_ns\":90}]}"

/* A place, a word or a variable, of which any is right; what merely explains it is none of them. */
static void either_of_several(void **state)
{
	static const char *const right[] = {
			SERVER CODE "," AT("sem_acquire") "}",
			SAYS("diffuse", "the time goes by in (blocked: fdatasync) of it",
					"," AT("(blocked: fdatasync)")),
			SAYS("diffuse", "the time goes by in (runnable) of redis", ""),
			SAYS("variable", "explained by sem_acquire.ret: 0 -> 2ms; it is slow",
					EXPLAINED("sem_acquire.ret")),
			SAYS("variable", "explained by socket_recv.length: 23 -> 9us, 40 -> 90us",
					EXPLAINED("socket_recv.length")),
	};
	static const char *const wrong[] = {
			SERVER CODE "," AT("spawn") "}",
			SAYS("diffuse", "no place surely holds half of the variance",
					"," AT("(blocked: fdatasync)")),
			SAYS("diffuse", "no place holds it; explained by runnable x: 1 -> 2", ""),
			SAYS("variable", "explained by socket_send.length: 23 -> 9us, 40 -> 90us",
					EXPLAINED("socket_send.length")),
			SAYS("", "the time goes by in (runnable) of redis", ""),
	};
	struct truth bare = either;

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_true(judge(right[i], &either).hit1);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_false(judge(wrong[i], &either).hit1);
	}
	bare.hits = bare.variable = "-"; /* nothing is no word */
	assert_false(judge(SAYS("diffuse", "a - b -> c", ""), &bare).hit1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_point_is_a_hit),
			cmocka_unit_test(other_places_are_misses),
			cmocka_unit_test(who_holds_it),
			cmocka_unit_test(names_are_of_their_provider),
			cmocka_unit_test(a_place_is_no_verdict),
			cmocka_unit_test(the_verdict_is_first),
			cmocka_unit_test(of_other_requests_is_a_miss),
			cmocka_unit_test(the_first_three_places_count),
			cmocka_unit_test(hosts_and_resources_are_no_code),
			cmocka_unit_test(an_explanation_names_the_slowest),
			cmocka_unit_test(alarms_are_false_without_a_fault),
			cmocka_unit_test(points_are_counted_while_on),
			cmocka_unit_test(what_is_no_document_is_told),
			cmocka_unit_test(either_of_several),
			cmocka_unit_test(wilson_as_tabled),
			cmocka_unit_test(ratios_by_their_logarithms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
