/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ust_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC        UINT32_C(0xc1fc1fc1)
#define PACKET_MAX   65536u
#define PACKET_NS    UINT64_C(200000000) /* of a live timer */
#define HEADER_BYTES 84u                 /* of a packet, with its context */
#define EVENT_MAX    64u
#define NAME_BYTES   17u
#define EXTENDED     31u

struct ust_trace {
	FILE *metadata, *stream;
	uint64_t start_ns, begin_ns, last_ns, packets;
	unsigned char uuid[16]; /* traces of one uuid are one trace to babeltrace2 */
	uint32_t n_types, *fields;
	unsigned char bytes[PACKET_MAX];
	size_t size; /* 0: no packet was begun */
};

static void fail(const char *what)
{
	fprintf(stderr, "ust_trace: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static void make_directories(const char *path)
{
	char part[4096];

	snprintf(part, sizeof(part), "%s", path);
	for (char *at = part + 1;; at++) {
		char c = *at;

		if (c == '/' || c == '\0') {
			*at = '\0';
			if (mkdir(part, 0777) != 0 && errno != EEXIST) {
				fail(part);
			}
			*at = c;
		}
		if (c == '\0') {
			return;
		}
	}
}

static FILE *open_in(const char *directory, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	if (!file) {
		fail(path);
	}
	return file;
}

/* Of the directory: FNV-1a, twice, with the bits that tell a random one. */
static void make_uuid(unsigned char uuid[16], const char *directory)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (uint32_t half = 0; half < 2; half++) {
		for (const char *at = directory; *at; at++) {
			hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
		}
		memcpy(uuid + 8 * half, &hash, 8);
	}
	uuid[6] = (unsigned char)(0x40 | (uuid[6] & 0x0f));
	uuid[8] = (unsigned char)(0x80 | (uuid[8] & 0x3f));
}

static void write_uuid(FILE *out, const unsigned char uuid[16])
{
	for (uint32_t i = 0; i < 16; i++) {
		fprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	}
}

static void write_head(FILE *out, const char *host, const unsigned char uuid[16], uint64_t start_ns)
{
	fprintf(out, "/* CTF 1.8 */\n\n"
		     "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
		     "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
		     "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
		     "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
		     "typealias integer { size = 64; align = 8; signed = false; } := unsigned "
		     "long;\n"
		     "typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n"
		     "typealias integer { size = 27; align = 1; signed = false; } := "
		     "uint27_t;\n\n"
		     "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	write_uuid(out, uuid);
	fprintf(out,
			"\";\n\tbyte_order = le;\n"
			"\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t  "
			"uuid[16];\n"
			"\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n\n"
			"env {\n\thostname = \"%s\";\n\tdomain = \"ust\";\n"
			"\ttracer_name = \"lttng-ust\";\n\ttracer_major = 2;\n\ttracer_minor = "
			"13;\n"
			"\ttracer_buffering_scheme = \"uid\";\n\ttracer_buffering_id = 0;\n"
			"\tarchitecture_bit_width = 64;\n\ttrace_name = \"made\";\n"
			"\ttrace_creation_datetime = \"20260101T000000+0000\";\n};\n\n",
			host);
	fprintf(out,
			"clock {\n\tname = \"monotonic\";\n"
			"\tuuid = \"9a1e6f0c-3d2b-4c58-8e77-5b60d1f2a934\";\n"
			"\tdescription = \"Monotonic Clock\";\n\tfreq = 1000000000;\n"
			"\toffset = %" PRIu64 ";\n};\n\n"
			"typealias integer {\n\tsize = 27; align = 1; signed = false;\n"
			"\tmap = clock.monotonic.value;\n} := uint27_clock_monotonic_t;\n\n"
			"typealias integer {\n\tsize = 64; align = 8; signed = false;\n"
			"\tmap = clock.monotonic.value;\n} := uint64_clock_monotonic_t;\n\n"
			"struct packet_context {\n\tuint64_clock_monotonic_t timestamp_begin;\n"
			"\tuint64_clock_monotonic_t timestamp_end;\n\tuint64_t content_size;\n"
			"\tuint64_t packet_size;\n\tuint64_t packet_seq_num;\n"
			"\tunsigned long events_discarded;\n\tuint32_t cpu_id;\n};\n\n"
			"struct event_header_compact {\n"
			"\tenum : uint5_t { compact = 0 ... 30, extended = 31 } id;\n"
			"\tvariant <id> {\n\t\tstruct {\n\t\t\tuint27_clock_monotonic_t "
			"timestamp;\n"
			"\t\t} compact;\n\t\tstruct {\n\t\t\tuint32_t id;\n"
			"\t\t\tuint64_clock_monotonic_t timestamp;\n\t\t} extended;\n\t} v;\n"
			"} align(8);\n\n"
			"stream {\n\tid = 0;\n\tevent.header := struct event_header_compact;\n"
			"\tpacket.context := struct packet_context;\n"
			"\tevent.context := struct {\n"
			"\t\tinteger { size = 32; align = 8; signed = 1; encoding = none; base = "
			"10; } "
			"_vpid;\n"
			"\t\tinteger { size = 32; align = 8; signed = 1; encoding = none; base = "
			"10; } "
			"_vtid;\n"
			"\t\tinteger { size = 8; align = 8; signed = 0; encoding = UTF8; base = "
			"10; } "
			"_procname[%u];\n"
			"\t};\n};\n\n",
			start_ns, NAME_BYTES);
}

struct ust_trace *ust_trace_create(const char *directory, const char *host, uint64_t start_ns)
{
	struct ust_trace *trace = calloc(1, sizeof(*trace));

	if (!trace) {
		fail("memory");
	}
	make_directories(directory);
	trace->metadata = open_in(directory, "metadata");
	trace->stream = open_in(directory, "channel0_0");
	trace->start_ns = start_ns;
	make_uuid(trace->uuid, directory);
	write_head(trace->metadata, host, trace->uuid, start_ns);
	return trace;
}

uint32_t ust_trace_type(struct ust_trace *trace, const char *name, uint32_t fields)
{
	static const char *const names[] = {"request_id", "msg_id"};
	uint32_t *grown = realloc(trace->fields, (trace->n_types + 1) * sizeof(*grown));

	if (!grown) {
		fail("memory");
	}
	trace->fields = grown;
	trace->fields[trace->n_types] = fields;
	fprintf(trace->metadata,
			"event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n\tloglevel = "
			"13;\n"
			"\tfields := struct {\n",
			name, trace->n_types);
	for (uint32_t i = 0; i < 2; i++) {
		if (fields & (1u << i)) {
			fprintf(trace->metadata,
					"\t\tinteger { size = 64; align = 8; signed = 0; encoding "
					"= none; "
					"base = 10; } _%s;\n",
					names[i]);
		}
	}
	fprintf(trace->metadata, "\t};\n};\n\n");
	return trace->n_types++;
}

/* Little endian, as the metadata says. */
static void put(struct ust_trace *trace, size_t *at, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++) {
		trace->bytes[(*at)++] = (unsigned char)(value >> (8 * i));
	}
}

static void end_packet(struct ust_trace *trace)
{
	size_t at = 0;

	if (!trace->size) {
		return;
	}
	put(trace, &at, MAGIC, 4);
	memcpy(trace->bytes + at, trace->uuid, sizeof(trace->uuid));
	at += sizeof(trace->uuid);
	put(trace, &at, 0, 4);
	put(trace, &at, 0, 8);
	put(trace, &at, trace->begin_ns, 8);
	put(trace, &at, trace->last_ns, 8);
	put(trace, &at, trace->size * 8, 8);
	put(trace, &at, trace->size * 8, 8);
	put(trace, &at, trace->packets++, 8);
	put(trace, &at, 0, 8);
	put(trace, &at, 0, 4);
	if (fwrite(trace->bytes, 1, trace->size, trace->stream) != trace->size) {
		fail("stream");
	}
	trace->size = 0;
}

void ust_trace_event(struct ust_trace *trace, const struct ust_event *event)
{
	uint64_t ns = event->ns - trace->start_ns;
	uint32_t fields = trace->fields[event->type];

	if (trace->size && (trace->size + EVENT_MAX > PACKET_MAX ||
					   ns / PACKET_NS != trace->begin_ns / PACKET_NS)) {
		end_packet(trace);
	}
	if (!trace->size) {
		trace->size = HEADER_BYTES; /* see end_packet() */
		trace->begin_ns = ns;
	}
	trace->last_ns = ns;
	put(trace, &trace->size, EXTENDED, 1);
	put(trace, &trace->size, event->type, 4);
	put(trace, &trace->size, ns, 8);
	put(trace, &trace->size, (uint32_t)event->pid, 4);
	put(trace, &trace->size, (uint32_t)event->tid, 4);
	memset(trace->bytes + trace->size, 0, NAME_BYTES);
	snprintf((char *)trace->bytes + trace->size, NAME_BYTES, "%s", event->process);
	trace->size += NAME_BYTES;
	if (fields & UST_REQUEST) {
		put(trace, &trace->size, event->request, 8);
	}
	if (fields & UST_MESSAGE) {
		put(trace, &trace->size, event->message, 8);
	}
}

void ust_trace_close(struct ust_trace *trace)
{
	end_packet(trace);
	if (fclose(trace->metadata) != 0 || fclose(trace->stream) != 0) {
		fail("closing");
	}
	free(trace->fields);
	free(trace);
}
