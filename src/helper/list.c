/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this host's session daemon has: sessions, channels, rules, points. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "helper/check.h"
#include "helper/kernel.h"
#include "helper/loggers.h"
#include "helper/probed.h"
#include "helper/rules.h"
#include "helper/worker.h"

#define MAX_LISTED 32 /* processes of a point; all are counted */

const char *session_owner(const struct helper *helper, const char *name)
{
	if (strcmp(name, helper->owner.session) == 0 || strcmp(name, helper->owner.flight) == 0 ||
			strcmp(name, helper->owner.probe) == 0) {
		return "us";
	}
	return strncmp(name, "pythiatop-", 10) == 0 ? "pythiatop" : "other";
}

static const char *domain_name(enum lttng_domain_type domain)
{
	return domain == LTTNG_DOMAIN_KERNEL ? "kernel" : "ust";
}

/* --- sessions --- */

void list_sessions(const struct helper *helper, struct answer *answer, const json_t *request)
{
	struct lttng_session *sessions = NULL;
	uint64_t timer_us;
	int n, i;

	(void)request;
	answer_calling(answer);
	n = helper->rights.only_functions ? 0 : lttng_list_sessions(&sessions);
	if (n < 0 && !(n == -LTTNG_ERR_NO_SESSIOND && probed_alone(helper))) {
		answer_lttng(answer, n);
		return;
	}
	timer_us = probed_timer_us(helper);
	if (timer_us > 0) {
		answer_row(answer, "session",
				json_pack("{ss sb sI sb ss ss}", "name", helper->owner.probe,
						"active", 1, "live_timer_us", (json_int_t)timer_us,
						"snapshot", 0, "output", "pythiatop-probe", "owner",
						"us"));
	}
	for (i = 0; i < n; i++) {
		const struct lttng_session *session = &sessions[i];

		answer_row(answer, "session",
				json_pack("{so sb sI sb so ss}", "name", answer_text(session->name),
						"active", (int)session->enabled, "live_timer_us",
						(json_int_t)session->live_timer_interval,
						"snapshot", (int)session->snapshot_mode, "output",
						answer_text(session->path), "owner",
						session_owner(helper, session->name)));
	}
	free(sessions);
	answer_ok(answer, NULL);
}

/* --- channels and rules of a session --- */

static void send_channel(struct answer *answer, const char *session, enum lttng_domain_type domain,
		struct lttng_channel *channel)
{
	uint64_t discarded = 0, lost = 0;

	lttng_channel_get_discarded_event_count(channel, &discarded);
	lttng_channel_get_lost_packet_count(channel, &lost);
	answer_row(answer, "channel",
			json_pack("{so ss so sb sI sI sI sI sI sI}", "session",
					answer_text(session), "domain", domain_name(domain), "name",
					answer_text(channel->name), "enabled",
					(int)channel->enabled, "subbuf_bytes",
					(json_int_t)channel->attr.subbuf_size, "n_subbuf",
					(json_int_t)channel->attr.num_subbuf, "tracefile_bytes",
					(json_int_t)channel->attr.tracefile_size, "n_tracefiles",
					(json_int_t)channel->attr.tracefile_count, "discarded",
					(json_int_t)discarded, "lost", (json_int_t)lost));
}

/* 0, or a negative code of LTTng. A domain without channels is no error. */
static int send_channels(struct answer *answer, const char *session, enum lttng_domain_type type)
{
	struct lttng_domain domain = {.type = type};
	struct lttng_handle *handle = lttng_create_handle(session, &domain);
	struct lttng_channel *channels = NULL;
	int n, i;

	if (!handle) {
		return -LTTNG_ERR_NOMEM;
	}
	answer_calling(answer);
	n = lttng_list_channels(handle, &channels);
	for (i = 0; i < n; i++) {
		send_channel(answer, session, type, &channels[i]);
	}
	free(channels);
	lttng_destroy_handle(handle);
	return n < 0 ? n : 0;
}

static void send_rule(struct answer *answer, const struct rule *rule)
{
	answer_row(answer, "rule",
			json_pack("{so ss ss so so sb sb so}", "session",
					answer_text(rule->session), "domain",
					rule->domain == RULE_KERNEL ? "kernel" : "ust", "type",
					rule->syscalls && !rule->tracepoints ? "syscall"
									     : "tracepoint",
					"channel", answer_text(rule->channel), "name",
					answer_text(rule->name), "enabled", (int)rule->enabled,
					"partial", (int)rule->partial, "filter",
					answer_text(rule->filter ? rule->filter : "")));
}

/* Which domains a session has; 0, or a negative code of LTTng. */
static int send_domains(struct answer *answer, const char *session)
{
	struct lttng_domain *domains = NULL;
	int code = 0, n, i;

	answer_calling(answer);
	n = lttng_list_domains(session, &domains);
	for (i = 0; i < n && code == 0; i++) {
		/* The channels of loggers are among those of user space. */
		if (domains[i].type == LTTNG_DOMAIN_UST || domains[i].type == LTTNG_DOMAIN_KERNEL) {
			code = send_channels(answer, session, domains[i].type);
		}
	}
	free(domains);
	return n < 0 ? n : code;
}

static int send_session(const struct helper *helper, struct answer *answer, const char *session)
{
	struct rules rules = {0};
	char scratch[PATH_MAX];
	int code = send_domains(answer, session);
	uint32_t i;

	if (code == 0) {
		code = helper_scratch(helper, scratch, sizeof(scratch))
				       ? rules_read(&rules, answer, session, scratch)
				       : -LTTNG_ERR_SAVE_IO_FAIL;
	}
	if (strcmp(session, helper->owner.session) == 0) {
		probed_rules(helper, &rules);
	}
	for (i = 0; i < rules.n; i++) {
		if (rules.items[i].domain != RULE_OTHER) {
			send_rule(answer, &rules.items[i]);
		}
	}
	rules_release(&rules);
	return code;
}

void list_channels(const struct helper *helper, struct answer *answer, const json_t *request)
{
	const char *session = json_string_value(json_object_get(request, "session"));
	const char *wrong = session ? check_session(session) : NULL;
	char said[128];
	int code;

	if (wrong) {
		snprintf(said, sizeof(said), "the session's name %s", wrong);
		answer_error(answer, said, "\"sessions\" lists them");
		return;
	}
	if (session) {
		code = send_session(helper, answer, session);
	} else {
		code = send_session(helper, answer, helper->owner.session);
		if (code == 0 || code == -LTTNG_ERR_SESS_NOT_FOUND) {
			int flight = send_session(helper, answer, helper->owner.flight);

			/* Having one of the two is the usual thing. */
			code = flight == -LTTNG_ERR_SESS_NOT_FOUND ? code : flight;
		}
	}
	if (code < 0) {
		answer_lttng(answer, code);
	} else {
		answer_ok(answer, NULL);
	}
}

/* --- points --- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct lttng_event *)a)->name, ((const struct lttng_event *)b)->name);
}

static int field_by_event(const void *a, const void *b)
{
	const struct lttng_event_field *x = a, *y = b;
	int order = strcmp(x->event.name, y->event.name);

	return order ? order : x->event.pid - y->event.pid;
}

static const char *type_name(enum lttng_event_field_type type)
{
	switch (type) {
	case LTTNG_EVENT_FIELD_INTEGER:
		return "integer";
	case LTTNG_EVENT_FIELD_ENUM:
		return "enum";
	case LTTNG_EVENT_FIELD_FLOAT:
		return "float";
	case LTTNG_EVENT_FIELD_STRING:
		return "string";
	case LTTNG_EVENT_FIELD_OTHER:
	default:
		return "other";
	}
}

/* The fields of one tracepoint: rows come per process, so those of the first process are taken. */
static json_t *fields_json(const struct lttng_event_field *fields, int n, const char *event)
{
	json_t *array = json_array();
	pid_t pid = 0;
	bool found = false;
	int low = 0, high = n;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (strcmp(fields[middle].event.name, event) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	for (; low < n && strcmp(fields[low].event.name, event) == 0; low++) {
		if (!found) {
			pid = fields[low].event.pid;
			found = true;
		}
		if (fields[low].event.pid == pid && fields[low].field_name[0] != '\0') {
			json_array_append_new(array,
					json_pack("{so ss}", "name",
							answer_text(fields[low].field_name), "type",
							type_name(fields[low].type)));
		}
	}
	return array;
}

static void read_comm(pid_t pid, char *name, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (!file || !fgets(name, (int)size, file)) {
		name[0] = '\0'; /* it has just ended */
	}
	name[strcspn(name, "\n")] = '\0';
	if (file) {
		fclose(file);
	}
}

static json_t *processes_json(const struct lttng_event *events, int n)
{
	json_t *array = json_array();
	char name[64];
	int i;

	for (i = 0; i < n && json_array_size(array) < MAX_LISTED; i++) {
		read_comm(events[i].pid, name, sizeof(name));
		json_array_append_new(array, json_pack("{si so}", "pid", (int)events[i].pid, "name",
							     answer_text(name)));
	}
	return array;
}

/* One use for each session, whole if one of its rules takes the point whole. */
static json_t *uses_json(const struct helper *helper, const struct rules *rules,
		enum rule_domain domain, bool syscall, const char *name)
{
	json_t *array = json_array(), *use = NULL;
	const char *session = NULL;
	uint32_t i;

	for (i = 0; i < rules->n; i++) {
		const struct rule *rule = &rules->items[i];

		if (!rule->on || !rule_covers(rule, domain, syscall, name)) {
			continue;
		}
		if (!session || strcmp(session, rule->session) != 0) {
			session = rule->session;
			use = json_pack("{so ss sb}", "session", answer_text(session), "owner",
					session_owner(helper, session), "partial", 1);
			json_array_append_new(array, use);
		}
		if (!rule->partial) {
			json_object_set_new(use, "partial", json_false());
		}
	}
	return array;
}

/* All active sessions' rules. What cannot be read is told as lacking. */
static int read_all_rules(const struct helper *helper, struct answer *answer, struct rules *rules)
{
	struct lttng_session *sessions = NULL;
	char scratch[PATH_MAX];
	int n, i;

	answer_calling(answer);
	n = lttng_list_sessions(&sessions);
	if (n > 0 && !helper_scratch(helper, scratch, sizeof(scratch))) {
		answer_lack(answer, "what other sessions record", -LTTNG_ERR_SAVE_IO_FAIL);
		n = 0;
	}
	for (i = 0; i < n; i++) {
		int code = sessions[i].enabled
					   ? rules_read(rules, answer, sessions[i].name, scratch)
					   : 0;

		if (code < 0 && code != -LTTNG_ERR_SESS_NOT_FOUND) {
			answer_lack(answer, sessions[i].name, code);
		}
	}
	free(sessions);
	return n < 0 ? n : 0;
}

/* One line for each name; rows of one name, one a process, stand together. */
static void send_points(const struct helper *helper, struct answer *answer,
		const struct rules *rules, struct lttng_domain domain, bool syscall,
		struct lttng_event *events, int n, const struct lttng_event_field *fields,
		int n_fields)
{
	bool kernel = domain.type == LTTNG_DOMAIN_KERNEL;
	const struct logger_domain *agent = n > 0 && !kernel ? loggers_of(events[0].name) : NULL;
	int i, next;

	qsort(events, (size_t)n, sizeof(*events), by_name);
	for (i = 0; i < n && !answer->unread; i = next) {
		const char *name = events[i].name;

		for (next = i + 1; next < n && strcmp(events[next].name, name) == 0;) {
			next++;
		}
		answer_row(answer, "point",
				json_pack("{ss ss so si si so so so}", "domain",
						domain_name(domain.type), "type",
						syscall ? "syscall" : "tracepoint", "name",
						answer_text(name), "loglevel",
						kernel || agent ? -1 : events[i].loglevel,
						"n_processes", kernel ? 0 : next - i, "processes",
						processes_json(&events[i], kernel ? 0 : next - i),
						"fields",
						agent ? loggers_fields(agent)
						      : fields_json(fields, n_fields, name),
						"uses",
						uses_json(helper, rules,
								kernel ? RULE_KERNEL : RULE_UST,
								syscall, name)));
	}
}

/* What agents record all loggers' events through says nothing by itself: without. */
static int leave_out_agents(struct lttng_event *events, int n)
{
	int kept = 0;

	for (int i = 0; i < n; i++) {
		if (!loggers_of(events[i].name)) {
			events[kept++] = events[i];
		}
	}
	return n < 0 ? n : kept;
}

static void list_loggers(
		const struct helper *helper, struct answer *answer, const struct rules *rules)
{
	for (size_t i = 0; i < LOGGER_AGENTS; i++) {
		struct lttng_domain domain = {.type = logger_domains[i].type};
		struct lttng_event *events;
		int n = loggers_list(&logger_domains[i], &events);

		if (n < 0) {
			answer_lack(answer, logger_domains[i].provider, n);
		} else {
			send_points(helper, answer, rules, domain, false, events, n, NULL, 0);
		}
		free(events);
	}
}

static int list_ust(const struct helper *helper, struct answer *answer, const struct rules *rules)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST};
	struct lttng_handle *handle = lttng_create_handle(NULL, &domain);
	struct lttng_event_field *fields = NULL;
	struct lttng_event *events = NULL;
	int n, n_fields;

	if (!handle) {
		return -LTTNG_ERR_NOMEM;
	}
	n = lttng_list_tracepoints(handle, &events);
	n = leave_out_agents(events, n);
	n_fields = n < 0 ? n : lttng_list_tracepoint_fields(handle, &fields);
	lttng_destroy_handle(handle);
	if (n >= 0 && n_fields >= 0) {
		qsort(fields, (size_t)n_fields, sizeof(*fields), field_by_event);
		send_points(helper, answer, rules, domain, false, events, n, fields, n_fields);
		list_loggers(helper, answer, rules);
	}
	free(events);
	free(fields);
	return n < 0 ? n : n_fields < 0 ? n_fields : 0;
}

static void list_kernel(
		const struct helper *helper, struct answer *answer, const struct rules *rules)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_KERNEL};
	struct lttng_event *events;
	int n = kernel_points(&events);
	char error[1024];

	if (n < 0) {
		if (!probed_any(helper)) {
			answer_lack(answer, "kernel", n);
		} else if (!probed_kernel_points(helper, answer, rules, error, sizeof(error))) {
			answer_row(answer, "lack",
					json_pack("{ss ss so}", "what", "kernel", "error",
							lttng_strerror(n), "help",
							answer_text(error)));
		}
		return;
	}
	send_points(helper, answer, rules, domain, false, events, n, NULL, 0);
	free(events);
	events = NULL;
	n = lttng_list_syscalls(&events);
	if (n < 0) {
		answer_lack(answer, "kernel system calls", n);
		return;
	}
	send_points(helper, answer, rules, domain, true, events, n, NULL, 0);
	free(events);
}

void list_points(const struct helper *helper, struct answer *answer, const json_t *request)
{
	bool with_lttng = !helper->rights.only_functions;
	struct rules rules = {0};
	int code = with_lttng ? read_all_rules(helper, answer, &rules) : 0;
	char error[1024];

	(void)request;
	if (code == 0 && with_lttng) {
		code = list_ust(helper, answer, &rules);
	}
	if (code == -LTTNG_ERR_NO_SESSIOND && probed_alone(helper)) {
		answer_lack(answer, "tracepoints of programs", code);
		code = 0;
	}
	if (code < 0) {
		answer_lttng(answer, code);
	} else {
		probed_rules(helper, &rules);
		if (with_lttng) {
			list_kernel(helper, answer, &rules);
		}
		if (probed_functions(helper, answer, &rules, error, sizeof(error))) {
			answer_ok(answer, NULL);
		} else {
			answer_error(answer, error, "ask again");
		}
	}
	rules_release(&rules);
}
