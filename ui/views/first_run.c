/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/first_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "step_text.h"
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

void first_run_source(char *out, size_t size, const struct source_row *row)
{
	if (row->detail[0]) {
		text_copy(out, size, row->detail);
	} else if (row->state == SOURCE_STARTING || row->state == SOURCE_CONNECTING) {
		snprintf(out, size, "Asking %s; no answer so far.", row->url);
	} else {
		out[0] = '\0';
	}
}

/* A relay daemon's trouble is that of all its sessions: it is told once. */
static bool was_told(const struct first_run *first_run, const char *text)
{
	int i;

	for (i = 0; i < first_run->n; i++) {
		if (strcmp(first_run->lines[i].text, text) == 0) {
			return true;
		}
	}
	return false;
}

static void add_events(struct first_run *first_run, const struct snapshot *snapshot)
{
	char count[FORMAT_BYTES];

	first_run->unmatched = true;
	format_count(count, snapshot->ended ? snapshot->accounting.in
					    : (uint64_t)(snapshot->events_per_s + 0.5));
	add(first_run, ROLE_WARN,
			"%s events%s, no requests: nothing starts one. %" PRIu32
			" event names; Enter lists them and why.",
			count, snapshot->ended ? "" : "/s", snapshot->unmatched.event_names);
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
		if (!text[0] || was_told(first_run, text)) {
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
	if (step_control_trouble(&snapshot->steps)[0]) {
		add(first_run, ROLE_TEXT, "%s", step_control_trouble(&snapshot->steps));
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
					" need%s more requests (%s %" PRIu64 " of %" PRIu32 ")",
					groups->n, groups->need_more,
					groups->need_more == 1 ? "s" : "", row->type, row->count,
					groups->enough);
			return;
		}
	}
}
