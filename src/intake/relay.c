/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/source.h"

#include <stdio.h>
#include <string.h>

/* The session's source of a relay by its names, as the relay daemon tells them. */
static struct source *find_session(struct source *relay, const char *host, const char *session)
{
	char text[URL_MAX + 300];

	url_format_session(&relay->url, host, session, text, sizeof(text));
	return intake_find(relay->intake, text);
}

static struct source *add_session(struct source *relay, const char *host, const char *session)
{
	char text[URL_MAX + 300];
	struct source *source;

	if (strlen(host) >= sizeof(relay->url.host) ||
			strlen(session) >= sizeof(relay->url.session)) {
		return NULL;
	}
	url_format_session(&relay->url, host, session, text, sizeof(text));
	source = intake_add(relay->intake, ROLE_SESSION, text);
	if (!source) {
		return NULL;
	}
	source->url = relay->url;
	source->url.kind = URL_SESSION;
	snprintf(source->url.host, sizeof(source->url.host), "%s", host);
	snprintf(source->url.session, sizeof(source->url.session), "%s", session);
	source->relay = relay;
	source->wanted = relay->attach_all;
	source->state = relay->attach_all ? SOURCE_WAITING : SOURCE_OFFERED;
	return source;
}

static uint64_t mix(uint64_t ids, uint64_t id)
{
	/* Order does not matter: a sum of well-mixed values (the finaliser of splitmix64). */
	id += UINT64_C(0x9e3779b97f4a7c15);
	id = (id ^ (id >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	id = (id ^ (id >> 27)) * UINT64_C(0x94d049bb133111eb);
	return ids + (id ^ (id >> 31));
}

void relay_note_listed(struct source *relay, const struct record_listed *listed)
{
	const char *host = record_text(&listed->record, listed->host);
	const char *session = record_text(&listed->record, listed->session);
	struct source *source;
	struct listing *next;

	if (!host || !session || !host[0] || !session[0] || strchr(host, '/') ||
			strchr(session, '/')) {
		return; /* cannot be attached by a URL */
	}
	source = find_session(relay, host, session);
	if (!source) {
		source = add_session(relay, host, session);
	}
	if (!source) {
		return; /* no room: the bound on sources */
	}
	next = &source->next;
	next->present = true;
	next->ids = mix(next->ids, listed->id);
	next->streams += listed->streams;
	if (listed->viewers > next->viewers) {
		next->viewers = listed->viewers;
	}
	if (listed->live_timer_us > next->live_timer_us) {
		next->live_timer_us = listed->live_timer_us;
	}
}

/* A session that nobody named, and that is gone, needs no row any more. */
static bool is_forgotten(const struct source *source)
{
	return !source->listed.present && !source->running && !source->wanted && !source->named;
}

static const char *relay_name(const struct source *relay)
{
	return relay->url.relay;
}

void relay_note_end(struct source *relay, uint64_t mono_ns)
{
	struct intake *intake = relay->intake;
	uint32_t i, sessions = 0;

	for (i = 0; i < intake->n; i++) {
		struct source *source = intake->sources[i];

		if (source->role != ROLE_SESSION || source->relay != relay) {
			continue;
		}
		source->listed = source->next;
		memset(&source->next, 0, sizeof(source->next));
		sessions += source->listed.present;
		if (is_forgotten(source)) {
			source_say(source, SOURCE_ENDED, "the session is gone");
		} else if (!source->wanted) {
			source_say(source, SOURCE_OFFERED, "%s", "");
		}
	}
	if (!relay->answered) {
		relay->answered_ns = mono_ns;
	}
	relay->answered = true;
	relay->was_answered = true;
	relay->told = false;
	relay->backoff_ns = SOURCE_BACKOFF_NS;
	if (sessions > 0) {
		source_say(relay, SOURCE_ACTIVE, "%s", "");
	} else {
		source_say(relay, SOURCE_WAITING,
				"%s has no live session. On the traced host: "
				"lttng create mine --live=1000000 --set-url=net://%s",
				relay_name(relay), relay_name(relay));
	}
}
