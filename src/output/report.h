/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_REPORT_H
#define PT_OUTPUT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pythiatop/snapshot/snapshot.h"

/* A request that stands for others. */
struct report_exemplar {
	struct group_request request;
	char why[256]; /* "the slowest", "queue_len = 2": as it came, not escaped */
};

/* What a page about a verdict is made of; all borrowed. */
struct report_page {
	const struct snapshot *snapshot;     /* of everything */
	uint32_t group_id;                   /* that it is about; 0: none is flagged */
	const struct steps_finding *finding; /* of that group; NULL: nobody has searched it */
	uint32_t n_exemplars;
	const struct report_exemplar *exemplars;
	uint64_t trace_events; /* in the trace of the exemplars; 0: there is no trace */
	const char *decisions; /* what the decision log beside it has, in a sentence */
	uint64_t written_ns;   /* wall clock, since 1970 */
};

/*
 * The page in Markdown: the verdict in two sentences, the evidence, the plot, steps and what they
 * cost, what was ruled out, what to look at next, how it was recorded. What is not known is "-".
 * Errors show in ferror().
 */
void report_write_page(FILE *out, const struct report_page *page);

#endif
