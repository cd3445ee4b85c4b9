/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints what a source process sends, one line for each event and loss, to compare two readings of
 * the same session. Fails if the ring's promises are broken.
 *
 * usage: records --trace DIR | --live URL [READER]
 */
#include <inttypes.h>
#include <stdio.h>

#include "unit/support_source.h"

static void print_record(struct source_probe *probe, const struct record *record)
{
	const struct record_event *event = (const struct record_event *)record;
	const struct record_type *type;

	if (record->kind != RECORD_EVENT) {
		return;
	}
	type = probe->types[event->type];
	printf("%" PRIu64 " %u %s", event->ts_ns, event->cpu,
			record_text(&type->record, type->name));
	for (uint32_t i = 0; i < event->bytes / 8; i++) {
		printf(" %" PRIx64, event->slots[i]);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	struct source_probe probe = {.on_record = print_record};
	const char *arguments[] = {NULL, NULL, "--timer-us", "200000", "--reader", "auto", NULL};

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: records --trace DIR | --live URL [READER]\n");
		return 2;
	}
	if (argc == 4) {
		arguments[5] = argv[3];
	}
	arguments[0] = argv[1];
	arguments[1] = argv[2];
	source_probe_start(&probe, arguments);
	source_probe_run(&probe, 60000);
	if (probe.broken || !probe.ended) {
		fprintf(stderr, "records: %s %s\n", probe.why, probe.text);
	}
	source_probe_stop(&probe);
	return probe.broken || !probe.ended;
}
