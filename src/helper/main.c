/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pythiatop-control: what pythiatop wants of the tracer on a host, asked and answered in JSON lines
 * (helper/answer.h). A process of its own, because liblttng-ctl blocks, knows one connection a
 * process, and needs tracing rights that the console does not.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "helper/guardian.h"

static void print_help(FILE *out)
{
	fputs("Usage: pythiatop-control [--config=FILE] [--read-only] [--undo]\n"
	      "Lets a pythiatop console control this host's LTTng, by JSON lines on standard "
	      "input\n"
	      "and output, as long as it is asked something at least every ten seconds.\n"
	      "pythiatop starts it, here or by ssh; as a forced command of ssh:\n"
	      "  command=\"pythiatop-control --config=/etc/pythiatop/control-ops.conf\",restrict\n"
	      "\n"
	      "  --config=FILE  only FILE says what may be done, instead of\n"
	      "                 /etc/pythiatop/control.conf and "
	      "~/.config/pythiatop/control.conf\n"
	      "  --read-only    nothing may be changed\n"
	      "  --undo         destroy the sessions whose helper is gone, and end\n"
	      "  --help         print this help, and end\n"
	      "  --version      print the version, and end\n"
	      "\n"
	      "Exit: 0 done, 1 failed (something could not be undone), 2 wrong usage.\n",
			out);
}

struct orders {
	const char *config;
	bool read_only, undo;
};

/* -1: go on; else the exit code. */
static int read_orders(int argc, char **argv, struct orders *orders)
{
	static const struct option options[] = {
			{"config", required_argument, NULL, 'c'},
			{"read-only", no_argument, NULL, 'r'},
			{"undo", no_argument, NULL, 'u'},
			{"help", no_argument, NULL, 'h'},
			{"version", no_argument, NULL, 'V'},
			{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			orders->config = optarg;
			break;
		case 'r':
			orders->read_only = true;
			break;
		case 'u':
			orders->undo = true;
			break;
		case 'h':
			print_help(stdout);
			return 0;
		case 'V':
			printf("pythiatop-control %s\n", PT_VERSION);
			return 0;
		default:
			fputs("Try 'pythiatop-control --help'.\n", stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "pythiatop-control: unexpected argument %s\n", argv[optind]);
		return 2;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct orders orders = {0};
	char error[PATH_MAX + 256] = "";
	struct helper helper;
	int code = read_orders(argc, argv, &orders);

	if (code >= 0) {
		return code;
	}
	code = 1;
	if (!rights_read(&helper.rights, orders.config, error, sizeof(error)) ||
			!owner_init(&helper.owner, error, sizeof(error))) {
		fprintf(stderr, "pythiatop-control: %s\n", error);
	} else {
		helper.rights.read_only = helper.rights.read_only || orders.read_only;
		code = orders.undo ? guardian_undo(&helper) : guardian_run(&helper);
	}
	rights_release(&helper.rights);
	return code;
}
