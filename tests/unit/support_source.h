/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SUPPORT_SOURCE_H
#define PT_SUPPORT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pythiatop/event.h"
#include "pythiatop/snapshot/sources.h"
#include "ring/ring.h"

/*
 * A pythiatop-source process and the reading side of its ring, for tests: every record is checked
 * against the promises of ring/ring.h as it is read, and counted.
 */
struct source_probe {
	struct ring *ring;
	pid_t pid;
	int stderr_fd;

	uint64_t n_events, n_types, n_streams, n_losses, n_watermarks, n_listed, n_lists;
	uint64_t n_misdated;
	uint64_t lost_events;
	uint64_t last_ts_ns, last_event_ns;
	uint64_t last_done, total;
	uint32_t last_cpu;
	enum source_state state;
	char text[1200]; /* of the last RECORD_STATE */
	bool ended, broken;
	char why[200]; /* it is broken */

	/* Deep copies of the types and streams, by number. */
	struct record_type **types;
	struct record_stream **streams;

	/* Called for each record that was found sound, if set. */
	void (*on_record)(struct source_probe *probe, const struct record *record);
	void *user;
};

/* Starts `pythiatop-source --ring ... arguments` (NULL-terminated). */
void source_probe_start(struct source_probe *probe, const char *const *arguments);

/* Reads until RECORD_END, a broken ring, `timeout_ms` without end, or the death of the process. */
bool source_probe_run(struct source_probe *probe, int timeout_ms);

/* Reads what is there now; waits at most timeout_ms for something. False: nothing came. */
bool source_probe_step(struct source_probe *probe, int timeout_ms);

/* Kills it if it still runs. Returns its wait status. */
int source_probe_stop(struct source_probe *probe);

/* Starts, runs to the end, and stops: for recordings. */
void source_probe_read(struct source_probe *probe, const char *directory);

/* Slot of the field with that name, or -1. */
int source_probe_field(const struct source_probe *probe, uint32_t type, const char *name);
const struct record_field *source_probe_fields(const struct record_type *type);
const struct record_label *source_probe_labels(const struct record_type *type);

#endif
