/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Enabling and disabling in our sessions. Exact names only: LTTng's disable takes all rules of a
 * name in a channel, whatever their filters, so a name has at most one rule that is on in a
 * channel.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "helper/check.h"
#include "helper/kernel.h"
#include "helper/loggers.h"
#include "helper/probed.h"
#include "helper/rules.h"
#include "helper/worker.h"

#define MAX_POINTS   1000u
#define MAX_ATTACHED 256u

struct point {
	enum rule_domain domain;
	bool syscall;
	bool probed; /* pythiatop-probe's */
	const char *name, *filter;
	const struct logger_domain *agent; /* it is a logger; NULL: none */
};

struct change {
	const struct helper *helper;
	struct answer *answer;
	const char *session, *slot; /* slot: for an enable */
	const json_t *points, *attached;
	struct rules rules;              /* of all sessions that matter, ours first */
	struct lttng_handle *handles[2]; /* by domain */
	struct lttng_handle *agents[LOGGER_AGENTS];
	struct lttng_event_field *fields;
	int n_fields;  /* -1: not asked so far */
	uint64_t n_on; /* of our rules */
	bool dry;      /* nothing is changed, only told */
	bool probed;   /* something of the probe's was */
};

static void send_change(struct change *change, size_t index, const struct point *point,
		const char *done, const char *channel, const char *session, const char *error,
		const char *help)
{
	answer_row(change->answer, "change",
			json_pack("{sI so ss ss so so so}", "index", (json_int_t)index, "name",
					answer_text(point->name), "done", done, "channel", channel,
					"session", answer_text(session), "error",
					answer_text(error), "help", answer_text(help)));
}

static void refuse(struct change *change, size_t index, const struct point *point,
		const char *error, const char *help)
{
	send_change(change, index, point, "refused", "", "", error, help);
}

/* --- what was asked --- */

/* NULL, or what is wrong with the point as such. */
static const char *read_point(const json_t *json, struct point *point)
{
	const char *domain = json_string_value(json_object_get(json, "domain"));
	const char *type = json_string_value(json_object_get(json, "type"));
	const json_t *filter = json_object_get(json, "filter");

	*point = (struct point){.name = json_string_value(json_object_get(json, "name")),
			.filter = json_string_value(filter)};
	if (!point->name) {
		point->name = "";
		return "has no name";
	}
	if (!domain || (strcmp(domain, "ust") != 0 && strcmp(domain, "kernel") != 0)) {
		return "is neither of ust nor of kernel";
	}
	point->domain = domain[0] == 'k' ? RULE_KERNEL : RULE_UST;
	if (type && strcmp(type, "tracepoint") != 0 && strcmp(type, "syscall") != 0) {
		return "is neither a tracepoint nor a syscall";
	}
	point->syscall = type && type[0] == 's';
	if (point->syscall && point->domain != RULE_KERNEL) {
		return "is a syscall, but not of kernel";
	}
	if (filter && !point->filter) {
		return "has a filter that is not a text";
	}
	point->agent = point->domain == RULE_UST ? loggers_of(point->name) : NULL;
	return check_point(point->name);
}

static bool all_texts(const json_t *array)
{
	const json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	{
		if (!json_is_string(item)) {
			return false;
		}
	}
	return json_array_size(array) <= MAX_ATTACHED;
}

/* What was asked as a whole; false: it was answered. */
static bool read_request(struct change *change, const json_t *request, bool enable)
{
	const char *kind = json_string_value(json_object_get(request, "kind"));

	change->points = json_object_get(request, "points");
	change->attached = json_object_get(request, "attached");
	change->slot = json_string_value(json_object_get(request, "slot"));
	if (kind && strcmp(kind, "live") != 0 && strcmp(kind, "flight") != 0) {
		answer_error(change->answer, "the kind of session is neither live nor flight", "");
	} else if (!json_is_array(change->points) || json_array_size(change->points) == 0 ||
			json_array_size(change->points) > MAX_POINTS) {
		answer_error(change->answer, "\"points\" is no list of 1 to 1,000 points", "");
	} else if (change->attached &&
			(!json_is_array(change->attached) || !all_texts(change->attached))) {
		answer_error(change->answer, "\"attached\" is no list of at most 256 sessions", "");
	} else if (enable && change->slot && strcmp(change->slot, "skeleton") != 0 &&
			strcmp(change->slot, "explore") != 0) {
		answer_error(change->answer, "\"slot\" is neither skeleton nor explore", "");
	} else {
		change->slot = change->slot ? change->slot : "explore";
		change->session = kind && kind[0] == 'f' ? change->helper->owner.flight
							 : change->helper->owner.session;
		return true;
	}
	return false;
}

static bool is_attached(const struct change *change, const char *session)
{
	const json_t *item;
	size_t i;

	json_array_foreach(change->attached, i, item)
	{
		if (strcmp(json_string_value(item), session) == 0) {
			return true;
		}
	}
	return false;
}

/* The rules of our session; for an enable, also of those that may record a point already. */
static int read_rules(struct change *change, bool enable)
{
	struct lttng_session *sessions = NULL;
	char scratch[PATH_MAX];
	int code, n, i;
	uint32_t j;

	if (!helper_scratch(change->helper, scratch, sizeof(scratch))) {
		return -LTTNG_ERR_SAVE_IO_FAIL;
	}
	code = change->helper->rights.only_functions ? 0
						     : rules_read(&change->rules, change->answer,
								       change->session, scratch);
	if (change->dry && code == -LTTNG_ERR_SESS_NOT_FOUND) {
		code = 0; /* it would be made first */
	}
	if (code == -LTTNG_ERR_NO_SESSIOND && probed_alone(change->helper)) {
		code = 0;
	}
	if (change->session != change->helper->owner.flight) {
		probed_rules(change->helper, &change->rules);
	}
	for (j = 0; j < change->rules.n; j++) {
		change->n_on += change->rules.items[j].enabled;
	}
	/* A flight recorder is for later: what a live session shows now does not serve it. */
	if (code < 0 || !enable || change->session == change->helper->owner.flight) {
		return code;
	}
	n = change->helper->rights.only_functions ? 0 : lttng_list_sessions(&sessions);
	for (i = 0; i < n; i++) {
		const char *owner = session_owner(change->helper, sessions[i].name);

		if (sessions[i].enabled && owner[0] != 'u' &&
				(owner[0] == 'p' || is_attached(change, sessions[i].name))) {
			/* One that has just gone, or is not ours to read, records nothing for us.
			 */
			rules_read(&change->rules, change->answer, sessions[i].name, scratch);
		}
	}
	free(sessions);
	return n < 0 && !(n == -LTTNG_ERR_NO_SESSIOND && probed_alone(change->helper)) ? n : 0;
}

static struct lttng_handle *handle_of(struct change *change, const struct point *point)
{
	enum rule_domain domain = point->domain;
	struct lttng_handle **handle = point->agent ? &change->agents[point->agent - logger_domains]
						    : &change->handles[domain];
	struct lttng_domain lttng_domain = {
			.type = point->agent            ? point->agent->type
				: domain == RULE_KERNEL ? LTTNG_DOMAIN_KERNEL
							: LTTNG_DOMAIN_UST,
			.buf_type = domain == RULE_KERNEL ? LTTNG_BUFFER_GLOBAL
							  : LTTNG_BUFFER_PER_UID,
	};

	if (!*handle) {
		*handle = lttng_create_handle(change->session, &lttng_domain);
	}
	return *handle;
}

/* --- filters --- */

struct seek {
	const struct change *change;
	const struct point *point;
};

static bool has_field(void *context, const char *field)
{
	const struct seek *seek = context;
	int i;

	if (seek->point->domain == RULE_KERNEL) {
		return check_kernel_field(seek->point->name, field);
	}
	if (seek->point->agent) {
		return loggers_have_field(seek->point->agent, field);
	}
	for (i = 0; i < seek->change->n_fields; i++) {
		const struct lttng_event_field *row = &seek->change->fields[i];

		if (strcmp(row->field_name, field) == 0 &&
				strcmp(row->event.name, seek->point->name) == 0) {
			return true;
		}
	}
	return false;
}

static int read_fields(struct change *change)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST};
	struct lttng_handle *handle;

	if (change->n_fields >= 0) {
		return 0;
	}
	handle = lttng_create_handle(NULL, &domain);
	change->n_fields = handle ? lttng_list_tracepoint_fields(handle, &change->fields)
				  : -LTTNG_ERR_NOMEM;
	lttng_destroy_handle(handle);
	return change->n_fields < 0 ? change->n_fields : 0;
}

/* False: the filter was refused. */
static bool filter_holds(struct change *change, size_t index, const struct point *point)
{
	struct seek seek = {.change = change, .point = point};
	char name[CHECK_NAME_BYTES], said[2 * CHECK_NAME_BYTES];
	const char *wrong;
	/* LTTng lists no fields of the kernel's points: those of threads are known. */
	int code = point->domain == RULE_UST && !point->agent ? read_fields(change) : 0;

	if (code < 0) {
		refuse(change, index, point, lttng_strerror(code), answer_help(code));
		return false;
	}
	wrong = check_filter(point->filter, has_field, &seek, name, sizeof(name));
	if (wrong) {
		snprintf(said, sizeof(said), "its filter %s%s%s", wrong, name[0] ? ": " : "", name);
		refuse(change, index, point, said,
				point->domain == RULE_KERNEL
						? "in the kernel, filters may speak of $ctx, and "
						  "of "
						  "threads that sched and block points name"
						: "the list of points has their fields");
		return false;
	}
	return true;
}

/* --- enabling --- */

/* A session that records the point for us already; NULL: none. */
static const char *used_in(const struct change *change, const struct point *point)
{
	uint32_t i;

	for (i = 0; i < change->rules.n; i++) {
		const struct rule *rule = &change->rules.items[i];

		if (!rule->on || strcmp(rule->session, change->session) == 0 ||
				!rule_covers(rule, point->domain, point->syscall, point->name)) {
			continue;
		}
		/* Of an attached one, a part is not enough; another console's is left alone. */
		if (!rule->partial || strncmp(rule->session, "pythiatop-", 10) == 0) {
			return rule->session;
		}
	}
	return NULL;
}

static bool is_ours(const struct change *change, const struct rule *rule, const struct point *point)
{
	return rule->enabled && strcmp(rule->session, change->session) == 0 &&
	       rule->domain == point->domain &&
	       (point->syscall ? rule->syscalls : rule->tracepoints) &&
	       strcmp(rule->name, point->name) == 0;
}

static bool same_filter(const struct rule *rule, const struct point *point)
{
	return rule->filter && point->filter ? strcmp(rule->filter, point->filter) == 0
					     : !rule->filter && !point->filter;
}

/* The channel for it, in `name`. False: answered, as done or refused. */
static bool choose_channel(
		struct change *change, size_t index, const struct point *point, char name[32])
{
	uint64_t slots = change->helper->rights.filter_slots, slot;
	uint64_t taken = 0; /* a bit for each filter slot */
	char said[160];
	uint32_t i;

	for (i = 0; i < change->rules.n; i++) {
		const struct rule *rule = &change->rules.items[i];
		unsigned number;

		if (!is_ours(change, rule, point)) {
			continue;
		}
		if (same_filter(rule, point)) {
			send_change(change, index, point, "was_so", rule->channel, "", "", "");
			return false;
		}
		if (!rule->filter || !point->filter) {
			refuse(change, index, point,
					rule->filter ? "it is on with a filter"
						     : "it is on without a filter",
					"disable it first: both together would record it twice");
			return false;
		}
		if (sscanf(rule->channel, "filter-%u", &number) == 1 && number >= 1 &&
				number <= 64) {
			taken |= 1ull << (number - 1);
		} else if (rule->loggers || strcmp(rule->channel, PROBED_CHANNEL) == 0) {
			taken |= 1;
		}
	}
	if (point->probed || point->agent) {
		if (taken) {
			refuse(change, index, point, "it is on with another filter",
					point->agent ? "disable it first: a logger takes one"
						     : "disable it first: pythiatop-probe "
						       "takes one");
			return false;
		}
		snprintf(name, 32, "%s", point->agent ? point->agent->channel : PROBED_CHANNEL);
		return true;
	}
	if (!point->filter) {
		snprintf(name, 32, "%s", change->slot);
		return true;
	}
	for (slot = 0; slot < slots && (taken & (1ull << slot)); slot++) {
	}
	if (slot == slots) {
		snprintf(said, sizeof(said),
				"it is on with %llu other filters, and there are %llu "
				"channels for that",
				(unsigned long long)slots, (unsigned long long)slots);
		refuse(change, index, point, said, "see control.filter_slots");
		return false;
	}
	snprintf(name, 32, "filter-%u", (unsigned)slot + 1);
	return true;
}

/* As LTTng calls it. */
static void name_event(struct lttng_event *event, const struct point *point)
{
	snprintf(event->name, sizeof(event->name), "%s",
			point->agent ? loggers_name(point->agent, point->name) : point->name);
}

static int enable(struct change *change, const struct point *point, const char *channel)
{
	struct lttng_handle *handle = handle_of(change, point);
	struct lttng_event *event = lttng_event_create();
	int code = point->domain == RULE_KERNEL ? kernel_lack() : 0;

	if (code == 0 && !(event && handle)) {
		code = -LTTNG_ERR_NOMEM;
	}
	if (code == 0) {
		event->type = point->syscall ? LTTNG_EVENT_SYSCALL : LTTNG_EVENT_TRACEPOINT;
		name_event(event, point);
		event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
		event->loglevel = -1;
		answer_calling(change->answer);
		code = lttng_enable_event_with_filter(handle, event, channel, point->filter);
	}
	lttng_event_destroy(event);
	return code;
}

/* For the rest of the request: it may name the point again. */
static void note_enabled(struct change *change, const struct point *point, char *channel)
{
	struct rule rule = {
			.session = (char *)(uintptr_t)change->session,
			.channel = channel,
			.name = (char *)(uintptr_t)point->name,
			.filter = (char *)(uintptr_t)point->filter,
			.domain = point->domain,
			.tracepoints = !point->syscall,
			.syscalls = point->syscall,
			.on = true,
			.enabled = true,
			.partial = point->filter,
			.loggers = point->agent,
	};

	change->n_on++;
	rules_add(&change->rules, &rule); /* without it, LTTng itself says "already" */
}

/* What the probe refuses it says itself. */
static void enable_probed(
		struct change *change, size_t index, const struct point *point, char *channel)
{
	char error[1024];

	if (!probed_change(change->helper, change->dry ? "try" : "enable",
			    point->domain == RULE_KERNEL, point->syscall, point->name,
			    point->filter, error, sizeof(error))) {
		refuse(change, index, point, error, "");
		return;
	}
	change->probed = change->probed || !change->dry;
	note_enabled(change, point, channel);
	send_change(change, index, point, change->dry ? "would" : "done", channel, "", "", "");
}

static void enable_point(struct change *change, size_t index, const struct point *point)
{
	const struct rights *rights = &change->helper->rights;
	const char *session;
	char channel[32];
	int code;

	if (!rights_point(rights, point->name)) {
		refuse(change, index, point, "this host does not allow it",
				"control.allow and control.deny in its control.conf say what it "
				"does");
		return;
	}
	session = used_in(change, point);
	if (session) {
		send_change(change, index, point, "used_there", "", session, "", "");
		return;
	}
	if ((point->filter && !point->probed && !filter_holds(change, index, point)) ||
			!choose_channel(change, index, point, channel)) {
		return;
	}
	if (change->n_on >= rights->max_points) {
		refuse(change, index, point, "as many points are on as this host allows",
				"disable some, or see control.max_points in its control.conf");
		return;
	}
	if (point->probed) {
		enable_probed(change, index, point, channel);
		return;
	}
	if (change->dry) {
		note_enabled(change, point, channel);
		send_change(change, index, point, "would", channel, "", "", "");
		return;
	}
	code = enable(change, point, channel);
	if (code == -LTTNG_ERR_UST_EVENT_ENABLED || code == -LTTNG_ERR_KERN_EVENT_EXIST) {
		send_change(change, index, point, "was_so", channel, "", "", "");
	} else if (code < 0) {
		refuse(change, index, point, lttng_strerror(code), answer_help(code));
	} else {
		note_enabled(change, point, channel);
		send_change(change, index, point, "done", channel, "", "", "");
	}
}

/* --- disabling --- */

static int disable(struct change *change, const struct point *point, const char *channel)
{
	struct lttng_handle *handle = handle_of(change, point);
	struct lttng_event *event = lttng_event_create();
	int code = -LTTNG_ERR_NOMEM;

	if (event && handle) {
		/* User space wants just this; the kernel the type that was enabled. */
		event->type = point->domain == RULE_UST ? LTTNG_EVENT_ALL
			      : point->syscall          ? LTTNG_EVENT_SYSCALL
							: LTTNG_EVENT_TRACEPOINT;
		name_event(event, point);
		event->loglevel = -1;
		answer_calling(change->answer);
		code = lttng_disable_event_ext(handle, event, channel, NULL);
	}
	lttng_event_destroy(event);
	return code;
}

static void disable_probed(struct change *change, size_t index, const struct point *point)
{
	char error[1024];
	bool was_on = false;

	for (uint32_t i = 0; i < change->rules.n; i++) {
		was_on = was_on || is_ours(change, &change->rules.items[i], point);
	}
	if (was_on && !probed_change(change->helper, "disable", point->domain == RULE_KERNEL,
				      point->syscall, point->name, NULL, error, sizeof(error))) {
		refuse(change, index, point, error, "");
		return;
	}
	change->probed = change->probed || was_on;
	send_change(change, index, point, was_on ? "done" : "was_so", was_on ? PROBED_CHANNEL : "",
			"", "", "");
}

static void disable_point(struct change *change, size_t index, const struct point *point)
{
	const char *channel = "";
	uint32_t i;

	if (point->probed) {
		disable_probed(change, index, point);
		return;
	}

	for (i = 0; i < change->rules.n; i++) {
		const struct rule *rule = &change->rules.items[i];
		int code;

		if (!is_ours(change, rule, point) || strcmp(channel, rule->channel) == 0) {
			continue;
		}
		code = disable(change, point, rule->channel);
		if (code < 0) {
			refuse(change, index, point, lttng_strerror(code), answer_help(code));
			return;
		}
		channel = rule->channel;
	}
	send_change(change, index, point, channel[0] ? "done" : "was_so", channel, "", "", "");
}

/* --- both --- */

static void change_points(struct change *change, bool on)
{
	const json_t *json;
	size_t i;

	json_array_foreach(change->points, i, json)
	{
		struct point point;
		const char *wrong = read_point(json, &point);
		char said[128];

		point.probed = !wrong && change->session != change->helper->owner.flight &&
			       (point.domain == RULE_KERNEL ? probed_kernel(change->helper)
							    : probed_function(change->helper,
									      point.name));
		if (wrong) {
			snprintf(said, sizeof(said), "the point %s", wrong);
			refuse(change, i, &point, said, "");
		} else if (on) {
			enable_point(change, i, &point);
		} else {
			disable_point(change, i, &point);
		}
	}
}

static void run(const struct helper *helper, struct answer *answer, const json_t *request, bool on,
		bool dry)
{
	struct change change = {.helper = helper, .answer = answer, .n_fields = -1, .dry = dry};
	char error[1024];
	int code;

	if (!read_request(&change, request, on)) {
		return;
	}
	code = read_rules(&change, on);
	if (code < 0) {
		answer_lttng(answer, code);
	} else {
		change_points(&change, on);
		if (change.probed && !probed_apply(helper, error, sizeof(error))) {
			answer_error(answer, error, "");
		} else {
			answer_ok(answer, NULL);
		}
	}
	free(change.fields);
	lttng_destroy_handle(change.handles[RULE_UST]);
	lttng_destroy_handle(change.handles[RULE_KERNEL]);
	for (size_t i = 0; i < LOGGER_AGENTS; i++) {
		lttng_destroy_handle(change.agents[i]);
	}
	rules_release(&change.rules);
}

void change_enable(const struct helper *helper, struct answer *answer, const json_t *request)
{
	run(helper, answer, request, true, false);
}

void change_check(const struct helper *helper, struct answer *answer, const json_t *request)
{
	run(helper, answer, request, true, true);
}

void change_disable(const struct helper *helper, struct answer *answer, const json_t *request)
{
	run(helper, answer, request, false, false);
}
