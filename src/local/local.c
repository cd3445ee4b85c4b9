/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "local/local.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/paths.h"
#include "local/keeper.h"
#include "local/process.h"
#include "run/temporary.h"

#define FOLDER     "pythiatop-"
#define START_MS   15000
#define END_MS     10000
#define FOLDERS    "/tmp"
#define MOMENT_NS  UINT64_C(1500000000) /* for what is on its way */

struct local {
	pid_t keeper;
	int lease, command;
	uint64_t ended_ns; /* 0: it goes on */
	char said[KEEPER_PACKET];
	char source[1024], relay_url[64];
	char functions[LOCAL_PROCESSES][KEEPER_PACKET], trees[LOCAL_PROCESSES][LOCAL_NAME + 8];
	const char *helper[2 + 2 * LOCAL_PROCESSES];
};

static enum status refuse(char *error, size_t size, enum status status, const char *sentence)
{
	snprintf(error, size, "%s", sentence);
	return status;
}

static const char *folders(void)
{
	const char *tmpdir = getenv("TMPDIR");

	return tmpdir && tmpdir[0] == '/' ? tmpdir : FOLDERS;
}

/* Directories of ours whose keeper is gone, as when the power went. */
static void sweep(void)
{
	DIR *all = opendir(folders());
	const struct dirent *entry;
	char path[PATH_MAX];

	while (all && (entry = readdir(all))) {
		const char *number = entry->d_name + strlen(FOLDER);
		struct stat info;

		if (strncmp(entry->d_name, FOLDER, strlen(FOLDER)) == 0 &&
				isdigit((unsigned char)number[0]) && strchr(number, '-') &&
				kill(atoi(number), 0) != 0 && errno == ESRCH &&
				snprintf(path, sizeof(path), "%s/%s", folders(), entry->d_name) <
						(int)sizeof(path) &&
				lstat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
				info.st_uid == geteuid()) {
			temporary_remove(path);
		}
	}
	if (all) {
		closedir(all);
	}
}

/* Which processes are meant, and with what. */
static enum status prepare(const struct local_setup *wish, struct keeper_setup *setup, char *error,
		size_t size)
{
	const char *slash = wish->command ? strrchr(wish->command[0], '/') : NULL;

	if (!paths_sibling("pythiatop-probe", setup->probe, sizeof(setup->probe)) ||
			access(setup->probe, X_OK) != 0) {
		return refuse(error, size, STATUS_NOT_FOUND,
				"pythiatop-probe is not installed beside this program: it needs "
				"libbpf, clang and bpftool to be built");
	}
	if (wish->command) {
		snprintf(setup->programs[0], LOCAL_NAME, "%s", slash ? slash + 1 : wish->command[0]);
	}
	for (uint32_t i = 0; i < wish->n_processes; i++) {
		if (!process_name(wish->processes[i], setup->programs[i], LOCAL_NAME)) {
			snprintf(error, size,
					"no process %s runs: give the number of one, or its "
					"program's name",
					wish->processes[i]);
			return STATUS_INVALID;
		}
	}
	return STATUS_OK;
}

/* "+ SOURCE RELAY PID", "! STATUS SENTENCE" (keeper.h) */
static enum status take_answer(struct local *local, const char *text, char *error, size_t size)
{
	int status = STATUS_IO, n = 0;

	if (sscanf(text, "+ %1023s %63s %d", local->source, local->relay_url, &local->command) ==
			3) {
		return STATUS_OK;
	}
	sscanf(text, "! %d %n", &status, &n);
	return refuse(error, size, (enum status)status,
			n > 0 ? text + n : "the process that starts the others ended");
}

static enum status wait_for_answer(struct local *local, char *error, size_t size)
{
	struct pollfd ready = {.fd = local->lease, .events = POLLIN};
	char text[KEEPER_PACKET];
	ssize_t n;

	if (poll(&ready, 1, START_MS) <= 0) {
		return refuse(error, size, STATUS_TIMEOUT,
				"the relay daemon and the probe do not start within 15 s");
	}
	n = recv(local->lease, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	return take_answer(local, text, error, size);
}

static enum status start_keeper(struct local *local, struct keeper_setup *setup)
{
	int lease[2];

	snprintf(setup->folder, sizeof(setup->folder), "%s/" FOLDER "%d-XXXXXX", folders(),
			(int)getpid());
	if (!mkdtemp(setup->folder)) {
		return STATUS_IO;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, lease) != 0) {
		rmdir(setup->folder);
		return STATUS_IO;
	}
	local->lease = lease[0];
	setup->lease = lease[1];
	local->keeper = fork();
	if (local->keeper == 0) {
		close(lease[0]);
		keeper_run(setup);
	}
	close(lease[1]);
	return local->keeper > 0 ? STATUS_OK : STATUS_IO;
}

static void say_helper(struct local *local, const struct keeper_setup *setup)
{
	const struct local_setup *wish = setup->wish;
	uint32_t n = 0;

	local->helper[n++] = "pythiatop-control";
	for (uint32_t i = 0; i == 0 || i < wish->n_processes; i++) {
		snprintf(local->functions[i], sizeof(local->functions[i]), "--functions=%s:%s",
				setup->programs[i], wish->functions ? wish->functions : "*");
		if (wish->n_processes) {
			snprintf(local->trees[i], sizeof(local->trees[i]), "--tree=%s",
					wish->processes[i]);
		} else {
			snprintf(local->trees[i], sizeof(local->trees[i]), "--tree=%d",
					local->command);
		}
		local->helper[n++] = local->functions[i];
		local->helper[n++] = local->trees[i];
	}
}

enum status local_start(
		struct local **out, const struct local_setup *wish, char *error, size_t size)
{
	struct local *local = calloc(1, sizeof(*local));
	struct keeper_setup setup = {.wish = wish};
	enum status status;

	*out = NULL;
	if (!local) {
		return refuse(error, size, STATUS_NO_MEMORY, "out of memory");
	}
	local->lease = -1;
	status = prepare(wish, &setup, error, size);
	if (status == STATUS_OK) {
		sweep();
		status = start_keeper(local, &setup);
		if (status != STATUS_OK) {
			snprintf(error, size, "%s: %s", setup.folder, strerror(errno));
		}
	}
	if (status == STATUS_OK) {
		status = wait_for_answer(local, error, size);
	}
	if (status != STATUS_OK) {
		local_end(local, NULL, 0);
		return status;
	}
	say_helper(local, &setup);
	*out = local;
	return STATUS_OK;
}

/* Takes what was told; of sentences the last one counts. */
static void hear(struct local *local)
{
	char text[KEEPER_PACKET];
	ssize_t n;

	while ((n = recv(local->lease, text, sizeof(text) - 1, MSG_DONTWAIT)) > 0) {
		text[n] = '\0';
		if (text[0] == '-') {
			snprintf(local->said, sizeof(local->said), "%s", text + 2);
		} else if (text[0] == '.') {
			local->ended_ns = clock_monotonic_ns();
		}
	}
}

bool local_is_over(struct local *local)
{
	hear(local);
	return local->ended_ns > 0 && clock_monotonic_ns() > local->ended_ns + MOMENT_NS;
}

void local_end(struct local *local, char *said, size_t size)
{
	if (!local) {
		return;
	}
	if (local->lease >= 0) {
		hear(local);
		if (said) {
			snprintf(said, size, "%s", local->said);
		}
		close(local->lease);
	}
	for (int ms = 0; local->keeper > 0 && ms < END_MS; ms += 10) {
		if (waitpid(local->keeper, NULL, WNOHANG) != 0) {
			break;
		}
		poll(NULL, 0, 10);
	}
	free(local);
}

const char *local_source(const struct local *local)
{
	return local->source;
}

const char *local_relay_url(const struct local *local)
{
	return local->relay_url;
}

const char *const *local_helper(const struct local *local)
{
	return local->helper;
}
