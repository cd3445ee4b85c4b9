/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pythiatop-probe: records kernel events, and functions of programs, by BPF, and streams them to a
 * relay daemon as a live session that looks like LTTng's. It ends on a signal; the kernel takes the
 * programs away with the process, however that ends.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/background.h"
#include "probe/cpu_ring.h"
#include "probe/list.h"
#include "probe/options.h"
#include "probe/processes.h"
#include "probe/recorder.h"
#include "probe/serve.h"

#define EXIT_USAGE    2
#define LIVE_LEAST_US 1000u
#define LIVE_MOST_US  60000000u
#define BUFFER_LEAST  64u /* KiB */
#define RING_MOST     ((size_t)16 << 20)
#define BUFFER_MOST   (1u << 20)
#define KEEP_MOST     (1u << 20) /* MiB */
#define LIMIT_MOST    100u
#define ONE_IN_MOST   1000000u
#define MAX_SPECS     32u
#define SEEN_MOST     3600u

/* What is asked for on the command line. */
struct orders {
	struct recorder_setup setup;
	const char *relay, *list;
	uint32_t seen_s;
	bool serve;
	const char *trees[PROCESSES_NAMES];
	uint32_t n_specs;
	struct {
		const char *text;
		bool root;
	} specs[MAX_SPECS];
};

static void say(void *context, const char *sentence)
{
	(void)context;
	fprintf(stderr, "pythiatop-probe: %s\n", sentence);
}

/* --- The run ---------------------------------------------------------------------------------- */

static void hold_signals(sigset_t *ends)
{
	sigemptyset(ends);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGHUP);
	sigprocmask(SIG_BLOCK, ends, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Sleeps until the next reading; true: a signal says to end. */
static bool told_to_end(const sigset_t *ends, int ms)
{
	const struct timespec pause = {.tv_nsec = ms * 1000000L};

	return sigtimedwait(ends, NULL, &pause) > 0;
}

static bool add_functions(const struct orders *orders, struct functions *functions)
{
	struct kernel_fault fault;

	for (uint32_t i = 0; i < orders->n_specs; i++) {
		if (functions_add(functions, orders->specs[i].text, orders->specs[i].root,
				    &fault) != STATUS_OK) {
			say(NULL, fault.text);
			return false;
		}
	}
	return true;
}

static int run(const struct orders *orders)
{
	struct recorder *recorder;
	sigset_t ends;
	bool fit;

	hold_signals(&ends);
	recorder = recorder_begin(&orders->setup);
	if (!recorder) {
		return 1;
	}
	fit = add_functions(orders, recorder_functions(recorder));
	if (fit) {
		fprintf(stderr, "pythiatop-probe: records into %s as session %s\n", orders->relay,
				orders->setup.name);
	}
	while (fit && !told_to_end(&ends, recorder_step(recorder))) {
	}
	recorder_end(recorder, fit);
	return fit ? 0 : EXIT_USAGE;
}

static int serve_orders(const struct orders *orders)
{
	const char *texts[MAX_SPECS];

	for (uint32_t i = 0; i < orders->n_specs; i++) {
		texts[i] = orders->specs[i].text;
	}
	return serve(&orders->setup, texts, orders->n_specs);
}

/* --- The command line ------------------------------------------------------------------------- */

enum option_id {
#define X(id, letter, name, argument, help) OPTION_##id,
	PROBE_OPTIONS(X)
#undef X
			OPTION_COUNT,
};

static const struct row {
	char letter; /* 0: none */
	const char *name, *argument, *help;
} rows[OPTION_COUNT] = {
#define X(id, letter, name, argument, help) {letter, name, argument, help},
		PROBE_OPTIONS(X)
#undef X
};

#define HELP_COLUMN 25
#define HELP_WIDTH  79

/* Words from HELP_COLUMN on, in lines of HELP_WIDTH. */
static void print_words(FILE *out, const char *text, int column)
{
	while (*text) {
		int n = (int)strcspn(text, " ");

		if (column + n + 1 > HELP_WIDTH) {
			fprintf(out, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		}
		fprintf(out, "%s%.*s", column > HELP_COLUMN ? " " : "", n, text);
		column += n + (column > HELP_COLUMN);
		text += n + (text[n] == ' ');
	}
	fputc('\n', out);
}

static void print_option(FILE *out, const struct row *row)
{
	char text[64], start[96];
	int n;

	snprintf(text, sizeof(text), "--%s%s%s", row->name, row->argument ? "=" : "",
			row->argument ? row->argument : "");
	n = snprintf(start, sizeof(start), row->letter ? "  -%c, %s" : "  %c   %s",
			row->letter ? row->letter : ' ', text);
	fputs(start, out);
	if (n >= HELP_COLUMN) {
		fputc('\n', out);
		n = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - n, "");
	print_words(out, row->help, HELP_COLUMN);
}

static void print_help(FILE *out)
{
	fputs("usage: pythiatop-probe --relay=URL [--kernel] [--function=PROGRAM:NAMES]...\n"
	      "                       [OPTION]...\n"
	      "Records kernel events without LTTng's modules, and functions of programs without\n"
	      "tracepoints, as a live session of a relay daemon.\n\n",
			out);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		print_option(out, &rows[i]);
	}
	fputs("\nIt ends on SIGINT or SIGTERM. Exit: 0 done, 1 failed, 2 wrong usage.\n", out);
}

static int print_events(void)
{
	uint32_t n;
	const struct kernel_event *events = kernel_events(&n);

	if (!events) {
		say(NULL, "this kernel does not describe itself: it has to be built with "
			  "CONFIG_DEBUG_INFO_BTF");
		return 1;
	}
	printf("%-28s %-24s %-6s %s\n", "EVENT", "TRACEPOINT", "SINCE", "HERE");
	for (uint32_t i = 0; i < n; i++) {
		printf("%-28s %-24s %-6s %s\n", events[i].name, events[i].tracepoint,
				events[i].since, events[i].present ? "yes" : "no");
	}
	return 0;
}

/* A whole number from `least` to `most`; 0: it is none. */
static uint32_t number(const char *text, uint32_t least, uint32_t most)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	return errno || *end || end == text || *text == '-' || value < least || value > most
			       ? 0
			       : (uint32_t)value;
}

static int usage(const char *format, const char *what)
{
	fputs("pythiatop-probe: ", stderr);
	fprintf(stderr, "%s %s; --help lists the options\n", what, format);
	return EXIT_USAGE;
}

/* A name that is one folder of the relay daemon's disk. */
static bool is_name(const char *text, size_t most)
{
	return text[0] && text[0] != '.' && strlen(text) <= most && !strchr(text, '/');
}

static size_t power_of_2(size_t kib)
{
	size_t bytes = BUFFER_LEAST << 10;

	while (bytes < kib << 10) {
		bytes *= 2;
	}
	return bytes;
}

static int take_spec(struct orders *orders, const char *text, bool root)
{
	if (orders->n_specs == MAX_SPECS) {
		return usage("is one too many", text);
	}
	orders->specs[orders->n_specs].text = text;
	orders->specs[orders->n_specs++].root = root;
	orders->setup.functions = true;
	return -1;
}

static int take_tree(struct orders *orders, const char *text)
{
	if (orders->setup.n_trees == PROCESSES_NAMES) {
		return usage("is one too many", text);
	}
	if (!processes_right(text)) {
		return usage("is no PID, no program's name, and no control group", text);
	}
	orders->trees[orders->setup.n_trees++] = text;
	orders->setup.trees = orders->trees;
	return -1;
}

static int take_name(struct orders *orders, const char *argument)
{
	snprintf(orders->setup.host, sizeof(orders->setup.host), "%s", argument);
	return is_name(argument, 63) ? -1 : usage("is no name of a host", argument);
}

static int take_number(struct orders *orders, enum option_id id, const char *argument)
{
	struct recorder_setup *setup = &orders->setup;
	uint32_t value;

	switch (id) {
	case OPTION_LIVE:
		setup->live_timer_us = number(argument, LIVE_LEAST_US, LIVE_MOST_US);
		return setup->live_timer_us
				       ? -1
				       : usage("is no time from 1000 to 60000000 us", argument);
	case OPTION_BUFFER:
		value = number(argument, BUFFER_LEAST, BUFFER_MOST);
		setup->ring_bytes = power_of_2(value);
		return value ? -1 : usage("is no size from 64 to 1048576 KiB", argument);
	case OPTION_KEEP:
		value = number(argument, 1, KEEP_MOST);
		setup->keep_bytes = (uint64_t)value << 20;
		return value ? -1 : usage("is no size from 1 to 1048576 MiB", argument);
	case OPTION_PID:
		setup->pid = (int)number(argument, 1, INT_MAX);
		return setup->pid ? -1 : usage("is no number of a process", argument);
	case OPTION_COST:
		value = number(argument, 1, LIMIT_MOST);
		setup->cost = value < 100 ? value / 100.0 : 0;
		return value ? -1 : usage("is no share from 1 to 100 percent", argument);
	case OPTION_BESIDE:
		setup->beside = (int)number(argument, 1, INT_MAX);
		return setup->beside ? -1 : usage("is no number of a process", argument);
	case OPTION_SEEN:
		orders->seen_s = number(argument, 1, SEEN_MOST);
		return orders->seen_s ? -1
				      : usage("is no number of seconds from 1 to 3600", argument);
	case OPTION_LIMIT:
		value = number(argument, 1, LIMIT_MOST);
		setup->limit = value / 100.0;
		return value ? -1 : usage("is no share from 1 to 100 percent", argument);
	default:
		setup->one_in = number(argument, 1, ONE_IN_MOST);
		return setup->one_in ? -1 : usage("is no number from 1 to 1000000", argument);
	}
}

/* -1: go on; otherwise the exit status. */
static int take_option(struct orders *orders, enum option_id id, const char *argument)
{
	switch (id) {
	case OPTION_RELAY:
		orders->relay = argument;
		return -1;
	case OPTION_KERNEL:
		orders->setup.kernel = orders->setup.all_events = true;
		return -1;
	case OPTION_FUNCTION:
	case OPTION_WITHIN:
		return take_spec(orders, argument, id == OPTION_WITHIN);
	case OPTION_TREE:
		return take_tree(orders, argument);
	case OPTION_SUMMARY:
		orders->setup.summing = true;
		return -1;
	case OPTION_ONE_BY_ONE:
		orders->setup.one_by_one = true;
		return -1;
	case OPTION_SERVE:
		orders->serve = true;
		return -1;
	case OPTION_SESSION:
		orders->setup.name = argument;
		return is_name(argument, 254) ? -1 : usage("is no name of a session", argument);
	case OPTION_HOST:
		return take_name(orders, argument);
	case OPTION_LIVE:
	case OPTION_BUFFER:
	case OPTION_KEEP:
	case OPTION_PID:
	case OPTION_LIMIT:
	case OPTION_COST:
	case OPTION_BESIDE:
	case OPTION_ONE_IN:
	case OPTION_SEEN:
		return take_number(orders, id, argument);
	case OPTION_EVENTS:
		return print_events();
	case OPTION_LIST:
		orders->list = argument;
		return -1;
	case OPTION_HELP:
		print_help(stdout);
		return 0;
	case OPTION_VERSION:
		puts("pythiatop-probe " PT_VERSION);
		return 0;
	case OPTION_COUNT:
		break;
	}
	return EXIT_USAGE;
}

/* What getopt_long() wants to know. */
static void make_tables(struct option *longs, char *shorts)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		longs[i] = (struct option){.name = rows[i].name,
				.has_arg = rows[i].argument ? required_argument : no_argument,
				.val = rows[i].letter ? rows[i].letter : UCHAR_MAX + 1 + i};
		if (rows[i].letter) {
			*shorts++ = rows[i].letter;
			if (rows[i].argument) {
				*shorts++ = ':';
			}
		}
	}
	longs[OPTION_COUNT] = (struct option){.name = NULL};
	*shorts = '\0';
}

static enum option_id find_option(int value)
{
	int id = 0;

	if (value > UCHAR_MAX) {
		return (enum option_id)(value - UCHAR_MAX - 1);
	}
	while (id < OPTION_COUNT && rows[id].letter != value) {
		id++;
	}
	return (enum option_id)id;
}

static bool has_root(const struct orders *orders)
{
	for (uint32_t i = 0; i < orders->n_specs; i++) {
		if (orders->specs[i].root) {
			return true;
		}
	}
	return false;
}

/* Do the orders make sense together? */
static int check(struct orders *orders)
{
	const char *wrong;

	if (orders->serve || orders->list) {
		return -1;
	}
	if (orders->seen_s) {
		return usage("needs --list, which says of which program", "--seen");
	}
	if (!orders->relay) {
		return usage("where to: give --relay=URL", "say");
	}
	if (!orders->setup.kernel && !orders->setup.functions) {
		return usage("what to record: give --kernel or --function=PROGRAM:NAMES", "say");
	}
	if (orders->setup.one_in && !has_root(orders)) {
		return usage("needs --within, which says what a request is", "--one-in");
	}
	if (orders->setup.cost > 0 && !orders->setup.kernel) {
		return usage("is about kernel events: it needs --kernel", "--cost");
	}
	wrong = producer_parse(&orders->setup.target, orders->relay);
	return wrong ? usage(wrong, orders->relay) : -1;
}

static int parse(struct orders *orders, int argc, char **argv)
{
	struct option longs[OPTION_COUNT + 1];
	char shorts[2 * OPTION_COUNT + 1];
	int value, status;

	make_tables(longs, shorts);
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		/* Of what it does not know getopt has said so. */
		status = take_option(orders, find_option(value), optarg);
		if (status >= 0) {
			return status;
		}
	}
	if (optind < argc) {
		return usage("is too much", argv[optind]);
	}
	return check(orders);
}

int main(int argc, char **argv)
{
	static struct orders orders = {.setup = {.name = "probe",
						       .live_timer_us = 200000,
						       .limit = 0.25,
						       .say = say}};
	int status;

	background_enter();
	orders.setup.ring_bytes = cpu_ring_usual_bytes(RING_MOST);
	if (gethostname(orders.setup.host, sizeof(orders.setup.host) - 1) != 0) {
		snprintf(orders.setup.host, sizeof(orders.setup.host), "localhost");
	}
	status = parse(&orders, argc, argv);
	if (status >= 0) {
		return status;
	}
	if (orders.list) {
		return list_functions(orders.list, orders.setup.pid, orders.seen_s);
	}
	return orders.serve ? serve_orders(&orders) : run(&orders);
}
