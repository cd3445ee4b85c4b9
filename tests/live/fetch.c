/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live reader without its decoder: what a relay daemon has of a session goes to files, one for
 * each stream and each metadata, packet by packet as it was given. For tests of the protocol, and
 * to measure it alone.
 *
 * usage: fetch RELAY PORT HOST SESSION DIR [SLEEP_MS]    DIR -: nothing is written
 * Prints packets, bytes, beacons, streams, and how long packets came, when the session has ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "source/own.h"
#include "source/packets.h"

struct packets {
	uint32_t n_living, n_streams, n_traces;
	uint64_t n_packets, n_bytes, n_beacons;
	uint64_t first_ns, last_ns; /* when packets came */
};

struct packet_trace {
	struct packets *packets;
	uint32_t number;
	FILE *metadata;
};

struct packet_stream {
	struct packet_trace *trace;
	FILE *file;
};

static struct packets all;
static const char *directory;

static FILE *open_file(uint32_t trace, const char *name, uint64_t id)
{
	char path[4096];
	FILE *file;

	if (strcmp(directory, "-") == 0) {
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/%" PRIu32 "-%s-%" PRIu64, directory, trace, name, id);
	file = fopen(path, "we");
	if (!file) {
		perror(path);
		exit(2);
	}
	return file;
}

static void keep(FILE *file, const void *bytes, size_t size)
{
	if (file && fwrite(bytes, 1, size, file) != size) {
		perror("fetch");
		exit(2);
	}
}

static void close_file(FILE *file)
{
	if (file) {
		fclose(file);
	}
}

struct packets *packets_create(struct outlet *outlet, const struct trace_names *names)
{
	(void)outlet;
	(void)names;
	return &all;
}

void packets_destroy(struct packets *packets)
{
	(void)packets;
}

struct packet_trace *packets_trace(struct packets *packets)
{
	struct packet_trace *trace = calloc(1, sizeof(*trace));

	if (trace) {
		trace->packets = packets;
		trace->number = packets->n_traces++;
		trace->metadata = open_file(trace->number, "metadata", 0);
	}
	return trace;
}

bool packet_trace_metadata(struct packet_trace *trace, const unsigned char *bytes, size_t size,
		char *error, size_t room)
{
	(void)error;
	(void)room;
	keep(trace->metadata, bytes, size);
	return true;
}

struct packet_stream *packet_trace_stream(struct packet_trace *trace, uint64_t id, const char *name)
{
	struct packet_stream *stream = calloc(1, sizeof(*stream));

	if (stream) {
		stream->trace = trace;
		stream->file = open_file(trace->number, name, id);
		trace->packets->n_living++;
		trace->packets->n_streams++;
	}
	return stream;
}

static void take(struct packets *packets, size_t size)
{
	packets->last_ns = clock_monotonic_ns();
	if (packets->n_packets++ == 0) {
		packets->first_ns = packets->last_ns;
	}
	packets->n_bytes += size;
}

bool packet_stream_give(struct packet_stream *stream, unsigned char *bytes, size_t size)
{
	keep(stream->file, bytes, size);
	take(stream->trace->packets, size);
	free(bytes);
	return true;
}

void packet_stream_quiet(struct packet_stream *stream, uint64_t clock_value)
{
	(void)clock_value;
	stream->trace->packets->n_beacons++;
}

bool packet_stream_wants(const struct packet_stream *stream)
{
	(void)stream;
	return true;
}

uint32_t packet_stream_held(const struct packet_stream *stream, size_t *bytes)
{
	(void)stream;
	*bytes = 0;
	return 0;
}

void packet_stream_end(struct packet_stream *stream)
{
	stream->trace->packets->n_living--;
	close_file(stream->file);
	free(stream);
}

void packet_trace_end(struct packet_trace *trace)
{
	close_file(trace->metadata);
	free(trace);
}

enum packets_step packets_run(struct packets *packets, uint32_t most)
{
	(void)most;
	return packets->n_living > 0 ? PACKETS_WAIT : PACKETS_END;
}

void packets_announced(const struct packets *packets, uint32_t *n_streams, uint32_t *n_types)
{
	(void)packets;
	*n_streams = *n_types = 0;
}

uint64_t packets_events(const struct packets *packets)
{
	return packets->n_packets;
}

const char *packets_fault(const struct packets *packets, uint32_t *n_failed)
{
	(void)packets;
	*n_failed = 0;
	return "";
}

/* Attaches to every session of that name. */
static bool attach_all(struct own *own, char **argv)
{
	uint16_t port = (uint16_t)atoi(argv[2]);
	struct viewer_fault fault = {.text = "no such session"};
	struct viewer_list list;
	struct viewer *viewer;
	uint32_t n = 0;

	if (viewer_connect(&viewer, argv[1], port, 5000, &fault) != STATUS_OK ||
			viewer_list(viewer, &list, &fault) != STATUS_OK) {
		fprintf(stderr, "fetch: %s\n", fault.text);
		return false;
	}
	for (uint32_t i = 0; i < list.n; i++) {
		struct viewer_streams streams;
		struct viewer *own_viewer;

		if (strcmp(list.sessions[i].host, argv[3]) != 0 ||
				strcmp(list.sessions[i].name, argv[4]) != 0) {
			continue;
		}
		n++;
		if (viewer_connect(&own_viewer, argv[1], port, 5000, &fault) != STATUS_OK ||
				viewer_attach(own_viewer, list.sessions[i].id, &streams, &fault) !=
						STATUS_OK ||
				!own_add(own, own_viewer, list.sessions[i].id, &streams)) {
			fprintf(stderr, "fetch: cannot attach: %s\n", fault.text);
			return false;
		}
		viewer_streams_release(&streams);
	}
	viewer_list_release(&list);
	viewer_close(viewer);
	if (n == 0) {
		fprintf(stderr, "fetch: %s\n", fault.text);
	}
	return n > 0;
}

int main(int argc, char **argv)
{
	const struct trace_names names = {.host = "", .session = ""};
	struct ring *ring = ring_create(0);
	struct outlet *outlet = ring ? outlet_create(ring) : NULL;
	struct own *own;
	enum own_end end = OWN_FAILED;

	if (argc < 6 || !outlet) {
		fprintf(stderr, "usage: fetch RELAY PORT HOST SESSION DIR [SLEEP_MS]\n");
		return 2;
	}
	directory = argv[5];
	own = own_create(outlet, &names,
			UINT64_C(1000000) * (argc > 6 ? (uint64_t)atoi(argv[6]) : 100));
	if (own && attach_all(own, argv)) {
		end = own_follow(own);
		if (end != OWN_ENDED) {
			fprintf(stderr, "fetch: %s\n", own_why(own));
		}
	}
	own_destroy(own);
	printf("packets %" PRIu64 " bytes %" PRIu64 " beacons %" PRIu64 " streams %" PRIu32
	       " traces %" PRIu32 " ms %.1f\n",
			all.n_packets, all.n_bytes, all.n_beacons, all.n_streams, all.n_traces,
			(double)(all.last_ns - all.first_ns) / 1e6);
	outlet_destroy(outlet);
	ring_destroy(ring);
	return end == OWN_ENDED ? 0 : 1;
}
