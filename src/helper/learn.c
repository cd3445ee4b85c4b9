/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All points of some providers at once, for a short while: one rule a provider, in a channel of our
 * session that serves nothing else and is switched off as a whole. To enable hundreds of points
 * one by one takes LTTng minutes, as each rule brings every application up to date with all of
 * them.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <lttng/lttng.h>

#include "helper/check.h"
#include "helper/loggers.h"
#include "helper/probed.h"
#include "helper/worker.h"

#define MAX_PROVIDERS 256u

/* A rule for all is no way around rights to some. */
static bool may_learn(const struct helper *helper, struct answer *answer)
{
	const struct rights *rights = &helper->rights;

	if (rights->deny.n == 0 && rights->allow[0].n == 0 && rights->allow[1].n == 0) {
		return true;
	}
	answer_error(answer, "this host lets single points be enabled only, not all of a provider",
			"control.allow and control.deny in its control.conf say so; bring a "
			"profile "
			"that was learned elsewhere");
	return false;
}

static bool is_provider(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i])) {
			return false;
		}
	}
	return length > 0 && length + 3 < CHECK_NAME_BYTES;
}

static bool check_providers(struct answer *answer, const json_t *providers)
{
	const json_t *provider;
	size_t i;

	if (!json_is_array(providers) || json_array_size(providers) == 0 ||
			json_array_size(providers) > MAX_PROVIDERS) {
		answer_error(answer, "\"providers\" is no array of 1 to 256 names", "");
		return false;
	}
	json_array_foreach(providers, i, provider)
	{
		if (!json_is_string(provider) || !is_provider(json_string_value(provider))) {
			answer_error(answer, "a name that no provider has: letters, digits, _ - .",
					"");
			return false;
		}
	}
	return true;
}

static struct lttng_handle *open_session(const struct helper *helper, struct answer *answer)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	struct lttng_handle *handle = lttng_create_handle(helper->owner.session, &domain);

	answer_calling(answer);
	if (!handle) {
		answer_lttng(answer, -LTTNG_ERR_NOMEM);
	}
	return handle;
}

static bool is_agent(const char *provider)
{
	for (size_t i = 0; i < LOGGER_AGENTS; i++) {
		if (strcmp(logger_domains[i].provider, provider) == 0) {
			return true;
		}
	}
	return false;
}

static int enable_provider(struct lttng_handle *handle, const char *provider)
{
	struct lttng_event *event = lttng_event_create();
	int code;

	if (!event) {
		return -LTTNG_ERR_NOMEM;
	}
	event->type = LTTNG_EVENT_TRACEPOINT;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	event->loglevel = -1;
	snprintf(event->name, sizeof(event->name), "%s:*", provider);
	code = lttng_enable_event(handle, event, LEARN_CHANNEL);
	lttng_event_destroy(event);
	return code == -LTTNG_ERR_UST_EVENT_ENABLED ? 0 : code;
}

void learn_check(const struct helper *helper, struct answer *answer, const json_t *request)
{
	if (may_learn(helper, answer) &&
			check_providers(answer, json_object_get(request, "providers"))) {
		answer_ok(answer, NULL);
	}
}

/* False: it was answered. */
static bool learn_functions(
		const struct helper *helper, struct answer *answer, const json_t *providers)
{
	const json_t *provider;
	char error[1024];
	size_t i;

	if (helper->rights.functions.n == 0 || !probed_is_open(helper)) {
		return true;
	}
	json_array_foreach(providers, i, provider)
	{
		if (!probed_learn(helper, json_string_value(provider), error, sizeof(error))) {
			probed_learned(helper);
			answer_error(answer, error, "");
			return false;
		}
	}
	return true;
}

void learn_begin(const struct helper *helper, struct answer *answer, const json_t *request)
{
	const json_t *providers = json_object_get(request, "providers"), *provider;
	struct lttng_handle *handle;
	size_t i;
	int code;

	if (!may_learn(helper, answer) || !check_providers(answer, providers)) {
		return;
	}
	if (helper->rights.only_functions) {
		if (learn_functions(helper, answer, providers)) {
			answer_ok(answer, NULL);
		}
		return;
	}
	handle = open_session(helper, answer);
	if (!handle) {
		return;
	}
	/* It was switched off after the last time; the first time there is nothing to switch on. */
	code = session_enable_channel(handle, LEARN_CHANNEL);
	json_array_foreach(providers, i, provider)
	{
		/* What a rule for all loggers' events would bring are those that are on anyway. */
		if (code == 0 && !is_agent(json_string_value(provider))) {
			code = enable_provider(handle, json_string_value(provider));
		}
	}
	if (code == -LTTNG_ERR_NO_SESSIOND && probed_alone(helper)) {
		code = 0;
	}
	if (code == 0 && !learn_functions(helper, answer, providers)) {
		lttng_disable_channel(handle, LEARN_CHANNEL);
	} else if (code < 0) {
		lttng_disable_channel(handle, LEARN_CHANNEL);
		answer_lttng(answer, code);
	} else {
		answer_ok(answer, NULL);
	}
	lttng_destroy_handle(handle);
}

void learn_end(const struct helper *helper, struct answer *answer, const json_t *request)
{
	struct lttng_handle *handle;
	int code;

	(void)request;
	probed_learned(helper);
	if (helper->rights.only_functions) {
		answer_ok(answer, NULL);
		return;
	}
	handle = open_session(helper, answer);
	if (!handle) {
		return;
	}
	code = lttng_disable_channel(handle, LEARN_CHANNEL);
	lttng_destroy_handle(handle);
	if (code < 0 && code != -LTTNG_ERR_SESS_NOT_FOUND && code != -LTTNG_ERR_NO_SESSIOND) {
		answer_lttng(answer, code);
	} else {
		answer_ok(answer, NULL);
	}
}
