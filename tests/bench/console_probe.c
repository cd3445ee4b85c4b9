/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Watches a console program from outside, on a pseudo-terminal of its own: how fast it answers
 * keys, how much memory it and its children hold.
 *
 *   console_probe SECONDS FILL_SECONDS KEY MARKER BACK EXPORT COMMAND [ARGUMENT]...
 *
 * Every 200 ms KEY is typed and the time until MARKER is in what the program writes is taken; then
 * BACK is typed. If EXPORT is not "-", `:export json EXPORT` is typed every five seconds, and a
 * copy of the last line of that file is appended to EXPORT.log. Memory is the proportional set size
 * of the process tree, once a second, counted from FILL_SECONDS on. At the end `q` is typed. Prints
 * one JSON line.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_KEYS 100000
#define NS_PER_S 1000000000u
#define LOST_NS  (5u * (uint64_t)NS_PER_S) /* a key without an answer counts as this long */

struct probe {
	int terminal;
	pid_t child;
	const char *marker;
	char tail[8192]; /* the last bytes written, for a marker cut in two */
	size_t tail_length;
	bool closed;
	uint64_t answer_ns[MAX_KEYS];
	size_t n_answers;
	uint64_t memory_low, memory_high, memory_last;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Reads what is there within `wait_ns`; true as soon as the marker was seen. */
static bool listen_for(struct probe *probe, uint64_t wait_ns, bool want_marker)
{
	uint64_t end = now_ns() + wait_ns;

	while (!probe->closed) {
		uint64_t now = now_ns();
		struct pollfd poll_terminal = {.fd = probe->terminal, .events = POLLIN};
		ssize_t length;

		if (now >= end) {
			return false;
		}
		if (poll(&poll_terminal, 1, (int)((end - now) / 1000000u) + 1) <= 0) {
			continue;
		}
		if (probe->tail_length > sizeof(probe->tail) / 2) {
			size_t keep = 64;

			memmove(probe->tail, probe->tail + probe->tail_length - keep, keep);
			probe->tail_length = keep;
		}
		length = read(probe->terminal, probe->tail + probe->tail_length,
				sizeof(probe->tail) - probe->tail_length);
		if (length <= 0) {
			probe->closed = errno != EINTR;
			continue;
		}
		probe->tail_length += (size_t)length;
		if (want_marker && memmem(probe->tail, probe->tail_length, probe->marker,
						   strlen(probe->marker))) {
			probe->tail_length = 0;
			return true;
		}
	}
	return false;
}

static void type(struct probe *probe, const char *keys)
{
	if (write(probe->terminal, keys, strlen(keys)) < 0) {
		probe->closed = true;
	}
}

static uint64_t tree_memory_kib(pid_t pid)
{
	char path[64], line[256];
	uint64_t sum = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		unsigned long long kib;

		if (sscanf(line, "Pss: %llu", &kib) == 1) {
			sum += kib;
		}
	}
	if (file) {
		fclose(file);
	}
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	struct dirent *task;

	while (tasks && (task = readdir(tasks))) {
		char children[400];
		int child;

		if (task->d_name[0] == '.') {
			continue;
		}
		snprintf(children, sizeof(children), "/proc/%d/task/%s/children", (int)pid,
				task->d_name);
		file = fopen(children, "re");
		while (file && fscanf(file, "%d", &child) == 1) {
			sum += tree_memory_kib(child);
		}
		if (file) {
			fclose(file);
		}
	}
	if (tasks) {
		closedir(tasks);
	}
	return sum;
}

static void note_memory(struct probe *probe)
{
	uint64_t kib = tree_memory_kib(probe->child);

	if (kib == 0) {
		return;
	}
	probe->memory_last = kib;
	if (probe->memory_low == 0 || kib < probe->memory_low) {
		probe->memory_low = kib;
	}
	if (kib > probe->memory_high) {
		probe->memory_high = kib;
	}
}

static void keep_export(const char *path)
{
	char copy[4096], command[8192];

	snprintf(copy, sizeof(copy), "%s.log", path);
	snprintf(command, sizeof(command), "tail -n 1 '%s' >> '%s' 2>/dev/null", path, copy);
	if (system(command) != 0) {
		fprintf(stderr, "console_probe: %s was not written\n", path);
	}
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double percentile_ms(const struct probe *probe, double share)
{
	size_t i = (size_t)(share * (double)(probe->n_answers - 1) + 0.5);

	return probe->n_answers ? (double)probe->answer_ns[i] / 1e6 : 0;
}

static void run(struct probe *probe, uint64_t seconds, uint64_t fill, const char *key,
		const char *back, const char *export)
{
	uint64_t start = now_ns();
	uint64_t next_memory = start + fill * NS_PER_S;
	uint64_t next_export = start + 5 * (uint64_t)NS_PER_S;
	char command[4200];

	listen_for(probe, NS_PER_S, false);
	while (!probe->closed && now_ns() - start < seconds * NS_PER_S) {
		uint64_t typed = now_ns();
		bool answered;

		probe->tail_length = 0;
		type(probe, key);
		answered = listen_for(probe, LOST_NS, true);
		if (probe->n_answers < MAX_KEYS && !probe->closed) {
			probe->answer_ns[probe->n_answers++] =
					answered ? now_ns() - typed : LOST_NS;
		}
		type(probe, back);
		listen_for(probe, NS_PER_S / 5, false);
		if (now_ns() >= next_memory) {
			next_memory += NS_PER_S;
			note_memory(probe);
		}
		if (strcmp(export, "-") != 0 && now_ns() >= next_export) {
			next_export += 5 * (uint64_t)NS_PER_S;
			snprintf(command, sizeof(command), ":export json %s\r", export);
			type(probe, command);
			listen_for(probe, NS_PER_S / 2, false);
			keep_export(export);
		}
	}
}

int main(int argc, char **argv)
{
	static struct probe probe;
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	uint64_t quit;
	int status = 0;

	if (argc < 8) {
		fprintf(stderr, "usage: console_probe SECONDS FILL KEY MARKER BACK EXPORT "
				"COMMAND...\n");
		return 2;
	}
	probe.marker = argv[4];
	probe.child = forkpty(&probe.terminal, NULL, NULL, &size);
	if (probe.child < 0) {
		perror("console_probe: forkpty");
		return 1;
	}
	if (probe.child == 0) {
		setenv("TERM", "xterm-256color", 1);
		execvp(argv[7], argv + 7);
		_exit(127);
	}
	run(&probe, strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10), argv[3], argv[5],
			argv[6]);
	quit = now_ns();
	type(&probe, "q");
	while (waitpid(probe.child, &status, WNOHANG) == 0) {
		listen_for(&probe, 1000000, false);
		if (now_ns() - quit > LOST_NS) {
			kill(probe.child, SIGKILL);
		}
	}
	quit = now_ns() - quit;
	qsort(probe.answer_ns, probe.n_answers, sizeof(probe.answer_ns[0]), by_size);
	printf("{\"keys\":%zu,\"key_p50_ms\":%.1f,\"key_p99_ms\":%.1f,\"key_max_ms\":%.1f,"
	       "\"memory_low_kib\":%llu,\"memory_high_kib\":%llu,\"memory_last_kib\":%llu,"
	       "\"quit_ms\":%.1f,\"exit\":%d}\n",
			probe.n_answers, percentile_ms(&probe, 0.5), percentile_ms(&probe, 0.99),
			percentile_ms(&probe, 1.0), (unsigned long long)probe.memory_low,
			(unsigned long long)probe.memory_high,
			(unsigned long long)probe.memory_last, (double)quit / 1e6,
			WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
