/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_SESSION_H
#define PT_PROBE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "probe/function_type.h"
#include "probe/record.h"
#include "pythiatop/status.h"
#include "relay/producer.h"

/*
 * A live session of this host in a relay daemon: a trace of its kernel, one of programs' functions,
 * or both, each with a stream for each CPU, whose events become packets as LTTng writes them.
 *
 * Threads: one. Memory: SESSION_PACKET bytes for each trace and CPU, and the descriptions.
 */
#define SESSION_PACKET (256u << 10) /* bytes of the largest packet */
#define SESSION_FILES  4u

struct session; /* opaque */

enum session_part {
	SESSION_KERNEL = 0,
	SESSION_FUNCTIONS,
	SESSION_PARTS,
};

struct session_setup {
	struct producer_target target;
	const char *host, *name;
	uint32_t live_timer_us;
	uint64_t keep_bytes;  /* of each stream, in SESSION_FILES files; 0: all */
	const uint32_t *cpus; /* numbers of the CPUs, one for each stream */
	uint32_t n_cpus;
	bool kernel;                            /* with a trace of the kernel */
	const struct function_types *functions; /* NULL: without a trace of functions */
};

/*
 * Opens it; streams begin at `begin_ns` of CLOCK_MONOTONIC. Statuses are those of the producer;
 * after any but STATUS_OK, here and below, the session is of no more use.
 */
enum status session_open(struct session **session, const struct session_setup *setup,
		uint64_t begin_ns, struct producer_fault *fault);

/* Tells viewers of the functions that came since the last time: before any event of them. */
enum status session_declare(struct session *session, struct producer_fault *fault);

/* Of which trace the record is. */
enum session_part session_part(const struct probe_head *head);

/*
 * Adds an event to the stream: its time must not be before that of the last one. `discarded`: what
 * the stream lost up to here at least. A record that is none is left out.
 */
enum status session_put(struct session *session, uint32_t stream, const struct probe_head *head,
		uint64_t discarded, struct producer_fault *fault);

/*
 * Sends what the stream has, or tells that it has nothing up to `end_ns`: later events come after
 * it. `discarded`: what the stream lost so far. Of a trace that is not there: nothing.
 */
enum status session_flush(struct session *session, enum session_part part, uint32_t stream,
		uint64_t end_ns, uint64_t discarded, struct producer_fault *fault);

/* Ends it for viewers, if it is whole, and lets go of it. NULL is allowed. */
void session_close(struct session *session, bool whole);

#endif
