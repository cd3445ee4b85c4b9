/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_OUTPUT_H
#define PT_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "output/names.h"
#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"

struct output_style {
	enum output_format format;
	enum output_weight weight; /* of OUTPUT_FOLDED */
	bool changes;              /* OUTPUT_TEXT: of what has changed alone */
};

/*
 * Writes one snapshot and flushes. `first`: nothing was written to this file before (CSV then
 * begins with its column names). STATUS_IO with errno if the file does not take it.
 */
enum status output_write(FILE *out, const struct output_style *style,
		const struct snapshot *snapshot, bool first);

/* The workload of a snapshot with FOCUS_SHAPES of all types, as JSON. STATUS_IO: as above. */
enum status output_workload(FILE *out, const struct snapshot *snapshot);

/* What a reader of folded stacks must know and the format has no place for: that they are of samples. */
void output_folded_samples(FILE *out, const struct snapshot *snapshot);

#endif
