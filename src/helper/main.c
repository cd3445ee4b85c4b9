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
	      "  --functions=PROGRAM:NAMES  functions of a program, and nothing else; "
	      "again for others\n"
	      "  --tree=WHAT    these of some processes only, as of pythiatop-probe\n"
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
	uint32_t n_functions, n_trees;
	char *functions[RIGHTS_MAX_FUNCTIONS], *trees[RIGHTS_MAX_TREES];
};

static int too_many(const char *argument)
{
	fprintf(stderr, "pythiatop-control: %s is one too many\n", argument);
	return 2;
}

/* -1: go on; else the exit code. */
static int read_orders(int argc, char **argv, struct orders *orders)
{
	static const struct option options[] = {
			{"config", required_argument, NULL, 'c'},
			{"read-only", no_argument, NULL, 'r'},
			{"functions", required_argument, NULL, 'f'},
			{"tree", required_argument, NULL, 't'},
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
		case 'f':
			if (orders->n_functions == RIGHTS_MAX_FUNCTIONS) {
				return too_many(optarg);
			}
			orders->functions[orders->n_functions++] = optarg;
			break;
		case 't':
			if (orders->n_trees == RIGHTS_MAX_TREES) {
				return too_many(optarg);
			}
			orders->trees[orders->n_trees++] = optarg;
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

/* What the command line adds to the files. */
static bool add_orders(struct rights *rights, const struct orders *orders, char *error, size_t size)
{
	rights->read_only = rights->read_only || orders->read_only;
	for (uint32_t i = 0; i < orders->n_functions; i++) {
		if (!rights_add_functions(rights, orders->functions[i])) {
			snprintf(error, size, "--functions=%s: expected PROGRAM:NAMES",
					orders->functions[i]);
			return false;
		}
	}
	for (uint32_t i = 0; i < orders->n_trees; i++) {
		rights_add_tree(rights, orders->trees[i]);
	}
	return true;
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
			!add_orders(&helper.rights, &orders, error, sizeof(error)) ||
			!owner_init(&helper.owner, error, sizeof(error))) {
		fprintf(stderr, "pythiatop-control: %s\n", error);
	} else {
		code = orders.undo ? guardian_undo(&helper) : guardian_run(&helper);
	}
	rights_release(&helper.rights);
	return code;
}
