/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_trace.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACKET_MAX (1u << 20)

static const char metadata[] =
		"/* CTF 1.8 */\n"
		"typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
		"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
		"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
		"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
		"typealias integer { size = 8; align = 8; signed = true; } := i8;\n"
		"typealias integer { size = 16; align = 8; signed = true; } := i16;\n"
		"typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
		"typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
		"typealias integer { size = 64; align = 8; signed = false;\n"
		"	map = clock.monotonic.value; } := clock_u64;\n"
		"typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := "
		"letter;\n"
		"trace { major = 1; minor = 8; byte_order = %s;\n"
		"	packet.header := struct { u32 magic; u32 stream_id; }; };\n"
		"env { hostname = \"maker\"; domain = \"ust\"; trace_name = \"made\"; };\n"
		"clock { name = monotonic; uuid = \"11223344-5566-7788-99aa-bbccddeeff00\";\n"
		"	freq = 1000000000; offset_s = 1700000000; offset = 5; };\n"
		"stream { id = 0;\n"
		"	event.header := struct { u16 id; clock_u64 timestamp; };\n"
		"	packet.context := struct { clock_u64 timestamp_begin; clock_u64 "
		"timestamp_end;\n"
		"		u64 content_size; u64 packet_size; u64 events_discarded; u32 "
		"cpu_id; };\n"
		"	event.context := struct { i32 vpid; i32 vtid; };\n"
		"};\n"
		"event { name = \"p:kinds\"; id = 0; stream_id = 0;\n"
		"	context := struct { u8 prio; };\n"
		"	fields := struct {\n"
		"		u8 a8; i8 b8; u16 a16; i16 b16; u32 a32; i32 b32; u64 a64; i64 "
		"b64;\n"
		"		integer { size = 3; align = 1; signed = false; } bits3;\n"
		"		integer { size = 5; align = 1; signed = true; } bits5;\n"
		"		integer { size = 32; align = 8; signed = false; base = 16; } hex;\n"
		"		floating_point { exp_dig = 8; mant_dig = 24; align = 8; } single;\n"
		"		floating_point { exp_dig = 11; mant_dig = 53; align = 8; } twice;\n"
		"		string { encoding = UTF8; } words;\n"
		"		enum : u8 { zero, low = 1 ... 9, high = 10 ... 255 } grade;\n"
		"		enum : i16 { minus = -5 ... -1, plus = 1 } sign;\n"
		"		struct { u8 x; struct { u16 y; string z; } deep; } nest;\n"
		"		u16 three[3];\n"
		"		letter text[8];\n"
		"		u8 n; i32 many[n];\n"
		"		enum : u8 { number = 0, word = 1 } tag;\n"
		"		variant <tag> { u32 number; string word; } choice;\n"
		"		struct { u8 k; string v; } pairs[2];\n"
		"	};\n"
		"};\n"
		"event { name = \"p:tick\"; id = 1; stream_id = 0; fields := struct { u64 n; }; "
		"};\n"
		"event { name = \"p:never\"; id = 2; stream_id = 0; fields := struct { u8 q; }; "
		"};\n";

struct packet {
	unsigned char bytes[PACKET_MAX];
	size_t size;
	bool big_endian;
};

void trace_maker_init(struct trace_maker *maker, bool big_endian)
{
	maker->big_endian = big_endian;
	snprintf(maker->directory, sizeof(maker->directory), "/tmp/pt-trace-XXXXXX");
	if (!mkdtemp(maker->directory)) {
		abort();
	}
}

void trace_maker_release(struct trace_maker *maker)
{
	DIR *directory = opendir(maker->directory);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		unlinkat(dirfd(directory), entry->d_name, 0);
	}
	if (directory) {
		closedir(directory);
	}
	rmdir(maker->directory);
}

void trace_maker_put(
		const struct trace_maker *maker, const char *name, const void *bytes, size_t size)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", maker->directory, name);
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
		abort();
	}
}

void trace_maker_metadata(const struct trace_maker *maker)
{
	char text[sizeof(metadata) + 8];
	int size = snprintf(text, sizeof(text), metadata, maker->big_endian ? "be" : "le");

	trace_maker_put(maker, "metadata", text, (size_t)size);
}

static void put(struct packet *packet, uint64_t value, unsigned n_bytes)
{
	for (unsigned i = 0; i < n_bytes; i++) {
		unsigned shift = 8 * (packet->big_endian ? n_bytes - 1 - i : i);

		packet->bytes[packet->size++] = (unsigned char)(value >> shift);
	}
}

static void put_string(struct packet *packet, const char *text)
{
	memcpy(packet->bytes + packet->size, text, strlen(text) + 1);
	packet->size += strlen(text) + 1;
}

static void put_float(struct packet *packet, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put(packet, bits, 4);
}

static void put_double(struct packet *packet, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put(packet, bits, 8);
}

static void begin_packet(struct packet *packet, bool big_endian, uint64_t begin, uint64_t end,
		uint64_t discarded, uint32_t cpu)
{
	packet->size = 0;
	packet->big_endian = big_endian;
	put(packet, 0xc1fc1fc1, 4);
	put(packet, 0, 4);
	put(packet, begin, 8);
	put(packet, end, 8);
	put(packet, 0, 8); /* the sizes, set at its end */
	put(packet, 0, 8);
	put(packet, discarded, 8);
	put(packet, cpu, 4);
}

static void end_packet(struct packet *packet)
{
	size_t size = packet->size;

	packet->size = 24;
	put(packet, size * 8, 8);
	put(packet, size * 8, 8);
	packet->size = size;
}

static void put_event(struct packet *packet, uint16_t id, uint64_t timestamp)
{
	put(packet, id, 2);
	put(packet, timestamp, 8);
	put(packet, 4711, 4);
	put(packet, (uint32_t)-2, 4);
}

static void put_tick(struct packet *packet, uint64_t timestamp, uint64_t n)
{
	put_event(packet, 1, timestamp);
	put(packet, n, 8);
}

static void put_kinds(struct packet *packet, uint64_t timestamp)
{
	put_event(packet, 0, timestamp);
	put(packet, 7, 1); /* prio */
	put(packet, 0xff, 1);
	put(packet, 0x80, 1);
	put(packet, 0xfffe, 2);
	put(packet, 0x8000, 2);
	put(packet, 0xfffffffd, 4);
	put(packet, 0x80000000, 4);
	put(packet, UINT64_C(0xfffffffffffffffc), 8);
	put(packet, UINT64_C(0x8000000000000000), 8);
	/* bits3 = 5, bits5 = -3: the first lies at the low end, or in big-endian at the high end.
	 */
	put(packet, packet->big_endian ? 5 << 5 | 29 : 29 << 3 | 5, 1);
	put(packet, 0xcafe, 4);
	put_float(packet, 1.5f);
	put_double(packet, -0.125);
	put_string(packet, "some words");
	put(packet, 4, 1);
	put(packet, (uint16_t)-3, 2);
	put(packet, 11, 1);
	put(packet, 12, 2);
	put_string(packet, "depth");
	put(packet, 21, 2);
	put(packet, 22, 2);
	put(packet, 23, 2);
	memcpy(packet->bytes + packet->size, "text\0\0\0\0", 8);
	packet->size += 8;
	put(packet, 2, 1);
	put(packet, (uint32_t)-31, 4);
	put(packet, 32, 4);
	put(packet, 1, 1);
	put_string(packet, "chosen");
	put(packet, 41, 1);
	put_string(packet, "v1");
	put(packet, 42, 1);
	put_string(packet, "");
}

static void write_packets(const struct trace_maker *maker, const char *name,
		const struct packet *packets, size_t n)
{
	unsigned char *bytes = malloc(n * PACKET_MAX);
	size_t size = 0;

	for (size_t i = 0; i < n; i++) {
		memcpy(bytes + size, packets[i].bytes, packets[i].size);
		size += packets[i].size;
	}
	trace_maker_put(maker, name, bytes, size);
	free(bytes);
}

void trace_maker_all_kinds(const struct trace_maker *maker)
{
	struct packet *packets = calloc(2, sizeof(*packets));

	trace_maker_metadata(maker);
	/* CPU 0: instants 100, 200, 300, and in a second packet, 7 lost events later, 400. */
	begin_packet(&packets[0], maker->big_endian, 100, 300, 0, 0);
	put_tick(&packets[0], 100, 1);
	put_tick(&packets[0], 200, 2);
	put_kinds(&packets[0], 300);
	end_packet(&packets[0]);
	begin_packet(&packets[1], maker->big_endian, 400, 500, 7, 0);
	put_tick(&packets[1], 400, 6);
	end_packet(&packets[1]);
	write_packets(maker, "chan_nel_0", packets, 2);
	/* CPU 1: 150, and twice 200. */
	begin_packet(&packets[0], maker->big_endian, 100, 250, 0, 1);
	put_tick(&packets[0], 150, 3);
	put_tick(&packets[0], 200, 4);
	put_tick(&packets[0], 200, 5);
	end_packet(&packets[0]);
	write_packets(maker, "chan_nel_1", packets, 1);
	free(packets);
}

void trace_maker_large(const struct trace_maker *maker)
{
	struct packet *packet = calloc(1, sizeof(*packet));
	char *text = malloc((1u << 20) + sizeof(metadata));
	int size = sprintf(text, metadata, maker->big_endian ? "be" : "le");

	size += sprintf(text + size, "event { name = \"p:large\"; id = 3; stream_id = 0;\n"
				     "	fields := struct { string words; u32 n; u64 many[n];\n"
				     "		enum : u16 { ");
	for (int i = 0; i < LARGE_LABELS; i++) {
		size += sprintf(text + size, "label_%d = %d, ", i, i);
	}
	size += sprintf(text + size, "} grade;\n");
	for (int i = 0; i < LARGE_FIELDS; i++) {
		size += sprintf(text + size, "u8 f%d; ", i);
	}
	size += sprintf(text + size, "}; };\n");
	trace_maker_put(maker, "metadata", text, (size_t)size);
	begin_packet(packet, maker->big_endian, 100, 300, 0, 0);
	put_event(packet, 3, 200);
	memset(packet->bytes + packet->size, 'w', LARGE_STRING);
	packet->size += LARGE_STRING;
	put(packet, 0, 1);
	put(packet, LARGE_SEQUENCE, 4);
	for (int i = 0; i < LARGE_SEQUENCE; i++) {
		put(packet, (uint64_t)i, 8);
	}
	put(packet, 77, 2);
	for (int i = 0; i < LARGE_FIELDS; i++) {
		put(packet, (uint64_t)i, 1);
	}
	put_tick(packet, 300, 9);
	end_packet(packet);
	write_packets(maker, "large_0", packet, 1);
	free(text);
	free(packet);
}
