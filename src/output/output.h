/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_OUTPUT_H
#define PT_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "output/names.h"
#include "pythiatop/snapshot/snapshot.h"
#include "pythiatop/status.h"

/*
 * Writes one snapshot and flushes. `first`: nothing was written to this file before (CSV then
 * begins with its column names). STATUS_IO with errno if the file does not take it.
 */
enum status output_write(
		FILE *out, enum output_format format, const struct snapshot *snapshot, bool first);

#endif
