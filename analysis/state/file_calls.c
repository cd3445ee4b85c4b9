/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "state/files.h"
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
#define ERROR_EBADF         (-9)
#define AF_UNIX             1
#define AF_INET             2
#define AF_INET6            10
#define CLONE_FILES         0x400
#define CLOSE_RANGE_UNSHARE 2
#define CLOSE_RANGE_CLOEXEC 4
#define PEER_LENGTH         64
#define MAX_NUMBERS         16

/* --- values of the entry and the exit -------------------------------------------------------- */

/* What is used again and again about the end of a call. */
struct using
{
	struct state_cx *cx;
	struct fds *fds;
	const struct call_end *end;
	struct file_table *table;
	uint64_t now_ns, began_ns;
};

static bool use(struct using *using, struct state_cx *cx, const struct call_end *end)
{
	*using = (struct using){.cx = cx,
			.fds = &cx->files->fds,
			.end = end,
			.now_ns = end->exit->ts_ns,
			.began_ns = end->call->ts_ns};
	using->table = files_table(cx, end->thread);
	return using->table != NULL;
}

static const struct field *field_of(
		const struct using *using, const struct event *event, uint16_t slot)
{
	return &using->cx->registry->types[event->type].fields[slot];
}

/* A number among the arguments; false: the trace does not tell it. */
static bool argument(const struct using *using, uint32_t i, int64_t *value)
{
	const struct call_end *end = using->end;

	if (!end->entry || end->in[i] == STATE_NO_FIELD ||
			field_of(using, end->entry, end->in[i])->kind > FIELD_INT) {
		return false;
	}
	*value = (int64_t)end->entry->slots[end->in[i]];
	return true;
}

static int64_t argument_or(const struct using *using, uint32_t i, int64_t otherwise)
{
	int64_t value;

	return argument(using, i, &value) ? value : otherwise;
}

/* An fd among the arguments: negative if it is not told, or none. */
static int32_t fd_argument(const struct using *using, uint32_t i)
{
	return (int32_t)argument_or(using, i, -1);
}

static const char *text_argument(const struct using *using, uint32_t i, uint32_t *length)
{
	const struct call_end *end = using->end;

	*length = 0;
	if (!end->entry || end->in[i] == STATE_NO_FIELD ||
			field_of(using, end->entry, end->in[i])->kind != FIELD_STRING) {
		return NULL;
	}
	return event_bytes(end->entry, end->in[i], length);
}

/* The numbers of an array of an event; 0: there are none, or not that many. */
static uint32_t numbers_of(const struct using *using, const struct event *event, uint16_t slot,
		uint64_t *numbers, uint32_t max)
{
	uint32_t length, head[2], i;
	const char *tree;

	if (!event || slot == STATE_NO_FIELD || field_of(using, event, slot)->kind != FIELD_TREE) {
		return 0;
	}
	tree = event_bytes(event, slot, &length);
	if (!tree || length < sizeof(head)) {
		return 0;
	}
	memcpy(head, tree, sizeof(head));
	if (head[0] != TREE_ARRAY || head[1] > max || length < 8 + head[1] * 16) {
		return 0;
	}
	for (i = 0; i < head[1]; i++) {
		memcpy(&numbers[i], tree + 8 + i * 16 + 8, sizeof(numbers[i]));
	}
	return head[1];
}

/* --- making fds ------------------------------------------------------------------------------ */

struct made {
	int64_t number;
	const char *path;
	uint32_t length;
	enum fd_kind kind;
	enum fd_answer close_on_exec, network;
	struct making *origin; /* a reference taken over; NULL: none */
};

static enum fd_answer network_of(int64_t family)
{
	return family < 0 ? FD_MAYBE : fd_yes_if(family == AF_INET || family == AF_INET6);
}

static void describe(struct fd *fd, const struct using *using, const struct made *made)
{
	fd->kind = (uint8_t)made->kind;
	fd->confidence = FD_OBSERVED;
	fd->close_on_exec = (uint8_t)made->close_on_exec;
	fd->network = (uint8_t)made->network;
	fd->opened_ns = using->now_ns;
}

/*
 * The call has made an fd. Where another thread's use of it, or the statedump, was seen before the
 * call's end, it is known already: what the call says of it completes that.
 */
static void make_fd(const struct using *using, const struct made *made)
{
	struct making *making;
	struct fd *fd;

	if (made->number < 0 || made->number > INT32_MAX) {
		making_release(using->fds, made->origin);
		return;
	}
	making = making_create(using->fds, using->end->call->number, using->cx->number,
			made->path ? made->path : "", made->path ? made->length : 0, made->origin);
	fd = fds_find(using->fds, using->table, (int32_t)made->number);
	if (fd && fd->confidence != FD_OBSERVED && fd->known_ns > using->began_ns) {
		fds_tell(using->fds, fd, making);
	} else {
		fd = fds_open(using->fds, using->table, (int32_t)made->number, making,
				using->now_ns);
	}
	if (fd) {
		describe(fd, using, made);
	}
}

/* An fd that a call used with success: if nobody told of it, it is there nevertheless. */
static struct fd *used_fd(const struct using *using, int32_t number)
{
	struct fd *fd;

	if (number < 0) {
		return NULL;
	}
	fd = fds_find(using->fds, using->table, number);
	if (!fd) {
		fd = fds_open(using->fds, using->table, number, NULL, using->now_ns);
		if (fd) {
			fd->confidence = FD_GUESSED;
		}
	}
	return fd;
}

/* --- open, openat, openat2, creat ------------------------------------------------------------ */

enum { OPEN_PATH, OPEN_FLAGS, OPEN_DIRECTORY };

/* The directory that relative paths of the call are of: an fd, or where the process works. */
static const char *base_of(const struct using *using)
{
	int32_t number = fd_argument(using, OPEN_DIRECTORY);
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
	if (end->ret < 0 || !use(using, cx, end)) {
		return false;
	}
	made->path = text_argument(using, OPEN_PATH, &made->length);
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
		made.close_on_exec = argument(&using, OPEN_FLAGS, &flags)
						     ? fd_yes_if(flags & OPEN_CLOEXEC)
						     : FD_MAYBE;
		make_fd(&using, &made);
	}
}

static void end_creat(struct state_cx *cx, const struct call_end *end)
{
	char joined[FDS_MAX_PATH];
	struct using using;
	struct made made;

	if (use_path(cx, end, &using, &made, joined)) {
		made.close_on_exec = FD_NO;
		make_fd(&using, &made);
	}
}

/* --- chdir, fchdir: nothing tells where a process worked before its first one ---------------- */

static void end_chdir(struct state_cx *cx, const struct call_end *end)
{
	char joined[FDS_MAX_PATH];
	struct using using;
	const char *path;
	uint32_t length, whole;

	if (end->ret != 0 || !use(&using, cx, end)) {
		return;
	}
	path = text_argument(&using, OPEN_PATH, &length);
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

	if (end->ret != 0 || !use(&using, cx, end)) {
		return;
	}
	directory = fds_find(using.fds, using.table, fd_argument(&using, 0));
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
	struct fd *old;

	if (from < 0 || from == using->end->ret) {
		return; /* dup2() onto itself does nothing */
	}
	old = used_fd(using, from);
	if (!old) {
		return;
	}
	make_fd(using, &(struct made){.number = using->end->ret,
				       .kind = old->kind,
				       .close_on_exec = close_on_exec,
				       .network = old->network,
				       .origin = root_of(old)});
}

enum { DUP_OLD, DUP_FLAGS };

static void end_dup(struct state_cx *cx, const struct call_end *end)
{
	struct using using;

	if (end->ret >= 0 && use(&using, cx, end)) {
		duplicate(&using, fd_argument(&using, DUP_OLD),
				fd_yes_if(argument_or(&using, DUP_FLAGS, 0) & OPEN_CLOEXEC));
	}
}

enum { FCNTL_FD, FCNTL_COMMAND, FCNTL_ARGUMENT };

static void end_fcntl(struct state_cx *cx, const struct call_end *end)
{
	struct using using;
	int64_t command, argument_value;
	struct fd *fd;

	if (end->ret < 0 || !use(&using, cx, end) || !argument(&using, FCNTL_COMMAND, &command)) {
		return;
	}
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
		duplicate(&using, fd_argument(&using, FCNTL_FD),
				fd_yes_if(command == F_DUPFD_CLOEXEC));
	} else if (command == F_SETFD && argument(&using, FCNTL_ARGUMENT, &argument_value)) {
		fd = used_fd(&using, fd_argument(&using, FCNTL_FD));
		if (fd) {
			fd->close_on_exec = (uint8_t)fd_yes_if(argument_value & FD_CLOEXEC);
		}
	}
}

/* --- pairs ----------------------------------------------------------------------------------- */

enum { PAIR_FLAGS };
enum { PAIR_FDS };

static void make_pair(struct state_cx *cx, const struct call_end *end, enum fd_kind kind)
{
	struct using using;
	uint64_t numbers[2];
	uint32_t i;

	if (end->ret < 0 || !use(&using, cx, end) ||
			numbers_of(&using, end->exit, end->out[PAIR_FDS], numbers, 2) != 2) {
		return;
	}
	for (i = 0; i < 2; i++) {
		make_fd(&using, &(struct made){.number = (int32_t)numbers[i],
						.kind = kind,
						.close_on_exec = fd_yes_if(
								argument_or(&using, PAIR_FLAGS, 0) &
								OPEN_CLOEXEC),
						.network = FD_NO});
	}
}

static void end_pipe(struct state_cx *cx, const struct call_end *end)
{
	make_pair(cx, end, FD_PIPE);
}

/* Pairs are of local sockets only. */
static void end_socketpair(struct state_cx *cx, const struct call_end *end)
{
	make_pair(cx, end, FD_SOCKET);
}

/* --- sockets --------------------------------------------------------------------------------- */

enum { SOCKET_FAMILY, SOCKET_TYPE };

static void end_socket(struct state_cx *cx, const struct call_end *end)
{
	struct using using;
	int64_t type;

	if (end->ret >= 0 && use(&using, cx, end)) {
		make_fd(&using, &(struct made){.number = end->ret,
						.kind = FD_SOCKET,
						.close_on_exec =
								argument(&using, SOCKET_TYPE, &type)
										? fd_yes_if(type &
												  OPEN_CLOEXEC)
										: FD_MAYBE,
						.network = network_of(argument_or(
								&using, SOCKET_FAMILY, -1))});
	}
}

/* "192.0.2.1:80", "[2001:db8::1]:80"; 0: not told. */
static uint32_t peer_text(const struct using *using, const struct event *event,
		const uint16_t *slots, char *text)
{
	uint64_t address[MAX_NUMBERS];
	int64_t port;
	int n = 0;

	if (!event || slots[1] == STATE_NO_FIELD ||
			field_of(using, event, slots[1])->kind > FIELD_INT) {
		return 0;
	}
	port = (int64_t)event->slots[slots[1]];
	if (numbers_of(using, event, slots[2], address, 4) == 4) {
		n = snprintf(text, PEER_LENGTH, "%u.%u.%u.%u:%u", (unsigned int)address[0] & 255u,
				(unsigned int)address[1] & 255u, (unsigned int)address[2] & 255u,
				(unsigned int)address[3] & 255u, (unsigned int)port & 65535u);
	} else if (numbers_of(using, event, slots[3], address, 8) == 8) {
		uint32_t i;

		n = snprintf(text, PEER_LENGTH, "[");
		for (i = 0; i < 8; i++) {
			n += snprintf(text + n, PEER_LENGTH - (size_t)n, "%x%s",
					(unsigned int)address[i] & 65535u, i < 7 ? ":" : "]:");
		}
		n += snprintf(text + n, PEER_LENGTH - (size_t)n, "%u", (unsigned int)port & 65535u);
	}
	return n > 0 ? (uint32_t)n : 0;
}

enum { ACCEPT_FD, ACCEPT_FLAGS };
enum { ACCEPT_FAMILY, ACCEPT_PORT, ACCEPT_V4, ACCEPT_V6 };

static void end_accept(struct state_cx *cx, const struct call_end *end)
{
	char text[PEER_LENGTH];
	struct using using;
	struct made made = {.number = end->ret, .kind = FD_SOCKET, .path = text};
	struct fd *listening;

	if (end->ret < 0 || !use(&using, cx, end)) {
		return;
	}
	listening = used_fd(&using, fd_argument(&using, ACCEPT_FD));
	made.network = listening ? listening->network : FD_MAYBE;
	if (listening) {
		listening->kind = FD_SOCKET;
	}
	if (end->out[ACCEPT_FAMILY] != STATE_NO_FIELD &&
			end->exit->slots[end->out[ACCEPT_FAMILY]] != 0) {
		made.network = network_of((int64_t)end->exit->slots[end->out[ACCEPT_FAMILY]]);
	}
	made.length = peer_text(&using, end->exit, end->out, text);
	made.close_on_exec = fd_yes_if(argument_or(&using, ACCEPT_FLAGS, 0) & OPEN_CLOEXEC);
	make_fd(&using, &made);
}

/* Errors of connect() that leave the connection to be made meanwhile. */
#define ERROR_EINPROGRESS (-115)
#define ERROR_EINTR       (-4)

enum { CONNECT_FD = 4 };

static void end_connect(struct state_cx *cx, const struct call_end *end)
{
	char text[PEER_LENGTH];
	struct using using;
	struct making *making, *origin;
	struct fd *fd;
	uint32_t length;

	if ((end->ret < 0 && end->ret != ERROR_EINPROGRESS && end->ret != ERROR_EINTR) ||
			!use(&using, cx, end)) {
		return;
	}
	fd = used_fd(&using, fd_argument(&using, CONNECT_FD));
	if (!fd) {
		return;
	}
	fd->kind = FD_SOCKET;
	if (fd->network == FD_MAYBE) {
		fd->network = (uint8_t)network_of(argument_or(&using, ACCEPT_FAMILY, -1));
	}
	length = peer_text(&using, end->entry, end->in, text);
	if (length == 0) {
		return;
	}
	/* A socket that is connected anew forgets the last peer, not where it comes from. */
	origin = fd->making && fd->making->length > 0 ? fd->making->origin : fd->making;
	making = making_create(using.fds, end->call->number, cx->number, text, length,
			making_share(origin));
	if (making) {
		fds_rename(using.fds, fd, making, using.now_ns);
	}
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

	if (end->ret < 0 || !use(&using, cx, end) || !(maker = maker_of(&using))) {
		return;
	}
	if (fd_argument(&using, MAKE_OLD) >= 0 && fd_argument(&using, MAKE_OLD) == end->ret) {
		return; /* signalfd() of an old one changes its signals */
	}
	name = text_argument(&using, MAKE_NAME, &length);
	made.length = (uint32_t)snprintf(path, sizeof(path), "%s%.*s", maker->path,
			name && length < FDS_MAX_PATH / 2 ? (int)length : 0, name ? name : "");
	made.kind = maker->kind;
	made.close_on_exec = maker->close_on_exec == -1  ? FD_YES
			     : maker->close_on_exec == 0 ? FD_NO
			     : argument(&using, MAKE_FLAGS, &flags)
					     ? fd_yes_if(flags & maker->close_on_exec)
					     : FD_MAYBE;
	make_fd(&using, &made);
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

	if (end->ret == ERROR_EBADF || !use(&using, cx, end)) {
		return;
	}
	number = fd_argument(&using, CLOSE_FD);
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

	if (end->ret < 0 || !use(&using, cx, end) || !argument(&using, RANGE_FIRST, &first) ||
			!argument(&using, RANGE_LAST, &last)) {
		return;
	}
	flags = argument_or(&using, RANGE_FLAGS, 0);
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

	if (end->ret >= 0 && use(&using, cx, end) && (argument_or(&using, 0, 0) & CLONE_FILES)) {
		own_table(&using);
	}
}

/* --- reading and writing --------------------------------------------------------------------- */

enum { TRANSFER_FD, TRANSFER_TO };

static void count(const struct using *using, int32_t number, bool write, uint64_t bytes,
		bool is_socket, uint64_t thread_ns)
{
	struct fd *fd = used_fd(using, number);
	enum io_way way = write ? IO_WRITE : IO_READ;

	if (fd) {
		if (is_socket) {
			fd->kind = FD_SOCKET;
		}
		if (fd->network == FD_YES) {
			way = write ? IO_NET_WRITE : IO_NET_READ;
		}
		fds_count(using->fds, fd, write, bytes, using->now_ns - using->began_ns,
				using->now_ns);
	}
	thread_io_add(using->cx, using->end->thread, way, bytes, thread_ns);
}

static void transfer(struct state_cx *cx, const struct call_end *end, bool write, bool is_socket,
		bool counts_bytes)
{
	struct using using;

	if (end->ret >= 0 && use(&using, cx, end)) {
		count(&using, fd_argument(&using, TRANSFER_FD), write,
				counts_bytes ? (uint64_t)end->ret : 0, is_socket,
				using.now_ns - using.began_ns);
	}
}

#define TRANSFER(name, write, is_socket, counts_bytes)                                             \
	static void name(struct state_cx *cx, const struct call_end *end)                          \
	{                                                                                          \
		transfer(cx, end, write, is_socket, counts_bytes);                                 \
	}

TRANSFER(end_read, false, false, true)
TRANSFER(end_write, true, false, true)
TRANSFER(end_receive, false, true, true)
TRANSFER(end_send, true, true, true)
/* They return how many messages: of how many bytes, the trace does not tell. */
TRANSFER(end_receive_many, false, true, false)
TRANSFER(end_send_many, true, true, false)

/* From one fd to another, within the kernel: both read and written, in one time. */
static void end_copy(struct state_cx *cx, const struct call_end *end)
{
	struct using using;

	if (end->ret >= 0 && use(&using, cx, end)) {
		count(&using, fd_argument(&using, TRANSFER_FD), false, (uint64_t)end->ret, false,
				using.now_ns - using.began_ns);
		count(&using, fd_argument(&using, TRANSFER_TO), true, (uint64_t)end->ret, false, 0);
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
		{.names = "accept|accept4",
				.end = end_accept,
				.in = {"fd|sockfd", "flags"},
				.out = {"family", "sport", "v4addr", "v6addr"}},
		{.names = "connect",
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
				.end = end_write,
				.in = {"fd"}},
		{.names = "recv|recvfrom|recvmsg", .end = end_receive, .in = {"fd|sockfd"}},
		{.names = "send|sendto|sendmsg", .end = end_send, .in = {"fd|sockfd"}},
		{.names = "recvmmsg|recvmmsg_time64", .end = end_receive_many, .in = {"fd|sockfd"}},
		{.names = "sendmmsg", .end = end_send_many, .in = {"fd|sockfd"}},
		{.names = "sendfile|sendfile64|splice|tee|copy_file_range",
				.end = end_copy,
				.in = {"in_fd|fd_in|fdin", "out_fd|fd_out|fdout"}},
		{.names = NULL},
};
