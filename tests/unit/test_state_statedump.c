/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The statedump as lttng-modules writes it from 2.12 on: fds are listed by the address of their
 * file table, which the list of processes ties to threads. No recorded trace has it, so one is made
 * byte by byte, with the layout of lttng-modules 2.13, and read by a real source process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel_feed.h"
#include "support_trace.h"
#include "trace_feed.h"

#define OF_SHELL  UINT64_C(0xffff9670802a1000)
#define OF_DAEMON UINT64_C(0xffff9670802a2000)
#define OF_KERNEL UINT64_C(0xffffffffab844c00)

static const char metadata[] =
		"/* CTF 1.8 */\n"
		"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
		"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
		"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
		"typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
		"typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
		"typealias integer { size = 64; align = 8; signed = false; base = 16; } := x64;\n"
		"typealias integer { size = 32; align = 8; signed = false; base = 16; } := x32;\n"
		"typealias integer { size = 32; align = 8; signed = false; base = 8; } := o32;\n"
		"typealias integer { size = 64; align = 8; signed = false;\n"
		"	map = clock.monotonic.value; } := clock_u64;\n"
		"typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := "
		"letter;\n"
		"trace { major = 1; minor = 8; byte_order = le;\n"
		"	packet.header := struct { u32 magic; u32 stream_id; }; };\n"
		"env { hostname = \"maker\"; domain = \"kernel\"; kernel_release = \"6.2.0\";\n"
		"	tracer_name = \"lttng-modules\"; tracer_major = 2; tracer_minor = 13; };\n"
		"clock { name = monotonic; uuid = \"11223344-5566-7788-99aa-bbccddeeff00\";\n"
		"	freq = 1000000000; offset_s = 1700000000; offset = 0; };\n"
		"stream { id = 0;\n"
		"	event.header := struct { u16 id; clock_u64 timestamp; };\n"
		"	packet.context := struct { clock_u64 timestamp_begin; clock_u64 "
		"timestamp_end;\n"
		"		u64 content_size; u64 packet_size; u64 events_discarded; u32 "
		"cpu_id; };\n"
		"};\n"
		"event { name = \"sched_switch\"; id = 0; stream_id = 0; fields := struct {\n"
		"	letter _prev_comm[16]; i32 _prev_tid; i32 _prev_prio; i64 _prev_state;\n"
		"	letter _next_comm[16]; i32 _next_tid; i32 _next_prio; }; };\n"
		"event { name = \"lttng_statedump_process_state\"; id = 1; stream_id = 0;\n"
		"	fields := struct { i32 _tid; i32 _pid; i32 _ppid; letter _name[16];\n"
		"	i32 _type; i32 _mode; i32 _submode; i32 _status; u32 _cpu;\n"
		"	x64 _file_table_address; }; };\n"
		"event { name = \"lttng_statedump_file_descriptor\"; id = 2; stream_id = 0;\n"
		"	fields := struct { x64 _file_table_address; i32 _fd; o32 _flags;\n"
		"	x32 _fmode; string _filename; }; };\n"
		"event { name = \"syscall_entry_read\"; id = 3; stream_id = 0;\n"
		"	fields := struct { u32 _fd; u64 _count; }; };\n"
		"event { name = \"syscall_exit_read\"; id = 4; stream_id = 0;\n"
		"	fields := struct { i64 _ret; x64 _buf; }; };\n";

struct packet {
	unsigned char bytes[8192];
	size_t size;
	uint64_t now;
};

static void put(struct packet *packet, uint64_t value, unsigned int n_bytes)
{
	unsigned int i;

	assert_true(packet->size + n_bytes <= sizeof(packet->bytes));
	for (i = 0; i < n_bytes; i++) {
		packet->bytes[packet->size++] = (unsigned char)(value >> 8 * i);
	}
}

static void put_text(struct packet *packet, const char *text, size_t size)
{
	assert_true(packet->size + size <= sizeof(packet->bytes));
	memset(packet->bytes + packet->size, 0, size);
	memcpy(packet->bytes + packet->size, text, strnlen(text, size));
	packet->size += size;
}

static void put_event(struct packet *packet, uint16_t id)
{
	packet->now += 1000;
	put(packet, id, 2);
	put(packet, packet->now, 8);
}

static void put_switch(struct packet *packet, int32_t prev, int32_t next)
{
	put_event(packet, 0);
	put_text(packet, "prev", 16);
	put(packet, (uint32_t)prev, 4);
	put(packet, 20, 4);
	put(packet, 1, 8);
	put_text(packet, "next", 16);
	put(packet, (uint32_t)next, 4);
	put(packet, 20, 4);
}

static void put_process(
		struct packet *packet, int32_t tid, int32_t pid, const char *name, uint64_t table)
{
	put_event(packet, 1);
	put(packet, (uint32_t)tid, 4);
	put(packet, (uint32_t)pid, 4);
	put(packet, 1, 4);
	put_text(packet, name, 16);
	put(packet, table == OF_KERNEL, 4);
	put(packet, 5, 4);
	put(packet, 0, 4);
	put(packet, 5, 4);
	put(packet, 0, 4);
	put(packet, table, 8);
}

static void put_fd(
		struct packet *packet, uint64_t table, int32_t fd, uint32_t flags, const char *path)
{
	put_event(packet, 2);
	put(packet, table, 8);
	put(packet, (uint32_t)fd, 4);
	put(packet, flags, 4);
	put(packet, 0x6001f, 4);
	put_text(packet, path, strlen(path) + 1);
}

static void put_read(struct packet *packet, uint32_t fd, int64_t ret)
{
	put_event(packet, 3);
	put(packet, fd, 4);
	put(packet, 4096, 8);
	put_event(packet, 4);
	put(packet, (uint64_t)ret, 8);
	put(packet, 0, 8);
}

/* As the tracer lists: each thread, and after it its table unless the thread before had it. */
static void put_events(struct packet *packet)
{
	put_switch(packet, 0, 301);
	put_read(packet, 4, 100); /* by a thread of nobody knows which process */
	put_process(packet, 2, 2, "kthreadd", OF_KERNEL);
	put_process(packet, 3, 3, "rcu_gp", OF_KERNEL);
	put_process(packet, 200, 200, "bash", OF_SHELL);
	put_fd(packet, OF_SHELL, 0, 02, "/dev/pts/3");
	put_fd(packet, OF_SHELL, 255, 02000002, "/dev/pts/3");
	put_process(packet, 300, 300, "daemon", OF_DAEMON);
	put_fd(packet, OF_DAEMON, 4, 02000000, "/etc/daemon.conf");
	put_fd(packet, OF_DAEMON, 5, 02, "socket:[4711]");
	put_process(packet, 301, 300, "worker", OF_DAEMON);
	put_read(packet, 5, 7);
}

static void make_trace(const struct trace_maker *maker)
{
	static struct packet packet;
	size_t size;

	packet.size = 0;
	packet.now = 1000;
	put(&packet, 0xc1fc1fc1, 4);
	put(&packet, 0, 4);
	put(&packet, packet.now, 8);
	put(&packet, 1000000, 8);
	put(&packet, 0, 8); /* sizes, set below */
	put(&packet, 0, 8);
	put(&packet, 0, 8);
	put(&packet, 0, 4);
	put_events(&packet);
	size = packet.size;
	packet.size = 24;
	put(&packet, size * 8, 8);
	put(&packet, size * 8, 8);
	trace_maker_put(maker, "metadata", metadata, sizeof(metadata) - 1);
	trace_maker_put(maker, "channel0_0", packet.bytes, size);
}

/* --- what is made of it ---------------------------------------------------------------------- */

static void expect(const struct snapshot *snapshot, int64_t pid, int32_t number, const char *path,
		enum fd_kind kind, uint64_t read_bytes)
{
	const struct state_fd *fd = kernel_fd(snapshot, pid, number);

	assert_non_null(fd);
	assert_string_equal(fd->path, path);
	assert_int_equal(fd->kind, kind);
	assert_int_equal(fd->confidence, FD_STATEDUMP);
	assert_int_equal(fd->read_bytes, read_bytes);
	assert_true(fd->open);
}

static void fds_by_table(void **state)
{
	struct kernel_feed kernel = {.engine = engine_create(NULL)};
	struct trace_maker maker;
	struct snapshot *snapshot;

	(void)state;
	assert_non_null(kernel.engine);
	trace_maker_init(&maker, false);
	make_trace(&maker);
	trace_feed(kernel.engine, maker.directory);
	snapshot = kernel_state(&kernel, 0);
	expect(snapshot, 200, 0, "/dev/pts/3", FD_FILE, 0);
	expect(snapshot, 200, 255, "/dev/pts/3", FD_FILE, 0);
	expect(snapshot, 300, 4, "/etc/daemon.conf", FD_FILE, 100);
	expect(snapshot, 300, 5, "socket:[4711]", FD_SOCKET, 7);
	assert_int_equal(snapshot->state.n_fds, 4);
	assert_string_equal(kernel_fd(snapshot, 300, 4)->process, "daemon");
	assert_int_equal(kernel_thread(snapshot, 301)->open_fds, 2);
	assert_int_equal(kernel_thread(snapshot, 300)->open_fds, 2);
	assert_int_equal(kernel_thread(snapshot, 301)->read_bytes, 107);
	assert_int_equal(kernel_thread(snapshot, 2)->open_fds, 0);
	assert_int_equal(snapshot->state.hosts[0].open_fds, 4);
	assert_true(snapshot->state.hosts[0].statedump);
	snapshot_destroy(snapshot);
	engine_destroy(kernel.engine);
	trace_maker_release(&maker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(fds_by_table)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
