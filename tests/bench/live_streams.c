/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Live sessions of many streams, as a tracer of a host with many CPUs makes them: to measure who
 * reads them. CTF 1.8 as LTTng 2.13 writes it, packets of a page or more.
 *
 * With a RATE (events/s of all together, for SECONDS) each stream flushes a packet
 * each live timer, with the time as it is. With RATE 0 all packets are with the relay daemon before
 * viewers, who are waited for, are told of the streams: as fast as they can.
 *
 * usage: live_streams RELAY CONTROL DATA SESSIONS STREAMS RATE|0 SECONDS|EVENTS [TIMER_US]
 *   RELAY: port of viewers; the others, those of producers; SECONDS with a rate, else EVENTS of all
 *   Sessions are called many-0, many-1, ... of host "many". Prints when viewers were told (ns).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "relay/producer.h"
#include "source/viewer.h"

#define HEAD_BYTES   80 /* of a packet: header and context */
#define EVENT_BYTES  32
#define PAGE         4096u
#define READY_EVENTS 4000u /* of a packet that is full */
#define CPU_MAX      65536u

static const char metadata[] =
		"/* CTF 1.8 */\n"
		"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
		"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
		"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
		"trace {\n"
		"\tmajor = 1;\n\tminor = 8;\n"
		"\tuuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\";\n"
		"\tbyte_order = le;\n"
		"\tpacket.header := struct { uint32_t magic; uint8_t uuid[16]; "
		"uint32_t stream_id; uint64_t stream_instance_id; };\n};\n"
		"env { hostname = \"many\"; domain = \"ust\"; tracer_name = \"lttng-ust\"; "
		"tracer_major = 2; tracer_minor = 13; };\n"
		"clock { name = \"monotonic\"; freq = 1000000000; offset_s = 0; offset = 0; };\n"
		"typealias integer { size = 64; align = 8; signed = false; "
		"map = clock.monotonic.value; } := uint64_clock_t;\n"
		"struct packet_context { uint64_clock_t timestamp_begin; "
		"uint64_clock_t timestamp_end; uint64_t content_size; uint64_t packet_size; "
		"uint64_t packet_seq_num; uint32_t events_discarded; uint32_t cpu_id; };\n"
		"struct event_header { uint32_t id; uint64_clock_t timestamp; } align(8);\n"
		"stream { id = 0; event.header := struct event_header; "
		"packet.context := struct packet_context; };\n"
		"event { name = \"many:tick\"; id = 0; stream_id = 0; fields := struct { "
		"uint64_t value; uint32_t first; uint32_t second; uint32_t third; }; };\n";

struct stream {
	struct producer_stream sent;
	uint64_t n_packets, told_ns;
};

struct session {
	struct producer *producer;
	struct producer_stream described;
	struct stream *streams;
	char name[32];
};

static struct producer_fault fault;
static unsigned char *packet_bytes;
static size_t packet_room;

static void check(enum status status)
{
	if (status != STATUS_OK) {
		fprintf(stderr, "live_streams: %s\n", fault.text);
		exit(1);
	}
}

static void put(unsigned char **at, uint64_t value, size_t size)
{
	memcpy(*at, &value, size); /* little-endian machines only */
	*at += size;
}

/* So many events from `begin_ns` on, the last of them before `end_ns`. */
static void send_packet(struct session *session, uint32_t number, uint64_t begin_ns,
		uint64_t end_ns, uint32_t n_events)
{
	static const unsigned char uuid[16] = {0x2a, 0x64, 0x22, 0xd0, 0x6c, 0xee, 0x11, 0xe0, 0x8c,
			0x08, 0xcb, 0x07, 0xd7, 0xb3, 0xa5, 0x64};
	struct stream *stream = &session->streams[number];
	uint64_t content = HEAD_BYTES + (uint64_t)n_events * EVENT_BYTES;
	uint64_t size = (content + PAGE - 1) / PAGE * PAGE;
	struct producer_packet packet = {.packet_bits = size * 8,
			.content_bits = content * 8,
			.begin_ns = begin_ns,
			.end_ns = end_ns,
			.stream_instance = number,
			.sequence = stream->n_packets};
	unsigned char *at;

	if (size > packet_room) {
		packet_room = size;
		packet_bytes = realloc(packet_bytes, size);
		if (!packet_bytes) {
			exit(1);
		}
	}
	memset(packet_bytes, 0, size);
	at = packet_bytes;
	put(&at, 0xc1fc1fc1, 4);
	memcpy(at, uuid, 16);
	at += 16;
	put(&at, 0, 4);
	put(&at, number, 8);
	put(&at, begin_ns, 8);
	put(&at, end_ns, 8);
	put(&at, content * 8, 8);
	put(&at, size * 8, 8);
	put(&at, stream->n_packets, 8);
	put(&at, 0, 4);
	put(&at, number % CPU_MAX, 4);
	for (uint32_t i = 0; i < n_events; i++) {
		put(&at, 0, 4);
		put(&at, begin_ns + (end_ns - begin_ns) * i / n_events, 8);
		put(&at, i, 8);
		put(&at, number, 4);
		put(&at, i, 4);
		put(&at, 7, 4);
	}
	check(producer_send_packet(
			session->producer, &stream->sent, &packet, packet_bytes, &fault));
	stream->n_packets++;
}

static void add_streams(struct session *session, uint32_t n_streams)
{
	char name[32];

	check(producer_add_stream(
			session->producer, &session->described, "metadata", "ust/", 0, 0, &fault));
	for (uint32_t i = 0; i < n_streams; i++) {
		snprintf(name, sizeof(name), "channel_%" PRIu32, i);
		check(producer_add_stream(session->producer, &session->streams[i].sent, name,
				"ust/", 0, 0, &fault));
	}
	check(producer_send_metadata(session->producer, &session->described, metadata,
			sizeof(metadata) - 1, &fault));
}

static void begin_session(struct session *session, uint32_t number, uint32_t n_streams,
		const struct producer_target *target, uint32_t timer_us)
{
	const struct producer_session told = {.host = "many",
			.name = session->name,
			.live_timer_us = timer_us,
			.begin_s = clock_real_ns() / 1000000000u};

	snprintf(session->name, sizeof(session->name), "many-%" PRIu32, number);
	session->streams = calloc(n_streams, sizeof(*session->streams));
	check(producer_connect(&session->producer, target, 60000, &fault));
	check(producer_create_session(session->producer, &told, &fault));
}

static void wait_for_viewers(uint16_t port, uint32_t n_sessions)
{
	struct viewer_fault wrong;
	struct viewer *viewer;
	uint32_t n = 0;

	if (viewer_connect(&viewer, "127.0.0.1", port, 5000, &wrong) != STATUS_OK) {
		fprintf(stderr, "live_streams: %s\n", wrong.text);
		exit(1);
	}
	while (n < n_sessions) {
		struct viewer_list list;

		usleep(20000);
		n = 0;
		if (viewer_list(viewer, &list, &wrong) != STATUS_OK) {
			fprintf(stderr, "live_streams: %s\n", wrong.text);
			exit(1);
		}
		for (uint32_t i = 0; i < list.n; i++) {
			n += strcmp(list.sessions[i].host, "many") == 0 &&
			     list.sessions[i].viewers > 0;
		}
		viewer_list_release(&list);
	}
	viewer_close(viewer);
	usleep(300000);
}

static void sleep_until(uint64_t real_ns)
{
	uint64_t now_ns = clock_real_ns();

	if (real_ns > now_ns) {
		usleep((useconds_t)((real_ns - now_ns) / 1000));
	}
}

/* Each timer a packet of each stream. */
static void send_paced(struct session *sessions, uint32_t n_sessions, uint32_t n_streams,
		double rate, double seconds, uint64_t timer_ns)
{
	uint64_t begin_ns = clock_real_ns(), at_ns = begin_ns, n_sent = 0, worst_ns = 0;
	double per_packet = rate * (double)timer_ns / 1e9 / n_sessions / n_streams, owed = 0;

	while (at_ns - begin_ns < (uint64_t)(seconds * 1e9)) {
		uint64_t end_ns = at_ns + timer_ns, took_ns;

		sleep_until(end_ns);
		for (uint32_t s = 0; s < n_sessions; s++) {
			for (uint32_t i = 0; i < n_streams; i++) {
				uint32_t n_events;

				owed += per_packet;
				n_events = (uint32_t)owed;
				owed -= n_events;
				send_packet(&sessions[s], i, at_ns, end_ns, n_events);
				n_sent += n_events;
			}
		}
		at_ns = end_ns;
		took_ns = clock_real_ns() - end_ns;
		worst_ns = took_ns > worst_ns ? took_ns : worst_ns;
	}
	printf("sent %" PRIu64 " events, %.0f/s; a flush of all took %.0f ms at most\n", n_sent,
			(double)n_sent / ((double)(clock_real_ns() - begin_ns) / 1e9),
			(double)worst_ns / 1e6);
}

/* Nothing more comes: so that what came last is not waited with until the end of the session. */
static void tell_idle(struct session *sessions, uint32_t n_sessions, uint32_t n_streams)
{
	const struct producer_packet beacon = {.end_ns = clock_real_ns()};

	for (uint32_t s = 0; s < n_sessions; s++) {
		for (uint32_t i = 0; i < n_streams; i++) {
			check(producer_send_beacon(sessions[s].producer,
					&sessions[s].streams[i].sent, &beacon, &fault));
		}
	}
}

/* Packets that are there before anybody is told, of equal spans of time. */
static void send_ready(struct session *session, uint32_t n_streams, uint64_t n_events)
{
	uint64_t per_stream = n_events / n_streams, left = per_stream, at_ns = clock_real_ns();

	while (left > 0) {
		uint32_t n = (uint32_t)(left < READY_EVENTS / 32 ? left : READY_EVENTS / 32);

		for (uint32_t i = 0; i < n_streams; i++) {
			send_packet(session, i, at_ns, at_ns + 1000000, n);
		}
		at_ns += 1000000;
		left -= n;
	}
}

static void end_session(struct session *session, uint32_t n_streams)
{
	for (uint32_t i = 0; i < n_streams; i++) {
		check(producer_close_stream(session->producer, &session->streams[i].sent, &fault));
	}
	check(producer_close_stream(session->producer, &session->described, &fault));
	producer_close(session->producer);
	free(session->streams);
}

int main(int argc, char **argv)
{
	struct producer_target target = {.host = "127.0.0.1"};
	uint32_t n_sessions, n_streams, timer_us;
	struct session *sessions;
	double rate;

	if (argc < 8) {
		fprintf(stderr, "usage: live_streams RELAY CONTROL DATA SESSIONS STREAMS RATE|0 "
				"SECONDS|EVENTS [TIMER_US]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	target.control_port = (uint16_t)atoi(argv[2]);
	target.data_port = (uint16_t)atoi(argv[3]);
	n_sessions = (uint32_t)atoi(argv[4]);
	n_streams = (uint32_t)atoi(argv[5]);
	rate = atof(argv[6]);
	timer_us = argc > 8 ? (uint32_t)atoi(argv[8]) : 200000;
	sessions = calloc(n_sessions, sizeof(*sessions));
	for (uint32_t i = 0; i < n_sessions; i++) {
		begin_session(&sessions[i], i, n_streams, &target, timer_us);
		if (rate > 0) {
			add_streams(&sessions[i], n_streams);
		}
		check(producer_publish(sessions[i].producer, &fault));
	}
	printf("waiting for viewers\n");
	wait_for_viewers((uint16_t)atoi(argv[1]), n_sessions);
	if (rate > 0) {
		send_paced(sessions, n_sessions, n_streams, rate, atof(argv[7]),
				timer_us * UINT64_C(1000));
		/* What nobody has asked for goes when a session ends. */
		for (int i = 0; i < 15; i++) {
			usleep(timer_us);
			tell_idle(sessions, n_sessions, n_streams);
		}
	}
	for (uint32_t i = 0; i < n_sessions && rate <= 0; i++) {
		add_streams(&sessions[i], n_streams);
		send_ready(&sessions[i], n_streams, (uint64_t)atof(argv[7]) / n_sessions);
	}
	for (uint32_t i = 0; i < n_sessions && rate <= 0; i++) {
		printf("told %" PRIu64 "\n", clock_real_ns());
		check(producer_publish(sessions[i].producer, &fault));
	}
	if (rate <= 0) {
		pause(); /* what nobody has asked for goes when a session ends */
	}
	for (uint32_t i = 0; i < n_sessions; i++) {
		end_session(&sessions[i], n_streams);
	}
	free(sessions);
	free(packet_bytes);
	return 0;
}
