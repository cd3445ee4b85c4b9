/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/probed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/kernel.h"

#define ERROR_BYTES 1024
#define USUAL_PATH  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

bool probed_any(const struct helper *helper)
{
	return helper->prober && prober_is_there(helper->prober);
}

bool probed_alone(const struct helper *helper)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];

	if (!probed_any(helper) || helper->rights.only_functions) {
		return probed_any(helper);
	}
	for (at = at && *at ? at : USUAL_PATH; *at; at += *at == ':') {
		size_t n = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/lttng-sessiond", (int)n, at);
		if (n > 0 && access(path, X_OK) == 0) {
			return false;
		}
		at += n;
	}
	return true;
}

bool probed_kernel(const struct helper *helper)
{
	return probed_any(helper) && !helper->rights.only_functions && kernel_lack() < 0;
}

bool probed_function(const struct helper *helper, const char *name)
{
	char request[CHECK_NAME_BYTES + 32], error[ERROR_BYTES];

	if (!probed_any(helper) || helper->rights.functions.n == 0) {
		return false;
	}
	snprintf(request, sizeof(request), "try function %s", name);
	return prober_ask(helper->prober, request, NULL, NULL, error, sizeof(error));
}

/* --- its session --- */

bool probed_open(const struct helper *helper, const char *relay, uint64_t timer_us, char *error,
		size_t size)
{
	char request[CHECK_URL_BYTES + 256];

	snprintf(request, sizeof(request), "open %s %s %llu %d", relay, helper->owner.probe,
			(unsigned long long)timer_us, probed_kernel(helper));
	return prober_ask(helper->prober, request, NULL, NULL, error, size);
}

bool probed_close(const struct helper *helper, char *error, size_t size)
{
	return !probed_any(helper) || prober_ask(helper->prober, "close", NULL, NULL, error, size);
}

/* "NAME TIMER_US" */
static void note_timer(void *context, char *row)
{
	const char *blank = strchr(row, ' ');

	*(uint64_t *)context = blank ? strtoull(blank, NULL, 10) : 0;
}

uint64_t probed_timer_us(const struct helper *helper)
{
	char error[ERROR_BYTES];
	uint64_t timer_us = 0;

	if (!probed_any(helper) || !prober_ask(helper->prober, "session", note_timer, &timer_us,
						   error, sizeof(error))) {
		return 0;
	}
	return timer_us;
}

bool probed_is_open(const struct helper *helper)
{
	return probed_timer_us(helper) > 0;
}

/* --- its rules --- */

struct reading {
	const struct helper *helper;
	struct rules *rules;
};

/* "KIND NAME [FILTER]" */
static void take_rule(void *context, char *row)
{
	const struct reading *reading = context;
	char *kind = strsep(&row, " "), *name = strsep(&row, " ");
	struct rule rule = {.session = (char *)(uintptr_t)reading->helper->owner.session,
			.channel = (char *)(uintptr_t)PROBED_CHANNEL,
			.name = name,
			.filter = row,
			.domain = kind[0] == 'f' ? RULE_UST : RULE_KERNEL,
			.tracepoints = kind[0] != 's',
			.syscalls = kind[0] == 's',
			.on = true,
			.enabled = true,
			.partial = row};

	if (name) {
		rules_add(reading->rules, &rule);
	}
}

void probed_rules(const struct helper *helper, struct rules *rules)
{
	struct reading reading = {.helper = helper, .rules = rules};
	char error[ERROR_BYTES];

	if (probed_any(helper)) {
		prober_ask(helper->prober, "rules", take_rule, &reading, error, sizeof(error));
	}
}

bool probed_change(const struct helper *helper, const char *verb, bool kernel, bool syscall,
		const char *name, const char *filter, char *error, size_t size)
{
	char request[CHECK_NAME_BYTES + CHECK_FILTER_BYTES + 64];

	snprintf(request, sizeof(request), "%s %s %s%s%s", verb,
			!kernel   ? "function"
			: syscall ? "syscall"
				  : "tracepoint",
			name, filter ? " " : "", filter ? filter : "");
	return prober_ask(helper->prober, request, NULL, NULL, error, size);
}

bool probed_apply(const struct helper *helper, char *error, size_t size)
{
	return prober_ask(helper->prober, "apply", NULL, NULL, error, size);
}

bool probed_learn(const struct helper *helper, const char *provider, char *error, size_t size)
{
	char request[CHECK_NAME_BYTES + 32];

	snprintf(request, sizeof(request), "learn %s", provider);
	return prober_ask(helper->prober, request, NULL, NULL, error, size);
}

void probed_learned(const struct helper *helper)
{
	char error[ERROR_BYTES];

	if (probed_any(helper)) {
		prober_ask(helper->prober, "learned", NULL, NULL, error, sizeof(error));
	}
}

/* --- its points --- */

struct listing {
	const struct helper *helper;
	struct answer *answer;
	const struct rules *rules;
};

static json_t *uses_of(const struct listing *listing, enum rule_domain domain, bool syscall,
		const char *name)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < listing->rules->n; i++) {
		const struct rule *rule = &listing->rules->items[i];

		if (rule->on && strcmp(rule->channel, PROBED_CHANNEL) == 0 &&
				rule_covers(rule, domain, syscall, name)) {
			json_array_append_new(array,
					json_pack("{ss ss sb}", "session",
							listing->helper->owner.probe, "owner", "us",
							"partial", (int)rule->partial));
		}
	}
	return array;
}

/* "tracepoint NAME", "syscall NAME" */
static void send_kernel_point(void *context, char *row)
{
	const struct listing *listing = context;
	const char *type = strsep(&row, " ");

	if (!row) {
		return;
	}
	answer_row(listing->answer, "point",
			json_pack("{ss ss ss si si so so so}", "domain", "kernel", "type", type,
					"name", row, "loglevel", -1, "n_processes", 0, "processes",
					json_array(), "fields", json_array(), "uses",
					uses_of(listing, RULE_KERNEL, type[0] == 's', row)));
}

bool probed_kernel_points(const struct helper *helper, struct answer *answer,
		const struct rules *rules, char *error, size_t size)
{
	struct listing listing = {.helper = helper, .answer = answer, .rules = rules};

	return prober_ask(helper->prober, "offers", send_kernel_point, &listing, error, size);
}

static void send_function(const struct listing *listing, const char *name, json_t *processes)
{
	answer_row(listing->answer, "point",
			json_pack("{ss ss sb ss si sI so so so}", "domain", "ust", "type",
					"tracepoint", "bounded", 1, "name", name, "loglevel", 12, "n_processes",
					(json_int_t)json_array_size(processes), "processes",
					json_incref(processes), "fields", json_array(), "uses",
					uses_of(listing, RULE_UST, false, name)));
}

static json_t *processes_of(const char *name, char *pids)
{
	json_t *array = json_array();
	char *pid;

	while (pids && (pid = strsep(&pids, ","))) {
		if (*pid) {
			json_array_append_new(
					array, json_pack("{si ss#}", "pid", atoi(pid), "name", name,
							       (int)strcspn(name, ":")));
		}
	}
	return array;
}

/* "PROVIDER:FUNCTION PID,PID": its entry and its exit are points. */
static void send_function_points(void *context, char *row)
{
	const struct listing *listing = context;
	const char *function = strsep(&row, " ");
	json_t *processes = processes_of(function, row);
	char name[2 * CHECK_NAME_BYTES];

	for (int exit = 0; exit < 2; exit++) {
		snprintf(name, sizeof(name), "%s_%s", function, exit ? "exit" : "entry");
		/* What no rule could name is not offered. */
		if (strlen(name) < CHECK_NAME_BYTES && !check_point(name)) {
			send_function(listing, name, processes);
		}
	}
	json_decref(processes);
}

void probed_functions(const struct helper *helper, struct answer *answer, const struct rules *rules)
{
	struct listing listing = {.helper = helper, .answer = answer, .rules = rules};
	char error[ERROR_BYTES];

	if (helper->rights.functions.n > 0 && probed_any(helper)) {
		prober_ask(helper->prober, "functions", send_function_points, &listing, error,
				sizeof(error));
	}
}
