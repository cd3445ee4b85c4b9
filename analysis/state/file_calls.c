/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "state/file_calls.h"
#include "state/linux_sockets.h"
#include "state/socket_table.h"
#include "state/thread_io.h"

/*
 * System calls that make, copy, pass, close or use file descriptors. Values of flags are Linux'
 * (generic; those of alpha, mips, parisc and sparc differ).
 */
#define AT_FDCWD            (-100)
#define F_DUPFD             0
#define F_SETFD             2
#define F_DUPFD_CLOEXEC     1030
#define FD_CLOEXEC          1
#define CLONE_FILES         0x400
#define CLOSE_RANGE_UNSHARE 2
#define CLOSE_RANGE_CLOEXEC 4

/* --- open, openat, openat2, creat ------------------------------------------------------------ */

enum { OPEN_PATH, OPEN_FLAGS, OPEN_DIRECTORY };

/* The directory that relative paths of the call are of: an fd, or where the process works. */
static const char *base_of(const struct using *using)
{
	int32_t number = call_fd(using, OPEN_DIRECTORY);
	const struct fd *directory;

	if (number < 0) {
		return making_path(using->table->cwd);
	}
	directory = fds_find(using->fds, using->table, number);
	return directory ? making_path(directory->making) : "";
}

/* A path is relative to a directory that may be known; else it is left, and shown, as it is. */
static uint32_t join(const struct using *using, const char *path, uint32_t length, char *joined)
{
	const char *base;
	int n;

	if (length == 0 || path[0] == '/') {
		return 0;
	}
	base = base_of(using);
	if (base[0] != '/') {
		return 0;
	}
	n = snprintf(joined, FDS_MAX_PATH, "%s%s%.*s", base,
			base[strlen(base) - 1] == '/' ? "" : "/", (int)length, path);
	return n > 0 && (uint32_t)n < FDS_MAX_PATH ? (uint32_t)n : 0;
}

/* What an fd is of that was opened by a path; false: nothing was opened. */
static bool use_path(struct state_cx *cx, const struct call_end *end, struct using *using,
		struct made *made, char joined[FDS_MAX_PATH])
{
	uint32_t length;

	*made = (struct made){.number = end->ret, .kind = FD_FILE, .network = FD_NO};
	if (end->ret < 0 || !call_use(using, cx, end)) {
		return false;
	}
	made->path = call_text(using, OPEN_PATH, &made->length);
	length = made->path ? join(using, made->path, made->length, joined) : 0;
	if (length > 0) {
		made->path = joined;
		made->length = length;
	}
	return true;
}

static void end_open(struct state_cx *cx, const struct call_end *end)
{
	char joined[FDS_MAX_PATH];
	struct using using;
	struct made made;
	int64_t flags;

	if (use_path(cx, end, &using, &made, joined)) {
		made.close_on_exec = call_argument(&using, OPEN_FLAGS, &flags)
						     ? fd_yes_if(flags & OPEN_CLOEXEC)
						     : FD_MAYBE;
		fd_make(&using, &made);
	}
}

static void end_creat(struct state_cx *cx, const struct call_end *end)
{
	char joined[FDS_MAX_PATH];
	struct using using;
	struct made made;

	if (use_path(cx, end, &using, &made, joined)) {
		made.close_on_exec = FD_NO;
		fd_make(&using, &made);
	}
}

/* --- chdir, fchdir: nothing tells where a process worked before its first one ---------------- */

static void end_chdir(struct state_cx *cx, const struct call_end *end)
{
	char joined[FDS_MAX_PATH];
	struct using using;
	const char *path;
	uint32_t length, whole;

	if (end->ret != 0 || !call_use(&using, cx, end)) {
		return;
	}
	path = call_text(&using, OPEN_PATH, &length);
	whole = path ? join(&using, path, length, joined) : 0;
	if (whole > 0) {
		path = joined;
		length = whole;
	}
	table_set_cwd(using.fds, using.table, path,
			path && length > 0 && path[0] == '/' ? length : 0);
}

static void end_fchdir(struct state_cx *cx, const struct call_end *end)
{
	const struct fd *directory;
	struct using using;
	const char *path;

	if (end->ret != 0 || !call_use(&using, cx, end)) {
		return;
	}
	directory = fds_find(using.fds, using.table, call_fd(&using, 0));
	path = directory ? making_path(directory->making) : "";
	table_set_cwd(using.fds, using.table, path, path[0] == '/' ? (uint32_t)strlen(path) : 0);
}

/* --- dup, dup2, dup3, fcntl ------------------------------------------------------------------ */

/* What a duplicate refers to beside its own call: the call that opened the file. */
static struct making *root_of(struct fd *fd)
{
	struct making *making = fd->making;

	/* Of a duplicate's duplicate, the call in between need not be kept. */
	if (making && making->length == 0 && making->origin) {
		making = making->origin;
	}
	return making_share(making);
}

static void duplicate(const struct using *using, int32_t from, enum fd_answer close_on_exec)
{
	struct fd *old, *made;

	if (from < 0 || from == using->end->ret) {
		return; /* dup2() onto itself does nothing */
	}
	old = fd_use(using, from);
	if (!old) {
		return;
	}
	made = fd_make(using, &(struct made){.number = using->end->ret,
					      .kind = old->kind,
					      .close_on_exec = close_on_exec,
					      .network = old->network,
					      .origin = root_of(old)});
	if (made && !made->socket) {
		made->socket = socket_share(old->socket);
	}
}

enum { DUP_OLD, DUP_FLAGS };

static void end_dup(struct state_cx *cx, const struct call_end *end)
{
	struct using using;

	if (end->ret >= 0 && call_use(&using, cx, end)) {
		duplicate(&using, call_fd(&using, DUP_OLD),
				fd_yes_if(call_argument_or(&using, DUP_FLAGS, 0) & OPEN_CLOEXEC));
	}
}

enum { FCNTL_FD, FCNTL_COMMAND, FCNTL_ARGUMENT };

static void end_fcntl(struct state_cx *cx, const struct call_end *end)
{
	struct using using;
	int64_t command, argument_value;
	struct fd *fd;

	if (end->ret < 0 || !call_use(&using, cx, end) ||
			!call_argument(&using, FCNTL_COMMAND, &command)) {
		return;
	}
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
		duplicate(&using, call_fd(&using, FCNTL_FD), fd_yes_if(command == F_DUPFD_CLOEXEC));
	} else if (command == F_SETFD && call_argument(&using, FCNTL_ARGUMENT, &argument_value)) {
		fd = fd_use(&using, call_fd(&using, FCNTL_FD));
		if (fd) {
			fd->close_on_exec = (uint8_t)fd_yes_if(argument_value & FD_CLOEXEC);
		}
	}
}

/* --- pipe, pipe2 ----------------------------------------------------------------------------- */

static void end_pipe(struct state_cx *cx, const struct call_end *end)
{
	struct fd *fds[2];

	fd_make_pair(cx, end, FD_PIPE, fds);
}

/* --- what else makes an fd ------------------------------------------------------------------- */

struct maker {
	const char *name, *path; /* as /proc shows it */
	enum fd_kind kind;
	int64_t close_on_exec; /* flag; 0: never; -1: always */
};

static const struct maker makers[] = {
		{"epoll_create", "anon_inode:[eventpoll]", FD_EVENT, 0},
		{"epoll_create1", "anon_inode:[eventpoll]", FD_EVENT, OPEN_CLOEXEC},
		{"eventfd", "anon_inode:[eventfd]", FD_EVENT, 0},
		{"eventfd2", "anon_inode:[eventfd]", FD_EVENT, OPEN_CLOEXEC},
		{"timerfd_create", "anon_inode:[timerfd]", FD_EVENT, OPEN_CLOEXEC},
		{"signalfd", "anon_inode:[signalfd]", FD_EVENT, 0},
		{"signalfd4", "anon_inode:[signalfd]", FD_EVENT, OPEN_CLOEXEC},
		{"inotify_init", "anon_inode:inotify", FD_EVENT, 0},
		{"inotify_init1", "anon_inode:inotify", FD_EVENT, OPEN_CLOEXEC},
		{"fanotify_init", "anon_inode:[fanotify]", FD_EVENT, 1},
		{"perf_event_open", "anon_inode:[perf_event]", FD_UNKNOWN, 8},
		{"pidfd_open", "anon_inode:[pidfd]", FD_UNKNOWN, -1},
		{"pidfd_getfd", "", FD_UNKNOWN, -1},
		{"userfaultfd", "anon_inode:[userfaultfd]", FD_EVENT, OPEN_CLOEXEC},
		{"io_uring_setup", "anon_inode:[io_uring]", FD_UNKNOWN, -1},
		{"memfd_create", "/memfd:", FD_FILE, 1},
		{"memfd_secret", "/secretmem", FD_FILE, OPEN_CLOEXEC},
		{"open_by_handle_at", "", FD_FILE, OPEN_CLOEXEC},
};

enum { MAKE_FLAGS, MAKE_OLD, MAKE_NAME };

static const struct maker *maker_of(const struct using *using)
{
	const char *name = names_text(using->cx->names, using->end->call->name);
	uint32_t i;

	for (i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		if (strcmp(makers[i].name, name) == 0) {
			return &makers[i];
		}
	}
	return NULL;
}

static void end_make(struct state_cx *cx, const struct call_end *end)
{
	char path[FDS_MAX_PATH];
	struct using using;
	const struct maker *maker;
	struct made made = {.number = end->ret, .path = path, .network = FD_NO};
	const char *name;
	int64_t flags;
	uint32_t length;

	if (end->ret < 0 || !call_use(&using, cx, end) || !(maker = maker_of(&using))) {
		return;
	}
	if (call_fd(&using, MAKE_OLD) >= 0 && call_fd(&using, MAKE_OLD) == end->ret) {
		return; /* signalfd() of an old one changes its signals */
	}
	name = call_text(&using, MAKE_NAME, &length);
	made.length = (uint32_t)snprintf(path, sizeof(path), "%s%.*s", maker->path,
			name && length < FDS_MAX_PATH / 2 ? (int)length : 0, name ? name : "");
	made.kind = maker->kind;
	made.close_on_exec = maker->close_on_exec == -1  ? FD_YES
			     : maker->close_on_exec == 0 ? FD_NO
			     : call_argument(&using, MAKE_FLAGS, &flags)
					     ? fd_yes_if(flags & maker->close_on_exec)
					     : FD_MAYBE;
	fd_make(&using, &made);
}

/* --- closing --------------------------------------------------------------------------------- */

enum { CLOSE_FD };

/*
 * Linux lets go of the fd whatever else close() says, unless there was none. Another thread may be
 * given the number before this call's end is seen: an fd that was made since it began is not meant.
 */
static void end_close(struct state_cx *cx, const struct call_end *end)
{
	struct using using;
	struct fd *fd;
	int32_t number;

	if (end->ret == ERROR_EBADF || !call_use(&using, cx, end)) {
		return;
	}
	number = call_fd(&using, CLOSE_FD);
	fd = number >= 0 ? fds_find(using.fds, using.table, number) : NULL;
	if (fd && (fd->confidence != FD_OBSERVED || fd->opened_ns <= using.began_ns)) {
		fds_close(using.fds, fd, using.now_ns);
	}
}

enum { RANGE_FIRST, RANGE_LAST, RANGE_FLAGS };

static void own_table(struct using *using)
{
	struct thread_state *thread = using->end->thread;
	struct file_table *table;

	if (using->table->users < 2) {
		return;
	}
	table = table_copy(using->fds, using->table, thread->pid, thread, using->now_ns);
	if (table) {
		files_set_table(using->cx, thread, table);
		using->table = table;
	}
}

static void end_close_range(struct state_cx *cx, const struct call_end *end)
{
	struct using using;
	int64_t first, last, flags;
	struct fd *fd, *next;

	if (end->ret < 0 || !call_use(&using, cx, end) ||
			!call_argument(&using, RANGE_FIRST, &first) ||
			!call_argument(&using, RANGE_LAST, &last)) {
		return;
	}
	flags = call_argument_or(&using, RANGE_FLAGS, 0);
	if (flags & CLOSE_RANGE_UNSHARE) {
		own_table(&using);
	}
	first = (uint32_t)first;
	last = (uint32_t)last;
	for (fd = using.table->open_first; fd; fd = next) {
		next = fd->next;
		if (fd->number < first || fd->number > last) {
			continue;
		}
		if (flags & CLOSE_RANGE_CLOEXEC) {
			fd->close_on_exec = FD_YES;
		} else if (fd->confidence != FD_OBSERVED || fd->opened_ns <= using.began_ns) {
			fds_close(using.fds, fd, using.now_ns);
		}
	}
}

static void end_unshare(struct state_cx *cx, const struct call_end *end)
{
	struct using using;

	if (end->ret >= 0 && call_use(&using, cx, end) &&
			(call_argument_or(&using, 0, 0) & CLONE_FILES)) {
		own_table(&using);
	}
}

/* --- reading and writing --------------------------------------------------------------------- */

enum { TRANSFER_FD, TRANSFER_TO, TRANSFER_LENGTH, TRANSFER_FLAGS };

#define BYTES_UNKNOWN UINT64_MAX

/* What calls do with bytes. */
struct way {
	bool write, is_socket, knows_bytes;
	bool tells; /* of a socket, that a message was received */
};

static void count(const struct using *using, int32_t number, const struct way *how,
		uint64_t thread_ns)
{
	struct fd *fd = fd_use(using, number);
	uint64_t bytes = how->knows_bytes ? (uint64_t) using->end->ret : 0;
	enum io_way way = how->write ? IO_WRITE : IO_READ;

	if (fd) {
		if (how->is_socket) {
			fd->kind = FD_SOCKET;
		}
		if (fd->network == FD_YES) {
			way = how->write ? IO_NET_WRITE : IO_NET_READ;
		}
		fds_count(using->fds, fd, how->write, bytes, using->now_ns - using->began_ns,
				using->now_ns);
	}
	thread_io_add(using->cx, using->end->thread, way, bytes, thread_ns);
	bytes = how->knows_bytes ? bytes : BYTES_UNKNOWN;
	if (fd && how->write) {
		sockets_sent(using->cx, fd, bytes);
	} else if (fd && !(call_argument_or(using, TRANSFER_FLAGS, 0) & MSG_PEEKS)) {
		sockets_received(using->cx, using->end->thread, fd, bytes, how->tells);
	}
}

static void transfer(struct state_cx *cx, const struct call_end *end, const struct way *how)
{
	struct using using;

	if (end->ret >= 0 && call_use(&using, cx, end)) {
		count(&using, call_fd(&using, TRANSFER_FD), how, using.now_ns - using.began_ns);
	}
}

#define TRANSFER(name, ...)                                                                        \
	static void name(struct state_cx *cx, const struct call_end *end)                          \
	{                                                                                          \
		transfer(cx, end, &(struct way){__VA_ARGS__});                                     \
	}

TRANSFER(end_read, .knows_bytes = true, .tells = true)
TRANSFER(end_write, .write = true, .knows_bytes = true)
TRANSFER(end_receive, .is_socket = true, .knows_bytes = true, .tells = true)
TRANSFER(end_send, .write = true, .is_socket = true, .knows_bytes = true)
/* They return how many messages: of how many bytes, the trace does not tell. */
TRANSFER(end_receive_many, .is_socket = true)
TRANSFER(end_send_many, .write = true, .is_socket = true)

/* From one fd to another, within the kernel: both read and written, in one time. */
static void end_copy(struct state_cx *cx, const struct call_end *end)
{
	struct using using;

	if (end->ret >= 0 && call_use(&using, cx, end)) {
		count(&using, call_fd(&using, TRANSFER_FD), &(struct way){.knows_bytes = true},
				using.now_ns - using.began_ns);
		count(&using, call_fd(&using, TRANSFER_TO),
				&(struct way){.write = true, .knows_bytes = true}, 0);
	}
}

bool files_is_transfer(const struct call_rule *rule)
{
	return rule &&
	       (rule->end == end_read || rule->end == end_write || rule->end == end_receive ||
			       rule->end == end_send || rule->end == end_receive_many ||
			       rule->end == end_send_many || rule->end == end_copy);
}

const struct call_rule files_calls[] = {
		{.names = "open|openat|openat2",
				.end = end_open,
				.in = {"filename|pathname|path", "flags|how.flags", "dfd|dirfd"}},
		{.names = "creat", .end = end_creat, .in = {"pathname|filename|path"}},
		{.names = "chdir", .end = end_chdir, .in = {"filename|pathname|path"}},
		{.names = "fchdir", .end = end_fchdir, .in = {"fd"}},
		{.names = "dup|dup2|dup3", .end = end_dup, .in = {"fildes|oldfd|fd", "flags"}},
		{.names = "fcntl|fcntl64", .end = end_fcntl, .in = {"fd", "cmd", "arg"}},
		{.names = "pipe|pipe2", .end = end_pipe, .in = {"flags"}, .out = {"fildes|pipefd"}},
		{.names = "socketpair",
				.end = end_socketpair,
				.in = {"type"},
				.out = {"socket|usockvec|sv"}},
		{.names = "socket", .end = end_socket, .in = {"family|domain", "type"}},
		{.names = "listen", .end = end_listen, .in = {"fd|sockfd"}},
		{.names = "accept|accept4",
				.end = end_accept,
				.in = {"fd|sockfd", "flags"},
				.out = {"family", "sport", "v4addr", "v6addr"}},
		{.names = "connect",
				.begin = begin_connect,
				.end = end_connect,
				.in = {"family", "dport", "v4addr", "v6addr", "fd|sockfd"}},
		{.names = "epoll_create|epoll_create1|eventfd|eventfd2|timerfd_create|signalfd|"
			  "signalfd4|inotify_init|inotify_init1|fanotify_init|perf_event_open|"
			  "pidfd_open|pidfd_getfd|userfaultfd|io_uring_setup|memfd_create|"
			  "memfd_secret|open_by_handle_at",
				.end = end_make,
				.in = {"flags", "ufd", "uname|name|uname_ptr"}},
		{.names = "close", .end = end_close, .in = {"fd"}},
		{.names = "close_range",
				.end = end_close_range,
				.in = {"fd|first", "max_fd|last", "flags"}},
		{.names = "unshare", .end = end_unshare, .in = {"unshare_flags|flags"}},
		{.names = "read|pread|pread64|readv|preadv|preadv2", .end = end_read, .in = {"fd"}},
		{.names = "write|pwrite|pwrite64|writev|pwritev|pwritev2",
				.begin = begin_send,
				.end = end_write,
				.in = {"fd", NULL, "count"}},
		{.names = "recv|recvfrom|recvmsg",
				.end = end_receive,
				.in = {"fd|sockfd", NULL, NULL, "flags"}},
		{.names = "send|sendto|sendmsg",
				.begin = begin_send,
				.end = end_send,
				.in = {"fd|sockfd", NULL, "len"}},
		{.names = "recvmmsg|recvmmsg_time64", .end = end_receive_many, .in = {"fd|sockfd"}},
		{.names = "sendmmsg",
				.begin = begin_send,
				.end = end_send_many,
				.in = {"fd|sockfd"}},
		{.names = "sendfile|sendfile64",
				.begin = begin_sendfile,
				.end = end_copy,
				.in = {"in_fd|fd_in|fdin", "out_fd|fd_out|fdout"}},
		{.names = "splice|tee|copy_file_range",
				.end = end_copy,
				.in = {"in_fd|fd_in|fdin", "out_fd|fd_out|fdout"}},
		{.names = "io_uring_enter|socketcall", .begin = begin_hidden},
		{.names = NULL},
};
