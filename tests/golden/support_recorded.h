/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SUPPORT_RECORDED_H
#define SUPPORT_RECORDED_H

#include <jansson.h>

#include "pythiatop/engine.h"

/*
 * Recorded traces through real source processes into an engine, and what lttng-analyses computed
 * of them. Where they are is told by the environment (PYTHIATOP_TRACES, PYTHIATOP_ORACLE) or by
 * the build.
 */

/* False: that trace is not here. */
bool recorded_exists(const char *name);
/* An engine that has been fed all of a trace, with that window; the caller destroys it. */
struct engine *recorded_read(const char *name, uint64_t window_ns);
/* Where spans of that name are the requests. */
struct engine *recorded_read_of(const char *name, uint64_t window_ns, const char *function);
/* Its state as of an instant; 0: at the end. The caller destroys it. */
struct snapshot *recorded_state(struct engine *engine, uint64_t at_ns);

/* A document of the reference, "cputop.run"; NULL: it is not here. */
json_t *reference_load(const char *trace, const char *analysis);
/* The rows of its table whose class or title contains a text; NULL: none. */
json_t *reference_table(json_t *document, const char *wanted);
/* A number in a row: of a column, `name` of its object ("value", "tid", "nr"). */
double reference_number(json_t *row, size_t column, const char *name);

#endif
