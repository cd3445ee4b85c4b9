/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/probed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
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

/* What the probe told, to be passed on when all is there: it should not wait for the console. */
struct told {
	char **rows;
	uint32_t n, room;
	bool failed; /* out of memory */
};

static void keep_row(void *context, char *row)
{
	struct told *told = context;
	char *copy = strdup(row);

	if (!copy || !array_reserve(&told->rows, &told->room, told->n + 1)) {
		told->failed = true;
		free(copy);
		return;
	}
	told->rows[told->n++] = copy;
}

static void release_told(struct told *told)
{
	while (told->n > 0) {
		free(told->rows[--told->n]);
	}
	free(told->rows);
}

/* "[{"pid":1,"name":"postgres"}]" of "1,2"; NULL: out of memory. */
static char *processes_of(const char *provider, char *pids, uint32_t *n)
{
	json_t *array = json_array();
	char *pid, *text;

	while ((pid = strsep(&pids, ","))) {
		if (*pid) {
			json_array_append_new(array,
					json_pack("{si ss}", "pid", atoi(pid), "name", provider));
		}
	}
	*n = (uint32_t)json_array_size(array);
	text = json_dumps(array, JSON_COMPACT);
	json_decref(array);
	return text;
}

/* Texts that check_point() has let pass need no quoting. The processes are told with entries. */
static bool send_event(const struct listing *listing, const char *name, bool is_entry,
		const char *processes, uint32_t n_processes)
{
	json_t *used = uses_of(listing, RULE_UST, false, name);
	char *uses = json_dumps(used, JSON_COMPACT), *text = NULL;
	bool done = uses &&
		    asprintf(&text,
				    "{\"domain\":\"ust\",\"type\":\"tracepoint\","
				    "\"bounded\":true,\"name\":\"%s\",\"loglevel\":12,"
				    "\"n_processes\":%u,\"processes\":%s,\"fields\":[],"
				    "\"uses\":%s}",
				    name, n_processes, is_entry ? processes : "[]", uses) >= 0;

	if (done) {
		answer_row_text(listing->answer, "point", text);
		free(text);
	}
	free(uses);
	json_decref(used);
	return done;
}

/* "PROVIDER PID,PID FUNCTION...": entries and exits are points. Their number, < 0: no memory. */
static int32_t send_functions(const struct listing *listing, char *row)
{
	const char *provider = strsep(&row, " "), *function;
	char *pids = strsep(&row, " "), name[2 * CHECK_NAME_BYTES];
	uint32_t n_processes = 0;
	char *processes = processes_of(provider, pids, &n_processes);
	bool done = processes != NULL;
	int32_t n = 0;

	for (; done && (function = strsep(&row, " ")); n++) {
		for (int exit = 0; exit < 2 && done; exit++) {
			snprintf(name, sizeof(name), "%s:%s_%s", provider, function,
					exit ? "exit" : "entry");
			/* What no rule could name is not offered. */
			if (strlen(name) < CHECK_NAME_BYTES && !check_point(name)) {
				done = send_event(listing, name, !exit, processes, n_processes);
			}
		}
	}
	free(processes);
	return done ? n : -1;
}

bool probed_functions(const struct helper *helper, struct answer *answer, const struct rules *rules,
		char *error, size_t size)
{
	const struct listing listing = {.helper = helper, .answer = answer, .rules = rules};
	struct told told = {.n = 0};
	int32_t listed = 0, n = 0;
	bool done = true;

	if (helper->rights.functions.n == 0 || !probed_any(helper)) {
		return true;
	}
	done = prober_ask(helper->prober, "functions", keep_row, &told, error, size);
	listed = done ? atoi(error) : 0;
	for (uint32_t i = 0; done && i < told.n; i++) {
		int32_t sent = send_functions(&listing, told.rows[i]);

		done = sent >= 0;
		n += sent;
		told.failed |= !done;
	}
	if (told.failed) {
		snprintf(error, size, "out of memory");
		done = false;
	} else if (done && n != listed) {
		snprintf(error, size, "pythiatop-probe told %d functions of %d", (int)n,
				(int)listed);
		done = false;
	}
	release_told(&told);
	return done;
}
