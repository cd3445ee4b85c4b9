/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The windowed state beside a model that keeps everything for ever: random values, and random
 * schedules of threads, asked about at random instants of the window.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel_feed.h"
#include "state/store.h"
#include "trials.h"

#define MS     UINT64_C(1000000)
#define WINDOW (100 * MS)
#define T0     UINT64_C(1700000000000000000)

static uint64_t seed;

static uint64_t draw(uint64_t below) /* xorshift, Marsaglia 2003 */
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* --- the store ------------------------------------------------------------------------------- */

#define STEPS 20000

struct naive {
	uint64_t at_ns[STEPS], value[STEPS];
	uint32_t n;
};

static uint64_t naive_at(const struct naive *naive, uint64_t at_ns)
{
	uint64_t value = 0;
	uint32_t i;

	for (i = 0; i < naive->n && naive->at_ns[i] <= at_ns; i++) {
		value = naive->value[i];
	}
	return value;
}

static void check_attribute(const struct attribute *attribute, const struct naive *naive,
		uint64_t horizon_ns, uint64_t now_ns)
{
	uint64_t from_ns = horizon_ns + draw(now_ns - horizon_ns + 1);
	uint64_t to_ns = from_ns + draw(now_ns - from_ns + 1), at_ns = from_ns, next_ns = from_ns;
	struct attribute_walk walk = {.next = 0};
	uint32_t near = (uint32_t)draw(attribute->past.n + 3);
	uint64_t since_ns, near_since_ns, value = attribute_since(attribute, from_ns, &since_ns);

	assert_int_equal(value, naive_at(naive, from_ns));
	for (uint32_t i = 0; i < 2; i++) { /* from anywhere, and from where it was found */
		assert_int_equal(attribute_since_near(attribute, from_ns, &near_since_ns, &near),
				value);
		assert_int_equal(near_since_ns, since_ns);
	}
	while (attribute_step(attribute, from_ns, to_ns, &walk)) {
		assert_int_equal(walk.begin_ns, next_ns);
		assert_true(walk.end_ns > walk.begin_ns && walk.since_ns <= walk.begin_ns);
		next_ns = walk.end_ns;
		at_ns = walk.begin_ns + draw(walk.end_ns - walk.begin_ns);
		assert_int_equal(walk.value, naive_at(naive, at_ns));
	}
	assert_int_equal(next_ns, to_ns);
}

static void values_of_the_window(void **state)
{
	struct naive *naive = calloc(1, sizeof(*naive));
	uint64_t round;

	(void)state;
	assert_non_null(naive);
	for (round = 1; round <= TRIALS(24); round++) {
		struct store store;
		struct attribute attribute = {.value = 0};
		uint64_t now_ns = 1000;
		uint32_t i;

		seed = round * UINT64_C(0x9e3779b97f4a7c15);
		naive->n = 0;
		store_init(&store);
		for (i = 0; i < STEPS; i++) {
			now_ns += draw(4);
			naive->at_ns[naive->n] = now_ns;
			naive->value[naive->n++] = draw(5);
			attribute_set(&store, &attribute, now_ns, naive->value[naive->n - 1]);
			if (draw(50) == 0 && now_ns > 2000 && now_ns - 1000 > store.horizon_ns) {
				store.horizon_ns = now_ns - 1000;
				attribute_expire(&store, &attribute);
			}
			if (draw(100) == 0) {
				check_attribute(&attribute, naive, store.horizon_ns, now_ns);
			}
		}
		/* 1000 ns of it are at most 1000 records of 16 bytes, in a ring twice as large. */
		assert_true(store_bytes(&store) <= 65536);
		attribute_release(&store, &attribute);
		assert_int_equal(store_bytes(&store), 0);
		store_release(&store);
	}
	free(naive);
}

static void totals_of_the_window(void **state)
{
	struct store store;
	struct attribute total = {.value = 0};
	uint64_t sums[2001] = {0};
	uint32_t t;

	(void)state;
	seed = 42;
	store_init(&store);
	for (t = 1; t <= 2000; t++) {
		uint64_t more = draw(3) ? draw(10) : 0;
		uint64_t from, to;

		sums[t] = sums[t - 1] + more;
		attribute_add(&store, &total, t, more);
		store.horizon_ns = t > 200 ? t - 200 : 0;
		if (t % 7 == 0) {
			attribute_expire(&store, &total);
		}
		from = store.horizon_ns + draw(t - store.horizon_ns + 1);
		to = from + draw(t - from + 1);
		assert_int_equal(attribute_gain(&total, from, to), sums[to] - sums[from]);
	}
	attribute_release(&store, &total);
	store_release(&store);
}

/* --- schedules ------------------------------------------------------------------------------- */

#define CPUS    3
#define THREADS 12
#define EVENTS  6000

/* Independent of the state: what each thread was, since when, from the schedule itself. */
struct life {
	uint64_t at_ns[EVENTS * 2];
	enum thread_status status[EVENTS * 2];
	uint32_t n;
	int cpu; /* it runs on; -1: none */
	bool in_call, ready;
};

struct world {
	struct life lives[THREADS];
	int running[CPUS]; /* -1: idle */
	bool in_irq[CPUS], in_softirq[CPUS], switched[CPUS];
	uint64_t now_ns;
	struct kernel_feed kernel;
};

static void live(struct world *world, int thread, enum thread_status status)
{
	struct life *life = &world->lives[thread];

	life->at_ns[life->n] = world->now_ns;
	life->status[life->n++] = status;
}

static enum thread_status running_status(const struct world *world, uint32_t cpu)
{
	const struct life *life = &world->lives[world->running[cpu]];

	return world->in_irq[cpu] || world->in_softirq[cpu] ? THREAD_INTERRUPTED
	       : life->in_call                              ? THREAD_RUN_SYSCALL
							    : THREAD_RUN_USER;
}

static void switch_to(struct world *world, uint32_t cpu, int next, bool blocks)
{
	int prev = world->running[cpu];
	char words[256];

	snprintf(words, sizeof(words),
			"sched_switch prev_comm:s=t%d prev_tid:i=%d prev_prio:i=20 prev_state:i=%d "
			"next_comm:s=t%d next_tid:i=%d next_prio:i=20",
			prev, prev < 0 ? 0 : 100 + prev, blocks ? 1 : 0, next,
			next < 0 ? 0 : 100 + next);
	kernel_event(&world->kernel, world->now_ns, cpu, words);
	if (prev >= 0) {
		world->lives[prev].cpu = -1;
		world->lives[prev].ready = !blocks;
		live(world, prev, blocks ? THREAD_BLOCKED : THREAD_WAIT_CPU);
	}
	world->running[cpu] = next;
	world->switched[cpu] = true;
	if (next >= 0) {
		world->lives[next].cpu = (int)cpu;
		world->lives[next].ready = false;
		live(world, next, running_status(world, cpu));
	}
}

static void wake(struct world *world, uint32_t cpu)
{
	int thread = (int)draw(THREADS);
	struct life *life = &world->lives[thread];
	char words[96];

	if (life->cpu >= 0 || life->ready) {
		return;
	}
	life->ready = true;
	live(world, thread, THREAD_WAIT_CPU);
	snprintf(words, sizeof(words), "sched_waking comm:s=t%d tid:i=%d prio:i=20 target_cpu:i=0",
			thread, 100 + thread);
	kernel_event(&world->kernel, world->now_ns, cpu, words);
}

static void interrupt(struct world *world, uint32_t cpu)
{
	bool soft = draw(2) && !world->in_irq[cpu];
	bool *in = soft ? &world->in_softirq[cpu] : &world->in_irq[cpu];

	*in = !*in;
	kernel_event(&world->kernel, world->now_ns, cpu,
			soft  ? *in ? "softirq_entry vec:u=3" : "softirq_exit vec:u=3"
			: *in ? "irq_handler_entry irq:i=7 name:s=nic"
			      : "irq_handler_exit irq:i=7 ret:i=1");
	if (world->running[cpu] >= 0) {
		live(world, world->running[cpu], running_status(world, cpu));
	}
}

static void call(struct world *world, uint32_t cpu)
{
	struct life *life = &world->lives[world->running[cpu]];

	kernel_event(&world->kernel, world->now_ns, cpu,
			life->in_call ? "syscall_exit_getpid ret:i=1" : "syscall_entry_getpid");
	life->in_call = !life->in_call;
	live(world, world->running[cpu], running_status(world, cpu));
}

static void act(struct world *world)
{
	uint32_t cpu = (uint32_t)draw(CPUS);
	bool quiet = !world->in_irq[cpu] && !world->in_softirq[cpu];
	int next = (int)draw(THREADS + 2) - 2;

	/* Some are at whole ms: sums are kept by tenths of the window. */
	world->now_ns = draw(16) ? world->now_ns + 1 + draw(60000) : (world->now_ns / MS + 1) * MS;
	engine_advance(world->kernel.engine, world->now_ns);
	switch (draw(5)) {
	case 0:
	case 1:
		if (!quiet || (next >= 0 && (world->lives[next].cpu >= 0 ||
							    !world->lives[next].ready))) {
			break;
		}
		next = next < 0 ? -1 : next;
		if (next != world->running[cpu] || !world->switched[cpu]) {
			switch_to(world, cpu, next, draw(3) > 0);
		}
		break;
	case 2:
		wake(world, cpu);
		break;
	case 3:
		interrupt(world, cpu);
		break;
	default:
		if (quiet && world->running[cpu] >= 0) {
			call(world, cpu);
		}
	}
}

struct sums {
	uint64_t cpu_ns, irq_ns, runqueue_ns, blocked_ns;
	uint64_t switches, wakeups, max_runqueue_ns;
	uint64_t latencies, latency_ns, latency_min_ns, latency_max_ns;
	enum thread_status status;
};

static bool is_running(enum thread_status status)
{
	return status == THREAD_RUN_USER || status == THREAD_RUN_SYSCALL ||
	       status == THREAD_INTERRUPTED;
}

/* Changes after from_ns and before at_ns. */
static void naive_changes(
		const struct life *life, uint64_t from_ns, uint64_t at_ns, struct sums *sums)
{
	enum thread_status before = THREAD_UNKNOWN;
	uint64_t before_ns = 0;
	bool before_woken = false;

	for (uint32_t i = 0; i < life->n && life->at_ns[i] < at_ns; i++) {
		enum thread_status status = life->status[i];
		bool woken = status == THREAD_WAIT_CPU && !is_running(before);
		uint64_t waited_ns = life->at_ns[i] - before_ns;

		if (status == before) {
			continue;
		}
		if (life->at_ns[i] > from_ns) {
			bool runs = is_running(status) && !is_running(before);

			sums->switches += runs;
			sums->wakeups += woken;
			if (runs && before == THREAD_WAIT_CPU &&
					waited_ns > sums->max_runqueue_ns) {
				sums->max_runqueue_ns = waited_ns;
			}
			if (runs && before_woken) {
				sums->latency_ns += waited_ns;
				if (sums->latencies == 0 || waited_ns < sums->latency_min_ns) {
					sums->latency_min_ns = waited_ns;
				}
				if (waited_ns > sums->latency_max_ns) {
					sums->latency_max_ns = waited_ns;
				}
				sums->latencies++;
			}
		}
		before = status;
		before_ns = life->at_ns[i];
		before_woken = woken;
	}
}

static struct sums naive_life(const struct life *life, uint64_t from_ns, uint64_t at_ns)
{
	struct sums sums = {.status = THREAD_UNKNOWN};
	uint32_t i;

	for (i = 0; i < life->n && life->at_ns[i] <= at_ns; i++) {
		uint64_t end_ns = i + 1 < life->n ? life->at_ns[i + 1] : at_ns;
		uint64_t begin_ns = life->at_ns[i] > from_ns ? life->at_ns[i] : from_ns;
		uint64_t ns;

		sums.status = life->status[i];
		end_ns = end_ns > at_ns ? at_ns : end_ns;
		ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
		switch (life->status[i]) {
		case THREAD_RUN_USER:
		case THREAD_RUN_SYSCALL:
			sums.cpu_ns += ns;
			break;
		case THREAD_INTERRUPTED:
			sums.irq_ns += ns;
			break;
		case THREAD_WAIT_CPU:
			sums.runqueue_ns += ns;
			break;
		default:
			sums.blocked_ns += ns;
		}
	}
	naive_changes(life, from_ns, at_ns, &sums);
	return sums;
}

static void check_host(const struct state_view *view)
{
	uint64_t threads_ns = 0;
	uint32_t i;

	assert_int_equal(view->n_hosts, 1);
	assert_int_equal(view->hosts[0].capacity_ns, view->n_cpus * view->window_ns);
	assert_int_equal(view->hosts[0].capacity_ns,
			view->hosts[0].threads_ns + view->hosts[0].idle_ns + view->hosts[0].irq_ns +
					view->hosts[0].unknown_ns);
	for (i = 0; i < view->n_threads; i++) {
		threads_ns += view->threads[i].cpu_ns;
	}
	assert_int_equal(threads_ns, view->hosts[0].threads_ns);
}

static void check_world(struct world *world, const struct focus *focus, uint64_t at_ns)
{
	struct snapshot *snapshot = snapshot_create();
	const struct state_view *view = &snapshot->state;
	uint32_t i;

	assert_int_equal(engine_fill(world->kernel.engine, focus, snapshot), STATUS_OK);
	assert_int_equal(view->at_ns, at_ns);
	assert_false(view->trimmed);
	check_host(view);
	for (i = 0; i < view->n_threads; i++) {
		const struct state_thread *thread = &view->threads[i];
		const struct sums sums =
				naive_life(&world->lives[thread->tid - 100], at_ns - WINDOW, at_ns);

		assert_int_equal(thread->status, sums.status);
		assert_int_equal(thread->cpu_ns, sums.cpu_ns);
		assert_int_equal(thread->irq_ns, sums.irq_ns);
		assert_int_equal(thread->runqueue_ns, sums.runqueue_ns);
		assert_int_equal(thread->blocked_ns, sums.blocked_ns);
		assert_int_equal(thread->switches, sums.switches);
		assert_int_equal(thread->wakeups, sums.wakeups);
		assert_int_equal(thread->max_runqueue_ns, sums.max_runqueue_ns);
		assert_int_equal(thread->latencies, sums.latencies);
		assert_int_equal(thread->latency_ns, sums.latency_ns);
		assert_int_equal(thread->latency_min_ns, sums.latency_min_ns);
		assert_int_equal(thread->latency_max_ns, sums.latency_max_ns);
	}
	snapshot_destroy(snapshot);
}

/* A pin holds its window, and all of it for each step back, however much comes afterwards. */
static void check_pinned(struct world *world)
{
	struct focus focus = {.parts = FOCUS_STATE, .frozen = true};
	uint64_t pinned_ns = world->now_ns;
	uint32_t i;

	check_world(world, &focus, pinned_ns);
	for (i = 0; i < 600; i++) {
		act(world);
	}
	for (i = 0; i < 10; i++) {
		focus.back_ns = draw(WINDOW + 1);
		check_world(world, &focus, pinned_ns - focus.back_ns);
	}
	focus = (struct focus){.parts = FOCUS_STATE};
	check_world(world, &focus, world->now_ns);
}

static void start_world(struct world *world)
{
	uint32_t i;

	memset(world, 0, sizeof(*world));
	kernel_start(&world->kernel, &(struct engine_config){.window_ns = WINDOW});
	world->now_ns = T0;
	for (i = 0; i < CPUS; i++) {
		world->running[i] = -1;
	}
	for (i = 0; i < THREADS; i++) {
		world->lives[i].cpu = -1;
	}
}

static void schedules_of_the_window(void **state)
{
	struct world *world = malloc(sizeof(*world));
	uint64_t round;

	(void)state;
	assert_non_null(world);
	for (round = 1; round <= 6; round++) {
		uint32_t i, at;

		seed = round * UINT64_C(0x2545f4914f6cdd1d);
		start_world(world);
		for (at = 0; at < 4; at++) {
			for (i = 0; i < EVENTS / 8; i++) {
				act(world);
				if (draw(40) == 0) {
					uint64_t back_ns =
							draw(4) ? draw(WINDOW) : world->now_ns % MS;
					uint64_t at_ns = world->now_ns - back_ns;

					check_world(world,
							&(struct focus){.parts = FOCUS_STATE,
									.state_at_ns = at_ns},
							at_ns);
				}
			}
			check_pinned(world);
		}
		kernel_stop(&world->kernel);
	}
	free(world);
}

/* --- generations and memory ------------------------------------------------------------------ */

static void fork_and_free(struct kernel_feed *kernel, uint64_t ts_ns, int tid, int generation)
{
	char words[256];

	snprintf(words, sizeof(words),
			"sched_process_fork parent_tid:i=10 parent_pid:i=10 child_tid:i=%d "
			"child_pid:i=%d child_comm:s=child%d",
			tid, tid, generation);
	kernel_event(kernel, ts_ns, 0, words);
	snprintf(words, sizeof(words),
			"sched_switch prev_comm:s=p prev_tid:i=10 prev_state:i=0 prev_prio:i=20 "
			"next_comm:s=child%d next_tid:i=%d next_prio:i=20",
			generation, tid);
	kernel_event(kernel, ts_ns + 100, 0, words);
	snprintf(words, sizeof(words), "sched_process_exit tid:i=%d", tid);
	kernel_event(kernel, ts_ns + 200, 0, words);
	snprintf(words, sizeof(words),
			"sched_switch prev_comm:s=child%d prev_tid:i=%d prev_state:i=32 "
			"prev_prio:i=20 next_comm:s=p next_tid:i=10 next_prio:i=20",
			generation, tid);
	kernel_event(kernel, ts_ns + 300, 0, words);
	snprintf(words, sizeof(words), "sched_process_free tid:i=%d", tid);
	kernel_event(kernel, ts_ns + 400, 0, words);
}

/* A tid that is given anew is another thread: each has its own name, time and end. */
static void generations_of_a_tid(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot = snapshot_create();
	struct focus focus = {.parts = FOCUS_STATE};
	uint64_t ids[3];
	uint32_t i, found = 0;

	(void)state;
	kernel_start(&kernel, &(struct engine_config){.window_ns = WINDOW});
	for (i = 0; i < 3; i++) {
		fork_and_free(&kernel, T0 + i * 1000, 77, (int)i);
	}
	assert_int_equal(engine_fill(kernel.engine, &focus, snapshot), STATUS_OK);
	for (i = 0; i < snapshot->state.n_threads; i++) {
		const struct state_thread *thread = &snapshot->state.threads[i];
		char name[16];

		if (thread->tid != 77) {
			continue;
		}
		snprintf(name, sizeof(name), "child%u", thread->name[5] - '0');
		assert_string_equal(thread->name, name);
		assert_int_equal(thread->status, THREAD_DEAD);
		assert_int_equal(thread->cpu_ns, 200);
		assert_true(found < 3);
		ids[found++] = thread->id;
	}
	assert_int_equal(found, 3);
	assert_true(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
	snapshot_destroy(snapshot);

	/* While the second lived, that was it. */
	snapshot = snapshot_create();
	focus.state_at_ns = T0 + 1000 + 150;
	assert_int_equal(engine_fill(kernel.engine, &focus, snapshot), STATUS_OK);
	assert_string_equal(snapshot->state.cpus[0].name, "child1");
	assert_int_equal(snapshot->state.cpus[0].tid, 77);
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
}

static void memory_is_flat(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot = snapshot_create();
	const struct focus focus = {.parts = FOCUS_STATE};
	size_t settled = 0;
	int i;

	(void)state;
	kernel_start(&kernel, &(struct engine_config){.window_ns = WINDOW});
	for (i = 0; i < 100000; i++) {
		fork_and_free(&kernel, T0 + (uint64_t)i * MS / 10, 1000 + i % 30000, i % 7);
		if (i == 20000) {
			settled = mallinfo2().uordblks;
		}
	}
	assert_true(mallinfo2().uordblks <= settled + (64u << 10));
	assert_int_equal(engine_fill(kernel.engine, &focus, snapshot), STATUS_OK);
	assert_false(snapshot->state.trimmed);
	/* Those of the window, and their parent. */
	assert_true(snapshot->state.n_threads <= WINDOW / (MS / 10) + 2);
	assert_int_equal(snapshot->state.hosts[0].threads, 1);
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
}

/* Oldest detail goes first, and it shows; the present stays. */
static void a_bound_is_kept(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot = snapshot_create();
	const struct focus focus = {.parts = FOCUS_STATE};
	int i;

	(void)state;
	kernel_start(&kernel,
			&(struct engine_config){.window_ns = WINDOW, .max_state_bytes = 1u << 20});
	for (i = 0; i < 20000; i++) {
		fork_and_free(&kernel, T0 + (uint64_t)i * 1000, 1000 + i, i % 7);
	}
	assert_int_equal(engine_fill(kernel.engine, &focus, snapshot), STATUS_OK);
	assert_true(snapshot->state.trimmed);
	assert_int_equal(snapshot->state.cpus[0].tid, 10);
	assert_true(snapshot->state.n_threads > 10);
	assert_true(snapshot->state.n_threads < 4000);
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(values_of_the_window),
			cmocka_unit_test(totals_of_the_window),
			cmocka_unit_test(schedules_of_the_window),
			cmocka_unit_test(generations_of_a_tid),
			cmocka_unit_test(memory_is_flat),
			cmocka_unit_test(a_bound_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
