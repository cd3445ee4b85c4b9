/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/answer.h"
#include "pythiatop/text.h"

#define OUT_BYTES       (4u << 20)
#define SSH_FAILED      255 /* ssh(1): "or with 255 if an error occurred" */
#define NO_SUCH_PROGRAM 127
#define KILL_WAIT_MS    50

extern char **environ;

void peer_init(struct peer *peer)
{
	memset(peer, 0, sizeof(*peer));
	peer->socket = peer->error_fd = -1;
}

static int describe_files(posix_spawn_file_actions_t *files, int socket, int error)
{
	int failed = posix_spawn_file_actions_init(files);

	if (failed) {
		return failed;
	}
	failed = posix_spawn_file_actions_adddup2(files, socket, STDIN_FILENO);
	failed = failed ? failed : posix_spawn_file_actions_adddup2(files, socket, STDOUT_FILENO);
	failed = failed ? failed : posix_spawn_file_actions_adddup2(files, error, STDERR_FILENO);
	if (failed) {
		posix_spawn_file_actions_destroy(files);
	}
	return failed;
}

static int spawn(struct peer *peer, const char *program, char *const *arguments, int socket,
		int error)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int failed = describe_files(&files, socket, error);

	if (failed) {
		return failed;
	}
	failed = posix_spawnattr_init(&attributes);
	if (!failed) {
		sigemptyset(&none);
		sigfillset(&all);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
								      POSIX_SPAWN_SETSIGDEF);
		posix_spawnattr_setsigmask(&attributes, &none);
		posix_spawnattr_setsigdefault(&attributes, &all);
		failed = posix_spawnp(&peer->pid, program, &files, &attributes, arguments, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	peer->pid = failed ? 0 : peer->pid;
	return failed;
}

static int run(struct peer *peer, const struct target *target, const char *program,
		const char *const *arguments, const char *ssh, int socket, int error)
{
	const char *const plain[] = {"pythiatop-control", NULL};
	const char *remote[24] = {ssh, "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-o",
			"ServerAliveInterval=5"};
	size_t n = 8;

	if (target->local) {
		return spawn(peer, program,
				(char *const *)(uintptr_t)(arguments ? arguments : plain), socket,
				error);
	}
	if (target->port[0]) {
		remote[n++] = "-p";
		remote[n++] = target->port;
	}
	if (target->user[0]) {
		remote[n++] = "-l";
		remote[n++] = target->user;
	}
	remote[n++] = "--";
	remote[n++] = target->host;
	remote[n++] = "pythiatop-control";
	return spawn(peer, ssh, (char *const *)remote, socket, error);
}

bool peer_start(struct peer *peer, const struct target *target, const char *program,
		const char *const *arguments, const char *ssh)
{
	int sockets[2] = {-1, -1}, errors[2] = {-1, -1};
	int failed = 0;

	peer_init(peer);
	line_out_init(&peer->out, OUT_BYTES);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0 ||
			pipe2(errors, O_CLOEXEC) != 0 || !line_in_init(&peer->in, PEER_LINE)) {
		failed = errno;
	}
	peer->socket = sockets[0];
	peer->error_fd = errors[0];
	if (!failed) {
		fcntl(errors[0], F_SETFL, O_NONBLOCK);
		fcntl(sockets[0], F_SETFL, O_NONBLOCK);
		failed = run(peer, target, program, arguments, ssh, sockets[1], errors[1]);
	}
	if (sockets[1] >= 0) {
		close(sockets[1]);
	}
	if (errors[1] >= 0) {
		close(errors[1]);
	}
	if (failed) {
		peer_let_go(peer);
		errno = failed;
	}
	return !failed;
}

/* Keeps the end of it: when there is no room, the older half goes. */
static void keep_words(struct peer *peer, const char *bytes, size_t n)
{
	size_t half = PEER_WORDS / 2;

	if (n > half) {
		bytes += n - half;
		n = half;
	}
	if (peer->n_words + n > PEER_WORDS) {
		memmove(peer->words, peer->words + peer->n_words - half, half);
		peer->n_words = half;
	}
	memcpy(peer->words + peer->n_words, bytes, n);
	peer->n_words += n;
}

static void listen_for(struct peer *peer, int turns)
{
	char bytes[1024];

	while (turns-- > 0 && peer->error_fd >= 0) {
		ssize_t n = read(peer->error_fd, bytes, sizeof(bytes));

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			close(peer->error_fd);
			peer->error_fd = -1;
		}
		if (n <= 0) {
			break;
		}
		keep_words(peer, bytes, (size_t)n);
	}
}

void peer_listen(struct peer *peer)
{
	listen_for(peer, 16); /* one that never stops talking gets a turn like the others */
}

static void last_words(const struct peer *peer, char *out, size_t size)
{
	size_t end = peer->n_words, start;
	char line[PEER_WORDS + 1];

	while (end > 0 && strchr("\r\n .", peer->words[end - 1])) {
		end--;
	}
	for (start = end; start > 0 && peer->words[start - 1] != '\n'; start--) {
	}
	snprintf(line, sizeof(line), "%.*s", (int)(end - start), peer->words + start);
	text_escape(out, size, line);
}

static void describe_end(struct peer *peer, const struct target *target, const siginfo_t *info,
		char *why, size_t size)
{
	char words[512];

	listen_for(peer, 2048); /* what is left in the pipe: at most 1 MiB */
	last_words(peer, words, sizeof(words));
	if (info->si_code != CLD_EXITED) {
		snprintf(why, size, "its %s was ended by SIG%s", target->local ? "helper" : "ssh",
				sigabbrev_np(info->si_status));
	} else if (info->si_status == NO_SUCH_PROGRAM) {
		snprintf(why, size, "pythiatop-control is not there, or not in the PATH");
	} else if (!target->local && info->si_status == SSH_FAILED) {
		snprintf(why, size, "%s%s", strncmp(words, "ssh:", 4) == 0 ? "" : "ssh: ",
				words[0] ? words : "failed, and does not say why");
	} else {
		snprintf(why, size, "its helper ended with code %d%s%s", info->si_status,
				words[0] ? ": " : "", words);
	}
}

void peer_let_go(struct peer *peer)
{
	if (peer->socket >= 0) {
		close(peer->socket);
	}
	if (peer->error_fd >= 0) {
		close(peer->error_fd);
	}
	if (peer->pid > 0) {
		/* It ends in its own time; should we live on, as a zombie until we end. */
		waitpid(peer->pid, NULL, WNOHANG);
	}
	line_in_release(&peer->in);
	line_out_release(&peer->out);
	peer_init(peer);
}

/* Waits for its end without collecting it. */
static bool wait_end(pid_t pid, siginfo_t *info)
{
	int waits;

	for (waits = 0; waits < KILL_WAIT_MS; waits++) {
		info->si_pid = 0;
		if (waitid(P_PID, (id_t)pid, info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
				info->si_pid != 0) {
			return true;
		}
		poll(NULL, 0, 1);
	}
	return false;
}

void peer_kill(struct peer *peer, const struct target *target, bool ended, char *why, size_t size)
{
	siginfo_t info = {0};

	why[0] = '\0';
	if (peer->pid > 0) {
		if (ended && wait_end(peer->pid, &info)) {
			describe_end(peer, target, &info, why, size);
		}
		kill(peer->pid, SIGKILL);
		wait_end(peer->pid, &info);
	}
	peer_let_go(peer);
}
