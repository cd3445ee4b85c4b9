/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "probe/binary.h"
#include "probe/cpu_ring.h"
#include "probe/filter.h"
#include "probe/offered.h"
#include "probe/program.h"
#include "probe/seen.h"
#include "probe/serve_answer.h"
#include "probe/type.h"

#define IDLE_MS     1000
#define NAME_BYTES  256u
#define RING_MOST   ((size_t)4 << 20)
#define GROW_NS     UINT64_C(5000000000)
#define MOST_PLACES 200000u /* functions times processes that are learned at once */
/*
 * Beyond so many only functions that are seen on stacks, in so many ns, if so many stacks are seen;
 * and of these functions the most seen: each takes some 20 ms where others fork.
 */
#define MANY_PLACES  20000u
#define STACKS_NS    UINT64_C(3000000000)
#define STACKS_LEAST 100u
#define SEEN_MOST    128u

enum rule_kind {
	RULE_TRACEPOINT = 0,
	RULE_SYSCALL,
	RULE_FUNCTION,
};

static const char *const kind_names[] = {
		[RULE_TRACEPOINT] = "tracepoint",
		[RULE_SYSCALL] = "syscall",
		[RULE_FUNCTION] = "function",
};

struct rule {
	enum rule_kind kind;
	char *name;
	char *filter; /* NULL: none */
};

struct server {
	struct recorder_setup setup;
	struct recorder *recorder; /* NULL: nothing is asked for */
	char session[NAME_BYTES];
	const char *const *specs; /* PROGRAM:NAMES that may be recorded */
	uint32_t n_specs;
	uint32_t n_rules, rules_room;
	struct rule *rules;
	uint32_t n_learned, learned_room;
	char **learned;    /* as names of rules */
	uint32_t n_places; /* functions of the file listed */
	uint32_t n_often, often_room;
	char **often; /* "PROVIDER:FUNCTION" that were let go of: they are offered no more */
	struct seen *seen; /* while it is learned: only these, on so many stacks; NULL: all */
	uint32_t seen_least;
	char listed[PATH_MAX], pids[512]; /* the file whose processes these are */
	uint64_t heard_ns;
	bool over;
	sigset_t mask;   /* signals are for where we wait */
	const char *tag; /* of the request that is being answered */
};

static volatile sig_atomic_t told;

static void take_signal(int number)
{
	(void)number;
	told = 1;
}

static void answer_ok(struct server *server)
{
	serve_answer(server->tag, '.', "%s", "");
}

/* --- Waiting ---------------------------------------------------------------------------------- */

static int wait_for(const struct server *server, struct pollfd *fds, nfds_t n, int ms)
{
	const struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	return ppoll(fds, n, &limit, &server->mask);
}

/* Records within a request that takes a while. False: it is not to be waited for any longer. */
static bool record_until(const struct server *server, uint64_t until_ns)
{
	wait_for(server, NULL, 0, recorder_step(server->recorder));
	return !told && clock_monotonic_ns() < until_ns;
}

/* --- What there is ---------------------------------------------------------------------------- */

static void do_check(struct server *server)
{
	struct kernel_fault fault;

	if (kernel_may(&fault) == STATUS_OK) {
		answer_ok(server);
	} else {
		serve_answer(server->tag, '!', "%s", fault.text);
	}
}

static void do_offers(struct server *server)
{
	uint32_t n = 0;
	const struct kernel_event *events = kernel_events(&n);
	struct kernel_fault fault;

	if (kernel_may(&fault) != STATUS_OK) {
		serve_answer(server->tag, '!', "%s", fault.text);
		return;
	}
	for (uint32_t i = 0; events && i < n; i++) {
		if (events[i].present && !strchr(events[i].name, '*') &&
				!kernel_event_is_beside(i)) {
			serve_answer(server->tag, '+', "tracepoint %s", events[i].name);
		}
	}
	for (uint32_t i = 0; i < n_syscalls; i++) {
		serve_answer(server->tag, '+', "syscall %s", syscalls[i].entry.name);
	}
	answer_ok(server);
}

static bool is_too_often(const struct server *server, const char *provider, const char *name)
{
	size_t n = strlen(provider);

	for (uint32_t i = 0; i < server->n_often; i++) {
		if (strncmp(server->often[i], provider, n) == 0 && server->often[i][n] == ':' &&
				strcmp(server->often[i] + n + 1, name) == 0) {
			return true;
		}
	}
	return false;
}

/* Which processes run the file; false: as before. */
static bool list_processes(struct server *server, const char *path)
{
	if (strcmp(server->listed, path) == 0) {
		return false;
	}
	snprintf(server->listed, sizeof(server->listed), "%s", path);
	program_processes(path, server->pids, sizeof(server->pids));
	return true;
}

/* A row of functions, with as many as have room. */
struct functions {
	struct server *server;
	char provider[BINARY_NAME]; /* "": the row is not begun */
	char text[SERVE_MOST_BYTES];
	size_t n;
	uint32_t listed; /* of all rows */
};

static void send_row(struct functions *functions)
{
	if (functions->provider[0]) {
		serve_answer_text(functions->text);
		functions->provider[0] = '\0';
	}
}

static void begin_row(struct functions *functions, const struct offered *offered)
{
	snprintf(functions->provider, sizeof(functions->provider), "%s", offered->provider);
	functions->n = (size_t)snprintf(functions->text, sizeof(functions->text), "%s + %s %s",
			functions->server->tag, offered->provider, functions->server->pids);
}

static bool offer_function(void *context, const struct offered *offered)
{
	struct functions *functions = context;
	struct server *server = functions->server;

	if (is_too_often(server, offered->provider, offered->name)) {
		return true;
	}
	/* One file may be two programs, by two names. */
	if (list_processes(server, offered->path) ||
			strcmp(functions->provider, offered->provider) != 0 ||
			functions->n + strlen(offered->name) + 2 > sizeof(functions->text)) {
		send_row(functions);
		begin_row(functions, offered);
	}
	functions->n += (size_t)snprintf(functions->text + functions->n,
			sizeof(functions->text) - functions->n, " %s", offered->name);
	functions->listed++;
	return true;
}

/* In few packets: who asks may be slow, and what is recorded waits meanwhile. */
static void do_functions(struct server *server)
{
	static struct functions functions;

	functions = (struct functions){.server = server};
	server->listed[0] = '\0';
	offered_each(server->specs, server->n_specs, NULL, offer_function, &functions);
	send_row(&functions);
	serve_answer(server->tag, '.', "%u", functions.listed);
}

/* --- The session ------------------------------------------------------------------------------ */

static void forget_rules(struct server *server)
{
	for (uint32_t i = 0; i < server->n_rules; i++) {
		free(server->rules[i].name);
		free(server->rules[i].filter);
	}
	server->n_rules = 0;
}

static void forget_seen(struct server *server)
{
	seen_close(server->seen);
	server->seen = NULL;
}

static void close_session(struct server *server)
{
	recorder_end(server->recorder, false);
	server->recorder = NULL;
	server->session[0] = '\0';
	forget_rules(server);
	while (server->n_learned > 0) {
		free(server->learned[--server->n_learned]);
	}
}

struct heard {
	char text[640];
};

/* What recorder_begin() says is the answer. */
static void hear(void *context, const char *sentence)
{
	struct heard *heard = context;

	snprintf(heard->text, sizeof(heard->text), "%s", sentence);
}

static void do_open(struct server *server, char *arguments)
{
	char *relay = strsep(&arguments, " "), *session = strsep(&arguments, " ");
	char *timer = strsep(&arguments, " ");
	struct heard heard = {.text = "out of memory"};
	const char *wrong;

	if (!arguments || strlen(session) >= NAME_BYTES) {
		serve_answer(server->tag, '!', "not what was agreed upon");
		return;
	}
	close_session(server);
	wrong = producer_parse(&server->setup.target, relay);
	if (wrong) {
		serve_answer(server->tag, '!', "%s %s", relay, wrong);
		return;
	}
	snprintf(server->session, sizeof(server->session), "%s", session);
	server->setup.name = server->session;
	server->setup.live_timer_us = (uint32_t)strtoul(timer, NULL, 10);
	server->setup.kernel = arguments[0] == '1';
	server->setup.functions = server->n_specs > 0;
	server->setup.say = hear;
	server->setup.context = &heard;
	server->recorder = recorder_begin(&server->setup);
	if (!server->recorder) {
		close_session(server);
		serve_answer(server->tag, '!', "%s", heard.text);
		return;
	}
	recorder_tell(server->recorder, serve_say, NULL);
	answer_ok(server);
}

/* --- Rules ------------------------------------------------------------------------------------ */

static struct rule *find_rule(struct server *server, enum rule_kind kind, const char *name)
{
	for (uint32_t i = 0; i < server->n_rules; i++) {
		if (server->rules[i].kind == kind && strcmp(server->rules[i].name, name) == 0) {
			return &server->rules[i];
		}
	}
	return NULL;
}

static void drop_rule(struct server *server, struct rule *rule)
{
	free(rule->name);
	free(rule->filter);
	*rule = server->rules[--server->n_rules];
}

static bool keep_rule(
		struct server *server, enum rule_kind kind, const char *name, const char *filter)
{
	struct rule rule = {.kind = kind,
			.name = strdup(name),
			.filter = filter ? strdup(filter) : NULL};
	struct rule *before = find_rule(server, kind, name);

	if (before) {
		drop_rule(server, before);
	}
	if (!rule.name || (filter && !rule.filter) ||
			!array_reserve(&server->rules, &server->rules_room, server->n_rules + 1)) {
		free(rule.name);
		free(rule.filter);
		return false;
	}
	server->rules[server->n_rules++] = rule;
	return true;
}

static enum status choose_function(struct server *server, const char *name, bool on, bool dry,
		struct kernel_fault *fault)
{
	struct functions *functions =
			server->recorder ? recorder_functions(server->recorder) : NULL;
	char copy[2 * NAME_BYTES], program[PATH_MAX], *function;
	bool exit;

	snprintf(copy, sizeof(copy), "%s", name);
	if (!offered_split(server->specs, server->n_specs, copy, program, &function, &exit)) {
		snprintf(fault->text, sizeof(fault->text),
				"%s is no entry or exit of a function that may be recorded", name);
		return STATUS_INVALID;
	}
	return dry || !functions ? STATUS_OK
				 : functions_choose(functions, program, function, exit, on, fault);
}

static enum status choose_tracepoint(struct server *server, const char *name, const char *filter,
		bool on, bool dry, struct kernel_fault *fault)
{
	static uint64_t keys[FILTER_KEYS];
	uint32_t event = filter_event(name), n = 0;
	const char *wrong = NULL;

	if (event == PROBE_TYPED) {
		snprintf(fault->text, sizeof(fault->text), "there is no kernel event %s here",
				name);
		return STATUS_NOT_FOUND;
	}
	wrong = filter ? filter_parse(event, filter, keys, &n) : NULL;
	if (wrong) {
		snprintf(fault->text, sizeof(fault->text), "the filter %s", wrong);
		return STATUS_INVALID;
	}
	return dry ? STATUS_OK
		   : kernel_choose(recorder_kernel(server->recorder), event,
				     !on      ? PROBE_NONE
				     : filter ? PROBE_FILTERED
					      : PROBE_ALL,
				     keys, n, fault);
}

static enum status choose_syscall(struct server *server, const char *name, const char *filter,
		bool on, bool dry, struct kernel_fault *fault)
{
	for (uint32_t i = 0; i < n_syscalls; i++) {
		if (strcmp(syscalls[i].entry.name, name) != 0) {
			continue;
		}
		if (filter) {
			snprintf(fault->text, sizeof(fault->text),
					"system calls have no filters here");
			return STATUS_INVALID;
		}
		return dry ? STATUS_OK
			   : kernel_choose_syscall(recorder_kernel(server->recorder),
					     syscalls[i].number, on, fault);
	}
	snprintf(fault->text, sizeof(fault->text), "there is no system call %s", name);
	return STATUS_NOT_FOUND;
}

static enum status choose(struct server *server, enum rule_kind kind, const char *name,
		const char *filter, bool on, bool dry, struct kernel_fault *fault)
{
	switch (kind) {
	case RULE_TRACEPOINT:
		return choose_tracepoint(server, name, filter, on, dry, fault);
	case RULE_SYSCALL:
		return choose_syscall(server, name, filter, on, dry, fault);
	default:
		if (filter) {
			snprintf(fault->text, sizeof(fault->text), "functions have no filters");
			return STATUS_INVALID;
		}
		return choose_function(server, name, on, dry, fault);
	}
}

/* "KIND NAME [FILTER]" */
static void do_rule(struct server *server, char *arguments, bool on, bool dry)
{
	char *kind_name = strsep(&arguments, " "), *name = arguments, *filter = NULL;
	enum rule_kind kind = RULE_TRACEPOINT;
	struct kernel_fault fault = {.text = "not what was agreed upon"};
	struct rule *before;

	while (kind < RULE_FUNCTION && strcmp(kind_names[kind], kind_name) != 0) {
		kind++;
	}
	if (!name || strcmp(kind_names[kind], kind_name) != 0 || (!server->recorder && !dry)) {
		serve_answer(server->tag, '!', "%s",
				server->recorder ? fault.text : "there is no session of the probe");
		return;
	}
	filter = strchr(name, ' ');
	if (filter) {
		*filter++ = '\0';
	}
	if (choose(server, kind, name, filter, on, dry, &fault) != STATUS_OK) {
		serve_answer(server->tag, '!', "%s", fault.text);
		return;
	}
	if (on && !dry && kind != RULE_FUNCTION) {
		recorder_dump_state(server->recorder);
	}
	before = find_rule(server, kind, name);
	if (on && !dry && !keep_rule(server, kind, name, filter)) {
		serve_answer(server->tag, '!', "out of memory");
		return;
	}
	if (!on && before) {
		drop_rule(server, before);
	}
	answer_ok(server);
}

static void do_apply(struct server *server)
{
	struct functions *functions =
			server->recorder ? recorder_functions(server->recorder) : NULL;
	struct kernel_fault fault;

	if (functions && functions_apply(functions, &fault) != STATUS_OK) {
		serve_answer(server->tag, '!', "%s", fault.text);
		return;
	}
	answer_ok(server);
}

/* --- What was let go of ----------------------------------------------------------------------- */

/* "PROVIDER:FUNCTION_entry" that was enabled: is it still? Else it was called too often. */
static bool stays(struct server *server, const char *rule)
{
	char copy[2 * NAME_BYTES], program[PATH_MAX], *function, *name;
	bool exit;

	snprintf(copy, sizeof(copy), "%s", rule);
	if (!offered_split(server->specs, server->n_specs, copy, program, &function, &exit)) {
		return false;
	}
	if (functions_is_on(recorder_functions(server->recorder), program, function, exit)) {
		return true;
	}
	if (!is_too_often(server, copy, function) &&
			array_reserve(&server->often, &server->often_room, server->n_often + 1) &&
			asprintf(&name, "%s:%s", copy, function) > 0) {
		server->often[server->n_often++] = name;
	}
	return false;
}

/* --- Learning --------------------------------------------------------------------------------- */

static bool learn_hook(struct server *server, const char *provider, const char *name, bool exit)
{
	char full[2 * NAME_BYTES];
	struct kernel_fault fault;
	char *copy;

	snprintf(full, sizeof(full), "%s:%s_%s", provider, name, exit ? "exit" : "entry");
	if (find_rule(server, RULE_FUNCTION, full) ||
			choose_function(server, full, true, false, &fault) != STATUS_OK) {
		return true; /* it is on anyway, or has gone */
	}
	copy = strdup(full);
	if (!copy || !array_reserve(&server->learned, &server->learned_room,
				     server->n_learned + 1)) {
		free(copy);
		return false;
	}
	server->learned[server->n_learned++] = copy;
	return true;
}

static bool learn_function(void *context, const struct offered *offered)
{
	struct server *server = context;

	if (server->seen && seen_times(server->seen, offered->offset) < server->seen_least) {
		return true;
	}
	return learn_hook(server, offered->provider, offered->name, false) &&
	       learn_hook(server, offered->provider, offered->name, true);
}

static bool count_function(void *context, const struct offered *offered)
{
	struct server *server = context;

	if (list_processes(server, offered->path)) {
		server->n_places = 0;
	}
	server->n_places++;
	return true;
}

/* --- Which of many functions ------------------------------------------------------------------ */

static void take_stack(void *context, const struct probe_stack *stack)
{
	seen_add(context, stack);
}

/*
 * Of functions times processes that are too many to attach in a moment, only those that threads are
 * seen in are learned: what takes time is among them. Where stacks cannot be looked at, or nothing
 * works, it stays with all.
 */
static void look_at_stacks(struct server *server)
{
	struct kernel *kernel = recorder_kernel(server->recorder);
	uint64_t until_ns = clock_monotonic_ns() + STACKS_NS;
	struct kernel_fault fault;

	if (seen_open(&server->seen, server->listed) != STATUS_OK) {
		return;
	}
	if (kernel_sample(kernel, take_stack, server->seen, &fault) != STATUS_OK) {
		serve_say(NULL, fault.text);
	}
	while (kernel_samples(kernel) && record_until(server, until_ns)) {
		kernel_take_stacks(kernel);
	}
	kernel_stop_sampling(kernel);
	if (seen_stacks(server->seen) < STACKS_LEAST) {
		forget_seen(server);
	} else {
		server->seen_least = seen_least(server->seen, SEEN_MOST);
	}
}

/* Requests that are learned from have all functions in them: it is answered once they are on. */
static void apply_all(struct server *server)
{
	struct functions *functions = recorder_functions(server->recorder);
	uint64_t until_ns = clock_monotonic_ns() + GROW_NS;
	struct kernel_fault fault;

	if (functions_apply(functions, &fault) != STATUS_OK) {
		serve_answer(server->tag, '!', "%s", fault.text);
		return;
	}
	while (functions_grows(functions) && record_until(server, until_ns)) {
	}
	answer_ok(server);
}

static void do_learn(struct server *server, const char *provider)
{
	uint32_t n;

	server->listed[0] = server->pids[0] = '\0';
	server->n_places = 0;
	offered_each(server->specs, server->n_specs, provider, count_function, server);
	n = program_n_processes(server->pids);
	if (server->recorder && (uint64_t)server->n_places * n > MANY_PLACES) {
		look_at_stacks(server);
	}
	if (!server->recorder) {
		serve_answer(server->tag, '!', "there is no session of the probe");
	} else if (!server->seen && (uint64_t)server->n_places * n > MOST_PLACES) {
		serve_answer(server->tag, '!',
				"%u functions of %s in %u processes are too many to record at "
				"once: it "
				"would take the kernel seconds to let go of one; name those that "
				"matter (--functions, control.functions)",
				server->n_places, provider, n);
	} else if (!offered_each(server->specs, server->n_specs, provider, learn_function,
				   server)) {
		serve_answer(server->tag, '!', "out of memory");
	} else {
		apply_all(server);
	}
	forget_seen(server);
}

static void do_learned(struct server *server)
{
	struct kernel_fault fault;

	for (; server->n_learned > 0; server->n_learned--) {
		char *name = server->learned[server->n_learned - 1];

		if (server->recorder) {
			stays(server, name);
		}
		if (server->recorder && !find_rule(server, RULE_FUNCTION, name)) {
			choose_function(server, name, false, false, &fault);
		}
		free(name);
	}
	do_apply(server);
}

/* --- What is on ------------------------------------------------------------------------------- */

static void do_rules(struct server *server)
{
	for (uint32_t i = 0; i < server->n_rules; i++) {
		const struct rule *rule = &server->rules[i];

		/* A function that was let go of is no rule any more. */
		if (rule->kind != RULE_FUNCTION || stays(server, rule->name)) {
			serve_answer(server->tag, '+', "%s %s%s%s", kind_names[rule->kind],
					rule->name, rule->filter ? " " : "",
					rule->filter ? rule->filter : "");
		}
	}
	answer_ok(server);
}

static void do_session(struct server *server)
{
	if (server->recorder) {
		serve_answer(server->tag, '+', "%s %u", server->session,
				server->setup.live_timer_us);
	}
	answer_ok(server);
}

/* --- The loop --------------------------------------------------------------------------------- */

static void take_request(struct server *server, char *text)
{
	char *verb;

	server->tag = strsep(&text, " ");
	verb = text ? strsep(&text, " ") : NULL;
	if (!verb) {
		return;
	}
	if (strcmp(verb, "check") == 0) {
		do_check(server);
	} else if (strcmp(verb, "offers") == 0) {
		do_offers(server);
	} else if (strcmp(verb, "functions") == 0) {
		do_functions(server);
	} else if (strcmp(verb, "learn") == 0 && text) {
		do_learn(server, text);
	} else if (strcmp(verb, "learned") == 0) {
		do_learned(server);
	} else if (strcmp(verb, "open") == 0 && text) {
		do_open(server, text);
	} else if (strcmp(verb, "enable") == 0 && text) {
		do_rule(server, text, true, false);
	} else if (strcmp(verb, "try") == 0 && text) {
		do_rule(server, text, true, true);
	} else if (strcmp(verb, "disable") == 0 && text) {
		do_rule(server, text, false, false);
	} else if (strcmp(verb, "apply") == 0) {
		do_apply(server);
	} else if (strcmp(verb, "rules") == 0) {
		do_rules(server);
	} else if (strcmp(verb, "session") == 0) {
		do_session(server);
	} else if (strcmp(verb, "close") == 0) {
		close_session(server);
		answer_ok(server);
	} else {
		serve_answer(server->tag, '!', "not what was agreed upon");
	}
}

static void read_socket(struct server *server, int fd)
{
	static char text[SERVE_MOST_BYTES + 1];
	ssize_t n = recv(fd, text, SERVE_MOST_BYTES, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n <= 0) {
		server->over = true; /* nobody asks any more */
		return;
	}
	server->heard_ns = fd == SERVE_LEASE ? clock_monotonic_ns() : server->heard_ns;
	text[n] = '\0';
	if (fd == SERVE_ASK) {
		take_request(server, text);
	}
}

static void wait_and_read(struct server *server, int ms)
{
	struct pollfd fds[] = {
			{.fd = SERVE_LEASE, .events = POLLIN}, {.fd = SERVE_ASK, .events = POLLIN}};

	if (wait_for(server, fds, 2, ms) > 0) {
		for (int i = 0; i < 2; i++) {
			if (fds[i].revents) {
				read_socket(server, fds[i].fd);
			}
		}
	}
}

static void hold_signals(sigset_t *before)
{
	const struct sigaction action = {.sa_handler = take_signal};
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, before);
	sigdelset(before, SIGINT);
	sigdelset(before, SIGTERM);
	sigdelset(before, SIGHUP);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* A request, or the kernel, may have taken longer than the lease: what came meanwhile counts. */
static bool is_abandoned(const struct server *server)
{
	struct pollfd lease = {.fd = SERVE_LEASE, .events = POLLIN};

	return clock_monotonic_ns() - server->heard_ns >= SERVE_LEASE_MS * UINT64_C(1000000) &&
	       poll(&lease, 1, 0) <= 0;
}

int serve(const struct recorder_setup *setup, const char *const *functions, uint32_t n_functions)
{
	static struct server server;
	int type = 0;
	socklen_t size = sizeof(type);

	if (getsockopt(SERVE_ASK, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
			type != SOCK_SEQPACKET) {
		fputs("pythiatop-probe: --serve is for pythiatop-control, which starts it\n",
				stderr);
		return 2;
	}
	/* Stopped, and its helper killed: it goes on, to find that nobody asks any more. */
	prctl(PR_SET_PDEATHSIG, SIGCONT);
	hold_signals(&server.mask);
	types_init();
	server.setup = *setup;
	server.specs = functions;
	server.n_specs = n_functions;
	server.setup.ring_bytes = cpu_ring_usual_bytes(RING_MOST);
	server.heard_ns = clock_monotonic_ns();
	while (!told && !server.over && !is_abandoned(&server)) {
		int ms = server.recorder ? recorder_step(server.recorder) : IDLE_MS;

		wait_and_read(&server, ms);
	}
	close_session(&server);
	free(server.rules);
	free(server.learned);
	return 0;
}
