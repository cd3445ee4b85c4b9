/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of the recorded kernel traces beside what lttng-analyses computed of them: CPU time,
 * scheduling latencies, system calls, interrupts. Where the two differ by design, the test says
 * what we count and why, and still accounts for every nanosecond of the difference.
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

#include "support_recorded.h"

#define FIRST_IRQS_NS 20000
#define WINDOW        UINT64_C(60000000000) /* longer than the traces */

static const char *const recorded[] = {"kernel-6.2-2cpu", "kernel-4.4-basic"};
#define TRACES (sizeof(recorded) / sizeof(*recorded))

struct looked {
	struct engine *engine;
	struct snapshot *snapshot;
	const struct state_view *view;
	json_t *reference;
};

/* Both sides of one comparison; false: one is not here. */
static bool look(struct looked *looked, const char *trace, const char *analysis)
{
	looked->reference = reference_load(trace, analysis);
	if (!looked->reference || !recorded_exists(trace)) {
		json_decref(looked->reference);
		printf("skipped: no trace %s, or nothing to compare it with\n", trace);
		return false;
	}
	looked->engine = recorded_read(trace, WINDOW);
	looked->snapshot = recorded_state(looked->engine, 0);
	looked->view = &looked->snapshot->state;
	return true;
}

static void leave(struct looked *looked)
{
	json_decref(looked->reference);
	snapshot_destroy(looked->snapshot);
	engine_destroy(looked->engine);
}

static const struct state_thread *thread_of(const struct state_view *view, int64_t tid)
{
	uint32_t i;

	for (i = 0; i < view->n_threads; i++) {
		if (view->threads[i].tid == tid) {
			return &view->threads[i];
		}
	}
	fail_msg("no thread %lld", (long long)tid);
	abort();
}

static double span_of(json_t *reference)
{
	json_t *range = json_object_get(
			json_array_get(json_object_get(reference, "results"), 0), "time-range");

	return json_number_value(json_object_get(json_object_get(range, "end"), "value")) -
	       json_number_value(json_object_get(json_object_get(range, "begin"), "value"));
}

/*
 * The reference gives a thread all time between its switches; we take out what interrupts took
 * meanwhile (irq_ns), for it is not the thread's. With that added the figures are the same. The
 * reference also says that the thread that is switched out first on a CPU had run since the trace
 * began; nobody saw that: we say unknown, so that such a thread may have as much more there.
 */
static void cpu_time_of_threads(void **state)
{
	uint32_t t, compared = 0, unseen = 0;

	(void)state;
	for (t = 0; t < TRACES; t++) {
		struct looked looked;
		double span, unknown_ns = 0;
		json_t *row;
		size_t i;

		if (!look(&looked, recorded[t], "cputop.run")) {
			continue;
		}
		span = span_of(looked.reference);
		for (i = 0; i < looked.view->n_cpus; i++) {
			unknown_ns += span - (double)looked.view->cpus[i].known_ns;
		}
		json_array_foreach(reference_table(looked.reference, "per-process"), i, row)
		{
			const struct state_thread *thread = thread_of(
					looked.view, (int64_t)reference_number(row, 0, "tid"));
			double theirs = reference_number(row, 3, "value") * span;
			double more = theirs - (double)(thread->cpu_ns + thread->irq_ns);

			/* A ratio of 16 digits gives no more than about a microsecond. */
			if (fabs(more) > 1000) {
				assert_true(more > 0 && more <= unknown_ns + 1000);
				unseen++;
			}
			assert_int_equal(thread->migrations, reference_number(row, 1, "value"));
			compared++;
		}
		assert_true(unseen <= looked.view->n_cpus);
		leave(&looked);
	}
	if (compared == 0) {
		skip();
	}
}

/* As above: of a CPU, less what interrupts took, and what ran before its first switch. */
static void use_of_cpus(void **state)
{
	uint32_t t, compared = 0;

	(void)state;
	for (t = 0; t < TRACES; t++) {
		struct looked looked;
		double span, ours = 0, theirs = 0, unknown_ns = 0;
		json_t *row;
		size_t i;

		if (!look(&looked, recorded[t], "cputop.run")) {
			continue;
		}
		span = span_of(looked.reference);
		json_array_foreach(reference_table(looked.reference, "per-cpu"), i, row)
		{
			const struct state_cpu *cpu = &looked.view->cpus[i];
			double used = reference_number(row, 1, "value") * span;
			double unknown = span - (double)cpu->known_ns;

			assert_int_equal(cpu->cpu, reference_number(row, 0, "id"));
			assert_true(used >= (double)(cpu->user_ns + cpu->syscall_ns) - 1000);
			assert_true(used <=
					(double)(cpu->known_ns - cpu->idle_ns) + unknown + 1000);
			theirs += used;
			unknown_ns += unknown;
			compared++;
		}
		for (i = 0; i < looked.view->n_threads; i++) {
			ours += (double)(looked.view->threads[i].cpu_ns +
					 looked.view->threads[i].irq_ns);
		}
		/* Interrupts before a CPU's first switch are known to us, so not in unknown. */
		assert_true(theirs >= ours - 1000);
		assert_true(theirs <= ours + unknown_ns + FIRST_IRQS_NS);
		leave(&looked);
	}
	if (compared == 0) {
		skip();
	}
}

/* From a wake-up to the switch: count, least, mean and most, of every thread, to the nanosecond. */
static void scheduling_latencies(void **state)
{
	uint32_t t, compared = 0;

	(void)state;
	for (t = 0; t < TRACES; t++) {
		struct looked looked;
		json_t *row;
		size_t i;

		if (!look(&looked, recorded[t], "sched.runstats")) {
			continue;
		}
		json_array_foreach(reference_table(looked.reference, "per_tid_stats"), i, row)
		{
			const struct state_thread *thread = thread_of(
					looked.view, (int64_t)reference_number(row, 0, "tid"));

			assert_int_equal(thread->latencies, reference_number(row, 1, "value"));
			assert_int_equal(thread->latency_min_ns, reference_number(row, 2, "value"));
			assert_true(fabs(reference_number(row, 3, "value") -
						    (double)thread->latency_ns /
								    (double)thread->latencies) < 1);
			assert_int_equal(thread->latency_max_ns, reference_number(row, 4, "value"));
			compared++;
		}
		leave(&looked);
	}
	if (compared == 0) {
		skip();
	}
}

static const struct state_syscall *call_of(
		const struct state_view *view, int64_t tid, const char *name)
{
	uint32_t i;

	for (i = 0; i < view->n_syscalls; i++) {
		if (view->syscalls[i].tid == tid && strcmp(view->syscalls[i].name, name) == 0) {
			return &view->syscalls[i];
		}
	}
	fail_msg("no calls of %s by %lld", name, (long long)tid);
	abort();
}

/*
 * "{'success': 418, 'ENOENT': 56}": those that are no success. The reference counts the first one
 * of each kind twice (417 + 55 were 472 calls): it is taken out here.
 */
static uint64_t errors_in(const char *returns)
{
	const char *at = returns;
	uint64_t errors = 0;

	while ((at = strchr(at, '\'')) != NULL) {
		const char *colon = strchr(at, ':');

		if (!colon) {
			break;
		}
		if (strncmp(at, "'success'", 9) != 0) {
			errors += strtoull(colon + 1, NULL, 10) - 1;
		}
		at = colon;
	}
	return errors;
}

/*
 * Count, least, mean, most and errors of every call of every thread.
 *
 * One difference: the return of a signal handler (rt_sigreturn, "unknown" to that tracer) leaves by
 * compat_syscall_exit_unknown, which the reference does not know. It misses these calls; we do not.
 */
static void system_calls(void **state)
{
	uint32_t t, compared = 0, sigreturns = 0;

	(void)state;
	for (t = 0; t < TRACES; t++) {
		struct looked looked;
		json_t *result, *row;
		size_t i, j;

		if (!look(&looked, recorded[t], "syscallstats.run")) {
			continue;
		}
		json_array_foreach(json_object_get(looked.reference, "results"), i, result)
		{
			const char *title = json_string_value(
					json_object_get(json_object_get(result, "class"), "title"));
			const char *at = title ? strstr(title, "TID: ") : NULL;
			int64_t tid = at ? strtoll(at + 5, NULL, 10) : -1;

			if (!at) {
				continue; /* totals */
			}
			json_array_foreach(json_object_get(result, "data"), j, row)
			{
				json_t *first = json_array_get(row, 0);
				const char *name =
						json_string_value(json_object_get(first, "name"));
				const struct state_syscall *call = call_of(looked.view, tid, name);
				uint64_t errors = errors_in(json_string_value(
						json_object_get(json_array_get(row, 6), "value")));

				compared++;
				if (strcmp(name, "unknown") == 0 &&
						(double)call->count >
								reference_number(row, 1, "value")) {
					sigreturns++;
					continue;
				}
				assert_int_equal(call->count, reference_number(row, 1, "value"));
				assert_int_equal(call->min_ns, reference_number(row, 2, "value"));
				assert_true(fabs(call->mean_ns -
							    reference_number(row, 3, "value")) < 1);
				assert_int_equal(call->max_ns, reference_number(row, 4, "value"));
				assert_int_equal(call->errors, errors);
			}
		}
		leave(&looked);
	}
	assert_true(sigreturns <= 10); /* the threads of one trace that handled signals */
	if (compared == 0) {
		skip();
	}
}

/* The reference knows no softirqs of that spelling (irq_softirq_*): interrupts alone. */
static void interrupts(void **state)
{
	uint32_t t, compared = 0;

	(void)state;
	for (t = 0; t < TRACES; t++) {
		struct looked looked;
		json_t *row;
		size_t i;

		if (!look(&looked, recorded[t], "irq.runstats")) {
			continue;
		}
		json_array_foreach(reference_table(looked.reference, "hard-stats"), i, row)
		{
			const char *name = json_string_value(
					json_object_get(json_array_get(row, 0), "name"));
			uint32_t k = 0;

			while (k < looked.view->n_irqs &&
					(looked.view->irqs[k].soft ||
							(double)looked.view->irqs[k].number !=
									reference_number(row, 0,
											"nr"))) {
				k++;
			}
			assert_true(k < looked.view->n_irqs);
			assert_string_equal(looked.view->irqs[k].name, name);
			assert_int_equal(looked.view->irqs[k].count,
					reference_number(row, 1, "value"));
			assert_int_equal(looked.view->irqs[k].min_ns,
					reference_number(row, 2, "value"));
			assert_true(fabs((double)looked.view->irqs[k].total_ns /
								    (double)looked.view->irqs[k]
										    .count -
						    reference_number(row, 3, "value")) < 1);
			assert_int_equal(looked.view->irqs[k].max_ns,
					reference_number(row, 4, "value"));
			compared++;
		}
		leave(&looked);
	}
	if (compared == 0) {
		skip();
	}
}

/* CPUs x window = threads + idle + irq + unknown, and threads = the sum of them all, at any time.
 */
static void conserved(void **state)
{
	uint32_t t, k, compared = 0;
	uint64_t random = 88172645463325252u; /* xorshift, Marsaglia 2003 */

	(void)state;
	for (t = 0; t < TRACES; t++) {
		struct engine *engine;
		struct snapshot *last;
		uint64_t end_ns;

		if (!recorded_exists(recorded[t])) {
			continue;
		}
		engine = recorded_read(recorded[t], UINT64_C(3000000000));
		last = recorded_state(engine, 0);
		end_ns = last->state.at_ns;
		snapshot_destroy(last);
		for (k = 0; k < 40; k++) {
			struct snapshot *snapshot;
			const struct state_view *view;
			const struct state_host *host;
			uint64_t threads_ns = 0;
			uint32_t i;

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			snapshot = recorded_state(engine, end_ns - random % UINT64_C(3000000000));
			view = &snapshot->state;
			host = &view->hosts[0];
			assert_int_equal(view->n_hosts, 1);
			assert_int_equal(host->capacity_ns, view->n_cpus * view->window_ns);
			assert_int_equal(host->capacity_ns, host->threads_ns + host->idle_ns +
									    host->irq_ns +
									    host->unknown_ns);
			for (i = 0; i < view->n_threads; i++) {
				threads_ns += view->threads[i].cpu_ns;
			}
			assert_int_equal(threads_ns, host->threads_ns);
			snapshot_destroy(snapshot);
			compared++;
		}
		engine_destroy(engine);
	}
	if (compared == 0) {
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(cpu_time_of_threads),
			cmocka_unit_test(use_of_cpus),
			cmocka_unit_test(scheduling_latencies),
			cmocka_unit_test(system_calls),
			cmocka_unit_test(interrupts),
			cmocka_unit_test(conserved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
