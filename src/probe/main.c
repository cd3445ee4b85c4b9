/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pythiatop-probe: records kernel events by BPF, and streams them to a relay daemon as a live
 * session that looks like LTTng's.
 *
 * One thread: every DRAIN_MS, or sooner if much comes, it reads what the BPF programs left in the
 * rings, and makes packets of it; each time the live timer is over it sends what there is. It ends
 * on a signal; the kernel takes the programs away with the process, however that ends.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/describe.h"
#include "probe/kernel.h"
#include "probe/options.h"
#include "probe/session.h"
#include "probe/statedump.h"
#include "probe/type.h"

#define EXIT_USAGE    2
#define DRAIN_MS      20
#define HURRY_MS      1 /* while much comes, or the state is being dumped */
#define MS            UINT64_C(1000000)
#define LINGER_MS     500 /* at most: viewers come for the last packets; with the session they go */
#define RETRY_NS      (1000 * MS)
#define DUMP_NS       (10 * MS) /* of the state's dump, between two readings of the rings */
#define LIVE_LEAST_US 1000u
#define LIVE_MOST_US  60000000u
#define BUFFER_LEAST  64u /* KiB */
#define BUFFER_MOST   (1u << 20)
#define HOST_BYTES    256

struct probe {
	struct session_setup setup;
	size_t ring_bytes;
	char host[HOST_BYTES];
	struct kernel *kernel;
	struct session *session; /* NULL: the relay daemon is away */
	struct statedump *dump;  /* under way */
	uint64_t *lost_before;   /* by ring: before this session */
	uint64_t *discarded;     /* by ring: in this session, up to the last reading */
	uint64_t next_flush_ns, next_try_ns;
	bool hurry;        /* a ring was more than an eighth full */
	bool foreign_pids; /* of another pid namespace than the kernel's first */
};

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("pythiatop-probe: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

/* --- Sessions --------------------------------------------------------------------------------- */

static void begin_dump(struct probe *probe)
{
	if (!probe->foreign_pids) {
		probe->dump = statedump_begin();
	}
}

static void end_dump(struct probe *probe)
{
	statedump_end(probe->dump);
	probe->dump = NULL;
}

static enum status open_session(struct probe *probe, struct producer_fault *fault)
{
	uint64_t begin_ns;
	enum status status;

	for (uint32_t i = 0; i < probe->setup.n_cpus; i++) {
		cpu_ring_clear(kernel_ring(probe->kernel, i));
	}
	begin_ns = describe_now_ns(); /* nothing is recorded before this */
	status = session_open(&probe->session, &probe->setup, begin_ns, fault);
	if (status != STATUS_OK) {
		return status;
	}
	kernel_record(probe->kernel, true);
	kernel_count_lost(probe->kernel);
	for (uint32_t i = 0; i < probe->setup.n_cpus; i++) {
		probe->lost_before[i] = kernel_lost(probe->kernel, i);
		probe->discarded[i] = 0;
	}
	probe->next_flush_ns = begin_ns;
	begin_dump(probe);
	return STATUS_OK;
}

/* Events are dropped and counted until there is a session again. */
static void lose_session(struct probe *probe, const struct producer_fault *fault)
{
	say("%s; events are dropped until it is there again", fault->text);
	kernel_record(probe->kernel, false);
	end_dump(probe);
	session_close(probe->session, false);
	probe->session = NULL;
	probe->next_try_ns = describe_now_ns() + RETRY_NS;
}

static void try_again(struct probe *probe)
{
	struct producer_fault fault;
	uint64_t before = 0, dropped = 0;

	if (describe_now_ns() < probe->next_try_ns) {
		return;
	}
	for (uint32_t i = 0; i < probe->setup.n_cpus; i++) {
		before += probe->lost_before[i] + probe->discarded[i];
	}
	if (open_session(probe, &fault) != STATUS_OK) {
		probe->next_try_ns = describe_now_ns() + RETRY_NS;
		return;
	}
	for (uint32_t i = 0; i < probe->setup.n_cpus; i++) {
		dropped += probe->lost_before[i];
	}
	say("connected again, as a new session; %llu events were dropped meanwhile",
			(unsigned long long)(dropped > before ? dropped - before : 0));
}

/* --- Events ----------------------------------------------------------------------------------- */

static enum status drain_ring(struct probe *probe, uint32_t at, struct producer_fault *fault)
{
	struct cpu_ring *ring = kernel_ring(probe->kernel, at);
	uint64_t lost = kernel_lost(probe->kernel, at) - probe->lost_before[at];
	enum status status = cpu_ring_begin(ring, describe_now_ns());
	const struct probe_head *head;

	if (status == STATUS_NOT_YET) {
		return STATUS_OK;
	}
	probe->hurry = probe->hurry || cpu_ring_read_bytes(ring) > probe->ring_bytes / 8;
	while (status == STATUS_OK && (head = cpu_ring_next(ring))) {
		status = session_put(probe->session, at, head, probe->discarded[at], fault);
	}
	if (status == STATUS_OK) {
		status = cpu_ring_end(ring);
	}
	if (status == STATUS_NO_MEMORY) {
		snprintf(fault->text, sizeof(fault->text), "out of memory");
	}
	probe->discarded[at] = lost;
	return status;
}

static enum status flush(struct probe *probe, struct producer_fault *fault)
{
	enum status status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < probe->setup.n_cpus; i++) {
		status = session_flush(probe->session, i, kernel_ring(probe->kernel, i)->limit_ns,
				probe->discarded[i], fault);
	}
	kernel_count_lost(probe->kernel);
	return status;
}

static enum status drain(struct probe *probe, struct producer_fault *fault)
{
	enum status status = STATUS_OK;

	probe->hurry = probe->dump != NULL;
	for (uint32_t i = 0; status == STATUS_OK && i < probe->setup.n_cpus; i++) {
		status = drain_ring(probe, i, fault);
	}
	return status;
}

static enum status dump_more(struct probe *probe, struct producer_fault *fault)
{
	enum status status = statedump_step(probe->dump, kernel_ring(probe->kernel, 0), DUMP_NS);

	if (status == STATUS_END) {
		end_dump(probe);
		return STATUS_OK;
	}
	if (status != STATUS_OK) {
		snprintf(fault->text, sizeof(fault->text), "out of memory");
	}
	return status;
}

static void step(struct probe *probe)
{
	struct producer_fault fault;
	enum status status = drain(probe, &fault);
	uint64_t now_ns = describe_now_ns();

	if (status == STATUS_OK && probe->dump) {
		status = dump_more(probe, &fault);
	}
	if (status == STATUS_OK && now_ns >= probe->next_flush_ns) {
		status = flush(probe, &fault);
		probe->next_flush_ns = now_ns + probe->setup.live_timer_us * UINT64_C(1000);
	}
	if (status != STATUS_OK) {
		lose_session(probe, &fault);
	}
}

/* A viewer asks a few times in a live timer. */
static void linger(const struct probe *probe)
{
	uint64_t ms = probe->setup.live_timer_us * UINT64_C(2) / 1000;
	const struct timespec pause = {
			.tv_nsec = (ms < LINGER_MS ? (long)ms : LINGER_MS) * 1000000L};

	nanosleep(&pause, NULL);
}

/* What the programs recorded last is sent, and the session is ended. */
static void finish(struct probe *probe)
{
	struct producer_fault fault;
	enum status status;

	kernel_detach(probe->kernel);
	end_dump(probe);
	if (!probe->session) {
		return;
	}
	status = drain(probe, &fault);
	if (status == STATUS_OK) {
		status = flush(probe, &fault);
	}
	if (status != STATUS_OK) {
		say("%s", fault.text);
	}
	linger(probe);
	session_close(probe->session, status == STATUS_OK);
	probe->session = NULL;
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
static bool told_to_end(const sigset_t *ends, bool hurry)
{
	const struct timespec pause = {.tv_nsec = (hurry ? HURRY_MS : DRAIN_MS) * 1000000L};

	return sigtimedwait(ends, NULL, &pause) > 0;
}

static bool prepare(struct probe *probe)
{
	struct kernel_fault fault;

	if (kernel_open(&probe->kernel, probe->ring_bytes, &fault) != STATUS_OK) {
		say("%s", fault.text);
		return false;
	}
	probe->setup.n_cpus = kernel_n_rings(probe->kernel);
	probe->setup.cpus = kernel_cpus(probe->kernel);
	probe->lost_before = calloc(probe->setup.n_cpus, sizeof(*probe->lost_before));
	probe->discarded = calloc(probe->setup.n_cpus, sizeof(*probe->discarded));
	if (!probe->lost_before || !probe->discarded) {
		say("out of memory");
		return false;
	}
	probe->foreign_pids = kernel_own_pid(probe->kernel) != getpid();
	if (probe->foreign_pids) {
		say("this pid namespace numbers processes otherwise than the kernel: there is no "
		    "dump of the state at the beginning; run it in the host's");
	}
	return true;
}

static int run(struct probe *probe)
{
	struct producer_fault fault;
	sigset_t ends;
	int failed = 1;

	types_init();
	hold_signals(&ends);
	if (prepare(probe)) {
		if (open_session(probe, &fault) == STATUS_OK) {
			while (!told_to_end(&ends, probe->hurry)) {
				if (probe->session) {
					step(probe);
				} else {
					try_again(probe);
				}
			}
			finish(probe);
			failed = 0;
		} else {
			say("%s", fault.text);
		}
	}
	kernel_close(probe->kernel);
	free(probe->lost_before);
	free(probe->discarded);
	return failed;
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

static void print_option(FILE *out, const struct row *row)
{
	char text[64];

	snprintf(text, sizeof(text), "--%s%s%s", row->name, row->argument ? "=" : "",
			row->argument ? row->argument : "");
	if (row->letter) {
		fprintf(out, "  -%c, %-18s %s\n", row->letter, text, row->help);
	} else {
		fprintf(out, "      %-18s %s\n", text, row->help);
	}
}

static void print_help(FILE *out)
{
	fputs("usage: pythiatop-probe --relay=URL --kernel [OPTION]...\n"
	      "Records kernel events without LTTng's modules, as a live session of a relay "
	      "daemon.\n\n",
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
		say("this kernel does not describe itself: it has to be built with "
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

/* -1: go on; otherwise the exit status. */
static int take_option(struct probe *probe, enum option_id id, const char *argument,
		const char **relay, bool *kernel)
{
	uint32_t value;

	switch (id) {
	case OPTION_RELAY:
		*relay = argument;
		return -1;
	case OPTION_KERNEL:
		*kernel = true;
		return -1;
	case OPTION_SESSION:
		probe->setup.name = argument;
		return is_name(argument, 254) ? -1 : usage("is no name of a session", argument);
	case OPTION_HOST:
		snprintf(probe->host, sizeof(probe->host), "%s", argument);
		return is_name(argument, 63) ? -1 : usage("is no name of a host", argument);
	case OPTION_LIVE:
		value = number(argument, LIVE_LEAST_US, LIVE_MOST_US);
		probe->setup.live_timer_us = value;
		return value ? -1 : usage("is no time from 1000 to 60000000 us", argument);
	case OPTION_BUFFER:
		value = number(argument, BUFFER_LEAST, BUFFER_MOST);
		probe->ring_bytes = power_of_2(value);
		return value ? -1 : usage("is no size from 64 to 1048576 KiB", argument);
	case OPTION_EVENTS:
		return print_events();
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

static int parse(struct probe *probe, int argc, char **argv)
{
	struct option longs[OPTION_COUNT + 1];
	char shorts[2 * OPTION_COUNT + 1];
	const char *relay = NULL, *wrong;
	bool kernel = false;
	int value, status;

	make_tables(longs, shorts);
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		/* Of what it does not know getopt has said so. */
		status = take_option(probe, find_option(value), optarg, &relay, &kernel);
		if (status >= 0) {
			return status;
		}
	}
	if (optind < argc) {
		return usage("is too much", argv[optind]);
	}
	if (!relay || !kernel) {
		return usage(relay ? "what to record: give --kernel" : "where to: give --relay=URL",
				"say");
	}
	wrong = producer_parse(&probe->setup.target, relay);
	return wrong ? usage(wrong, relay) : -1;
}

int main(int argc, char **argv)
{
	struct probe probe = {.setup = {.name = "probe", .live_timer_us = 200000},
			.ring_bytes = (size_t)4 << 20};
	int status;

	if (gethostname(probe.host, sizeof(probe.host) - 1) != 0) {
		snprintf(probe.host, sizeof(probe.host), "localhost");
	}
	status = parse(&probe, argc, argv);
	if (status >= 0) {
		return status;
	}
	probe.setup.host = probe.host;
	return run(&probe);
}
