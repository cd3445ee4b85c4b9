/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Disks, network interfaces and pages, from kernel events made here in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "kernel_feed.h"

#define US     UINT64_C(1000)
#define SECOND UINT64_C(1000000000)
#define T0     (UINT64_C(1700000000) * SECOND)
#define SDA    "dev:u=8388608"
#define DM     "dev:u=265289728" /* (253,0) */

/* Not inlined: gcc 12 would warn of what it might return. */
static __attribute__((noinline)) const struct state_disk *disk_of(
		const struct snapshot *snapshot, const char *name)
{
	uint32_t i;

	for (i = 0; i < snapshot->state.n_disks; i++) {
		if (strcmp(snapshot->state.disks[i].name, name) == 0) {
			return &snapshot->state.disks[i];
		}
	}
	return NULL;
}

static void expect_disk(struct kernel_feed *kernel, const char *name, uint64_t at_ns,
		const struct state_disk *expected)
{
	struct snapshot *snapshot = kernel_state(kernel, at_ns);
	const struct state_disk *disk = disk_of(snapshot, name);

	assert_non_null(disk);
	assert_int_equal(disk->reads, expected->reads);
	assert_int_equal(disk->writes, expected->writes);
	assert_int_equal(disk->read_bytes, expected->read_bytes);
	assert_int_equal(disk->write_bytes, expected->write_bytes);
	assert_int_equal(disk->errors, expected->errors);
	assert_int_equal(disk->mean_ns, expected->mean_ns);
	assert_int_equal(disk->max_ns, expected->max_ns);
	assert_int_equal(disk->pending, expected->pending);
	snapshot_destroy(snapshot);
}

static void expect_disk_bytes(
		struct kernel_feed *kernel, int64_t tid, uint64_t read, uint64_t written)
{
	struct snapshot *snapshot = kernel_state(kernel, 0);
	const struct state_thread *thread = kernel_thread(snapshot, tid);

	assert_non_null(thread);
	assert_int_equal(thread->disk_read_bytes, read);
	assert_int_equal(thread->disk_write_bytes, written);
	snapshot_destroy(snapshot);
}

static void requests(void **state)
{
	struct kernel_feed kernel;

	(void)state;
	kernel_start(&kernel, NULL);
	kernel_run(&kernel, T0, 0, 0, 10);
	/* 10 inserts, the worker 20 issues: the bytes are 10's. */
	kernel_event(&kernel, T0 + 100 * US, 0,
			"block_rq_insert " SDA " sector:u=1000 nr_sector:u=8 rwbs:u=33 tid:i=10");
	kernel_event(&kernel, T0 + 200 * US, 0,
			"block_rq_issue " SDA " sector:u=1000 nr_sector:u=8 rwbs:u=33 tid:i=20");
	/* A read issued at once, of two parts; a flush, which has no data. */
	kernel_event(&kernel, T0 + 300 * US, 0,
			"block_rq_issue " SDA " sector:u=5000 nr_sector:u=16 rwbs:u=4 tid:i=20");
	kernel_event(&kernel, T0 + 310 * US, 0,
			"block_rq_issue " SDA " sector:u=0 nr_sector:u=0 rwbs:u=256 tid:i=20");
	expect_disk(&kernel, "(8,0)", 0, &(struct state_disk){.pending = 2});
	kernel_event(&kernel, T0 + 500 * US, 0,
			"block_rq_complete " SDA
			" sector:u=1000 nr_sector:u=8 error:i=0 rwbs:u=33");
	kernel_event(&kernel, T0 + 600 * US, 0,
			"block_rq_complete " SDA " sector:u=5000 nr_sector:u=4 error:i=0 rwbs:u=4");
	expect_disk(&kernel, "(8,0)", 0,
			&(struct state_disk){.writes = 1,
					.write_bytes = 4096,
					.mean_ns = 300 * US,
					.max_ns = 300 * US,
					.pending = 1});
	kernel_event(&kernel, T0 + 900 * US, 0,
			"block_rq_complete " SDA
			" sector:u=5004 nr_sector:u=12 error:i=-5 rwbs:u=4");
	/* Begun before the trace: nobody knows how long it took. */
	kernel_event(&kernel, T0 + 910 * US, 0,
			"block_rq_complete " SDA " sector:u=7777 nr_sector:u=8 error:i=0 rwbs:u=4");
	kernel_event(&kernel, T0 + 920 * US, 0,
			"lttng_statedump_block_device " SDA " diskname:s=sda");
	expect_disk(&kernel, "sda", 0,
			&(struct state_disk){.reads = 1,
					.writes = 1,
					.read_bytes = 8192,
					.write_bytes = 4096,
					.errors = 1,
					.mean_ns = 450 * US,
					.max_ns = 600 * US});
	expect_disk_bytes(&kernel, 10, 0, 4096);
	expect_disk_bytes(&kernel, 20, 8192, 0);
	/* As of an instant: what was pending then. */
	expect_disk(&kernel, "sda", T0 + 250 * US, &(struct state_disk){.pending = 1});
	expect_disk(&kernel, "sda", T0 + 350 * US, &(struct state_disk){.pending = 2});
	expect_disk(&kernel, "sda", T0 + 550 * US,
			&(struct state_disk){.writes = 1,
					.write_bytes = 4096,
					.mean_ns = 300 * US,
					.max_ns = 300 * US,
					.pending = 1});
	/* Issued anew, it counts from then; a discard moves nothing. */
	kernel_event(&kernel, T0 + 1000 * US, 0,
			"block_rq_issue " SDA " sector:u=9000 nr_sector:u=8 rwbs:u=1 tid:i=10");
	kernel_event(&kernel, T0 + 1500 * US, 0,
			"block_rq_issue " SDA " sector:u=9000 nr_sector:u=8 rwbs:u=1 tid:i=10");
	kernel_event(&kernel, T0 + 1510 * US, 0,
			"block_rq_issue " SDA " sector:u=100 nr_sector:u=800 rwbs:u=3 tid:i=10");
	kernel_event(&kernel, T0 + 1600 * US, 0,
			"block_rq_complete " SDA " sector:u=9000 nr_sector:u=8 error:i=0 rwbs:u=1");
	kernel_event(&kernel, T0 + 1700 * US, 0,
			"block_rq_complete " SDA
			" sector:u=100 nr_sector:u=800 error:i=0 rwbs:u=3");
	expect_disk_bytes(&kernel, 10, 0, 8192);
	/* A window later it is a disk that did nothing. */
	engine_advance(kernel.engine, T0 + 11 * SECOND);
	expect_disk(&kernel, "sda", 0, &(struct state_disk){.pending = 0});
	expect_disk_bytes(&kernel, 10, 0, 0);
	kernel_stop(&kernel);
}

/* A device without requests is counted by its bios, one with both by its requests. */
static void bios(void **state)
{
	struct kernel_feed kernel;

	(void)state;
	kernel_start(&kernel, NULL);
	kernel_run(&kernel, T0, 0, 0, 10);
	kernel_event(&kernel, T0 + 10 * US, 0,
			"block_bio_queue " DM " sector:u=64 nr_sector:u=8 rwbs:u=1 tid:i=10");
	kernel_event(&kernel, T0 + 20 * US, 0,
			"block_bio_queue " SDA " sector:u=2112 nr_sector:u=8 rwbs:u=1 tid:i=10");
	kernel_event(&kernel, T0 + 30 * US, 0,
			"block_rq_issue " SDA " sector:u=2112 nr_sector:u=8 rwbs:u=1 tid:i=10");
	kernel_event(&kernel, T0 + 80 * US, 0,
			"block_rq_complete " SDA " sector:u=2112 nr_sector:u=8 error:i=0 rwbs:u=1");
	kernel_event(&kernel, T0 + 85 * US, 0,
			"block_bio_complete " SDA
			" sector:u=2112 nr_sector:u=8 error:i=0 rwbs:u=1");
	kernel_event(&kernel, T0 + 90 * US, 0,
			"block_bio_complete " DM " sector:u=64 nr_sector:u=8 error:i=0 rwbs:u=1");
	expect_disk(&kernel, "(8,0)", 0,
			&(struct state_disk){.writes = 1,
					.write_bytes = 4096,
					.mean_ns = 50 * US,
					.max_ns = 50 * US});
	expect_disk(&kernel, "(253,0)", 0,
			&(struct state_disk){.writes = 1,
					.write_bytes = 4096,
					.mean_ns = 80 * US,
					.max_ns = 80 * US});
	/* Written once, to the device below: the thread is not charged twice. */
	expect_disk_bytes(&kernel, 10, 0, 4096);
	kernel_stop(&kernel);
}

/* Requests whose end is never seen: at most so many are kept, and none for long. */
static void lost_completions(void **state)
{
	struct kernel_feed kernel;
	char text[200];
	uint32_t i;

	(void)state;
	kernel_start(&kernel, NULL);
	kernel_run(&kernel, T0, 0, 0, 10);
	for (i = 0; i < 70000; i++) {
		snprintf(text, sizeof(text),
				"block_rq_issue " SDA
				" sector:u=%u nr_sector:u=8 rwbs:u=1 tid:i=10",
				8 * i);
		kernel_event(&kernel, T0 + i * US, 0, text);
	}
	expect_disk(&kernel, "(8,0)", 0, &(struct state_disk){.pending = 65536});
	for (i = 1; i < 250; i++) {
		engine_advance(kernel.engine, T0 + i * SECOND);
	}
	expect_disk(&kernel, "(8,0)", 0, &(struct state_disk){.pending = 0});
	kernel_stop(&kernel);
}

static __attribute__((noinline)) const struct state_net *net_of(
		const struct snapshot *snapshot, const char *name)
{
	uint32_t i;

	for (i = 0; i < snapshot->state.n_nets; i++) {
		if (strcmp(snapshot->state.nets[i].name, name) == 0) {
			return &snapshot->state.nets[i];
		}
	}
	return NULL;
}

static void expect_net(struct kernel_feed *kernel, const char *name, uint64_t at_ns,
		const struct state_net *expected)
{
	struct snapshot *snapshot = kernel_state(kernel, at_ns);
	const struct state_net *net = net_of(snapshot, name);

	assert_non_null(net);
	assert_int_equal(net->received_packets, expected->received_packets);
	assert_int_equal(net->received_bytes, expected->received_bytes);
	assert_int_equal(net->sent_packets, expected->sent_packets);
	assert_int_equal(net->sent_bytes, expected->sent_bytes);
	snapshot_destroy(snapshot);
}

static void interfaces(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot;

	(void)state;
	kernel_start(&kernel, NULL);
	kernel_run(&kernel, T0, 0, 0, 10);
	kernel_event(&kernel, T0 + 1 * US, 0,
			"lttng_statedump_network_interface name:s=eth9 address_ipv4:u=0");
	kernel_event(&kernel, T0 + 2 * US, 0, "net_dev_queue skbaddr:u=1 len:u=100 name:s=eth0");
	kernel_event(&kernel, T0 + 3 * US, 0,
			"net_dev_xmit skbaddr:u=1 rc:i=16 len:u=100 name:s=eth0"); /* busy */
	kernel_event(&kernel, T0 + 4 * US, 0,
			"net_dev_xmit skbaddr:u=1 rc:i=0 len:u=100 name:s=eth0");
	kernel_event(&kernel, T0 + 5 * US, 0, "net_dev_queue skbaddr:u=2 len:u=70 name:s=lo");
	/* No event has told yet what is received: that is not 0. */
	snapshot = kernel_state(&kernel, 0);
	assert_true(net_of(snapshot, "lo")->has_sent && !net_of(snapshot, "lo")->has_received);
	snapshot_destroy(snapshot);
	kernel_event(&kernel, T0 + 6 * US, 0, "netif_receive_skb skbaddr:u=2 len:u=56 name:s=lo");
	kernel_event(&kernel, T0 + 7 * US, 0,
			"net_if_receive_skb skbaddr:u=3 len:u=1500 name:s=eth0");
	expect_net(&kernel, "eth0", 0,
			&(struct state_net){.received_packets = 1,
					.received_bytes = 1500,
					.sent_packets = 1,
					.sent_bytes = 100});
	expect_net(&kernel, "lo", 0,
			&(struct state_net){.received_packets = 1,
					.received_bytes = 56,
					.sent_packets = 1,
					.sent_bytes = 70});
	expect_net(&kernel, "eth9", 0, &(struct state_net){.sent_packets = 0});
	expect_net(&kernel, "eth0", T0 + 6 * US,
			&(struct state_net){.sent_packets = 1, .sent_bytes = 100});
	engine_advance(kernel.engine, T0 + 10 * SECOND + 5 * US);
	expect_net(&kernel, "eth0", 0,
			&(struct state_net){.received_packets = 1, .received_bytes = 1500});
	kernel_stop(&kernel);
}

/* Of more interfaces than are kept, the one used longest ago goes. */
static void many_interfaces(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot;
	char text[200];
	uint32_t i;

	(void)state;
	kernel_start(&kernel, NULL);
	kernel_run(&kernel, T0, 0, 0, 10);
	for (i = 0; i < 1100; i++) {
		snprintf(text, sizeof(text), "net_if_receive_skb skbaddr:u=3 len:u=9 name:s=veth%u",
				i);
		kernel_event(&kernel, T0 + i * US, 0, text);
		kernel_event(&kernel, T0 + i * US, 0,
				"net_if_receive_skb skbaddr:u=3 len:u=1 name:s=eth0");
	}
	snapshot = kernel_state(&kernel, 0);
	assert_int_equal(snapshot->state.n_nets, 1024);
	snapshot_destroy(snapshot);
	expect_net(&kernel, "eth0", 0,
			&(struct state_net){.received_packets = 1100, .received_bytes = 1100});
	expect_net(&kernel, "veth1099", 0,
			&(struct state_net){.received_packets = 1, .received_bytes = 9});
	kernel_stop(&kernel);
}

static void pages(void **state)
{
	struct kernel_feed kernel;
	struct snapshot *snapshot;

	(void)state;
	kernel_start(&kernel, NULL);
	kernel_event(&kernel, T0, 0, "mm_page_alloc pfn:u=1 order:u=0"); /* by nobody knows whom */
	kernel_run(&kernel, T0 + US, 0, 0, 10);
	kernel_event(&kernel, T0 + 2 * US, 0, "mm_page_alloc pfn:u=1 order:u=0");
	kernel_event(&kernel, T0 + 3 * US, 0, "kmem_mm_page_alloc pfn:u=1 order:u=3");
	kernel_event(&kernel, T0 + 4 * US, 0, "kmem_mm_page_free pfn:u=1 order:u=1");
	kernel_run(&kernel, T0 + 5 * US, 0, 10, 11);
	kernel_event(&kernel, T0 + 6 * US, 0, "mm_page_free pfn:u=1 order:u=0");
	snapshot = kernel_state(&kernel, 0);
	assert_int_equal(kernel_thread(snapshot, 10)->pages_allocated, 9);
	assert_int_equal(kernel_thread(snapshot, 10)->pages_freed, 2);
	assert_int_equal(kernel_thread(snapshot, 11)->pages_allocated, 0);
	assert_int_equal(kernel_thread(snapshot, 11)->pages_freed, 1);
	snapshot_destroy(snapshot);
	snapshot = kernel_state(&kernel, T0 + 2 * US);
	assert_int_equal(kernel_thread(snapshot, 10)->pages_allocated, 1);
	snapshot_destroy(snapshot);
	kernel_stop(&kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(requests),
			cmocka_unit_test(bios),
			cmocka_unit_test(lost_completions),
			cmocka_unit_test(interfaces),
			cmocka_unit_test(many_interfaces),
			cmocka_unit_test(pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
