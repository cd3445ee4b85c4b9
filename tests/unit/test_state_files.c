/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * File tables and fds: what is behind an fd, at any instant of the window, from kernel events made
 * here in words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_feed.h"
#include "state/fds.h"

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)
/* 2024-01-01, 10:00:00 UTC */
#define TEN (UINT64_C(1704103200) * SECOND)

#define A 100 /* processes */
#define B 200

struct bench {
	struct kernel_feed kernel;
	uint64_t now_ns;
};

static void begin(struct bench *bench)
{
	kernel_start(&bench->kernel, &(struct engine_config){.keep_events = true});
	bench->now_ns = TEN;
	kernel_run(&bench->kernel, bench->now_ns, 0, 0, A);
	kernel_event(&bench->kernel, bench->now_ns, 0,
			"lttng_statedump_process_state tid:i=100 pid:i=100 ppid:i=1 name:s=a");
	kernel_event(&bench->kernel, bench->now_ns, 0,
			"lttng_statedump_process_state tid:i=200 pid:i=200 ppid:i=1 name:s=b");
}

static void finish(struct bench *bench)
{
	kernel_stop(&bench->kernel);
}

static void run(struct bench *bench, int64_t tid)
{
	bench->now_ns += MS;
	kernel_run(&bench->kernel, bench->now_ns, 0, A, tid);
}

static void event(struct bench *bench, const char *text)
{
	bench->now_ns += MS;
	kernel_event(&bench->kernel, bench->now_ns, 0, text);
}

/* A call of the running thread that takes 1 ms: "openat dfd:i=-100", "ret:i=3". */
static void call(struct bench *bench, const char *entry, const char *exit)
{
	char text[KERNEL_BYTES];
	size_t name = strcspn(entry, " ");

	snprintf(text, sizeof(text), "syscall_entry_%s", entry);
	event(bench, text);
	snprintf(text, sizeof(text), "syscall_exit_%.*s %s", (int)name, entry, exit);
	event(bench, text);
}

/* One fd as of now, or of an instant; its strings live until the next call. */
static const struct state_fd *look_at(struct bench *bench, int64_t pid, int32_t fd, uint64_t at_ns)
{
	static struct snapshot *snapshot;

	snapshot_destroy(snapshot);
	snapshot = bench ? kernel_state(&bench->kernel, at_ns) : NULL;
	return snapshot ? kernel_fd(snapshot, pid, fd) : NULL;
}

static const struct state_fd *look(struct bench *bench, int64_t pid, int32_t fd)
{
	return look_at(bench, pid, fd, 0);
}

/* How many fds there are, open or closed within the window. */
static uint32_t count_fds(struct kernel_feed *kernel)
{
	struct snapshot *snapshot = kernel_state(kernel, 0);
	uint32_t n = snapshot->state.n_fds;

	snapshot_destroy(snapshot);
	return n;
}

static void expect(struct bench *bench, int64_t pid, int32_t number, const char *path,
		enum fd_kind kind, enum fd_confidence confidence)
{
	const struct state_fd *fd = look(bench, pid, number);

	assert_non_null(fd);
	assert_true(fd->open);
	assert_string_equal(fd->path, path);
	assert_int_equal(fd->kind, kind);
	assert_int_equal(fd->confidence, confidence);
}

static void expect_closed(struct bench *bench, int64_t pid, int32_t number)
{
	const struct state_fd *fd = look(bench, pid, number);

	assert_true(!fd || !fd->open);
}

/* --- the example of the live state system's slides ------------------------------------------- */

struct dumped {
	struct engine *engine;
	char text[2000];
};

static bool dump_one(void *context, const struct event *event)
{
	struct dumped *dumped = context;
	const struct event_type *type = engine_type(dumped->engine, event->type);

	if (strncmp(type->name, "syscall_", 8) == 0) {
		size_t used = strlen(dumped->text);

		snprintf(dumped->text + used, sizeof(dumped->text) - used, "%s@%lu ",
				type->name + 8, (unsigned long)((event->ts_ns - TEN) / MS));
	}
	return true;
}

static void example(void **state)
{
	struct focus focus = {.parts = FOCUS_STATE};
	struct dumped dumped = {.text = ""};
	struct bench bench;
	const struct state_fd *fd;

	(void)state;
	begin(&bench);
	bench.now_ns = TEN + 1 * SECOND - 2 * MS;
	call(&bench, "open filename:s=/tmp/test flags:i=66 mode:u=420", "ret:i=4");
	bench.now_ns = TEN + 2 * SECOND - 2 * MS;
	call(&bench, "write fd:u=4 buf:u=1 count:u=8192", "ret:i=8192");
	bench.now_ns = TEN + 3 * SECOND - 2 * MS;
	call(&bench, "open filename:s=/tmp/test2 flags:i=66 mode:u=420", "ret:i=5");
	bench.now_ns = TEN + 4 * SECOND - 2 * MS;
	call(&bench, "write fd:u=5 buf:u=1 count:u=16384", "ret:i=16384");
	bench.now_ns = TEN + 5 * SECOND - 2 * MS;
	call(&bench, "close fd:u=5", "ret:i=0");
	engine_advance(bench.kernel.engine, TEN + 6 * SECOND);

	fd = look(&bench, A, 4);
	assert_non_null(fd);
	assert_string_equal(fd->path, "/tmp/test");
	assert_true(fd->open);
	assert_int_equal(fd->opened_ns, TEN + 1 * SECOND);
	assert_int_equal(fd->write_bytes, 8192);
	assert_int_equal(fd->window_write_bytes, 8192);
	fd = look(&bench, A, 5);
	assert_non_null(fd);
	assert_string_equal(fd->path, "/tmp/test2");
	assert_false(fd->open);
	assert_int_equal(fd->opened_ns, TEN + 3 * SECOND);
	assert_int_equal(fd->closed_ns, TEN + 5 * SECOND);
	assert_int_equal(fd->write_bytes, 16384);
	fd = look_at(&bench, A, 5, TEN + 4500 * MS);
	assert_true(fd && fd->open && fd->write_bytes == 16384);
	fd = look_at(&bench, A, 5, TEN + 3500 * MS);
	assert_true(fd && fd->open && fd->write_bytes == 0);
	assert_null(look_at(&bench, A, 5, TEN + 2500 * MS));

	engine_advance(bench.kernel.engine, TEN + 15 * SECOND);
	fd = look(&bench, A, 4);
	assert_non_null(fd);
	assert_string_equal(fd->path, "/tmp/test");
	assert_int_equal(fd->opened_ns, TEN + 1 * SECOND);
	assert_int_equal(fd->write_bytes, 8192);
	assert_int_equal(fd->window_write_bytes, 0);
	assert_null(look(&bench, A, 5));

	/* The open of fd 4 and its exit are older than the window, and still referenced. */
	engine_advance(bench.kernel.engine, TEN + 15 * SECOND + 1);
	dumped.engine = bench.kernel.engine;
	assert_int_equal(engine_dump(bench.kernel.engine, &focus, dump_one, &dumped), STATUS_OK);
	assert_string_equal(dumped.text, "entry_open@999 exit_open@1000 ");

	bench.now_ns = TEN + 16 * SECOND;
	call(&bench, "close fd:u=4", "ret:i=0");
	engine_advance(bench.kernel.engine, TEN + 30 * SECOND);
	dumped.text[0] = '\0';
	assert_int_equal(engine_dump(bench.kernel.engine, &focus, dump_one, &dumped), STATUS_OK);
	assert_string_equal(dumped.text, "");
	finish(&bench);
}

/* --- copies ---------------------------------------------------------------------------------- */

static void duplicates(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench);
	call(&bench, "openat dfd:i=-100 filename:s=/var/log/a flags:i=524288 mode:u=0", "ret:i=3");
	call(&bench, "dup fildes:u=3", "ret:i=4");
	call(&bench, "open filename:s=/etc/b flags:i=0 mode:u=0", "ret:i=5");
	call(&bench, "dup2 oldfd:u=3 newfd:u=5", "ret:i=5"); /* closes /etc/b */
	call(&bench, "dup3 oldfd:u=4 newfd:u=6 flags:i=524288", "ret:i=6");
	call(&bench, "fcntl fd:u=3 cmd:u=0 arg:u=10", "ret:i=10");
	call(&bench, "fcntl fd:u=3 cmd:u=1030 arg:u=10", "ret:i=11");
	call(&bench, "fcntl fd:u=11 cmd:u=2 arg:u=0", "ret:i=0");    /* no longer closed by exec */
	call(&bench, "fcntl fd:u=3 cmd:u=3 arg:u=0", "ret:i=32768"); /* F_GETFL makes no fd */
	call(&bench, "dup2 oldfd:u=3 newfd:u=3", "ret:i=3");
	call(&bench, "dup fildes:u=99", "ret:i=-9");
	for (int32_t fd = 3; fd <= 6; fd++) {
		expect(&bench, A, fd, "/var/log/a", FD_FILE, FD_OBSERVED);
	}
	expect(&bench, A, 10, "/var/log/a", FD_FILE, FD_OBSERVED);
	expect(&bench, A, 11, "/var/log/a", FD_FILE, FD_OBSERVED);
	assert_null(look(&bench, A, 32768));
	assert_null(look(&bench, A, 99));
	call(&bench, "dup fildes:u=7", "ret:i=8"); /* 7 was there all the time */
	expect(&bench, A, 7, "", FD_UNKNOWN, FD_GUESSED);
	expect(&bench, A, 8, "", FD_UNKNOWN, FD_OBSERVED);

	/* exec closes 3 (O_CLOEXEC), 6 (dup3); duplicates by dup() stay. */
	event(&bench, "sched_process_exec filename:s=/bin/x tid:i=100 old_tid:i=100");
	expect_closed(&bench, A, 3);
	expect_closed(&bench, A, 6);
	expect(&bench, A, 4, "/var/log/a", FD_FILE, FD_OBSERVED);
	expect(&bench, A, 5, "/var/log/a", FD_FILE, FD_OBSERVED);
	expect(&bench, A, 11, "/var/log/a", FD_FILE, FD_OBSERVED);
	/* Nobody knows whether exec closed what was only guessed. */
	assert_true(look(&bench, A, 7)->uncertain);
	assert_false(look(&bench, A, 8)->uncertain);
	finish(&bench);
}

static void forks(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench);
	call(&bench, "open filename:s=/a flags:i=0 mode:u=0", "ret:i=3");
	call(&bench, "read fd:u=3 count:u=100", "ret:i=100");
	event(&bench, "syscall_entry_clone clone_flags:u=0x1200011");
	event(&bench, "sched_process_fork parent_comm:s=a parent_tid:i=100 parent_pid:i=100 "
		      "child_comm:s=a child_tid:i=300 child_pid:i=300");
	event(&bench, "syscall_exit_clone ret:i=300");
	expect(&bench, 300, 3, "/a", FD_FILE, FD_OBSERVED);
	assert_int_equal(look(&bench, 300, 3)->read_bytes, 0); /* that was its parent */
	assert_int_equal(look(&bench, A, 3)->read_bytes, 100);
	run(&bench, 300);
	call(&bench, "close fd:u=3", "ret:i=0");
	expect_closed(&bench, 300, 3);
	expect(&bench, A, 3, "/a", FD_FILE, FD_OBSERVED);

	/* A thread shares the table of its process, until it asks for its own. */
	run(&bench, A);
	event(&bench, "sched_process_fork parent_comm:s=a parent_tid:i=100 parent_pid:i=100 "
		      "child_comm:s=a child_tid:i=101 child_pid:i=100");
	run(&bench, 101);
	call(&bench, "open filename:s=/t flags:i=0 mode:u=0", "ret:i=4");
	run(&bench, A);
	call(&bench, "write fd:u=4 buf:u=0 count:u=5", "ret:i=5");
	expect(&bench, A, 4, "/t", FD_FILE, FD_OBSERVED);
	assert_int_equal(look(&bench, A, 4)->write_bytes, 5);
	run(&bench, 101);
	call(&bench, "unshare unshare_flags:u=0x400", "ret:i=0");
	call(&bench, "close fd:u=4", "ret:i=0");
	run(&bench, A);
	expect(&bench, A, 4, "/t", FD_FILE, FD_OBSERVED);

	/* With its last thread a table goes. */
	event(&bench, "sched_process_exit comm:s=a tid:i=300 prio:i=20");
	expect_closed(&bench, 300, 3);
	call(&bench, "vfork", "ret:i=301");
	event(&bench, "sched_process_fork parent_comm:s=a parent_tid:i=100 parent_pid:i=100 "
		      "child_comm:s=a child_tid:i=302 child_pid:i=302");
	expect(&bench, 302, 4, "/t", FD_FILE, FD_OBSERVED);
	event(&bench, "sched_process_exit comm:s=a tid:i=302 prio:i=20");
	expect(&bench, 302, 4, "/t", FD_FILE, FD_OBSERVED);
	event(&bench, "sched_process_free comm:s=a tid:i=302 prio:i=20");
	expect_closed(&bench, 302, 4);
	assert_string_equal(look(&bench, 302, 4)->path, "/t");
	finish(&bench);
}

/* An exec in a process that shares its table with another one leaves that one's fds alone. */
static void exec_with_shared_table(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench);
	call(&bench, "open filename:s=/a flags:i=524288 mode:u=0", "ret:i=3");
	event(&bench, "syscall_entry_clone flags:u=0x411"); /* CLONE_FILES, as newer tracers spell
							       it */
	event(&bench, "sched_process_fork parent_comm:s=a parent_tid:i=100 parent_pid:i=100 "
		      "child_comm:s=a child_tid:i=300 child_pid:i=300");
	event(&bench, "syscall_exit_clone ret:i=300");
	run(&bench, 300);
	call(&bench, "open filename:s=/b flags:i=0 mode:u=0", "ret:i=4");
	expect(&bench, A, 4, "/b", FD_FILE, FD_OBSERVED);
	event(&bench, "sched_process_exec filename:s=/bin/x tid:i=300 old_tid:i=300");
	expect(&bench, A, 3, "/a", FD_FILE, FD_OBSERVED);
	expect_closed(&bench, 300, 3);
	expect(&bench, 300, 4, "/b", FD_FILE, FD_OBSERVED);
	finish(&bench);
}

/* --- all that makes fds ---------------------------------------------------------------------- */

static void makers(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench);
	call(&bench, "creat pathname:s=/c mode:u=0", "ret:i=3");
	call(&bench, "openat2 dfd:i=-100 filename:s=/d flags:u=0", "ret:i=4");
	call(&bench, "pipe", "ret:i=0 fildes:a=5,6");
	call(&bench, "pipe2 flags:i=524288", "ret:i=0 fildes:a=7,8");
	call(&bench, "socketpair family:i=1 type:i=1 protocol:i=0", "ret:i=0 socket:a=9,10");
	call(&bench, "epoll_create1 flags:i=524288", "ret:i=11");
	call(&bench, "eventfd2 count:u=0 flags:i=0", "ret:i=12");
	call(&bench, "timerfd_create clockid:i=1 flags:i=0", "ret:i=13");
	call(&bench, "signalfd4 ufd:i=-1 flags:i=0", "ret:i=14");
	call(&bench, "signalfd4 ufd:i=14 flags:i=524288", "ret:i=14"); /* the same one */
	call(&bench, "inotify_init1 flags:i=0", "ret:i=15");
	call(&bench, "memfd_create uname:s=shm flags:u=1", "ret:i=16");
	call(&bench, "pipe", "ret:i=-24 fildes:a=0,0");
	call(&bench, "perf_event_open pid:i=0 flags:u=8", "ret:i=17");
	expect(&bench, A, 3, "/c", FD_FILE, FD_OBSERVED);
	expect(&bench, A, 4, "/d", FD_FILE, FD_OBSERVED);
	for (int32_t fd = 5; fd <= 8; fd++) {
		expect(&bench, A, fd, "", FD_PIPE, FD_OBSERVED);
	}
	expect(&bench, A, 9, "", FD_SOCKET, FD_OBSERVED);
	expect(&bench, A, 10, "", FD_SOCKET, FD_OBSERVED);
	expect(&bench, A, 11, "anon_inode:[eventpoll]", FD_EVENT, FD_OBSERVED);
	expect(&bench, A, 12, "anon_inode:[eventfd]", FD_EVENT, FD_OBSERVED);
	expect(&bench, A, 13, "anon_inode:[timerfd]", FD_EVENT, FD_OBSERVED);
	expect(&bench, A, 14, "anon_inode:[signalfd]", FD_EVENT, FD_OBSERVED);
	expect(&bench, A, 15, "anon_inode:inotify", FD_EVENT, FD_OBSERVED);
	expect(&bench, A, 16, "/memfd:shm", FD_FILE, FD_OBSERVED);
	expect(&bench, A, 17, "anon_inode:[perf_event]", FD_UNKNOWN, FD_OBSERVED);
	assert_null(look(&bench, A, 0));

	event(&bench, "sched_process_exec filename:s=/bin/x tid:i=100 old_tid:i=100");
	expect_closed(&bench, A, 7);
	expect_closed(&bench, A, 11);
	expect_closed(&bench, A, 16);
	expect_closed(&bench, A, 17);
	expect(&bench, A, 14, "anon_inode:[signalfd]", FD_EVENT, FD_OBSERVED);
	call(&bench, "close_range fd:u=5 max_fd:u=4294967295 flags:u=4", "ret:i=0");
	expect(&bench, A, 12, "anon_inode:[eventfd]", FD_EVENT, FD_OBSERVED);
	call(&bench, "close_range fd:u=5 max_fd:u=12 flags:u=0", "ret:i=0");
	expect_closed(&bench, A, 5);
	expect_closed(&bench, A, 12);
	expect(&bench, A, 13, "anon_inode:[timerfd]", FD_EVENT, FD_OBSERVED);
	event(&bench, "sched_process_exec filename:s=/bin/x tid:i=100 old_tid:i=100");
	expect_closed(&bench, A, 13);
	expect(&bench, A, 3, "/c", FD_FILE, FD_OBSERVED);
	finish(&bench);
}

static void sockets(void **state)
{
	struct snapshot *snapshot;
	const struct state_thread *thread;
	struct bench bench;
	uint64_t between;

	(void)state;
	begin(&bench);
	call(&bench, "socket family:i=2 type:i=1 protocol:i=0", "ret:i=3");
	expect(&bench, A, 3, "", FD_SOCKET, FD_OBSERVED);
	call(&bench, "connect fd:i=3 family:u=2 dport:u=443 v4addr:a=192,0,2,7 v6addr:a=",
			"ret:i=-115");
	expect(&bench, A, 3, "192.0.2.7:443", FD_SOCKET, FD_OBSERVED);
	between = bench.now_ns;
	call(&bench, "connect fd:i=3 family:u=2 dport:u=53 v4addr:a=192,0,2,8 v6addr:a=",
			"ret:i=0");
	expect(&bench, A, 3, "192.0.2.8:53", FD_SOCKET, FD_OBSERVED);
	assert_string_equal(look_at(&bench, A, 3, between)->path, "192.0.2.7:443");
	assert_string_equal(look_at(&bench, A, 3, between - MS)->path, "");
	call(&bench, "connect fd:i=3 family:u=2 dport:u=54 v4addr:a=192,0,2,9 v6addr:a=",
			"ret:i=-111");
	expect(&bench, A, 3, "192.0.2.8:53", FD_SOCKET, FD_OBSERVED);

	call(&bench, "accept4 fd:i=20 flags:i=524288",
			"ret:i=4 family:u=10 sport:u=8080 v4addr:a= "
			"v6addr:a=0x2001,0xdb8,0,0,0,0,0,1");
	expect(&bench, A, 4, "[2001:db8:0:0:0:0:0:1]:8080", FD_SOCKET, FD_OBSERVED);
	expect(&bench, A, 20, "", FD_SOCKET, FD_GUESSED);
	call(&bench, "accept fd:i=21", "ret:i=5 family:u=1 sport:u=0 v4addr:a= v6addr:a=");
	expect(&bench, A, 5, "", FD_SOCKET, FD_OBSERVED);

	/* Bytes over IP sockets are the network's; those over local ones are not. */
	call(&bench, "sendto fd:i=3 buff:u=0 len:u=10", "ret:i=10");
	call(&bench, "recvfrom fd:i=4 size:u=1000", "ret:i=20");
	call(&bench, "write fd:u=5 buf:u=0 count:u=40", "ret:i=40");
	call(&bench, "recvmsg fd:i=30 msg:u=0", "ret:i=80"); /* of what family? not told */
	call(&bench, "recvmmsg fd:i=4 vlen:u=3", "ret:i=3"); /* messages, not bytes */
	snapshot = kernel_state(&bench.kernel, 0);
	thread = kernel_thread(snapshot, A);
	assert_non_null(thread);
	assert_int_equal(thread->read_bytes, 100);
	assert_int_equal(thread->write_bytes, 50);
	assert_int_equal(thread->net_read_bytes, 20);
	assert_int_equal(thread->net_write_bytes, 10);
	assert_int_equal(thread->io_ns, 5 * MS);
	assert_int_equal(kernel_fd(snapshot, A, 4)->reads, 2);
	assert_int_equal(kernel_fd(snapshot, A, 30)->kind, FD_SOCKET);
	snapshot_destroy(snapshot);
	finish(&bench);
}

static void paths(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench);
	call(&bench, "open filename:s=/srv/data flags:i=65536 mode:u=0", "ret:i=3");
	call(&bench, "openat dfd:i=3 filename:s=sub/x flags:i=0 mode:u=0", "ret:i=4");
	call(&bench, "openat dfd:i=3 filename:s=/abs flags:i=0 mode:u=0", "ret:i=5");
	call(&bench, "openat dfd:i=9 filename:s=y flags:i=0 mode:u=0", "ret:i=6");
	call(&bench, "openat dfd:i=-100 filename:s=z flags:i=0 mode:u=0", "ret:i=7");
	expect(&bench, A, 4, "/srv/data/sub/x", FD_FILE, FD_OBSERVED);
	expect(&bench, A, 5, "/abs", FD_FILE, FD_OBSERVED);
	expect(&bench, A, 6, "y", FD_FILE, FD_OBSERVED);
	expect(&bench, A, 7, "z", FD_FILE, FD_OBSERVED);
	finish(&bench);
}

/* Where a process works is known from its first chdir() on; its children begin there. */
static void working_directory(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench);
	call(&bench, "chdir filename:s=logs", "ret:i=0"); /* below nobody knows what */
	call(&bench, "open filename:s=a flags:i=0 mode:u=0", "ret:i=3");
	expect(&bench, A, 3, "a", FD_FILE, FD_OBSERVED);
	call(&bench, "chdir filename:s=/srv", "ret:i=0");
	call(&bench, "chdir filename:s=/gone", "ret:i=-2");
	call(&bench, "open filename:s=b flags:i=0 mode:u=0", "ret:i=4");
	call(&bench, "chdir filename:s=data", "ret:i=0");
	call(&bench, "openat dfd:i=-100 filename:s=c flags:i=0 mode:u=0", "ret:i=5");
	call(&bench, "creat pathname:s=d mode:u=0", "ret:i=6");
	expect(&bench, A, 4, "/srv/b", FD_FILE, FD_OBSERVED);
	expect(&bench, A, 5, "/srv/data/c", FD_FILE, FD_OBSERVED);
	expect(&bench, A, 6, "/srv/data/d", FD_FILE, FD_OBSERVED);
	event(&bench, "sched_process_fork parent_tid:i=100 child_tid:i=300 parent_pid:i=100 "
		      "child_pid:i=300 child_comm:s=child");
	call(&bench, "open filename:s=/var/tmp flags:i=65536 mode:u=0", "ret:i=7");
	call(&bench, "fchdir fd:u=7", "ret:i=0");
	call(&bench, "open filename:s=e flags:i=0 mode:u=0", "ret:i=8");
	expect(&bench, A, 8, "/var/tmp/e", FD_FILE, FD_OBSERVED);
	run(&bench, 300);
	call(&bench, "open filename:s=f flags:i=0 mode:u=0", "ret:i=9");
	expect(&bench, 300, 9, "/srv/data/f", FD_FILE, FD_OBSERVED);
	/* A change of directory may have been lost. */
	engine_lose(bench.kernel.engine, &(struct loss){.stream = bench.kernel.stream,
							 .begin_ns = bench.now_ns,
							 .end_ns = bench.now_ns + 1,
							 .count = 1});
	run(&bench, 300);
	call(&bench, "open filename:s=g flags:i=0 mode:u=0", "ret:i=10");
	expect(&bench, 300, 10, "g", FD_FILE, FD_OBSERVED);
	finish(&bench);
}

/* --- bytes and time -------------------------------------------------------------------------- */

static void transfers(void **state)
{
	const struct state_thread *thread;
	struct snapshot *snapshot;
	const struct state_fd *fd;
	struct bench bench;
	uint64_t t[3];

	(void)state;
	begin(&bench);
	call(&bench, "open filename:s=/in flags:i=0 mode:u=0", "ret:i=3");
	call(&bench, "open filename:s=/out flags:i=1 mode:u=0", "ret:i=4");
	call(&bench, "read fd:u=3 count:u=100", "ret:i=100");
	t[0] = bench.now_ns;
	call(&bench, "pread64 fd:u=3 count:u=10 pos:i=0", "ret:i=10");
	call(&bench, "readv fd:u=3 vlen:u=2", "ret:i=7");
	call(&bench, "read fd:u=3 count:u=100", "ret:i=-11"); /* counts, does nothing */
	call(&bench, "read fd:u=3 count:u=100", "ret:i=0");
	t[1] = bench.now_ns;
	call(&bench, "sendfile64 out_fd:i=4 in_fd:i=3 offset:u=0 count:u=50", "ret:i=50");
	call(&bench, "splice fd_in:i=3 off_in:u=0 fd_out:i=4 off_out:u=0 len:u=9", "ret:i=9");
	call(&bench, "copy_file_range fd_in:i=3 fd_out:i=4 len:u=4", "ret:i=4");
	call(&bench, "pwritev fd:u=4 vlen:u=1", "ret:i=1");
	t[2] = bench.now_ns;
	fd = look(&bench, A, 3);
	assert_int_equal(fd->read_bytes, 180);
	assert_int_equal(fd->reads, 7);
	assert_int_equal(fd->read_ns, 7 * MS);
	assert_int_equal(fd->writes, 0);
	fd = look(&bench, A, 4);
	assert_int_equal(fd->write_bytes, 64);
	assert_int_equal(fd->writes, 4);
	fd = look_at(&bench, A, 3, t[0]);
	assert_int_equal(fd->read_bytes, 100);
	assert_int_equal(fd->reads, 1);
	fd = look_at(&bench, A, 3, t[1] - 1);
	assert_int_equal(fd->read_bytes, 117);
	assert_int_equal(fd->reads, 3);
	fd = look_at(&bench, A, 4, t[1]);
	assert_int_equal(fd->write_bytes, 0);

	/* A call under way takes time, and has moved nothing yet. */
	event(&bench, "syscall_entry_read fd:u=3 count:u=1");
	engine_advance(bench.kernel.engine, bench.now_ns += 5 * MS);
	snapshot = kernel_state(&bench.kernel, 0);
	thread = kernel_thread(snapshot, A);
	assert_int_equal(thread->read_bytes, 180);
	assert_int_equal(thread->write_bytes, 64);
	/* 3 reads and one at the end of a file, 3 copies in one call each, a write; 5 ms so far. */
	assert_int_equal(thread->io_ns, 8 * MS + 5 * MS);
	assert_int_equal(thread->open_fds, 2);
	snapshot_destroy(snapshot);
	event(&bench, "syscall_exit_read ret:i=1");
	snapshot = kernel_state(&bench.kernel, t[2] + 3 * MS);
	assert_int_equal(kernel_thread(snapshot, A)->io_ns, 8 * MS + 2 * MS);
	snapshot_destroy(snapshot);

	/* In the window only what ended in it; since it is known, all. */
	engine_advance(bench.kernel.engine, t[0] + 10 * SECOND);
	fd = look(&bench, A, 3);
	assert_int_equal(fd->read_bytes, 181);
	assert_int_equal(fd->window_read_bytes, 81);
	engine_advance(bench.kernel.engine, t[0] + 60 * SECOND);
	fd = look(&bench, A, 3);
	assert_int_equal(fd->read_bytes, 181);
	assert_int_equal(fd->window_read_bytes, 0);
	finish(&bench);
}

/* --- what nobody saw ------------------------------------------------------------------------- */

static void statedump(void **state)
{
	struct bench bench;
	uint64_t before;

	(void)state;
	begin(&bench);
	call(&bench, "read fd:u=0 count:u=5", "ret:i=5");
	expect(&bench, A, 0, "", FD_UNKNOWN, FD_GUESSED);
	before = bench.now_ns;
	call(&bench, "open filename:s=/seen flags:i=0 mode:u=0", "ret:i=3");
	call(&bench, "socket family:i=2 type:i=1 protocol:i=0", "ret:i=4");
	event(&bench, "lttng_statedump_file_descriptor pid:i=100 fd:i=0 flags:u=32770 fmode:u=0 "
		      "filename:s=/dev/pts/1");
	event(&bench, "lttng_statedump_file_descriptor pid:i=100 fd:i=1 flags:u=524289 fmode:u=0 "
		      "filename:s=pipe:[77]");
	event(&bench, "lttng_statedump_file_descriptor pid:i=100 fd:i=3 flags:u=524288 fmode:u=0 "
		      "filename:s=/other");
	event(&bench, "lttng_statedump_file_descriptor pid:i=100 fd:i=4 flags:u=2 fmode:u=0 "
		      "filename:s=socket:[88]");
	expect(&bench, A, 0, "/dev/pts/1", FD_FILE, FD_STATEDUMP);
	assert_int_equal(look(&bench, A, 0)->read_bytes, 5);
	assert_int_equal(look(&bench, A, 0)->opened_ns, 0);
	/* It was that file before it was listed, too. */
	assert_string_equal(look_at(&bench, A, 0, before)->path, "/dev/pts/1");
	expect(&bench, A, 1, "pipe:[77]", FD_PIPE, FD_STATEDUMP);
	expect(&bench, A, 3, "/seen", FD_FILE, FD_OBSERVED);
	expect(&bench, A, 4, "socket:[88]", FD_SOCKET, FD_OBSERVED);
	event(&bench, "sched_process_exec filename:s=/bin/x tid:i=100 old_tid:i=100");
	expect_closed(&bench, A, 1);
	expect(&bench, A, 0, "/dev/pts/1", FD_FILE, FD_STATEDUMP);
	expect(&bench, A, 3, "/seen", FD_FILE, FD_OBSERVED);
	finish(&bench);
}

/* From lttng-modules 2.12 on fds are listed by the address of their table. */
static void statedump_by_table(void **state)
{
	struct bench bench;

	(void)state;
	kernel_start(&bench.kernel, NULL);
	bench.now_ns = TEN;
	run(&bench, 401);
	call(&bench, "read fd:u=3 count:u=5", "ret:i=5"); /* of what process? not told so far */
	event(&bench, "lttng_statedump_process_state tid:i=400 pid:i=400 ppid:i=1 name:s=p "
		      "file_table_address:u=0xffff888000001000");
	event(&bench, "lttng_statedump_file_descriptor file_table_address:u=0xffff888000001000 "
		      "fd:i=3 flags:u=0 fmode:u=0 filename:s=/three");
	event(&bench, "lttng_statedump_file_descriptor file_table_address:u=0xffff888000001000 "
		      "fd:i=4 flags:u=0 fmode:u=0 filename:s=/four");
	event(&bench, "lttng_statedump_process_state tid:i=401 pid:i=400 ppid:i=1 name:s=t "
		      "file_table_address:u=0xffff888000001000");
	event(&bench, "lttng_statedump_process_state tid:i=500 pid:i=500 ppid:i=1 name:s=q "
		      "file_table_address:u=0xffff888000002000");
	event(&bench, "lttng_statedump_file_descriptor file_table_address:u=0xffff888000002000 "
		      "fd:i=3 flags:u=0 fmode:u=0 filename:s=/of_q");
	event(&bench, "lttng_statedump_file_descriptor file_table_address:u=0xffff888000003000 "
		      "fd:i=3 flags:u=0 fmode:u=0 filename:s=/of_nobody");
	expect(&bench, 400, 3, "/three", FD_FILE, FD_STATEDUMP);
	expect(&bench, 400, 4, "/four", FD_FILE, FD_STATEDUMP);
	expect(&bench, 500, 3, "/of_q", FD_FILE, FD_STATEDUMP);
	assert_int_equal(look(&bench, 400, 3)->read_bytes, 5); /* the thread's read is in it */
	call(&bench, "write fd:u=4 buf:u=0 count:u=6", "ret:i=6");
	assert_int_equal(look(&bench, 400, 4)->write_bytes, 6);
	finish(&bench);
}

static void losses(void **state)
{
	struct bench bench;
	uint64_t before;

	(void)state;
	begin(&bench);
	call(&bench, "open filename:s=/a flags:i=0 mode:u=0", "ret:i=3");
	before = bench.now_ns;
	bench.now_ns += 10 * MS;
	engine_lose(bench.kernel.engine, &(struct loss){.stream = bench.kernel.stream,
							 .begin_ns = before + 5 * MS,
							 .end_ns = before + 10 * MS,
							 .count = 7});
	run(&bench, A);
	call(&bench, "open filename:s=/b flags:i=0 mode:u=0", "ret:i=4");
	assert_true(look(&bench, A, 3)->uncertain);
	assert_false(look(&bench, A, 4)->uncertain);
	assert_false(look_at(&bench, A, 3, before + 4 * MS)->uncertain);
	assert_true(look_at(&bench, A, 3, before + 6 * MS)->uncertain);
	/* The number is given anew: a close was lost, and with it the doubt. */
	call(&bench, "open filename:s=/c flags:i=0 mode:u=0", "ret:i=3");
	expect(&bench, A, 3, "/c", FD_FILE, FD_OBSERVED);
	assert_false(look(&bench, A, 3)->uncertain);
	for (uint32_t i = 0; i < 200; i++) {
		engine_lose(bench.kernel.engine, &(struct loss){.stream = bench.kernel.stream,
								 .begin_ns = bench.now_ns,
								 .end_ns = bench.now_ns + MS,
								 .count = 1});
		bench.now_ns += 2 * MS;
	}
	run(&bench, A);
	call(&bench, "open filename:s=/d flags:i=0 mode:u=0", "ret:i=5");
	assert_true(look(&bench, A, 3)->uncertain);
	assert_false(look(&bench, A, 5)->uncertain);
	finish(&bench);
}

/* --- threads of a process at the same time --------------------------------------------------- */

static void races(void **state)
{
	struct bench bench;
	struct kernel_feed *kernel = &bench.kernel;

	(void)state;
	begin(&bench);
	event(&bench, "sched_process_fork parent_comm:s=a parent_tid:i=100 parent_pid:i=100 "
		      "child_comm:s=a child_tid:i=101 child_pid:i=100");
	bench.now_ns += MS;
	kernel_run(kernel, bench.now_ns, 1, 0, 101);
	call(&bench, "open filename:s=/old flags:i=0 mode:u=0", "ret:i=3");
	/* 100 closes 3; 101 is given the number before the end of that call is seen. */
	event(&bench, "syscall_entry_close fd:u=3");
	kernel_event(kernel, bench.now_ns + 1, 1, "syscall_entry_open filename:s=/new flags:i=0");
	kernel_event(kernel, bench.now_ns + 2, 1, "syscall_exit_open ret:i=3");
	event(&bench, "syscall_exit_close ret:i=0");
	expect(&bench, A, 3, "/new", FD_FILE, FD_OBSERVED);
	/* Linux closes even where close() fails, but not what is not there. */
	call(&bench, "close fd:u=3", "ret:i=-9");
	expect(&bench, A, 3, "/new", FD_FILE, FD_OBSERVED);
	call(&bench, "close fd:u=3", "ret:i=-4");
	expect_closed(&bench, A, 3);
	/* 101 uses what 100 opens before the end of that call is seen. */
	event(&bench, "syscall_entry_open filename:s=/early flags:i=0");
	kernel_event(kernel, bench.now_ns + 1, 1, "syscall_entry_read fd:u=7 count:u=9");
	kernel_event(kernel, bench.now_ns + 2, 1, "syscall_exit_read ret:i=9");
	event(&bench, "syscall_exit_open ret:i=7");
	expect(&bench, A, 7, "/early", FD_FILE, FD_OBSERVED);
	assert_int_equal(look(&bench, A, 7)->read_bytes, 9);
	finish(&bench);
}

/* A number that is used again is another fd, with an id of its own. */
static void generations(void **state)
{
	struct snapshot *snapshot;
	struct bench bench;
	uint64_t ids[2];
	uint32_t i, n = 0;

	(void)state;
	begin(&bench);
	call(&bench, "open filename:s=/one flags:i=0 mode:u=0", "ret:i=3");
	ids[0] = look(&bench, A, 3)->id;
	call(&bench, "close fd:u=3", "ret:i=0");
	call(&bench, "open filename:s=/two flags:i=0 mode:u=0", "ret:i=3");
	ids[1] = look(&bench, A, 3)->id;
	assert_int_not_equal(ids[0], ids[1]);
	snapshot = kernel_state(&bench.kernel, 0);
	for (i = 0; i < snapshot->state.n_fds; i++) {
		const struct state_fd *fd = &snapshot->state.fds[i];

		n += fd->id == ids[0] && !fd->open && strcmp(fd->path, "/one") == 0;
		n += fd->id == ids[1] && fd->open && strcmp(fd->path, "/two") == 0;
	}
	assert_int_equal(n, 2);
	snapshot_destroy(snapshot);
	finish(&bench);
}

/* --- memory ---------------------------------------------------------------------------------- */

static void million_leave_nothing(void **state)
{
	static const char path[] = "/tmp/some/file";
	struct event_log *log = log_create(&(struct event_log_config){
			.max_bytes = 1 << 20, .max_held_bytes = 64 << 20});
	uint64_t slots[1] = {0}, first_bytes = 0, now = SECOND;
	struct file_table *table;
	struct store store;
	struct fds fds;
	uint32_t i;

	(void)state;
	assert_non_null(log);
	store_init(&store);
	assert_true(fds_init(&fds, &store, log));
	table = table_create(&fds, 0, 1, NULL);
	assert_non_null(table);
	for (i = 0; i < 1000000; i++) {
		struct event event = {.ts_ns = now, .bytes = 8, .slots = slots};
		uint64_t entry = log_add(log, &event), exit = log_add(log, &event);
		struct fd *fd = fds_open(&fds, table, (int32_t)(i % 500),
				making_create(&fds, entry, exit, path, sizeof(path) - 1, NULL),
				now);

		assert_non_null(fd);
		fds_count(&fds, fd, i % 2, 100, 10, now);
		if (i % 3 == 0) {
			fds_close(&fds, fd, now);
		} /* else the next one of the number closes it */
		now += 100000;
		if (i % 1000 == 0 && now > 10 * SECOND) {
			store.horizon_ns = now - 10 * SECOND;
			fds_let_go(&fds, store.horizon_ns);
			fds_expire(&fds);
			log_expire(log, store.horizon_ns);
		}
		if (i == 300000) {
			first_bytes = store_bytes(&store);
		}
	}
	assert_in_range(store_bytes(&store), first_bytes - first_bytes / 50,
			first_bytes + first_bytes / 50);
	table_leave(&fds, table, false, now);
	store.horizon_ns = now;
	fds_let_go(&fds, now);
	fds_expire(&fds);
	assert_int_equal(store_bytes(&store), 0);
	assert_int_equal(fds.n_all, 0);
	assert_int_equal(fds.n_open, 0);
	assert_null(fds.tables);
	log_expire(log, now + 1);
	fds_release(&fds);
	store_release(&store);
	log_destroy(log);
}

/* The whole of the engine, with its log: flat from the second window on. */
static void churn_stays_flat(void **state)
{
	struct kernel_feed kernel;
	size_t flat = 0;
	char text[100];
	uint32_t i;

	(void)state;
	kernel_start(&kernel, &(struct engine_config){.window_ns = SECOND, .keep_events = true});
	kernel_run(&kernel, TEN, 0, 0, A);
	for (i = 0; i < 200000; i++) {
		uint64_t at_ns = TEN + i * UINT64_C(40000);

		snprintf(text, sizeof(text), "syscall_entry_open filename:s=/tmp/f%u flags:i=0", i);
		kernel_event(&kernel, at_ns, 0, text);
		kernel_event(&kernel, at_ns + 1, 0, "syscall_exit_open ret:i=3");
		kernel_event(&kernel, at_ns + 2, 0, "syscall_entry_close fd:u=3");
		kernel_event(&kernel, at_ns + 3, 0, "syscall_exit_close ret:i=0");
		if (i == 100000) {
			flat = mallinfo2().uordblks + mallinfo2().hblkhd;
		}
	}
	assert_in_range(mallinfo2().uordblks + mallinfo2().hblkhd, 0, flat + flat / 100);
	assert_true(count_fds(&kernel) <= 25001);
	engine_advance(kernel.engine, TEN + 20 * SECOND);
	assert_int_equal(count_fds(&kernel), 0);
	kernel_stop(&kernel);
}

/* At the bound the one closed longest ago goes; where all are open, the further one is left out. */
static void bound(void **state)
{
	struct event_log *log = log_create(&(struct event_log_config){
			.max_bytes = 1 << 20, .max_held_bytes = 1 << 20});
	struct file_table *table;
	struct store store;
	struct fds fds;
	int32_t i;

	(void)state;
	store_init(&store);
	assert_true(fds_init(&fds, &store, log));
	table = table_create(&fds, 0, 1, NULL);
	for (i = 0; i < (int32_t)FDS_MAX; i++) {
		assert_non_null(fds_open(&fds, table, i, NULL, 10));
	}
	assert_null(fds_open(&fds, table, i, NULL, 11));
	assert_int_equal(fds.refused, 1);
	fds_close(&fds, fds_find(&fds, table, 7), 12);
	assert_non_null(fds_open(&fds, table, i, NULL, 13));
	assert_int_equal(fds.trimmed_ns, 12);
	assert_int_equal(fds.n_all, FDS_MAX);
	assert_null(fds_find(&fds, table, 7));
	fds_release(&fds);
	assert_int_equal(store_bytes(&store), 0);
	store_release(&store);
	log_destroy(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(example),
			cmocka_unit_test(duplicates),
			cmocka_unit_test(forks),
			cmocka_unit_test(exec_with_shared_table),
			cmocka_unit_test(makers),
			cmocka_unit_test(sockets),
			cmocka_unit_test(paths),
			cmocka_unit_test(working_directory),
			cmocka_unit_test(transfers),
			cmocka_unit_test(statedump),
			cmocka_unit_test(statedump_by_table),
			cmocka_unit_test(losses),
			cmocka_unit_test(races),
			cmocka_unit_test(generations),
			cmocka_unit_test(million_leave_nothing),
			cmocka_unit_test(churn_stays_flat),
			cmocka_unit_test(bound),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	look_at(NULL, 0, 0, 0);
	return failed;
}
