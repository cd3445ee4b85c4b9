/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_GRAPH_H
#define PT_SOURCE_GRAPH_H

#include <babeltrace2/babeltrace.h>

#include "fault.h"
#include "outlet.h"
#include "reader.h"
#include "traces.h"

/*
 * A trace-processing graph: one source component of the ctf plugin, all its output ports connected
 * to a reader.
 *
 * Threads: one. May block as long as the component does (the network): a process of its own.
 */
struct graph;

/*
 * Builds the graph for the component class (`fs` or `lttng-live`) with these parameters. NULL with
 * the fault filled in; then the component could not be made of what the parameters name.
 */
struct graph *graph_create(const char *component_class, const bt_value *parameters,
		struct outlet *outlet, struct traces *traces, struct fault *fault);
void graph_destroy(struct graph *graph);

/* Works for a while. READER_ERROR fills the fault; "" if only the console is gone. */
enum reader_step graph_run(struct graph *graph, struct fault *fault);
const struct reader *graph_reader(const struct graph *graph);
/* As reader_expect(). */
void graph_expect(struct graph *graph, uint64_t begin_ns, uint64_t end_ns);

#endif
