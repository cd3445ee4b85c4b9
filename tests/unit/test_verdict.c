/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentence of each verdict, made of data alone; and data that keeps its own texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

#define SHARE                                                                                      \
	.share_of = "variance", .share = 0.93, .share_low = 0.62, .share_high = 0.996,             \
	.requests = 90
#define RAN_AS(...)                                                                                \
	.evidence = WAIT_RAN, .n_holders = 1,                                                      \
	.holders = {{.name = "", .provider = "", .type = "", __VA_ARGS__}}
#define RAN(who, part) RAN_AS(.process = (who), .of_variation = (part))
#define KEY                                                                                        \
	.key = {.name = "sem_acquire.queue_len",                                                   \
			.where = "build",                                                          \
			.held = 0.794,                                                             \
			.p = 0.0191,                                                               \
			.n = 50,                                                                   \
			.n_held = 51,                                                              \
			.n_together = 1,                                                           \
			.together = {"build.host"},                                                \
			.n_values = 5,                                                             \
			.values = {{"0", 55e6}, {"1", 84.6e6}, {"3", 1.67e8}, {"4", 2.5e9}}}
#define BY_KEY                                                                                     \
	"explained by sem_acquire.queue_len (or build.host, which goes with it): 0 -> 55ms, 1 -> " \
	"84.6ms, ..., 3 -> 167ms, 4 -> 2.5s (79% of the variance held out, n 50+51, p <= 0.02)"

static const struct {
	struct steps_verdict verdict;
	const char *says;
} sentences[] = {
		{{.reason = REASON_NONE, .type = "boot"}, ""},
		{{.reason = REASON_HOLDER,
				 .type = "boot",
				 .place = "lock",
				 SHARE,
				 .evidence = WAIT_INFERRED,
				 .n_holders = 1,
				 .holders = {{.name = "apply",
						 .provider = "net",
						 .type = "route",
						 .process = "",
						 .share = 0.38}}},
				"boot: 93% of the variance is in lock: apply of route is waited "
				"for 38% of it (inferred); looking deeper there"},
		{{.reason = REASON_INSIDE, .type = "boot", .place = "build", SHARE},
				"boot: 93% of the variance is inside build; looking deeper"},
		{{.reason = REASON_UNCLEAR, .type = "boot"},
				"boot: where its variance lies is not clear yet"},
		{{.reason = REASON_CODE,
				 .type = "boot",
				 .place = "sem_acquire",
				 SHARE,
				 .deeper = DEEPER_NOT_SEEN},
				"boot: the time goes in sem_acquire (93% of the variance, 62 to "
				"100, n "
				"90); no point deeper in it was seen to fire, of those that were "
				"tried "
				"(where points stand was not learned)"},
		{{.reason = REASON_CODE,
				 .type = "boot",
				 .place = "sem_acquire",
				 SHARE,
				 .n_places = 1,
				 .places = {{"fold", 0.31}},
				 .deeper = DEEPER_SILENT},
				"boot: the time goes in sem_acquire (93% of the variance, 62 to "
				"100, n 90) and in fold (31%); no point deeper in it is known to "
				"fire"},
		{{.reason = REASON_CODE,
				 .type = "boot",
				 .place = "sem_acquire",
				 SHARE,
				 .deeper = DEEPER_LEFT_OFF,
				 .left_off = 1},
				"boot: the time goes in sem_acquire (93% of the variance, 62 to "
				"100, n "
				"90); deeper in it 1 point is left off: rejected, refused or "
				"undone"},
		{{.reason = REASON_CODE,
				 .type = "boot",
				 .place = "sem_acquire",
				 SHARE,
				 .deeper = DEEPER_BUDGET,
				 .budget_per_s = 5000},
				"boot: the time goes in sem_acquire (93% of the variance, 62 to "
				"100, n 90); the budget of 5000 events/s (or its bytes, or CPU) "
				"leaves no room for a further point deeper in it"},
		{{.reason = REASON_CODE,
				 .type = "boot",
				 .place = "sem_acquire",
				 SHARE,
				 .deeper = DEEPER_STEADY,
				 .evidence = WAIT_INFERRED,
				 .n_holders = 1,
				 .holders = {{.name = "spawn",
						 .provider = "",
						 .type = "create",
						 .process = "",
						 .share = 0.97}},
				 KEY},
				"boot: the time goes in sem_acquire (93% of the variance, 62 to "
				"100, n "
				"90); nothing deeper in it varied when all that could be was "
				"recorded; "
				"spawn of create is waited for 97% of it (inferred); " BY_KEY},
		{{.reason = REASON_LOAD,
				 .type = "boot",
				 .place = "sem_acquire",
				 .waiting_share = 0.7,
				 SHARE,
				 RAN("app", 0.97)},
				"boot: the time goes in sem_acquire (93% of the variance, 62 to "
				"100, n 90): 70% of the variance is waits in it for a processor, "
				"which the program itself keeps busy; app had the processor 97% of "
				"it"},
		{{.reason = REASON_CODE,
				 .type = "boot",
				 .place = "build",
				 .with_callees = true,
				 SHARE,
				 .waking_share = 0.2,
				 .deeper = DEEPER_BUDGET,
				 .budget_per_s = 5000},
				"boot: the time goes in build with what it calls (93% of the "
				"variance, 62 to 100, n 90; 20% is idle processors that wake up); "
				"the budget of 5000 events/s (or its bytes, or CPU) leaves no room "
				"for a further point deeper in it"},
		{{.reason = REASON_WAIT,
				 .type = "boot",
				 .place = "(runnable)",
				 .within = "sem_acquire",
				 SHARE,
				 RAN_AS(.process = "redis-server", .pid = 812, .tid = 813,
						 .of_variation = 0.9, .child = true,
						 .made_in = "clone")},
				"boot: the time goes by in (runnable) of sem_acquire (93% of the "
				"variance, 62 to 100, n 90): its child redis-server (by clone, pid "
				"812) had the processor 90% of it"},
		{{.reason = REASON_WAIT,
				 .type = "boot",
				 .place = "(runnable)",
				 .within = "build",
				 SHARE,
				 RAN_AS(.process = "python3", .tid = 813, .of_variation = 0.9)},
				"boot: the time goes by in (runnable) of build (93% of the "
				"variance, 62 to 100, n 90): python3 (tid 813) had the processor "
				"90% of it"},
		{{.reason = REASON_WAIT,
				 .type = "boot",
				 .place = "(blocked: epoll_wait)",
				 .within = "syscall_epoll_wait",
				 SHARE,
				 .evidence = WAIT_WOKEN,
				 .n_holders = 1,
				 .holders = {{.name = "WaitEventSetWait",
						 .provider = "postgres",
						 .type = "",
						 .process = "postgres",
						 .pid = 4711,
						 .share = 0.99}}},
				"boot: the time goes by in (blocked: epoll_wait) of "
				"syscall_epoll_wait (93% of the variance, 62 to 100, n 90): "
				"WaitEventSetWait of postgres (pid 4711) is waited for 99% of it"},
		{{.reason = REASON_WAIT,
				 .type = "boot",
				 .place = "(blocked: futex)",
				 .within = "sem_acquire",
				 .code = "build",
				 .n_more_places = 2,
				 .site = "pt-compute (compute-1) on vm",
				 SHARE},
				"boot: the time goes by in (blocked: futex) of sem_acquire in "
				"build and in 2 more places of "
				"pt-compute (compute-1) on vm (93% of the variance, 62 to 100, n "
				"90): no "
				"code works then, it is a host or a resource that is waited for"},
		{{.reason = REASON_TRACING,
				 .type = "boot",
				 .place = "(runnable)",
				 SHARE,
				 RAN("pythiatop", 0.6)},
				"boot: what varies is how long it waits for a processor that "
				"tracing has (93% of the variance, 62 to 100, n 90): pythiatop had "
				"the processor 60% of it; that is no finding"},
		{{.reason = REASON_IDLE,
				 .type = "boot",
				 .place = "(runnable)",
				 SHARE,
				 RAN_AS(.process = "", .idle = true, .of_variation = 0.6)},
				"boot: what varies is how long it waits for a processor that "
				"sleeps, and takes its time to wake up (93% of the variance, 62 to "
				"100, n 90): nobody had the processor 60% of it; that is no "
				"finding"},
		{{.reason = REASON_PROCESS,
				 .type = "boot",
				 .site = "app on vm",
				 .as_for = "stop",
				 .examined = 9,
				 .slow = 8,
				 .times = 2.34,
				 .share = 0.6,
				 .also_slow = "db on vm",
				 .n_also_slow = 2,
				 .n_well = 3},
				"boot: most of what app on vm does is slow at the same times, as "
				"for "
				"stop: 8 "
				"of 9 places, 2.3 times in the middle; 60% of the variance is "
				"there; so "
				"is db on vm and others; not the code, but its CPU, its host, or "
				"what all "
				"of it waits for"},
		{{.reason = REASON_PROCESS,
				 .type = "boot",
				 .site = "app on vm",
				 .examined = 9,
				 .slow = 8,
				 .times = 2.34,
				 .share = 0.6,
				 .n_well = 3},
				"boot: most of what app on vm does is slow at the same times: 8 of "
				"9 "
				"places, "
				"2.3 times in the middle; 60% of the variance is there; not so 3 "
				"other "
				"processes; not the code, but its CPU, its host, or what all of it "
				"waits "
				"for"},
		{{.reason = REASON_PROCESS,
				 .type = "boot",
				 .site = "app on vm",
				 .examined = 5,
				 .slow = 4,
				 .times = 1.5,
				 .share = 1,
				 .waiting_share = 0.19,
				 RAN("python3", 0.64)},
				"boot: most of what app on vm does is slow at the same times: 4 of "
				"5 "
				"places, 1.5 times in the middle; 100% of the variance is there; "
				"not the code, but its CPU, its host, or what all of it waits for; "
				"(runnable) is 19% of the variance: python3 had the processor 64% "
				"of it"},
		{{.reason = REASON_COMMON_CAUSE, .type = "boot", .share = 0.7},
				"boot: many places vary together (70% in one direction): a common "
				"cause, "
				"such as a host or a resource"},
		{{.reason = REASON_NO_PLACE,
				 .type = "boot",
				 .n_places = 2,
				 .places = {{"read", 0.4}, {"fold", 0.31}},
				 .no_kernel_events = true},
				"boot: no place surely holds half of the variance: read 40%, fold "
				"31%; "
				"kernel events could say more, but no host offers them"},
		{{.reason = REASON_BUDGET, .type = "boot", .budget_per_s = 5000},
				"boot: the budget of 5000 events/s (or its bytes, or CPU) leaves "
				"no room "
				"for a further point"},
		{{.reason = REASON_SLOWER,
				 .type = "boot",
				 .place = "(all)",
				 .process = "link",
				 .longer_low_ns = 7.5e6,
				 .longer_high_ns = 8e6,
				 .added_ns_per_s = -2.6e7},
				"boot: since the baseline each span in link takes longer, by 7.5ms "
				"to "
				"8ms, which adds -26ms a second to all requests"},
		{{.reason = REASON_TRANSIT,
				 .type = "boot",
				 .process = "link",
				 .others = "a, b",
				 .longer_low_ns = 7.5e6,
				 .longer_high_ns = 8e6,
				 .added_ns_per_s = NAN,
				 .callee_too = true},
				"boot: since the baseline the way between link and a, b takes "
				"longer, by "
				"7.5ms to 8ms; the own time of the former grew, too"},
		{{.reason = REASON_INTERRUPTS,
				 .type = "boot",
				 .place = "softirq_net_rx",
				 .within = "syscall_connect",
				 SHARE},
				"boot: the time goes by in softirq_net_rx while syscall_connect is "
				"at work (93% of the variance, 62 to 100, n 90): no code of the "
				"request, but what the machine does meanwhile, the more the longer "
				"it takes"},
		{{.reason = REASON_PEER,
				 .type = "nginx:80",
				 .place = "call :8002",
				 .called = "python3:8002",
				 .called_others = "python3:8001",
				 .n_siblings = 1,
				 .requests = 473,
				 .requests_others = 474,
				 .mean_ns = 42e6,
				 .mean_others_ns = 2e6,
				 .longer_low_ns = 39e6,
				 .longer_high_ns = 41e6,
				 .share = 0.96,
				 .share_low = 0.94,
				 .share_high = 0.98},
				"nginx:80: requests that ask python3:8002 take 42ms (mean of 473), "
				"those that ask python3:8001 2ms (of 474): the difference is in "
				"call :8002 (96%, 94 to 98)"},
		{{.reason = REASON_PEER,
				 .type = "nginx:80",
				 .place = "compute",
				 .within = "python3:8002",
				 .called = "python3:8002",
				 .called_others = "python3:8001",
				 .n_siblings = 3,
				 .requests = 100,
				 .requests_others = 400,
				 .mean_ns = 42e6,
				 .mean_others_ns = 2e6,
				 .share = 0.96,
				 .share_low = 0.94,
				 .share_high = 0.98},
				"nginx:80: requests that ask python3:8002 take 42ms (mean of 100), "
				"those that ask python3:8001 or one of 2 more 2ms (of 400): the "
				"difference is in compute of python3:8002 (96%, 94 to 98)"},
		{{.reason = REASON_CALLS,
				 .type = "boot",
				 .place = "browse",
				 .process = "link",
				 .others = "store",
				 .calls_before = 1,
				 .calls_after = 2.98,
				 .added_ns_per_s = 1500},
				"boot: since the baseline browse in link makes more calls of "
				"store, 2.98 "
				"instead of 1 a span, which adds 1.5us a second to all requests"},
		{{.reason = REASON_FAILS,
				 .type = "boot",
				 .place = "bank",
				 .process = "pay",
				 .several_hosts = true,
				 .share = 0.2512,
				 .share_low = 0.0871,
				 .share_high = 0.31,
				 .failed = 25,
				 .requests = 100,
				 .fails_how = "fail",
				 .since_ns = UINT64_C(1700000000123456789),
				 .failed_before = 0,
				 .requests_before = 900,
				 .told = "status = -5",
				 .told_share = 0.9,
				 .attribute = "card",
				 .attribute_where = "order",
				 .value = "amex",
				 .value_share = 1,
				 .value_others = 0.0004},
				"boot: since 22:13:20 25% of requests fail (8.7% to 31%, 25 of "
				"100), "
				"before 0% (0 of 900); it begins in bank of pay on several hosts: "
				"status "
				"= -5 in 90%; card=amex in order in 100% of them, in <0.1% of the "
				"others"},
		{{.reason = REASON_VARIABLE, .type = "boot", .place = "api > build", KEY},
				"boot: " BY_KEY "; the time goes in api > build"},
		{{.reason = REASON_VALUE,
				 .type = "boot",
				 .value = "compute-1",
				 .examined = 16,
				 .slow = 4,
				 .times = 18.25,
				 KEY},
				"boot: all is slower with compute-1, in 4 of 16 places, 18.2 times "
				"in the "
				"middle: not the code, but where or in what it runs; " BY_KEY},
		{{.reason = REASON_SYSTEM, .type = "boot", KEY},
				"boot: " BY_KEY
				"; no place of the code holds half of the variance"},
		{{.reason = REASON_ASKED, .type = "boot", KEY}, "boot, as asked: " BY_KEY},
		{{.reason = REASON_ASKED, .type = "boot"},
				"boot, as asked: no key-value surely explains how long it takes"},
		{{.reason = REASON_ASKING, .type = "boot"}, "boot: being explained, as asked"},
};

static void each_has_a_sentence(void **state)
{
	bool said[REASON_ASKING + 1] = {false};
	char text[VERDICT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		struct kept_verdict kept = {.verdict = {.reason = REASON_NONE}};

		verdict_keep(&kept, &sentences[i].verdict); /* whose texts are never NULL */
		verdict_text(text, sizeof(text), &kept.verdict);
		assert_string_equal(text, sentences[i].says);
		said[kept.verdict.reason] = true;
		verdict_release(&kept);
	}
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		assert_true(said[i]);
	}
}

/* Every text, wherever it came from; the one before goes. */
static void it_keeps_its_texts(void **state)
{
	struct kept_verdict kept = {.verdict = {.reason = REASON_NONE}};
	char name[] = "name", text[VERDICT_BYTES], again[VERDICT_BYTES];

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct steps_verdict verdict = {.reason = REASON_CODE,
				SHARE,
				.n_holders = 1,
				.holders = {{.name = name,
						.provider = name,
						.type = name,
						.process = name,
						.child = true,
						.made_in = name,
						.share = 1,
						.of_variation = 1}},
				.evidence = WAIT_RAN,
				.n_places = 1,
				.places = {{name, 1}},
				.key = {.name = name,
						.where = name,
						.n_together = 1,
						.together = {name},
						.n_values = 1,
						.values = {{name, 1}}}};

		verdict.type = verdict.place = name;
		strcpy(name, "name");
		verdict_keep(&kept, &verdict);
		verdict_text(text, sizeof(text), &kept.verdict);
		memset(name, 'x', strlen(name));
		verdict_text(again, sizeof(again), &kept.verdict);
		assert_string_equal(text, again);
		assert_null(strstr(again, "xx"));
		assert_string_equal(kept.verdict.places[0].name, "name");
		assert_string_equal(kept.verdict.key.where, "name");
		assert_string_equal(kept.verdict.site, "");
	}
	verdict_release(&kept);
	verdict_text(text, sizeof(text), &kept.verdict);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(each_has_a_sentence),
			cmocka_unit_test(it_keeps_its_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
