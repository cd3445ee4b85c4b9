/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "local/keeper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/background.h"
#include "base/clock.h"
#include "local/process.h"
#include "run/temporary.h"

#define MS          UINT64_C(1000000)
#define RELAY_NS    (5000 * MS) /* until it listens */
#define PROBE_NS    (8000 * MS) /* until it records */
#define POLITE_NS   (4000 * MS) /* from SIGTERM to SIGKILL */
#define POLL_MS     50
#define VIEWER_MS   1500
#define TRIES       5 /* somebody else may take a free port before the relay daemon does */
#define KEEP_MIB    "64"
#define SPEAKER     "pythiatop-probe: "
#define READY       "records "
#define MANY        256
#define CANNOT_EXEC 127

enum port { PORT_CONTROL = 0, PORT_DATA, PORT_LIVE, PORTS };

struct keeper {
	const struct keeper_setup *setup;
	uint16_t ports[PORTS];
	pid_t relay, probe, command;
	int said;       /* standard error of the probe; -1: it has ended */
	int go;         /* the command begins once this is closed */
	char line[640]; /* the last line that the probe said */
	size_t n_line;
	bool ready;
	bool ended, left; /* the command; it and whoever it left behind */
};

__attribute__((format(printf, 2, 3))) static void tell(
		const struct keeper *keeper, const char *format, ...)
{
	char text[KEEPER_PACKET];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	send(keeper->setup->lease, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* --- Children --------------------------------------------------------------------------------- */

/* In the child: goes with the keeper, whatever ends that, even before this. */
static void become_child(pid_t keeper)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != keeper) {
		_exit(CANNOT_EXEC);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0);
}

static void put_fd(int fd, int as)
{
	if (fd == as) {
		fcntl(fd, F_SETFD, 0);
	} else {
		dup2(fd, as);
	}
}

/*
 * `gate`: it is there, and runs the program once a byte comes from it; NULL: one of ours, at once
 * and in the background.
 */
static pid_t start(const char *const *arguments, int out, int error, const int *gate)
{
	pid_t keeper = getpid(), pid = fork();

	if (pid == 0) {
		int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
		char byte;

		become_child(keeper);
		put_fd(nothing, STDIN_FILENO);
		put_fd(out >= 0 ? out : nothing, STDOUT_FILENO);
		put_fd(error >= 0 ? error : nothing, STDERR_FILENO);
		if (gate) {
			close(gate[1]);
		} else {
			background_enter();
		}
		if (!gate || read(gate[0], &byte, 1) == 1) {
			execvp(arguments[0], (char *const *)(uintptr_t)arguments);
		}
		_exit(CANNOT_EXEC);
	}
	return pid;
}

/* Ends what is still there of all children, and of theirs that they left behind. */
static void end_children(pid_t but)
{
	uint64_t until_ns = clock_monotonic_ns() + POLITE_NS;
	pid_t children[MANY];
	size_t n = MANY;

	while (n > 0) {
		int number = clock_monotonic_ns() < until_ns ? SIGTERM : SIGKILL;
		size_t left = 0;

		n = process_children(getpid(), children, MANY);
		for (size_t i = 0; i < n; i++) {
			if (children[i] != but && waitpid(children[i], NULL, WNOHANG) == 0) {
				kill(children[i], number);
				left++;
			}
		}
		n = left;
		if (n > 0) {
			poll(NULL, 0, POLL_MS);
		}
	}
}

/* The probe sends the last events before the relay daemon goes. */
static _Noreturn void end(struct keeper *keeper)
{
	end_children(keeper->relay);
	end_children(0);
	temporary_remove(keeper->setup->folder);
	_exit(0);
}

/* --- The relay daemon ------------------------------------------------------------------------- */

static int bind_any(uint16_t *port)
{
	struct sockaddr_in address = {
			.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, length) != 0 ||
				       getsockname(fd, (struct sockaddr *)&address, &length) !=
						       0)) {
		close(fd);
		return -1;
	}
	*port = ntohs(address.sin_port);
	return fd;
}

/* All at once, so that they differ. */
static bool find_ports(uint16_t *ports)
{
	int fds[PORTS];
	bool found = true;

	for (int i = 0; i < PORTS; i++) {
		fds[i] = bind_any(&ports[i]);
		found = found && fds[i] >= 0;
	}
	for (int i = 0; i < PORTS; i++) {
		if (fds[i] >= 0) {
			close(fds[i]);
		}
	}
	return found;
}

static bool listens(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
			.sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool there = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

	if (fd >= 0) {
		close(fd);
	}
	return there;
}

static bool try_relay(struct keeper *keeper)
{
	char urls[PORTS][64], folder[PATH_MAX + 8];
	const char *arguments[] = {"lttng-relayd", "-C", urls[PORT_CONTROL], "-D", urls[PORT_DATA],
			"-L", urls[PORT_LIVE], "-o", folder, NULL};
	uint64_t until_ns = clock_monotonic_ns() + RELAY_NS;

	for (int i = 0; i < PORTS; i++) {
		snprintf(urls[i], sizeof(urls[i]), "tcp://127.0.0.1:%u", keeper->ports[i]);
	}
	snprintf(folder, sizeof(folder), "%s/relay", keeper->setup->folder);
	keeper->relay = start(arguments, -1, -1, NULL);
	while (keeper->relay > 0 && clock_monotonic_ns() < until_ns) {
		if (waitpid(keeper->relay, NULL, WNOHANG) != 0) {
			break;
		}
		if (listens(keeper->ports[PORT_LIVE]) && listens(keeper->ports[PORT_DATA])) {
			return true;
		}
		poll(NULL, 0, POLL_MS);
	}
	end_children(0);
	keeper->relay = 0;
	return false;
}

static bool start_relay(struct keeper *keeper)
{
	char health[PATH_MAX + 16];

	/* It leaves nothing outside of our directory. */
	snprintf(health, sizeof(health), "%s/health", keeper->setup->folder);
	setenv("LTTNG_RELAYD_HEALTH", health, 1);
	setenv("LTTNG_HOME", keeper->setup->folder, 1);
	for (int i = 0; i < TRIES; i++) {
		if (find_ports(keeper->ports) && try_relay(keeper)) {
			unsetenv("LTTNG_RELAYD_HEALTH");
			unsetenv("LTTNG_HOME");
			return true;
		}
	}
	return false;
}

/* --- The command ------------------------------------------------------------------------------ */

/* It is there from now on, and begins once its events are recorded. */
static bool prepare_command(struct keeper *keeper)
{
	const struct local_setup *wish = keeper->setup->wish;
	int gate[2], out = wish->quiet ? -1 : STDERR_FILENO;

	if (!wish->command) {
		return true;
	}
	if (pipe2(gate, O_CLOEXEC) != 0) {
		return false;
	}
	keeper->command = start((const char *const *)wish->command, out, out, gate);
	close(gate[0]);
	keeper->go = gate[1];
	return keeper->command > 0;
}

/* Viewers see what comes after they have attached, which takes them a moment. */
static void begin_command(struct keeper *keeper)
{
	if (keeper->go >= 0) {
		poll(NULL, 0, VIEWER_MS);
		if (write(keeper->go, "", 1) < 0) {
			keeper->ended = true;
		}
		close(keeper->go);
		keeper->go = -1;
	}
}

/* --- The probe -------------------------------------------------------------------------------- */

static bool start_probe(struct keeper *keeper)
{
	const struct keeper_setup *setup = keeper->setup;
	char relay[64], command[32], cost[32], console[32];
	const char *arguments[13 + 2 * LOCAL_PROCESSES] = {setup->probe, "--kernel", "--relay",
			relay, "--session", setup->programs[0], "--keep", KEEP_MIB, "--cost", cost,
			"--beside", console};
	uint32_t n = 12;
	int errors[2];

	snprintf(command, sizeof(command), "%d", (int)keeper->command);
	snprintf(cost, sizeof(cost), "%u", setup->wish->cost_percent);
	snprintf(console, sizeof(console), "%d", (int)getppid());
	for (uint32_t i = 0; i < setup->wish->n_processes; i++) {
		arguments[n++] = "--tree";
		arguments[n++] = setup->wish->processes[i];
	}
	if (keeper->command > 0) {
		arguments[n++] = "--tree";
		arguments[n++] = command;
	}
	snprintf(relay, sizeof(relay), "net://127.0.0.1:%u:%u", keeper->ports[PORT_CONTROL],
			keeper->ports[PORT_DATA]);
	if (pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0) {
		return false;
	}
	fcntl(errors[1], F_SETFL, 0);
	keeper->said = errors[0];
	keeper->probe = start(arguments, -1, errors[1], NULL);
	close(errors[1]);
	return keeper->probe > 0;
}

/* "pythiatop-probe: SENTENCE" */
static void take_line(struct keeper *keeper)
{
	size_t n = strlen(SPEAKER);

	if (strncmp(keeper->line, SPEAKER, n) == 0) {
		memmove(keeper->line, keeper->line + n, strlen(keeper->line + n) + 1);
	}
	keeper->ready = keeper->ready || strncmp(keeper->line, READY, strlen(READY)) == 0;
}

static void hear_probe(struct keeper *keeper)
{
	char byte;
	ssize_t n;

	while ((n = read(keeper->said, &byte, 1)) == 1) {
		if (byte == '\n') {
			keeper->line[keeper->n_line] = '\0';
			take_line(keeper);
			keeper->n_line = 0;
		} else if (keeper->n_line + 1 < sizeof(keeper->line)) {
			keeper->line[keeper->n_line++] = byte;
		}
	}
	if (n == 0) {
		close(keeper->said);
		keeper->said = -1;
	}
}

/* --- Its life --------------------------------------------------------------------------------- */

static _Noreturn void refuse(struct keeper *keeper, enum status status, const char *sentence)
{
	tell(keeper, "! %d %s", (int)status, sentence);
	end(keeper);
}

static void wait_for_probe(struct keeper *keeper)
{
	uint64_t until_ns = clock_monotonic_ns() + PROBE_NS;

	while (!keeper->ready) {
		struct pollfd fds[] = {{.fd = keeper->said, .events = POLLIN},
				{.fd = keeper->setup->lease, .events = POLLIN}};

		poll(fds, 2, POLL_MS);
		if (fds[1].revents) {
			end(keeper);
		}
		hear_probe(keeper);
		if (keeper->said < 0 && !keeper->ready) {
			bool rights = strstr(keeper->line, "may not") != NULL;

			refuse(keeper, rights ? STATUS_BUSY : STATUS_IO, keeper->line);
		}
		if (clock_monotonic_ns() > until_ns) {
			refuse(keeper, STATUS_TIMEOUT, "pythiatop-probe does not begin to record");
		}
	}
}

static void describe_end(char *text, size_t size, const char *what, int status)
{
	if (WIFSIGNALED(status)) {
		snprintf(text, size, "%s was killed by signal %d", what, WTERMSIG(status));
	} else {
		snprintf(text, size, "%s ended with code %d%s", what, WEXITSTATUS(status),
				WEXITSTATUS(status) == CANNOT_EXEC ? ": can it be run?" : "");
	}
}

/* Is there a child that is neither the relay daemon nor the probe? */
static bool has_others(const struct keeper *keeper)
{
	pid_t children[3];
	size_t n = process_children(getpid(), children, 3);

	for (size_t i = 0; i < n; i++) {
		if (children[i] != keeper->relay && children[i] != keeper->probe) {
			return true;
		}
	}
	return false;
}

/* The command may leave others behind that go on: it has ended when the last of them has. */
static void reap(struct keeper *keeper)
{
	char text[512];
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		const char *what = pid == keeper->probe     ? "pythiatop-probe"
				   : pid == keeper->relay   ? "lttng-relayd"
				   : pid == keeper->command ? keeper->setup->wish->command[0]
							    : NULL;

		keeper->ended = keeper->ended || pid == keeper->command;
		describe_end(text, sizeof(text), what ? what : "", status);
		if (what && status != 0) {
			tell(keeper, "- %s%s%s", text, pid == keeper->probe ? ": " : "",
					pid == keeper->probe ? keeper->line : "");
		}
		if (pid == keeper->probe) {
			keeper->probe = 0;
			tell(keeper, ".");
		}
	}
	if (keeper->ended && !keeper->left && keeper->probe > 0 && !has_others(keeper)) {
		keeper->left = true;
		kill(keeper->probe, SIGTERM); /* the session ends */
	}
}

_Noreturn void keeper_run(const struct keeper_setup *setup)
{
	struct keeper keeper = {.setup = setup, .said = -1, .go = -1};
	char host[256] = "";
	struct pollfd fds[2] = {{.fd = setup->lease, .events = POLLIN}, {.events = POLLIN}};

	setsid(); /* Ctrl-C is the console's alone to answer */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGPIPE, SIG_IGN);
	if (!start_relay(&keeper)) {
		refuse(&keeper, STATUS_NOT_FOUND,
				"lttng-relayd does not start: is it installed (Debian: "
				"lttng-tools)?");
	}
	if (!prepare_command(&keeper) || !start_probe(&keeper)) {
		refuse(&keeper, STATUS_IO, strerror(errno));
	}
	wait_for_probe(&keeper);
	if (gethostname(host, sizeof(host) - 1) != 0) {
		snprintf(host, sizeof(host), "localhost"); /* as the probe does */
	}
	tell(&keeper, "+ net://127.0.0.1:%u/host/%s/%s net://127.0.0.1:%u:%u %d",
			keeper.ports[PORT_LIVE], host, setup->programs[0],
			keeper.ports[PORT_CONTROL], keeper.ports[PORT_DATA], (int)keeper.command);
	begin_command(&keeper);
	for (;;) {
		fds[1].fd = keeper.said;
		fds[0].revents = 0;
		poll(fds, 2, POLL_MS);
		if (fds[0].revents) {
			end(&keeper);
		}
		if (keeper.said >= 0) {
			hear_probe(&keeper);
		}
		reap(&keeper);
	}
}
