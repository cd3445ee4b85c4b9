/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ATTACHED  64u
#define MAX_PROVIDERS 64u /* learned from at a time, of each host */

/* Sessions of the host that this console reads, ours apart. */
static uint32_t attached_sessions(const struct part *part, const char **names)
{
	const struct session_desc *session;
	uint32_t n = 0;

	for (uint32_t i = 0; n < MAX_ATTACHED && (session = engine_session(part->engine, i)); i++) {
		if (session->live && !session->ours && strcmp(session->host, part->host) == 0) {
			names[n++] = session->name;
		}
	}
	return n;
}

static uint32_t find_providers(const struct part *part,
		char names[MAX_PROVIDERS][CONTROL_NAME_BYTES], const char **providers)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < part->n && n < MAX_PROVIDERS; i++) {
		const char *colon = strchr(part->events[i].name, ':');
		size_t length = colon ? (size_t)(colon - part->events[i].name) : 0;
		bool known = length == 0 || length >= CONTROL_NAME_BYTES ||
			     strcmp(part->events[i].host, part->host) != 0;

		for (uint32_t k = 0; k < n && !known; k++) {
			known = strlen(providers[k]) == length &&
				memcmp(providers[k], part->events[i].name, length) == 0;
		}
		if (!known) {
			snprintf(names[n], sizeof(names[n]), "%.*s", (int)length,
					part->events[i].name);
			providers[n] = names[n];
			n++;
		}
	}
	return n;
}

static int ask_providers(const struct part *part, bool check)
{
	char names[MAX_PROVIDERS][CONTROL_NAME_BYTES];
	const char *providers[MAX_PROVIDERS];
	uint32_t n = find_providers(part, names, providers);
	uint64_t ask;

	if (n == 0) {
		return 0;
	}
	ask = check ? control_ask_check_learn(part->hosts, part->at, providers, n, 0, part->done,
				      part->context)
		    : control_ask_learn(part->hosts, part->at, providers, n, 0, part->done,
				      part->context);
	return ask ? 1 : -1;
}

static uint64_t ask_rules(const struct part *part, enum part_verb verb,
		const struct control_rule *rules, uint32_t n)
{
	enum control_slot slot = part->kind == STEP_SKELETON ? CONTROL_SKELETON : CONTROL_EXPLORE;
	const char *attached[MAX_ATTACHED];
	uint32_t n_attached = attached_sessions(part, attached);

	switch (verb) {
	case PART_DISABLE:
		return control_ask_disable(part->hosts, part->at, CONTROL_LIVE, rules, n, 0,
				part->done, part->context);
	case PART_CHECK:
		return control_ask_check(part->hosts, part->at, CONTROL_LIVE, slot, rules, n,
				attached, n_attached, 0, part->done, part->context);
	default:
		return control_ask_enable(part->hosts, part->at, CONTROL_LIVE, slot, rules, n,
				attached, n_attached, 0, part->done, part->context);
	}
}

int part_ask(const struct part *part, enum part_verb verb)
{
	struct control_rule *rules;
	uint32_t n = 0;
	int asked = 0;

	if (verb == PART_LEARN || verb == PART_CHECK_LEARN) {
		return ask_providers(part, verb == PART_CHECK_LEARN);
	}
	rules = calloc(part->n + 1, sizeof(*rules));
	for (uint32_t i = 0; rules && i < part->n; i++) {
		const struct step_event *event = &part->events[i];

		if (event->enable == (verb != PART_DISABLE) &&
				strcmp(event->host, part->host) == 0) {
			rules[n++] = (struct control_rule){
					.domain = event->kernel ? CONTROL_KERNEL : CONTROL_UST,
					.name = event->name,
					.filter = event->filter};
		}
	}
	if (n > 0) {
		asked = ask_rules(part, verb, rules, n) ? 1 : -1;
	}
	asked = rules ? asked : -1;
	free(rules);
	return asked;
}
