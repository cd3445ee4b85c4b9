/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a recorded trace through a pythiatop-source process and does nothing with it: what decoding
 * and the ring cost, without the analysis.
 *
 * usage: drain PYTHIATOP_SOURCE DIRECTORY [READER]
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring/ring.h"

static void run_source(const char *program, const char *directory, const char *reader,
		const struct ring_fds *fds)
{
	char text[64];

	fcntl(fds->memory, F_SETFD, 0);
	fcntl(fds->data_event, F_SETFD, 0);
	fcntl(fds->space_event, F_SETFD, 0);
	snprintf(text, sizeof(text), "%d,%d,%d", fds->memory, fds->data_event, fds->space_event);
	execl(program, program, "--ring", text, "--trace", directory, "--reader", reader,
			(char *)NULL);
	perror(program);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct ring *ring = ring_create(0);
	uint64_t n_events = 0, sum = 0;
	bool broken = false, ended = false;
	pid_t child;

	if (argc < 3 || argc > 4 || !ring) {
		fprintf(stderr, "usage: drain PYTHIATOP_SOURCE DIRECTORY [READER]\n");
		return 2;
	}
	child = fork();
	if (child == 0) {
		struct ring_fds fds = ring_fds(ring);

		run_source(argv[1], argv[2], argc > 3 ? argv[3] : "auto", &fds);
	}
	while (!ended) {
		const struct record *record = ring_peek(ring, &broken);
		struct pollfd ready = {.fd = ring_wait_fd(ring), .events = POLLIN};

		if (broken) {
			fprintf(stderr, "drain: the ring is broken\n");
			return 1;
		}
		if (!record) {
			if (ring_arm(ring) && poll(&ready, 1, 1000) == 0 &&
					waitpid(child, NULL, WNOHANG) == child) {
				fprintf(stderr, "drain: the source ended early\n");
				return 1;
			}
			continue;
		}
		if (record->kind == RECORD_EVENT) {
			const struct record_event *event = (const struct record_event *)record;

			n_events++;
			sum += event->ts_ns ^ event->slots[0];
		}
		ended = record->kind == RECORD_END;
		ring_next(ring);
	}
	waitpid(child, NULL, 0);
	printf("%" PRIu64 " events, checksum %016" PRIx64 "\n", n_events, sum);
	ring_destroy(ring);
	return 0;
}
