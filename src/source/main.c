/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pythiatop-source: reads one source and writes it to a ring. Started by pythiatop, never by hand:
 * libbabeltrace2 may abort, crash or hang on what it reads, and this process may with it.
 */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "outlet.h"
#include "recorded.h"

#define MIN_RING_BYTES (2u << 20) /* the longest event must fit a quarter of it */

struct task {
	bool has_ring;
	struct ring_fds fds;
	const char *trace;
};

static int usage(void)
{
	fprintf(stderr, "usage: pythiatop-source --ring MEMORY,DATA,SPACE "
			"(--trace DIR | --live URL [--timer-us N] | --list RELAY[:PORT])\n"
			"pythiatop starts this program; there is no use in starting it by hand\n");
	return 2;
}

static bool parse_ring(const char *text, struct ring_fds *fds)
{
	return sscanf(text, "%d,%d,%d", &fds->memory, &fds->data_event, &fds->space_event) == 3;
}

static bool parse(struct task *task, int argc, char **argv)
{
	static const struct option options[] = {
			{"ring", required_argument, NULL, 'r'},
			{"trace", required_argument, NULL, 't'},
			{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'r':
			task->has_ring = parse_ring(optarg, &task->fds);
			break;
		case 't':
			task->trace = optarg;
			break;
		default:
			return false;
		}
	}
	return task->has_ring && optind == argc && task->trace;
}

static int run(const struct task *task, struct outlet *outlet)
{
	return recorded_read(outlet, task->trace);
}

int main(int argc, char **argv)
{
	struct task task = {0};
	struct outlet *outlet;
	struct ring *ring;
	int status;

	/* Whatever becomes of the console: nobody else would end this process. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!parse(&task, argc, argv)) {
		return usage();
	}
	ring = ring_attach(&task.fds);
	if (!ring || ring_bytes(ring) < MIN_RING_BYTES) {
		fprintf(stderr, "pythiatop-source: --ring does not name a ring of >= %u bytes\n",
				MIN_RING_BYTES);
		return 2;
	}
	outlet = outlet_create(ring);
	status = outlet ? run(&task, outlet) : EXIT_FAILURE;
	outlet_destroy(outlet);
	ring_destroy(ring);
	return status;
}
