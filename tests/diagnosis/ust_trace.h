/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_UST_TRACE_H
#define PT_UST_TRACE_H

#include <stdint.h>

/*
 * Writes a CTF 1.8 trace as lttng-sessiond and LTTng-UST 2.13 do with buffers per user and the
 * contexts vpid, vtid and procname: metadata and one stream, in a directory of its own. Events come
 * in the order of their times. What cannot be written ends the program with a sentence.
 */
struct ust_trace;

enum ust_fields {
	UST_NOTHING = 0,
	UST_REQUEST = 1, /* request_id */
	UST_MESSAGE = 2, /* msg_id */
};

/* Makes the directory and those above it. `start_ns`: since 1970, no later than any event. */
struct ust_trace *ust_trace_create(const char *directory, const char *host, uint64_t start_ns);
/* A number for ust_trace_event(); `fields` are ored. The name is copied. */
uint32_t ust_trace_type(struct ust_trace *trace, const char *name, uint32_t fields);
struct ust_event {
	uint64_t ns; /* since 1970 */
	uint32_t type;
	int32_t pid, tid;
	const char *process;
	uint64_t request, message; /* where the type has them */
};
void ust_trace_event(struct ust_trace *trace, const struct ust_event *event);
void ust_trace_close(struct ust_trace *trace);

#endif
