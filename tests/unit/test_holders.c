/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/parts.h"
#include "feed.h"
#include "kernel_feed.h"
#include "requests/ended.h"
#include "requests/keys.h"

/*
 * Who was waited for: a lock of one process, which one request holds while others wait; with kernel
 * events by wake-ups, without them by what ends where waits end.
 */
#define T0 UINT64_C(1700000000000000000)
#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

#define V(...) ((union feed_value[]){__VA_ARGS__})

struct shop {
	struct feed feed;
	struct kernel_feed kernel;
	uint32_t types[2][8];
};

enum span { SERVE, LOCK, COMMIT, OTHER, N_SPANS };
static const char *const names[N_SPANS] = {"serve", "lock", "commit", "other"};

static void shop_start(struct shop *shop)
{
	feed_start(&shop->feed, NULL);
	for (uint32_t i = 0; i < N_SPANS; i++) {
		char text[64];

		snprintf(text, sizeof(text), "app:%s_entry", names[i]);
		shop->types[0][i] = feed_type(&shop->feed, text, "request_id:u vtid:c vpid:c");
		snprintf(text, sizeof(text), "app:%s_exit", names[i]);
		shop->types[1][i] = feed_type(&shop->feed, text, "request_id:u vtid:c vpid:c");
	}
	shop->kernel = (struct kernel_feed){
			.engine = shop->feed.engine, .session = shop->feed.session};
}

static void use_kernel_later(struct shop *shop, uint64_t ns)
{
	shop->kernel.stream = engine_add_stream(
			shop->feed.engine, &(struct stream_desc){.session = shop->feed.session,
							   .domain = DOMAIN_KERNEL,
							   .channel = "kernel",
							   .kernel_release = "6.2.0"});
	kernel_event(&shop->kernel, T0 + ns, 7, "syscall_entry_futex uaddr:u=1 op:i=0");
	kernel_event(&shop->kernel, T0 + ns, 7, "syscall_exit_futex ret:i=0");
}

static void use_kernel(struct shop *shop)
{
	use_kernel_later(shop, 0);
}

static void tell(struct shop *shop, uint64_t at_ns, enum span span, bool exit, uint64_t request,
		uint64_t tid)
{
	feed_raw(&shop->feed, shop->feed.stream, shop->types[exit][span], T0 + at_ns, 0,
			V({.u = request}, {.u = tid}, {.u = 100}));
}

static void run(struct shop *shop, uint64_t ns, uint32_t cpu, int prev, int state, int next)
{
	char text[200];

	snprintf(text, sizeof(text),
			"sched_switch prev_comm:s=a prev_tid:i=%d prev_prio:i=20 prev_state:i=%d "
			"next_comm:s=b next_tid:i=%d next_prio:i=20",
			prev, state, next);
	kernel_event(&shop->kernel, T0 + ns, cpu, text);
}

static void wake(struct shop *shop, uint64_t ns, uint32_t cpu, int tid)
{
	char text[200];

	snprintf(text, sizeof(text), "sched_waking comm:s=a tid:i=%d prio:i=20 target_cpu:i=0",
			tid);
	kernel_event(&shop->kernel, T0 + ns, cpu, text);
}

static void call(struct shop *shop, uint64_t ns, uint32_t cpu, const char *text)
{
	kernel_event(&shop->kernel, T0 + ns, cpu, text);
}

/* Those of the worst group of that type. */
static const struct group_waits *waits_of_type(
		struct shop *shop, const char *type, struct snapshot **snapshot)
{
	struct focus focus = {.parts = FOCUS_GROUPS, .horizon = HORIZON_ALL};

	*snapshot = snapshot_create();
	assert_non_null(*snapshot);
	assert_int_equal(engine_fill(shop->feed.engine, &focus, *snapshot), STATUS_OK);
	for (uint32_t i = (*snapshot)->groups.n; i > 0; i--) {
		if (strcmp((*snapshot)->groups.rows[i - 1].type, type) == 0) {
			focus.group_id = (*snapshot)->groups.rows[i - 1].id;
		}
	}
	assert_true(focus.group_id > 0);
	snapshot_destroy(*snapshot);
	focus.parts = FOCUS_GROUP | FOCUS_WAITS;
	*snapshot = snapshot_create();
	assert_non_null(*snapshot);
	assert_int_equal(engine_fill(shop->feed.engine, &focus, *snapshot), STATUS_OK);
	assert_true((*snapshot)->group.waits.told);
	return &(*snapshot)->group.waits;
}

static const struct group_waits *waits_of(struct shop *shop, struct snapshot **snapshot)
{
	return waits_of_type(shop, "serve", snapshot);
}

/* The only one of that kind; one of no waits if there is none. */
static const struct group_wait *the_wait(const struct group_waits *waits, const char *what)
{
	static const struct group_wait none;
	const struct group_wait *found = &none;

	for (uint32_t i = 0; i < waits->n; i++) {
		found = strcmp(waits->items[i].what, what) == 0 ? &waits->items[i] : found;
	}
	assert_true(found->waits > 0 && found->n > 0);
	return found;
}

/* Thread 100 waits for what 200 holds, which waits for 300 itself. */
static void woken_through_a_chain(void **state)
{
	const struct group_wait *wait;
	struct snapshot *snapshot;
	struct shop shop;

	(void)state;
	shop_start(&shop);
	use_kernel(&shop);
	run(&shop, 1 * US, 0, 5, 1, 100);
	run(&shop, 2 * US, 1, 6, 1, 200);
	run(&shop, 3 * US, 2, 7, 1, 300);
	tell(&shop, 10 * US, SERVE, false, 3, 300);
	tell(&shop, 20 * US, COMMIT, false, 3, 300);
	tell(&shop, 30 * US, SERVE, false, 2, 200);
	tell(&shop, 40 * US, LOCK, false, 2, 200);
	call(&shop, 45 * US, 1, "syscall_entry_futex uaddr:u=2 op:i=0");
	run(&shop, 50 * US, 1, 200, 1, 6);
	tell(&shop, 60 * US, SERVE, false, 1, 100);
	tell(&shop, 70 * US, LOCK, false, 1, 100);
	call(&shop, 90 * US, 0, "syscall_entry_futex uaddr:u=1 op:i=0");
	run(&shop, 100 * US, 0, 100, 1, 5);
	/* 300 is done, and hands over to 200; that one to 100. */
	tell(&shop, 8000 * US, COMMIT, true, 3, 300);
	wake(&shop, 8100 * US, 2, 200);
	run(&shop, 8100 * US + 10, 1, 6, 0, 200);
	call(&shop, 8100 * US + 20, 1, "syscall_exit_futex ret:i=0");
	tell(&shop, 8100 * US + 30, LOCK, true, 2, 200);
	tell(&shop, 8200 * US, COMMIT, false, 2, 200);
	tell(&shop, 10000 * US, COMMIT, true, 2, 200);
	wake(&shop, 10100 * US, 1, 100);
	run(&shop, 10100 * US + 10, 0, 5, 0, 100);
	call(&shop, 10100 * US + 20, 0, "syscall_exit_futex ret:i=0");
	tell(&shop, 10200 * US, LOCK, true, 1, 100);
	tell(&shop, 10300 * US, SERVE, true, 1, 100);
	tell(&shop, 10400 * US, SERVE, true, 2, 200);
	tell(&shop, 10500 * US, SERVE, true, 3, 300);

	wait = the_wait(waits_of(&shop, &snapshot), "(blocked: futex)");
	assert_int_equal(wait->evidence, WAIT_WOKEN);
	assert_int_equal(wait->waits, 1);
	assert_int_equal(wait->known, 1);
	assert_string_equal(wait->holders[0].name, "commit");
	assert_string_equal(wait->holders[0].provider, "app");
	assert_string_equal(wait->holders[0].type, "serve");
	/* Of 10 ms 300 was in commit for 7.9, then 200 for 1.8. */
	assert_true(fabs(wait->holders[0].share - 0.97) < 0.001);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* The share of the waits' time in which that process had the processor, NULL: nobody. All of how
 * they vary is somebody's. */
static double share_of(const struct group_wait *wait, const char *process)
{
	double share = 0, variation = 0;

	for (uint32_t i = 0; i < wait->n; i++) {
		variation += wait->holders[i].of_variation;
	}
	assert_float_equal(variation, 1, 1e-6);

	for (uint32_t i = 0; i < wait->n; i++) {
		const struct group_holder *holder = &wait->holders[i];

		share += process ? (strcmp(holder->process, process) == 0) * holder->share
				 : holder->idle * holder->share;
	}
	return share;
}

static void switch_named(struct shop *shop, uint64_t ns, uint32_t cpu, const char *prev,
		int prev_tid, int state, const char *next, int next_tid)
{
	char text[200];

	snprintf(text, sizeof(text),
			"sched_switch prev_comm:s=%s prev_tid:i=%d prev_prio:i=20 prev_state:i=%d "
			"next_comm:s=%s next_tid:i=%d next_prio:i=20",
			prev, prev_tid, state, next, next_tid);
	kernel_event(&shop->kernel, T0 + ns, cpu, text);
}

/*
 * Of one process alone it is told whom its threads wait for on run queues: 10 ms of a hog that was
 * not seen to begin, twice, then 1 ms of a thread of the kernel; 5 ms of a hog on the queue before
 * it is moved to one where nobody runs, and 1 ms there.
 */
static void who_ran_on_its_run_queues(void **state)
{
	const struct group_wait *wait;
	struct snapshot *snapshot;
	struct shop shop;
	uint64_t at = 1 * MS;

	(void)state;
	shop_start(&shop);
	use_kernel(&shop);
	run(&shop, 1 * US, 0, 5, 1, 100);
	tell(&shop, 10 * US, SERVE, false, 1, 100);
	for (int i = 0; i < 2; i++, at += 20 * MS) {
		switch_named(&shop, at, 0, "shop", 100, 1, "hog", 50);
		kernel_event(&shop.kernel, T0 + at + 1, 0, "pythiatop_cpu_left");
		wake(&shop, at + 5 * MS, 1, 100);
		switch_named(&shop, at + 15 * MS, 0, "hog", 50, 0, "kworker", 60);
		switch_named(&shop, at + 16 * MS, 0, "kworker", 60, 1, "shop", 100);
	}
	switch_named(&shop, at, 0, "shop", 100, 0, "hog", 50);
	kernel_event(&shop.kernel, T0 + at + 5 * MS, 1,
			"sched_migrate_task comm:s=shop tid:i=100 prio:i=20 orig_cpu:i=0 "
			"dest_cpu:i=1");
	switch_named(&shop, at + 5500 * US, 0, "hog", 50, 0, "other", 70);
	switch_named(&shop, at + 6 * MS, 1, "swapper", 0, 0, "shop", 100);
	tell(&shop, at + 7 * MS, SERVE, true, 1, 100);

	wait = the_wait(waits_of(&shop, &snapshot), "(runnable)");
	assert_int_equal(wait->evidence, WAIT_RAN);
	assert_int_equal(wait->waits, 3);
	assert_int_equal(wait->known, 3);
	assert_float_equal(share_of(wait, "hog"), 25.0 / 28, 1e-6);
	assert_float_equal(share_of(wait, "kworker"), 2.0 / 28, 1e-6);
	assert_float_equal(share_of(wait, NULL), 1.0 / 28, 1e-6);
	/* It had the processor in most of the longer ones; nobody in the short one, so in less than
	 * none. */
	assert_string_equal(wait->holders[0].process, "hog");
	assert_true(wait->holders[0].of_variation > 0.9);
	assert_true(wait->holders[wait->n - 1].idle && wait->holders[wait->n - 1].of_variation < 0);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* A child of the process has the processor that it waits for, and then one of another's. */
static void a_child_of_its_own(void **state)
{
	const struct group_wait *wait;
	struct snapshot *snapshot;
	struct shop shop;
	char text[400];

	(void)state;
	shop_start(&shop);
	use_kernel(&shop);
	run(&shop, 1 * US, 0, 5, 1, 100);
	tell(&shop, 10 * US, SERVE, false, 1, 100);
	kernel_event(&shop.kernel, T0 + 20 * US, 0, "syscall_entry_clone flags:u=0");
	kernel_event(&shop.kernel, T0 + 30 * US, 0,
			"sched_process_fork parent_comm:s=shop parent_tid:i=100 parent_pid:i=100 "
			"child_comm:s=shop child_tid:i=200 child_pid:i=200");
	kernel_event(&shop.kernel, T0 + 40 * US, 0, "syscall_exit_clone ret:i=200");
	switch_named(&shop, 1 * MS, 0, "shop", 100, 0, "shop", 200);
	switch_named(&shop, 5 * MS, 0, "shop", 200, 0, "shop", 100);
	kernel_event(&shop.kernel, T0 + 6 * MS, 0,
			"sched_process_fork parent_comm:s=cron parent_tid:i=50 parent_pid:i=50 "
			"child_comm:s=cron child_tid:i=60 child_pid:i=60");
	switch_named(&shop, 7 * MS, 0, "shop", 100, 0, "cron", 60);
	switch_named(&shop, 8 * MS, 0, "cron", 60, 0, "shop", 100);
	tell(&shop, 9 * MS, SERVE, true, 1, 100);

	wait = the_wait(waits_of(&shop, &snapshot), "(runnable)");
	assert_int_equal(wait->n, 2);
	assert_true(wait->holders[0].child);
	assert_string_equal(wait->holders[0].made_in, "clone");
	assert_float_equal(wait->holders[0].share, 4.0 / 5, 1e-6);
	assert_false(wait->holders[1].child);
	group_wait_text(text, sizeof(text), wait);
	assert_ptr_equal(strstr(text, "its child shop (by clone, pid 200) had the processor "),
			text);
	assert_int_equal(wait->holders[1].pid, 60);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/*
 * Of more requests than are looked at: the long waits of a few are of long ago, and the others that
 * stand for the rest count as many.
 */
static void long_waits_of_long_ago(void **state)
{
	enum { N_LONG = 20, N_ALL = 620 };
	const struct group_waits *waits;
	const struct group_wait *wait;
	struct snapshot *snapshot;
	struct shop shop;

	(void)state;
	shop_start(&shop);
	use_kernel(&shop);
	run(&shop, 1 * US, 0, 5, 1, 100);
	for (uint64_t i = 0; i < N_ALL; i++) {
		uint64_t at = (1 + 12 * i) * MS, ns = i < N_LONG ? 10 * MS : 1 * MS;

		tell(&shop, at, SERVE, false, 1 + i, 100);
		switch_named(&shop, at + 10 * US, 0, "shop", 100, 0, i < N_LONG ? "hog" : "usual",
				i < N_LONG ? 50 : 60);
		switch_named(&shop, at + 10 * US + ns, 0, i < N_LONG ? "hog" : "usual",
				i < N_LONG ? 50 : 60, 0, "shop", 100);
		tell(&shop, at + 20 * US + ns, SERVE, true, 1 + i, 100);
	}

	waits = waits_of(&shop, &snapshot);
	assert_true(waits->requests < N_ALL - N_LONG);
	wait = the_wait(waits, "(runnable)");
	assert_float_equal(share_of(wait, "hog"), 200.0 / 800, 1e-3);
	assert_float_equal(share_of(wait, "usual"), 600.0 / 800, 1e-3);
	assert_float_equal(wait->mean_ns, 800.0 / N_ALL * MS, 1e-3 * MS);
	assert_string_equal(wait->holders[0].process, "hog");
	assert_true(wait->holders[0].of_variation > 0.9);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* Thread 100 blocks in a call, and nobody has its processor. */
static void block(struct shop *shop, uint64_t from_ns, const char *name)
{
	char text[100];

	snprintf(text, sizeof(text), "syscall_entry_%s fd:u=3", name);
	call(shop, from_ns, 0, text);
	run(shop, from_ns + 10 * US, 0, 100, 1, 0);
}

static void unblock(struct shop *shop, uint64_t to_ns, const char *name)
{
	char text[100];

	snprintf(text, sizeof(text), "syscall_exit_%s ret:i=0", name);
	run(shop, to_ns + 10 * US, 0, 0, 0, 100);
	call(shop, to_ns + 20 * US, 0, text);
}

/*
 * No thread ends these waits: a timer, a disk (by the call, where the processor was idle), and, as
 * the recorder tells of a processor that others have, another timer. Then it tells of a thread.
 */
static void an_interrupt_ends_it(void **state)
{
	static const char *const calls[] = {"epoll_wait", "fsync", "poll", "recvfrom"};
	const struct group_wait *wait;
	const struct group_waits *waits;
	struct snapshot *snapshot;
	struct shop shop;
	char text[400];

	(void)state;
	shop_start(&shop);
	use_kernel(&shop);
	run(&shop, 1 * US, 0, 5, 1, 100);
	run(&shop, 2 * US, 1, 6, 1, 50);
	call(&shop, 3 * US, 1, "pythiatop_cpu_left");
	run(&shop, 3 * US + 1, 2, 6, 1, 60);
	/* Calls become spans once their kinds are known. */
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		block(&shop, (4 + 50 * i) * US, calls[i]);
		unblock(&shop, (24 + 50 * i) * US, calls[i]);
	}
	tell(&shop, 900 * US, SERVE, false, 1, 100);
	block(&shop, 1 * MS, "epoll_wait");
	call(&shop, 3 * MS, 0, "timer_hrtimer_expire_entry hrtimer:u=1 now:i=1 function:u=1");
	wake(&shop, 3 * MS + 1 * US, 0, 100);
	call(&shop, 3 * MS + 2 * US, 0, "timer_hrtimer_expire_exit hrtimer:u=1");
	unblock(&shop, 3 * MS, "epoll_wait");
	block(&shop, 4 * MS, "fsync");
	wake(&shop, 5 * MS, 0, 100);
	unblock(&shop, 5 * MS, "fsync");
	block(&shop, 6 * MS, "epoll_wait");
	call(&shop, 7 * MS, 1, "pythiatop_waker comm:s= tid:i=-1 interrupt:u=1");
	wake(&shop, 7 * MS + 1 * US, 1, 100);
	unblock(&shop, 7 * MS, "epoll_wait");
	block(&shop, 8 * MS, "epoll_wait");
	call(&shop, 9 * MS, 1, "pythiatop_waker comm:s=psql tid:i=77 interrupt:u=0");
	wake(&shop, 9 * MS + 1 * US, 1, 100);
	unblock(&shop, 9 * MS, "epoll_wait");
	/* Whoever was told last wakes nobody else. */
	block(&shop, 10 * MS, "poll");
	wake(&shop, 11 * MS, 1, 100);
	unblock(&shop, 11 * MS, "poll");
	/* Who runs when a packet comes is nobody, unless that comes from this host. */
	for (uint64_t at = 12; at <= 14; at += 2) {
		block(&shop, at * MS, "recvfrom");
		call(&shop, (at + 1) * MS - 3 * US, 2, "irq_softirq_entry vec:u=3");
		call(&shop, (at + 1) * MS - 2 * US, 2,
				at == 12 ? "net_if_receive_skb skbaddr:u=1 len:u=1 name:s=eth0"
					 : "net_if_receive_skb skbaddr:u=1 len:u=1 name:s=lo");
		wake(&shop, (at + 1) * MS, 2, 100);
		call(&shop, (at + 1) * MS + 1 * US, 2, "irq_softirq_exit vec:u=3");
		unblock(&shop, (at + 1) * MS, "recvfrom");
	}
	tell(&shop, 16 * MS, SERVE, true, 1, 100);

	waits = waits_of(&shop, &snapshot);
	wait = the_wait(waits, "(blocked: epoll_wait)");
	assert_int_equal(wait->waits, 3);
	assert_int_equal(wait->known, 3);
	assert_int_equal(wait->n, 2);
	assert_int_equal(wait->holders[0].interrupt, INTERRUPT_TIMER);
	assert_int_equal(wait->holders[1].interrupt, INTERRUPT_NONE);
	assert_int_equal(wait->holders[1].tid, 77);
	group_wait_text(text, sizeof(text), wait);
	assert_string_equal(text, "a timer is waited for 75% of it, psql (tid 77) 25%");
	wait = the_wait(waits, "(blocked: recvfrom)");
	assert_int_equal(wait->known, 2);
	assert_int_equal(wait->n, 2);
	assert_int_equal(wait->holders[0].interrupt + wait->holders[1].interrupt,
			INTERRUPT_NETWORK + INTERRUPT_NONE);
	assert_int_equal(wait->holders[0].tid + wait->holders[1].tid, 60);
	wait = the_wait(waits, "(blocked: fsync)");
	assert_int_equal(wait->holders[0].interrupt, INTERRUPT_DISK);
	for (uint32_t i = 0; i < waits->n; i++) {
		assert_true(strcmp(waits->items[i].what, "(blocked: poll)") != 0 ||
				waits->items[i].known == 0);
	}
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* As the probe tells it, of the connection between two ports, by thread 100. */
static void socket_does(struct shop *shop, uint64_t ns, const char *what, uint32_t own,
		uint32_t peer, uint32_t position, uint64_t queued_ns)
{
	char text[400];

	snprintf(text, sizeof(text),
			"socket_%s family:u=2 netns:u=1 sport:u=%u dport:u=%u saddr_high:u=0 "
			"saddr_low:u=0xffff7f000001 daddr_high:u=0 daddr_low:u=0xffff7f000001 "
			"named:u=0 position:u=%u tid:i=100 type:u=1 length:u=10 queued:u=%lu",
			what, own, peer, position, (unsigned long)queued_ns);
	kernel_event(&shop->kernel, T0 + ns, 0, text);
}

static void use_kernel_alone(struct shop *shop)
{
	feed_start(&shop->feed, NULL);
	shop->kernel = (struct kernel_feed){
			.engine = shop->feed.engine, .session = shop->feed.session};
	use_kernel(shop);
	run(shop, 1 * US, 0, 5, 1, 100);
	socket_does(shop, 2 * US, "listen", 6001, 0, 0, 0);
	socket_does(shop, 3 * US, "listen", 6002, 0, 0, 0);
}

/* No thread does anything in it, so that it has no variables. */
static void has_no_keys(struct shop *shop, const struct snapshot *snapshot, const char *context)
{
	struct engine *engine = shop->feed.engine;
	const struct request *requests[64];
	struct request_keys keys;
	uint32_t n = groups_newest(engine->groups, snapshot->group.id, HORIZON_ALL, requests, 64);

	assert_true(n > 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(requests_read_keys(engine->requests, requests[i], &keys));
		assert_true(keys.n > 0);
		for (uint32_t k = 0; k < keys.n; k++) {
			uint32_t of = keys.items[k].context;
			uint32_t name = of ? contexts_get(engine->contexts, of)->name : 0;

			assert_string_not_equal(names_text(engine->names, name), context);
		}
	}
}

/* The one wait of that kind in requests of that type; it is the last to be looked at. */
static void end_with_wait(struct shop *shop, const char *type, const char *what, double mean_ns,
		const char *says)
{
	struct snapshot *snapshot;
	const struct group_wait *wait = the_wait(waits_of_type(shop, type, &snapshot), what);
	char text[256];

	assert_true(fabs(wait->mean_ns - mean_ns) < 1e5);
	group_wait_text(text, sizeof(text), wait);
	assert_string_equal(text, says);
	has_no_keys(shop, snapshot, what);
	snapshot_destroy(snapshot);
	feed_stop(&shop->feed);
}

/* One thread serves two ports: what comes at one lies there while it is busy with the other. */
static void what_its_thread_served(void **state)
{
	struct shop shop;

	(void)state;
	use_kernel_alone(&shop);
	for (uint32_t i = 1; i <= 20; i++) {
		uint64_t at = i * 20 * MS;

		socket_does(&shop, at, "recv", 6001, 50001, i * 10, 0);
		socket_does(&shop, at += 8 * MS, "send", 6001, 50001, i * 10, 0);
		socket_does(&shop, at += 10 * US, "recv", 6002, 50002, i * 10, 5 * MS);
		socket_does(&shop, at += 1 * MS, "send", 6002, 50002, i * 10, 0);
	}
	end_with_wait(&shop, "b:6002", "(in the socket)", 5e6,
			"its thread is busy with b:6001 100% of it");
}

/* It asks another server, and of what it sends some is lost: TCP sends it again, some of it twice.
 */
static void what_was_not_acknowledged(void **state)
{
	struct shop shop;

	(void)state;
	use_kernel_alone(&shop);
	for (uint32_t i = 1; i <= 40; i++) {
		uint64_t at = i * 100 * MS;

		socket_does(&shop, at, "recv", 6001, 50001, i * 10, 0);
		/* In two pieces, and the second one is lost. */
		socket_does(&shop, at += 1 * MS, "send", 40000, 7000, i * 20, 0);
		socket_does(&shop, at += 5 * MS, "send", 40000, 7000, i * 20 + 10, 0);
		if (i % 2) {
			socket_does(&shop, at += 20 * MS, "retransmit", 40000, 7000, i * 20 + 10,
					0);
		}
		if (i % 4 == 1) {
			socket_does(&shop, at += 40 * MS, "retransmit", 40000, 7000, i * 20 + 10,
					0);
		}
		socket_does(&shop, at += 2 * MS, "recv", 40000, 7000, i * 10, 0);
		socket_does(&shop, at += 1 * MS, "send", 6001, 50001, i * 10, 0);
	}
	end_with_wait(&shop, "b:6001", "(no acknowledgement)", (20 * 20e6 + 10 * 40e6) / 30,
			"the network is waited for 100% of it");
}

/* What is fed in order of time. */
struct item {
	uint64_t at_ns, request, tid;
	enum span span;
	bool exit;
};

static int by_time(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

static void put(struct item *items, uint32_t *n, uint64_t from_ns, uint64_t to_ns, enum span span,
		uint64_t request, uint64_t tid)
{
	items[(*n)++] = (struct item){from_ns, request, tid, span, false};
	items[(*n)++] = (struct item){to_ns, request, tid, span, true};
}

static uint64_t draw(uint64_t *seed, uint64_t most)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*seed >> 33) % most;
}

/*
 * 80 times: one request holds the lock for some milliseconds in commit, another waits for it in
 * lock. Or, unrelated, the same but that the wait ends whenever it will.
 */
static void play(struct shop *shop, bool related)
{
	static struct item items[80 * 16];
	uint64_t seed = 7;
	uint32_t n = 0;

	for (uint64_t i = 0; i < 80; i++) {
		uint64_t at = 10 * MS + i * 40 * MS + draw(&seed, 5 * MS);
		uint64_t held = 5 * MS + draw(&seed, 8 * MS), a = 1000 + 2 * i, b = a + 1;
		uint64_t end = at + held +
			       (related ? 60 * US + draw(&seed, 40 * US)
					: draw(&seed, 12 * MS) - 4 * MS);

		put(items, &n, at, at + held + 100 * US, SERVE, a, 200);
		put(items, &n, at + 10 * US, at + held, COMMIT, a, 200);
		put(items, &n, at + 500 * US, end + 30 * US, SERVE, b, 100);
		put(items, &n, at + 600 * US, end, LOCK, b, 100);
		put(items, &n, at + draw(&seed, MS), at + MS + draw(&seed, 14 * MS), OTHER, 0, 300);
	}
	qsort(items, n, sizeof(*items), by_time);
	for (uint32_t i = 0; i < n; i++) {
		tell(shop, items[i].at_ns, items[i].span, items[i].exit, items[i].request,
				items[i].tid);
	}
	engine_advance(shop->feed.engine, T0 + 4000 * MS);
}

static void inferred_from_ends(void **state)
{
	const struct group_waits *waits;
	struct snapshot *snapshot;
	struct shop shop;
	const struct group_wait *wait;

	(void)state;
	shop_start(&shop);
	play(&shop, true);
	waits = waits_of(&shop, &snapshot);
	assert_int_equal(waits->n, 1); /* whoever commits waits for nobody */
	wait = the_wait(waits, "");
	assert_string_equal(wait->name, "lock");
	assert_int_equal(wait->evidence, WAIT_INFERRED);
	assert_string_equal(wait->ends_with, "commit");
	assert_true(wait->fits > 0.95 && wait->fits_low > 0.9 && wait->chance < 0.1);
	assert_string_equal(wait->holders[0].name, "commit");
	assert_string_equal(wait->holders[0].type, "serve");
	assert_true(wait->holders[0].share > 0.95);
	assert_false(wait->holders[0].same_place);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* A step that records which threads run, as an engineer approves or undoes it. */
static void take_step(struct shop *shop, bool undo, uint64_t answered_ns)
{
	struct engine *engine = shop->feed.engine;
	const struct step_order *order;
	char error[256];

	if (undo) {
		assert_int_equal(
				engine_input(engine, &(struct engine_input){.kind = INPUT_UNDO_ALL},
						error, sizeof(error)),
				STATUS_OK);
	} else {
		pythia_set_mode(engine->loop.pythia, MODE_APPROVE, engine->now_ns);
		assert_int_equal(pythia_propose(engine->loop.pythia, "", "sched_switch", true,
						 engine->now_ns, error, sizeof(error)),
				STATUS_OK);
		assert_int_equal(pythia_decide(engine->loop.pythia, 1, STEP_APPROVE, STEP_BY_PERSON,
						 engine->now_ns, error, sizeof(error)),
				STATUS_OK);
	}
	order = engine_next_order(engine);
	assert_non_null(order);
	assert_int_equal(order->undo, undo);
	assert_int_equal(
			engine_input(engine,
					&(struct engine_input){.kind = INPUT_OUTCOME,
							.outcome = {.step = order->step,
									.undo = undo,
									.ok = true,
									.error = "",
									.answered_ns = answered_ns}},
					error, sizeof(error)),
			STATUS_OK);
}

static bool is_told(struct shop *shop, uint64_t from_ns, uint64_t to_ns)
{
	return state_was_told(shop->feed.engine->state, 0, T0 + from_ns, T0 + to_ns);
}

static enum thread_status status_of(struct shop *shop, int32_t tid, uint64_t at_ns)
{
	struct state_doing doing = {.status = THREAD_UNKNOWN};

	state_doing(shop->feed.engine->state, 0, tid, -1, T0 + at_ns, &doing);
	return doing.status;
}

enum others { NO_OTHERS, OTHERS_RECORD_ELSE, OTHERS_RECORD_SWITCHES };

/*
 * Threads 100 and 200 are recorded for a while by a step, which is undone; a session of somebody
 * else may trace that kernel, too.
 */
static void record_for_a_while(struct shop *shop, enum others others)
{
	const struct pythia_offer offer = {.event = "sched_switch",
			.kernel = true,
			.provider = "",
			.span = "sched_switch"};
	struct session_desc session = {.host = "alpha", .name = "pythiatop-1-probe", .ours = true};

	shop_start(shop);
	shop->feed.session = engine_add_session(shop->feed.engine, &session);
	use_kernel(shop);
	assert_int_equal(pythia_offer(shop->feed.engine->loop.pythia, "alpha", &offer, 1),
			STATUS_OK);
	take_step(shop, false, T0 + 1 * US);
	run(shop, 500 * US, 0, 200, 1, 100);
	run(shop, 1000 * US, 0, 100, 1, 6);
	assert_int_equal(status_of(shop, 100, 1500 * US), THREAD_BLOCKED);
	take_step(shop, true, T0 + 3 * MS);
	/* On its way when the host was asked. */
	run(shop, 2500 * US, 0, 6, 1, 200);
	run(shop, 2800 * US, 0, 200, 1, 6);
	assert_int_equal(status_of(shop, 100, 2900 * US), THREAD_BLOCKED);
	if (others) {
		shop->feed.session = engine_add_session(shop->feed.engine,
				&(struct session_desc){.host = "alpha", .name = "theirs"});
		shop->kernel.session = shop->feed.session;
		use_kernel_later(shop, 2900 * US);
	}
	if (others == OTHERS_RECORD_SWITCHES) {
		run(shop, 2950 * US, 0, 6, 1, 7);
	}
	engine_advance(shop->feed.engine, T0 + 3 * MS);
}

/* What threads did last when a step was undone they do not do for ever. */
static void inferred_once_a_step_is_undone(void **state)
{
	const struct group_waits *waits;
	struct snapshot *snapshot;
	struct shop shop;

	(void)state;
	record_for_a_while(&shop, NO_OTHERS);
	assert_int_equal(status_of(&shop, 100, 2700 * US), THREAD_BLOCKED);
	assert_int_equal(status_of(&shop, 100, 2900 * US), THREAD_UNKNOWN);
	assert_true(is_told(&shop, 2 * MS, 4 * MS));
	assert_false(is_told(&shop, 3 * MS, 4 * MS));
	play(&shop, true);
	waits = waits_of(&shop, &snapshot);
	assert_int_equal(waits->n, 1);
	assert_string_equal(the_wait(waits, "")->holders[0].name, "commit");
	snapshot_destroy(snapshot);
	/* A dump tells what a thread is, no more. */
	call(&shop, 4100 * MS, 0,
			"lttng_statedump_process_state tid:i=100 vtid:i=100 pid:i=100 vpid:i=100 "
			"ppid:i=1 vppid:i=1 name:s=a type:i=0 mode:i=5 submode:i=0 status:i=5 "
			"ns_level:i=0");
	engine_advance(shop.feed.engine, T0 + 4300 * MS);
	assert_int_equal(status_of(&shop, 100, 4300 * MS), THREAD_UNKNOWN);
	assert_false(is_told(&shop, 4200 * MS, 4300 * MS));
	feed_stop(&shop.feed);

	record_for_a_while(&shop, OTHERS_RECORD_ELSE);
	engine_advance(shop.feed.engine, T0 + 4 * MS);
	assert_int_equal(status_of(&shop, 100, 4 * MS), THREAD_UNKNOWN);
	call(&shop, 4200 * US, 0, "syscall_entry_read fd:u=3 count:u=64");
	engine_advance(shop.feed.engine, T0 + 4300 * US);
	assert_false(is_told(&shop, 4200 * US, 4300 * US));
	feed_stop(&shop.feed);

	record_for_a_while(&shop, OTHERS_RECORD_SWITCHES);
	engine_advance(shop.feed.engine, T0 + 4 * MS);
	assert_int_equal(status_of(&shop, 100, 4 * MS), THREAD_BLOCKED);
	assert_true(is_told(&shop, 2500 * US, 4 * MS));
	feed_stop(&shop.feed);
}

static void nobody_is_named(void **state)
{
	struct snapshot *snapshot;
	struct shop shop;

	(void)state;
	shop_start(&shop);
	play(&shop, false);
	assert_int_equal(waits_of(&shop, &snapshot)->n, 0);
	snapshot_destroy(snapshot);
	feed_stop(&shop.feed);
}

/* More spans than there is room for: what is left is whole, and each thread's chain ends there. */
static void log_is_bounded(void **state)
{
	struct ended ended = {.n = 0};
	uint32_t last[3] = {0}, n = 0;

	(void)state;
	for (uint64_t i = 1; i <= 2 * ENDED_SPANS + 5; i++) {
		ended_add(&ended, &(struct ended_span){.start_ns = i, .end_ns = i, .key = i % 3},
				&last[i % 3]);
	}
	assert_int_equal(ended.n, ENDED_SPANS);
	assert_null(ended_get(&ended, ended.last - ENDED_SPANS));
	assert_null(ended_get(&ended, ended.last + 1));
	assert_null(ended_get(&ended, 0));
	for (uint32_t thread = 0; thread < 3; thread++) {
		uint64_t newer_ns = UINT64_MAX;

		for (const struct ended_span *at = ended_get(&ended, last[thread]); at;
				at = ended_get(&ended, at->older), n++) {
			assert_int_equal(at->key, thread);
			assert_true(at->end_ns < newer_ns);
			newer_ns = at->end_ns;
		}
	}
	assert_int_equal(n, ENDED_SPANS);
	ended_release(&ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(woken_through_a_chain),
			cmocka_unit_test(who_ran_on_its_run_queues),
			cmocka_unit_test(a_child_of_its_own),
			cmocka_unit_test(long_waits_of_long_ago),
			cmocka_unit_test(an_interrupt_ends_it),
			cmocka_unit_test(what_its_thread_served),
			cmocka_unit_test(what_was_not_acknowledged),
			cmocka_unit_test(inferred_from_ends),
			cmocka_unit_test(inferred_once_a_step_is_undone),
			cmocka_unit_test(nobody_is_named),
			cmocka_unit_test(log_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
