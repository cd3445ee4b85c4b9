/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked of helpers, and how each ask comes to its one answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "control/ask.h"

#define USUAL_TIMEOUT_NS 20000000000u
#define GIVE_UP_NS       5000000000u /* the helper kills the call at once: more is a sick helper */

uint64_t ask_send(struct control_hosts *hosts, struct host *host, const char *verb, json_t *request)
{
	uint64_t number = hosts->last + 1;
	char *text = NULL;
	bool sent = false;

	if (request && json_object_set_new(request, "id", json_integer((json_int_t)number)) == 0 &&
			json_object_set_new(request, "do", json_string(verb)) == 0) {
		text = json_dumps(request, JSON_COMPACT);
	}
	json_decref(request);
	if (text) {
		size_t length = strlen(text);

		text[length] = '\n'; /* the 0 is not sent */
		sent = line_out_add(&host->peer.out, text, length + 1);
	}
	free(text);
	if (!sent) {
		return 0;
	}
	hosts->last = number;
	/* What cannot be written now will be by the step, which also sees if it never can. */
	line_out_write(&host->peer.out, host->peer.socket, true);
	return number;
}

static uint32_t count_open(const struct control_hosts *hosts, int host)
{
	const struct ask *ask;
	uint32_t n = 0;

	for (ask = hosts->asks; ask; ask = ask->next) {
		n += ask->host == host && ask->refused == STATUS_OK;
	}
	return n;
}

static struct ask *ask_add(struct control_hosts *hosts, const struct ask *like)
{
	struct ask *ask = malloc(sizeof(*ask)), **end = &hosts->asks;

	if (!ask) {
		return NULL;
	}
	*ask = *like;
	while (*end) {
		end = &(*end)->next;
	}
	return *end = ask;
}

/* Takes the reference of `request`; NULL is "out of memory". */
static uint64_t ask_begin(struct control_hosts *hosts, struct ask *ask, const char *verb,
		uint64_t timeout_ns, json_t *request)
{
	struct host *host = ask->host >= 0 && (uint32_t)ask->host < hosts->n_hosts
					    ? hosts->hosts[ask->host]
					    : NULL;

	ask->asked_ns = clock_monotonic_ns();
	ask->deadline_ns = ask->asked_ns + (timeout_ns ? timeout_ns : USUAL_TIMEOUT_NS);
	if (!request) {
		ask->refused = STATUS_NO_MEMORY;
	} else if (!host || host->state != CONTROL_READY) {
		ask->refused = STATUS_NOT_YET;
	} else if (count_open(hosts, ask->host) >= CONTROL_MAX_ASKS) {
		ask->refused = STATUS_BUSY;
	} else {
		ask->number = ask_send(hosts, host, verb, request);
		request = NULL;
		ask->refused = ask->number ? STATUS_OK : STATUS_FULL;
	}
	json_decref(request);
	ask->number = ask->number ? ask->number : ++hosts->last;
	return ask_add(hosts, ask) ? ask->number : 0;
}

struct ask *ask_find(struct control_hosts *hosts, uint64_t number)
{
	struct ask *ask = hosts->asks;

	while (ask && ask->number != number) {
		ask = ask->next;
	}
	return ask;
}

static void call_back(const struct ask *ask, enum status status, const char *message,
		const struct rows *rows, const json_t *last)
{
	const char *session = json_string_value(json_object_get(last, "session"));
	const char *probe = json_string_value(json_object_get(last, "probe"));
	json_int_t began = json_integer_value(json_object_get(last, "began_ns"));
	struct control_answer answer = {
			.ask = ask->number,
			.host = ask->host,
			.verb = ask->verb,
			.status = status,
			.message = message,
			.asked_ns = ask->asked_ns,
			.answered_ns = clock_monotonic_ns(),
			.began_ns = began > 0 ? (uint64_t)began : 0,
			.session = session && ask->verb == CONTROL_ASK_CREATE ? session : "",
			.probe = probe && ask->verb == CONTROL_ASK_CREATE ? probe : "",
	};

	if (rows && status == STATUS_OK) {
		rows_lend(rows, &answer);
	}
	if (ask->done) {
		ask->done(ask->context, &answer);
	}
}

void ask_answer(struct control_hosts *hosts, struct ask *ask, enum status status,
		const char *message, const struct rows *rows, const json_t *last)
{
	struct ask **at = &hosts->asks;

	while (*at != ask) {
		at = &(*at)->next;
	}
	/* Off the list first: the callback may ask for more. */
	*at = ask->next;
	if (!ask->answered) {
		call_back(ask, status, message, rows, last);
	}
	free(ask);
}

void ask_answer_all(struct control_hosts *hosts, int host, enum status status, const char *message)
{
	uint64_t newest = hosts->last;
	struct ask *ask = hosts->asks;

	while (ask) {
		if (ask->host == host && ask->refused == STATUS_OK && ask->number <= newest) {
			ask_answer(hosts, ask, status, message, NULL, NULL);
			ask = hosts->asks; /* the callback may have changed the list */
		} else {
			ask = ask->next;
		}
	}
}

static void answer_refusal(struct control_hosts *hosts, struct ask *ask)
{
	struct control_host view;

	switch (ask->refused) {
	case STATUS_NOT_YET:
		control_hosts_view(hosts, ask->host, "", &view);
		ask_answer(hosts, ask, STATUS_NOT_YET,
				view.sentence[0] ? view.sentence : "it was not ready; ask again",
				NULL, NULL);
		break;
	case STATUS_BUSY:
		ask_answer(hosts, ask, STATUS_BUSY,
				"too many things are asked of this host already", NULL, NULL);
		break;
	case STATUS_FULL:
		ask_answer(hosts, ask, STATUS_FULL, "that is more than a helper reads", NULL, NULL);
		break;
	default:
		ask_answer(hosts, ask, ask->refused, "out of memory", NULL, NULL);
		break;
	}
}

void ask_refusals(struct control_hosts *hosts)
{
	uint64_t newest = hosts->last;
	struct ask *ask = hosts->asks;

	while (ask) {
		if (ask->refused != STATUS_OK && ask->number <= newest) {
			answer_refusal(hosts, ask);
			ask = hosts->asks;
		} else {
			ask = ask->next;
		}
	}
}

void ask_abandon(struct control_hosts *hosts, struct ask *ask, uint64_t now_ns, enum status status,
		const char *message)
{
	struct ask asked = *ask;

	ask->answered = true;
	ask->given_up_ns = now_ns;
	ask_send(hosts, hosts->hosts[ask->host], "give_up",
			json_pack("{sI}", "of", (json_int_t)ask->number));
	call_back(&asked, status, message, NULL, NULL);
}

bool ask_deadlines(struct control_hosts *hosts, int host, uint64_t now_ns)
{
	struct ask *ask = hosts->asks;

	while (ask) {
		if (ask->host != host || ask->refused != STATUS_OK) {
			ask = ask->next;
		} else if (ask->answered) {
			if (now_ns - ask->given_up_ns > GIVE_UP_NS) {
				return false;
			}
			ask = ask->next;
		} else if (now_ns >= ask->deadline_ns) {
			ask_abandon(hosts, ask, now_ns, STATUS_TIMEOUT,
					"no answer in time: the session daemon, or a traced "
					"process or relay daemon that it waits for, is stopped or "
					"cut off");
			ask = hosts->asks;
		} else if (ask->giving_up) {
			ask_abandon(hosts, ask, now_ns, STATUS_END, "given up");
			ask = hosts->asks;
		} else {
			ask = ask->next;
		}
	}
	return true;
}

uint64_t ask_due_ns(const struct control_hosts *hosts)
{
	const struct ask *ask;
	uint64_t due_ns = UINT64_MAX;

	for (ask = hosts->asks; ask; ask = ask->next) {
		uint64_t ns = ask->answered ? ask->given_up_ns + GIVE_UP_NS : ask->deadline_ns;

		if (ask->refused != STATUS_OK || (ask->giving_up && !ask->answered)) {
			return 0;
		}
		due_ns = ns < due_ns ? ns : due_ns;
	}
	return due_ns;
}

void control_give_up(struct control_hosts *hosts, uint64_t number)
{
	struct ask *ask = ask_find(hosts, number);

	if (ask) {
		ask->giving_up = true;
	}
}

/* --- each verb --- */

static uint64_t ask_plain(struct control_hosts *hosts, int host, enum control_verb verb,
		const char *name, uint64_t timeout_ns, control_done_fn done, void *context,
		json_t *request)
{
	struct ask ask = {.host = host, .verb = verb, .done = done, .context = context};

	return ask_begin(hosts, &ask, name, timeout_ns, request);
}

uint64_t control_ask_sessions(struct control_hosts *hosts, int host, uint64_t timeout_ns,
		control_done_fn done, void *context)
{
	return ask_plain(hosts, host, CONTROL_ASK_SESSIONS, "sessions", timeout_ns, done, context,
			json_object());
}

uint64_t control_ask_points(struct control_hosts *hosts, int host, uint64_t timeout_ns,
		control_done_fn done, void *context)
{
	return ask_plain(hosts, host, CONTROL_ASK_POINTS, "points", timeout_ns, done, context,
			json_object());
}

uint64_t control_ask_channels(struct control_hosts *hosts, int host, const char *session,
		uint64_t timeout_ns, control_done_fn done, void *context)
{
	return ask_plain(hosts, host, CONTROL_ASK_CHANNELS, "channels", timeout_ns, done, context,
			session ? json_pack("{ss}", "session", session) : json_object());
}

static const char *kind_name(enum control_kind kind)
{
	return kind == CONTROL_FLIGHT ? "flight" : "live";
}

uint64_t control_ask_create(struct control_hosts *hosts, int host,
		const struct control_create *create, uint64_t timeout_ns, control_done_fn done,
		void *context)
{
	json_t *request = json_pack("{ss ss sb}", "kind", kind_name(create->kind), "relay",
			create->relay_url ? create->relay_url : "", "kernel", (int)create->kernel);

	if (request && create->live_timer_us) {
		json_object_set_new(request, "live_timer_us", json_integer(create->live_timer_us));
	}
	return ask_plain(hosts, host, CONTROL_ASK_CREATE, "create", timeout_ns, done, context,
			request);
}

static json_t *rules_json(const struct control_rule *rules, uint32_t n)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < n; i++) {
		json_t *rule = json_pack("{ss ss ss}", "domain",
				rules[i].domain == CONTROL_KERNEL ? "kernel" : "ust", "type",
				rules[i].type == CONTROL_SYSCALL ? "syscall" : "tracepoint", "name",
				rules[i].name);

		if (rule && rules[i].filter) {
			json_object_set_new(rule, "filter", json_string(rules[i].filter));
		}
		if (json_array_append_new(array, rule) != 0) {
			json_decref(array);
			return NULL; /* a name that is not UTF-8, or no memory */
		}
	}
	return array;
}

static json_t *texts_json(const char *const *texts, uint32_t n)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < n; i++) {
		json_array_append_new(array, json_string(texts[i]));
	}
	return array;
}

static json_t *enable_json(enum control_kind kind, enum control_slot slot,
		const struct control_rule *rules, uint32_t n_rules, const char *const *attached,
		uint32_t n_attached)
{
	return json_pack("{ss ss so so}", "kind", kind_name(kind), "slot",
			slot == CONTROL_SKELETON ? "skeleton" : "explore", "attached",
			texts_json(attached, n_attached), "points", rules_json(rules, n_rules));
}

uint64_t control_ask_enable(struct control_hosts *hosts, int host, enum control_kind kind,
		enum control_slot slot, const struct control_rule *rules, uint32_t n_rules,
		const char *const *attached, uint32_t n_attached, uint64_t timeout_ns,
		control_done_fn done, void *context)
{
	struct ask ask = {.host = host,
			.verb = CONTROL_ASK_ENABLE,
			.n_rules = n_rules,
			.done = done,
			.context = context};

	return ask_begin(hosts, &ask, "enable", timeout_ns,
			enable_json(kind, slot, rules, n_rules, attached, n_attached));
}

uint64_t control_ask_check(struct control_hosts *hosts, int host, enum control_kind kind,
		enum control_slot slot, const struct control_rule *rules, uint32_t n_rules,
		const char *const *attached, uint32_t n_attached, uint64_t timeout_ns,
		control_done_fn done, void *context)
{
	struct ask ask = {.host = host,
			.verb = CONTROL_ASK_CHECK,
			.n_rules = n_rules,
			.done = done,
			.context = context};

	return ask_begin(hosts, &ask, "check", timeout_ns,
			enable_json(kind, slot, rules, n_rules, attached, n_attached));
}

uint64_t control_ask_disable(struct control_hosts *hosts, int host, enum control_kind kind,
		const struct control_rule *rules, uint32_t n_rules, uint64_t timeout_ns,
		control_done_fn done, void *context)
{
	struct ask ask = {.host = host,
			.verb = CONTROL_ASK_DISABLE,
			.n_rules = n_rules,
			.done = done,
			.context = context};

	return ask_begin(hosts, &ask, "disable", timeout_ns,
			json_pack("{ss so}", "kind", kind_name(kind), "points",
					rules_json(rules, n_rules)));
}

uint64_t control_ask_snapshot(struct control_hosts *hosts, int host, uint64_t timeout_ns,
		control_done_fn done, void *context)
{
	return ask_plain(hosts, host, CONTROL_ASK_SNAPSHOT, "snapshot", timeout_ns, done, context,
			json_object());
}

uint64_t control_ask_learn(struct control_hosts *hosts, int host, const char *const *providers,
		uint32_t n_providers, uint64_t timeout_ns, control_done_fn done, void *context)
{
	return ask_plain(hosts, host, CONTROL_ASK_LEARN, "learn", timeout_ns, done, context,
			json_pack("{so}", "providers", texts_json(providers, n_providers)));
}

uint64_t control_ask_check_learn(struct control_hosts *hosts, int host,
		const char *const *providers, uint32_t n_providers, uint64_t timeout_ns,
		control_done_fn done, void *context)
{
	return ask_plain(hosts, host, CONTROL_ASK_CHECK_LEARN, "check_learn", timeout_ns, done,
			context,
			json_pack("{so}", "providers", texts_json(providers, n_providers)));
}

uint64_t control_ask_learned(struct control_hosts *hosts, int host, uint64_t timeout_ns,
		control_done_fn done, void *context)
{
	return ask_plain(hosts, host, CONTROL_ASK_LEARNED, "learned", timeout_ns, done, context,
			json_object());
}

uint64_t control_ask_destroy(struct control_hosts *hosts, int host, uint64_t timeout_ns,
		control_done_fn done, void *context)
{
	return ask_plain(hosts, host, CONTROL_ASK_DESTROY, "destroy", timeout_ns, done, context,
			json_object());
}
