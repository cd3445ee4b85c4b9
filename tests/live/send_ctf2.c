/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the trace in CTF 2 of tests/unit/support_ctf2.h into a directory, and sends it into a relay
 * daemon as a live session, once somebody watches that: no packaged tracer writes CTF 2.
 *
 * usage: pt-send-ctf2 net://HOST:PORT CONTROL DATA SESSION DIRECTORY   ("h2" is the session's host)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "relay/producer.h"
#include "unit/support_ctf2.h"
#include "watched.h"

#define HOST     "h2"
#define LINGER_S 3 /* the relay daemon forgets what nobody has asked for when a session ends */
#define FILE_MAX 65536u

static void check(enum status status, const struct producer_fault *fault)
{
	if (status != STATUS_OK) {
		fprintf(stderr, "pt-send-ctf2: %s\n", fault->text);
		exit(1);
	}
}

static size_t read_file(const char *directory, const char *name, unsigned char bytes[FILE_MAX])
{
	char path[256];
	FILE *in;
	size_t size = 0;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	in = fopen(path, "re");
	if (in) {
		size = fread(bytes, 1, FILE_MAX, in);
		fclose(in);
	}
	return size;
}

static void send_packets(
		struct producer *producer, struct producer_stream *stream, const char *directory)
{
	static unsigned char bytes[FILE_MAX];
	size_t size = read_file(directory, CTF2_STREAM, bytes);
	struct producer_fault fault;

	for (size_t at = 0; at < size; at += CTF2_PACKET_BYTES) {
		struct producer_packet told = {.packet_bits = CTF2_PACKET_BYTES * 8,
				.stream_class = CTF2_STREAM_CLASS,
				.stream_instance = CTF2_STREAM_INSTANCE};
		struct ctf2_packet packet;

		ctf2_packet_read(bytes + at, &packet);
		told.content_bits = packet.content_bits;
		told.begin_ns = packet.begin;
		told.end_ns = packet.end;
		told.events_discarded = packet.lost;
		told.sequence = packet.sequence;
		check(producer_send_packet(producer, stream, &told, bytes + at, &fault), &fault);
	}
}

static void send_session(struct producer *producer, const char *name, const char *directory,
		const char *relay)
{
	static unsigned char description[FILE_MAX];
	size_t size = read_file(directory, "metadata", description);
	const struct producer_session session = {.host = HOST,
			.name = name,
			.live_timer_us = 200000,
			.begin_s = (uint64_t)time(NULL)};
	struct producer_stream described, stream;
	struct producer_fault fault;
	const char *wrong;

	check(producer_create_session(producer, &session, &fault), &fault);
	check(producer_add_stream(producer, &described, "metadata", "ust/", 0, 0, &fault), &fault);
	check(producer_add_stream(producer, &stream, CTF2_STREAM, "ust/", 0, 0, &fault), &fault);
	check(producer_publish(producer, &fault), &fault);
	check(producer_send_metadata(
			      producer, &described, (const char *)description, size, &fault),
			&fault);
	wrong = wait_for_viewer(relay, HOST, name);
	if (wrong) {
		fprintf(stderr, "pt-send-ctf2: %s\n", wrong);
		exit(1);
	}
	send_packets(producer, &stream, directory);
	sleep(LINGER_S);
	check(producer_close_stream(producer, &stream, &fault), &fault);
	check(producer_close_stream(producer, &described, &fault), &fault);
}

int main(int argc, char **argv)
{
	struct trace_maker maker = {.big_endian = false};
	struct producer_target target = {.host = "127.0.0.1"};
	struct producer_fault fault;
	struct producer *producer;

	if (argc != 6) {
		fprintf(stderr, "usage: pt-send-ctf2 net://HOST:PORT CONTROL DATA SESSION DIRECTORY\n");
		return 2;
	}
	target.control_port = (uint16_t)atoi(argv[2]);
	target.data_port = (uint16_t)atoi(argv[3]);
	snprintf(maker.directory, sizeof(maker.directory), "%s", argv[5]);
	ctf2_all_kinds(&maker);
	check(producer_connect(&producer, &target, 10000, &fault), &fault);
	send_session(producer, argv[4], argv[5], argv[1]);
	producer_close(producer);
	return 0;
}
