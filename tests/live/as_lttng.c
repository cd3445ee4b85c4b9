/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rewrites a recording of pythiatop-probe as lttng-modules 2.13 would have recorded the same
 * events.
 *
 *   as_lttng [--without-headers] METADATA FROM TO
 *
 * METADATA is the description as text (babeltrace2 -o ctf-metadata FROM); FROM a directory with the
 * streams (channel0_0 and so on), TO a new one. Event by event: what LTTng has not is left out
 * (socket_*, pythiatop_*); accept and accept4 return `upeer_addrlen` as well; packets have network
 * headers; all else is copied byte by byte, for the probe's events are LTTng's.
 *
 * The probe records no headers. They are made of what it tells of sockets: the packets that a
 * connect() sends and gets are those of the handshake of its connection, and those that a call
 * which sends gives the interface outside of softirqs carry the bytes from the socket's position
 * on. What is received is what was queued at the same address (the loopback interface). Of packets
 * that nothing is told of, such as acknowledgements, headers are unknown. Where the kernel has told
 * tracers nothing of a switch (docs/probe.md: some threads of this machine's) it is put in. So it
 * is real events that are converted, and no recording of LTTng.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "ctf/trace.h"

#define MAX_STREAMS  64u
#define MAX_CPUS     1024u
#define MAX_FIELDS   16u
#define HEADER_BYTES 84u /* of a packet, with its context */
#define AT_CONTENT   48u /* there: sizes in bits */
#define AT_PACKET    56u
#define EXTENDED     65535u

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("as_lttng: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	exit(EXIT_FAILURE);
}

/* --- events ----------------------------------------------------------------------------------- */

enum what {
	OTHER = 0,
	LEFT_OUT,
	SWITCH,
	TAKEN, /* a switch that was not told */
	SOFTIRQ_ENTRY,
	SOFTIRQ_EXIT,
	CONNECT_ENTRY,
	CALL_EXIT,
	ACCEPT_EXIT,
	QUEUED,
	RECEIVED,
	SOCKET_SEND,
	SOCKET_RECV,
	SOCKET_CONNECT,
};

/* A header of TCP over IPv4 or IPv6. */
struct header {
	bool told;
	uint64_t from[2], to[2]; /* addresses, as the probe has them */
	uint16_t from_port, to_port;
	uint32_t seq, ack;
	uint8_t flags;
	uint16_t payload;
};

struct event {
	uint64_t ts, packet; /* packet: number in its stream */
	uint32_t id, stream, cpu;
	uint32_t size; /* of the payload */
	const unsigned char *payload;
	uint8_t what;
	struct header header;     /* of QUEUED, RECEIVED */
	unsigned char before[20]; /* of TAKEN, `missed`: name and tid of whom the CPU was told to
				     run */
	bool missed;              /* SWITCH: the one to whom it was then */
};

static uint32_t switch_id; /* of sched_switch */

struct packet {
	const unsigned char *head; /* HEADER_BYTES */
};

struct stream {
	char name[256];
	unsigned char *bytes;
	size_t size;
	struct packet *packets;
	uint32_t n_packets, packet_room;
};

static struct stream streams[MAX_STREAMS];
static uint32_t n_streams;
static struct event *events;
static uint32_t n_events, event_room;

static uint64_t number(const unsigned char *at, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, at, bytes);
	return value;
}

static uint8_t what_of(const char *name)
{
	static const struct {
		const char *name;
		uint8_t what;
	} whats[] = {
			{"socket_listen", LEFT_OUT},
			{"socket_retransmit", LEFT_OUT},
			{"socket_send", SOCKET_SEND},
			{"socket_recv", SOCKET_RECV},
			{"socket_connect", SOCKET_CONNECT},
			{"sched_switch", SWITCH},
			{"pythiatop_cpu_taken", TAKEN},
			{"irq_softirq_entry", SOFTIRQ_ENTRY},
			{"irq_softirq_exit", SOFTIRQ_EXIT},
			{"syscall_entry_connect", CONNECT_ENTRY},
			{"syscall_exit_accept", ACCEPT_EXIT},
			{"syscall_exit_accept4", ACCEPT_EXIT},
			{"net_dev_queue", QUEUED},
			{"net_if_receive_skb", RECEIVED},
	};

	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		if (strcmp(name, whats[i].name) == 0) {
			return whats[i].what;
		}
	}
	if (strncmp(name, "pythiatop_", 10) == 0) {
		return LEFT_OUT;
	}
	return strncmp(name, "syscall_exit_", 13) == 0 ? CALL_EXIT : OTHER;
}

static bool is_left_out(uint8_t what)
{
	return what == LEFT_OUT || what == SOCKET_SEND || what == SOCKET_RECV ||
	       what == SOCKET_CONNECT;
}

/* --- reading ---------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *bytes = NULL;
	size_t room = 0;

	*size = 0;
	if (!file) {
		die("%s: %s", path, strerror(errno));
	}
	do {
		*size == room ? (room = room * 2 + 65536, bytes = realloc(bytes, room + 1)) : 0;
		if (!bytes) {
			die("out of memory");
		}
		*size += fread(bytes + *size, 1, room - *size, file);
	} while (*size == room);
	bytes[*size] = '\0';
	fclose(file);
	return bytes;
}

static void add_event(const struct event *event)
{
	if (!array_reserve(&events, &event_room, n_events + 1)) {
		die("out of memory");
	}
	events[n_events++] = *event;
}

/* All events of one packet. */
static void read_packet(
		const struct ctf_trace *trace, uint32_t s, const unsigned char *bytes, size_t size)
{
	struct stream *stream = &streams[s];
	struct ctf_reader reader = {.stream = NULL};
	enum ctf_step step;

	if (!ctf_reader_open(&reader, trace, bytes, size)) {
		die("%s: %s", stream->name, reader.place.fault);
	}
	if (!array_reserve(&stream->packets, &stream->packet_room, stream->n_packets + 1)) {
		die("out of memory");
	}
	stream->packets[stream->n_packets++] = (struct packet){.head = bytes};
	while ((step = ctf_reader_next(&reader)) == CTF_STEP_EVENT) {
		uint64_t at = reader.place.at / 8;
		uint8_t what = what_of(reader.event->name);

		switch_id = what == SWITCH ? (uint32_t)reader.event->id : switch_id;

		if (reader.event->fields && !ctf_skip(&reader.place, reader.event->fields)) {
			die("%s: %s", stream->name, reader.place.fault);
		}
		add_event(&(struct event){.ts = reader.place.clock,
				.packet = stream->n_packets - 1,
				.id = (uint32_t)reader.event->id,
				.stream = s,
				.cpu = (uint32_t)number(bytes + HEADER_BYTES - 4, 4),
				.size = (uint32_t)(reader.place.at / 8 - at),
				.payload = bytes + at,
				.what = what});
	}
	if (step == CTF_STEP_FAULT) {
		die("%s: %s", stream->name, reader.place.fault);
	}
}

static void read_stream(const struct ctf_trace *trace, const char *directory, const char *name)
{
	struct stream *stream = &streams[n_streams];
	char path[4096];
	size_t at, packet;

	if (n_streams == MAX_STREAMS) {
		die("too many streams");
	}
	snprintf(stream->name, sizeof(stream->name), "%s", name);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	stream->bytes = (unsigned char *)read_file(path, &stream->size);
	for (at = 0; at + HEADER_BYTES <= stream->size; at += packet) {
		packet = (size_t)number(stream->bytes + at + AT_PACKET, 8) / 8;
		if (packet < HEADER_BYTES || packet > stream->size - at) {
			die("%s: a damaged packet", name);
		}
		read_packet(trace, n_streams, stream->bytes + at, packet);
	}
	n_streams++;
}

/* By time; of one time as the streams have them. */
static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->ts != y->ts) {
		return x->ts < y->ts ? -1 : 1;
	}
	if (x->stream != y->stream) {
		return x->stream < y->stream ? -1 : 1;
	}
	return x->payload < y->payload ? -1 : x->payload > y->payload;
}

/* --- connections ------------------------------------------------------------------------------ */

/* What a socket_* event has, in the order of src/probe/events.def. */
struct told {
	uint32_t family, position;
	uint16_t own_port, peer_port;
	uint64_t own[2], peer[2], length;
	int32_t tid;
	bool is_datagram;
};

static struct told told_by(const struct event *event)
{
	const unsigned char *at = event->payload;

	return (struct told){.family = (uint32_t)number(at, 4),
			.own_port = (uint16_t)number(at + 8, 4),
			.peer_port = (uint16_t)number(at + 12, 4),
			.own = {number(at + 16, 8), number(at + 24, 8)},
			.peer = {number(at + 32, 8), number(at + 40, 8)},
			.position = (uint32_t)number(at + 52, 4),
			.tid = (int32_t)number(at + 56, 4),
			.is_datagram = number(at + 60, 4) == 2,
			.length = number(at + 64, 8)};
}

static bool is_reverse(const struct told *a, const struct told *b)
{
	return a->own_port == b->peer_port && a->peer_port == b->own_port &&
	       memcmp(a->own, b->peer, sizeof(a->own)) == 0 &&
	       memcmp(a->peer, b->own, sizeof(a->own)) == 0;
}

static bool is_same(const struct told *a, const struct told *b)
{
	return a->own_port == b->own_port && a->peer_port == b->peer_port &&
	       memcmp(a->own, b->own, sizeof(a->own)) == 0 &&
	       memcmp(a->peer, b->peer, sizeof(a->peer)) == 0;
}

/*
 * Where the streams of a connection begin, from the first bytes that are told of them after its
 * connect(), until one of the same ends comes. False: nothing was sent.
 */
static bool find_begin(uint32_t from, const struct told *connect, uint32_t isn[2])
{
	bool found[2] = {false, false};

	for (uint32_t i = from + 1; i < n_events && !(found[0] && found[1]); i++) {
		bool sends = events[i].what == SOCKET_SEND,
		     receives = events[i].what == SOCKET_RECV;
		struct told told;
		bool client;

		if (!sends && !receives && events[i].what != SOCKET_CONNECT) {
			continue;
		}
		told = told_by(&events[i]);
		client = is_same(&told, connect);
		if (!client && !is_reverse(&told, connect)) {
			continue;
		}
		if (events[i].what == SOCKET_CONNECT) {
			if (told.position != connect->position) {
				break;
			}
			continue; /* it asks once more whether it is connected */
		}
		/* Whose bytes: the client's (0), or the server's. */
		uint32_t whose = client == sends ? 0 : 1;

		if (!found[whose]) {
			found[whose] = true;
			isn[whose] = told.position - (receives ? (uint32_t)told.length : 0) - 1;
		}
	}
	/* The one that only one end tells of: a server that closes at once has sent nothing. */
	return found[0];
}

/* --- headers ---------------------------------------------------------------------------------- */

/* Lengths that are queued have the header of the loopback interface in front. */
enum { SYN = 2, PSH = 8, ACK = 16, OPTIONS = 12, LINK = 14, LENGTH_OF_SYN = LINK + 60 };

/* What a CPU does. */
struct cpu {
	bool is_known;
	int32_t tid;
	unsigned char runs[20]; /* name and tid of the thread */
	uint32_t softirqs;
	bool connects;      /* its thread is in connect() */
	uint32_t queued[4]; /* by that: events; the first of them */
	uint32_t n_queued;
	bool sends; /* its thread is in a call that sends on `on` */
	struct told on;
	uint32_t next; /* byte */
};

static struct cpu cpus[MAX_CPUS];

static struct header header_of(
		const struct told *from, uint32_t seq, uint8_t flags, uint16_t payload)
{
	return (struct header){.told = true,
			.from = {from->own[0], from->own[1]},
			.to = {from->peer[0], from->peer[1]},
			.from_port = from->own_port,
			.to_port = from->peer_port,
			.seq = seq,
			.flags = flags,
			.payload = payload};
}

static struct told reversed(const struct told *told)
{
	struct told other = *told;

	memcpy(other.own, told->peer, sizeof(other.own));
	memcpy(other.peer, told->own, sizeof(other.peer));
	other.own_port = told->peer_port;
	other.peer_port = told->own_port;
	return other;
}

/* The handshake: what the connect() that has ended gave the interface. */
static void tell_handshake(uint32_t at, const struct cpu *cpu)
{
	struct told connect = told_by(&events[at]), server = reversed(&connect);
	uint32_t isn[2];

	if (connect.family == 1 || connect.is_datagram || cpu->n_queued == 0 ||
			!find_begin(at, &connect, isn)) {
		return;
	}
	events[cpu->queued[0]].header = header_of(&connect, isn[0], SYN, 0);
	if (cpu->n_queued > 1) {
		events[cpu->queued[1]].header = header_of(&server, isn[1], SYN | ACK, 0);
		events[cpu->queued[1]].header.ack = isn[0] + 1;
	}
}

/* All headers of a packet with bytes of a stream. */
static uint32_t bytes_before(const struct told *told)
{
	return LINK + (told->own[0] == 0 && told->own[1] >> 32 == 0xffff ? 20 : 40) + 20 + OPTIONS;
}

static void tell_sent(struct event *event, struct cpu *cpu)
{
	uint32_t length = (uint32_t)number(event->payload + 8, 4), before = bytes_before(&cpu->on);

	if (length > before) {
		uint32_t payload = length - before;

		event->header = header_of(&cpu->on, cpu->next, PSH | ACK, (uint16_t)payload);
		cpu->next += payload;
	}
}

/* What was queued last at an address. */
#define ADDRESSES 65536u

static uint32_t at_address[ADDRESSES]; /* event + 1 */

static uint32_t *place_of(const struct event *event)
{
	uint64_t address = number(event->payload, 8);

	return &at_address[(address >> 8 ^ address >> 24) % ADDRESSES];
}

/* In sched_switch: name and tid of who runs next. */
#define AT_NEXT 32u

static void run(struct cpu *cpu, const unsigned char *name_and_tid)
{
	*cpu = (struct cpu){.is_known = true, .tid = (int32_t)number(name_and_tid + 16, 4)};
	memcpy(cpu->runs, name_and_tid, sizeof(cpu->runs));
}

static void follow(uint32_t i)
{
	struct event *event = &events[i];
	struct cpu *cpu = &cpus[event->cpu % MAX_CPUS];

	switch (event->what) {
	case SWITCH:
		event->missed = cpu->is_known &&
				memcmp(event->payload + 16, cpu->runs + 16, 4) != 0;
		memcpy(event->before, cpu->runs, sizeof(event->before));
		run(cpu, event->payload + AT_NEXT);
		break;
	case TAKEN:
		memcpy(event->before, cpu->runs, sizeof(event->before));
		run(cpu, event->payload);
		break;
	case SOFTIRQ_ENTRY:
		cpu->softirqs++;
		break;
	case SOFTIRQ_EXIT:
		cpu->softirqs -= cpu->softirqs > 0;
		break;
	case CONNECT_ENTRY:
		cpu->connects = true;
		cpu->n_queued = 0;
		break;
	case SOCKET_CONNECT:
		tell_handshake(i, cpu);
		break;
	case SOCKET_SEND:
		cpu->on = told_by(event);
		cpu->sends = cpu->on.family != 1 && !cpu->on.is_datagram && cpu->on.tid == cpu->tid;
		cpu->next = cpu->on.position;
		break;
	case CALL_EXIT:
	case ACCEPT_EXIT:
		cpu->sends = cpu->connects = false;
		break;
	case QUEUED:
		*place_of(event) = i + 1;
		if (cpu->connects && cpu->n_queued < 4 &&
				number(event->payload + 8, 4) == LENGTH_OF_SYN) {
			cpu->queued[cpu->n_queued++] = i;
		} else if (cpu->sends && cpu->softirqs == 0) {
			tell_sent(event, cpu);
		}
		break;
	default:
		break;
	}
}

/* After all headers are known: those received have them as well. */
static void follow_received(uint32_t i)
{
	struct event *event = &events[i];

	if (event->what == QUEUED) {
		*place_of(event) = i + 1;
	} else if (event->what == RECEIVED && *place_of(event)) {
		const struct event *queued = &events[*place_of(event) - 1];

		if (memcmp(queued->payload, event->payload, 8) == 0) {
			event->header = queued->header;
		}
	}
}

/* --- writing ---------------------------------------------------------------------------------- */

struct out {
	unsigned char *bytes;
	uint32_t n, room;
};

static void put(struct out *out, const void *bytes, uint32_t n)
{
	if (!array_reserve(&out->bytes, &out->room, out->n + n)) {
		die("out of memory");
	}
	memcpy(out->bytes + out->n, bytes, n);
	out->n += n;
}

/* In the order of networks. */
static void put_big(struct out *out, uint64_t value, uint32_t n)
{
	unsigned char bytes[8];

	for (uint32_t i = 0; i < n; i++) {
		bytes[i] = (unsigned char)(value >> 8 * (n - 1 - i));
	}
	put(out, bytes, n);
}

static void put_ip(struct out *out, const struct header *header)
{
	bool is_4 = header->from[0] == 0 && header->from[1] >> 32 == 0xffff;

	if (is_4) {
		put_big(out, 0x4500, 2);
		put_big(out, 20u + 20 + OPTIONS + header->payload, 2);
		put_big(out, 0x4000, 4);   /* id, may not be fragmented */
		put_big(out, 0x400600, 3); /* ttl, TCP, checksum */
		put_big(out, 0, 1);
		put_big(out, header->from[1] & UINT32_MAX, 4);
		put_big(out, header->to[1] & UINT32_MAX, 4);
		return;
	}
	put_big(out, 0x60000000, 4);
	put_big(out, 20u + OPTIONS + header->payload, 2);
	put_big(out, 0x0640, 2); /* TCP, hops */
	put_big(out, header->from[0], 8);
	put_big(out, header->from[1], 8);
	put_big(out, header->to[0], 8);
	put_big(out, header->to[1], 8);
}

static void put_header(struct out *out, const struct header *header)
{
	bool is_4 = header->from[0] == 0 && header->from[1] >> 32 == 0xffff;
	unsigned char type = header->told ? is_4 ? 1 : 2 : 0, transport = 1;

	put(out, &type, 1);
	if (!header->told) {
		return;
	}
	put_ip(out, header);
	put(out, &transport, 1);
	put_big(out, header->from_port, 2);
	put_big(out, header->to_port, 2);
	put_big(out, header->seq, 4);
	put_big(out, header->ack, 4);
	put_big(out, 0x8000u | header->flags, 2); /* eight words */
	put_big(out, 512, 2);
	put_big(out, 0, 4);
}

static void put_event_header(struct out *out, uint32_t id, uint64_t ts)
{
	const uint16_t extended = EXTENDED;

	put(out, &extended, sizeof(extended));
	put(out, &id, sizeof(id));
	put(out, &ts, sizeof(ts));
}

/* A switch that the kernel has told no tracer, to the thread of that name and tid. */
static void put_switch(struct out *out, const struct event *event, const unsigned char *to)
{
	const int32_t prio = 20;
	const int64_t runnable = 0;

	put_event_header(out, switch_id, event->ts);
	put(out, event->before, sizeof(event->before));
	put(out, &prio, sizeof(prio));
	put(out, &runnable, sizeof(runnable));
	put(out, to, sizeof(event->before));
	put(out, &prio, sizeof(prio));
}

static void put_event(struct out *out, const struct event *event)
{
	const int32_t length = 16;

	if (event->what == TAKEN || event->missed) {
		put_switch(out, event, event->payload);
	}
	if (event->what == TAKEN) {
		return;
	}
	put_event_header(out, event->id, event->ts);
	if (event->what == ACCEPT_EXIT) {
		put(out, event->payload, 8);
		put(out, &length, sizeof(length));
		put(out, event->payload + 8, event->size - 8);
		return;
	}
	put(out, event->payload, event->size);
	if (event->what == QUEUED || event->what == RECEIVED) {
		put_header(out, &event->header);
	}
}

/* Back in the order of their streams. */
static int compare_places(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->stream != y->stream) {
		return x->stream < y->stream ? -1 : 1;
	}
	return x->payload < y->payload ? -1 : x->payload > y->payload;
}

static FILE *create(const char *directory, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	if (!file) {
		die("%s: %s", path, strerror(errno));
	}
	return file;
}

static void write_streams(const char *directory)
{
	struct out out = {.n = 0};
	uint32_t i = 0;

	for (uint32_t s = 0; s < n_streams; s++) {
		FILE *file = create(directory, streams[s].name);

		for (uint32_t p = 0; p < streams[s].n_packets; p++) {
			uint64_t bits;

			out.n = 0;
			put(&out, streams[s].packets[p].head, HEADER_BYTES);
			for (; i < n_events && events[i].stream == s && events[i].packet == p;
					i++) {
				if (!is_left_out(events[i].what)) {
					put_event(&out, &events[i]);
				}
			}
			bits = (uint64_t)out.n * 8;
			memcpy(out.bytes + AT_CONTENT, &bits, sizeof(bits));
			memcpy(out.bytes + AT_PACKET, &bits, sizeof(bits));
			fwrite(out.bytes, 1, out.n, file);
		}
		if (fclose(file) != 0) {
			die("%s: %s", streams[s].name, strerror(errno));
		}
	}
	free(out.bytes);
}

/* --- the description -------------------------------------------------------------------------- */

#define NUMBER(size, numeral, order)                                                               \
	"integer { size = " #size "; align = 8; signed = 0; encoding = none; base = " #numeral     \
	"; " order "} "
#define BIG "byte_order = be; "
#define BITS(size, numeral)                                                                        \
	"integer { size = " #size "; align = 1; signed = 0; encoding = none; base = " #numeral     \
	"; byte_order = be; } "

static const char transport_text[] = "enum : " NUMBER(8, 10,
		"") "{ \"_unknown\" = 0, \"_tcp\" = 1, \"_udp\" = 2, \"_icmp\" = 3, } "
		    "_transport_header_type;\n"
		    "variant <_transport_header_type> {\nstruct { } _unknown;\nstruct {\n" NUMBER(
				    16, 10, BIG) "_source_port;\n" NUMBER(16, 10,
				    BIG) "_dest_port;\n" NUMBER(32, 10, BIG) "_seq;\n" NUMBER(32,
				    10, BIG) "_ack_seq;\n" BITS(4, 10) "_data_offset;\n" BITS(3,
				    10) "_reserved;\n" BITS(9, 16) "_flags;\n" NUMBER(16, 10,
				    BIG) "_window_size;\n" NUMBER(16, 16,
				    BIG) "_checksum;\n" NUMBER(16, 10,
				    BIG) "_urg_ptr;\n} _tcp;\n"
					 "struct { } _udp;\nstruct { } _icmp;\n} "
					 "_transport_header;\n";

static const char network_begin[] = "enum : " NUMBER(8, 10,
		"") "{ \"_unknown\" = 0, \"_ipv4\" = 1, \"_ipv6\" = 2, } "
		    "_network_header_type;\n"
		    "variant <_network_header_type> {\nstruct { } _unknown;\nstruct {\n" BITS(
				    4, 10) "_version;\n" BITS(4, 10) "_ihl;\n" NUMBER(8, 10,
				    BIG) "_tos;\n" NUMBER(16, 10, BIG) "_tot_len;\n" NUMBER(16, 16,
				    BIG) "_id;\n" NUMBER(16, 10, BIG) "_frag_off;\n" NUMBER(8, 10,
				    BIG) "_ttl;\n" NUMBER(8, 10, BIG) "_protocol;\n" NUMBER(16, 16,
				    BIG) "_checksum;\n" NUMBER(8, 10, BIG) "_saddr[4];\n" NUMBER(8,
				    10, BIG) "_daddr[4];\n";

static const char network_middle[] = "} _ipv4;\nstruct {\n" BITS(4, 10) "_version;\n" BITS(
		4, 10) "_prio;\n" NUMBER(8, 16, BIG) "_flow_lbl[3];\n" NUMBER(16, 10,
		BIG) "_payload_len;\n" NUMBER(8, 10, BIG) "_nexthdr;\n" NUMBER(8, 10,
		BIG) "_hop_limit;\n" NUMBER(16, 16, BIG) "_saddr[8];\n" NUMBER(16, 16,
		BIG) "_daddr[8];\n";

static const char accept_text[] =
		"\t\tinteger { size = 32; align = 8; signed = 1; encoding = none; base = 10; } "
		"_upeer_addrlen;\n";

/* One declaration of an event, as LTTng has it. */
static void write_declaration(FILE *file, const char *text, size_t length)
{
	const char *quote = memchr(text, '"', length);
	const char *end = text + length, *fields_end = end - 1, *line;
	char name[128] = "";
	uint8_t what;

	if (quote) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(quote + 1, "\""), quote + 1);
	}
	what = what_of(name);
	if (is_left_out(what) || what == TAKEN) {
		return;
	}
	if (what == QUEUED || what == RECEIVED) {
		/* Behind the last field. */
		for (uint32_t braces = 0; fields_end > text && braces < 2; fields_end--) {
			braces += *fields_end == '}';
		}
		fwrite(text, 1, (size_t)(fields_end + 1 - text), file);
		fprintf(file, "%s%s%s%s} _ipv6;\n} _network_header;\n", network_begin,
				transport_text, network_middle, transport_text);
		fwrite(fields_end + 1, 1, (size_t)(end - fields_end - 1), file);
		return;
	}
	line = what == ACCEPT_EXIT ? strstr(text, "_ret;\n") : NULL;
	if (line) {
		line += strlen("_ret;\n");
		fwrite(text, 1, (size_t)(line - text), file);
		fputs(accept_text, file);
		text = line;
	}
	fwrite(text, 1, (size_t)(end - text), file);
}

static void write_metadata(const char *directory, const char *text)
{
	static const char tracer[] = "tracer_name = \"pythiatop-probe\"";
	FILE *file = create(directory, "metadata");
	const char *at = text, *event;

	while ((event = strstr(at, "event {"))) {
		const char *end = strstr(event, "\n};");
		const char *name = strstr(at, tracer);

		if (!end) {
			die("an event's declaration has no end");
		}
		end += strlen("\n};");
		if (name && name < event) {
			fwrite(at, 1, (size_t)(name - at), file);
			fputs("tracer_name = \"lttng-modules\"", file);
			at = name + strlen(tracer);
		}
		fwrite(at, 1, (size_t)(event - at), file);
		write_declaration(file, event, (size_t)(end - event));
		at = end;
	}
	fputs(at, file);
	if (fclose(file) != 0) {
		die("metadata: %s", strerror(errno));
	}
}

/* --- main ------------------------------------------------------------------------------------- */

static void summarize(void)
{
	uint32_t n[2][2] = {{0}};

	for (uint32_t i = 0; i < n_events; i++) {
		if (events[i].what == QUEUED || events[i].what == RECEIVED) {
			n[events[i].what == RECEIVED][events[i].header.told]++;
		}
	}
	printf("%u events; headers of %u of %u packets queued, of %u of %u received\n", n_events,
			n[0][1], n[0][0] + n[0][1], n[1][1], n[1][0] + n[1][1]);
}

static void read_all(const struct ctf_trace *trace, const char *directory)
{
	struct dirent **names;
	int n = scandir(directory, &names, NULL, alphasort);

	if (n < 0) {
		die("%s: %s", directory, strerror(errno));
	}
	for (int i = 0; i < n; i++) {
		if (names[i]->d_type == DT_REG && strcmp(names[i]->d_name, "metadata") != 0) {
			read_stream(trace, directory, names[i]->d_name);
		}
		free(names[i]);
	}
	free(names);
	if (n_events == 0) {
		die("%s: no events", directory);
	}
	qsort(events, n_events, sizeof(*events), compare_events);
}

static void find_headers(bool told)
{
	for (uint32_t i = 0; i < n_events; i++) {
		follow(i);
	}
	memset(at_address, 0, sizeof(at_address));
	for (uint32_t i = 0; i < n_events; i++) {
		follow_received(i);
	}
	for (uint32_t i = 0; i < n_events && !told; i++) {
		events[i].header.told = false;
	}
	summarize();
}

int main(int argc, char **argv)
{
	struct ctf_trace *trace = ctf_trace_create();
	bool bare = argc > 1 && strcmp(argv[1], "--without-headers") == 0;
	char error[512], *text;
	size_t size;

	argv += bare;
	if (argc != 4 + bare || !trace) {
		die("usage: as_lttng [--without-headers] METADATA FROM TO");
	}
	text = read_file(argv[1], &size);
	if (!ctf_trace_add(trace, text, size, error, sizeof(error))) {
		die("%s: %s", argv[1], error);
	}
	read_all(trace, argv[2]);
	find_headers(!bare);
	qsort(events, n_events, sizeof(*events), compare_places);
	if (mkdir(argv[3], 0777) != 0) {
		die("%s: %s", argv[3], strerror(errno));
	}
	write_streams(argv[3]);
	write_metadata(argv[3], text);
	for (uint32_t s = 0; s < n_streams; s++) {
		free(streams[s].packets);
		free(streams[s].bytes);
	}
	free(events);
	free(text);
	ctf_trace_destroy(trace);
	return 0;
}
