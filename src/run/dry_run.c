/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/dry_run.h"

#include <stdio.h>
#include <string.h>

#include "run/part.h"

static void note_trouble(
		struct dry_run *dry_run, const char *host, const char *what, const char *message)
{
	if (!dry_run->trouble[0]) {
		snprintf(dry_run->trouble, sizeof(dry_run->trouble), "%.200s: %.200s%s%.400s", host,
				what, what[0] ? ": " : "", message);
	}
}

/* "6 events enabled on 1 host, 2 on already, 4 disabled", or "4 events disabled on 1 host" */
static void tell_counts(const struct dry_run *dry_run, char *out, size_t size)
{
	bool disables = dry_run->disable && !dry_run->would;
	uint32_t n = disables ? dry_run->disable : dry_run->would;
	char was[64] = "", disable[64] = "";

	if (dry_run->was) {
		snprintf(was, sizeof(was), ", %u on already", dry_run->was);
	}
	if (dry_run->disable && dry_run->would) {
		snprintf(disable, sizeof(disable), ", %u disabled", dry_run->disable);
	}
	snprintf(out, size, "%u event%s %s on %u host%s%s%s", n, n == 1 ? "" : "s",
			disables ? "disabled" : "enabled", dry_run->n_hosts,
			dry_run->n_hosts == 1 ? "" : "s", was, disable);
}

static void tell(struct dry_run *dry_run)
{
	char text[2 * sizeof(dry_run->trouble)], counts[256];

	dry_run->on = false;
	if (dry_run->trouble[0]) {
		snprintf(text, sizeof(text), "dry run of step %u fails: %s", dry_run->step,
				dry_run->trouble);
	} else {
		tell_counts(dry_run, counts, sizeof(counts));
		snprintf(text, sizeof(text), "dry run of step %u, nothing was changed: %s",
				dry_run->step,
				dry_run->learns ? "all hosts let points be learned" : counts);
	}
	dry_run->say(dry_run->context, text);
}

static void on_checked(void *context, const struct control_answer *answer)
{
	struct dry_run *dry_run = context;
	struct control_host host;

	control_hosts_view(dry_run->hosts, answer->host, NULL, &host);
	if (answer->status != STATUS_OK) {
		note_trouble(dry_run, host.name, "", answer->message);
	}
	for (uint32_t i = 0; i < answer->n_changes; i++) {
		const struct control_change *change = &answer->changes[i];

		if (change->done == CONTROL_REFUSED) {
			note_trouble(dry_run, host.name, change->name, change->message);
		}
		dry_run->would += change->done == CONTROL_WOULD;
		dry_run->was += change->done == CONTROL_WAS_SO ||
				change->done == CONTROL_USED_THERE;
	}
	if (--dry_run->open == 0) {
		tell(dry_run);
	}
}

static void ask_host(struct dry_run *dry_run, const struct step_row *row, const char *name)
{
	struct part part = {.hosts = dry_run->hosts,
			.engine = dry_run->engine,
			.at = control_hosts_find(dry_run->hosts, name),
			.host = name,
			.kind = row->kind,
			.n = row->n_events,
			.events = row->events,
			.done = on_checked,
			.context = dry_run};
	struct control_host host;
	int asked;

	dry_run->n_hosts++;
	control_hosts_view(dry_run->hosts, part.at, name, &host);
	if (host.state != CONTROL_READY) {
		note_trouble(dry_run, name, "", host.sentence);
		return;
	}
	asked = part_ask(&part, dry_run->learns ? PART_CHECK_LEARN : PART_CHECK);
	if (asked < 0) {
		note_trouble(dry_run, name, "", "out of memory");
	}
	dry_run->open += asked > 0;
}

bool dry_run_begin(struct dry_run *dry_run, const struct step_row *row, char *error, size_t size)
{
	if (dry_run->on) {
		snprintf(error, size, "the dry run of step %u has not ended yet", dry_run->step);
		return false;
	}
	if (row->n_events == 0) {
		snprintf(error, size, "step %u changes nothing", row->id);
		return false;
	}
	dry_run->on = true;
	dry_run->learns = row->kind == STEP_LEARN;
	dry_run->step = row->id;
	dry_run->n_hosts = dry_run->would = dry_run->was = dry_run->disable = 0;
	dry_run->trouble[0] = '\0';
	dry_run->open = 1;
	for (uint32_t i = 0; i < row->n_events; i++) {
		bool first = true;

		dry_run->disable += !row->events[i].enable;
		for (uint32_t k = 0; k < i && first; k++) {
			first = strcmp(row->events[k].host, row->events[i].host) != 0;
		}
		if (first) {
			ask_host(dry_run, row, row->events[i].host);
		}
	}
	if (--dry_run->open == 0) {
		tell(dry_run);
	}
	return true;
}
