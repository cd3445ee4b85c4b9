/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/first_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "text.h"

__attribute__((format(printf, 3, 4))) static void add(
                struct first_run *first_run, enum role role, const char *format, ...)
{
	va_list args;

	if (first_run->n == FIRST_RUN_LINES) {
		return;
	}
	va_start(args, format);
	vsnprintf(first_run->lines[first_run->n].text, FIRST_RUN_BYTES, format, args);
	va_end(args);
	first_run->lines[first_run->n++].role = role;
}

/* "relay1:5344" of "net://relay1:5344/host/..." */
static void relay_address(char *out, size_t size, const char *url)
{
	const char *scheme = strstr(url, "://");

	text_copy(out, size, scheme ? scheme + 3 : url);
	out[strcspn(out, "/")] = '\0';
}

static void relay_sentence(char *out, size_t size, const struct source_row *row)
{
	char address[256], name[256];

	relay_address(address, sizeof(address), row->url);
	text_copy(name, sizeof(name), address);
	name[strcspn(name, ":")] = '\0';
	switch (row->state) {
	case SOURCE_BROKEN:
		snprintf(out, size,
		                "No relay daemon at %s. Start one: lttng-relayd -d   Or open a "
		                "recording: pythiatop DIR",
		                address);
		break;
	case SOURCE_STARTING:
	case SOURCE_CONNECTING:
		snprintf(out, size, "Asking the relay daemon at %s; no answer so far.", address);
		break;
	case SOURCE_WAITING:
		snprintf(out, size,
		                "%s has no live session. On the traced host: lttng create mine "
		                "--live=1000000 --set-url=net://%s",
		                name, name);
		break;
	default:
		out[0] = '\0';
		break;
	}
}

static void session_sentence(char *out, size_t size, const struct source_row *row)
{
	char timer[FORMAT_BYTES];

	out[0] = '\0';
	if (row->state == SOURCE_WAITING && !row->live && row->session[0]) {
		snprintf(out, size,
		                "Session \"%s\" is not live (made without --live). Recreate it "
		                "with --live.",
		                row->session);
	} else if (row->state == SOURCE_ATTACHED && row->live_timer_us > 0) {
		format_period(timer, (double)row->live_timer_us * 1e3);
		/* A number and its unit stand apart in a sentence. */
		snprintf(out, size, "Attached. First events within the live timer (%.*s %s).",
		                (int)strspn(timer, "0123456789."), timer,
		                timer + strspn(timer, "0123456789."));
	} else if (row->state == SOURCE_ATTACHED) {
		snprintf(out, size, "Attached. No events so far.");
	} else if (row->state == SOURCE_STARTING || row->state == SOURCE_CONNECTING) {
		snprintf(out, size, "Opening %s", row->url);
	}
}

void first_run_source(char *out, size_t size, const struct source_row *row)
{
	if (row->detail[0]) {
		text_copy(out, size, row->detail);
	} else if (row->is_relay) {
		relay_sentence(out, size, row);
	} else {
		session_sentence(out, size, row);
	}
}

static void add_events(struct first_run *first_run, const struct snapshot *snapshot)
{
	char rate[FORMAT_BYTES];

	first_run->unmatched = true;
	if (snapshot->ended) {
		format_count(rate, snapshot->accounting.in);
		add(first_run, ROLE_WARN,
		                "%s events, no requests: nothing starts one. %" PRIu32
		                " event names; Enter lists them and why.",
		                rate, snapshot->unmatched.event_names);
		return;
	}
	format_count(rate, (uint64_t)(snapshot->events_per_s + 0.5));
	add(first_run, ROLE_WARN,
	                "%s events/s, no requests: nothing starts one. %" PRIu32
	                " event names; Enter lists them and why.",
	                rate, snapshot->unmatched.event_names);
}

void first_run_compose(struct first_run *first_run, const struct snapshot *snapshot)
{
	const struct sources_view *sources = &snapshot->sources;
	char text[FIRST_RUN_BYTES], label[256];
	uint32_t i, offered = 0;

	memset(first_run, 0, sizeof(*first_run));
	if (snapshot->accounting.in > 0) {
		add_events(first_run, snapshot);
	}
	for (i = 0; i < sources->n; i++) {
		const struct source_row *row = &sources->rows[i];

		offered += row->state == SOURCE_OFFERED;
		first_run_source(text, sizeof(text), row);
		if (!text[0]) {
			continue;
		}
		if (!row->is_relay && sources->n > 1) {
			text_copy(label, sizeof(label), row->session[0] ? row->session : row->url);
			add(first_run, ROLE_DIM, "%s:", label);
		}
		add(first_run, row->state >= SOURCE_BROKEN ? ROLE_BAD : ROLE_TEXT, "%s", text);
	}
	if (offered > 0) {
		first_run->pick = true;
		add(first_run, ROLE_STRONG, "%" PRIu32 " session%s to pick from: Enter shows %s.",
		                offered, offered == 1 ? "" : "s", offered == 1 ? "it" : "them");
	}
	if (first_run->n == 0 && sources->n == 0 && snapshot->focus.serial > 0) {
		add(first_run, ROLE_TEXT,
		                "Nothing is watched. :attach net://RELAY or :attach DIR, or start "
		                "as "
		                "pythiatop RELAY or pythiatop DIR");
	} else if (first_run->n == 0) {
		add(first_run, ROLE_TEXT, "No requests so far.");
	}
}

void first_run_need_more(char *out, size_t size, const struct groups_view *groups)
{
	uint32_t i;

	out[0] = '\0';
	if (groups->need_more == 0) {
		return;
	}
	for (i = 0; i < groups->n; i++) {
		const struct groups_row *row = &groups->rows[i];

		if (row->count < groups->enough) {
			snprintf(out, size,
			                "%" PRIu32 " groups, %" PRIu32
			                " need more requests (%s %" PRIu64 " of %" PRIu32 ")",
			                groups->n, groups->need_more, row->type, row->count,
			                groups->enough);
			return;
		}
	}
}
