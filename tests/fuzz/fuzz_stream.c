/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as packets of a trace whose metadata is right, so that nearly all of the time goes into
 * what reads packets (fuzz_packets parses metadata anew for each input). The input: steps
 * (packet_steps.h).
 *
 * PT_FUZZ_TRACE=DIR takes the metadata of a recorded trace, and its shortest packets, one of each
 * file, as seeds; without it, both are those of a seed of fuzz_packets. Seeds are written into the
 * first directory named on the command line.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#include "packet_steps.h"

#define RUNS_OF_TRACE                                                                              \
	32 /* then it is opened anew: what fails, and the latest time, are kept by it */
#define FILE_BYTES_MAX (64u << 20)

static const struct trace_names NAMES = {.host = "host", .session = "session"};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned char *metadata;
static size_t metadata_bytes;

/* The whole file, up to FILE_BYTES_MAX; NULL if it cannot be read. */
static unsigned char *read_whole(const char *path, size_t *n)
{
	FILE *file = fopen(path, "rb");
	unsigned char *bytes = file ? malloc(FILE_BYTES_MAX) : NULL;

	*n = bytes ? fread(bytes, 1, FILE_BYTES_MAX, file) : 0;
	if (file) {
		fclose(file);
	}
	return bytes;
}

static struct packet_trace *open_trace(struct packets *packets)
{
	struct packet_trace *trace = packets ? packets_trace(packets) : NULL;
	char error[200] = "no memory";

	if (!trace || !packet_trace_metadata(
				      trace, metadata, metadata_bytes, error, sizeof(error))) {
		fprintf(stderr, "fuzz_stream: the metadata cannot be read: %s\n", error);
		exit(1);
	}
	return trace;
}

/* The shortest of the packets in a file becomes a seed, if a step has room for it. */
static void write_seed(struct packet_trace *trace, const unsigned char *bytes, size_t size,
		const char *path)
{
	size_t at = 0, best = 0, least = UINT16_MAX + 1u;
	struct packet_look look;
	char error[200];
	FILE *seed;

	while (at < size &&
			packet_trace_look(trace, bytes + at, size - at, &look, error,
					sizeof(error)) &&
			look.bytes > 0) {
		if (look.bytes < least) {
			best = at;
			least = look.bytes;
		}
		at += look.bytes;
	}
	if (least > UINT16_MAX || !(seed = fopen(path, "wb"))) {
		return;
	}
	fputc(0, seed); /* stream 0 */
	fputc((int)(least & 0xff), seed);
	fputc((int)(least >> 8), seed);
	fwrite(bytes + best, 1, least, seed);
	fclose(seed);
}

static void write_seeds_of_trace(const char *trace_path, const char *corpus)
{
	struct packets *packets = packets_create(NULL, &NAMES);
	struct packet_trace *trace = open_trace(packets);
	DIR *folder = opendir(trace_path);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char from[PATH_MAX], to[PATH_MAX];
		unsigned char *bytes;
		size_t size;

		if (entry->d_type != DT_REG || strcmp(entry->d_name, "metadata") == 0) {
			continue;
		}
		snprintf(from, sizeof(from), "%s/%s", trace_path, entry->d_name);
		snprintf(to, sizeof(to), "%s/seed-%s", corpus, entry->d_name);
		bytes = read_whole(from, &size);
		if (bytes) {
			write_seed(trace, bytes, size, to);
		}
		free(bytes);
	}
	if (folder) {
		closedir(folder);
	}
	packets_destroy(packets);
}

/* A seed of fuzz_packets: the length of the metadata, the metadata, and steps. */
static void split_seed(const char *corpus)
{
	size_t length = (size_t)metadata[0] | (size_t)metadata[1] << 8;
	char path[PATH_MAX];
	FILE *seed;

	snprintf(path, sizeof(path), "%s/seed-steps", corpus ? corpus : "");
	if (corpus && (seed = fopen(path, "wb"))) {
		fwrite(metadata + 2 + length, 1, metadata_bytes - 2 - length, seed);
		fclose(seed);
	}
	memmove(metadata, metadata + 2, length);
	metadata_bytes = length;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *recorded = getenv("PT_FUZZ_TRACE"), *corpus = NULL;
	char path[PATH_MAX];

	for (int i = *argc - 1; i > 0; i--) {
		corpus = (*argv)[i][0] != '-' ? (*argv)[i] : corpus;
	}

	snprintf(path, sizeof(path), "%s", PT_FUZZ_SEED);
	if (recorded) {
		snprintf(path, sizeof(path), "%s/metadata", recorded);
	}
	metadata = read_whole(path, &metadata_bytes);
	if (!metadata) {
		fprintf(stderr, "fuzz_stream: %s cannot be read\n", path);
		exit(1);
	}
	if (!recorded) {
		split_seed(corpus);
	} else if (corpus) {
		write_seeds_of_trace(recorded, corpus);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct outlet *outlet;
	static struct packets *packets;
	static struct packet_trace *trace;
	static uint32_t n_runs;
	struct input input = {data, size};
	struct ring *writer, *reader = ring_ends(&writer);

	if (n_runs++ % RUNS_OF_TRACE == 0) {
		packets_destroy(packets);
		outlet_destroy(outlet);
		outlet = outlet_create(writer);
		packets = packets_create(outlet, &NAMES);
		trace = open_trace(packets);
	}
	take_steps(packets, trace, outlet, reader, &input);
	return 0;
}
