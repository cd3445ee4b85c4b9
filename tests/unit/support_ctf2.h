/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SUPPORT_CTF2_H
#define PT_SUPPORT_CTF2_H

#include "support_trace.h"

/*
 * A trace in CTF 2 (CTF2-SPEC-2.0), with every class of fields that there is for numbers, texts and
 * compounds: no packaged tracer writes one. Two packets of one stream, the second after a loss; its
 * events as test_ctf2.c expects them.
 */
void ctf2_all_kinds(const struct trace_maker *maker);

/* Metadata alone: its fragments, each in a row of the list that ends with NULL. */
void ctf2_metadata(const struct trace_maker *maker, const char *const *fragments);

#define CTF2_OFFSET_S     1700000000u
#define CTF2_PACKET_BYTES 512u
#define CTF2_STREAM       "chan_3" /* the name of its file */

/* What a packet of it says of itself. */
struct ctf2_packet {
	uint64_t content_bits, begin, end; /* times of its clock, without its offset */
	uint64_t lost, sequence;
};
void ctf2_packet_read(const unsigned char *bytes, struct ctf2_packet *packet);
#define CTF2_STREAM_CLASS    7u
#define CTF2_STREAM_INSTANCE 9u

#endif
