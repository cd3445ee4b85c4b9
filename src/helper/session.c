/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our sessions: made with all their slots, as LTTng takes no channel or context once one has
 * started. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>
#include <lttng/clear-handle.h>
#include <lttng/clear.h>
#include <lttng/lttng.h>

#include "helper/check.h"
#include "helper/kernel.h"
#include "helper/loggers.h"
#include "helper/probed.h"
#include "helper/worker.h"

#define USUAL_TIMER_US 200000u
#define LEAST_TIMER_US 10000u
#define MOST_TIMER_US  10000000u
#define DESTROY_MS     5000 /* for what is on its way to the relay daemon */
#define CHUNKS_AHEAD   4    /* of sessions that were never cleared */
#define CLEAR_MS       3000

struct wish {
	const char *name;
	bool flight, kernel;
	const char *relay;
	uint64_t timer_us;
};

/* What was asked, checked; false: it was answered. */
static bool read_wish(const struct helper *helper, struct answer *answer, const json_t *request,
		struct wish *wish)
{
	const char *kind = json_string_value(json_object_get(request, "kind"));
	const json_t *timer = json_object_get(request, "live_timer_us");
	const char *wrong;
	char said[CHECK_URL_BYTES + 128];

	*wish = (struct wish){
			.relay = json_string_value(json_object_get(request, "relay")),
			.kernel = json_is_true(json_object_get(request, "kernel")),
			.timer_us = USUAL_TIMER_US,
	};
	if (!kind || (strcmp(kind, "live") != 0 && strcmp(kind, "flight") != 0)) {
		answer_error(answer, "the kind of session is neither live nor flight", "");
		return false;
	}
	wish->flight = kind[0] == 'f';
	wish->name = wish->flight ? helper->owner.flight : helper->owner.session;
	if (timer) {
		json_int_t us = json_integer_value(timer);

		if (us < LEAST_TIMER_US || us > MOST_TIMER_US) {
			answer_error(answer, "a live timer has 10 ms to 10 s", "");
			return false;
		}
		wish->timer_us = (uint64_t)us;
	}
	wrong = wish->relay ? check_relay(wish->relay) : "is missing";
	if (wrong) {
		snprintf(said, sizeof(said), "the relay daemon's URL %s", wrong);
		answer_error(answer, said, "see control.relay_url");
		return false;
	}
	if (!rights_relay(&helper->rights, wish->relay)) {
		snprintf(said, sizeof(said), "this host may not send to %s", wish->relay);
		answer_error(answer, said, "control.relay in its control.conf says where it may");
		return false;
	}
	return true;
}

static int create_empty(const struct wish *wish)
{
	struct lttng_session_descriptor *descriptor =
			wish->flight ? lttng_session_descriptor_snapshot_network_create(
						       wish->name, wish->relay, NULL)
				     : lttng_session_descriptor_live_network_create(wish->name,
						       wish->relay, NULL, wish->timer_us);
	int code = descriptor ? (int)lttng_create_session_ext(descriptor) : LTTNG_ERR_INVALID;

	lttng_session_descriptor_destroy(descriptor);
	return code == LTTNG_OK ? 0 : -code;
}

/* --- contexts --- */

static const struct perf {
	const char *name;
	uint32_t type;
	uint64_t config;
} perfs[] = {
		{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
		{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
		{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
		{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
		{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
		{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
		{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
		{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

static int add_perf(struct lttng_handle *handle, const char *channel, const char *name, bool kernel)
{
	size_t i;

	for (i = 0; i < sizeof(perfs) / sizeof(perfs[0]); i++) {
		struct lttng_event_context context = {
				.ctx = kernel ? LTTNG_EVENT_CONTEXT_PERF_CPU_COUNTER
					      : LTTNG_EVENT_CONTEXT_PERF_THREAD_COUNTER,
				.u.perf_counter = {.type = perfs[i].type,
						.config = perfs[i].config},
		};
		char *at;

		if (strcmp(perfs[i].name, name) != 0) {
			continue;
		}
		snprintf(context.u.perf_counter.name, sizeof(context.u.perf_counter.name),
				"perf_%s_%s", kernel ? "cpu" : "thread", name);
		for (at = context.u.perf_counter.name; *at; at++) {
			*at = *at == '-' ? '_' : *at;
		}
		return lttng_add_context(handle, &context, NULL, channel);
	}
	return -LTTNG_ERR_INVALID;
}

/* `$app.PROVIDER:NAME`, user space only. */
static int add_app(struct lttng_handle *handle, const char *channel, const char *name)
{
	char provider[CHECK_NAME_BYTES];
	struct lttng_event_context context = {.ctx = LTTNG_EVENT_CONTEXT_APP_CONTEXT};
	char *colon;

	snprintf(provider, sizeof(provider), "%s", name);
	colon = strchr(provider, ':');
	if (!colon) {
		return -LTTNG_ERR_INVALID;
	}
	*colon = '\0';
	context.u.app_ctx.provider_name = provider;
	context.u.app_ctx.ctx_name = colon + 1;
	return lttng_add_context(handle, &context, NULL, channel);
}

/* The three that joins need must be there; what the configuration adds may lack, and is told. */
static int add_contexts(const struct helper *helper, struct answer *answer,
		struct lttng_handle *handle, const char *channel, bool kernel, bool tell)
{
	static const enum lttng_event_context_type ours[] = {LTTNG_EVENT_CONTEXT_VPID,
			LTTNG_EVENT_CONTEXT_VTID, LTTNG_EVENT_CONTEXT_PID_NS};
	const struct rights_list *more = &helper->rights.contexts;
	int code = 0;
	uint32_t i;

	for (i = 0; i < sizeof(ours) / sizeof(ours[0]) && code == 0; i++) {
		struct lttng_event_context context = {.ctx = ours[i]};

		code = lttng_add_context(handle, &context, NULL, channel);
	}
	for (i = 0; i < more->n && code == 0; i++) {
		const char *word = more->words[i];
		int lacks = strncmp(word, "perf:", 5) == 0
					    ? add_perf(handle, channel, word + 5, kernel)
			    : strncmp(word, "$app.", 5) != 0 ? -LTTNG_ERR_INVALID
			    : kernel                         ? 0
							     : add_app(handle, channel, word + 5);

		if (lacks < 0 && tell) {
			answer_lack(answer, word, lacks);
		}
	}
	return code;
}

/* --- channels --- */

/* Tracefiles are bounded, so that the relay daemon's disk stays flat. */
static int add_channel(const struct rights *rights, struct lttng_handle *handle, const char *name,
		const struct wish *wish, bool filtered)
{
	bool kernel = handle->domain.type == LTTNG_DOMAIN_KERNEL;
	/* Of the domains of loggers it knows nothing, and channels there are user space's. */
	struct lttng_domain like = {.type = kernel ? LTTNG_DOMAIN_KERNEL : LTTNG_DOMAIN_UST,
			.buf_type = handle->domain.buf_type};
	struct lttng_channel *channel = lttng_channel_create(&like);
	uint64_t subbuf = rights->subbuf_kb << 10;
	int code;

	if (!channel) {
		return -LTTNG_ERR_NOMEM;
	}
	snprintf(channel->name, sizeof(channel->name), "%s", name);
	channel->attr.overwrite = wish->flight;
	channel->attr.subbuf_size = filtered && subbuf > 65536 ? 65536 : subbuf;
	channel->attr.num_subbuf = rights->subbufs;
	channel->attr.switch_timer_interval = 0;
	channel->attr.read_timer_interval = 0;
	channel->attr.output = kernel ? LTTNG_EVENT_SPLICE : LTTNG_EVENT_MMAP;
	if (wish->flight) {
		channel->attr.output = LTTNG_EVENT_MMAP; /* what snapshots want */
	} else {
		channel->attr.tracefile_size = rights->tracefile_mb << 20;
		channel->attr.tracefile_count = rights->tracefiles;
	}
	code = lttng_enable_channel(handle, channel);
	lttng_channel_destroy(channel);
	return code;
}

int session_enable_channel(struct lttng_handle *handle, const char *name)
{
	struct lttng_channel *channel = lttng_channel_create(&handle->domain);
	int code;

	if (!channel) {
		return -LTTNG_ERR_NOMEM;
	}
	snprintf(channel->name, sizeof(channel->name), "%s", name);
	code = lttng_enable_channel(handle, channel);
	lttng_channel_destroy(channel);
	return code == -LTTNG_ERR_UST_CHAN_EXIST ? 0 : code;
}

static int add_slots(const struct helper *helper, struct answer *answer, const struct wish *wish,
		bool kernel)
{
	struct lttng_domain domain = {
			.type = kernel ? LTTNG_DOMAIN_KERNEL : LTTNG_DOMAIN_UST,
			.buf_type = kernel ? LTTNG_BUFFER_GLOBAL : LTTNG_BUFFER_PER_UID,
	};
	struct lttng_handle *handle = lttng_create_handle(wish->name, &domain);
	bool learns = !kernel && !wish->flight;
	uint64_t first = learns ? 3 : 2, slots = first + helper->rights.filter_slots, i;
	int code = handle ? 0 : -LTTNG_ERR_NOMEM;

	for (i = 0; i < slots && code == 0; i++) {
		char name[32];

		if (i < 2) {
			snprintf(name, sizeof(name), "%s", i == 0 ? "skeleton" : "explore");
		} else if (i < first) {
			snprintf(name, sizeof(name), "%s", LEARN_CHANNEL);
		} else {
			snprintf(name, sizeof(name), "filter-%u", (unsigned)(i - first + 1));
		}
		code = add_channel(&helper->rights, handle, name, wish, i >= first);
		if (code == 0) {
			code = add_contexts(helper, answer, handle, name, kernel, i == 0);
		}
	}
	lttng_destroy_handle(handle);
	return code;
}

/*
 * The channel of an agent, even where no program has it so far: once the session has started there is
 * none to be had. Contexts are added as for user space: LTTng takes none in Python's domain.
 */
static int add_agent(const struct helper *helper, struct answer *answer, const struct wish *wish,
		const struct logger_domain *agent)
{
	struct lttng_domain domain = {.type = agent->type, .buf_type = LTTNG_BUFFER_PER_UID};
	struct lttng_domain ust = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	struct lttng_handle *handle = lttng_create_handle(wish->name, &domain);
	struct lttng_handle *contexts = lttng_create_handle(wish->name, &ust);
	int code;

	code = handle && contexts ? add_channel(&helper->rights, handle, agent->channel, wish, true)
				  : -LTTNG_ERR_NOMEM;
	if (code == 0) {
		code = add_contexts(helper, answer, contexts, agent->channel, false, false);
	}
	lttng_destroy_handle(handle);
	lttng_destroy_handle(contexts);
	return code;
}

/* A relay daemon that nobody can reach is told in several ways, one of them "fatal error". */
static void answer_refusal(struct answer *answer, int code)
{
	if (code == -LTTNG_ERR_FATAL) {
		answer_error(answer, lttng_strerror(code),
				answer_help(-LTTNG_ERR_RELAYD_CONNECT_FAIL));
	} else {
		answer_lttng(answer, code);
	}
}

/*
 * `lttng clear` and `lttng destroy` wait until the relay daemon no longer has the part of the trace
 * that was archived. LTTng 2.13 asks by that part's number alone, so they wait for ever where any
 * other session of the session daemon is at the same one: a person's first clear, or the end of a
 * session that was never cleared, would wait for ours. Each clear of ours, which is empty so far,
 * moves it on by one, so only a person's fifth clear can meet it.
 */
static void move_ahead(struct answer *answer, const char *name)
{
	for (uint32_t i = 0; i < CHUNKS_AHEAD && !answer->unread; i++) {
		struct lttng_clear_handle *handle = NULL;
		bool cleared = lttng_clear_session(name, &handle) == LTTNG_OK &&
			       lttng_clear_handle_wait_for_completion(handle, CLEAR_MS) ==
					       LTTNG_CLEAR_HANDLE_STATUS_COMPLETED;

		lttng_clear_handle_destroy(handle);
		if (!cleared) {
			return;
		}
	}
}

/*
 * The probe's session beside it. What it would have been for is said to be lacking where there is
 * none. NULL: out of memory, or none is wanted.
 */
static json_t *open_probe(
		const struct helper *helper, struct answer *answer, const struct wish *wish)
{
	bool wanted = !wish->flight && probed_any(helper) &&
		      ((wish->kernel && kernel_lack() < 0) || helper->rights.functions.n > 0);
	char error[1024];

	if (!wanted) {
		if (wish->kernel && kernel_lack() < 0) {
			answer_lack(answer, "kernel", kernel_lack());
		}
		return NULL;
	}
	if (probed_open(helper, wish->relay, wish->timer_us, error, sizeof(error))) {
		return json_string(helper->owner.probe);
	}
	answer_row(answer, "lack",
			json_pack("{ss so ss}", "what", "pythiatop-probe", "error",
					answer_text(error), "help", ""));
	return NULL;
}

/* Where there is no LTTng the probe does alone. False: nothing was answered. */
static bool create_probe_alone(
		const struct helper *helper, struct answer *answer, const struct wish *wish)
{
	json_t *probe = probed_alone(helper) ? open_probe(helper, answer, wish) : NULL;

	if (!probe) {
		return false;
	}
	if (!helper->rights.only_functions) {
		answer_lack(answer, "tracepoints of programs", -LTTNG_ERR_NO_SESSIOND);
	}
	answer_ok(answer, json_pack("{so}", "session", probe));
	return true;
}

void session_create(const struct helper *helper, struct answer *answer, const json_t *request)
{
	struct wish wish;
	json_t *said, *probe;
	int code;

	if (!read_wish(helper, answer, request, &wish)) {
		return;
	}
	answer_calling(answer);
	code = helper->rights.only_functions ? -LTTNG_ERR_NO_SESSIOND : create_empty(&wish);
	if (code == -LTTNG_ERR_NO_SESSIOND && create_probe_alone(helper, answer, &wish)) {
		return;
	}
	if (code == -LTTNG_ERR_EXIST_SESS) {
		answer_error(answer, "our session is there already", "destroy it first");
		return;
	}
	if (code < 0) {
		answer_refusal(answer, code);
		return;
	}
	code = add_slots(helper, answer, &wish, false);
	for (size_t i = 0; code == 0 && i < LOGGER_AGENTS; i++) {
		int lacks = add_agent(helper, answer, &wish, &logger_domains[i]);

		if (lacks < 0) {
			answer_lack(answer, logger_domains[i].provider, lacks);
		}
	}
	if (code == 0 && wish.kernel) {
		/* Where it lacks, a channel would only say "fatal error". */
		int lacks = kernel_lack() == 0 ? add_slots(helper, answer, &wish, true) : 0;

		if (lacks < 0) {
			answer_lack(answer, "kernel", lacks);
		}
	}
	if (code == 0) {
		code = lttng_start_tracing(wish.name);
	}
	if (code < 0) {
		session_end(answer, wish.name);
		answer_refusal(answer, code);
		return;
	}
	if (!wish.flight) {
		move_ahead(answer, wish.name);
	}
	said = json_pack("{ss}", "session", wish.name);
	probe = open_probe(helper, answer, &wish);
	if (probe) {
		json_object_set_new(said, "probe", probe);
	}
	answer_ok(answer, said);
}

/* --- the end --- */

int session_end(struct answer *answer, const char *name)
{
	struct lttng_destruction_handle *handle = NULL;
	int code;

	answer_calling(answer);
	/* First no more events; waiting for data would hold the undo up. */
	lttng_stop_tracing_no_wait(name);
	code = (int)lttng_destroy_session_ext(name, &handle);
	if (code == LTTNG_OK) {
		lttng_destruction_handle_wait_for_completion(handle, DESTROY_MS);
	}
	lttng_destruction_handle_destroy(handle);
	/* Sessions live in their daemon: where there is none, there are none. */
	return code == LTTNG_OK || code == LTTNG_ERR_SESS_NOT_FOUND ||
					       code == LTTNG_ERR_NO_SESSION ||
					       code == LTTNG_ERR_NO_SESSIOND
			       ? 0
			       : -code;
}

void session_destroy(const struct helper *helper, struct answer *answer, const json_t *request)
{
	int live = session_end(answer, helper->owner.session);
	int flight = session_end(answer, helper->owner.flight);
	char error[1024];

	(void)request;
	if (live < 0 || flight < 0) {
		answer_lttng(answer, live < 0 ? live : flight);
	} else if (!probed_close(helper, error, sizeof(error))) {
		answer_error(answer, error, "");
	} else {
		answer_ok(answer, NULL);
	}
}

void session_snapshot(const struct helper *helper, struct answer *answer, const json_t *request)
{
	int code;

	(void)request;
	answer_calling(answer);
	code = lttng_snapshot_record(helper->owner.flight, NULL, 0);
	if (code < 0) {
		answer_lttng(answer, code);
	} else {
		answer_ok(answer, NULL);
	}
}

/* --- what others left --- */

struct sweep {
	struct answer *answer;
	bool failed;
};

static bool sweep_one(void *context, const struct owner_record *record)
{
	struct sweep *sweep = context;
	const char *ours = getenv("LTTNG_HOME");
	char *before = ours ? strdup(ours) : NULL;
	bool there = false;
	int live, flight;

	/* lttng-ctl looks for the daemon of a person where this says. */
	if (record->lttng_home[0]) {
		setenv("LTTNG_HOME", record->lttng_home, 1);
	} else {
		unsetenv("LTTNG_HOME");
	}
	answer_calling(sweep->answer);
	there = lttng_session_daemon_alive() == 1;
	live = session_end(sweep->answer, record->session);
	flight = session_end(sweep->answer, record->flight);
	if (before) {
		setenv("LTTNG_HOME", before, 1);
	} else {
		unsetenv("LTTNG_HOME");
	}
	free(before);
	if (live < 0 || flight < 0) {
		int code = live < 0 ? live : flight;

		sweep->failed = true;
		answer_row(sweep->answer, "left",
				json_pack("{ss ss ss}", "session", record->session, "error",
						lttng_strerror(code), "help", answer_help(code)));
	} else if (there || !record->elsewhere) {
		unlink(record->path);
		answer_row(sweep->answer, "undone", json_string(record->session));
	}
	return !sweep->answer->unread;
}

void session_sweep(const struct helper *helper, struct answer *answer, const json_t *request)
{
	struct sweep sweep = {.answer = answer};

	(void)request;
	owner_each_gone(&helper->owner, sweep_one, &sweep);
	helper_scratch_sweep(helper);
	if (sweep.failed) {
		answer_error(answer, "some sessions of dead owners are left",
				"try `pythiatop-control --undo` again later");
	} else {
		answer_ok(answer, NULL);
	}
}
