/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fields as few producers have them, filled by chance: bits at any place, in both byte orders and
 * in three ways of aligning them. Both readers have to find the same in them.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctf/trace.h"
#include "support_readers.h"
#include "support_trace.h"

#define PACKETS      60u
#define PACKET_BYTES 4096u

#define CONTENT_SIZE_AT 192 /* bits: behind two numbers of 32 and two of 64 */

/* Without their sizes and aligns, which differ. */
static const char declarations[] =
		"trace { major = 1; minor = 8; byte_order = %s; packet.header := struct { u32 magic; u32 stream_id; }; "
		"};\n"
		"clock { name = c; freq = 2399999997; offset_s = 1600000000; offset = 5000000123; "
		"};\n"
		"stream { id = 3; packet.context := struct { clock64 timestamp_begin;\n"
		"  clock64 timestamp_end; u32 content_size; u32 packet_size; u3 few; u5 more;\n"
		"  u32 cpu_id; char note[5]; };\n"
		" event.header := struct { enum : u5 { compact = 0 ... 30, extended = 31 } id;\n"
		"  variant <id> { struct { clock27 timestamp; } compact;\n"
		"   struct { u32 id; clock64 timestamp; } extended; } v; } align(8);\n"
		" event.context := struct { u3 length; s7 x; }; };\n"
		"event { name = \"odd\"; id = 1; stream_id = 3;\n"
		" context := struct { u13 a; string s; };\n"
		" fields := struct { u3 n; s5 m; u33 numbers[n]; float32 f; float64 g; char "
		"text[n];\n"
		"  u3 of_context[stream.event.context.length]; u5 "
		"of_packet[stream.packet.context.few];\n"
		"  enum : s3 { neg = -4 ... -1, zero, pos = 1 ... 3 } tag;\n"
		"  variant <tag> { u7 neg; struct { u3 q; string w; } zero;\n"
		"   struct { u33 r[2]; clock64 unseen; } pos; } choice;\n"
		"  struct { u3 k; struct { u5 z; u13 y[k]; char c[3]; float64 d; } inner[k]; } "
		"nest;\n"
		"  clock64 hidden; enum : u3 { A, B = 4 ... 5, C, D = 2, A = 7 } label;\n"
		"  u13 fixed[4]; struct { u5 i; s7 j; } pairs[3]; struct { } empty;\n"
		"  clock3 turns; s7 after[turns];\n"
		"  struct { struct { struct { s33 deep; string name; } b; } a; } _class;\n"
		"  struct { u3 l; variant <tag> { u3 neg; u5 zero; string pos; } w; }\n"
		"   __last; string end; };\n"
		"};\n";

enum aligning { BY_BITS, BY_BYTES, BY_SIZE };

static uint32_t align_of(enum aligning aligning, uint32_t bits)
{
	if (aligning == BY_BITS || bits % 8 != 0) {
		return 1;
	}
	return aligning == BY_BYTES ? 8 : bits;
}

static void declare(FILE *out, enum aligning aligning, const char *name, uint32_t bits,
		const char *more)
{
	fprintf(out, "typealias integer { size = %u; align = %u; %s } := %s;\n", bits,
			align_of(aligning, bits), more, name);
}

static char *make_metadata(enum aligning aligning, bool is_big)
{
	static const uint32_t sizes[] = {3, 5, 13, 32, 33};
	char name[16], *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "/* CTF 1.8 */\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		snprintf(name, sizeof(name), "u%u", sizes[i]);
		declare(out, aligning, name, sizes[i], sizes[i] == 13 ? "base = 8;" : "");
	}
	declare(out, aligning, "s3", 3, "signed = true;");
	declare(out, aligning, "s5", 5, "signed = true;");
	declare(out, aligning, "s7", 7, "signed = true;");
	declare(out, aligning, "s33", 33, "signed = true;");
	declare(out, aligning, "u7", 7, "base = x;");
	declare(out, aligning, "clock3", 3, "map = clock.c.value;");
	declare(out, aligning, "clock27", 27, "map = clock.c.value;");
	declare(out, aligning, "clock64", 64, "map = clock.c.value;");
	fprintf(out,
			"typealias integer { size = 8; align = 8; encoding = UTF8; } := char;\n"
			"typealias floating_point { exp_dig = 8; mant_dig = 24; align = %u; } := "
			"float32;\n"
			"typealias floating_point { exp_dig = 11; mant_dig = 53; align = %u; } := "
			"float64;\n",
			align_of(aligning, 32), align_of(aligning, 64));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fprintf(out, declarations, is_big ? "be" : "le");
#pragma GCC diagnostic pop
	fclose(out);
	return text;
}

/* --- Packets ------------------------------------------------------------------------------------
 */

struct bits {
	unsigned char *at;
	uint64_t n;
	bool is_big;
};

static void put_bits(struct bits *to, uint64_t value, uint32_t bits, uint32_t align)
{
	to->n = ctf_round_up(to->n, align);
	for (uint32_t i = 0; i < bits; i++, to->n++) {
		uint64_t bit = value >> (to->is_big ? bits - 1 - i : i) & 1;
		uint32_t shift = to->is_big ? 7 - to->n % 8 : to->n % 8;

		to->at[to->n / 8] = (unsigned char)((to->at[to->n / 8] & ~(1u << shift)) |
						    bit << shift);
	}
}

struct maker {
	struct ctf_trace *trace;
	enum aligning aligning;
	bool is_big;
	uint64_t now;
};

static void put_number(const struct maker *maker, struct bits *to, uint64_t value, uint32_t bits)
{
	put_bits(to, value, bits, align_of(maker->aligning, bits));
}

/* Up to the event's header, by hand: what comes after it is chance. */
static void put_head(const struct maker *maker, struct bits *to, uint64_t end, uint64_t content)
{
	uint32_t widest = align_of(maker->aligning, 64);

	to->n = 0;
	put_number(maker, to, 0xc1fc1fc1, 32);
	put_number(maker, to, 3, 32);
	put_bits(to, maker->now, 64, widest);
	put_number(maker, to, end, 64);
	put_number(maker, to, content, 32);
	put_number(maker, to, PACKET_BYTES * 8, 32);
	to->n += 8; /* two numbers */
	put_number(maker, to, (uint64_t)random() % 4, 32);
	to->n = ctf_round_up(to->n, 8) + 40;
}

static void put_event_head(const struct maker *maker, struct bits *to, uint64_t at)
{
	bool is_extended = at % 3 == 0;

	to->n = ctf_round_up(to->n, 8);
	put_bits(to, is_extended ? 31 : 1, 5, 1);
	if (is_extended) {
		to->n = ctf_round_up(to->n, align_of(maker->aligning, 64));
		put_number(maker, to, 1, 32);
		put_number(maker, to, at, 64);
	} else {
		put_bits(to, at & ((1u << 27) - 1), 27, 1);
	}
}

/* Where the event ends; 0: not within the packet. */
static uint64_t find_end(const struct maker *maker, const unsigned char *packet)
{
	struct ctf_reader reader = {.place.clock = 0};
	struct ctf_place *place = &reader.place;
	uint64_t end = 0;

	if (!ctf_reader_open(&reader, maker->trace, packet, PACKET_BYTES)) {
		fail_msg("%s", place->fault);
	}
	if (ctf_reader_next(&reader) != CTF_STEP_EVENT) {
		fail_msg("%s", place->fault);
	}
	if (ctf_skip(place, reader.stream->event_context) &&
			ctf_skip(place, reader.event->context) &&
			ctf_skip(place, reader.event->fields)) {
		end = place->at;
	}
	return end;
}

static void make_packet(struct maker *maker, unsigned char *packet)
{
	struct bits to = {.at = packet, .is_big = maker->is_big};
	uint64_t at = maker->now + (uint64_t)random() % 100000000, end = 0;

	while (end == 0) {
		for (uint32_t i = 0; i < PACKET_BYTES; i++) {
			packet[i] = random() % 4 == 0 ? 0 : (unsigned char)random();
		}
		put_head(maker, &to, at, PACKET_BYTES * 8);
		put_event_head(maker, &to, at);
		end = find_end(maker, packet);
	}
	to.n = CONTENT_SIZE_AT; /* it is known now */
	put_number(maker, &to, end, 32);
	maker->now = at + 1000;
}

static void compare(enum aligning aligning, bool is_big)
{
	struct maker maker = {.aligning = aligning, .is_big = is_big, .now = 7000000000};
	char *metadata = make_metadata(aligning, is_big), error[200] = "";
	unsigned char *packets = malloc(PACKETS * PACKET_BYTES);
	struct trace_maker files;

	maker.trace = ctf_trace_create();
	if (!ctf_trace_add(maker.trace, metadata, strlen(metadata), error, sizeof(error))) {
		fail_msg("%s", error);
	}
	for (uint32_t i = 0; i < PACKETS; i++) {
		make_packet(&maker, packets + i * PACKET_BYTES);
	}
	trace_maker_init(&files, is_big);
	trace_maker_put(&files, "metadata", metadata, strlen(metadata));
	trace_maker_put(&files, "odd_0", packets, PACKETS * PACKET_BYTES);
	readers_compare(files.directory);
	trace_maker_release(&files);
	ctf_trace_destroy(maker.trace);
	free(metadata);
	free(packets);
}

static void fields_at_any_bit(void **state)
{
	(void)state;
	srandom(1);
	compare(BY_BITS, false);
	compare(BY_BITS, true);
}

static void fields_at_bytes(void **state)
{
	(void)state;
	srandom(2);
	compare(BY_BYTES, false);
	compare(BY_BYTES, true);
}

static void fields_at_their_size(void **state)
{
	(void)state;
	srandom(3);
	compare(BY_SIZE, false);
	compare(BY_SIZE, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(fields_at_any_bit),
			cmocka_unit_test(fields_at_bytes),
			cmocka_unit_test(fields_at_their_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
