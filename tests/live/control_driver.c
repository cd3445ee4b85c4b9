/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A console without a screen: controls hosts through src/control as commands on standard input say,
 * and prints what came of each. Leases are renewed as long as it runs, whatever it waits for.
 *
 *   usage: pt-control HELPER SSH NAME=HOW...
 *
 *   host NAME               the following are about this one (at first: the first)
 *   ready                   waits until it is
 *   create RELAY-URL [kernel]    flight RELAY-URL
 *   enable NAME [FILTER]    also skeleton NAME, enable-flight NAME; in NAME, "kernel:" before a
 *                           kernel event, "syscall:" before a system call
 *   check NAME [FILTER]     what an enable would do
 *   attached SESSION        reads it from now on, as a console would
 *   disable NAME            snapshot, destroy, points, channels [SESSION], sessions
 *   asap VERB ...           like VERB, but gives it up after 0.3 s
 *   sleep SECONDS           state
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control/hosts.h"

#define MAX_LINE 8192
#define HURRY_NS 300000000u

struct driver {
	struct control_hosts *hosts;
	int host;
	bool waiting; /* for an answer */
	bool local;
	uint64_t timeout_ns;
	char attached[8][CONTROL_NAME_BYTES];
	uint32_t n_attached;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void say_state(const struct driver *driver)
{
	static const char *const names[] = {"off", "starting", "ready", "failed"};
	struct control_host host;

	control_hosts_view(driver->hosts, driver->host, "nowhere", &host);
	printf("state %s %s generation=%u session=%s read_only=%d %s\n", host.name,
			names[host.state], host.generation, host.session, host.read_only,
			host.sentence);
}

static void turn(struct driver *driver, uint64_t until_ns)
{
	struct pollfd fds[64];
	uint64_t now = now_ns(), due = control_hosts_due_ns(driver->hosts);
	uint32_t n = control_hosts_poll_fds(driver->hosts, fds, 64);
	char notice[1024];

	due = due < until_ns ? due : until_ns;
	poll(fds, n, due <= now ? 0 : (int)((due - now) / 1000000u) + 1);
	control_hosts_step(driver->hosts, now_ns());
	while (control_hosts_notice(driver->hosts, notice, sizeof(notice))) {
		printf("notice %s\n", notice);
	}
	fflush(stdout);
}

static void print_rows(const struct control_answer *answer)
{
	static const char *const done[] = {"done", "was_so", "used_there", "refused", "would"};
	uint32_t i;

	for (i = 0; i < answer->n_sessions; i++) {
		printf("session %s %s%s\n", answer->sessions[i].name,
				answer->sessions[i].active ? "active" : "stopped",
				answer->sessions[i].ours        ? " ours"
				: answer->sessions[i].pythiatop ? " pythiatop"
								: "");
	}
	for (i = 0; i < answer->n_points; i++) {
		const struct control_point *point = &answer->points[i];
		uint32_t j;

		printf("point %s processes=%u fields=%u", point->name, point->n_processes,
				point->n_fields);
		for (j = 0; j < point->n_uses; j++) {
			printf(" on=%s%s", point->uses[j].session,
					point->uses[j].partial ? "(partly)" : "");
		}
		putchar('\n');
	}
	for (i = 0; i < answer->n_channels; i++) {
		const struct control_channel *channel = &answer->channels[i];

		printf("channel %s/%s discarded=%" PRIu64 " tracefiles=%" PRIu64 "x%" PRIu64 "\n",
				channel->session, channel->name, channel->discarded_events,
				channel->n_tracefiles, channel->tracefile_bytes);
	}
	for (i = 0; i < answer->n_rules; i++) {
		printf("rule %s/%s %s %s %s\n", answer->rules[i].session, answer->rules[i].channel,
				answer->rules[i].name,
				answer->rules[i].enabled ? "enabled" : "disabled",
				answer->rules[i].filter);
	}
	for (i = 0; i < answer->n_changes; i++) {
		printf("change %s %s %s%s%s\n", answer->changes[i].name,
				done[answer->changes[i].done], answer->changes[i].channel,
				answer->changes[i].session, answer->changes[i].message);
	}
	for (i = 0; i < answer->n_lacks; i++) {
		printf("lack %s: %s\n", answer->lacks[i].what, answer->lacks[i].message);
	}
}

static void take(void *context, const struct control_answer *answer)
{
	struct driver *driver = context;

	print_rows(answer);
	printf("answer %d after_us=%" PRIu64 " began_us=%" PRIu64 " %s%s\n", answer->status,
			(answer->answered_ns - answer->asked_ns) / 1000u,
			driver->local && answer->began_ns > answer->asked_ns
					? (answer->began_ns - answer->asked_ns) / 1000u
					: 0,
			answer->session, answer->message);
	driver->waiting = false;
}

static struct control_rule rule_of(const char *name)
{
	if (strncmp(name, "kernel:", 7) == 0) {
		return (struct control_rule){.domain = CONTROL_KERNEL, .name = name + 7};
	}
	if (strncmp(name, "syscall:", 8) == 0) {
		return (struct control_rule){.domain = CONTROL_KERNEL,
				.type = CONTROL_SYSCALL,
				.name = name + 8};
	}
	return (struct control_rule){.name = name};
}

static uint64_t ask_change(struct driver *driver, const char *verb, char *rest)
{
	enum control_kind kind = strcmp(verb, "enable-flight") == 0 ? CONTROL_FLIGHT : CONTROL_LIVE;
	struct control_rule rule = rule_of(strsep(&rest, " "));
	const char *attached[8];
	uint32_t i;

	rule.filter = rest;
	for (i = 0; i < driver->n_attached; i++) {
		attached[i] = driver->attached[i];
	}
	if (strcmp(verb, "disable") == 0) {
		return control_ask_disable(driver->hosts, driver->host, kind, &rule, 1,
				driver->timeout_ns, take, driver);
	}
	if (strcmp(verb, "check") == 0) {
		return control_ask_check(driver->hosts, driver->host, kind, CONTROL_EXPLORE, &rule,
				1, attached, driver->n_attached, driver->timeout_ns, take, driver);
	}
	return control_ask_enable(driver->hosts, driver->host, kind,
			strcmp(verb, "skeleton") == 0 ? CONTROL_SKELETON : CONTROL_EXPLORE, &rule,
			1, attached, driver->n_attached, driver->timeout_ns, take, driver);
}

static uint64_t ask_create(struct driver *driver, enum control_kind kind, char *rest)
{
	struct control_create create = {.kind = kind, .relay_url = strsep(&rest, " ")};

	create.kernel = rest && strcmp(rest, "kernel") == 0;
	return control_ask_create(
			driver->hosts, driver->host, &create, driver->timeout_ns, take, driver);
}

/* 0: unknown. */
static uint64_t ask(struct driver *driver, const char *verb, char *rest)
{
	struct control_hosts *hosts = driver->hosts;

	if (strcmp(verb, "sessions") == 0) {
		return control_ask_sessions(hosts, driver->host, driver->timeout_ns, take, driver);
	} else if (strcmp(verb, "points") == 0) {
		return control_ask_points(hosts, driver->host, driver->timeout_ns, take, driver);
	} else if (strcmp(verb, "channels") == 0) {
		return control_ask_channels(
				hosts, driver->host, rest, driver->timeout_ns, take, driver);
	} else if (strcmp(verb, "snapshot") == 0) {
		return control_ask_snapshot(hosts, driver->host, driver->timeout_ns, take, driver);
	} else if (strcmp(verb, "destroy") == 0) {
		return control_ask_destroy(hosts, driver->host, driver->timeout_ns, take, driver);
	} else if (strcmp(verb, "create") == 0 || strcmp(verb, "flight") == 0) {
		return ask_create(driver, verb[0] == 'f' ? CONTROL_FLIGHT : CONTROL_LIVE, rest);
	} else if (rest) {
		return ask_change(driver, verb, rest);
	}
	return 0;
}

static void wait_ready(struct driver *driver)
{
	uint64_t end_ns = now_ns() + 30000000000u;
	struct control_host host;

	do {
		turn(driver, end_ns);
		control_hosts_view(driver->hosts, driver->host, "", &host);
	} while (host.state != CONTROL_READY && now_ns() < end_ns);
	say_state(driver);
}

static void wait_answer(struct driver *driver, uint64_t number, bool hurry)
{
	uint64_t give_up_ns = hurry ? now_ns() + HURRY_NS : UINT64_MAX;

	driver->waiting = true;
	while (driver->waiting) {
		turn(driver, give_up_ns);
		if (now_ns() >= give_up_ns) {
			control_give_up(driver->hosts, number);
			give_up_ns = UINT64_MAX;
		}
	}
}

static void obey(struct driver *driver, char *line)
{
	char *rest = line;
	const char *verb = strsep(&rest, " ");
	bool hurry = strcmp(verb, "asap") == 0;
	struct control_host host;
	uint64_t number, until_ns;

	verb = hurry ? strsep(&rest, " ") : verb;
	control_hosts_view(driver->hosts, driver->host, "", &host);
	driver->local = host.local;
	if (strcmp(verb, "host") == 0) {
		driver->host = control_hosts_find(driver->hosts, rest);
	} else if (strcmp(verb, "ready") == 0) {
		wait_ready(driver);
	} else if (strcmp(verb, "state") == 0) {
		turn(driver, now_ns());
		say_state(driver);
	} else if (strcmp(verb, "attached") == 0 && driver->n_attached < 8) {
		snprintf(driver->attached[driver->n_attached++], CONTROL_NAME_BYTES, "%s", rest);
	} else if (strcmp(verb, "sleep") == 0) {
		until_ns = now_ns() + (uint64_t)(strtod(rest, NULL) * 1e9);
		while (now_ns() < until_ns) {
			turn(driver, until_ns);
		}
	} else {
		number = ask(driver, verb, rest);
		if (number) {
			wait_answer(driver, number, hurry);
		} else {
			printf("unknown %s\n", verb);
		}
	}
	printf("ok %s\n", line);
	fflush(stdout);
}

/* The next command, while the leases go on. False: the end. */
static bool next_line(struct driver *driver, char *line, size_t size)
{
	size_t used = 0;

	while (used < size - 1) {
		struct pollfd fds[65] = {{.fd = STDIN_FILENO, .events = POLLIN}};
		uint64_t now = now_ns(), due = control_hosts_due_ns(driver->hosts);
		uint32_t n = control_hosts_poll_fds(driver->hosts, fds + 1, 64);

		poll(fds, n + 1, due <= now ? 0 : (int)((due - now) / 1000000u) + 1);
		turn(driver, now_ns());
		if (fds[0].revents) {
			if (read(STDIN_FILENO, line + used, 1) != 1) {
				return false;
			}
			if (line[used] == '\n') {
				line[used] = '\0';
				return true;
			}
			used++;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	struct control_setup setup = {.console = "pt-control"};
	struct driver driver = {0};
	char line[MAX_LINE], error[512];
	int i;

	if (argc < 4) {
		fputs("usage: pt-control HELPER SSH NAME=HOW...\n", stderr);
		return 2;
	}
	setup.program = argv[1];
	setup.ssh = argv[2];
	driver.hosts = control_hosts_create(&setup);
	for (i = 3; driver.hosts && i < argc; i++) {
		if (control_hosts_add_option(driver.hosts, argv[i], error, sizeof(error)) < 0) {
			fprintf(stderr, "pt-control: %s: %s\n", argv[i], error);
			return 2;
		}
	}
	while (driver.hosts && next_line(&driver, line, sizeof(line))) {
		obey(&driver, line);
	}
	control_hosts_destroy(driver.hosts);
	return 0;
}
