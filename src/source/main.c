/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pythiatop-source: reads one source and writes it to a ring; or, with --write, the other way
 * round: what is in a ring becomes traces in a directory. Started by pythiatop, never by hand:
 * libbabeltrace2 may abort, crash or hang on what it reads, and this process may with it.
 */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/background.h"
#include "intake/url.h"
#include "listing.h"
#include "live.h"
#include "outlet.h"
#include "reader_choice.h"
#include "recorded.h"
#include "write.h"

#define MIN_RING_BYTES (2u << 20) /* the longest event must fit a quarter of it */

enum mode {
	MODE_NONE = 0,
	MODE_TRACE,
	MODE_TRACE_PROGRESS,
	MODE_LIVE,
	MODE_LIST,
	MODE_WRITE,
};

struct task {
	bool has_ring;
	struct ring_fds fds;
	enum mode mode;
	const char *what;
	uint64_t live_timer_us;
	enum reader_choice reader;
};

static int usage(void)
{
	fprintf(stderr, "usage: pythiatop-source --ring MEMORY,DATA,SPACE "
			"(--trace[-progress] DIR | --live URL [--timer-us N] | --list RELAY[:PORT] "
			"| "
			"--write DIR) [--reader=auto|own|babeltrace2]\n"
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
			{"trace", required_argument, NULL, MODE_TRACE},
			{"trace-progress", required_argument, NULL, MODE_TRACE_PROGRESS},
			{"live", required_argument, NULL, MODE_LIVE},
			{"list", required_argument, NULL, MODE_LIST},
			{"write", required_argument, NULL, MODE_WRITE},
			{"timer-us", required_argument, NULL, 'u'},
			{"reader", required_argument, NULL, 'R'},
			{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'r':
			task->has_ring = parse_ring(optarg, &task->fds);
			break;
		case 'u':
			task->live_timer_us = strtoull(optarg, NULL, 10);
			break;
		case 'R':
			if (!reader_choice_parse(optarg, &task->reader)) {
				return false;
			}
			break;
		case MODE_TRACE:
		case MODE_TRACE_PROGRESS:
		case MODE_LIVE:
		case MODE_LIST:
		case MODE_WRITE:
			task->mode = (enum mode)option;
			task->what = optarg;
			break;
		default:
			return false;
		}
	}
	return task->has_ring && optind == argc && task->mode != MODE_NONE;
}

/* A relay may be named with or without net:// before it. */
static bool parse_url(const char *text, enum mode mode, struct url *url)
{
	char complete[URL_MAX], error[2 * URL_MAX];
	bool bare = mode == MODE_LIST && !strstr(text, "://");

	snprintf(complete, sizeof(complete), bare ? "net://%s" : "%s", text);
	if (url_parse(url, complete, error, sizeof(error)) != STATUS_OK) {
		fprintf(stderr, "pythiatop-source: %s\n", error);
		return false;
	}
	return url->kind == (mode == MODE_LIST ? URL_RELAY : URL_SESSION);
}

static int run(const struct task *task, struct outlet *outlet)
{
	struct url url;

	if (task->mode == MODE_TRACE || task->mode == MODE_TRACE_PROGRESS) {
		return recorded_read(outlet, task->what, task->mode == MODE_TRACE_PROGRESS,
				task->reader);
	}
	if (!parse_url(task->what, task->mode, &url)) {
		return usage();
	}
	return task->mode == MODE_LIST ? listing_watch(outlet, url.relay, url.port)
				       : live_read(outlet, task->what, &url, task->live_timer_us,
						     task->reader);
}

int main(int argc, char **argv)
{
	struct task task = {0};
	struct outlet *outlet;
	struct ring *ring;
	int status;

	/* Whatever becomes of the console: nobody else would end this process. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	background_enter();
	if (!parse(&task, argc, argv)) {
		return usage();
	}
	ring = ring_attach(&task.fds);
	if (!ring || ring_bytes(ring) < MIN_RING_BYTES) {
		fprintf(stderr, "pythiatop-source: --ring does not name a ring of >= %u bytes\n",
				MIN_RING_BYTES);
		return 2;
	}
	if (getppid() != ring_maker(ring)) {
		return EXIT_FAILURE; /* the console was gone before the kernel was told */
	}
	if (task.mode == MODE_WRITE) {
		signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error of its write */
		status = write_trace(ring, task.what);
	} else {
		outlet = outlet_create(ring);
		status = outlet ? run(&task, outlet) : EXIT_FAILURE;
		outlet_destroy(outlet);
	}
	ring_destroy(ring);
	return status;
}
