/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as metadata and packets of up to four streams: what becomes records is sound, in order
 * of time, and everything else ends in a fault with a word why.
 *
 * The input: the length of the metadata (2 bytes, little-endian), the metadata, and then steps
 * (packet_steps.h).
 */
#include "packet_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_input(struct packets *packets, struct outlet *outlet, struct ring *reader,
		struct input *input)
{
	struct packet_trace *trace = packets_trace(packets);
	size_t length = take_length(input);
	char error[200] = "";

	if (!trace) {
		return;
	}
	if (!packet_trace_metadata(trace, input->at, length, error, sizeof(error))) {
		if (!error[0]) {
			abort();
		}
		return;
	}
	pass(input, length);
	take_steps(packets, trace, outlet, reader, input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct trace_names names = {.host = "host", .session = "session"};
	struct input input = {data, size};
	struct ring *writer, *reader = ring_ends(&writer);
	struct outlet *outlet = outlet_create(writer);
	struct packets *packets = packets_create(outlet, &names);

	if (outlet && packets) {
		read_input(packets, outlet, reader, &input);
		outlet_flush_all(outlet);
	}
	packets_destroy(packets);
	outlet_destroy(outlet);
	return 0;
}
