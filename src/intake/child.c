/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"
#include "intake/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Of the ring of a recording: what is decoded is taken soon, so that half of what live sessions
 * need for a whole live timer does, and stays in caches better.
 */
#define RECORDED_RING_BYTES (4u << 20)

extern char **environ;

static const char *const mode_options[] = {
		[CHILD_LIST] = "--list",
		[CHILD_LIVE] = "--live",
		[CHILD_RECORDED] = "--trace",
		[CHILD_RECORDED_PROGRESS] = "--trace-progress",
		[CHILD_WRITE] = "--write",
};

/*
 * What the new process has open. dup2 of a descriptor onto itself is how posix_spawn() is told to
 * let it through exec in spite of FD_CLOEXEC.
 */
static int describe_files(
		posix_spawn_file_actions_t *files, const struct ring_fds *fds, int error_fd)
{
	int failed = posix_spawn_file_actions_init(files);

	if (failed) {
		return failed;
	}
	failed = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!failed) {
		failed = posix_spawn_file_actions_addopen(
				files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	}
	if (!failed) {
		failed = posix_spawn_file_actions_adddup2(files, error_fd, STDERR_FILENO);
	}
	if (!failed) {
		failed = posix_spawn_file_actions_adddup2(files, fds->memory, fds->memory);
	}
	if (!failed) {
		failed = posix_spawn_file_actions_adddup2(files, fds->data_event, fds->data_event);
	}
	if (!failed) {
		failed = posix_spawn_file_actions_adddup2(
				files, fds->space_event, fds->space_event);
	}
	if (failed) {
		posix_spawn_file_actions_destroy(files);
	}
	return failed;
}

/* A group of its own, no blocked signals, none ignored. */
static int describe_process(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	int failed = posix_spawnattr_init(attributes);

	if (failed) {
		return failed;
	}
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setflags(attributes,
			POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(attributes, 0);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &all);
	return 0;
}

static int spawn(struct child *child, const char *program, char *const *arguments, int error_fd)
{
	struct ring_fds fds = ring_fds(child->ring);
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int failed = describe_files(&files, &fds, error_fd);

	if (failed) {
		return failed;
	}
	failed = describe_process(&attributes);
	if (!failed) {
		failed = posix_spawnp(
				&child->pid, program, &files, &attributes, arguments, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	return failed;
}

static int run_program(struct child *child, const char *program, enum child_mode mode,
		const char *url, uint32_t timer_us, const char *reader, int error_fd)
{
	struct ring_fds fds = ring_fds(child->ring);
	char ring[48], timer[16];
	const char *arguments[10] = {"pythiatop-source", "--ring", ring, mode_options[mode], url};
	int n = 5, failed;

	if (mode == CHILD_LIVE) {
		arguments[n++] = "--timer-us";
		arguments[n++] = timer;
	}
	if (reader) {
		arguments[n++] = "--reader";
		arguments[n++] = reader;
	}
	snprintf(ring, sizeof(ring), "%d,%d,%d", fds.memory, fds.data_event, fds.space_event);
	snprintf(timer, sizeof(timer), "%u", timer_us);
	failed = spawn(child, program, (char *const *)arguments, error_fd);
	if (failed) {
		child->pid = 0;
		return failed;
	}
	child->pid_fd = pidfd_open(child->pid, 0);
	return child->pid_fd < 0 ? errno : 0;
}

static bool is_recorded(enum child_mode mode)
{
	return mode == CHILD_RECORDED || mode == CHILD_RECORDED_PROGRESS;
}

enum status child_start(struct child *child, const char *program, enum child_mode mode,
		const char *url, uint32_t timer_us, const char *reader, char *error,
		size_t error_size)
{
	int errors[2] = {-1, -1};
	int failed = 0;

	memset(child, 0, sizeof(*child));
	child->pid_fd = -1;
	child->error_fd = -1;
	child->ring = ring_create(is_recorded(mode) ? RECORDED_RING_BYTES : 0);
	if (!child->ring || pipe2(errors, O_CLOEXEC) != 0) {
		failed = errno;
	} else {
		child->error_fd = errors[0];
		fcntl(errors[0], F_SETFL, O_NONBLOCK);
		failed = run_program(child, program, mode, url, timer_us, reader, errors[1]);
		if (mode == CHILD_WRITE) {
			ring_turn(child->ring, child->pid);
		}
		close(errors[1]);
	}
	if (failed) {
		snprintf(error, error_size, "cannot start %s: %s", program, strerror(failed));
		child_stop(child);
		return STATUS_IO;
	}
	return STATUS_OK;
}

/* Appends to the words, whose oldest half goes when there is no room. */
static void keep_words(struct child *child, const char *bytes, size_t n)
{
	if (n > CHILD_WORDS / 2) {
		bytes += n - CHILD_WORDS / 2;
		n = CHILD_WORDS / 2;
	}
	if (child->n_words + n > CHILD_WORDS) {
		size_t keep = CHILD_WORDS / 2;

		memmove(child->words, child->words + child->n_words - keep, keep);
		child->n_words = keep;
	}
	memcpy(child->words + child->n_words, bytes, n);
	child->n_words += n;
}

static void read_words(struct child *child)
{
	char bytes[1024];
	int turns;

	/* A process that never stops talking gets a turn like the others. */
	for (turns = 0; turns < 16; turns++) {
		ssize_t n = read(child->error_fd, bytes, sizeof(bytes));

		if (n <= 0) {
			break;
		}
		keep_words(child, bytes, (size_t)n);
	}
}

void child_poll(struct child *child)
{
	siginfo_t info = {0};

	if (child->pid == 0) {
		return;
	}
	if (!child->exited && waitid(P_PIDFD, (id_t)child->pid_fd, &info, WEXITED | WNOHANG) == 0 &&
			info.si_pid != 0) {
		child->exited = true;
		child->signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
		child->exit_code = info.si_code == CLD_EXITED ? info.si_status : 0;
	}
	read_words(child);
}

void child_last_line(const struct child *child, char *out, size_t size)
{
	size_t end = child->n_words, start;

	while (end > 0 && (child->words[end - 1] == '\n' || child->words[end - 1] == ' ')) {
		end--;
	}
	start = end;
	while (start > 0 && child->words[start - 1] != '\n') {
		start--;
	}
	snprintf(out, size, "%.*s", (int)(end - start), child->words + start);
}

void child_describe_end(const struct child *child, char *out, size_t size)
{
	const char *name;

	if (!child->signal) {
		snprintf(out, size, "ended with code %d", child->exit_code);
		return;
	}
	name = sigabbrev_np(child->signal);
	snprintf(out, size, "was ended by SIG%s", name ? name : "?");
}

static uint64_t now_ms(void)
{
	return clock_monotonic_ns() / 1000000u;
}

void child_kill(struct child *child)
{
	/* Not reaped so far: the number is still this process'. */
	if (child->pid > 0 && !child->exited && child->kill_ms == 0) {
		kill(child->pid, SIGKILL);
		child->kill_ms = now_ms();
	}
}

/* False: the kernel has not taken it down yet. */
static bool await_end(const struct child *child)
{
	struct pollfd gone = {.fd = child->pid_fd, .events = POLLIN};
	uint64_t end_ms = child->kill_ms + CHILD_KILL_MS, at_ms;
	int found;

	if (child->pid_fd < 0) {
		return true; /* waitid() waits */
	}
	do {
		at_ms = now_ms();
		found = poll(&gone, 1, at_ms < end_ms ? (int)(end_ms - at_ms) : 0);
	} while (found < 0 && errno == EINTR);
	return found > 0;
}

void child_stop(struct child *child)
{
	child_kill(child);
	if (child->pid > 0 && !child->exited && await_end(child)) {
		waitid(P_PID, (id_t)child->pid, NULL, WEXITED);
	}
	if (child->pid_fd >= 0) {
		close(child->pid_fd);
	}
	if (child->error_fd >= 0) {
		close(child->error_fd);
	}
	ring_destroy(child->ring);
	memset(child, 0, sizeof(*child));
	child->pid_fd = -1;
	child->error_fd = -1;
}
