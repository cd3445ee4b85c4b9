/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/prober.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define PROGRAM     "pythiatop-probe"
#define ASK_FD      3 /* of the probe's: SERVE_ASK */
#define KEEP_MOST_MB (1u << 20) /* of the probe's --keep */
#define ANSWER_MS   10000
#define RETRY_NS    UINT64_C(5000000000)
#define MOST_BYTES  16384
#define GIVEN_UP_MS 5000 /* functions are let go of in order, which takes the kernel a while */

extern char **environ;

/* --- the guardian's --- */

static bool make_pair(int *ours, int *its)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		return false;
	}
	*ours = ends[0];
	*its = ends[1];
	return true;
}

void prober_init(struct prober *prober)
{
	*prober = (struct prober){.lease = -1, .ask = -1, .probe_lease = -1, .probe_ask = -1};
	if (!make_pair(&prober->lease, &prober->probe_lease) ||
			!make_pair(&prober->ask, &prober->probe_ask)) {
		prober->absent = true;
	}
}

/* It stands beside this program. */
static bool find_program(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (n <= 0) {
		return false;
	}
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + sizeof(PROGRAM) > size) {
		return false;
	}
	memcpy(slash + 1, PROGRAM, sizeof(PROGRAM));
	return access(path, X_OK) == 0;
}

static int spawn(struct prober *prober, const char *path, char *const *arguments)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int failed = posix_spawn_file_actions_init(&files);

	if (failed) {
		return failed;
	}
	posix_spawn_file_actions_adddup2(&files, prober->probe_lease, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, prober->probe_ask, ASK_FD);
	/* Standard output is the console's: it has nothing to say there. */
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	sigemptyset(&none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	failed = posix_spawn(&prober->pid, path, &files, &attributes, arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	prober->pid = failed ? 0 : prober->pid;
	return failed;
}

bool prober_start(struct prober *prober, const struct rights *rights, uint64_t now_ns)
{
	const char *arguments[2 * RIGHTS_MAX_FUNCTIONS + 2 * RIGHTS_MAX_TREES + 5] = {
			PROGRAM, "--serve", "--keep"};
	char path[PATH_MAX], keep[24];
	uint64_t kept_mb;
	uint32_t n = 3;

	if (prober->pid > 0 || prober->absent || now_ns < prober->retry_ns) {
		return false;
	}
	if (!find_program(path, sizeof(path))) {
		prober->absent = true;
		return false;
	}
	kept_mb = rights->tracefile_mb * rights->tracefiles;
	snprintf(keep, sizeof(keep), "%llu",
			(unsigned long long)(kept_mb < KEEP_MOST_MB ? kept_mb : KEEP_MOST_MB));
	arguments[n++] = keep;
	for (uint32_t i = 0; i < rights->trees.n; i++) {
		arguments[n++] = "--tree";
		arguments[n++] = rights->trees.words[i];
	}
	for (uint32_t i = 0; i < rights->functions.n; i++) {
		arguments[n++] = "--function";
		arguments[n++] = rights->functions.words[i];
	}
	arguments[n] = NULL;
	prober->retry_ns = now_ns + RETRY_NS;
	return spawn(prober, path, (char *const *)(uintptr_t)arguments) == 0;
}

bool prober_tend(struct prober *prober, uint64_t now_ns)
{
	(void)now_ns;
	if (prober->pid <= 0) {
		return false;
	}
	send(prober->lease, "beat", 4, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (waitpid(prober->pid, NULL, WNOHANG) != prober->pid) {
		return false;
	}
	prober->pid = 0;
	return true;
}

bool prober_hear(struct prober *prober, char *text, size_t size)
{
	ssize_t n = prober->lease < 0 ? -1 : recv(prober->lease, text, size - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Waits for its end, at most `ms`. */
static bool wait_end(pid_t pid, int ms)
{
	for (; ms > 0; ms--) {
		if (waitpid(pid, NULL, WNOHANG) != 0) {
			return true;
		}
		poll(NULL, 0, 1);
	}
	return false;
}

void prober_kill(struct prober *prober)
{
	if (prober->pid > 0) {
		kill(prober->pid, SIGTERM);
		if (!wait_end(prober->pid, GIVEN_UP_MS)) {
			kill(prober->pid, SIGKILL);
			wait_end(prober->pid, GIVEN_UP_MS);
		}
	}
	prober->pid = 0;
}

void prober_end(struct prober *prober)
{
	const int fds[] = {prober->lease, prober->ask, prober->probe_lease, prober->probe_ask};

	prober_kill(prober);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0) {
			close(fds[i]);
		}
	}
	*prober = (struct prober){.lease = -1, .ask = -1, .probe_lease = -1, .probe_ask = -1};
}

/* --- the worker's --- */

bool prober_is_there(const struct prober *prober)
{
	return prober->pid > 0 && prober->ask >= 0;
}

/* The next packet, its length in *n. False: not in time. */
static bool receive(int fd, char *text, uint64_t until_ns, ssize_t *n)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	uint64_t now_ns = clock_monotonic_ns();

	if (now_ns >= until_ns || poll(&ready, 1, (int)((until_ns - now_ns) / 1000000 + 1)) <= 0) {
		return false;
	}
	*n = recv(fd, text, MOST_BYTES, MSG_DONTWAIT);
	if (*n <= 0) {
		return false;
	}
	text[*n] = '\0';
	return true;
}

bool prober_ask(const struct prober *prober, const char *request,
		void (*take)(void *context, char *row), void *context, char *error, size_t size)
{
	static uint32_t last;
	static char text[MOST_BYTES + 1];
	const uint64_t until_ns = clock_monotonic_ns() + ANSWER_MS * UINT64_C(1000000);
	char tag[32];
	int length, tag_length;
	ssize_t n;

	if (!prober_is_there(prober)) {
		snprintf(error, size, "pythiatop-probe does not run on this host");
		return false;
	}
	/* Answers to a worker that was killed may still be there: theirs is another tag. */
	tag_length = snprintf(tag, sizeof(tag), "%d.%u ", (int)getpid(), ++last);
	length = snprintf(text, sizeof(text), "%s%s", tag, request);
	if (length >= MOST_BYTES || send(prober->ask, text, (size_t)length, MSG_NOSIGNAL) < 0) {
		snprintf(error, size, "pythiatop-probe cannot be asked: %s",
				length >= MOST_BYTES ? "too long" : strerror(errno));
		return false;
	}
	while (receive(prober->ask, text, until_ns, &n)) {
		if (strncmp(text, tag, (size_t)tag_length) != 0 || n < tag_length + 2) {
			continue;
		}
		if (text[tag_length] == '+') {
			if (take) {
				take(context, text + tag_length + 2);
			}
			continue;
		}
		snprintf(error, size, "%s", text + tag_length + 2);
		return text[tag_length] == '.';
	}
	snprintf(error, size, "pythiatop-probe does not answer");
	return false;
}
