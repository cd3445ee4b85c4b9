/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_ctf2.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ctf2_metadata(const struct trace_maker *maker, const char *const *fragments)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	for (; *fragments; fragments++) {
		fprintf(out, "\x1e%s\n", *fragments);
	}
	fclose(out);
	trace_maker_put(maker, "metadata", text, size);
	free(text);
}

/* --- Metadata -----------------------------------------------------------------------------------
 */

#define UNSIGNED(bits, order)                                                                      \
	"\"type\":\"fixed-length-unsigned-integer\",\"length\":" #bits                             \
	",\"byte-order\":\"" order "-endian\""
#define SIGNED(bits, order)                                                                        \
	"\"type\":\"fixed-length-signed-integer\",\"length\":" #bits ",\"byte-order\":\"" order    \
	"-endian\""
#define ROLE(role)          ",\"roles\":[\"" role "\"]"
#define MEMBER(name, class) "{\"name\":\"" name "\",\"field-class\":{" class "}}"
#define STRUCTURE           "\"type\":\"structure\",\"member-classes\":"
#define AT(name)            "{\"path\":[\"" name "\"]}"

static const char payload[] = "{" STRUCTURE "["
	MEMBER("u5", UNSIGNED(5, "little")) "," MEMBER("s3", SIGNED(3, "little")) ","
	MEMBER("u12", UNSIGNED(12, "big")) "," MEMBER("u4", UNSIGNED(4, "big")) ","
	"{\"name\":\"alias\",\"field-class\":\"s16\"},"
	MEMBER("u64", UNSIGNED(64, "big") ",\"preferred-display-base\":16") ","
	MEMBER("named", UNSIGNED(8, "little") ",\"mappings\":{\"one\":[[1,1]],"
		"\"some\":[[2,9],[20,29]],\"all\":[[0,18446744073709551615]]}") ","
	MEMBER("flag", "\"type\":\"fixed-length-boolean\",\"length\":8,"
		"\"byte-order\":\"little-endian\"") ","
	MEMBER("bits", "\"type\":\"fixed-length-bit-array\",\"length\":16,"
		"\"byte-order\":\"little-endian\"") ","
	MEMBER("single", "\"type\":\"fixed-length-floating-point-number\",\"length\":32,"
		"\"byte-order\":\"little-endian\"") ","
	MEMBER("double", "\"type\":\"fixed-length-floating-point-number\",\"length\":64,"
		"\"byte-order\":\"big-endian\"") ","
	MEMBER("variable", "\"type\":\"variable-length-unsigned-integer\"") ","
	MEMBER("variable_signed", "\"type\":\"variable-length-signed-integer\"") ","
	MEMBER("text", "\"type\":\"null-terminated-string\"") ","
	MEMBER("fixed_text", "\"type\":\"static-length-string\",\"length\":8") ","
	MEMBER("n", "\"type\":\"variable-length-unsigned-integer\"") ","
	MEMBER("dynamic_text", "\"type\":\"dynamic-length-string\","
		"\"length-field-location\":" AT("n")) ","
	MEMBER("blob", "\"type\":\"static-length-blob\",\"length\":3") ","
	MEMBER("dynamic_blob", "\"type\":\"dynamic-length-blob\",\"length-field-location\":"
		"{\"origin\":\"event-record-payload\",\"path\":[\"n\"]}") ","
	MEMBER("point", STRUCTURE "[" MEMBER("x", UNSIGNED(8, "little")) ","
		MEMBER("y", SIGNED(16, "little") ",\"alignment\":16") "],"
		"\"minimum-alignment\":32") ","
	MEMBER("list", "\"type\":\"static-length-array\",\"length\":2,\"element-field-class\":\"s16\"")
	","
	MEMBER("many", "\"type\":\"dynamic-length-array\",\"length-field-location\":" AT("n") ","
		"\"element-field-class\":{" STRUCTURE "[" MEMBER("k", UNSIGNED(8, "little")) ","
		MEMBER("inner", "\"type\":\"dynamic-length-array\",\"length-field-location\":"
			AT("k") ",\"element-field-class\":{" UNSIGNED(8, "little") "}") ","
		MEMBER("outer", "\"type\":\"optional\",\"selector-field-location\":"
			"{\"path\":[null,\"n\"]},\"selector-field-ranges\":[[3,3]],"
			"\"field-class\":{" UNSIGNED(8, "little") "}") "]}") ","
	MEMBER("tag", UNSIGNED(8, "little")) ","
	MEMBER("choice", "\"type\":\"variant\",\"selector-field-location\":" AT("tag") ",\"options\":["
		"{\"name\":\"small\",\"selector-field-ranges\":[[0,9]],\"field-class\":{"
			UNSIGNED(8, "little") "}},"
		"{\"name\":\"large\",\"selector-field-ranges\":[[10,99],[200,255]],"
			"\"field-class\":{" STRUCTURE "[" MEMBER("v", UNSIGNED(32, "big")) "]}}]")
	","
	MEMBER("maybe", "\"type\":\"optional\",\"selector-field-location\":" AT("flag") ","
		"\"field-class\":{\"type\":\"null-terminated-string\"}") ","
	MEMBER("selector", SIGNED(8, "little")) ","
	MEMBER("perhaps", "\"type\":\"optional\",\"selector-field-location\":" AT("selector") ","
		"\"selector-field-ranges\":[[-3,-1]],\"field-class\":\"s16\"")
	"]}";

static void put_metadata(const struct trace_maker *maker)
{
	static const char head[] = "{\"type\":\"event-record-class\",\"id\":300,"
				   "\"data-stream-class-id\":7,\"name\":\"p:kinds\","
				   "\"payload-field-class\":";
	char kinds[sizeof(head) + sizeof(payload) + 2];
	const char *fragments[] = {
		"{\"type\":\"preamble\",\"version\":2,\"uuid\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}",
		"{\"type\":\"field-class-alias\",\"name\":\"s16\",\"field-class\":{"
			SIGNED(16, "little") ",\"alignment\":8}}",
		"{\"type\":\"trace-class\",\"environment\":{\"hostname\":\"h2\",\"domain\":\"ust\","
			"\"trace_name\":\"s2\",\"tracer_major\":2},\"packet-header-field-class\":{"
			STRUCTURE "[" MEMBER("magic", UNSIGNED(32, "little")
				ROLE("packet-magic-number")) ","
			MEMBER("uuid", "\"type\":\"static-length-blob\",\"length\":16"
				ROLE("metadata-stream-uuid")) ","
			MEMBER("class", UNSIGNED(8, "little") ROLE("data-stream-class-id")) ","
			MEMBER("stream", UNSIGNED(8, "little") ROLE("data-stream-id")) "]}}",
		"{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1000000000,"
			"\"origin\":\"unix-epoch\","
			"\"offset-from-origin\":{\"seconds\":1700000000,\"cycles\":5}}",
		"{\"type\":\"data-stream-class\",\"id\":7,\"default-clock-class-id\":\"c\","
			"\"packet-context-field-class\":{" STRUCTURE "["
			MEMBER("length", UNSIGNED(32, "little") ROLE("packet-total-length")) ","
			MEMBER("content", UNSIGNED(32, "little") ROLE("packet-content-length")) ","
			MEMBER("begin", UNSIGNED(64, "little") ROLE("default-clock-timestamp")) ","
			MEMBER("end", UNSIGNED(64, "little")
				ROLE("packet-end-default-clock-timestamp")) ","
			MEMBER("lost", UNSIGNED(32, "little")
				ROLE("discarded-event-record-counter-snapshot")) ","
			MEMBER("sequence", UNSIGNED(32, "little") ROLE("packet-sequence-number")) ","
			MEMBER("cpu_id", UNSIGNED(16, "little")) "]},"
			"\"event-record-header-field-class\":{" STRUCTURE "["
			MEMBER("id", "\"type\":\"variable-length-unsigned-integer\""
				ROLE("event-record-class-id")) ","
			MEMBER("time", UNSIGNED(16, "little") ROLE("default-clock-timestamp"))
			"]},\"event-record-common-context-field-class\":{" STRUCTURE "["
			MEMBER("_vtid", SIGNED(32, "little")) "]}}",
		"{\"type\":\"event-record-class\",\"id\":1,\"data-stream-class-id\":7,"
			"\"name\":\"p:tick\",\"payload-field-class\":{" STRUCTURE "["
			MEMBER("n", UNSIGNED(8, "little")) "]}}",
		kinds,
		NULL,
	};

	snprintf(kinds, sizeof(kinds), "%s%s}", head, payload);
	ctf2_metadata(maker, fragments);
}

/* --- Packets ------------------------------------------------------------------------------------
 */

struct bytes {
	unsigned char at[CTF2_PACKET_BYTES];
	size_t n;
};

static void put(struct bytes *bytes, const void *data, size_t size)
{
	memcpy(bytes->at + bytes->n, data, size);
	bytes->n += size;
}

static void put_number(struct bytes *bytes, uint64_t value, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++) {
		bytes->at[bytes->n++] = (unsigned char)(value >> 8 * i);
	}
}

static void put_big(struct bytes *bytes, uint64_t value, unsigned int size)
{
	for (unsigned int i = size; i > 0; i--) {
		bytes->at[bytes->n++] = (unsigned char)(value >> 8 * (i - 1));
	}
}

static void align(struct bytes *bytes, size_t to)
{
	while (bytes->n % to != 0) {
		bytes->at[bytes->n++] = 0xee;
	}
}

#define CONTENT_AT 26 /* bytes into the packet; begin, end, lost and sequence follow */

static uint64_t get_number(const unsigned char *at, unsigned int size)
{
	uint64_t value = 0;

	for (unsigned int i = size; i > 0; i--) {
		value = value << 8 | at[i - 1];
	}
	return value;
}

void ctf2_packet_read(const unsigned char *bytes, struct ctf2_packet *packet)
{
	packet->content_bits = get_number(bytes + CONTENT_AT, 4);
	packet->begin = get_number(bytes + CONTENT_AT + 4, 8);
	packet->end = get_number(bytes + CONTENT_AT + 12, 8);
	packet->lost = get_number(bytes + CONTENT_AT + 20, 4);
	packet->sequence = get_number(bytes + CONTENT_AT + 24, 4);
}

static void begin_packet(struct bytes *bytes, const struct ctf2_packet *head)
{
	static const unsigned char uuid[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

	memset(bytes, 0, sizeof(*bytes));
	put_number(bytes, 0xc1fc1fc1, 4);
	put(bytes, uuid, sizeof(uuid));
	put_number(bytes, CTF2_STREAM_CLASS, 1);
	put_number(bytes, CTF2_STREAM_INSTANCE, 1);
	put_number(bytes, CTF2_PACKET_BYTES * 8, 4);
	put_number(bytes, 0, 4);
	put_number(bytes, head->begin, 8);
	put_number(bytes, head->end, 8);
	put_number(bytes, head->lost, 4);
	put_number(bytes, head->sequence, 4);
	put_number(bytes, 3, 2);
}

static void end_packet(struct bytes *bytes, FILE *out)
{
	size_t content = bytes->n;

	bytes->n = CONTENT_AT;
	put_number(bytes, content * 8, 4);
	fwrite(bytes->at, 1, CTF2_PACKET_BYTES, out);
}

static void put_tick(struct bytes *bytes, uint16_t time, uint8_t n)
{
	put_number(bytes, 1, 1);
	put_number(bytes, time, 2);
	put_number(bytes, (uint32_t)-4, 4);
	put_number(bytes, n, 1);
}

static void put_kinds(struct bytes *bytes, uint16_t time)
{
	static const unsigned char single[] = {0, 0, 0xc0, 0xbf}; /* -1.5 */
	static const unsigned char wide[] = {0x40, 9, 0x21, 0xfb, 0x54, 0x44, 0x2d, 0x18};

	put(bytes, "\xac\x02", 2); /* 300 */
	put_number(bytes, time, 2);
	put_number(bytes, 77, 4);
	put_number(bytes, 21 | 6 << 5, 1); /* 21, -2 */
	put(bytes, "\xab\xcd", 2);         /* 0xabc, 0xd */
	put_number(bytes, (uint16_t)-300, 2);
	put_big(bytes, UINT64_C(0xfedcba9876543210), 8);
	put_number(bytes, 21, 1);
	put_number(bytes, 0x40, 1);
	put_number(bytes, 0x8001, 2);
	put(bytes, single, sizeof(single));
	put(bytes, wide, sizeof(wide));
	put(bytes, "\xac\x02", 2); /* 300 */
	put(bytes, "\xd4\x7d", 2); /* -300 */
	put(bytes, "text", 5);
	put(bytes, "fixed\0?", 8);
	put_number(bytes, 3, 1); /* n */
	put(bytes, "dyn", 3);
	put(bytes, "\1\2\3\4\5\6", 6);
	align(bytes, 4);
	put_number(bytes, 8, 1);
	align(bytes, 2);
	put_number(bytes, (uint16_t)-9, 2);
	put_number(bytes, 1, 2);
	put_number(bytes, (uint16_t)-1, 2);
	put(bytes, "\0\x51", 2); /* three elements: none, one, two in them; and what is optional */
	put(bytes, "\1\x10\x52", 3);
	put(bytes, "\2\x20\x21\x53", 4);
	put_number(bytes, 200, 1);
	put_big(bytes, 0xdeadbeef, 4);
	put(bytes, "yes", 4);
	put_number(bytes, (uint8_t)-4, 1);
}

void ctf2_all_kinds(const struct trace_maker *maker)
{
	struct bytes bytes;
	size_t size;
	char *data;
	FILE *out = open_memstream(&data, &size);

	put_metadata(maker);
	begin_packet(&bytes, &(struct ctf2_packet){.begin = 0x1fff0, .end = 0x20100});
	put_tick(&bytes, 0xfff1, 1);
	put_tick(&bytes, 0x0002, 2); /* its 16 bits have wrapped */
	put_kinds(&bytes, 0x0010);
	end_packet(&bytes, out);
	begin_packet(&bytes, &(struct ctf2_packet){0, 0x20200, 0x20300, 5, 3});
	put_tick(&bytes, 0x0201, 3);
	end_packet(&bytes, out);
	fclose(out);
	trace_maker_put(maker, CTF2_STREAM, data, size);
	free(data);
}
